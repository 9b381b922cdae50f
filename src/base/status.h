/* Error text and the macros that keep bodies flat. */
#ifndef MG_STATUS_H
#define MG_STATUS_H

#include "margin/base.h"

#include <stdarg.h>

#define MG_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* Writes the sentence into *error (if not NULL) and returns `status`, so that failing is one line:
 *   return mg_fail(error, MARGIN_ERROR_DATA, "row %lld: ...", ...);
 * The format must not contain %f, %e or %g (they follow the locale): print numbers with
 * margin_number_print_f64 and pass %s. */
margin_status mg_fail(margin_error *error, margin_status status, const char *format, ...)
    MG_PRINTF(3, 4);

/* The same with a place: line and column of a text (0: unknown), data row (0: none). */
typedef struct mg_place {
    int64_t line, column, row, position;
} mg_place;
margin_status mg_fail_at(margin_error *error, margin_status status, mg_place place,
                         const char *format, ...) MG_PRINTF(4, 5);

/* Out of memory: says how many bytes were asked for and for what. */
margin_status mg_fail_memory(margin_error *error, size_t bytes, const char *purpose);

/* Number for an error sentence: mg_number(x).text is valid until the end of the full expression. */
typedef struct mg_number_text {
    char text[MARGIN_NUMBER_TEXT];
} mg_number_text;
mg_number_text mg_number(double value);

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

#define MG_LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MG_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MG_MAX(a, b)     ((a) > (b) ? (a) : (b))

#if defined(__GNUC__)
#define MG_LIKELY(x)   __builtin_expect(!!(x), 1)
#define MG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MG_INLINE      static inline __attribute__((always_inline))
#else
#define MG_LIKELY(x)   (x)
#define MG_UNLIKELY(x) (x)
#define MG_INLINE      static inline
#endif

#endif
