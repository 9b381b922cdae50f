/* Runs gnuplot on a script and delivers the picture. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include "cli.h"

typedef enum picture_kind { PICTURE_TERMINAL, PICTURE_SVG, PICTURE_PNG } picture_kind;

/* Colours that stay apart for colour-blind readers (Okabe and Ito 2008). */
enum { PICTURE_COLOURS = 8 };
extern const char *const picture_colours[PICTURE_COLOURS];
/* The same mixed with white, for regions under the samples. */
extern const char *const picture_pale_colours[PICTURE_COLOURS];

/* By the ending of -o; a usage error names the endings there are. */
int picture_choose(const cli_arguments *arguments, picture_kind *kind);

/* Puts the terminal, size and title of the options at the start of a script. */
int picture_begin(const cli_arguments *arguments, picture_kind kind, const char *title,
                  cli_text *script);

/* A quoted gnuplot string, whatever the text holds. */
void picture_string(cli_text *script, const char *string);

/* Axes without a box, over a pale grid. */
void picture_axes(cli_text *script, picture_kind kind);

/* "x y" and a line's end. */
void picture_point(cli_text *script, double x, double y);

/* --columns, or the first ones: `wanted` (1 or 2) different numbers of columns into `axis`. */
int picture_columns(const cli_arguments *arguments, const margin_column *columns, int64_t count,
                    int wanted, int64_t *axis);

/* A number of a dense table. */
double picture_cell(const margin_matrix *x, int64_t row, int64_t column);

/* Least and greatest finite number of a column; both 0 where there is none. */
void picture_column_range(const margin_matrix *x, int64_t column, double *low, double *high);

/* Range of axis 'x' or 'y' with a little room, and its label. */
void picture_range(cli_text *script, char axis, double low, double high);
void picture_label(cli_text *script, char axis, const char *label);

/* Says that there is no memory; returns the exit code. */
int picture_out_of_memory(void);

/* Draws and writes the picture whole or not at all; frees the script. */
int picture_finish(cli_session *session, cli_text *script);

/* The pictures of `plot kdtree` and `plot elbow`. */
int plot_kdtree(cli_session *session, picture_kind kind);
int plot_elbow(cli_session *session, picture_kind kind);

/* ---- Kinds of pictures ------------------------------------------------------------------------*/

/* Draws a model and a table; the table is NULL where none is given. */
typedef int (*picture_of_model)(cli_session *session, picture_kind kind, const margin_model *model,
                                const margin_table *table);
int plot_clusters(cli_session *session, picture_kind kind, const margin_model *model,
                  const margin_table *table);
int plot_coefficients(cli_session *session, picture_kind kind, const margin_model *model,
                      const margin_table *table);
int plot_fit(cli_session *session, picture_kind kind, const margin_model *model,
             const margin_table *table);
int plot_residuals(cli_session *session, picture_kind kind, const margin_model *model,
                   const margin_table *table);
int plot_roc(cli_session *session, picture_kind kind, const margin_model *model,
             const margin_table *table);
int plot_reliability(cli_session *session, picture_kind kind, const margin_model *model,
                     const margin_table *table);

/* Class of a row as the data says, -1 where it says none or one that the model does not know. */
int64_t picture_class_of(const margin_model *model, const margin_data *data, int64_t row);

#endif
