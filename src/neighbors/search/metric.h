/* The one distance that every method answers with.
 *
 *   d(x, q) = (sum_j |x_j - q_j|^p)^(1/p),  p >= 1;  p = inf: max_j |x_j - q_j|
 *
 * in double precision: differences, terms and sums in a fixed order (eight interleaved sums of
 * whole groups of eight columns, added as ((0+4)+(2+6))+((1+5)+(3+7)), then the rest one by one),
 * no fused operations, so the same bits on every instruction set. Where a sum leaves the range of
 * normal numbers the differences are scaled by a power of two first: coordinates up to
 * MG_NEIGHBORS_LARGEST neither overflow nor vanish. Every step but those of a general p is monotone
 * in |x_j - q_j|, which the search uses: a point that is no nearer in any column has no smaller
 * distance. */
#pragma once

#include "base/status.h"

#include <math.h>
#include <stdbool.h>

/* Coordinates beyond this are refused: their distances may not be numbers. */
#define MG_NEIGHBORS_LARGEST 1e300

typedef enum mg_metric_kind {
    MG_METRIC_SUM,    /* p = 1 */
    MG_METRIC_EUCLID, /* p = 2 */
    MG_METRIC_MOST,   /* p = inf */
    MG_METRIC_POWER   /* any other p > 1 */
} mg_metric_kind;

typedef struct mg_metric {
    mg_metric_kind kind;
    double p;
} mg_metric;

/* p >= 1 or infinity. */
MG_INLINE mg_metric mg_metric_of(double p) {
    mg_metric_kind kind = p == 1          ? MG_METRIC_SUM
                          : p == 2        ? MG_METRIC_EUCLID
                          : isinf(p) != 0 ? MG_METRIC_MOST
                                          : MG_METRIC_POWER;
    return (mg_metric){kind, p};
}

/* |x_j - q_j|; x holds f32 or f64. */
MG_INLINE double mg_metric_gap(const void *x, bool single, const double *q, int64_t j) {
    const double value = single ? (double)((const float *)x)[j] : ((const double *)x)[j];
    return fabs(value - q[j]);
}

MG_INLINE double mg_metric_most(const void *x, bool single, const double *q, int64_t columns) {
    double most = 0;
    for (int64_t j = 0; j < columns; j++) {
        const double gap = mg_metric_gap(x, single, q, j);
        most = gap > most ? gap : most;
    }
    return most;
}

/* Sum of the gaps, or of their squares, each gap times `scale`. */
MG_INLINE double mg_metric_sum(const void *x, bool single, const double *q, int64_t columns,
                               bool squares, double scale) {
    double sum = 0;
    int64_t j = 0;
    if (columns >= 8) {
        double lane[8] = {0};
        for (; j + 8 <= columns; j += 8)
            for (int l = 0; l < 8; l++) {
                const double gap = scale * mg_metric_gap(x, single, q, j + l);
                lane[l] += squares ? gap * gap : gap;
            }
        sum = ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
              ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    }
    for (; j < columns; j++) {
        const double gap = scale * mg_metric_gap(x, single, q, j);
        sum += squares ? gap * gap : gap;
    }
    return sum;
}

/* Sums of squares in [small, large] are as accurate as any. */
#define MG_METRIC_SMALL 0x1p-900
#define MG_METRIC_LARGE 0x1p1000

/* The rare ways: sums of squares out of range, and general p (metric.c). */
double mg_metric_scaled(const mg_metric *metric, const void *x, bool single, const double *q,
                        int64_t columns);

/* The distance. */
MG_INLINE double mg_metric_distance(const mg_metric *metric, const void *x, bool single,
                                    const double *q, int64_t columns) {
    switch (metric->kind) {
    case MG_METRIC_SUM:
        return mg_metric_sum(x, single, q, columns, false, 1);
    case MG_METRIC_MOST:
        return mg_metric_most(x, single, q, columns);
    case MG_METRIC_EUCLID: {
        const double sum = mg_metric_sum(x, single, q, columns, true, 1);
        if (MG_LIKELY(sum >= MG_METRIC_SMALL && sum <= MG_METRIC_LARGE)) return sqrt(sum);
        break;
    }
    case MG_METRIC_POWER:
        break;
    }
    return mg_metric_scaled(metric, x, single, q, columns);
}
