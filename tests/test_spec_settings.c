/* Specs as data: steps, settings, one setting changed. */
#include "margin/spec.h"
#include "support/group_context.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static margin_error error;

static margin_spec *parsed(const char *text) {
    margin_spec *spec = NULL;
    if (margin_spec_parse(context, text, &spec, &error) < 0) fail_msg("%s", error.text);
    return spec;
}

static margin_setting setting_of(const margin_spec *spec, int64_t step, const char *option) {
    margin_setting found = {.size = sizeof found};
    if (!margin_spec_setting(spec, step, option, &found)) fail_msg("no %s", option);
    assert_string_equal(found.option, option);
    return found;
}

static void steps_are_the_components(void **state) {
    (void)state;
    margin_spec *spec = parsed("impute(with=median) | poly(degree=3) | ridge(alpha={0.1,1,10})");
    assert_int_equal(margin_spec_steps(spec), 3);
    assert_string_equal(margin_spec_step(spec, 0)->name, "impute");
    assert_int_equal(margin_spec_step(spec, 1)->kind, MARGIN_STAGE);
    assert_ptr_equal(margin_spec_step(spec, 2), margin_spec_learner(spec));
    assert_null(margin_spec_step(spec, 3));
    assert_null(margin_spec_step(spec, -1));
    assert_int_equal(margin_spec_steps(NULL), 0);
    margin_spec_free(spec);
}

static void settings_of_every_type(void **state) {
    (void)state;
    margin_spec *spec =
        parsed("poly(degree=3, interactions=yes) | perceptron(form=dual, rate={0.5,1}, "
               "start_weights=\"1 0.5 -2\")");
    margin_setting s = setting_of(spec, 0, "degree");
    assert_true(s.given && s.number == 3 && s.values == 1 && !s.word && !s.numbers);
    s = setting_of(spec, 0, "interactions");
    assert_true(s.given && s.number == 1);
    s = setting_of(spec, 0, "bias");
    assert_true(!s.given && s.number == 1);
    s = setting_of(spec, 1, "start_weights");
    assert_true(s.given && s.count == 3 && s.numbers[2] == -2 && isnan(s.number));
    s = setting_of(spec, 1, "form");
    assert_true(s.given && isnan(s.number));
    assert_string_equal(s.word, "dual");
    s = setting_of(spec, 1, "rate");
    assert_true(s.given && s.number == 0.5 && s.values == 2);
    margin_setting untouched = {.size = sizeof untouched, .count = 77};
    assert_int_equal(margin_spec_setting(spec, 1, "nothing", &untouched), 0);
    assert_int_equal(margin_spec_setting(spec, 2, "rate", &untouched), 0);
    assert_int_equal(margin_spec_setting(spec, 1, NULL, &untouched), 0);
    untouched.size = sizeof(size_t);
    assert_int_equal(margin_spec_setting(spec, 1, "rate", &untouched), 0);
    assert_int_equal(untouched.count, 77);
    margin_spec_free(spec);
}

/* Every option of the catalogue: what the default says is what a spec says that sets it so. */
static void defaults_said_are_the_defaults(void **state) {
    (void)state;
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *c = margin_component_at(k);
        char text[100];
        snprintf(text, sizeof text, "%s%s", c->name, c->kind == MARGIN_STAGE ? " | knn" : "");
        margin_spec *spec = parsed(text);
        for (int o = 0; o < margin_spec_step(spec, 0)->option_count; o++) {
            const margin_option *option = &margin_spec_step(spec, 0)->options[o];
            margin_setting s = setting_of(spec, 0, option->name);
            assert_int_equal(s.given, 0);
            if (isnan(s.number) && !s.word && !s.numbers) continue;
            if (option->type == MARGIN_OPTION_SWITCH && s.number < 0) continue;
            s.given = 1;
            margin_spec *changed = NULL;
            if (margin_spec_with(spec, 0, &s, &changed, &error) < 0)
                fail_msg("%s of %s: %s", option->name, c->name, error.text);
            const margin_setting again = setting_of(changed, 0, option->name);
            assert_int_equal(again.given, 1);
            assert_true(again.number == s.number || isnan(s.number));
            assert_true(again.count == s.count);
            if (s.word) assert_string_equal(again.word, s.word);
            margin_spec *back = NULL;
            s.given = 0;
            assert_int_equal(margin_spec_with(changed, 0, &s, &back, &error), MARGIN_OK);
            assert_string_equal(margin_spec_text(back), margin_spec_text(spec));
            margin_spec_free(back);
            margin_spec_free(changed);
        }
        margin_spec_free(spec);
    }
}

static void one_setting_is_changed(void **state) {
    (void)state;
    margin_spec *spec = parsed("minmax | logistic(C={0.1..10 log 3}, tol=1e-5)"), *changed = NULL;
    margin_setting s = {.size = sizeof s, .option = "C", .given = 1, .number = 0.1 + 0.2};
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_OK);
    assert_string_equal(margin_spec_text(changed),
                        "minmax | logistic(C=0.30000000000000004, tol=1e-05)");
    assert_int_equal(margin_spec_variants(changed), 1);
    assert_int_equal(margin_spec_variants(spec), 3);
    margin_spec_free(changed);
    s.option = "tol";
    s.number = 0.5;
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_OK);
    assert_string_equal(margin_spec_text(changed), "minmax | logistic(C={0.1..10 log 3}, tol=0.5)");
    margin_spec_free(changed);
    margin_spec_free(spec);
    const double weights[] = {1, -0.5};
    spec = parsed("perceptron");
    s = (margin_setting){.option = "start_weights", .given = 1, .numbers = weights, .count = 2};
    assert_int_equal(margin_spec_with(spec, 0, &s, &changed, &error), MARGIN_OK);
    assert_string_equal(margin_spec_text(changed), "perceptron(start_weights=\"1 -0.5\")");
    margin_spec_free(changed);
    margin_spec_free(spec);
}

/* A word is a word: nothing in it can become an option or a component. */
static void what_cannot_be_is_refused(void **state) {
    (void)state;
    margin_spec *spec = parsed("minmax | logistic"), *changed = NULL;
    margin_setting s = {.size = sizeof s, .option = "C", .given = 1, .number = -1};
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_ERROR_SPEC);
    s.word = "1, tol=0.1";
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_ERROR_SPEC);
    s = (margin_setting){.size = sizeof s, .option = "solver", .given = 1, .word = "x) | knn("};
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_ERROR_SPEC);
    s.word = NULL;
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_ERROR_ARGUMENT);
    s.option = "colour";
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "colour"));
    s.option = NULL;
    assert_int_equal(margin_spec_with(spec, 1, &s, &changed, &error), MARGIN_ERROR_ARGUMENT);
    s = (margin_setting){.size = sizeof s, .option = "C", .given = 1, .number = 1};
    assert_int_equal(margin_spec_with(spec, 2, &s, &changed, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_spec_with(NULL, 0, &s, &changed, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_spec_with(spec, 0, NULL, &changed, &error), MARGIN_ERROR_ARGUMENT);
    assert_null(changed);
    margin_spec_free(spec);
}

static margin_status attempt(margin_context *c, void *user, margin_error *e) {
    margin_spec *spec = NULL, *changed = NULL;
    const margin_setting s = {.size = sizeof s, .option = "C", .given = 1, .number = 3};
    (void)user;
    margin_status status = margin_spec_parse(c, "minmax | logistic(C={1,2})", &spec, e);
    if (status >= 0) status = margin_spec_with(spec, 1, &s, &changed, e);
    margin_spec_free(changed);
    margin_spec_free(spec);
    return status;
}

static void allocations_may_fail(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, attempt, NULL) > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_the_components),       cmocka_unit_test(settings_of_every_type),
        cmocka_unit_test(defaults_said_are_the_defaults), cmocka_unit_test(one_setting_is_changed),
        cmocka_unit_test(what_cannot_be_is_refused),      cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
