/* plot trace: misclassified rows and the loss, step by step. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Column of that name, -1: none, it has no numbers, or the table is sparse. */
static int64_t column_named(const margin_data *data, const char *name) {
    for (int64_t j = 0; !data->x.row_starts && j < data->x.columns; j++)
        for (int64_t i = 0; !strcmp(data->columns[j].name, name) && i < data->x.rows; i++)
            if (!isnan(picture_cell(&data->x, i, j))) return j;
    return -1;
}

/* A column over the steps; a change of sub-problem breaks the line. */
static void put_curve(picture *p, const margin_data *data, int64_t column) {
    const int64_t step = column_named(data, "step"), part = column_named(data, "subproblem");
    const margin_matrix *x = &data->x;
    for (int64_t i = 0; i < x->rows; i++) {
        if (isnan(picture_cell(x, i, column))) continue;
        if (i && part >= 0 && picture_cell(x, i, part) != picture_cell(x, i - 1, part))
            text_puts(&p->data, "\n");
        picture_numbers(p, 2, picture_cell(x, i, step), picture_cell(x, i, column));
    }
    picture_end(p);
}

/* Misclassified rows on the left axis and the loss on the right, or the one that there is. The
 * range of the loss is its own: what it falls by may be little beside what is left. */
static void trace_script(picture *p, const margin_data *data, int64_t errors, int64_t loss) {
    const bool two = errors >= 0 && loss >= 0;
    double least, most = 0;
    if (errors >= 0) picture_column_range(&data->x, errors, &least, &most);
    picture_set(p, "set xlabel 'step'\n");
    picture_set(p, errors >= 0 ? "set ylabel 'misclassified'\nset yrange [0:*]\n"
                               : "set ylabel 'loss'\n");
    /* a few misclassified rows need no fractions on their axis */
    if (errors >= 0 && most <= 10) picture_set(p, "set ytics 1\n");
    if (two) picture_set(p, "set y2label 'loss'\nset y2tics\nset ytics nomirror\n");
    if (errors >= 0) {
        picture_curve(p, "misclassified", "with lines lw 2 lc rgb '#0072B2'");
        put_curve(p, data, errors);
    }
    if (loss >= 0) {
        picture_curve(p, "loss", "%swith lines lw 2 lc rgb '#D55E00'", two ? "axes x1y2 " : "");
        put_curve(p, data, loss);
    }
    picture_plot(p);
}

static int draw(picture *p, const margin_data *data) {
    const int64_t errors = column_named(data, "errors"), loss = column_named(data, "loss");
    if (column_named(data, "step") < 0 || (errors < 0 && loss < 0)) {
        fprintf(stderr,
                "margin: %s is no trace: it has no columns step, errors and loss; 'margin fit "
                "--trace' writes one\n",
                p->session->arguments->words[1]);
        return EXIT_BAD_INPUT;
    }
    picture_begin(p, "training, step by step");
    trace_script(p, data, errors, loss);
    return picture_finish(p);
}

int plot_trace(picture *p) {
    margin_table *table = NULL;
    const margin_status status = cli_read_table(p->session, p->session->arguments->words[1], false,
                                                MARGIN_MISSING_KEEP, &table);
    if (status < 0) return cli_failed(p->session, status);
    const margin_data data = margin_table_data(table);
    const int code = draw(p, &data);
    margin_table_free(table);
    return code;
}
