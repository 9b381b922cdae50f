/* The perceptron family: primal, dual and kernel form; plain, pocket, averaged; two classes or
 * several trained together. See docs/perceptron.md. */
#pragma once

#include "learn/learner.h"

extern const mg_learner mg_learner_perceptron;

/* Errors, criterion, margins and radius of a finished model, by plain loops over the data and the
 * model's tensors. */
margin_status mg_perceptron_verify(mg_fit *fit, const mg_hypothesis *hypothesis);
