/* How gradient descent ends, and what is said of it. */
#include "linear/proof/newton_matrix.h"
#include "linear/textbook/descent.h"

#include <stdio.h>

static double round_down(double x) {
    const double unit = pow(10.0, floor(log10(x)) - 1.0);
    return unit > 0.0 && isfinite(unit) ? floor(x / unit) * unit : x;
}

/* The rate from which on steps overshoot, to two digits, downwards. NAN: the loss has no such rate,
 * or none was given. */
static margin_status find_safe_rate(mg_descent *d, double *safe) {
    enum { PASSES = 200 };
    const bool bounded = isfinite(d->objective->loss->curvature_bound);
    if (!bounded || isnan(d->job->descent.rate)) return MARGIN_OK;
    MG_TRY(mg_descent_curvature(d, PASSES));
    if (d->curvature > 0.0) *safe = round_down(2.0 / (d->curvature + d->rows_curvature));
    return MARGIN_OK;
}

static void explain_rate(const mg_descent *d, double safe_rate, char *why, size_t room) {
    const mg_number_text rate = mg_about(d->rate);
    const mg_counted_text made = mg_counted(d->units, d->unit_name);
    char safe[120] = "";
    if (!isnan(safe_rate))
        snprintf(safe, sizeof safe,
                 "; the largest safe rate is about %s, 2 / the largest curvature",
                 mg_about(safe_rate).text);
    if (d->diverged)
        snprintf(why, room,
                 "it diverges: after %s with rate=%s the objective is %s, from %s at the "
                 "start%s; leave rate out, or bring the columns to one scale (standardize | ...); "
                 "kept is the best point seen",
                 made.text, rate.text, mg_about(d->here.value).text, mg_about(d->start_value).text,
                 safe);
    else
        snprintf(why, room,
                 "steps with rate=%s overshoot%s; leave rate out, or take a smaller one (gap %s "
                 "after %s)",
                 rate.text, safe, mg_about(d->solution->gap).text, made.text);
}

static void explain_end(const mg_descent *d, margin_status ended, char *why, size_t room) {
    const mg_number_text gap = mg_about(d->solution->gap);
    if (d->solution->status == MARGIN_OK)
        snprintf(why, room, "the gap is proven");
    else if (ended == MARGIN_STOPPED_ITERATIONS)
        snprintf(why, room,
                 "the limit of %s%s is reached at a gap of %s: raise max_iter, bring the "
                 "columns to one scale (standardize | ...), or take solver=auto, which needs few "
                 "passes",
                 mg_counted(d->limit, d->unit_name).text,
                 d->is_default ? " (max_iter was not given)" : "", gap.text);
    else if (ended == MARGIN_STOPPED_TIME)
        snprintf(why, room,
                 "the time limit is reached at a gap of %s after %s; solver=auto is faster",
                 gap.text, mg_counted(d->units, d->unit_name).text);
    else if (d->noisy)
        snprintf(why, room,
                 "no pass of the last %d came to a better point, at a gap of %s: with a constant "
                 "rate the steps of single rows never settle; take schedule=inverse, a smaller "
                 "rate, or solver=auto",
                 MG_DESCENT_MOST_IDLE, gap.text);
    else
        snprintf(why, room,
                 "steps no longer change the objective, at a gap of %s: bring the columns to one "
                 "scale (standardize | ...), or take solver=auto",
                 gap.text);
}

margin_status mg_descent_end(mg_descent *d, margin_status ended) {
    mg_linear_solution *out = d->solution;
    mg_endless endless = {.separated = mg_is_endless(d->objective) && d->best.errors == 0};
    double safe = (double)NAN;
    out->plain = mg_descent_is_dear(d); /* a model of few passes goes without */
    MG_TRY(mg_descent_prove(d));
    if (ended != MARGIN_STOPPED_TIME) MG_TRY(mg_descent_prove_by_distance(d));
    out->iterations = d->units;
    out->status = out->gap <= d->job->tolerance && !endless.separated ? MARGIN_OK : ended;
    if (endless.separated && out->status == MARGIN_OK) out->status = MARGIN_STOPPED_STALLED;
    const bool stopped = out->status != MARGIN_OK && ended != MARGIN_STOPPED_TIME;
    if (stopped && !endless.separated && !out->plain)
        MG_TRY(mg_find_recession(d->objective, d->best.w, d->best.b, &endless.recession,
                                 &endless.separable, d->job->error));
    if (stopped) MG_TRY(find_safe_rate(d, &safe));
    if (mg_explain_endless(&endless, out->why, sizeof out->why)) return out->status;
    if (out->status != MARGIN_OK && (d->diverged || d->rate > safe))
        explain_rate(d, safe, out->why, sizeof out->why);
    else
        explain_end(d, ended, out->why, sizeof out->why);
    return out->status;
}
