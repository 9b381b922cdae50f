/* Affine stages left to the learner: the same model as with the stages applied, without a copy of
 * the data. A toy ridge regression stands for the linear learners. */
#include "model_cases.h"

#include "linear/objective/objective.h"
#include "math/products/cholesky.h"
#include "model/problem/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;
static mg_problem seen; /* by the last fit */

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

/* ---- The toy --------------------------------------------------------------------------------- */

/* min sum (f - y)^2 + |w|^2 by its normal equations */
static margin_status fit_ridge(mg_fit *fit) {
    mg_design design = {0};
    double *gram = NULL;
    int64_t failed = 0;
    margin_status status;
    seen = *fit->problem;
    MG_GO(mg_design_create(fit->context, fit->problem, &design, fit->error));
    const int64_t n = design.columns + 1;
    const mg_weighted_gram request = {.extra = fit->problem->target, .extra_spread = 1.0};
    MG_GO_NEW(design.heap, gram, (n + 1) * (n + 1) + n * n + n, "a Gram", fit->error);
    double *a = gram + (n + 1) * (n + 1), *x = a + n * n;
    MG_GO(mg_design_gram(&design, &request, gram, fit->error));
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = i < n - 1 ? i : n;
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = gram[from * (n + 1) + (j < n - 1 ? j : n)] + (i == j && i < n - 1);
        x[i] = gram[from * (n + 1) + n - 1];
    }
    MG_GO(mg_cholesky_factor(fit->context, n, a, n, &failed, fit->error));
    assert_int_equal(failed, 0);
    mg_cholesky_solve(design.isa, n, a, n, x);
    status = mg_linear_make(design.heap, x, n - 1, x[n - 1], &fit->hypothesis, fit->error);
    fit->report.gap = 0;
done:
    mg_free(fit->context->heap, gram);
    if (design.heap) mg_design_free(&design);
    return status;
}

#define RIDGE(affine)                                                                              \
    {                                                                                              \
        .info = {.name = "ridge",                                                                  \
                 .kind = MARGIN_LEARNER,                                                           \
                 .abilities = MARGIN_CAN_REGRESSION | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS},     \
        .makes = {&mg_hypothesis_linear}, .takes_affine = (affine), .fit = fit_ridge               \
    }
static const mg_learner ridge_that_takes = RIDGE(true), ridge_that_does_not = RIDGE(false);

static margin_spec *ridge_spec(margin_context *context, const mg_learner *learner,
                               const char *stages) {
    margin_spec *spec = parse_text(context, stages);
    mg_spec_component *last = &spec->components[spec->component_count - 1];
    last->info = &learner->info;
    last->learner = learner;
    return spec;
}

static margin_model *fit_spec(margin_context *context, const mg_learner *learner,
                              const char *stages, const margin_data *data) {
    margin_spec *spec = ridge_spec(context, learner, stages);
    margin_model *model = NULL;
    OK(margin_fit(context, spec, data, &model, NULL, &error));
    margin_spec_free(spec);
    return model;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

enum { ROWS = 60, COLUMNS = 5 };

static const char *const tails[] = {
    "standardize | perceptron",
    "minmax | perceptron",
    "minmax | standardize | perceptron",
    "standardize(columns='x2,x4') | minmax | standardize(center=no) | perceptron",
    "normalize | standardize | perceptron",
    "impute | minmax | standardize | perceptron",
};
static const char *const others[] = {"perceptron", "standardize | normalize | perceptron"};

static void assert_same_numbers(const margin_model *a, const margin_model *b, double tolerance) {
    for (int64_t j = 0; j < COLUMNS; j++)
        assert_close(margin_model_weights(a, 0)[j], margin_model_weights(b, 0)[j], tolerance);
    assert_close(margin_model_intercept(a, 0), margin_model_intercept(b, 0), tolerance);
}

static void check_stages(margin_context *context, const char *stages, const margin_data *data,
                         bool left) {
    margin_model *applied = fit_spec(context, &ridge_that_does_not, stages, data);
    assert_true(!seen.scale && !seen.shift);
    margin_model *taken = fit_spec(context, &ridge_that_takes, stages, data);
    assert_true(left == (seen.scale != NULL) && left == (seen.shift != NULL));
    if (left && !strstr(stages, "normalize") && !strstr(stages, "impute")) {
        assert_ptr_equal(seen.x.values, data->x.values); /* no copy, sparse stays sparse */
        assert_ptr_equal(seen.x.row_starts, data->x.row_starts);
    }
    const bool f32 = data->x.value_type == MARGIN_F32; /* applied stages round to f32 */
    if (applied->active < applied->stage_count || applied->stage_count == 0) {
        if (strstr(stages, "normalize")) {
            double *a = scores_of(applied, &data->x), *b = scores_of(taken, &data->x);
            for (int64_t i = 0; i < ROWS; i++)
                assert_close(a[i], b[i], f32 ? 1e-5 : 1e-11);
            free(a);
            free(b);
        } else {
            assert_same_numbers(applied, taken, f32 ? 1e-5 : 1e-11);
        }
    }
    margin_model_free(applied);
    margin_model_free(taken);
}

static sample *make_data(double targets[ROWS], double weights[ROWS]) {
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.3, 77);
    for (int64_t i = 0; i < ROWS; i++) {
        targets[i] = s->labels[i] + s->f64[i * COLUMNS] / 3 + 0.1 * (double)(i % 7);
        weights[i] = (double)(i % 4) / 2;
    }
    return s;
}

static void test_same_model(void **state) {
    double targets[ROWS], weights[ROWS];
    int64_t selection[ROWS];
    sample *s = make_data(targets, weights);
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (int64_t i = 0; i < ROWS; i++)
        selection[i] = (i * 7) % ROWS;
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int with = 0; with < 4; with++) {
            margin_data data = {.x = sample_view(s, layout), .y = margin_values_f64(targets, ROWS)};
            if (with & 1) data.weights = margin_values_f64(weights, ROWS);
            if (with & 2) {
                data.selection = selection;
                data.selected = ROWS - 13;
            }
            for (size_t k = 0; k < sizeof tails / sizeof *tails; k++)
                check_stages(context, tails[k], &data, true);
            for (size_t k = 0; k < sizeof others / sizeof *others; k++)
                check_stages(context, others[k], &data, false);
        }
    margin_context_free(context);
    sample_free(s);
}

/* A constant column gets the weight 0 in either way. */
static void test_constant_column(void **state) {
    double x[ROWS * 2], y[ROWS];
    margin_context *context = support_context(NULL, 1);
    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        x[2 * i] = 1e6 + (double)(i % 11);
        x[2 * i + 1] = 4;
        y[i] = (double)(i % 11) + (double)(i % 3);
    }
    margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2), .y = margin_values_f64(y, ROWS)};
    margin_model *taken = fit_spec(context, &ridge_that_takes, tails[0], &data);
    margin_model *applied = fit_spec(context, &ridge_that_does_not, tails[0], &data);
    assert_true(margin_model_weights(taken, 0)[1] == 0);
    assert_close(margin_model_weights(taken, 0)[0], margin_model_weights(applied, 0)[0], 1e-9);
    margin_model_free(taken);
    margin_model_free(applied);
    margin_context_free(context);
}

/* Rows with gaps are named although the stage was not applied. */
static void test_gaps_are_refused(void **state) {
    double x[8] = {1, 2, 3, (double)NAN, 5, 6, 7, 8}, y[4] = {1, 2, 3, 5};
    margin_context *context = support_context(NULL, 1);
    margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_values_f64(y, 4)};
    margin_spec *spec = ridge_spec(context, &ridge_that_takes, tails[0]);
    margin_model *model = NULL;
    (void)state;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 2");
    margin_spec_free(spec);
    margin_context_free(context);
}

/* margin_verify sees what the fit saw. */
static void test_apply_gives_the_same(void **state) {
    double targets[ROWS], weights[ROWS], scale[COLUMNS], shift[COLUMNS];
    sample *s = make_data(targets, weights);
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
        margin_data data = {.x = sample_view(s, DENSE_F64), .y = margin_values_f64(targets, ROWS)};
        margin_model *model = fit_spec(context, &ridge_that_takes, tails[k], &data);
        mg_samples samples = {0};
        mg_staged fitted = {0}, applied = {0};
        margin_spec *spec = ridge_spec(context, &ridge_that_takes, tails[k]);
        margin_model *other = NULL;
        OK(mg_samples_make(context->heap, &data, &samples, &error));
        OK(mg_model_new(context->heap, &other, &error));
        OK(mg_pipeline_fit(context, spec, &data, &samples, other, &fitted, &error));
        memcpy(scale, fitted.scale, sizeof scale);
        memcpy(shift, fitted.shift, sizeof shift);
        OK(mg_pipeline_apply(context, model, &data, &samples, &applied, &error));
        assert_memory_equal(applied.scale, scale, sizeof scale);
        assert_memory_equal(applied.shift, shift, sizeof shift);
        assert_memory_equal(applied.x.values, fitted.x.values, ROWS * COLUMNS * sizeof(double));
        mg_staged_free(&fitted);
        mg_staged_free(&applied);
        mg_samples_free(&samples);
        margin_spec_free(spec);
        margin_model_free(other);
        margin_model_free(model);
    }
    margin_context_free(context);
    sample_free(s);
}

/* The weights of the learner stay beside the folded ones; a change of either is noticed. */
static void test_kept_weights(void **state) {
    double targets[ROWS], weights[ROWS];
    sample *s = make_data(targets, weights);
    margin_context *context = support_context(NULL, 1);
    (void)state;
    static const char *const specs[] = {"ridge", "standardize | ridge",
                                        "minmax(target=yes) | ridge",
                                        "normalize | minmax | standardize | ridge"};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_data data = {.x = sample_view(s, DENSE_F64), .y = margin_values_f64(targets, ROWS)};
        margin_report found = {0};
        margin_model *model = fit_text(context, specs[k], &data, &found);
        OK(margin_verify(context, model, &data, &found, &error));
        const char *const names[] = {"weights", "intercept", "learner_weights",
                                     "learner_intercept"};
        for (int t = 0; t < 4; t++) {
            const mg_tensor *tensor = mg_bag_find(&model->hypothesis->bag, names[t]);
            assert_non_null(tensor);
            double *value = tensor->data, before = *value;
            *value += 1e-9 * fabs(before) + 1e-9;
            assert_int_equal(margin_verify(context, model, &data, &found, &error),
                             MARGIN_STOPPED_STALLED);
            *value = before;
        }
        margin_model_free(model);
    }
    margin_context_free(context);
    sample_free(s);
}

static margin_status fit_body(margin_context *context, void *user, margin_error *failure) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_status status = margin_spec_parse(context, tails[2], &spec, failure);
    if (status >= 0) {
        spec->components[2].learner = &ridge_that_takes;
        spec->components[2].info = &ridge_that_takes.info;
        status = margin_fit(context, spec, user, &model, NULL, failure);
    }
    margin_spec_free(spec);
    margin_model_free(model);
    return status;
}

static void test_memory_may_run_out(void **state) {
    double targets[ROWS], weights[ROWS];
    sample *s = make_data(targets, weights);
    (void)state;
    for (int layout = 0; layout < LAYOUTS; layout += 4) {
        margin_data data = {.x = sample_view(s, layout), .y = margin_values_f64(targets, ROWS)};
        assert_true(support_fail_each_allocation(1, fit_body, &data) > 20);
    }
    sample_free(s);
}

/* A weight to start from that no row can move, in a column that scaling makes constant. */
static void test_start_weights(void **state) {
    static const double x[8] = {1, 5, 0, 5, 2, 5, -1, 5};
    static const int32_t y[4] = {0, 1, 0, 1};
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_labels_i32(y, 4)};
    margin_context *context = support_context(NULL, 1);
    margin_report found = {0};
    (void)state;
    margin_model *model =
        fit_text(context, "minmax | perceptron(start_weights=\"1 1\")", &data, NULL);
    if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
        fail_msg("%s", found.reason);
    margin_model_free(model);
    margin_context_free(context);
}

/* Features are (u - shift) / scale of an input column u, or made by a stage, of columns in their
 * own units or of scaled ones: "0" to "2" the column, "m", "s". */
static void test_units(void **state) {
    static const struct {
        const char *spec, *features;
    } cases[] = {
        {"kmeans(k=2)", "012"},
        {"standardize | kmeans(k=2)", "012"},
        {"impute | minmax | standardize(center=no) | kmeans(k=2)", "012"},
        {"standardize | impute | poly(bias=no, columns=1) | kmeans(k=2)", "012s"},
        {"standardize | poly | minmax | kmeans(k=2)", "s012sssss"},
        {"poly(interactions=yes, bias=no) | standardize | kmeans(k=2)", "012mmm"},
        {"standardize(columns=\"1,2\") | onehot(columns=3) | kmeans(k=2)", "01m"},
        {"onehot(columns=\"1,3\") | standardize | kmeans(k=2)", "mmmm1m"},
        {"standardize | normalize | kmeans(k=2)", "sss"},
        {"rbf(centres=2, bias=no) | kmeans(k=2)", "mm"},
        {"standardize | rbf(centres=2) | kmeans(k=2)", "sss"},
        {"standardize | ridge", "012"},
    };
    static const double x[] = {1, 10, 7, 2, 30, 7, 4, 20, 7, 9, 70, 7}, y[] = {1, 2, 4, 3};
    const margin_data data = {.x = margin_dense_f64(x, 4, 3, 3),
                              .y = {.values = y, .type = MARGIN_F64, .count = 4}};
    margin_context *context = support_context(NULL, 1);
    (void)state;
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        margin_model *model = fit_text(context, cases[k].spec, &data, NULL);
        double out[4 * 16], shift = -1, scale = -1;
        int64_t features;
        (void)margin_model_features(model, &features);
        assert_int_equal(features, strlen(cases[k].features));
        OK(margin_model_transform(context, model, &data.x, out, &error));
        for (int64_t j = 0; j < features; j++) {
            const int64_t found = margin_model_scale(model, j, &shift, &scale);
            const char code = cases[k].features[j];
            assert_int_equal(found, code == 'm' ? -1 : code == 's' ? -2 : code - '0');
            for (int i = 0; i < 4 && found >= 0; i++) {
                assert_close(shift + scale * out[i * features + j], x[3 * i + found], 1e-12);
                if (scale == 0) assert_true(out[i * features + j] == 0);
            }
        }
        assert_int_equal(margin_model_scale(model, features, &shift, &scale), -1);
        assert_true(shift == 0 && scale == 1);
        margin_model_free(model);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_model),       cmocka_unit_test(test_constant_column),
        cmocka_unit_test(test_gaps_are_refused), cmocka_unit_test(test_apply_gives_the_same),
        cmocka_unit_test(test_kept_weights),     cmocka_unit_test(test_memory_may_run_out),
        cmocka_unit_test(test_start_weights),    cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
