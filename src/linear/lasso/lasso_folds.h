/* Lasso and elastic net without each fold in turn, under many penalties. */
#pragma once

#include "linear/objective/linear_options.h"

/* fit_many of mg_learner for MG_DIFFER_FOLDS; options: one for each fit. Each has its duality gap,
 * with the rounding of the sums in it. LIMIT too where it declines, as where a gap cannot be had
 * from sums; then the fits are to be made one by one. */
margin_status mg_lasso_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);
