/* Option values once they are read: printing, copying, finding. */
#include "learn/options.h"

#include <string.h>

bool mg_is_bare_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '+' || c == '.' || (unsigned char)c >= 0x80;
}

static bool is_bare(const char *text) {
    if (!*text || strstr(text, "..")) return false;
    while (mg_is_bare_character(*text))
        text++;
    return !*text;
}

static void print_text(const char *text, mg_text *out) {
    if (is_bare(text)) {
        mg_text_puts(out, text);
        return;
    }
    mg_text_puts(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') mg_text_puts(out, "\\");
        mg_text_add(out, text, 1);
    }
    mg_text_puts(out, "\"");
}

static void print_numbers(const mg_option_value *value, mg_text *out) {
    const char *quote = value->count == 1 ? "" : "\"";
    mg_text_puts(out, quote);
    for (int64_t k = 0; k < value->count; k++) {
        if (k) mg_text_puts(out, " ");
        mg_text_number(out, value->numbers[k]);
    }
    mg_text_puts(out, quote);
}

void mg_option_print(const margin_option *option, const mg_option_value *value, mg_text *out) {
    switch (option->type) {
    case MARGIN_OPTION_NUMBER:
    case MARGIN_OPTION_INTEGER:
        if (value->text)
            print_text(value->text, out);
        else
            mg_text_number(out, value->number);
        break;
    case MARGIN_OPTION_CHOICE:
    case MARGIN_OPTION_TEXT:
        print_text(value->text, out);
        break;
    case MARGIN_OPTION_SWITCH:
        mg_text_puts(out, value->integer ? "yes" : "no");
        break;
    case MARGIN_OPTION_NUMBERS:
        print_numbers(value, out);
        break;
    }
}

bool mg_option_has_value(const mg_option_value *value) {
    return value->given || value->text || value->count > 0 || value->integer >= 0 ||
           value->number == value->number;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Compares bits, so that 0 and -0 differ as their texts do. */
bool mg_option_is(const margin_component *component, const mg_option_value *values,
                  const char *name, const char *word) {
    const char *text = mg_option_named(component, values, name)->text;
    return text && strcmp(text, word) == 0;
}

bool mg_option_equal(const mg_option_value *a, const mg_option_value *b) {
    return memcmp(&a->number, &b->number, sizeof a->number) == 0 && a->integer == b->integer &&
           same_text(a->text, b->text) && a->count == b->count &&
           (a->count == 0 ||
            memcmp(a->numbers, b->numbers, (size_t)a->count * sizeof *a->numbers) == 0);
}

int mg_option_index(const margin_component *component, const char *name) {
    for (int k = 0; k < component->option_count; k++)
        if (strcmp(component->options[k].name, name) == 0) return k;
    return -1;
}

/* Values first, then all numbers, then all texts. */
margin_status mg_options_copy(mg_heap *heap, const mg_option_value *values, int count,
                              mg_option_value **copy, margin_error *error) {
    int64_t numbers = 0, letters = 0;
    for (int k = 0; k < count; k++) {
        numbers += values[k].count;
        letters += values[k].text ? (int64_t)strlen(values[k].text) + 1 : 0;
    }
    const int64_t bytes =
        count * (int64_t)sizeof *values + numbers * (int64_t)sizeof(double) + letters;
    mg_option_value *const block = mg_new(heap, bytes, 1);
    if (!block) return mg_no_memory(heap, bytes, 1, "the options of a stage", error);
    double *next_number = (double *)(void *)(block + count);
    char *next_letter = (char *)(next_number + numbers);
    for (int k = 0; k < count; k++) {
        block[k] = values[k];
        if (values[k].count) {
            memcpy(next_number, values[k].numbers, (size_t)values[k].count * sizeof(double));
            block[k].numbers = next_number;
            next_number += values[k].count;
        }
        if (values[k].text) {
            const size_t length = strlen(values[k].text) + 1;
            memcpy(next_letter, values[k].text, length);
            block[k].text = next_letter;
            next_letter += length;
        }
    }
    *copy = block;
    return MARGIN_OK;
}
