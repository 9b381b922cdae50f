/* What is said at the end of a minimisation. */
#include "linear/proof/end_words.h"

#include "linear/proof/classes_certificate.h"

#include <stdio.h>

bool mg_explain_limit(margin_status ended, const char *unit, int64_t count, double gap, char *why,
                      size_t room) {
    const mg_number_text at = mg_number(gap);
    if (ended == MARGIN_STOPPED_ITERATIONS)
        snprintf(why, room, "the limit of %lld %s is reached at a gap of %s; raise max_iter",
                 (long long)count, unit, at.text);
    else if (ended == MARGIN_STOPPED_TIME)
        snprintf(why, room, "the time limit is reached at a gap of %s after %lld %s", at.text,
                 (long long)count, unit);
    else
        return false;
    return true;
}

void mg_smooth_explain(const mg_smooth_words *words, char *why, size_t room) {
    const mg_number_text gap = mg_number(words->gap), tolerance = mg_number(words->tolerance);
    if (words->separated)
        snprintf(why, room,
                 "without a penalty there is no optimum: these weights have every row on its side, "
                 "and the loss falls towards 0 for ever as they grow; give C a finite value");
    else if (words->recession && words->separable)
        snprintf(why, room,
                 "without a penalty there is no optimum: in one direction of the weights every row "
                 "gets to its side, and the loss falls towards 0 for ever; give C a finite value");
    else if (words->recession)
        snprintf(why, room,
                 "without a penalty there is no optimum: in one direction of the weights no row "
                 "gets worse and some get better for ever (two classes touch, but do not overlap "
                 "there); give C a finite value");
    else if (words->gap <= words->tolerance)
        snprintf(why, room, "the gap is proven");
    else if (mg_explain_limit(words->ended, "steps", words->steps, words->gap, why, room))
        return;
    else if (words->limited)
        snprintf(why, room,
                 "no more progress; without a penalty the proof needs (classes - 1) (columns + 1) "
                 "<= %d: give C a finite value",
                 MG_CLASSES_NEWTON_SIZE);
    else
        snprintf(why, room,
                 "rounding ends progress at a gap of %s, above tol=%s: ask for less, give C a "
                 "smaller value, or bring the columns to one scale (standardize | ...)",
                 gap.text, tolerance.text);
}
