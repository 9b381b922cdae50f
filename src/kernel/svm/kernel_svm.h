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

/* Scores of a sample of the whole problem, each off by at most its error from what the hypothesis
 * answers. */
typedef struct mg_rough {
    int64_t sample;
    int worker;
    const double *scores, *errors;
} mg_rough;
/* Whether the fits shared a Gram matrix in f32 of which it is known how far its values may be off.
 */
bool mg_kernel_svm_is_rough(const mg_shared *shared);
/* Then visits, on all workers, all samples with the scores of `h`, which has the functions of all
 * fits: much cheaper than those of `h` itself. MEMORY, LIMIT; CANCELLED, without a sentence. */
margin_status mg_kernel_svm_rough(const mg_shared *shared, const mg_hypothesis *h,
                                  void (*visit)(const mg_rough *rough, void *argument),
                                  void *argument, margin_error *error);
