/* Categories: runs of sparse columns side by side, of which the stored values of every row add
 * to 1.
 *
 * With an intercept each such run has one column too many, without one all runs but the first.
 * They are known in one pass over the stored values, however many columns there are: what a factor
 * would find in the cube of their number. */
#pragma once

#include "learn/learner.h"

typedef struct mg_column_groups {
    int64_t count;
    int64_t *first, *end; /* count: columns of each run */
    double *entry;        /* columns: 1 / scale of a column in a run, else 0 */
    double *sum;  /* count: what entry . row is for each run; 0 with an intercept, which takes it */
    double *part; /* count x 4: room */
} mg_column_groups;

/* All runs, over the rows with weight > 0 (NULL: all); memory from the arena. None of dense rows,
 * or where a shift that is rounded tells of no intercept. Exact. MEMORY, CANCELLED. */
margin_status mg_column_groups_find(margin_context *context, const mg_problem *problem,
                                    bool intercept, const double *weights, mg_arena *arena,
                                    mg_column_groups *groups, margin_error *error);
/* How many directions the columns do not see, of runs with a column whose unit is above 0. */
int64_t mg_column_groups_rank(const mg_column_groups *groups, const double *unit);
/* out += factor times the part of v in those directions, for columns in units of their own (0: the
 * column is left out): `lanes` (at most 4) vectors side by side. */
void mg_column_groups_add(const mg_column_groups *groups, const double *unit, double factor,
                          const double *v, int lanes, double *out);

/* No row stores two of them. */
bool mg_columns_are_apart(const mg_problem *problem);

/* *column: the first stored one that has values of one sign in rows of one class (of two classes:
 * signs that agree with those of the classes), so that its weight may grow for ever and no row gets
 * worse; -1: none. Of the rows with weight > 0. One pass over the stored values. MEMORY, CANCELLED.
 */
margin_status mg_column_recedes(margin_context *context, const mg_problem *problem, bool intercept,
                                const double *weights, int64_t *column, margin_error *error);
