/* A copy of a design's sparse rows by columns.
 *
 * Sums over rows need a vector of all columns for every part of the rows that is summed up alone,
 * which is most of the work where columns are many and rows short. By columns each sum is one
 * number, found in one go, and columns can be shared out freely: sums over a column are always in
 * the order of the samples, so nothing depends on threads. */
#pragma once

#include "linear/design/design.h"
#include "math/rows/sparse_columns.h"

/* Sets d->by_column, from which mg_design_loss, mg_design_gradient and mg_design_moments then read:
 * 12 bytes a stored value, two passes. Does nothing for dense rows or where the memory limit leaves
 * no room. MEMORY, CANCELLED. */
margin_status mg_design_store_columns(mg_design *d, margin_error *error);

/* The parts of d that need d->by_column. */
/* gradient_j = sum_i r_i x_ij, in X's units. CANCELLED. */
margin_status mg_design_column_sums(const mg_design *d, const double *r, double *gradient,
                                    margin_error *error);
/* Weighted mean and variance of the columns of x; total: the sum of the weights. CANCELLED. */
margin_status mg_design_column_moments(const mg_design *d, double total, double *mean,
                                       double *variance, margin_error *error);
