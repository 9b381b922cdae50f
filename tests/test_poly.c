/* poly: which products there are, their names and values; sizes, refusals, hostile files. */
#include "stage_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_names(const char *text, const margin_data *data, const char *const *names,
                         int64_t count) {
    margin_context *context = support_context(NULL, 1);
    mg_fitted_stage fitted = stage_fitted(context, text, data);
    assert_int_equal(fitted.columns_out, count);
    assert_int_equal(fitted.columns.count, count);
    for (int64_t k = 0; k < count; k++)
        assert_string_equal(fitted.columns.items[k].name, names[k]);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* The order is that of scikit-learn's PolynomialFeatures. */
static void test_known(void **state) {
    (void)state;
    const double x[] = {2, 3, 5, -1};
    const margin_data data = {.x = margin_dense_f64(x, 2, 2, 2)};
    assert_stage_result("poly", &data, (double[]){1, 2, 3, 4, 6, 9, 1, 5, -1, 25, -5, 1}, 0);
    assert_stage_result("poly(bias=no)", &data, (double[]){2, 3, 4, 6, 9, 5, -1, 25, -5, 1}, 0);
    assert_stage_result("poly(interactions=yes)", &data, (double[]){1, 2, 3, 6, 1, 5, -1, -5}, 0);
    assert_stage_result("poly(degree=1)", &data, (double[]){1, 2, 3, 1, 5, -1}, 0);
    assert_stage_result("poly(degree=3, columns=2, bias=no)", &data,
                        (double[]){2, 3, 9, 27, 5, -1, 1, -1}, 0);
    assert_stage_result(
        "poly(degree=3)", &data,
        (double[]){1, 2, 3, 4, 6, 9, 8, 12, 18, 27, 1, 5, -1, 25, -5, 1, 125, -25, 5, -1}, 0);
}

static void test_names(void **state) {
    (void)state;
    const double x[] = {2, 3, 1, 5, -1, 0};
    const margin_column columns[] = {{.name = "age"}, {.name = "body mass"}, {.name = "smokes"}};
    margin_data data = {.x = margin_dense_f64(x, 2, 3, 3)};
    /* smokes is 0 or 1 and is never raised to a power */
    const char *const all[] = {"1",       "x1",       "x2",    "x3",     "x1^2",    "x1 x2",
                               "x1 x3",   "x2^2",     "x2 x3", "x1^3",   "x1^2 x2", "x1^2 x3",
                               "x1 x2^2", "x1 x2 x3", "x2^3",  "x2^2 x3"};
    assert_names("poly(degree=3)", &data, all, MG_LENGTH(all));
    data.columns = columns;
    const char *const some[] = {"age", "body mass", "smokes", "body mass^2", "body mass smokes"};
    assert_names("poly(columns='body mass,3', bias=no)", &data, some, MG_LENGTH(some));
    const char *const pairs[] = {"age",
                                 "body mass",
                                 "smokes",
                                 "age body mass",
                                 "age smokes",
                                 "body mass smokes",
                                 "age body mass smokes"};
    assert_names("poly(degree=7, interactions=yes, bias=no)", &data, pairs, MG_LENGTH(pairs));
}

/* C(n + d, d) columns where no column is 0/1. */
static void test_count(void **state) {
    (void)state;
    static const struct {
        int64_t columns, degree, count;
    } sizes[] = {{1, 9, 10}, {2, 5, 21}, {5, 3, 56}, {10, 4, 1001}, {100, 2, 5151}, {30, 3, 5456}};
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < MG_LENGTH(sizes); k++) {
        double x[2][100];
        char text[40];
        for (int j = 0; j < 100; j++) {
            x[0][j] = 2 + j;
            x[1][j] = -j;
        }
        const margin_data data = {.x = margin_dense_f64(&x[0][0], 2, sizes[k].columns, 100)};
        snprintf(text, sizeof text, "poly(degree=%d)", (int)sizes[k].degree);
        mg_fitted_stage fitted = stage_fitted(context, text, &data);
        assert_int_equal(fitted.columns_out, sizes[k].count);
        mg_fitted_stage_clear(&fitted);
    }
    margin_context_free(context);
}

/* 0/1 is judged on the rows that take part: here the 7 is in a row that does not. */
static void test_selected_rows(void **state) {
    (void)state;
    const double x[] = {0, 7, 1};
    const int64_t rows[] = {0, 2};
    margin_data data = {.x = margin_dense_f64(x, 3, 1, 1)};
    const char *const powers[] = {"1", "x1", "x1^2"};
    assert_names("poly", &data, powers, 3);
    data.selection = rows;
    data.selected = 2;
    assert_names("poly", &data, powers, 2);
}

static void test_refusals(void **state) {
    (void)state;
    enum { COLUMNS = 3000 };
    double *x = calloc(2 * COLUMNS, sizeof *x);
    for (int j = 0; j < 2 * COLUMNS; j++)
        x[j] = 2 + j;
    margin_data data = {.x = margin_dense_f64(x, 2, COLUMNS, COLUMNS)};
    assert_stage_fails("poly", &data, MARGIN_ERROR_LIMIT, "4504501 columns of 3000");
    assert_stage_fails("poly(degree=50)", &data, MARGIN_ERROR_LIMIT, "lower the degree");
    assert_stage_fails("poly(columns=age)", &data, MARGIN_ERROR_DATA, "no column age");
    assert_stage_fails("poly(degree=0)", &data, MARGIN_ERROR_SPEC, "degree");
    data.x = margin_dense_f64(x, 2, 1, 1);
    data.columns = &stage_mixed_columns[4];
    assert_stage_fails("poly", &data, MARGIN_ERROR_DATA, "onehot | poly");
    free(x);
}

static void assert_detached(mg_fitted_stage *fitted) {
    margin_error error;
    mg_free(fitted->heap, (void *)fitted->view);
    fitted->view = NULL;
    assert_int_equal(fitted->stage->attach(fitted, &error), MARGIN_ERROR_MODEL);
    assert_non_null(strstr(error.text, "poly"));
}

static void test_hostile(void **state) {
    (void)state;
    const double x[] = {2, 3, 4, 5, -1, 0};
    const margin_data data = {.x = margin_dense_f64(x, 2, 3, 3)};
    margin_context *context = support_context(NULL, 1);
    static const int64_t impossible[][2] = {{-1, 1}, {3, 1}, {INT64_MAX, 1}, {1, 1}, {2, 2}};
    for (int k = 0; k < MG_LENGTH(impossible); k++) {
        mg_fitted_stage fitted = stage_fitted(context, "poly", &data);
        int64_t *factor = mg_stage_tensor_find(&fitted, "factor")->data;
        factor[0] = impossible[k][0];
        factor[1] = impossible[k][1];
        factor[2] = 2;
        assert_detached(&fitted);
        mg_fitted_stage_clear(&fitted);
    }
    mg_fitted_stage fitted = stage_fitted(context, "poly", &data);
    ((uint8_t *)mg_stage_tensor_find(&fitted, "repeats")->data)[1] = 2;
    assert_detached(&fitted);
    ((uint8_t *)mg_stage_tensor_find(&fitted, "repeats")->data)[1] = 0;
    assert_detached(&fitted); /* one column less than it says */
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_count),    cmocka_unit_test(test_selected_rows),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
