/* A small lasso: the model of an objective over some columns, solved where its matrix lies in
 * cache.
 *
 *   minimise over u   q.(u - u0) + (u - u0)'H(u - u0)/2 + sum_k lambda_k |u_k|
 *
 * H: symmetric, positive semidefinite, dense. Coordinate descent finds which u_k are 0 (Friedman,
 * Hastie, Tibshirani, "Regularization paths for generalized linear models via coordinate descent",
 * J. Stat. Software 33, 2010), in turns with exact steps on the others: a Cholesky factor of their
 * part of H gives the best point for the signs they have, and the way there is followed as far as
 * the objective falls, through changes of signs (as in Lee, Battle, Raina, Ng, "Efficient sparse
 * coding algorithms", 2007). So closely related columns cost no more than others. */
#pragma once

#include "base/context.h"
#include "base/machine/cpu.h"

typedef struct mg_quadratic {
    margin_context *context;
    mg_isa isa;
    int64_t count, stride; /* of H: numbers a row */
    const double *h;
    const double *lambda; /* count, > 0 */
    double *u;            /* count: u0, then the solution */
    double *r;            /* count: q, then q + H (u - u0) */
    const mg_stop *stop;  /* only its time and cancellation count */
    margin_error *error;
} mg_quadratic;

/* Until |r_k + lambda_k sign(u_k)| (for u_k = 0: the excess of |r_k| over lambda_k) is at most
 * tolerance lambda_k for every k, or rounding or the time ends progress: never worse than it began.
 * count^2 multiply-adds a round, and the exact steps where they pay. CANCELLED, MEMORY. */
margin_status mg_quadratic_solve(mg_quadratic *q, double tolerance);
