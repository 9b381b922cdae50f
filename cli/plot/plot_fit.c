/* plot fit: the curve of a regression over one column, and what it is the sum of. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, MOST_POINTS = 5000, MOST_FUNCTIONS = 200, MOST_NAMED = 8 };

typedef struct {
    const margin_model *model;
    const margin_data *data;
    const margin_column *columns;
    int64_t column_count, axis;
    double low, high; /* of the column */
    double *grid;     /* STEPS rows: the others held */
    double *curve;    /* STEPS values */
    int64_t target;   /* the one that is drawn, of */
    int64_t targets;
    double *functions; /* STEPS x function_count: weight times feature; NULL: not drawn */
    int64_t function_count;
    const margin_column *features;
} fit_picture;

/* The column from end to end, the others at their means or most frequent categories. */
static margin_status fill_grid(cli_session *session, const margin_table *table, fit_picture *p) {
    const int64_t n = p->column_count;
    const int64_t count = n + margin_model_target_count(p->model);
    margin_column_summary *s = calloc((size_t)count, sizeof *s);
    p->grid = malloc((size_t)(STEPS * n) * sizeof *p->grid);
    margin_status status =
        s && p->grid ? margin_table_summarize(session->context, table, s, count, &session->error)
                     : MARGIN_ERROR_MEMORY;
    for (int64_t i = 0; status >= 0 && i < STEPS; i++) {
        double *row = p->grid + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = s[j].column.kind == MARGIN_CATEGORICAL ? (double)s[j].top : s[j].mean;
        row[p->axis] = p->low + (p->high - p->low) * (double)i / (STEPS - 1);
    }
    free(s);
    return status;
}

/* Weight times feature at each step. One feature that is the column itself is a line, which the
 * curve shows already. */
static margin_status fill_functions(cli_session *session, fit_picture *p,
                                    const margin_matrix *grid) {
    const double *weights = margin_model_weights(p->model, p->target);
    p->features = margin_model_features(p->model, &p->function_count);
    if (!weights || p->column_count > 1 || p->function_count < 2 ||
        p->function_count > MOST_FUNCTIONS)
        return MARGIN_OK;
    p->functions = malloc((size_t)(STEPS * p->function_count) * sizeof *p->functions);
    if (!p->functions) return MARGIN_ERROR_MEMORY;
    const margin_status status =
        margin_model_transform(session->context, p->model, grid, p->functions, &session->error);
    for (int64_t i = 0; status >= 0 && i < STEPS * p->function_count; i++)
        p->functions[i] *= weights[i % p->function_count];
    return status;
}

static margin_status compute(cli_session *session, const margin_table *table, fit_picture *p) {
    picture_column_range(&p->data->x, p->axis, &p->low, &p->high);
    if (!(p->high > p->low)) p->high = p->low + 1;
    margin_status status = fill_grid(session, table, p);
    if (status < 0) return status;
    const margin_matrix grid = margin_dense_f64(p->grid, STEPS, p->column_count, p->column_count);
    p->curve = malloc((size_t)(STEPS * p->targets) * sizeof *p->curve);
    if (!p->curve) return MARGIN_ERROR_MEMORY;
    status = margin_predict_parallel(session->context, p->model, &grid, MARGIN_OUTPUT_VALUES,
                                     p->curve, &session->error);
    for (int64_t i = 0; i < STEPS && status >= 0; i++)
        p->curve[i] = p->curve[i * p->targets + p->target];
    return status < 0 ? status : fill_functions(session, p, &grid);
}

/* ---- Script ---------------------------------------------------------------------------------- */

static double step_at(const fit_picture *p, int64_t i) {
    return p->grid[i * p->column_count + p->axis];
}

static void put_rows(cli_text *script, const fit_picture *p) {
    const int64_t rows = p->data->x.rows, step = (rows + MOST_POINTS - 1) / MOST_POINTS;
    const double *y = p->data->y.values;
    for (int64_t i = 0; y && i < rows; i += step) {
        const double x = picture_cell(&p->data->x, i, p->axis),
                     value = y[i * p->targets + p->target];
        if (isfinite(x) && isfinite(value)) picture_point(script, x, value);
    }
    text_puts(script, "e\n");
}

static void put_curve(cli_text *script, const fit_picture *p) {
    for (int64_t i = 0; i < STEPS; i++)
        if (isfinite(p->curve[i])) picture_point(script, step_at(p, i), p->curve[i]);
    text_puts(script, "e\n");
}

static void put_function(cli_text *script, const fit_picture *p, int64_t f) {
    for (int64_t i = 0; i < STEPS; i++)
        picture_point(script, step_at(p, i), p->functions[i * p->function_count + f]);
    text_puts(script, "e\n");
}

/* Whether a function is 0 all over: the constant column, whose work the intercept does. */
static bool is_zero(const fit_picture *p, int64_t f) {
    for (int64_t i = 0; i < STEPS; i++)
        if (p->functions[i * p->function_count + f] != 0) return false;
    return true;
}

static void plot_functions(cli_text *script, const fit_picture *p) {
    int64_t shown = 0, drawn = 0;
    for (int64_t f = 0; f < p->function_count; f++)
        shown += !is_zero(p, f);
    picture_label(script, 'x', p->columns[p->axis].name);
    picture_label(script, 'y', "weight x function");
    text_puts(script, "set yrange [*:*]\nset key outside center top horizontal\nunset title\n"
                      "plot 0 lc rgb '#000000' lw 1 notitle");
    for (int64_t f = 0; f < p->function_count; f++) {
        if (is_zero(p, f)) continue;
        text_printf(script, ", '-' with lines lw 1.5 lc rgb '%s' ",
                    picture_colours[drawn++ % PICTURE_COLOURS]);
        if (shown <= MOST_NAMED) {
            text_puts(script, "title ");
            picture_string(script, p->features[f].name);
        } else {
            text_puts(script, "notitle");
        }
    }
    text_puts(script, "\n");
    for (int64_t f = 0; f < p->function_count; f++)
        if (!is_zero(p, f)) put_function(script, p, f);
}

static void fit_script(cli_text *script, const fit_picture *p, picture_kind kind) {
    const bool image = kind != PICTURE_TERMINAL, two = image && p->functions;
    const margin_column *target = margin_model_target(p->model);
    picture_axes(script, kind);
    if (two) text_puts(script, "set multiplot layout 2,1\nset lmargin 12\nset rmargin 4\n");
    text_puts(script, "set offsets 0, 0, graph 0.04, graph 0.04\n");
    picture_range(script, 'x', p->low, p->high);
    if (!two) picture_label(script, 'x', p->columns[p->axis].name);
    picture_label(script, 'y', target ? target[p->target].name : "value");
    if (image)
        text_printf(script,
                    "plot '-' with points pt 7 ps %s lc rgb '#0072B2' title 'rows', "
                    "'-' with lines lw 2.5 lc rgb '#D55E00' title ",
                    p->data->x.rows > 500 ? "0.4" : "0.8");
    else
        text_puts(script,
                  "plot '-' with points pt 'o' title 'rows', '-' with points pt '*' title ");
    picture_string(script, p->column_count > 1 ? "model, other columns at their means" : "model");
    text_puts(script, "\n");
    put_rows(script, p);
    put_curve(script, p);
    if (!two) return;
    plot_functions(script, p);
    text_puts(script, "unset multiplot\n");
}

static int draw(cli_session *session, picture_kind kind, const fit_picture *p) {
    cli_text script = {0}, title = {0};
    text_puts(&title, margin_model_spec(p->model));
    if (p->functions) {
        text_puts(&title, "; intercept ");
        text_short(&title, margin_model_intercept(p->model, p->target));
    }
    int code = picture_begin(session->arguments, kind, title.data ? title.data : "", &script);
    if (!code) {
        fit_script(&script, p, kind);
        code = picture_finish(session, &script);
    } else {
        text_free(&script);
    }
    text_free(&title);
    return code;
}

static int check(cli_session *session, fit_picture *p) {
    if (margin_model_task(p->model) != MARGIN_REGRESS || p->data->x.row_starts) {
        fputs(
            p->data->x.row_starts
                ? "margin: a fit is drawn over a column of a dense table, and this one is sparse\n"
                : "margin: a fit is drawn for a regression; the classes of a classifier are "
                  "drawn by 'margin plot boundary'\n",
            stderr);
        return EXIT_BAD_INPUT;
    }
    if (p->column_count > 1 && !session->arguments->columns)
        return cli_usage_error(cli_find_command("plot"),
                               "the model has %lld columns and a fit is drawn over one: choose it "
                               "with --columns; the others are held at their means",
                               (long long)p->column_count);
    const int code = picture_columns(session->arguments, p->columns, p->column_count, 1, &p->axis);
    if (!code && p->columns[p->axis].kind == MARGIN_CATEGORICAL)
        return cli_usage_error(cli_find_command("plot"),
                               "column '%s' holds categories; a fit is drawn over numbers",
                               p->columns[p->axis].name);
    return code;
}

int plot_fit(cli_session *session, picture_kind kind, const margin_model *model,
             const margin_table *table) {
    const margin_data data = margin_table_data(table);
    fit_picture p = {.model = model,
                     .data = &data,
                     .target = session->target,
                     .targets = margin_model_target_count(model)};
    p.columns = margin_model_columns(model, &p.column_count);
    int code = check(session, &p);
    if (!code) {
        session->error.text[0] = '\0';
        const margin_status status = compute(session, table, &p);
        if (status == MARGIN_ERROR_MEMORY && !session->error.text[0])
            code = picture_out_of_memory();
        else
            code = status < 0 ? cli_failed(session, status) : draw(session, kind, &p);
    }
    free(p.grid);
    free(p.curve);
    free(p.functions);
    return code;
}
