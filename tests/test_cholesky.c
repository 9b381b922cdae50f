/* Cholesky factors: against the product that made the matrix, LAPACK's verdicts, and themselves on
 * other numbers of threads. */
#include "support/support.h"

#include "base/context.h"
#include "math/products/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

static const char *const isa_names[] = {"ref", "avx2", "avx512"};
static const int64_t orders[] = {1, 2, 5, 63, 64, 65, 100, 191, 192, 193, 260, 333};

static double *numbers(int64_t count) {
    double *x = malloc((size_t)(count + 1) * sizeof *x);
    assert_non_null(x);
    return x;
}

/* B B' / n + shift I with leading dimension ld; what lies beyond the lower triangle is a mark. */
static double *positive_matrix(int64_t n, int64_t ld, double shift, uint64_t seed) {
    double *b = numbers(n * n), *a = numbers(n * ld);
    for (int64_t k = 0; k < n * n; k++)
        b[k] = support_normal(&seed);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < ld; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n && j <= i; k++)
                sum += b[i * n + k] * b[j * n + k];
            a[i * ld + j] = j <= i ? sum / (double)n + (i == j ? shift : 0) : -777;
        }
    free(b);
    return a;
}

static void check_factor(const double *a, const double *l, int64_t n, int64_t ld) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < ld; j++) {
            if (j > i) {
                assert_true(l[i * ld + j] == -777);
                continue;
            }
            double sum = 0;
            for (int64_t k = 0; k <= j; k++)
                sum += l[i * ld + k] * l[j * ld + k];
            assert_true(fabs(sum - a[i * ld + j]) <= 1e-14 * (double)(n + 10));
        }
}

static void check_solves(const double *a, const double *l, int64_t n, int64_t ld) {
    const mg_isa isa = mg_isa_level();
    double *x = numbers(n), *y = numbers(n);
    uint64_t seed = 3;
    for (int64_t i = 0; i < n; i++)
        x[i] = support_normal(&seed);
    for (int64_t i = 0; i < n; i++) { /* y = A x */
        y[i] = 0;
        for (int64_t j = 0; j < n; j++)
            y[i] += a[j <= i ? i * ld + j : j * ld + i] * x[j];
    }
    double *parts = numbers(n);
    memcpy(parts, y, (size_t)n * sizeof *y);
    mg_cholesky_solve(isa, n, l, ld, y);
    for (int64_t i = 0; i < n; i++)
        assert_close(y[i], x[i], 1e-11);
    mg_cholesky_solve_lower(isa, n, l, ld, parts);
    mg_cholesky_solve_upper(isa, n, l, ld, parts);
    assert_memory_equal(parts, y, (size_t)n * sizeof *y);
    double *both = numbers(2 * n), *one = numbers(n);
    for (int64_t i = 0; i < 2 * n; i++)
        both[i] = support_normal(&seed);
    for (int k = 0; k < 2; k++) {
        memcpy(one, both + k * n, (size_t)n * sizeof *one);
        mg_cholesky_solve_lower(isa, n, l, ld, one);
        memcpy(k ? parts : x, one, (size_t)n * sizeof *one);
    }
    mg_cholesky_solve_lower_many(isa, n, l, ld, both, 2);
    assert_memory_equal(both, x, (size_t)n * sizeof *x);
    assert_memory_equal(both + n, parts, (size_t)n * sizeof *parts);
    free(both);
    free(one);
    free(parts);
    free(x);
    free(y);
}

static void test_factors_and_solves(void **state) {
    (void)state;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        setenv("MARGIN_ISA", isa_names[isa], 1);
        margin_context *context = support_context(NULL, 3);
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
            const int64_t n = orders[k], ld = n + (int64_t)(k % 3);
            double *a = positive_matrix(n, ld, 0.5, k + 1), *l = numbers(n * ld);
            int64_t failed = -1;
            memcpy(l, a, (size_t)(n * ld) * sizeof *l);
            OK(mg_cholesky_factor(context, n, l, ld, &failed, &error));
            assert_int_equal(failed, 0);
            check_factor(a, l, n, ld);
            check_solves(a, l, n, ld);
            free(a);
            free(l);
        }
        margin_context_free(context);
        unsetenv("MARGIN_ISA");
    }
}

static void test_empty(void **state) {
    margin_context *context = support_context(NULL, 1);
    int64_t failed = 5;
    (void)state;
    OK(mg_cholesky_factor(context, 0, NULL, 1, &failed, &error));
    assert_int_equal(failed, 0);
    margin_context_free(context);
}

/* The order of the minor that fails, as LAPACK counts it. */
static void test_matrices_that_are_not_positive(void **state) {
    static const int64_t n = 150;
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (int64_t bad = 0; bad < n; bad += 37)
        for (int kind = 0; kind < 3; kind++) {
            double *a = positive_matrix(n, n, 1, 4);
            int64_t failed = 0;
            a[bad * n + bad] = kind == 0 ? -1 : kind == 1 ? (double)NAN : 0;
            OK(mg_cholesky_factor(context, n, a, n, &failed, &error));
            assert_int_equal(failed, bad + 1);
            free(a);
        }
    margin_context_free(context);
}

/* Rows that are there before come last, and the factor of the others says so. */
static void check_rank(margin_context *context, int64_t n, int64_t distinct) {
    const int64_t ld = n + 3;
    double *a = positive_matrix(distinct, distinct, 0.5, (uint64_t)n), *l = numbers(n * ld);
    int64_t *order = calloc((size_t)n + 1, sizeof *order), rank = -1, failed = -1;
    bool *seen = calloc((size_t)n + 1, sizeof *seen);
    assert_non_null(order);
    assert_non_null(seen);
#define AT(i, j)                                                                                   \
    a[MG_MAX((i) % distinct, (j) % distinct) * distinct + MG_MIN((i) % distinct, (j) % distinct)]
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < ld; j++)
            l[i * ld + j] = j <= i ? AT(i, j) : -777;
    OK(mg_cholesky_factor_rank(context, n, l, ld, 1e-12, n - distinct, order, &rank, &failed,
                               &error));
    assert_int_equal(failed, 0);
    assert_int_equal(rank, distinct);
    for (int64_t k = 0; k < n; k++) {
        assert_false(seen[order[k]]);
        seen[order[k]] = true;
        assert_true(k >= rank || order[k] < distinct); /* in their order */
        for (int64_t j = 0; j <= k; j++) {
            double sum = 0;
            for (int64_t i = 0; i <= MG_MIN(j, rank - 1); i++)
                sum += l[k * ld + i] * l[j * ld + i];
            assert_true(fabs(sum - AT(order[k], order[j])) <= 1e-14 * (double)(n + 10));
        }
        for (int64_t j = k + 1; j < ld; j++)
            assert_true(l[k * ld + j] == -777);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            l[i * ld + j] = AT(i, j);
    OK(mg_cholesky_factor_rank(context, n, l, ld, 1e-12, n - distinct - 1, order, &rank, &failed,
                               &error));
    assert_true((failed > 0) == (distinct < n)); /* one too many */
#undef AT
    free(a);
    free(l);
    free(order);
    free(seen);
}

static void test_rank(void **state) {
    (void)state;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        setenv("MARGIN_ISA", isa_names[isa], 1);
        margin_context *context = support_context(NULL, 3);
        for (int64_t n = 1; n < 300; n += 1 + n / 3)
            for (int64_t distinct = n; distinct > 0; distinct /= 2)
                check_rank(context, n, distinct);
        margin_context_free(context);
        unsetenv("MARGIN_ISA");
    }
}

static void test_threads_do_not_matter(void **state) {
    const int64_t n = 700;
    double *a = positive_matrix(n, n, 0.1, 9), *first = numbers(n * n), *l = numbers(n * n);
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        int64_t failed;
        memcpy(l, a, (size_t)(n * n) * sizeof *l);
        OK(mg_cholesky_factor(context, n, l, n, &failed, &error));
        if (threads == 1) memcpy(first, l, (size_t)(n * n) * sizeof *l);
        assert_memory_equal(l, first, (size_t)(n * n) * sizeof *l);
        margin_context_free(context);
    }
    free(a);
    free(first);
    free(l);
}

/* Largest column sum of a symmetric matrix given by its lower triangle, or of its inverse. */
static double norm_of(const double *a, int64_t n) {
    double most = 0;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += fabs(a[j <= i ? i * n + j : j * n + i]);
        most = fmax(most, sum);
    }
    return most;
}

static double inverse_norm_of(const double *l, int64_t n) {
    double most = 0, *x = numbers(n);
    for (int64_t j = 0; j < n; j++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[j] = 1;
        mg_cholesky_solve(MG_ISA_REF, n, l, n, x);
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += fabs(x[i]);
        most = fmax(most, sum);
    }
    free(x);
    return most;
}

static void test_condition(void **state) {
    margin_context *context = support_context(NULL, 1);
    double work[2 * 120];
    (void)state;
    for (int64_t n = 1; n <= 120; n += 17)
        for (int k = 0; k < 6; k++) {
            double *a = positive_matrix(n, n, pow(10, -2 * k), (uint64_t)(n + k));
            const double norm = norm_of(a, n);
            int64_t failed;
            OK(mg_cholesky_factor(context, n, a, n, &failed, &error));
            assert_int_equal(failed, 0);
            const double exact = 1 / (norm * inverse_norm_of(a, n));
            const double found = mg_cholesky_condition(context, n, a, n, norm, work);
            assert_true(found >= exact * (1 - 1e-6) && found <= 3 * exact);
            free(a);
        }
    assert_true(mg_cholesky_condition(context, 0, NULL, 1, 0, work) == 1);
    margin_context_free(context);
}

static margin_status factor_body(margin_context *context, void *user, margin_error *failure) {
    const int64_t n = 200;
    double *a = numbers(n * n);
    int64_t failed;
    memcpy(a, user, (size_t)(n * n) * sizeof *a);
    margin_status status = mg_cholesky_factor(context, n, a, n, &failed, failure);
    free(a);
    return status;
}

static void test_memory_and_cancellation(void **state) {
    double *a = positive_matrix(200, 200, 1, 1);
    margin_context *context = support_context(NULL, 2);
    int64_t failed;
    (void)state;
    assert_true(support_fail_each_allocation(1, factor_body, a) >= 1);
    margin_context_cancel(context);
    assert_int_equal(mg_cholesky_factor(context, 200, a, 200, &failed, &error),
                     MARGIN_ERROR_CANCELLED);
    margin_context_free(context);
    free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_and_solves),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_matrices_that_are_not_positive),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_memory_and_cancellation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
