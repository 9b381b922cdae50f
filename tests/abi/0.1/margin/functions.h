#ifndef MARGIN_FUNCTIONS_H
#define MARGIN_FUNCTIONS_H
#include "margin/base.h"
#ifdef __cplusplus
extern "C" {
#endif
MARGIN_API double margin_logistic(double x, double height, double steepness, double midpoint);
MARGIN_API double margin_log_odds(double probability);
#ifdef __cplusplus
}
#endif
#endif
