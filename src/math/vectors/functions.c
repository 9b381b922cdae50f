#include "margin/functions.h"

#include <math.h>

double margin_logistic(double x, double height, double steepness, double midpoint) {
    const double t = steepness * (x - midpoint);
    if (t >= 0) return height / (1 + exp(-t));
    const double e = exp(t);
    return height * (e / (1 + e));
}

double margin_log_odds(double probability) {
    /* log(p) - log1p(-p) cancels about 1/2, where the odds themselves are next to 1 */
    if (fabs(probability - 0.5) < 0.25) return log1p((2 * probability - 1) / (1 - probability));
    return log(probability) - log1p(-probability);
}
