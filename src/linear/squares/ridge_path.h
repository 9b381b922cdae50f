/* Ridge under many penalties at once. */
#pragma once

#include "linear/objective/linear_options.h"
#include "linear/squares/least_squares.h"

/* `fits` are of one problem and differ in options[].penalty; see fit_many of mg_learner and
 * MG_DIFFER_OPTIONS. LIMIT, MEMORY, CANCELLED, DATA (overflow). */
margin_status mg_ridge_path(mg_fit *fits, int64_t count, const mg_linear_options *options);

/* The same for fits that also differ in their rows: of a search, fold by fold, each with all
 * penalties; options: one for each fit. Their gaps are NaN: nothing is proven of sums. LIMIT too
 * where it declines; then the fits are to be made one by one. */
margin_status mg_ridge_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);
