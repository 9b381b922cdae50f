/* What is said at the end of a minimisation. */
#include "linear/proof/end_words.h"

#include "linear/proof/newton_matrix.h"

#include <stdio.h>

void mg_explain_end(margin_status status, const char *unit, int64_t count, double gap,
                    double tolerance, char *why, size_t room) {
    const mg_number_text at = mg_about(gap), asked = mg_number(tolerance);
    if (status == MARGIN_OK)
        snprintf(why, room, "the gap is proven");
    else if (status == MARGIN_STOPPED_ITERATIONS)
        snprintf(why, room, "the limit of %lld %s is reached at a gap of %s; raise max_iter",
                 (long long)count, unit, at.text);
    else if (status == MARGIN_STOPPED_TIME)
        snprintf(why, room, "the time limit is reached at a gap of %s after %lld %s", at.text,
                 (long long)count, unit);
    else
        snprintf(why, room,
                 "rounding, or columns of unlike sizes, end progress at a gap of %s after %lld %s, "
                 "above tol=%s: ask for less, give a stronger penalty, or bring the columns to one "
                 "scale (standardize | ...)",
                 at.text, (long long)count, unit, asked.text);
}

void mg_smooth_explain(const mg_smooth_words *words, char *why, size_t room) {
    const margin_status status = words->gap <= words->tolerance ? MARGIN_OK : words->ended;
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
    else if (words->limited && status == MARGIN_STOPPED_STALLED)
        snprintf(why, room,
                 "no more progress; without a penalty the proof needs (classes - 1) (columns + 1) "
                 "<= %d: give C a finite value",
                 MG_NEWTON_MATRIX_SIZE);
    else
        mg_explain_end(status, "steps", words->steps, words->gap, words->tolerance, why, room);
}
