/* Bounds without a penalty, where columns depend on each other, nearly do, or do only where the
 * loss has curvature; and models of rows whose weights are far apart; many sparse columns. */
#include "least_squares_cases.h"
#include "stage_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 60, COLUMNS = 3 };

static margin_data data_of(const double *x, const double *y, int64_t rows, int64_t columns) {
    return (margin_data){.x = margin_dense_f64(x, rows, columns, columns),
                         .y = margin_values_f64(y, rows)};
}

static margin_report verified_fit(const char *spec, const margin_data *data) {
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, data, &report);
    const margin_status status = margin_verify(context, model, data, &found, &error);
    if (status != MARGIN_OK) fail_msg("%s: %s", spec, status < 0 ? error.text : found.reason);
    margin_model_free(model);
    return report;
}

/* The target is what tells the first two columns apart, and more of the third one: a few steps of
 * descent leave both, and only the third is seen in the matrix. */
static void test_nearly_dependent(void **state) {
    (void)state;
    static const char *const solvers[3] = {"gd", "sgd", "minibatch"};
    for (int k = 0; k < 3; k++)
        for (double near = 1e-9; near < 1e-4; near *= 10) {
            double x[ROWS * COLUMNS], y[ROWS];
            uint64_t seed = 5;
            char spec[100];
            for (int64_t i = 0; i < ROWS; i++) {
                const double apart = support_normal(&seed);
                x[i * COLUMNS] = support_normal(&seed);
                x[i * COLUMNS + 1] = x[i * COLUMNS] + near * apart;
                x[i * COLUMNS + 2] = support_normal(&seed);
                y[i] = 5 * apart + 100 * x[i * COLUMNS + 2];
            }
            const margin_data data = data_of(x, y, ROWS, COLUMNS);
            snprintf(spec, sizeof spec, "least-squares(solver=%s, max_iter=2)", solvers[k]);
            const margin_report report = verified_fit(spec, &data);
            const margin_report best = verified_fit("least-squares(solver=qr)", &data);
            const double least = report.objective - report.gap * fmax(1, report.objective);
            if (best.objective < least * (1 - 1e-9))
                fail_msg("%s, %g: %.15g below %.15g", spec, near, best.objective, least);
        }
}

/* Two classes that touch in one point: the loss of the others falls for ever. */
static void test_touching(void **state) {
    (void)state;
    static const char *const specs[4] = {"logistic(C=inf)", "softmax(alpha=0)",
                                         "exponential(C=inf)", "logistic(lambda=0, tol=1e-10)"};
    static const double x[] = {-3, -2, -1, 0, 0, 1, 2, 3}, y[] = {0, 0, 0, 0, 1, 1, 1, 1};
    const margin_data data = data_of(x, y, 8, 1);
    for (int k = 0; k < 4; k++) {
        const margin_report report = verified_fit(specs[k], &data);
        assert_true(report.status != MARGIN_OK);
        assert_true(report.gap >= report.objective / fmax(1, report.objective) * (1 - 1e-9));
    }
}

/* A column that is the sum of two others, beside classes that overlap. */
static void test_dependent(void **state) {
    (void)state;
    static const char *const specs[4] = {"logistic(C=inf)", "softmax(C=inf)", "exponential(C=inf)",
                                         "least-squares(solver=gd, tol=1e-4)"};
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t seed = 8;
    for (int64_t i = 0; i < ROWS; i++) {
        x[i * COLUMNS] = rint(8 * support_normal(&seed)) / 8; /* so that the sum is exact */
        x[i * COLUMNS + 1] = floor(3 * support_uniform(&seed));
        x[i * COLUMNS + 2] = x[i * COLUMNS] + x[i * COLUMNS + 1];
        y[i] = x[i * COLUMNS] + 2 * support_normal(&seed) > 0;
    }
    const margin_data data = data_of(x, y, ROWS, COLUMNS);
    for (int k = 0; k < 4; k++)
        if (verified_fit(specs[k], &data).status != MARGIN_OK) fail_msg("%s", specs[k]);
}

static void test_weights_far_apart(void **state) {
    (void)state;
    enum { FEW = 20, MANY = 8 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        double x[FEW * MANY], y[FEW], weights[FEW];
        uint64_t random = seed;
        for (int64_t i = 0; i < FEW; i++) {
            for (int64_t j = 0; j < MANY; j++)
                x[i * MANY + j] = support_normal(&random) * (j == 1 ? 1e4 : 1);
            y[i] = floor(2 * support_uniform(&random));
            weights[i] = support_uniform(&random) < 0.5 ? 1 : 1e9;
        }
        margin_data data = data_of(x, y, FEW, MANY);
        data.weights = margin_values_f64(weights, FEW);
        verified_fit(seed % 2 ? "softmax" : "softmax(alpha=0.1)", &data);
    }
}

/* Some values in every row, others 0; signs that a hidden function tells in part. */
static void fill_sparse(double *x, double *y, int64_t rows, int64_t columns, int64_t stored) {
    uint64_t seed = 12;
    memset(x, 0, (size_t)(rows * columns) * sizeof *x);
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t k = 0; k < stored; k++) {
            const int64_t j = (int64_t)(support_random(&seed) % (uint64_t)columns);
            x[i * columns + j] = support_normal(&seed);
            sum += x[i * columns + j] * (double)(j % 3 - 1);
        }
        y[i] = sum + 3 * support_normal(&seed) > 0;
    }
}

/* Of many sparse columns products tell the bound, and no matrix is made; where they find none the
 * matrix does. */
static void test_by_products(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    enum { MANY = 6000, WIDE = 900 };
    static const struct {
        const char *learner, *options;
        int stored;       /* values of a row */
        bool by_products; /* else two columns are equal */
    } cases[] = {
        {"logistic", "", 8, true},
        {"logistic", "", 5, true},
        {"logistic", ", intercept=no", 8, true},
        {"svm", ", loss=squared-hinge", 8, true},
        {"svm", ", loss=squared-hinge, intercept=no", 8, true},
        {"exponential", "", 8, true},
        {"logistic", "", 8, false},
    };
    double *x = malloc((size_t)MANY * WIDE * sizeof *x), *y = malloc(MANY * sizeof *y);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        char spec[100], near[100];
        margin_report report = {0}, best = {0};
        fill_sparse(x, y, MANY, WIDE, cases[k].stored);
        for (int64_t i = 0; i < MANY && !cases[k].by_products; i++)
            x[i * WIDE + 1] = x[i * WIDE];
        stage_csr csr = stage_to_csr(x, MANY, WIDE);
        const margin_data data = {.x = csr.view, .y = margin_values_f64(y, MANY)};
        snprintf(spec, sizeof spec, "%s(C=inf%s)", cases[k].learner, cases[k].options);
        snprintf(near, sizeof near, "%s(C=inf%s, tol=1e-11)", cases[k].learner, cases[k].options);
        margin_model_free(fit_text(context, spec, &data, &report));
        margin_model_free(fit_text(context, near, &data, &best));
        const double distance = report.objective - best.objective;
        const bool drawn = strstr(report.reason, "one random draw in 5e12");
        if (report.status != MARGIN_OK || drawn != cases[k].by_products)
            fail_msg("%s: %s", spec, report.reason);
        if (distance < 0 || distance > report.gap * fmax(1, report.objective))
            fail_msg("%s: gap %g, distance %g", spec, report.gap, distance);
        if (!(best.gap < 1e-9)) fail_msg("%s: %s", near, best.reason);
        stage_csr_free(&csr);
    }
    free(x);
    free(y);
}

/* Leverages of sparse rows are sums of solved columns, which count where steps end early. */
static void test_leverages_of_categories(void **state) {
    enum { MANY = 3000, FIRST = 30, SECOND = 20, ALL = FIRST + SECOND + 1 };
    static const char *const specs[] = {
        "logistic(C=inf, tol=1e-12, max_iter=2)",
        "logistic(C=inf, tol=1e-12, max_iter=2, intercept=no)",
        "standardize | logistic(C=inf, tol=1e-12, max_iter=2)",
        "exponential(C=inf, tol=1e-12, max_iter=2)",
        "minmax | exponential(C=inf, tol=1e-12, max_iter=2, intercept=no)"};
    double *x = calloc((size_t)MANY * ALL, sizeof *x), *y = malloc(MANY * sizeof *y);
    uint64_t seed = 31;
    (void)state;
    for (int64_t i = 0; i < MANY; i++) {
        const double share = support_uniform(&seed);
        const int first = (int)(share * share * FIRST), second = (int)(i % SECOND);
        x[i * ALL + first] = x[i * ALL + FIRST + second] = 1;
        x[i * ALL + ALL - 1] = i % 3 ? 0 : 5 + support_normal(&seed);
        y[i] = first % 5 + second % 3 - 3 + 3 * support_normal(&seed) > 0;
    }
    stage_csr csr = stage_to_csr(x, MANY, ALL);
    const margin_data data = {.x = csr.view, .y = margin_values_f64(y, MANY)};
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_report report = {0}, found = {0};
        margin_model *model = fit_text(context, specs[k], &data, &report);
        assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
        if (!(report.gap < 1e-3 && found.gap > 0.7 * report.gap))
            fail_msg("%s: %g, verified %g", specs[k], report.gap, found.gap);
        margin_model_free(model);
    }
    stage_csr_free(&csr);
    free(x);
    free(y);
}

/* What products of sparse columns lose where a column lies far from 0 is not told as curvature. */
static void test_far_sparse_column(void **state) {
    enum { MANY = 2000, CODES = 20, ALL = CODES + 1 };
    double *x = calloc((size_t)MANY * ALL, sizeof *x), *y = malloc(MANY * sizeof *y);
    uint64_t seed = 77;
    (void)state;
    for (int64_t i = 0; i < MANY; i++) {
        const int code = (int)(support_random(&seed) % CODES);
        const double number = support_normal(&seed);
        x[i * ALL + code] = 1;
        x[i * ALL + CODES] = 1e6 + 3e-4 * number;
        y[i] = number + code % 3 - 1 + 2 * support_normal(&seed) > 0;
    }
    stage_csr csr = stage_to_csr(x, MANY, ALL);
    const margin_data dense = data_of(x, y, MANY, ALL);
    const margin_data data = {.x = csr.view, .y = dense.y};
    const margin_report best = verified_fit("logistic(C=inf, tol=1e-9)", &dense);
    assert_int_equal(best.status, MARGIN_OK);
    for (int steps = 3; steps < 12; steps++) {
        char spec[100];
        snprintf(spec, sizeof spec, "logistic(C=inf, tol=1e-9, max_iter=%d)", steps);
        const margin_report report = verified_fit(spec, &data);
        const double distance = report.objective - best.objective;
        if (!(distance <= (report.gap + 1e-9) * report.objective))
            fail_msg("%s: gap %g, distance %g", spec, report.gap, distance);
    }
    stage_csr_free(&csr);
    free(x);
    free(y);
}

/* Squares need no leverage: what is proven does not depend on the unit of the target. */
static void test_unit_of_the_target(void **state) {
    enum { MANY = 6000, WIDE = 900, STORED = 8 };
    double *x = malloc((size_t)MANY * WIDE * sizeof *x), *y = malloc(MANY * sizeof *y);
    double gap[2];
    (void)state;
    fill_sparse(x, y, MANY, WIDE, STORED);
    stage_csr csr = stage_to_csr(x, MANY, WIDE);
    const margin_data data = {.x = csr.view, .y = margin_values_f64(y, MANY)};
    for (int k = 0; k < 2; k++) {
        margin_report report = {0};
        for (int64_t i = 0; i < MANY; i++)
            y[i] *= k ? 1024 : 1;
        margin_model_free(
            fit_text(context, "least-squares(solver=gd, max_iter=300)", &data, &report));
        gap[k] = report.gap * fmax(1, report.objective) / report.objective;
        assert_true(gap[k] < 0.01);
    }
    assert_true(fabs(gap[1] - gap[0]) <= 1e-6 * gap[0]);
    stage_csr_free(&csr);
    free(x);
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearly_dependent),
        cmocka_unit_test(test_touching),
        cmocka_unit_test(test_dependent),
        cmocka_unit_test(test_weights_far_apart),
        cmocka_unit_test(test_by_products),
        cmocka_unit_test(test_unit_of_the_target),
        cmocka_unit_test(test_leverages_of_categories),
        cmocka_unit_test(test_far_sparse_column),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
