/* Several targets of least squares and ridge: each as a fit of its own, the factor shared. */
#include "least_squares_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS = 3 };

static margin_context *context;

static int set_up(void **state) {
    (void)state;
    context = support_context(NULL, 2);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    margin_context_free(context);
    return 0;
}

/* Targets of different kinds: the case's own, a constant, one of the squares of columns. */
static double *make_targets(const regression *r) {
    double *y = malloc((size_t)(r->rows * TARGETS) * sizeof *y);
    assert_non_null(y);
    for (int64_t i = 0; i < r->rows; i++) {
        y[i * TARGETS] = r->y[i];
        y[i * TARGETS + 1] = 4;
        y[i * TARGETS + 2] = 1000 * r->x[i * r->columns] * r->x[i * r->columns] - r->y[i];
    }
    return y;
}

static const margin_column names[TARGETS] = {{.name = "size"}, {.name = "age"}, {.name = "cost"}};

static margin_data several(const margin_data *one, const double *y) {
    margin_data data = *one;
    data.y = margin_values_f64(y, data.x.rows * TARGETS);
    data.target = names;
    data.targets = TARGETS;
    return data;
}

/* Against a fit to target t alone. */
static void assert_like_single(const char *spec, const margin_data *one, const double *y, int64_t t,
                               const margin_model *model, double *objective) {
    const int64_t rows = one->x.rows, columns = one->x.columns;
    double *values = malloc((size_t)rows * sizeof *values), most = 0;
    assert_non_null(values);
    for (int64_t i = 0; i < rows; i++)
        values[i] = y[i * TARGETS + t];
    margin_data data = *one;
    data.y = margin_values_f64(values, rows);
    margin_report report;
    margin_model *single = fit_text(context, spec, &data, &report);
    const double *w = margin_model_weights(model, t), *v = margin_model_weights(single, 0);
    for (int64_t j = 0; j < columns; j++)
        most = fmax(most, fabs(v[j]));
    for (int64_t j = 0; j < columns; j++)
        assert_true(fabs(w[j] - v[j]) <= 1e-12 * most);
    assert_true(fabs(margin_model_intercept(model, t) - margin_model_intercept(single, 0)) <=
                1e-12 * (most + fabs(margin_model_intercept(single, 0))));
    *objective += report.objective;
    margin_model_free(single);
    free(values);
}

static void check_spec(const char *spec, const margin_data *one, const regression *r) {
    double *y = make_targets(r), objective = 0;
    const margin_data data = several(one, y);
    margin_report report;
    margin_model *model = fit_proven(context, spec, &data, &report);
    assert_int_equal(margin_model_target_count(model), TARGETS);
    assert_int_equal(margin_model_score_count(model), TARGETS);
    assert_int_equal(report.subproblems, TARGETS);
    for (int64_t t = 0; t < TARGETS; t++) {
        assert_like_single(spec, one, y, t, model, &objective);
        assert_string_equal(margin_model_target(model)[t].name, names[t].name);
    }
    assert_true(fabs(report.objective - objective) <= 1e-9 * fmax(1, fabs(objective)));
    margin_model_free(model);
    free(y);
}

static void test_like_single(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares",
                                        "least-squares(intercept=no)",
                                        "least-squares(solver=normal)",
                                        "least-squares(solver=qr)",
                                        "ridge",
                                        "ridge(lambda=0.1)",
                                        "standardize | ridge"};
    regression tall = regression_make(200, 6, 3, 1, 5), wide = regression_make(20, 150, 0, 1, 6);
    const margin_data tall_data = regression_data(&tall), wide_data = regression_data(&wide);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        check_spec(specs[k], &tall_data, &tall);
    check_spec("ridge", &wide_data, &wide);
    check_spec("least-squares", &wide_data, &wide);
    for (int64_t i = 0; i < tall.rows; i++) /* dependent columns */
        tall.x[i * 6 + 5] = tall.x[i * 6] - 2 * tall.x[i * 6 + 1];
    check_spec("least-squares", &tall_data, &tall);
    regression_free(&wide);
    regression_free(&tall);
}

static void test_values_and_metrics(void **state) {
    (void)state;
    regression r = regression_make(60, 4, 0, 1, 8);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r), values[60 * TARGETS], scores[60 * TARGETS];
    const margin_data data = several(&one, y);
    margin_error error = {0};
    margin_metrics metrics;
    margin_report report;
    margin_model *model = fit_proven(context, "ridge", &data, &report), *loaded = NULL;
    void *bytes = NULL;
    int64_t length = 0;
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_decode(context, bytes, length, &loaded, &error), MARGIN_OK);
    margin_bytes_free(model, bytes);
    assert_string_equal(margin_model_target(loaded)[2].name, "cost");
    assert_int_equal(margin_predict_values(loaded, &data.x, values, &error), MARGIN_OK);
    assert_int_equal(margin_scores(model, &data.x, scores, &error), MARGIN_OK);
    assert_memory_equal(values, scores, sizeof values);
    assert_int_equal(margin_evaluate(context, loaded, &data, &metrics, &error), MARGIN_OK);
    assert_int_equal(metrics.targets, TARGETS);
    double all = 0;
    for (int t = 0; t < TARGETS; t++) {
        double square = 0, deviation = 0;
        for (int i = 0; i < 60; i++) {
            double f = margin_model_intercept(model, t);
            for (int j = 0; j < 4; j++)
                f += margin_model_weights(model, t)[j] * r.x[i * 4 + j];
            assert_true(fabs(values[i * TARGETS + t] - f) <= 1e-9 * fmax(1, fabs(f)));
            const double miss = f - y[i * TARGETS + t];
            square += miss * miss / 60;
            deviation += fabs(miss) / 60;
        }
        all += square / TARGETS;
        assert_true(fabs(metrics.target_rmse[t] - sqrt(square)) <= 1e-9 * (1 + sqrt(square)));
        assert_true(fabs(metrics.target_mae[t] - deviation) <= 1e-9 * (1 + deviation));
    }
    assert_true(isnan(metrics.target_r2[1])); /* a constant */
    assert_true(fabs(metrics.rmse - sqrt(all)) <= 1e-9 * sqrt(all));
    assert_true(fabs(report.train_rmse - sqrt(all)) <= 1e-9 * sqrt(all));
    margin_metrics_free(&metrics);
    assert_null(metrics.target_rmse);
    assert_int_equal(margin_evaluate(context, loaded, &one, &metrics, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_string_equal(error.text, "the data has 1 target and the model 3");
    margin_model_free(loaded);
    margin_model_free(model);
    free(y);
    regression_free(&r);
}

static void assert_refused(const char *text, const margin_data *data, margin_status expected,
                           const char *sentence) {
    margin_error error = {0};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    assert_int_equal(margin_spec_parse(context, text, &spec, &error), MARGIN_OK);
    assert_int_equal(margin_fit(context, spec, data, &model, NULL, &error), expected);
    if (!strstr(error.text, sentence)) fail_msg("%s", error.text);
    assert_null(model);
    margin_spec_free(spec);
}

static void test_refused(void **state) {
    (void)state;
    regression r = regression_make(30, 3, 0, 1, 9);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r);
    margin_data data = several(&one, y);
    assert_refused("lasso", &data, MARGIN_ERROR_ARGUMENT,
                   "lasso takes one target and the data has 3");
    assert_refused("logistic", &data, MARGIN_ERROR_ARGUMENT, "logistic takes one target");
    assert_refused("standardize(target=yes) | ridge", &data, MARGIN_ERROR_SPEC,
                   "standardize(target=yes) scales one target, not 3");
    data.y.count--;
    assert_refused("ridge", &data, MARGIN_ERROR_ARGUMENT, "take rows x targets");
    data.y.count++;
    y[7 * TARGETS + 2] = (double)NAN;
    assert_refused("ridge", &data, MARGIN_ERROR_DATA, "row 8 has no value in the target cost");
    data.target = NULL;
    assert_refused("ridge", &data, MARGIN_ERROR_DATA, "row 8 has no value in the target y3");
    free(y);
    regression_free(&r);
}

static margin_status fit_body(margin_context *own, void *user, margin_error *error) {
    const margin_data *data = user;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_metrics metrics;
    margin_status status = margin_spec_parse(own, "ridge", &spec, error);
    if (status >= 0) status = margin_fit(own, spec, data, &model, NULL, error);
    if (status >= 0) status = margin_evaluate(own, model, data, &metrics, error);
    if (status >= 0) margin_metrics_free(&metrics);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    regression r = regression_make(20, 3, 0, 1, 10);
    const margin_data one = regression_data(&r);
    double *y = make_targets(&r);
    margin_data data = several(&one, y);
    assert_true(support_fail_each_allocation(2, fit_body, &data) > 10);
    data.target = NULL;
    assert_true(support_fail_each_allocation(2, fit_body, &data) > 10);
    free(y);
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_single),
        cmocka_unit_test(test_values_and_metrics),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
