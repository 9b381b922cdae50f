/* Prediction: no allocation, any layout, batches, threads, missing values, shapes, scratch. */
#include "model_cases.h"

#include "model/predict/predict.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const specs[] = {
    "perceptron",
    "standardize | perceptron(multiclass=ovo)",
    "normalize | perceptron",
    "minmax | normalize | perceptron(multiclass=argmax)",
    "impute | standardize | normalize | perceptron(multiclass=ovo)",
    "perceptron(kernel=rbf)",
    "standardize | perceptron(kernel=poly, multiclass=ovo)",
    "perceptron(kernel=laplacian)",
};
enum { SPECS = sizeof specs / sizeof specs[0] };

typedef struct {
    support_heap heap;
    margin_context *context;
    sample *s;
    margin_model *models[SPECS];
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    support_heap_init(&f->heap);
    f->context = support_context(&f->heap, 3);
    f->s = sample_make(700, 6, 3, 0.05, 77);
    margin_data data = sample_data(f->s, DENSE_F64);
    int64_t selection[80];
    for (int i = 0; i < 80; i++)
        selection[i] = 8 * i;
    data.selection = selection;
    data.selected = 80;
    for (int n = 0; n < SPECS; n++)
        f->models[n] = fit_text(f->context, specs[n], &data, NULL);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    for (int n = 0; n < SPECS; n++)
        margin_model_free(f->models[n]);
    margin_context_free(f->context);
    support_assert_nothing_live(&f->heap);
    sample_free(f->s);
    free(f);
    return 0;
}

static margin_matrix one_row(const margin_matrix *x, int64_t row) {
    margin_matrix one = *x;
    one.rows = 1;
    if (!x->row_starts) {
        size_t size = x->value_type == MARGIN_F32 ? 4 : 8;
        one.values = (const char *)x->values + (size_t)(row * x->stride) * size;
    } else {
        size_t size = x->start_type == MARGIN_I32 ? 4 : 8;
        one.row_starts = (const char *)x->row_starts + (size_t)row * size;
    }
    return one;
}

/* Every row alone gives the bits it has among the others, for each layout and output; so do all
 * threads together; and nothing is allocated on the calling thread. */
static void test_rows_and_batches(void **state) {
    fixture *f = *state;
    margin_error error = {0};
    for (int n = 0; n < SPECS; n++) {
        const margin_model *model = f->models[n];
        int64_t functions = margin_model_score_count(model);
        size_t bytes = (size_t)(700 * functions) * sizeof(double);
        double *all = malloc(bytes), *other = malloc(bytes);
        int64_t labels[700], label;
        for (int layout = 0; layout < LAYOUTS; layout++) {
            margin_matrix x = sample_view(f->s, layout);
            long long before = f->heap.calls;
            assert_int_equal(margin_scores(model, &x, all, &error), MARGIN_OK);
            assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_OK);
            for (int64_t i = 0; i < 700; i += layout == 0 ? 1 : 29) {
                margin_matrix one = one_row(&x, i);
                assert_int_equal(margin_scores(model, &one, other, &error), MARGIN_OK);
                assert_memory_equal(other, all + i * functions, (size_t)functions * sizeof(double));
                assert_int_equal(margin_predict(model, &one, &label, &error), MARGIN_OK);
                assert_int_equal(label, labels[i]);
            }
            assert_int_equal(f->heap.calls, before);

            memset(other, 0, bytes);
            assert_int_equal(
                margin_predict_parallel(f->context, model, &x, MARGIN_OUTPUT_SCORES, other, &error),
                MARGIN_OK);
            assert_memory_equal(other, all, bytes);
            int64_t parallel[700];
            assert_int_equal(margin_predict_parallel(f->context, model, &x, MARGIN_OUTPUT_LABELS,
                                                     parallel, &error),
                             MARGIN_OK);
            assert_memory_equal(parallel, labels, sizeof labels);
        }
        free(other);
        free(all);
    }
}

/* All layouts hold the same numbers: dense ones give the same bits whatever type and stride. */
static void test_layouts_agree(void **state) {
    fixture *f = *state;
    for (int n = 0; n < SPECS; n++) {
        margin_matrix dense = sample_view(f->s, DENSE_F64);
        double *expected = scores_of(f->models[n], &dense);
        int64_t count = 700 * margin_model_score_count(f->models[n]);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            margin_matrix x = sample_view(f->s, layout);
            double *scores = scores_of(f->models[n], &x);
            for (int64_t k = 0; k < count; k++)
                assert_close(scores[k], expected[k], x.row_starts ? 1e-12 : 0);
            free(scores);
        }
        free(expected);
    }
}

/* Selected rows, in runs and alone. */
static void test_selected_rows(void **state) {
    fixture *f = *state;
    margin_error error = {0};
    margin_matrix x = sample_view(f->s, DENSE_F64);
    int64_t rows[500];
    for (int i = 0; i < 500; i++)
        rows[i] = i < 300 ? 100 + i : (i * 37) % 700;
    for (int n = 0; n < SPECS; n++) {
        int64_t functions = margin_model_score_count(f->models[n]);
        double *all = scores_of(f->models[n], &x);
        double *some = malloc((size_t)(500 * functions) * sizeof *some);
        assert_int_equal(mg_predict_rows(f->context, f->models[n], &x, rows, 500,
                                         MARGIN_OUTPUT_SCORES, false, some, &error),
                         MARGIN_OK);
        for (int i = 0; i < 500; i++)
            assert_memory_equal(some + i * functions, all + rows[i] * functions,
                                (size_t)functions * sizeof *some);
        free(some);
        free(all);
    }
}

static void test_missing_values(void **state) {
    fixture *f = *state;
    margin_error error = {0};
    for (int n = 0; n < SPECS; n++) {
        bool imputes = strncmp(specs[n], "impute", 6) == 0;
        int64_t functions = margin_model_score_count(f->models[n]), labels[3];
        for (int column = 0; column < 6; column++) {
            double rows[18], *scores;
            float narrow[18];
            for (int k = 0; k < 18; k++)
                rows[k] = f->s->f64[k];
            rows[6 + column] = (double)NAN;
            for (int k = 0; k < 18; k++)
                narrow[k] = (float)rows[k];
            for (int type = 0; type < 2; type++) {
                margin_matrix x =
                    type ? margin_dense_f32(narrow, 3, 6, 6) : margin_dense_f64(rows, 3, 6, 6);
                scores = scores_of(f->models[n], &x);
                assert_int_equal(margin_predict(f->models[n], &x, labels, &error), MARGIN_OK);
                for (int i = 0; i < 3; i++) {
                    bool missing = i == 1 && !imputes;
                    assert_int_equal(labels[i] == -1, missing);
                    for (int64_t c = 0; c < functions; c++)
                        assert_int_equal(isnan(scores[i * functions + c]) != 0, missing);
                }
                free(scores);
            }
        }
    }
}

static void test_shapes(void **state) {
    fixture *f = *state;
    const margin_model *model = f->models[0];
    margin_error error = {0};
    int64_t labels[700];
    double numbers[2100];
    margin_matrix x = sample_view(f->s, DENSE_F64);

    x.rows = 0; /* nothing to do is fine */
    x.values = NULL;
    assert_int_equal(margin_predict(model, &x, NULL, &error), MARGIN_OK);
    assert_int_equal(
        margin_predict_parallel(f->context, model, &x, MARGIN_OUTPUT_SCORES, NULL, &error),
        MARGIN_OK);

    x = sample_view(f->s, DENSE_F64);
    x.columns = 5;
    assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "the data has 5 columns and the model was trained on 6");
    assert_int_equal(
        margin_predict_parallel(f->context, model, &x, MARGIN_OUTPUT_LABELS, labels, &error),
        MARGIN_ERROR_ARGUMENT);

    x = sample_view(f->s, DENSE_F64);
    assert_int_equal(margin_predict(NULL, &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_predict(model, NULL, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_predict(model, &x, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_predict(model, &x, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_predict_parallel(NULL, model, &x, MARGIN_OUTPUT_LABELS, labels, &error),
                     MARGIN_ERROR_ARGUMENT);
    x.stride = 5;
    assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "stride 5");
    x = sample_view(f->s, DENSE_F64);
    x.value_type = MARGIN_I32;
    assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    x = sample_view(f->s, DENSE_F64);
    x.values = (const char *)x.values + 4;
    assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "aligned");
    x = sample_view(f->s, DENSE_F64);
    x.rows = INT64_MAX / 2;
    assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "more than memory can hold");
    x.values = NULL;
    assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    x.rows = -1;
    assert_int_equal(margin_predict(model, &x, labels, &error), MARGIN_ERROR_ARGUMENT);

    x = sample_view(f->s, DENSE_F64);
    assert_int_equal(margin_predict_values(model, &x, numbers, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "margin_predict");
    assert_int_equal(margin_probabilities(model, &x, numbers, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "no probabilities");
    assert_int_equal(margin_model_has_probabilities(model), 0);
    assert_int_equal(margin_predict_scratch(model, &x, (margin_output)9, numbers, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
}

/* Column indices of sparse rows are looked at before they are used. */
static void test_hostile_sparse_rows(void **state) {
    fixture *f = *state;
    margin_error error = {0};
    int64_t labels[4];
    for (int defect = 0; defect < 8; defect++) {
        double values[5] = {1, 2, 3, 4, 5};
        int32_t narrow[5] = {0, 3, 5, 1, 2};
        int64_t wide[5] = {0, 3, 5, 1, 2}, starts[5] = {0, 2, 3, 3, 5};
        margin_matrix x = margin_csr_f64(values, narrow, starts, 4, 6);
        if (defect % 2) {
            x.column_indices = wide;
            x.index_type = MARGIN_I64;
        }
        if (defect < 2) narrow[2] = 6, wide[2] = INT64_C(1) << 40;
        if (defect == 2 || defect == 3) narrow[0] = -1, wide[0] = -1;
        if (defect == 4 || defect == 5) narrow[4] = 1, wide[4] = 0;
        if (defect == 6) starts[2] = 1;
        if (defect == 7) starts[0] = -1;
        for (int n = 0; n < SPECS; n++) {
            assert_int_equal(margin_predict(f->models[n], &x, labels, &error),
                             MARGIN_ERROR_ARGUMENT);
            assert_contains(error.text, "row");
        }
        x.index_type = MARGIN_U8;
        assert_int_equal(margin_predict(f->models[0], &x, labels, &error), MARGIN_ERROR_ARGUMENT);
    }
}

/* ---- Rows that do not fit on the stack ------------------------------------------------------- */

static void test_scratch(void **state) {
    (void)state;
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 2);
    margin_error error = {0};
    static const int64_t widths[] = {4095, 4096, 9000};
    for (size_t n = 0; n < 3; n++) {
        sample *s = sample_make(12, widths[n], 2, 0, 3);
        margin_data data = sample_data(s, CSR_F32_I32_I64);
        margin_model *wide = fit_text(context, "normalize | perceptron", &data, NULL);
        margin_model *plain = fit_text(context, "perceptron", &data, NULL);
        assert_int_equal(margin_model_scratch_size(plain), 0);
        int64_t size = margin_model_scratch_size(wide);
        int64_t need = (2 * widths[n] + 1) * 8;
        assert_int_equal(size, need > 65536 ? need : 0);
        double expected[12], scores[12];
        assert_int_equal(
            margin_predict_parallel(context, wide, &data.x, MARGIN_OUTPUT_SCORES, expected, &error),
            MARGIN_OK);
        if (size > 0) {
            int64_t labels[12];
            assert_int_equal(margin_predict(wide, &data.x, labels, &error), MARGIN_ERROR_ARGUMENT);
            assert_contains(error.text, "margin_model_scratch_size");
        }
        double *scratch = size > 0 ? malloc((size_t)size) : NULL;
        long long before = heap.calls;
        assert_int_equal(
            margin_predict_scratch(wide, &data.x, MARGIN_OUTPUT_SCORES, scores, scratch, &error),
            MARGIN_OK);
        assert_int_equal(heap.calls, before);
        assert_memory_equal(scores, expected, sizeof scores);
        free(scratch);
        margin_model_free(wide);
        margin_model_free(plain);
        sample_free(s);
    }
    margin_context_free(context);
    support_assert_nothing_live(&heap);
}

/* ---- Many threads, one model ----------------------------------------------------------------- */

typedef struct {
    const margin_model *model;
    margin_matrix x;
    const int64_t *expected;
    int wrong;
} reader;

static void *read_model(void *argument) {
    reader *r = argument;
    int64_t *labels = malloc((size_t)r->x.rows * sizeof *labels);
    for (int round = 0; round < 5; round++) {
        margin_error error = {0};
        if (margin_predict(r->model, &r->x, labels, &error) < 0 ||
            memcmp(labels, r->expected, (size_t)r->x.rows * sizeof *labels) != 0)
            r->wrong = 1;
    }
    free(labels);
    return NULL;
}

static void test_concurrent(void **state) {
    fixture *f = *state;
    margin_error error = {0};
    for (int n = 0; n < SPECS; n++) {
        int64_t expected[700];
        reader readers[4];
        pthread_t threads[4];
        margin_matrix x = sample_view(f->s, DENSE_F64);
        assert_int_equal(margin_predict(f->models[n], &x, expected, &error), MARGIN_OK);
        for (int t = 0; t < 4; t++) {
            readers[t] = (reader){f->models[n], sample_view(f->s, t % 2), expected, 0};
            assert_int_equal(pthread_create(&threads[t], NULL, read_model, &readers[t]), 0);
        }
        for (int t = 0; t < 4; t++) {
            pthread_join(threads[t], NULL);
            assert_int_equal(readers[t].wrong, 0);
        }
    }
}

static void test_cancelled(void **state) {
    fixture *f = *state;
    margin_error error = {0};
    int64_t labels[700];
    margin_matrix x = sample_view(f->s, DENSE_F64);
    margin_context_cancel(f->context);
    assert_int_equal(
        margin_predict_parallel(f->context, f->models[5], &x, MARGIN_OUTPUT_LABELS, labels, &error),
        MARGIN_ERROR_CANCELLED);
    assert_int_equal(margin_predict(f->models[5], &x, labels, &error), MARGIN_OK);
    margin_context_resume(f->context);
}

/* Weights times features, plus the intercept, are the scores. */
static void test_features(void **state) {
    fixture *f = *state;
    margin_error error;
    for (int n = 0; n < SPECS; n++) {
        const margin_model *model = f->models[n];
        if (!margin_model_weights(model, 0)) continue;
        for (int layout = DENSE_F64; layout <= CSR_F64_I32_I64; layout++) {
            const margin_data data = sample_data(f->s, layout);
            int64_t columns;
            margin_model_features(model, &columns);
            const int64_t functions = margin_model_score_count(model);
            double *features = malloc((size_t)(data.x.rows * columns) * sizeof *features);
            double *scores = malloc((size_t)(data.x.rows * functions) * sizeof *scores);
            assert_int_equal(margin_model_transform(f->context, model, &data.x, features, &error),
                             MARGIN_OK);
            assert_int_equal(margin_scores(model, &data.x, scores, &error), MARGIN_OK);
            for (int64_t i = 0; i < data.x.rows * functions; i++) {
                double sum = margin_model_intercept(model, i % functions), size = fabs(sum);
                for (int64_t j = 0; j < columns; j++) {
                    const double part = margin_model_weights(model, i % functions)[j] *
                                        features[i / functions * columns + j];
                    sum += part;
                    size += fabs(part);
                }
                if (!isnan(scores[i])) assert_true(fabs(sum - scores[i]) <= 1e-12 * size);
            }
            free(features);
            free(scores);
        }
    }
    margin_matrix narrow = margin_dense_f64((const double[]){1, 2}, 1, 2, 2);
    double out[8];
    assert_int_equal(margin_model_transform(f->context, f->models[0], &narrow, out, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_transform(NULL, f->models[0], &narrow, out, &error),
                     MARGIN_ERROR_ARGUMENT);
    const margin_data data = sample_data(f->s, DENSE_F64);
    assert_int_equal(margin_model_transform(f->context, f->models[0], &data.x, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
}

/* A row of many indicators is scored by its entries: as its features say, one by one or together,
 * also where a category is missing, unknown or refused. */
static void test_entries(void **state) {
    fixture *f = *state;
    enum { ROWS = 900, CATEGORIES = 400 };
    static const char *const stages[] = {"onehot | ",
                                         "impute | onehot | ",
                                         "onehot(unknown=error) | ",
                                         "onehot(drop=first) | ",
                                         "onehot | standardize | ",
                                         "onehot | normalize | "};
    static const char *const learners[] = {"logistic", "softmax", "perceptron(multiclass=ovo)"};
    static char names[CATEGORIES][8];
    const char *categories[CATEGORIES];
    double *x = calloc(2 * ROWS, sizeof *x), *y = calloc(ROWS, sizeof *y);
    for (int c = 0; c < CATEGORIES; c++)
        categories[c] = memcpy(names[c],
                               (char[]){'c', (char)('a' + c / 26 / 26 % 26),
                                        (char)('a' + c / 26 % 26), (char)('a' + c % 26), 0},
                               5);
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = i % (CATEGORIES - 1); /* the last one is not seen */
        x[2 * i + 1] = sin(i);
        y[i] = (i * 7 % 13) % 3;
    }
    const margin_column columns[] = {{.name = "k",
                                      .kind = MARGIN_CATEGORICAL,
                                      .categories = categories,
                                      .category_count = CATEGORIES},
                                     {.name = "v"}};
    margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2), .y = margin_values_f64(y, ROWS)};
    data.columns = columns;
    const double rows[] = {5, 0.5, CATEGORIES - 1, 0.25, NAN, -1, 0, 0, 3, 2, 398, 1};
    const margin_matrix queries = margin_dense_f64(rows, 6, 2, 2);
    for (int k = 0; k < MG_LENGTH(stages) * MG_LENGTH(learners); k++) {
        char spec[120];
        snprintf(spec, sizeof spec, "%s%s", stages[k / 3], learners[k % 3]);
        margin_model *model = fit_text(f->context, spec, &data, NULL);
        int64_t width;
        margin_model_features(model, &width);
        const int64_t functions = margin_model_score_count(model);
        double features[6 * 500], together[6 * 3], alone[6 * 3];
        assert_true(width > 256 && width < 500);
        assert_int_equal(margin_model_transform(f->context, model, &queries, features, NULL),
                         MARGIN_OK);
        assert_int_equal(margin_predict_parallel(f->context, model, &queries, MARGIN_OUTPUT_SCORES,
                                                 together, NULL),
                         MARGIN_OK);
        for (int i = 0; i < 6; i++) {
            const margin_matrix one = margin_dense_f64(rows + 2 * i, 1, 2, 2);
            assert_int_equal(margin_scores(model, &one, alone + i * functions, NULL), MARGIN_OK);
        }
        assert_memory_equal(alone, together, (size_t)(6 * functions) * sizeof *alone);
        for (int64_t i = 0; i < 6 * functions; i++) {
            const double *w = margin_model_weights(model, i % functions);
            double sum = margin_model_intercept(model, i % functions), size = fabs(sum);
            for (int64_t j = 0; j < width; j++) {
                const double term = w[j] * features[i / functions * width + j];
                sum += term;
                size += fabs(term);
            }
            if (isnan(sum))
                assert_true(isnan(together[i]));
            else
                assert_true(fabs(sum - together[i]) <= 1e-13 * size);
        }
        margin_model_free(model);
    }
    free(x);
    free(y);
}

/* What a stage refuses, or a missing value that comes to a stage that does not take it, is no value
 * that a later component may take for a missing one. */
static void test_refusals_are_kept(void **state) {
    static const char *const texts[] = {
        "onehot(columns=\"1\", unknown=error) | naive-bayes",
        "onehot(columns=\"1\", unknown=error) | impute | logistic", "rbf(centres=2) | naive-bayes",
        "poly(degree=2) | standardize | naive-bayes", "rbf(centres=2) | impute | knn(k=1)"};
    static const double x[] = {0, 0.5, 0, 0.1, 1, 2, 1, 3, 0, 0.2}, y[] = {0, 0, 1, 1, 0};
    static const double queries[] = {7, 3, 0, NAN, 0, 0.1, 1, 2}; /* 7: no category of onehot */
    const margin_data data = {.x = margin_dense_f64(x, 5, 2, 2), .y = margin_values_f64(y, 5)};
    const margin_matrix rows = margin_dense_f64(queries, 4, 2, 2);
    margin_context *context = ((fixture *)*state)->context;
    for (int k = 0; k < MG_LENGTH(texts); k++) {
        margin_model *model = fit_text(context, texts[k], &data, NULL);
        int64_t labels[4], alone = 9;
        double scores[4 * 2];
        margin_error error;
        assert_int_equal(
            margin_predict_parallel(context, model, &rows, MARGIN_OUTPUT_LABELS, labels, &error),
            MARGIN_OK);
        assert_int_equal(
            margin_predict_parallel(context, model, &rows, MARGIN_OUTPUT_SCORES, scores, &error),
            MARGIN_OK);
        for (int i = 0; i < 4; i++) {
            const bool refused = i == 0 ? k < 2 : i == 1; /* a stage; a value that is missing */
            const margin_matrix one = margin_dense_f64(queries + 2 * i, 1, 2, 2);
            assert_true((labels[i] < 0) == refused);
            assert_true(isnan(scores[i * margin_model_score_count(model)]) == refused);
            assert_int_equal(margin_predict(model, &one, &alone, &error), MARGIN_OK);
            assert_int_equal(alone, labels[i]);
        }
        margin_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_batches), cmocka_unit_test(test_layouts_agree),
        cmocka_unit_test(test_selected_rows),    cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_shapes),           cmocka_unit_test(test_hostile_sparse_rows),
        cmocka_unit_test(test_scratch),          cmocka_unit_test(test_concurrent),
        cmocka_unit_test(test_cancelled),        cmocka_unit_test(test_features),
        cmocka_unit_test(test_entries),          cmocka_unit_test(test_refusals_are_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
