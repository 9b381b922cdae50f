/* Stored values of a sparse row whose columns hold 0/1 numbers, or counts. */
#pragma once

#include "base/status.h"

#include <float.h>
#include <stdbool.h>

/* What the values count, 0/1 numbers only those above 0: their number, or -1 if one is NaN,
 * infinite, or with `counts` negative. Nothing branches on a value. */
MG_INLINE int64_t mg_bayes_factors(bool counts, int64_t count, int64_t *places, double *factors) {
    const double least = counts ? 0 : -DBL_MAX;
    int64_t used = 0, bad = 0;
    for (int64_t e = 0; e < count; e++) {
        const double value = factors[e];
        bad += !(value >= least) + !(value <= DBL_MAX);
        places[used] = places[e];
        factors[used] = counts ? value : 1;
        used += counts || value > 0;
    }
    return bad ? -1 : used;
}
