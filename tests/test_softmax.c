/* Softmax regression: values of another program, an optimum found by other means, properties.
 *
 * The values were computed with scikit-learn 1.9.1, LogisticRegression(solver="newton-cg",
 * tol=1e-12); the objective was added up by NumPy. */
#include "classes_cases.h"

#include "linear/learners/linear_learner.h"
#include "linear/objective/coupled.h"
#include "math/losses/linear_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values of another program --------------------------------------------------------------- */

static void assert_table(const char *path, const margin_read_options *options, const char *spec,
                         double objective, double accuracy) {
    const margin_report report = fit_table(path, options, spec, objective, 1e-9);
    assert_true(report.gap <= report.tolerance);
    assert_int_equal(report.subproblems, 1);
    if (accuracy > 0) assert_close(report.train_accuracy, accuracy, 1e-12);
}

static void test_examples(void **state) {
    char iris[SUPPORT_PATH], wine[SUPPORT_PATH];
    (void)state;
    support_source(iris, "examples/data/iris.csv");
    support_source(wine, "examples/data/wine.csv");
    assert_table(iris, NULL, "softmax(tol=1e-12)", 28.886316604092492, 146.0 / 150);
    assert_table(iris, NULL, "softmax(alpha=0.5, tol=1e-12)", 28.886316604092492, 0);
    assert_table(iris, NULL, "softmax(lambda=0.0033333333333333335, tol=1e-12)",
                 28.886316604092492 / 150, 0);
    assert_table(iris, NULL, "softmax(C=100, tol=1e-12)", 738.7134961751848, 0);
    assert_table(iris, NULL, "softmax(intercept=no, tol=1e-12)", 37.907912231211135, 0);
    assert_table(wine, NULL, "standardize | softmax(tol=1e-12)", 12.09033577385522, 1);
}

static void test_glass(void **state) {
    char path[SUPPORT_PATH];
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/glass.csv");
    assert_table(path, NULL, "standardize | softmax(tol=1e-12)", 174.72245677726795, 0);
}

static void test_digits(void **state) {
    char path[SUPPORT_PATH];
    const margin_read_options options = {.size = sizeof options, .format = MARGIN_FORMAT_CSV};
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/optdigits.tra");
    assert_table(path, &options, "softmax(C=0.001, tol=1e-10)", 1.0258816051163782, 0);
}

static void test_letters(void **state) {
    char path[SUPPORT_PATH];
    int64_t rows[5000];
    const margin_read_options options = {
        .size = sizeof options, .format = MARGIN_FORMAT_CSV, .target = "1"};
    margin_table *table;
    margin_error error = {0};
    margin_report report = {0};
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/letter-recognition.data");
    margin_context *context = support_context(NULL, 2);
    if (margin_table_read(context, path, &options, &table, &error) < 0) fail_msg("%s", error.text);
    margin_data data = margin_table_data(table);
    for (int i = 0; i < 5000; i++)
        rows[i] = i;
    data.selection = rows;
    data.selected = 5000;
    margin_model *model = fit_text(context, "softmax(C=0.1)", &data, &report);
    assert_int_equal(report.classes, 26);
    assert_close(report.objective, 478.45637981019684, 1e-6);
    margin_model_free(model);
    margin_table_free(table);
    margin_context_free(context);
}

/* ---- The optimum by other means -------------------------------------------------------------- */

static void assert_least(const sample *s, const double *weights, const char *spec,
                         classes_oracle o) {
    margin_context *context = support_context(NULL, 2);
    double w[64], b[16];
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    o.x = s->f64;
    o.labels = s->labels;
    o.weights = weights;
    o.rows = s->rows;
    o.columns = s->columns;
    o.classes = s->classes;
    const double least = oracle_least(&o, w, b);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        margin_data data = sample_data(s, layout);
        if (weights) data.weights = margin_values_f64(weights, s->rows);
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        assert_close(report.objective, least, 1e-11);
        assert_close(oracle_of_model(&o, model), report.objective, 1e-12);
        assert_true(report.gap >= -1e-12);
        double sum = 0;
        for (int64_t k = 0; k < s->classes; k++) {
            sum += margin_model_intercept(model, k);
            for (int64_t j = 0; j < s->columns && o.rho > 0; j++)
                assert_close(margin_model_weights(model, k)[j], w[k * s->columns + j], 1e-4);
        }
        assert_true(fabs(sum) < 1e-9);
        if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
            fail_msg("%s: %s %s", spec, error.text, found.reason);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_least(void **state) {
    double weights[90];
    (void)state;
    sample *s = sample_make(90, 5, 4, 0.3, 5);
    for (int i = 0; i < 90; i++)
        weights[i] = 0.25 + i % 7;
    assert_least(s, NULL, "softmax(tol=1e-11)",
                 (classes_oracle){.intercept = 1, .factor = 1, .rho = 1});
    assert_least(s, weights, "softmax(C=3, tol=1e-11)",
                 (classes_oracle){.intercept = 1, .factor = 3, .rho = 1});
    assert_least(s, weights, "softmax(alpha=0.5, intercept=no, tol=1e-11)",
                 (classes_oracle){.intercept = 0, .factor = 1, .rho = 1});
    assert_least(s, NULL, "softmax(C=1e-6, tol=1e-11)",
                 (classes_oracle){.intercept = 1, .factor = 1e-6, .rho = 1});
    assert_least(s, NULL, "softmax(C=inf, tol=1e-9)",
                 (classes_oracle){.intercept = 1, .factor = 1, .rho = 0});
    sample_free(s);
}

/* Two classes: w = w1 - w0 is that of logistic regression with half of the penalty. */
static void test_two_classes(void **state) {
    (void)state;
    sample *s = sample_make(80, 4, 2, 0.2, 6);
    margin_context *context = support_context(NULL, 2);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report one = {0}, both = {0};
    margin_model *pair = fit_text(context, "softmax(alpha=0.5, tol=1e-13)", &data, &both);
    margin_model *single = fit_text(context, "logistic(alpha=0.25, tol=1e-13)", &data, &one);
    assert_close(one.objective, both.objective, 1e-12);
    for (int j = 0; j < 4; j++)
        assert_close(margin_model_weights(pair, 1)[j] - margin_model_weights(pair, 0)[j],
                     margin_model_weights(single, 0)[j], 1e-6);
    assert_close(margin_model_intercept(pair, 1) - margin_model_intercept(pair, 0),
                 margin_model_intercept(single, 0), 1e-6);
    double *p = calloc(160, sizeof *p), *q = calloc(160, sizeof *q);
    margin_error error = {0};
    assert_int_equal(margin_probabilities(pair, &data.x, p, &error), MARGIN_OK);
    assert_int_equal(margin_probabilities(single, &data.x, q, &error), MARGIN_OK);
    for (int i = 0; i < 160; i++)
        assert_close(p[i], q[i], 1e-6);
    free(p);
    free(q);
    margin_model_free(pair);
    margin_model_free(single);
    margin_context_free(context);
    sample_free(s);
}

/* Columns that say nothing: the probabilities are the shares of the classes. */
static void test_intercepts_alone(void **state) {
    const double x[7] = {2, 2, 2, 2, 2, 2, 2}, y[7] = {3, 7, 7, 20, 7, 20, 7};
    const margin_data data = {.x = margin_dense_f64(x, 7, 1, 1), .y = margin_values_f64(y, 7)};
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_model *model = fit_text(context, "softmax(tol=1e-12)", &data, NULL);
    double p[21];
    margin_error error = {0};
    assert_int_equal(margin_probabilities(model, &data.x, p, &error), MARGIN_OK);
    assert_close(p[0], 1.0 / 7, 1e-9);
    assert_close(p[1], 4.0 / 7, 1e-9);
    assert_close(p[2], 2.0 / 7, 1e-9);
    margin_model_free(model);
    margin_context_free(context);
}

/* ---- No penalty ------------------------------------------------------------------------------ */

static void assert_no_optimum(const double *x, const double *y, int64_t rows, const char *says) {
    const margin_data data = {.x = margin_dense_f64(x, rows, 1, 1),
                              .y = margin_values_f64(y, rows)};
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, "softmax(C=inf)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_contains(report.reason, says);
    margin_model_free(model);
    margin_context_free(context);
}

static void test_no_optimum(void **state) {
    const double x[9] = {1, 2, 3, 11, 12, 13, 21, 22, 23}, y[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
    /* class 0 lies apart; 1 and 2 overlap */
    const double x2[9] = {1, 2, 3, 11, 12, 13, 11, 12, 13};
    (void)state;
    assert_no_optimum(x, y, 9, "every row on its side");
    assert_no_optimum(x2, y, 9, "no row gets worse");
}

/* ---- Properties ------------------------------------------------------------------------------ */

static double objective_of(margin_context *context, const margin_data *data) {
    margin_report report = {0};
    margin_model *model = fit_text(context, "softmax(tol=1e-12)", data, &report);
    margin_model_free(model);
    return report.objective;
}

/* Weight k as k copies, weight 0 as no row at all (of a whole class, too), rows in another order.
 */
static void test_weights(void **state) {
    enum { ROWS = 60, COLUMNS = 4 };
    double weights[ROWS], x[3 * ROWS * COLUMNS], y[3 * ROWS];
    int64_t order[ROWS], copies = 0;
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 4, 0.2, 7);
    margin_context *context = support_context(NULL, 2);
    margin_data data = sample_data(s, DENSE_F64);
    for (int i = 0; i < ROWS; i++) {
        weights[i] = s->labels[i] == 2 ? 0 : i % 4;
        order[i] = (i * 7) % ROWS;
        for (int k = 0; k < (int)weights[i]; k++, copies++) {
            memcpy(x + copies * COLUMNS, s->f64 + i * COLUMNS, COLUMNS * sizeof *x);
            y[copies] = s->labels[i];
        }
    }
    const margin_data copied = {.x = margin_dense_f64(x, copies, COLUMNS, COLUMNS),
                                .y = margin_values_f64(y, copies)};
    const double plain = objective_of(context, &data);
    data.selection = order;
    data.selected = ROWS;
    assert_close(objective_of(context, &data), plain, 1e-12);
    data.weights = margin_values_f64(weights, ROWS);
    assert_close(objective_of(context, &data), objective_of(context, &copied), 1e-12);
    margin_context_free(context);
    sample_free(s);
}

/* A stage that is folded in gives what rows scaled beforehand give; dense and sparse, f32 and f64.
 */
static void test_affine(void **state) {
    (void)state;
    sample *s = sample_make(70, 5, 3, 0.2, 8);
    margin_context *context = support_context(NULL, 2);
    double mean[5] = {0}, square[5] = {0}, *scaled = calloc(350, sizeof *scaled);
    for (int i = 0; i < 350; i++)
        mean[i % 5] += s->f64[i] / 70;
    for (int i = 0; i < 350; i++)
        square[i % 5] += (s->f64[i] - mean[i % 5]) * (s->f64[i] - mean[i % 5]) / 70;
    for (int i = 0; i < 350; i++)
        scaled[i] = (s->f64[i] - mean[i % 5]) / sqrt(square[i % 5]);
    classes_oracle o = {.x = scaled,
                        .labels = s->labels,
                        .rows = 70,
                        .columns = 5,
                        .classes = 3,
                        .intercept = 1,
                        .factor = 2,
                        .rho = 1};
    const double least = oracle_least(&o, NULL, NULL);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        const margin_data data = sample_data(s, layout);
        margin_report report = {0};
        margin_model *model =
            fit_text(context, "standardize | softmax(C=2, tol=1e-11)", &data, &report);
        assert_close(report.objective, least, 1e-10);
        margin_model_free(model);
    }
    free(scaled);
    margin_context_free(context);
    sample_free(s);
}

/* Columns that are four times as many as rows, and more: steps in the space of the rows. Rows of
 * weight 2, equal rows and columns far from 0 are no trouble, nor what stages leave out. */
static void test_wide(void **state) {
    static const char *const specs[] = {"softmax(tol=1e-9)", "standardize | softmax(tol=1e-9)",
                                        "minmax | softmax(tol=1e-9, intercept=no)"};
    enum { ROWS = 80, WIDE = 340 };
    double weights[6];
    (void)state;
    sample *s = sample_make(6, 24, 2, 0.3, 5);
    for (int i = 0; i < 6; i++)
        weights[i] = 0.25 + i;
    assert_least(s, NULL, "softmax(tol=1e-11)",
                 (classes_oracle){.intercept = 1, .factor = 1, .rho = 1});
    assert_least(s, weights, "softmax(C=3, tol=1e-11)",
                 (classes_oracle){.intercept = 1, .factor = 3, .rho = 1});
    assert_least(s, weights, "softmax(alpha=0.5, intercept=no, tol=1e-11)",
                 (classes_oracle){.intercept = 0, .factor = 1, .rho = 1});
    sample_free(s);
    s = sample_make(ROWS, WIDE, 4, 0.1, 7);
    margin_context *context = support_context(NULL, 2);
    memcpy(s->f64, s->f64 + WIDE, WIDE * sizeof *s->f64);
    for (int far = 0; far < 2; far++) {
        const margin_data data = {.x = margin_dense_f64(s->f64, ROWS, WIDE, WIDE),
                                  .y = sample_data(s, DENSE_F64).y};
        for (int k = 0; k < 3; k++) {
            margin_report report = {0}, found = {0};
            margin_error error = {0};
            margin_model *model = fit_text(context, specs[k], &data, &report);
            assert_int_equal(report.status, MARGIN_OK);
            assert_true(report.iterations < 250);
            if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
                fail_msg("%s: %s %s", specs[k], error.text, found.reason);
            margin_model_free(model);
        }
        for (int i = 0; i < ROWS * WIDE; i++) /* hardly more than 10 directions, and far */
            s->f64[i] = 30 + s->f64[i % (10 * WIDE)] * (1 + i / (10 * WIDE)) + 1e-3 * s->f64[i];
    }
    margin_context_free(context);
    sample_free(s);
}

/* Enough rows for several blocks, enough columns for factors. */
static void test_threads(void **state) {
    static const int layouts[] = {DENSE_F64, DENSE_F32, CSR_F64_I32_I64, DENSE_F64};
    (void)state;
    for (int k = 0; k < 4; k++) { /* the last one wide */
        sample *s = k < 3 ? sample_make(6000, 30, 5, 0.3, 9) : sample_make(500, 2000, 5, 0.3, 9);
        margin_model *first = NULL;
        margin_context *contexts[4];
        for (int threads = 1; threads <= 4; threads++) {
            const margin_data data = sample_data(s, layouts[k]);
            contexts[threads - 1] = support_context(NULL, threads);
            margin_model *model = fit_text(contexts[threads - 1], "softmax", &data, NULL);
            if (!first)
                first = model;
            else {
                assert_same_model(first, model);
                margin_model_free(model);
            }
        }
        margin_model_free(first);
        for (int threads = 0; threads < 4; threads++)
            margin_context_free(contexts[threads]);
        sample_free(s);
    }
}

/* Some rows that are separated lead to infinity: what steps on them found is left alone. */
static void test_many_separable_rows(void **state) {
    enum { ROWS = 20000, COLUMNS = 20, CLASSES = 5 };
    (void)state;
    margin_report report = {0};
    sample *s = sample_make(ROWS, COLUMNS, CLASSES, 0.0, 12);
    margin_context *context = support_context(NULL, 1);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(context, "softmax(C=inf)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_true(report.objective <= report.tolerance && report.iterations <= 60);
    margin_model_free(model);
    margin_context_free(context);
    sample_free(s);
}

/* Steps on some rows go before those on all, of which there are few then; where a class is so rare
 * that those rows lack it there are more. */
static void test_many_rows(void **state) {
    enum { ROWS = 12000, COLUMNS = 6, CLASSES = 4 };
    static const char *const specs[] = {"softmax", "softmax(C=inf)", "softmax(intercept=no, C=100)",
                                        "softmax(C=0.1)"};
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, CLASSES, 0.5, 12);
    classes_oracle o = {
        .x = s->f64, .labels = s->labels, .rows = ROWS, .columns = COLUMNS, .classes = CLASSES};
    margin_context *context = support_context(NULL, 1), *more = support_context(NULL, 3);
    for (int rare = 0; rare < 2; rare++) {
        for (int k = 0; k < (rare ? 1 : MG_LENGTH(specs)); k++) {
            const margin_data data = sample_data(s, k == 3 ? DENSE_F32 : DENSE_F64);
            margin_report report = {0};
            o.intercept = k != 2;
            o.factor = k == 2 ? 100 : k == 3 ? 0.1 : 1;
            o.rho = k == 1 ? 0 : 1;
            const double least = oracle_least(&o, NULL, NULL);
            margin_model *model = fit_text(context, specs[k], &data, &report);
            margin_model *same = fit_text(more, specs[k], &data, NULL);
            assert_true(report.gap <= report.tolerance);
            assert_close(report.objective, least, 2e-6);
            assert_true(report.iterations <= (rare ? 16 : 6));
            assert_same_model(model, same);
            margin_model_free(model);
            margin_model_free(same);
        }
        for (int i = 0; i < ROWS; i++)
            if (s->labels[i] == s->labels[0] && i % 6000 != 0) s->labels[i] = s->labels[1];
    }
    margin_context_free(context);
    margin_context_free(more);
    sample_free(s);
}

/* Columns in units that differ by 1e10 and lie far from 0, in single precision. */
static void test_hard_columns(void **state) {
    enum { ROWS = 300 };
    float x[ROWS * 3];
    double wide[ROWS * 3], y[ROWS];
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const double a = support_normal(&seed), b = support_normal(&seed);
        x[3 * i] = (float)(1e5 * (a + 10));
        x[3 * i + 1] = (float)(1e-5 * b);
        x[3 * i + 2] = (float)(a - b + support_normal(&seed));
        y[i] = a + support_normal(&seed) > 0 ? 2 : b > 0;
        for (int j = 0; j < 3; j++)
            wide[3 * i + j] = (double)x[3 * i + j];
    }
    margin_context *context = support_context(NULL, 1);
    const margin_data narrow = {.x = margin_dense_f32(x, ROWS, 3, 3),
                                .y = margin_values_f64(y, ROWS)};
    const margin_data same = {.x = margin_dense_f64(wide, ROWS, 3, 3),
                              .y = margin_values_f64(y, ROWS)};
    margin_report a = {0}, b = {0};
    margin_model *model = fit_text(context, "softmax(tol=1e-9)", &narrow, &a);
    margin_model_free(model);
    model = fit_text(context, "softmax(tol=1e-9)", &same, &b);
    margin_model_free(model);
    assert_int_equal(a.status, MARGIN_OK);
    assert_int_equal(b.status, MARGIN_OK);
    assert_close(a.objective, b.objective, 1e-8);
    margin_context_free(context);
}

/* ---- Trace ----------------------------------------------------------------------------------- */

typedef struct {
    const sample *s;
    int64_t steps;
    double before;
} traced;

static int follow(const margin_trace_step *step, void *user) {
    traced *t = user;
    const int64_t p = t->s->columns, classes = t->s->classes;
    const classes_oracle o = {.x = t->s->f64,
                              .labels = t->s->labels,
                              .rows = t->s->rows,
                              .columns = p,
                              .classes = classes,
                              .factor = 1,
                              .rho = 1};
    assert_true(step->step >= t->steps);
    if (p > t->s->rows) t->steps = step->step; /* steps over products of the rows have no line */
    assert_int_equal(step->step, t->steps++);
    assert_int_equal(step->weight_count, classes * (p + 1));
    assert_true(isnan(step->intercept) && step->row == -1);
    assert_close(step->loss, oracle_value(&o, step->weights, step->weights + classes * p), 1e-12);
    assert_true(step->loss <= t->before);
    assert_true(step->errors >= 0 && step->errors <= t->s->rows);
    t->before = step->loss;
    return 0;
}

/* Of many columns it goes on from the optimum over products of the rows. */
static void test_trace(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        sample *s = wide ? sample_make(20, 90, 4, 0.3, 5) : sample_make(90, 5, 4, 0.3, 5);
        margin_context *context = support_context(NULL, 1);
        const margin_data data = sample_data(s, DENSE_F64);
        traced t = {s, 0, INFINITY};
        margin_fit_options options = {.size = sizeof options, .trace = follow, .user = &t};
        margin_spec *spec = parse_text(context, "softmax");
        margin_model *model = NULL;
        margin_report report = {0};
        margin_error error = {0};
        assert_int_equal(margin_fit_with(context, spec, &data, &options, &model, &report, &error),
                         MARGIN_OK);
        assert_int_equal(t.steps, report.iterations + 1);
        margin_model_free(model);
        margin_spec_free(spec);
        margin_context_free(context);
        sample_free(s);
    }
}

/* ---- Stops and failures ---------------------------------------------------------------------- */

static void test_limit(void **state) {
    (void)state;
    sample *s = sample_make(90, 5, 4, 0.3, 5);
    margin_context *context = support_context(NULL, 1);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report report = {0};
    margin_model *model = fit_text(context, "softmax(max_iter=2)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_int_equal(report.iterations, 2);
    assert_contains(report.reason, "limit of 2 steps");
    assert_contains(report.reason, "raise max_iter");
    assert_true(report.gap > report.tolerance);
    margin_model_free(model);
    sample *wide = sample_make(20, 50, 4, 0.3, 5);
    const margin_data wide_data = sample_data(wide, DENSE_F64);
    model = fit_text(context, "softmax(max_iter=2)", &wide_data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_int_equal(report.iterations, 2);
    margin_model_free(model);
    sample_free(wide);
    margin_context_cancel(context);
    fit_refused(context, "softmax", &data, MARGIN_ERROR_CANCELLED, "interrupted");
    margin_context_free(context);
    sample_free(s);
}

static void test_each_allocation(void **state) {
    (void)state;
    sample *s = sample_make(60, 4, 3, 0.3, 10), *wide = sample_make(8, 20, 3, 0.3, 10);
    fit_attempt attempts[] = {{"softmax", sample_data(s, DENSE_F64)},
                              {"softmax", sample_data(s, CSR_F64_I32_I64)},
                              {"standardize | softmax(C=inf)", sample_data(s, DENSE_F32)},
                              {"standardize | softmax", sample_data(wide, DENSE_F32)}};
    for (int k = 0; k < 4; k++)
        assert_true(support_fail_each_allocation(1, attempt_fit, &attempts[k]) > 20);
    sample_free(wide);
    sample_free(s);
}

/* ---- The learner on its own ------------------------------------------------------------------ */

/* A class that the problem names and no sample has: it gets no probability and does no harm. */
static void test_empty_class(void **state) {
    const double x[6] = {-2, -1, -1.5, 1, 2, 0.5};
    const int32_t code[6] = {0, 0, 3, 3, 3, 0};
    mg_option_value values[16] = {{0}};
    margin_error error = {0};
    const margin_component *info = &mg_learner_softmax.info;
    const mg_problem problem = {.kind = MG_ARGMAX,
                                .x = margin_dense_f64(x, 6, 1, 1),
                                .count = 6,
                                .classes = 4,
                                .code = code};
    (void)state;
    margin_context *context = support_context(NULL, 1);
    mg_arena arena;
    mg_arena_init(&arena, context->heap);
    for (int k = 0; k < info->option_count; k++)
        assert_int_equal(
            mg_option_default("softmax", &info->options[k], &arena, &values[k], &error), MARGIN_OK);
    mg_fit fit = {.context = context,
                  .learner = &mg_learner_softmax,
                  .problem = &problem,
                  .options = values,
                  .error = &error};
    mg_report_init(&fit.report);
    assert_int_equal(mg_learner_softmax.fit(&fit), MARGIN_OK);
    const double *b = fit.hypothesis->view.linear.intercept;
    double p[4], f[4];
    for (int k = 0; k < 4; k++)
        f[k] = b[k] + fit.hypothesis->view.linear.weights[k] * 0.7;
    mg_learner_softmax.probabilities(f, 4, 4, p);
    assert_true(p[1] == 0 && p[2] == 0);
    assert_close(p[0] + p[3], 1, 1e-15);
    assert_true(fabs(b[0] + b[3]) < 1e-9);
    assert_int_equal(mg_learner_softmax.verify(&fit, fit.hypothesis), MARGIN_OK);
    assert_int_equal(fit.report.status, MARGIN_OK);
    mg_hypothesis_free(fit.hypothesis);
    mg_arena_free(&arena);
    margin_context_free(context);
}

static void test_far_probabilities(void **state) {
    const double f[3] = {1e300, 0, -1e300}, g[3] = {-800, -800, -801};
    double p[3];
    (void)state;
    mg_learner_softmax.probabilities(f, 3, 3, p);
    assert_true(p[0] == 1 && p[1] == 0 && p[2] == 0);
    mg_learner_softmax.probabilities(g, 3, 3, p);
    assert_close(p[0], 1 / (2 + exp(-1)), 1e-15);
    assert_close(p[2], exp(-1) / (2 + exp(-1)), 1e-15);
    const double n[3] = {0, NAN, 1};
    mg_learner_softmax.probabilities(n, 3, 3, p);
    assert_true(isnan(p[1]));
}

/* Rows whose scores are beyond the numbers have no class. */
static void test_scores_that_overflow(void **state) {
    static const double x[6] = {-1e-3, -2e-3, 0, 1e-4, 1e-3, 2e-3};
    static const double q[4] = {1e308, -1e308, 1e-3, -1e-3};
    static const int32_t y[6] = {0, 0, 1, 1, 2, 2};
    const margin_data data = {.x = margin_dense_f64(x, 6, 1, 1), .y = margin_labels_i32(y, 6)};
    const margin_matrix queries = margin_dense_f64(q, 4, 1, 1);
    margin_context *context = support_context(NULL, 1);
    double p[4 * 3];
    int64_t labels[4];
    (void)state;
    margin_model *model = fit_text(context, "softmax(C=1e8)", &data, NULL);
    assert_int_equal(margin_probabilities(model, &queries, p, NULL), MARGIN_OK);
    assert_int_equal(margin_predict(model, &queries, labels, NULL), MARGIN_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(labels[i] == -1, i < 2);
        assert_int_equal(isnan(p[3 * i] + p[3 * i + 1] + p[3 * i + 2]) != 0, i < 2);
    }
    margin_model_free(model);
    margin_context_free(context);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void assert_kernel(const margin_matrix *x, mg_isa isa, bool single, int64_t count, int64_t n,
                          int64_t classes, bool centred, uint64_t *seed) {
    const mg_classes_rows *rows = mg_classes_rows_for(x, isa, single);
    const bool f32 = x->value_type == MARGIN_F32;
    const int64_t ld = (n + 15) / 16 * 16;
    double *w = calloc((size_t)(classes * ld), sizeof *w), *z = calloc(64 * 20, sizeof *z);
    double *r = calloc(64 * 20, sizeof *r), *centre = calloc((size_t)ld, sizeof *centre);
    double *sum = calloc((size_t)(classes * n), sizeof *sum);
    float *narrow = calloc((size_t)(classes * ld + ld + 64 * 20), sizeof *narrow);
    float *narrow_centre = narrow + classes * ld, *narrow_r = narrow_centre + ld;
    const void *at[64];
    assert_int_equal(rows->single, single && f32);
    for (int64_t k = 0; k < classes; k++)
        for (int64_t j = 0; j < n; j++)
            narrow[k * ld + j] =
                (float)(w[k * ld + j] = (double)((int)(support_random(seed) % 17) - 8) / 4);
    for (int64_t j = 0; j < n && centred; j++)
        narrow_centre[j] = (float)(centre[j] = (double)(support_random(seed) % 5) / 2);
    for (int64_t k = 0; k < count * classes; k++)
        narrow_r[k] = (float)(r[k] = (double)((int)(support_random(seed) % 9) - 4) / 2);
    for (int64_t i = 0; i < count; i++)
        at[i] = (const char *)x->values + i * x->stride * (f32 ? 4 : 8);
    const void *c = rows->single ? (const void *)narrow_centre : centre;
    rows->scores(at, count, n, centred ? c : NULL, rows->single ? (const void *)narrow : w, ld,
                 classes, z);
    rows->gradient(at, count, n, centred ? c : NULL, rows->single ? (const void *)narrow_r : r,
                   classes, sum);
    /* values are such that every sum is exact */
    for (int64_t k = 0; k < classes; k++) {
        for (int64_t i = 0; i < count; i++) {
            double expected = 0;
            for (int64_t j = 0; j < n; j++)
                expected += (mg_stored_value(x, i * x->stride + j) - centre[j]) * w[k * ld + j];
            assert_true(z[i * classes + k] == expected);
        }
        for (int64_t j = 0; j < n; j++) {
            double expected = 0;
            for (int64_t i = 0; i < count; i++)
                expected +=
                    r[i * classes + k] * (mg_stored_value(x, i * x->stride + j) - centre[j]);
            assert_true(sum[k * n + j] == expected);
        }
    }
    free(w);
    free(z);
    free(r);
    free(centre);
    free(sum);
    free(narrow);
}

static void test_kernels(void **state) {
    static const int64_t columns[] = {1, 3, 7, 16, 17, 33, 64, 70, 131};
    uint64_t seed = 77;
    (void)state;
    for (int m = 0; m < 9; m++) {
        sample *s = sample_make(64, columns[m], 2, 0, (uint64_t)m + 1);
        for (int isa = MG_ISA_REF; isa <= (int)mg_isa_level(); isa++)
            for (int k = 0; k < 12; k++) {
                const margin_matrix f64 = sample_view(s, STRIDED_F64);
                const margin_matrix f32 = sample_view(s, STRIDED_F32);
                const int64_t count = k == 0 ? 64 : 1 + 5 * k, classes = 1 + (5 * k) % 13;
                assert_kernel(&f64, (mg_isa)isa, false, count, columns[m], classes, k % 2, &seed);
                assert_kernel(&f32, (mg_isa)isa, false, count, columns[m], classes, k % 2, &seed);
                assert_kernel(&f32, (mg_isa)isa, true, count, columns[m], classes, k % 2, &seed);
            }
        sample_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_glass),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_intercepts_alone),
        cmocka_unit_test(test_no_optimum),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_many_separable_rows),
        cmocka_unit_test(test_hard_columns),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_each_allocation),
        cmocka_unit_test(test_empty_class),
        cmocka_unit_test(test_far_probabilities),
        cmocka_unit_test(test_scores_that_overflow),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
