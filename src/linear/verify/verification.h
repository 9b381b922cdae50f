/* The parts of a verification: see linear_verify.c. */
#pragma once

#include "linear/objective/linear_options.h"
#include "math/products/extended_factor.h"

typedef long double mg_real;

typedef struct mg_verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_loss *loss;
    const mg_hypothesis *h;
    const mg_linear_options *options;
    int64_t samples, columns, functions;
    mg_real *c;      /* samples */
    mg_real *scores; /* samples x functions */
    mg_real *u;      /* samples x functions: dual variables; of coupled losses the shares q */
    mg_real *v;      /* functions x (columns + 1): sum_i p_ik (a_i, 1), see find_sums */
    mg_real *blur;   /* the same: how far rounding may have moved the training's */
    mg_real *centre; /* columns + 1: what may be taken off each; 0 of some */
    mg_real *held;   /* columns + 1: in how many rows it is not 0; then as find_sums says */
    mg_real *far;    /* columns + 1: sum_i c_i size^2; 0 of constants (mg_verify_columns) */
    mg_real objective, rounding, own; /* own: how far the gap may be off that is found here */
    mg_real unit_of_rows;             /* of sums over rows (mg_rows_rounding) */
    /* The row at hand: its entries, of which the last one is the 1 of the intercept. */
    int64_t entries, *at;    /* columns + 1: their columns */
    mg_real *values, *sizes; /* columns + 1: of a_ij, and of the terms that a_ij is made of */
    double *row;             /* columns: as it is stored */
    mg_real *terms;          /* functions: absolute values of what its scores are sums of */
} mg_verification;

/* Reads row `sample`. CANCELLED. */
margin_status mg_verify_row(mg_verification *k, int64_t sample);

/* The sign of a sample's class, 1 of a number; whether a function is that of its class. */
MG_INLINE mg_real mg_verify_sign(const mg_verification *k, int64_t sample) {
    return k->loss->margin_based ? (mg_real)k->problem->sign[sample] : 1.0L;
}
MG_INLINE bool mg_verify_is_own(const mg_verification *k, int64_t sample, int64_t function) {
    return function == k->problem->code[sample];
}
/* q_k - 1[k = y], exactly where it is small. */
mg_real mg_verify_share(const mg_verification *k, int64_t sample, int64_t function);
/* Sets u to the dual variables of the model, made feasible (verify_dual.c). MEMORY, CANCELLED. */
margin_status mg_verify_dual(mg_verification *k);

/* The second derivative of c_i loss_i in the scores k and l. */
mg_real mg_verify_curvature(const mg_verification *k, int64_t sample, int64_t a, int64_t b);

/* The bound by curvature (verify_curvature.c): P - P* at most *distance; INFINITY: it says nothing.
 * v is the gradient of the loss at the weights, u the dual variables of the scores. *moved: what
 * k->blur may make of the distance. MEMORY, CANCELLED. */
margin_status mg_verify_distance(mg_verification *k, mg_real *distance, mg_real *moved);

/* verify_columns.c: constant columns have weight 0, where training solves directly; after the
 * objective and before other sums. CANCELLED. */
margin_status mg_verify_columns(mg_verification *k);
/* Least squares without a penalty, solved directly: rank and least norm, from the factor of H
 * (`folded`: from rows); x: room for f->size. Or, of more columns, that they are not compared. */
bool mg_verify_claims_rank(const mg_verification *k);
/* f->count becomes that of a lower rank that is claimed, where all columns but those that are then
 * kept are sums of them but for rounding. MEMORY, CANCELLED. */
margin_status mg_verify_rounded(const mg_verification *k, mg_extended_factor *f,
                                const mg_real *scale);
void mg_verify_dependence(mg_verification *k, const mg_extended_factor *f, const mg_real *scale,
                          bool folded, mg_real *x);
void mg_verify_many_columns(mg_verification *k);
