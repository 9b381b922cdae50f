/* Which columns a picture is drawn over, and what stands in them. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int picture_columns(const cli_arguments *arguments, const margin_column *columns, int64_t count,
                    int wanted, int64_t *axis) {
    const char *given = arguments->columns, *file = arguments->words[arguments->word_count - 1];
    int64_t *chosen = NULL, found = 0;
    for (int k = 0; k < wanted; k++)
        axis[k] = k;
    if (!given) return EXIT_DONE;
    int code = cli_columns("--columns", file, columns, count, given, &chosen, &found);
    if (!code && (found != wanted || (wanted == 2 && chosen[0] == chosen[1])))
        code = cli_usage_error(cli_find_command("plot"), "--columns takes %s, not '%s'",
                               wanted == 1 ? "one column" : "two different columns", given);
    for (int k = 0; !code && k < wanted; k++)
        axis[k] = chosen[k];
    free(chosen);
    return code;
}

double picture_cell(const margin_matrix *x, int64_t row, int64_t column) {
    const int64_t at = row * x->stride + column;
    if (x->value_type == MARGIN_F32) return (double)((const float *)x->values)[at];
    return ((const double *)x->values)[at];
}

void picture_column_range(const margin_matrix *x, int64_t column, double *low, double *high) {
    *low = HUGE_VAL;
    *high = -HUGE_VAL;
    for (int64_t i = 0; i < x->rows; i++) {
        const double value = picture_cell(x, i, column);
        if (!isfinite(value)) continue;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    if (!(*low <= *high)) *low = *high = 0;
}

margin_column_summary *picture_summarize(picture *p, const margin_table *table, int64_t count,
                                         margin_status *status) {
    margin_column_summary *s = calloc((size_t)count, sizeof *s);
    *status = s ? margin_table_summarize(p->session->context, table, s, count, &p->session->error)
                : MARGIN_ERROR_MEMORY;
    return s;
}

double picture_held(const margin_column_summary *column) {
    return column->column.kind == MARGIN_CATEGORICAL ? (double)column->top : column->mean;
}

const char *picture_class_text(const margin_data *data, int64_t row,
                               char number[MARGIN_NUMBER_TEXT]) {
    const double value = data->y.values ? ((const double *)data->y.values)[row] : (double)NAN;
    if (isnan(value)) return NULL;
    if (data->target && data->target->kind == MARGIN_CATEGORICAL)
        return data->target->categories[(int64_t)value];
    margin_number_print_f64(value, number);
    return number;
}

int64_t picture_class_of(const margin_model *model, const margin_data *data, int64_t row) {
    char number[MARGIN_NUMBER_TEXT];
    const char *name = picture_class_text(data, row, number);
    for (int64_t k = 0; name && k < margin_model_class_count(model); k++)
        if (!strcmp(name, margin_model_class_name(model, k))) return k;
    return -1;
}
