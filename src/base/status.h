/* Error text and the macros that keep bodies flat. */
#pragma once

#include "margin/base.h"

#include <stdarg.h>

#define MG_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* Writes the sentence into *error (if not NULL) and returns `status`, so that failing is one line:
 *   return mg_fail(error, MARGIN_ERROR_DATA, "row %lld: ...", ...);
 * The format must not contain %f, %e or %g (they follow the locale): print numbers with
 * margin_number_print_f64 and pass %s. */
margin_status mg_fail(margin_error *error, margin_status status, const char *format, ...)
    MG_PRINTF(3, 4);

/* A status and its cause in one, for `status` of the functions here; what they return is the status
 * alone: return mg_fail(error, MG_DATA(ONE_CLASS), "..."); */
enum { MG_CAUSE_STEP = 64 };
#define MG_CAUSED(status, cause) ((margin_status)((status)-MG_CAUSE_STEP * (int)(cause)))
#define MG_CAUSE(status, cause)  MG_CAUSED(status, MARGIN_CAUSE_##cause)
#define MG_DATA(cause)           MG_CAUSE(MARGIN_ERROR_DATA, cause)

/* The same with a place: line and column of a text (0: unknown), data row and column of the data
 * (0: none), byte offset in a spec (taken for MARGIN_ERROR_SPEC only). The place only fills the
 * numbers: the sentence must name it too. */
typedef struct mg_place {
    int64_t line, column, row, position, feature;
} mg_place;
margin_status mg_fail_at(margin_error *error, margin_status status, mg_place place,
                         const char *format, ...) MG_PRINTF(4, 5);

/* FILE, and the system's number for the reason: `code`, an errno, whose words the sentence has. */
margin_status mg_fail_file(margin_error *error, int code, const char *format, ...) MG_PRINTF(3, 4);

/* Out of memory: says how many bytes were asked for and for what. */
margin_status mg_fail_memory(margin_error *error, size_t bytes, const char *purpose);

/* Number for a sentence: mg_number(x).text is valid until the end of the full expression. mg_number
 * is exact, for what the user gave and for values of the data; mg_about has four digits, for what
 * was computed. */
typedef struct mg_number_text {
    char text[MARGIN_NUMBER_TEXT];
} mg_number_text;
mg_number_text mg_number(double value);
mg_number_text mg_about(double value);

/* A count of bytes for people: "15.3 MiB" (units of 1024). Lives as
 * mg_number's text. */
typedef struct mg_bytes_text {
    char text[32];
} mg_bytes_text;
mg_bytes_text mg_bytes(uint64_t bytes);

/* The text of an error or a log line: formatted, cut between two characters (ending in "...") if it
 * is too long, anything that is not UTF-8 and control characters replaced by '?'. capacity >= 8. */
void mg_sentence(char *text, size_t capacity, const char *format, va_list arguments)
    MG_PRINTF(3, 0);

/* Bytes of the UTF-8 character that bytes[0..length) begins with: 1 to 4, or 0 if it begins with
 * none that is valid (Unicode 15, table 3-7). */
int mg_utf8_length(const char *bytes, int64_t length);

#define MG_TRY(expression)                                                                         \
    do {                                                                                           \
        margin_status mg_status_ = (expression);                                                   \
        if (mg_status_ < 0) return mg_status_;                                                     \
    } while (0)

/* For functions with one exit: needs `margin_status status;` and a label `done:`. */
#define MG_GO(expression)                                                                          \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status < 0) goto done;                                                                 \
    } while (0)

#define MG_REQUIRE(condition, error, status, ...)                                                  \
    do {                                                                                           \
        if (!(condition)) return mg_fail(error, status, __VA_ARGS__);                              \
    } while (0)

/* ARGUMENT, and a return, if a pointer that the caller gave is NULL:
 * MG_GIVEN(error, {spec, "spec"}, {model, "place for the model"}) */
typedef struct mg_given {
    const void *pointer;
    const char *name;
} mg_given;
margin_status mg_check_given(const mg_given *given, int count, margin_error *error);
#define MG_GIVEN(error, ...)                                                                       \
    do {                                                                                           \
        const mg_given mg_given_[] = {__VA_ARGS__};                                                \
        MG_TRY(mg_check_given(mg_given_, MG_LENGTH(mg_given_), error));                            \
    } while (0)

#define MG_LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MG_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MG_MAX(a, b)     ((a) > (b) ? (a) : (b))

#if defined(__GNUC__) && !defined(MG_NO_HINTS)
#define MG_LIKELY(x)   __builtin_expect(!!(x), 1)
#define MG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MG_INLINE      static inline __attribute__((always_inline))
#else
#define MG_LIKELY(x)   (x)
#define MG_UNLIKELY(x) (x)
#define MG_INLINE      static inline
#endif
