/* The linear family's entries of the catalogue. */
#pragma once

#include "learn/learner.h"

extern const mg_learner mg_learner_elastic_net;
extern const mg_learner mg_learner_exponential;
extern const mg_learner mg_learner_lasso;
extern const mg_learner mg_learner_least_squares;
extern const mg_learner mg_learner_logistic;
extern const mg_learner mg_learner_ridge;
extern const mg_learner mg_learner_softmax;
extern const mg_learner mg_learner_svm;
