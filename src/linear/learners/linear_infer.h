/* Certainty of the weights of least squares and of maximum likelihood; see learn/inference.h. Both
 * refuse a penalty: it moves the weights, by an amount that no standard error tells. */
#pragma once

#include "learn/inference.h"
#include "linear/objective/objective.h"

margin_status mg_squares_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out);
margin_status mg_logistic_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out);
