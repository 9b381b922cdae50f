/* The moments of a Gaussian column in a class: three numbers. */
#pragma once

#include "base/status.h"

#include <string.h>

enum { MG_BAYES_WEIGHT, MG_BAYES_MEAN, MG_BAYES_SQUARES, MG_BAYES_MOMENTS };

/* Joins moments of two sets of values (Chan, Golub and LeVeque, "Updating formulae and a pairwise
 * algorithm for computing sample variances", 1979). */
MG_INLINE void mg_bayes_join_moments(double *into, const double *from) {
    const double a = into[MG_BAYES_WEIGHT], b = from[MG_BAYES_WEIGHT];
    if (!(b > 0)) return;
    if (!(a > 0)) {
        memcpy(into, from, MG_BAYES_MOMENTS * sizeof *into);
        return;
    }
    const double total = a + b, difference = from[MG_BAYES_MEAN] - into[MG_BAYES_MEAN];
    into[MG_BAYES_WEIGHT] = total;
    into[MG_BAYES_MEAN] += difference * (b / total);
    into[MG_BAYES_SQUARES] += from[MG_BAYES_SQUARES] + difference * difference * (a * (b / total));
}

/* West, "Updating mean and variance estimates: an improved method", 1979. */
MG_INLINE void mg_bayes_add_moment(double *moments, double value, double weight) {
    const double before = moments[MG_BAYES_WEIGHT], total = before + weight;
    const double difference = value - moments[MG_BAYES_MEAN];
    moments[MG_BAYES_WEIGHT] = total;
    moments[MG_BAYES_MEAN] += difference * (weight / total);
    moments[MG_BAYES_SQUARES] += difference * difference * (before * (weight / total));
}
