/* Stored values of a sparse row: what they add to the scores of the classes. */
#pragma once

#include "base/status.h"

/* `classes` is a constant where most are added. */
MG_INLINE void mg_bayes_add_some(const int64_t *places, const double *factors, int64_t count,
                                 const double *on, int64_t stride, int classes, double *out) {
    double sum[8];
    for (int k = 0; k < classes; k++)
        sum[k] = out[k];
    for (int64_t e = 0; e < count; e++)
        for (int k = 0; k < classes; k++)
            sum[k] += factors[e] * on[places[e] * stride + k];
    for (int k = 0; k < classes; k++)
        out[k] = sum[k];
}

/* out[k] += factors[e] on[places[e] * classes + k], for each class one after the other. */
MG_INLINE void mg_bayes_add_entries(const int64_t *places, const double *factors, int64_t count,
                                    const double *on, int64_t classes, double *out) {
    int64_t k = 0;
    for (; k + 8 <= classes; k += 8)
        mg_bayes_add_some(places, factors, count, on + k, classes, 8, out + k);
    if (classes & 4) mg_bayes_add_some(places, factors, count, on + k, classes, 4, out + k);
    k += classes & 4;
    if (classes & 2) mg_bayes_add_some(places, factors, count, on + k, classes, 2, out + k);
    k += classes & 2;
    if (classes & 1) mg_bayes_add_some(places, factors, count, on + k, classes, 1, out + k);
}
