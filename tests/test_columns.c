/* Data by columns: models, answers, metrics and proofs have the bytes of those of the same rows in
 * C order, whether rows are put together a few at a time or copied; what is copied counts for the
 * memory limit; what does not take columns says so. */
#include "margin/margin.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 700, COLUMNS = 11 };
#define COUNT_OF(list) ((int)(sizeof(list) / sizeof *(list)))

typedef struct table {
    double rows[ROWS * COLUMNS], by_column[COLUMNS][ROWS];
    float rows_f32[ROWS * COLUMNS], by_column_f32[COLUMNS][ROWS];
    const double *columns[COLUMNS];
    const float *columns_f32[COLUMNS];
    double y[ROWS], weights[ROWS];
    int32_t labels[ROWS];
    int64_t selection[ROWS];
} table;

static void make_table(table *t) {
    uint64_t state = 7;
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int j = 0; j < COLUMNS; j++) {
            const double value = support_normal(&state) * (j + 1) + j;
            t->rows[i * COLUMNS + j] = t->by_column[j][i] = value;
            t->rows_f32[i * COLUMNS + j] = t->by_column_f32[j][i] = (float)value;
            sum += value * (j % 3 - 1);
        }
        t->y[i] = sum + support_normal(&state);
        t->labels[i] = (sum > 0) + (sum > 9);
        t->weights[i] = i % 10 == 3 ? 0 : 1 + i % 3;
        t->selection[i] = (int64_t)i * 37 % ROWS;
    }
    for (int j = 0; j < COLUMNS; j++) {
        t->columns[j] = t->by_column[j];
        t->columns_f32[j] = t->by_column_f32[j];
    }
}

static table t;

static margin_matrix rows_of(bool single, int64_t rows) {
    return single ? margin_dense_f32(t.rows_f32, rows, COLUMNS, COLUMNS)
                  : margin_dense_f64(t.rows, rows, COLUMNS, COLUMNS);
}

static margin_matrix columns_of(bool single, int64_t rows) {
    return single ? margin_columns_f32(t.columns_f32, rows, COLUMNS)
                  : margin_columns_f64(t.columns, rows, COLUMNS);
}

static margin_model *fit(margin_context *context, const char *text, const margin_data *data) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    if (margin_spec_parse(context, text, &spec, &error) < 0 ||
        margin_fit(context, spec, data, &model, NULL, &error) < 0)
        fail_msg("%s: %s", text, error.text);
    margin_spec_free(spec);
    return model;
}

static void assert_same_models(const char *text, const margin_model *a, const margin_model *b) {
    margin_error error;
    void *bytes[2];
    int64_t sizes[2];
    assert_int_equal(margin_model_encode(a, &bytes[0], &sizes[0], &error), MARGIN_OK);
    assert_int_equal(margin_model_encode(b, &bytes[1], &sizes[1], &error), MARGIN_OK);
    if (sizes[0] != sizes[1] || memcmp(bytes[0], bytes[1], (size_t)sizes[0]) != 0)
        fail_msg("%s: other bytes", text);
    margin_bytes_free(a, bytes[0]);
    margin_bytes_free(b, bytes[1]);
}

static void assert_same_answers(margin_context *context, const margin_model *model, bool single,
                                int64_t rows) {
    const margin_matrix x = rows_of(single, rows), by_columns = columns_of(single, rows);
    const int64_t width = margin_model_score_count(model);
    double *found = calloc((size_t)(3 * rows * width + 1), sizeof *found);
    margin_error error;
    assert_non_null(found);
    double *again = found + rows * width, *parallel = again + rows * width;
    assert_int_equal(margin_scores(model, &x, found, &error), MARGIN_OK);
    assert_int_equal(margin_scores(model, &by_columns, again, &error), MARGIN_OK);
    assert_int_equal(margin_predict_parallel(context, model, &by_columns, MARGIN_OUTPUT_SCORES,
                                             parallel, &error),
                     MARGIN_OK);
    assert_memory_equal(found, again, (size_t)(rows * width) * sizeof *found);
    assert_memory_equal(found, parallel, (size_t)(rows * width) * sizeof *found);
    free(found);
}

static void assert_same_judgement(margin_context *context, const char *text,
                                  const margin_model *model, const margin_data *data,
                                  const margin_data *by_columns) {
    margin_metrics metrics[2] = {{.size = sizeof *metrics}, {.size = sizeof *metrics}};
    margin_report found[2] = {{.size = sizeof *found}, {.size = sizeof *found}};
    margin_error error;
    for (int k = 0; k < 2; k++) {
        const margin_data *of = k ? by_columns : data;
        assert_int_equal(margin_evaluate(context, model, of, &metrics[k], &error), MARGIN_OK);
        const margin_status status = margin_verify(context, model, of, &found[k], &error);
        if (status < 0) fail_msg("%s: %s", text, error.text);
    }
    assert_memory_equal(&metrics[0].accuracy, &metrics[1].accuracy, sizeof(double));
    assert_memory_equal(&metrics[0].rmse, &metrics[1].rmse, sizeof(double));
    assert_int_equal(found[0].status, found[1].status);
    assert_memory_equal(&found[0].objective, &found[1].objective, sizeof(double));
    assert_memory_equal(&found[0].gap, &found[1].gap, sizeof(double));
    margin_metrics_free(&metrics[0]);
    margin_metrics_free(&metrics[1]);
}

static const char *const regressions[] = {"least-squares",
                                          "ridge",
                                          "standardize | ridge(C=2)",
                                          "least-squares(solver=qr)",
                                          "lasso(lambda=0.1)",
                                          "minmax | elastic-net",
                                          "ridge(solver=sgd, max_iter=3)",
                                          "ridge(solver=gd, max_iter=5)",
                                          "kernel-ridge(kernel=rbf)",
                                          "knn(task=regress)",
                                          "poly(degree=2) | ridge",
                                          "standardize | poly | standardize | ridge"};
static const char *const classifiers[] = {"logistic",
                                          "standardize | logistic(C=0.5)",
                                          "logistic(solver=lbfgs)",
                                          "logistic(solver=newton)",
                                          "logistic(multiclass=ovo)",
                                          "logistic(solver=dual_cd)",
                                          "softmax",
                                          "svm",
                                          "standardize | svm",
                                          "svm(multiclass=argmax)",
                                          "svm(loss=squared-hinge)",
                                          "exponential(C=0.1)",
                                          "logistic(l1_ratio=0.5)",
                                          "perceptron(passes=5)",
                                          "naive-bayes",
                                          "knn",
                                          "svm(kernel=rbf)",
                                          "normalize | softmax",
                                          "kmeans(k=3)"};

static void compare_all(margin_context *context, const char *const *specs, int count,
                        margin_data data, int64_t rows) {
    for (int k = 0; k < 2 * count; k++) {
        const char *text = specs[k / 2];
        const bool single = k % 2;
        margin_data by_columns = data;
        data.x = rows_of(single, rows);
        by_columns.x = columns_of(single, rows);
        const bool clusters = strncmp(text, "kmeans", 6) == 0;
        margin_model *a = fit(context, text, &data), *b = fit(context, text, &by_columns);
        assert_same_models(text, a, b);
        assert_same_answers(context, a, single, rows);
        if (!clusters) assert_same_judgement(context, text, a, &data, &by_columns);
        margin_model_free(a);
        margin_model_free(b);
    }
}

static void columns_give_the_bytes_of_rows(void **state) {
    (void)state;
    const margin_data numbers = {.y = margin_values_f64(t.y, ROWS)};
    const margin_data classes = {.y = margin_labels_i32(t.labels, ROWS)};
    for (int threads = 1; threads <= 3; threads += 2) {
        margin_context *context = support_context(NULL, threads);
        compare_all(context, regressions, (int)(sizeof regressions / sizeof *regressions), numbers,
                    ROWS);
        compare_all(context, classifiers, (int)(sizeof classifiers / sizeof *classifiers), classes,
                    ROWS);
        margin_context_free(context);
    }
}

/* Vectors that are filled in part, along rows and along columns. */
static void small_tables_too(void **state) {
    (void)state;
    static const int counts[] = {6, 7, 8, 9, 15, 33, 64, 70, 261};
    static const char *const specs[] = {"ridge", "standardize | ridge"};
    static const char *const others[] = {"standardize | logistic", "svm"};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 9 * COLUMNS * 8; k++) {
        const int64_t rows = counts[k / 8 / COLUMNS], width = k / 8 % COLUMNS + 1;
        const char *text = k % 4 < 2 ? specs[k % 2] : others[k % 2];
        margin_data data = {.x = margin_dense_f64(t.rows, rows, width, COLUMNS),
                            .y = margin_values_f64(t.y, rows)};
        if (k % 8 > 3) data.x = margin_dense_f32(t.rows_f32, rows, width, COLUMNS);
        if (k % 4 > 1) data.y = margin_labels_i32(t.labels, rows);
        margin_data by_columns = data;
        by_columns.x = k % 8 > 3 ? margin_columns_f32(t.columns_f32, rows, width)
                                 : margin_columns_f64(t.columns, rows, width);
        margin_model *a = fit(context, text, &data), *b = fit(context, text, &by_columns);
        double found[2][261 * 3];
        margin_error error;
        assert_same_models(text, a, b);
        assert_int_equal(margin_scores(a, &data.x, found[0], &error), MARGIN_OK);
        assert_int_equal(margin_scores(b, &by_columns.x, found[1], &error), MARGIN_OK);
        assert_memory_equal(found[0], found[1],
                            (size_t)(rows * margin_model_score_count(a)) * sizeof(double));
        margin_model_free(a);
        margin_model_free(b);
    }
    margin_context_free(context);
}

/* Random rows, of which the first columns tell the class. */
static void compare_large(const char *text, int rows, int width, int classes) {
    double *values = malloc(2 * (size_t)rows * (size_t)width * sizeof *values);
    double *turned = values + (size_t)rows * (size_t)width;
    const double **columns = malloc((size_t)width * sizeof *columns);
    int32_t *labels = malloc((size_t)rows * sizeof *labels);
    margin_context *context = support_context(NULL, 2);
    uint64_t random = 5;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < width; j++)
            values[i * width + j] = turned[j * rows + i] = support_normal(&random);
        labels[i] =
            classes > 2 ? i % classes : values[i * width] + 0.5 * support_normal(&random) > 0;
    }
    for (int j = 0; j < width; j++)
        columns[j] = turned + j * rows;
    margin_data data = {.x = margin_dense_f64(values, rows, width, width),
                        .y = margin_labels_i32(labels, rows)};
    margin_model *plain = fit(context, text, &data);
    data.x = margin_columns_f64(columns, rows, width);
    margin_model *other = fit(context, text, &data);
    assert_same_models(text, plain, other);
    margin_model_free(plain);
    margin_model_free(other);
    margin_context_free(context);
    free(labels);
    free((void *)columns);
    free(values);
}

/* Rows enough for a choice of solvers by price. */
static void choices_of_solvers_are_told_alike(void **state) {
    static const char *const specs[] = {"logistic", "svm", "svm(loss=squared-hinge)", "ridge",
                                        "least-squares"};
    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        compare_large(specs[k], 20000, 20, 2);
}

/* Sums so long that a block has many of the runs of rows put together, whose ends are in the
 * middle of chunks. */
static void many_classes_see_every_row(void **state) {
    (void)state;
    compare_large("softmax(max_iter=2)", 8192, 97, 33);
    compare_large("svm(multiclass=argmax, max_iter=2)", 8192, 97, 33);
    compare_large("softmax(max_iter=2)", 2048, 1100, 9);
}

/* Weights of 0 leave out so many rows, or a fold has so few, that columns are more. */
static void selections_and_weights_too(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    static const char *const specs[] = {"logistic", "standardize | svm", "ridge",
                                        "standardize | lasso"};
    static const int64_t counts[] = {8, 30, 600};
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 4; k++) {
            const margin_data data = {.y = k < 2 ? margin_labels_i32(t.labels, ROWS)
                                                 : margin_values_f64(t.y, ROWS),
                                      .weights = margin_values_f64(t.weights, ROWS),
                                      .selection = t.selection,
                                      .selected = counts[c]};
            compare_all(context, specs + k, 1, data, ROWS);
        }
    margin_context_free(context);
}

static void the_first_bad_value_is_named(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error;
    const margin_data data = {.x = columns_of(false, ROWS), .y = margin_values_f64(t.y, ROWS)};
    static const char *const specs[] = {"ridge", "standardize | ridge", "knn"};
    for (int k = 0; k < 3; k++) {
        for (int infinite = 0; infinite < 2; infinite++) {
            const double was = t.by_column[4][333];
            t.by_column[4][333] = infinite ? HUGE_VAL : (double)NAN;
            assert_int_equal(margin_spec_parse(context, specs[k], &spec, &error), MARGIN_OK);
            assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error),
                             MARGIN_ERROR_DATA);
            assert_int_equal(error.row, 334);
            assert_contains(error.text, infinite ? "inf in column x5" : "column x5");
            margin_spec_free(spec);
            t.by_column[4][333] = was;
        }
    }
    margin_context_free(context);
}

static void columns_are_found_by_name(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    margin_error error;
    margin_column names[COLUMNS], turned[COLUMNS];
    const double *columns[COLUMNS];
    char text[COLUMNS][16];
    double found[ROWS], again[ROWS];
    for (int j = 0; j < COLUMNS; j++) {
        snprintf(text[j], sizeof text[j], "c%d", j);
        names[j] = (margin_column){.name = text[j]};
    }
    for (int j = 0; j < COLUMNS; j++) {
        turned[j] = names[COLUMNS - 1 - j];
        columns[j] = t.columns[COLUMNS - 1 - j];
    }
    margin_data data = {
        .x = columns_of(false, ROWS), .y = margin_values_f64(t.y, ROWS), .columns = names};
    margin_model *model = fit(context, "ridge", &data);
    assert_int_equal(
        margin_predict_data(context, model, &data, MARGIN_OUTPUT_VALUES, found, &error), MARGIN_OK);
    data.x = margin_columns_f64(columns, ROWS, COLUMNS);
    data.columns = turned;
    assert_int_equal(
        margin_predict_data(context, model, &data, MARGIN_OUTPUT_VALUES, again, &error), MARGIN_OK);
    assert_memory_equal(found, again, sizeof found);
    margin_model_free(model);
    margin_context_free(context);
}

static void columns_are_split_as_rows_are(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_error error;
    const margin_split_options fifth = {.size = sizeof fifth, .test = 0.2, .seed = 3};
    int64_t rows[2][ROWS], count[2];
    for (int by = 0; by < 2; by++) {
        margin_splits *splits = NULL;
        const margin_data data = {.x = by ? columns_of(false, ROWS)
                                          : margin_dense_f64(t.rows, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(t.y, ROWS)};
        assert_int_equal(margin_split(context, &data, &fifth, &splits, &error), MARGIN_OK);
        count[by] = margin_splits_rows(splits, 0, MARGIN_PART_TEST, rows[by]);
        margin_splits_free(splits);
    }
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(rows[0], rows[1], (size_t)count[0] * sizeof rows[0][0]);
    margin_context_free(context);
}

static void what_does_not_take_columns_says_so(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_error error;
    margin_data data = {.x = columns_of(false, ROWS), .y = margin_values_f64(t.y, ROWS)};
    assert_int_equal(margin_data_write(context, &data, "never.csv", NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "by columns");
    margin_spec *spec;
    margin_model *model;
    assert_int_equal(margin_spec_parse(context, "ridge", &spec, &error), MARGIN_OK);
    const double *broken[COLUMNS];
    memcpy(broken, t.columns, sizeof broken);
    broken[6] = NULL;
    data.x = margin_columns_f64(broken, ROWS, COLUMNS);
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "column_values[6] is NULL");
    broken[6] = (const double *)(const void *)((const char *)t.columns[6] + 1);
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    data.x = columns_of(false, ROWS);
    data.x.values = t.rows;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    data.x = columns_of(false, INT64_MAX / 16);
    data.y.count = data.x.rows;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    data = (margin_data){.x = margin_columns_f64(broken, 0, INT64_MAX / 4)};
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "more than memory can hold");
    margin_spec_free(spec);
    margin_context_free(context);
}

/* Of a linear model no second table is ever held; what needs one is told by the limit. */
static void memory_is_what_the_page_says(void **state) {
    (void)state;
    enum { MANY = 20000, WIDTH = 30 };
    double *values = malloc(sizeof *values * MANY * WIDTH), *y = malloc(sizeof *y * MANY);
    const double *columns[WIDTH];
    uint64_t random = 3;
    assert_true(values && y);
    for (int k = 0; k < MANY * WIDTH; k++)
        values[k] = support_normal(&random);
    for (int i = 0; i < MANY; i++)
        y[i] = values[i] + values[MANY + i] + support_normal(&random);
    for (int j = 0; j < WIDTH; j++)
        columns[j] = values + j * MANY;
    const margin_data data = {.x = margin_columns_f64(columns, MANY, WIDTH),
                              .y = margin_values_f64(y, MANY)};
    const margin_context_options limited = {
        .size = sizeof limited, .threads = 2, .memory_limit = 3000000};
    static const char *const fits[] = {"ridge", "standardize | ridge", "least-squares"};
    margin_context *context;
    margin_error error;
    assert_int_equal(margin_context_create(&limited, &context, &error),
                     MARGIN_OK); /* the table: 4.8 MB */
    for (int k = 0; k < 3; k++)
        margin_model_free(fit(context, fits[k], &data));
    margin_spec *spec;
    margin_model *model = NULL;
    assert_int_equal(margin_spec_parse(context, "knn(task=regress)", &spec, &error), MARGIN_OK);
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "a copy in rows of data by columns");
    margin_spec_free(spec);
    margin_context_free(context);
    free(values);
    free(y);
}

/* ---- Columns of types of their own ----------------------------------------------------------- */

/* Whole numbers of every type, behind two others; the last columns are fields of records. */
typedef struct typed {
    int8_t i8[ROWS + 2];
    int16_t i16[ROWS + 2];
    int32_t i32[ROWS + 2];
    int64_t i64[ROWS + 2];
    uint8_t u8[ROWS + 2], bits[ROWS / 8 + 2];
    uint16_t u16[ROWS + 2];
    uint32_t u32[ROWS + 2];
    uint64_t u64[ROWS + 2];
    struct __attribute__((packed)) {
        char odd;
        double f64;
        float f32;
    } records[ROWS + 2];
    uint8_t there[ROWS / 8 + 2];
    margin_array arrays[COLUMNS];
    double rows[ROWS * COLUMNS];
    float rows_f32[ROWS * COLUMNS];
} typed;

static typed ty;

static int bit_of(const uint8_t *bits, int64_t place) {
    return bits[place / 8] >> (place % 8) & 1;
}

static void make_typed(typed *a) {
    const void *const values[COLUMNS] = {a->i8,
                                         a->i16,
                                         a->i32,
                                         a->i64,
                                         a->u8,
                                         a->u16,
                                         a->u32,
                                         a->u64,
                                         a->bits,
                                         &a->records[0].f64,
                                         &a->records[ROWS + 1].f32};
    static const int32_t types[COLUMNS] = {MARGIN_I8,   MARGIN_I16, MARGIN_I32, MARGIN_I64,
                                           MARGIN_U8,   MARGIN_U16, MARGIN_U32, MARGIN_U64,
                                           MARGIN_BITS, MARGIN_F64, MARGIN_F32};
    for (int k = 0; k < ROWS + 2; k++) {
        const int i = k < 2 ? 0 : k - 2;
        double *row = a->rows + i * COLUMNS;
        for (int j = 0; j < COLUMNS; j++)
            row[j] = round(t.rows[i * COLUMNS + j] * 4) + 0.0; /* no -0 */
        for (int j = 4; j < 8; j++)
            row[j] = fabs(row[j]);
        row[0] = fmax(-128, fmin(row[0], 127));
        row[4] = fmin(row[4], 255);
        row[8] = row[8] > 0;
        row[10] = (double)(float)t.rows[i * COLUMNS + 10];
        a->i8[k] = (int8_t)row[0], a->i16[k] = (int16_t)row[1];
        a->i32[k] = (int32_t)row[2], a->i64[k] = (int64_t)row[3];
        a->u8[k] = (uint8_t)row[4], a->u16[k] = (uint16_t)row[5];
        a->u32[k] = (uint32_t)row[6], a->u64[k] = (uint64_t)row[7];
        a->bits[k / 8] |= (uint8_t)((row[8] > 0) << (k % 8));
        a->there[k / 8] |= (uint8_t)((k % 7 != 3) << (k % 8));
        a->records[k].f64 = row[9];
        a->records[ROWS + 1 - k].f32 = (float)row[10]; /* from the last to the first */
    }
    for (int j = 0; j < COLUMNS; j++)
        a->arrays[j] = (margin_array){.values = values[j], .offset = 2, .type = types[j]};
    a->arrays[9].stride = sizeof a->records[0];
    a->arrays[10].stride = -(int64_t)sizeof a->records[0];
    for (int k = 0; k < ROWS * COLUMNS; k++)
        a->rows_f32[k] = (float)a->rows[k];
}

static margin_matrix typed_rows(bool single) {
    return single ? margin_dense_f32(ty.rows_f32, ROWS, COLUMNS, COLUMNS)
                  : margin_dense_f64(ty.rows, ROWS, COLUMNS, COLUMNS);
}

static margin_matrix typed_columns(bool single) {
    margin_matrix x = margin_columns_typed(ty.arrays, ROWS, COLUMNS);
    if (single) x.value_type = MARGIN_F32;
    return x;
}

static void compare_typed(margin_context *context, const char *text, margin_data data,
                          bool single) {
    margin_data by_columns = data;
    double found[2][ROWS * 3];
    margin_error error;
    data.x = typed_rows(single);
    by_columns.x = typed_columns(single);
    margin_model *a = fit(context, text, &data), *b = fit(context, text, &by_columns);
    assert_same_models(text, a, b);
    assert_int_equal(margin_scores(a, &data.x, found[0], &error), MARGIN_OK);
    assert_int_equal(margin_scores(b, &by_columns.x, found[1], &error), MARGIN_OK);
    assert_memory_equal(found[0], found[1],
                        sizeof(double) * (size_t)(ROWS * margin_model_score_count(a)));
    if (strncmp(text, "kmeans", 6) != 0)
        assert_same_judgement(context, text, a, &data, &by_columns);
    margin_model_free(a);
    margin_model_free(b);
}

static const char *const typed_regressions[] = {"ridge",
                                                "standardize | ridge(C=2)",
                                                "least-squares(solver=qr)",
                                                "minmax | lasso(lambda=0.1)",
                                                "ridge(solver=sgd, max_iter=3)",
                                                "knn(task=regress)",
                                                "poly(degree=2) | ridge"};
static const char *const typed_classifiers[] = {"standardize | logistic(C=0.5)",
                                                "standardize | logistic(solver=dual_cd)",
                                                "standardize | softmax",
                                                "standardize | svm",
                                                "naive-bayes",
                                                "perceptron(passes=5)",
                                                "kmeans(k=3)"};

static void typed_columns_give_the_bytes_of_rows(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    margin_data numbers = {.y = margin_values_f64(t.y, ROWS)};
    margin_data classes = {.y = margin_labels_i32(t.labels, ROWS)};
    for (int fold = 0; fold < 2; fold++) {
        for (int k = 0; k < 2 * COUNT_OF(typed_regressions); k++)
            compare_typed(context, typed_regressions[k / 2], numbers, k % 2);
        for (int k = 0; k < 2 * COUNT_OF(typed_classifiers); k++)
            compare_typed(context, typed_classifiers[k / 2], classes, k % 2);
        numbers.selection = classes.selection = t.selection;
        numbers.selected = classes.selected = 400;
    }
    margin_context_free(context);
}

/* As where the rows have NaN, down to the sentence. */
static void bitmaps_tell_what_is_missing(void **state) {
    (void)state;
    static const char *const specs[] = {"impute | ridge", "impute | standardize | logistic",
                                        "naive-bayes", "ridge"};
    margin_context *context = support_context(NULL, 1);
    margin_data data = {.y = margin_labels_i32(t.labels, ROWS)};
    for (int i = 0; i < ROWS; i++)
        for (int j = 2; j < COLUMNS; j += 3)
            if (!bit_of(ty.there, i + 2))
                ty.rows[i * COLUMNS + j] = ty.rows_f32[i * COLUMNS + j] = NAN;
    for (int j = 2; j < COLUMNS; j += 3)
        ty.arrays[j].validity = ty.there;
    for (int k = 0; k < 3; k++)
        compare_typed(context, specs[k], data, k % 2);
    margin_error error[2];
    margin_spec *spec;
    margin_model *model;
    assert_int_equal(margin_spec_parse(context, specs[3], &spec, error), MARGIN_OK);
    for (int k = 0; k < 2; k++) {
        data.x = k ? typed_columns(false) : typed_rows(false);
        assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error[k]),
                         MARGIN_ERROR_DATA);
    }
    assert_contains(error[1].text, "row 2 has no value in column x3");
    assert_string_equal(error[0].text, error[1].text);
    margin_spec_free(spec);
    margin_context_free(context);
}

static void wrong_arrays_are_refused(void **state) {
    (void)state;
    static const struct {
        margin_array array;
        const char *part;
    } wrong[] = {{{.values = NULL, .type = MARGIN_I8}, "arrays[4] has no values"},
                 {{.values = ty.u8, .type = 0}, "arrays[4] has the type 0"},
                 {{.values = ty.u8, .type = 12}, "arrays[4] has the type 12"},
                 {{.values = ty.u8, .type = MARGIN_BITS, .stride = 1}, "bits"},
                 {{.values = ty.u8, .type = MARGIN_U8, .offset = -1}, "offset -1"},
                 {{.values = ty.u8, .type = MARGIN_U8, .offset = INT64_MAX / 8}, "offset"},
                 {{.values = ty.u8, .type = MARGIN_U8, .stride = INT64_MIN}, "stride"},
                 {{.values = ty.u8, .type = MARGIN_U8, .reserved_word = 1}, "reserved"}};
    margin_context *context = support_context(NULL, 1);
    margin_data data = {.x = typed_columns(false), .y = margin_values_f64(t.y, ROWS)};
    margin_array arrays[COLUMNS];
    margin_error error;
    margin_spec *spec;
    margin_model *model;
    assert_int_equal(margin_spec_parse(context, "ridge", &spec, &error), MARGIN_OK);
    for (int k = 0; k < COUNT_OF(wrong); k++) {
        memcpy(arrays, ty.arrays, sizeof arrays);
        arrays[4] = wrong[k].array;
        data.x.arrays = arrays;
        assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error),
                         MARGIN_ERROR_ARGUMENT);
        assert_contains(error.text, wrong[k].part);
    }
    data.x = typed_columns(false);
    data.x.column_values = columns_of(false, ROWS).column_values;
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "column_values too");
    margin_spec_free(spec);
    margin_context_free(context);
}

/* ---- A batch of Arrow ------------------------------------------------------------------------ */

static void no_schema(struct ArrowSchema *schema) {
    schema->release = NULL;
}
static void no_array(struct ArrowArray *array) {
    array->release = NULL;
}

static void a_batch_stays_where_it_is(void **state) {
    (void)state;
    static const char *const formats[] = {"c", "s", "i", "l", "C", "S", "I",
                                          "L", "b", "g", "f", "u", "e"};
    enum { MANY = sizeof formats / sizeof *formats };
    struct ArrowSchema fields[MANY], *children[MANY],
        schema = {.format = "+s", .n_children = MANY, .children = children, .release = no_schema};
    struct ArrowArray columns[MANY], *parts[MANY],
        batch = {.length = ROWS,
                 .offset = 1,
                 .n_children = MANY,
                 .children = parts,
                 .release = no_array};
    const void *buffers[MANY][2];
    margin_array arrays[MANY];
    margin_error error;
    for (int j = 0; j < MANY; j++) {
        const bool there = j % 3 == 2;
        buffers[j][0] = ty.there, buffers[j][1] = j < 9 ? ty.arrays[j].values : ty.u8;
        fields[j] = (struct ArrowSchema){.format = formats[j], .release = no_schema};
        columns[j] = (struct ArrowArray){.length = ROWS + 1,
                                         .offset = 1,
                                         .null_count = there ? -1 : 0,
                                         .n_buffers = 2,
                                         .buffers = buffers[j],
                                         .release = no_array};
        children[j] = &fields[j], parts[j] = &columns[j];
    }
    assert_int_equal(margin_arrays_from_arrow(&schema, &batch, arrays, MANY, &error), MARGIN_OK);
    for (int j = 0; j < MANY; j++) {
        assert_int_equal(arrays[j].type, j < 11 ? ty.arrays[j].type : 0);
        if (j >= 9) continue;
        assert_memory_equal(&arrays[j].values, &ty.arrays[j].values, sizeof(void *));
        assert_int_equal(arrays[j].offset, 2);
        assert_true((arrays[j].validity != NULL) == (j % 3 == 2));
    }
    assert_int_equal(margin_arrays_from_arrow(&schema, &batch, arrays, MANY - 1, &error),
                     MARGIN_ERROR_ARGUMENT);
    columns[3].length = ROWS - 1;
    assert_int_equal(margin_arrays_from_arrow(&schema, &batch, arrays, MANY, &error),
                     MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "column 4 of the batch");
    columns[3].length = ROWS + 1;
    const int64_t wrong[][2] = {{INT64_MIN, 1}, {ROWS + 1, INT64_MAX}, {ROWS + 1, -1}};
    for (int w = 0; w < 3; w++) { /* nothing is written, nothing overflows */
        memset(arrays, 7, sizeof arrays);
        columns[5].length = wrong[w][0], columns[5].offset = wrong[w][1];
        assert_int_equal(margin_arrays_from_arrow(&schema, &batch, arrays, MANY, &error),
                         MARGIN_ERROR_FORMAT);
        assert_contains(error.text, "column 6 of the batch");
        assert_int_equal(arrays[0].type, 0x07070707);
    }
    columns[5].length = ROWS + 1, columns[5].offset = 1;
    const struct ArrowSchema no_fields = {.format = "+s", .release = no_schema};
    const struct ArrowArray no_columns = {.length = ROWS, .release = no_array};
    assert_int_equal(margin_arrays_from_arrow(&no_fields, &no_columns, arrays, 0, &error),
                     MARGIN_OK);
    batch.null_count = -1, batch.n_buffers = 1, batch.buffers = (const void *[]){ty.there};
    assert_int_equal(margin_arrays_from_arrow(&schema, &batch, arrays, MANY, &error),
                     MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "margin_table_from_arrow");
}

/* Targets and weights are of any type but those that lose digits or have none. */
static void targets_of_every_type_are_alike(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    static uint16_t u16[ROWS];
    static uint8_t u8[ROWS];
    static int8_t i8[ROWS];
    for (int i = 0; i < ROWS; i++)
        u16[i] = (uint16_t)t.labels[i], u8[i] = (uint8_t)t.labels[i], i8[i] = (int8_t)t.labels[i];
    margin_data data = {.x = rows_of(false, ROWS), .y = margin_labels_i32(t.labels, ROWS)};
    margin_model *usual = fit(context, "logistic", &data);
    const margin_vector same[] = {margin_labels_u8(u8, ROWS),
                                  {.values = u16, .count = ROWS, .type = MARGIN_U16},
                                  {.values = i8, .count = ROWS, .type = MARGIN_I8}};
    for (int k = 0; k < COUNT_OF(same); k++) {
        data.y = same[k];
        data.selection = k == 1 ? t.selection : NULL;
        data.selected = ROWS;
        margin_model *model = fit(context, "logistic", &data);
        if (k != 1) assert_same_models("labels", usual, model);
        margin_metrics metrics = {.size = sizeof metrics};
        margin_error error;
        assert_int_equal(margin_evaluate(context, model, &data, &metrics, &error), MARGIN_OK);
        margin_metrics_free(&metrics);
        margin_model_free(model);
    }
    margin_model_free(usual);
    margin_context_free(context);
}

static margin_status fit_body(margin_context *context, void *user, margin_error *error) {
    const margin_data data = {.x = columns_of(true, ROWS), .y = margin_values_f64(t.y, ROWS)};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_report found = {.size = sizeof found};
    margin_status status = margin_spec_parse(context, user, &spec, error);
    if (status >= 0) status = margin_fit(context, spec, &data, &model, NULL, error);
    if (status >= 0) status = margin_verify(context, model, &data, &found, error);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void failing_allocations_leave_nothing(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, fit_body, "standardize | ridge") > 10);
    assert_true(support_fail_each_allocation(1, fit_body, "knn(task=regress)") > 10);
}

int main(void) {
    make_table(&t);
    make_typed(&ty);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_give_the_bytes_of_rows),
        cmocka_unit_test(small_tables_too),
        cmocka_unit_test(choices_of_solvers_are_told_alike),
        cmocka_unit_test(many_classes_see_every_row),
        cmocka_unit_test(selections_and_weights_too),
        cmocka_unit_test(the_first_bad_value_is_named),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(columns_are_split_as_rows_are),
        cmocka_unit_test(what_does_not_take_columns_says_so),
        cmocka_unit_test(memory_is_what_the_page_says),
        cmocka_unit_test(failing_allocations_leave_nothing),
        cmocka_unit_test(typed_columns_give_the_bytes_of_rows),
        cmocka_unit_test(bitmaps_tell_what_is_missing),
        cmocka_unit_test(wrong_arrays_are_refused),
        cmocka_unit_test(a_batch_stays_where_it_is),
        cmocka_unit_test(targets_of_every_type_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
