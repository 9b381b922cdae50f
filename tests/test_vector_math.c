/* Elementary functions of arrays: accuracy against the C library in extended precision, the same
 * bits everywhere. */
#include "support/support.h"

#include "math/rows/vector_math.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void (*array_function)(mg_isa isa, const double *x, int64_t count, double *out);

/* Distance in units in the last place of the exact value. */
static double ulps(double found, long double exact) {
    if (found == (double)exact) return 0;
    const double rounded = fabs((double)exact);
    const double unit = fmax(nextafter(rounded, (double)INFINITY) - rounded, DBL_TRUE_MIN);
    return (double)(fabsl((long double)found - exact) / (long double)unit);
}

enum { NUMBERS = 20000 };

static void check_accuracy(array_function f, long double (*exact)(long double), const double *x,
                           double limit) {
    static double out[NUMBERS];
    double worst = 0;
    if (getenv("MARGIN_TEST_LAUNCHED")) skip(); /* valgrind rounds long double to double */
    f(mg_isa_level(), x, NUMBERS, out);
    for (int i = 0; i < NUMBERS; i++)
        worst = fmax(worst, ulps(out[i], exact((long double)x[i])));
    if (!(worst <= limit)) fail_msg("%g units in the last place", worst);
}

static void test_exp_is_accurate(void **state) {
    static double x[NUMBERS];
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < NUMBERS; i++)
        x[i] = (support_uniform(&seed) - 0.5) * (i % 3 == 0 ? 1480 : i % 3 == 1 ? 10 : 1e-3);
    check_accuracy(mg_vector_exp, expl, x, 1.0);
}

static void test_exp_at_the_ends(void **state) {
    const double x[] = {0.0,     -0.0,   1.0,   709.78, 709.79,           -744.4,
                        -745.14, -708.5, 1e300, -1e300, (double)INFINITY, -(double)INFINITY,
                        1e-320};
    double out[13];
    (void)state;
    mg_vector_exp(mg_isa_level(), x, 13, out);
    assert_true(out[0] == 1 && out[1] == 1 && out[12] == 1);
    for (int i = 2; i < 8; i++)
        if (isfinite(exp(x[i]))) assert_true(ulps(out[i], expl((long double)x[i])) <= 1);
    assert_true(isfinite(out[3]) && isinf(out[4]));
    assert_true(out[5] > 0 && out[6] == 0 && out[7] > 0 && out[7] < DBL_MIN);
    assert_true(isinf(out[8]) && out[9] == 0 && isinf(out[10]) && out[11] == 0);
}

static void test_log1p_is_accurate(void **state) {
    static double x[NUMBERS];
    uint64_t seed = 2;
    (void)state;
    for (int i = 0; i < NUMBERS; i++)
        x[i] = i % 2 ? support_uniform(&seed) : exp(-700 * support_uniform(&seed));
    x[0] = 0;
    x[1] = 1;
    x[2] = 0.41421356237309515;
    x[3] = nextafter(x[2], 0);
    check_accuracy(mg_vector_log1p, log1pl, x, 1.5);
}

static void test_nan_stays(void **state) {
    double x[9], out[9];
    (void)state;
    for (int i = 0; i < 9; i++)
        x[i] = i == 4 || i == 8 ? (double)NAN : 0.25;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        mg_vector_exp((mg_isa)isa, x, 9, out);
        assert_true(isnan(out[4]) && isnan(out[8]) && out[3] == out[5] && !isnan(out[3]));
        mg_vector_log1p((mg_isa)isa, x, 9, out);
        assert_true(isnan(out[4]) && isnan(out[8]) && out[3] == out[5] && !isnan(out[3]));
    }
}

/* Any count, place in memory and instruction set, and in place. */
static void check_bits(array_function f, double low, double high) {
    enum { MOST = 40 };
    double x[MOST + 1], expected[MOST], out[MOST + 1];
    uint64_t seed = 3;
    for (int i = 0; i <= MOST; i++)
        x[i] = low + (high - low) * support_uniform(&seed);
    for (int count = 0; count <= MOST; count++) {
        for (int i = 0; i < count; i++)
            f(MG_ISA_REF, x + 1 + i, 1, expected + i);
        for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
            memset(out, 0, sizeof out);
            f((mg_isa)isa, x + 1, count, out);
            assert_memory_equal(out, expected, (size_t)count * sizeof *out);
            assert_true(out[count] == 0);
            memcpy(out, x + 1, (size_t)count * sizeof *out);
            f((mg_isa)isa, out, count, out);
            assert_memory_equal(out, expected, (size_t)count * sizeof *out);
        }
    }
}

static void test_same_bits_everywhere(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        check_bits(mg_vector_exp, -800.0 / (i + 1), 750.0 / (i + 1));
        check_bits(mg_vector_log1p, 0, 1.0 / (i + 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_is_accurate),      cmocka_unit_test(test_exp_at_the_ends),
        cmocka_unit_test(test_log1p_is_accurate),    cmocka_unit_test(test_nan_stays),
        cmocka_unit_test(test_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
