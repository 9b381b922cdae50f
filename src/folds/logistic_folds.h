/* Logistic regression of two classes on the folds of a search, under many penalties. */
#pragma once

#include "linear/objective/linear_options.h"

/* Of `count` fits to the folds of fits[0].shared->whole, fold by fold the same penalties, each row
 * tested once: the codes of two classes, no |w|_1. MEMORY, CANCELLED; LIMIT: not these, they are to
 * be made one by one. */
margin_status mg_logistic_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);
