/* Softmax regression by gradient descent: every step against plain loops, the optimum of L-BFGS,
 * proofs, what is said where steps go astray. */
#include "model_cases.h"

#include "base/random.h"
#include "linear/objective/coupled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 40, MOST_NUMBERS = 32, MOST_ROWS = 100 };

typedef struct {
    int count, numbers;
    double w[MOST_STEPS][MOST_NUMBERS], loss[MOST_STEPS];
    int64_t errors[MOST_STEPS];
    bool rises;
    double before;
} steps;

static int keep_step(const margin_trace_step *step, void *user) {
    steps *s = user;
    assert_true(isnan(step->intercept) && step->row == -1);
    s->rises |= step->step > 0 && step->loss > s->before * (1 + 1e-13);
    s->before = step->loss;
    if (s->count == MOST_STEPS) return 0;
    assert_int_equal(step->step, s->count);
    assert_true(step->weight_count <= MOST_NUMBERS);
    s->numbers = (int)step->weight_count;
    memcpy(s->w[s->count], step->weights, (size_t)step->weight_count * sizeof(double));
    s->loss[s->count] = step->loss;
    s->errors[s->count++] = step->errors;
    return 0;
}

static margin_model *fit_traced(margin_context *context, const char *text, const margin_data *data,
                                steps *s, margin_report *report) {
    const margin_fit_options options = {.size = sizeof options, .trace = keep_step, .user = s};
    margin_spec *spec = parse_text(context, text);
    margin_model *model = NULL;
    margin_error error = {0};
    *s = (steps){0};
    if (margin_fit_with(context, spec, data, &options, &model, report, &error) < 0)
        fail_msg("%s: %s", text, error.text);
    margin_spec_free(spec);
    return model;
}

/* ---- By hand --------------------------------------------------------------------------------- */

/* x = 1, 2, 6, 3 with classes 0, 1, 2, 2. At zero all shares are 1/3; the mean gradient is
 * (4 - 1)/4, (4 - 2)/4, (4 - 9)/4 in the weights and (4/3 - 1)/4, (4/3 - 1)/4, (4/3 - 2)/4 in the
 * intercepts; a step of 1/8. */
static void test_first_step_by_hand(void **state) {
    const double x[4] = {1, 2, 6, 3}, y[4] = {0, 1, 2, 2};
    const double w[6] = {-3.0 / 32, -1.0 / 16, 5.0 / 32, -1.0 / 96, -1.0 / 96, 1.0 / 48};
    const margin_data data = {.x = margin_dense_f64(x, 4, 1, 1), .y = margin_values_f64(y, 4)};
    margin_report report = {0};
    steps s;
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_model *model = fit_traced(
        context, "softmax(lambda=0.25, solver=gd, rate=0.125, max_iter=1)", &data, &s, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_string_equal(report.iteration_name, "steps");
    assert_int_equal(s.count, 2);
    assert_int_equal(s.numbers, 6);
    assert_close(s.loss[0], log(3), 1e-15);
    assert_int_equal(s.errors[0], 4); /* scores alike are no decision */
    for (int j = 0; j < 6; j++)
        assert_close(s.w[1][j], w[j], 1e-14);
    assert_int_equal(s.errors[1], 2);
    for (int k = 0; k < 3; k++) {
        assert_close(margin_model_weights(model, k)[0], w[k], 1e-14);
        assert_close(margin_model_intercept(model, k), w[3 + k], 1e-14);
    }
    margin_model_free(model);
    margin_context_free(context);
}

/* ---- Each step ------------------------------------------------------------------------------- */

typedef struct {
    const sample *s;
    const double *weights;
    double lambda;
    bool intercept;
} plain;

static void plain_step(const plain *p, const int64_t *rows, int64_t count, double rate, double *w) {
    const int64_t m = p->s->columns, classes = p->s->classes;
    double g[MOST_NUMBERS] = {0}, total = 0, *b = w + classes * m;
    for (int64_t i = 0; i < p->s->rows; i++)
        total += p->weights ? p->weights[i] : 1;
    for (int64_t r = 0; r < count; r++) {
        const double *x = p->s->f64 + rows[r] * m;
        const double weight =
            (p->weights ? p->weights[rows[r]] : 1) / total * (double)p->s->rows / (double)count;
        double f[8], sum = 0;
        for (int64_t k = 0; k < classes; k++) {
            f[k] = b[k];
            for (int64_t j = 0; j < m; j++)
                f[k] += x[j] * w[k * m + j];
            sum += exp(f[k]);
        }
        for (int64_t k = 0; k < classes; k++) {
            const double slope = weight * (exp(f[k]) / sum - ((double)k == p->s->labels[rows[r]]));
            for (int64_t j = 0; j < m; j++)
                g[k * m + j] += slope * x[j];
            g[classes * m + k] += slope;
        }
    }
    for (int64_t j = 0; j < classes * m; j++)
        w[j] -= rate * (g[j] + 2 * p->lambda * w[j]);
    for (int64_t k = 0; k < classes && p->intercept; k++)
        b[k] -= rate * g[classes * m + k];
}

/* batch 0: all rows. The rate of step t is rate / (1 + decay t). */
static void check_steps(const plain *p, const steps *s, int64_t batch, double rate, double decay,
                        const double *start) {
    double w[MOST_NUMBERS] = {0};
    int64_t order[MOST_ROWS], step = 0;
    for (int64_t i = 0; i < p->s->rows; i++)
        order[i] = i;
    if (start) memcpy(w, start, (size_t)s->numbers * sizeof *w);
    assert_true(s->count > 4);
    for (int at = 0; at < s->count; at++) {
        for (int j = 0; j < s->numbers; j++)
            if (fabs(s->w[at][j] - w[j]) > 1e-11 * fmax(1, fabs(w[j])))
                fail_msg("step %d: number %d is %.17g, not %.17g", at, j, s->w[at][j], w[j]);
        if (batch == 0) {
            plain_step(p, order, p->s->rows, rate / (1 + decay * at), w);
            continue;
        }
        mg_random_shuffle(0, MG_RANDOM_SHUFFLE, (uint64_t)at, order, p->s->rows);
        for (int64_t k = 0; k < p->s->rows; k += batch) {
            const int64_t count = p->s->rows - k < batch ? p->s->rows - k : batch;
            plain_step(p, order + k, count, rate / (1 + decay * (double)step++), w);
        }
    }
}

static void test_steps(void **state) {
    static const struct {
        const char *text;
        int64_t batch;
        double rate, decay;
        bool weighted, started, intercept;
    } cases[] = {
        {"solver=gd, rate=0.5", 0, 0.5, 0, false, false, true},
        {"solver=gd, rate=0.5, schedule=inverse, decay=0.25", 0, 0.5, 0.25, true, false, true},
        {"solver=gd, rate=0.5, intercept=no", 0, 0.5, 0, false, false, false},
        {"solver=gd, rate=0.5, start_weights=\"1 0.5 -1 0 2 -2 0.25 0 1 0.5 -1 0 0.75 1 -1\"", 0,
         0.5, 0, true, true, true},
        {"solver=sgd, rate=0.1, schedule=constant", 1, 0.1, 0, false, false, true},
        {"solver=sgd, rate=0.1, decay=0.125", 1, 0.1, 0.125, true, false, true},
        {"solver=minibatch, batch=7, rate=0.25, decay=0.125", 7, 0.25, 0.125, true, false, true},
        {"solver=minibatch, batch=7, rate=0.25, schedule=constant, intercept=no", 7, 0.25, 0, false,
         false, false},
    };
    const double start[15] = {1, 0.5, -1, 0, 2, -2, 0.25, 0, 1, 0.5, -1, 0, 0.75, 1, -1};
    double weights[50];
    (void)state;
    sample *s = sample_make(50, 4, 3, 0.2, 21);
    margin_context *context = support_context(NULL, 2);
    for (int i = 0; i < 50; i++)
        weights[i] = 1 + i % 3;
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            char text[300];
            steps traced;
            margin_report report = {0};
            margin_data data = sample_data(s, layout);
            if (cases[k].weighted) data.weights = margin_values_f64(weights, 50);
            snprintf(text, sizeof text, "softmax(lambda=0.02, max_iter=12, %s)", cases[k].text);
            margin_model *model = fit_traced(context, text, &data, &traced, &report);
            const plain p = {s, cases[k].weighted ? weights : NULL, 0.02, cases[k].intercept};
            check_steps(&p, &traced, cases[k].batch, cases[k].rate, cases[k].decay,
                        cases[k].started ? start : NULL);
            margin_model_free(model);
        }
    margin_context_free(context);
    sample_free(s);
}

/* Sparse rows keep weights as multiples of a vector and of the shift: the same steps, also where
 * the multiple becomes tiny and is taken in. */
static void test_sparse_steps_behind_a_stage(void **state) {
    static const char *const texts[] = {
        "standardize | softmax(lambda=0.02, solver=sgd, rate=0.05, schedule=constant, max_iter=8)",
        "standardize | softmax(lambda=4, solver=sgd, rate=0.05, schedule=constant, max_iter=8)",
        "standardize | softmax(lambda=0.02, solver=minibatch, batch=8, max_iter=8)",
        "standardize | softmax(lambda=0.02, solver=gd, max_iter=8)"};
    (void)state;
    sample *s = sample_make(70, 5, 4, 0.2, 22);
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < 4; k++) {
        steps dense, sparse;
        margin_report report = {0};
        margin_data data = sample_data(s, DENSE_F64);
        margin_model_free(fit_traced(context, texts[k], &data, &dense, &report));
        data = sample_data(s, CSR_F64_I32_I64);
        margin_model_free(fit_traced(context, texts[k], &data, &sparse, &report));
        assert_int_equal(dense.count, 9);
        assert_int_equal(sparse.count, 9);
        for (int at = 0; at < 9; at++) {
            assert_close(dense.loss[at], sparse.loss[at], 1e-11);
            for (int j = 0; j < dense.numbers; j++)
                if (fabs(dense.w[at][j] - sparse.w[at][j]) > 1e-10)
                    fail_msg("%s: step %d, number %d: %.17g and %.17g", texts[k], at, j,
                             dense.w[at][j], sparse.w[at][j]);
        }
        assert_true(fabs(dense.w[8][0]) > 1e-4);
    }
    margin_context_free(context);
    sample_free(s);
}

/* ---- Optimum --------------------------------------------------------------------------------- */

static void assert_same_proof(margin_context *context, const margin_model *model,
                              const margin_data *data, const margin_report *report) {
    margin_report found = {0};
    margin_error error = {0};
    if (margin_verify(context, model, data, &found, &error) != MARGIN_OK)
        fail_msg("%s %s", error.text, found.reason);
    assert_close(found.objective, report->objective, 1e-12);
    assert_true(fabs(found.gap - report->gap) <= 1e-11 + 1e-3 * report->gap);
}

static void test_gd_reaches_the_optimum(void **state) {
    static const char *const options[] = {"C=1", "alpha=2", "lambda=0.05, intercept=no", "C=inf"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        sample *s = sample_make(90, 4, 3, 0.4, (uint64_t)(31 + k));
        margin_context *context = support_context(NULL, 2);
        const margin_data data = sample_data(s, DENSE_F64);
        char slow[100], fast[100];
        margin_report reports[2] = {0};
        steps traced;
        snprintf(slow, sizeof slow, "softmax(%s, solver=gd, tol=1e-9)", options[k]);
        snprintf(fast, sizeof fast, "softmax(%s, tol=1e-12)", options[k]);
        margin_model *model = fit_traced(context, slow, &data, &traced, &reports[0]),
                     *best = fit_text(context, fast, &data, &reports[1]);
        if (reports[0].status != MARGIN_OK) fail_msg("%s: %s", slow, reports[0].reason);
        assert_true(reports[0].gap <= 1e-9);
        assert_contains(reports[0].reason, "the gap is proven (solver gd)");
        assert_close(reports[0].objective, reports[1].objective, 2e-9);
        assert_true(reports[0].objective >= reports[1].objective * (1 - 1e-11));
        for (int c = 0; c < 3; c++) {
            for (int j = 0; j < 4; j++)
                assert_close(margin_model_weights(model, c)[j], margin_model_weights(best, c)[j],
                             1e-3);
            assert_close(margin_model_intercept(model, c), margin_model_intercept(best, c), 1e-3);
        }
        assert_false(traced.rises);
        assert_same_proof(context, model, &data, &reports[0]);
        margin_model_free(model);
        margin_model_free(best);
        margin_context_free(context);
        sample_free(s);
    }
}

static void test_rows_come_near(void **state) {
    static const char *const solvers[] = {"sgd", "minibatch", "minibatch, batch=1000000"};
    static const int layouts[] = {DENSE_F64, CSR_F64_I32_I64};
    (void)state;
    sample *s = sample_make(90, 4, 3, 0.3, 41);
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 2; l++) {
            const margin_data data = sample_data(s, layouts[l]);
            char text[100];
            margin_report report = {0};
            snprintf(text, sizeof text, "softmax(lambda=0.02, tol=0.001, solver=%s)", solvers[k]);
            margin_model *model = fit_text(context, text, &data, &report);
            if (report.status != MARGIN_OK) fail_msg("%s: %s", text, report.reason);
            assert_true(report.gap <= 0.001);
            assert_string_equal(report.iteration_name, "passes");
            assert_same_proof(context, model, &data, &report);
            margin_model_free(model);
        }
    margin_context_free(context);
    sample_free(s);
}

/* Goes on from a line of a trace as if it had not stopped. */
static void test_goes_on(void **state) {
    char text[1000];
    steps whole, rest;
    margin_report report = {0};
    (void)state;
    sample *s = sample_make(60, 3, 3, 0.3, 42);
    margin_context *context = support_context(NULL, 2);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_model_free(
        fit_traced(context, "softmax(solver=gd, rate=0.25, max_iter=9)", &data, &whole, &report));
    int at = snprintf(text, sizeof text,
                      "softmax(solver=gd, rate=0.25, max_iter=5, "
                      "start_weights=\"");
    for (int j = 0; j < whole.numbers; j++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%.17g", j ? " " : "", whole.w[4][j]);
    snprintf(text + at, sizeof text - (size_t)at, "\")");
    margin_model_free(fit_traced(context, text, &data, &rest, &report));
    assert_int_equal(rest.count, 6);
    for (int k = 0; k < 6; k++)
        assert_memory_equal(whole.w[4 + k], rest.w[k], sizeof *rest.w / MOST_NUMBERS * 12);
    margin_context_free(context);
    sample_free(s);
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void assert_stops(const char *text, const margin_data *data, margin_status status,
                         const char *first, const char *second) {
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, text, data, &report);
    if (report.status != status) fail_msg("%s: %d, %s", text, report.status, report.reason);
    assert_contains(report.reason, first);
    assert_contains(report.reason, second);
    assert_true(isfinite(report.objective));
    margin_model_free(model);
    margin_context_free(context);
}

static void test_reasons(void **state) {
    const double x[9] = {1, 2, 3, 11, 12, 13, 21, 22, 23}, y[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
    const margin_data apart = {.x = margin_dense_f64(x, 9, 1, 1), .y = margin_values_f64(y, 9)};
    (void)state;
    sample *s = sample_make(60, 3, 3, 0.3, 43);
    const margin_data data = sample_data(s, DENSE_F64);
    assert_stops("softmax(lambda=1, solver=gd, rate=30)", &data, MARGIN_STOPPED_STALLED,
                 "it diverges: after", "the largest safe rate is about 0.");
    assert_stops("softmax(lambda=0.001, solver=gd, rate=30, max_iter=300)", &data,
                 MARGIN_STOPPED_STALLED, "steps with rate=30 overshoot", "2 / the largest curv");
    assert_stops("softmax(solver=gd, max_iter=2)", &data, MARGIN_STOPPED_ITERATIONS,
                 "the limit of 2 steps is reached", "solver=auto");
    assert_stops("softmax(solver=sgd, max_iter=2)", &data, MARGIN_STOPPED_ITERATIONS,
                 "the limit of 2 passes is reached", "(solver sgd)");
    assert_stops("softmax(solver=sgd, rate=0.05, schedule=constant)", &data, MARGIN_STOPPED_STALLED,
                 "with a constant rate the steps of single rows never settle", "schedule=inverse");
    assert_stops("standardize | softmax(C=inf, solver=gd, tol=0.1)", &apart, MARGIN_STOPPED_STALLED,
                 "without a penalty there is no optimum", "(solver gd)");
    sample_free(s);
}

static void test_refused(void **state) {
    (void)state;
    sample *s = sample_make(60, 3, 4, 0.3, 44);
    margin_context *context = support_context(NULL, 1);
    const margin_data data = sample_data(s, DENSE_F64);
    const margin_status bad = MARGIN_ERROR_SPEC;
    fit_refused(context, "softmax(solver=gd, start_weights=\"1 2 3\")", &data, bad,
                "start_weights has 3 numbers; the learner sees 3 columns, so 12 are needed, class "
                "by class, "
                "and then, if wanted, an intercept for each class");
    fit_refused(context,
                "softmax(solver=gd, intercept=no, start_weights=\"1 2 3 4 5 6 7 8 9 10 11 12 13 14 "
                "15 16\")",
                &data, bad,
                "start_weights has 16 numbers; the learner sees 3 columns, so 12 are needed, class "
                "by class");
    fit_refused(context, "softmax(solver=gd, start_weights=\"1e200 0 0 0 0 0 0 0 0 0 0 0\")", &data,
                MARGIN_ERROR_DATA, "beyond double precision at the start");
    fit_refused(context, "softmax(rate=1)", &data, bad,
                "rate belongs to solver=gd, sgd or minibatch");
    fit_refused(context, "softmax(solver=sgd, batch=2)", &data, bad,
                "batch belongs to solver=minibatch");
    margin_context_cancel(context);
    fit_refused(context, "softmax(solver=sgd)", &data, MARGIN_ERROR_CANCELLED, "interrupted");
    margin_context_free(context);
    sample_free(s);
}

/* A class whose rows all have the weight 0 does no harm. */
static void test_empty_class(void **state) {
    static const char *const solvers[] = {"gd", "sgd, tol=0.01", "minibatch, tol=0.01"};
    double weights[60];
    (void)state;
    sample *s = sample_make(60, 3, 4, 0.3, 45);
    margin_context *context = support_context(NULL, 1);
    margin_data data = sample_data(s, DENSE_F64);
    for (int i = 0; i < 60; i++)
        weights[i] = s->labels[i] == 1 ? 0 : 1;
    data.weights = margin_values_f64(weights, 60);
    for (int k = 0; k < 3; k++) {
        char text[100];
        margin_report report = {0}, best = {0};
        snprintf(text, sizeof text, "softmax(solver=%s)", solvers[k]);
        margin_model_free(fit_text(context, text, &data, &report));
        margin_model_free(fit_text(context, "softmax", &data, &best));
        if (report.status != MARGIN_OK) fail_msg("%s: %s", text, report.reason);
        assert_true(report.objective <= best.objective * (1 + 1.01 * report.tolerance));
    }
    margin_context_free(context);
    sample_free(s);
}

/* ---- Threads, memory, cancellation ----------------------------------------------------------- */

static void test_threads(void **state) {
    static const char *const texts[] = {"softmax(solver=gd, max_iter=5)",
                                        "standardize | softmax(solver=sgd, max_iter=2)",
                                        "softmax(solver=minibatch, max_iter=2)"};
    static const int layouts[] = {DENSE_F64, DENSE_F32, CSR_F64_I32_I64};
    (void)state;
    sample *s = sample_make(3000, 20, 4, 0.3, 46);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            margin_context *contexts[3];
            margin_model *models[3];
            for (int t = 0; t < 3; t++) {
                const margin_data data = sample_data(s, layouts[l]);
                contexts[t] = support_context(NULL, t + 1);
                models[t] = fit_text(contexts[t], texts[k], &data, NULL);
                if (t > 0) assert_same_model(models[0], models[t]);
            }
            for (int t = 0; t < 3; t++) {
                margin_model_free(models[t]);
                margin_context_free(contexts[t]);
            }
        }
    sample_free(s);
}

static void test_each_allocation(void **state) {
    (void)state;
    sample *s = sample_make(40, 3, 3, 0.3, 47);
    fit_attempt attempts[] = {
        {"softmax(solver=gd, max_iter=3)", sample_data(s, DENSE_F64)},
        {"standardize | softmax(solver=sgd, max_iter=3)", sample_data(s, CSR_F64_I32_I64)},
        {"softmax(solver=minibatch, C=inf, max_iter=9)", sample_data(s, DENSE_F32)}};
    for (int k = 0; k < 3; k++)
        assert_true(support_fail_each_allocation(1, attempt_fit, &attempts[k]) > 20);
    sample_free(s);
}

static margin_status columns_of(mg_design *d, mg_sparse_columns *columns, margin_error *error) {
    return mg_sparse_columns_make(d->context, &d->problem->x, d->problem->index, d->samples, NULL,
                                  columns, error);
}

/* The copy of sparse rows by column ends when it is asked to. */
static void test_copy_is_cancelled(void **state) {
    (void)state;
    sample *s = sample_make(60, 3, 3, 0.3, 48);
    margin_context *context = support_context(NULL, 1);
    margin_error error = {0};
    mg_design design;
    mg_sparse_columns columns = {0};
    const mg_problem problem = {.kind = MG_REGRESSION,
                                .x = sample_view(s, CSR_F64_I32_I64),
                                .count = 60,
                                .target = s->labels};
    assert_int_equal(mg_design_create(context, &problem, &design, &error), MARGIN_OK);
    assert_int_equal(columns_of(&design, &columns, &error), MARGIN_OK);
    assert_int_equal(columns.starts[3], s->stored);
    mg_sparse_columns_free(design.heap, &columns);
    margin_context_cancel(context);
    assert_int_equal(columns_of(&design, &columns, &error), MARGIN_ERROR_CANCELLED);
    assert_null(columns.starts);
    mg_design_free(&design);
    margin_context_free(context);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_step_by_hand),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_sparse_steps_behind_a_stage),
        cmocka_unit_test(test_gd_reaches_the_optimum),
        cmocka_unit_test(test_rows_come_near),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_empty_class),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_each_allocation),
        cmocka_unit_test(test_copy_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
