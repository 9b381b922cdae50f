/* Growing text. */
#include "base/text/text.h"

#include <stdio.h>
#include <string.h>

void mg_text_init(mg_text *text, mg_heap *heap) {
    *text = (mg_text){.heap = heap};
}

void mg_text_free(mg_text *text) {
    mg_free(text->heap, text->data);
    mg_text_init(text, text->heap);
}

margin_status mg_text_check(const mg_text *text, const char *purpose, margin_error *error) {
    return text->failed ? mg_no_memory(text->heap, text->length + 1, 1, purpose, error) : MARGIN_OK;
}

/* Room for `more` bytes and the final zero. */
static bool text_make_room(mg_text *text, int64_t more) {
    if (text->failed) return false;
    if (more < text->capacity - text->length) return true;
    if (more > INT64_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    int64_t needed = text->length + more + 1;
    int64_t wanted = MG_MAX(MG_MAX(needed, 64), text->capacity + text->capacity / 2);
    char *grown = mg_resize(text->heap, text->data, wanted, 1);
    if (!grown &&
        mg_heap_limit(text->heap) > 0) { /* what is needed may fit where a reserve does not */
        wanted = needed;
        grown = mg_resize(text->heap, text->data, wanted, 1);
    }
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->data = grown;
    text->capacity = wanted;
    return true;
}

void mg_text_add(mg_text *text, const char *bytes, int64_t length) {
    if (!text_make_room(text, length)) return;
    if (length > 0) memcpy(text->data + text->length, bytes, (size_t)length);
    text->length += length;
    text->data[text->length] = '\0';
}

void mg_text_puts(mg_text *text, const char *string) {
    mg_text_add(text, string, (int64_t)strlen(string));
}

void mg_text_number(mg_text *text, double value) {
    char number[MARGIN_NUMBER_TEXT];
    mg_text_add(text, number, margin_number_print_f64(value, number));
}

void mg_text_integer(mg_text *text, int64_t value) {
    mg_text_format(text, "%lld", (long long)value);
}

void mg_text_format(mg_text *text, const char *format, ...) {
    char start[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(start, sizeof start, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
    } else if (length < (int)sizeof start) {
        mg_text_add(text, start, length);
    } else if (text_make_room(text, length)) {
        va_start(arguments, format);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
        text->length += length;
    }
}

/* The escape of a character that JSON does not take as it is, else NULL. */
static const char *json_escape(unsigned char character, char buffer[8]) {
    switch (character) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        break;
    }
    if (character >= 0x20 && character != 0x7f) return NULL;
    snprintf(buffer, 8, "\\u%04x", (unsigned)character);
    return buffer;
}

void mg_text_json_string(mg_text *text, const char *bytes, int64_t length) {
    char buffer[8];
    int64_t done = 0; /* bytes[done..i) are good as they are and not yet written */
    mg_text_puts(text, "\"");
    for (int64_t i = 0; i < length;) {
        int size = mg_utf8_length(bytes + i, length - i);
        const char *instead =
            size == 0 ? "\xef\xbf\xbd" : json_escape((unsigned char)bytes[i], buffer);
        if (instead) {
            mg_text_add(text, bytes + done, i - done);
            mg_text_puts(text, instead);
            done = i + 1;
        }
        i += MG_MAX(size, 1);
    }
    mg_text_add(text, bytes + done, length - done);
    mg_text_puts(text, "\"");
}

bool mg_is_utf8(const char *text, int64_t length) {
    for (int64_t k = 0, step; k < length; k += step) {
        step = (unsigned char)text[k] < 0x80 ? 1 : mg_utf8_length(text + k, length - k);
        if (step == 0) return false;
    }
    return true;
}

mg_excerpt_text mg_excerpt(const char *text, int64_t length) {
    mg_excerpt_text out;
    const int64_t room = (int64_t)sizeof out.text - 4;
    int64_t used = 0;
    while (used < length) {
        const int step = MG_MAX(mg_utf8_length(text + used, length - used), 1);
        if (used + step > room) break;
        used += step;
    }
    for (int64_t k = 0; k < used; k++)
        out.text[k] = (unsigned char)text[k] < ' ' ? ' ' : text[k];
    strcpy(out.text + used, used < length ? "..." : "");
    return out;
}

void mg_name_list_add(mg_name_list *list, const char *name, const char *quote) {
    const mg_excerpt_text shown = mg_excerpt(name, (int64_t)strlen(name));
    const char *comma = list->count > 0 ? ", " : "";
    const size_t room = sizeof list->text - list->used;
    const bool fits = list->count < list->most || list->most == 0;
    list->count++;
    if (list->full) return;
    list->full = !fits || room < sizeof shown.text + 10;
    if (list->full)
        snprintf(list->text + list->used, room, "%s...", comma);
    else
        list->used += (size_t)snprintf(list->text + list->used, room, "%s%s%s%s", comma, quote,
                                       shown.text, quote);
}
