/* Explicit features of kernels: their dot products against kernel values in extended precision, and
 * linear models behind them against kernel machines. */
#include "kernel_cases.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 40, MOST = 600 };

/* rows x *count features of the stages of `spec`, which ends in a linear learner. */
static double *features_of(const char *spec, const margin_data *data, int64_t *count) {
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, data, NULL);
    margin_model_features(model, count);
    double *features = malloc((size_t)(data->x.rows * *count) * sizeof *features);
    if (margin_model_transform(context, model, &data->x, features, &error) < 0)
        fail_msg("%s", error.text);
    margin_model_free(model);
    return features;
}

static double dot_of(const double *features, int64_t count, int64_t i, int64_t j) {
    long double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += (long double)features[i * count + k] * features[j * count + k];
    return (double)sum;
}

static void assert_products(const char *spec, const regression *r, const mg_kernel *kernel,
                            double tolerance) {
    const margin_data data = regression_data(r);
    int64_t count;
    double *features = features_of(spec, &data, &count);
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t j = 0; j < r->rows; j++) {
            const double *x = r->x + i * r->columns, *z = r->x + j * r->columns;
            assert_close(dot_of(features, count, i, j), (double)kernel_of(kernel, x, z, r->columns),
                         tolerance);
        }
    free(features);
}

/* ---- poly ------------------------------------------------------------------------------------ */

static void test_power(void **state) {
    (void)state;
    for (int columns = 1; columns <= 4; columns++)
        for (int degree = 1; degree <= 5; degree++) {
            char spec[80];
            regression r = regression_make(12, columns, 0, 1, (uint64_t)(10 * columns + degree));
            for (int64_t i = 0; i < 12; i++) /* a column of 0 and 1 has powers too */
                r.x[i * columns] = (double)(i % 2);
            const mg_kernel kernel = {
                .kind = MG_KERNEL_POLY, .gamma = 1, .coef0 = 1, .degree = degree};
            snprintf(spec, sizeof spec, "poly(degree=%d, scaled=poly) | ridge(intercept=no)",
                     degree);
            assert_products(spec, &r, &kernel, 1e-11);
            regression_free(&r);
        }
}

static void test_series(void **state) {
    (void)state;
    regression r = regression_make(20, 2, 0, 1, 3);
    for (int64_t k = 0; k < 40; k++)
        r.x[k] /= 4;
    const mg_kernel kernel = {.kind = MG_KERNEL_EXP};
    const margin_data data = regression_data(&r);
    int64_t count;
    double *features =
        features_of("poly(degree=3, scaled=exp) | ridge(intercept=no)", &data, &count);
    for (int64_t i = 0; i < 20; i++)
        for (int64_t j = 0; j < 20; j++) {
            const double t = r.x[2 * i] * r.x[2 * j] + r.x[2 * i + 1] * r.x[2 * j + 1];
            assert_close(dot_of(features, count, i, j), 1 + t + t * t / 2 + t * t * t / 6, 1e-13);
        }
    free(features);
    assert_products("poly(degree=14, scaled=exp) | ridge(intercept=no)", &r, &kernel, 1e-9);
    regression_free(&r);
}

/* A prediction takes the weights through the inverse in place of the row: against the features
 * themselves, and with the same bits for one row and many. `data` has 50 rows. */
static void assert_predicts(const char *spec, const margin_data *data) {
    margin_error error = {0};
    double scores[50 * 3], alone[3];
    int64_t count, functions;
    margin_model *model = fit_text(context, spec, data, NULL);
    margin_model_features(model, &count);
    functions = margin_model_score_count(model);
    double *features = malloc((size_t)(50 * count) * sizeof *features);
    assert_int_equal(margin_model_transform(context, model, &data->x, features, &error), 0);
    assert_int_equal(
        margin_predict_parallel(context, model, &data->x, MARGIN_OUTPUT_SCORES, scores, &error),
        MARGIN_OK);
    for (int64_t i = 0; i < 50; i++) {
        margin_matrix row = data->x;
        row.values = (const double *)row.values + i * row.stride;
        row.rows = 1;
        assert_int_equal(margin_scores(model, &row, alone, &error), MARGIN_OK);
        assert_memory_equal(alone, scores + i * functions, (size_t)functions * sizeof *alone);
        for (int64_t f = 0; f < functions; f++) {
            long double sum = margin_model_intercept(model, f), terms = fabsl(sum);
            for (int64_t j = 0; j < count; j++) {
                const long double term =
                    (long double)margin_model_weights(model, f)[j] * features[i * count + j];
                sum += term;
                terms += fabsl(term);
            }
            assert_true(fabsl(sum - alone[f]) <= 1e-10L * terms);
        }
    }
    free(features);
    margin_model_free(model);
}

static void test_predictions(void **state) {
    (void)state;
    static const char *const specs[] = {
        "nystroem(centres=20) | ridge(intercept=no)",
        "nystroem(centres=21, kernel=laplacian) | standardize | least-squares",
        "standardize | minmax | nystroem(centres=20, kernel=poly) | ridge"};
    static const char *const classifiers[] = {
        "nystroem(centres=13) | logistic", "nystroem(centres=20) | softmax",
        "minmax | nystroem(centres=30) | standardize | svm(multiclass=ovo)"};
    for (int columns = 3; columns < 100; columns += 90) {
        regression r = regression_make(50, columns, 0, 1, 6);
        const margin_data values = regression_data(&r);
        for (int k = 0; k < 3; k++)
            assert_predicts(specs[k], &values);
        for (int classes = 2; classes <= 3; classes++) {
            sample *s = sample_make(50, columns, classes, 0.1, 4);
            const margin_data data = sample_data(s, DENSE_F64);
            for (int k = 0; k < 3; k++)
                if (k > 0 || classes == 2) assert_predicts(classifiers[k], &data);
            sample_free(s);
        }
        regression_free(&r);
    }
}

/* Sparse rows have the features of dense ones. */
static void test_sparse(void **state) {
    (void)state;
    sample *s = sample_make(50, 4, 2, 0.1, 4);
    static const char *const specs[] = {
        "poly(degree=3, scaled=poly) | ridge", "nystroem(centres=20) | ridge",
        "nystroem(centres=20, kernel=laplacian) | ridge", "fourier(features=30) | ridge"};
    for (int k = 0; k < 4; k++) {
        const margin_data dense = sample_data(s, DENSE_F64),
                          sparse = sample_data(s, CSR_F64_I32_I64);
        int64_t n, count;
        double *a = features_of(specs[k], &dense, &n), *b = features_of(specs[k], &sparse, &count);
        assert_int_equal(n, count);
        for (int64_t i = 0; i < 50 * n; i++)
            assert_close(a[i], b[i], 1e-13);
        free(a);
        free(b);
    }
    sample_free(s);
}

/* ---- nystroem -------------------------------------------------------------------------------- */

static void test_all_rows_are_exact(void **state) {
    (void)state;
    static const char *const picks[] = {"uniform", "rpcholesky"};
    static const struct {
        const char *options;
        mg_kernel kernel;
    } cases[] = {
        {"kernel=rbf, sigma=0.5", {.kind = MG_KERNEL_RBF, .gamma = 2}},
        {"kernel=laplacian, gamma=1", {.kind = MG_KERNEL_LAPLACIAN, .gamma = 1}},
        {"kernel=poly", {.kind = MG_KERNEL_POLY, .gamma = 1, .coef0 = 1, .degree = 2}},
        {"kernel=linear", {.kind = MG_KERNEL_LINEAR}},
    };
    regression r = regression_make(ROWS, 2, 0, 1, 5);
    for (int k = 0; k < 4; k++)
        for (int p = 0; p < 2; p++) {
            char spec[120];
            snprintf(spec, sizeof spec, "nystroem(centres=%d, pick=%s, %s) | ridge", ROWS, picks[p],
                     cases[k].options);
            assert_products(spec, &r, &cases[k].kernel, 1e-8);
        }
    regression_free(&r);
}

/* Ridge behind it is kernel ridge, with all rows as centres. */
static void test_ridge_behind(void **state) {
    (void)state;
    regression r = regression_make(ROWS, 2, 0, 1, 6);
    kernel_targets(&r, 7);
    const margin_data data = regression_data(&r);
    margin_report direct = {0}, features = {0};
    margin_model_free(fit_proven(context, "kernel-ridge(sigma=1, alpha=0.3)", &data, &direct));
    margin_model_free(fit_proven(context,
                                 "nystroem(centres=40, sigma=1) | ridge(alpha=0.3, intercept=no)",
                                 &data, &features));
    assert_close(direct.objective, features.objective, 1e-8);
    assert_close(direct.train_rmse, features.train_rmse, 1e-7);
    regression_free(&r);
}

/* Fewer centres span fewer functions: the least value is that of kernel ridge or above. */
static void test_inducing_points(void **state) {
    (void)state;
    regression r = regression_make(ROWS, 1, 0, 1, 8);
    kernel_targets(&r, 9);
    const margin_data data = regression_data(&r);
    margin_report all = {0}, some = {0};
    margin_model_free(fit_proven(context, "kernel-ridge(sigma=0.5, alpha=0.3)", &data, &all));
    double last = (double)INFINITY;
    for (int centres = 2; centres <= 16; centres *= 2) {
        char spec[120];
        snprintf(spec, sizeof spec,
                 "nystroem(centres=%d, sigma=0.5) | ridge(alpha=0.3, intercept=no)", centres);
        margin_model_free(fit_proven(context, spec, &data, &some));
        assert_true(some.objective >= all.objective * (1 - 1e-9) && some.objective < last);
        last = some.objective;
    }
    assert_true(last <= 1.001 * all.objective);
    regression_free(&r);
}

/* ---- fourier --------------------------------------------------------------------------------- */

/* The error falls with the root of the number of features. */
static void test_fourier(void **state) {
    (void)state;
    static const struct {
        const char *options;
        mg_kernel kernel;
    } cases[] = {
        {"kernel=rbf, sigma=1", {.kind = MG_KERNEL_RBF, .gamma = 0.5}},
        {"kernel=laplacian, gamma=0.5", {.kind = MG_KERNEL_LAPLACIAN, .gamma = 0.5}},
    };
    regression r = regression_make(15, 2, 0, 1, 10);
    for (int k = 0; k < 2; k++) {
        char spec[100];
        snprintf(spec, sizeof spec,
                 "fourier(features=20000, %s) | least-squares(solver=gd, max_iter=1)",
                 cases[k].options);
        assert_products(spec, &r, &cases[k].kernel, 0.05);
    }
    regression_free(&r);
}

/* ---- The Gram matrix itself ------------------------------------------------------------------ */

static margin_status gram_of(const char *text, const margin_data *data, int64_t capacity,
                             double *values, int64_t *rows, margin_error *error) {
    margin_spec *spec = parse_text(context, text);
    const margin_status status = margin_gram(context, spec, data, capacity, values, rows, error);
    margin_spec_free(spec);
    return status;
}

static void test_gram(void **state) {
    (void)state;
    static const double points[6] = {3, 3, 4, 3, 1, 1}, known[9] = {18, 21, 6, 21, 25, 7, 6, 7, 2};
    static const int64_t selection[2] = {2, 0};
    double values[9];
    int64_t rows = 0;
    margin_error error = {0};
    margin_data data = {.x = margin_dense_f64(points, 3, 2, 2)};
    assert_int_equal(gram_of("perceptron(kernel=linear)", &data, 9, values, &rows, &error), 0);
    assert_int_equal(rows, 3);
    for (int k = 0; k < 9; k++)
        assert_close(values[k], known[k], 0);
    const mg_kernel kernel = {.kind = MG_KERNEL_RBF, .gamma = 0.125};
    data.selection = selection;
    data.selected = 2;
    assert_int_equal(gram_of("kernel-ridge(sigma=2)", &data, 4, values, &rows, &error), 0);
    assert_int_equal(rows, 2);
    assert_close(values[1], (double)kernel_of(&kernel, points, points + 4, 2), 1e-14);
    /* behind minmax the two rows are (0, 0) and (1, 1) */
    assert_int_equal(
        gram_of("minmax | kernel-logistic(kernel=poly)", &data, 4, values, &rows, &error), 0);
    assert_close(values[0], 1, 0);
    assert_close(values[3], 9, 0);
    assert_int_equal(gram_of("kernel-ridge", &data, 3, values, &rows, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(gram_of("ridge", &data, 9, values, &rows, &error), MARGIN_ERROR_SPEC);
    assert_contains(error.text, "no kernel");
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    regression r = regression_make(20, 2, 0, 1, 11);
    const margin_data data = regression_data(&r);
    fit_refused(context, "fourier(features=3) | ridge", &data, MARGIN_ERROR_SPEC, "pairs");
    fit_refused(context, "fourier(kernel=poly) | ridge", &data, MARGIN_ERROR_SPEC, "nystroem");
    fit_refused(context, "nystroem(kernel=sigmoid) | ridge", &data, MARGIN_ERROR_SPEC,
                "inner product");
    fit_refused(context, "nystroem(degree=3) | ridge", &data, MARGIN_ERROR_SPEC, "kernel=poly");
    fit_refused(context, "poly(scaled=poly, bias=no) | ridge", &data, MARGIN_ERROR_SPEC, "scaled");
    static const char *const specs[] = {"fourier | ridge", "fourier(gamma=scale) | ridge",
                                        "nystroem(gamma=scale) | ridge",
                                        "kernel-ridge(gamma=scale)"};
    for (int i = 0; i < 40; i++)
        r.x[i] *= 1e200;
    for (int k = 0; k < 4; k++) /* squares are beyond double precision */
        fit_refused(context, specs[k], &data, MARGIN_ERROR_DATA, "scale the columns first");
    memset(r.x, 0, 20 * 2 * sizeof *r.x);
    fit_refused(context, "nystroem(kernel=linear) | ridge", &data, MARGIN_ERROR_DATA, "is 0");
    margin_model_free(fit_proven(context, "nystroem | ridge", &data, NULL)); /* all rows equal */
    regression_free(&r);
}

static void test_failing_allocations(void **state) {
    (void)state;
    regression r = regression_make(20, 2, 0, 1, 12);
    static const char *const specs[] = {
        "nystroem(centres=5) | ridge", "nystroem(centres=5, pick=kmeans) | ridge",
        "fourier(features=8) | ridge", "poly(degree=3, scaled=exp) | ridge"};
    for (int k = 0; k < 4; k++) {
        fit_attempt attempt = {specs[k], regression_data(&r)};
        assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 10);
    }
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_series),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_all_rows_are_exact),
        cmocka_unit_test(test_ridge_behind),
        cmocka_unit_test(test_inducing_points),
        cmocka_unit_test(test_fourier),
        cmocka_unit_test(test_gram),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
