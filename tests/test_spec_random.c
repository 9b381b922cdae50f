/* Random specs, made from the catalogue: what is printed reads back to the same values, and slips
 * are refused with a place. */
#include "support/support.h"

#include "model/spec/spec_components.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_spec *parse(const char *text) {
    margin_spec *spec = NULL;
    margin_error error = {0};
    if (margin_spec_parse(NULL, text, &spec, &error) != MARGIN_OK) fail_msg("%s", error.text);
    assert_non_null(spec);
    return spec;
}

/* ---- Random specs from the catalogue --------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t length;
    uint64_t random;
} writer;

static void add(writer *w, const char *text) {
    const size_t length = strlen(text);
    if (w->length + length + 1 > 60000) fail_msg("the random spec is too long");
    memcpy(w->text + w->length, text, length + 1);
    w->length += length;
}

static uint64_t below(writer *w, uint64_t bound) {
    return support_random(&w->random) % bound;
}

/* Any number in the option's range, of any magnitude; often a short one. */
static double random_number(writer *w, const margin_option *option) {
    for (;;) {
        double value;
        uint64_t bits = support_random(&w->random);
        switch (below(w, 4)) {
        case 0:
            memcpy(&value, &bits, sizeof value);
            break;
        case 1:
            value = (double)(int64_t)(bits % 2001) / 1000 - 1;
            break;
        case 2:
            value = ldexp((double)(bits % 1000), (int)below(w, 60) - 30);
            break;
        default:
            value = option->low +
                    (fmin(option->high, 1e15) - option->low) * support_uniform(&w->random);
            break;
        }
        if (option->type == MARGIN_OPTION_INTEGER) value = floor(value);
        const bool low = option->low_open ? value > option->low : value >= option->low;
        const bool high = option->high_open ? value < option->high : value <= option->high;
        const bool whole = option->type != MARGIN_OPTION_INTEGER || fabs(value) < 9e15;
        if (low && high && whole && isfinite(value)) return value;
    }
}

static void add_number(writer *w, double value) {
    char text[64];
    margin_number_print_f64(value, text);
    if (below(w, 4) == 0) snprintf(text, sizeof text, "%.17g", value);
    add(w, text);
}

static void add_text(writer *w) {
    static const char *const pieces[] = {
        "a",  "Z9", "_",   "-",  " ",  ",",        "|",
        "(",  ")",  "{",   "}",  "=",  "..",       ".",
        "\"", "'",  "\\",  "\n", "\t", "\xc3\xa4", "\xf0\x9f\x98\x80",
        ";",  "#",  "\x7f"};
    const char quote = below(w, 2) ? '"' : '\'';
    const char quotes[2] = {quote, '\0'};
    add(w, quotes);
    for (uint64_t k = below(w, 8); k > 0; k--) {
        const char *piece = pieces[below(w, MG_LENGTH(pieces))];
        if (*piece == quote || *piece == '\\') add(w, "\\");
        add(w, piece);
    }
    add(w, quotes);
}

static void add_choice(writer *w, const char *choices) {
    int64_t length;
    const char *word =
        mg_choice_at(choices, (int)below(w, (uint64_t)mg_choice_count(choices)), &length);
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)length, word);
    add(w, copy);
}

static void add_value(writer *w, const margin_option *option) {
    static const char *const switches[] = {"yes", "no", "true", "false", "1", "0"};
    switch (option->type) {
    case MARGIN_OPTION_NUMBER:
    case MARGIN_OPTION_INTEGER:
        if (option->choices && below(w, 2))
            add_choice(w, option->choices);
        else
            add_number(w, random_number(w, option));
        break;
    case MARGIN_OPTION_CHOICE:
        add_choice(w, option->choices);
        break;
    case MARGIN_OPTION_SWITCH:
        add(w, switches[below(w, 6)]);
        break;
    case MARGIN_OPTION_NUMBERS:
        add(w, "\"");
        for (uint64_t k = 1 + below(w, 5); k > 0; k--) {
            add_number(w, random_number(w, option));
            add(w, below(w, 2) ? " " : " , ");
        }
        add(w, "\"");
        break;
    case MARGIN_OPTION_TEXT:
        add_text(w);
        break;
    }
}

static void add_space(writer *w) {
    static const char *const spaces[] = {"", "", " ", "\n", "\t  "};
    add(w, spaces[below(w, 5)]);
}

static void add_component(writer *w, const margin_component *component, bool sets) {
    const char *before = "(";
    bool group = false;
    add_space(w);
    add(w, component->name);
    for (int k = 0; k < component->option_count; k++) {
        /* from the back on every other occasion, so that the order of the table is not the text's
         */
        const int at = component->option_count % 2 ? k : component->option_count - 1 - k;
        const margin_option *option = &component->options[at];
        if (below(w, 3) || (option->group && group)) continue;
        group |= option->group != NULL;
        add(w, before);
        add_space(w);
        add(w, option->name);
        add(w, "=");
        add_space(w);
        const bool set = sets && below(w, 4) == 0;
        if (set) add(w, "{");
        add_value(w, option);
        for (uint64_t more = set ? below(w, 3) : 0; more > 0; more--) {
            add(w, ", ");
            add_value(w, option);
        }
        if (set) add(w, "}");
        add_space(w);
        before = ",";
    }
    if (*before == ',') add(w, ")");
    add_space(w);
}

static void add_spec(writer *w, bool sets) {
    int stages = 0;
    while (margin_component_at(stages)->kind == MARGIN_STAGE)
        stages++;
    const int learners = margin_component_count() - stages;
    w->length = 0;
    for (uint64_t k = below(w, 4); k > 0; k--) {
        add_component(w, margin_component_at((int)below(w, (uint64_t)stages)), sets);
        add(w, "|");
    }
    add_component(w, margin_component_at(stages + (int)below(w, (uint64_t)learners)), sets);
}

static void assert_same_spec(const margin_spec *a, const margin_spec *b) {
    assert_string_equal(margin_spec_text(a), margin_spec_text(b));
    assert_int_equal(margin_spec_variants(a), margin_spec_variants(b));
    assert_int_equal(a->component_count, b->component_count);
    assert_int_equal(a->set_count, b->set_count);
    for (int c = 0; c < a->component_count; c++) {
        assert_ptr_equal(a->components[c].info, b->components[c].info);
        for (int k = 0; k < a->components[c].info->option_count; k++) {
            assert_true(
                mg_option_equal(&a->components[c].options[k], &b->components[c].options[k]));
            assert_true(a->components[c].options[k].given == b->components[c].options[k].given);
        }
    }
    for (int s = 0; s < a->set_count; s++) {
        assert_int_equal(a->sets[s].component, b->sets[s].component);
        assert_int_equal(a->sets[s].option, b->sets[s].option);
        assert_int_equal(a->sets[s].count, b->sets[s].count);
        for (int64_t k = 0; k < a->sets[s].count; k++) {
            const mg_option_value left = mg_spec_set_value(a, &a->sets[s], k);
            const mg_option_value right = mg_spec_set_value(b, &b->sets[s], k);
            assert_true(mg_option_equal(&left, &right));
        }
    }
}

/* parse(print(s)) equals s, for thousands of specs made from the catalogue. */
static void test_round_trip(void **state) {
    (void)state;
    char *text = malloc(60000);
    assert_non_null(text);
    writer w = {.text = text, .random = 20};
    int parsed = 0, with_sets = 0;
    for (int round = 0; round < 5000; round++) {
        margin_spec *spec = NULL;
        margin_error error;
        add_spec(&w, round % 2 == 1);
        const margin_status status = margin_spec_parse(NULL, text, &spec, &error);
        if (status == MARGIN_ERROR_SPEC && round % 2 == 1) {
            /* a value drawn twice, or too many variants: nothing else */
            if (!strstr(error.text, "twice") && !strstr(error.text, "stand for more"))
                fail_msg("%s: %s", text, error.text);
            continue;
        }
        if (status != MARGIN_OK) fail_msg("%s: %s", text, error.text);
        margin_spec *again = parse(margin_spec_text(spec));
        assert_same_spec(spec, again);
        parsed++;
        with_sets += spec->set_count > 0;
        margin_spec_free(again);
        margin_spec_free(spec);
    }
    assert_true(parsed > 3500 && with_sets > 300);
    free(text);
}

/* Specs with a slip: a byte changed, left out or added. Whatever comes out, it is consistent. */
static void test_damaged_specs(void **state) {
    (void)state;
    char *text = malloc(60001);
    assert_non_null(text);
    writer w = {.text = text, .random = 21};
    int refused = 0;
    for (int round = 0; round < 5000; round++) {
        add_spec(&w, true);
        const size_t at = (size_t)below(&w, w.length);
        switch (below(&w, 3)) {
        case 0:
            text[at] = (char)(1 + below(&w, 255));
            break;
        case 1:
            memmove(text + at, text + at + 1, w.length - at);
            break;
        default:
            memmove(text + at + 1, text + at, w.length - at + 1);
            text[at] = "|(){}=,.\"' 0"[below(&w, 12)];
            break;
        }
        margin_spec *spec = NULL;
        margin_error error = {.position = -7};
        const margin_status status = margin_spec_parse(NULL, text, &spec, &error);
        if (status == MARGIN_OK) {
            margin_spec_free(spec);
            continue;
        }
        refused++;
        assert_int_equal(status, MARGIN_ERROR_SPEC);
        assert_in_range(error.position, 0, strlen(text));
        assert_true(strlen(error.text) > 20);
    }
    assert_true(refused > 1000);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damaged_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
