/* Probabilities from scores that are log-odds. */
#ifndef MG_ODDS_H
#define MG_ODDS_H

#include <stdint.h>

/* `scale` times a score is the log-odds of a class against the rest. One score (of the second of
 * two classes): its logistic function and what is missing to 1; a score for each class: their
 * logistic functions, divided by their sum. The class of the greatest score (two classes: the
 * second where its score is >= 0) is the most probable, whatever the scores are. NaN gives NaN. */
void mg_odds_probabilities(double scale, const double *scores, int64_t functions, int64_t classes,
                           double *out);

#endif
