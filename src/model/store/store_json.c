/* Typed access to the JSON of a model file, and the counterpart for writing. */
#include "model/store/store.h"

#include <string.h>

margin_status mg_fail_stored(const mg_store_reader *reader, const char *format, ...) {
    char sentence[sizeof reader->error->text];
    va_list arguments;
    va_start(arguments, format);
    mg_sentence(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return mg_fail(reader->error, MARGIN_ERROR_MODEL, "%s is not a usable model file: %s",
                   reader->name, sentence);
}

static margin_status fail_field(const mg_store_reader *r, const char *key, const char *what) {
    return mg_fail_stored(r, "its entry %s is not %s", key, what);
}

margin_status mg_json_integer(const mg_store_reader *r, const json_t *object, const char *key,
                              int64_t low, int64_t high, int64_t *value) {
    const json_t *field = json_object_get(object, key);
    if (!json_is_integer(field)) return fail_field(r, key, "a whole number");
    const json_int_t number = json_integer_value(field);
    if (number < low || number > high)
        return mg_fail_stored(r, "its entry %s is %lld, out of the range %lld to %lld", key,
                              (long long)number, (long long)low, (long long)high);
    *value = number;
    return MARGIN_OK;
}

margin_status mg_json_text(const mg_store_reader *r, const json_t *object, const char *key,
                           const char **text) {
    const json_t *field = json_object_get(object, key);
    if (!json_is_string(field)) return fail_field(r, key, "a text");
    *text = json_string_value(field);
    return MARGIN_OK;
}

margin_status mg_json_number(const mg_store_reader *r, const json_t *object, const char *key,
                             double *value) {
    const char *text = NULL;
    MG_TRY(mg_json_text(r, object, key, &text));
    return margin_number_parse_f64(text, strlen(text), value)
               ? MARGIN_OK
               : fail_field(r, key, "a number written as text");
}

margin_status mg_json_array(const mg_store_reader *r, const json_t *object, const char *key,
                            const json_t **array) {
    *array = json_object_get(object, key);
    return json_is_array(*array) ? MARGIN_OK : fail_field(r, key, "a list");
}

margin_status mg_json_object(const mg_store_reader *r, const json_t *object, const char *key,
                             const json_t **value) {
    *value = json_object_get(object, key);
    return json_is_object(*value) ? MARGIN_OK : fail_field(r, key, "an object");
}

margin_status mg_json_word(const mg_store_reader *r, const json_t *object, const char *key,
                           const char *const *words, int count, int *index) {
    const char *text = NULL;
    MG_TRY(mg_json_text(r, object, key, &text));
    for (int k = 0; k < count; k++)
        if (strcmp(words[k], text) == 0) {
            *index = k;
            return MARGIN_OK;
        }
    return fail_field(r, key, "a word that this version knows");
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_key(mg_text *out, const char *key) {
    const bool first = out->length == 0 || out->data[out->length - 1] == '{';
    if (!first) mg_text_puts(out, ",");
    mg_text_json_string(out, key, (int64_t)strlen(key));
    mg_text_puts(out, ":");
}

void mg_store_write_text(mg_text *out, const char *key, const char *value) {
    write_key(out, key);
    mg_text_json_string(out, value, (int64_t)strlen(value));
}

void mg_store_write_integer(mg_text *out, const char *key, int64_t value) {
    write_key(out, key);
    mg_text_integer(out, value);
}

void mg_store_write_number(mg_text *out, const char *key, double value) {
    char text[MARGIN_NUMBER_TEXT];
    margin_number_print_f64(value, text);
    mg_store_write_text(out, key, text);
}

void mg_store_write_raw(mg_text *out, const char *key, const char *json) {
    write_key(out, key);
    mg_text_puts(out, json);
}

void mg_store_write_texts(mg_text *out, const char *key, const char *const *values, int64_t count) {
    mg_store_write_raw(out, key, "[");
    for (int64_t k = 0; k < count; k++) {
        if (k) mg_text_puts(out, ",");
        mg_text_json_string(out, values[k], (int64_t)strlen(values[k]));
    }
    mg_text_puts(out, "]");
}
