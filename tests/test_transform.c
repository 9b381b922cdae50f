/* Specs of stages alone: what they make, of any data, in any order of calls, and back. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 70, COLUMNS = 5 };

/* Every stage of the catalogue, few of what it makes. */
static const char *const specs[] = {"fourier(features=8)",
                                    "impute",
                                    "minmax",
                                    "normalize",
                                    "nystroem",
                                    "onehot",
                                    "poly(degree=2)",
                                    "rbf(centres=3)",
                                    "standardize",
                                    "impute | minmax",
                                    "poly(degree=2) | standardize",
                                    "standardize | rbf(centres=3) | normalize"};

static margin_transformed transformed(margin_context *context, const margin_model *model,
                                      const margin_data *data) {
    margin_transformed made = {.size = sizeof made};
    margin_error error = {0};
    if (margin_transform(context, model, data, &made, &error) < 0)
        fail_msg("%s: %s", margin_model_spec(model), error.text);
    return made;
}

static double stored(const margin_matrix *x, int64_t at) {
    return x->value_type == MARGIN_F32 ? (double)((const float *)x->values)[at]
                                       : ((const double *)x->values)[at];
}

static int64_t start_of(const margin_matrix *x, int64_t row) {
    return x->start_type == MARGIN_I32 ? ((const int32_t *)x->row_starts)[row]
                                       : ((const int64_t *)x->row_starts)[row];
}

static double element(const margin_matrix *x, int64_t i, int64_t j) {
    if (!x->row_starts) return stored(x, i * x->stride + j);
    for (int64_t at = start_of(x, i); at < start_of(x, i + 1); at++) {
        const int64_t column = x->index_type == MARGIN_I32
                                   ? ((const int32_t *)x->column_indices)[at]
                                   : ((const int64_t *)x->column_indices)[at];
        if (column == j) return stored(x, at);
    }
    return 0.0;
}

static void assert_same_rows(const margin_matrix *a, const margin_matrix *b, double share,
                             const char *what) {
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->columns; j++) {
            const double p = element(a, i, j), q = element(b, i, j);
            if (fabs(p - q) > share * (1.0 + fabs(q)))
                fail_msg("%s: row %lld, column %lld: %.17g, not %.17g", what, (long long)i,
                         (long long)j, p, q);
        }
}

/* ---- Known answers --------------------------------------------------------------------------- */

static void test_known(void **state) {
    const double x[] = {1, 10, 3, 40, 5, 20};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2)};
    margin_report report = {.size = sizeof report};
    margin_model *model = fit_text(*state, "minmax", &data, &report);
    margin_transformed made = transformed(*state, model, &data);
    const double expected[] = {0, 0, 0.5, 1, 1, 1.0 / 3};
    for (int k = 0; k < 6; k++)
        assert_true(element(&made.x, k / 2, k % 2) == expected[k]);
    assert_int_equal(report.status, MARGIN_OK);
    assert_int_equal(report.task, MARGIN_TRANSFORM);
    assert_int_equal(report.rows, 3);
    assert_true(isnan(report.objective) && isnan(report.gap));
    assert_int_equal(margin_model_task(model), MARGIN_TRANSFORM);
    assert_int_equal(margin_model_score_count(model), 2);
    assert_int_equal(margin_model_target_count(model), 0);
    assert_int_equal(margin_model_class_count(model), 0);
    margin_transformed_free(&made);
    assert_null(made.x.values);
    margin_transformed_free(&made);
    margin_model_free(model);
}

/* Behind a learner, the stages that are folded into its weights count as well. */
static void test_with_learner(void **state) {
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.05, 3);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_model *alone = fit_text(*state, "standardize", &data, NULL);
    margin_model *both = fit_text(*state, "standardize | logistic", &data, NULL);
    margin_model *none = fit_text(*state, "logistic", &data, NULL);
    margin_transformed a = transformed(*state, alone, &data), b = transformed(*state, both, &data);
    margin_transformed c = transformed(*state, none, &data);
    assert_same_rows(&a.x, &b.x, 0.0, "standardize");
    assert_same_rows(&c.x, &data.x, 0.0, "no stage");
    margin_model_free(alone);
    margin_model_free(both);
    margin_model_free(none);
    assert_true(isfinite(element(&a.x, ROWS - 1, COLUMNS - 1))); /* outlives the model */
    margin_transformed_free(&a);
    margin_transformed_free(&b);
    margin_transformed_free(&c);
    sample_free(s);
}

/* ---- Every stage, every layout --------------------------------------------------------------- */

static void try_layout(margin_context *context, const sample *s, const char *spec, int layout) {
    const margin_data data = sample_data(s, layout);
    margin_model *model = fit_text(context, spec, &data, NULL);
    margin_transformed made = transformed(context, model, &data);
    double *scores = scores_of(model, &data.x);
    const bool single = made.x.value_type == MARGIN_F32;
    margin_matrix rows = margin_dense_f64(scores, ROWS, made.x.columns, made.x.columns);
    int64_t features;
    assert_string_equal(margin_model_spec(model), spec);
    assert_non_null(margin_model_features(model, &features));
    assert_int_equal(features, made.x.columns);
    assert_int_equal(margin_model_score_count(model), features);
    assert_int_equal(single, data.x.value_type == MARGIN_F32);
    assert_same_rows(&made.x, &rows, single ? 1e-6 : 0.0, spec);
    margin_transformed_free(&made);
    margin_model_free(model);
    free(scores);
}

static void test_layouts(void **state) {
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.05, 4);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            try_layout(*state, s, specs[k], layout);
    sample_free(s);
}

static void test_threads_and_files(void **state) {
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.05, 5);
    const margin_data data = sample_data(s, DENSE_F64);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_context *single = support_context(NULL, 1);
        margin_model *a = fit_text(*state, specs[k], &data, NULL);
        margin_model *b = fit_text(single, specs[k], &data, NULL), *c;
        void *bytes;
        int64_t length;
        margin_error error = {0};
        assert_same_model(a, b);
        assert_int_equal(margin_model_encode(a, &bytes, &length, &error), MARGIN_OK);
        if (margin_model_decode(single, bytes, length, &c, &error) < 0)
            fail_msg("%s: %s", specs[k], error.text);
        margin_bytes_free(a, bytes);
        assert_same_model(a, c);
        margin_transformed p = transformed(*state, a, &data), q = transformed(single, c, &data);
        assert_same_rows(&p.x, &q.x, 0.0, specs[k]);
        margin_transformed_free(&p);
        margin_transformed_free(&q);
        margin_model_free(a);
        margin_model_free(b);
        margin_model_free(c);
        margin_context_free(single);
    }
    sample_free(s);
}

/* Weights take part in the fit, and in no transform; a selection is gathered. */
static void test_rows_taken(void **state) {
    const double x[] = {0, 10, 20, 30}, weights[] = {1, 1, 0, 0};
    const int64_t selection[] = {3, 0, 3};
    margin_data data = {.x = margin_dense_f64(x, 4, 1, 1),
                        .weights = margin_values_f64(weights, 4)};
    margin_model *model = fit_text(*state, "minmax", &data, NULL);
    margin_transformed all = transformed(*state, model, &data);
    assert_int_equal(all.x.rows, 4);
    assert_true(element(&all.x, 3, 0) == 3.0);
    data.selection = selection;
    data.selected = 3;
    margin_transformed some = transformed(*state, model, &data);
    assert_int_equal(some.x.rows, 3);
    assert_true(element(&some.x, 0, 0) == 3.0 && element(&some.x, 1, 0) == 0.0);
    margin_transformed_free(&all);
    margin_transformed_free(&some);
    margin_model_free(model);
}

static void test_names(void **state) {
    static const char *const colours[] = {"blue", "red"};
    const margin_column columns[] = {
        {.name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 2},
        {.name = "size"}};
    const double x[] = {0, 1, 1, 2, 0, 3};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2), .columns = columns};
    margin_model *model = fit_text(*state, "onehot", &data, NULL);
    margin_transformed made = transformed(*state, model, &data);
    int64_t count;
    const margin_column *features = margin_model_features(model, &count);
    assert_int_equal(count, 3);
    assert_string_equal(features[0].name, "colour=blue");
    assert_string_equal(features[2].name, "size");
    assert_true(element(&made.x, 1, 1) == 1.0 && element(&made.x, 1, 0) == 0.0);
    margin_transformed_free(&made);
    margin_model_free(model);
}

/* ---- The way back ---------------------------------------------------------------------------- */

static void test_inverse(void **state) {
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.05, 6);
    for (int64_t i = 0; i < ROWS; i++)
        s->f64[i * COLUMNS + 2] = 7.5; /* a constant column */
    const margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(*state, "standardize | minmax(low=-1)", &data, NULL);
    margin_transformed made = transformed(*state, model, &data);
    double *back = calloc(ROWS * COLUMNS, sizeof *back);
    const margin_matrix rows = margin_dense_f64(back, ROWS, COLUMNS, COLUMNS);
    margin_error error = {0};
    assert_int_equal(margin_transform_inverse(model, &made.x, back, &error), MARGIN_OK);
    assert_same_rows(&rows, &data.x, 1e-14, "standardize | minmax");
    made.x.columns--;
    assert_int_equal(margin_transform_inverse(model, &made.x, back, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "x has 4 columns and the stages make 5");
    margin_transformed_free(&made);
    margin_model_free(model);
    model = fit_text(*state, "minmax | normalize", &data, NULL);
    assert_int_equal(margin_transform_inverse(model, &data.x, back, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "normalize has no way back");
    assert_int_equal(margin_transform_inverse(NULL, &data.x, back, &error), MARGIN_ERROR_ARGUMENT);
    margin_model_free(model);
    free(back);
    sample_free(s);
}

/* ---- What stages alone do not do ------------------------------------------------------------- */

static void test_refusals(void **state) {
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.05, 7);
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(*state, "standardize", &data, NULL);
    margin_error error = {0};
    int64_t labels[ROWS];
    double values[ROWS];
    margin_report found = {.size = sizeof found};
    margin_metrics metrics = {.size = sizeof metrics};
    margin_transformed made = {.size = sizeof made};
    assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "'standardize' is stages alone");
    assert_int_equal(margin_predict_values(model, &data.x, values, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_evaluate(*state, model, &data, &metrics, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "predicts nothing");
    assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_has_probabilities(model), 0);
    data.x.columns--;
    assert_int_equal(margin_transform(*state, model, &data, &made, &error), MARGIN_ERROR_ARGUMENT);
    data.x.columns++;
    s->f64[8] = 0;
    fit_refused(*state, "standardize(target=yes)", &data, MARGIN_ERROR_SPEC,
                "has no numbers as a target");
    s->f64[8] = (double)NAN;
    assert_int_equal(margin_transform(*state, model, &data, &made, &error), MARGIN_ERROR_DATA);
    assert_null(made.inner);
    assert_int_equal(margin_transform(*state, model, NULL, &made, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_transform(*state, model, &data, NULL, &error), MARGIN_ERROR_ARGUMENT);
    fit_refused(*state, "standardize", &data, MARGIN_ERROR_DATA, "row 2");
    margin_model_free(model);
    sample_free(s);
}

static void test_spec(void **state) {
    margin_spec *spec = parse_text(*state, " minmax( low = -1 )|standardize ");
    assert_string_equal(margin_spec_text(spec), "minmax(low=-1) | standardize");
    assert_int_equal(margin_spec_steps(spec), 2);
    assert_string_equal(margin_spec_step(spec, 1)->name, "standardize");
    assert_null(margin_spec_step(spec, 2));
    assert_string_equal(margin_spec_learner(spec)->name, "transform");
    assert_null(margin_component_find("transform"));
    margin_setting setting = {.size = sizeof setting, .option = "low", .given = 1, .word = "0.5"};
    margin_spec *changed = NULL;
    margin_error error = {0};
    if (margin_spec_with(spec, 0, &setting, &changed, &error) < 0) fail_msg("%s", error.text);
    assert_string_equal(margin_spec_text(changed), "minmax(low=0.5) | standardize");
    margin_spec_free(changed);
    margin_spec_free(spec);
    char text[1000] = "minmax";
    for (int k = 1; k < 64; k++)
        strcat(text, " | minmax");
    spec = parse_text(*state, text);
    assert_int_equal(margin_spec_steps(spec), 64);
    margin_spec_free(spec);
    strcat(text, " | minmax");
    assert_int_equal(margin_spec_parse(*state, text, &spec, &error), MARGIN_ERROR_SPEC);
    assert_contains(error.text, "at most 64");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static margin_status fit_and_transform(margin_context *context, void *user, margin_error *error) {
    const margin_data *data = user;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_transformed made = {.size = sizeof made};
    margin_status status = margin_spec_parse(context, "impute | standardize", &spec, error);
    if (status >= 0) status = margin_fit(context, spec, data, &model, NULL, error);
    if (status >= 0) status = margin_transform(context, model, data, &made, error);
    margin_transformed_free(&made);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.05, 8);
    const int layouts[] = {DENSE_F64, CSR_F64_I32_I64};
    for (int k = 0; k < 2; k++) {
        margin_data data = sample_data(s, layouts[k]);
        assert_true(support_fail_each_allocation(1, fit_and_transform, &data) > 10);
    }
    sample_free(s);
}

/* What the last stage makes is made when it is asked for, and not by the fit. */
static void test_fit_makes_no_rows(void **state) {
    (void)state;
    enum { MANY = 3000, KIBIBYTES = 2048 };
    const char *const large[] = {"fourier(features=400)", "poly(degree=6)",
                                 "standardize | fourier(features=400)"};
    sample *s = sample_make(MANY, COLUMNS, 2, 0.05, 8);
    const int layouts[] = {DENSE_F64, CSR_F64_I32_I64};
    for (int k = 0; k < 6; k++) {
        const margin_data data = sample_data(s, layouts[k % 2]);
        margin_context *context = support_context(NULL, 1);
        margin_model *model = fit_text(context, large[k / 2], &data, NULL);
        margin_transformed made;
        assert_true(margin_context_peak_memory(context) < (int64_t)KIBIBYTES << 10);
        made = transformed(context, model, &data);
        assert_int_equal(made.x.rows, MANY);
        assert_true(made.x.columns >= 400);
        margin_transformed_free(&made);
        margin_model_free(model);
        margin_context_free(context);
    }
    sample_free(s);
}

/* A power that overflows is named by its row, also where the fit did not see the row. */
static void test_overflow(void **state) {
    const double values[] = {1, 2, 3, 4, 1e200, 5};
    const margin_data few = {.x = margin_dense_f64(values, 2, 2, 2)},
                      all = {.x = margin_dense_f64(values, 3, 2, 2)};
    const margin_data *const fitted[] = {&few, &all};
    for (int k = 0; k < 2; k++) {
        margin_model *model = fit_text(*state, "poly(degree=2)", fitted[k], NULL);
        margin_transformed made = {.size = sizeof made};
        margin_error error = {0};
        assert_int_equal(margin_transform(*state, model, &all, &made, &error), MARGIN_ERROR_DATA);
        assert_contains(error.text, "row 3 has a missing or infinite value in column x1^2");
        made = transformed(*state, model, &few);
        margin_transformed_free(&made);
        margin_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_with_learner),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_threads_and_files),
        cmocka_unit_test(test_rows_taken),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_fit_makes_no_rows),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
