/* Q and B of a band form rebuild the matrix, shifted equations are solved, and it stops. */
#include "support/support.h"

#include "math/products/band_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *numbers(int64_t count) {
    double *a = calloc((size_t)count + 1, sizeof *a);
    assert_non_null(a);
    return a;
}

/* X X' / rank, rows of very different sizes; only the lower triangle is told. */
static double *made(int64_t n, int64_t rank, double ratio, uint64_t seed) {
    double *x = numbers(n * rank), *a = numbers(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < rank; k++)
            x[i * rank + k] = pow(ratio, (double)i / (double)n) * support_normal(&seed);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            for (int64_t k = 0; k < rank; k++)
                a[i * n + j] += x[i * rank + k] * x[j * rank + k] / (double)rank;
    free(x);
    return a;
}

/* b = (A + shift) x */
static void multiply(const double *a, int64_t n, double shift, const double *x, double *b) {
    for (int64_t i = 0; i < n; i++) {
        long double sum = shift * x[i];
        for (int64_t j = 0; j < n; j++)
            sum += (long double)a[i >= j ? i * n + j : j * n + i] * x[j];
        b[i] = (double)sum;
    }
}

static void check(margin_context *context, int64_t n, int64_t rank, double ratio) {
    const mg_stop stop = mg_stop_make(context, -1);
    double *a = made(n, rank, ratio, 3 + (uint64_t)n), *changed = numbers(n * n),
           *turns = numbers(n * MG_BAND), *factor = numbers(n * (MG_BAND + 1)), *x = numbers(n),
           *b = numbers(n);
    double most = 0;
    memcpy(changed, a, (size_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            changed[i * n + j] = 7; /* neither read nor written */
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, a[i * n + i]);
    const mg_band_form form = {n, n, changed, turns};
    assert_int_equal(mg_band_reduce(&stop, &form, NULL), MARGIN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            assert_true(changed[i * n + j] == 7);
    for (double shift = 10; shift > 1e-4; shift /= 100) {
        uint64_t seed = 5;
        assert_true(mg_band_factor(&form, shift * most, factor));
        for (int64_t i = 0; i < n; i++)
            x[i] = support_normal(&seed);
        multiply(a, n, shift * most, x, b);
        mg_band_turn(&form, true, 1, b);
        mg_band_solve(&form, factor, b);
        mg_band_turn(&form, false, 1, b);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs(b[i] - x[i]) <= 1e-12 * (double)n / shift);
    }
    assert_false(mg_band_factor(&form, -2 * most, factor));
    free(a), free(changed), free(turns), free(factor), free(x), free(b);
}

static void shifted_equations_are_solved(void **state) {
    (void)state;
    static const int64_t sizes[] = {1,  2,  3,  31, 32, 33, 34,  35,  50,
                                    63, 64, 65, 66, 67, 97, 130, 165, 300};
    margin_context *context = support_context(NULL, 1);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check(context, sizes[k], sizes[k] + 3, 1);
        check(context, sizes[k], sizes[k] + 3, 1e-150);
        check(context, sizes[k], 2, 1); /* most panels are rounding */
        check(context, sizes[k], 1, 0); /* or zeros */
    }
    margin_context_free(context);
}

static margin_status reduce_one(margin_context *context, void *user, margin_error *error) {
    enum { N = 70 };
    const mg_stop stop = mg_stop_make(context, -1);
    double *a = made(N, N, 1, 4), *turns = numbers(N * MG_BAND);
    const mg_band_form form = {N, N, a, turns};
    (void)user;
    const margin_status status = mg_band_reduce(&stop, &form, error);
    free(a), free(turns);
    return status;
}

static void each_allocation_failing(void **state) {
    (void)state;
    assert_int_equal(support_fail_each_allocation(1, reduce_one, NULL), 2);
}

static void it_stops(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_error error = {0};
    mg_stop stop = mg_stop_make(context, -1);
    double a = 1, turns[MG_BAND];
    const mg_band_form form = {1, 1, &a, turns};
    stop.deadline = 0;
    assert_int_equal(mg_band_reduce(&stop, &form, &error), MARGIN_STOPPED_TIME);
    margin_context_cancel(context);
    assert_int_equal(mg_band_reduce(&stop, &form, &error), MARGIN_ERROR_CANCELLED);
    const mg_band_form huge = {1, (int64_t)INT32_MAX + 1, &a, turns};
    assert_int_equal(mg_band_reduce(&stop, &huge, &error), MARGIN_ERROR_LIMIT);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifted_equations_are_solved),
        cmocka_unit_test(each_allocation_failing),
        cmocka_unit_test(it_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
