/* Least squares with columns that depend on each other, against the answer of least norm from
 * singular values: all ranks, layouts and sizes of columns, weights, targets, threads, limits. */
#include "least_squares_cases.h"

#include "base/context.h"
#include "learn/exact/exact_columns.h"

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

/* Sums that were rounded: the answer of least norm, of which nothing is proven beyond its
 * objective, objective, and verification agrees. More columns than rows are eliminated for. */
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
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
        assert_close(report.gap * fmax(1, report.objective), report.objective, 1e-9);
        assert_contains(report.reason, "rank 40 of 170, but it may be more");
        assert_least(margin_model_weights(model, 0), w, COLUMNS, 1e-10);
        assert_true(margin_verify(context, model, &data, &found, NULL) >= 0);
        margin_model_free(model);
    }
    regression_free(&r);
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

/* ---- Threads, memory, limits ----------------------------------------------------------------- */

/* Decimals are what they are written as: totals, shares of 1, Celsius beside Fahrenheit. The oracle
 * sees the doubles, whose sums are off by rounding. */
static void test_decimals(void **state) {
    (void)state;
    enum { ROWS = 120, COLUMNS = 8 };
    regression r = regression_make(ROWS, COLUMNS, 0, 1, 31);
    double weights[ROWS];
    for (int64_t i = 0; i < ROWS; i++) {
        double *row = r.x + i * COLUMNS;
        const double a = nearbyint(3000 * row[0] + 9000), b = nearbyint(900 * row[1]);
        const double first = nearbyint(300 + 60 * row[3]), second = nearbyint(200 + 50 * row[4]);
        const double degrees = nearbyint(200 + 100 * row[6]);
        row[0] = a / 100;
        row[1] = b / 100;
        row[2] = (a + b) / 100;
        row[3] = first / 1000;
        row[4] = second / 1000;
        row[5] = (1000 - first - second) / 1000;
        row[6] = degrees / 10;
        row[7] = (18 * degrees + 3200) / 100;
        weights[i] = 0.5 + (double)(i % 3);
    }
    for (int weighted = 0; weighted < 2; weighted++)
        check(&r, weighted ? weights : NULL, true, 1e-8);
    const margin_data data = regression_data(&r);
    static const char *const specs[] = {"least-squares", "least-squares(solver=qr)",
                                        "standardize | least-squares"};
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_report report = {0};
        margin_model *model = fit_proven(context, specs[k], &data, &report);
        assert_true(margin_report_item_value(&report, "rank") == 5);
        assert_verified(context, model, &data);
        margin_model_free(model);
    }
    regression_free(&r);
}

/* Decimals whose difference is exact as a binary fraction, and no decimal; and a number of many
 * digits, wherever its row is. */
static void test_binary_differences(void **state) {
    (void)state;
    enum { ROWS = 90, COLUMNS = 3 };
    for (int at = 0; at < ROWS; at += 44) {
        regression r = regression_make(ROWS, COLUMNS, 0, 1, 34);
        for (int64_t i = 0; i < ROWS; i++) {
            double *row = r.x + i * COLUMNS;
            row[0] = nearbyint(1000 + 100 * row[0]) / 10;
            row[1] = nearbyint(12000 + 100 * row[1]) / 100;
            if (i == at) row[0] = 104.123456789;
            row[2] = row[1] - row[0]; /* exact: they are within a factor of two */
        }
        const margin_data data = regression_data(&r);
        margin_report report = {0};
        margin_model *model = fit_proven(context, "least-squares", &data, &report);
        assert_true(margin_report_item_value(&report, "rank") == 2);
        assert_verified(context, model, &data);
        margin_model_free(model);
        regression_free(&r);
    }
}

/* Times in seconds with six or three decimals, whose differences are all there is to learn: they
 * are no multiples of each other as they are written, and nothing may call them so. */
static void test_times(void **state) {
    (void)state;
    enum { ROWS = 200, COLUMNS = 2 };
    for (double unit = 1e6; unit > 1e2; unit /= 1e3) {
        regression r = regression_make(ROWS, COLUMNS, 0, 0.01, 32);
        uint64_t seed = 33;
        for (int64_t i = 0; i < ROWS; i++) {
            const double start = nearbyint(1.6e9 * unit + 1e5 * unit * support_uniform(&seed));
            const double long_ = (double)(support_random(&seed) % 3);
            r.x[i * COLUMNS] = start / unit;
            r.x[i * COLUMNS + 1] = (start + long_) / unit;
            r.y[i] = 3 * long_;
        }
        const margin_data data = regression_data(&r);
        margin_report report = {0};
        margin_model *model = fit_text(context, "least-squares", &data, &report);
        assert_true(report.status != MARGIN_OK || report.train_r2 > 0.9);
        assert_verified(context, model, &data);
        margin_model_free(model);
        regression_free(&r);
    }
}

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
    regression r = whole_numbers(30, 6, 4, 97);
    margin_data data = regression_data(&r);
    assert_true(support_fail_each_allocation(1, fit_it, &data) > 10);
    regression_free(&r);
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
        cmocka_unit_test(test_ranks),      cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_weights),
        cmocka_unit_test(test_shapes),     cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_indicators), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_rounded),    cmocka_unit_test(test_exact_sums),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_cancel),     cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_times),      cmocka_unit_test(test_binary_differences),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
