/* When a solver proves what it has, and what it says in the end. */
#include "linear/proof/goal.h"

#include <stdio.h>
#include <string.h>

double mg_wanted_gap(double tolerance, double value, double constant) {
    const double size = fabs(value), gain = sqrt(tolerance) * (constant - value);
    return fmin(tolerance * fmax(1.0, size), fmax(gain, 1e-13 * size)); /* rounding */
}

double mg_wanted_gap_l1(double tolerance, double value, double constant) {
    return fmin(mg_wanted_gap(tolerance, value, constant),
                tolerance * fmax(fabs(value), 1e-3 * (constant - value)));
}

inline margin_status mg_goal_prove(mg_goal *goal, const double *w, const double *b,
                                   const double *scores) {
    const mg_objective *o = goal->job->objective;
    mg_linear_solution *out = goal->solution;
    if (goal->proven) return MARGIN_OK;
    memcpy(out->w, w, (size_t)(o->functions * o->columns) * sizeof *w);
    memcpy(out->b, b, (size_t)o->functions * sizeof *b);
    mg_objective_centre(o, out->w, out->b);
    MG_TRY(mg_certify(o, out, scores, goal->job->error));
    goal->proven = true;
    return MARGIN_OK;
}

margin_status mg_goal_check(mg_goal *goal, double expected, double wanted, double value,
                            const double *w, const double *b, const double *scores, bool *done) {
    *done = false;
    mg_progress(goal->job->context, "training", (double)goal->solution->iterations, 0.0,
                expected / fmax(1.0, fabs(value)));
    if (!(expected <= goal->strictness * wanted)) return MARGIN_OK;
    MG_TRY(mg_goal_prove(goal, w, b, scores));
    *done = goal->solution->gap <= goal->job->tolerance;
    if (!*done) goal->strictness *= 0.1;
    return MARGIN_OK;
}

margin_status mg_goal_end(const mg_linear_job *job, mg_linear_solution *solution,
                          margin_status ended, const char *unit) {
    solution->status = solution->gap <= job->tolerance ? MARGIN_OK : ended;
    mg_explain_end(solution->status, unit, solution->iterations, solution->gap, job->tolerance,
                   solution->why, sizeof solution->why);
    return solution->status;
}

/* ---- Words ----------------------------------------------------------------------------------- */

void mg_explain_end(margin_status status, const char *unit, int64_t count, double gap,
                    double tolerance, char *why, size_t room) {
    const mg_number_text at = mg_about(gap), asked = mg_number(tolerance);
    const mg_counted_text made = mg_counted(count, unit);
    if (status == MARGIN_OK)
        snprintf(why, room, "the gap is proven");
    else if (status == MARGIN_STOPPED_ITERATIONS)
        snprintf(why, room, "the limit of %s is reached at a gap of %s; raise max_iter", made.text,
                 at.text);
    else if (status == MARGIN_STOPPED_TIME)
        snprintf(why, room, "the time limit is reached at a gap of %s after %s", at.text,
                 made.text);
    else
        snprintf(why, room,
                 "progress ends at a gap of %s after %s, above tol=%s: rounding, or columns of "
                 "unlike sizes or that almost depend on each other; ask for less, give a stronger "
                 "penalty or another solver, or take standardize | ... (target=yes for numbers)",
                 at.text, made.text, asked.text);
}

bool mg_explain_endless(const mg_endless *endless, char *why, size_t room) {
    const char *what = "in one direction of the weights no row gets worse and some get better for "
                       "ever (two classes touch, but do not overlap there)";
    char column[200] = "";
    if (endless->separated)
        what = "these weights have every row on its side, and the loss falls towards 0 for ever as "
               "they grow";
    else if (!endless->recession)
        return false;
    else if (endless->separable)
        what = "in one direction of the weights every row gets to its side, and the loss falls "
               "towards 0 for ever";
    if (endless->column > 0 && !endless->separated)
        snprintf(column, sizeof column,
                 "column %lld of what the learner gets tells the class of every row where it is "
                 "not 0, so that no row gets worse and some get better for ever as its weight "
                 "grows",
                 (long long)endless->column);
    snprintf(why, room, "without a penalty there is no optimum: %s; give C a finite value",
             column[0] ? column : what);
    return true;
}
