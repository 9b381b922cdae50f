/* Support vector machines with a kernel, as a variant of the learner svm: what its entry needs. The
 * option table is that of svm; options are found by name. */
#pragma once

#include "learn/hypothesis/hypothesis.h"
#include "learn/kernels/kernel_options.h"
#include "learn/learner.h"

margin_status mg_kernel_svm_share(mg_shared *shared);
margin_status mg_kernel_svm_fit(mg_fit *fit);
margin_status mg_kernel_svm_fit_many(mg_fit *fits, int64_t count);
/* Its part where fits are the folds and penalties of a search: all at once, fold by fold through
 * the same penalties, by scores in place of hypotheses. Each has its gap; declines (LIMIT) kernels
 * that the data of a fold decide on, and what needs too much memory. */
margin_status mg_svm_folds(mg_fit *fits, int64_t count);
/* By plain loops over the data (svm_verify.c). */
margin_status mg_kernel_svm_verify(mg_fit *fit, const mg_hypothesis *hypothesis);

/* solver=gd (svm_descent.c). */
margin_status mg_svm_descent_share(mg_shared *shared);
margin_status mg_svm_descent_fit(mg_fit *fit);
margin_status mg_svm_descent_fit_many(mg_fit *fits, int64_t count);
margin_status mg_svm_descent_verify(mg_fit *fit, const mg_hypothesis *hypothesis);

/* svm_options.c */
void mg_kernel_svm_defaults(const margin_component *info, mg_option_value *values);
void mg_svm_descent_defaults(const margin_component *info, mg_option_value *values);
margin_status mg_kernel_svm_check(const margin_component *info, const mg_option_value *values,
                                  margin_error *error);
margin_status mg_svm_descent_check(const margin_component *info, const mg_option_value *values,
                                   margin_error *error);

/* The functions of an entry. */
#define MG_KERNEL_SVM_LEARNER                                                                      \
    .makes = {&mg_hypothesis_expansion}, .fits = mg_kernel_fits,                                   \
    .defaults = mg_kernel_svm_defaults, .check = mg_kernel_svm_check,                              \
    .share = mg_kernel_svm_share, .fit = mg_kernel_svm_fit, .verify = mg_kernel_svm_verify
#define MG_SVM_DESCENT_LEARNER                                                                     \
    .makes = {&mg_hypothesis_expansion}, .fits = mg_kernel_fits,                                   \
    .defaults = mg_svm_descent_defaults, .check = mg_svm_descent_check,                            \
    .share = mg_svm_descent_share, .fit = mg_svm_descent_fit, .fit_many = mg_svm_descent_fit_many, \
    .differ = MG_DIFFER_SIGNS, .verify = mg_svm_descent_verify, .told = " rate "
