/* Newton's matrix of an objective: see newton_matrix.c. */
#pragma once

#include "linear/objective/objective.h"

/* Newton's matrix, for the classes 0..classes-2 (the last one is what the others leave; of one
 * function for it): size (classes - 1)(columns + 1), blocks of a class one behind the other, in
 * coordinates (a_ij - mean_j) / deviation_j. */
typedef struct mg_newton_matrix {
    int64_t blocks, size;
    double *matrix; /* size x size: its factor */
    double *mean, *factor, *scale;
    double least; /* exact: its least eigenvalue, with a diagonal of 1, about; 0: it has none */
} mg_newton_matrix;
/* Most numbers for which it is made, where the memory limit leaves room for three such matrices. */
enum { MG_NEWTON_MATRIX_SIZE = 4096 };
bool mg_newton_matrix_can(const mg_objective *o);
/* Memory for it, once. */
margin_status mg_newton_matrix_new(const mg_objective *o, mg_arena *arena, mg_newton_matrix *n,
                                   margin_error *error);
/* What the matrix is made of: sum_i c_i (diag q_i - q_i q_i') x (a_i, 1)(a_i, 1)' + rho. */
typedef struct mg_newton_weights {
    const double *weights;       /* samples x classes: q; of one function samples: c loss'' */
    bool exact;                  /* nothing is added where rounding has made it indefinite */
    const bool *independent;     /* exact, columns + 1: the others are left out; NULL: none */
    const double *mean, *factor; /* coordinates, columns numbers; NULL: those of the rows */
    bool single;                 /* products in f32 */
} mg_newton_weights;
margin_status mg_newton_matrix_make(const mg_objective *o, const mg_newton_weights *curvature,
                                    mg_newton_matrix *n, margin_error *error);
/* x = H^-1 x in its coordinates. */
void mg_newton_matrix_within(const mg_objective *o, const mg_newton_matrix *n, double *x);
/* From sums (v, s) to weights w and intercepts b (classes - 1 of them; the last class has 0) with
 * H (w, b) = (v, s). */
void mg_newton_matrix_solve(const mg_objective *o, const mg_newton_matrix *n, const double *v,
                            const double *s, double *w, double *b);

/* ---- Where Newton's method goes from a point: to an optimum, or without end, as where a penalty
 * is missing the loss may fall for ever in some direction ---- */

/* Without a penalty it may: it has no least value where classes separate. */
bool mg_is_endless(const mg_objective *o);
/* Why there is no optimum without a penalty. */
typedef struct mg_endless {
    bool separated; /* every row is on its side */
    bool recession; /* the loss falls for ever in some direction */
    bool separable; /* and in that every row gets on its side */
    int64_t
        column; /* which is the weight of this one, counted from 1 (mg_column_recedes); 0: not */
} mg_endless;
/* Whether it falls for ever in one weight. */
margin_status mg_find_column(const mg_objective *o, mg_endless *endless, margin_error *error);
/* Or in a direction of Newton's method from (w, b): a few steps are taken until that is plain. */
margin_status mg_find_recession(const mg_objective *o, const double *w, const double *b,
                                mg_endless *endless, margin_error *error);
