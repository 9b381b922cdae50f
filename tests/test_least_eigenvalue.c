/* The bound of the least eigenvalue and the equation that is solved on the way, for diagonal
 * matrices, whose eigenvalues are known. */
#include "support/support.h"

#include "learn/exact/least_eigenvalue.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 400 };
static int products; /* made so far */

static margin_status product(void *state, const double *v, double *image, margin_error *error) {
    const double *diagonal = state;
    (void)error;
    products++;
    for (int j = 0; j < SIZE; j++)
        for (int l = 0; l < MG_LEAST_LANES; l++)
            image[j * MG_LEAST_LANES + l] = diagonal[j] * v[j * MG_LEAST_LANES + l];
    return MARGIN_OK;
}

static bool is_enough(const void *state, double left, double fallen, double least) {
    assert_true(fallen >= 0 && least > 0);
    return left / least <= *(const double *)state;
}

/* Returns the bound. */
static double bound(double *diagonal, uint64_t seed, int64_t most, int64_t most_steps, double *x) {
    static double work[MG_LEAST_VECTORS * MG_LEAST_LANES * SIZE], right[SIZE];
    const double wanted = 1e-12;
    double least = -1;
    mg_least_equation equation = {
        .right = right, .x = x, .most = most_steps, .enough = is_enough, .state = &wanted};
    const mg_least_eigenvalue job = {.size = SIZE,
                                     .product = product,
                                     .state = diagonal,
                                     .seed = seed,
                                     .most = most,
                                     .work = work,
                                     .equation = &equation};
    for (int j = 0; j < SIZE; j++)
        right[j] = j % 3 - 1;
    assert_int_equal(mg_least_eigenvalue_bound(&job, &least, NULL), MARGIN_OK);
    assert_true(equation.steps <= most_steps && equation.steps <= most);
    return least;
}

/* From 1 down to 10^-k: never above the least one, and not far below. */
static void test_bound(void **state) {
    double diagonal[SIZE], x[SIZE];
    (void)state;
    for (int k = 0; k < 4; k++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            double distance = 0;
            for (int j = 0; j < SIZE; j++)
                diagonal[j] = pow(10, -k * (double)j / (SIZE - 1));
            const double true_least = pow(10, -k), least = bound(diagonal, seed, 1000, 1000, x);
            assert_true(least <= true_least && least > true_least / 1000);
            for (int j = 0; j < SIZE; j++) {
                const double off = x[j] - (j % 3 - 1) / diagonal[j];
                distance += diagonal[j] * off * off;
            }
            assert_true(distance <= 1e-12);
        }
}

/* One eigenvalue that is next to nothing, where the right side is not. */
static void test_hidden(void **state) {
    double diagonal[SIZE], x[SIZE];
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++)
        for (int k = 2; k < 18; k += 3) {
            for (int j = 0; j < SIZE; j++)
                diagonal[j] = 1 + j % 7;
            diagonal[1] = k < 17 ? pow(10, -k) : 0;
            assert_true(bound(diagonal, seed, 60, 60, x) <= diagonal[1]);
        }
}

/* Where there is no bound that is seen soon; where it is far, it is found. */
static void test_hopeless(void **state) {
    double diagonal[SIZE], x[SIZE];
    (void)state;
    for (int j = 0; j < SIZE; j++)
        diagonal[j] = j < 40 ? 0 : 1 + j % 7;
    products = 0;
    assert_true(bound(diagonal, 1, 1000, 1000, x) == 0);
    assert_true(products <= 32);
    for (int j = 0; j < SIZE; j++)
        diagonal[j] = pow(10, -4 * (double)j / (SIZE - 1));
    products = 0;
    assert_true(bound(diagonal, 1, 1000, 1000, x) > 0);
    assert_true(products > 128);
}

/* The equation ends first, or products do. */
static void test_limits(void **state) {
    double diagonal[SIZE], x[SIZE];
    (void)state;
    for (int j = 0; j < SIZE; j++)
        diagonal[j] = 1 + (double)j / SIZE;
    assert_true(bound(diagonal, 1, 5, 100, x) == 0);
    assert_true(bound(diagonal, 1, 100, 2, x) > 0);
    assert_true(bound(diagonal, 1, 100, 0, x) > 0);
    diagonal[7] = NAN;
    assert_true(bound(diagonal, 1, 100, 100, x) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_hopeless),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
