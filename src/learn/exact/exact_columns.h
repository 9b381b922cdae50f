/* Which columns depend on others exactly, and whether sums of columns are; equal rows: see
 * exact_columns.c. Numbers are the binary fractions that they are; or those of f64 columns that all
 * are decimals of up to nine digits behind the point and fifteen in all are these decimals, where
 * that leaves a smaller rank, or makes sums hold. */
#pragma once

#include "learn/learner.h"

/* independent[j]: column j of [A 1] belongs to a largest set of columns that do not depend on each
 * other over the rows with weight > 0 (NULL: all rows). columns + 1 of them; the last is that of
 * ones, in the set if there is an intercept and a row. *rank: how many. Deterministic. rows x
 * columns + (columns + 1)^3 multiplications. MEMORY, CANCELLED. */
margin_status mg_exact_columns(margin_context *context, const mg_problem *problem, bool intercept,
                               const double *weights, bool *independent, int64_t *rank,
                               margin_error *error);

/* Column column[terms + l] is said to be the sum over k < terms of factors[l * ld + k] times
 * column[k]; with an intercept, but for a constant. Numbers of A's units. */
typedef struct mg_column_sums {
    int64_t count, terms, ld;
    const int64_t *column; /* terms + count */
    const double *factors;
} mg_column_sums;
/* *hold: all factors are near to ratios of small whole numbers, with which every sum is exact over
 * the rows with weight > 0. (The chance that one is not: about one in 2^61.) A product for each
 * number of the data. MEMORY, CANCELLED. */
margin_status mg_exact_sums(margin_context *context, const mg_problem *problem, bool intercept,
                            const double *weights, const mg_column_sums *sums, bool *hold,
                            margin_error *error);
/* How many of the rows with weight > 0 (NULL: all) differ: told by a random combination of their
 * numbers each (the same chance). The rank is not more. group (NULL: not wanted): of these samples,
 * a number below *distinct that equal rows have in common. MEMORY, CANCELLED. */
margin_status mg_exact_rows(margin_context *context, const mg_problem *problem,
                            const double *weights, int64_t *group, int64_t *distinct,
                            margin_error *error);
