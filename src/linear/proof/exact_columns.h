/* Which columns depend on others exactly: see exact_columns.c. */
#pragma once

#include "learn/learner.h"

/* independent[j]: column j of [A 1] belongs to a largest set of columns that do not depend on each
 * other over the rows with weight > 0 (NULL: all rows). columns + 1 of them; the last is that of
 * ones, in the set if there is an intercept and a row. *rank: how many. Deterministic. rows x
 * columns + (columns + 1)^3 multiplications. MEMORY, CANCELLED. */
margin_status mg_exact_columns(margin_context *context, const mg_problem *problem, bool intercept,
                               const double *weights, bool *independent, int64_t *rank,
                               margin_error *error);
