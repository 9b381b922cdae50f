/* When the smooth solvers are done, and what they say. */
#include "linear/newton/look_ahead.h"
#include "linear/newton/smooth.h"
#include "linear/proof/classes_certificate.h"
#include "linear/proof/end_words.h"

#include <math.h>
#include <string.h>

/* Steps without progress after which only rounding is left; and in f32, where there is another way.
 */
enum { IDLE_STEPS = 12, IDLE_SINGLE = 6 };
/* The gap must also be this small a part of what the columns gain over the best constant: where the
 * loss weighs next to nothing (C = 1e-10), w = 0 has a tiny gap too. */
#define SHARE_OF_GAIN(tolerance) sqrt(tolerance)
static const double rounding = 1e-13;

/* Losses that fall for ever: without a penalty they have no least value where classes separate. */
static bool falls_for_ever(const mg_smooth *s) {
    const mg_loss_kind kind = s->objective->loss->kind;
    return mg_is_unpenalised(s->objective) &&
           (kind == MG_LOSS_LOGISTIC || kind == MG_LOSS_EXPONENTIAL || kind == MG_LOSS_SOFTMAX);
}

/* ---- Proof ----------------------------------------------------------------------------------- */

static margin_status smooth_prove(mg_smooth *s) {
    mg_linear_solution *out = s->solution;
    if (s->proven_here) return MARGIN_OK;
    memcpy(out->w, s->here.w, (size_t)(s->functions * s->columns) * sizeof *out->w);
    memcpy(out->b, s->here.b, (size_t)s->functions * sizeof *out->b);
    mg_objective_centre(s->objective, out->w, out->b);
    MG_TRY(mg_certify(s->objective, out, s->job->error));
    out->passes += 2;
    s->proven_here = true;
    return MARGIN_OK;
}

/* What the proof would find, as far as can be told for nothing. */
static double expected_gap(const mg_smooth *s) {
    if (s->separated) return s->here.value;
    if (!mg_is_unpenalised(s->objective)) return s->here.slack;
    return s->solution->iterations > 0 ? s->there.value - s->here.value : (double)INFINITY;
}

static bool is_promising(const mg_smooth *s) {
    const double tolerance = s->job->tolerance, size = fabs(s->here.value);
    const double expected = expected_gap(s), gain = s->constant_value - s->here.value;
    if (!(expected <= s->strictness * tolerance * fmax(1.0, size))) return false;
    return s->separated || expected <= fmax(SHARE_OF_GAIN(tolerance) * gain, rounding * size);
}

margin_status mg_smooth_check(mg_smooth *s, bool *done) {
    *done = false;
    s->separated = falls_for_ever(s) && s->here.errors == 0;
    mg_progress(s->design->context, "training", (double)s->solution->iterations, 0.0,
                expected_gap(s) / fmax(1.0, fabs(s->here.value)));
    if (!is_promising(s)) return MARGIN_OK;
    MG_TRY(smooth_prove(s));
    *done = s->solution->gap <= s->job->tolerance;
    if (!*done) s->strictness *= 0.1;
    return MARGIN_OK;
}

bool mg_smooth_is_idle(const mg_smooth *s) {
    return s->idle_steps >= (s->single ? IDLE_SINGLE : IDLE_STEPS);
}

/* ---- End ------------------------------------------------------------------------------------- */

/* Whether the loss falls for ever in the direction in which Newton's method goes. At an optimum no
 * margin would change; so it goes on until one or the other is plain. */
static margin_status recedes(mg_smooth *s, bool *yes) {
    enum { MOST_STEPS = 5 };
    double least, most;
    bool moved = true;
    if (s->separated || !falls_for_ever(s) || !mg_smooth_can_look(s)) return MARGIN_OK;
    s->single = false;
    for (int step = 0; step < MOST_STEPS && moved && !*yes; step++) {
        MG_TRY(mg_smooth_look_ahead(s, &least, &most));
        if (most < MG_STILL) return MARGIN_OK;
        *yes = mg_falls_for_ever(least, most);
        if (!*yes) MG_TRY(mg_smooth_step(s, &moved));
    }
    return MARGIN_OK;
}

static void explain(mg_smooth *s, margin_status ended, bool recession) {
    mg_linear_solution *out = s->solution;
    const mg_smooth_words words = {.ended = ended,
                                   .separated = s->separated,
                                   .recession = recession,
                                   .gap = out->gap,
                                   .tolerance = s->job->tolerance,
                                   .steps = out->iterations,
                                   .limited = s->functions > 1 && mg_is_unpenalised(s->objective) &&
                                              !mg_smooth_can_look(s)};
    mg_smooth_explain(&words, out->why, sizeof out->why);
}

margin_status mg_smooth_end(mg_smooth *s, margin_status ended) {
    mg_linear_solution *out = s->solution;
    bool recession = false;
    if (ended == MARGIN_OK || ended == MARGIN_STOPPED_STALLED) MG_TRY(recedes(s, &recession));
    MG_TRY(smooth_prove(s));
    out->status = out->gap <= s->job->tolerance ? MARGIN_OK : ended;
    if ((recession || s->separated) && out->status == MARGIN_OK)
        out->status = MARGIN_STOPPED_STALLED;
    explain(s, ended, recession);
    return out->status;
}
