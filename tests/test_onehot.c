/* onehot; the sorting of values behind it and impute; and what attach must not let through. */
#include "stage_support.h"

#include "features/columns/value_runs.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- onehot ---------------------------------------------------------------------------------- */

static void test_onehot_known(void **state) {
    (void)state;
    static const char *const colours[] = {"blue", "green", "red"};
    const double x[] = {2, 1.5, 7, 0, -0.0, 3, 1, 2.5, 7};
    const margin_column columns[] = {
        {.name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 3},
        {.name = "size"},
        {.name = "doors"}};
    const margin_data data = {.x = margin_dense_f64(x, 3, 3, 3), .columns = columns};
    assert_stage_result("onehot", &data,
                        (double[]){0, 0, 1, 1.5, 7, 1, 0, 0, 0, 3, 0, 1, 0, 2.5, 7}, 0);
    assert_stage_result("onehot(columns=doors)", &data,
                        (double[]){0, 0, 1, 1.5, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 2.5, 0, 1}, 0);
    assert_stage_result("onehot(columns='3,colour', drop=first)", &data,
                        (double[]){0, 1, 1.5, 1, 0, 0, 0, 0, 1, 0, 2.5, 1}, 0);

    margin_context *context = support_context(NULL, 1);
    mg_fitted_stage fitted = stage_fitted(context, "onehot(columns=doors)", &data);
    const char *const names[] = {"colour=blue", "colour=green", "colour=red",
                                 "size",        "doors=3",      "doors=7"};
    assert_int_equal(fitted.columns.count, 6);
    for (int k = 0; k < 6; k++) {
        assert_string_equal(fitted.columns.items[k].name, names[k]);
        assert_int_equal(fitted.columns.items[k].kind, MARGIN_NUMERIC);
    }
    /* unknown and missing: none of them */
    const double strange[][3] = {{NOTHING, 1, 5}, {3, 1, NOTHING}, {-1, 1, 3.5}, {0.5, 1, 1e300}};
    for (int k = 0; k < 4; k++) {
        double out[6];
        fitted.stage->apply_row(&fitted, strange[k], out);
        assert_memory_equal(out, ((double[]){0, 0, 0, 1, 0, 0}), sizeof out);
    }
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

static void test_onehot_unknown_error(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, query[] = {0, 2, NOTHING, 3, 4};
    const margin_column column = stage_mixed_columns[4];
    const margin_data data = {.x = margin_dense_f64(x, 3, 1, 1), .columns = &column};
    margin_context *context = support_context(NULL, 3);
    mg_fitted_stage fitted = stage_fitted(context, "onehot(unknown=error)", &data);
    const margin_matrix queries = margin_dense_f64(query, 5, 1, 1);
    mg_matrix_buffer out = {0};
    margin_error error;
    assert_int_equal(mg_stage_apply(context, &fitted, &queries, &out, &error), MARGIN_ERROR_DATA);
    assert_null(out.heap);
    assert_int_equal(error.row, 3);
    assert_contains(error.text, "onehot: row 3, column 1: a missing value or a category");
    double row[5];
    fitted.stage->apply_row(&fitted, query + 2, row);
    for (int k = 0; k < 5; k++)
        assert_true(isnan(row[k]));
    fitted.stage->apply_row(&fitted, query + 1, row);
    assert_memory_equal(row, ((double[]){0, 0, 1, 0, 0}), sizeof row);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* The layout is that which takes less memory; a zero of sparse data is a category too. */
static void test_onehot_layout(void **state) {
    (void)state;
    double *values = stage_mixed_values(false);
    margin_data data = {.x = margin_dense_f64(values, STAGE_ROWS, STAGE_COLUMNS, STAGE_COLUMNS),
                        .columns = stage_mixed_columns};
    margin_context *context = support_context(NULL, 2);
    mg_fitted_stage fitted = stage_fitted(context, "onehot", &data);
    mg_matrix_buffer out = stage_applied(context, &fitted, &data.x);
    assert_true(mg_is_csr(&out.view)); /* 4.3 of 10 are not zero */
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    data.x.columns = 2; /* nothing to encode, no zeros */
    fitted = stage_fitted(context, "onehot", &data);
    out = stage_applied(context, &fitted, &data.x);
    assert_false(mg_is_csr(&out.view));
    assert_stage_matrix(&out.view, &data.x);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    free(values);

    const double x[] = {0, 5, 0, 0, 7, 5};
    stage_csr sparse = stage_to_csr(x, 3, 2);
    data = (margin_data){.x = sparse.view};
    fitted = stage_fitted(context, "onehot(columns='1,2')", &data);
    out = stage_applied(context, &fitted, &data.x);
    assert_int_equal(out.view.columns, 4); /* x1=0 x1=7 x2=0 x2=5 */
    const double expected[] = {1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1};
    for (int k = 0; k < 12; k++)
        assert_true(stage_element(&out.view, k / 4, k % 4) == expected[k]);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    stage_csr_free(&sparse);
    margin_context_free(context);
}

static void test_onehot_errors(void **state) {
    (void)state;
    enum { MANY = 100001 };
    double *x = malloc(sizeof(double) * MANY);
    for (int k = 0; k < MANY; k++)
        x[k] = k;
    const margin_data data = {.x = margin_dense_f64(x, MANY, 1, 1)};
    assert_stage_fails("onehot(columns=x1)", &data, MARGIN_ERROR_DATA,
                       "column x1 has 100001 distinct values, more than the limit of 100000");
    free(x);
    const double one[] = {0, 0}, none[] = {NOTHING, NOTHING};
    const margin_column single = {.name = "s",
                                  .kind = MARGIN_CATEGORICAL,
                                  .categories = stage_categories,
                                  .category_count = 1};
    const margin_column empty = {.name = "e", .kind = MARGIN_CATEGORICAL};
    margin_data small = {.x = margin_dense_f64(one, 2, 1, 1), .columns = &single};
    assert_stage_fails("onehot(drop=first)", &small, MARGIN_ERROR_DATA, "would leave no column");
    assert_stage_fails("onehot(columns=t)", &small, MARGIN_ERROR_DATA, "no column t");
    small.x = margin_dense_f64(none, 2, 1, 1);
    small.columns = &empty;
    assert_stage_fails("onehot", &small, MARGIN_ERROR_DATA, "column e has no values");
    small.columns = NULL;
    assert_stage_fails("onehot(columns=1)", &small, MARGIN_ERROR_DATA, "column x1 has no values");
}

/* ---- Sorting of values ----------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const mg_value_run *left = a, *right = b;
    if (left->value != right->value) return left->value < right->value ? -1 : 1;
    if (signbit(left->value) != signbit(right->value)) return signbit(left->value) ? -1 : 1;
    return left->weight < right->weight ? -1 : left->weight > right->weight;
}

static void test_sort_values(void **state) {
    (void)state;
    enum { MOST = 3000 };
    static const double special[] = {0.0,     -0.0,    HUGE_VAL, -HUGE_VAL, 5e-324,
                                     -5e-324, DBL_MAX, 1,        1};
    mg_value_run values[MOST], expected[MOST], scratch[MOST];
    margin_context *context = support_context(NULL, 1);
    uint64_t random = 3;
    for (int round = 0; round < 200; round++) {
        const int count = round < 100 ? round : (int)(support_random(&random) % MOST);
        for (int k = 0; k < count; k++) {
            const uint64_t bits = support_random(&random);
            double value;
            memcpy(&value, &bits, sizeof value);
            if (bits % 3 == 0 || isnan(value)) value = special[bits % 9];
            if (round % 4 == 3) value = (double)(int64_t)(bits % 50);
            values[k] = (mg_value_run){value, k}; /* the weight tells where it came from */
        }
        memcpy(expected, values, sizeof values);
        qsort(expected, (size_t)count, sizeof *expected, by_value);
        assert_true(mg_sort_values(context, values, count, scratch));
        for (int k = 0; k < count; k++)
            assert_true(stage_same_bits(values[k].value, expected[k].value) &&
                        values[k].weight == expected[k].weight);
    }
    margin_context_cancel(context);
    assert_false(mg_sort_values(context, values, MOST, scratch));
    margin_context_free(context);
}

/* ---- Hostile tensors ------------------------------------------------------------------------- */

static void assert_detached(mg_fitted_stage *fitted, const char *part) {
    margin_error error = {0};
    mg_free(fitted->heap, (void *)fitted->view);
    fitted->view = NULL;
    assert_int_equal(fitted->stage->attach(fitted, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, part);
}

/* Every bad number that attach must not let through, on a fresh stage each. */
static void test_attach(void **state) {
    (void)state;
    static const struct {
        const char *stage, *tensor;
        double value;
        const char *part;
    } bad[] = {
        {"minmax", "offset", HUGE_VAL, "impossible scale for column 1"},
        {"minmax", "divisor", 0, "impossible scale for column 1"},
        {"standardize", "divisor", -1, "impossible scale for column 1"},
        {"standardize", "divisor", NOTHING, "impossible scale for column 1"},
        {"impute", "fill", NOTHING, "not finite"},
        {"impute", "fill", HUGE_VAL, "not finite"},
        {"onehot(columns=1)", "values", NOTHING, "impossible categories for column 1"},
        {"onehot(columns=1)", "values", 1e9, "impossible categories for column 1"},
    };
    const double x[] = {1, 2, 3, 4, 5, 6};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(bad); k++) {
        mg_fitted_stage fitted = stage_fitted(context, bad[k].stage, &data);
        *(double *)mg_bag_find(&fitted.bag, bad[k].tensor)->data = bad[k].value;
        assert_detached(&fitted, bad[k].part);
        mg_fitted_stage_clear(&fitted);
    }
    static const struct {
        int64_t kind, count;
        const char *part;
    } columns[] = {
        {3, 3, "impossible categories"}, {2, 0, "impossible categories"},
        {2, 4, "impossible categories"}, {2, -1, "impossible categories"},
        {2, 2, "other columns"},         {1, INT64_MAX, "impossible categories"},
        {1, 300, "more columns"},        {1, 3, "other columns"},
        {0, 1, "impossible categories"}, {0, 0, "other columns"},
    };
    for (int k = 0; k < MG_LENGTH(columns); k++) {
        mg_fitted_stage fitted = stage_fitted(context, "onehot(columns=1)", &data);
        *(uint8_t *)mg_bag_find(&fitted.bag, "kind")->data = (uint8_t)columns[k].kind;
        *(int64_t *)mg_bag_find(&fitted.bag, "count")->data = columns[k].count;
        assert_detached(&fitted, columns[k].part);
        mg_fitted_stage_clear(&fitted);
    }
    const char *const all[] = {"minmax", "standardize", "normalize", "impute",
                               "onehot", "poly",        "rbf"};
    for (int k = 0; k < MG_LENGTH(all); k++) {
        mg_fitted_stage fitted = stage_fitted(context, all[k], &data);
        fitted.columns_out = 7;
        assert_detached(&fitted, all[k]);
        mg_fitted_stage_clear(&fitted);
        fitted = stage_fitted(context, all[k], &data);
        fitted.columns_in = 7;
        assert_detached(&fitted, all[k]);
        mg_fitted_stage_clear(&fitted);
        fitted = stage_fitted(context, all[k], &data);
        void *extra;
        assert_int_equal(mg_bag_add(&fitted.bag, "extra", MARGIN_F64, 1, 0, &extra, NULL),
                         MARGIN_OK);
        assert_detached(&fitted, all[k]);
        mg_fitted_stage_clear(&fitted);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_onehot_known),  cmocka_unit_test(test_onehot_unknown_error),
        cmocka_unit_test(test_onehot_layout), cmocka_unit_test(test_onehot_errors),
        cmocka_unit_test(test_sort_values),   cmocka_unit_test(test_attach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
