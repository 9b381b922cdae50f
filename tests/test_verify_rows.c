/* margin_verify on tables whose sums over rows round to one side: equal weights that no binary
 * fraction is, values that repeat, equal terms of 1/rows. */
#include "base/sweep.h"
#include "learn/report.h"
#include "model/object/model_object.h"
#include "model_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5000, MANY_ROWS = SUPPORT_SLOWER > 1 ? ROWS : 100000, COLUMNS = 3, WEIGHINGS = 3 };

/* Two classes; columns of few values, of ones and of many values; the target 0 or 1. */
typedef struct {
    int64_t rows, *starts;
    int32_t *indices;
    double *x, *stored, *y, *weights;
    float *floats;
} tall;

static void fill_row(tall *t, int64_t i, uint64_t *random) {
    double *row = t->x + i * COLUMNS;
    t->y[i] = (double)(i % 2);
    row[0] = i % 5 == 0 ? 0 : 0.1 + 0.2 * t->y[i];
    row[1] = 1;
    row[2] = 1.5 * t->y[i] + support_normal(random);
    t->starts[i + 1] = t->starts[i];
    for (int32_t j = 0; j < COLUMNS; j++) {
        t->floats[i * COLUMNS + j] = (float)row[j];
        if (row[j] == 0) continue;
        t->stored[t->starts[i + 1]] = row[j];
        t->indices[t->starts[i + 1]++] = j;
    }
}

static tall *tall_make(int64_t rows) {
    tall *t = calloc(1, sizeof *t);
    uint64_t random = 11;
    t->rows = rows;
    t->x = calloc((size_t)(2 * rows * COLUMNS), sizeof *t->x);
    t->stored = t->x + rows * COLUMNS;
    t->floats = calloc((size_t)(rows * COLUMNS), sizeof *t->floats);
    t->indices = calloc((size_t)(rows * COLUMNS), sizeof *t->indices);
    t->starts = calloc((size_t)rows + 1, sizeof *t->starts);
    t->y = calloc((size_t)(2 * rows), sizeof *t->y);
    t->weights = t->y + rows;
    for (int64_t i = 0; i < rows; i++)
        fill_row(t, i, &random);
    return t;
}

static void tall_free(tall *t) {
    free(t->x);
    free(t->floats);
    free(t->indices);
    free(t->starts);
    free(t->y);
    free(t);
}

/* weighing 0: none. layout 0: f64, 1: CSR, 2: f32. */
static margin_data tall_data(tall *t, int weighing, int layout, bool numbers) {
    static const double equal[WEIGHINGS] = {1, 0.1, 1.0 / 3};
    margin_data data = {.x = margin_dense_f64(t->x, t->rows, COLUMNS, COLUMNS),
                        .y = margin_values_f64(t->y, t->rows)};
    if (layout == 1) data.x = margin_csr_f64(t->stored, t->indices, t->starts, t->rows, COLUMNS);
    if (layout == 2) data.x = margin_dense_f32(t->floats, t->rows, COLUMNS, COLUMNS);
    for (int64_t i = 0; i < t->rows; i++) {
        t->weights[i] = equal[weighing];
        t->y[i] = (double)(i % 2) + (numbers ? 0.1 : 0);
    }
    if (weighing > 0) data.weights = margin_values_f64(t->weights, t->rows);
    return data;
}

static void assert_verifies(margin_context *context, const char *spec, const margin_data *data) {
    margin_report found = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, data, &(margin_report){0});
    if (margin_verify(context, model, data, &found, &error) != MARGIN_OK)
        fail_msg("%s: %s%s", spec, found.reason, error.text);
    margin_model_free(model);
}

static void assert_all_verify(const char *const *specs, int count, int64_t rows, int layouts,
                              bool numbers) {
    margin_context *context = support_context(NULL, 1);
    tall *t = tall_make(rows);
    for (int k = 0; k < count; k++)
        for (int weighing = 0; weighing < WEIGHINGS; weighing++)
            for (int layout = 0; layout < layouts; layout++) {
                const margin_data data = tall_data(t, weighing, layout, numbers);
                assert_verifies(context, specs[k], &data);
            }
    tall_free(t);
    margin_context_free(context);
}

static const char *const of_classes[] = {"naive-bayes",
                                         "naive-bayes(distribution=bernoulli)",
                                         "kmeans(k=2, restarts=1)",
                                         "perceptron(passes=3)",
                                         "logistic",
                                         "softmax",
                                         "exponential",
                                         "svm",
                                         "standardize | naive-bayes",
                                         "minmax | kmeans(k=2, restarts=1)",
                                         "normalize | logistic(l1_ratio=1)"};
static const char *const of_numbers[] = {"lasso(lambda=0.01)",
                                         "elastic-net(lambda=0.01)",
                                         "lasso(lambda=0.01, solver=gd, max_iter=20)",
                                         "ridge",
                                         "least-squares",
                                         "standardize | lasso(lambda=0.01)",
                                         "minmax | elastic-net(lambda=0.01)"};
static const char *const of_few_rows[] = {
    "svm(kernel=rbf, C=0.1)",           "kernel-logistic(kernel=rbf)",  "kernel-ridge(kernel=rbf)",
    "perceptron(kernel=rbf)",           "knn(radius=0.3, empty=prior)", "knn(k=3)",
    "nystroem(centres=5) | softmax",    "rbf(centres=4) | naive-bayes", "poly | ridge",
    "fourier(features=6) | kmeans(k=2)"};

static void test_equal_rows_verify(void **state) {
    (void)state;
    assert_all_verify(of_classes, MG_LENGTH(of_classes), ROWS, 3, false);
    assert_all_verify(of_numbers, MG_LENGTH(of_numbers), ROWS, 3, true);
    assert_all_verify(of_few_rows, MG_LENGTH(of_few_rows), 400, 2, false);
}

static void test_many_equal_rows_verify(void **state) {
    (void)state;
    if (SUPPORT_SLOWER > 1) skip();
    assert_all_verify(of_classes, MG_LENGTH(of_classes), MANY_ROWS, 2, false);
    assert_all_verify(of_numbers, MG_LENGTH(of_numbers), MANY_ROWS, 2, true);
    assert_all_verify(of_numbers, 2, 2 * MANY_ROWS, 1, false);
}

/* Weights are counts here: words of a tenth each. */
static void test_equal_words_verify(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    tall *t = tall_make(MANY_ROWS);
    for (int64_t i = 0; i < t->rows * COLUMNS; i++)
        t->x[i] = 0.1 * (double)(1 + i % 3);
    for (int weighing = 0; weighing < WEIGHINGS; weighing++) {
        const margin_data data = tall_data(t, weighing, 0, false);
        assert_verifies(context, "naive-bayes(distribution=multinomial)", &data);
    }
    tall_free(t);
    margin_context_free(context);
}

/* What equal terms may do to a sum is all that is allowed to it. */
static void test_no_more_is_allowed(void **state) {
    (void)state;
    static const struct {
        const char *spec, *tensor;
    } cases[] = {{"naive-bayes", "class_counts"}, {"kmeans(k=2, restarts=1)", "sizes"}};
    margin_context *context = support_context(NULL, 1);
    tall *t = tall_make(ROWS);
    const margin_data data = tall_data(t, 1, 0, false);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        margin_report found = {0};
        margin_model *model = fit_text(context, cases[k].spec, &data, &(margin_report){0});
        const mg_tensor *counts = mg_bag_find(&model->hypothesis->bag, cases[k].tensor);
        assert_non_null(counts);
        ((double *)counts->data)[0] *= 1 + 2e-12;
        assert_int_equal(margin_verify(context, model, &data, &found, NULL),
                         MARGIN_STOPPED_STALLED);
        margin_model_free(model);
    }
    tall_free(t);
    margin_context_free(context);
}

static int64_t in_order(int64_t rows, int64_t block_rows) {
    return (int64_t)((mg_rows_rounding(rows, block_rows) - MG_ROUNDING) / (0.5 * DBL_EPSILON));
}

static void test_rows_in_order(void **state) {
    (void)state;
    assert_int_equal(in_order(0, MG_BLOCK_ROWS), 0);
    assert_int_equal(in_order(100, MG_BLOCK_ROWS), 100);
    assert_int_equal(in_order(100000, MG_BLOCK_ROWS), MG_BLOCK_ROWS);
    assert_int_equal(in_order(128 * MG_BLOCK_ROWS, MG_BLOCK_ROWS), MG_BLOCK_ROWS);
    assert_int_equal(in_order(128 * MG_BLOCK_ROWS + 1, MG_BLOCK_ROWS), 2 * MG_BLOCK_ROWS);
    assert_int_equal(in_order(1000000, 64), 128 * 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_in_order),          cmocka_unit_test(test_equal_rows_verify),
        cmocka_unit_test(test_many_equal_rows_verify), cmocka_unit_test(test_equal_words_verify),
        cmocka_unit_test(test_no_more_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
