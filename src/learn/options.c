#include "learn/options.h"

#include "base/text/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whole numbers up to here are exact in a double. */
#define LARGEST_INTEGER 9007199254740992.0

margin_status mg_fail_spec(margin_error *error, int64_t position, const char *format, ...) {
    char sentence[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    mg_sentence(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (position < 0) return mg_fail(error, MARGIN_ERROR_SPEC, "%s", sentence);
    const mg_place place = {.line = 1, .column = position + 1, .position = position};
    return mg_fail_at(error, MARGIN_ERROR_SPEC, place, "spec, column %lld: %s",
                      (long long)place.column, sentence);
}

/* ---- Choices --------------------------------------------------------------------------------- */

int mg_choice_count(const char *choices) {
    int count = choices && *choices ? 1 : 0;
    for (const char *c = choices; c && *c; c++)
        count += *c == '|';
    return count;
}

const char *mg_choice_at(const char *choices, int index, int64_t *length) {
    if (!choices || index < 0) return NULL;
    for (; index > 0; index--) {
        choices = strchr(choices, '|');
        if (!choices) return NULL;
        choices++;
    }
    *length = (int64_t)strcspn(choices, "|");
    return choices;
}

int mg_choice_find(const char *choices, const char *word, int64_t length) {
    int64_t known_length;
    const char *known;
    for (int index = 0; (known = mg_choice_at(choices, index, &known_length)); index++)
        if (known_length == length && memcmp(known, word, (size_t)length) == 0) return index;
    return -1;
}

static void choice_list(const char *choices, char *out, size_t capacity) {
    const int count = mg_choice_count(choices);
    size_t used = 0;
    out[0] = '\0';
    for (int index = 0; index < count; index++) {
        int64_t length = 0;
        const char *word = mg_choice_at(choices, index, &length);
        const char *between = index == 0 ? "" : index + 1 < count ? ", " : " or ";
        const size_t needed = strlen(between) + (size_t)length;
        if (used + needed + 1 > capacity) return;
        memcpy(out + used, between, strlen(between));
        memcpy(out + used + strlen(between), word, (size_t)length);
        used += needed;
        out[used] = '\0';
    }
}

/* ---- What an option is for ------------------------------------------------------------------- */

int mg_when_decides(const margin_component *info, const margin_option *option) {
    char other[32];
    snprintf(other, sizeof other, "%.*s", (int)strcspn(option->when, "="), option->when);
    return mg_option_index(info, other);
}

bool mg_when_holds(const margin_option *option, const char *word) {
    return mg_choice_find(strchr(option->when, '=') + 1, word, (int64_t)strlen(word)) >= 0;
}

static margin_status check_when(const margin_component *info, const mg_option_value *values,
                                const margin_option *option, margin_error *error) {
    const int decides = mg_when_decides(info, option);
    const char *choices = strchr(option->when, '=') + 1, *word = values[decides].text;
    char words[160];
    if (word && mg_when_holds(option, word)) return MARGIN_OK;
    choice_list(choices, words, sizeof words);
    return mg_fail(error, MARGIN_ERROR_SPEC, "%s: %s belongs to %s=%s; leave it out or choose %s",
                   info->name, option->name, info->options[decides].name, words,
                   mg_choice_count(choices) > 1 ? "one of those" : "that");
}

margin_status mg_options_check_when(const margin_component *info, const mg_option_value *values,
                                    margin_error *error) {
    for (int k = 0; k < info->option_count; k++)
        if (values[k].given && info->options[k].when)
            MG_TRY(check_when(info, values, &info->options[k], error));
    return MARGIN_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct reading { /* one value being read */
    const char *component;
    const margin_option *option;
    mg_written written;
    mg_arena *arena;
    margin_error *error;
} reading;

/* "at least 0", "above 0 and at most 1", "from 1 to 10" */
static void describe_range(const margin_option *option, char *out, size_t capacity) {
    char low[MARGIN_NUMBER_TEXT], high[MARGIN_NUMBER_TEXT];
    margin_number_print_f64(option->low, low);
    margin_number_print_f64(option->high, high);
    const char *above = option->low_open ? "above" : "at least";
    const char *below = option->high_open ? "below" : "at most";
    const bool bounded_low = isfinite(option->low), bounded_high = isfinite(option->high);
    if (bounded_low && bounded_high && !option->low_open && !option->high_open)
        snprintf(out, capacity, "from %s to %s", low, high);
    else if (bounded_low && bounded_high)
        snprintf(out, capacity, "%s %s and %s %s", above, low, below, high);
    else if (bounded_low)
        snprintf(out, capacity, "%s %s", above, low);
    else if (bounded_high)
        snprintf(out, capacity, "%s %s", below, high);
    else
        snprintf(out, capacity, "of any size");
}

/* "a number above 0", "a whole number from 1 to 9, or median", "gini or entropy" */
static void describe_option(const margin_option *option, char *out, size_t capacity) {
    char range[100], words[200];
    choice_list(option->choices, words, sizeof words);
    describe_range(option, range, sizeof range);
    switch (option->type) {
    case MARGIN_OPTION_NUMBER:
    case MARGIN_OPTION_INTEGER:
        snprintf(out, capacity, "a %snumber %s%s%s",
                 option->type == MARGIN_OPTION_INTEGER ? "whole " : "", range,
                 option->choices ? ", or " : "", words);
        break;
    case MARGIN_OPTION_CHOICE:
        snprintf(out, capacity, "%s", words);
        break;
    case MARGIN_OPTION_SWITCH:
        snprintf(out, capacity, "yes or no");
        break;
    case MARGIN_OPTION_NUMBERS:
        snprintf(out, capacity, "numbers %s in quotes, like \"1 0.5 -2\"", range);
        break;
    case MARGIN_OPTION_TEXT:
        snprintf(out, capacity, "a word or a text in quotes");
        break;
    }
}

/* `rate of perceptron takes a number above 0 and at most 1, not 7` */
static margin_status fail_wanted(const reading *r, const char *text, int64_t length,
                                 int64_t position, const char *why) {
    char wanted[400];
    describe_option(r->option, wanted, sizeof wanted);
    const char *quote = r->written.quoted || length == 0 ? "\"" : "";
    return mg_fail_spec(r->error, position, "%s of %s takes %s, not %s%s%s%s", r->option->name,
                        r->component, wanted, quote, mg_excerpt(text, length).text, quote, why);
}

static bool in_range(const margin_option *option, double number) {
    if (!(number >= option->low && number <= option->high)) return false; /* NaN too */
    return !(option->low_open && number == option->low) &&
           !(option->high_open && number == option->high);
}

/* What the text of a number hides: digits that were lost on the way to a double. */
static const char *lost_digits(const char *text, int64_t length, double number) {
    int64_t mantissa = 0;
    bool digits = false, nonzero = false;
    for (; mantissa < length && text[mantissa] != 'e' && text[mantissa] != 'E'; mantissa++) {
        digits |= text[mantissa] >= '0' && text[mantissa] <= '9';
        nonzero |= text[mantissa] >= '1' && text[mantissa] <= '9';
    }
    if (isinf(number) && digits) return " (larger than any double)";
    if (number == 0 && nonzero) return " (smaller than any double)";
    return NULL;
}

/* A number that fills text[0..length), in the option's range. */
static margin_status read_number(const reading *r, const char *text, int64_t length,
                                 int64_t position, double *number) {
    double value;
    if (!margin_number_parse_f64(text, (size_t)length, &value))
        return fail_wanted(r, text, length, position, "");
    const char *lost = lost_digits(text, length, value);
    if (lost) return fail_wanted(r, text, length, position, lost);
    if (!in_range(r->option, value)) return fail_wanted(r, text, length, position, "");
    *number = value;
    return MARGIN_OK;
}

/* Whole numbers beyond 2^53 are not exact, whatever range the table gives. */
static bool is_whole(double number) {
    return number == floor(number) && fabs(number) <= LARGEST_INTEGER;
}

/* Zero-terminated copy in the arena. */
static char *keep_text(mg_arena *arena, const char *text, int64_t length) {
    char *copy = mg_arena_new(arena, length + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, (size_t)length);
    copy[length] = '\0';
    return copy;
}

static margin_status read_text(const reading *r, mg_option_value *value) {
    value->text = keep_text(r->arena, r->written.text, r->written.length);
    if (!value->text)
        return mg_no_memory(r->arena->heap, r->written.length + 1, 1, "a spec", r->error);
    return MARGIN_OK;
}

static margin_status fail_choice(const reading *r) {
    const mg_written *w = &r->written;
    mg_nearest nearest = mg_nearest_begin(w->text, w->length);
    int64_t length;
    const char *word;
    for (int k = 0; (word = mg_choice_at(r->option->choices, k, &length)); k++)
        mg_nearest_offer(&nearest, word, length);
    char why[128] = "";
    if (nearest.best)
        snprintf(why, sizeof why, "; did you mean %.*s?", (int)MG_MIN(nearest.best_length, 64),
                 nearest.best);
    return fail_wanted(r, w->text, w->length, w->position, why);
}

static margin_status read_choice(const reading *r, mg_option_value *value) {
    value->integer = mg_choice_find(r->option->choices, r->written.text, r->written.length);
    return value->integer < 0 ? fail_choice(r) : read_text(r, value);
}

static margin_status read_switch(const reading *r, mg_option_value *value) {
    static const char words[] = "no|yes|false|true|0|1";
    const int index = mg_choice_find(words, r->written.text, r->written.length);
    if (index < 0)
        return fail_wanted(r, r->written.text, r->written.length, r->written.position, "");
    value->integer = index % 2;
    return MARGIN_OK;
}

/* NUMBER and INTEGER, or one of the words that may stand for them. */
static margin_status read_single(const reading *r, mg_option_value *value) {
    const mg_written *w = &r->written;
    const margin_option *option = r->option;
    double number;
    if (option->choices && !margin_number_parse_f64(w->text, (size_t)w->length, &number))
        return read_choice(r, value);
    MG_TRY(read_number(r, w->text, w->length, w->position, &number));
    if (option->type == MARGIN_OPTION_INTEGER) {
        if (!is_whole(number)) return fail_wanted(r, w->text, w->length, w->position, "");
        value->integer = (int64_t)number;
    }
    value->number = number;
    return MARGIN_OK;
}

static bool is_separator(char c) {
    return c == ' ' || c == ',' || c == ';' || c == '\t' || c == '\n' || c == '\r';
}

/* The next run of characters between separators from *at; false: none. */
static bool next_item(const mg_written *w, int64_t *at, int64_t *first, int64_t *length) {
    while (*at < w->length && is_separator(w->text[*at]))
        ++*at;
    *first = *at;
    while (*at < w->length && !is_separator(w->text[*at]))
        ++*at;
    *length = *at - *first;
    return *length > 0;
}

static margin_status read_numbers(const reading *r, mg_option_value *value) {
    const mg_written *w = &r->written;
    int64_t at = 0, first, length, count = 0;
    while (next_item(w, &at, &first, &length))
        count++;
    if (count == 0) return fail_wanted(r, w->text, w->length, w->position, "");
    double *numbers = mg_arena_new(r->arena, count, sizeof *numbers);
    if (!numbers) return mg_no_memory(r->arena->heap, count, sizeof *numbers, "a spec", r->error);
    at = 0;
    for (int64_t k = 0; next_item(w, &at, &first, &length); k++)
        MG_TRY(read_number(r, w->text + first, length, w->position, numbers + k));
    value->numbers = numbers;
    value->count = count;
    return MARGIN_OK;
}

static mg_option_value no_value(void) {
    return (mg_option_value){.number = (double)NAN, .integer = -1};
}

static margin_status read_any(const reading *r, mg_option_value *value) {
    switch (r->option->type) {
    case MARGIN_OPTION_NUMBER:
    case MARGIN_OPTION_INTEGER:
        return read_single(r, value);
    case MARGIN_OPTION_CHOICE:
        return read_choice(r, value);
    case MARGIN_OPTION_SWITCH:
        return read_switch(r, value);
    case MARGIN_OPTION_NUMBERS:
        return read_numbers(r, value);
    case MARGIN_OPTION_TEXT:
        return read_text(r, value);
    }
    return mg_fail(r->error, MARGIN_ERROR_INTERNAL, "option %s of %s has no known type",
                   r->option->name, r->component);
}

margin_status mg_option_read(const char *component, const margin_option *option,
                             const mg_written *written, mg_arena *arena, mg_option_value *value,
                             margin_error *error) {
    const reading r = {component, option, *written, arena, error};
    mg_option_value found = no_value();
    MG_TRY(read_any(&r, &found));
    found.given = true;
    *value = found;
    return MARGIN_OK;
}

margin_status mg_option_default(const char *component, const margin_option *option, mg_arena *arena,
                                mg_option_value *value, margin_error *error) {
    mg_option_value found = no_value();
    if (option->default_text) {
        const mg_written written = {option->default_text, (int64_t)strlen(option->default_text), -1,
                                    false};
        const margin_status status =
            mg_option_read(component, option, &written, arena, &found, error);
        if (status == MARGIN_ERROR_SPEC)
            return mg_fail(error, MARGIN_ERROR_INTERNAL, "the default %s of %s in %s is not valid",
                           option->default_text, option->name, component);
        MG_TRY(status);
    }
    found.given = false;
    *value = found;
    return MARGIN_OK;
}
