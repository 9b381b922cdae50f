#pragma once

#include "learn/learner.h"

/* Errors, criterion, margins and radius of a finished model, by plain loops over the data and the
 * model's tensors. */
margin_status mg_perceptron_verify(mg_fit *fit, const mg_hypothesis *hypothesis);
