/* Several targets of least squares and ridge: each as a fit of its own, the factor shared. */
#include "least_squares_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { TARGETS = 3 };

/* Targets of different kinds: the case's own, a constant, one of the squares of columns. */
static double *make_targets(const regression *r) {
    double *y = malloc((size_t)(r->rows * TARGETS) * sizeof *y);
    assert_non_null(y);
    for (int64_t i = 0; i < r->rows; i++) {
        y[i * TARGETS] = r->y[i];
        y[i * TARGETS + 1] = 4;
        y[i * TARGETS + 2] = 1000 * r->x[i * r->columns] * r->x[i * r->columns] - r->y[i];
    }
    return y;
}

static const margin_column names[TARGETS] = {{.name = "size"}, {.name = "age"}, {.name = "cost"}};

static margin_data several(const margin_data *one, const double *y) {
    margin_data data = *one;
    data.y = margin_values_f64(y, data.x.rows * TARGETS);
    data.target = names;
    data.targets = TARGETS;
    return data;
}

/* Against a fit to target t alone. */
static void assert_like_single(const char *spec, const margin_data *one, const double *y, int64_t t,
                               const margin_model *model, double *objective) {
    const int64_t rows = one->x.rows, columns = one->x.columns;
    double *values = malloc((size_t)rows * sizeof *values), most = 0;
    assert_non_null(values);
    for (int64_t i = 0; i < rows; i++)
        values[i] = y[i * TARGETS + t];
    margin_data data = *one;
    data.y = margin_values_f64(values, rows);
    margin_report report = {0};
    margin_model *single = fit_text(context, spec, &data, &report);
    const double *w = margin_model_weights(model, t), *v = margin_model_weights(single, 0);
    for (int64_t j = 0; j < columns; j++)
        most = fmax(most, fabs(v[j]));
    for (int64_t j = 0; j < columns; j++)
        assert_true(fabs(w[j] - v[j]) <= 1e-12 * most);
    assert_true(fabs(margin_model_intercept(model, t) - margin_model_intercept(single, 0)) <=
                1e-12 * (most + fabs(margin_model_intercept(single, 0))));
    *objective += report.objective;
    margin_model_free(single);
    free(values);
}

static void check_spec(const char *spec, const margin_data *one, const regression *r) {
    double *y = make_targets(r), objective = 0;
    const margin_data data = several(one, y);
    margin_report report = {0};
    margin_model *model = fit_proven(context, spec, &data, &report);
    assert_int_equal(margin_model_target_count(model), TARGETS);
    assert_int_equal(margin_model_score_count(model), TARGETS);
    assert_int_equal(report.subproblems, TARGETS);
    for (int64_t t = 0; t < TARGETS; t++) {
        assert_like_single(spec, one, y, t, model, &objective);
        assert_string_equal(margin_model_target(model)[t].name, names[t].name);
    }
    assert_true(fabs(report.objective - objective) <= 1e-9 * fmax(1, fabs(objective)));
    margin_model_free(model);
    free(y);
}

static void test_like_single(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares",
                                        "least-squares(intercept=no)",
                                        "least-squares(solver=normal)",
                                        "least-squares(solver=qr)",
                                        "ridge",
                                        "ridge(lambda=0.1)",
                                        "standardize | ridge"};
    regression tall = regression_make(200, 6, 3, 1, 5), wide = regression_make(20, 150, 0, 1, 6);
    const margin_data tall_data = regression_data(&tall), wide_data = regression_data(&wide);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        check_spec(specs[k], &tall_data, &tall);
    check_spec("ridge", &wide_data, &wide);
    check_spec("least-squares", &wide_data, &wide);
    for (int64_t i = 0; i < tall.rows; i++) /* dependent columns */
        tall.x[i * 6 + 5] = -2 * tall.x[i * 6 + 1];
    check_spec("least-squares", &tall_data, &tall);
    regression_free(&wide);
    regression_free(&tall);
}

static void test_values_and_metrics(void **state) {
    (void)state;
    regression r = regression_make(60, 4, 0, 1, 8);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r), values[60 * TARGETS], scores[60 * TARGETS];
    const margin_data data = several(&one, y);
    margin_error error = {0};
    margin_metrics metrics = {.size = sizeof metrics};
    margin_report report = {0};
    margin_model *model = fit_proven(context, "ridge", &data, &report), *loaded = NULL;
    void *bytes = NULL;
    int64_t length = 0;
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_decode(context, bytes, length, &loaded, &error), MARGIN_OK);
    margin_bytes_free(model, bytes);
    assert_string_equal(margin_model_target(loaded)[2].name, "cost");
    assert_int_equal(margin_predict_values(loaded, &data.x, values, &error), MARGIN_OK);
    assert_int_equal(margin_scores(model, &data.x, scores, &error), MARGIN_OK);
    assert_memory_equal(values, scores, sizeof values);
    assert_int_equal(margin_evaluate(context, loaded, &data, &metrics, &error), MARGIN_OK);
    assert_int_equal(metrics.targets, TARGETS);
    double all = 0;
    for (int t = 0; t < TARGETS; t++) {
        double square = 0, deviation = 0;
        for (int i = 0; i < 60; i++) {
            double f = margin_model_intercept(model, t);
            for (int j = 0; j < 4; j++)
                f += margin_model_weights(model, t)[j] * r.x[i * 4 + j];
            assert_true(fabs(values[i * TARGETS + t] - f) <= 1e-9 * fmax(1, fabs(f)));
            const double miss = f - y[i * TARGETS + t];
            square += miss * miss / 60;
            deviation += fabs(miss) / 60;
        }
        all += square / TARGETS;
        assert_true(fabs(metrics.target_rmse[t] - sqrt(square)) <= 1e-9 * (1 + sqrt(square)));
        assert_true(fabs(metrics.target_mae[t] - deviation) <= 1e-9 * (1 + deviation));
    }
    assert_true(isnan(metrics.target_r2[1])); /* a constant */
    assert_true(fabs(metrics.rmse - sqrt(all)) <= 1e-9 * sqrt(all));
    assert_true(fabs(report.train_rmse - sqrt(all)) <= 1e-9 * sqrt(all));
    margin_metrics_free(&metrics);
    assert_null(metrics.target_rmse);
    assert_int_equal(margin_evaluate(context, loaded, &one, &metrics, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_string_equal(error.text, "the data has 1 target and the model 3");
    margin_model_free(loaded);
    margin_model_free(model);
    free(y);
    regression_free(&r);
}

/* ---- Against scikit-learn -------------------------------------------------------------------- */

enum { SMALL_ROWS = 12 };

/* Weights and intercept of each target: Ridge(alpha=0.5) and LinearRegression of scikit-learn 1.9
 * with a y of three columns, and the same with sample weights 1 2 3 1 2 3 ... */
static const double reference[4][TARGETS][4] = {
    {{2.703062035687823, 0.010642066887350575, -0.8282071307070059, -0.1291242306577719},
     {-0.06606704125542265, -1.781389214419733, 0.33119920483712834, 9.664416341263768},
     {-0.036900231274354905, 0.8455942594424172, 1.9561651591920244, 1.0433268841349264}},
    {{2.8752370741609763, 0.0021386988037086943, -0.8220199165205765, -0.13253689285089265},
     {-0.06894836558329659, -1.8493024878028956, 0.35126247815016653, 9.673950626476163},
     {-0.2689996713864297, 0.5065854157035039, 1.229918166307013, 1.5078638339123924}},
    {{2.982112925823232, 0.014520922349402055, -0.9884376031254353, 0.0015162437600044765},
     {-0.08284477337435912, -1.9196682735542692, 0.36934328269837097, 9.63158266782178},
     {-0.10053816446972819, 0.9048227737258547, 2.1361532311258444, 0.888031900337032}},
    {{3.0026573580659957, 0.00225238394255578, -0.9222729850118182, -0.051552437357751724},
     {-0.07742255796734629, -1.9342404468868046, 0.3751838340504672, 9.629697003372758},
     {-0.30306373560215105, 0.5277580755971734, 1.3024523152308196, 1.454216858631838}},
};

typedef struct {
    double x[SMALL_ROWS * 3], y[SMALL_ROWS * TARGETS], weights[SMALL_ROWS];
} small_case;

static margin_data small_data(small_case *s, bool weighted) {
    for (int i = 0; i < SMALL_ROWS; i++) {
        double *x = s->x + 3 * i, *y = s->y + TARGETS * i;
        x[0] = sin(i);
        x[1] = cos(2.0 * i);
        x[2] = (i % 5) / 2.0;
        y[0] = 3 * x[0] - x[2] + 0.25 * cos(3.0 * i);
        y[1] = 10 - 2 * x[1] + 0.5 * sin(5.0 * i);
        y[2] = (x[0] + x[1] + x[2]) * (x[0] + x[1] + x[2]);
        s->weights[i] = 1 + i % 3;
    }
    margin_data data = {.x = margin_dense_f64(s->x, SMALL_ROWS, 3, 3),
                        .y = margin_values_f64(s->y, SMALL_ROWS * TARGETS),
                        .targets = TARGETS};
    if (weighted) data.weights = margin_values_f64(s->weights, SMALL_ROWS);
    return data;
}

static void test_reference(void **state) {
    (void)state;
    static const char *const specs[] = {"ridge(alpha=0.5)",
                                        "least-squares",
                                        "ridge(alpha=0.5, solver=qr)",
                                        "least-squares(solver=qr)",
                                        "ridge(alpha=0.5, solver=gd, tol=1e-8)",
                                        "least-squares(solver=gd, tol=1e-8)"};
    small_case s;
    for (int k = 0; k < 12; k++) {
        const bool weighted = k % 2;
        const margin_data data = small_data(&s, weighted);
        const double tolerance = k / 2 < 4 ? 1e-11 : 1e-3;
        margin_report report = {0};
        margin_model *model = fit_proven(context, specs[k / 2], &data, &report);
        const double(*known)[4] = reference[2 * (k / 2 % 2) + weighted];
        for (int t = 0; t < TARGETS; t++) {
            for (int j = 0; j < 3; j++)
                assert_close(margin_model_weights(model, t)[j], known[t][j], tolerance);
            assert_close(margin_model_intercept(model, t), known[t][3], 10 * tolerance);
        }
        assert_string_equal(margin_model_target(model)[1].name, "y2");
        margin_model_free(model);
    }
}

/* Behind a stage that makes columns: PolynomialFeatures(2) and Ridge(alpha=0.5). */
static void test_stages(void **state) {
    (void)state;
    static const double known[] = {0.817966698679369, 9.616427133490618, 3.1948882141046897};
    static const char *const specs[] = {
        "poly | ridge(alpha=0.5)", "rbf(centres=5) | ridge(alpha=0.5)", "minmax | least-squares",
        "standardize | poly(degree=3) | ridge(lambda=0.01)"};
    small_case s;
    const margin_data data = small_data(&s, false);
    double values[SMALL_ROWS * TARGETS], one[SMALL_ROWS], y[SMALL_ROWS];
    margin_error error = {0};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_report report = {0};
        margin_model *model = fit_proven(context, specs[k], &data, &report);
        assert_int_equal(margin_predict_values(model, &data.x, values, &error), MARGIN_OK);
        for (int t = 0; t < TARGETS && k == 0; t++)
            assert_close(values[7 * TARGETS + t], known[t], 1e-11);
        for (int t = 0; t < TARGETS; t++) {
            margin_data single = data;
            for (int i = 0; i < SMALL_ROWS; i++)
                y[i] = s.y[i * TARGETS + t];
            single.y = margin_values_f64(y, SMALL_ROWS);
            single.targets = 0;
            margin_model *alone = fit_text(context, specs[k], &single, NULL);
            assert_int_equal(margin_predict_values(alone, &data.x, one, &error), MARGIN_OK);
            for (int i = 0; i < SMALL_ROWS; i++)
                assert_close(values[i * TARGETS + t], one[i], 1e-9);
            margin_model_free(alone);
        }
        margin_model_free(model);
    }
}

/* ---- Layouts, selections, threads ------------------------------------------------------------ */

/* A layout of the same numbers, f64 or f32, dense or CSR: weights agree. */
static void test_layouts(void **state) {
    (void)state;
    sample *s = sample_make(80, 5, 3, 0, 33);
    double *y = malloc(80 * TARGETS * sizeof *y), *first = NULL;
    assert_non_null(y);
    for (int k = 0; k < 80 * TARGETS; k++)
        y[k] = s->f64[k] + (k % TARGETS) * sin(k);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        margin_data data = sample_data(s, layout);
        data.y = margin_values_f64(y, 80 * TARGETS);
        data.targets = TARGETS;
        margin_report report = {0};
        margin_model *model = fit_proven(context, "standardize | ridge", &data, &report);
        if (!first) first = malloc(TARGETS * 5 * sizeof *first);
        assert_non_null(first);
        for (int t = 0; t < TARGETS; t++)
            for (int j = 0; j < 5; j++) {
                const double w = margin_model_weights(model, t)[j];
                if (layout == 0) first[t * 5 + j] = w;
                assert_close(w, first[t * 5 + j], 1e-6);
            }
        margin_model_free(model);
    }
    free(first);
    free(y);
    sample_free(s);
}

/* Rows left out by the selection, and rows of weight 0, may hold anything and change nothing; y may
 * be f32. */
static void test_selection(void **state) {
    (void)state;
    small_case s;
    margin_data data = small_data(&s, false);
    int64_t rows[SMALL_ROWS - 2];
    double some[(SMALL_ROWS - 2) * 3], weights[SMALL_ROWS];
    float y[(SMALL_ROWS - 2) * TARGETS], narrow[SMALL_ROWS * TARGETS];
    for (int i = 0, k = 0; i < SMALL_ROWS; i++) {
        for (int t = 0; t < TARGETS; t++)
            narrow[i * TARGETS + t] = (float)s.y[i * TARGETS + t];
        weights[i] = i != 3 && i != 8;
        if (weights[i] == 0) continue;
        memcpy(some + 3 * k, s.x + 3 * i, 3 * sizeof *some);
        memcpy(y + TARGETS * k, narrow + TARGETS * i, TARGETS * sizeof *y);
        rows[k++] = i;
    }
    narrow[3 * TARGETS + 1] = NAN;
    s.x[8 * 3] = (double)INFINITY;
    const margin_data without = {.x = margin_dense_f64(some, SMALL_ROWS - 2, 3, 3),
                                 .y = margin_values_f32(y, (SMALL_ROWS - 2) * TARGETS),
                                 .targets = TARGETS};
    margin_model *small = fit_text(context, "ridge", &without, NULL), *model;
    data.y = margin_values_f32(narrow, SMALL_ROWS * TARGETS);
    data.selection = rows;
    data.selected = SMALL_ROWS - 2;
    model = fit_text(context, "ridge", &data, NULL);
    assert_same_model(model, small);
    margin_model_free(model);
    data.selection = NULL;
    data.weights = margin_values_f64(weights, SMALL_ROWS);
    model = fit_text(context, "ridge", &data, NULL);
    assert_same_model(model, small);
    margin_model_free(model);
    margin_model_free(small);
}

static void test_threads(void **state) {
    (void)state;
    static const char *const specs[] = {"ridge", "least-squares(solver=qr)", "poly | ridge",
                                        "ridge(solver=gd, max_iter=20)"};
    regression r = regression_make(3000, 8, 1, 1, 12);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r);
    const margin_data data = several(&one, y);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_model *first = NULL;
        for (int threads = 1; threads <= 4; threads++) {
            margin_context *own = support_context(NULL, threads);
            margin_model *model = fit_text(own, specs[k], &data, NULL);
            if (threads == 1)
                first = model;
            else
                assert_same_model(model, first);
            if (threads > 1) margin_model_free(model);
            margin_context_free(own);
        }
        margin_model_free(first);
    }
    free(y);
    regression_free(&r);
}

/* ---- Proofs and statistics of each ----------------------------------------------------------- */

static void test_verify_parts(void **state) {
    (void)state;
    regression r = regression_make(90, 4, 0, 1, 14);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r);
    const margin_data data = several(&one, y);
    margin_report report = {0}, found = {0}, parts[TARGETS] = {0};
    margin_error error = {0};
    margin_model *model = fit_proven(context, "ridge(alpha=3)", &data, &report);
    assert_int_equal(margin_verify_parts(context, model, &data, &found, parts, TARGETS, &error),
                     MARGIN_OK);
    double sum = 0;
    for (int t = 0; t < TARGETS; t++) {
        const double *w = margin_model_weights(model, t);
        double objective = 0;
        for (int i = 0; i < 90; i++) {
            double miss = margin_model_intercept(model, t) - y[i * TARGETS + t];
            for (int j = 0; j < 4; j++)
                miss += w[j] * r.x[i * 4 + j];
            objective += miss * miss;
        }
        for (int j = 0; j < 4; j++)
            objective += 3 * w[j] * w[j];
        assert_true(fabs(parts[t].objective - objective) <= 1e-9 * (1 + objective));
        assert_true(parts[t].gap <= found.gap && parts[t].gap < 1e-20);
        assert_int_equal(parts[t].rows, 90);
        /* nothing that is for us alone; of the whole also what rounding hides */
        assert_int_equal(parts[t].item_count + 1, found.item_count);
        sum += objective;
    }
    assert_true(fabs(found.objective - sum) <= 1e-9 * sum);
    assert_int_equal(margin_verify_parts(context, model, &data, &found, parts, 2, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_string_equal(error.text, "room for 2 reports; the model has 3");
    y[5 * TARGETS + 1] += 1; /* the data of one target only are others */
    assert_int_equal(margin_verify_parts(context, model, &data, &found, parts, TARGETS, &error),
                     MARGIN_STOPPED_STALLED);
    assert_true(parts[0].gap < 1e-20 && parts[1].gap > 1e-20 && parts[2].gap < 1e-20);
    margin_model_free(model);
    free(y);
    regression_free(&r);
}

static void test_statistics(void **state) {
    (void)state;
    regression r = regression_make(70, 3, 2, 1, 15);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r), values[70];
    const margin_data data = several(&one, y);
    margin_statistics_options options = {.size = sizeof options};
    margin_statistics_result all = {0}, alone = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, "standardize | least-squares", &data, NULL);
    for (int t = 0; t < TARGETS; t += 2) {
        margin_data single = one;
        for (int i = 0; i < 70; i++)
            values[i] = y[i * TARGETS + t];
        single.y = margin_values_f64(values, 70);
        margin_model *other = fit_text(context, "standardize | least-squares", &single, NULL);
        options.target = t;
        assert_int_equal(margin_statistics(context, model, &data, &options, &all, &error),
                         MARGIN_OK);
        assert_int_equal(margin_statistics(context, other, &single, NULL, &alone, &error),
                         MARGIN_OK);
        assert_int_equal(all.coefficient_count, 4);
        for (int j = 0; j < 4; j++) {
            assert_close(margin_statistics_coefficient(&all, j)->estimate,
                         margin_statistics_coefficient(&alone, j)->estimate, 1e-8);
            assert_close(margin_statistics_coefficient(&all, j)->error,
                         margin_statistics_coefficient(&alone, j)->error, 1e-8);
            assert_close(margin_statistics_coefficient(&all, j)->inflation,
                         margin_statistics_coefficient(&alone, j)->inflation, 1e-8);
        }
        assert_close(all.r2, alone.r2, 1e-10);
        margin_statistics_free(&all);
        margin_statistics_free(&alone);
        margin_model_free(other);
    }
    options.target = 3;
    assert_int_equal(margin_statistics(context, model, &data, &options, &all, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "the model has 3 targets; there is no number 3");
    options.target = -1;
    assert_int_equal(margin_statistics(context, model, &data, &options, &all, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_statistics(context, model, &one, NULL, &all, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "the data has 1 target and the model 3");
    margin_model_free(model);
    free(y);
    regression_free(&r);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void assert_refused(const char *text, const margin_data *data, margin_status expected,
                           const char *sentence) {
    margin_error error = {0};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    assert_int_equal(margin_spec_parse(context, text, &spec, &error), MARGIN_OK);
    assert_int_equal(margin_fit(context, spec, data, &model, NULL, &error), expected);
    if (!strstr(error.text, sentence)) fail_msg("%s", error.text);
    assert_null(model);
    margin_spec_free(spec);
}

/* Functions of one target. */
static void check_others(const margin_data *data) {
    margin_error error = {0};
    margin_path_result path = {0};
    margin_separation separation = {0};
    margin_spec *spec = parse_text(context, "ridge(alpha={1,2})");
    assert_int_equal(margin_path(context, spec, data, &path, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "a path judges penalties by one target, and the data has 3");
    assert_int_equal(margin_separable(context, data, &separation, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "the data has 3 targets, and this works with one");
    margin_spec_free(spec);
}

static void test_refused(void **state) {
    (void)state;
    regression r = regression_make(30, 3, 0, 1, 9);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r);
    margin_data data = several(&one, y);
    assert_refused("lasso", &data, MARGIN_ERROR_ARGUMENT,
                   "lasso takes one target and the data has 3");
    assert_refused("logistic", &data, MARGIN_ERROR_ARGUMENT,
                   "logistic takes one target and the data has 3; fit them one by one, or take "
                   "one of kernel-ridge, least-squares, ridge");
    assert_refused("knn", &data, MARGIN_ERROR_ARGUMENT, "knn takes one target");
    assert_refused("kmeans", &data, MARGIN_ERROR_ARGUMENT, "kmeans takes no target");
    assert_refused("minmax(target=yes) | ridge", &data, MARGIN_ERROR_SPEC,
                   "with an intercept ridge predicts the same without it");
    check_others(&data);
    assert_refused("standardize(target=yes) | ridge", &data, MARGIN_ERROR_SPEC,
                   "standardize(target=yes) scales one target, not 3");
    data.y.count--;
    assert_refused("ridge", &data, MARGIN_ERROR_ARGUMENT, "take rows x targets");
    data.y.count++;
    y[7 * TARGETS + 2] = (double)NAN;
    assert_refused("ridge", &data, MARGIN_ERROR_DATA, "row 8 has no value in the target cost");
    data.target = NULL;
    assert_refused("ridge", &data, MARGIN_ERROR_DATA, "row 8 has no value in the target y3");
    free(y);
    regression_free(&r);
}

static margin_status fit_body(margin_context *own, void *user, margin_error *error) {
    const margin_data *data = user;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_metrics metrics = {.size = sizeof metrics};
    margin_report found = {0}, parts[TARGETS] = {0};
    margin_statistics_options options = {.size = sizeof options, .target = 2};
    margin_statistics_result result = {0};
    margin_status status = margin_spec_parse(own, "least-squares", &spec, error);
    if (status >= 0) status = margin_fit(own, spec, data, &model, NULL, error);
    if (status >= 0) status = margin_evaluate(own, model, data, &metrics, error);
    if (status >= 0) margin_metrics_free(&metrics);
    if (status >= 0) status = margin_verify_parts(own, model, data, &found, parts, TARGETS, error);
    if (status >= 0) status = margin_statistics(own, model, data, &options, &result, error);
    if (status >= 0) margin_statistics_free(&result);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    regression r = regression_make(20, 3, 0, 1, 10);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r);
    margin_data data = several(&one, y);
    assert_true(support_fail_each_allocation(2, fit_body, &data) > 10);
    data.target = NULL;
    assert_true(support_fail_each_allocation(2, fit_body, &data) > 10);
    free(y);
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_single), cmocka_unit_test(test_values_and_metrics),
        cmocka_unit_test(test_reference),   cmocka_unit_test(test_stages),
        cmocka_unit_test(test_layouts),     cmocka_unit_test(test_selection),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_verify_parts),
        cmocka_unit_test(test_statistics),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
