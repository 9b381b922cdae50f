#include "stage_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Fitting one stage ----------------------------------------------------------------------- */

margin_status stage_fit(margin_context *context, const char *text, const margin_data *data,
                        mg_fitted_stage *fitted, margin_error *error) {
    char whole[400];
    snprintf(whole, sizeof whole, "%s | perceptron", text);
    margin_spec *spec = NULL;
    MG_TRY(margin_spec_parse(context, whole, &spec, error));
    const mg_stage *stage = spec->components[0].stage;
    margin_status status = mg_fitted_stage_init(
        fitted, context->heap, stage, spec->components[0].options, data->x.columns, error);
    margin_spec_free(spec);
    if (status >= 0) status = stage->fit(context, data, fitted->options, fitted, error);
    if (status >= 0) status = stage->attach(fitted, error);
    if (status < 0) mg_fitted_stage_clear(fitted);
    return status;
}

mg_fitted_stage stage_fitted(margin_context *context, const char *text, const margin_data *data) {
    mg_fitted_stage fitted = {0};
    margin_error error = {0};
    if (stage_fit(context, text, data, &fitted, &error) != MARGIN_OK)
        fail_msg("%s: %s", text, error.text);
    return fitted;
}

void assert_stage_fails(const char *text, const margin_data *data, margin_status expected,
                        const char *part) {
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 2);
    mg_fitted_stage fitted = {0};
    margin_error error = {0};
    const margin_status status = stage_fit(context, text, data, &fitted, &error);
    if (status != expected) fail_msg("%s: status %d: %s", text, (int)status, error.text);
    assert_contains(error.text, part);
    margin_context_free(context);
    support_assert_nothing_live(&heap);
}

mg_matrix_buffer stage_applied(margin_context *context, const mg_fitted_stage *fitted,
                               const margin_matrix *x) {
    mg_matrix_buffer out = {0};
    margin_error error = {0};
    if (mg_stage_apply(context, fitted, x, &out, &error) != MARGIN_OK) fail_msg("%s", error.text);
    assert_int_equal(out.view.rows, x->rows);
    assert_int_equal(out.view.columns, fitted->columns_out);
    assert_int_equal(out.view.value_type, x->value_type);
    assert_int_equal(mg_matrix_check(context, &out.view, "result", &error), MARGIN_OK);
    return out;
}

double stage_element(const margin_matrix *x, int64_t i, int64_t j) {
    double row[64];
    assert_true(x->columns <= 64);
    mg_row_expand(x, i, row);
    return row[j];
}

/* ---- Copies of a data set in other forms ----------------------------------------------------- */

stage_csr stage_to_csr(const double *values, int64_t rows, int64_t columns) {
    stage_csr c = {.values = malloc((size_t)(rows * columns + 1) * sizeof(double)),
                   .indices = malloc((size_t)(rows * columns + 1) * sizeof(int32_t)),
                   .starts = malloc((size_t)(rows + 1) * sizeof(int64_t))};
    int64_t stored = 0;
    c.starts[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            const double value = values[i * columns + j];
            if (value == 0) continue;
            c.values[stored] = value;
            c.indices[stored++] = (int32_t)j;
        }
        c.starts[i + 1] = stored;
    }
    c.view = margin_csr_f64(c.values, c.indices, c.starts, rows, columns);
    return c;
}

void stage_csr_free(stage_csr *c) {
    free(c->values);
    free(c->floats);
    free(c->indices);
    free(c->starts);
}

float *stage_to_floats(const double *values, int64_t count) {
    float *floats = malloc((size_t)count * sizeof *floats);
    for (int64_t k = 0; k < count; k++)
        floats[k] = (float)values[k];
    return floats;
}

/* ---- Comparing ---- */

bool stage_same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

void assert_stage_matrix(const margin_matrix *a, const margin_matrix *b) {
    double *left = malloc((size_t)a->columns * sizeof *left);
    double *right = malloc((size_t)a->columns * sizeof *right);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    assert_true(mg_is_csr(a) == mg_is_csr(b));
    for (int64_t i = 0; i < a->rows; i++) {
        mg_row_expand(a, i, left);
        mg_row_expand(b, i, right);
        for (int64_t j = 0; j < a->columns; j++)
            assert_true(stage_same_bits(left[j], right[j]));
    }
    free(left);
    free(right);
}

/* Compares the whole result of a stage on dense data. */
void assert_stage_result(const char *text, const margin_data *data, const double *expected,
                         double tolerance) {
    margin_context *context = support_context(NULL, 1);
    mg_fitted_stage fitted = stage_fitted(context, text, data);
    mg_matrix_buffer out = stage_applied(context, &fitted, &data->x);
    for (int64_t i = 0; i < out.view.rows; i++)
        for (int64_t j = 0; j < out.view.columns; j++)
            assert_close(stage_element(&out.view, i, j), expected[i * out.view.columns + j],
                         tolerance);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

double *stage_mixed_values(bool missing) {
    uint64_t random = 5;
    double *values = malloc(sizeof(double) * STAGE_ROWS * STAGE_COLUMNS);
    for (int64_t i = 0; i < STAGE_ROWS; i++) {
        double *row = values + i * STAGE_COLUMNS;
        row[0] = support_normal(&random);
        row[1] = 1e6 + support_normal(&random);
        row[2] = support_uniform(&random) < 0.9 ? 0 : support_normal(&random);
        row[3] = 0.1;
        row[4] = (double)(support_random(&random) % 5);
        row[5] = support_uniform(&random) < 0.8 ? 0 : support_uniform(&random);
        for (int j = 0; missing && j < STAGE_COLUMNS; j++)
            if (support_uniform(&random) < 0.1) row[j] = NOTHING;
    }
    return values;
}

const char *const stage_categories[5] = {"a", "b", "c", "d", "e"};
const margin_column stage_mixed_columns[STAGE_COLUMNS] = {
    {.name = "normal"},
    {.name = "far"},
    {.name = "sparse"},
    {.name = "constant"},
    {.name = "letter",
     .kind = MARGIN_CATEGORICAL,
     .categories = stage_categories,
     .category_count = 5},
    {.name = "few"},
};
