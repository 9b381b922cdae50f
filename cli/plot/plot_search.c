/* plot settings, plot bias, plot learning: what settings, and more rows, do for rows that were not
 * learned from. */
#include "cli_gnuplot.h"
#include "cli_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A curve with its deviation -------------------------------------------------------------- */

typedef struct curve_point {
    double x, test, test_deviation, training, training_deviation;
} curve_point;

static void put_side(picture *p, const curve_point *points, int64_t count, bool test,
                     const char *title) {
    picture_curve(p, title,
                  p->image ? "with yerrorlines lw 2 pt 7 ps 0.7 lc rgb '%s'"
                           : "with linespoints pt '%s'",
                  p->image ? picture_colour(test ? 0 : 1)
                  : test   ? "o"
                           : "t");
    for (int64_t k = 0; k < count; k++) {
        const curve_point *at = &points[k];
        const double value = test ? at->test : at->training,
                     deviation = test ? at->test_deviation : at->training_deviation;
        if (isnan(value)) continue;
        if (p->image)
            picture_numbers(p, 3, at->x, value, isnan(deviation) ? 0.0 : deviation);
        else
            picture_numbers(p, 2, at->x, value);
    }
    picture_end(p);
}

static void curve_axes(picture *p, const curve_point *points, int64_t count, const char *over,
                       const char *metric) {
    bool positive = true;
    double low = points[0].x, high = points[0].x;
    for (int64_t k = 0; k < count; k++) {
        positive = positive && points[k].x > 0;
        low = fmin(low, points[k].x);
        high = fmax(high, points[k].x);
    }
    picture_axes(p);
    picture_label(p, 'x', over);
    picture_label(p, 'y', metric);
    if (positive && high > 50 * low) picture_set(p, "set logscale x\n");
}

static void curve_script(picture *p, const curve_point *points, int64_t count, const char *over,
                         const char *metric) {
    curve_axes(p, points, count, over, metric);
    put_side(p, points, count, true, "other rows");
    put_side(p, points, count, false, "rows that were learned from");
    picture_plot(p);
}

/* ---- settings -------------------------------------------------------------------------------- */

typedef struct option_name {
    char name[40];
} option_name;

/* The options of a spec that have a set; at most `most` are written, all are counted. */
static int find_sets(const char *spec, option_name *names, int most) {
    int count = 0;
    for (const char *at = spec; (at = strchr(at, '{')) != NULL; at++) {
        const char *end = at;
        while (end > spec && (end[-1] == ' ' || end[-1] == '='))
            end--;
        const char *begin = end;
        while (begin > spec && !strchr(" (,|", begin[-1]))
            begin--;
        if (count < most)
            snprintf(names[count].name, sizeof names[count].name, "%.*s", (int)(end - begin),
                     begin);
        count++;
    }
    return count;
}

/* The number that an option has in a spec without sets; NaN: it has none. */
static double number_in(const char *spec, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = spec; (at = strstr(at, name)) != NULL; at += length) {
        double value;
        if (at == spec || !strchr(" (,", at[-1]) || at[length] != '=') continue;
        const char *number = at + length + 1;
        if (margin_number_parse_f64(number, strcspn(number, ",)"), &value)) return value;
    }
    return (double)NAN;
}

static int by_x(const void *a, const void *b) {
    const curve_point *left = a, *right = b;
    return (left->x > right->x) - (left->x < right->x);
}

static void deviate(const double *values, int64_t count, double *mean, double *deviation) {
    double squares = 0;
    *mean = 0;
    for (int64_t k = 0; k < count; k++)
        *mean += values[k] / (double)count;
    for (int64_t k = 0; k < count; k++)
        squares += (values[k] - *mean) * (values[k] - *mean);
    *deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

static void curve_of_table(picture *p, const margin_search_result *table, const char *name,
                           curve_point *points) {
    for (int64_t k = 0; k < table->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(table, k);
        curve_point *at = &points[k];
        at->x = number_in(cell->spec, name);
        deviate(cell->values, table->splits, &at->test, &at->test_deviation);
        deviate(cell->training, table->splits, &at->training, &at->training_deviation);
    }
    qsort(points, (size_t)table->count, sizeof *points, by_x);
    curve_script(p, points, table->count, name, table->metric);
}

/* Number of the value among the different ones, which are put in order. */
static int64_t place_of(double *values, int64_t *count, double value, bool add) {
    int64_t k = 0;
    while (k < *count && values[k] < value)
        k++;
    if (!add || (k < *count && values[k] == value)) return k;
    memmove(values + k + 1, values + k, (size_t)(*count - k) * sizeof *values);
    values[k] = value;
    ++*count;
    return k;
}

static void put_tics(picture *p, char axis, const double *values, int64_t count) {
    text_printf(&p->script, "set %ctics (", axis);
    for (int64_t k = 0; k < count; k++)
        text_printf(&p->script, "%s'%.4g' %lld", k ? ", " : "", values[k], (long long)k);
    text_printf(&p->script, ")\nset %crange [-0.5:%lld.5]\n", axis, (long long)count - 1);
}

/* A field for each pair of numbers, the mean in it. `values`: room for two lists. */
static void map_of_table(picture *p, const margin_search_result *table, const option_name *names,
                         double *values) {
    double *across = values, *up = values + table->count;
    int64_t width = 0, height = 0;
    for (int64_t k = 0; k < table->count; k++) {
        const char *spec = margin_search_cell_at(table, k)->spec;
        place_of(across, &width, number_in(spec, names[0].name), true);
        place_of(up, &height, number_in(spec, names[1].name), true);
    }
    picture_label(p, 'x', names[0].name);
    picture_label(p, 'y', names[1].name);
    put_tics(p, 'x', across, width);
    put_tics(p, 'y', up, height);
    picture_set_image(p, table->greater /* dark: better */
                             ? "set palette defined (0 '#fff7ec', 1 '#0072B2')\nset cblabel "
                             : "set palette defined (0 '#0072B2', 1 '#fff7ec')\nset cblabel ");
    if (p->image) picture_string(&p->script, table->metric);
    picture_set(p, "\n");
    for (int labels = p->image ? 0 : 1; labels < 2; labels++) {
        picture_curve(p, NULL, "%s",
                      labels ? "using 1:2:(sprintf('%.3g', $3)) with labels" : "with image");
        for (int64_t k = 0; k < table->count; k++) {
            const margin_search_cell *cell = margin_search_cell_at(table, k);
            if (isnan(cell->mean)) continue;
            picture_numbers(
                p, 3, (double)place_of(across, &width, number_in(cell->spec, names[0].name), false),
                (double)place_of(up, &height, number_in(cell->spec, names[1].name), false),
                cell->mean);
        }
        picture_end(p);
    }
    picture_plot(p);
}

/* ---- bias ------------------------------------------------------------------------------------ */

enum { USUAL_REPEATS = 20 };

/* What the answers of fits to other rows make of a row. Of numbers: the mean squared error is the
 * squared distance of their mean from the truth (bias and noise) and their variance (Geman,
 * Bienenstock and Doursat, Neural Computation 4, 1992), here without the share that a mean of few
 * has of it. Of classes: it is wrong where most of them are, and the rest is variance (Domingos,
 * ICML 2000). */
typedef struct bias_sum {
    double error, bias, weight;
} bias_sum;

static void add_numbers(bias_sum *sum, const double *answers, int64_t count, double truth,
                        double weight) {
    double mean = 0, square = 0, error = 0;
    for (int64_t r = 0; r < count; r++)
        mean += answers[r] / (double)count;
    for (int64_t r = 0; r < count; r++) {
        square += (answers[r] - mean) * (answers[r] - mean) / (double)(count - 1);
        error += (answers[r] - truth) * (answers[r] - truth) / (double)count;
    }
    sum->error += weight * error;
    sum->bias += weight * (error - square);
    sum->weight += weight;
}

static void add_classes(bias_sum *sum, const double *answers, int64_t count, double truth,
                        double weight) {
    int64_t most = 0, wrong = 0;
    double main = -1;
    for (int64_t r = 0; r < count; r++) {
        int64_t equal = 0;
        for (int64_t k = 0; k < count; k++)
            equal += answers[k] == answers[r];
        if (equal > most || (equal == most && answers[r] < main)) main = answers[r];
        if (equal > most) most = equal;
        wrong += answers[r] != truth;
    }
    sum->error += weight * (double)wrong / (double)count;
    sum->bias += weight * (main != truth);
    sum->weight += weight;
}

/* The class of a row among those of the table, or its number; NaN: none. */
static double truth_of(const margin_search_result *table, const margin_data *data, int64_t row) {
    char number[MARGIN_NUMBER_TEXT];
    if (table->task != MARGIN_CLASSIFY) return ((const double *)data->y.values)[row];
    const char *name = picture_class_text(data, row, number);
    for (int64_t k = 0; name && k < table->classes; k++)
        if (!strcmp(name, table->class_names[k])) return (double)k;
    return (double)NAN;
}

/* Rows that every repeat answered. `answers`: room for those of a row. */
static bias_sum sum_of_cell(const margin_search_result *table, const margin_search_cell *cell,
                            const margin_data *data, int64_t repeats, double *answers) {
    const double *weights = data->weights.values;
    bias_sum sum = {0};
    for (int64_t i = 0; cell->predictions && i < data->x.rows; i++) {
        const double truth = truth_of(table, data, i), weight = weights ? weights[i] : 1;
        bool known = !isnan(truth) && weight > 0;
        for (int64_t r = 0; r < repeats; r++) {
            answers[r] = cell->predictions[r * data->x.rows + i];
            known = known && !isnan(answers[r]);
        }
        if (!known) continue;
        if (table->task == MARGIN_CLASSIFY)
            add_classes(&sum, answers, repeats, truth, weight);
        else
            add_numbers(&sum, answers, repeats, truth, weight);
    }
    return sum;
}

static void bias_of_table(picture *p, const margin_search_result *table, const char *name,
                          const margin_data *data, curve_point *points, double *answers) {
    const bool classes = table->task == MARGIN_CLASSIFY;
    const int64_t repeats = (int64_t)p->session->arguments->repeat;
    const char *const titles[] = {classes ? "error" : "mean squared error",
                                  classes ? "bias (rows that most fits get wrong)"
                                          : "bias and noise (of the mean of fits)",
                                  "variance (the rest: fits to other rows)"};
    for (int64_t k = 0; k < table->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(table, k);
        const bias_sum sum = sum_of_cell(table, cell, data, repeats, answers);
        points[k] = (curve_point){.x = number_in(cell->spec, name),
                                  .test = sum.error / sum.weight,
                                  .training = sum.bias / sum.weight};
    }
    qsort(points, (size_t)table->count, sizeof *points, by_x);
    curve_axes(p, points, table->count, name, titles[0]);
    for (int side = 0; side < 3; side++) {
        picture_curve(p, titles[side],
                      p->image ? "with linespoints lw 2 pt 7 ps 0.7 lc rgb '%s'"
                               : "with linespoints pt '%s'",
                      p->image    ? picture_colour(side)
                      : side == 0 ? "e"
                      : side == 1 ? "b"
                                  : "v");
        for (int64_t k = 0; k < table->count; k++) {
            const curve_point *at = &points[k];
            const double value = side == 0   ? at->test
                                 : side == 1 ? at->training
                                             : at->test - at->training;
            if (!isnan(value)) picture_numbers(p, 2, at->x, value);
        }
        picture_end(p);
    }
    picture_plot(p);
}

/* ---- Both ------------------------------------------------------------------------------------ */

static bool shows_bias(const picture *p) {
    return p->session->arguments->words[0][0] == 'b';
}

static int draw_table(picture *p, const margin_search_result *table, const option_name *names,
                      int sets, const margin_data *data) {
    const cli_command *plot = cli_find_command("plot");
    const char *first = margin_search_cell_at(table, 0)->spec;
    for (int k = 0; k < sets; k++)
        if (isnan(number_in(first, names[k].name)))
            return cli_usage_error(plot, "settings are drawn over numbers, and %s has none",
                                   names[k].name);
    if (table->best < 0) {
        fprintf(stderr, "margin: %s: %s\n", cli_why_none(table),
                cli_in_flags(margin_search_cell_at(table, 0)->reason).text);
        return EXIT_BAD_INPUT;
    }
    const size_t count = (size_t)table->count;
    curve_point *points = malloc(count * sizeof *points);
    double *values = malloc((2 * count + (size_t)table->splits) * sizeof *values);
    int code = points && values ? EXIT_DONE : picture_out_of_memory();
    if (!code) {
        picture_begin(p, "%s: %lld folds", p->session->arguments->words[1],
                      (long long)table->splits);
        if (shows_bias(p))
            bias_of_table(p, table, names[0].name, data, points, values);
        else if (sets == 1)
            curve_of_table(p, table, names[0].name, points);
        else
            map_of_table(p, table, names, values);
        code = picture_finish(p);
    }
    free(values);
    free(points);
    return code;
}

static int draw_search(picture *p, const margin_spec *spec, const margin_data *data,
                       const margin_splits *splits, const option_name *names, int sets) {
    cli_session *session = p->session;
    margin_search_options options = cli_search_options(session);
    margin_search_result *found = NULL;
    options.training = !shows_bias(p);
    options.predictions = shows_bias(p);
    options.baseline = 0;
    const margin_status status =
        margin_search(session->context, spec, data, splits, &options, &found, &session->error);
    cli_progress_end();
    const int code =
        status < 0 ? cli_failed(session, status) : draw_table(p, found, names, sets, data);
    margin_search_result_free(found);
    return code;
}

static int draw_settings(picture *p, const margin_spec *spec, const margin_data *data) {
    cli_session *session = p->session;
    const cli_arguments *given = session->arguments;
    cli_arguments arguments = *given;
    option_name names[2];
    margin_splits *splits = NULL;
    const int sets = find_sets(session->arguments->words[1], names, 2);
    const bool bias = shows_bias(p);
    if (bias && (sets != 1 || data->targets > 1))
        return cli_usage_error(cli_find_command("plot"),
                               "bias and variance are drawn over one set of numbers, of one "
                               "target: 'knn(k={1..30})'");
    if (bias && arguments.repeat == 0) arguments.repeat = USUAL_REPEATS;
    if (bias && arguments.repeat < 2)
        return cli_usage_error(cli_find_command("plot"), "variance needs --repeat 2 or more");
    if (sets < 1 || sets > 2)
        return cli_usage_error(cli_find_command("plot"),
                               "settings are drawn over one set of numbers, or over two: "
                               "'ridge(alpha={0.01..100 log 9})'");
    session->arguments = &arguments;
    int code = cli_split(session, data, &splits);
    if (!code) code = draw_search(p, spec, data, splits, names, sets);
    margin_splits_free(splits);
    session->arguments = given;
    return code;
}

/* ---- learning -------------------------------------------------------------------------------- */

enum { STEPS = 10 };

typedef struct learning {
    cli_session *session;
    const margin_spec *spec;
    const margin_data *data;
    const char *metric;
    int64_t folds;
    double *test, *training; /* folds x STEPS; NaN: it could not be fitted */
    double rows[STEPS];      /* means */
} learning;

static double value_of(const learning *l, const margin_model *model, const margin_data *rows) {
    const margin_evaluate_options options = {.size = sizeof options, .unknown_wrong = 1};
    margin_metrics found = {.size = sizeof found};
    margin_error error = {0};
    if (margin_evaluate_with(l->session->context, model, rows, &options, &found, &error) < 0)
        return (double)NAN;
    const double value = margin_metrics_value(&found, l->metric);
    margin_metrics_free(&found);
    return value;
}

/* The first `step` + 1 tenths of the training rows, which are dealt by chance. */
static margin_status learn_step(learning *l, const margin_splits *tenths, int64_t fold, int step,
                                const margin_data *test, int64_t *rows) {
    margin_data train = *l->data;
    margin_model *model = NULL;
    int64_t count = 0;
    for (int k = 0; k <= step; k++)
        count += margin_splits_rows(tenths, k, MARGIN_PART_TEST, rows + count);
    train.selection = rows;
    train.selected = count;
    l->rows[step] += (double)count / (double)l->folds;
    const margin_status status =
        margin_fit(l->session->context, l->spec, &train, &model, NULL, &l->session->error);
    const bool ends = status == MARGIN_ERROR_MEMORY || status == MARGIN_ERROR_CANCELLED;
    const int64_t at = fold * STEPS + step;
    l->test[at] = status < 0 ? (double)NAN : value_of(l, model, test);
    l->training[at] = status < 0 ? (double)NAN : value_of(l, model, &train);
    margin_model_free(model);
    return ends ? status : MARGIN_OK;
}

static int learn_fold(learning *l, const margin_splits *splits, int64_t fold) {
    cli_session *session = l->session;
    margin_data train = *l->data, test = *l->data;
    int64_t *train_rows = NULL, *test_rows = NULL,
            *rows = malloc((size_t)(l->data->x.rows + 1) * sizeof *rows);
    margin_splits *tenths = NULL;
    const margin_split_options cut = {
        .size = sizeof cut, .folds = STEPS, .seed = (uint64_t)session->arguments->seed};
    margin_status status = MARGIN_OK;
    int code = rows ? EXIT_DONE : picture_out_of_memory();
    if (!code) code = cli_split_part(splits, fold, MARGIN_PART_TRAIN, &train, &train_rows);
    if (!code) code = cli_split_part(splits, fold, MARGIN_PART_TEST, &test, &test_rows);
    if (!code) status = margin_split(session->context, &train, &cut, &tenths, &session->error);
    for (int step = 0; !code && status >= 0 && step < STEPS; step++)
        status = learn_step(l, tenths, fold, step, &test, rows);
    if (status < 0) code = cli_failed(session, status);
    margin_splits_free(tenths);
    free(train_rows);
    free(test_rows);
    free(rows);
    return code;
}

static int draw_learning_curve(picture *p, const learning *l) {
    curve_point points[STEPS];
    double column[2][1000];
    int64_t known = 0;
    for (int step = 0; step < STEPS; step++) {
        for (int64_t f = 0; f < l->folds; f++) {
            column[0][f] = l->test[f * STEPS + step];
            column[1][f] = l->training[f * STEPS + step];
        }
        curve_point *at = &points[step];
        at->x = l->rows[step];
        deviate(column[0], l->folds, &at->test, &at->test_deviation);
        deviate(column[1], l->folds, &at->training, &at->training_deviation);
        known += !isnan(at->test);
    }
    if (known == 0 && p->session->error.status < 0)
        return cli_failed(p->session, p->session->error.status);
    if (known == 0) {
        fprintf(stderr,
                "margin: %s has a value at no number of rows: parts of the table are taken for "
                "classes or numbers where the whole is not; say which in the spec (task=regress)\n",
                l->metric);
        return EXIT_BAD_INPUT;
    }
    picture_begin(p, "%s: %lld folds", p->session->arguments->words[1], (long long)l->folds);
    curve_script(p, points, STEPS, "rows", l->metric);
    return picture_finish(p);
}

static int draw_learning(picture *p, const margin_spec *spec, const margin_data *data) {
    cli_session *session = p->session;
    const cli_arguments *a = session->arguments;
    enum { MOST_FOLDS = 1000 };
    learning l = {.session = session, .spec = spec, .data = data, .metric = a->metric};
    const margin_metric *metric = a->metric ? margin_metric_find(a->metric) : NULL;
    margin_splits *splits = NULL;
    const bool classes = cli_is_classes(data, spec);
    if (!l.metric) l.metric = classes ? "accuracy" : "rmse";
    if (margin_spec_variants(spec) > 1)
        return cli_usage_error(cli_find_command("plot"), "a learning curve is of one setting; "
                                                         "'margin cv' chooses it");
    if (a->metric && (!metric || metric->task != (classes ? MARGIN_CLASSIFY : MARGIN_REGRESS)))
        return cli_usage_error(cli_find_command("plot"), "there is no metric '%s' of %s", a->metric,
                               classes ? "classes" : "numbers");
    int code = cli_split_shares(session, data, classes, &splits);
    if (code) return code;
    l.folds = margin_splits_count(splits);
    if (l.folds > MOST_FOLDS) l.folds = MOST_FOLDS;
    l.test = malloc((size_t)l.folds * 2 * STEPS * sizeof *l.test);
    if (!l.test) code = picture_out_of_memory();
    l.training = l.test + l.folds * STEPS;
    for (int64_t f = 0; !code && f < l.folds; f++)
        code = learn_fold(&l, splits, f);
    cli_progress_end();
    if (!code) code = draw_learning_curve(p, &l);
    free(l.test);
    margin_splits_free(splits);
    return code;
}

/* ---- Both ------------------------------------------------------------------------------------ */

int plot_search(picture *p) {
    cli_session *session = p->session;
    const cli_arguments *a = session->arguments;
    margin_spec *spec = NULL;
    margin_table *table = NULL;
    if (a->word_count < 3)
        return cli_usage_error(cli_find_command("plot"), "margin plot %s needs a spec and a table",
                               a->words[0]);
    margin_status status = margin_spec_parse(session->context, a->words[1], &spec, &session->error);
    if (status >= 0)
        status = cli_read_table(session, a->words[2], true, cli_missing(a, margin_spec_text(spec)),
                                &table);
    int code = status < 0 ? cli_failed(session, status) : EXIT_DONE;
    if (!code) {
        const margin_data data = margin_table_data(table);
        code =
            a->words[0][0] == 'l' ? draw_learning(p, spec, &data) : draw_settings(p, spec, &data);
    }
    margin_table_free(table);
    margin_spec_free(spec);
    return code;
}
