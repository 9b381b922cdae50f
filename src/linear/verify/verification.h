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
    mg_real objective, rounding;
    mg_real own;          /* how far the gap that is found here may be off */
    mg_real unit_of_rows; /* of sums over rows (mg_rows_rounding) */
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

/* A row of the squared hinge counts if it is so far inside the margin: there the curvature is that
 * of a square. With G, and all those rows still inside wherever sqrt(d'Hd) <= 2 G, their distance
 * is at most G^2/2 as well: on the edge of that ball P is not below P(w). The others, whose losses
 * are convex, may have their part in the gradient; where that leaves the span of H, they are taken
 * out of it, and as no loss is below 0 they add at most what they have. */
MG_INLINE double mg_verify_depth(const mg_verification *k, int64_t sample) {
    return 1.0 - (double)(k->scores[sample] * (mg_real)k->problem->sign[sample]);
}
MG_INLINE bool mg_verify_counts(const mg_verification *k, int64_t sample) {
    const double least = 1e-3;
    return k->loss->kind != MG_LOSS_SQUARED_HINGE || mg_verify_depth(k, sample) >= least;
}

/* The bound by curvature (verify_curvature.c): P - P* at most *distance; INFINITY: it says nothing.
 * v is the gradient of the loss at the weights, u the dual variables of the scores. *moved: what
 * k->blur may make of the distance. MEMORY, CANCELLED. */
margin_status mg_verify_distance(mg_verification *k, mg_real *distance, mg_real *moved);

bool mg_verify_is_free(const mg_verification *k); /* of a penalty */
/* verify_columns.c: constant columns (where there is no penalty, k->far tells them) have weight 0,
 * where training solves directly; after the objective and before other sums. CANCELLED. */
margin_status mg_verify_columns(mg_verification *k);
/* Least squares without a penalty, solved directly: rank and least norm, from the factor of H
 * (`folded`: made from rows); x: room for f->size. Or, of more columns, that none is compared. */
bool mg_verify_claims_rank(const mg_verification *k);
void mg_verify_dependence(mg_verification *k, const mg_extended_factor *f, const mg_real *scale,
                          bool folded, mg_real *x);
void mg_verify_many_columns(mg_verification *k);
/* Least squares without a penalty: the rank is that, and whether the weights are the least. */
void mg_verify_rank(mg_verification *k, int64_t rank, bool least);

/* P - P* at most, from G^2 and L^2; INFINITY beyond this L G. */
static const mg_real mg_verify_most_reach = 1.0L / 3.0L; /* as in proof/curvature_bound.c */
/* What a sample's part of L^2 may be at most, times G^2: of the squared hinge half the way out. */
MG_INLINE mg_real mg_verify_most_length(const mg_verification *k, int64_t sample) {
    if (k->loss->kind != MG_LOSS_SQUARED_HINGE) return mg_verify_most_reach * mg_verify_most_reach;
    return (mg_real)(mg_verify_depth(k, sample) * mg_verify_depth(k, sample)) / 4.0L;
}
mg_real mg_verify_at_reach(mg_real square, mg_real reach);
/* verify_products.c: mg_verify_distance of more sparse columns than a factor is made of, of one
 * function without a penalty, and what least squares says of its rank. INFINITY: no bound. */
margin_status mg_verify_by_products(mg_verification *k, mg_real *distance, mg_real *moved);
/* verify_rows.c: and where that says nothing, of least squares. */
margin_status mg_verify_between_rows(mg_verification *k, mg_real *distance, mg_real *moved);
