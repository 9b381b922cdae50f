/* A small lasso as in quadratic.h, whose matrix is never made: sweeps over sparse columns.
 *
 *   minimise over u   q.(u - u0) + (u - u0)'H(u - u0)/2 + sum_k lambda_k |u_k|
 *   H = X'X - m m' + diag(ridge)
 *
 * X: columns of single precision, the longest first, which is by far the best order for text. m m':
 * what the best intercept takes off. One sweep costs the stored values of the columns that may
 * still move (Yuan, Ho, Lin, "An improved GLMNET for L1-regularized logistic regression", JMLR 13,
 * 2012). After every few, Anderson's extrapolation takes out the slow directions (Bertrand and
 * Massias, "Anderson acceleration of coordinate descent", AISTATS 2021). All on one thread, in one
 * order. */
#pragma once

#include "base/context.h"

typedef struct mg_sparse_column {
    double q, mean, ridge, lambda, before; /* before: u0 */
    double curvature, inverse; /* of the diagonal of H, and 1 / curvature; 0: u_k stays */
} mg_sparse_column;

typedef struct mg_sparse_quadratic {
    margin_context *context;
    int64_t count, rows;
    const int64_t *starts; /* count + 1 */
    const int32_t *samples;
    const float *values;
    const mg_sparse_column *column; /* count */
    double *u;                      /* count: u0, then better */
    int most;                       /* sweeps */
    double slack;  /* a u_k at 0 is left out once its slope is this share of lambda_k below it */
    int64_t *read; /* values, added up */
    margin_error *error;
} mg_sparse_quadratic;

/* Until no u_k is off by more than tolerance lambda_k, or `most` sweeps. MEMORY, CANCELLED. */
margin_status mg_sparse_quadratic_solve(const mg_sparse_quadratic *q, double tolerance);
