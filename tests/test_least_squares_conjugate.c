/* Least squares and ridge by conjugate gradients: many sparse columns, or much fewer rows. */
#include "least_squares_cases.h"
#include "stage_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

/* ---- Data ------------------------------------------------------------------------------------ */

typedef struct sparse_case {
    regression r;
    stage_csr csr;
    double *weights; /* 0.5 to 2 */
} sparse_case;

/* About `share` of the values are not 0; some columns are far longer than others. */
static sparse_case sparse_make(int64_t rows, int64_t columns, double share, uint64_t seed) {
    sparse_case c = {.r = regression_make(rows, columns, 0, 1, seed)};
    c.weights = malloc((size_t)rows * sizeof *c.weights);
    assert_non_null(c.weights);
    for (int64_t i = 0; i < rows; i++) {
        c.weights[i] = 0.5 + 1.5 * support_uniform(&seed);
        for (int64_t j = 0; j < columns; j++)
            c.r.x[i * columns + j] *= support_uniform(&seed) < share ? j % 7 ? 1 : 30 : 0;
    }
    c.csr = stage_to_csr(c.r.x, rows, columns);
    return c;
}

static void sparse_free(sparse_case *c) {
    stage_csr_free(&c->csr);
    regression_free(&c->r);
    free(c->weights);
}

static margin_data sparse_data(const sparse_case *c) {
    return (margin_data){.x = c->csr.view, .y = margin_values_f64(c->r.y, c->r.rows)};
}

static void assert_by_conjugate(const margin_report *report) {
    assert_contains(report->reason, "solved by conjugate gradients");
    assert_string_equal(report->iteration_name, "CG steps");
    assert_true(report->iterations > 0);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void check_oracle(const sparse_case *c, const char *spec, double alpha, bool weighted) {
    const double *weights = weighted ? c->weights : NULL;
    const bool intercept = !strstr(spec, "intercept=no");
    long double w[300], b, value, total = 0;
    margin_data data = sparse_data(c);
    margin_report report = {0};
    if (weights) data.weights = margin_values_f64(weights, c->r.rows);
    oracle_solve(&c->r, weights, alpha, intercept, w, &b);
    value = oracle_value(&c->r, weights, alpha, w, b);
    for (int64_t i = 0; i < c->r.rows; i++)
        total += weights ? weights[i] : 1;
    if (alpha == 0) value /= total; /* the mean */
    margin_model *model = fit_proven(context, spec, &data, &report);
    assert_by_conjugate(&report);
    assert_true(fabs((double)(report.objective - value)) <= 1e-11 * (double)value);
    assert_solution(model, &c->r, w, b, 1e-5);
    margin_model_free(model);
}

static void test_oracle(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const struct {
        const char *spec;
        double alpha;
    } cases[] = {{"ridge(tol=1e-13)", 1},
                 {"ridge(alpha=50, tol=1e-13)", 50},
                 {"ridge(alpha=0.01, tol=1e-13, solver=cg)", 0.01},
                 {"ridge(intercept=no, tol=1e-13)", 1}};
    sparse_case tall = sparse_make(270, 250, 0.02, 1), wide = sparse_make(220, 250, 0.02, 2);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int weighted = 0; weighted < 2; weighted++) {
            check_oracle(&tall, cases[k].spec, cases[k].alpha, weighted);
            check_oracle(&wide, cases[k].spec, cases[k].alpha, weighted);
        }
    sparse_free(&tall);
    sparse_free(&wide);
}

/* Behind the one large error thousands of equal small ones: a plain sum would round each alike. */
static void test_one_target(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    enum { ROWS = 4500, COLUMNS = 2 };
    static double x[ROWS * COLUMNS], y[ROWS] = {1e6};
    for (int i = 0; i < ROWS; i++) {
        x[i * COLUMNS] = i % 3 - 1;
        x[i * COLUMNS + 1] = i % 5 - 2;
    }
    for (int rows = 4000; rows <= ROWS; rows += 100) {
        const margin_data data = {.x = margin_dense_f64(x, rows, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(y, rows)};
        margin_report report = {0};
        margin_model_free(fit_proven(context, "ridge(alpha=1e12, solver=cg)", &data, &report));
        assert_int_equal(report.iterations, 0);
    }
}

/* Objectives of `spec` as it is and with solver=normal, which has the same end. */
static void check_direct(const margin_data *data, const char *spec, const char *direct) {
    margin_report report = {0}, other = {0};
    margin_model_free(fit_proven(context, spec, data, &report));
    margin_model_free(fit_proven(context, direct, data, &other));
    assert_by_conjugate(&report);
    assert_true(report.objective >= other.objective * (1 - 1e-12));
    assert_true(report.objective - other.objective <=
                report.gap * fmax(1, report.objective) + 1e-12 * other.objective);
}

static void test_direct(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const char *const specs[][2] = {
        {"ridge", "ridge(solver=normal)"},
        {"ridge(tol=1e-10)", "ridge(tol=1e-10, solver=normal)"},
        {"ridge(C=3)", "ridge(C=3, solver=normal)"},
        {"ridge(lambda=0.01)", "ridge(lambda=0.01, solver=normal)"},
        {"standardize | ridge", "standardize | ridge(solver=normal)"},
        {"minmax | ridge", "minmax | ridge(solver=normal)"}};
    sparse_case c = sparse_make(2000, 400, 0.01, 3), short_rows = sparse_make(4000, 900, 0.001, 4);
    margin_data data = sparse_data(&c), other = sparse_data(&short_rows);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        check_direct(&data, specs[k][0], specs[k][1]);
        check_direct(&other, specs[k][0], specs[k][1]);
    }
    data.weights = margin_values_f64(c.weights, c.r.rows);
    check_direct(&data, specs[0][0], specs[0][1]);
    float *floats = stage_to_floats(c.csr.values, c.csr.starts[2000]);
    data.x = margin_csr_f32(floats, c.csr.indices, c.csr.starts, 2000, 400);
    check_direct(&data, specs[0][0], specs[0][1]);
    free(floats);
    sparse_free(&c);
    sparse_free(&short_rows);
    regression dense = regression_make(300, 3000, 1, 1, 5);
    data = regression_data(&dense);
    check_direct(&data, "ridge(solver=cg)", specs[0][1]);
    regression_free(&dense);
}

/* Dense columns are tried: steps go on where they are nearly independent, and end after a few where
 * they share a part. */
static void test_trial(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    regression dense = regression_make(2600, 820, 0, 1, 8);
    const margin_data data = regression_data(&dense);
    check_direct(&data, "ridge", "ridge(solver=normal)");
    for (int64_t i = 0; i < data.x.rows; i++)
        for (int64_t j = 1; j < data.x.columns; j++)
            dense.x[i * data.x.columns + j] +=
                3 * dense.x[i * data.x.columns] / (double)(1 + j % 7);
    margin_report report = {0};
    margin_model_free(fit_proven(context, "ridge(alpha=0.01)", &data, &report));
    assert_string_equal(report.iteration_name, "refinements");
    regression_free(&dense);
}

/* Whole weights are copies of rows. */
static void test_weights_are_copies(void **state) {
    (void)state;
    enum { ROWS = 300, COLUMNS = 250 };
    sparse_case c = sparse_make(ROWS, COLUMNS, 0.02, 6);
    regression copies = regression_make(2 * ROWS, COLUMNS, 0, 1, 6);
    int64_t count = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        c.weights[i] = (double)(1 + i % 2);
        for (int copy = 0; copy < 1 + i % 2; copy++, count++) {
            copies.y[count] = c.r.y[i];
            memcpy(copies.x + count * COLUMNS, c.r.x + i * COLUMNS, COLUMNS * sizeof(double));
        }
    }
    stage_csr csr = stage_to_csr(copies.x, count, COLUMNS);
    margin_data one = sparse_data(&c),
                other = {.x = csr.view, .y = margin_values_f64(copies.y, count)};
    margin_report first = {0}, second = {0};
    one.weights = margin_values_f64(c.weights, ROWS);
    margin_model *a = fit_proven(context, "ridge(tol=1e-14)", &one, &first);
    margin_model *b = fit_proven(context, "ridge(tol=1e-14)", &other, &second);
    assert_by_conjugate(&first);
    assert_true(fabs(first.objective - second.objective) <= 1e-12 * first.objective);
    for (int64_t j = 0; j < COLUMNS; j++)
        assert_true(fabs(margin_model_weights(a, 0)[j] - margin_model_weights(b, 0)[j]) < 1e-6);
    margin_model_free(a);
    margin_model_free(b);
    stage_csr_free(&csr);
    regression_free(&copies);
    sparse_free(&c);
}

/* Where a gap rests on a draw, the report says so. */
static void test_draw_is_told(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const char *const specs[] = {"least-squares(solver=cg)", "logistic(C=inf, tol=1e-9)",
                                        "ridge(solver=cg)", "logistic"};
    enum { ROWS = 4000, COLUMNS = 900 };
    sparse_case c = sparse_make(ROWS, COLUMNS, 0.01, 9);
    const margin_data data = sparse_data(&c);
    uint64_t seed = 10;
    for (int64_t i = 0; i < ROWS; i++)
        c.r.y[i] = support_uniform(&seed) < 0.5;
    for (int k = 0; k < 4; k++) {
        margin_report report = {0};
        margin_model_free(fit_text(context, specs[k], &data, &report));
        if (!strstr(report.reason, "one random draw in 5e12") != (k > 1))
            fail_msg("%s: %s", specs[k], report.reason);
    }
    sparse_free(&c);
}

/* Columns that are constant or empty have no say; of a constant target nothing is left. */
static void test_constants(void **state) {
    (void)state;
    sparse_case c = sparse_make(300, 250, 0.02, 7);
    for (int64_t i = 0; i < 300; i++)
        c.r.x[i * 250 + 3] = 0, c.r.x[i * 250 + 9] = 2.5;
    stage_csr csr = stage_to_csr(c.r.x, 300, 250);
    margin_data data = {.x = csr.view, .y = margin_values_f64(c.r.y, 300)};
    margin_report report = {0};
    margin_model *model = fit_proven(context, "ridge", &data, &report);
    assert_by_conjugate(&report);
    assert_contains(report.reason, "constant and have weight 0");
    assert_true(margin_model_weights(model, 0)[3] == 0 && margin_model_weights(model, 0)[9] == 0);
    margin_model_free(model);
    for (int64_t i = 0; i < 300; i++)
        c.r.y[i] = -3;
    model = fit_proven(context, "ridge", &data, &report);
    assert_true(report.objective == 0 && margin_model_intercept(model, 0) == -3);
    margin_model_free(model);
    stage_csr_free(&csr);
    sparse_free(&c);
}

static void test_targets(void **state) {
    (void)state;
    sparse_case c = sparse_make(900, 300, 0.01, 8);
    double *both = malloc(2 * 900 * sizeof *both), *squares = malloc(900 * sizeof *squares);
    assert_non_null(both);
    assert_non_null(squares);
    for (int64_t i = 0; i < 900; i++) {
        squares[i] = c.r.y[i] * c.r.y[i];
        both[2 * i] = c.r.y[i];
        both[2 * i + 1] = squares[i];
    }
    margin_data data = sparse_data(&c), one = data;
    margin_report report = {0};
    data.y = margin_values_f64(both, 2 * 900);
    data.targets = 2;
    margin_model *model = fit_proven(context, "ridge", &data, &report);
    assert_by_conjugate(&report);
    for (int t = 0; t < 2; t++) {
        one.y = margin_values_f64(t ? squares : c.r.y, 900);
        margin_model *single = fit_proven(context, "ridge", &one, NULL);
        assert_memory_equal(margin_model_weights(model, t), margin_model_weights(single, 0),
                            300 * sizeof(double));
        margin_model_free(single);
    }
    margin_model_free(model);
    free(both);
    free(squares);
    sparse_free(&c);
}

/* ---- More columns than rows ------------------------------------------------------------------ */

/* (K, 1; 1, 0) (u, b) = (y, 0) by Gauss with pivots, K = X X' over the rows of weight above 0. */
static void solve_rows(long double *a, int64_t size, long double *x) {
    const int64_t width = size + 1;
    for (int64_t k = 0; k < size; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < size; i++)
            if (fabsl(a[i * width + k]) > fabsl(a[best * width + k])) best = i;
        for (int64_t j = 0; j < width; j++) {
            const long double kept = a[k * width + j];
            a[k * width + j] = a[best * width + j];
            a[best * width + j] = kept;
        }
        for (int64_t i = k + 1; i < size; i++) {
            const long double factor = a[i * width + k] / a[k * width + k];
            for (int64_t j = k; j < width; j++)
                a[i * width + j] -= factor * a[k * width + j];
        }
    }
    for (int64_t k = size - 1; k >= 0; k--) {
        x[k] = a[k * width + size];
        for (int64_t j = k + 1; j < size; j++)
            x[k] -= a[k * width + j] * x[j];
        x[k] /= a[k * width + k];
    }
}

/* The weights of least norm with which nothing is left: they are the same for any weights of rows.
 */
static void oracle_least(const sparse_case *c, const double *weights, bool intercept,
                         long double *w, long double *b) {
    const regression *r = &c->r;
    const int64_t p = r->columns, size = r->rows + intercept, width = size + 1;
    long double *a = calloc((size_t)(size * width), sizeof *a), u[300] = {0};
    assert_non_null(a);
    for (int64_t i = 0; i < r->rows; i++) {
        const bool counts = !weights || weights[i] > 0;
        for (int64_t j = 0; counts && j < p; j++)
            for (int64_t k = 0; r->x[i * p + j] != 0 && k < r->rows; k++)
                if (!weights || weights[k] > 0)
                    a[i * width + k] += (long double)r->x[i * p + j] * (long double)r->x[k * p + j];
        if (!counts) a[i * width + i] = 1;
        if (intercept) a[i * width + r->rows] = a[r->rows * width + i] = counts;
        a[i * width + size] = counts ? (long double)r->y[i] : 0;
    }
    solve_rows(a, size, u);
    *b = intercept ? u[r->rows] : 0;
    memset(w, 0, (size_t)p * sizeof *w);
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t j = 0; j < p; j++)
            w[j] += u[i] * (long double)r->x[i * p + j];
    free(a);
}

/* Columns of similar length. */
static sparse_case wide_make(uint64_t seed) {
    sparse_case c = sparse_make(280, 1000, 0.04, seed);
    for (int64_t i = 0; i < 280 * 1000; i++)
        c.r.x[i] /= i % 1000 % 7 ? 1 : 30;
    stage_csr_free(&c.csr);
    c.csr = stage_to_csr(c.r.x, 280, 1000);
    return c;
}

/* Nothing is left of the target, and the weights have the least norm: every second weight of a row
 * may be 0. */
static void test_wide(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const char *const specs[] = {"least-squares(tol=1e-12, solver=cg)",
                                        "least-squares(tol=1e-12)",
                                        "least-squares(tol=1e-12, intercept=no)"};
    static long double w[1000], b;
    sparse_case c = wide_make(21);
    for (int k = 0; k < 7; k++) {
        margin_data data = sparse_data(&c);
        margin_report report = {0};
        for (int64_t i = 0; k > 5 && i < 280; i++)
            c.weights[i] = (double)(i % 2);
        if (k > 2) data.weights = margin_values_f64(c.weights, c.r.rows);
        oracle_least(&c, k > 2 ? c.weights : NULL, k % 3 < 2, w, &b);
        margin_model *model = fit_proven(context, specs[k % 3], &data, &report);
        assert_by_conjugate(&report);
        assert_contains(report.reason, "of all weights with these scores these have the least");
        assert_true(report.objective < 1e-12);
        assert_solution(model, &c.r, w, b, 1e-5);
        margin_model_free(model);
    }
    sparse_free(&c);
}

/* Units of columns and target are no matter. */
static void test_wide_units(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const double units[][2] = {{1, 1e6}, {1e-8, 1}, {1e9, 1e-3}};
    for (int k = 0; k < 3; k++) {
        sparse_case c = wide_make(26);
        margin_report report = {0};
        for (int64_t i = 0; i < 280 * 1000; i++)
            c.r.x[i] *= units[k][0];
        for (int64_t i = 0; i < 280; i++)
            c.r.y[i] *= units[k][1];
        stage_csr_free(&c.csr);
        c.csr = stage_to_csr(c.r.x, 280, 1000);
        const margin_data data = sparse_data(&c);
        margin_model_free(fit_proven(context, "least-squares(solver=cg)", &data, &report));
        margin_model_free(fit_proven(context, "least-squares", &data, &report));
        assert_by_conjugate(&report);
        sparse_free(&c);
    }
}

/* Short columns: steps do not leave the span of the rows for them, as a small penalty would be slow
 * to bring them back. */
static void test_wide_penalty(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    sparse_case c = wide_make(24);
    for (int64_t i = 0; i < 280 * 1000; i++)
        c.r.x[i] /= (double)(1 << i % 1000 % 8);
    stage_csr_free(&c.csr);
    c.csr = stage_to_csr(c.r.x, 280, 1000);
    const margin_data data = sparse_data(&c);
    margin_report report = {0};
    check_direct(&data, "ridge(alpha=1e-4, solver=cg)", "ridge(alpha=1e-4, solver=normal)");
    margin_model_free(fit_proven(context, "ridge(alpha=1e-4, solver=cg)", &data, &report));
    if (report.iterations > 400) fail_msg("%d steps", (int)report.iterations);
    sparse_free(&c);
}

/* A small target is fitted as closely, a constant one at once, and several each by themselves. */
static void test_wide_targets(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    enum { ROWS = 280, TARGETS = 3 };
    sparse_case c = wide_make(22);
    double *all = malloc(TARGETS * ROWS * sizeof *all), least = 0, whole = 0;
    assert_non_null(all);
    for (int64_t i = 0; i < ROWS; i++) {
        all[TARGETS * i] = c.r.y[i];
        all[TARGETS * i + 1] = 1e-6 * c.r.y[i];
        all[TARGETS * i + 2] = 7;
    }
    margin_data data = sparse_data(&c);
    data.y = margin_values_f64(all, TARGETS * ROWS);
    data.targets = TARGETS;
    margin_report report = {0};
    margin_model *model = fit_proven(context, "least-squares(solver=cg)", &data, &report);
    assert_by_conjugate(&report);
    for (int64_t j = 0; j < 1000; j++) {
        const double a = margin_model_weights(model, 0)[j], b = margin_model_weights(model, 1)[j];
        least = fmax(least, fabs(a - 1e6 * b));
        whole = fmax(whole, fabs(a));
        assert_true(margin_model_weights(model, 2)[j] == 0);
    }
    assert_true(least <= 1e-3 * whole);
    assert_true(margin_model_intercept(model, 2) == 7);
    margin_model_free(model);
    free(all);
    sparse_free(&c);
}

/* Equal rows with other targets leave what they differ by, and that is known; the weights are those
 * of their mean. */
static void test_wide_repeats(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    sparse_case c = wide_make(23);
    margin_report report = {0};
    memcpy(c.r.x + 1000, c.r.x, 1000 * sizeof(double));
    stage_csr_free(&c.csr);
    c.csr = stage_to_csr(c.r.x, 280, 1000);
    const double left = (c.r.y[0] - c.r.y[1]) * (c.r.y[0] - c.r.y[1]) / 2 / 280;
    const margin_data data = sparse_data(&c);
    margin_model *model = fit_proven(context, "least-squares(tol=1e-9)", &data, &report);
    assert_by_conjugate(&report);
    assert_contains(report.reason, "nothing is left of the target but what equal rows differ by");
    assert_true(fabs(report.objective - left) <= 1e-12);
    c.r.y[0] = c.r.y[1] = (c.r.y[0] + c.r.y[1]) / 2;
    margin_model *other = fit_proven(context, "least-squares(tol=1e-9)", &data, &report);
    assert_by_conjugate(&report);
    for (int64_t j = 0; j < 1000; j++)
        assert_true(fabs(margin_model_weights(model, 0)[j] - margin_model_weights(other, 0)[j]) <
                    1e-4);
    margin_model_free(other);
    margin_model_free(model);
    sparse_free(&c);
}

/* A row half way between two others: steps do not get there, and a factor follows. */
static void test_wide_dependent(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    sparse_case c = wide_make(25);
    margin_report report = {0};
    for (int64_t j = 0; j < 1000; j++)
        c.r.x[2000 + j] = (c.r.x[j] + c.r.x[1000 + j]) / 2;
    stage_csr_free(&c.csr);
    c.csr = stage_to_csr(c.r.x, 280, 1000);
    const margin_data data = sparse_data(&c);
    margin_model_free(fit_text(context, "least-squares", &data, &report));
    assert_string_equal(report.iteration_name, "refinements");
    sparse_free(&c);
}

/* Texts of few words, some of them twice, with a column of ones: many rows have a word of their
 * own, or have one once those have gone; the others cannot be fitted. */
static sparse_case words_make(int64_t rows, int64_t columns, int words, uint64_t seed) {
    sparse_case c = sparse_make(rows, columns, 0, seed);
    memset(c.r.x, 0, (size_t)(rows * columns) * sizeof *c.r.x);
    for (int64_t i = 0; i < rows; i++) {
        double *row = c.r.x + i * columns;
        for (int k = 0; k < words; k++) {
            const double u = pow(support_uniform(&seed), columns > 4096 ? 9 : 3);
            row[(int64_t)(u * (double)(columns - 1))] += 0.5 + support_uniform(&seed);
        }
        row[columns - 1] = 1;
        if (i % 20 == 7) memcpy(row, row - columns, (size_t)columns * sizeof *row);
    }
    stage_csr_free(&c.csr);
    c.csr = stage_to_csr(c.r.x, rows, columns);
    return c;
}

static void check_words(const char *options, int64_t rows, int64_t columns, int words,
                        bool weighted) {
    sparse_case c = words_make(rows, columns, words, 31);
    char spec[80];
    margin_report report = {0}, by_qr = {0};
    margin_data data = sparse_data(&c);
    if (weighted) data.weights = margin_values_f64(c.weights, rows);
    snprintf(spec, sizeof spec, "least-squares(solver=cg, tol=1e-9%s)", options);
    margin_model *model = fit_proven(context, spec, &data, &report);
    assert_contains(report.reason, "rows have a column of their own, which fits them");
    assert_contains(report.reason, "of all best weights these have the least norm");
    snprintf(spec, sizeof spec, "least-squares(solver=qr%s)", options);
    margin_model *other = fit_text(context, spec, &data, &by_qr);
    assert_true(report.objective > 0.01);
    assert_true(fabs(report.objective - by_qr.objective) < 1e-12);
    assert_true(margin_report_item_value(&report, "rank") ==
                margin_report_item_value(&by_qr, "rank"));
    for (int64_t j = 0; j < columns; j++)
        assert_true(fabs(margin_model_weights(model, 0)[j] - margin_model_weights(other, 0)[j]) <
                    1e-5);
    margin_model_free(model);
    margin_model_free(other);
    sparse_free(&c);
}

/* What a report says of a model that is not done is true. */
static void assert_honest(const margin_model *model, const margin_data *data) {
    margin_report found = {0};
    margin_error error = {0};
    assert_int_equal(margin_verify(context, model, data, &found, &error), MARGIN_OK);
    assert_true(found.gap <= margin_model_report(model)->gap * (1 + 1e-6) + 1e-13);
}

static void test_rows_that_own(void **state) {
    (void)state;
    check_words("", 300, 400, 3, false);
    check_words(", intercept=no", 300, 400, 3, true);
    check_words("", 500, 400, 3, true);
    sparse_case c = words_make(500, 4200, 3, 32); /* no factor verifies it */
    const margin_data data = sparse_data(&c);
    margin_report report = {0};
    margin_model *model = fit_proven(context, "least-squares(solver=cg)", &data, &report);
    assert_contains(report.reason, "rows have a column of their own, which fits them");
    assert_true(report.objective > 0.01);
    assert_honest(model, &data);
    margin_model_free(model);
    sparse_free(&c);
}

static double norm_by(const char *spec, const margin_data *data, int64_t columns) {
    margin_report report = {0};
    double square = 0;
    margin_model *model = fit_text(context, spec, data, &report);
    for (int64_t j = 0; j < columns; j++)
        square += margin_model_weights(model, 0)[j] * margin_model_weights(model, 0)[j];
    margin_model_free(model);
    return sqrt(square);
}

/* Equal rows and rows that depend on each other leave more of the target than is aimed at: steps
 * end where the gradient is rounding, some of it along what the columns do not see. */
static void test_rounding_is_no_direction(void **state) {
    enum { ROWS = 60, COLUMNS = 120, USED = 40 };
    (void)state;
    for (uint64_t start = 1; start <= 12; start++) {
        regression r = regression_make(ROWS, COLUMNS, 0, 1, start);
        uint64_t seed = start;
        memset(r.x, 0, ROWS * COLUMNS * sizeof *r.x);
        for (int64_t i = 0; i < ROWS; i++) {
            for (int64_t k = (int64_t)(4 * support_uniform(&seed)); k > 0; k--)
                r.x[i * COLUMNS + (int64_t)(USED * support_uniform(&seed))] =
                    support_uniform(&seed);
            const int64_t as = (int64_t)((double)(2 * i + 2) * support_uniform(&seed));
            if (as < i) memcpy(r.x + i * COLUMNS, r.x + as * COLUMNS, COLUMNS * sizeof *r.x);
            r.y[i] = 1e-3 * (2 * support_uniform(&seed) - 1);
        }
        stage_csr csr = stage_to_csr(r.x, ROWS, COLUMNS);
        const margin_data data = {.x = csr.view, .y = margin_values_f64(r.y, ROWS)};
        const double least = norm_by("least-squares(solver=qr, intercept=no)", &data, COLUMNS);
        assert_true(norm_by("least-squares(solver=cg, intercept=no)", &data, COLUMNS) <= 2 * least);
        stage_csr_free(&csr);
        regression_free(&r);
    }
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void test_max_iter(void **state) {
    (void)state;
    sparse_case c = sparse_make(300, 250, 0.02, 9);
    const margin_data data = sparse_data(&c);
    margin_report report = {0};
    margin_model *model = fit_text(context, "ridge(solver=cg, max_iter=3)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_int_equal(report.iterations, 3);
    assert_contains(report.reason, "max_iter came before conjugate gradients ended");
    assert_honest(model, &data);
    margin_model_free(model);
    sparse_free(&c);
}

/* Columns that almost depend on each other, and next to no penalty: a factor where there may be
 * one, else the truth. */
static void test_ill_conditioned(void **state) {
    (void)state;
    sparse_case c = sparse_make(400, 250, 0.02, 10);
    uint64_t seed = 11;
    for (int64_t i = 0; i < 400; i++)
        for (int64_t j = 125; j < 250; j++)
            c.r.x[i * 250 + j] = c.r.x[i * 250 + j - 125] * (1 + 1e-5 * support_normal(&seed));
    stage_csr csr = stage_to_csr(c.r.x, 400, 250);
    const margin_data data = {.x = csr.view, .y = margin_values_f64(c.r.y, 400)};
    margin_report report = {0};
    margin_model *model = fit_proven(context, "ridge(alpha=1e-9, tol=1e-9)", &data, &report);
    assert_contains(report.reason, "solved by QR");
    assert_string_equal(report.iteration_name, "refinements");
    margin_model_free(model);
    model =
        fit_text(context, "ridge(alpha=1e-9, tol=1e-9, solver=cg, max_iter=100)", &data, &report);
    assert_true(report.status > 0 && report.gap > 1e-9);
    assert_honest(model, &data);
    margin_model_free(model);
    stage_csr_free(&csr);
    sparse_free(&c);
}

static margin_model *fit_limited(const char *spec, const margin_data *data, int64_t bytes,
                                 margin_report *report) {
    margin_context_options options = {.size = sizeof options, .threads = 2, .memory_limit = bytes};
    margin_context *own = NULL;
    assert_int_equal(margin_context_create(&options, &own, NULL), MARGIN_OK);
    margin_model *model = fit_text(own, spec, data, report);
    margin_context_free(own);
    return model;
}

/* One category a row. */
enum { ROWS = 50000, CATEGORIES = 20000 };

typedef struct categories {
    int64_t *starts;
    int32_t *columns;
    double *ones, *y;
    margin_data data;
} categories;

static categories categories_make(int64_t rows, int64_t count, uint64_t seed) {
    const size_t numbers = (size_t)rows;
    categories c = {.starts = malloc((numbers + 1) * sizeof(int64_t)),
                    .columns = malloc(numbers * sizeof(int32_t)),
                    .ones = malloc(numbers * sizeof(double)),
                    .y = malloc(numbers * sizeof(double))};
    for (int64_t i = 0; i < rows; i++) {
        c.starts[i] = i;
        c.columns[i] = (int32_t)(support_random(&seed) % (uint64_t)count);
        c.ones[i] = 1;
        c.y[i] = c.columns[i] % 10 + support_normal(&seed);
    }
    c.starts[rows] = rows;
    c.data = (margin_data){.x = margin_csr_f64(c.ones, c.columns, c.starts, rows, count),
                           .y = margin_values_f64(c.y, rows)};
    return c;
}

static void categories_free(categories *c) {
    free(c->starts);
    free(c->columns);
    free(c->ones);
    free(c->y);
}

/* Without a penalty: a bound of the least eigenvalue, if there is one. */
static void test_no_penalty(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares(solver=cg)",
                                        "least-squares(solver=cg, intercept=no)"};
    sparse_case c = sparse_make(900, 90, 0.05, 19);
    const margin_data data = sparse_data(&c);
    for (int k = 0; k < 2; k++)
        for (int weighted = 0; weighted < 2; weighted++)
            check_oracle(&c, specs[k], 0, weighted);
    margin_context *one = support_context(NULL, 1);
    margin_model *model = fit_text(one, specs[0], &data, NULL);
    margin_model *other = fit_text(context, specs[0], &data, NULL);
    assert_same_model(model, other);
    margin_model_free(model);
    margin_model_free(other);
    margin_context_free(one);
    sparse_free(&c);
    c = sparse_make(340, 280, 0.05, 31); /* the bound is far */
    check_oracle(&c, specs[0], 0, false);
    sparse_free(&c);
    c = sparse_make(900, 90, 0.05, 20);
    for (int64_t i = 0; i < 900; i++) /* one that almost is another */
        c.r.x[i * 90 + 4] = c.r.x[i * 90 + 2] + 1e-7 * c.r.x[i * 90 + 4];
    stage_csr_free(&c.csr);
    c.csr = stage_to_csr(c.r.x, 900, 90);
    const margin_data close = sparse_data(&c);
    margin_report report = {0};
    model = fit_text(context, specs[0], &close, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_true(report.gap > 0.5);
    margin_model_free(model);
    model = fit_proven(context, "least-squares", &close, &report); /* a factor tells them apart */
    margin_model_free(model);
    sparse_free(&c);
}

static double mean_of(const categories *c, int32_t category) {
    double sum = 0, count = 0;
    for (int64_t i = 0; i < ROWS; i++)
        if (c->columns[i] == category) sum += c->y[i], count++;
    return count > 0 ? sum / count : (double)NAN;
}

/* A factor of 20,000 columns would take gigabytes. */
static void test_categories(void **state) {
    (void)state;
    enum { LIMIT = 32 << 20 };
    categories c = categories_make(ROWS, CATEGORIES, 12);
    double mean = 0, sum[2] = {0, 0}, in[2] = {0, 0};
    margin_report report = {0};
    margin_model *model = fit_limited("ridge(tol=1e-12)", &c.data, LIMIT, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_by_conjugate(&report);
    assert_contains(report.reason, "a factor would not fit into memory");
    mean = margin_model_intercept(model, 0);
    for (int64_t i = 0; i < ROWS; i++)
        for (int k = 0; k < 2; k++)
            if (c.columns[i] == 17 + k) sum[k] += c.y[i] - mean, in[k]++;
    for (int k = 0; k < 2; k++) /* each category alone, once the intercept is known */
        assert_true(fabs(margin_model_weights(model, 0)[17 + k] - sum[k] / (in[k] + 1)) < 1e-4);
    margin_model_free(model);
    model = fit_limited("least-squares", &c.data, LIMIT, &report); /* rank one short, no penalty */
    assert_int_equal(report.status, MARGIN_OK);
    assert_contains(report.reason, "of all best weights these have the least norm");
    assert_null(strstr(report.reason, "random draw"));
    assert_true(report.iterations <= 2);
    mean = margin_model_intercept(model, 0);
    for (int32_t k = 0; k < 100; k++) { /* the mean of each category that occurs */
        const double own = mean_of(&c, k), weight = margin_model_weights(model, 0)[k];
        assert_true(isnan(own) ? weight == 0 : fabs(mean + weight - own) < 1e-5);
    }
    margin_model_free(model);
    margin_model_free(fit_proven(context, "least-squares", &c.data, NULL));
    margin_model_free(fit_proven(context, "least-squares(intercept=no)", &c.data, &report));
    assert_null(strstr(report.reason, "random draw"));
    for (int64_t i = 0; i < ROWS; i++) /* nothing is left: that is as good as it gets */
        c.y[i] = c.columns[i] % 10;
    model = fit_limited("least-squares", &c.data, LIMIT, &report);
    assert_int_equal(report.status, MARGIN_OK);
    margin_model_free(model);
    categories_free(&c);
}

/* Columns with their mean taken off do not stand at right angles where there is no intercept. */
static void test_shifted_categories(void **state) {
    (void)state;
    categories c = categories_make(3000, 1000, 13);
    margin_report report = {0};
    margin_model *model =
        fit_text(context, "standardize | least-squares(intercept=no)", &c.data, &report);
    assert_honest(model, &c.data);
    assert_true(report.objective > 4); /* the mean of the targets is beyond any weights */
    margin_model_free(model);
    categories_free(&c);
}

/* Each column twice, so that there is no bound, and a factor would take seconds. */
static void test_dear(void **state) {
    enum { TEXTS = 7000, WORDS = 3000, EACH = 4, BOTH = 2 * WORDS };
    SUPPORT_LARGE_CASE();
    (void)state;
    uint64_t seed = 41;
    const size_t stored = 2 * EACH * TEXTS;
    categories c = {.starts = malloc((TEXTS + 1) * sizeof(int64_t)),
                    .columns = malloc(stored * sizeof(int32_t)),
                    .ones = malloc(stored * sizeof(double)),
                    .y = malloc(TEXTS * sizeof(double))};
    for (int64_t i = 0, at = 0; i < TEXTS; i++, at += 2 * EACH) {
        c.starts[i] = at;
        c.starts[i + 1] = at + 2 * EACH;
        c.y[i] = support_normal(&seed);
        for (int32_t k = 0; k < EACH; k++) {
            const int32_t share = WORDS / EACH;
            c.columns[at + k] = k * share + (int32_t)(support_random(&seed) % (uint64_t)share);
            c.columns[at + EACH + k] = c.columns[at + k] + WORDS;
            c.ones[at + k] = c.ones[at + EACH + k] = 0.5 + support_uniform(&seed);
        }
    }
    c.data = (margin_data){.x = margin_csr_f64(c.ones, c.columns, c.starts, TEXTS, BOTH),
                           .y = margin_values_f64(c.y, TEXTS)};
    margin_report report = {0};
    margin_model *model = fit_text(context, "least-squares", &c.data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_contains(report.reason, "no bound but 0 for the least objective");
    assert_true(report.gap >= report.objective && report.objective > 0.3);
    for (int64_t j = 0; j < WORDS; j++) /* the least norm has them alike */
        assert_true(fabs(margin_model_weights(model, 0)[j] -
                         margin_model_weights(model, 0)[j + WORDS]) < 1e-9);
    assert_honest(model, &c.data);
    margin_model_free(model);
    categories_free(&c);
}

/* ---- Threads, failures ----------------------------------------------------------------------- */

static void assert_same_by_threads(const margin_data *data, int step) {
    margin_model *first = NULL;
    for (int threads = 1; threads <= 4; threads += step) {
        margin_context *own = support_context(NULL, threads);
        margin_model *model = fit_text(own, "ridge", data, NULL);
        if (first) assert_same_model(first, model);
        if (first) margin_model_free(model);
        if (!first) first = model;
        margin_context_free(own);
    }
    margin_model_free(first);
}

/* Sums over blocks of rows, few of them where columns are many. */
static void test_threads(void **state) {
    (void)state;
    sparse_case c = sparse_make(3000, 300, 0.01, 13);
    categories many = categories_make(ROWS, CATEGORIES, 14);
    const margin_data data = sparse_data(&c);
    assert_same_by_threads(&data, 1);
    assert_same_by_threads(&many.data, 1);
    categories_free(&many);
    sparse_free(&c);
}

/* Sums by columns. */
static void test_threads_by_columns(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    categories c = categories_make(1100000, 400000, 15);
    assert_same_by_threads(&c.data, 3);
    categories_free(&c);
}

static void test_no_memory(void **state) {
    (void)state;
    sparse_case cases[] = {sparse_make(60, 200, 0.03, 15), sparse_make(300, 250, 0.002, 16),
                           sparse_make(60, 200, 0.03, 17)};
    for (int k = 0; k < 3; k++) {
        fit_attempt attempt = {k ? "least-squares(solver=cg)" : "ridge(solver=cg)",
                               sparse_data(&cases[k])};
        assert_true(support_fail_each_allocation(2, attempt_fit, &attempt) > 10);
        sparse_free(&cases[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_one_target),
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_trial),
        cmocka_unit_test(test_weights_are_copies),
        cmocka_unit_test(test_draw_is_told),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_wide_units),
        cmocka_unit_test(test_wide_penalty),
        cmocka_unit_test(test_wide_targets),
        cmocka_unit_test(test_wide_repeats),
        cmocka_unit_test(test_wide_dependent),
        cmocka_unit_test(test_rows_that_own),
        cmocka_unit_test(test_rounding_is_no_direction),
        cmocka_unit_test(test_max_iter),
        cmocka_unit_test(test_ill_conditioned),
        cmocka_unit_test(test_no_penalty),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_shifted_categories),
        cmocka_unit_test(test_dear),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_by_columns),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
