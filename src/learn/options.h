/* Option values: from written text to typed values and back, against a component's option table.
 * The one place that knows ranges, choices and defaults. */
#pragma once

#include "base/text/text.h"
#include "margin/spec.h"

/* Values parallel to the component's option table. An option that was not given and has no default
 * (default_text NULL) has number NaN, integer -1, text NULL and count 0. */
typedef struct mg_option_value {
    bool given;            /* false: the default was filled in */
    double number;         /* NUMBER, INTEGER too; NaN where a word stands (see text) */
    int64_t integer;       /* INTEGER; CHOICE: index; SWITCH: 0 or 1; NUMBER or INTEGER given as a
                              word: index of the word */
    const char *text;      /* TEXT; CHOICE: the word; NUMBER and INTEGER: the word or NULL */
    const double *numbers; /* NUMBERS */
    int64_t count;
} mg_option_value;

/* SPEC with the place of byte `position` of the spec (< 0: no place), named in the sentence too. */
margin_status mg_fail_spec(margin_error *error, int64_t position, const char *format, ...)
    MG_PRINTF(3, 4);

/* Choices "a|b|c": their number, the k-th one, the index of a word (-1: none), "a, b or c". */
int mg_choice_count(const char *choices);
const char *mg_choice_at(const char *choices, int index, int64_t *length);
int mg_choice_find(const char *choices, const char *word, int64_t length);

/* A value as it was written: text[0..length) with quotes and escapes already taken off. */
typedef struct mg_written {
    const char *text;
    int64_t length;
    int64_t position; /* in the spec, -1: none */
    bool quoted;
} mg_written;

/* Checks type and range and fills *value (its texts and numbers live in the arena). SPEC with the
 * range or the choices, MEMORY. */
margin_status mg_option_read(const char *component, const margin_option *option,
                             const mg_written *written, mg_arena *arena, mg_option_value *value,
                             margin_error *error);
/* Fills in the default. INTERNAL if the table itself is wrong. */
margin_status mg_option_default(const char *component, const margin_option *option, mg_arena *arena,
                                mg_option_value *value, margin_error *error);
/* The condition of an option that has one (margin_option.when): the index of the option that it
 * asks, and whether this choice of that meets it. */
int mg_when_decides(const margin_component *info, const margin_option *option);
bool mg_when_holds(const margin_option *option, const char *word);
/* SPEC if an option is given for a choice that it is not for (margin_option.when). */
margin_status mg_options_check_when(const margin_component *info, const mg_option_value *values,
                                    margin_error *error);
/* Canonical text of a value: what mg_option_read turns into the same value again. */
void mg_option_print(const margin_option *option, const mg_option_value *value, mg_text *out);

/* Ranges of numbers, for option tables. */
#define MG_ANY_NUMBER                                                                              \
    .low = -(double)INFINITY, .high = (double)INFINITY, .low_open = 1, .high_open = 1
#define MG_ABOVE_0 .low = 0, .high = (double)INFINITY, .low_open = 1, .high_open = 1
#define MG_FROM_0  .low = 0, .high = (double)INFINITY, .high_open = 1

/* Entries of an option table: name, default (NULL: none) and help; the fields of a number's range
 * and what else it has come last. */
#define MG_CHOICE(of_name, of_default, of_choices, of_help)                                        \
    MG_OPTION(CHOICE, of_name, of_default, of_help, .choices = of_choices)
#define MG_SWITCH(of_name, of_default, of_help)                                                    \
    MG_OPTION(SWITCH, of_name, of_default, of_help, .choices = NULL)
#define MG_TEXT(of_name, of_default, of_help)                                                      \
    MG_OPTION(TEXT, of_name, of_default, of_help, .choices = NULL)
#define MG_NUMBER(of_name, of_default, of_help, ...)                                               \
    MG_OPTION(NUMBER, of_name, of_default, of_help, __VA_ARGS__)
/* Roles of numbers (margin_option.role). */
#define MG_SIMPLER .role = MARGIN_ROLE_SIMPLER
#define MG_RICHER  .role = MARGIN_ROLE_RICHER
#define MG_NUMBERS(of_name, of_default, of_help, ...)                                              \
    MG_OPTION(NUMBERS, of_name, of_default, of_help, __VA_ARGS__)
#define MG_INTEGER(of_name, of_default, of_help, ...)                                              \
    MG_OPTION(INTEGER, of_name, of_default, of_help, __VA_ARGS__)
#define MG_OPTION(of_type, of_name, of_default, of_help, ...)                                      \
    {                                                                                              \
        .name = of_name, .type = MARGIN_OPTION_##of_type, .default_text = of_default,              \
        .help = of_help, __VA_ARGS__                                                               \
    }
/* ... and what a component says of them. */
#define MG_OPTION_TABLE(of_options)  .options = (of_options), .option_count = MG_LENGTH(of_options)
#define MG_LEARNER_TABLE(of_options) .kind = MARGIN_LEARNER, MG_OPTION_TABLE(of_options)

/* Characters of a word that needs no quotes. */
bool mg_is_bare_character(char c);
/* False: not given, and no default. */
bool mg_option_has_value(const mg_option_value *value);
bool mg_option_equal(const mg_option_value *a, const mg_option_value *b);

/* Index in the component's table, -1 if it has no such option. */
int mg_option_index(const margin_component *component, const char *name);
/* The value of an option that the table must have. */
MG_INLINE const mg_option_value *mg_option_named(const margin_component *component,
                                                 const mg_option_value *values, const char *name) {
    return &values[mg_option_index(component, name)];
}
/* Whether that is this word. */
bool mg_option_is(const margin_component *component, const mg_option_value *values,
                  const char *name, const char *word);

/* Copies count values, texts and numbers included, into one block; free with mg_free. */
margin_status mg_options_copy(mg_heap *heap, const mg_option_value *values, int count,
                              mg_option_value **copy, margin_error *error);
