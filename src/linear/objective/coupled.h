/* The passes of an objective with several functions that its loss couples: what they need beside
 * the design, and what they are made of. objective.c calls them.
 *
 * A pass over dense rows computes scores, losses and gradient of a few rows while they are in
 * cache. Sparse rows have a copy by columns, so that the gradient needs no sums of its own for each
 * thread. */
#pragma once

#include "linear/design/design_columns.h"
#include "linear/objective/objective.h"

typedef struct mg_coupled {
    int64_t block_rows, chunk_rows, scratch; /* rows; numbers a worker needs */
    double *work;                            /* scratch for each worker */
    double *offsets;                         /* functions */
    double *slopes;                          /* sparse: samples x functions */
    double *weights;                         /* sparse: columns x functions, X's units */
    mg_sparse_columns by_column;             /* sparse */
    double *packed, *centre, *lost;          /* dense, f64 or f32: see coupled_pass.c */
} mg_coupled;

/* Memory from o->arena for o->coupled, but by_column, and o->totals. */
margin_status mg_coupled_create(mg_objective *o, margin_error *error);

/* As mg_objective_pass without the penalty; of given residuals w and b may be NULL. */
margin_status mg_coupled_pass(const mg_objective *o, const double *w, const double *b,
                              mg_loss_point *point, margin_error *error);
/* Of a sample: slopes = c (shares - e_own), its own one as what the others leave. */
void mg_coupled_slopes(const double *shares, int64_t functions, int64_t own, double c,
                       double *slopes);

/* ---- Sparse rows (coupled_sparse.c) ---- */
/* weights[j * functions + k] = scale_j w[k * columns + j] */
margin_status mg_coupled_turn_weights(const mg_objective *o, const double *w, margin_error *error);
/* scores[r * functions + k] for samples [first, first + count) without offsets */
void mg_coupled_sparse_scores(const mg_objective *o, int64_t first, int64_t count, double *scores);
/* gradient[k * columns + j] = sum over the entries of column j of value * slopes[sample][k] */
margin_status mg_coupled_sparse_gradient(const mg_objective *o, const double *slopes,
                                         double *gradient, margin_error *error);
