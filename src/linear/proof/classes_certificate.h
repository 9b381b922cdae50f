/* The parts of a certificate for several classes: see classes_certificate.c. */
#ifndef MG_CLASSES_CERTIFICATE_H
#define MG_CLASSES_CERTIFICATE_H

#include "linear/objective/objective.h"

typedef struct mg_classes_proof {
    const mg_objective *o;
    const mg_linear_solution *solution;
    double *shares;     /* samples x classes: q */
    double *residuals;  /* samples x classes: c (q - e_y) */
    double *v, *s;      /* classes x columns, classes: sum_i c_i (q_i - e_y) (a_i, 1) */
    double *factor;     /* classes: of shares whose column is too large; 1 */
    double *need;       /* classes: part of what is taken off that goes to this class; 0 */
    bool spare_settled; /* samples with q = e_y are left alone */
    margin_error *error;
} mg_classes_proof;

/* mg_certify of several functions. */
margin_status mg_certify_classes(const mg_objective *o, mg_linear_solution *solution,
                                 margin_error *error);

/* Makes the shares of each sample feasible: no NaN, none below 0, of sum 1. */
margin_status mg_classes_settle(mg_classes_proof *proof);
/* sum c dual(q) - |v|^2 / (2 rho), the latter only with a penalty */
margin_status mg_classes_dual(mg_classes_proof *proof, double *dual);
/* Makes v and s from the shares. */
margin_status mg_classes_sums(mg_classes_proof *proof);
/* Newton's matrix, for the classes 0..classes-2 (the last one is what the others leave; of one
 * function for it): size (classes - 1)(columns + 1), blocks of a class one behind the other, in
 * coordinates (a_ij - mean_j) / deviation_j. */
typedef struct mg_classes_newton {
    mg_heap *heap;
    int64_t size;
    double *matrix; /* size x size: its factor */
    double *mean, *factor, *scale;
} mg_classes_newton;
/* Most numbers for which it is made. */
enum { MG_CLASSES_NEWTON_SIZE = 3000 };
bool mg_classes_newton_can(const mg_objective *o);
/* What the matrix is made of: sum_i c_i (diag q_i - q_i q_i') x (a_i, 1)(a_i, 1)' + rho. */
typedef struct mg_classes_curvature {
    const double *shares;     /* samples x classes: q */
    const double *curvatures; /* one function, samples: c loss'', in place of shares; or NULL */
    const double *c;          /* samples; those that are 0 cost nothing */
    double added;             /* to the diagonal of the matrix scaled to a diagonal of 1 */
    double rho;
    const double *least; /* classes: the curvature that an intercept has at least; NULL: 0 */
} mg_classes_curvature;
margin_status mg_classes_newton_make(const mg_objective *o, const mg_classes_curvature *curvature,
                                     mg_classes_newton *n, margin_error *error);
void mg_classes_newton_free(mg_classes_newton *n);
/* From sums (v, s) to weights w and intercepts b (classes - 1 of them; the last class has 0) with
 * H (w, b) = (v, s). */
void mg_classes_newton_solve(const mg_objective *o, const mg_classes_newton *n, const double *v,
                             const double *s, double *w, double *b);

#endif
