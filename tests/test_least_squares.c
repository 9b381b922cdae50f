/* Least squares and ridge: known answers, an oracle in extended precision, rows, targets, limits,
 * failures. Columns: test_least_squares_columns.c. */
#include "least_squares_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

static const char *const solvers[3] = {"auto", "normal", "qr"};

/* ---- Known answers --------------------------------------------------------------------------- */

/* (1,1), (2,2), (3,2) */
static void test_three_points(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        double w, b, objective;
    } known[] = {
        {"least-squares", 0.5, 2.0 / 3, 1.0 / 18},
        {"least-squares(intercept=no)", 11.0 / 14, 0, 5.0 / 42},
        {"ridge", 1.0 / 3, 1, 1.0 / 3},
        {"ridge(alpha=1)", 1.0 / 3, 1, 1.0 / 3},
        {"ridge(lambda=0.33333333333333333)", 1.0 / 3, 1, 1.0 / 9},
        {"ridge(C=0.5)", 1.0 / 3, 1, 1.0 / 6},
        {"ridge(alpha=2)", 0.25, 7.0 / 6, 2.0 / 3 - 0.25},
        {"ridge(alpha=0)", 0.5, 2.0 / 3, 1.0 / 6},
        {"ridge(C=inf)", 0.5, 2.0 / 3, 1.0 / 6},
        {"ridge(alpha=1, intercept=no)", 11.0 / 15, 0, 9 - 121.0 / 15},
    };
    double x[3] = {1, 2, 3}, y[3] = {1, 2, 2};
    const margin_data data = {.x = margin_dense_f64(x, 3, 1, 1), .y = margin_values_f64(y, 3)};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        margin_report report = {0};
        margin_model *model = fit_proven(context, known[k].spec, &data, &report);
        assert_close(margin_model_weights(model, 0)[0], known[k].w, 1e-14);
        assert_close(margin_model_intercept(model, 0), known[k].b, 1e-14);
        assert_close(report.objective, known[k].objective, 1e-14);
        assert_string_equal(report.iteration_name, "refinements");
        margin_model_free(model);
    }
}

static void test_formulas(void **state) {
    (void)state;
    regression r = regression_make(20, 2, 0, 1, 3);
    const margin_data data = regression_data(&r);
    static const char *const pairs[][2] = {
        {"least-squares", "mean (f-y)^2"},
        {"ridge", "sum (f-y)^2 + alpha |w|^2"},
        {"ridge(lambda=2)", "mean (f-y)^2 + lambda |w|^2"},
        {"ridge(C=2)", "C sum (f-y)^2 + |w|^2/2"},
        {"ridge(C=inf)", "sum (f-y)^2"},
        {"ridge(lambda=0)", "mean (f-y)^2"},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        margin_report report = {0};
        margin_model_free(fit_proven(context, pairs[k][0], &data, &report));
        assert_string_equal(report.formula, pairs[k][1]);
    }
    margin_report report = {0};
    margin_model_free(fit_proven(context, "ridge(lambda=0.5)", &data, &report));
    assert_close(margin_report_item_value(&report, "alpha"), 10, 1e-14);
    assert_close(margin_report_item_value(&report, "C"), 0.05, 1e-14);
    margin_spec *spec = NULL;
    margin_error error = {0};
    assert_int_equal(margin_spec_parse(context, "ridge(alpha=1, C=1)", &spec, &error),
                     MARGIN_ERROR_SPEC);
    assert_contains(error.text, "alpha and C of ridge exclude each other");
    regression_free(&r);
}

/* ---- The oracle ------------------------------------------------------------------------------ */

static void test_oracle(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{5, 1}, {30, 7}, {400, 12}, {9000, 5}, {40, 39}};
    static const double alphas[] = {0, 1e-3, 1, 1e4};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        regression r = regression_make(shapes[k][0], shapes[k][1], 3, 1, 10 + k);
        const margin_data data = regression_data(&r);
        for (int a = 0; a < 4; a++)
            for (int s = 0; s < 3; s++)
                for (int intercept = 0; intercept < 2; intercept++) {
                    long double w[40], b;
                    char spec[120], number[MARGIN_NUMBER_TEXT];
                    margin_report report = {0};
                    margin_number_print_f64(alphas[a], number);
                    if (intercept && shapes[k][1] >= shapes[k][0] - 1) continue;
                    snprintf(spec, sizeof spec, "ridge(alpha=%s, solver=%s, intercept=%s)", number,
                             solvers[s], intercept ? "yes" : "no");
                    oracle_solve(&r, NULL, alphas[a], intercept, w, &b);
                    margin_model *model = fit_proven(context, spec, &data, &report);
                    assert_solution(model, &r, w, b, 1e-10);
                    const double value = (double)oracle_value(&r, NULL, alphas[a], w, b);
                    assert_close(report.objective, value, 1e-11);
                    assert_true(isnan(margin_report_item_value(&report, "rank")));
                    assert_true(margin_report_item_value(&report, "condition") >= 1);
                    margin_model_free(model);
                }
        regression_free(&r);
    }
}

/* Means the same in every layout and precision; columns far from 0 and sparse ones included. */
static void test_layouts(void **state) {
    (void)state;
    sample *s = sample_make(300, 6, 2, 0.1, 77);
    regression r = {300, 6, s->f64, s->labels};
    long double w[6], b;
    for (int k = 0; k < 4; k++) {
        static const char *const specs[4] = {"least-squares", "least-squares(solver=qr)", "ridge",
                                             "standardize | least-squares"};
        oracle_solve(&r, NULL, k == 2, true, w, &b);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const margin_data data = sample_data(s, layout);
            margin_model *model = fit_proven(context, specs[k], &data, NULL);
            assert_solution(model, &r, w, b, 1e-11);
            margin_model_free(model);
        }
    }
    sample_free(s);
}

static void large_offsets_f32(double offset) {
    regression r = regression_make(6000, 4, 0, 0.1, 5);
    float *narrow = malloc((size_t)(r.rows * r.columns) * sizeof *narrow);
    long double w[4], b;
    for (int64_t k = 0; k < r.rows * r.columns; k++) {
        narrow[k] = (float)(r.x[k] + (k % r.columns == 2 ? offset : 30000));
        r.x[k] = (double)narrow[k]; /* the oracle sees what the learner sees */
    }
    const margin_data data = {.x = margin_dense_f32(narrow, r.rows, r.columns, r.columns),
                              .y = margin_values_f64(r.y, r.rows)};
    oracle_solve(&r, NULL, 0, true, w, &b);
    for (int s = 0; s < 3; s++) {
        char spec[60];
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        margin_model *model = fit_proven(context, spec, &data, NULL);
        assert_solution(model, &r, w, b, 1e-9);
        margin_model_free(model);
    }
    oracle_solve(&r, NULL, 1, true, w, &b);
    margin_model *model = fit_proven(context, "ridge", &data, NULL);
    assert_solution(model, &r, w, b, 1e-9);
    margin_model_free(model);
    free(narrow);
    regression_free(&r);
}

/* What f32 leaves of a column far from 0 is no dependence. */
static void test_large_offsets_f32(void **state) {
    (void)state;
    large_offsets_f32(30000);
    large_offsets_f32(1.5e6);
}

/* Columns of which the penalty leaves nothing: the squares of 1e-300 are 0. */
/* Columns whose squares vanish are refused by name; a penalty without measure leaves the mean. */
static void test_tiny_columns(void **state) {
    static const char *const specs[] = {"least-squares", "ridge", "ridge(alpha=1e-5)",
                                        "ridge(alpha=1e299)", "ridge(solver=qr)"};
    static const double sizes[] = {1e-300, 1e-200, 1e-140};
    const double y[4] = {1, 2, 3, 4};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t l = 0; l < sizeof specs / sizeof *specs; l++) {
            const double s = sizes[k], x[4] = {s, -s, 0.2 * s, 3 * s};
            const margin_data data = {.x = margin_dense_f64(x, 4, 1, 1),
                                      .y = margin_values_f64(y, 4)};
            fit_refused(context, specs[l], &data, MARGIN_ERROR_DATA, "column x1 are below 1e-130");
        }
    const double x[4] = {1, -1, 0.2, 3};
    const margin_data data = {.x = margin_dense_f64(x, 4, 1, 1), .y = margin_values_f64(y, 4)};
    margin_report report = {0};
    margin_model *model = fit_proven(context, "ridge(alpha=1e299)", &data, &report);
    assert_close(margin_model_intercept(model, 0), 2.5, 1e-14);
    assert_true(fabs(margin_model_weights(model, 0)[0]) < 1e-130);
    assert_true(report.iterations >= 0 && fabs(report.train_r2) < 1e-12);
    margin_model_free(model);
}

/* A sum of two columns, all rounded to f32: what rounding has left tells the columns apart, and the
 * answer is that of the same numbers in f64. */
static void test_dependence_in_f32(void **state) {
    enum { ROWS = 500, COLUMNS = 4 };
    static const char *const specs[3] = {"least-squares", "least-squares(solver=qr)",
                                         "least-squares(solver=normal)"};
    static const double offsets[3] = {0, 100, 10000};
    static float x[ROWS * COLUMNS];
    static double wide[ROWS * COLUMNS];
    regression r = regression_make(ROWS, COLUMNS, 0, 0.1, 6);
    (void)state;
    for (int k = 0; k < 9; k++) {
        margin_report report = {0}, same = {0};
        for (int64_t i = 0; i < ROWS; i++) {
            float *row = x + i * COLUMNS;
            for (int64_t j = 0; j < 3; j++)
                row[j] = (float)(r.x[i * COLUMNS + j] + (j == 0 ? offsets[k / 3] : 0));
            row[3] = row[0] + row[1];
        }
        for (int64_t i = 0; i < ROWS * COLUMNS; i++)
            wide[i] = (double)x[i];
        const margin_data data = {.x = margin_dense_f32(x, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(r.y, ROWS)};
        const margin_data copy = {.x = margin_dense_f64(wide, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(r.y, ROWS)};
        margin_model_free(fit_proven(context, specs[k % 3], &data, &report));
        margin_model_free(fit_proven(context, "least-squares(solver=qr)", &copy, &same));
        assert_close(report.objective, same.objective, 1e-9);
        assert_true(isnan(margin_report_item_value(&report, "rank")));
    }
    regression_free(&r);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void test_few_rows(void **state) {
    (void)state;
    const double x[4] = {3, 4, 5, 6}, y[2] = {7, 7};
    margin_data data = {.x = margin_dense_f64(x, 1, 2, 2), .y = margin_values_f64(y, 1)};
    for (int k = 0; k < 3; k++) {
        static const char *const specs[3] = {"least-squares", "ridge", "least-squares(solver=qr)"};
        data.x.rows = data.y.count = 1;
        margin_model *model = fit_proven(context, specs[k], &data, NULL);
        assert_true(margin_model_intercept(model, 0) == 7);
        assert_true(margin_model_weights(model, 0)[0] == 0);
        assert_true(margin_model_weights(model, 0)[1] == 0);
        margin_model_free(model);
        data.x.rows = data.y.count = 2; /* a constant target */
        model = fit_proven(context, specs[k], &data, NULL);
        assert_true(margin_model_intercept(model, 0) == 7);
        assert_true(margin_model_weights(model, 0)[0] == 0);
        margin_model_free(model);
    }
    data.x.rows = data.y.count = 1; /* 3 w1 + 4 w2 = 7: shortest at (21, 28)/25 */
    margin_model *model = fit_proven(context, "least-squares(intercept=no)", &data, NULL);
    assert_close(margin_model_weights(model, 0)[0], 0.84, 1e-14);
    assert_close(margin_model_weights(model, 0)[1], 1.12, 1e-14);
    margin_model_free(model);
}

static void test_weights(void **state) {
    (void)state;
    regression r = regression_make(120, 4, 1, 1, 71);
    double weights[120];
    long double w[4], b;
    static const double sizes[] = {1, 1e-200, 1e290};
    margin_data data = regression_data(&r);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 120; i++)
            weights[i] = sizes[k] * (1 + i % 5);
        data.weights = margin_values_f64(weights, 120);
        margin_model *model = fit_proven(context, "least-squares", &data, NULL);
        for (int i = 0; i < 120; i++)
            weights[i] = 1 + i % 5;
        oracle_solve(&r, weights, 0, true, w, &b);
        assert_solution(model, &r, w, b, 1e-11);
        margin_model_free(model);
    }
    for (int i = 0; i < 120; i++)
        weights[i] = i % 7 ? 1e-8 : 1e8;
    for (int s = 0; s < 3; s++) {
        char spec[60];
        snprintf(spec, sizeof spec, "ridge(alpha=1, solver=%s)", solvers[s]);
        oracle_solve(&r, weights, 1, true, w, &b);
        margin_model *model = fit_proven(context, spec, &data, NULL);
        assert_solution(model, &r, w, b, 1e-10);
        margin_model_free(model);
    }
    memset(weights, 0, sizeof weights);
    fit_refused(context, "least-squares", &data, MARGIN_ERROR_DATA, "weight 0");
    regression_free(&r);
}

static void test_permuted_rows(void **state) {
    (void)state;
    regression r = regression_make(500, 5, 4, 1, 81), turned = regression_make(500, 5, 4, 1, 81);
    for (int64_t i = 0; i < 500; i++) {
        memcpy(turned.x + i * 5, r.x + (499 - i) * 5, 5 * sizeof *r.x);
        turned.y[i] = r.y[499 - i];
    }
    for (int k = 0; k < 2; k++) {
        const margin_data a = regression_data(&r), b = regression_data(&turned);
        margin_model *left = fit_proven(context, k ? "ridge" : "least-squares", &a, NULL);
        margin_model *right = fit_proven(context, k ? "ridge" : "least-squares", &b, NULL);
        for (int j = 0; j < 5; j++)
            assert_close(margin_model_weights(left, 0)[j], margin_model_weights(right, 0)[j],
                         1e-13);
        margin_model_free(left);
        margin_model_free(right);
    }
    regression_free(&r);
    regression_free(&turned);
}

static void test_targets(void **state) {
    (void)state;
    regression r = regression_make(10, 2, 0, 1, 91);
    const margin_data data = regression_data(&r);
    r.y[6] = (double)NAN;
    fit_refused(context, "least-squares", &data, MARGIN_ERROR_DATA, "row 7");
    r.y[6] = (double)INFINITY;
    fit_refused(context, "ridge", &data, MARGIN_ERROR_DATA, "row 7");
    regression_free(&r);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void test_limit_and_small_penalties(void **state) {
    (void)state;
    regression r = regression_make(80, 3, 0, 1, 95);
    margin_data data = regression_data(&r);
    margin_report report = {0};
    margin_model *plain = fit_proven(context, "least-squares", &data, NULL);
    static const char *const small[] = {"ridge(alpha=0)", "ridge(alpha=1e-12)", "ridge(C=1e13)",
                                        "ridge(lambda=1e-14)"};
    for (int k = 0; k < 4; k++) {
        margin_model *model = fit_proven(context, small[k], &data, NULL);
        for (int j = 0; j < 3; j++)
            assert_close(margin_model_weights(model, 0)[j], margin_model_weights(plain, 0)[j],
                         1e-12);
        margin_model_free(model);
    }
    margin_model_free(plain);
    margin_model_free(fit_proven(context, "ridge(alpha=1e300)", &data, NULL));
    /* more accuracy than there is: said, not hidden */
    for (int64_t k = 0; k < r.rows * r.columns; k++)
        r.x[k] += 1e9;
    margin_model_free(fit_text(context, "least-squares(tol=1e-15)", &data, &report));
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_contains(report.reason, "rounding limits the residual");
    regression_free(&r);
}

static void test_other_data_is_noticed(void **state) {
    (void)state;
    regression r = regression_make(80, 3, 0, 1, 96);
    const margin_data data = regression_data(&r);
    margin_error error = {0};
    margin_report found = {0};
    for (int k = 0; k < 2; k++) {
        margin_model *model = fit_proven(context, k ? "ridge" : "least-squares", &data, NULL);
        const double before = r.y[4];
        r.y[4] += 0.5;
        assert_int_equal(margin_verify(context, model, &data, &found, &error),
                         MARGIN_STOPPED_STALLED);
        r.y[4] = before;
        margin_model_free(model);
    }
    regression_free(&r);
}

/* ---- Threads, failures ----------------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    regression r = regression_make(20000, 9, 1, 1, 97);
    for (int64_t i = 0; i < r.rows; i++)
        r.x[i * 9 + 8] = r.x[i * 9] - r.x[i * 9 + 3];
    const margin_data data = regression_data(&r);
    static const char *const specs[] = {"least-squares", "ridge", "least-squares(solver=qr)",
                                        "standardize | ridge(solver=qr)"};
    for (int k = 0; k < 4; k++) {
        margin_model *first = NULL;
        for (int threads = 1; threads <= 4; threads++) {
            margin_context *own = support_context(NULL, threads);
            margin_model *model = fit_text(own, specs[k], &data, NULL);
            if (first)
                assert_same_model(first, model);
            else
                first = model;
            if (model != first) margin_model_free(model);
            margin_context_free(own);
        }
        margin_model_free(first);
    }
    regression_free(&r);
}

typedef struct {
    const char *spec;
    const margin_data *data;
} failing_fit;

static margin_status fit_and_verify(margin_context *own, void *user, margin_error *error) {
    const failing_fit *f = user;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_report found = {0};
    margin_status status = margin_spec_parse(own, f->spec, &spec, error);
    if (status >= 0) status = margin_fit(own, spec, f->data, &model, NULL, error);
    if (status >= 0) status = margin_verify(own, model, f->data, &found, error);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    regression r = regression_make(30, 4, 0, 1, 98), wide = regression_make(5, 140, 0, 1, 99);
    for (int64_t i = 0; i < r.rows; i++)
        r.x[i * 4 + 3] = r.x[i * 4];
    const margin_data data = regression_data(&r), wide_data = regression_data(&wide);
    sample *sparse = sample_make(6, 150, 2, 0, 1);
    const margin_data sparse_data = sample_data(sparse, CSR_F32_I32_I64);
    failing_fit fits[] = {{"least-squares", &data},
                          {"ridge", &data},
                          {"least-squares(solver=qr)", &data},
                          {"least-squares", &wide_data},
                          {"ridge", &sparse_data}};
    for (size_t k = 0; k < sizeof fits / sizeof *fits; k++)
        assert_true(support_fail_each_allocation(2, fit_and_verify, &fits[k]) > 10);
    sample_free(sparse);
    regression_free(&wide);
    regression_free(&r);
}

static void test_cancel(void **state) {
    (void)state;
    regression r = regression_make(3000, 5, 0, 1, 100);
    const margin_data data = regression_data(&r);
    margin_context *own = support_context(NULL, 2);
    margin_context_cancel(own);
    static const char *const specs[] = {"least-squares", "ridge(solver=qr)"};
    for (int k = 0; k < 2; k++)
        fit_refused(own, specs[k], &data, MARGIN_ERROR_CANCELLED, "");
    margin_context_free(own);
    regression_free(&r);
}

/* ---- Values that are not finite -------------------------------------------------------------- */

/* However the problem is solved, and wherever the value is: products of columns are made from all
 * rows, what they are scaled by from some. */
static void test_not_finite(void **state) {
    (void)state;
    static const struct {
        int64_t rows, columns;
        const char *spec;
    } cases[] = {
        {9000, 3, "least-squares"},    {9000, 3, "least-squares(intercept=no)"},
        {9000, 3, "ridge(alpha=0.1)"}, {9000, 3, "ridge(alpha=0.1, intercept=no)"},
        {900, 3, "ridge(solver=qr)"},  {900, 3, "ridge(solver=cg)"},
        {900, 3, "ridge(solver=gd)"},  {900, 3, "ridge(solver=sgd)"},
        {150, 200, "ridge"},           {150, 200, "least-squares"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        regression r = regression_make(cases[k].rows, cases[k].columns, 0, 1, 3);
        const margin_data data = regression_data(&r);
        const int64_t some[3] = {1, cases[k].rows / 2, cases[k].rows - 1};
        for (int at = 0; at < 3; at++) {
            double *cell = r.x + some[at] * cases[k].columns + 1, held = *cell;
            char words[64];
            *cell = (double)NAN;
            snprintf(words, sizeof words, "row %d has no value in column x2", (int)some[at] + 1);
            fit_refused(context, cases[k].spec, &data, MARGIN_ERROR_DATA, words);
            *cell = -(double)INFINITY;
            snprintf(words, sizeof words, "row %d has the value -inf in column x2",
                     (int)some[at] + 1);
            fit_refused(context, cases[k].spec, &data, MARGIN_ERROR_DATA, words);
            *cell = held;
        }
        regression_free(&r);
    }
}

/* Far from 0 rounding of the intercept and of the predictions shows: the gap and the training
 * errors of a fresh fit hold all the same. */
static void test_proof_far_from_zero(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "ridge", "ridge(alpha=10, intercept=no)",
                                        "standardize | ridge", "standardize | ridge(intercept=no)"};
    for (int k = 0; k < 10; k++) {
        regression r = regression_make(2000, 4, k % 2 ? 1e8 : 0, 1, 11);
        const margin_data data = regression_data(&r);
        if (k % 2 == 0)
            for (int64_t i = 0; i < r.rows; i++)
                r.y[i] += 1e10;
        margin_model_free(fit_proven(context, specs[k / 2], &data, NULL));
        regression_free(&r);
    }
}

static void test_not_finite_path(void **state) {
    (void)state;
    regression r = regression_make(9000, 3, 0, 1, 3);
    const margin_data data = regression_data(&r);
    margin_spec *spec = NULL;
    margin_path_result path = {0};
    margin_error error = {0};
    r.x[3 * 8001] = (double)NAN;
    assert_int_equal(margin_spec_parse(context, "ridge(alpha={1,10})", &spec, NULL), MARGIN_OK);
    assert_int_equal(margin_path(context, spec, &data, &path, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 8002 has no value in column x1");
    margin_spec_free(spec);
    regression_free(&r);
}

/* ---- What the products prove ----------------------------------------------------------------- */

/* Where they say enough no pass follows: the gap and the training errors are those of the data all
 * the same. */
static void test_proof_by_products(void **state) {
    (void)state;
    regression r = regression_make(3000, 8, 0, 1, 7);
    const margin_data data = regression_data(&r);
    long double w[8], b;
    for (int k = 0; k < 2; k++) {
        margin_report report = {0};
        margin_model *model =
            fit_proven(context, k ? "ridge(alpha=10)" : "least-squares", &data, &report);
        oracle_solve(&r, NULL, k ? 10.0 : 0.0, true, w, &b);
        assert_solution(model, &r, w, b, 1e-13);
        const long double least = oracle_value(&r, NULL, k ? 10.0 : 0.0, w, b);
        const double objective = (double)(k ? least : least / r.rows);
        assert_close(report.objective, objective, 1e-13 * objective);
        assert_true(report.gap >= 0.0 && report.gap <= 1e-12);
        double sum = 0.0, mean = 0.0, spread = 0.0;
        for (int64_t i = 0; i < r.rows; i++)
            mean += r.y[i] / (double)r.rows;
        for (int64_t i = 0; i < r.rows; i++) {
            double f = margin_model_intercept(model, 0);
            for (int64_t j = 0; j < r.columns; j++)
                f += margin_model_weights(model, 0)[j] * r.x[i * r.columns + j];
            sum += (f - r.y[i]) * (f - r.y[i]);
            spread += (r.y[i] - mean) * (r.y[i] - mean);
        }
        assert_close(report.train_rmse, sqrt(sum / (double)r.rows), 1e-13);
        assert_close(report.train_r2, 1.0 - sum / spread, 1e-13);
        margin_model_free(model);
    }
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_points),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_large_offsets_f32),
        cmocka_unit_test(test_dependence_in_f32),
        cmocka_unit_test(test_tiny_columns),
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_permuted_rows),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_limit_and_small_penalties),
        cmocka_unit_test(test_other_data_is_noticed),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_not_finite_path),
        cmocka_unit_test(test_proof_by_products),
        cmocka_unit_test(test_proof_far_from_zero),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
