/* The linear family's entries of the catalogue. */
#ifndef MG_LINEAR_LEARNERS_H
#define MG_LINEAR_LEARNERS_H

#include "learn/learner.h"

extern const mg_learner mg_learner_exponential, mg_learner_logistic, mg_learner_svm;

#endif
