/* rbf: centres, widths and values against plain formulas; what it refuses; hostile files. */
#include "model_cases.h"
#include "stage_support.h"

#include "cluster/centres/centre_squares.h"

#include <stdlib.h>
#include <string.h>

static const double *centres_of(const mg_fitted_stage *fitted) {
    return mg_bag_find(&fitted->bag, "centres")->data;
}

static double gamma_of(const mg_fitted_stage *fitted) {
    return *(const double *)mg_bag_find(&fitted->bag, "gamma")->data;
}

/* Five centres on [0, 8]: 0, 2, 4, 6, 8, and sigma 2. */
static void test_even(void **state) {
    (void)state;
    const double x[] = {3, 0, 8};
    const margin_data data = {.x = margin_dense_f64(x, 3, 1, 1)};
    double expected[3 * 6];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 5; k++)
            expected[6 * i + k] = exp(-(x[i] - 2 * k) * (x[i] - 2 * k) / 8);
        expected[6 * i + 5] = 1;
    }
    assert_stage_result("rbf(centres=5, pick=even)", &data, expected, 1e-15);
    assert_stage_result("rbf(centres=5, pick=even, sigma=2)", &data, expected, 1e-15);
    assert_stage_result("rbf(centres=5, pick=even, gamma=0.125)", &data, expected, 1e-15);
    assert_stage_result("rbf(centres=1, pick=even, sigma=1, bias=no)", &data,
                        (double[]){exp(-0.5), exp(-8), exp(-8)}, 1e-15);
}

/* 3^2 centres; names; the column of ones last. */
static void test_grid(void **state) {
    (void)state;
    const double x[] = {0, 10, 2, 30};
    const margin_data data = {.x = margin_dense_f64(x, 2, 2, 2)};
    margin_context *context = support_context(NULL, 1);
    mg_fitted_stage fitted = stage_fitted(context, "rbf(centres=3, pick=even)", &data);
    const double *centre = centres_of(&fitted);
    for (int k = 0; k < 9; k++) {
        assert_close(centre[2 * k], k / 3, 0);
        assert_close(centre[2 * k + 1], 10 + 10 * (k % 3), 0);
    }
    assert_int_equal(fitted.columns_out, 10);
    assert_string_equal(fitted.columns.items[0].name, "rbf1");
    assert_string_equal(fitted.columns.items[8].name, "rbf9");
    assert_string_equal(fitted.columns.items[9].name, "1");
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* The median skips the distance of a centre to itself. */
static void test_median(void **state) {
    (void)state;
    const double x[] = {0, 1, 3}; /* distances 1, 3, 1, 2, 3, 2 */
    const double apart[] = {0, 1, 1, 1, 1};
    margin_data data = {.x = margin_dense_f64(x, 3, 1, 1)};
    margin_context *context = support_context(NULL, 2);
    mg_fitted_stage fitted = stage_fitted(context, "rbf(centres=3)", &data);
    assert_close(gamma_of(&fitted), 1 / (2 * 4.0), 1e-15);
    mg_fitted_stage_clear(&fitted);
    /* equal rows are a centre once */
    data.x = margin_dense_f64(apart, 5, 1, 1);
    fitted = stage_fitted(context, "rbf(centres=5)", &data);
    assert_int_equal(fitted.columns_out, 3);
    assert_close(gamma_of(&fitted), 0.5, 1e-15);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* A mean of equal rows is away from them by rounding, which is no distance. */
static void test_median_of_copies(void **state) {
    (void)state;
    double x[14];
    for (int i = 0; i < 14; i++)
        x[i] = i < 7 ? 0.1 : 1.7;
    const margin_data data = {.x = margin_dense_f64(x, 14, 1, 1)};
    margin_context *context = support_context(NULL, 2);
    mg_fitted_stage fitted = stage_fitted(context, "rbf(centres=2, pick=kmeans)", &data);
    assert_true(centres_of(&fitted)[0] != x[0] && centres_of(&fitted)[0] != x[13]);
    assert_true(centres_of(&fitted)[1] != x[0] && centres_of(&fitted)[1] != x[13]);
    assert_close(gamma_of(&fitted), 1 / (2 * 1.6 * 1.6), 1e-12);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* A weight of 2 is a copy: the median of the distances moves from 2 to 1. */
static void test_weighted_median(void **state) {
    (void)state;
    const double x[] = {0, 1, 3}, weights[] = {1, 5, 1};
    margin_data data = {.x = margin_dense_f64(x, 3, 1, 1),
                        .weights = margin_values_f64(weights, 3)};
    margin_context *context = support_context(NULL, 2);
    mg_fitted_stage fitted = stage_fitted(context, "rbf(centres=3)", &data);
    /* 1, 3 | 1 (5 times), 2 (5 times) | 3, 2: of 14 the seventh is 2 */
    assert_close(gamma_of(&fitted), 1 / (2 * 4.0), 1e-15);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* Three far groups: their means are the centres, dense and sparse; a weight counts. */
static void test_kmeans(void **state) {
    (void)state;
    const double x[] = {0, 0, 1, 0, 50, 9, 52, 9, 0, 90, 0, 91}, weights[] = {1, 3, 1, 1, 1, 1};
    const double means[3][2] = {{0.75, 0}, {51, 9}, {0, 90.5}};
    margin_data data = {.x = margin_dense_f64(x, 6, 2, 2),
                        .weights = margin_values_f64(weights, 6)};
    stage_csr csr = stage_to_csr(x, 6, 2);
    for (int sparse = 0; sparse < 2; sparse++) {
        if (sparse) data.x = csr.view;
        margin_context *context = support_context(NULL, 2);
        mg_fitted_stage fitted = stage_fitted(context, "rbf(centres=3, pick=kmeans)", &data);
        for (int k = 0; k < 3; k++) {
            int found = 0;
            for (int c = 0; c < 3; c++)
                found += fabs(centres_of(&fitted)[2 * c] - means[k][0]) < 1e-12 &&
                         fabs(centres_of(&fitted)[2 * c + 1] - means[k][1]) < 1e-12;
            assert_int_equal(found, 1);
        }
        mg_fitted_stage_clear(&fitted);
        margin_context_free(context);
    }
    assert_stage_fails("rbf(centres=7, pick=kmeans)", &data, MARGIN_ERROR_DATA, "different rows");
    static const double equal[6] = {3, 3, 3, 3, 3, 3};
    data.x = margin_dense_f64(equal, 3, 2, 2);
    assert_stage_fails("rbf(centres=2)", &data, MARGIN_ERROR_DATA,
                       "every row is a centre and all are equal, or they are too close");
    assert_stage_fails("rbf(centres=2, pick=kmeans)", &data, MARGIN_ERROR_DATA,
                       "only 1 different row and cannot make 2 clusters");
    stage_csr_free(&csr);
}

/* Rows in proportion to their weights, all different, by the seed. */
static void test_sample(void **state) {
    (void)state;
    enum { ROWS = 1000, DRAWN = 100 };
    double x[ROWS], weights[ROWS];
    int heavy = 0, same = 0;
    for (int i = 0; i < ROWS; i++) {
        x[i] = i;
        weights[i] = i < ROWS / 2 ? 9 : 1;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                              .weights = margin_values_f64(weights, ROWS)};
    margin_context *one = support_context(NULL, 1), *other;
    margin_context_options options = {.seed = 5};
    margin_error error;
    assert_int_equal(margin_context_create(&options, &other, &error), MARGIN_OK);
    mg_fitted_stage a = stage_fitted(one, "rbf", &data), b = stage_fitted(other, "rbf", &data);
    for (int k = 0; k < DRAWN; k++) {
        const double centre = centres_of(&a)[k];
        heavy += centre < ROWS / 2;
        same += centre == centres_of(&b)[k];
        for (int j = 0; j < k; j++)
            assert_true(centres_of(&a)[j] != centre);
    }
    assert_true(heavy > 80 && heavy < 97);
    assert_true(same < 10);
    mg_fitted_stage_clear(&a);
    mg_fitted_stage_clear(&b);
    margin_context_free(one);
    margin_context_free(other);
}

/* Centres 1e8 from 0 and a distance of 1e-3: the expanded square would be lost. */
static void test_far_from_zero(void **state) {
    (void)state;
    enum { COLUMNS = 3, COUNT = 70 };
    double centres[COUNT * COLUMNS], packed[96 * COLUMNS], squares[COUNT], x[COLUMNS];
    for (int k = 0; k < COUNT * COLUMNS; k++)
        centres[k] = 1e8 + k * 0x1p-10;
    for (int j = 0; j < COLUMNS; j++)
        x[j] = 1e8;
    assert_int_equal(mg_centres_packed(COUNT, COLUMNS), 96 * COLUMNS);
    mg_centres_pack(centres, COUNT, COLUMNS, packed);
    for (int isa = MG_ISA_REF; isa <= (int)mg_isa_level(); isa++) {
        mg_centre_squares((mg_isa)isa, x, COLUMNS, packed, COUNT, squares);
        for (int k = 0; k < COUNT; k++) {
            double expected = 0;
            for (int j = 0; j < COLUMNS; j++)
                expected += (COLUMNS * k + j) * (COLUMNS * k + j) * 0x1p-20;
            assert_true(squares[k] == expected);
        }
    }
}

static void test_refusals(void **state) {
    (void)state;
    const double x[] = {1, 1, 1, 2, 2, 2};
    margin_data data = {.x = margin_dense_f64(x, 3, 1, 1)};
    assert_stage_fails("rbf", &data, MARGIN_ERROR_DATA, "give sigma=");
    assert_stage_fails("rbf(pick=even)", &data, MARGIN_ERROR_DATA, "constant");
    assert_stage_fails("rbf(sigma=spacing)", &data, MARGIN_ERROR_DATA, "pick=even");
    assert_stage_fails("rbf(sigma=1, gamma=1)", &data, MARGIN_ERROR_SPEC, "gamma");
    assert_stage_fails("rbf(sigma=0)", &data, MARGIN_ERROR_SPEC, "sigma");
    assert_stage_fails("rbf(centres=0)", &data, MARGIN_ERROR_SPEC, "centres");
    assert_stage_fails("rbf(sigma=1e-200)", &data, MARGIN_ERROR_DATA, "out of range");
    data.x = margin_dense_f64(x, 2, 3, 3);
    assert_stage_fails("rbf(pick=even, centres=1000)", &data, MARGIN_ERROR_LIMIT, "pick=sample");
    assert_stage_fails("rbf(sigma=spacing, pick=even, centres=2)", &data, MARGIN_ERROR_DATA,
                       "single column");
    data.x = margin_dense_f64(x, 3, 1, 1);
    data.columns = &stage_mixed_columns[4];
    assert_stage_fails("rbf", &data, MARGIN_ERROR_DATA, "onehot | rbf");
}

/* The stage before it made what has no distances. */
static void test_far_columns(void **state) {
    (void)state;
    const double x[] = {1, 2, 3e200, 4, 5, 6};
    const margin_data data = {.x = margin_dense_f64(x, 6, 1, 1)};
    margin_context *context = support_context(NULL, 1);
    fit_refused(context, "poly(degree=3) | rbf(centres=2) | kmeans(k=2)", &data, MARGIN_ERROR_DATA,
                "row 3 has a missing or infinite value in column x1^2 when rbf gets it");
    margin_context_free(context);
}

static void assert_detached(mg_fitted_stage *fitted) {
    margin_error error;
    mg_free(fitted->heap, (void *)fitted->view);
    fitted->view = NULL;
    assert_int_equal(fitted->stage->attach(fitted, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "rbf");
}

static void test_hostile(void **state) {
    (void)state;
    const double x[] = {1, 2, 4, 8, 9, 0};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 6; k++) {
        mg_fitted_stage fitted = stage_fitted(context, "rbf", &data);
        mg_tensor *centres = (mg_tensor *)mg_bag_find(&fitted.bag, "centres");
        double *gamma = mg_bag_find(&fitted.bag, "gamma")->data;
        if (k == 0) *gamma = 0;
        if (k == 1) *gamma = (double)NAN;
        if (k == 2) ((double *)centres->data)[3] = (double)INFINITY;
        if (k == 3) centres->shape[0] = 2;
        if (k == 4) centres->shape[1] = 1;
        if (k == 5) centres->dimensions = 1;
        assert_detached(&fitted);
        mg_fitted_stage_clear(&fitted);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_weighted_median),
        cmocka_unit_test(test_median_of_copies),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_kmeans),
        cmocka_unit_test(test_far_from_zero),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_far_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
