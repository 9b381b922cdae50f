/* kernel=precomputed: a Gram matrix in place of rows, in every learner with a kernel but svm
 * (test_kernel_svm), to what the same kernel gives from the rows. */
#include "model_cases.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 90, COLUMNS = 3, SOME = 60 };
static double gram[ROWS * ROWS], weights[ROWS];
static int64_t chosen[SOME];

static void fill_gram(const sample *s) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double square = 0;
            for (int c = 0; c < COLUMNS; c++) {
                const double apart = s->f64[i * COLUMNS + c] - s->f64[j * COLUMNS + c];
                square += apart * apart;
            }
            gram[i * ROWS + j] = exp(-0.5 * square);
        }
    for (int i = 0; i < ROWS; i++)
        weights[i] = i % 4;
    for (int i = 0; i < SOME; i++)
        chosen[i] = (i * 37 + 5) % ROWS;
}

static margin_data gram_data(const sample *s) {
    margin_data data = sample_data(s, DENSE_F64);
    data.x = margin_dense_f64(gram, ROWS, ROWS, ROWS);
    data.columns = NULL;
    return data;
}

static const struct {
    const char *learner, *rest;
    double near;
} learners[] = {
    {"kernel-ridge", ", alpha=0.5", 1e-7},
    {"kernel-ridge", ", alpha=0.5, intercept=yes, task=regress", 1e-7},
    {"kernel-ridge", ", alpha=0.5, solver=cg, tol=1e-9", 1e-5},
    {"kernel-ridge", ", alpha=2, solver=gd, task=regress, max_iter=200", 1e-7},
    {"kernel-logistic", ", C=2, tol=1e-9", 1e-6},
    {"kernel-logistic", ", C=2, tol=1e-9, solver=cg, multiclass=ovo", 1e-6},
    {"kernel-logistic", ", solver=gd, max_iter=100", 1e-7},
    {"svm", ", solver=gd, max_iter=100", 1e-7},
    {"svm", ", solver=gd, multiclass=ovr, max_iter=100", 1e-7},
    {"perceptron", ", passes=5", 1e-9},
    {"perceptron", ", variant=averaged, passes=5, multiclass=ovo", 1e-9},
    {"perceptron", ", variant=pocket, passes=5, order=shuffled", 1e-9},
};

static void assert_same(const char *learner, const char *rest, const margin_data *rows,
                        const margin_data *matrix, double near) {
    char text[200];
    margin_report a = {0}, b = {0}, found = {0};
    margin_error error = {0};
    snprintf(text, sizeof text, "%s(kernel=rbf, gamma=0.5%s)", learner, rest);
    margin_model *one = fit_text(context, text, rows, &a);
    snprintf(text, sizeof text, "%s(kernel=precomputed%s)", learner, rest);
    margin_model *other = fit_text(context, text, matrix, &b);
    assert_int_equal(a.status, b.status);
    assert_close(a.objective, b.objective, 1e-6);
    double *f = scores_of(one, &rows->x), *g = scores_of(other, &matrix->x), side[ROWS];
    if (margin_model_task(other) == MARGIN_CLASSIFY)
        assert_int_equal(margin_margins(context, other, matrix, NULL, side, &error),
                         MARGIN_ERROR_ARGUMENT);
    for (int64_t i = 0; i < ROWS * margin_model_score_count(one); i++)
        if (!(fabs(f[i] - g[i]) <= near)) fail_msg("%s: %.17g and %.17g", text, f[i], g[i]);
    if (margin_verify(context, other, matrix, &found, &error) != MARGIN_OK)
        fail_msg("%s is not verified: %s %s", text, error.text, found.reason);
    free(f);
    free(g);
    margin_model_free(one);
    margin_model_free(other);
}

/* All rows, some of them in another order and one twice, and rows that weigh nothing. */
static void test_same_as_rows(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 11);
    fill_gram(s);
    for (int k = 0; k < MG_LENGTH(learners); k++)
        for (int way = 0; way < 3; way++) {
            margin_data rows = sample_data(s, DENSE_F64), matrix = gram_data(s);
            chosen[SOME - 1] = chosen[0];
            if (way == 1) {
                rows.selection = matrix.selection = chosen;
                rows.selected = matrix.selected = SOME;
            }
            if (way == 2) rows.weights = matrix.weights = margin_values_f64(weights, ROWS);
            assert_same(learners[k].learner, learners[k].rest, &rows, &matrix, learners[k].near);
        }
    sample_free(s);
}

/* Values of targets side by side, and f32. */
static void test_targets(void **state) {
    (void)state;
    static double y[2 * ROWS];
    static float narrow[ROWS * ROWS];
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 12);
    fill_gram(s);
    margin_data rows = sample_data(s, DENSE_F64), matrix = gram_data(s);
    for (int i = 0; i < ROWS; i++) {
        y[2 * i] = s->f64[i * COLUMNS] + 0.01 * i;
        y[2 * i + 1] = s->f64[i * COLUMNS + 1] * s->f64[i * COLUMNS];
    }
    rows.y = matrix.y = margin_values_f64(y, 2 * ROWS);
    rows.targets = matrix.targets = 2;
    assert_same("kernel-ridge", "", &rows, &matrix, 1e-7);
    assert_same("kernel-ridge", ", solver=cg, intercept=yes, tol=1e-9", &rows, &matrix, 1e-5);
    for (int i = 0; i < ROWS * ROWS; i++)
        narrow[i] = (float)gram[i];
    matrix.x = margin_dense_f32(narrow, ROWS, ROWS, ROWS);
    assert_same("kernel-ridge", "", &rows, &matrix, 1e-5);
    sample_free(s);
}

/* What is left out of a fold are rows and columns. */
static void test_folds(void **state) {
    (void)state;
    static const char *const specs[][2] = {
        {"kernel-ridge(kernel=rbf, gamma=0.5, task=classify, alpha={0.1,1,10})",
         "kernel-ridge(kernel=precomputed, task=classify, alpha={0.1,1,10})"},
        {"kernel-logistic(kernel=rbf, gamma=0.5, C={0.1,10})",
         "kernel-logistic(kernel=precomputed, C={0.1,10})"},
        {"perceptron(kernel=rbf, gamma=0.5, passes={3,5})",
         "perceptron(kernel=precomputed, passes={3,5})"}};
    const margin_split_options options = {.size = sizeof options, .folds = 4};
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 13);
    fill_gram(s);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_search_result *found[2];
        for (int given = 0; given < 2; given++) {
            const margin_data data = given ? gram_data(s) : sample_data(s, DENSE_F64);
            margin_splits *splits = NULL;
            margin_spec *spec = parse_text(context, specs[k][given]);
            margin_error error = {0};
            assert_int_equal(margin_split(context, &data, &options, &splits, &error), MARGIN_OK);
            if (margin_search(context, spec, &data, splits, NULL, &found[given], &error) < 0)
                fail_msg("%s", error.text);
            assert_int_equal(found[given]->failed, 0);
            margin_splits_free(splits);
            margin_spec_free(spec);
        }
        for (int64_t c = 0; c < found[0]->count; c++)
            assert_close(margin_search_cell_at(found[0], c)->mean,
                         margin_search_cell_at(found[1], c)->mean, 1e-9);
        margin_search_result_free(found[0]);
        margin_search_result_free(found[1]);
    }
    sample_free(s);
}

static void test_refused(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.1, 14);
    fill_gram(s);
    margin_data data = gram_data(s);
    static const char *const specs[] = {
        "kernel-ridge(kernel=precomputed)", "kernel-logistic(kernel=precomputed)",
        "svm(kernel=precomputed, solver=gd, max_iter=3)", "perceptron(kernel=precomputed)"};
    const double was = gram[5];
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_data narrow = sample_data(s, DENSE_F64);
        margin_spec *spec = parse_text(context, specs[k]);
        double *values = malloc(ROWS * ROWS * sizeof *values);
        int64_t rows = 0;
        fit_refused(context, specs[k], &narrow, MARGIN_ERROR_DATA, "not square");
        assert_int_equal(margin_gram(context, spec, &narrow, ROWS * ROWS, values, &rows, NULL),
                         MARGIN_ERROR_DATA);
        free(values);
        margin_spec_free(spec);
        narrow = sample_data(s, CSR_F64_I32_I64);
        fit_refused(context, specs[k], &narrow, MARGIN_ERROR_DATA, "sparse");
        gram[5] = 2;
        fit_refused(context, specs[k], &data, MARGIN_ERROR_DATA, "not symmetric: row 6 has");
        gram[5] = was;
        fit_attempt attempt = {specs[k], data};
        assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 10);
    }
    gram[7 * ROWS + 9] = gram[9 * ROWS + 7] = 1.5;
    fit_refused(context, specs[1], &data, MARGIN_ERROR_DATA, "no least value");
    fit_refused(context, specs[2], &data, MARGIN_ERROR_DATA, "no least value");
    margin_report report = {0};
    margin_model_free(fit_text(context, specs[0], &data, &report));
    assert_true(isinf(report.gap));
    sample_free(s);
}

/* Values that were rounded on their way. */
static void test_nearly_symmetric(void **state) {
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 15);
    fill_gram(s);
    const margin_data data = gram_data(s);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < i; j++)
            gram[i * ROWS + j] *= 1 + 9e-7 * ((i + j) % 3 - 1);
    for (int k = 0; k < MG_LENGTH(learners); k++) {
        char text[200];
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        snprintf(text, sizeof text, "%s(kernel=precomputed%s)", learners[k].learner,
                 learners[k].rest);
        margin_model *model = fit_text(context, text, &data, &report);
        if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
            fail_msg("%s is not verified: %s %s", text, error.text, found.reason);
        margin_model_free(model);
    }
    sample_free(s);
}

/* An inner product of rows that are all 0; with one pair that is not 0 there is none. */
static void test_zeros(void **state) {
    (void)state;
    static const char *const specs[] = {
        "kernel-ridge(kernel=precomputed)",
        "kernel-ridge(kernel=precomputed, solver=cg)",
        "kernel-ridge(kernel=precomputed, intercept=yes, task=regress)",
        "kernel-logistic(kernel=precomputed)",
        "kernel-logistic(kernel=precomputed, solver=cg)",
        "svm(kernel=precomputed)"};
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.1, 16);
    const margin_data data = gram_data(s);
    for (int pair = 0; pair < 2; pair++)
        for (int k = 0; k < MG_LENGTH(specs); k++) {
            margin_report report = {0}, found = {0};
            margin_model *model = NULL;
            margin_error error = {0};
            margin_spec *spec = parse_text(context, specs[k]);
            memset(gram, 0, sizeof gram);
            gram[1] = gram[ROWS] = pair ? 1e-9 : 0;
            const margin_status status = margin_fit(context, spec, &data, &model, &report, &error);
            const bool refuted = strstr(status < 0 ? error.text : report.reason, "not positive") &&
                                 status != MARGIN_OK;
            if (refuted != (pair == 1) || (!pair && status != MARGIN_OK))
                fail_msg("%s: %s %s", specs[k], error.text, report.reason);
            if (!pair && margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
                fail_msg("%s is not verified: %s %s", specs[k], error.text, found.reason);
            margin_model_free(model);
            margin_spec_free(spec);
        }
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_rows),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_folds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nearly_symmetric),
        cmocka_unit_test(test_zeros),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
