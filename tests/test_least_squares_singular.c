/* Least squares with columns that depend on each other, against the answer of least norm from
 * singular values: all ranks, layouts and sizes of columns, weights, targets, threads, limits. */
#include "least_squares_cases.h"

#include "base/context.h"
#include "learn/exact/rounded_sums.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/group_context.h"

static const char *const solvers[3] = {"auto", "normal", "qr"};

/* ---- The oracle ------------------------------------------------------------------------------ */

/* Rotates columns j and k of a and v until those of a are orthogonal; false: they were. */
static bool rotate(long double *a, int64_t rows, long double *v, int64_t n, int64_t j, int64_t k) {
    long double jj = 0, kk = 0, jk = 0;
    for (int64_t i = 0; i < rows; i++) {
        jj += a[j * rows + i] * a[j * rows + i];
        kk += a[k * rows + i] * a[k * rows + i];
        jk += a[j * rows + i] * a[k * rows + i];
    }
    if (!(fabsl(jk) > 1e-18L * sqrtl(jj) * sqrtl(kk)) || jk == 0) return false;
    const long double zeta = (kk - jj) / (2 * jk);
    const long double t = (zeta > 0 ? 1 : -1) / (fabsl(zeta) + sqrtl(1 + zeta * zeta));
    const long double c = 1 / sqrtl(1 + t * t), s = c * t;
    for (int part = 0; part < 2; part++) {
        long double *x = part ? v : a;
        const int64_t size = part ? n : rows;
        for (int64_t i = 0; i < size; i++) {
            const long double left = x[j * size + i], right = x[k * size + i];
            x[j * size + i] = c * left - s * right;
            x[k * size + i] = s * left + c * right;
        }
    }
    return true;
}

/* The least w of all that minimise sum weight (x.w + b - y)^2, by one-sided Jacobi rotations of the
 * centred rows: a V = U S. */
static void least_norm(const regression *r, const double *weights, bool intercept, long double *w) {
    const int64_t m = r->rows, n = r->columns;
    long double *a = calloc((size_t)(m * n), sizeof *a), *v = calloc((size_t)(n * n), sizeof *v);
    long double *y = calloc((size_t)m, sizeof *y), most = 0;
    for (int64_t j = 0; j <= n; j++) {
        long double sum = 0, total = 0;
        for (int64_t i = 0; i < m; i++) {
            const long double weight = weights ? (long double)weights[i] : 1;
            sum += weight * (long double)(j < n ? r->x[i * n + j] : r->y[i]);
            total += weight;
        }
        for (int64_t i = 0; i < m; i++) {
            const long double root = sqrtl(weights ? (long double)weights[i] : 1);
            const long double value = (long double)(j < n ? r->x[i * n + j] : r->y[i]);
            *(j < n ? a + j * m + i : y + i) = root * (value - (intercept ? sum / total : 0));
        }
        if (j < n) v[j * n + j] = 1;
    }
    for (int sweep = 0, moved = 1; sweep < 30 && moved; sweep++) {
        moved = 0;
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = j + 1; k < n; k++)
                moved |= rotate(a, m, v, n, j, k);
    }
    memset(w, 0, (size_t)n * sizeof *w);
    for (int turn = 0; turn < 2; turn++)
        for (int64_t j = 0; j < n; j++) {
            long double square = 0, product = 0;
            for (int64_t i = 0; i < m; i++) {
                square += a[j * m + i] * a[j * m + i];
                product += a[j * m + i] * y[i];
            }
            if (turn == 0) most = fmaxl(most, square);
            if (turn == 0 || !(square > 1e-26L * most)) continue;
            for (int64_t i = 0; i < n; i++)
                w[i] += v[j * n + i] * product / square;
        }
    free(a), free(v), free(y);
}

static void assert_least(const double *found, const long double *w, int64_t n, double tolerance) {
    long double away = 0, whole = 1e-300L;
    for (int64_t j = 0; j < n; j++) {
        away += ((long double)found[j] - w[j]) * ((long double)found[j] - w[j]);
        whole += w[j] * w[j];
    }
    if (!(sqrtl(away / whole) <= (long double)tolerance))
        fail_msg("the weights are %Lg away from those of least norm", sqrtl(away / whole));
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* Whole numbers from -8 to 8; columns from `rank` on are sums of two before. */
static regression whole_numbers(int64_t rows, int64_t columns, int64_t rank, uint64_t seed) {
    regression r = regression_make(rows, columns, 0, 1, seed);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double *row = r.x + i * columns;
            row[j] = j < rank   ? nearbyint(fmax(-8, fmin(8, 4 * row[j])))
                     : rank > 0 ? row[j * 7 % rank] - row[j * 5 % rank] + row[j * 3 % rank]
                                : 3;
        }
    return r;
}

static void check(const regression *r, const double *weights, bool intercept, double tolerance) {
    margin_data data = regression_data(r);
    long double *w = malloc((size_t)r->columns * sizeof *w);
    if (weights) data.weights = margin_values_f64(weights, r->rows);
    least_norm(r, weights, intercept, w);
    for (int s = 0; s < 3; s++) {
        char spec[80];
        snprintf(spec, sizeof spec, "least-squares(solver=%s, intercept=%s)", solvers[s],
                 intercept ? "yes" : "no");
        margin_model *model = fit_proven(context, spec, &data, NULL);
        assert_least(margin_model_weights(model, 0), w, r->columns, tolerance);
        margin_model_free(model);
    }
    free(w);
}

static void test_ranks(void **state) {
    (void)state;
    for (int64_t rank = 0; rank <= 7; rank++) {
        regression r = whole_numbers(40, 7, rank, 100 + (uint64_t)rank);
        check(&r, NULL, true, 1e-12);
        check(&r, NULL, false, 1e-12);
        regression_free(&r);
    }
}

/* Beyond the blocks of the factors. */
static void test_many_columns(void **state) {
    (void)state;
    regression r = whole_numbers(SUPPORT_SLOWER > 20 ? 90 : 140, 100, 70, 31);
    check(&r, NULL, true, 1e-11);
    regression_free(&r);
}

/* Powers of two near 1e6 and 1e-6: rounding makes no difference. */
static void test_sizes(void **state) {
    (void)state;
    static const double size[4] = {1, 0x1p20, 0x1p-20, 0x1p10};
    for (int turn = 0; turn < 4; turn++) {
        regression r = whole_numbers(50, 8, 5, 41);
        for (int64_t k = 0; k < r.rows * r.columns; k++)
            r.x[k] *= size[(k % r.columns + turn * (k % r.columns) / 3) % 4];
        check(&r, NULL, true, 1e-6);
        regression_free(&r);
    }
}

static void test_weights(void **state) {
    (void)state;
    regression r = whole_numbers(60, 9, 6, 51);
    double weights[60];
    for (int i = 0; i < 60; i++)
        weights[i] = i % 5 == 0 ? 0 : 0.25 * (i % 7 + 1);
    check(&r, weights, true, 1e-12);
    for (int i = 0; i < 60; i += 5) /* rows that do not count break the dependences */
        r.x[i * 9 + 8] += 100;
    check(&r, weights, true, 1e-12);
    regression_free(&r);
}

static void test_shapes(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{1, 3, 2},     {2, 5, 2},    {10, 30, 20},
                                        {12, 140, 12}, {20, 150, 9}, {30, 30, 18}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        regression r = whole_numbers(shapes[k][0], shapes[k][1], shapes[k][2], 61);
        margin_data data = regression_data(&r);
        long double w[150];
        least_norm(&r, NULL, true, w);
        margin_model *model = fit_proven(context, "least-squares", &data, NULL);
        assert_least(margin_model_weights(model, 0), w, r.columns, 1e-10);
        margin_model_free(model);
        regression_free(&r);
    }
}

/* More columns than rows, each row twice with targets of its own. */
static void test_equal_rows(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    enum { ROWS = 60, COLUMNS = 200 };
    regression r = regression_make(ROWS, COLUMNS, 0, 1, 65);
    const margin_data data = regression_data(&r);
    long double w[COLUMNS];
    memcpy(r.x + ROWS / 2 * COLUMNS, r.x, ROWS / 2 * COLUMNS * sizeof *r.x);
    least_norm(&r, NULL, true, w);
    for (int s = 0; s < 3; s++) {
        char spec[60];
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        margin_model *model = fit_proven(context, spec, &data, NULL);
        assert_least(margin_model_weights(model, 0), w, COLUMNS, 1e-11);
        margin_model_free(model);
    }
    regression_free(&r);
}

/* Three blocks of indicators beside the intercept; sparse rows too. */
static void test_indicators(void **state) {
    (void)state;
    enum { ROWS = 300, COLUMNS = 4 + 7 + 30 };
    regression r = regression_make(ROWS, COLUMNS, 0, 1, 71);
    double values[3 * ROWS];
    int32_t columns[3 * ROWS];
    int64_t starts[ROWS + 1];
    long double w[COLUMNS];
    memset(r.x, 0, ROWS * COLUMNS * sizeof *r.x);
    starts[0] = 0;
    for (int i = 0; i < ROWS; i++) {
        const int at[3] = {i * 13 % 4, 4 + i * 29 % 97 % 7, 11 + i * 31 % 101 % 30};
        for (int k = 0; k < 3; k++) {
            r.x[i * COLUMNS + at[k]] = 1;
            columns[3 * i + k] = at[k];
            values[3 * i + k] = 1;
        }
        starts[i + 1] = 3 * i + 3;
    }
    least_norm(&r, NULL, true, w);
    margin_data data = regression_data(&r);
    for (int sparse = 0; sparse < 2; sparse++) {
        margin_report report = {0};
        margin_model *model = fit_proven(context, "least-squares", &data, &report);
        assert_least(margin_model_weights(model, 0), w, COLUMNS, 1e-12);
        assert_close(margin_report_item_value(&report, "rank"), COLUMNS - 3, 0);
        assert_contains(report.reason, "Cholesky");
        margin_model_free(model);
        model = fit_proven(context, "standardize | least-squares", &data, NULL);
        margin_model_free(model);
        data.x = margin_csr_f64(values, columns, starts, ROWS, COLUMNS);
    }
    regression_free(&r);
}

static void test_targets(void **state) {
    (void)state;
    enum { ROWS = 80, COLUMNS = 20, TARGETS = 3 };
    regression r = whole_numbers(ROWS, COLUMNS, 13, 81);
    double y[ROWS * TARGETS];
    for (int i = 0; i < ROWS; i++)
        for (int t = 0; t < TARGETS; t++)
            y[i * TARGETS + t] = t == 1 ? 4 : sin(i * (t + 1)) + r.y[i];
    margin_data data = regression_data(&r);
    data.y = margin_values_f64(y, ROWS * TARGETS);
    data.targets = TARGETS;
    margin_model *model = fit_proven(context, "least-squares", &data, NULL);
    for (int t = 0; t < TARGETS; t++) {
        long double w[COLUMNS];
        for (int i = 0; i < ROWS; i++)
            r.y[i] = y[i * TARGETS + t];
        least_norm(&r, NULL, true, w);
        if (t != 1) assert_least(margin_model_weights(model, t), w, COLUMNS, 1e-12);
    }
    margin_model_free(model);
    regression_free(&r);
}

/* Sums that were rounded: the answer of least norm, proven, and verification agrees. */
static void test_rounded(void **state) {
    (void)state;
    enum { ROWS = 180, COLUMNS = 170, RANK = 40 };
    regression r = regression_make(ROWS, COLUMNS, 0, 1, 91);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = RANK; j < COLUMNS; j++)
            r.x[i * COLUMNS + j] = r.x[i * COLUMNS + j % RANK] / 3 + r.x[i * COLUMNS + j / 3] / 7;
    const margin_data data = regression_data(&r);
    long double w[COLUMNS];
    least_norm(&r, NULL, true, w);
    for (int s = 0; s < 3; s++) {
        char spec[60];
        margin_report report = {0}, found = {0};
        snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
        margin_model *model = fit_proven(context, spec, &data, &report);
        assert_contains(report.reason, "rank 40 of 170");
        assert_contains(report.reason, "but for rounding");
        assert_least(margin_model_weights(model, 0), w, COLUMNS, 1e-10);
        assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
        assert_true(found.gap < 1e-12);
        margin_model_free(model);
    }
    regression_free(&r);
}

static double decimals(double value, double digits) {
    return nearbyint(value * digits) / digits;
}

enum { TABLE_ROWS = 200 };

/* What tables hold: 0 a total, 1 shares of 1, 2 two scales of one temperature, 3 a year and an age;
 * beside them a column of its own. `wrong`: one number of the sum is off in its last decimal. */
static regression decimal_table(int kind, bool wrong) {
    regression r = regression_make(TABLE_ROWS, kind < 2 ? 4 : 3, 0, 1, 77);
    for (int64_t i = 0; i < TABLE_ROWS; i++) {
        double *x = r.x + i * r.columns;
        const double a = x[0], b = x[1], own = decimals(x[r.columns - 1], 1e3);
        x[0] = kind == 0   ? decimals(fabs(40 * a), 100)
               : kind == 1 ? decimals(0.5 / (1 + fabs(a)), 1e3)
               : kind == 2 ? decimals(15 + 10 * a, 10)
                           : nearbyint(1980 + 10 * a) + decimals(fabs(b), 10);
        x[1] = kind == 0   ? decimals(fabs(20 * b), 100)
               : kind == 1 ? decimals(0.5 / (1 + fabs(b)), 1e3)
               : kind == 2 ? decimals(1.8 * x[0] + 32, 100)
                           : decimals(2026 - x[0], 10);
        if (kind == 0) x[2] = decimals(x[0] + x[1], 100);
        if (kind == 1) x[2] = decimals(1 - x[0] - x[1], 1e3);
        x[r.columns - 1] = own;
        if (kind == 0 && i % 50 == 0) x[0] = x[1] = x[2] = 0;
        r.y[i] = decimals(x[0] / 7 - x[1] / 9 + own + r.y[i], 100);
    }
    if (wrong) r.x[17 * r.columns + (kind < 2 ? 2 : 1)] += kind == 1 ? 1e-3 : 0.01;
    return r;
}

static void check_verified(const margin_model *model, const margin_data *data, bool holds) {
    margin_report found = {0};
    const margin_status status = margin_verify(context, model, data, &found, NULL);
    assert_int_equal(status == MARGIN_OK, holds);
    if (holds) assert_true(found.gap < 1e-15);
}

/* Each converges to the answer of least norm, as does the table in other units; and verification,
 * which looks at the data itself, finds the gap that the fit found, and another table out. */
static void test_decimals(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "least-squares(solver=qr)",
                                        "standardize | least-squares",
                                        "minmax | least-squares(solver=normal)"};
    static double values[4 * TABLE_ROWS], weights[TABLE_ROWS];
    static int32_t columns[4 * TABLE_ROWS];
    int64_t starts[TABLE_ROWS + 1] = {0};
    for (int k = 0; k < 4 * 4 * 2 * 3; k++) {
        const bool wrong = k / 16 % 2;
        regression r = decimal_table(k / 4 % 4, wrong), other = decimal_table(k / 4 % 4, !wrong);
        margin_data data = regression_data(&r), changed = regression_data(&other);
        for (int64_t i = 0; i < TABLE_ROWS; i++) {
            starts[i + 1] = starts[i];
            weights[i] = (double)(i % 7);
            for (int64_t j = 0; j < r.columns; j++) {
                values[starts[i + 1]] = r.x[i * r.columns + j];
                columns[starts[i + 1]] = (int32_t)j;
                starts[i + 1] += r.x[i * r.columns + j] != 0;
            }
        }
        if (k / 32 == 1) data.x = margin_csr_f64(values, columns, starts, TABLE_ROWS, r.columns);
        if (k / 32 == 2) data.weights = changed.weights = margin_values_f64(weights, TABLE_ROWS);
        margin_report report = {0};
        long double w[4];
        margin_model *model = fit_proven(context, specs[k % 4], &data, &report);
        const double rank = margin_report_item_value(&report, "rank");
        least_norm(&r, k / 32 == 2 ? weights : NULL, true, w);
        if (k % 4 < 2) assert_least(margin_model_weights(model, 0), w, r.columns, 1e-9);
        assert_true(wrong ? isnan(rank) : rank == (double)r.columns - 1);
        assert_true((strstr(report.reason, "but for rounding") != NULL) == !wrong);
        check_verified(model, &data, true);
        check_verified(model, &changed, false);
        margin_model_free(model);
        regression_free(&r);
        regression_free(&other);
    }
}

/* Without an intercept a total is one and shares are not; behind stages their shifts are rounded.
 */
static void test_decimals_without_intercept(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const bool shifted = k >= 4, sum = shifted || k == 0;
        regression r = decimal_table(k % 4, false);
        const margin_data data = regression_data(&r);
        margin_report report = {0};
        margin_model *model = fit_proven(context,
                                         shifted ? "standardize | least-squares(intercept=no)"
                                                 : "least-squares(intercept=no)",
                                         &data, &report);
        assert_true((strstr(report.reason, "but for rounding") != NULL) == sum);
        check_verified(model, &data, true);
        margin_model_free(model);
        regression_free(&r);
    }
}

enum { MIXED = 9 };

/* Three kinds of sums in one table: totals of totals, indicators, and a ratio that is none of small
 * whole numbers. */
static regression mixed_table(void) {
    regression r = regression_make(TABLE_ROWS, MIXED, 0, 1, 80);
    for (int64_t i = 0; i < TABLE_ROWS; i++) {
        double *x = r.x + i * MIXED;
        x[0] = decimals(exp(3 + 2 * x[0]), 100);
        x[1] = decimals(1 + fabs(x[1]), 100);
        x[2] = decimals(x[0] + x[1], 100);
        x[3] = decimals(50 * x[3], 100);
        x[4] = decimals(x[3] - x[2], 100);
        for (int64_t j = 5; j < 8; j++)
            x[j] = i % 3 == j - 5;
        x[8] = x[3] * 2.718281828459045 / 3 + x[1];
        r.y[i] += 0.1 * x[3] + x[1] - x[6];
    }
    return r;
}

static void test_several_sums(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "least-squares(solver=qr)",
                                        "standardize | least-squares"};
    regression r = mixed_table();
    double y[2 * TABLE_ROWS];
    margin_data data = regression_data(&r), both = data;
    long double w[MIXED];
    least_norm(&r, NULL, true, w);
    for (int k = 0; k < 3; k++) {
        margin_report report = {0};
        margin_model *model = fit_proven(context, specs[k], &data, &report);
        assert_close(margin_report_item_value(&report, "rank"), MIXED - 4, 0);
        if (k < 2) assert_least(margin_model_weights(model, 0), w, MIXED, 1e-9);
        check_verified(model, &data, true);
        for (int threads = 1; threads <= 7; threads += 6) {
            margin_context *own = support_context(NULL, threads);
            margin_model *same = fit_text(own, specs[k], &data, NULL);
            assert_same_model(model, same);
            margin_model_free(same);
            margin_context_free(own);
        }
        margin_model_free(model);
    }
    for (int64_t i = 0; i < TABLE_ROWS; i++) {
        y[2 * i] = r.y[i];
        y[2 * i + 1] = sin((double)i);
    }
    both.y = margin_values_f64(y, 2 * TABLE_ROWS);
    both.targets = 2;
    margin_model *model = fit_proven(context, "least-squares", &both, NULL);
    assert_least(margin_model_weights(model, 0), w, MIXED, 1e-9);
    check_verified(model, &both, true);
    margin_model_free(model);
    regression_free(&r);
}

/* Tables in which a row of huge numbers is, or all are huge, or a row differs by more than its
 * rounding, or whole numbers differ by 1. */
static regression other_table(int kind) {
    regression r =
        regression_make(kind == 8 ? 3 : TABLE_ROWS, kind < 6 || kind == 8 ? 2 : 3, 0, 1, 79);
    uint64_t random = 5;
    for (int64_t i = 0; i < r.rows; i++) {
        double *x = r.x + i * r.columns;
        const double few = floor(10 * support_uniform(&random)), u = support_uniform(&random);
        if (kind < 2 && i == 30) x[0] = x[1] = kind ? 1e16 : 1e20; /* a missing value's mark */
        if (kind == 2) x[1] = (x[0] = floor(1e14 + 8e14 * u)) + fmod(few, 4);
        if (kind == 3) x[1] = (x[0] = floor(4e13 * (double)i + 1e13 * u)) - few;
        if (kind == 4) x[1] = (x[0] = pow(10, 17 * u)) + 1 + few;
        if (kind == 5) x[1] = x[0] + (i == 3 ? 1e-13 : 0);
        if (kind == 6) x[1] = x[0] + 0.002 * x[1], x[2] = (x[1] - x[0]) / 0.002 + 1e-11 * x[2];
        for (int64_t j = 0; j < 3 && kind == 7; j++) /* of netCDF */
            x[j] = i == 11 ? 0x1.ep+122 : (double)(float)x[j];
        if (kind == 8) x[0] = (double)(1 << i), x[1] = x[0] + (i == 2 ? 1e-14 : 0);
        r.y[i] = x[0] - x[1] + 0.1 * few;
    }
    return r;
}

static void test_what_is_no_rounding(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "least-squares(solver=qr)",
                                        "standardize | least-squares",
                                        "least-squares(intercept=no)"};
    for (int k = 0; k < 9 * 4 * 2; k++) {
        regression r = other_table(k / 4 % 9);
        margin_data data = regression_data(&r);
        int32_t columns[3 * TABLE_ROWS];
        int64_t starts[TABLE_ROWS + 1];
        for (int64_t i = 0; i < r.rows * r.columns; i++)
            columns[i] = (int32_t)(i % r.columns);
        for (int64_t i = 0; i <= r.rows; i++)
            starts[i] = i * r.columns;
        if (k >= 36) data.x = margin_csr_f64(r.x, columns, starts, r.rows, r.columns);
        margin_report report = {0};
        margin_model *model = fit_text(context, specs[k % 4], &data, &report);
        assert_null(strstr(report.reason, "but for rounding"));
        assert_true(report.status != MARGIN_OK || isnan(margin_report_item_value(&report, "rank")));
        margin_model_free(model);
        regression_free(&r);
    }
}

/* What is far above rounding keeps its rank, however near the columns come to each other. */
static void test_near_is_not_rounded(void **state) {
    (void)state;
    enum { ROWS = 120, COLUMNS = 9 };
    for (int kind = 0; kind < 3; kind++) {
        regression r = regression_make(ROWS, COLUMNS, 0, 1, 78);
        const margin_data data = regression_data(&r);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < COLUMNS; j++) {
                double *x = r.x + i * COLUMNS + j;
                if (kind == 0) *x = pow(-9 + 6.0 * (double)i / ROWS, (double)j + 1); /* Filip */
                if (kind == 1) *x = 1.0 / (double)(i + j + 1);                       /* Hilbert */
                if (kind == 2 && j > 0) *x = x[-j] + 1e-12 * *x;
            }
        for (int s = 0; s < 3; s++) {
            char spec[60];
            margin_report report = {0};
            snprintf(spec, sizeof spec, "least-squares(solver=%s)", solvers[s]);
            margin_model_free(fit_text(context, spec, &data, &report));
            assert_true(isnan(margin_report_item_value(&report, "rank")));
        }
        regression_free(&r);
    }
}

/* ---- Sums without rounding ------------------------------------------------------------------- */

static void test_exact_sums(void **state) {
    (void)state;
    enum { ROWS = 20, COLUMNS = 4 };
    double x[ROWS * COLUMNS], weights[ROWS], factors[2] = {1.0 / 3 + 1e-12, -5.0 / 7};
    int64_t column[3] = {0, 3, 2};
    bool hold;
    for (int i = 0; i < ROWS; i++) {
        double *row = x + i * COLUMNS;
        row[0] = 21 * (i * i % 17);
        row[1] = i;
        row[3] = 7 * (i % 5) + 0x1p-40 * 7;
        row[2] = row[0] / 3 - 5 * row[3] / 7 + 4;
        weights[i] = 1;
    }
    mg_problem problem = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS), .count = ROWS};
    const mg_column_sums sums = {
        .count = 1, .terms = 2, .ld = 2, .column = column, .factors = factors};
    assert_int_equal(mg_exact_sums(context, &problem, true, weights, &sums, &hold, NULL), 0);
    assert_true(hold);
    assert_int_equal(mg_exact_sums(context, &problem, false, weights, &sums, &hold, NULL), 0);
    assert_false(hold); /* the constant 4 */
    x[5 * COLUMNS + 2] = nextafter(x[5 * COLUMNS + 2], 1e9);
    assert_int_equal(mg_exact_sums(context, &problem, true, weights, &sums, &hold, NULL), 0);
    assert_false(hold);
    weights[5] = 0;
    assert_int_equal(mg_exact_sums(context, &problem, true, weights, &sums, &hold, NULL), 0);
    assert_true(hold);
    column[2] = 1;
    assert_int_equal(mg_exact_sums(context, &problem, true, weights, &sums, &hold, NULL), 0);
    assert_false(hold);
    column[2] = 2;
    factors[0] = sqrt(2.0);
    assert_int_equal(mg_exact_sums(context, &problem, true, weights, &sums, &hold, NULL), 0);
    assert_false(hold);
}

/* ---- Sums but for rounding ------------------------------------------------------------------- */

static bool rounded_hold(const mg_problem *problem, bool intercept, double factor) {
    static const double weights[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
    static const int64_t column[2] = {0, 1};
    const mg_column_sums sums = {
        .count = 1, .terms = 1, .ld = 1, .column = column, .factors = &factor};
    bool hold = false;
    assert_int_equal(
        mg_rounded_hold(context, problem, intercept, weights, &sums, MG_ROUNDED_UNITS, &hold, NULL),
        0);
    return hold;
}

static void test_rounded_hold(void **state) {
    (void)state;
    enum { ROWS = 20 };
    double x[2 * ROWS] = {0}, scale[2] = {0.5, 0.25}, shift[2] = {-1.1, -0.55};
    mg_problem problem = {.x = margin_dense_f64(x, ROWS, 2, 2), .count = ROWS};
    for (int i = 0; i < ROWS; i++)
        x[2 * i] = x[2 * i + 1] = 1.5 + i;
    x[2 * ROWS - 1] = 1e6; /* of a row without weight */
    assert_true(rounded_hold(&problem, true, 1 + 1e-9));
    for (int ulps = 1; ulps <= 20; ulps++) {
        x[11] = nextafter(x[11], 1e9);
        if (ulps == 2) assert_true(rounded_hold(&problem, false, 1 + 1e-9));
    }
    assert_false(rounded_hold(&problem, true, 1 + 1e-9));
    x[11] = x[10];
    problem.scale = scale;
    problem.shift = shift;
    assert_true(rounded_hold(&problem, false, 0.5 + 1e-9));
    shift[1] += 4e-16;
    assert_true(rounded_hold(&problem, false, 0.5 + 1e-9));
    shift[1] += 4e-15;
    assert_false(rounded_hold(&problem, false, 0.5 + 1e-9));
    assert_true(rounded_hold(&problem, true, 0.5 + 1e-9));
    for (int i = 0; i < ROWS; i++)
        x[2 * i] = 0x1p52 + 3 * i, x[2 * i + 1] = x[2 * i] + (i == 3);
    assert_false(rounded_hold(&problem, true, 0.5)); /* these were not rounded */
    x[0] = x[1] = 0.5;
    assert_true(rounded_hold(&problem, true, 0.5));
    problem.scale = problem.shift = NULL; /* a ratio that is none, of sizes over many decades */
    for (int i = 0; i < ROWS; i++)
        x[2 * i] = decimals(pow(10, 6 - i * 0.4), 100), x[2 * i + 1] = x[2 * i] / 0.30471;
    assert_true(rounded_hold(&problem, true, 1 / 0.30471 + 1e-9));
    x[7] = (double)NAN;
    assert_false(rounded_hold(&problem, true, 1 / 0.30471));
}

/* ---- Threads, memory, limits ----------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    regression r = whole_numbers(600, 90, 60, 95);
    const margin_data data = regression_data(&r);
    margin_model *first = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *own = support_context(NULL, threads);
        margin_model *model = fit_text(own, "least-squares", &data, NULL);
        if (first) assert_same_model(first, model);
        if (first) margin_model_free(model);
        if (!first) first = model;
        margin_context_free(own);
    }
    margin_model_free(first);
    regression_free(&r);
}

static margin_status fit_it(margin_context *own, void *user, margin_error *error) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_status status = margin_spec_parse(own, "least-squares", &spec, error);
    if (status >= 0) status = margin_fit(own, spec, user, &model, NULL, error);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    for (int rounded = 0; rounded < 2; rounded++) {
        regression r = rounded ? mixed_table() : whole_numbers(30, 6, 4, 97);
        margin_data data = regression_data(&r);
        assert_true(support_fail_each_allocation(1, fit_it, &data) > 10);
        regression_free(&r);
    }
}

static void *cancel_soon(void *own) {
    const struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    margin_context_cancel(own);
    return NULL;
}

/* Seconds in plain C; within a tenth where nothing slows it down. */
static void test_cancel(void **state) {
    (void)state;
    enum { SIZE = SUPPORT_SLOWER > 20 ? 300 : 800 };
    regression r = whole_numbers(SIZE, SIZE, SIZE / 2, 98);
    margin_data data = regression_data(&r);
    setenv("MARGIN_ISA", "ref", 1);
    margin_context *own = support_context(NULL, 1);
    pthread_t thread;
    const double start = mg_clock();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, own), 0);
    const margin_status status = fit_it(own, &data, NULL);
    pthread_join(thread, NULL);
    assert_true(status == MARGIN_ERROR_CANCELLED);
    assert_true(mg_clock() - start < 5.0);
    margin_context_free(own);
    unsetenv("MARGIN_ISA");
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_indicators),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_exact_sums),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_decimals_without_intercept),
        cmocka_unit_test(test_several_sums),
        cmocka_unit_test(test_what_is_no_rounding),
        cmocka_unit_test(test_near_is_not_rounded),
        cmocka_unit_test(test_rounded_hold),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
