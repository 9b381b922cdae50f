/* The design matrix of a linear model: rows of a problem, an intercept, and affine columns that are
 * never written down.
 *
 *   column j of the model's matrix A:   a_ij = scale_j x_ij + shift_j      (stages that the
 * pipeline did not apply)
 *
 * Every solver reaches the data through these passes, each a sweep over fixed row blocks with f64
 * partial sums, dense or CSR, f32 or f64; so results do not depend on the number of threads, X is
 * never copied, and centring or scaling costs no pass and keeps CSR sparse. Vectors over columns
 * have `columns` numbers in A's units; vectors over samples have `samples` numbers. */
#ifndef MG_DESIGN_H
#define MG_DESIGN_H

#include "learn/learner.h"
#include "linear/loss.h"

typedef struct mg_design {
    margin_context *context;
    const mg_problem *problem;
    const mg_row_ops *ops;
    mg_isa isa;
    int64_t samples, columns, block_rows;
    const double *scale, *shift; /* NULL: 1 and 0 */
    double *work;                /* columns numbers: weights in X's units */
    mg_heap *heap;
} mg_design;

margin_status mg_design_create(margin_context *context, const mg_problem *problem,
                               mg_design *design, margin_error *error);
void mg_design_free(mg_design *design);

/* scores[i] = a_i . w + b */
margin_status mg_design_scores(mg_design *d, const double *w, double b, double *scores);
/* gradient_j = sum_i r_i a_ij, *total = sum_i r_i (either may be NULL) */
margin_status mg_design_gradient(mg_design *d, const double *r, double *gradient, double *total,
                                 margin_error *error);

/* One pass for a loss: scores, loss and gradient at (w, b) while a block of rows is in cache.
 *   t_i = sign_i f_i (margin losses) or f_i - target_i;  value = sum c_i loss(t_i);  r_i = c_i
 * slope(t_i) (times sign_i) scores and slopes may be NULL. c NULL: the samples' weights times
 * `factor`. */
typedef struct mg_loss_sums {
    double value, intercept_gradient;
    int64_t errors; /* misclassified, z <= 0 */
} mg_loss_sums;
margin_status mg_design_loss(mg_design *d, const mg_loss *loss, const double *w, double b,
                             const double *c, double factor, double *scores, double *slopes,
                             double *gradient, mg_loss_sums *sums, margin_error *error);

/* G = sum over chosen samples of d_i (a_i, 1)(a_i, 1)': (columns + 1)^2 numbers, symmetric, full
 * storage, leading dimension columns + 1. chosen NULL: all samples; d NULL: weights of the samples.
 * Dense: packed SYRK tiles; CSR: sparse outer products. `single`: products in f32 (for
 * preconditioners), sums across blocks in f64 all the same. */
margin_status mg_design_gram(mg_design *d, const int64_t *chosen, int64_t count,
                             const double *weights, bool single, double *gram, margin_error *error);

/* Mean and standard deviation of each column of A over a fixed sample of at most 4096 samples (or
 * all, `exact`), for preconditioning. */
margin_status mg_design_moments(mg_design *d, bool exact, double *mean, double *deviation,
                                margin_error *error);

#endif
