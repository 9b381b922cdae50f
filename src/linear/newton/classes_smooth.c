/* L-BFGS for the softmax objective. Its start matrix is, for each class k, the factor of
 *
 *   H_k = sum_i c_i 2 p_ik (1 - p_ik) (a_i, 1)(a_i, 1)' + rho
 *
 * over a few rows: the blocks H_k together bound the Hessian from above, as
 * x' (diag(p) - p p') x = sum_{k<l} p_k p_l (x_k - x_l)^2 <= sum_k 2 p_k (1 - p_k) x_k^2, and they
 * follow the probabilities, as the constant bound 1/2 (Boehning, "Multinomial logistic regression
 * algorithm", Ann. Inst. Statist. Math. 44, 1992) does not. Directions have the mean 0 over the
 * classes, as moving all functions together changes no loss. */
#include "linear/newton/classes_smooth.h"

#include "linear/proof/classes_certificate.h"

#include <math.h>
#include <string.h>

/* As in smooth.c. */
static const double armijo = 1e-4, flatter = 0.9;
static const double rounding_double = 1e-12, rounding_single = 3e-8;
enum { MOST_TRIES = 30 };

/* ---- Points ---------------------------------------------------------------------------------- */

static double rounding_of(const mg_classes_state *s) {
    return s->single ? rounding_single : rounding_double;
}

/* The gap that the probabilities prove: what making s = 0 does to D is b . s, which P has too, and
 * terms of second order, about s_k^2 against what class k weighs. */
static double slack_of(const mg_classes_state *s, const mg_classes_place *place) {
    const double rho = s->o->penalty.rho;
    double square = 0.0, across = 0.0;
    if (!(rho > 0.0)) return (double)INFINITY;
    for (int64_t k = 0; k < s->classes; k++) {
        const double sum = place->gradient[k * s->block + s->columns];
        if (s->o->totals[k] > 0.0) across += sum * sum / s->o->totals[k];
        square += s->pairs.vectors->square(s->raw + k * s->columns, s->columns);
    }
    return square / (2.0 * rho) + across;
}

static margin_status evaluate(mg_classes_state *s, mg_classes_place *place) {
    double *last = s->move_b; /* free by now */
    mg_loss_point point = {.gradient = s->raw, .intercept_gradient = last, .single = s->single};
    MG_TRY(mg_objective_pass(s->o, place->w, place->b, &point, s->job->error));
    s->solution->passes++;
    place->value = point.value;
    place->errors = point.errors;
    for (int64_t k = 0; k < s->classes; k++) {
        double *to = place->gradient + k * s->block;
        const double *from = s->raw + k * s->columns;
        for (int64_t j = 0; j < s->columns; j++)
            to[j] = s->factor[j] * (from[j] - s->centre[j] * last[k]);
        to[s->columns] = last[k];
    }
    place->slack = slack_of(s, place);
    return MARGIN_OK;
}

void mg_classes_set_move(mg_classes_state *s) {
    for (int64_t k = 0; k < s->classes; k++) {
        const double *d = s->direction + k * s->block;
        double *move = s->move + k * s->columns, intercept = d[s->columns];
        for (int64_t j = 0; j < s->columns; j++) {
            move[j] = s->factor[j] * d[j];
            intercept -= s->centre[j] * move[j];
        }
        s->move_b[k] = s->o->intercept ? intercept : 0.0;
    }
}

static margin_status try_step(mg_classes_state *s, double t) {
    mg_classes_set_move(s);
    for (int64_t j = 0; j < s->classes * s->columns; j++)
        s->there.w[j] = s->here.w[j] + t * s->move[j];
    for (int64_t k = 0; k < s->classes; k++)
        s->there.b[k] = s->here.b[k] + t * s->move_b[k];
    s->step = t;
    return evaluate(s, &s->there);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool leads_down(const mg_classes_state *s, double slope_there) {
    const double change = s->there.value - s->here.value;
    if (change <= armijo * s->step * s->slope) return true;
    return change <= rounding_of(s) * fabs(s->here.value) &&
           fabs(slope_there) <= flatter * fabs(s->slope);
}

/* Where the slope is 0 if it is linear between both ends; half as far where nothing is known. */
static double shorter(const mg_classes_state *s, double slope_there) {
    if (!isfinite(s->there.value) || !(slope_there > 0.0)) return 0.3 * s->step;
    return s->step * fmin(fmax(s->slope / (s->slope - slope_there), 0.1), 0.8);
}

static void take_step(mg_classes_state *s) {
    const mg_classes_place here = s->here;
    s->here = s->there;
    s->there = here;
    s->proven_here = false;
    s->solution->iterations++;
    s->cut = s->step < 0.5;
    const bool fell = s->there.value - s->here.value > rounding_of(s) * fabs(s->here.value);
    const bool tighter = s->here.slack < 0.5 * s->best_slack;
    const bool promising = !s->single && -s->slope < 0.5 * s->best_promise;
    if (tighter) s->best_slack = s->here.slack;
    if (promising) s->best_promise = -s->slope;
    s->idle_steps = fell || tighter || promising ? 0 : s->idle_steps + 1;
    mg_linear_trace(s->job, s->solution->iterations, s->here.w, s->here.b, s->here.value,
                    s->here.errors);
}

margin_status mg_classes_step(mg_classes_state *s, bool *moved) {
    double t = 1.0;
    *moved = false;
    s->slope = mg_lbfgs_dot(&s->pairs, s->here.gradient, s->direction);
    if (!(s->slope < 0.0)) return MARGIN_OK;
    for (int k = 0; k < MOST_TRIES; k++) {
        MG_TRY(try_step(s, t));
        const double slope_there = mg_lbfgs_dot(&s->pairs, s->there.gradient, s->direction);
        if (leads_down(s, slope_there)) {
            take_step(s);
            *moved = true;
            return MARGIN_OK;
        }
        if (mg_cancelled(s->o->design->context)) return mg_fail_cancelled(s->job->error);
        t = shorter(s, slope_there);
    }
    return MARGIN_OK;
}

/* ---- Direction ------------------------------------------------------------------------------- */

static margin_status set_direction(mg_classes_state *s) {
    for (int64_t j = 0; j < s->size; j++)
        s->direction[j] = -s->here.gradient[j];
    mg_lbfgs_pairs_before(&s->pairs, s->direction);
    MG_TRY(mg_classes_base_solve(s, s->direction));
    mg_lbfgs_pairs_after(&s->pairs, s->direction);
    return MARGIN_OK;
}

static margin_status keep_pair(mg_classes_state *s) {
    double *step, *change, product = 0.0;
    mg_lbfgs_pairs_next(&s->pairs, &step, &change);
    for (int64_t j = 0; j < s->size; j++) {
        step[j] = s->step * s->direction[j];
        change[j] = s->here.gradient[j] - s->there.gradient[j];
    }
    if (!mg_lbfgs_pairs_keep(&s->pairs) || s->base != MG_BASE_DIAGONAL) return MARGIN_OK;
    /* so that H0 has the curvature that was seen along the last step */
    const double *latest = mg_lbfgs_pairs_change(&s->pairs, &product);
    s->scale = 1.0;
    memcpy(s->direction, latest, (size_t)s->size * sizeof *latest);
    MG_TRY(mg_classes_base_solve(s, s->direction));
    const double along = mg_lbfgs_dot(&s->pairs, latest, s->direction);
    s->scale = along > 0.0 ? product / along : 1.0;
    return MARGIN_OK;
}

/* ---- Start ----------------------------------------------------------------------------------- */

static margin_status go_to_start(mg_classes_state *s) {
    memset(s->here.w, 0, (size_t)(s->classes * s->columns) * sizeof *s->here.w);
    s->constant_value = mg_objective_constant(s->o, s->here.b);
    MG_TRY(evaluate(s, &s->here));
    MG_REQUIRE(isfinite(s->here.value), s->job->error, MARGIN_ERROR_DATA,
               "the objective is beyond double precision; bring the columns to one scale first: "
               "standardize | ...");
    s->best_slack = s->here.slack;
    mg_linear_trace(s->job, 0, s->here.w, s->here.b, s->here.value, s->here.errors);
    return MARGIN_OK;
}

/* As many pairs as fit into some memory, which is a constant of the shape. */
static int pairs_for(int64_t size) {
    const int64_t bytes = (int64_t)1 << 28, each = 2 * size * (int64_t)sizeof(double);
    return (int)MG_MAX(6, MG_MIN(20, bytes / each));
}

static margin_status take_memory(mg_classes_state *s) {
    const int64_t weights = s->classes * s->columns;
    const int room = pairs_for(s->size);
    const int64_t total =
        2 * s->columns + 4 * weights + 3 * s->classes + (4 + 2 * room) * s->size + s->classes;
    double *at = mg_arena_new(&s->arena, total, sizeof *at);
    if (!at)
        return mg_no_memory(s->o->design->heap, total, sizeof *at, "the state of a solver",
                            s->job->error);
    double **const parts[] = {&s->centre,        &s->factor,        &s->here.w,    &s->here.b,
                              &s->there.w,       &s->there.b,       &s->raw,       &s->move,
                              &s->move_b,        &s->class_scale,   &s->direction, &s->diagonals,
                              &s->here.gradient, &s->there.gradient};
    const int64_t lengths[] = {s->columns, s->columns, weights, s->classes, weights,
                               s->classes, weights,    weights, s->classes, s->classes,
                               s->size,    s->size,    s->size, s->size};
    for (int k = 0; k < MG_LENGTH(parts); k++) {
        *parts[k] = at;
        at += lengths[k];
    }
    s->pairs = mg_lbfgs_pairs_make(s->o->design->context, s->o->design->isa, s->size, room, at);
    return MARGIN_OK;
}

static margin_status begin(mg_linear_job *job, mg_linear_solution *solution, mg_classes_state *s) {
    const mg_objective *o = job->objective;
    const margin_matrix *x = &o->design->problem->x;
    *s = (mg_classes_state){.job = job,
                            .solution = solution,
                            .o = o,
                            .classes = o->functions,
                            .columns = o->columns,
                            .block = o->columns + 1,
                            .size = o->functions * (o->columns + 1),
                            .single = !mg_is_csr(x) && x->value_type == MARGIN_F32,
                            .strictness = 0.95,
                            .scale = 1.0,
                            .best_promise = (double)INFINITY};
    mg_arena_init(&s->arena, o->design->heap);
    MG_TRY(take_memory(s));
    MG_TRY(mg_design_coordinates(o->design, o->intercept, s->centre, s->factor, job->error));
    MG_TRY(go_to_start(s));
    return mg_classes_base_start(s);
}

/* ---- The method ------------------------------------------------------------------------------ */

/* Where steps lead nowhere: double precision, then another H0, then no memory of steps, then
 * Newton's method. */
static margin_status escalate(mg_classes_state *s, bool *tried) {
    *tried = true;
    if (s->single) {
        s->single = false;
        s->idle_steps = 0;
        s->best_promise = (double)INFINITY;
        mg_lbfgs_pairs_clear(&s->pairs);
        MG_TRY(evaluate(s, &s->here));
        s->best_slack = s->here.slack;
        return MARGIN_OK;
    }
    const bool idle = mg_classes_is_idle(s);
    if (!idle && s->since > 1) {
        MG_TRY(mg_classes_base_improve(s, true, tried));
        if (*tried) return MARGIN_OK;
    }
    *tried = s->pairs.count > 0 && !idle;
    mg_lbfgs_pairs_clear(&s->pairs);
    s->scale = 1.0;
    if (*tried || s->exact || !(s->o->penalty.rho > 0.0) || !mg_classes_newton_can(s->o))
        return MARGIN_OK;
    s->exact = *tried = true;
    s->idle_steps = 0;
    return MARGIN_OK;
}

static margin_status one_step(mg_classes_state *s, bool *moved) {
    const int64_t passes = s->solution->passes;
    if (s->exact) {
        double least, most;
        MG_TRY(mg_classes_newton_step(s, &least, &most));
        return mg_classes_step(s, moved);
    }
    MG_TRY(set_direction(s));
    MG_TRY(mg_classes_step(s, moved));
    s->rented += s->solution->passes - passes;
    s->since++;
    return *moved ? keep_pair(s) : MARGIN_OK;
}

static margin_status iterate(mg_classes_state *s) {
    for (;;) {
        bool done, moved = true, improved;
        MG_TRY(mg_classes_check(s, &done));
        if (done) return mg_classes_end(s, MARGIN_OK);
        const margin_status stop = mg_stop_check(&s->job->stop, s->solution->iterations);
        if (stop < 0) return mg_fail_cancelled(s->job->error);
        if (stop > 0) return mg_classes_end(s, stop);
        if (!s->exact) MG_TRY(mg_classes_base_improve(s, false, &improved));
        if (!mg_classes_is_idle(s)) MG_TRY(one_step(s, &moved));
        if (!moved || mg_classes_is_idle(s)) {
            bool tried;
            MG_TRY(escalate(s, &tried));
            if (!tried) return mg_classes_end(s, MARGIN_STOPPED_STALLED);
        }
    }
}

margin_status mg_classes_minimise(mg_linear_job *job, mg_linear_solution *solution) {
    mg_classes_state s;
    margin_status status = begin(job, solution, &s);
    if (status >= 0) status = iterate(&s);
    mg_arena_free(&s.arena);
    return status;
}
