/* predict --keep: columns of the input, as they stand there. They are read a second time, as text:
 * identifiers keep all their digits and leading zeros. */
#include "command_predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kept_read(cli_session *session, int64_t rows, kept_columns *kept) {
    const cli_arguments *a = session->arguments;
    const char *path = a->words[1];
    if (!a->keep) return EXIT_DONE;
    if (!strcmp(path, "-"))
        return cli_usage_error(cli_find_command("predict"),
                               "--keep reads DATA a second time: give a file, not standard input");
    const margin_status status = cli_read_texts(session, path, "--keep", a->keep, &kept->table);
    if (status < 0) return cli_failed(session, status);
    if (cli_table_details(kept->table).format != MARGIN_FORMAT_CSV) {
        fprintf(stderr, "margin: --keep takes columns of a CSV table, and %s is none\n", path);
        return EXIT_BAD_INPUT;
    }
    const margin_data data = margin_table_data(kept->table);
    if (data.x.rows != rows) {
        fprintf(stderr, "margin: %s changed while it was read\n", path);
        return EXIT_BAD_INPUT;
    }
    return cli_columns("--keep", path, data.columns, data.x.columns, a->keep, &kept->columns,
                       &kept->count);
}

void kept_free(kept_columns *kept) {
    margin_table_free(kept->table);
    free(kept->columns);
}

bool kept_has(const kept_columns *kept, const char *name) {
    const margin_data data = kept->table ? margin_table_data(kept->table) : (margin_data){0};
    for (int64_t k = 0; k < kept->count; k++)
        if (strcmp(data.columns[kept->columns[k]].name, name) == 0) return true;
    return false;
}

void kept_header(cli_text *text, const kept_columns *kept, const char *separator) {
    const margin_data data = kept->table ? margin_table_data(kept->table) : (margin_data){0};
    for (int64_t k = 0; k < kept->count; k++) {
        text_cell(text, data.columns[kept->columns[k]].name);
        text_puts(text, separator);
    }
}

void kept_cells(cli_text *text, const kept_columns *kept, int64_t row, const char *separator) {
    const margin_data data = kept->table ? margin_table_data(kept->table) : (margin_data){0};
    for (int64_t k = 0; k < kept->count; k++) {
        const int64_t at = row * data.x.stride + kept->columns[k];
        const double code = data.x.value_type == MARGIN_F32
                                ? (double)((const float *)data.x.values)[at]
                                : ((const double *)data.x.values)[at];
        const margin_column *column = &data.columns[kept->columns[k]];
        if (!isnan(code) && column->kind == MARGIN_CATEGORICAL)
            text_cell(text, column->categories[(int64_t)code]);
        text_puts(text, separator);
    }
}
