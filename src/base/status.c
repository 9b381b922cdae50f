/* Error text. The sentence is built in a local buffer first, so that an argument may point into the
 * very error that is being written (a file reader putting its path before an inner text). */
#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *margin_status_text(margin_status status) {
    enum { LEAST = (int)MARGIN_ERROR_INTERNAL };
    static const char *const texts[] = {
        [MARGIN_OK - LEAST] = "done",
        [MARGIN_STOPPED_ITERATIONS - LEAST] = "stopped at the iteration limit",
        [MARGIN_STOPPED_TIME - LEAST] = "stopped at the time limit",
        [MARGIN_STOPPED_STALLED - LEAST] = "stopped without further progress",
        [MARGIN_ERROR_ARGUMENT - LEAST] = "invalid argument",
        [MARGIN_ERROR_SPEC - LEAST] = "invalid spec",
        [MARGIN_ERROR_DATA - LEAST] = "unusable data",
        [MARGIN_ERROR_FORMAT - LEAST] = "malformed file",
        [MARGIN_ERROR_MODEL - LEAST] = "invalid model file",
        [MARGIN_ERROR_MEMORY - LEAST] = "out of memory",
        [MARGIN_ERROR_LIMIT - LEAST] = "limit exceeded",
        [MARGIN_ERROR_FILE - LEAST] = "file error",
        [MARGIN_ERROR_SYSTEM - LEAST] = "system error",
        [MARGIN_ERROR_CANCELLED - LEAST] = "cancelled",
        [MARGIN_ERROR_INTERNAL - LEAST] = "internal error",
    };
    const int64_t at = (int64_t)status - LEAST;
    return at >= 0 && at < MG_LENGTH(texts) ? texts[at] : "unknown status";
}

static bool is_continuation(unsigned char byte) {
    return (byte & 0xc0) == 0x80;
}

int mg_utf8_length(const char *bytes, int64_t length) {
    const unsigned char *b = (const unsigned char *)bytes;
    if (length < 1) return 0;
    if (b[0] < 0x80) return 1;
    if (b[0] < 0xc2 || b[0] > 0xf4) return 0;
    int size = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (length < size) return 0;
    for (int i = 1; i < size; i++)
        if (!is_continuation(b[i])) return 0;
    if (b[0] == 0xe0 && b[1] < 0xa0) return 0;  /* longer than need be */
    if (b[0] == 0xed && b[1] >= 0xa0) return 0; /* half of a surrogate pair */
    if (b[0] == 0xf0 && b[1] < 0x90) return 0;
    if (b[0] == 0xf4 && b[1] >= 0x90) return 0; /* above U+10FFFF */
    return size;
}

/* Data and file names come into sentences as they are: what is not UTF-8, and control characters
 * (a terminal would obey them), become '?'. */
static void make_printable(char *text, int64_t length) {
    for (int64_t i = 0; i < length;) {
        int size = mg_utf8_length(text + i, length - i);
        unsigned char byte = (unsigned char)text[i];
        bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ||
                       (byte == 0xc2 && size == 2 && (unsigned char)text[i + 1] < 0xa0);
        if (size == 0 || control) {
            text[i] = '?';
            if (size == 2) text[i + 1] = '?';
        }
        i += MG_MAX(size, 1);
    }
}

/* The length of the longest whole-character start of text[0..length). */
static int64_t whole_characters(const char *text, int64_t length) {
    int64_t start = length;
    while (start > 0 && length - start < 3 && is_continuation((unsigned char)text[start - 1]))
        start--;
    if (start == 0) return length;
    start--; /* the lead byte of the last character, or an ASCII byte */
    unsigned char lead = (unsigned char)text[start];
    int64_t size = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return size > length - start ? start : length;
}

void mg_sentence(char *text, size_t capacity, const char *format, va_list arguments) {
    static const char ellipsis[] = "...";
    int wanted = vsnprintf(text, capacity, format, arguments);
    int64_t length = wanted;
    if (wanted < 0) { /* cannot happen with the formats in use */
        text[0] = '\0';
        return;
    }
    if ((size_t)wanted >= capacity) {
        length = whole_characters(text, (int64_t)(capacity - sizeof ellipsis));
        memcpy(text + length, ellipsis, sizeof ellipsis);
        length += (int64_t)sizeof ellipsis - 1;
    }
    make_printable(text, length);
}

static margin_status fill_error(margin_error *error, margin_status coded, mg_place place,
                                const char *format, va_list arguments) {
    const margin_status status = (margin_status)(coded % MG_CAUSE_STEP);
    char text[sizeof error->text];
    if (!error) return status;
    mg_sentence(text, sizeof text, format, arguments);
    error->status = status;
    error->cause = -(coded / MG_CAUSE_STEP);
    error->line = place.line;
    error->column = place.column;
    error->row = place.row;
    /* offsets are of specs alone */
    error->position = status == MARGIN_ERROR_SPEC ? place.position : -1;
    error->feature = place.feature;
    error->system_error = error->reserved_word = 0;
    memset(error->reserved, 0, sizeof error->reserved);
    memcpy(error->text, text, strlen(text) + 1);
    return status;
}

margin_status mg_check_given(const mg_given *given, int count, margin_error *error) {
    for (int k = 0; k < count; k++)
        MG_REQUIRE(given[k].pointer, error, MARGIN_ERROR_ARGUMENT, "the %s is NULL", given[k].name);
    return MARGIN_OK;
}

margin_status mg_fail(margin_error *error, margin_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const margin_status plain =
        fill_error(error, status, (mg_place){.position = -1}, format, arguments);
    va_end(arguments);
    return plain;
}

margin_status mg_fail_at(margin_error *error, margin_status status, mg_place place,
                         const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const margin_status plain = fill_error(error, status, place, format, arguments);
    va_end(arguments);
    return plain;
}

margin_status mg_fail_file(margin_error *error, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, MARGIN_ERROR_FILE, (mg_place){0}, format, arguments);
    va_end(arguments);
    if (error) error->system_error = code;
    return MARGIN_ERROR_FILE;
}

margin_status mg_fail_memory(margin_error *error, size_t bytes, const char *purpose) {
    return mg_fail(error, MARGIN_ERROR_MEMORY,
                   "out of memory: the system refused %s for %s; use less data or fewer columns, "
                   "or close other programs",
                   mg_bytes(bytes).text, purpose);
}

mg_number_text mg_number(double value) {
    mg_number_text number;
    margin_number_print_f64(value, number.text);
    return number;
}

/* One digit after the point below 100 units, none above; rounded to nearest. */
mg_bytes_text mg_bytes(uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    mg_bytes_text out;
    int unit = 0;
    while (unit + 1 < MG_LENGTH(units) && bytes >> (10 * unit + 10) > 0)
        unit++;
    uint64_t one = (uint64_t)1 << (10 * unit), whole = bytes / one, rest = bytes % one;
    uint64_t tenths = unit == 0 ? 0 : (rest * 10 + one / 2) / one;
    if (whole >= 100) {
        whole += unit > 0 && rest >= one / 2;
        tenths = 0;
    } else if (tenths == 10) {
        whole++;
        tenths = 0;
    }
    if (whole == 1024 && unit + 1 < MG_LENGTH(units)) {
        whole = 1;
        unit++;
    }
    const char *name = bytes == 1 ? "byte" : units[unit];
    if (tenths > 0)
        snprintf(out.text, sizeof out.text, "%llu.%llu %s", (unsigned long long)whole,
                 (unsigned long long)tenths, name);
    else
        snprintf(out.text, sizeof out.text, "%llu %s", (unsigned long long)whole, name);
    return out;
}
