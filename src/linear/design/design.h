/* The design matrix of a linear model: rows of a problem, an intercept, and affine columns that are
 * never written down.
 *
 *   column j of the model's matrix A:   a_ij = scale_j x_ij + shift_j
 *
 * where scale and shift come from stages that the pipeline did not apply (mg_problem). Every solver
 * reaches the data through these passes, each a sweep over fixed row blocks with f64 partial sums,
 * dense or CSR, f32 or f64; so results do not depend on the number of threads, X is never copied,
 * and centring or scaling costs no pass and keeps CSR sparse.
 *
 * Vectors over columns have `columns` numbers in A's units; vectors over samples have `samples`
 * numbers. A design is for one call at a time. Every pass fails with CANCELLED or MEMORY only, and
 * then leaves outputs undefined. */
#pragma once

#include "learn/learner.h"
#include "math/losses/loss.h"
#include "math/rows/column_ops.h"

typedef struct mg_design {
    margin_context *context;
    const mg_problem *problem;
    const mg_row_ops *ops;
    mg_isa isa;
    int64_t samples, columns;
    int64_t block_rows;          /* of every pass that sums over rows: a constant of the shape */
    const double *scale, *shift; /* the problem's; NULL: 1 and 0 */
    mg_heap *heap;
    mg_arena arena; /* of what follows */
    /* of the passes themselves: */
    const struct mg_design_rows *rows; /* dense; NULL for sparse rows */
    const mg_column_ops *column_ops;   /* all rows of data by columns; else NULL */
    int64_t chunk_rows;                /* rows that are read twice while they are near */
    int64_t walk_rows;                 /* the same, of a pass over all samples by columns */
    double *centre; /* dense with shift: a_ij = scale_j (x_ij - centre_j); NULL: not so */
    double *offset; /* columns: what mg_design_take_offsets took off (and as many shifts); NULL */
    double *work;   /* columns numbers: weights in X's units */
    struct mg_pass_sums *sums; /* with `columns` numbers of a gradient */
    struct mg_made_rows *made; /* rows made or put together when they are read, per worker;
                                  NULL: none are */
    struct mg_sparse_columns *by_column; /* sparse: a copy by columns, or NULL */
} mg_design;

/* Whether that takes no more than a part of the memory limit: by the limit and not by what is left
 * of it, which may depend on what other threads do. */
MG_INLINE bool mg_fits_limit(const mg_heap *heap, int64_t bytes, int64_t parts) {
    const int64_t limit = mg_heap_limit(heap);
    return limit == 0 || bytes <= limit / parts;
}

/* x_0 + x_1 + ..., in this order. */
MG_INLINE double mg_sum(const double *x, int64_t count) {
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++)
        sum += x[k];
    return sum;
}

margin_status mg_design_create(margin_context *context, const mg_problem *problem,
                               mg_design *design, margin_error *error);
void mg_design_free(mg_design *design);
/* Of dense rows the mean of each column that is far from 0 beside its deviation is taken off A, so
 * that scores keep their digits: columns, shifts and intercepts of the design are then those of the
 * centred columns. Of other columns it stays: a row near 0 would get terms as large as the mean.
 * For objectives with an intercept. */
margin_status mg_design_take_offsets(mg_design *d, margin_error *error);
/* The intercept that goes with w and the design's b in A as the problem has it. */
double mg_design_intercept(const mg_design *d, const double *w, double b);

/* scores[i] = a_i . w + b */
margin_status mg_design_scores(mg_design *d, const double *w, double b, double *scores,
                               margin_error *error);

/* gradient_j = sum_i r_i a_ij, *total = sum_i r_i; total may be NULL. */
margin_status mg_design_gradient(mg_design *d, const double *r, double *gradient, double *total,
                                 margin_error *error);

/* v_j = scale_j w_j; returns sum_j shift_j w_j: a_i . w = x_i . v + that sum. v may be w. */
double mg_design_to_rows(const mg_design *d, const double *w, double *v);

/* One pass for a loss at (w, b): scores, loss and gradient while a block of rows is in cache.
 *   t_i = sign_i f_i (losses of a margin) or f_i - target_i
 * For K functions that a loss couples see objective.h: what belongs to samples is then samples x K,
 * and gradients K x columns. */
typedef struct mg_loss_point {
    const double *known; /* one function, samples: f_i, where the caller has them; NULL: found from
                            w and b */
    const double *given; /* several functions, samples x K: in place of slopes */
    /* arrays that the caller wants filled; NULL: not wanted */
    double *scores;     /* samples: f_i */
    double *slopes;     /* one function: c_i loss'(t_i), times sign_i: the derivative in f_i */
    double *curvatures; /* one function: c_i loss''(t_i) */
    double *shares;     /* several functions: the probabilities */
    double *gradient;   /* columns: sum_i slopes_i a_i; not wanted: half a pass */
    double *intercept_gradient; /* sum slopes_i; several functions: wanted with the gradient */
    bool single; /* several functions: f32 products over f32 rows, with sums across a few rows and
                    everything else in f64; for steps, not for proofs */
    /* results */
    double value;   /* sum c_i loss(t_i) */
    int64_t errors; /* classes: samples with z <= 0 (or NaN), or whose own score is not above all
                       others */
} mg_loss_point;
/* t of the samples [first, first + count) from their scores f; may be in place. */
void mg_design_margins(const mg_design *d, const mg_loss *loss, int64_t first, int64_t count,
                       const double *scores, double *t);
/* c: samples numbers >= 0; NULL: the weights of the samples. */
margin_status mg_design_loss(mg_design *d, const mg_loss *loss, const double *w, double b,
                             const double *c, mg_loss_point *point, margin_error *error);

/* The product with a weighted Gram in one pass (Hessian times vector):
 *   (out, *total) = sum_k weights_k (a_i, 1) ((a_i, 1) . (v, v0)),  i = chosen[k]
 * chosen NULL: samples 0..count-1 = all. total may be NULL. out may not be v. */
margin_status mg_design_product(mg_design *d, const int64_t *chosen, int64_t count,
                                const double *weights, const double *v, double v0, double *out,
                                double *total, margin_error *error);

/* A weighted Gram: G = sum_k d_k e_k e_k' with e_k = (a_i1', ..., a_ip', extra_i, 1), i =
 * chosen[k], a_ij' = (a_ij - centre_j) * factor_j. */
typedef struct mg_weighted_gram {
    const int64_t *chosen; /* samples, ascending or not; NULL: all */
    int64_t count;         /* of chosen */
    const double *weights; /* d_k >= 0 of chosen[k] (chosen NULL: of sample k); NULL: the weights of
                              the samples */
    const double *centre, *factor; /* columns numbers; NULL: 0 and 1 */
    const int64_t *columns;        /* the columns that take part, ascending; NULL: all. The result
                                      then has these only, in this order */
    int64_t column_count;          /* of columns */
    const double *extra;           /* samples numbers, such as the targets; NULL: no such column */
    double extra_centre, extra_spread; /* (extra - centre) / spread of them; spread 0: zeros */
    bool single; /* products in f32, for preconditioners; sums across row blocks in f64 */
} mg_weighted_gram;
MG_INLINE double mg_gram_extra(const mg_weighted_gram *request, int64_t i) {
    if (!(request->extra_spread > 0.0)) return 0.0;
    return (request->extra[i] - request->extra_centre) / request->extra_spread;
}
/* Rows and columns of the result: one for each column that takes part and one more, or two with
 * `extra`; the last one belongs to the intercept (so the corner is the sum of d). */
int64_t mg_design_gram_size(const mg_design *d, const mg_weighted_gram *request);
/* Fills size x size numbers, both triangles. Dense: packed tiles, count * size^2 multiply-adds;
 * CSR: sparse outer products, and the affine part afterwards in size^2. Chosen columns cost a copy
 * of their values and save their products. */
margin_status mg_design_gram(mg_design *d, const mg_weighted_gram *request, double *gram,
                             margin_error *error);
/* What rounding of its sums may be of a number of such a Gram of all samples in f64, beside the
 * lengths of its two columns (Higham, "Accuracy and stability of numerical algorithms", section
 * 3.1). CSR: infinite, for want of a bound. */
double mg_design_gram_rounding(const mg_design *d);

/* The rows of these samples of a dense design, one behind the other, in X's type. */
void mg_design_copy_rows(const mg_design *d, const int64_t *chosen, int64_t count, void *out);

/* Weighted mean and standard deviation of each column of A, of all samples (`exact`, one pass) or
 * of at most 4096 samples evenly spread: for preconditioning. A constant column has deviation 0. */
margin_status mg_design_moments(mg_design *d, bool exact, double *mean, double *deviation,
                                margin_error *error);

/* Coordinates for solvers: columns e_j = (a_j - centre_j) factor_j of mean 0 and deviation about 1;
 * without an intercept the centre is 0 and the root mean square 1. Constant columns: factor 0. */
margin_status mg_design_coordinates(mg_design *d, bool intercept, double *centre, double *factor,
                                    margin_error *error);
/* Weights w in A's units of a vector u in those coordinates (columns + 1 numbers); returns the
 * intercept that goes with them. */
double mg_design_from_coordinates(const mg_design *d, const double *centre, const double *factor,
                                  const double *u, double *w);
/* Of a start: constant columns, whose weights no step changes, get 0; returns what b gets. */
double mg_drop_constants(const double *centre, const double *factor, double *w, int64_t columns);
