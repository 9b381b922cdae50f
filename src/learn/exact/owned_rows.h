/* Sparse rows that have a column of their own, which no other row stores: the weight of that column
 * fits the row whatever all other weights are. Without such rows others may have a column of their
 * own, and so on. What least squares has to leave, it leaves in the rows that remain.
 *
 * Rows that are equal count as one (mg_exact_rows). */
#pragma once

#include "learn/learner.h"

typedef struct mg_owned_rows {
    int64_t rows, owners; /* that differ; of these have a column of their own */
    int64_t *group;       /* samples: which of the rows, in the order of the data */
    int64_t *first;       /* rows: a sample */
    double *weight;       /* rows: sum of weights */
    double *target;       /* rows: their mean; in the units of the problem */
    int64_t *order; /* rows: the owners, none with a column of one before it; then the others */
    int64_t *own;   /* owners, in that order: their column */
    /* Of the rows in that order: stored values times the problem's scale, but for 0. */
    int64_t *start; /* rows + 1 */
    int32_t *at;
    double *value;
    /* Columns that the others store: place[column] is one of `columns`, or -1. */
    int64_t columns;
    int32_t *place;
} mg_owned_rows;

/* Equal rows among samples with weight > 0: what comes before `order`, with owners 0; memory from
 * the arena. MEMORY, CANCELLED. */
margin_status mg_owned_rows_equal(margin_context *context, const mg_problem *problem,
                                  const double *weights, mg_arena *arena, mg_owned_rows *owned,
                                  margin_error *error);
/* Weights and targets anew, of the same rows. */
void mg_owned_rows_sum(const mg_problem *problem, const double *weights, mg_owned_rows *owned);
/* And the rest, of columns with norm > 0, where the others are more than their columns, so that
 * nothing else tells what they leave. Else, and where rows are dense, or shifted without an
 * intercept, or memory is short, owners stay 0. MEMORY, CANCELLED. */
margin_status mg_owned_rows_find(margin_context *context, const mg_problem *problem, bool intercept,
                                 const double *norm, mg_arena *arena, mg_owned_rows *owned,
                                 margin_error *error);
/* The others with the columns that they store as a problem of its own, which refers to `owned` and
 * the arena. MEMORY. */
margin_status mg_owned_rows_others(const mg_owned_rows *owned, mg_arena *arena, mg_problem *others,
                                   margin_error *error);
