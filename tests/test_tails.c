/* Tails of distributions against values computed in 40 digits. */
#include "math/vectors/tails.h"
#include "support/support.h"

#include <math.h>

/* The values are correct to every digit; what is allowed is the rounding of the result. */
static void assert_relative(double value, double expected) {
    static const double most = 4e-16;
    if (!(fabs(value - expected) <= most * expected))
        fail_msg("%.17g, not %.17g: relative %.3g", value, expected, value / expected - 1);
}

static void test_normal(void **state) {
    (void)state;
    static const double known[][2] = {
        {0.001, 0.999202115572177875},    {0.5, 0.617075077451973793},
        {1.0, 0.317310507862914103},      {1.96, 0.0499957902964408724},
        {3.0, 0.00269979606326018905},    {6.0, 1.97317529007539628e-9},
        {10.0, 1.52397060483210521e-23},  {20.0, 5.50724823721246739e-89},
        {37.0, 1.14511424450491536e-299},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        assert_relative(mg_normal_two_sided(known[k][0]), known[k][1]);
        assert_relative(mg_normal_two_sided(-known[k][0]), known[k][1]);
    }
    assert_true(mg_normal_two_sided(0) == 1 && mg_normal_two_sided((double)INFINITY) == 0);
}

static void test_student(void **state) {
    (void)state;
    static const double known[][3] = {
        {1e-09, 3, 0.999999999264894806},
        {0.3, 0.5, 0.84485915213049082},
        {1, 1, 0.5},
        {1.3, 7, 0.234767835392377153},
        {2, 2, 0.183503419072273967},
        {2.5, 9.5, 0.0325850577896043859},
        {3.5, 48, 0.00101523509796498961},
        {9.464, 48, 1.48978673466178732e-12},
        {40, 3, 0.0000343806807891585283},
        {100000000.0, 2, 9.9999999999999985e-17},
        {1.3, 1000.0, 0.193900528415457296},
        {2, 10000.0, 0.0455272606614354427},
        {1.3, 100000.0, 0.193603965543180008},
        {8, 100000.0, 1.25739198762563736e-15},
        {0.01, 1000000.0, 0.992021289365547673},
        {2, 1000000.0, 0.0455005338513192084},
        {30, 1000000.0, 1.20200942336634379e-197},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        assert_relative(mg_student_two_sided(known[k][0], known[k][1]), known[k][2]);
        assert_relative(mg_student_two_sided(-known[k][0], known[k][1]), known[k][2]);
    }
    /* so many degrees of freedom that it is the normal distribution */
    for (int t = 1; t < 30; t++) {
        const double normal = mg_normal_two_sided(t);
        assert_close(mg_student_two_sided(t, 1e300) / normal, 1, 1e-15);
        assert_close(mg_student_two_sided(t, (double)INFINITY) / normal, 1, 1e-15);
        /* the first correction is (t^3 + t) phi(t) / (2 v) */
        const double phi = exp(-0.5 * t * t) / sqrt(2 * acos(-1.0));
        const double change = (t * t * t + t) * phi / (2 * 2e9) / normal;
        assert_close((mg_student_two_sided(t, 2e9) / normal - 1) / change, 1, 1e-3);
        assert_close((mg_student_two_sided(t, 0.5e9) / normal - 1) / change / 4, 1, 1e-3);
    }
    assert_true(mg_student_two_sided(0, 3) == 1);
    assert_true(mg_student_two_sided((double)INFINITY, 3) == 0);
    assert_true(mg_student_two_sided(1e200, 1) > 6.3e-201);
    assert_true(isnan(mg_student_two_sided(1, 0)) && isnan(mg_student_two_sided((double)NAN, 1)));
}

static void test_fisher(void **state) {
    (void)state;
    static const double known[][4] = {
        {0.001, 1, 1, 0.979875021696355869},
        {0.5, 2, 3, 0.649519052838328985},
        {1, 10, 10, 0.5},
        {2.5, 6, 9, 0.104708096789764343},
        {330.2853392345883, 6, 9, 4.98403052872478748e-10},
        {89.56710653646773, 1, 48, 1.48983649629508696e-12},
        {1.1, 100, 1000, 0.244809798622485235},
        {1.3, 1000, 1000, 0.0000172608820278504762},
        {0.9, 0.5, 3, 0.3215522477549727},
        {2, 3, 100000.0, 0.111617522855639136},
        {10, 2, 1000000.0, 0.0000454044699219299305},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_relative(mg_fisher_upper(known[k][0], known[k][1], known[k][2]), known[k][3]);
    for (int v = 1; v < 40; v++) /* F with 1 and v degrees of freedom is the square of t */
        assert_relative(mg_fisher_upper(2.25, 1, v), mg_student_two_sided(1.5, v));
    assert_true(mg_fisher_upper(0, 2, 2) == 1 && mg_fisher_upper((double)INFINITY, 2, 2) == 0);
    assert_close(mg_fisher_upper(3, 4, 1e14) / mg_chi_squared_upper(12, 4), 1, 1e-12);
    assert_true(isnan(mg_fisher_upper(1, -1, 2)) && isnan(mg_fisher_upper((double)NAN, 1, 2)));
}

static void test_chi_squared(void **state) {
    (void)state;
    static const double known[][3] = {
        {1e-06, 1, 0.999202115572177875},    {0.5, 1, 0.479500122186953462},
        {3.84, 1, 0.0500435212487051032},    {26.58, 2, 1.69132214597038782e-6},
        {1, 5, 0.962565773247296369},        {30, 5, 0.0000147485810384430523},
        {50, 100, 0.999993046694752384},     {100, 100, 0.481191684527956718},
        {300, 100, 7.41210085732287679e-22}, {10200, 10000, 0.0793288810776189768},
        {1400, 2, 9.85967654375977086e-305},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_relative(mg_chi_squared_upper(known[k][0], known[k][1]), known[k][2]);
    for (int z = 1; z < 30; z++) { /* one degree of freedom is the square of a normal */
        const double normal = mg_normal_two_sided(z);
        assert_relative(mg_chi_squared_upper((double)z * z, 1), normal);
    }
    assert_true(mg_chi_squared_upper(0, 3) == 1);
    assert_true(mg_chi_squared_upper((double)INFINITY, 3) == 0);
    assert_true(isnan(mg_chi_squared_upper(1, 0)));
}

static void test_quantile(void **state) {
    (void)state;
    static const double known[][3] = {
        {0.05, 48, 2.0106347576242322},
        {0.05, 1, 12.7062047361747039},
        {0.01, 9, 3.24983554159212626},
        {0.5, 3, 0.764892328404345281},
        {1e-10, 3, 2804.29382533952561},
        {0.32, 100000, 0.994462828043087058},
        {0.999, 0.3, 0.00218037391327067218},
        {0.05, (double)INFINITY, 1.95996398454005421},
        {0.01, (double)INFINITY, 2.57582930354890075},
        {0.3173105078629141, (double)INFINITY, 1.00000000000000002},
        {1e-12, (double)INFINITY, 7.13050684817132446},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_relative(mg_student_quantile(known[k][0], known[k][1]), known[k][2]);
    for (int k = 1; k < 20; k++) {
        const double t = mg_student_quantile(1.0 / (1 << k), k);
        assert_close(mg_student_two_sided(t, k) * (1 << k), 1, 4e-15);
    }
    assert_true(isnan(mg_student_quantile(0, 3)) && isnan(mg_student_quantile(1, 3)));
    assert_true(isnan(mg_student_quantile(0.5, 0)));
}

int main(void) {
    if (SUPPORT_SLOWER >= 30) return 0; /* valgrind has no more digits than double precision */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal),   cmocka_unit_test(test_student),
        cmocka_unit_test(test_fisher),   cmocka_unit_test(test_chi_squared),
        cmocka_unit_test(test_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
