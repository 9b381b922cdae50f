/* Random small fits and what must hold of each, for tests/test_fit_cases.c and fuzz/fuzz_fit.c.
 *
 * A case is made of bytes. Every choice has a name ("rows", "svm loss") and is decided by two of
 * the bytes, at a place that the name gives: so a changed byte changes a few choices, and a new
 * option or learner changes the cases that come to use it and leaves the others as they were. */
#ifndef FIT_CASE_H
#define FIT_CASE_H

#include "margin/margin.h"

#include <stdbool.h>

enum { FIT_CASE_BYTES = 512 };
#ifndef FIT_CASE_SECONDS
#define FIT_CASE_SECONDS 1.0 /* the time limit of both contexts */
#endif

typedef struct fit_outcome {
    bool refused;   /* with a sentence */
    bool converged; /* else it stopped early, or was refused */
    char spec[1000], data[200];
    char complaint[1400]; /* what does not hold; empty: all does */
} fit_outcome;

/* Bytes for a case by its number. */
void fit_case_bytes(uint64_t seed, uint8_t bytes[FIT_CASE_BYTES]);

/* Fits, verifies, saves, loads and predicts; `one` and `three` are contexts of one and three
 * threads. size >= 2. */
void fit_case_run(margin_context *one, margin_context *three, const uint8_t *bytes, int64_t size,
                  fit_outcome *outcome);

#endif
