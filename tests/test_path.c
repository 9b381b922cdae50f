/* margin_path: every number against fits made one by one, rows left out in turn. */
#include "least_squares_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

static margin_path_result path_of(const char *text, const margin_data *data) {
    margin_path_result path = {0};
    margin_error error = {0};
    margin_spec *spec = parse_text(context, text);
    if (margin_path(context, spec, data, &path, &error) < 0) fail_msg("%s: %s", text, error.text);
    margin_spec_free(spec);
    return path;
}

static void refused(const char *text, const margin_data *data, margin_status status,
                    const char *part) {
    margin_path_result path = {0}, before = {0};
    margin_error error = {0};
    margin_spec *spec = parse_text(context, text);
    memset(&path, 0x5C, sizeof path);
    path.size = sizeof path;
    memcpy(&before, &path, sizeof path);
    assert_int_equal(margin_path(context, spec, data, &path, &error), status);
    assert_contains(error.text, part);
    assert_memory_equal(&path, &before, sizeof path);
    margin_spec_free(spec);
}

static double value_of(const margin_data *data, int64_t row) {
    return ((const double *)data->y.values)[row];
}

static double weight_of(const margin_data *data, int64_t row) {
    return data->weights.values ? ((const double *)data->weights.values)[row] : 1;
}

/* Root mean square of the errors at rows left out, by fitting without each of them. */
static double leave_one_out(const char *spec, const margin_data *data) {
    const int64_t rows = data->x.rows;
    int64_t *selection = malloc((size_t)rows * sizeof *selection);
    double sum = 0, total = 0;
    margin_data rest = *data;
    margin_error error = {0};
    rest.selection = selection;
    rest.selected = rows - 1;
    for (int64_t out = 0; out < rows; out++) {
        double *values = malloc((size_t)rows * sizeof *values);
        for (int64_t i = 0, at = 0; i < rows; i++)
            if (i != out) selection[at++] = i;
        margin_model *model = fit_text(context, spec, &rest, NULL);
        if (margin_predict_values(model, &data->x, values, &error) < 0) fail_msg("%s", error.text);
        const double miss = value_of(data, out) - values[out];
        sum += weight_of(data, out) * miss * miss;
        total += weight_of(data, out);
        margin_model_free(model);
        free(values);
    }
    free(selection);
    return sqrt(sum / total);
}

/* A point of a path against the fit of its spec. `refit`: leave out the rows, too (where no stage
 * learns from them). */
static void assert_point(const margin_path_point *point, const margin_data *data, int64_t features,
                         bool refit, double tolerance) {
    margin_report report = {0};
    margin_model *model = fit_proven(context, point->spec, data, &report);
    int64_t count;
    margin_model_features(model, &count);
    assert_int_equal(features, count);
    double size = 1e-300;
    for (int64_t j = 0; j < features; j++)
        size = fmax(size, fabs(margin_model_weights(model, 0)[j]));
    for (int64_t j = 0; j < features; j++)
        assert_close((point->weights[j] - margin_model_weights(model, 0)[j]) / size, 0, tolerance);
    assert_close(point->intercept, margin_model_intercept(model, 0), tolerance);
    assert_close(point->objective, report.objective, tolerance);
    assert_close(point->train_rmse, report.train_rmse, tolerance);
    assert_close(point->alpha, margin_report_item_value(&report, "alpha"), 1e-14);
    assert_close(point->lambda, margin_report_item_value(&report, "lambda"), 1e-14);
    if (point->alpha > 0)
        assert_true(point->gap <= 1e-8);
    else /* products of columns prove nothing but that no objective is below 0 */
        assert_close(point->gap * fmax(1, point->objective), point->objective, 1e-12);
    if (refit) assert_close(point->leave_one_out_rmse, leave_one_out(point->spec, data), 1e-8);
    margin_model_free(model);
}

static void assert_path(const char *spec, const margin_data *data, int64_t count, bool refit) {
    margin_path_result path = path_of(spec, data);
    assert_int_equal(path.count, count);
    for (int64_t k = 0; k < count; k++) {
        assert_point(margin_path_point_at(&path, k), data, path.features, refit, 1e-9);
        assert_true(margin_path_point_at(&path, path.best)->leave_one_out_rmse <=
                    margin_path_point_at(&path, k)->leave_one_out_rmse);
    }
    for (int64_t k = 1; k < count; k++)
        assert_true(margin_path_point_at(&path, k)->freedom <
                    margin_path_point_at(&path, k - 1)->freedom);
    margin_path_free(&path);
}

/* ---- Against single fits --------------------------------------------------------------------- */

static void test_oracle(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{6, 2}, {40, 5}, {30, 29}, {20, 50}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        regression r = regression_make(shapes[k][0], shapes[k][1], 2, 1, 20 + k);
        const margin_data data = regression_data(&r);
        assert_path("ridge(alpha={0.01..1000 log 6})", &data, 6, true);
        assert_path("ridge(intercept=no, alpha={0.1,1,10})", &data, 3, true);
        regression_free(&r);
    }
}

static void test_spellings(void **state) {
    (void)state;
    regression r = regression_make(50, 4, 1, 1, 30);
    const margin_data data = regression_data(&r);
    /* lambda is a share of the rows, and with one left out there are fewer */
    assert_path("ridge(lambda={0.001,0.1,2})", &data, 3, false);
    assert_path("ridge(C={inf,10,0.1})", &data, 3, true);
    assert_path("ridge(alpha=3)", &data, 1, true);
    assert_path("ridge", &data, 1, true);
    margin_path_result path = path_of("ridge(alpha={0,1})", &data); /* least squares */
    assert_close(margin_path_point_at(&path, 0)->freedom, 5, 1e-12);
    assert_string_equal(margin_path_point_at(&path, 1)->spec, "ridge(alpha=1)");
    margin_path_free(&path);
    regression_free(&r);
}

static void test_stages(void **state) {
    (void)state;
    regression r = regression_make(60, 4, 5, 1, 31);
    const margin_data data = regression_data(&r);
    for (int64_t i = 0; i < r.rows; i++)
        r.x[i * 4 + 2] *= 1e4;
    assert_path("standardize | ridge(alpha={0.1,1,10})", &data, 3, false);
    assert_path("minmax | standardize | ridge(lambda={0.1,1,10})", &data, 3, false);
    assert_path("standardize(target=yes) | ridge(alpha={0.1,1,10})", &data, 3, false);
    assert_path("normalize | ridge(alpha={0.1,1,10})", &data, 3, true);
    regression_free(&r);
}

static void test_layouts(void **state) {
    (void)state;
    sample *s = sample_make(70, 6, 2, 0.1, 32);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        const margin_data data = sample_data(s, layout);
        assert_path("ridge(alpha={0.1,1,10})", &data, 3, layout % 4 == 0);
        assert_path("standardize | ridge(alpha={0.1,1,10})", &data, 3, false);
    }
    sample_free(s);
}

/* A row of weight k is left out with all its copies; a row of weight 0 is not there. */
static void test_weights(void **state) {
    (void)state;
    regression r = regression_make(40, 3, 1, 1, 33);
    double weights[40];
    for (int i = 0; i < 40; i++)
        weights[i] = 0.5 + i % 3;
    margin_data data = regression_data(&r);
    data.weights = margin_values_f64(weights, 40);
    assert_path("ridge(alpha={0.1,1,10})", &data, 3, true);
    for (int i = 30; i < 40; i++)
        weights[i] = 0;
    margin_path_result path = path_of("ridge(alpha={0.1,1,10})", &data);
    int64_t selection[30];
    for (int i = 0; i < 30; i++)
        selection[i] = i;
    data.selection = selection;
    data.selected = 30;
    margin_path_result chosen = path_of("ridge(alpha={0.1,1,10})", &data);
    assert_int_equal(path.rows, 30);
    for (int k = 0; k < 3; k++)
        assert_true(margin_path_point_at(&path, k)->leave_one_out_rmse ==
                    margin_path_point_at(&chosen, k)->leave_one_out_rmse);
    margin_path_free(&path);
    margin_path_free(&chosen);
    regression_free(&r);
}

/* GCV replaces every leverage by the mean one: the same where all leverages are equal. */
static void test_gcv(void **state) {
    (void)state;
    enum { ROWS = 8 };
    double x[ROWS][3], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < 3; j++)
            x[i][j] = (i >> j) & 1 ? 1 : -1; /* a full factorial design */
        y[i] = i * i % 11;
    }
    const margin_data data = {.x = margin_dense_f64(x[0], ROWS, 3, 3),
                              .y = margin_values_f64(y, ROWS)};
    margin_path_result path = path_of("ridge(alpha={0,1,8,100})", &data);
    for (int k = 0; k < 4; k++) {
        const margin_path_point *p = margin_path_point_at(&path, k);
        assert_close(p->gcv_rmse, p->leave_one_out_rmse, 1e-13);
        assert_close(p->freedom, 1 + 3 * 8 / (8 + p->alpha), 1e-13);
    }
    margin_path_free(&path);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void test_columns(void **state) {
    (void)state;
    regression r = regression_make(50, 5, 0, 1, 34);
    for (int64_t i = 0; i < r.rows; i++) {
        r.x[i * 5] = (double)(float)r.x[i * 5];
        r.x[i * 5 + 1] = 4;
        r.x[i * 5 + 2] = (double)(float)r.x[i * 5 + 2];
        r.x[i * 5 + 3] = r.x[i * 5] - r.x[i * 5 + 2];
    }
    const margin_data data = regression_data(&r);
    assert_path("ridge(alpha={1e-3,1,10})", &data, 3, true);
    margin_path_result path = path_of("ridge(alpha={0,1})", &data);
    margin_model *plain = fit_proven(context, "least-squares", &data, NULL);
    for (int j = 0; j < 5; j++) /* of least norm, as there */
        assert_close(margin_path_point_at(&path, 0)->weights[j], margin_model_weights(plain, 0)[j],
                     1e-10);
    assert_close(margin_path_point_at(&path, 0)->freedom, 4, 1e-12);
    assert_true(margin_path_point_at(&path, 0)->weights[1] == 0);
    margin_model_free(plain);
    margin_path_free(&path);
    regression_free(&r);
}

/* As many columns as rows and no penalty: every row is met, and leaving one out says nothing. */
static void test_interpolation(void **state) {
    (void)state;
    regression r = regression_make(10, 12, 0, 1, 35);
    const margin_data data = regression_data(&r);
    margin_path_result path = path_of("ridge(alpha={0,0.5})", &data);
    assert_true(isinf(margin_path_point_at(&path, 0)->leave_one_out_rmse));
    assert_int_equal(path.best, 1);
    margin_path_free(&path);
    regression_free(&r);
}

/* Columns of very different size: the first solutions are corrected. */
static void test_scales(void **state) {
    (void)state;
    regression r = regression_make(80, 4, 0, 0.1, 36);
    for (int64_t i = 0; i < r.rows; i++) {
        r.x[i * 4] *= 1e5;
        r.x[i * 4 + 3] *= 1e-3;
    }
    const margin_data data = regression_data(&r);
    margin_path_result path = path_of("ridge(alpha={1e-6,1e-3,1})", &data);
    for (int k = 0; k < 3; k++) {
        margin_model *model =
            fit_proven(context, margin_path_point_at(&path, k)->spec, &data, NULL);
        for (int j = 0; j < 4; j++)
            assert_close(margin_path_point_at(&path, k)->weights[j] /
                             margin_model_weights(model, 0)[j],
                         1, 1e-6);
        assert_true(margin_path_point_at(&path, k)->gap < 1e-6);
        margin_model_free(model);
    }
    margin_path_free(&path);
    regression_free(&r);
}

/* ---- Threads, refusals, failures ------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    regression r = regression_make(5000, 7, 1, 1, 37);
    const margin_data data = regression_data(&r);
    margin_path_result first = {0};
    margin_error error = {0};
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *own = support_context(NULL, threads);
        margin_spec *spec = parse_text(own, "standardize | ridge(alpha={0.1..10 log 5})");
        margin_path_result path = {0};
        if (margin_path(own, spec, &data, &path, &error) < 0) fail_msg("%s", error.text);
        for (int k = 0; threads > 1 && k < 5; k++) {
            const margin_path_point *a = margin_path_point_at(&first, k),
                                    *b = margin_path_point_at(&path, k);
            assert_true(a->leave_one_out_rmse == b->leave_one_out_rmse && a->gap == b->gap);
            assert_memory_equal(a->weights, b->weights, 7 * sizeof(double));
        }
        if (threads == 1)
            first = path;
        else
            margin_path_free(&path);
        margin_spec_free(spec);
        margin_context_free(own);
    }
    margin_path_free(&first); /* outlives its context */
    regression_free(&r);
}

static void test_refusals(void **state) {
    (void)state;
    regression r = regression_make(30, 3, 0, 1, 38);
    const margin_data data = regression_data(&r);
    refused("least-squares", &data, MARGIN_ERROR_SPEC, "least-squares has no path");
    refused("ridge(alpha={1,2}, tol={1e-3,1e-6})", &data, MARGIN_ERROR_SPEC, "one value of tol");
    refused("ridge(alpha={1,2}, intercept={yes,no})", &data, MARGIN_ERROR_SPEC, "intercept");
    margin_data other = data;
    other.y.values = NULL;
    refused("ridge(alpha={1,2})", &other, MARGIN_ERROR_DATA, "target");
    r.x[7] = (double)NAN;
    refused("ridge(alpha={1,2})", &data, MARGIN_ERROR_DATA, "row 3");
    margin_path_result path = {0};
    margin_error error = {0};
    margin_spec *spec = parse_text(context, "ridge");
    assert_int_equal(margin_path(context, spec, &data, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_path(context, NULL, &data, &path, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_path(NULL, spec, &data, &path, &error), MARGIN_ERROR_ARGUMENT);
    margin_context *own = support_context(NULL, 2);
    r.x[7] = 0;
    margin_context_cancel(own);
    assert_int_equal(margin_path(own, spec, &data, &path, &error), MARGIN_ERROR_CANCELLED);
    margin_context_free(own);
    margin_spec_free(spec);
    double *wide = calloc(2 * 4097, sizeof *wide);
    const double y[2] = {1, 2};
    wide[3] = 1;
    other.x = margin_dense_f64(wide, 2, 4097, 4097);
    other.y = margin_values_f64(y, 2);
    refused("ridge", &other, MARGIN_ERROR_LIMIT, "4097 columns");
    free(wide);
    margin_path_free(NULL);
    regression_free(&r);
}

static margin_status make_path(margin_context *own, void *user, margin_error *error) {
    margin_path_result path = {0};
    margin_spec *spec = NULL;
    margin_status status =
        margin_spec_parse(own, "standardize | ridge(alpha={1,2,3})", &spec, error);
    if (status >= 0) status = margin_path(own, spec, user, &path, error);
    margin_path_free(&path);
    margin_spec_free(spec);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    regression r = regression_make(30, 3, 0, 1, 39);
    margin_data data = regression_data(&r);
    assert_true(support_fail_each_allocation(2, make_path, &data) > 20);
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),   cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_stages),   cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_weights),  cmocka_unit_test(test_gcv),
        cmocka_unit_test(test_columns),  cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_scales),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
