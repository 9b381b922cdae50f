/* All folds and penalties of a search at once: fit_many of mg_learner for MG_DIFFER_FOLDS. `fits`
 * go fold by fold through the same penalties; options: one for each fit. MEMORY, CANCELLED; LIMIT
 * where one declines: these fits are to be made one by one. */
#pragma once

#include "linear/objective/linear_options.h"

MG_INLINE margin_status mg_folds_decline(margin_error *error, const char *why) {
    return mg_fail(error, MARGIN_ERROR_LIMIT, "the folds are not solved together: %s", why);
}

/* The samples of the whole that a fold does not learn from: so many of `tested`, which has room for
 * all. LIMIT: it learns from others, or in another order. */
margin_status mg_fold_tested(const mg_problem *whole, const mg_problem *train, int64_t *tested,
                             int64_t *count);

/* Two classes, no |w|_1, each row tested once. Each fit has its gap. */
margin_status mg_logistic_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);

/* Each has its duality gap, with the rounding of the sums in it; declines where a gap cannot be had
 * from sums. */
margin_status mg_lasso_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);

/* Gaps are NaN: nothing is proven of sums. DATA (overflow). Where each fold leaves out one row, by
 * mg_ridge_left_out: scores of these in place of hypotheses. */
margin_status mg_ridge_left_out(mg_fit *fits, int64_t count, const mg_linear_options *options);
margin_status mg_ridge_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);
