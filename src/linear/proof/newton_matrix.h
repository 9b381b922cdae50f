/* Newton's matrix of an objective: see newton_matrix.c. */
#ifndef MG_NEWTON_MATRIX_H
#define MG_NEWTON_MATRIX_H

#include "linear/objective/objective.h"

/* Newton's matrix, for the classes 0..classes-2 (the last one is what the others leave; of one
 * function for it): size (classes - 1)(columns + 1), blocks of a class one behind the other, in
 * coordinates (a_ij - mean_j) / deviation_j. */
typedef struct mg_newton_matrix {
    mg_heap *heap;
    int64_t size;
    double *matrix; /* size x size: its factor */
    double *mean, *factor, *scale;
    double least; /* exact: its least eigenvalue, with a diagonal of 1, about; 0: it has none */
} mg_newton_matrix;
/* Most numbers for which it is made. */
enum { MG_NEWTON_MATRIX_SIZE = 3000 };
bool mg_newton_matrix_can(const mg_objective *o);
/* What the matrix is made of: sum_i c_i (diag q_i - q_i q_i') x (a_i, 1)(a_i, 1)' + rho. */
typedef struct mg_newton_weights {
    const double *shares;     /* samples x classes: q */
    const double *curvatures; /* one function, samples: c loss'', in place of shares; or NULL */
    const double *c;          /* samples; those that are 0 cost nothing */
    double rho;
    bool exact;              /* nothing is added where rounding has made it indefinite */
    const bool *independent; /* exact, columns + 1: the others are left out; NULL: none */
} mg_newton_weights;
margin_status mg_newton_matrix_make(const mg_objective *o, const mg_newton_weights *curvature,
                                    mg_newton_matrix *n, margin_error *error);
void mg_newton_matrix_free(mg_newton_matrix *n);
/* From sums (v, s) to weights w and intercepts b (classes - 1 of them; the last class has 0) with
 * H (w, b) = (v, s). */
void mg_newton_matrix_solve(const mg_objective *o, const mg_newton_matrix *n, const double *v,
                            const double *s, double *w, double *b);

#endif
