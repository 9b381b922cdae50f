/* Stages that scale the target of a regression: the model in its own units, proof and files. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, COLUMNS = 3 };

typedef struct {
    double x[ROWS * COLUMNS], y[ROWS], weights[ROWS];
    margin_data data;
} regression;

/* Columns and target of very different sizes. */
static void regression_make(regression *r, uint64_t seed) {
    const double unit[COLUMNS] = {1, 50, 0.01}, hidden[COLUMNS] = {300, -20, 4000};
    for (int i = 0; i < ROWS; i++) {
        r->y[i] = 1e4 + 200 * support_normal(&seed);
        for (int j = 0; j < COLUMNS; j++) {
            r->x[i * COLUMNS + j] = unit[j] * (3 + support_normal(&seed));
            r->y[i] += hidden[j] * r->x[i * COLUMNS + j];
        }
        r->weights[i] = 1 + i % 3;
    }
    r->data = (margin_data){.x = margin_dense_f64(r->x, ROWS, COLUMNS, COLUMNS),
                            .y = margin_values_f64(r->y, ROWS)};
}

static void range_of(const double *values, int count, int stride, double *least, double *range) {
    double greatest = values[0];
    *least = values[0];
    for (int i = 1; i < count; i++) {
        *least = fmin(*least, values[i * stride]);
        greatest = fmax(greatest, values[i * stride]);
    }
    *range = greatest - *least;
}

static void deviation_of(const double *values, int count, int stride, double *mean,
                         double *deviation) {
    double square = 0;
    *mean = 0;
    for (int i = 0; i < count; i++)
        *mean += values[i * stride] / count;
    for (int i = 0; i < count; i++)
        square += pow(values[i * stride] - *mean, 2) / count;
    *deviation = sqrt(square);
}

typedef void (*measure)(const double *values, int count, int stride, double *offset,
                        double *divisor);

/* Scales a copy by hand, fits that without a stage, and puts the weights back by hand. */
static void by_hand(margin_context *context, const regression *r, measure of, const char *learner,
                    double *w, double *b, double *objective) {
    regression scaled = *r;
    double offset[COLUMNS], divisor[COLUMNS], y_offset, y_divisor;
    margin_report report = {0};
    of(r->y, ROWS, 1, &y_offset, &y_divisor);
    for (int j = 0; j < COLUMNS; j++)
        of(r->x + j, ROWS, COLUMNS, &offset[j], &divisor[j]);
    for (int i = 0; i < ROWS; i++) {
        scaled.y[i] = (r->y[i] - y_offset) / y_divisor;
        for (int j = 0; j < COLUMNS; j++)
            scaled.x[i * COLUMNS + j] = (r->x[i * COLUMNS + j] - offset[j]) / divisor[j];
    }
    scaled.data.x.values = scaled.x;
    scaled.data.y.values = scaled.y;
    margin_model *model = fit_text(context, learner, &scaled.data, &report);
    *objective = report.objective;
    *b = margin_model_intercept(model, 0) * y_divisor + y_offset;
    for (int j = 0; j < COLUMNS; j++) {
        w[j] = margin_model_weights(model, 0)[j] * y_divisor / divisor[j];
        *b -= w[j] * offset[j];
    }
    margin_model_free(model);
}

static void check_units(margin_context *context, const regression *r, const margin_model *model) {
    double mine = 0, weight = 0;
    margin_metrics metrics = {.size = sizeof metrics};
    margin_error error = {0};
    double values[ROWS];
    assert_int_equal(margin_predict_values(model, &r->data.x, values, &error), MARGIN_OK);
    for (int i = 0; i < ROWS; i++) {
        double f = margin_model_intercept(model, 0);
        for (int j = 0; j < COLUMNS; j++)
            f += margin_model_weights(model, 0)[j] * r->x[i * COLUMNS + j];
        assert_close(values[i], f, 1e-12);
        mine += pow(f - r->y[i], 2);
        weight += 1;
    }
    assert_int_equal(margin_evaluate(context, model, &r->data, &metrics, &error), MARGIN_OK);
    assert_close(metrics.rmse, sqrt(mine / weight), 1e-10);
    assert_close(margin_model_report(model)->train_rmse, metrics.rmse, 1e-10);
    margin_metrics_free(&metrics);
}

static void check_proof_and_file(margin_context *context, const regression *r,
                                 const margin_model *model) {
    margin_report found = {0};
    margin_error error = {0};
    margin_model *copy = NULL;
    void *bytes = NULL;
    int64_t length;
    if (margin_verify(context, model, &r->data, &found, &error) != MARGIN_OK)
        fail_msg("%s %s", error.text, found.reason);
    assert_close(found.objective, margin_model_report(model)->objective, 1e-8);
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_decode(context, bytes, length, &copy, &error), MARGIN_OK);
    assert_same_model(model, copy);
    check_units(context, r, copy);
    assert_int_equal(margin_verify(context, copy, &r->data, &found, &error), MARGIN_OK);
    margin_bytes_free(model, bytes);
    margin_model_free(copy);
}

static void test_models_in_units_of_the_target(void **state) {
    static const struct {
        const char *stage, *learner;
        double near;
        bool standardized;
    } cases[] = {{"minmax", "least-squares", 1e-9, false},
                 {"minmax", "least-squares(solver=qr)", 1e-9, false},
                 {"minmax", "least-squares(solver=gd, tol=1e-9, max_iter=200000)", 1e-5, false},
                 {"minmax", "ridge(alpha=2)", 1e-9, false},
                 {"minmax", "ridge(lambda=0.01, solver=gd, tol=1e-12)", 1e-5, false},
                 {"standardize", "ridge(C=0.1)", 1e-9, true},
                 {"standardize", "ridge(solver=gd, tol=1e-12)", 1e-5, true}};
    (void)state;
    margin_context *context = support_context(NULL, 2);
    regression r;
    regression_make(&r, 5);
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        char text[200];
        double w[COLUMNS], b, objective;
        margin_report report = {0};
        by_hand(context, &r, cases[k].standardized ? deviation_of : range_of, cases[k].learner, w,
                &b, &objective);
        snprintf(text, sizeof text, "%s(target=yes) | %s", cases[k].stage, cases[k].learner);
        margin_model *model = fit_text(context, text, &r.data, &report);
        for (int j = 0; j < COLUMNS; j++)
            assert_close(margin_model_weights(model, 0)[j], w[j], cases[k].near);
        assert_close(margin_model_intercept(model, 0), b, cases[k].near);
        assert_close(report.objective, objective, 1e-6); /* of the scaled target */
        assert_contains(report.formula, " for y");
        check_units(context, &r, model);
        check_proof_and_file(context, &r, model);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* A stage behind which no column can be folded keeps its place; the target is put back all the
 * same. */
static void test_stages_that_stay(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    regression r;
    regression_make(&r, 6);
    margin_error error = {0};
    margin_model *model =
        fit_text(context, "standardize(target=yes) | normalize | least-squares", &r.data, NULL);
    margin_model *plain =
        fit_text(context, "standardize | normalize | least-squares", &r.data, NULL);
    double scaled[ROWS], direct[ROWS];
    assert_int_equal(margin_predict_values(model, &r.data.x, scaled, &error), MARGIN_OK);
    assert_int_equal(margin_predict_values(plain, &r.data.x, direct, &error), MARGIN_OK);
    for (int i = 0; i < ROWS; i++)
        assert_close(scaled[i], direct[i], 1e-9);
    margin_report found = {0};
    assert_int_equal(margin_verify(context, model, &r.data, &found, &error), MARGIN_OK);
    margin_model_free(model);
    margin_model_free(plain);
    margin_context_free(context);
}

/* The scale is learnt from the rows that take part, with their weights. */
static void test_rows_that_take_part(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    regression r, wild;
    int64_t rows[ROWS];
    regression_make(&r, 7);
    wild = r;
    int64_t count = 0;
    for (int i = 0; i < ROWS; i++) {
        if (i % 5 == 2) {
            wild.y[i] = 1e9;
            r.weights[i] = 0;
        } else {
            rows[count++] = i;
        }
    }
    for (int k = 0; k < 2; k++) {
        const char *text = k ? "standardize(target=yes) | ridge" : "minmax(target=yes) | ridge";
        margin_data data = r.data;
        data.x.values = wild.x;
        data.y.values = wild.y;
        data.weights = margin_values_f64(r.weights, ROWS);
        margin_model *a = fit_text(context, text, &data, NULL);
        data.selection = rows;
        data.selected = count;
        margin_model *b = fit_text(context, text, &data, NULL);
        assert_same_model(a, b);
        margin_model_free(a);
        margin_model_free(b);
    }
    margin_context_free(context);
}

static void test_number_types(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    regression r;
    float y32[ROWS];
    double y64[ROWS];
    regression_make(&r, 8);
    for (int i = 0; i < ROWS; i++) {
        y32[i] = (float)r.y[i];
        y64[i] = (double)y32[i];
    }
    margin_data data = r.data;
    data.y = margin_values_f64(y64, ROWS);
    margin_model *a = fit_text(context, "minmax(target=yes) | ridge", &data, NULL);
    data.y = margin_values_f32(y32, ROWS);
    margin_model *b = fit_text(context, "minmax(target=yes) | ridge", &data, NULL);
    for (int j = 0; j < COLUMNS; j++)
        assert_true(margin_model_weights(a, 0)[j] == margin_model_weights(b, 0)[j]);
    margin_model_free(a);
    margin_model_free(b);
    margin_context_free(context);
}

static void test_constant_target(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    regression r;
    regression_make(&r, 9);
    for (int i = 0; i < ROWS; i++)
        r.y[i] = 7;
    for (int k = 0; k < 2; k++) {
        margin_model *model = fit_text(
            context, k ? "standardize(target=yes) | ridge" : "minmax(target=yes) | least-squares",
            &r.data, NULL);
        for (int j = 0; j < COLUMNS; j++)
            assert_true(margin_model_weights(model, 0)[j] == 0);
        assert_true(margin_model_intercept(model, 0) == 7);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_what_is_refused(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    regression r;
    regression_make(&r, 10);
    fit_refused(context, "minmax(target=yes) | standardize(target=yes) | ridge", &r.data,
                MARGIN_ERROR_SPEC, "both minmax and standardize scale the target");
    sample *s = sample_make(30, 3, 2, 0, 3);
    const margin_data classes = sample_data(s, DENSE_F64);
    fit_refused(context, "minmax(target=yes) | logistic", &classes, MARGIN_ERROR_SPEC,
                "minmax(target=yes) is for regressions; logistic has no numbers as a target");
    sample_free(s);
    margin_data bare = r.data;
    bare.y = (margin_vector){0};
    fit_refused(context, "standardize(target=yes) | kmeans(k=2)", &bare, MARGIN_ERROR_DATA,
                "standardize(target=yes) scales the target of a regression, and the data has no "
                "target");
    r.y[3] = 1.5e308;
    r.y[4] = -1.5e308;
    fit_refused(context, "minmax(target=yes) | ridge", &r.data, MARGIN_ERROR_DATA,
                "spread too far or too little");
    r.y[3] = NAN;
    r.y[4] = 1;
    fit_refused(context, "minmax(target=yes) | ridge", &r.data, MARGIN_ERROR_DATA,
                "row 4 has no value in the target");
    margin_context_free(context);
}

/* With a weak penalty the duality gap is far above the distance to the optimum, which the proof
 * takes at training as well. */
static void test_weak_penalty(void **state) {
    static const char *const solvers[] = {"gd", "sgd", "minibatch"};
    margin_context *context = support_context(NULL, 2);
    regression r;
    (void)state;
    regression_make(&r, 17);
    for (int n = 0; n < 6; n++) {
        char text[120];
        margin_report report = {0}, found = {0};
        snprintf(text, sizeof text, "standardize | ridge(solver=%s, alpha=1e-6, max_iter=9%s)",
                 solvers[n % 3], n < 3 ? "" : ", intercept=no");
        margin_model *model = fit_text(context, text, &r.data, &report);
        assert_int_equal(margin_verify(context, model, &r.data, &found, NULL), MARGIN_OK);
        if (!(report.gap <= found.gap * (1 + 1e-5) && report.gap >= found.gap * (1 - 1e-9)))
            fail_msg("%s: gap %g, verified %g", text, report.gap, found.gap);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_each_allocation(void **state) {
    (void)state;
    regression r;
    regression_make(&r, 11);
    fit_attempt attempt = {"minmax(target=yes) | ridge(solver=gd)", r.data};
    assert_true(support_fail_each_allocation(2, attempt_fit, &attempt) > 10);
    attempt.spec = "ridge(solver=sgd, alpha=1e-6, max_iter=2)";
    assert_true(support_fail_each_allocation(2, attempt_fit, &attempt) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_in_units_of_the_target),
        cmocka_unit_test(test_stages_that_stay),
        cmocka_unit_test(test_rows_that_take_part),
        cmocka_unit_test(test_number_types),
        cmocka_unit_test(test_constant_target),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_weak_penalty),
        cmocka_unit_test(test_each_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
