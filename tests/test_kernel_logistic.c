/* Kernel logistic regression: the equations of its optimum in extended precision, the models that
 * it must equal; and gradient descent on coefficients, step by step. */
#include "kernel_cases.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 60 };

/* Two classes on the plane, noisy; labels 0 and 1. */
static regression made(int64_t rows, int64_t columns, uint64_t seed) {
    regression r = regression_make(rows, columns, 0, 1, seed);
    for (int64_t i = 0; i < rows; i++) {
        const double *x = r.x + i * columns;
        r.y[i] = x[0] * x[0] + sin(x[columns - 1]) + 0.5 * support_normal(&seed) > 1;
    }
    r.y[0] = 0;
    r.y[1] = 1;
    return r;
}

static void all_scores(const margin_model *model, const margin_data *data, double *out) {
    margin_error error = {0};
    if (margin_scores(model, &data->x, out, &error) < 0) fail_msg("%s", error.text);
}

/* At the optimum f = K v with v_i = C weight_i y_i / (1 + e^(y_i f_i)). */
static void assert_optimal(const regression *r, const double *f, const mg_kernel *kernel,
                           const double *weights, double C, double tolerance) {
    for (int64_t i = 0; i < r->rows; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < r->rows; j++) {
            const long double y = r->y[j] > 0 ? 1 : -1;
            sum += kernel_of(kernel, r->x + i * r->columns, r->x + j * r->columns, r->columns) * C *
                   (weights ? weights[j] : 1) * y / (1 + expl(y * f[j]));
        }
        assert_close(f[i], (double)sum, tolerance);
    }
}

static void test_optimum(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        mg_kernel kernel;
    } cases[] = {
        {"kernel=rbf, sigma=1", {.kind = MG_KERNEL_RBF, .gamma = 0.5}},
        {"kernel=laplacian, gamma=0.3", {.kind = MG_KERNEL_LAPLACIAN, .gamma = 0.3}},
        {"kernel=poly, degree=3", {.kind = MG_KERNEL_POLY, .gamma = 1, .coef0 = 1, .degree = 3}},
    };
    regression r = made(ROWS, 2, 1);
    double f[ROWS], weights[ROWS];
    for (int i = 0; i < ROWS; i++)
        weights[i] = 1 + i % 3;
    for (int k = 0; k < 3; k++)
        for (int way = 0; way < 4; way++) {
            char spec[200];
            margin_data data = regression_data(&r);
            snprintf(spec, sizeof spec, "kernel-logistic(%s, C=2, tol=1e-12, solver=%s)",
                     cases[k].spec, way & 1 ? "cg" : "cholesky");
            if (way & 2) data.weights = margin_values_f64(weights, ROWS);
            margin_model *model = fit_proven(context, spec, &data, NULL);
            all_scores(model, &data, f);
            assert_optimal(&r, f, &cases[k].kernel, way & 2 ? weights : NULL, 2, 1e-4);
            margin_model_free(model);
        }
    regression_free(&r);
}

/* f = 0 has a gap below any tolerance where the loss weighs next to nothing, and is not the answer.
 */
static void test_tiny_loss(void **state) {
    (void)state;
    const mg_kernel kernel = {.kind = MG_KERNEL_RBF, .gamma = 0.5};
    regression r = made(ROWS, 2, 1);
    const margin_data data = regression_data(&r);
    double f[ROWS], greatest = 0;
    for (int way = 0; way < 2; way++) {
        margin_model *model =
            fit_proven(context,
                       way ? "kernel-logistic(kernel=rbf, sigma=1, C=1e-8, solver=cg)"
                           : "kernel-logistic(kernel=rbf, sigma=1, C=1e-8, solver=cholesky)",
                       &data, NULL);
        all_scores(model, &data, f);
        for (int i = 0; i < ROWS; i++)
            greatest = fmax(greatest, fabs(f[i]));
        assert_true(greatest > 1e-9 && greatest < 1e-6);
        assert_optimal(&r, f, &kernel, NULL, 1e-8, 1e-3 * greatest);
        margin_model_free(model);
    }
    regression_free(&r);
}

static void assert_same_scores(const char *one, const margin_data *a, const char *other,
                               const margin_data *b, double tolerance) {
    double *x = malloc((size_t)a->x.rows * sizeof *x), *y = malloc((size_t)b->x.rows * sizeof *y);
    margin_model *first = fit_proven(context, one, a, NULL);
    margin_model *second = fit_proven(context, other, b, NULL);
    all_scores(first, a, x);
    all_scores(second, b, y);
    for (int64_t i = 0; i < a->x.rows; i++)
        assert_close(x[i], y[i], tolerance);
    margin_model_free(first);
    margin_model_free(second);
    free(x);
    free(y);
}

static void test_linear_kernel(void **state) {
    (void)state;
    regression r = made(ROWS, 3, 2);
    const margin_data data = regression_data(&r);
    assert_same_scores("kernel-logistic(kernel=linear, C=3, tol=1e-13)", &data,
                       "logistic(C=3, intercept=no, tol=1e-13)", &data, 1e-6);
    regression_free(&r);
}

static void test_weights_are_copies(void **state) {
    (void)state;
    regression r = made(40, 2, 3);
    double weights[40];
    int64_t selection[120], count = 0;
    for (int64_t i = 0; i < 40; i++) {
        weights[i] = (double)(1 + i % 3);
        for (int64_t k = 0; k <= i % 3; k++)
            selection[count++] = i;
    }
    margin_data copies = regression_data(&r), weighted = copies;
    weighted.weights = margin_values_f64(weights, 40);
    copies.selection = selection;
    copies.selected = count;
    assert_same_scores("kernel-logistic(lambda=0.01, tol=1e-13)", &weighted,
                       "kernel-logistic(lambda=0.01, tol=1e-13)", &copies, 1e-6);
    regression_free(&r);
}

static void test_probabilities(void **state) {
    (void)state;
    regression r = made(ROWS, 2, 4);
    const margin_data data = regression_data(&r);
    double f[ROWS], p[2 * ROWS];
    margin_error error = {0};
    margin_model *model = fit_proven(context, "kernel-logistic", &data, NULL);
    all_scores(model, &data, f);
    if (margin_probabilities(model, &data.x, p, &error) < 0) fail_msg("%s", error.text);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_close(p[2 * i + 1], 1 / (1 + exp(-f[i])), 1e-14);
        assert_close(p[2 * i] + p[2 * i + 1], 1, 1e-14);
    }
    margin_model_free(model);
    sample *s = sample_make(90, 3, 3, 0.1, 5);
    const margin_data three = sample_data(s, DENSE_F32);
    margin_model_free(fit_proven(context, "kernel-logistic(sigma=1)", &three, NULL));
    margin_model_free(fit_proven(context, "kernel-logistic(multiclass=ovo, class_weight=balanced)",
                                 &three, NULL));
    sample_free(s);
    regression_free(&r);
}

static void test_threads(void **state) {
    (void)state;
    regression r = made(300, 3, 6);
    const margin_data data = regression_data(&r);
    for (int k = 0; k < 2; k++) {
        margin_model *first = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            margin_context *own = support_context(NULL, threads);
            margin_model *model =
                fit_text(own, k ? "kernel-logistic(solver=cg)" : "kernel-logistic", &data, NULL);
            if (first)
                assert_same_model(first, model);
            else
                first = model;
            if (model != first) margin_model_free(model);
            margin_context_free(own);
        }
        margin_model_free(first);
    }
    regression_free(&r);
}

/* ---- Gradient descent, step by step ---------------------------------------------------------- */

enum { STEPS = 6, POINTS = 12 };

typedef struct path {
    double a[STEPS][POINTS], loss[STEPS];
    int64_t errors[STEPS];
    int seen;
} path;

static int keep_step(const margin_trace_step *step, void *user) {
    path *p = user;
    assert_int_equal(step->step, p->seen);
    assert_int_equal(step->weight_count, POINTS);
    assert_true(p->seen < STEPS);
    memcpy(p->a[p->seen], step->weights, POINTS * sizeof(double));
    p->loss[p->seen] = step->loss;
    p->errors[p->seen++] = step->errors;
    return 0;
}

static void trace_fit(const char *text, const margin_data *data, path *p) {
    margin_spec *spec = parse_text(context, text);
    margin_fit_options options = {.size = sizeof options, .trace = keep_step, .user = p};
    margin_model *model = NULL;
    margin_error error = {0};
    p->seen = 0;
    if (margin_fit_with(context, spec, data, &options, &model, NULL, &error) < 0)
        fail_msg("%s", error.text);
    margin_model_free(model);
    margin_spec_free(spec);
    assert_int_equal(p->seen, STEPS);
}

/* Loss and slope of one row. */
typedef struct cost {
    long double loss, slope;
} cost;

static cost squared(long double f, double y) {
    return (cost){(f - y) * (f - y), 2 * (f - y)};
}
static cost logistic(long double f, double y) {
    const int sign = y > 0 ? 1 : -1;
    return (cost){logl(1 + expl(-sign * f)), -sign / (1 + expl(sign * f))};
}
static cost hinge(long double f, double y) {
    const int sign = y > 0 ? 1 : -1;
    return sign * f < 1 ? (cost){1 - sign * f, -sign} : (cost){0};
}

/* a - rate (K l' / m + 2 lambda K a), l' the slopes of the loss at K a; of the hinge rates fall */
static void assert_descends(const regression *r, const path *p, cost (*of)(long double, double),
                            double rate, double lambda) {
    const mg_kernel kernel = {.kind = MG_KERNEL_RBF, .gamma = 0.5};
    for (int t = 0; t < STEPS; t++) {
        long double f[POINTS], slope[POINTS], norm = 0, loss = 0;
        for (int i = 0; i < POINTS; i++) {
            f[i] = 0;
            for (int j = 0; j < POINTS; j++)
                f[i] += p->a[t][j] * kernel_of(&kernel, r->x + 2 * i, r->x + 2 * j, 2);
            norm += p->a[t][i] * f[i];
            const cost c = of(f[i], r->y[i]);
            slope[i] = c.slope;
            loss += c.loss / POINTS;
        }
        assert_close(p->loss[t], (double)(loss + lambda * norm), 1e-12);
        const double now = of == hinge ? rate / sqrt(1 + t) : rate;
        for (int i = 0; i < POINTS && t + 1 < STEPS; i++) {
            long double gradient = 0;
            for (int j = 0; j < POINTS; j++)
                gradient += kernel_of(&kernel, r->x + 2 * i, r->x + 2 * j, 2) *
                            (slope[j] / POINTS + 2 * lambda * p->a[t][j]);
            assert_close(p->a[t + 1][i], (double)(p->a[t][i] - now * gradient), 1e-12);
        }
    }
}

static void test_descent(void **state) {
    (void)state;
    regression r = made(POINTS, 2, 7);
    const margin_data data = regression_data(&r);
    path p;
    trace_fit("kernel-ridge(sigma=1, lambda=0.1, solver=gd, rate=0.05, max_iter=5, task=regress)",
              &data, &p);
    assert_descends(&r, &p, squared, 0.05, 0.1);
    trace_fit("kernel-logistic(sigma=1, lambda=0.1, solver=gd, rate=0.5, max_iter=5)", &data, &p);
    assert_descends(&r, &p, logistic, 0.5, 0.1);
    assert_int_equal(p.errors[0], POINTS); /* f = 0 */
    trace_fit("svm(kernel=rbf, sigma=1, lambda=0.1, solver=gd, rate=0.5, max_iter=5)", &data, &p);
    assert_descends(&r, &p, hinge, 0.5, 0.1);
    assert_int_equal(p.errors[0], POINTS);
    regression_free(&r);
}

/* Left to itself it gets there, though slowly, and is proven. */
static void test_descent_converges(void **state) {
    (void)state;
    regression r = made(30, 2, 8);
    const margin_data data = regression_data(&r);
    assert_same_scores("kernel-logistic(C=0.01, solver=gd, tol=1e-8)", &data,
                       "kernel-logistic(C=0.01, tol=1e-13)", &data, 1e-3);
    margin_model_free(fit_proven(
        context, "kernel-ridge(alpha=10, solver=gd, task=regress, tol=1e-3)", &data, NULL));
    margin_report report = {0};
    margin_model_free(
        fit_text(context, "kernel-ridge(solver=gd, rate=1e-9, max_iter=3)", &data, &report));
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    fit_refused(context, "kernel-ridge(solver=gd, rate=1e300, task=regress)", &data,
                MARGIN_ERROR_DATA, "smaller rate");
    regression_free(&r);
}

/* Of a small C the optimum is on no corner and is reached. Else the gap is a true one: what goes on
 * for longer never gets below objective - gap. */
static void test_hinge_descends(void **state) {
    (void)state;
    static const char *const specs[] = {"svm(kernel=poly, solver=gd%s)",
                                        "svm(kernel=rbf, solver=gd, C=10%s)",
                                        "svm(kernel=rbf, solver=gd, multiclass=ovr%s)"};
    sample *s = sample_make(90, 3, 3, 0.2, 5);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report short_one = {0}, long_one = {0}, again = {0};
    margin_model_free(fit_proven(context, "svm(kernel=rbf, solver=gd, C=0.01)", &data, &long_one));
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        char text[2][100];
        snprintf(text[0], sizeof text[0], specs[k], ", max_iter=300");
        snprintf(text[1], sizeof text[1], specs[k], "");
        margin_model *model = fit_text(context, text[0], &data, &short_one);
        assert_int_equal(short_one.status, MARGIN_STOPPED_ITERATIONS);
        assert_int_equal(margin_verify(context, model, &data, &again, NULL), MARGIN_OK);
        margin_model_free(model);
        margin_model_free(fit_text(context, text[1], &data, &long_one));
        assert_true(long_one.objective < short_one.objective);
        assert_true(short_one.objective * (1 - short_one.gap) <= long_one.objective);
        assert_true(long_one.gap < 0.9);
    }
    sample_free(s);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void test_hard(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-logistic(gamma=1e-12)",
                                        "kernel-logistic(gamma=1e12)", "kernel-logistic(C=1e-8)",
                                        "kernel-logistic(C=1e5)"};
    regression r = made(60, 2, 9);
    const margin_data data = regression_data(&r);
    for (int k = 0; k < 4; k++)
        margin_model_free(fit_proven(context, specs[k], &data, NULL));
    memset(r.x, 0, 60 * 2 * sizeof *r.x); /* all rows equal, both classes */
    margin_model_free(fit_proven(context, "kernel-logistic", &data, NULL));
    fit_refused(context, "kernel-logistic(C=inf)", &data, MARGIN_ERROR_SPEC, "without a penalty");
    fit_refused(context, "kernel-logistic(kernel=sigmoid)", &data, MARGIN_ERROR_SPEC,
                "inner product");
    fit_refused(context, "kernel-logistic(rate=1)", &data, MARGIN_ERROR_SPEC, "solver=gd");
    fit_refused(context, "kernel-ridge(solver=gd, intercept=yes)", &data, MARGIN_ERROR_SPEC,
                "no intercept");
    regression_free(&r);
}

static void test_verified(void **state) {
    (void)state;
    regression r = made(40, 2, 10);
    const margin_data data = regression_data(&r);
    margin_report found = {0};
    margin_error error = {0};
    margin_model *model = fit_proven(context, "kernel-logistic", &data, NULL);
    r.x[5] += 0.05;
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    regression_free(&r);
}

static void test_failing_allocations(void **state) {
    (void)state;
    regression r = made(25, 2, 11);
    static const char *const specs[] = {
        "kernel-logistic", "kernel-logistic(solver=cg)", "kernel-logistic(solver=gd, max_iter=3)",
        "kernel-ridge(solver=gd, max_iter=3)", "svm(kernel=rbf, solver=gd, max_iter=3)"};
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        fit_attempt attempt = {specs[k], regression_data(&r)};
        assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 10);
    }
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),        cmocka_unit_test(test_tiny_loss),
        cmocka_unit_test(test_linear_kernel),  cmocka_unit_test(test_weights_are_copies),
        cmocka_unit_test(test_probabilities),  cmocka_unit_test(test_threads),
        cmocka_unit_test(test_descent),        cmocka_unit_test(test_descent_converges),
        cmocka_unit_test(test_hinge_descends), cmocka_unit_test(test_hard),
        cmocka_unit_test(test_verified),       cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
