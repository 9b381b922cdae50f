/* Sums of columns that hold but for the rounding of their numbers: see rounded_sums.c. */
#pragma once

#include "learn/exact/exact_columns.h"
#include "math/products/extended_factor.h"

/* Of f64 numbers: a number that was rounded once, as decimals are, is off by 1; a few operations,
 * as of totals and of stages, add as much again. */
#define MG_ROUNDED_UNITS 3.0
/* *hold: every sum, of which the factors are about known, holds over the rows with weight > 0: of
 * whole numbers below 2^53 exactly, of others but for so many units. MEMORY, CANCELLED. */
margin_status mg_rounded_hold(margin_context *context, const mg_problem *problem, bool intercept,
                              const double *weights, const mg_column_sums *sums, double units,
                              bool *hold, margin_error *error);
/* For a verification, with twice the units: the sums that a factor of the columns, times scale,
 * makes of the first `count` in its order; of [A 1] with an intercept, else of A. f->scratch is
 * written to.
 */
margin_status mg_rounded_factor(margin_context *context, const mg_problem *problem,
                                const double *weights, const mg_extended_factor *f,
                                const long double *scale, int64_t count, bool *hold,
                                margin_error *error);
