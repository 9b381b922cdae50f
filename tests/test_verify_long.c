/* margin_verify accepts what a fit made and nothing else: test_verify.c at length. */
#include "verify_cases.h"

static void test_honest_fits(void **state) {
    (void)state;
    assert_honest_fits_verify(5000, 3000000);
}

static void test_changes(void **state) {
    (void)state;
    assert_changes_are_noticed(5000, 4000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_fits),
        cmocka_unit_test(test_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
