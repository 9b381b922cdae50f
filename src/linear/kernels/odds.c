/* Probabilities from scores that are log-odds. */
#include "linear/kernels/odds.h"

#include "linear/kernels/loss.h"

#include <math.h>

void mg_odds_probabilities(double scale, const double *scores, int64_t functions, int64_t classes,
                           double *out) {
    if (functions == 1) {
        out[0] = mg_sigmoid(-scale * scores[0]);
        out[1] = mg_sigmoid(scale * scores[0]);
        return;
    }
    /* as logarithms, so that the largest is 1 even where all of them are next to 0 */
    double greatest = -(double)INFINITY, sum = 0.0;
    for (int64_t c = 0; c < classes; c++) {
        out[c] = -mg_log1pexp_minus(scale * scores[c]);
        if (!(out[c] <= greatest)) greatest = out[c];
    }
    for (int64_t c = 0; c < classes; c++) {
        out[c] = exp(out[c] - greatest);
        sum += out[c];
    }
    for (int64_t c = 0; c < classes; c++)
        out[c] /= sum;
}
