/* When a solver proves what it has, and what it says in the end. */
#include "linear/proof/goal.h"

#include "linear/proof/end_words.h"

#include <math.h>
#include <string.h>

double mg_wanted_gap(double tolerance, double value, double constant) {
    static const double rounding = 1e-13;
    const double size = fabs(value), gain = sqrt(tolerance) * (constant - value);
    return fmin(tolerance * fmax(1.0, size), fmax(gain, rounding * size));
}

double mg_wanted_gap_l1(double tolerance, double value, double constant) {
    const double own = tolerance * fmax(fabs(value), 1e-3 * (constant - value));
    return fmin(mg_wanted_gap(tolerance, value, constant), own);
}

margin_status mg_goal_prove(mg_goal *goal, const double *w, const double *b) {
    const mg_objective *o = goal->job->objective;
    mg_linear_solution *out = goal->solution;
    if (goal->proven) return MARGIN_OK;
    memcpy(out->w, w, (size_t)(o->functions * o->columns) * sizeof *w);
    memcpy(out->b, b, (size_t)o->functions * sizeof *b);
    mg_objective_centre(o, out->w, out->b);
    MG_TRY(mg_certify(o, out, goal->job->error));
    out->passes += 2;
    goal->proven = true;
    return MARGIN_OK;
}

margin_status mg_goal_check(mg_goal *goal, double expected, double wanted, double value,
                            const double *w, const double *b, bool *done) {
    *done = false;
    mg_progress(goal->job->context, "training", (double)goal->solution->iterations, 0.0,
                expected / fmax(1.0, fabs(value)));
    if (!(expected <= goal->strictness * wanted)) return MARGIN_OK;
    MG_TRY(mg_goal_prove(goal, w, b));
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
