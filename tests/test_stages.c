/* The stages, each against known answers, plain oracles, and a battery of properties that hold for
 * all of them: the same bits on any number of threads, whole matrices as row by row, CSR as dense,
 * weight k as k copies, a selection as the rows themselves. */
#include "support/support.h"

#include "features/column_moments.h"
#include "features/stages.h"
#include "features/value_runs.h"
#include "model/spec.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING ((double)NAN)

/* ---- Fitting one stage ----------------------------------------------------------------------- */

static margin_status fit_stage(margin_context *context, const char *text, const margin_data *data,
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

static mg_fitted_stage fitted_stage(margin_context *context, const char *text,
                                    const margin_data *data) {
    mg_fitted_stage fitted = {0};
    margin_error error = {0};
    if (fit_stage(context, text, data, &fitted, &error) != MARGIN_OK)
        fail_msg("%s: %s", text, error.text);
    return fitted;
}

static void assert_fit_fails(const char *text, const margin_data *data, margin_status expected,
                             const char *part) {
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 2);
    mg_fitted_stage fitted = {0};
    margin_error error = {0};
    const margin_status status = fit_stage(context, text, data, &fitted, &error);
    if (status != expected) fail_msg("%s: status %d: %s", text, (int)status, error.text);
    assert_contains(error.text, part);
    margin_context_free(context);
    support_assert_nothing_live(&heap);
}

static mg_matrix_buffer applied(margin_context *context, const mg_fitted_stage *fitted,
                                const margin_matrix *x) {
    mg_matrix_buffer out = {0};
    margin_error error = {0};
    if (fitted->stage->apply(context, fitted, x, &out, &error) != MARGIN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(out.view.rows, x->rows);
    assert_int_equal(out.view.columns, fitted->columns_out);
    assert_int_equal(out.view.value_type, x->value_type);
    assert_int_equal(mg_matrix_check(context, &out.view, "result", &error), MARGIN_OK);
    return out;
}

static double element(const margin_matrix *x, int64_t i, int64_t j) {
    double row[64];
    assert_true(x->columns <= 64);
    mg_row_expand(x, i, row);
    return row[j];
}

/* ---- Copies of a data set in other forms ----------------------------------------------------- */

/* CSR of a dense f64 matrix: everything but +0 is stored. free() the three arrays. */
typedef struct csr_copy {
    margin_matrix view;
    double *values;
    float *floats;
    int32_t *indices;
    int64_t *starts;
} csr_copy;

static csr_copy to_csr(const double *values, int64_t rows, int64_t columns) {
    csr_copy c = {.values = malloc((size_t)(rows * columns + 1) * sizeof(double)),
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

static void csr_free(csr_copy *c) {
    free(c->values);
    free(c->floats);
    free(c->indices);
    free(c->starts);
}

static float *to_floats(const double *values, int64_t count) {
    float *floats = malloc((size_t)count * sizeof *floats);
    for (int64_t k = 0; k < count; k++)
        floats[k] = (float)values[k];
    return floats;
}

/* ---- The battery ----------------------------------------------------------------------------- */

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Zeros of either sign are one value where sparse results are compared with dense ones. */
static bool same_value(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void assert_same_tensors(const mg_fitted_stage *a, const mg_fitted_stage *b) {
    assert_int_equal(a->tensor_count, b->tensor_count);
    assert_int_equal(a->columns_out, b->columns_out);
    for (int k = 0; k < a->tensor_count; k++) {
        const mg_tensor *left = &a->tensors[k], *right = &b->tensors[k];
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
                                                               : same_bits(found[j], want);
            if (!agree)
                fail_msg("%s: row %lld, column %lld: %.17g and %.17g", fitted->stage->info.name,
                         (long long)i, (long long)j, found[j], want);
        }
    }
    free(row);
    free(expected);
    free(found);
}

static void assert_same_matrix(const margin_matrix *a, const margin_matrix *b) {
    double *left = malloc((size_t)a->columns * sizeof *left);
    double *right = malloc((size_t)a->columns * sizeof *right);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    assert_true(mg_is_csr(a) == mg_is_csr(b));
    for (int64_t i = 0; i < a->rows; i++) {
        mg_row_expand(a, i, left);
        mg_row_expand(b, i, right);
        for (int64_t j = 0; j < a->columns; j++)
            assert_true(same_bits(left[j], right[j]));
    }
    free(left);
    free(right);
}

/* Fits and applies on one form of the data, with 1 and with 3 threads. */
static void check_form(const char *text, const margin_data *data) {
    margin_context *one = support_context(NULL, 1);
    mg_fitted_stage first = fitted_stage(one, text, data);
    mg_matrix_buffer first_out = applied(one, &first, &data->x);
    for (int threads = 1; threads <= 3; threads += 2) {
        margin_context *context = support_context(NULL, threads);
        mg_fitted_stage fitted = fitted_stage(context, text, data);
        mg_matrix_buffer out = applied(context, &fitted, &data->x);
        assert_same_tensors(&first, &fitted);
        assert_same_matrix(&first_out.view, &out.view);
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
    mg_fitted_stage left = fitted_stage(context, text, a), right = fitted_stage(context, text, b);
    assert_int_equal(left.tensor_count, right.tensor_count);
    for (int k = 0; k < left.tensor_count; k++) {
        if (left.tensors[k].type != MARGIN_F64) continue;
        assert_int_equal(left.tensors[k].shape[0], right.tensors[k].shape[0]);
        for (int64_t j = 0; j < left.tensors[k].shape[0]; j++)
            assert_close(((double *)left.tensors[k].data)[j], ((double *)right.tensors[k].data)[j],
                         tolerance);
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

    csr_copy sparse = to_csr(values, rows, columns);
    margin_data csr = data;
    csr.x = sparse.view;
    check_form(text, &csr);
    assert_close_tensors(text, &data, &csr, 1e-12);

    float *floats = to_floats(values, rows * columns);
    margin_data single = data;
    single.x = margin_dense_f32(floats, rows, columns, columns);
    check_form(text, &single);
    sparse.floats = to_floats(sparse.values, sparse.starts[rows]);
    single.x = margin_csr_f32(sparse.floats, sparse.indices, sparse.starts, rows, columns);
    check_form(text, &single);
    free(floats);
    csr_free(&sparse);
}

/* Columns of different kinds: any sign, far from zero, mostly zero, constant, codes 0..4. */
enum { MIXED_ROWS = 9000, MIXED_COLUMNS = 6 };

static double *mixed_values(bool missing) {
    uint64_t random = 5;
    double *values = malloc(sizeof(double) * MIXED_ROWS * MIXED_COLUMNS);
    for (int64_t i = 0; i < MIXED_ROWS; i++) {
        double *row = values + i * MIXED_COLUMNS;
        row[0] = support_normal(&random);
        row[1] = 1e6 + support_normal(&random);
        row[2] = support_uniform(&random) < 0.9 ? 0 : support_normal(&random);
        row[3] = 0.1;
        row[4] = (double)(support_random(&random) % 5);
        row[5] = support_uniform(&random) < 0.8 ? 0 : support_uniform(&random);
        for (int j = 0; missing && j < MIXED_COLUMNS; j++)
            if (support_uniform(&random) < 0.1) row[j] = NOTHING;
    }
    return values;
}

static const char *const five_categories[] = {"a", "b", "c", "d", "e"};
static const margin_column mixed_columns[MIXED_COLUMNS] = {
    {.name = "normal"},
    {.name = "far"},
    {.name = "sparse"},
    {.name = "constant"},
    {.name = "letter",
     .kind = MARGIN_CATEGORICAL,
     .categories = five_categories,
     .category_count = 5},
    {.name = "few"},
};

static void test_battery(void **state) {
    (void)state;
    static const char *const any[] = {"minmax",
                                      "minmax(low=-1, high=3, columns='far,-1')",
                                      "standardize",
                                      "standardize(center=no)",
                                      "standardize(scale=no)",
                                      "onehot",
                                      "onehot(drop=first)",
                                      "onehot(columns='few,constant,sparse')"};
    double *values = mixed_values(false);
    for (int k = 0; k < MG_LENGTH(any); k++)
        check_stage(any[k], values, MIXED_ROWS, MIXED_COLUMNS, mixed_columns);
    check_stage("normalize", values, MIXED_ROWS, MIXED_COLUMNS, NULL);
    check_stage("normalize(norm=l1)", values, MIXED_ROWS, MIXED_COLUMNS, NULL);
    check_stage("normalize(norm=max)", values, MIXED_ROWS, MIXED_COLUMNS, NULL);
    free(values);
    static const char *const gaps[] = {"impute", "impute(with=median)",
                                       "impute(with=most-frequent)", "impute(with=-2.5)"};
    values = mixed_values(true);
    for (int k = 0; k < MG_LENGTH(gaps); k++)
        check_stage(gaps[k], values, MIXED_ROWS, MIXED_COLUMNS, mixed_columns);
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
    free(values);
}

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

/* Compares the whole result of a stage on dense data. */
static void assert_result(const char *text, const margin_data *data, const double *expected,
                          double tolerance) {
    margin_context *context = support_context(NULL, 1);
    mg_fitted_stage fitted = fitted_stage(context, text, data);
    mg_matrix_buffer out = applied(context, &fitted, &data->x);
    for (int64_t i = 0; i < out.view.rows; i++)
        for (int64_t j = 0; j < out.view.columns; j++)
            assert_close(element(&out.view, i, j), expected[i * out.view.columns + j], tolerance);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

static void test_minmax_known(void **state) {
    (void)state;
    const double x[] = {1, 10, 5, 3, 40, 5, 5, 20, 5};
    const margin_data data = {.x = margin_dense_f64(x, 3, 3, 3)};
    assert_result("minmax", &data, (double[]){0, 0, 0, 0.5, 1, 0, 1, 1.0 / 3, 0}, 0);
    assert_result("minmax(low=-1)", &data, (double[]){-1, -1, 0, 0, 1, 0, 1, -1.0 / 3, 0}, 1e-15);
    assert_result("minmax(columns=2)", &data, (double[]){1, 0, 5, 3, 1, 5, 5, 1.0 / 3, 5}, 0);
    assert_result("minmax(columns='x1,-2')", &data, (double[]){0, 0, 5, 0.5, 1, 5, 1, 1.0 / 3, 5},
                  0);
    assert_result("minmax(columns=-1)", &data, (double[]){1, 10, 0, 3, 40, 0, 5, 20, 0}, 0);
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
        mg_fitted_stage fitted = fitted_stage(context, "minmax", &data);
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
        mg_fitted_stage fitted = fitted_stage(context, stages[k], &data);
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
        fitted.stage->affine(&fitted, scale, shift);
        assert_true(scale[0] == 0 && shift[0] == 0 && scale[1] > 0);
        mg_fitted_stage_clear(&fitted);
        margin_context_free(context);
    }
    /* many of them: five are named */
    double zeros[3 * 30] = {0};
    log_text log = {0};
    margin_context *context = logging_context(&log);
    const margin_data flat = {.x = margin_dense_f64(zeros, 3, 30, 30)};
    mg_fitted_stage fitted = fitted_stage(context, "minmax", &flat);
    assert_contains(log.text, "30 of 30 columns are constant and become 0");
    assert_contains(log.text, "x1, x2, x3, x4, x5, ...");
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
    assert_int_equal(mg_column_moments_make(context, &data, MG_WANT_SPREAD, &moments, NULL),
                     MARGIN_OK);
    for (int64_t j = 0; j < COLUMNS; j++) {
        double mean, deviation;
        oracle_moments(x, ROWS, COLUMNS, j, &mean, &deviation);
        assert_true(fabs(moments.mean[j] - mean) <= 1e-15 * fabs(mean) + 1e-13 * deviation);
        if (j == 3) continue; /* its squares vanish */
        const double found = sqrt(moments.squares[j] / moments.weight[j]);
        assert_true(fabs(found - deviation) <= 1e-10 * deviation);
        assert_true(moments.weight[j] == ROWS);
    }
    mg_column_moments_free(&moments);
    margin_context_free(context);
    assert_fit_fails("standardize", &data, MARGIN_ERROR_DATA,
                     "spread too far or too little for double precision");
    free(x);
}

static void test_standardize_known(void **state) {
    (void)state;
    const double x[] = {1, -2, 3, 4, 5, 0};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2)};
    const double a = sqrt(8.0 / 3), b = sqrt(56.0 / 9); /* population */
    const double m = 2.0 / 3;
    assert_result("standardize", &data,
                  (double[]){-2 / a, (-2 - m) / b, 0, (4 - m) / b, 2 / a, -m / b}, 1e-15);
    assert_result("standardize(center=no)", &data,
                  (double[]){1 / a, -2 / b, 3 / a, 4 / b, 5 / a, 0}, 1e-15);
    assert_result("standardize(scale=no)", &data, (double[]){-2, -2 - m, 0, 4 - m, 2, -m}, 1e-15);
    assert_result("standardize(scale=no, center=no)", &data, x, 0);
    assert_result("standardize(columns=2)", &data,
                  (double[]){1, (-2 - m) / b, 3, (4 - m) / b, 5, -m / b}, 1e-15);
}

static void test_affine(void **state) {
    (void)state;
    const char *const stages[] = {"minmax", "minmax(low=-2, high=5)", "standardize",
                                  "standardize(center=no)", "standardize(scale=no)"};
    double *values = mixed_values(false);
    const margin_data data = {
        .x = margin_dense_f64(values, MIXED_ROWS, MIXED_COLUMNS, MIXED_COLUMNS)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(stages); k++) {
        double scale[MIXED_COLUMNS], shift[MIXED_COLUMNS], out[MIXED_COLUMNS];
        mg_fitted_stage fitted = fitted_stage(context, stages[k], &data);
        fitted.stage->affine(&fitted, scale, shift);
        fitted.stage->apply_row(&fitted, values, out);
        for (int j = 0; j < MIXED_COLUMNS; j++)
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
                                      .categories = five_categories,
                                      .category_count = 5},
                                     {.name = "wide"}};
    const margin_data data = {.x = margin_dense_f64(x, 2, 3, 3), .columns = columns};
    assert_fit_fails("minmax(columns=agee)", &data, MARGIN_ERROR_DATA,
                     "minmax: the data has no column agee; did you mean age?");
    assert_fit_fails("minmax(columns=4)", &data, MARGIN_ERROR_DATA, "numbered 1 to 3");
    assert_fit_fails("minmax(columns=0)", &data, MARGIN_ERROR_DATA, "no column 0");
    assert_fit_fails("minmax(columns=-4)", &data, MARGIN_ERROR_DATA, "no column -4");
    assert_fit_fails("minmax(columns=99999999999999999999)", &data, MARGIN_ERROR_DATA,
                     "no column 99999999999999999999");
    assert_fit_fails("minmax(columns='age,')", &data, MARGIN_ERROR_DATA, "no column ;");
    assert_fit_fails("minmax(columns='')", &data, MARGIN_ERROR_DATA, "no column ;");
    assert_fit_fails("minmax(columns=colour)", &data, MARGIN_ERROR_DATA,
                     "column colour holds categories and cannot be scaled");
    assert_fit_fails("minmax(low=1)", &data, MARGIN_ERROR_SPEC, "low (1) must be below high (1)");
    assert_fit_fails("minmax", &data, MARGIN_ERROR_DATA,
                     "values of column wide, -1.7e+308 to 1.7e+308, spread too far");
    assert_fit_fails("standardize", &data, MARGIN_ERROR_DATA, "column wide");
    const margin_column twins[] = {{.name = "a"}, {.name = "a"}, {.name = "3,b"}};
    const margin_data twin_data = {.x = margin_dense_f64(x, 2, 3, 3), .columns = twins};
    assert_fit_fails("minmax(columns=a)", &twin_data, MARGIN_ERROR_DATA,
                     "several columns are called a; give the column's number, the first is 1");
    margin_context *context = support_context(NULL, 1); /* a name may hold a comma */
    const double small[] = {0, 1, 2, 3, 1, 4};
    const margin_data comma = {.x = margin_dense_f64(small, 2, 3, 3), .columns = twins};
    mg_fitted_stage fitted = fitted_stage(context, "minmax(columns='3,b')", &comma);
    const double *divisor = mg_stage_tensor_find(&fitted, "divisor")->data;
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
    assert_result("normalize", &data,
                  (double[]){0.6, -0.8, 0, 0, r, r, 0.6, -0.8, NOTHING, NOTHING}, 1e-4);
    assert_result(
        "normalize(norm=l1)", &data,
        (double[]){3.0 / 7, -4.0 / 7, 0, 0, 0.5, 0.5, 3.0 / 7, -4.0 / 7, NOTHING, NOTHING}, 1e-4);
    assert_result("normalize(norm=max)", &data,
                  (double[]){0.75, -1, 0, 0, 1, 1, 0.75, -1, NOTHING, NOTHING}, 1e-4);
    const double exact[] = {3, -4, 0, 0, 1.7e308, 1.7e308};
    const margin_data normal = {.x = margin_dense_f64(exact, 3, 2, 2)};
    assert_result("normalize", &normal, (double[]){0.6, -0.8, 0, 0, r, r}, 1e-16);
    const margin_data categories = {.x = margin_dense_f64(x, 5, 2, 2),
                                    .columns = mixed_columns + 3};
    assert_fit_fails("normalize", &categories, MARGIN_ERROR_DATA,
                     "column letter holds categories, which have no norm; put onehot before it");
}

/* ---- impute ---------------------------------------------------------------------------------- */

static void assert_fills(const char *text, const margin_data *data, const double *expected) {
    margin_context *context = support_context(NULL, 3);
    mg_fitted_stage fitted = fitted_stage(context, text, data);
    const double *fill = mg_stage_tensor_find(&fitted, "fill")->data;
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
                                      .categories = five_categories,
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
    assert_result("impute", &data, (double[]){1, 5, 2, 2, 2, 0, 4, 5, 0, 9, -1, 0, 9, -1, 2},
                  1e-15);
}

static void test_impute_errors(void **state) {
    (void)state;
    const double x[] = {1, NOTHING, NOTHING, 2, NOTHING, NOTHING};
    const margin_column columns[] = {{.name = "a"},
                                     {.name = "empty"},
                                     {.name = "void",
                                      .kind = MARGIN_CATEGORICAL,
                                      .categories = five_categories,
                                      .category_count = 5}};
    const margin_data data = {.x = margin_dense_f64(x, 2, 3, 3), .columns = columns};
    const char *const stages[] = {"impute", "impute(with=median)", "impute(with=most-frequent)"};
    for (int k = 0; k < 3; k++)
        assert_fit_fails(stages[k], &data, MARGIN_ERROR_DATA,
                         "2 columns have only missing values: empty, void; leave them out");
    assert_fit_fails("impute(with=0)", &data, MARGIN_ERROR_DATA,
                     "1 column has only missing values: void");
    const float f[] = {1, 2};
    const margin_data single = {.x = margin_dense_f32(f, 2, 1, 1)};
    assert_fit_fails("impute(with=1e300)", &single, MARGIN_ERROR_DATA,
                     "1e+300 is too large for data in single precision");
    const margin_data column = {.x = margin_dense_f64(x, 1, 2, 2)};
    assert_fills("impute(with=0)", &column, (double[]){0, 0});
}

/* ---- onehot ---------------------------------------------------------------------------------- */

static void test_onehot_known(void **state) {
    (void)state;
    static const char *const colours[] = {"blue", "green", "red"};
    const double x[] = {2, 1.5, 7, 0, -0.0, 3, 1, 2.5, 7};
    const margin_column columns[] = {
        {.name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 3},
        {.name = "size"},
        {.name = "doors"}};
    const margin_data data = {.x = margin_dense_f64(x, 3, 3, 3), .columns = columns};
    assert_result("onehot", &data, (double[]){0, 0, 1, 1.5, 7, 1, 0, 0, 0, 3, 0, 1, 0, 2.5, 7}, 0);
    assert_result("onehot(columns=doors)", &data,
                  (double[]){0, 0, 1, 1.5, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 2.5, 0, 1}, 0);
    assert_result("onehot(columns='3,colour', drop=first)", &data,
                  (double[]){0, 1, 1.5, 1, 0, 0, 0, 0, 1, 0, 2.5, 1}, 0);

    margin_context *context = support_context(NULL, 1);
    mg_fitted_stage fitted = fitted_stage(context, "onehot(columns=doors)", &data);
    const char *const names[] = {"colour=blue", "colour=green", "colour=red",
                                 "size",        "doors=3",      "doors=7"};
    assert_int_equal(fitted.columns.count, 6);
    for (int k = 0; k < 6; k++) {
        assert_string_equal(fitted.columns.items[k].name, names[k]);
        assert_int_equal(fitted.columns.items[k].kind, MARGIN_NUMERIC);
    }
    /* unknown and missing: none of them */
    const double strange[][3] = {{NOTHING, 1, 5}, {3, 1, NOTHING}, {-1, 1, 3.5}, {0.5, 1, 1e300}};
    for (int k = 0; k < 4; k++) {
        double out[6];
        fitted.stage->apply_row(&fitted, strange[k], out);
        assert_memory_equal(out, ((double[]){0, 0, 0, 1, 0, 0}), sizeof out);
    }
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

static void test_onehot_unknown_error(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, query[] = {0, 2, NOTHING, 3, 4};
    const margin_column column = mixed_columns[4];
    const margin_data data = {.x = margin_dense_f64(x, 3, 1, 1), .columns = &column};
    margin_context *context = support_context(NULL, 3);
    mg_fitted_stage fitted = fitted_stage(context, "onehot(unknown=error)", &data);
    const margin_matrix queries = margin_dense_f64(query, 5, 1, 1);
    mg_matrix_buffer out = {0};
    margin_error error;
    assert_int_equal(fitted.stage->apply(context, &fitted, &queries, &out, &error),
                     MARGIN_ERROR_DATA);
    assert_null(out.heap);
    assert_int_equal(error.row, 3);
    assert_contains(error.text, "onehot: row 3, column 1: a missing value or a category");
    double row[5];
    fitted.stage->apply_row(&fitted, query + 2, row);
    for (int k = 0; k < 5; k++)
        assert_true(isnan(row[k]));
    fitted.stage->apply_row(&fitted, query + 1, row);
    assert_memory_equal(row, ((double[]){0, 0, 1, 0, 0}), sizeof row);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* The layout is that which takes less memory; a zero of sparse data is a category too. */
static void test_onehot_layout(void **state) {
    (void)state;
    double *values = mixed_values(false);
    margin_data data = {.x = margin_dense_f64(values, MIXED_ROWS, MIXED_COLUMNS, MIXED_COLUMNS),
                        .columns = mixed_columns};
    margin_context *context = support_context(NULL, 2);
    mg_fitted_stage fitted = fitted_stage(context, "onehot", &data);
    mg_matrix_buffer out = applied(context, &fitted, &data.x);
    assert_true(mg_is_csr(&out.view)); /* 4.3 of 10 are not zero */
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    data.x.columns = 2; /* nothing to encode, no zeros */
    fitted = fitted_stage(context, "onehot", &data);
    out = applied(context, &fitted, &data.x);
    assert_false(mg_is_csr(&out.view));
    assert_same_matrix(&out.view, &data.x);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    free(values);

    const double x[] = {0, 5, 0, 0, 7, 5};
    csr_copy sparse = to_csr(x, 3, 2);
    data = (margin_data){.x = sparse.view};
    fitted = fitted_stage(context, "onehot(columns='1,2')", &data);
    out = applied(context, &fitted, &data.x);
    assert_int_equal(out.view.columns, 4); /* x1=0 x1=7 x2=0 x2=5 */
    const double expected[] = {1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1};
    for (int k = 0; k < 12; k++)
        assert_true(element(&out.view, k / 4, k % 4) == expected[k]);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    csr_free(&sparse);
    margin_context_free(context);
}

static void test_onehot_errors(void **state) {
    (void)state;
    enum { MANY = 100001 };
    double *x = malloc(sizeof(double) * MANY);
    for (int k = 0; k < MANY; k++)
        x[k] = k;
    const margin_data data = {.x = margin_dense_f64(x, MANY, 1, 1)};
    assert_fit_fails("onehot(columns=x1)", &data, MARGIN_ERROR_DATA,
                     "column x1 has 100001 distinct values, more than the limit of 100000");
    free(x);
    const double one[] = {0, 0}, none[] = {NOTHING, NOTHING};
    const margin_column single = {.name = "s",
                                  .kind = MARGIN_CATEGORICAL,
                                  .categories = five_categories,
                                  .category_count = 1};
    const margin_column empty = {.name = "e", .kind = MARGIN_CATEGORICAL};
    margin_data small = {.x = margin_dense_f64(one, 2, 1, 1), .columns = &single};
    assert_fit_fails("onehot(drop=first)", &small, MARGIN_ERROR_DATA, "would leave no column");
    assert_fit_fails("onehot(columns=t)", &small, MARGIN_ERROR_DATA, "no column t");
    small.x = margin_dense_f64(none, 2, 1, 1);
    small.columns = &empty;
    assert_fit_fails("onehot", &small, MARGIN_ERROR_DATA, "column e has no values");
    small.columns = NULL;
    assert_fit_fails("onehot(columns=1)", &small, MARGIN_ERROR_DATA, "column x1 has no values");
}

/* ---- Sparse data ----------------------------------------------------------------------------- */

static bool stays_sparse(margin_context *context, const char *text, const margin_data *data) {
    mg_fitted_stage fitted = fitted_stage(context, text, data);
    mg_matrix_buffer out = applied(context, &fitted, &data->x);
    const bool sparse = mg_is_csr(&out.view);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    return sparse;
}

static void test_sparsity(void **state) {
    (void)state;
    const double x[] = {0, 5, 0, 0, 7, 5}, negative[] = {0, -5, 0, 0, -7, 5};
    csr_copy sparse = to_csr(x, 3, 2), other = to_csr(negative, 3, 2);
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
    csr_free(&sparse);
    csr_free(&other);
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
    mg_fitted_stage fitted = fitted_stage(context, "standardize", &data);
    mg_matrix_buffer out = {0};
    margin_error error;
    assert_int_equal(fitted.stage->apply(context, &fitted, &data.x, &out, &error),
                     MARGIN_ERROR_LIMIT);
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
    mg_fitted_stage fitted = fitted_stage(context, "impute", &data);
    mg_matrix_buffer out = applied(context, &fitted, &x);
    const double expected[] = {4, 0, 0, 0, 8, 0, 2, 0, 0};
    for (int k = 0; k < 9; k++)
        assert_true(element(&out.view, k / 3, k % 3) == expected[k]);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    margin_context_free(context);
}

/* ---- Sorting of values ----------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const mg_value_run *left = a, *right = b;
    if (left->value != right->value) return left->value < right->value ? -1 : 1;
    if (signbit(left->value) != signbit(right->value)) return signbit(left->value) ? -1 : 1;
    return left->weight < right->weight ? -1 : left->weight > right->weight;
}

static void test_sort_values(void **state) {
    (void)state;
    enum { MOST = 3000 };
    static const double special[] = {0.0,     -0.0,    HUGE_VAL, -HUGE_VAL, 5e-324,
                                     -5e-324, DBL_MAX, 1,        1};
    mg_value_run values[MOST], expected[MOST], scratch[MOST];
    uint64_t random = 3;
    for (int round = 0; round < 200; round++) {
        const int count = round < 100 ? round : (int)(support_random(&random) % MOST);
        for (int k = 0; k < count; k++) {
            const uint64_t bits = support_random(&random);
            double value;
            memcpy(&value, &bits, sizeof value);
            if (bits % 3 == 0 || isnan(value)) value = special[bits % 9];
            if (round % 4 == 3) value = (double)(int64_t)(bits % 50);
            values[k] = (mg_value_run){value, k}; /* the weight tells where it came from */
        }
        memcpy(expected, values, sizeof values);
        qsort(expected, (size_t)count, sizeof *expected, by_value);
        mg_sort_values(values, count, scratch);
        for (int k = 0; k < count; k++)
            assert_true(same_bits(values[k].value, expected[k].value) &&
                        values[k].weight == expected[k].weight);
    }
}

/* ---- Hostile tensors ------------------------------------------------------------------------- */

static void assert_detached(mg_fitted_stage *fitted, const char *part) {
    margin_error error = {0};
    mg_free(fitted->heap, (void *)fitted->view);
    fitted->view = NULL;
    assert_int_equal(fitted->stage->attach(fitted, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, part);
}

/* Every bad number that attach must not let through, on a fresh stage each. */
static void test_attach(void **state) {
    (void)state;
    static const struct {
        const char *stage, *tensor;
        double value;
        const char *part;
    } bad[] = {
        {"minmax", "offset", HUGE_VAL, "impossible scale for column 1"},
        {"minmax", "divisor", 0, "impossible scale for column 1"},
        {"standardize", "divisor", -1, "impossible scale for column 1"},
        {"standardize", "divisor", NOTHING, "impossible scale for column 1"},
        {"impute", "fill", NOTHING, "no number for column 1"},
        {"impute", "fill", HUGE_VAL, "no number for column 1"},
        {"onehot(columns=1)", "values", NOTHING, "impossible categories for column 1"},
        {"onehot(columns=1)", "values", 1e9, "impossible categories for column 1"},
    };
    const double x[] = {1, 2, 3, 4, 5, 6};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(bad); k++) {
        mg_fitted_stage fitted = fitted_stage(context, bad[k].stage, &data);
        *(double *)mg_stage_tensor_find(&fitted, bad[k].tensor)->data = bad[k].value;
        assert_detached(&fitted, bad[k].part);
        mg_fitted_stage_clear(&fitted);
    }
    static const struct {
        int64_t kind, count;
        const char *part;
    } columns[] = {
        {3, 3, "impossible categories"}, {2, 0, "impossible categories"},
        {2, 4, "impossible categories"}, {2, -1, "impossible categories"},
        {2, 2, "other columns"},         {1, INT64_MAX, "impossible categories"},
        {1, 300, "more columns"},        {1, 3, "other columns"},
        {0, 1, "impossible categories"}, {0, 0, "other columns"},
    };
    for (int k = 0; k < MG_LENGTH(columns); k++) {
        mg_fitted_stage fitted = fitted_stage(context, "onehot(columns=1)", &data);
        *(uint8_t *)mg_stage_tensor_find(&fitted, "kind")->data = (uint8_t)columns[k].kind;
        *(int64_t *)mg_stage_tensor_find(&fitted, "count")->data = columns[k].count;
        assert_detached(&fitted, columns[k].part);
        mg_fitted_stage_clear(&fitted);
    }
    const char *const all[] = {"minmax", "standardize", "normalize", "impute", "onehot"};
    for (int k = 0; k < MG_LENGTH(all); k++) {
        mg_fitted_stage fitted = fitted_stage(context, all[k], &data);
        fitted.columns_out = 7;
        assert_detached(&fitted, all[k]);
        mg_fitted_stage_clear(&fitted);
        fitted = fitted_stage(context, all[k], &data);
        fitted.columns_in = 7;
        assert_detached(&fitted, all[k]);
        mg_fitted_stage_clear(&fitted);
        fitted = fitted_stage(context, all[k], &data);
        assert_non_null(mg_stage_tensor(&fitted, "extra", MARGIN_F64, 1, 0));
        assert_detached(&fitted, all[k]);
        mg_fitted_stage_clear(&fitted);
    }
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
    MG_TRY(fit_stage(context, body->text, body->data, &fitted, error));
    const margin_status status = fitted.stage->apply(context, &fitted, &body->data->x, &out, error);
    if (status < 0) assert_null(out.heap);
    mg_matrix_buffer_free(&out);
    mg_fitted_stage_clear(&fitted);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    const char *const stages[] = {"minmax(columns='a,b')", "standardize", "impute",
                                  "impute(with=median)",   "normalize",   "onehot",
                                  "onehot(columns='a,b')"};
    const double x[] = {1, 0, 2, 0, 7, 1};
    const margin_column columns[] = {{.name = "a"}, {.name = "b"}};
    csr_copy sparse = to_csr(x, 3, 2);
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2), .columns = columns};
    margin_data csr = {.x = sparse.view, .columns = columns};
    const double weights[] = {1, 2, 3};
    csr.weights = margin_values_f64(weights, 3);
    for (int k = 0; k < MG_LENGTH(stages); k++)
        for (int form = 0; form < 2; form++) {
            stage_body body = {stages[k], form ? &csr : &data};
            assert_true(support_fail_each_allocation(1, fit_and_apply, &body) >= 5);
        }
    csr_free(&sparse);
}

static void test_cancelled(void **state) {
    (void)state;
    const char *const stages[] = {"minmax", "standardize",       "impute(with=median)",
                                  "onehot", "onehot(columns=1)", "normalize"};
    double *values = mixed_values(false);
    const margin_data data = {
        .x = margin_dense_f64(values, MIXED_ROWS, MIXED_COLUMNS, MIXED_COLUMNS)};
    for (int k = 0; k < MG_LENGTH(stages); k++) {
        margin_context *context = support_context(NULL, 2);
        mg_fitted_stage fitted = fitted_stage(context, stages[k], &data), none = {0};
        mg_matrix_buffer out = {0};
        margin_error error = {0};
        margin_context_cancel(context);
        assert_int_equal(fitted.stage->apply(context, &fitted, &data.x, &out, &error),
                         MARGIN_ERROR_CANCELLED);
        assert_null(out.heap);
        assert_true(error.text[0]);
        if (strcmp(stages[k], "normalize") != 0 && strcmp(stages[k], "onehot") != 0)
            assert_int_equal(fit_stage(context, stages[k], &data, &none, &error),
                             MARGIN_ERROR_CANCELLED);
        mg_fitted_stage_clear(&fitted);
        margin_context_free(context);
    }
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_battery),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_minmax_known),
        cmocka_unit_test(test_minmax_ends),
        cmocka_unit_test(test_constant_columns),
        cmocka_unit_test(test_standardize_oracle),
        cmocka_unit_test(test_standardize_known),
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_scale_errors),
        cmocka_unit_test(test_normalize_known),
        cmocka_unit_test(test_impute_known),
        cmocka_unit_test(test_impute_errors),
        cmocka_unit_test(test_onehot_known),
        cmocka_unit_test(test_onehot_unknown_error),
        cmocka_unit_test(test_onehot_layout),
        cmocka_unit_test(test_onehot_errors),
        cmocka_unit_test(test_sparsity),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_other_index_types),
        cmocka_unit_test(test_sort_values),
        cmocka_unit_test(test_attach),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
