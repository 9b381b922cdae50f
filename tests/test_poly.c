/* poly: which products there are, their names and values; sizes, refusals, hostile files. */
#include "stage_support.h"

#include "model/object/model_object.h"

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
        int64_t *factor = mg_bag_find(&fitted.bag, "factor")->data;
        factor[0] = impossible[k][0];
        factor[1] = impossible[k][1];
        factor[2] = 2;
        assert_detached(&fitted);
        mg_fitted_stage_clear(&fitted);
    }
    mg_fitted_stage fitted = stage_fitted(context, "poly", &data);
    uint8_t *repeats = mg_bag_find(&fitted.bag, "repeats")->data;
    for (uint8_t k = 2; k < 4; k++) {
        repeats[1] = k; /* the next one may be multiplied with itself; no such kind */
        assert_detached(&fitted);
        repeats[1] = 1;
        repeats[2] = k; /* there is no next one */
        assert_detached(&fitted);
        repeats[2] = 1;
    }
    ((uint8_t *)mg_bag_find(&fitted.bag, "repeats")->data)[1] = 0;
    assert_detached(&fitted); /* one column less than it says */
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* ---- Behind onehot ----------------------------------------------------------------------------
 * Two indicators of one column are never 1 together: their product is left out. */

enum { ROWS = 24, FACTORS = 6 };

static const char *const colours[] = {"blue", "green", "red"}, *const sizes[] = {"large", "small"};
static const margin_column table[] = {
    {.name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 3},
    {.name = "age", .kind = MARGIN_NUMERIC, .categories = NULL, .category_count = 0},
    {.name = "size", .kind = MARGIN_CATEGORICAL, .categories = sizes, .category_count = 2},
};
static const char *const factors[FACTORS] = {"colour=blue", "colour=green", "colour=red",
                                             "age",         "size=large",   "size=small"};

/* Whether the product of the factors, ascending, may be other than 0 and than one of fewer. */
static bool is_kept(const int *factor, int degree) {
    static const int group[FACTORS] = {0, 0, 0, 1, 2, 2};
    for (int k = 1; k < degree; k++)
        if (group[factor[k - 1]] == group[factor[k]] && group[factor[k]] != 1) return false;
    return true;
}

static void name_of(const int *factor, int degree, char *name) {
    int power = 0;
    *name = '\0';
    for (int k = 0; k < degree; k += power) {
        for (power = 1; k + power < degree && factor[k + power] == factor[k]; power++) {
        }
        sprintf(name + strlen(name), "%s%s", k ? " " : "", factors[factor[k]]);
        if (power > 1) sprintf(name + strlen(name), "^%d", power);
    }
}

/* The next of the ascending lists of factors; false: there is none. */
static bool next_list(int *factor, int degree) {
    int k = degree - 1;
    while (k >= 0 && factor[k] == FACTORS - 1)
        k--;
    if (k < 0) return false;
    factor[k]++;
    for (int i = k + 1; i < degree; i++)
        factor[i] = factor[k];
    return true;
}

static margin_model *fit_indicators(margin_context *context, const char *text, double *x) {
    static double y[ROWS];
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error;
    for (int i = 0; i < ROWS; i++) {
        x[3 * i] = i % 3;
        x[3 * i + 1] = i - 7.5;
        x[3 * i + 2] = i / 3 % 2;
        y[i] = i % 5;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 3, 3),
                              .y = {.values = y, .type = MARGIN_F64, .count = ROWS},
                              .columns = table};
    assert_int_equal(margin_spec_parse(context, text, &spec, &error), MARGIN_OK);
    if (margin_fit(context, spec, &data, &model, NULL, &error) < 0) fail_msg("%s", error.text);
    margin_spec_free(spec);
    return model;
}

static void test_indicators(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    double x[3 * ROWS], value[FACTORS];
    margin_error error;
    int64_t count, at = 1 + FACTORS;
    margin_model *model = fit_indicators(context, "impute | onehot | poly(degree=4) | ridge", x);
    const margin_column *columns = margin_model_features(model, &count);
    const margin_matrix rows = margin_dense_f64(x, ROWS, 3, 3);
    double *out = malloc((size_t)(ROWS * count) * sizeof *out);
    assert_int_equal(margin_model_transform(context, model, &rows, out, &error), MARGIN_OK);
    for (int degree = 2; degree <= 4; degree++) {
        int factor[4] = {0};
        char name[200];
        do {
            if (!is_kept(factor, degree)) continue;
            assert_true(at < count);
            name_of(factor, degree, name);
            assert_string_equal(columns[at].name, name);
            for (int i = 0; i < ROWS; i++) {
                double product = 1;
                memcpy(value, out + i * count + 1, sizeof value);
                for (int k = 0; k < degree; k++)
                    product *= value[factor[k]];
                assert_true(out[i * count + at] == product);
            }
            at++;
        } while (next_list(factor, degree));
    }
    assert_int_equal(at, count);
    free(out);
    margin_model_free(model);
    margin_context_free(context);
}

/* Sparse rows as dense ones, rows that onehot cannot make with them. */
static void test_sparse_indicators(void **state) {
    (void)state;
    enum { MADE = 1 << FACTORS };
    margin_context *context = support_context(NULL, 2);
    double x[3 * ROWS], in[MADE * FACTORS], row[200], found[200];
    margin_model *model = fit_indicators(context, "onehot | poly(degree=4) | ridge", x);
    const mg_fitted_stage *poly = &model->stages[1];
    assert_true(poly->columns_out <= MG_LENGTH(row));
    for (int k = 0; k < MADE * FACTORS; k++)
        in[k] = (k / FACTORS) >> (k % FACTORS) & 1;
    stage_csr sparse = stage_to_csr(in, MADE, FACTORS);
    mg_matrix_buffer out = stage_applied(context, poly, &sparse.view);
    assert_true(mg_is_csr(&out.view));
    for (int i = 0; i < MADE; i++) {
        poly->stage->apply_row(poly, in + (ptrdiff_t)i * FACTORS, row);
        mg_row_expand(&out.view, i, found);
        assert_memory_equal(row, found, (size_t)poly->columns_out * sizeof *row);
    }
    mg_matrix_buffer_free(&out);
    stage_csr_free(&sparse);
    margin_model_free(model);
    margin_context_free(context);
}

/* Indicators that scaling made other numbers of are multiplied; those it left alone are not. */
static void test_scaled_indicators(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int64_t columns;
    } cases[] = {
        {"onehot | poly(bias=no) | ridge", 6 + 1 + 3 + 6 + 2},
        {"onehot(drop=first) | poly(bias=no) | ridge", 4 + 1 + 2 + 2 + 1},
        {"onehot | minmax | poly(bias=no) | ridge", 6 + 1 + 3 + 6 + 2},
        {"onehot | standardize(columns=age) | poly(bias=no) | ridge", 6 + 1 + 3 + 6 + 2},
        {"onehot | standardize | poly(bias=no) | ridge", 6 + 21},
        {"onehot | poly(bias=no, interactions=yes) | ridge", 6 + 3 + 6 + 2},
        {"onehot | poly(bias=no, columns='1,3,5,6') | ridge", 6 + 4},
        {"onehot | poly(bias=no, degree=1) | poly(bias=no) | ridge", 6 + 1 + 3 + 6 + 2},
    };
    margin_context *context = support_context(NULL, 1);
    double x[3 * ROWS];
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        int64_t count;
        margin_model *model = fit_indicators(context, cases[k].spec, x);
        (void)margin_model_features(model, &count);
        assert_int_equal(count, cases[k].columns);
        margin_model_free(model);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_selected_rows),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_indicators),
        cmocka_unit_test(test_scaled_indicators),
        cmocka_unit_test(test_sparse_indicators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
