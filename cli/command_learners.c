/* margin learners: the catalogue of stages and learners. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *type_name(margin_option_type type) {
    switch (type) {
    case MARGIN_OPTION_NUMBER:
        return "number";
    case MARGIN_OPTION_INTEGER:
        return "integer";
    case MARGIN_OPTION_CHOICE:
        return "choice";
    case MARGIN_OPTION_SWITCH:
        return "switch";
    case MARGIN_OPTION_NUMBERS:
        return "numbers";
    case MARGIN_OPTION_TEXT:
        return "text";
    }
    return "";
}

static const struct {
    unsigned bit;
    const char *name;
} abilities[] = {{MARGIN_CAN_TWO_CLASS, "two-class"},   {MARGIN_CAN_MULTICLASS, "multiclass"},
                 {MARGIN_CAN_REGRESSION, "regression"}, {MARGIN_CAN_SPARSE, "sparse"},
                 {MARGIN_CAN_WEIGHTS, "weights"},       {MARGIN_CAN_PROBABILITY, "probability"},
                 {MARGIN_CAN_TRACE, "trace"},           {MARGIN_CAN_ARGMAX, "argmax"},
                 {MARGIN_CAN_MISSING, "missing"},       {MARGIN_CAN_CATEGORIES, "categories"},
                 {MARGIN_CAN_CLUSTER, "clusters"},      {MARGIN_CAN_TARGETS, "targets"}};
enum { ABILITIES = sizeof abilities / sizeof abilities[0] };

static bool is_numeric(const margin_option *option) {
    return option->type == MARGIN_OPTION_NUMBER || option->type == MARGIN_OPTION_INTEGER;
}

static const char *const roles[] = {NULL, "tolerance", "simpler", "richer"};

static void json_option(cli_text *text, const margin_option *option) {
    json_open(text, NULL, '{');
    json_string(text, "name", option->name);
    json_string(text, "type", type_name(option->type));
    if (is_numeric(option)) {
        json_number(text, "low", option->low);
        json_number(text, "high", option->high);
        json_bool(text, "low_open", option->low_open);
        json_bool(text, "high_open", option->high_open);
    }
    if (option->default_text)
        json_string(text, "default", option->default_text);
    else
        json_null(text, "default");
    if (option->choices) json_string(text, "choices", option->choices);
    if (option->group) json_string(text, "group", option->group);
    if (option->role) json_string(text, "role", roles[option->role]);
    json_string(text, "help", option->help);
    json_close(text, '}');
}

static void json_component(cli_text *text, const margin_component *c) {
    json_open(text, NULL, '{');
    json_string(text, "name", c->name);
    json_string(text, "kind", c->kind == MARGIN_STAGE ? "stage" : "learner");
    json_string(text, "summary", c->summary);
    json_string(text, "formula", c->formula);
    json_string(text, "source", c->source);
    json_string(text, "page", c->page);
    json_open(text, "abilities", '[');
    for (int i = 0; i < ABILITIES; i++)
        if (c->abilities & abilities[i].bit) json_string(text, NULL, abilities[i].name);
    json_close(text, ']');
    json_open(text, "options", '[');
    for (int i = 0; i < c->option_count; i++)
        json_option(text, &c->options[i]);
    json_close(text, ']');
    json_close(text, '}');
}

static void print_range(cli_text *text, const margin_option *option) {
    text_add(text, option->low_open ? "(" : "[", 1);
    text_number(text, option->low);
    text_puts(text, ", ");
    text_number(text, option->high);
    text_add(text, option->high_open ? ")" : "]", 1);
}

static void print_option(cli_text *text, const margin_option *option) {
    text_printf(text, "  %-16s ", option->name);
    if (option->choices) text_puts(text, option->choices);
    if (option->choices && is_numeric(option)) text_puts(text, " or ");
    if (is_numeric(option))
        print_range(text, option);
    else if (!option->choices)
        text_puts(text, option->type == MARGIN_OPTION_SWITCH ? "yes|no" : type_name(option->type));
    if (option->default_text) text_printf(text, ", default %s", option->default_text);
    text_puts(text, "\n");
    text_wrapped(text, option->help, 19, 0);
}

/* A learner of two classes takes more of them in parts. */
static const char *ability_words(const margin_component *c, int i) {
    const bool in_parts =
        abilities[i].bit == MARGIN_CAN_TWO_CLASS && !(c->abilities & MARGIN_CAN_MULTICLASS);
    return in_parts ? "two-class (more by multiclass=...)" : abilities[i].name;
}

static void print_component(cli_text *text, const margin_component *c) {
    text_printf(text, "%s (%s) - %s\n\nformula     %s\nsource", c->name,
                c->kind == MARGIN_STAGE ? "stage" : "learner", c->summary, c->formula);
    text_wrapped(text, c->source, 12, 6);
    text_printf(text, "manual      %s\n", c->page);
    text_puts(text, "abilities  ");
    for (int i = 0; i < ABILITIES; i++)
        if (c->abilities & abilities[i].bit) text_printf(text, " %s", ability_words(c, i));
    text_puts(text, c->option_count ? "\n\noptions\n" : "\n");
    for (int i = 0; i < c->option_count; i++)
        print_option(text, &c->options[i]);
}

static void list_components(cli_text *text, bool json) {
    if (json) {
        json_open(text, NULL, '{');
        json_open(text, "components", '[');
    }
    int32_t kind = 0;
    for (int i = 0; i < margin_component_count(); i++) {
        const margin_component *c = margin_component_at(i);
        if (json) {
            json_component(text, c);
            continue;
        }
        if (c->kind != kind) text_puts(text, c->kind == MARGIN_STAGE ? "stages\n" : "\nlearners\n");
        kind = c->kind;
        text_printf(text, "  %-16s %s\n", c->name, c->summary);
    }
    if (json) {
        json_close(text, ']');
        json_close(text, '}');
        text_puts(text, "\n");
    }
}

static int unknown_component(const char *word) {
    const char *near = NULL;
    const size_t length = strlen(word);
    size_t least = length > 7 ? 4 : length > 4 ? 3 : 2;
    for (int i = 0; i < margin_component_count(); i++) {
        const char *name = margin_component_at(i)->name;
        size_t distance = cli_edit_distance(word, length, name);
        if (distance >= least || distance >= length) continue;
        least = distance;
        near = name;
    }
    fprintf(stderr,
            "margin: there is no stage or learner '%s'; %s%s%s'margin learners' lists them\n", word,
            near ? "did you mean " : "", near ? near : "", near ? "? " : "");
    return EXIT_USAGE;
}

int run_learners(const cli_arguments *arguments) {
    cli_text text = {0};
    cli_session session = {.arguments = arguments};
    if (arguments->word_count == 0) {
        list_components(&text, arguments->json);
    } else {
        const margin_component *c = margin_component_find(arguments->words[0]);
        if (!c) return unknown_component(arguments->words[0]);
        if (arguments->json) {
            json_component(&text, c);
            text_puts(&text, "\n");
        } else {
            print_component(&text, c);
        }
    }
    return text_finish(&session, &text, NULL);
}
