/* How certain weighted columns leave the coefficients of a linear function: the inverse of
 *
 *   sum_i h_i (a_i, 1)(a_i, 1)'
 *
 * by orthogonal factors, the columns that are sums of others, and Newton steps with that inverse.
 * Least squares has h the weights of the samples, a likelihood its curvature. */
#pragma once

#include "learn/inference.h"
#include "linear/squares/least_squares.h"

typedef struct mg_column_variances {
    mg_squares s;        /* the problem whose weights are h */
    mg_problem problem;  /* s.problem */
    mg_squares_factor f; /* the columns that vary */
    int64_t kept_count;  /* of them, in order, those that are no sums of earlier ones */
    int64_t *kept;       /* their numbers in f.column */
    double *lower; /* kept_count x f.count: rows of L with L L' the products of kept columns */
    double *row;   /* f.count */
} mg_column_variances;

/* Takes apart the columns of `problem` (no scale, no shift) with the weights h, samples numbers >=
 * 0, and fills in everything of `out` but weight, distance and what the learner's loss says. Before
 * that nothing is to be freed; afterwards, also on failure, call mg_squares_end(&v->s). About
 * 2 m n^2 + n^3/2 multiply-adds. */
margin_status mg_column_variances_make(mg_fit *fit, const double *h, bool intercept,
                                       mg_column_variances *v, mg_inference *out);
/* The Newton step for the gradient sum_i r_i (a_i, 1): step[columns], and for the intercept. r:
 * samples numbers. */
margin_status mg_column_variances_step(mg_column_variances *v, const double *r, double *step,
                                       double *intercept_step);
