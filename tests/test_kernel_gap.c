/* The duality gap of the whole kernel that a verification of `nystroem | svm` finds: against plain
 * loops over the raw data, and against the exact machine. */
#include "kernel_cases.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 60, COLUMNS = 3 };

static const mg_kernel wave = {.kind = MG_KERNEL_RBF, .gamma = 0.5};

/* NaN: the verification tells none. The proof has to hold. */
static double gap_of(margin_context *from, const margin_model *model, const margin_data *data,
                     double *objective) {
    margin_report found = {0};
    margin_error error = {0};
    if (margin_verify(from, model, data, &found, &error) != MARGIN_OK)
        fail_msg("%s%s", error.text, found.reason);
    const double gap = margin_report_item_value(&found, "kernel_gap");
    assert_true(isnan(gap) == !strstr(found.reason, "functions of the kernel"));
    *objective = found.objective;
    return gap;
}

/* Of all functions: sum alpha - b'Kb / (2 rho), by the rows as `x` has them. */
static double dual_of(const margin_model *model, const double *x, const mg_kernel *kernel,
                      double rho) {
    long double dual = 0;
    const int64_t functions = margin_model_score_count(model);
    for (int64_t f = 0; f < functions; f++) {
        const int64_t *rows;
        const double *alpha, *sign;
        const int64_t count = margin_model_dual(model, f, &rows, &alpha, &sign, NULL);
        for (int64_t i = 0; i < count; i++) {
            dual += alpha[i];
            for (int64_t j = 0; j < count; j++)
                dual -= alpha[i] * sign[i] * alpha[j] * sign[j] / (2 * (long double)rho) *
                        kernel_of(kernel, x + rows[i] * COLUMNS, x + rows[j] * COLUMNS, COLUMNS);
        }
    }
    return (double)dual;
}

static double check_gap(const char *spec, const margin_data *data, const double *x,
                        const mg_kernel *kernel, double rho) {
    margin_report report = {0};
    double objective;
    margin_model *model = fit_text(context, spec, data, &report);
    const double gap = gap_of(context, model, data, &objective);
    const double dual = dual_of(model, x, kernel, rho);
    assert_close(gap, (objective - dual) / fmax(1, objective), 1e-9);
    assert_true(gap >= report.gap - 1e-9); /* the whole kernel has more functions, */
    margin_model_free(model);
    return gap;
}

static void test_against_plain_loops(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.1, 1);
    double weights[ROWS];
    int64_t chosen[ROWS];
    margin_data data = sample_data(s, DENSE_F64);
    static const struct {
        const char *spec;
        mg_kernel kernel;
        double rho;
    } cases[] = {
        {"nystroem(centres=9, sigma=1) | svm(C=3)", {.kind = MG_KERNEL_RBF, .gamma = 0.5}, 1},
        {"nystroem(centres=9, sigma=1) | svm(alpha=0.3)",
         {.kind = MG_KERNEL_RBF, .gamma = 0.5},
         0.6},
        {"nystroem(centres=9, sigma=1, pick=kmeans) | svm(lambda=0.01, intercept=no)",
         {.kind = MG_KERNEL_RBF, .gamma = 0.5},
         0.02},
        {"nystroem(centres=4, kernel=poly) | svm(solver=dual_cd)",
         {.kind = MG_KERNEL_POLY, .gamma = 1, .coef0 = 1, .degree = 2},
         1},
        {"nystroem(centres=9, kernel=laplacian, gamma=1) | svm(class_weight=balanced)",
         {.kind = MG_KERNEL_LAPLACIAN, .gamma = 1},
         1},
    };
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        const double gap = check_gap(cases[k].spec, &data, s->f64, &cases[k].kernel, cases[k].rho);
        assert_true(gap > 0.001); /* so few centres leave much */
        const margin_data sparse = sample_data(s, CSR_F64_I32_I64);
        check_gap(cases[k].spec, &sparse, s->f64, &cases[k].kernel, cases[k].rho);
    }
    for (int i = 0; i < ROWS; i++) { /* rows are named as the data count them */
        weights[i] = i % 3;
        chosen[i] = ROWS - 1 - i;
    }
    data.weights = margin_values_f64(weights, ROWS);
    data.selection = chosen;
    data.selected = ROWS - 20;
    check_gap(cases[0].spec, &data, s->f64, &cases[0].kernel, 1);
    sample_free(s);
}

/* Stages before it, and several classes, whose problems add up. */
static void test_stages_and_classes(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 2);
    const margin_data data = sample_data(s, DENSE_F64);
    double *halved = malloc(ROWS * COLUMNS * sizeof *halved);
    check_gap("nystroem(centres=9, sigma=1) | svm", &data, s->f64, &wave, 1);
    check_gap("nystroem(centres=9, sigma=1) | svm(multiclass=ovo)", &data, s->f64, &wave, 1);
    for (int k = 0; k < COLUMNS; k++) { /* minmax, by hand */
        double least = s->f64[k], most = s->f64[k];
        for (int i = 0; i < ROWS; i++) {
            least = fmin(least, s->f64[i * COLUMNS + k]);
            most = fmax(most, s->f64[i * COLUMNS + k]);
        }
        for (int i = 0; i < ROWS; i++)
            halved[i * COLUMNS + k] = (s->f64[i * COLUMNS + k] - least) / (most - least);
    }
    check_gap("minmax | nystroem(centres=9, sigma=1) | svm", &data, halved, &wave, 1);
    free(halved);
    sample_free(s);
}

/* Its bounds hold the exact optimum, and with all rows as centres they meet. */
static void test_against_exact(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.2, 3);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report exact = {0};
    double last = 0, objective;
    margin_model_free(fit_text(context, "svm(kernel=rbf, sigma=1, C=2, tol=1e-9)", &data, &exact));
    for (int centres = 5; centres <= 80; centres *= 2) {
        char spec[100];
        snprintf(spec, sizeof spec, "nystroem(centres=%d, sigma=1) | svm(C=2, tol=1e-8)", centres);
        margin_model *model = fit_text(context, spec, &data, NULL);
        const double gap = gap_of(context, model, &data, &objective);
        assert_true(objective >= exact.objective * (1 - 1e-8));
        assert_true(objective - gap * fmax(1, objective) <= exact.objective * (1 + 1e-8));
        last = gap;
        margin_model_free(model);
    }
    assert_true(last < 1e-7);
    sample_free(s);
}

static void test_same_for_any_threads(void **state) {
    (void)state;
    sample *s = sample_make(2000, COLUMNS, 2, 0.2, 4);
    const margin_data data = sample_data(s, DENSE_F32);
    double gaps[2], objective;
    margin_model *model = fit_text(context, "nystroem(centres=20, sigma=1) | svm", &data, NULL);
    for (int k = 0; k < 2; k++) {
        margin_context *own = support_context(NULL, k ? 4 : 1);
        gaps[k] = gap_of(own, model, &data, &objective);
        margin_context_free(own);
    }
    assert_true(gaps[0] == gaps[1]);
    margin_model_free(model);
    sample_free(s);
}

/* Other models have none, and neither has a proof that does not hold. */
static void test_others(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.1, 5);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report found = {0};
    double objective;
    static const char *const specs[] = {"svm",
                                        "svm(kernel=rbf)",
                                        "nystroem(centres=9) | logistic",
                                        "nystroem(centres=9) | svm(loss=squared-hinge)",
                                        "nystroem(centres=9) | standardize | svm",
                                        "fourier(features=8) | svm"};
    for (int k = 0; k < (int)(sizeof specs / sizeof *specs); k++) {
        margin_model *model = fit_text(context, specs[k], &data, NULL);
        assert_true(isnan(gap_of(context, model, &data, &objective)));
        margin_model_free(model);
    }
    margin_model *model = fit_text(context, "nystroem(centres=9) | svm", &data, NULL);
    s->f64[0] += 1;
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_STOPPED_STALLED);
    assert_true(isnan(margin_report_item_value(&found, "kernel_gap")));
    margin_model_free(model);
    sample_free(s);
}

/* Two rows, a row of each class many times, all rows equal. */
static void test_small(void **state) {
    (void)state;
    enum { MANY = 40 };
    double x[MANY] = {0}, y[MANY], objective;
    margin_data data = {.x = margin_dense_f64(x, 2, 1, 1), .y = margin_values_f64(y, 2)};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < MANY; i++) {
            y[i] = i % 2;
            x[i] = k == 2 ? 1 : y[i];
        }
        if (k) data.x.rows = data.y.count = MANY;
        margin_model *model = fit_text(context, "nystroem(centres=5, sigma=1) | svm", &data, NULL);
        assert_true(gap_of(context, model, &data, &objective) < 1e-4); /* centres span all */
        margin_model_free(model);
    }
}

static void test_failing_allocations(void **state) {
    (void)state;
    sample *s = sample_make(20, COLUMNS, 2, 0.1, 6);
    fit_attempt attempt = {"nystroem(centres=5) | svm", sample_data(s, DENSE_F64)};
    assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 10);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_plain_loops),  cmocka_unit_test(test_stages_and_classes),
        cmocka_unit_test(test_against_exact),        cmocka_unit_test(test_others),
        cmocka_unit_test(test_same_for_any_threads), cmocka_unit_test(test_small),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
