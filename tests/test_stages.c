/* Properties of all stages: the same bits on any number of threads, whole matrices as row by row,
 * CSR as dense, weight k as k copies, a selection as the rows themselves; memory and cancelling. */
#include "stage_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The battery ----------------------------------------------------------------------------- */

/* Zeros of either sign are one value where sparse results are compared with dense ones. */
static bool same_value(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void assert_same_tensors(const mg_fitted_stage *a, const mg_fitted_stage *b) {
    assert_int_equal(a->bag.count, b->bag.count);
    assert_int_equal(a->columns_out, b->columns_out);
    for (int k = 0; k < a->bag.count; k++) {
        const mg_tensor *left = &a->bag.tensors[k], *right = &b->bag.tensors[k];
        assert_string_equal(left->name, right->name);
        assert_int_equal(left->type, right->type);
        assert_int_equal(left->shape[0], right->shape[0]);
        assert_memory_equal(left->data, right->data,
                            (size_t)(left->shape[0] * mg_type_size(left->type)));
    }
}

static void assert_rows_agree(const mg_fitted_stage *fitted, const margin_matrix *in,
                              const margin_matrix *out) {
    double *row = malloc((size_t)in->columns * sizeof *row);
    double *expected = malloc((size_t)out->columns * sizeof *expected);
    double *found = malloc((size_t)out->columns * sizeof *found);
    for (int64_t i = 0; i < in->rows; i++) {
        mg_row_expand(in, i, row);
        fitted->stage->apply_row(fitted, row, expected);
        mg_row_expand(out, i, found);
        for (int64_t j = 0; j < out->columns; j++) {
            const double want =
                out->value_type == MARGIN_F32 ? (double)(float)expected[j] : expected[j];
            const bool agree = mg_is_csr(out) || mg_is_csr(in) ? same_value(found[j], want)
                                                               : stage_same_bits(found[j], want);
            if (!agree)
                fail_msg("%s: row %lld, column %lld: %.17g and %.17g", fitted->stage->info.name,
                         (long long)i, (long long)j, found[j], want);
        }
    }
    free(row);
    free(expected);
    free(found);
}

/* Fits and applies on one form of the data, with 1 and with 3 threads. */
static void check_form(const char *text, const margin_data *data) {
    margin_context *one = support_context(NULL, 1);
    mg_fitted_stage first = stage_fitted(one, text, data);
    mg_matrix_buffer first_out = stage_applied(one, &first, &data->x);
    for (int threads = 1; threads <= 3; threads += 2) {
        margin_context *context = support_context(NULL, threads);
        mg_fitted_stage fitted = stage_fitted(context, text, data);
        mg_matrix_buffer out = stage_applied(context, &fitted, &data->x);
        assert_same_tensors(&first, &fitted);
        assert_stage_matrix(&first_out.view, &out.view);
        assert_rows_agree(&fitted, &data->x, &out.view);
        mg_matrix_buffer_free(&out);
        mg_fitted_stage_clear(&fitted);
        margin_context_free(context);
    }
    mg_matrix_buffer_free(&first_out);
    mg_fitted_stage_clear(&first);
    margin_context_free(one);
}

static void assert_close_tensors(const char *text, const margin_data *a, const margin_data *b,
                                 double tolerance) {
    margin_context *context = support_context(NULL, 2);
    mg_fitted_stage left = stage_fitted(context, text, a), right = stage_fitted(context, text, b);
    assert_int_equal(left.bag.count, right.bag.count);
    for (int k = 0; k < left.bag.count; k++) {
        if (left.bag.tensors[k].type != MARGIN_F64) continue;
        assert_int_equal(left.bag.tensors[k].shape[0], right.bag.tensors[k].shape[0]);
        for (int64_t j = 0; j < left.bag.tensors[k].shape[0]; j++)
            assert_close(((double *)left.bag.tensors[k].data)[j],
                         ((double *)right.bag.tensors[k].data)[j], tolerance);
    }
    mg_fitted_stage_clear(&left);
    mg_fitted_stage_clear(&right);
    margin_context_free(context);
}

/* Weights 0..3 against rows written that often. */
static void check_weights(const char *text, const margin_data *data, const double *values) {
    const int64_t rows = data->x.rows, columns = data->x.columns;
    double *weights = malloc((size_t)rows * sizeof *weights);
    double *copies = malloc((size_t)(3 * rows * columns) * sizeof *copies);
    int64_t *positive = malloc((size_t)rows * sizeof *positive), count = 0, total = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t weight = (i * 7 + 1) % 4;
        weights[i] = (double)weight;
        if (weight) positive[count++] = i;
        for (int64_t k = 0; k < weight; k++, total++)
            memcpy(copies + total * columns, values + i * columns,
                   (size_t)columns * sizeof *copies);
    }
    margin_data weighted = *data, copied = *data;
    weighted.weights = margin_values_f64(weights, rows);
    weighted.selection = positive;
    weighted.selected = count;
    copied.x = margin_dense_f64(copies, total, columns, columns);
    assert_close_tensors(text, &weighted, &copied, 1e-12);
    free(weights);
    free(copies);
    free(positive);
}

/* A fold against the same rows by themselves. */
static void check_selection(const char *text, const margin_data *data, const double *values) {
    const int64_t rows = data->x.rows, columns = data->x.columns, count = rows / 2;
    int64_t *selection = malloc((size_t)rows * sizeof *selection);
    double *gathered = malloc((size_t)(rows * columns) * sizeof *gathered);
    for (int64_t i = 0; i < count; i++) {
        selection[i] = rows - 1 - 2 * i;
        memcpy(gathered + i * columns, values + selection[i] * columns,
               (size_t)columns * sizeof *gathered);
    }
    margin_data chosen = *data, alone = *data;
    chosen.selection = selection;
    chosen.selected = count;
    alone.x = margin_dense_f64(gathered, count, columns, columns);
    assert_close_tensors(text, &chosen, &alone, 0);
    free(selection);
    free(gathered);
}

/* All of it, on dense and CSR data, f64 and f32. */
static void check_stage(const char *text, const double *values, int64_t rows, int64_t columns,
                        const margin_column *descriptions) {
    margin_data data = {.x = margin_dense_f64(values, rows, columns, columns),
                        .columns = descriptions};
    check_form(text, &data);
    check_weights(text, &data, values);
    check_selection(text, &data, values);

    stage_csr sparse = stage_to_csr(values, rows, columns);
    margin_data csr = data;
    csr.x = sparse.view;
    check_form(text, &csr);
    assert_close_tensors(text, &data, &csr, 1e-12);

    float *floats = stage_to_floats(values, rows * columns);
    margin_data single = data;
    single.x = margin_dense_f32(floats, rows, columns, columns);
    check_form(text, &single);
    sparse.floats = stage_to_floats(sparse.values, sparse.starts[rows]);
    single.x = margin_csr_f32(sparse.floats, sparse.indices, sparse.starts, rows, columns);
    check_form(text, &single);
    free(floats);
    stage_csr_free(&sparse);
}

static void test_battery(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const char *const any[] = {"minmax",
                                      "minmax(low=-1, high=3, columns='far,-1')",
                                      "standardize",
                                      "standardize(center=no)",
                                      "standardize(scale=no)",
                                      "onehot",
                                      "onehot(drop=first)",
                                      "onehot(columns='few,constant,sparse')"};
    double *values = stage_mixed_values(false);
    for (int k = 0; k < MG_LENGTH(any); k++)
        check_stage(any[k], values, STAGE_ROWS, STAGE_COLUMNS, stage_mixed_columns);
    check_stage("poly", values, STAGE_ROWS, STAGE_COLUMNS, NULL);
    check_stage("poly(degree=4, interactions=yes, bias=no)", values, STAGE_ROWS, STAGE_COLUMNS,
                NULL);
    check_stage("poly(degree=3, columns='1,3,5,6')", values, STAGE_ROWS, STAGE_COLUMNS, NULL);
    check_stage("rbf(pick=even, centres=2, sigma=median)", values, STAGE_ROWS, STAGE_COLUMNS, NULL);
    check_stage("normalize", values, STAGE_ROWS, STAGE_COLUMNS, NULL);
    check_stage("normalize(norm=l1)", values, STAGE_ROWS, STAGE_COLUMNS, NULL);
    check_stage("normalize(norm=max)", values, STAGE_ROWS, STAGE_COLUMNS, NULL);
    free(values);
    static const char *const gaps[] = {"impute", "impute(with=median)",
                                       "impute(with=most-frequent)", "impute(with=-2.5)"};
    values = stage_mixed_values(true);
    for (int k = 0; k < MG_LENGTH(gaps); k++)
        check_stage(gaps[k], values, STAGE_ROWS, STAGE_COLUMNS, stage_mixed_columns);
    free(values);
}

/* Few rows, many columns: rows longer than a chunk. */
static void test_wide(void **state) {
    (void)state;
    enum { ROWS = 5, COLUMNS = 1000 };
    uint64_t random = 6;
    double *values = malloc(sizeof(double) * ROWS * COLUMNS);
    for (int k = 0; k < ROWS * COLUMNS; k++)
        values[k] = support_uniform(&random) < 0.5 ? 0 : support_normal(&random);
    check_stage("minmax", values, ROWS, COLUMNS, NULL);
    check_stage("standardize", values, ROWS, COLUMNS, NULL);
    check_stage("normalize", values, ROWS, COLUMNS, NULL);
    check_stage("impute(with=median)", values, ROWS, COLUMNS, NULL);
    check_stage("poly(columns='1,300,999,1000')", values, ROWS, COLUMNS, NULL);
    free(values);
}

/* ---- Sparse data ----------------------------------------------------------------------------- */

static bool stays_sparse(margin_context *context, const char *text, const margin_data *data) {
    mg_fitted_stage fitted = stage_fitted(context, text, data);
    mg_matrix_buffer out = stage_applied(context, &fitted, &data->x);
    const bool sparse = mg_is_csr(&out.view);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    return sparse;
}

static void test_sparsity(void **state) {
    (void)state;
    const double x[] = {0, 5, 0, 0, 7, 5}, negative[] = {0, -5, 0, 0, -7, 5};
    stage_csr sparse = stage_to_csr(x, 3, 2), other = stage_to_csr(negative, 3, 2);
    const margin_data data = {.x = sparse.view}, signs = {.x = other.view};
    margin_context *context = support_context(NULL, 1);
    assert_true(stays_sparse(context, "minmax", &data));
    assert_false(stays_sparse(context, "minmax", &signs));
    assert_false(stays_sparse(context, "minmax(low=-1)", &data));
    assert_false(stays_sparse(context, "standardize", &data));
    assert_true(stays_sparse(context, "standardize(center=no)", &signs));
    assert_true(stays_sparse(context, "normalize", &signs));
    assert_true(stays_sparse(context, "impute", &signs));
    margin_context_free(context);
    stage_csr_free(&sparse);
    stage_csr_free(&other);
}

/* A matrix that would become dense beyond the memory limit is refused, and the stage named. */
static void test_memory_limit(void **state) {
    (void)state;
    enum { ROWS = 2000, COLUMNS = 2000 };
    double *values = calloc((size_t)ROWS, sizeof *values);
    int32_t *indices = calloc((size_t)ROWS, sizeof *indices);
    int64_t *starts = calloc((size_t)ROWS + 1, sizeof *starts);
    for (int i = 0; i < ROWS; i++) {
        values[i] = 1 + i % 3;
        indices[i] = i % COLUMNS;
        starts[i + 1] = i + 1;
    }
    const margin_data data = {.x = margin_csr_f64(values, indices, starts, ROWS, COLUMNS)};
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = 16 << 20};
    margin_context *context = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    mg_fitted_stage fitted = stage_fitted(context, "standardize", &data);
    mg_matrix_buffer out = {0};
    margin_error error;
    assert_int_equal(mg_stage_apply(context, &fitted, &data.x, &out, &error), MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "standardize");
    assert_contains(error.text, "dense");
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
    free(values);
    free(indices);
    free(starts);
}

/* CSR with 64-bit indices, 32-bit row starts that do not begin at 0, and stored zeros. */
static void test_other_index_types(void **state) {
    (void)state;
    const double values[] = {99, 99, 4, 0, 8, 2, NOTHING};
    const int64_t indices[] = {0, 0, 0, 2, 1, 0, 2};
    const int32_t starts[] = {2, 4, 5, 7};
    const margin_matrix x = {.values = values,
                             .row_starts = starts,
                             .column_indices = indices,
                             .rows = 3,
                             .columns = 3,
                             .value_type = MARGIN_F64,
                             .start_type = MARGIN_I32,
                             .index_type = MARGIN_I64};
    const margin_data data = {.x = x};
    margin_context *context = support_context(NULL, 1);
    mg_fitted_stage fitted = stage_fitted(context, "impute", &data);
    mg_matrix_buffer out = stage_applied(context, &fitted, &x);
    const double expected[] = {4, 0, 0, 0, 8, 0, 2, 0, 0};
    for (int k = 0; k < 9; k++)
        assert_true(stage_element(&out.view, k / 3, k % 3) == expected[k]);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* ---- Memory, cancelling ---------------------------------------------------------------------- */

typedef struct stage_body {
    const char *text;
    const margin_data *data;
} stage_body;

static margin_status fit_and_apply(margin_context *context, void *user, margin_error *error) {
    const stage_body *body = user;
    mg_fitted_stage fitted = {0};
    mg_matrix_buffer out = {0};
    MG_TRY(stage_fit(context, body->text, body->data, &fitted, error));
    const margin_status status = mg_stage_apply(context, &fitted, &body->data->x, &out, error);
    if (status < 0) assert_null(out.heap);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    const char *const stages[] = {
        "minmax(columns='a,b')", "standardize", "impute", "impute(with=median)",  "normalize",
        "rbf(sigma=1)",          "poly",        "onehot", "onehot(columns='a,b')"};
    const double x[] = {1, 0, 2, 0, 7, 1};
    const margin_column columns[] = {{.name = "a"}, {.name = "b"}};
    stage_csr sparse = stage_to_csr(x, 3, 2);
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2), .columns = columns};
    margin_data csr = {.x = sparse.view, .columns = columns};
    const double weights[] = {1, 2, 3};
    csr.weights = margin_values_f64(weights, 3);
    for (int k = 0; k < MG_LENGTH(stages); k++)
        for (int form = 0; form < 2; form++) {
            stage_body body = {stages[k], form ? &csr : &data};
            assert_true(support_fail_each_allocation(1, fit_and_apply, &body) >= 5);
        }
    stage_csr_free(&sparse);
}

static void test_cancelled(void **state) {
    (void)state;
    const char *const stages[] = {"minmax", "standardize",       "impute(with=median)",
                                  "onehot", "onehot(columns=1)", "normalize"};
    double *values = stage_mixed_values(false);
    const margin_data data = {
        .x = margin_dense_f64(values, STAGE_ROWS, STAGE_COLUMNS, STAGE_COLUMNS)};
    for (int k = 0; k < MG_LENGTH(stages); k++) {
        margin_context *context = support_context(NULL, 2);
        mg_fitted_stage fitted = stage_fitted(context, stages[k], &data), none = {0};
        mg_matrix_buffer out = {0};
        margin_error error = {0};
        margin_context_cancel(context);
        assert_int_equal(mg_stage_apply(context, &fitted, &data.x, &out, &error),
                         MARGIN_ERROR_CANCELLED);
        assert_null(out.heap);
        assert_true(error.text[0]);
        if (strcmp(stages[k], "normalize") != 0 && strcmp(stages[k], "onehot") != 0)
            assert_int_equal(stage_fit(context, stages[k], &data, &none, &error),
                             MARGIN_ERROR_CANCELLED);
        mg_fitted_stage_clear(&fitted);
        margin_context_free(context);
    }
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_battery),           cmocka_unit_test(test_wide),
        cmocka_unit_test(test_sparsity),          cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_other_index_types), cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
