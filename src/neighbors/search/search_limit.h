/* How far f32 values may be from the distances they stand for: see search_tmpl.h. */
#pragma once

#include "neighbors/search/neighbor_index.h"

typedef enum mg_filter { MG_FILTER_SUM, MG_FILTER_SQUARES, MG_FILTER_MOST } mg_filter;

typedef struct mg_reach {
    double scale;   /* of distances, to an upper bound of the filter's norm */
    double centred; /* norm of the query */
    double slack;   /* 1 + relative error of f32 sums */
    bool squares;
    float plain; /* f32 values from which on rounding the coordinates adds less than 2^-9 */
} mg_reach;

/* The query in f32. False: it is too far from the data for that. */
bool mg_search_reach(const mg_neighbors *index, mg_filter filter, const double *q, float *q32,
                     mg_reach *reach);

/* Upper bound of the f32 value of every row at distance `worst` or less. */
MG_INLINE float mg_search_limit(const mg_reach *reach, double worst) {
    const double radius = worst * reach->scale;
    double norm = radius + 0x1.01p-24 * (2 * reach->centred + radius);
    if (reach->squares) norm *= norm;
    norm = norm * reach->slack + 0x1p-90;
    return norm < 0x1p127 ? (float)norm : 0x1p127f;
}

/* The same for the greatest distance of a row whose f32 value is `value`. Squares only, and only
 * where `scale` is that of distances: from the bound of search_tmpl.h the other way round, r <= N +
 * 2^-24 (2 centred + r). */
MG_INLINE float mg_search_limit_above(const mg_reach *reach, float value) {
    if (!(value < 0x1p120f)) return 0x1p127f;
    /* where the query's norm matters little, sqrt(a)^2 (1 + b / sqrt(a))^2 without roots */
    if (value > reach->plain) return value * (float)(1 + 0x1p-8);
    const double stored = sqrt(((double)value + 0x1p-90) * reach->slack);
    const double radius = (stored + 0x1.02p-23 * reach->centred) * (1 + 0x1p-22);
    const double norm = radius + 0x1.01p-24 * (2 * reach->centred + radius);
    return (float)(norm * norm * reach->slack + 0x1p-90);
}

/* A sum of squares above it has a root above `worst`. */
MG_INLINE double mg_search_most(double worst) {
    return worst > 0x1p-400 && worst < 0x1p500 ? worst * worst * (1 + 0x1p-50) : (double)INFINITY;
}
