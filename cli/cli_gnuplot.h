/* Runs gnuplot on a script and delivers the picture. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include "cli.h"

typedef enum picture_kind { PICTURE_TERMINAL, PICTURE_SVG, PICTURE_PNG } picture_kind;

/* By the ending of -o; a usage error names the endings there are. */
int picture_choose(const cli_arguments *arguments, picture_kind *kind);

/* Puts the terminal, size and title of the options at the start of a script. */
int picture_begin(const cli_arguments *arguments, picture_kind kind, const char *title,
                  cli_text *script);

/* A quoted gnuplot string, whatever the text holds. */
void picture_string(cli_text *script, const char *string);

/* Draws and writes the picture whole or not at all; frees the script. */
int picture_finish(cli_session *session, cli_text *script);

/* The picture of `plot kdtree`. */
int plot_kdtree(cli_session *session, picture_kind kind);

#endif
