/* What the files of dual coordinate descent share (solver_dual_cd.c derives the method).
 *
 * Rows are read as they lie in x, in its types; weights are kept in X's units, so that a scale of
 * the columns costs one factor for each stored value and a shift nothing:
 *
 *   a_ij = scale_j x_ij + shift_j     weights_j = scale_j w_j     f_i = x_i . weights + b
 *
 * with b the intercept that goes with x alone (a free intercept takes the shift in). */
#ifndef MG_DUAL_CD_H
#define MG_DUAL_CD_H

#include "linear/solver.h"

/* Inner loops over one row, for the types of x. */
typedef struct mg_dual_rows {
    /* weights_j += c factor_j x_ij */
    void (*add_scaled)(const margin_matrix *x, int64_t row, double c, const double *factor,
                       double *weights);
    /* sum_j factor_j x_ij^2; factor NULL: 1 */
    double (*square)(const margin_matrix *x, int64_t row, const double *factor);
    /* Begins to fetch a row. */
    void (*prefetch)(const margin_matrix *x, int64_t row);
} mg_dual_rows;
const mg_dual_rows *mg_dual_rows_for(const margin_matrix *x);

typedef struct mg_dual_cd {
    mg_linear_job *job;
    mg_linear_solution *solution;
    const mg_objective *objective;
    mg_design *design;
    const mg_dual_rows *rows;
    mg_arena arena;
    int64_t samples, columns;
    double *weights; /* columns, X's units */
    double *factor;  /* columns: scale_j^2 / rho; NULL: all 1 / rho */
    double b;        /* of x alone */
    double spread;   /* tau: variance of the bias coordinate; 0 without intercept */
    double sum;      /* S = sum alpha_i y_i */
    double *alpha;   /* samples */
    double *logit;   /* samples, logistic: log(alpha / (c - alpha)); NaN: not visited yet */
    double *bend;    /* samples: second derivative of a step, without that of the loss */
    int64_t *order;  /* samples; the first `active` are visited */
    int64_t active;
    double highest, lowest; /* derivatives of the last epoch: what lies beyond leaves */
    double constant_value;  /* P with w = 0 and the best intercept */
    int64_t shuffles;
    int64_t proven; /* epochs after which the solution was certified last */
    /* of the last epoch, each sample where it was visited */
    double loss;  /* sum c loss */
    double slack; /* the gap, but for what making S = 0 will cost */
    double most;  /* greatest violation of optimality */
} mg_dual_cd;

/* One epoch over the active samples in a new order. CANCELLED only. */
margin_status mg_dual_cd_epoch(mg_dual_cd *m);

/* ---- Solution (dual_cd_proof.c) ---------------------------------------------------------------
 */

/* Weights, intercept and dual variables as they are, in A's units, into the solution. */
void mg_dual_cd_weights(mg_dual_cd *m);
/* The same with the best intercept for those weights, and for the hinges the best length of them:
 * one pass. */
margin_status mg_dual_cd_write(mg_dual_cd *m);
/* Writes and certifies: three passes. */
margin_status mg_dual_cd_prove(mg_dual_cd *m);
/* The last proof, if the method goes on no more: `ended` is OK, STOPPED_ITERATIONS, _TIME or
 * _STALLED. Sets status and reason. */
margin_status mg_dual_cd_end(mg_dual_cd *m, margin_status ended);

#endif
