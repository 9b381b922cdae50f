/* Known answers of minmax, standardize, normalize and impute, and plain oracles for them. */
#include "stage_support.h"

#include "features/columns/column_moments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Known answers --------------------------------------------------------------------------- */

typedef struct log_text {
    int count;
    char text[1000];
} log_text;

static void keep_log(margin_log_level level, const char *text, void *user) {
    log_text *log = user;
    assert_int_equal(level, MARGIN_LOG_NOTE);
    log->count++;
    snprintf(log->text, sizeof log->text, "%s", text);
}

static margin_context *logging_context(log_text *log) {
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .log = keep_log, .user = log};
    margin_context *context = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

static void test_minmax_known(void **state) {
    (void)state;
    const double x[] = {1, 10, 5, 3, 40, 5, 5, 20, 5};
    const margin_data data = {.x = margin_dense_f64(x, 3, 3, 3)};
    assert_stage_result("minmax", &data, (double[]){0, 0, 0, 0.5, 1, 0, 1, 1.0 / 3, 0}, 0);
    assert_stage_result("minmax(low=-1)", &data, (double[]){-1, -1, 0, 0, 1, 0, 1, -1.0 / 3, 0},
                        1e-15);
    assert_stage_result("minmax(columns=2)", &data, (double[]){1, 0, 5, 3, 1, 5, 5, 1.0 / 3, 5}, 0);
    assert_stage_result("minmax(columns='x1,-2')", &data,
                        (double[]){0, 0, 5, 0.5, 1, 5, 1, 1.0 / 3, 5}, 0);
    assert_stage_result("minmax(columns=-1)", &data, (double[]){1, 10, 0, 3, 40, 0, 5, 20, 0}, 0);
}

/* The ends of the range are exact, and what is outside of it stays outside. */
static void test_minmax_ends(void **state) {
    (void)state;
    uint64_t random = 9;
    margin_context *context = support_context(NULL, 1);
    for (int round = 0; round < 500; round++) {
        double x[7];
        for (int k = 0; k < 7; k++)
            x[k] = ldexp(support_normal(&random), (int)(support_random(&random) % 40) - 20);
        const margin_data data = {.x = margin_dense_f64(x, 7, 1, 1)};
        mg_fitted_stage fitted = stage_fitted(context, "minmax", &data);
        double least = HUGE_VAL, greatest = -HUGE_VAL;
        for (int k = 0; k < 7; k++) {
            double out;
            fitted.stage->apply_row(&fitted, &x[k], &out);
            least = fmin(least, out);
            greatest = fmax(greatest, out);
        }
        assert_true(least == 0 && greatest == 1);
        double outside = 1e9, out;
        fitted.stage->apply_row(&fitted, &outside, &out);
        assert_true(out > 1);
        mg_fitted_stage_clear(&fitted);
    }
    margin_context_free(context);
}

static void test_constant_columns(void **state) {
    (void)state;
    const double x[] = {0.1, 7, 0.1, 8, 0.1, 9};
    const margin_column columns[] = {{.name = "flat"}, {.name = "steep"}};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2), .columns = columns};
    const char *const stages[] = {"minmax", "standardize", "standardize(center=no)"};
    for (int k = 0; k < 3; k++) {
        log_text log = {0};
        margin_context *context = logging_context(&log);
        mg_fitted_stage fitted = stage_fitted(context, stages[k], &data);
        assert_int_equal(log.count, 1);
        assert_contains(log.text, "1 of 2 columns is constant and becomes 0");
        assert_contains(log.text, "flat");
        assert_null(strstr(log.text, "steep"));
        const double rows[] = {0.1, 7, 123, 8};
        double out[2], scale[2], shift[2];
        for (int i = 0; i < 2; i++) {
            fitted.stage->apply_row(&fitted, rows + 2 * i, out);
            assert_true(out[0] == 0);
            assert_true(isfinite(out[1]));
        }
        mg_stage_affine(&fitted, scale, shift);
        assert_true(scale[0] == 0 && shift[0] == 0 && scale[1] > 0);
        mg_fitted_stage_clear(&fitted);
        margin_context_free(context);
    }
    /* the column of ones of poly is no news, a constant of another name is */
    for (int k = 0; k < 2; k++) {
        const margin_column ones[] = {{.name = k ? "one" : "1"}, {.name = "steep"}};
        const double values[] = {1, 2, 1, 5};
        const margin_data named = {.x = margin_dense_f64(values, 2, 2, 2), .columns = ones};
        log_text said = {0};
        margin_context *context = logging_context(&said);
        mg_fitted_stage fitted = stage_fitted(context, "standardize", &named);
        assert_int_equal(said.count, k);
        mg_fitted_stage_clear(&fitted);
        margin_context_free(context);
    }
    /* many of them: five are named */
    double zeros[3 * 30] = {0};
    log_text log = {0};
    margin_context *context = logging_context(&log);
    const margin_data flat = {.x = margin_dense_f64(zeros, 3, 30, 30)};
    mg_fitted_stage fitted = stage_fitted(context, "minmax", &flat);
    assert_contains(log.text, "30 of 30 columns are constant and become 0");
    assert_contains(log.text, "x1, x2, x3, x4, x5, ...");
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* Many columns are told, and what many rows of them take. */
static void test_poly_size(void **state) {
    enum { ROWS = 100 };
    (void)state;
    double x[4 * ROWS];
    for (int k = 0; k < 4 * ROWS; k++)
        x[k] = 2;
    log_text log = {0};
    margin_context *context = logging_context(&log);
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 4, 4)};
    mg_fitted_stage fitted = stage_fitted(context, "poly", &data);
    assert_string_equal(log.text, "poly makes 15 columns of 4");
    mg_fitted_stage_clear(&fitted);
    fitted = stage_fitted(context, "poly(degree=40)", &data);
    assert_contains(log.text, "poly makes 135751 columns of 4: ");
    assert_contains(log.text, " MiB for 100 rows");
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* Mean and deviation against sums in extended precision over shifted values. */
static void oracle_moments(const double *x, int64_t rows, int64_t columns, int64_t j, double *mean,
                           double *deviation) {
    const long double shift = (long double)x[j];
    long double sum = 0, squares = 0;
    for (int64_t i = 0; i < rows; i++)
        sum += (long double)x[i * columns + j] - shift;
    const long double center = sum / (long double)rows;
    for (int64_t i = 0; i < rows; i++) {
        const long double d = (long double)x[i * columns + j] - shift - center;
        squares += d * d;
    }
    *mean = (double)(shift + center);
    *deviation = (double)sqrtl(squares / (long double)rows);
}

static void test_standardize_oracle(void **state) {
    (void)state;
    enum { ROWS = 20000, COLUMNS = 5 };
    uint64_t random = 11;
    double *x = malloc(sizeof(double) * ROWS * COLUMNS);
    for (int64_t i = 0; i < ROWS; i++) {
        double *row = x + i * COLUMNS;
        row[0] = support_normal(&random);
        row[1] = 1e9 + 1e-3 * support_normal(&random);    /* E[x^2] - E[x]^2 has no digit left */
        row[2] = i == 0 ? 1e12 : support_normal(&random); /* an outlier first */
        row[3] = 1e-160 * (1 + support_uniform(&random));
        row[4] = i < ROWS / 2 ? -1e6 : 1e6 + support_uniform(&random); /* blocks far apart */
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS)};
    margin_context *context = support_context(NULL, 2);
    mg_column_moments moments;
    assert_int_equal(mg_column_moments_make(context, &data, NULL, MG_WANT_SPREAD, &moments, NULL),
                     MARGIN_OK);
    for (int64_t j = 0; j < COLUMNS; j++) {
        double mean, deviation;
        oracle_moments(x, ROWS, COLUMNS, j, &mean, &deviation);
        assert_true(fabs(moments.mean[j] - mean) <= 1e-15 * fabs(mean) + 1e-12 * deviation);
        if (j == 3) continue; /* its squares vanish */
        const double found = sqrt(moments.squares[j] / moments.weight[j]);
        assert_true(fabs(found - deviation) <= 1e-10 * deviation);
        assert_true(moments.weight[j] == ROWS);
    }
    mg_column_moments_free(&moments);
    margin_context_free(context);
    assert_stage_fails("standardize", &data, MARGIN_ERROR_DATA,
                       "spread too far or too little for double precision");
    free(x);
}

/* The spread comes from zeros that are not stored, whose weights are 1e-9 of the others. */
static void test_light_zeros(void **state) {
    (void)state;
    enum { ROWS = 600 };
    double x[ROWS], weights[ROWS], values[ROWS / 2];
    int64_t starts[ROWS + 1] = {0};
    int32_t places[ROWS / 2] = {0};
    long double zeros = 0, total = 0;
    uint64_t random = 5;
    for (int i = 0; i < ROWS; i++) {
        const bool stored = i % 2 == 0;
        x[i] = stored;
        weights[i] = (stored ? 1e9 : 1) * (0.5 + support_uniform(&random));
        if (stored) values[starts[i]] = 1;
        starts[i + 1] = starts[i] + stored;
        zeros += stored ? 0 : (long double)weights[i];
        total += (long double)weights[i];
    }
    const double squares = (double)(zeros * (total - zeros) / total);
    margin_context *context = support_context(NULL, 1);
    for (int sparse = 0; sparse < 2; sparse++) {
        margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                            .weights = margin_values_f64(weights, ROWS)};
        if (sparse) data.x = margin_csr_f64(values, places, starts, ROWS, 1);
        mg_column_moments moments;
        assert_int_equal(
            mg_column_moments_make(context, &data, NULL, MG_WANT_SPREAD, &moments, NULL),
            MARGIN_OK);
        assert_close(moments.squares[0], squares, 1e-13 * squares);
        mg_column_moments_free(&moments);
    }
    margin_context_free(context);
}

static void test_standardize_known(void **state) {
    (void)state;
    const double x[] = {1, -2, 3, 4, 5, 0};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2)};
    const double a = sqrt(8.0 / 3), b = sqrt(56.0 / 9); /* population */
    const double m = 2.0 / 3;
    assert_stage_result("standardize", &data,
                        (double[]){-2 / a, (-2 - m) / b, 0, (4 - m) / b, 2 / a, -m / b}, 1e-15);
    assert_stage_result("standardize(center=no)", &data,
                        (double[]){1 / a, -2 / b, 3 / a, 4 / b, 5 / a, 0}, 1e-15);
    assert_stage_result("standardize(scale=no)", &data, (double[]){-2, -2 - m, 0, 4 - m, 2, -m},
                        1e-15);
    assert_stage_result("standardize(scale=no, center=no)", &data, x, 0);
    assert_stage_result("standardize(columns=2)", &data,
                        (double[]){1, (-2 - m) / b, 3, (4 - m) / b, 5, -m / b}, 1e-15);
}

static void test_affine(void **state) {
    (void)state;
    const char *const stages[] = {"minmax", "minmax(low=-2, high=5)", "standardize",
                                  "standardize(center=no)", "standardize(scale=no)"};
    double *values = stage_mixed_values(false);
    const margin_data data = {
        .x = margin_dense_f64(values, STAGE_ROWS, STAGE_COLUMNS, STAGE_COLUMNS)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(stages); k++) {
        double scale[STAGE_COLUMNS], shift[STAGE_COLUMNS], out[STAGE_COLUMNS];
        mg_fitted_stage fitted = stage_fitted(context, stages[k], &data);
        mg_stage_affine(&fitted, scale, shift);
        fitted.stage->apply_row(&fitted, values, out);
        for (int j = 0; j < STAGE_COLUMNS; j++)
            assert_close(out[j], scale[j] * values[j] + shift[j], 1e-9);
        mg_fitted_stage_clear(&fitted);
    }
    margin_context_free(context);
    free(values);
    assert_null(mg_stage_normalize.affine);
    assert_null(mg_stage_impute.affine);
    assert_null(mg_stage_onehot.affine);
}

static void test_scale_errors(void **state) {
    (void)state;
    const double x[] = {0, 1, -1.7e308, 5, 1, 1.7e308};
    const margin_column columns[] = {{.name = "age"},
                                     {.name = "colour",
                                      .kind = MARGIN_CATEGORICAL,
                                      .categories = stage_categories,
                                      .category_count = 5},
                                     {.name = "wide"}};
    const margin_data data = {.x = margin_dense_f64(x, 2, 3, 3), .columns = columns};
    assert_stage_fails("minmax(columns=agee)", &data, MARGIN_ERROR_DATA,
                       "minmax: the data has no column agee; did you mean age?");
    assert_stage_fails("minmax(columns=4)", &data, MARGIN_ERROR_DATA, "numbered 1 to 3");
    assert_stage_fails("minmax(columns=0)", &data, MARGIN_ERROR_DATA, "no column 0");
    assert_stage_fails("minmax(columns=-4)", &data, MARGIN_ERROR_DATA, "no column -4");
    assert_stage_fails("minmax(columns=99999999999999999999)", &data, MARGIN_ERROR_DATA,
                       "no column 99999999999999999999");
    assert_stage_fails("minmax(columns='')", &data, MARGIN_ERROR_DATA, "no column ;");
    assert_stage_fails("minmax(columns=colour)", &data, MARGIN_ERROR_DATA,
                       "column colour holds categories and cannot be scaled");
    assert_stage_fails("minmax(low=1)", &data, MARGIN_ERROR_SPEC, "low (1) must be below high (1)");
    assert_stage_fails("minmax", &data, MARGIN_ERROR_DATA,
                       "values of column wide, -1.7e+308 to 1.7e+308, spread too far");
    assert_stage_fails("standardize", &data, MARGIN_ERROR_DATA, "column wide");
    const margin_column twins[] = {{.name = "a"}, {.name = "a"}, {.name = "3,b"}};
    const margin_data twin_data = {.x = margin_dense_f64(x, 2, 3, 3), .columns = twins};
    assert_stage_fails("minmax(columns=a)", &twin_data, MARGIN_ERROR_DATA,
                       "several columns are called a; give the column's number, the first is 1");
    margin_context *context = support_context(NULL, 1); /* a name may hold a comma */
    const double small[] = {0, 1, 2, 3, 1, 4};
    const margin_data comma = {.x = margin_dense_f64(small, 2, 3, 3), .columns = twins};
    mg_fitted_stage fitted = stage_fitted(context, "minmax(columns='3,b')", &comma);
    const double *divisor = mg_bag_find(&fitted.bag, "divisor")->data;
    assert_true(divisor[0] == 1 && divisor[2] == 2);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* ---- normalize ------------------------------------------------------------------------------- */

static void test_normalize_known(void **state) {
    (void)state;
    const double x[] = {3, -4, 0, 0, 1e300, 1e300, 3e-320, -4e-320, NOTHING, 1};
    const margin_data data = {.x = margin_dense_f64(x, 5, 2, 2)};
    const double r = sqrt(0.5);
    assert_stage_result("normalize", &data,
                        (double[]){0.6, -0.8, 0, 0, r, r, 0.6, -0.8, NOTHING, NOTHING}, 1e-4);
    assert_stage_result(
        "normalize(norm=l1)", &data,
        (double[]){3.0 / 7, -4.0 / 7, 0, 0, 0.5, 0.5, 3.0 / 7, -4.0 / 7, NOTHING, NOTHING}, 1e-4);
    assert_stage_result("normalize(norm=max)", &data,
                        (double[]){0.75, -1, 0, 0, 1, 1, 0.75, -1, NOTHING, NOTHING}, 1e-4);
    const double exact[] = {3, -4, 0, 0, 1.7e308, 1.7e308};
    const margin_data normal = {.x = margin_dense_f64(exact, 3, 2, 2)};
    assert_stage_result("normalize", &normal, (double[]){0.6, -0.8, 0, 0, r, r}, 1e-16);
    const margin_data categories = {.x = margin_dense_f64(x, 5, 2, 2),
                                    .columns = stage_mixed_columns + 3};
    assert_stage_fails("normalize", &categories, MARGIN_ERROR_DATA,
                       "column letter holds categories, which have no norm; put onehot before it");
}

/* ---- impute ---------------------------------------------------------------------------------- */

static void assert_fills(const char *text, const margin_data *data, const double *expected) {
    margin_context *context = support_context(NULL, 3);
    mg_fitted_stage fitted = stage_fitted(context, text, data);
    const double *fill = mg_bag_find(&fitted.bag, "fill")->data;
    for (int64_t j = 0; j < data->x.columns; j++)
        assert_close(fill[j], expected[j], 1e-15);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

static void test_impute_known(void **state) {
    (void)state;
    const double x[] = {1, 5,       2,       //
                        2, NOTHING, 0,       //
                        4, 5,       NOTHING, //
                        9, -1,      0,       //
                        9, -1,      2};
    const margin_column columns[] = {{.name = "a"},
                                     {.name = "b"},
                                     {.name = "c",
                                      .kind = MARGIN_CATEGORICAL,
                                      .categories = stage_categories,
                                      .category_count = 5}};
    margin_data data = {.x = margin_dense_f64(x, 5, 3, 3), .columns = columns};
    assert_fills("impute", &data, (double[]){5, 2, 0});
    assert_fills("impute(with=median)", &data, (double[]){4, 2, 0});
    assert_fills("impute(with=most-frequent)", &data, (double[]){9, -1, 0});
    assert_fills("impute(with=-7.5)", &data, (double[]){-7.5, -7.5, 0});
    const double weights[] = {2, 1, 1, 1, 1};
    data.weights = margin_values_f64(weights, 5);
    assert_fills("impute", &data, (double[]){26.0 / 6, 13.0 / 5, 2});
    assert_fills("impute(with=median)", &data, (double[]){3, 5, 2}); /* 1 1 2 4 9 9; -1 -1 5 5 5 */
    assert_fills("impute(with=most-frequent)", &data, (double[]){1, 5, 2});
    data.weights = (margin_vector){0};
    assert_stage_result("impute", &data, (double[]){1, 5, 2, 2, 2, 0, 4, 5, 0, 9, -1, 0, 9, -1, 2},
                        1e-15);
}

static void test_impute_errors(void **state) {
    (void)state;
    const double x[] = {1, NOTHING, NOTHING, 2, NOTHING, NOTHING};
    const margin_column columns[] = {{.name = "a"},
                                     {.name = "empty"},
                                     {.name = "void",
                                      .kind = MARGIN_CATEGORICAL,
                                      .categories = stage_categories,
                                      .category_count = 5}};
    const margin_data data = {.x = margin_dense_f64(x, 2, 3, 3), .columns = columns};
    const char *const stages[] = {"impute", "impute(with=median)", "impute(with=most-frequent)"};
    for (int k = 0; k < 3; k++)
        assert_stage_fails(stages[k], &data, MARGIN_ERROR_DATA,
                           "2 columns have only missing values: empty, void; leave them out");
    assert_stage_fails("impute(with=0)", &data, MARGIN_ERROR_DATA,
                       "1 column has only missing values: void");
    const float f[] = {1, 2};
    const margin_data single = {.x = margin_dense_f32(f, 2, 1, 1)};
    assert_stage_fails("impute(with=1e300)", &single, MARGIN_ERROR_DATA,
                       "1e+300 is too large for data in single precision");
    const margin_data column = {.x = margin_dense_f64(x, 1, 2, 2)};
    assert_fills("impute(with=0)", &column, (double[]){0, 0});
    const double large[] = {1, 1.7e308, 2, NOTHING, 3, -1.7e308, 4, 1.7e308};
    const margin_data far = {.x = margin_dense_f64(large, 4, 2, 2), .columns = columns};
    assert_stage_fails("impute", &far, MARGIN_ERROR_DATA,
                       "column empty would be filled with is beyond double precision");
    assert_fills("impute(with=0)", &far, (double[]){0, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minmax_known),       cmocka_unit_test(test_minmax_ends),
        cmocka_unit_test(test_constant_columns),   cmocka_unit_test(test_poly_size),
        cmocka_unit_test(test_standardize_oracle), cmocka_unit_test(test_light_zeros),
        cmocka_unit_test(test_standardize_known),  cmocka_unit_test(test_affine),
        cmocka_unit_test(test_scale_errors),       cmocka_unit_test(test_normalize_known),
        cmocka_unit_test(test_impute_known),       cmocka_unit_test(test_impute_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
