/* The catalogue: every entry is complete, and its defaults follow its own rules. */
#include "support/support.h"

#include "base/text/text.h"
#include "model/spec/spec_components.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_sentence(const char *what, const char *name, const char *text) {
    if (!text || strlen(text) < 10) fail_msg("%s of %s is missing", what, name);
    const char last = text[strlen(text) - 1];
    if (last == '.' || isspace((unsigned char)last))
        fail_msg("%s of %s ends in '%c'", what, name, last);
    if (strchr(text, '\n')) fail_msg("%s of %s has several lines", what, name);
}

/* Lower-case words joined by '-' or '_'. */
static void assert_name(const char *name) {
    assert_non_null(name);
    assert_in_range(strlen(name), 1, 23);
    for (const char *c = name; *c; c++)
        if (!(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-' || *c == '_') &&
            strcmp(name, "C") != 0)
            fail_msg("the name %s has a '%c'", name, *c);
}

static void assert_choices(const char *component, const margin_option *option) {
    const int count = mg_choice_count(option->choices);
    const bool needed = option->type == MARGIN_OPTION_CHOICE;
    if (needed && count < 1) fail_msg("%s of %s has no choices", option->name, component);
    if (option->choices && !needed && option->type != MARGIN_OPTION_NUMBER &&
        option->type != MARGIN_OPTION_INTEGER)
        fail_msg("%s of %s has choices without use", option->name, component);
    for (int k = 0; k < count; k++) {
        int64_t length;
        double number;
        const char *word = mg_choice_at(option->choices, k, &length);
        assert_true(length > 0);
        assert_int_equal(mg_choice_find(option->choices, word, length), k); /* no word twice */
        if (!needed) assert_false(margin_number_parse_f64(word, (size_t)length, &number));
    }
}

static void assert_range(const char *component, const margin_option *option) {
    const bool numeric = option->type == MARGIN_OPTION_NUMBER ||
                         option->type == MARGIN_OPTION_INTEGER ||
                         option->type == MARGIN_OPTION_NUMBERS;
    if (numeric && !(option->low < option->high))
        fail_msg("%s of %s has no range", option->name, component);
    if (!numeric && (option->low != 0 || option->high != 0))
        fail_msg("%s of %s has a range without use", option->name, component);
}

static void assert_default(const char *component, const margin_option *option) {
    margin_error error;
    mg_heap *own;
    mg_arena arena;
    mg_option_value value;
    assert_int_equal(mg_heap_create(NULL, 0, &own, &error), MARGIN_OK);
    mg_arena_init(&arena, own);
    if (mg_option_default(component, option, &arena, &value, &error) != MARGIN_OK)
        fail_msg("%s", error.text);
    assert_false(value.given);
    if (!option->default_text) {
        assert_false(mg_option_has_value(&value));
    } else { /* as it would be written: what is printed is the default itself */
        mg_text text;
        mg_text_init(&text, own);
        mg_option_print(option, &value, &text);
        assert_string_equal(text.data, option->default_text);
        mg_text_free(&text);
    }
    mg_arena_free(&arena);
    mg_heap_release(own);
}

/* A default holds where no option of the group is given, so only one of them can have it. */
static void assert_group(const margin_component *component, const margin_option *option) {
    int members = 0, defaults = 0;
    for (int k = 0; k < component->option_count; k++) {
        const char *group = component->options[k].group;
        if (!group || strcmp(group, option->group) != 0) continue;
        members++;
        defaults += component->options[k].default_text != NULL;
    }
    if (members < 2) fail_msg("%s of %s is alone in its group", option->name, component->name);
    if (defaults > 1)
        fail_msg("the group of %s of %s has %d defaults", option->name, component->name, defaults);
}

/* Words that mean the same everywhere have one role; only numbers have any. */
static void assert_role(const margin_option *option) {
    static const struct {
        const char *name;
        int32_t role;
    } known[] = {{"C", MARGIN_ROLE_RICHER},       {"alpha", MARGIN_ROLE_SIMPLER},
                 {"lambda", MARGIN_ROLE_SIMPLER}, {"sigma", MARGIN_ROLE_SIMPLER},
                 {"gamma", MARGIN_ROLE_RICHER},   {"degree", MARGIN_ROLE_RICHER},
                 {"centres", MARGIN_ROLE_RICHER}, {"passes", MARGIN_ROLE_RICHER},
                 {"radius", MARGIN_ROLE_SIMPLER}};
    const bool number =
        option->type == MARGIN_OPTION_NUMBER || option->type == MARGIN_OPTION_INTEGER;
    assert_true(option->role == MARGIN_ROLE_NONE || number);
    assert_true(option->role != MARGIN_ROLE_TOLERANCE || strcmp(option->name, "tol") == 0);
    for (size_t k = 0; number && k < sizeof known / sizeof *known; k++)
        if (strcmp(option->name, known[k].name) == 0) assert_int_equal(option->role, known[k].role);
}

/* The option that a condition names. */
static const margin_option *option_of_when(const margin_component *component,
                                           const margin_option *option) {
    const size_t length = strcspn(option->when, "=");
    for (int k = 0; k < component->option_count; k++) {
        const char *name = component->options[k].name;
        if (strlen(name) == length && strncmp(name, option->when, length) == 0)
            return &component->options[k];
    }
    fail_msg("%s of %s: no option for %s", option->name, component->name, option->when);
    return NULL;
}

static void assert_when(const margin_component *component, const margin_option *option) {
    const margin_option *other = option_of_when(component, option);
    const char *choices = strchr(option->when, '='), *word;
    int64_t letters;
    assert_non_null(choices);
    assert_int_equal(other->type, MARGIN_OPTION_CHOICE);
    for (int w = 0; (word = mg_choice_at(choices + 1, w, &letters)); w++)
        assert_true(mg_choice_find(other->choices, word, letters) >= 0);
}

static void assert_option(const margin_component *component, int k) {
    const margin_option *option = &component->options[k];
    assert_name(option->name);
    assert_sentence("the help", option->name, option->help);
    for (int other = 0; other < k; other++)
        assert_string_not_equal(component->options[other].name, option->name);
    assert_int_equal(mg_option_index(component, option->name), k);
    assert_choices(component->name, option);
    assert_range(component->name, option);
    assert_default(component->name, option);
    if (option->group) assert_group(component, option);
    if (option->when) assert_when(component, option);
    assert_role(option);
}

static void test_components(void **state) {
    (void)state;
    for (int index = 0; index < margin_component_count(); index++) {
        const margin_component *component = margin_component_at(index);
        assert_name(component->name);
        assert_sentence("the summary", component->name, component->summary);
        assert_sentence("the source", component->name, component->source);
        assert_non_null(component->formula);
        assert_true(strlen(component->formula) > 5 && strlen(component->formula) < 160);
        assert_true(component->option_count == 0 || component->options);
        for (int k = 0; k < component->option_count; k++)
            assert_option(component, k);
    }
}

/* The page exists and has a heading for the component and every option's name. */
static void test_pages(void **state) {
    (void)state;
    for (int index = 0; index < margin_component_count(); index++) {
        const margin_component *component = margin_component_at(index);
        char path[SUPPORT_PATH];
        size_t length;
        assert_non_null(component->page);
        if (access(support_source(path, component->page), R_OK) != 0)
            fail_msg("%s: no page %s", component->name, component->page);
        char *page = support_read_file(path, &length);
        assert_contains(page, component->name);
        for (int k = 0; k < component->option_count; k++)
            if (!strstr(page, component->options[k].name))
                fail_msg("%s does not mention the option %s of %s", component->page,
                         component->options[k].name, component->name);
        free(page);
    }
}

static void test_order(void **state) {
    (void)state;
    assert_true(margin_component_count() >= 6);
    for (int index = 1; index < margin_component_count(); index++) {
        const margin_component *before = margin_component_at(index - 1);
        const margin_component *component = margin_component_at(index);
        assert_true(before->kind <= component->kind); /* stages first */
        if (before->kind == component->kind) assert_true(strcmp(before->name, component->name) < 0);
    }
    for (int index = 0; index < margin_component_count(); index++) /* no name in both groups */
        assert_ptr_equal(margin_component_find(margin_component_at(index)->name),
                         margin_component_at(index));
}

static void test_lookup(void **state) {
    (void)state;
    const int count = margin_component_count();
    assert_null(margin_component_at(-1));
    assert_null(margin_component_at(count));
    assert_null(margin_component_find("quux"));
    assert_null(margin_component_find(""));
    assert_null(margin_component_find(NULL));
    assert_null(mg_stage_find("perceptron"));
    assert_null(mg_learner_find("minmax"));
    assert_null(mg_stage_at(-1));
    assert_null(mg_learner_at(-1));
    assert_null(mg_learner_at(count));
    for (int index = 0; index < count; index++) {
        const margin_component *component = margin_component_at(index);
        const bool stage = component->kind == MARGIN_STAGE;
        assert_true((mg_stage_at(index) != NULL) == stage);
        assert_true((mg_learner_at(index) != NULL) == !stage);
        if (stage)
            assert_ptr_equal(&mg_stage_find(component->name)->info, component);
        else
            assert_ptr_equal(&mg_learner_find(component->name)->info, component);
    }
    assert_ptr_equal(mg_hypothesis_kind_find("linear"), &mg_hypothesis_linear);
    assert_ptr_equal(mg_hypothesis_kind_find("expansion"), &mg_hypothesis_expansion);
    assert_null(mg_hypothesis_kind_find("quux"));
}

/* What the pipeline calls without asking is there. */
static void test_functions(void **state) {
    (void)state;
    for (int index = 0; index < margin_component_count(); index++) {
        const mg_stage *stage = mg_stage_at(index);
        const mg_learner *learner = mg_learner_at(index);
        if (stage) assert_true(stage->fit && stage->attach && stage->apply_row);
        if (learner) {
            const unsigned tasks = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS |
                                   MARGIN_CAN_REGRESSION | MARGIN_CAN_CLUSTER;
            assert_non_null(learner->fit);
            assert_non_null(learner->verify);
            assert_true(learner->info.abilities & tasks);
            assert_true(!(learner->info.abilities & MARGIN_CAN_PROBABILITY) ==
                        !learner->probabilities);
        }
    }
}

/* An option that is given where it is not for is refused by a fit, and the sentence says what it is
 * for. */
static void assert_refused(margin_context *context, const margin_component *component,
                           const margin_option *option) {
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 9}, y[] = {0, 1, 0, 1};
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_values_f64(y, 4)};
    const bool numbers = option->type == MARGIN_OPTION_NUMBERS;
    char text[200], value[40] = "1", says[100];
    margin_spec *spec;
    margin_model *model;
    margin_error error;
    const char *holds = option_of_when(component, option)->default_text;
    if (holds && strstr(option->when, holds)) return; /* what it is for is the default */
    if (option->type == MARGIN_OPTION_CHOICE)
        snprintf(value, sizeof value, "%.*s", (int)strcspn(option->choices, "|"), option->choices);
    snprintf(text, sizeof text, "%s(%s=%s%s%s)%s", component->name, option->name,
             numbers ? "'" : "", value, numbers ? "'" : "",
             component->kind == MARGIN_STAGE ? " | ridge" : "");
    assert_int_equal(margin_spec_parse(context, text, &spec, &error), MARGIN_OK);
    snprintf(says, sizeof says, "%s belongs to %.*s=", option->name,
             (int)strcspn(option->when, "="), option->when);
    if (margin_fit(context, spec, &data, &model, NULL, &error) != MARGIN_ERROR_SPEC)
        fail_msg("%s is not refused", text);
    assert_contains(error.text, says);
    margin_spec_free(spec);
}

static void test_conditions(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    int conditions = 0;
    for (int index = 0; index < margin_component_count(); index++) {
        const margin_component *component = margin_component_at(index);
        const margin_option *option;
        for (int64_t k = 0; (option = margin_component_option(component, k)); k++) {
            if (!option->when) continue;
            assert_refused(context, component, option);
            conditions++;
        }
    }
    assert_true(conditions > 50);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_components), cmocka_unit_test(test_pages),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_functions),  cmocka_unit_test(test_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
