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

/* Fourteen million steps of 1e-9 beside a weight of 1, each rounded the same way. */
static void test_the_drift_of_many_updates(void **state) {
    (void)state;
    static const double x[] = {1.03, 1.03, 1.03}, y[] = {1, 0, 0}, weights[] = {1, 1e-9, 1e-9};
    const margin_data data = {.x = margin_dense_f64(x, 3, 1, 1),
                              .y = margin_values_f64(y, 3),
                              .weights = margin_values_f64(weights, 3)};
    margin_context *context = support_context(NULL, 1);
    margin_model *model =
        fit_text(context, "perceptron(form=dual, passes=7000000)", &data, &(margin_report){0});
    margin_report found = {0};
    margin_error error = {0};
    if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
        fail_msg("%s%s", error.text, found.reason);
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_fits),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_the_drift_of_many_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
