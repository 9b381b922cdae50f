/* Exact decimal <-> binary numbers. One table of 128-bit powers of five serves reading (Clinger
 * 1990 for short numbers, Eisel-Lemire: Lemire, "Number parsing at a gigabyte per second", SPE
 * 2021; Mushtak and Lemire 2023: no fallback for an exact 19-digit significand) and shortest
 * printing (Giulietti, "The Schubfach way to render doubles", 2020). No strtod, no locale. The SIMD
 * token readers for bulk text live in src/data/ and fall back to these. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

/* Reads the longest number at the start of [text, end) and returns the position behind it, or NULL
 * if no number starts there. Reads no byte at or after `end`. Signs: one '+' or '-'. Words inf,
 * infinity, nan (any case) count as numbers. */
const char *mg_read_f64(const char *text, const char *end, double *value);
const char *mg_read_f32(const char *text, const char *end, float *value);

/* True for a whole number written out in digits ("9007199254740993") that an f64 does not print as
 * the same digits: it is beyond 2^53, and as a label or identifier it would turn into another one.
 * Leading zeros and a sign do not matter. */
bool mg_number_loses_digits(const char *text, int64_t length);

/* "1 pass", "2 passes": a count and its noun, which is given in the plural. */
typedef struct mg_counted_text {
    char text[64];
} mg_counted_text;
mg_counted_text mg_counted(int64_t count, const char *plural);
