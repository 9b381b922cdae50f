/* Support vector machines with a kernel, as a variant of the learner svm: what its entry needs. The
 * option table is that of svm; options are found by name. */
#pragma once

#include "learn/learner.h"

margin_status mg_kernel_svm_share(mg_shared *shared);
margin_status mg_kernel_svm_fit(mg_fit *fit);
margin_status mg_kernel_svm_fit_many(mg_fit *fits, int64_t count);
/* All folds and penalties of a search at once, fold by fold through the same penalties, by scores
 * in place of hypotheses. Each has its gap; declines (LIMIT) kernels that the data of a fold decide
 * on, and what needs too much memory. */
margin_status mg_svm_folds(mg_fit *fits, int64_t count);
/* By plain loops over the data (svm_verify.c). */
margin_status mg_kernel_svm_verify(mg_fit *fit, const mg_hypothesis *hypothesis);

/* solver=gd (svm_descent.c). */
margin_status mg_svm_descent_share(mg_shared *shared);
margin_status mg_svm_descent_fit(mg_fit *fit);
margin_status mg_svm_descent_fit_many(mg_fit *fits, int64_t count);
margin_status mg_svm_descent_verify(mg_fit *fit, const mg_hypothesis *hypothesis);
