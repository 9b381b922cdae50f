/* The objective of a linear model with a function f_k(a) = w_k . a + b_k for each of K classes, all
 * trained together, the greatest of which wins:
 *
 *   P(W, b) = sum_i c_i loss(f(a_i), y_i) + rho/2 |W|^2        b free (or absent: 0)
 *
 *   softmax   log sum_k exp f_k - f_y
 *   hinge     max_k (1[k != y] + f_k) - f_y      (Crammer and Singer)
 *
 * with the penalties and the c_i of objective.h. Both losses are the greatest value of
 * (q - e_y) . f + dual(q) over the simplex of shares q: dual(q) = -sum q log q for the softmax,
 * where the best shares are the probabilities, and 1 - q_y for the hinge.
 *
 * W is classes x columns in A's units (design.h), b has `classes` numbers, and what belongs to
 * samples is samples x classes. A pass over dense rows computes scores, losses and gradient of a
 * few rows while they are in cache. Sparse rows have a copy by columns, so that the gradient needs
 * no sums of its own for each thread. Passes fail with CANCELLED or MEMORY only. */
#ifndef MG_CLASSES_H
#define MG_CLASSES_H

#include "linear/objective/objective.h"

typedef enum mg_classes_loss { MG_CLASSES_SOFTMAX, MG_CLASSES_HINGE } mg_classes_loss;

/* The stored values of a sparse matrix by column: of column j entries [starts[j], starts[j + 1]),
 * ascending by sample. */
typedef struct mg_sparse_columns {
    int64_t *starts;
    int32_t *samples;
    double *values;
} mg_sparse_columns;

typedef struct mg_classes {
    mg_design *design; /* borrowed */
    mg_classes_loss loss;
    mg_penalty penalty;
    bool intercept;
    int64_t classes, columns, samples;
    double *c;      /* samples; factor included */
    double *totals; /* classes: sums of c over the samples of a class */
    /* of the passes: */
    int64_t block_rows, chunk_rows, scratch; /* rows; numbers a worker needs */
    double *work;                            /* scratch for each worker */
    double *offsets;                         /* classes */
    double *slopes;                          /* sparse: samples x classes */
    double *weights;                         /* sparse: columns x classes, X's units */
    mg_sparse_columns by_column;             /* sparse */
    void *packed, *centre, *lost;            /* dense: see classes_pass.c */
} mg_classes;

margin_status mg_classes_create(mg_design *design, mg_classes_loss loss, const mg_penalty *penalty,
                                bool intercept, mg_classes *o, margin_error *error);
void mg_classes_free(mg_classes *o);

typedef struct mg_classes_point {
    double *gradient;           /* classes x columns, rho W included; NULL: not wanted */
    double *intercept_gradient; /* classes; wanted with the gradient; 0 without intercept */
    double *shares;             /* samples x classes: the probabilities; NULL: not wanted */
    double value;               /* P */
    int64_t errors;             /* samples whose own score is not above all others */
} mg_classes_point;
/* `single`: f32 products over f32 rows, with sums across a few rows and everything else in f64; for
 * steps, not for proofs. The hinge has no gradient and no shares. */
margin_status mg_classes_pass(mg_classes *o, const double *w, const double *b, bool single,
                              mg_classes_point *point, margin_error *error);

/* gradient = sum_i c_i (shares_i - e_y) a_i' without penalty; sums of the same without a_i. */
margin_status mg_classes_gradient(mg_classes *o, const double *shares, double *gradient,
                                  double *sums, margin_error *error);

/* scores: samples x classes, in f64 */
margin_status mg_classes_scores(mg_classes *o, const double *w, const double *b, double *scores,
                                margin_error *error);

/* rho/2 |W|^2 */
double mg_classes_penalty(const mg_classes *o, const double *w);

/* A solution and how good it provably is. */
typedef struct mg_classes_solution {
    double *w, *b;  /* owned by the caller; b right behind w */
    double *shares; /* samples x classes: q, owned by the caller, or NULL: those of the scores
                       (softmax) */
    double primal, dual, gap;
    double tolerance; /* of the gap: what is within it needs no closer look */
    int64_t iterations, passes;
    margin_status status;
    char why[400];
} mg_classes_solution;

/* The certificate (classes_certificate.c derives it): P, and the dual objective at a feasible point
 * made from solution->shares or from the scores; given shares are replaced by the feasible ones.
 * Sets primal, dual and gap. Two passes in f64. */
margin_status mg_classes_certify(mg_classes *o, mg_classes_solution *solution, margin_error *error);

/* Takes the mean over the classes off weights and intercepts: the loss does not change, the penalty
 * becomes less. */
void mg_classes_centre(const mg_classes *o, double *w, double *b);

/* ---- Sparse columns (classes_sparse.c) ---- */
margin_status mg_sparse_columns_make(const mg_design *d, mg_sparse_columns *columns,
                                     margin_error *error);
void mg_sparse_columns_free(mg_heap *heap, mg_sparse_columns *columns);
/* weights[j * classes + k] = scale_j w[k * columns + j] */
margin_status mg_classes_turn_weights(mg_classes *o, const double *w, margin_error *error);
/* scores[r * classes + k] for samples [first, first + count) without offsets */
void mg_classes_sparse_scores(const mg_classes *o, int64_t first, int64_t count, double *scores);
/* gradient[k * columns + j] = sum over the entries of column j of value * slopes[sample][k] */
margin_status mg_classes_sparse_gradient(mg_classes *o, double *gradient, margin_error *error);

#endif
