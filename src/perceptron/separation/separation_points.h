/* The points of the nearest-point problem as the data gives them: z_i = y_i d (x_i - c), with y_i e
 * appended where the intercept counts in the norm (there d = e, c = 0). Also what is measured on
 * the raw data: column ranges, scores of all rows, the exact margin. */
#pragma once

#include "learn/learner.h"

typedef struct mg_points {
    margin_context *context;
    const mg_problem *problem;
    const mg_row_ops *ops;
    mg_isa isa;
    bool augmented;
    int64_t columns, dimension; /* columns, + 1 if augmented */
    double *centre;             /* columns numbers; NULL: 0 */
    const double *scale;        /* columns numbers: d */
    double unit;                /* e: what the appended number is */
    bool sparse;                /* there is no centre, and a row says where its point is not 0 */
} mg_points;

typedef struct mg_ranges {
    double *low, *high, *mean; /* columns numbers each */
} mg_ranges;
/* The three arrays lie in one block that starts at low; release it with mg_free. */
margin_status mg_ranges_find(margin_context *context, const mg_problem *problem, mg_ranges *ranges,
                             margin_error *error);
/* False where a range is beyond double precision. */
bool mg_ranges_are_finite(const mg_ranges *ranges, int64_t columns);

typedef struct mg_twin {
    double high, low;
} mg_twin;

void mg_point_write(const mg_points *points, int64_t sample, double *z);
/* sum += c z. Of points that are not sparse `z` is scratch, here and below. */
void mg_point_add(const mg_points *points, int64_t sample, double c, double *z, mg_twin *sum);
double mg_point_dot(const mg_points *points, int64_t sample, const double *g, double *z);
/* scores[i] = z_i . g for all samples, in parallel. `raw` is scratch of `columns` numbers. */
margin_status mg_points_score(const mg_points *points, const double *g, double *raw,
                              double *scores);

/* Extremes of w.x over each class, in double-double arithmetic. */
typedef struct mg_extremes {
    mg_twin least_positive, greatest_negative;
} mg_extremes;
margin_status mg_extremes_find(margin_context *context, const mg_problem *problem, const double *w,
                               mg_extremes *extremes, margin_error *error);
double mg_twin_plus(mg_twin a, double b); /* rounded sum */
mg_twin mg_twin_add_product(mg_twin sum, double a, double b);
