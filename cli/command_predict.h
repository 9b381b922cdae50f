/* Columns of the input that predictions keep in front of them. */
#ifndef COMMAND_PREDICT_H
#define COMMAND_PREDICT_H

#include "cli.h"

typedef struct kept_columns {
    margin_table *table; /* the whole of it; NULL: nothing is kept */
    int64_t *columns;    /* count numbers */
    int64_t count;
} kept_columns;

/* Those of --keep, read as they stand in the file, for as many rows as there are predictions.
 * Returns an exit code, and prints what is wrong. */
int kept_read(cli_session *session, int64_t rows, kept_columns *kept);
void kept_free(kept_columns *kept);

bool kept_has(const kept_columns *kept, const char *name);
/* Names, or the cells of a row, each with a separator behind it. */
void kept_header(cli_text *text, const kept_columns *kept, const char *separator);
void kept_cells(cli_text *text, const kept_columns *kept, int64_t row, const char *separator);

#endif
