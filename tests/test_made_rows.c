/* A stage that streams into a linear learner: the same model as from the stored features, to the
 * bit, without the memory for them; its proof; selections, weights; what is not finite. */
#include "stage_support.h"

#include "margin/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 91 columns and 17 MB of features in f64: more than is kept. */
enum { COLUMNS = 12, MADE = 91, ROWS = 23500, KEPT = 16 << 20 };

typedef struct table {
    double *x, *target, *weights;
    int32_t *label;
    float *narrow;
} table;

static table make_table(int64_t rows) {
    uint64_t random = 3;
    table t = {malloc(sizeof(double) * (size_t)(rows * COLUMNS)),
               malloc(sizeof(double) * (size_t)rows), malloc(sizeof(double) * (size_t)rows),
               malloc(sizeof(int32_t) * (size_t)rows), NULL};
    for (int64_t i = 0; i < rows; i++) {
        double *row = t.x + i * COLUMNS;
        for (int j = 0; j < COLUMNS; j++)
            row[j] = 2 * support_uniform(&random) - 1;
        row[3] = row[3] > 0;
        t.target[i] = row[0] * row[1] - row[2] * row[2] + row[3] + 0.1 * support_normal(&random);
        t.label[i] = t.target[i] + 0.5 * support_normal(&random) > 0;
        t.weights[i] = (double)(i % 3);
    }
    t.narrow = stage_to_floats(t.x, rows * COLUMNS);
    return t;
}

static void free_table(table *t) {
    free(t->x);
    free(t->target);
    free(t->weights);
    free(t->label);
    free(t->narrow);
}

static margin_data data_of(const table *t, int64_t rows, bool single, bool classes) {
    margin_data data = {.x = single ? margin_dense_f32(t->narrow, rows, COLUMNS, COLUMNS)
                                    : margin_dense_f64(t->x, rows, COLUMNS, COLUMNS)};
    data.y = classes ? margin_labels_i32(t->label, rows) : margin_values_f64(t->target, rows);
    return data;
}

static margin_model *fit(margin_context *context, const char *text, const margin_data *data,
                         margin_report *report) {
    margin_error error = {0};
    margin_spec *spec;
    margin_model *model;
    assert_int_equal(margin_spec_parse(context, text, &spec, &error), MARGIN_OK);
    const margin_status status = margin_fit(context, spec, data, &model, report, &error);
    if (status != MARGIN_OK) print_error("%s: %s %s\n", text, error.text, report->reason);
    assert_int_equal(status, MARGIN_OK);
    margin_spec_free(spec);
    return model;
}

/* Fits on the made rows and on stored ones; `learner` may begin with stages. */
static void check_same_of(const char *maker, const char *learner, const table *t, int64_t rows,
                          bool single, bool classes, bool weighted) {
    char text[100];
    margin_data data = data_of(t, rows, single, classes), stored = data;
    margin_error error = {0};
    margin_report made_report = {0}, stored_report = {0}, found = {0};
    if (weighted) data.weights = stored.weights = margin_values_f64(t->weights, rows);
    for (int threads = 1; threads <= 3; threads += 2) {
        margin_context *context = support_context(NULL, threads);
        mg_fitted_stage stage = stage_fitted(context, maker, &data);
        mg_matrix_buffer features = stage_applied(context, &stage, &data.x);
        const int64_t columns = features.view.columns;
        assert_true(columns * rows * (single ? 4 : 8) > KEPT);
        stored.x = features.view;
        snprintf(text, sizeof text, "%s | %s", maker, learner);
        margin_model *made = fit(context, text, &data, &made_report);
        margin_model *expected = fit(context, learner, &stored, &stored_report);
        assert_memory_equal(margin_model_weights(made, 0), margin_model_weights(expected, 0),
                            (size_t)columns * sizeof(double));
        assert_true(margin_model_intercept(made, 0) == margin_model_intercept(expected, 0));
        assert_true(made_report.objective == stored_report.objective);
        assert_true(made_report.gap == stored_report.gap);
        if (threads == 1) {
            assert_int_equal(margin_verify(context, made, &data, &found, &error), MARGIN_OK);
            assert_close(found.objective, made_report.objective, 1e-10);
        }
        margin_model_free(made);
        margin_model_free(expected);
        mg_matrix_buffer_free(&features);
        mg_fitted_stage_clear(&stage);
        margin_context_free(context);
    }
}

static void check_same(const char *learner, const table *t, int64_t rows, bool single, bool classes,
                       bool weighted) {
    check_same_of("poly", learner, t, rows, single, classes, weighted);
}

/* Affine stages between: their statistics come from rows that are made, too. */
static void test_same_bits_behind_scaling(void **state) {
    (void)state;
    table t = make_table(2 * ROWS);
    check_same("standardize | ridge", &t, ROWS, false, false, false);
    if (SUPPORT_SLOWER < 10)
        check_same("minmax(low=-1) | standardize(target=yes) | ridge", &t, 2 * ROWS, true, false,
                   true);
    check_same("standardize(center=no, columns=2) | logistic", &t, ROWS, false, true, false);
    free_table(&t);
}

static void test_same_bits(void **state) {
    (void)state;
    table t = make_table(2 * ROWS);
    check_same("ridge", &t, ROWS, false, false, false);
    if (SUPPORT_SLOWER < 10) check_same("ridge(alpha=0.1)", &t, 2 * ROWS, true, false, true);
    if (SUPPORT_SLOWER > 1) {
        free_table(&t);
        return;
    }
    check_same("least-squares", &t, ROWS, false, false, true);
    check_same("logistic", &t, ROWS, false, true, false);
    check_same("logistic(C=0.1, solver=newton)", &t, ROWS, false, true, true);
    check_same("logistic(intercept=no)", &t, 2 * ROWS, true, true, false);
    check_same("exponential(C=0.01)", &t, ROWS, false, true, false);
    check_same("svm(loss=squared-hinge)", &t, ROWS, false, true, false);
    free_table(&t);
}

/* Rows of a selection are made from where they lie. */
static void test_selection(void **state) {
    (void)state;
    table t = make_table(ROWS + 100);
    double *copy = malloc(sizeof(double) * ROWS * COLUMNS), *target = malloc(sizeof(double) * ROWS);
    int64_t *rows = malloc(sizeof *rows * ROWS);
    for (int64_t i = 0; i < ROWS; i++) {
        rows[i] = ROWS + 99 - i;
        memcpy(copy + i * COLUMNS, t.x + rows[i] * COLUMNS, COLUMNS * sizeof *copy);
        target[i] = t.target[rows[i]];
    }
    margin_data chosen = data_of(&t, ROWS + 100, false, false);
    chosen.selection = rows;
    chosen.selected = ROWS;
    t.x[5] = (double)NAN; /* row 0 takes no part */
    const margin_data alone = {.x = margin_dense_f64(copy, ROWS, COLUMNS, COLUMNS),
                               .y = margin_values_f64(target, ROWS)};
    margin_context *context = support_context(NULL, 2);
    margin_report report = {0};
    margin_model *a = fit(context, "poly | ridge", &chosen, &report);
    margin_model *b = fit(context, "poly | ridge", &alone, &report);
    assert_memory_equal(margin_model_weights(a, 0), margin_model_weights(b, 0),
                        (size_t)(MADE - 1) * sizeof(double));
    margin_model_free(a);
    margin_model_free(b);
    margin_context_free(context);
    free(copy);
    free(target);
    free(rows);
    free_table(&t);
}

/* 6,188 products of 400 rows, 20 MB: solved by products of rows, which poly finds from what they
 * are made of, unless the means (`offset`) outweigh the rest. Against the stored features. */
static void check_wide(const char *maker, const char *learner, bool weighted, double offset) {
    enum { WIDE_ROWS = 400 };
    char text[100];
    table t = make_table(WIDE_ROWS);
    margin_error error = {0};
    margin_report report = {0}, stored_report = {0}, found = {0};
    for (int64_t i = 0; i < WIDE_ROWS * COLUMNS; i++)
        t.x[i] += i % COLUMNS == 1 ? offset : 0;
    margin_context *context = support_context(NULL, 2);
    margin_data data = data_of(&t, WIDE_ROWS, false, false), stored = data;
    if (weighted) data.weights = stored.weights = margin_values_f64(t.weights, WIDE_ROWS);
    mg_fitted_stage stage = stage_fitted(context, maker, &data);
    mg_matrix_buffer features = stage_applied(context, &stage, &data.x);
    assert_true(features.view.columns * WIDE_ROWS * 8 > KEPT);
    stored.x = features.view;
    snprintf(text, sizeof text, "%s | %s", maker, learner);
    margin_model *made = fit(context, text, &data, &report);
    margin_model *expected = fit(context, learner, &stored, &stored_report);
    assert_true(report.gap <= report.tolerance);
    assert_close(report.objective, stored_report.objective, 1e-9);
    if (weighted) assert_int_equal(margin_verify(context, made, &data, &found, &error), MARGIN_OK);
    for (int64_t j = 0; j < features.view.columns; j++)
        assert_close(margin_model_weights(made, 0)[j], margin_model_weights(expected, 0)[j], 1e-7);
    margin_model_free(made);
    margin_model_free(expected);
    mg_matrix_buffer_free(&features);
    mg_fitted_stage_clear(&stage);
    margin_context_free(context);
    free_table(&t);
}

static void test_more_columns_than_rows(void **state) {
    (void)state;
    check_wide("poly(degree=5)", "ridge", true, 0);
    check_wide("poly(degree=5, bias=no)", "ridge(alpha=0.01, intercept=no)", false, 0);
    check_wide("poly(degree=5)", "ridge(alpha=100)", false, 30);
}

static margin_status fit_body(margin_context *context, void *user, margin_error *error) {
    margin_spec *spec;
    margin_model *model;
    margin_report report = {0};
    margin_status status = margin_spec_parse(context, "poly | ridge", &spec, error);
    if (status < 0) return status;
    status = margin_fit(context, spec, user, &model, &report, error);
    margin_spec_free(spec);
    if (status >= 0) margin_model_free(model);
    return status;
}

static margin_status scaled_body(margin_context *context, void *user, margin_error *error) {
    margin_spec *spec;
    margin_model *model;
    margin_status status =
        margin_spec_parse(context, "poly | minmax | standardize | ridge", &spec, error);
    if (status < 0) return status;
    status = margin_fit(context, spec, user, &model, NULL, error);
    margin_spec_free(spec);
    if (status >= 0) margin_model_free(model);
    return status;
}

/* The features alone would be 17 MB. */
static void test_memory(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    table t = make_table(ROWS);
    margin_data data = data_of(&t, ROWS, false, false);
    support_heap heap;
    margin_error error;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 2);
    assert_int_equal(fit_body(context, &data, &error), MARGIN_OK);
    assert_true(atomic_load(&heap.peak_bytes) < 4 << 20);
    assert_int_equal(scaled_body(context, &data, &error), MARGIN_OK);
    assert_true(atomic_load(&heap.peak_bytes) < 4 << 20);
    margin_context_free(context);
    support_assert_nothing_live(&heap);
    assert_true(support_fail_each_allocation(2, scaled_body, &data) > 30);
    free_table(&t);
}

/* Features of kernels are kept while there is room for them; several rows are made at once. */
static void check_kernel_rows(const char *text, const table *t, bool single, bool classes) {
    const margin_data data = data_of(t, ROWS, single, classes);
    const margin_context_options small = {
        .size = sizeof small, .threads = 3, .memory_limit = single ? 5 << 20 : 8 << 20};
    double *alone = malloc(sizeof(double) * ROWS), *together = malloc(sizeof(double) * ROWS);
    margin_report report[2] = {{0}}, found = {0};
    margin_context *context[2] = {support_context(NULL, 1)};
    margin_error error = {0};
    margin_model *model[2];
    assert_int_equal(margin_context_create(&small, &context[1], NULL), MARGIN_OK);
    for (int k = 0; k < 2; k++)
        model[k] = fit(context[k], text, &data, &report[k]);
    assert_memory_equal(margin_model_weights(model[0], 0), margin_model_weights(model[1], 0),
                        37 * sizeof(double));
    assert_true(report[0].objective == report[1].objective);
    assert_true(report[0].train_rmse == report[1].train_rmse || classes);
    assert_int_equal(margin_verify(context[1], model[1], &data, &found, &error), MARGIN_OK);
    assert_int_equal(margin_scores(model[0], &data.x, alone, &error), MARGIN_OK);
    assert_int_equal(margin_predict_parallel(context[1], model[1], &data.x, MARGIN_OUTPUT_SCORES,
                                             together, &error),
                     MARGIN_OK);
    assert_memory_equal(alone, together, sizeof(double) * ROWS);
    for (int k = 0; k < 2; k++) {
        margin_model_free(model[k]);
        margin_context_free(context[k]);
    }
    free(alone);
    free(together);
}

static void test_kernel_rows(void **state) {
    (void)state;
    SUPPORT_LARGE_CASE();
    table t = make_table(ROWS);
    check_kernel_rows("nystroem(centres=37, pick=uniform) | ridge", &t, false, false);
    check_kernel_rows("nystroem(centres=37, pick=uniform) | standardize | ridge", &t, true, false);
    check_kernel_rows("nystroem(centres=37, pick=uniform, kernel=laplacian) | logistic", &t, false,
                      true);
    check_kernel_rows("minmax | nystroem(centres=37, pick=uniform, kernel=poly) | ridge", &t, true,
                      false);
    free_table(&t);
}

/* Where the factor of all rows would not fit, a part of them chooses the centres. */
static void test_chosen_from_some(void **state) {
    (void)state;
    SUPPORT_LARGE_CASE();
    table t = make_table(ROWS);
    const margin_data data = data_of(&t, ROWS, false, false);
    static const int64_t limits[] = {0, 12 << 20, 8 << 20};
    double objective[3];
    for (int k = 0; k < 3; k++)
        for (int threads = 1; threads <= 3; threads += 2) {
            const margin_context_options options = {
                .size = sizeof options, .threads = threads, .memory_limit = limits[k]};
            margin_context *context;
            margin_report report = {0};
            assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
            margin_model_free(fit(context, "nystroem(centres=60) | ridge", &data, &report));
            if (threads > 1) assert_true(report.objective == objective[k]);
            objective[k] = report.objective;
            margin_context_free(context);
        }
    for (int k = 1; k < 3; k++) /* other centres, about as good */
        assert_true(objective[k] != objective[0] && objective[k] < 1.25 * objective[0]);
    free_table(&t);
}

static void test_not_finite(void **state) {
    (void)state;
    table t = make_table(ROWS);
    margin_data data = data_of(&t, ROWS, false, false);
    margin_error error = {0};
    margin_context *context = support_context(NULL, 2);
    t.x[7 * COLUMNS + 2] = 1e200;
    assert_int_equal(fit_body(context, &data, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 8: column x3^2, made by poly, is not finite");
    error.text[0] = 0;
    assert_int_equal(scaled_body(context, &data, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 8: column x3^2, made by poly, is not finite");
    margin_context_free(context);
    free_table(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),   cmocka_unit_test(test_same_bits_behind_scaling),
        cmocka_unit_test(test_selection),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_not_finite),  cmocka_unit_test(test_more_columns_than_rows),
        cmocka_unit_test(test_kernel_rows), cmocka_unit_test(test_chosen_from_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
