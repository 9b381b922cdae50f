/* plot coefficients, plot residuals. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- coefficients ---------------------------------------------------------------------------- */

enum { MOST_SHOWN = 30, NAME_LENGTH = 28 };

/* One feature of the picture: its number, and what it is chosen by. */
typedef struct {
    int64_t feature;
    double size;
} shown_feature;

typedef struct {
    const margin_model *model;
    const margin_column *columns;
    int64_t count;     /* features */
    int64_t functions; /* drawn side by side */
    int64_t first;     /* of them */
    double *deviation; /* of the features' columns; NULL: in the units of the columns */
    const margin_statistics_result *statistics; /* or NULL */
    shown_feature *shown;
    int64_t shown_count;
} coefficient_picture;

static double scale_of(const coefficient_picture *p, int64_t feature) {
    return p->deviation ? p->deviation[feature] : 1;
}

static const double *weights_of(const coefficient_picture *p, int64_t f) {
    return margin_model_weights(p->model, p->first + f);
}

static int by_size(const void *a, const void *b) {
    const shown_feature *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

static int by_feature(const void *a, const void *b) {
    const shown_feature *x = a, *y = b;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

/* The largest ones, in the order of the columns. */
static void choose_features(coefficient_picture *p) {
    for (int64_t j = 0; j < p->count; j++) {
        double size = 0;
        for (int64_t f = 0; f < p->functions; f++)
            size = fmax(size, fabs(weights_of(p, f)[j]) * scale_of(p, j));
        if (p->statistics) {
            const double t = fabs(margin_statistics_coefficient(p->statistics, j)->statistic);
            size = isnan(t) ? 0 : t;
        }
        p->shown[j] = (shown_feature){j, size};
    }
    p->shown_count = p->count < MOST_SHOWN ? p->count : MOST_SHOWN;
    qsort(p->shown, (size_t)p->count, sizeof *p->shown, by_size);
    qsort(p->shown, (size_t)p->shown_count, sizeof *p->shown, by_feature);
}

static void name_ticks(picture *pic, const coefficient_picture *p) {
    picture_set(pic, "set ytics (");
    for (int64_t k = 0; k < p->shown_count; k++) {
        cli_text name = {0};
        text_name(&name, p->columns[p->shown[k].feature].name, 0, NAME_LENGTH);
        picture_set(pic, k ? ", " : "");
        picture_string(&pic->script, name.data ? name.data : "");
        text_printf(&pic->script, " %lld", (long long)(p->shown_count - k));
        text_free(&name);
    }
    text_printf(&pic->script, "%s\nset yrange [0.3:%lld.7]\n",
                p->shown_count > 20 ? ") font ',9'" : ")", (long long)p->shown_count);
}

/* Where function f of the k-th feature is drawn: functions of a feature below each other. */
static double height_of(const coefficient_picture *p, int64_t k, int64_t f) {
    const double middle = (double)(p->functions - 1) / 2;
    return (double)(p->shown_count - k) - ((double)f - middle) * 0.6 / (double)p->functions;
}

/* An interval of unknown size may hold 0. */
static bool holds_0(const margin_coefficient *c) {
    return isnan(c->error) || (c->low <= 0 && c->high >= 0);
}

static const margin_coefficient *statistic_of(const coefficient_picture *p, int64_t k) {
    return margin_statistics_coefficient(p->statistics, p->shown[k].feature);
}

/* Those whose interval holds 0, or the others: "x y low high". */
static void put_intervals(picture *pic, const coefficient_picture *p, bool uncertain) {
    char title[64];
    int64_t count = 0;
    for (int64_t k = 0; k < p->shown_count; k++)
        count += holds_0(statistic_of(p, k)) == uncertain;
    if (!count) return;
    snprintf(title, sizeof title, "%.4g %% interval %s", 100 * p->statistics->confidence,
             uncertain ? "with 0" : "without 0");
    if (pic->image)
        picture_curve(pic, title, "using 1:2:3:4 with xerrorbars lw 2 pt 7 ps 1 lc rgb '%s'",
                      uncertain ? "#999999" : "#0072B2");
    else
        picture_curve(pic, title, "using 1:2:3:4 with xerrorbars pt '%c'", uncertain ? 'o' : '*');
    for (int64_t k = 0; k < p->shown_count; k++) {
        const margin_coefficient *c = statistic_of(p, k);
        const double scale = scale_of(p, p->shown[k].feature);
        const bool known = !isnan(c->error);
        if (holds_0(c) == uncertain)
            picture_numbers(pic, 4, c->estimate * scale, (double)(p->shown_count - k),
                            (known ? c->low : c->estimate) * scale,
                            (known ? c->high : c->estimate) * scale);
    }
    picture_end(pic);
}

/* Target, class, or the two classes that function f tells apart; nothing if there is but one. */
static void function_title(cli_text *title, const coefficient_picture *p, int64_t f) {
    int64_t first, second;
    margin_model_score_classes(p->model, f, &first, &second);
    if (p->functions == 1) return;
    if (cli_several_targets(p->model)) {
        text_puts(title, margin_model_target(p->model)[f].name);
    } else if (first >= 0) {
        text_puts(title, margin_model_class_name(p->model, first));
        if (second >= 0) text_puts(title, " against ");
        if (second >= 0) text_puts(title, margin_model_class_name(p->model, second));
    }
}

static void put_function(picture *pic, const coefficient_picture *p, int64_t f) {
    cli_text title = {0};
    function_title(&title, p, f);
    if (pic->image)
        picture_curve(pic, title.data, "with points pt 7 ps 1 lc rgb '%s'", picture_colour(f));
    else
        picture_curve(pic, title.data, "with points pt '%c'",
                      p->functions > 1 ? (char)('A' + f % 26) : '*');
    text_free(&title);
    for (int64_t k = 0; k < p->shown_count; k++) {
        const int64_t j = p->shown[k].feature;
        picture_numbers(pic, 2, weights_of(p, f)[j] * scale_of(p, j), height_of(p, k, f));
    }
    picture_end(pic);
}

static void coefficients_title(cli_text *title, const coefficient_picture *p) {
    text_puts(title, ": coefficients");
    if (p->functions == 1 && cli_several_targets(p->model))
        text_printf(title, " of %s", margin_model_target(p->model)[p->first].name);
    if (p->shown_count < p->count)
        text_printf(title, ", the %lld largest of %lld", (long long)p->shown_count,
                    (long long)p->count);
    if (p->functions > 1 && p->functions < margin_model_score_count(p->model))
        text_printf(title, ", the first %lld of %lld functions", (long long)p->functions,
                    (long long)margin_model_score_count(p->model));
}

static int draw_coefficients(picture *pic, coefficient_picture *p) {
    cli_text title = {0};
    choose_features(p);
    coefficients_title(&title, p);
    picture_begin(pic, "%s%s", margin_model_spec(p->model), title.data ? title.data : "");
    text_free(&title);
    picture_axes(pic);
    name_ticks(pic, p);
    text_printf(&pic->script, "set xlabel '%s column'\nset xzeroaxis\n",
                p->deviation                    ? "change for one standard deviation of the"
                : cli_scaled_features(p->model) ? "change for one unit of the scaled"
                                                : "change for one unit of the");
    picture_set(pic, "set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb '#000000' lw 1\n"
                     "set offsets graph 0.05, graph 0.05, 0, 0\n");
    for (int part = 0; p->statistics && part < 2; part++)
        put_intervals(pic, p, part);
    for (int64_t f = 0; !p->statistics && f < p->functions; f++)
        put_function(pic, p, f);
    picture_plot(pic);
    return picture_finish(pic);
}

/* Deviations of the columns, where the features are the columns themselves. */
static margin_status measure_columns(picture *pic, const margin_table *table,
                                     coefficient_picture *p) {
    int64_t inputs;
    double shift, scale;
    const margin_column *columns = margin_model_columns(p->model, &inputs);
    const margin_data data = margin_table_data(table);
    margin_status status;
    bool same = inputs == p->count && data.columns != NULL;
    for (int64_t j = 0; same && j < inputs; j++)
        same = columns[j].kind == MARGIN_NUMERIC &&
               margin_model_scale(p->model, j, &shift, &scale) == j && scale == 1;
    if (!same) return MARGIN_OK;
    margin_column_summary *s =
        picture_summarize(pic, table, inputs + margin_model_target_count(p->model), &status);
    p->deviation = malloc((size_t)inputs * sizeof *p->deviation);
    if (!p->deviation) status = MARGIN_ERROR_MEMORY;
    for (int64_t j = 0; status >= 0 && j < inputs; j++)
        p->deviation[j] = isfinite(s[j].deviation) ? s[j].deviation : 0;
    free(s);
    return status;
}

/* Statistics are taken where there are any; where not, that is no reason not to draw. */
static margin_status take_statistics(cli_session *session, const margin_table *table,
                                     coefficient_picture *p, margin_statistics_result *result) {
    const margin_data data = margin_table_data(table);
    margin_statistics_options options = {.size = sizeof options};
    margin_status status;
    if (cli_confidence(session->arguments, &options.confidence)) return MARGIN_ERROR_ARGUMENT;
    if (session->target < 0) {
        cli_note(session, "no intervals: they are drawn for one target, chosen with --target");
        return MARGIN_OK;
    }
    options.target = session->target;
    status =
        margin_statistics(session->context, p->model, &data, &options, result, &session->error);
    if (status >= 0)
        p->statistics = result;
    else if (status == MARGIN_ERROR_DATA || status == MARGIN_ERROR_ARGUMENT)
        cli_note(session, "no intervals: %s", cli_in_flags(session->error.text).text);
    else
        return status;
    return MARGIN_OK;
}

int plot_coefficients(picture *pic, const margin_model *model, const margin_table *table) {
    cli_session *session = pic->session;
    coefficient_picture p = {.model = model};
    margin_statistics_result result = {0};
    double confidence;
    if (cli_confidence(session->arguments, &confidence)) return EXIT_USAGE;
    if (margin_model_score_count(model) == 0 || !margin_model_weights(model, 0)) {
        fputs("margin: the model is not linear: it has no coefficients to draw\n", stderr);
        return EXIT_BAD_INPUT;
    }
    p.columns = margin_model_features(model, &p.count);
    p.functions = margin_model_score_count(model);
    if (cli_several_targets(model) && session->target >= 0) {
        p.functions = 1;
        p.first = session->target;
    }
    p.functions = p.functions < PICTURE_COLOURS ? p.functions : PICTURE_COLOURS;
    p.shown = malloc((size_t)p.count * sizeof *p.shown);
    int code = p.shown ? EXIT_DONE : picture_out_of_memory();
    margin_status status = MARGIN_OK;
    if (!code && table) status = measure_columns(pic, table, &p);
    if (!code && table && status >= 0) status = take_statistics(session, table, &p, &result);
    if (!code) code = status < 0 ? picture_failed(pic, status) : draw_coefficients(pic, &p);
    margin_statistics_free(&result);
    free(p.shown);
    free(p.deviation);
    return code;
}

/* ---- residuals ------------------------------------------------------------------------------- */

enum { MOST_POINTS = 5000 };

typedef struct {
    int64_t rows; /* with a prediction and a target */
    double *fitted, *residual;
    double deviation; /* of the residuals about 0 */
} residual_picture;

static void put_rows(picture *pic, const residual_picture *p) {
    const int64_t step = (p->rows + MOST_POINTS - 1) / MOST_POINTS;
    if (pic->image)
        picture_curve(pic, "rows", "with points pt 7 ps %s lc rgb '#0072B2'",
                      p->rows > 500 ? "0.35" : "0.7");
    else
        picture_curve(pic, "rows", "with points pt 'o'");
    for (int64_t i = 0; i < p->rows; i += step)
        picture_numbers(pic, 2, p->fitted[i], p->residual[i]);
    picture_end(pic);
}

/* Means of the residuals over twenty equal shares of the rows by fitted value: where they leave 0
 * the function is not straight. */
static int put_means(picture *pic, const residual_picture *p) {
    enum { SHARES = 20, LEAST = 10 };
    const int64_t shares = p->rows / LEAST < SHARES ? p->rows / LEAST : SHARES;
    double(*pairs)[2] = malloc((size_t)(p->rows > 0 ? p->rows : 1) * sizeof *pairs);
    if (!pairs) return picture_out_of_memory();
    picture_curve(pic, "mean", "%s",
                  pic->image ? "with lines lw 2 lc rgb '#D55E00'" : "with points pt '#'");
    for (int64_t i = 0; i < p->rows; i++) {
        pairs[i][0] = p->fitted[i];
        pairs[i][1] = p->residual[i];
    }
    qsort(pairs, (size_t)p->rows, sizeof *pairs, cli_ascending);
    for (int64_t s = 0; s < shares; s++) {
        const int64_t first = s * p->rows / shares, last = (s + 1) * p->rows / shares;
        double x = 0, y = 0;
        for (int64_t i = first; i < last; i++) {
            x += pairs[i][0];
            y += pairs[i][1];
        }
        picture_numbers(pic, 2, x / (double)(last - first), y / (double)(last - first));
    }
    picture_end(pic);
    free(pairs);
    return EXIT_DONE;
}

/* "probability value" of the sorted residuals over their deviation; gnuplot has the quantiles. */
static void plot_quantiles(picture *pic, residual_picture *p) {
    const int64_t step = (p->rows + MOST_POINTS - 1) / MOST_POINTS;
    picture_set(pic, "set xlabel 'normal quantile'\nset ylabel 'residual / deviation'\n");
    picture_function(pic, "x lc rgb '#000000' lw 1 title 'normal'");
    picture_curve(pic, "rows", "using (invnorm($1)):2 with points pt 7 ps %s lc rgb '#0072B2'",
                  p->rows > 500 ? "0.35" : "0.7");
    qsort(p->residual, (size_t)p->rows, sizeof *p->residual, cli_ascending);
    for (int64_t i = 0; i < p->rows; i += step) {
        const bool near_end = i < 100 * step || i > p->rows - 100 * step;
        for (int64_t k = i; k < p->rows && k < (near_end ? i + step : i + 1); k++)
            picture_numbers(pic, 2, ((double)k + 0.5) / (double)p->rows,
                            p->residual[k] / p->deviation);
    }
    picture_end(pic);
    picture_plot(pic);
    picture_set(pic, "unset multiplot\n");
}

static int draw_residuals(picture *pic, const char *title, residual_picture *p) {
    const bool quantiles = pic->image && p->deviation > 0;
    picture_begin(pic, " ");
    picture_axes(pic);
    picture_set(pic, quantiles ? "unset title\nset multiplot layout 1,2 title "
                               : "unset title\nset title ");
    picture_string(&pic->script, title);
    picture_set(pic, "\nset xlabel 'fitted value'\nset ylabel 'residual (target - fitted)'\n"
                     "set offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n");
    if (pic->image) picture_function(pic, "0 lc rgb '#000000' lw 1 notitle");
    put_rows(pic, p);
    const int code = put_means(pic, p);
    picture_plot(pic);
    if (code) return code;
    if (quantiles) plot_quantiles(pic, p);
    return picture_finish(pic);
}

/* Predictions and targets of the rows that have both, and a weight. */
static margin_status find_residuals(cli_session *session, const margin_model *model,
                                    const margin_data *data, residual_picture *p) {
    const double *y = data->y.values, *weights = data->weights.values;
    const int64_t targets = margin_model_target_count(model);
    double squares = 0;
    margin_status status = margin_predict_parallel(
        session->context, model, &data->x, MARGIN_OUTPUT_VALUES, p->fitted, &session->error);
    for (int64_t i = 0; status >= 0 && i < data->x.rows; i++) {
        const int64_t at = i * targets + session->target;
        const double fitted = p->fitted[at], residual = y[at] - fitted;
        if (isnan(residual) || (weights && !(weights[i] > 0))) continue;
        p->fitted[p->rows] = fitted;
        p->residual[p->rows++] = residual;
        squares += residual * residual;
    }
    p->deviation = p->rows > 0 ? sqrt(squares / (double)p->rows) : 0;
    return status;
}

int plot_residuals(picture *pic, const margin_model *model, const margin_table *table) {
    cli_session *session = pic->session;
    const margin_data data = margin_table_data(table);
    const size_t rows = (size_t)(data.x.rows > 0 ? data.x.rows : 1);
    residual_picture p = {0};
    int code;
    if (margin_model_task(model) != MARGIN_REGRESS) {
        fputs("margin: residuals are those of a regression; for classes there are roc and "
              "reliability\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    if (!data.y.values) {
        fputs("margin: the data has no target for the residuals; name a column of it (--target), "
              "or for npy and idx the file of the labels (--labels)\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    p.fitted = malloc(rows * (size_t)margin_model_target_count(model) * sizeof *p.fitted);
    p.residual = malloc(rows * sizeof *p.residual);
    if (!p.fitted || !p.residual) {
        code = picture_out_of_memory();
    } else {
        const margin_status status = find_residuals(session, model, &data, &p);
        const char *given = session->arguments->title;
        cli_text title = {0};
        text_puts(&title, given ? given : margin_model_spec(model));
        if (!given && cli_several_targets(model))
            text_printf(&title, ": %s", margin_model_target(model)[session->target].name);
        code = status < 0 ? cli_failed(session, status)
                          : draw_residuals(pic, title.data ? title.data : "", &p);
        text_free(&title);
    }
    free(p.fitted);
    free(p.residual);
    return code;
}
