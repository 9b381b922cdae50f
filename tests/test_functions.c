/* Functions of a single number: the logistic curve and its inverse. */
#include "support/support.h"

#include "margin/functions.h"

#include <float.h>
#include <math.h>

static void test_known_values(void **state) {
    (void)state;
    assert_true(margin_logistic(0, 1, 1, 0) == 0.5);
    assert_true(margin_logistic(7, 12, 3, 7) == 6);
    assert_close(margin_logistic(1, 1, 1, 0), 0.73105857863000487925, 1e-16);
    assert_close(margin_logistic(-1, 1, 1, 0), 0.26894142136999512075, 1e-16);
    assert_close(margin_logistic(5, 10, 0.5, 3), 7.3105857863000487925, 1e-15);
    assert_close(margin_logistic(1, 1, -2, 0), 0.11920292202211755594, 1e-16);
    assert_true(margin_log_odds(0.5) == 0);
    assert_close(margin_log_odds(0.75), 1.0986122886681098, 1e-15);
    assert_close(margin_log_odds(0.1), -2.1972245773362196, 1e-15);
}

static void test_tails(void **state) {
    (void)state;
    const double low = margin_logistic(-700, 1, 1, 0);
    assert_true(fabs(low / 9.8596765437597708567e-305 - 1) < 1e-15);
    assert_true(margin_logistic(-1e308, 1, 1e308, 0) == 0);
    assert_true(margin_logistic(1e308, 3, 1e308, -1e308) == 3);
    assert_true(margin_logistic((double)INFINITY, 2, 1, 0) == 2);
    assert_true(margin_logistic(-(double)INFINITY, 2, 1, 0) == 0);
    assert_true(isnan(margin_logistic((double)NAN, 1, 1, 0)));
    assert_true(isnan(margin_logistic((double)INFINITY, 1, 0, 0)));
    assert_true(margin_log_odds(0) == -(double)INFINITY && margin_log_odds(1) == (double)INFINITY);
    assert_true(isnan(margin_log_odds(-0.1)) && isnan(margin_log_odds(1.1)));
    assert_true(isnan(margin_log_odds((double)NAN)));
    /* next to 1/2 the odds are next to 1: 4 (p - 1/2) to first order */
    assert_close(margin_log_odds(0.5 + 0x1p-40) / 0x1p-38, 1, 1e-15);
}

static void test_inverse(void **state) {
    (void)state;
    for (double t = -30; t <= 30; t += 0.37) {
        const double p = margin_logistic(t, 1, 1, 0);
        const double resolution = DBL_EPSILON / (p * (1 - p)); /* of p, seen in the score */
        assert_true(fabs(margin_log_odds(p) - t) <= 4 * resolution + 1e-15 * fabs(t));
        assert_true(fabs(p + margin_logistic(-t, 1, 1, 0) - 1) <= DBL_EPSILON);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
