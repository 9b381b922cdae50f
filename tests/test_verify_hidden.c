/* margin_verify and what hides behind the rounding of large numbers: rows that a model keeps, and
 * what stages make of them. */
#include "model/object/model_object.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static margin_status verified(margin_context *context, const margin_model *model,
                              const margin_data *data, margin_report *found) {
    margin_error error = {0};
    const margin_status status = margin_verify(context, model, data, found, &error);
    if (status < 0) fail_msg("%s", error.text);
    return status;
}

static void assert_refused(margin_context *context, const margin_model *model,
                           const margin_data *data, const char *reason) {
    margin_report found = {0};
    assert_int_equal(verified(context, model, data, &found), MARGIN_STOPPED_STALLED);
    if (!strstr(found.reason, reason)) fail_msg("%s", found.reason);
}

/* A row far out has large kernel values, whose rounding is its own: not that of other points. */
static void test_a_far_row_hides_no_other(void **state) {
    (void)state;
    static const char *const specs[] = {
        "nystroem(centres=3, kernel=linear) | knn(k=1, method=brute)",
        "nystroem(centres=3, kernel=poly, degree=2) | knn(k=1, method=brute)"};
    enum { ROWS = 60, COLUMNS = 3, FAR = 7 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 5;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = support_normal(&random) * (i == FAR ? 1e7 : 1);
        y[i] = i % 2;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        margin_report found = {0};
        const mg_tensor *points = mg_bag_find(&model->hypothesis->bag, "points");
        assert_int_equal(verified(context, model, &data, &found), MARGIN_OK);
        for (int64_t j = 0; j < COLUMNS; j++)
            ((double *)points->data)[j] *= 1.03;
        assert_refused(context, model, &data, "the rows that it keeps are not those");
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Milliseconds of an epoch beside hundredths: a narrow column is not rounded as the wide one is. */
static void test_a_wide_column_frees_no_other(void **state) {
    (void)state;
    static const struct {
        const char *spec, *tensor, *reason;
        double wide, moved;
    } cases[] = {{"knn(k=1)", "points", "the rows that it keeps are not those", 1.7e12, 1e-6},
                 {"impute | knn(k=1)", "points", "the rows that it keeps are not those", 1e8, 1e-6},
                 {"impute | kernel-logistic(kernel=laplacian, gamma=3)", "support", "", 1e8, 0.06},
                 {"impute | svm(kernel=laplacian, gamma=3, C=0.01)", "support", "", 2e7, 0.015}};
    enum { ROWS = 40, COLUMNS = 2 };
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        double x[ROWS * COLUMNS], y[ROWS];
        uint64_t random = 9;
        for (int i = 0; i < ROWS; i++) {
            x[i * COLUMNS] = cases[k].wide;
            x[i * COLUMNS + 1] = i / (double)ROWS;
            y[i] = sin(i / 5.0) + 0.3 * support_normal(&random) > 0;
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(y, ROWS)};
        margin_report found = {0};
        margin_model *model = fit_text(context, cases[k].spec, &data, &(margin_report){0});
        const mg_tensor *rows = mg_bag_find(&model->hypothesis->bag, cases[k].tensor);
        assert_int_equal(verified(context, model, &data, &found), MARGIN_OK);
        for (int64_t i = 0; i < rows->shape[0]; i++)
            ((double *)rows->data)[i * COLUMNS + 1] += cases[k].moved;
        assert_refused(context, model, &data, cases[k].reason);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* A learner without a gap behind features that rounding may have moved: numbers of the report that
 * hold only if it has are refused, however far they are off. */
static void test_rounding_hides_no_number(void **state) {
    (void)state;
    static const char *const specs[] = {
        "nystroem(centres=20, kernel=poly, degree=3) | normalize | kmeans(k=3)",
        "nystroem(centres=20, kernel=poly, degree=3) | normalize | naive-bayes",
        "nystroem(centres=20, kernel=poly, degree=3) | normalize | perceptron"};
    enum { ROWS = 60, COLUMNS = 3 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 3;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = 10 * support_normal(&random) + 30 * (i % 3);
        y[i] = i % 3 == 0;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_report found = {0};
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        assert_int_equal(verified(context, model, &data, &found), MARGIN_OK);
        model->report.objective += 0.1 + 0.3 * fabs(model->report.objective);
        assert_refused(context, model, &data, "");
        margin_model_free(model);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_far_row_hides_no_other),
                                       cmocka_unit_test(test_a_wide_column_frees_no_other),
                                       cmocka_unit_test(test_rounding_hides_no_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
