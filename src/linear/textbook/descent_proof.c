/* When gradient descent is done, and what is said of it. */
#include "linear/proof/newton_matrix.h"
#include "linear/textbook/descent.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* Proofs that cost passes: first after this many units, then at distances that grow by a part. */
enum { FIRST_CHECK = 8, GROWTH = 4, NUMBERS_PER_PASS = 8, MOST_PRICE = 16 };

/* ---- Residual of the normal equations -------------------------------------------------------- */

/* Norms of the columns and of the target, centred if there is an intercept. */
static margin_status measure_columns(mg_descent *d) {
    if (d->mean) return MARGIN_OK;
    d->mean = d->norm + d->columns;
    MG_TRY(mg_design_moments(d->design, true, d->mean, d->norm, d->job->error));
    for (int64_t j = 0; j < d->columns; j++) {
        if (!d->objective->intercept) {
            d->norm[j] = hypot(d->mean[j], d->norm[j]);
            d->mean[j] = 0.0;
        }
        d->norm[j] *= sqrt(d->mass);
    }
    return MARGIN_OK;
}

void mg_descent_measure_target(mg_descent *d) {
    const double *c = d->objective->c, *y = d->design->problem->target;
    double centre = 0.0;
    if (!d->norm) return;
    if (d->objective->intercept)
        for (int64_t i = 0; i < d->samples; i++)
            centre += c[i] / d->mass * (y[i] - y[0]);
    if (d->objective->intercept) centre += y[0];
    d->spread = mg_squares_spread(y, c, d->samples, centre);
}

/* Tells when a proof is worth its price: max_j |a_j'Cr| / (|a_j| |y|) with centred columns and
 * target; with an intercept the column of ones is one of them. The gradient of sum c r^2 is twice
 * these products. Not whole: of the intercept alone. */
static double residual(const mg_descent *d, const mg_descent_point *p, bool whole) {
    const double total = d->objective->intercept ? *p->gradient_b : 0.0;
    const double *shift = d->design->shift;
    double most = fabs(total) / sqrt(d->mass), blur = 0.0;
    for (int64_t j = 0; whole && j < d->columns; j++) {
        if (!(d->norm[j] > 0.0)) continue;
        most = fmax(most, fabs(p->gradient[j] - d->mean[j] * total) / d->norm[j]);
        blur = fmax(blur, fabs(d->mean[j] - (shift ? shift[j] : 0.0)) / d->norm[j]);
    }
    most *= 1.0 + 4.0 * DBL_EPSILON * sqrt(d->mass) * blur; /* of deviations far from 0 */
    const double unit = d->spread > 0.0 ? d->spread : sqrt(p->value);
    const double gap = most > 0.0 ? most / 2.0 / unit : 0.0;
    return isnan(gap) ? (double)INFINITY : gap;
}

/* ---- Proof ----------------------------------------------------------------------------------- */

/* Of the best point. */
static margin_status descent_prove(mg_descent *d) {
    if (d->goal.proven) return MARGIN_OK;
    if (d->alpha) memcpy(d->solution->alpha, d->alpha, (size_t)d->samples * sizeof *d->alpha);
    return mg_goal_prove(&d->goal, d->best.w, d->best.b, NULL);
}

/* |g|^2 / (2 rho) of the weights' derivatives, where those of several functions have the mean 0 as
 * in the proof; of an intercept's derivative it sees the square, over a curvature that is not
 * known. */
static double expected_of_gradient(const mg_descent *d, bool whole) {
    const mg_descent_point *p = &d->here;
    const mg_objective *o = d->objective;
    const double curvature = mg_loss_most_curvature(o->loss) * d->mass;
    double square = 0.0, across = 0.0;
    if (d->functions == 1)
        return d->vectors->square(p->gradient, whole ? d->columns : 0) / (2.0 * o->penalty.rho) +
               *p->gradient_b * *p->gradient_b / curvature;
    for (int64_t j = 0; j < d->columns; j++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t k = 0; k < d->functions; k++) {
            const double g = p->gradient[k * d->columns + j];
            sum += g;
            squares += g * g;
        }
        square += fmax(0.0, squares - sum * sum / (double)d->functions);
    }
    for (int64_t k = 0; k < d->functions; k++)
        if (o->totals[k] > 0.0) across += p->gradient_b[k] * p->gradient_b[k] / o->totals[k];
    return square / (2.0 * o->penalty.rho) + across;
}

/* What the proof would find, as far as can be told for nothing; NAN: nothing can. Not whole: that
 * or less, from the derivative of the intercept. */
static double expected_gap(const mg_descent *d, bool whole) {
    const mg_descent_point *p = &d->here;
    const double scale = fmax(1.0, fabs(p->value));
    if (d->norm) return residual(d, p, whole);
    if (mg_is_endless(d->objective) && p->errors == 0) return p->value / scale;
    if (!d->objective->loss->smooth || d->objective->penalty.kappa > 0.0 ||
        mg_is_unpenalised(d->objective))
        return (double)NAN;
    return expected_of_gradient(d, whole) / scale;
}

/* Gains count as well: where the loss weighs next to nothing, w = 0 has a tiny gap too. */
static double allowed_gap(const mg_descent *d) {
    const double tolerance = d->job->tolerance;
    if (d->norm) return tolerance;
    return mg_wanted_gap(tolerance, d->best.value, d->goal.constant) /
           fmax(1.0, fabs(d->best.value));
}

static int64_t price(const mg_descent *d) {
    const int64_t blocks = MG_MAX(1, d->functions - 1);
    return mg_is_unpenalised(d->objective) ? blocks * (d->columns + 1) / NUMBERS_PER_PASS : 0;
}

/* Without a penalty a proof needs a matrix: it costs many times the units made so far. */
static bool descent_is_dear(const mg_descent *d) {
    return price(d) > MOST_PRICE * (d->units + 2);
}

static bool is_time_to_prove(mg_descent *d, double expected) {
    if (d->here.value > d->best.value) return false; /* the best one had its chance */
    if (!isnan(expected)) return expected <= d->goal.strictness * allowed_gap(d);
    if (d->units < d->next_check || descent_is_dear(d)) return false;
    if (d->functions > 1 && !mg_newton_matrix_can(d->objective)) return false;
    d->next_check = d->units + MG_MAX(FIRST_CHECK + price(d), d->units / GROWTH);
    return true;
}

/* A gradient that is late is found where the proof may be due; `told` is NAN without it. */
static margin_status expect_gap(mg_descent *d, double *expected, double *told) {
    *told = (double)NAN;
    if (d->late) {
        *expected = expected_gap(d, false);
        const bool is_due = *expected <= d->goal.strictness * allowed_gap(d);
        if (!is_due || d->here.value > d->best.value) return MARGIN_OK;
    }
    MG_TRY(mg_descent_gradient(d));
    if (d->norm) MG_TRY(measure_columns(d));
    *told = *expected = expected_gap(d, true);
    return MARGIN_OK;
}

margin_status mg_descent_check(mg_descent *d, bool *done) {
    double expected, told;
    MG_TRY(expect_gap(d, &expected, &told));
    /* with corners the dual variables get better though the point is not the best one */
    const bool corners = d->alpha && d->units >= d->next_check;
    *done = false;
    mg_progress(d->job->context, "training", (double)d->units, (double)d->job->stop.max_iterations,
                told);
    if (corners) {
        d->goal.proven = false;
        d->next_check = d->units + MG_MAX(FIRST_CHECK, d->units / GROWTH);
    } else if (!is_time_to_prove(d, expected)) {
        return MARGIN_OK;
    }
    MG_TRY(descent_prove(d));
    *done = d->solution->gap <= allowed_gap(d);
    if (!*done) d->goal.strictness = fmax(0.5 * d->goal.strictness, 1e-9);
    return MARGIN_OK;
}

/* Where the penalty is weak, the duality gap |g|^2 / (2 rho) is far above the distance, which the
 * verification of a ridge takes as well. */
static margin_status descent_prove_by_distance(mg_descent *d) {
    mg_linear_solution *out = d->solution;
    const mg_penalty *penalty = &d->objective->penalty;
    double distance;
    if (d->objective->loss->kind != MG_LOSS_SQUARED || penalty->rho == 0.0 ||
        penalty->kappa > 0.0 || out->gap <= d->job->tolerance ||
        !mg_squares_exact(d->samples, d->columns))
        return MARGIN_OK;
    MG_TRY(mg_bound_by_curvature(d->objective, out, &distance, d->job->error));
    const double gap = distance / fmax(1.0, out->primal);
    if (!(gap < out->gap)) return MARGIN_OK;
    out->gap = gap;
    out->dual = out->primal - distance;
    return MARGIN_OK;
}

/* ---- End ------------------------------------------------------------------------------------- */

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
    const mg_counted_text made = mg_counted(d->units, d->job->solver->step_name);
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
                 mg_counted(d->job->stop.max_iterations, d->job->solver->step_name).text,
                 d->is_default ? " (max_iter was not given)" : "", gap.text);
    else if (ended == MARGIN_STOPPED_TIME)
        snprintf(why, room,
                 "the time limit is reached at a gap of %s after %s; solver=auto is faster",
                 gap.text, mg_counted(d->units, d->job->solver->step_name).text);
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
    out->plain = descent_is_dear(d); /* a model of few passes goes without */
    MG_TRY(descent_prove(d));
    if (ended != MARGIN_STOPPED_TIME) MG_TRY(descent_prove_by_distance(d));
    out->iterations = d->units;
    out->status = out->gap <= d->job->tolerance && !endless.separated ? MARGIN_OK : ended;
    if (endless.separated && out->status == MARGIN_OK) out->status = MARGIN_STOPPED_STALLED;
    const bool stopped = out->status != MARGIN_OK && ended != MARGIN_STOPPED_TIME;
    if (stopped && !endless.separated && !out->plain)
        MG_TRY(mg_find_recession(d->objective, d->best.w, d->best.b, &endless, d->job->error));
    if (stopped) MG_TRY(find_safe_rate(d, &safe));
    if (mg_explain_endless(&endless, out->why, sizeof out->why)) return out->status;
    if (out->status != MARGIN_OK && (d->diverged || d->rate > safe))
        explain_rate(d, safe, out->why, sizeof out->why);
    else
        explain_end(d, ended, out->why, sizeof out->why);
    return out->status;
}
