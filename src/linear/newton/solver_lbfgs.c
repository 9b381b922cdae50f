/* L-BFGS whose start matrix is the Cholesky factor of a sampled Hessian.
 *
 *   given    smooth P; a start
 *   keep     pairs of steps and changes of gradient (the last 12 or 20), and H0, near the Hessian
 *   step     d = -B g with B from H0 and the pairs by the two-loop recursion (lbfgs_pairs.h);
 *            full step first
 *
 * H0 is the Hessian of a few rows, factored once (Byrd, Chin, Neveitt, Nocedal, SIAM J. Optim. 21,
 * 2011, use such rows for products); the pairs mend what the sample got wrong. A pass costs the
 * same whatever H0 is, but with many columns a factor costs many of them: until as many were made
 * the diagonal of H will do.
 *
 * One function: where the curvature has changed H0 is made anew; where progress is slow its sample
 * grows eightfold, in the end to all rows in double precision: then this is Newton's method.
 * Between factors H0 is scaled to the curvature along the last step. Several functions: where steps
 * on a part of the rows led to the start, and it costs few passes, the factor of their Hessian as a
 * whole; else one factor for all of them at first, then, where many passes were made, one for each.
 */
#include "base/scoped.h"
#include "linear/newton/smooth.h"
#include "linear/objective/conjugate.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_ROWS = 4000,    /* of the first sample, or */
    ROWS_PER_COLUMN = 20, /* as many for each column; of several functions: */
    ROWS_FOR_EACH = 10,
    WHOLE_ROWS = 2000,      /* of a factor of all functions, or */
    WHOLE_FOR_EACH = 40,    /* as many for each column */
    GROWTH = 8,             /* of the sample */
    STEPS_BEFORE_GROWTH = 3 /* after a new factor */
};

/* Steps without progress after which only rounding is left; in f32 there is another way. */
enum { IDLE_STEPS = 12, IDLE_SINGLE = 6 };

/* ---- Proof ----------------------------------------------------------------------------------- */

/* What the proof would find, as far as can be told for nothing. No loss is below 0, so that with a
 * penalty P itself is a gap, too. */
static double expected_gap(const mg_smooth *s) {
    if (mg_smooth_is_separated(s)) return s->here.value;
    if (!mg_is_unpenalised(s->objective)) return fmin(s->here.slack, s->here.value);
    const double fallen = s->there.value - s->here.value;
    if (s->solution->iterations == 0) return (double)INFINITY;
    return s->endless.column && !s->exact ? fmax(s->promise, fallen) : fmin(s->promise, fallen);
}

/* Whether it is done: the proof is made as soon as the slack lets hope for it. */
static margin_status smooth_check(mg_smooth *s, bool *done) {
    s->solution->plain |= mg_smooth_is_separated(s); /* no bound but 0, from here on */
    const double tolerance = s->job->tolerance, value = s->here.value;
    const double wanted = mg_smooth_is_separated(s)
                              ? tolerance * fmax(1.0, fabs(value))
                              : mg_wanted_gap(tolerance, value, s->goal.constant);
    *done = s->endless.column && expected_gap(s) <= wanted; /* there is nothing to prove */
    if (*done) return MARGIN_OK;
    return mg_goal_check(&s->goal, expected_gap(s), wanted, value, s->here.w, s->here.b,
                         s->here.scores, done);
}

/* No progress for so long that only rounding is left. */
static bool smooth_is_idle(const mg_smooth *s) {
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

/* Fills in the solution for the point `here`; `ended` is OK (proven), STOPPED_ITERATIONS, _TIME or
 * _STALLED. */
static margin_status smooth_end(mg_smooth *s, margin_status ended) {
    mg_linear_solution *out = s->solution;
    mg_endless *endless = &s->endless;
    endless->separated = mg_smooth_is_separated(s);
    /* a proof without a penalty tells that there is an optimum: curvature_bound.c */
    if (!endless->separated && !endless->column && ended == MARGIN_STOPPED_STALLED)
        MG_TRY(mg_find_recession(s->objective, s->here.w, s->here.b, endless, s->job->error));
    mg_stop_disarm(&s->job->stop);
    out->ended = true;
    MG_TRY(mg_goal_prove(&s->goal, s->here.w, s->here.b, s->here.scores));
    out->accuracy = accuracy_of(s);
    out->status = mg_goal_end(s->job, out, ended, "steps");
    explain_limit(s);
    if (mg_explain_endless(endless, out->why, sizeof out->why) && out->status == MARGIN_OK)
        out->status = MARGIN_STOPPED_STALLED;
    return out->status;
}

/* ---- H0 of one function ---------------------------------------------------------------------- */

/* Progress is slow if a step promises more than this share of what the one before promised. */
static const double slow = 0.25;
/* The curvature has changed if the last step, or the scale of H0, is beyond this factor. */
static const double changed = 2.0;
/* What a factor may cost, in passes, whether so many were made or not: where progress is slow, and
 * for a larger sample where only the curvature has changed. */
static const double small_price = 2.0, tiny_price = 1.0;

/* Level by level the factor comes nearer to the Hessian: samples in single precision, eight times
 * as many rows each, then all rows in double precision (at once if the first sample is all). */
typedef struct level {
    int64_t rows;
    bool single, last;
} level;

int64_t mg_smooth_least_rows(const mg_smooth *s) {
    return MG_MAX(FIRST_ROWS, ROWS_PER_COLUMN * s->block);
}

static level level_at(const mg_smooth *s, int number) {
    const int64_t all = s->samples;
    int64_t rows = s->part.sample.count > 0 ? s->part.sample.count : mg_smooth_least_rows(s);
    int k = 0;
    for (; k < number && rows < all; k++)
        rows = rows > all / GROWTH ? all : rows * GROWTH;
    const bool exact = rows >= all && (k == 0 || k < number);
    return (level){MG_MIN(rows, all), !exact, exact};
}

/* A factor that could be made, what it costs, and what it may cost, in passes. */
typedef struct offer {
    mg_smooth_base base;
    int level; /* of one function */
    int64_t rows;
    bool single;
    double price, limit;
} offer;

static offer offer_of_level(const mg_smooth *s, int number, double limit) {
    const level l = level_at(s, number);
    const double price = mg_smooth_price(s, MG_BASE_BLOCKS, l.rows, l.single);
    return (offer){MG_BASE_BLOCKS, number, l.rows, l.single, price, limit};
}

/* Where the last factor serves no longer: one of the next level if progress is slow or it costs
 * little, else of the same level if the curvature is another one. */
static int offers_to_one(const mg_smooth *s, offer *out) {
    const bool none = s->level < 0;
    const bool is_slow = (s->since > STEPS_BEFORE_GROWTH && s->last > slow * s->before) ||
                         (s->since > 0 && s->since <= 2 && s->cut);
    /* the curvature is no longer that of the factor: steps do not fit as they are */
    const bool has_changed = s->since > 0 && (s->cut || s->step > changed || s->scale > changed ||
                                              s->scale < 1.0 / changed);
    const double rented = (double)s->rented;
    if (!mg_smooth_can_factor(s, 1) || !(none || is_slow || has_changed)) return 0;
    const int next = !none && level_at(s, s->level).last ? s->level : s->level + 1;
    out[0] = offer_of_level(s, next, none || is_slow ? fmax(small_price, rented) : tiny_price);
    if (!none) out[1] = offer_of_level(s, s->level, rented);
    return none ? 1 : 2;
}

/* ---- H0 of several functions ----------------------------------------------------------------- */

/* What the first factor may cost, in passes, and what each later one may cost against the passes
 * made since the one before, of so many steps at least. */
static const double first_price = 20.0;
static const double later_price[] = {0.25, 0.6, 1.2, 2.5};
enum { LEAST_STEPS = 8 };
/* What a factor of all functions may cost: about as many passes as it saves. */
static const double whole_price = 10.0;

static int64_t whole_rows(const mg_smooth *s) {
    return MG_MIN(s->samples, MG_MAX(WHOLE_ROWS, WHOLE_FOR_EACH * s->block));
}

bool mg_smooth_can_whole(const mg_smooth *s) {
    return s->functions > 1 && !mg_is_csr(&s->design->problem->x) &&
           mg_newton_matrix_can(s->objective) &&
           mg_smooth_price(s, MG_BASE_WHOLE, whole_rows(s), true) <= whole_price;
}

static offer offer_of_whole(const mg_smooth *s) {
    const int64_t rows = MG_MIN(s->samples, (s->builds + 1) * whole_rows(s));
    const double price = s->builds > 0 ? mg_smooth_price(s, MG_BASE_WHOLE, rows, true) : 0.0;
    return (offer){MG_BASE_WHOLE, 0, rows, true, price, (double)s->rented};
}

static offer offer_to_several(const mg_smooth *s, mg_smooth_base base) {
    const int64_t rows = MG_MIN(s->samples, MG_MAX(FIRST_ROWS, ROWS_FOR_EACH * s->block));
    const int turn = (int)MG_MIN(MG_MAX(s->builds - 1, 0), MG_LENGTH(later_price) - 1);
    const double price = mg_smooth_price(s, base, rows, true);
    if (base == MG_BASE_SHARED) return (offer){base, 0, rows, true, price, first_price};
    return (offer){base, 0, rows, true, later_price[turn] * price, (double)s->rented};
}

static int offers_to_several(mg_smooth *s, offer *out) {
    const bool first = s->level < 0;
    int count = 0;
    s->level = 0;
    if (s->part.sample.count > 0) {
        if (first || s->since >= 2 * LEAST_STEPS) out[count++] = offer_of_whole(s);
        return count;
    }
    if (first && mg_smooth_can_factor(s, 1)) out[count++] = offer_to_several(s, MG_BASE_SHARED);
    if (s->since >= LEAST_STEPS && mg_smooth_can_factor(s, s->functions + 1))
        out[count++] = offer_to_several(s, MG_BASE_BLOCKS);
    return count;
}

/* ---- H0 made anew ---------------------------------------------------------------------------- */

static margin_status smooth_build(mg_smooth *s, const offer *o) {
    const bool by_part =
        s->functions == 1 && s->builds == 0 && s->part.sample.count > 0 && o->rows < s->samples;
    bool went;
    MG_TRY(mg_smooth_turn(s, (double)INFINITY, &went)); /* it costs less than any factor */
    if (went) return MARGIN_OK;
    MG_TRY(by_part ? mg_smooth_factor_part(s) : mg_smooth_factor(s, o->base, o->rows, o->single));
    s->level = o->level;
    if (s->functions > 1) return MARGIN_OK; /* the pairs still serve */
    mg_lbfgs_pairs_clear(&s->pairs);
    s->last = s->before = (double)INFINITY;
    return MARGIN_OK;
}

static margin_status smooth_improve(mg_smooth *s) {
    offer offers[2];
    if (s->exact) return MARGIN_OK;
    const int count = s->functions > 1 ? offers_to_several(s, offers) : offers_to_one(s, offers);
    for (int k = 0; k < count; k++)
        if (offers[k].price <= offers[k].limit) return smooth_build(s, &offers[k]);
    return MARGIN_OK;
}

/* The factor of all rows; one of each function at the present point. False: it is at work. */
static bool best_offer(const mg_smooth *s, bool idle, offer *best) {
    const bool stale = !idle && s->since > 1;
    const bool exact = s->functions == 1 && s->level >= 0 && level_at(s, s->level).last;
    if (!mg_smooth_can_factor(s, s->functions > 1 ? s->functions + 1 : 1)) return false;
    if (s->functions > 1) {
        *best = offer_to_several(s, MG_BASE_BLOCKS);
        return stale;
    }
    int number = MG_MAX(s->level, 0);
    while (!level_at(s, number).last)
        number++;
    *best = offer_of_level(s, number, (double)INFINITY);
    return !exact || stale;
}

static margin_status use_double_precision(mg_smooth *s) {
    s->single = false;
    s->idle_steps = 0;
    s->best_promise = (double)INFINITY;
    mg_lbfgs_pairs_clear(&s->pairs);
    MG_TRY(mg_smooth_evaluate(s, &s->here));
    s->best_slack = s->here.slack;
    return MARGIN_OK;
}

/* Several functions, where there are no steps left to forget. */
static bool may_be_exact(const mg_smooth *s, bool idle) {
    return s->functions > 1 && (s->pairs.count == 0 || idle) && s->objective->penalty.rho > 0.0 &&
           mg_newton_matrix_can(s->objective);
}

/* Where steps lead nowhere, what is left to try: double precision, another H0, Newton's method, at
 * last no memory of steps. False: nothing. */
static margin_status smooth_escalate(mg_smooth *s, bool *tried) {
    const bool idle = smooth_is_idle(s);
    offer best;
    *tried = !s->exact;
    if (s->exact) return MARGIN_OK;
    if (s->single) return use_double_precision(s);
    if (best_offer(s, idle, &best)) {
        if (best.level != s->level) s->idle_steps = 0;
        return smooth_build(s, &best);
    }
    if (may_be_exact(s, idle)) {
        s->exact = true;
        s->idle_steps = 0;
        return MARGIN_OK;
    }
    *tried = s->pairs.count > 0 && !idle;
    mg_lbfgs_pairs_clear(&s->pairs);
    s->scale = 1.0;
    return MARGIN_OK;
}

/* ---- Newton's direction ----------------------------------------------------------------------
 * H d = -g with the Hessian of all rows: the solver newton in every step, for comparison, for small
 * data, and where the loss bends so much that old curvature misleads. With too many columns for a
 * Hessian by conjugate gradients, each of whose steps is a pass over the data, as exactly as the
 * progress is worth (Dembo, Eisenstat, Steihaug, "Inexact Newton methods", SIAM J. Numer. Anal. 19,
 * 1982). */

/* Columns up to which the Hessian is made. */
enum { DENSE_COLUMNS = 2048, MOST_INNER = 200 };

static void negative_gradient(const mg_smooth *s, double *out) {
    for (int64_t j = 0; j < s->size; j++)
        out[j] = -s->here.gradient[j];
}

static margin_status find_inexactly(mg_smooth *s) {
    const mg_objective *o = s->objective;
    const int64_t size = s->size, count = (MG_CONJUGATE_VECTORS + 1) * size + s->samples;
    const double *g = s->here.gradient;
    double total, square = 0.0;
    int64_t steps;
    if (!s->spare)
        MG_ARENA_NEW(&s->arena, s->spare, count, "the state of conjugate gradients", s->job->error);
    double *curvatures = s->spare + (MG_CONJUGATE_VECTORS + 1) * size;
    MG_TRY(mg_smooth_curvatures(s, curvatures, &total));
    mg_smooth_set_diagonal(s, total);
    for (int64_t j = 0; j < size; j++)
        square += g[j] * g[j] / s->diagonals[j];
    const mg_conjugate m = {.objective = o,
                            .stop = &s->job->stop,
                            .count = s->samples,
                            .weights = curvatures,
                            .centre = s->centre,
                            .factor = s->factor,
                            .diagonal = s->diagonals,
                            .share = fmin(0.01, square / fmax(1.0, fabs(s->here.value))),
                            .most = MOST_INNER,
                            .residual = s->spare,
                            .direction = s->direction,
                            .work = s->spare + size};
    negative_gradient(s, m.residual);
    return mg_conjugate_gradients(&m, &steps, s->job->error);
}

static margin_status find_by_factor(mg_smooth *s, mg_smooth_base base) {
    MG_TRY(mg_smooth_factor(s, base, s->samples, false));
    negative_gradient(s, s->direction);
    return mg_smooth_solve(s, s->direction);
}

static margin_status newton_direction(mg_smooth *s) {
    if (s->functions > 1) return find_by_factor(s, MG_BASE_WHOLE);
    const bool dense = s->columns <= DENSE_COLUMNS && mg_smooth_can_factor(s, 1);
    return dense ? find_by_factor(s, MG_BASE_BLOCKS) : find_inexactly(s);
}

static margin_status set_direction(mg_smooth *s) {
    if (s->exact) return newton_direction(s);
    negative_gradient(s, s->direction);
    mg_lbfgs_pairs_before(&s->pairs, s->direction);
    MG_TRY(mg_smooth_solve(s, s->direction));
    mg_lbfgs_pairs_after(&s->pairs, s->direction);
    return MARGIN_OK;
}

/* H0 gets the curvature that was seen along the last step. */
static margin_status keep_pair(mg_smooth *s) {
    double *step, *change, product = 0.0;
    if (s->exact) return MARGIN_OK;
    mg_lbfgs_pairs_next(&s->pairs, &step, &change);
    for (int64_t j = 0; j < s->size; j++) {
        step[j] = s->step * s->direction[j];
        change[j] = s->here.gradient[j] - s->there.gradient[j];
    }
    if (!mg_lbfgs_pairs_keep(&s->pairs)) return MARGIN_OK;
    if (s->functions > 1 && s->base != MG_BASE_DIAGONAL) return MARGIN_OK;
    const double *latest = mg_lbfgs_pairs_change(&s->pairs, &product);
    s->scale = 1.0;
    memcpy(s->direction, latest, (size_t)s->size * sizeof *latest);
    MG_TRY(mg_smooth_solve(s, s->direction));
    const double along = mg_lbfgs_dot(&s->pairs, latest, s->direction);
    s->scale = along > 0.0 ? product / along : 1.0;
    return MARGIN_OK;
}

/* ---- The method ------------------------------------------------------------------------------ */

MG_INLINE margin_status next_step(mg_smooth *s, bool *moved) {
    MG_TRY(set_direction(s));
    MG_TRY(mg_smooth_step(s, moved));
    return *moved ? keep_pair(s) : MARGIN_OK;
}

margin_status mg_smooth_descend(mg_smooth *s, double enough) {
    enum { MOST_STEPS = 20 };
    bool moved = true;
    MG_TRY(mg_smooth_diagonal(s));
    for (int k = 0; k < MOST_STEPS && moved && !(s->last <= enough * fabs(s->here.value)); k++) {
        if (s->functions > 1 && mg_smooth_is_separated(s)) return MARGIN_OK;
        if (mg_stop_check(&s->job->stop, 0) != MARGIN_OK) return MARGIN_OK;
        MG_TRY(smooth_improve(s));
        MG_TRY(next_step(s, &moved));
    }
    return MARGIN_OK;
}

/* Where a proof has no slack to go by and costs less than two passes more. */
static margin_status look_at_promise(mg_smooth *s) {
    if (s->exact || !(s->endless.column || mg_bound_by_products(s->objective))) return MARGIN_OK;
    MG_TRY(set_direction(s));
    s->promise = -mg_lbfgs_dot(&s->pairs, s->here.gradient, s->direction);
    return MARGIN_OK;
}

static margin_status smooth_iterate(mg_smooth *s) {
    enum { FOR_EACH = 150 }; /* of several functions, whose passes soon cost as much */
    const bool soon =
        s->functions > 1 && s->columns >= 4 * s->samples && s->samples <= FOR_EACH * s->functions;
    const bool at_once = s->exact || soon || s->solution->iterations > 0; /* another's, in vain */
    bool proven, moved;
    MG_TRY(mg_smooth_diagonal(s));
    for (bool tried = true; tried;) {
        const int64_t steps = s->solution->iterations;
        MG_TRY(look_at_promise(s));
        MG_TRY(smooth_check(s, &proven));
        if (proven) return smooth_end(s, s->endless.column ? MARGIN_STOPPED_STALLED : MARGIN_OK);
        const margin_status stop = mg_stop_check(&s->job->stop, s->solution->iterations);
        if (stop < 0) return mg_fail_cancelled(s->job->error);
        if (stop > 0) return smooth_end(s, stop);
        MG_TRY(mg_smooth_turn(s, at_once ? (double)INFINITY : (double)steps, &moved));
        if (!moved) MG_TRY(smooth_improve(s));
        moved = s->solution->iterations > steps;
        if (moved) continue;
        if (!smooth_is_idle(s)) MG_TRY(next_step(s, &moved));
        if (!moved || smooth_is_idle(s)) MG_TRY(smooth_escalate(s, &tried));
    }
    return smooth_end(s, MARGIN_STOPPED_STALLED);
}

/* A loss with a second derivative and no |w|_1. */
static bool smooth_can(const mg_objective *objective, char *why) {
    if (!objective->loss->curved)
        return mg_solver_cannot(why, "the %s loss has corners", objective->loss->name);
    return objective->penalty.kappa > 0.0 ? mg_solver_cannot(why, "|w|_1 has corners") : true;
}

/* From the solution's w and b, or, where both are 0, the best intercepts, until P is proven. */
static margin_status smooth_minimise(mg_linear_job *job, mg_linear_solution *solution) {
    MG_SCOPED(mg_smooth, s);
    mg_endless endless = {0};
    MG_TRY(mg_find_column(job->objective, &endless, job->error));
    solution->plain = endless.column > 0; /* no bound either */
    MG_TRY(mg_smooth_begin(job, solution, NULL, &s));
    s.endless = endless;
    job->stop.deadline -= s.pass; /* the proof takes as long */
    mg_stop_arm(&job->stop);
    const margin_status status = smooth_iterate(&s);
    return mg_stop_cut(&job->stop, status) ? smooth_end(&s, MARGIN_STOPPED_TIME) : status;
}

const mg_linear_solver mg_solver_lbfgs = {
    .name = "lbfgs",
    .step_name = "L-BFGS steps",
    .can = smooth_can,
    .cuts = true,
    .solve = smooth_minimise,
};

const mg_linear_solver mg_solver_newton = {
    .name = "newton",
    .step_name = "Newton steps",
    .can = smooth_can,
    .cuts = true,
    .solve = smooth_minimise,
};
