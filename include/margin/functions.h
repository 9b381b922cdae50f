/* margin/functions.h - functions of a single number that the models are built from. */
#ifndef MARGIN_FUNCTIONS_H
#define MARGIN_FUNCTIONS_H

#include "margin/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The general logistic curve (Verhulst 1845), height / (1 + exp(-steepness (x - midpoint))). Both
 * tails keep their relative precision, that of exp at the rounded exponent: none is computed as a
 * difference. The probability of the positive class under logistic regression is the curve of
 * height 1, steepness 1 and midpoint 0 at the score. NaN if any argument is, or for a steepness of
 * 0 at an infinite distance from the midpoint. */
MARGIN_API double margin_logistic(double x, double height, double steepness, double midpoint);

/* The score at which that curve of height 1 has the value `probability`, log(p / (1 - p)): -inf at
 * 0, inf at 1, NaN outside of [0, 1]. */
MARGIN_API double margin_log_odds(double probability);

#ifdef __cplusplus
}
#endif
#endif
