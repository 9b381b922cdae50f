/* The linear family's entries of the catalogue. */
#pragma once

#include "learn/learner.h"

extern const mg_learner mg_learner_elastic_net, mg_learner_exponential, mg_learner_lasso,
    mg_learner_least_squares, mg_learner_logistic, mg_learner_ridge, mg_learner_softmax,
    mg_learner_svm;
