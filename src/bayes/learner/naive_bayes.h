/* Naive Bayes: the learner and its kind of hypothesis. */
#pragma once

#include "learn/learner.h"

extern const mg_learner mg_learner_naive_bayes;
extern const mg_hypothesis_kind mg_hypothesis_bayes;

/* See margin_model_telling. */
int64_t mg_bayes_telling(const mg_hypothesis *h, int64_t class_index, int64_t capacity,
                         margin_telling *list);
/* See margin_model_prior and margin_model_likelihood. */
double mg_bayes_prior(const mg_hypothesis *h, int64_t class_index, double *weight);
void mg_bayes_likelihood(const mg_hypothesis *h, int64_t class_index, int64_t column,
                         margin_likelihood *likelihood, int64_t capacity, double *probabilities);
