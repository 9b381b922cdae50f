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
    const margin_column *features; /* NULL: the functions are kernels */
    double tube;                   /* what an svm lets a row miss by; NaN: no svm */
} fit_picture;

/* The column from end to end, the others at their means or most frequent categories. */
static margin_status fill_grid(picture *pic, const margin_table *table, fit_picture *p) {
    const int64_t n = p->column_count;
    margin_status status;
    margin_column_summary *s =
        picture_summarize(pic, table, n + margin_model_target_count(p->model), &status);
    p->grid = malloc((size_t)(STEPS * n) * sizeof *p->grid);
    if (!p->grid) status = MARGIN_ERROR_MEMORY;
    for (int64_t i = 0; status >= 0 && i < STEPS; i++) {
        double *row = p->grid + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = picture_held(&s[j]);
        row[p->axis] = p->low + (p->high - p->low) * (double)i / (STEPS - 1);
    }
    free(s);
    return status;
}

/* Weight times feature at each step. One feature that is the column itself is a line, which the
 * curve shows already. */
static margin_status fill_weighted(picture *pic, fit_picture *p, const double *weights,
                                   const margin_matrix *grid) {
    p->features = margin_model_features(p->model, &p->function_count);
    if (p->function_count < 2 || p->function_count > MOST_FUNCTIONS) return MARGIN_OK;
    p->functions = malloc((size_t)(STEPS * p->function_count) * sizeof *p->functions);
    if (!p->functions) return MARGIN_ERROR_MEMORY;
    const margin_status status = margin_model_transform(pic->session->context, p->model, grid,
                                                        p->functions, &pic->session->error);
    for (int64_t i = 0; status >= 0 && i < STEPS * p->function_count; i++)
        p->functions[i] *= weights[i % p->function_count];
    return status;
}

/* The learner of the model by itself, with the width that it was trained with. */
static margin_status bare_learner(picture *pic, const fit_picture *p, margin_spec **bare) {
    const char *text = margin_model_spec(p->model);
    const double gamma = margin_report_item_value(margin_model_report(p->model), "gamma");
    margin_setting setting = {.size = sizeof setting};
    margin_spec *given = NULL;
    margin_error *error = &pic->session->error;
    margin_status status = margin_spec_parse(pic->session->context, text, &given, error);
    while (given && margin_spec_steps(given) > 1 && (text = strchr(text, '|'))) {
        margin_spec *rest = NULL; /* none behind a bar of a quoted text */
        if (margin_spec_parse(pic->session->context, ++text, &rest, NULL) < 0) continue;
        margin_spec_free(given);
        given = rest;
    }
    if (status >= 0) margin_spec_setting(given, 0, "gamma", &setting);
    setting.given = 1;
    setting.number = gamma;
    setting.word = NULL;
    const bool chosen = status >= 0 && isfinite(gamma) && setting.option;
    if (chosen) status = margin_spec_with(given, 0, &setting, bare, error);
    if (chosen && status == MARGIN_ERROR_SPEC) status = MARGIN_OK; /* sigma says it */
    if (status >= 0 && !*bare)
        *bare = given;
    else
        margin_spec_free(given);
    return status;
}

/* Coefficient times kernel of each support row, from the Gram matrix of grid and support rows, as
 * the stages make them. */
static margin_status fill_kernels(picture *pic, fit_picture *p, const margin_matrix *grid) {
    margin_tensor support = {.size = sizeof support}, alpha = {.size = sizeof alpha};
    margin_error *error = &pic->session->error;
    margin_context *context = pic->session->context;
    if (!margin_model_tensor_find(p->model, "hypothesis.support", &support) || p->targets > 1 ||
        !margin_model_tensor_find(p->model, "hypothesis.coefficients", &alpha) ||
        support.shape[0] != alpha.shape[0] || alpha.shape[0] > MOST_FUNCTIONS ||
        support.type != MARGIN_F64)
        return MARGIN_OK;
    const int64_t n = alpha.shape[0], columns = support.shape[1], all = STEPS + n;
    double *rows = malloc((size_t)(all * (columns + all)) * sizeof *rows),
           *gram = rows + all * columns;
    margin_spec *bare = NULL;
    int64_t made = 0;
    p->functions = malloc((size_t)(STEPS * n + 1) * sizeof *p->functions);
    margin_status status = rows && p->functions ? MARGIN_OK : MARGIN_ERROR_MEMORY;
    if (status >= 0) status = margin_model_transform(context, p->model, grid, rows, error);
    if (status >= 0) {
        memcpy(rows + STEPS * columns, support.values, (size_t)(n * columns) * sizeof *rows);
        status = bare_learner(pic, p, &bare);
    }
    const margin_data data = {.x = margin_dense_f64(rows, all, columns, columns)};
    if (status >= 0) status = margin_gram(context, bare, &data, all * all, gram, &made, error);
    for (int64_t i = 0; status >= 0 && i < STEPS * n; i++)
        p->functions[i] = ((const double *)alpha.values)[i % n] * gram[i / n * all + STEPS + i % n];
    p->function_count = n;
    margin_spec_free(bare);
    free(rows);
    return status;
}

static margin_status fill_functions(picture *pic, fit_picture *p, const margin_matrix *grid) {
    const double *weights = margin_model_weights(p->model, p->target);
    if (p->column_count > 1) return MARGIN_OK;
    return weights ? fill_weighted(pic, p, weights, grid) : fill_kernels(pic, p, grid);
}

static margin_status compute(picture *pic, const margin_table *table, fit_picture *p) {
    picture_column_range(&p->data->x, p->axis, &p->low, &p->high);
    if (!(p->high > p->low)) p->high = p->low + 1;
    margin_status status = fill_grid(pic, table, p);
    if (status < 0) return status;
    const margin_matrix grid = margin_dense_f64(p->grid, STEPS, p->column_count, p->column_count);
    p->curve = malloc((size_t)(STEPS * p->targets) * sizeof *p->curve);
    if (!p->curve) return MARGIN_ERROR_MEMORY;
    status = margin_predict_parallel(pic->session->context, p->model, &grid, MARGIN_OUTPUT_VALUES,
                                     p->curve, &pic->session->error);
    for (int64_t i = 0; i < STEPS && status >= 0; i++)
        p->curve[i] = p->curve[i * p->targets + p->target];
    return status < 0 ? status : fill_functions(pic, p, &grid);
}

/* ---- Script ---------------------------------------------------------------------------------- */

static double step_at(const fit_picture *p, int64_t i) {
    return p->grid[i * p->column_count + p->axis];
}

static void put_rows(picture *pic, const fit_picture *p) {
    const int64_t rows = p->data->x.rows, step = (rows + MOST_POINTS - 1) / MOST_POINTS;
    const double *y = p->data->y.values;
    if (pic->image)
        picture_curve(pic, "rows", "with points pt 7 ps %s lc rgb '#0072B2'",
                      rows > 500 ? "0.4" : "0.8");
    else
        picture_curve(pic, "rows", "with points pt 'o'");
    for (int64_t i = 0; y && i < rows; i += step) {
        const double x = picture_cell(&p->data->x, i, p->axis);
        const double value = y[i * p->targets + p->target];
        if (isfinite(x) && isfinite(value)) picture_numbers(pic, 2, x, value);
    }
    picture_end(pic);
}

static void put_curve(picture *pic, const fit_picture *p) {
    picture_curve(pic, p->column_count > 1 ? "model, other columns at their means" : "model", "%s",
                  pic->image ? "with lines lw 2.5 lc rgb '#D55E00'" : "with points pt '*'");
    for (int64_t i = 0; i < STEPS; i++)
        if (isfinite(p->curve[i])) picture_numbers(pic, 2, step_at(p, i), p->curve[i]);
    picture_end(pic);
}

/* In characters beneath the rows, which it would hide. */
static void put_tube(picture *pic, const fit_picture *p) {
    for (int side = -1; side <= 1 && p->tube > 0; side += 2) {
        picture_curve(pic, side < 0 ? "epsilon below and above" : NULL, "%s",
                      pic->image ? "with lines lw 1.5 dt 2 lc rgb '#D55E00'"
                                 : "with points pt '-'");
        for (int64_t i = 0; i < STEPS; i++)
            if (isfinite(p->curve[i]))
                picture_numbers(pic, 2, step_at(p, i), p->curve[i] + side * p->tube);
        picture_end(pic);
    }
}

/* Whether a function is 0 all over: the constant column, whose work the intercept does. */
static bool is_zero(const fit_picture *p, int64_t f) {
    for (int64_t i = 0; i < STEPS; i++)
        if (p->functions[i * p->function_count + f] != 0) return false;
    return true;
}

static void put_functions(picture *pic, const fit_picture *p) {
    int64_t shown = 0, drawn = 0;
    for (int64_t f = 0; f < p->function_count; f++)
        shown += !is_zero(p, f);
    picture_label(pic, 'x', p->columns[p->axis].name);
    picture_label(pic, 'y', p->features ? "weight x function" : "coefficient x kernel");
    picture_set(pic, "set yrange [*:*]\nset key outside center top horizontal\nunset title\n");
    picture_function(pic, "0 lc rgb '#000000' lw 1 notitle");
    for (int64_t f = 0; f < p->function_count; f++) {
        if (is_zero(p, f)) continue;
        picture_curve(pic, p->features && shown <= MOST_NAMED ? p->features[f].name : NULL,
                      "with lines lw 1.5 lc rgb '%s'", picture_colour(drawn++));
        for (int64_t i = 0; i < STEPS; i++)
            picture_numbers(pic, 2, step_at(p, i), p->functions[i * p->function_count + f]);
        picture_end(pic);
    }
    picture_plot(pic);
}

static void fit_script(picture *pic, const fit_picture *p) {
    const bool two = pic->image && p->functions;
    const margin_column *target = margin_model_target(p->model);
    double low = p->low, high = p->high;
    picture_axes(pic);
    if (two) picture_set(pic, "set multiplot layout 2,1\nset lmargin 12\nset rmargin 4\n");
    picture_set(pic, "set offsets 0, 0, graph 0.04, graph 0.04\n");
    picture_room(0.05, &low, &high);
    picture_range(pic, 'x', low, high);
    if (!two) picture_label(pic, 'x', p->columns[p->axis].name);
    picture_label(pic, 'y', target ? target[p->target].name : "value");
    if (!pic->image) put_tube(pic, p);
    put_rows(pic, p);
    put_curve(pic, p);
    if (pic->image) put_tube(pic, p);
    picture_plot(pic);
    if (!two) return;
    put_functions(pic, p);
    picture_set(pic, "unset multiplot\n");
}

static int draw(picture *pic, const fit_picture *p) {
    cli_text intercept = {0};
    if (p->functions) {
        text_puts(&intercept, "; intercept ");
        text_short(&intercept, margin_model_intercept(p->model, p->target));
    }
    picture_begin(pic, "%s%s", margin_model_spec(p->model), intercept.data ? intercept.data : "");
    text_free(&intercept);
    fit_script(pic, p);
    return picture_finish(pic);
}

/* Option epsilon of the model's svm. */
static double tube_of(picture *pic, const margin_model *model) {
    margin_setting setting = {.size = sizeof setting, .number = (double)NAN};
    margin_spec *spec = NULL;
    if (strcmp(margin_model_learner(model)->name, "svm") == 0 &&
        margin_spec_parse(pic->session->context, margin_model_spec(model), &spec,
                          &pic->session->error) >= 0)
        margin_spec_setting(spec, margin_spec_steps(spec) - 1, "epsilon", &setting);
    margin_spec_free(spec);
    return setting.number;
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

int plot_fit(picture *pic, const margin_model *model, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    fit_picture p = {.model = model,
                     .data = &data,
                     .target = pic->session->target,
                     .targets = margin_model_target_count(model)};
    p.columns = margin_model_columns(model, &p.column_count);
    p.tube = tube_of(pic, model);
    int code = check(pic->session, &p);
    if (!code) {
        const margin_status status = compute(pic, table, &p);
        code = status < 0 ? picture_failed(pic, status) : draw(pic, &p);
    }
    free(p.grid);
    free(p.curve);
    free(p.functions);
    return code;
}
