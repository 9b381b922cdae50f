/* How little the squares of a combination of sparse columns can be, without their products. */
#pragma once

#include "learn/exact/column_groups.h"
#include "learn/exact/least_eigenvalue.h"

/* N'CN with N = (A - mean) / norm, A with the problem's scale and shift; norm 0: the column is left
 * out. */
typedef struct mg_column_curvature {
    margin_context *context;
    const mg_stop *stop;
    const mg_problem *problem;
    const double *weights;     /* samples: C */
    const double *mean, *norm; /* columns */
    /* Directions that the columns do not see, of which the least eigenvalue is not to be: NULL. */
    const mg_column_groups *groups;
    mg_least_equation *equation; /* with this matrix */
} mg_column_curvature;
/* What a report says of a gap that rests on it. */
#define MG_LEAST_DRAWN                                                                             \
    "; the gap rests on a bound of the least eigenvalue that is wrong for one random draw in 5e12"
/* *least: a bound of its least eigenvalue but for one draw in 5e12
 * (learn/exact/least_eigenvalue.h), or 0: none was found with at most so many products of four
 * vectors, or rows are dense; the equation is then not solved. OK, STOPPED_TIME, MEMORY, CANCELLED
 * without a sentence. */
margin_status mg_least_curvature(const mg_column_curvature *c, int64_t most, double *least,
                                 margin_error *error);
