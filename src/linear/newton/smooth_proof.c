/* When the smooth solvers are done, and what they say. */
#include "linear/newton/smooth.h"

#include <stdio.h>

/* Steps without progress after which only rounding is left; in f32 there is another way. */
enum { IDLE_STEPS = 12, IDLE_SINGLE = 6 };

/* ---- Proof ----------------------------------------------------------------------------------- */

/* What the proof would find, as far as can be told for nothing. No loss is below 0, so that with a
 * penalty P itself is a gap, too. */
static double expected_gap(const mg_smooth *s) {
    if (mg_smooth_is_separated(s)) return s->here.value;
    if (!mg_is_unpenalised(s->objective)) return fmin(s->here.slack, s->here.value);
    return s->solution->iterations > 0 ? fmin(s->promise, s->there.value - s->here.value)
                                       : (double)INFINITY;
}

margin_status mg_smooth_check(mg_smooth *s, bool *done) {
    const double tolerance = s->job->tolerance, value = s->here.value;
    const double wanted = mg_smooth_is_separated(s)
                              ? tolerance * fmax(1.0, fabs(value))
                              : mg_wanted_gap(tolerance, value, s->goal.constant);
    return mg_goal_check(&s->goal, expected_gap(s), wanted, value, s->here.w, s->here.b,
                         s->here.scores, done);
}

bool mg_smooth_is_idle(const mg_smooth *s) {
    return s->idle_steps >= (s->single ? IDLE_SINGLE : IDLE_STEPS);
}

/* ---- End ------------------------------------------------------------------------------------- */

/* Rounding makes other scores of a prediction, but not so many. */
static double accuracy_of(const mg_smooth *s) {
    const mg_design *d = s->design;
    double size = fabs(s->here.b[0]), least = (double)INFINITY;
    if (!s->here.scores || d->problem->weight || d->problem->kind != MG_TWO_CLASS)
        return (double)NAN;
    for (int64_t j = 0; j < s->columns; j++)
        size += fabs(s->here.w[j]) *
                (fabs(s->centre[j]) + (s->factor[j] > 0.0 ? 1.0 / s->factor[j] : 0.0) +
                 fabs(d->shift ? d->shift[j] : 0.0));
    for (int64_t i = 0; i < s->samples; i++)
        least = fmin(least, fabs(s->here.scores[i]));
    const double right = (double)(s->samples - s->here.errors) / (double)s->samples;
    return least > 1e-9 * size ? right : (double)NAN;
}

/* Whatever else ended it: a penalty makes a proof that needs no matrix. */
static void explain_limit(mg_smooth *s) {
    mg_linear_solution *out = s->solution;
    if (out->status == MARGIN_STOPPED_STALLED && mg_is_unpenalised(s->objective) &&
        !mg_newton_matrix_can(s->objective))
        snprintf(out->why, sizeof out->why,
                 "no more progress; without a penalty the proof needs (classes - 1) (columns + 1) "
                 "<= %d, and memory for three square matrices of so many rows, or sparse columns "
                 "of two classes far from depending on each other: give C a finite value",
                 MG_NEWTON_MATRIX_SIZE);
}

margin_status mg_smooth_end(mg_smooth *s, margin_status ended) {
    mg_linear_solution *out = s->solution;
    mg_endless endless = {.separated = mg_smooth_is_separated(s)};
    /* a proof without a penalty tells that there is an optimum: curvature_bound.c */
    if (!endless.separated && ended == MARGIN_STOPPED_STALLED)
        MG_TRY(mg_find_recession(s->objective, s->here.w, s->here.b, &endless.recession,
                                 &endless.separable, s->job->error));
    mg_stop_disarm(&s->job->stop);
    out->ended = true;
    MG_TRY(mg_goal_prove(&s->goal, s->here.w, s->here.b, s->here.scores));
    out->accuracy = accuracy_of(s);
    out->status = mg_goal_end(s->job, out, ended, "steps");
    explain_limit(s);
    if (mg_explain_endless(&endless, out->why, sizeof out->why) && out->status == MARGIN_OK)
        out->status = MARGIN_STOPPED_STALLED;
    return out->status;
}
