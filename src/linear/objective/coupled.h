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
    /* sparse: slopes of the samples and weights of the columns in X's units, eight functions side
     * by side, then the next eight; the copy by columns, as it is and as rows */
    double *slopes, *weights;
    mg_sparse_columns by_column;
    margin_matrix turned;
    const mg_row_lanes *of_rows, *of_columns;
    double *packed, *centre, *lost; /* dense, f64 or f32: see coupled_pass.c */
} mg_coupled;

/* Memory from o->arena for o->coupled, but by_column, and o->totals. */
margin_status mg_coupled_create(mg_objective *o, margin_error *error);

/* As mg_objective_pass without the penalty; of given residuals w and b may be NULL. */
margin_status mg_coupled_pass(const mg_objective *o, const double *w, const double *b,
                              mg_loss_point *point, margin_error *error);
/* Of a sample: slopes = c (shares - e_own), its own one as what the others leave. */
void mg_coupled_slopes(const double *shares, int64_t functions, int64_t own, double c,
                       double *slopes);

/* ---- Sparse rows (coupled_sparse.c), first their part of mg_coupled_create ---- */
margin_status mg_coupled_take_sparse(mg_objective *o, mg_coupled *c, margin_error *error);
/* From functions x columns, and of samples [first, first + count) from samples x functions. */
margin_status mg_coupled_turn_weights(const mg_objective *o, const double *w, margin_error *error);
void mg_coupled_turn_slopes(const mg_objective *o, int64_t first, int64_t count,
                            const double *slopes);
/* scores[r * functions + k] for samples [first, first + count) without offsets */
void mg_coupled_sparse_scores(const mg_objective *o, int64_t first, int64_t count, double *scores);
/* gradient[k * columns + j] = sum over the entries of column j of value * slope of its sample */
margin_status mg_coupled_sparse_gradient(const mg_objective *o, double *gradient,
                                         margin_error *error);
