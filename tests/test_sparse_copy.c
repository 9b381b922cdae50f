/* Dense data that are mostly zeros get a sparse copy: when, what is in it, and that fits are those
 * of sparse data. */
#include "model_cases.h"

#include "data/matrix/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 3000, COLUMNS = 100 };

/* Three of COLUMNS are not 0: two indicators and a number. */
typedef struct dummies {
    double *x, *y, *labels;
    float *narrow;
    double *by_columns;
    const void *columns[COLUMNS];
    margin_matrix sparse;
    double *values;
    float *floats;
    int32_t *index;
    int64_t *starts;
} dummies;

static dummies dummies_make(uint64_t seed) {
    dummies d = {.x = calloc(ROWS * COLUMNS, sizeof(double)),
                 .by_columns = calloc(ROWS * COLUMNS, sizeof(double)),
                 .narrow = calloc(ROWS * COLUMNS, sizeof(float)),
                 .y = calloc(ROWS, sizeof(double)),
                 .labels = calloc(ROWS, sizeof(double)),
                 .values = calloc(3 * ROWS, sizeof(double)),
                 .floats = calloc(3 * ROWS, sizeof(float)),
                 .index = calloc(3 * ROWS, sizeof(int32_t)),
                 .starts = calloc(ROWS + 1, sizeof(int64_t))};
    int64_t stored = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        double *row = d.x + i * COLUMNS;
        row[support_random(&seed) % 60] = 1;
        row[60 + support_random(&seed) % 39] = 1;
        row[COLUMNS - 1] = (double)(float)support_normal(&seed);
        for (int64_t j = 0; j < COLUMNS; j++) {
            d.narrow[i * COLUMNS + j] = (float)row[j];
            d.by_columns[j * ROWS + i] = row[j];
            d.y[i] += row[j] * (double)(j % 7 - 3);
            if (row[j] == 0) continue;
            d.index[stored] = (int32_t)j;
            d.floats[stored] = (float)row[j];
            d.values[stored++] = row[j];
        }
        d.y[i] += support_normal(&seed);
        d.labels[i] = d.y[i] + 3 * support_normal(&seed) > 0;
        d.starts[i + 1] = stored;
    }
    for (int64_t j = 0; j < COLUMNS; j++)
        d.columns[j] = d.by_columns + j * ROWS;
    d.sparse = margin_csr_f64(d.values, d.index, d.starts, ROWS, COLUMNS);
    return d;
}

static void dummies_free(dummies *d) {
    free(d->x);
    free(d->by_columns);
    free(d->narrow);
    free(d->y);
    free(d->labels);
    free(d->values);
    free(d->floats);
    free(d->index);
    free(d->starts);
}

static margin_matrix by_columns(const dummies *d) {
    return (margin_matrix){
        .rows = ROWS, .columns = COLUMNS, .value_type = MARGIN_F64, .column_values = d->columns};
}

static void assert_same_csr(const mg_matrix_buffer *made, const dummies *d, bool narrow) {
    const margin_matrix *x = &made->view;
    const size_t stored = (size_t)d->starts[ROWS];
    assert_non_null(made->heap);
    assert_memory_equal(x->row_starts, d->starts, (ROWS + 1) * sizeof(int64_t));
    assert_memory_equal(x->column_indices, d->index, stored * sizeof(int32_t));
    if (narrow)
        assert_memory_equal(x->values, d->floats, stored * sizeof(float));
    else
        assert_memory_equal(x->values, d->values, stored * sizeof(double));
}

static void check_copy(const margin_matrix *x, const dummies *d, double most) {
    mg_matrix_buffer made = {0};
    assert_int_equal(mg_matrix_sparse_copy(context, x, most, &made, NULL), MARGIN_OK);
    if (d)
        assert_same_csr(&made, d, x->value_type == MARGIN_F32);
    else
        assert_null(made.heap);
    mg_matrix_buffer_free(&made);
}

static void test_copy(void **state) {
    (void)state;
    dummies d = dummies_make(1);
    const margin_matrix wide = margin_dense_f64(d.x, ROWS, COLUMNS, COLUMNS),
                        narrow = margin_dense_f32(d.narrow, ROWS, COLUMNS, COLUMNS),
                        columns = by_columns(&d);
    check_copy(&wide, &d, 0.1);
    check_copy(&narrow, &d, 0.1);
    check_copy(&columns, &d, 0.1);
    check_copy(&wide, NULL, 0.02); /* 0.03 of them are not 0 */
    check_copy(&d.sparse, NULL, 0.1);
    const margin_matrix stride = margin_dense_f64(d.x, ROWS, COLUMNS - 5, COLUMNS);
    mg_matrix_buffer made = {0};
    assert_int_equal(mg_matrix_sparse_copy(context, &stride, 0.1, &made, NULL), MARGIN_OK);
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t *starts = made.view.row_starts;
        const int32_t *index = made.view.column_indices;
        for (int64_t e = starts[i]; e < starts[i + 1]; e++)
            assert_true(index[e] < COLUMNS - 5 &&
                        ((const double *)made.view.values)[e] == d.x[i * COLUMNS + index[e]]);
    }
    mg_matrix_buffer_free(&made);
    for (int64_t k = 0; k < ROWS; k++) /* the rows that are looked at first say little */
        if (k % (ROWS / 64) != 0)
            for (int64_t j = 0; j < COLUMNS; j++)
                d.x[k * COLUMNS + j] = 1;
    check_copy(&wide, NULL, 0.1);
    dummies_free(&d);
}

/* To the last bit. */
static void assert_same_functions(const margin_model *a, const margin_model *b) {
    const int64_t functions =
        margin_model_report(a)->classes > 2 ? margin_model_report(a)->classes : 1;
    for (int64_t k = 0; k < functions; k++) {
        assert_memory_equal(margin_model_weights(a, k), margin_model_weights(b, k),
                            COLUMNS * sizeof(double));
        assert_true(margin_model_intercept(a, k) == margin_model_intercept(b, k));
    }
}

/* The same model as of the sparse data, from every layout and any number of threads; it verifies.
 */
static void test_fits(void **state) {
    (void)state;
    static const char *const specs[] = {
        "least-squares", "ridge", "lasso(lambda=0.01)",      "logistic",
        "softmax",       "svm",   "svm(loss=squared-hinge)", "standardize | logistic"};
    dummies d = dummies_make(2);
    const margin_matrix layouts[] = {margin_dense_f64(d.x, ROWS, COLUMNS, COLUMNS), by_columns(&d)};
    margin_context *three = support_context(NULL, 3);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        margin_data data = {.x = d.sparse, .y = margin_values_f64(s < 3 ? d.y : d.labels, ROWS)};
        margin_model *sparse = fit_text(context, specs[s], &data, NULL);
        for (int k = 0; k < 2; k++) {
            data.x = layouts[k];
            margin_model *model = fit_text(k ? three : context, specs[s], &data, NULL);
            if (!strchr(specs[s], '|')) /* a stage saw the rows as they are */
                assert_same_functions(sparse, model);
            assert_verified(context, model, &data);
            margin_model_free(model);
        }
        margin_model_free(sparse);
    }
    margin_context_free(three);
    dummies_free(&d);
}

/* Rows without a weight may hold anything; others are refused by their place. */
static void test_wrong_values(void **state) {
    (void)state;
    dummies d = dummies_make(3);
    margin_data data = {.x = margin_dense_f64(d.x, ROWS, COLUMNS, COLUMNS),
                        .y = margin_values_f64(d.y, ROWS)};
    double weights[ROWS];
    for (int64_t i = 0; i < ROWS; i++)
        weights[i] = i != 17;
    d.x[17 * COLUMNS + 5] = NAN;
    fit_refused(context, "least-squares", &data, MARGIN_ERROR_DATA, "row 18");
    data.y = margin_values_f64(d.labels, ROWS);
    fit_refused(context, "logistic", &data, MARGIN_ERROR_DATA, "x6");
    data.weights = margin_values_f64(weights, ROWS);
    margin_model_free(fit_text(context, "least-squares", &data, NULL));
    dummies_free(&d);
}

/* Without room for the copy the fit is as it was. */
static void test_memory(void **state) {
    (void)state;
    dummies d = dummies_make(4);
    const margin_data data = {.x = margin_dense_f64(d.x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(d.y, ROWS)};
    margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = 1400000};
    margin_context *own = NULL;
    assert_int_equal(margin_context_create(&options, &own, NULL), MARGIN_OK);
    margin_report report = {0};
    margin_model_free(fit_text(own, "ridge", &data, &report));
    assert_int_equal(report.status, MARGIN_OK);
    margin_context_free(own);
    fit_attempt attempt = {"ridge", data};
    assert_true(support_fail_each_allocation(2, attempt_fit, &attempt) > 10);
    dummies_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
