/* The moving point of the smooth solvers: coordinates, start, steps. */
#include "linear/newton/smooth.h"

#include <string.h>

/* Of a value, relative to it. */
static const double rounding_double = 1e-12, rounding_single = 3e-8;
/* Without scores a step is shortened at most so often. */
enum { MOST_TRIES = 30 };

/* ---- Points ---------------------------------------------------------------------------------- */

static double rounding_of(const mg_smooth *s) {
    return s->single ? rounding_single : rounding_double;
}

/* The gap, nearly. The proof moves dual variables until their sums s_k vanish, which takes s_k
 * times the mean row, or about that, off the gradient: `square` is of what is left. It does to D:
 * of one function |b . s|; of several b . s, which P has too, and terms of second order, about
 * s_k^2 against what class k weighs. */
static double slack_of(const mg_smooth *s, const mg_smooth_point *point, double square) {
    const double rho = s->objective->penalty.rho, *totals = s->objective->totals;
    double across = 0.0;
    if (!(rho > 0.0)) return (double)INFINITY;
    for (int64_t k = 0; k < s->functions; k++) {
        const double sum = point->sums[k];
        if (!totals)
            across += fabs(sum * point->b[k]);
        else if (totals[k] > 0.0)
            across += sum * sum / totals[k];
    }
    return square / (2.0 * rho) + across;
}

margin_status mg_smooth_evaluate(mg_smooth *s, mg_smooth_point *point) {
    double square = 0.0;
    mg_loss_point pass = {.scores = point->scores,
                          .gradient = point->raw,
                          .intercept_gradient = point->sums,
                          .single = s->single};
    MG_TRY(mg_objective_pass(s->objective, point->w, point->b, &pass, s->job->error));
    point->value = pass.value;
    point->errors = pass.errors;
    for (int64_t k = 0; k < s->functions; k++) {
        double *to = point->gradient + k * s->block;
        const double *from = point->raw + k * s->columns;
        for (int64_t j = 0; j < s->columns; j++)
            to[j] = from[j] - s->centre[j] * point->sums[k];
        square += s->vectors->square(to, s->columns);
        for (int64_t j = 0; j < s->columns; j++)
            to[j] *= s->factor[j];
        to[s->columns] = point->sums[k];
    }
    point->slack = slack_of(s, point, square);
    return MARGIN_OK;
}

static void trace_here(const mg_smooth *s) {
    mg_linear_trace(s->job, s->solution->iterations, s->here.w, s->here.b, s->here.value,
                    s->here.errors);
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* True: it was given. */
static bool set_start(mg_smooth *s) {
    const mg_linear_solution *given = s->solution;
    const int64_t weights = s->functions * s->columns;
    bool somewhere = false;
    s->goal.constant = mg_objective_constant(s->objective, s->here.b);
    memcpy(s->here.w, given->w, (size_t)weights * sizeof *given->w);
    for (int64_t j = 0; j < weights + s->functions; j++)
        somewhere |= given->w[j] != 0.0;
    if (somewhere) memcpy(s->here.b, given->b, (size_t)s->functions * sizeof *given->b);
    for (int64_t k = 0; somewhere && k < s->functions; k++)
        s->here.b[k] +=
            mg_drop_constants(s->centre, s->factor, s->here.w + k * s->columns, s->columns);
    return somewhere;
}

/* As many pairs as fit into some memory, which is a constant of the shape. */
static int pairs_for(const mg_smooth *s) {
    enum { LEAST = 6, MOST_OF_ONE = 12, MOST = 20 };
    const int64_t bytes = (int64_t)1 << 28, each = 2 * s->size * (int64_t)sizeof(double);
    return (int)MG_MAX(LEAST, MG_MIN(s->functions > 1 ? MOST : MOST_OF_ONE, bytes / each));
}

static margin_status smooth_new_vectors(mg_smooth *s) {
    static const char purpose[] = "the state of a solver";
    const int64_t weights = s->functions * s->columns, size = s->size;
    const int room = s->exact ? 0 : pairs_for(s);
    margin_error *error = s->job->error;
    if (!s->centre)
        MG_TRY(MG_PIECES(&s->arena, purpose, error, MG_PIECE(s->centre, s->columns),
                         MG_PIECE(s->factor, s->columns)));
    MG_TRY(MG_PIECES(
        &s->arena, purpose, error, MG_PIECE(s->here.w, size), MG_PIECE(s->there.w, size),
        MG_PIECE(s->here.raw, size), MG_PIECE(s->there.raw, size), MG_PIECE(s->move, size),
        MG_PIECE(s->here.gradient, size), MG_PIECE(s->there.gradient, size),
        MG_PIECE(s->direction, size), MG_PIECE(s->diagonals, size),
        MG_PIECE(s->function_scale, s->functions), MG_PIECE(s->pairs.steps, 2 * room * size)));
    if (s->functions == 1)
        MG_TRY(MG_PIECES(&s->arena, purpose, error, MG_PIECE(s->here.scores, s->samples),
                         MG_PIECE(s->there.scores, s->samples)));
    s->here.b = s->here.w + weights; /* intercepts right behind the weights */
    s->there.b = s->there.w + weights;
    s->here.sums = s->here.raw + weights;
    s->there.sums = s->there.raw + weights;
    s->move_b = s->move + weights;
    s->pairs =
        mg_lbfgs_pairs_make(s->design->context, s->design->isa, s->size, room, s->pairs.steps);
    return MARGIN_OK;
}

/* Weights that some rows led to, and lead up here, are worse than none. */
static margin_status go_to_start(mg_smooth *s) {
    const bool given = set_start(s);
    s->turned = given && s->functions > 1; /* near an optimum */
    if (!given) MG_TRY(mg_smooth_start(s));
    const double began = mg_clock();
    MG_TRY(mg_smooth_evaluate(s, &s->here));
    s->pass = mg_clock() - began;
    if (s->part.sample.count == 0 || s->here.value <= s->goal.constant) return MARGIN_OK;
    mg_smooth_part_free(&s->part);
    set_start(s);
    return mg_smooth_evaluate(s, &s->here);
}

margin_status mg_smooth_begin(mg_linear_job *job, mg_linear_solution *solution,
                              const mg_smooth *whole, mg_smooth *s) {
    const mg_objective *o = job->objective;
    const margin_matrix *x = &o->design->problem->x;
    *s = (mg_smooth){MG_SOLVER_OF(job, solution),
                     .block = o->columns + 1,
                     .size = o->functions * (o->columns + 1),
                     .centre = whole ? whole->centre : NULL,
                     .factor = whole ? whole->factor : NULL,
                     .single = o->functions > 1 && !mg_is_csr(x) && x->value_type == MARGIN_F32,
                     .exact = job->solver == &mg_solver_newton,
                     .goal = {.job = job,
                              .solution = solution,
                              .strictness = mg_bound_by_products(o) ? 0.1 : 0.95},
                     .best_promise = (double)INFINITY,
                     .promise = (double)INFINITY,
                     .scale = 1.0,
                     .level = -1,
                     .last = (double)INFINITY,
                     .before = (double)INFINITY,
                     .arena = {.heap = o->design->heap}};
    MG_TRY(smooth_new_vectors(s));
    if (!whole)
        MG_TRY(mg_design_coordinates(s->design, o->intercept, s->centre, s->factor, job->error));
    MG_TRY(go_to_start(s));
    MG_TRY(mg_objective_finite(s->here.value, job->error));
    s->best_slack = s->here.slack;
    if (solution->iterations == 0) trace_here(s); /* else the start was another solver's step */
    return MARGIN_OK;
}

void mg_smooth_free(mg_smooth *s) {
    mg_smooth_part_free(&s->part);
    mg_arena_free(&s->arena);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* move and slope from the direction. */
static void smooth_set_move(mg_smooth *s) {
    for (int64_t k = 0; k < s->functions; k++) {
        const double *d = s->direction + k * s->block;
        s->move_b[k] = mg_design_from_coordinates(s->design, s->centre, s->factor, d,
                                                  s->move + k * s->columns);
        if (!s->objective->intercept) s->move_b[k] = 0.0;
    }
    s->slope = mg_lbfgs_dot(&s->pairs, s->here.gradient, s->direction);
}

/* there = here + t direction */
static margin_status smooth_try(mg_smooth *s, double t) {
    for (int64_t j = 0; j < s->functions * s->columns; j++)
        s->there.w[j] = s->here.w[j] + t * s->move[j];
    for (int64_t k = 0; k < s->functions; k++)
        s->there.b[k] = s->here.b[k] + t * s->move_b[k];
    s->step = t;
    s->rented++;
    MG_TRY(mg_smooth_evaluate(s, &s->there));
    s->slope_there = mg_lbfgs_dot(&s->pairs, s->there.gradient, s->direction);
    return MARGIN_OK;
}

static mg_step step_of(const mg_smooth *s) {
    return (mg_step){s->here.value, s->there.value, s->step, s->slope, s->slope_there};
}

static bool leads_down(const mg_smooth *s) {
    const mg_step step = step_of(s);
    return mg_step_leads_down(&step, rounding_of(s));
}

/* P along the direction, from the scores of here and there = here + direction. */
static margin_status smooth_look(const void *state, double t, mg_line_value *found) {
    const mg_smooth *s = state;
    const mg_objective *o = s->objective;
    MG_TRY(mg_line_look(o, s->here.scores, s->there.scores, t, found, s->job->error));
    const double along = s->vectors->dot(s->here.w, s->move, s->columns);
    const double square = s->vectors->square(s->move, s->columns), rho = o->penalty.rho;
    found->value += mg_objective_penalty(o, s->here.w) + 0.5 * rho * t * (2.0 * along + t * square);
    found->slope += rho * (along + t * square);
    found->curvature += rho * square;
    return MARGIN_OK;
}

/* The best length, where the full step is too long or too short. */
static margin_status smooth_search(const mg_smooth *s, double *t) {
    const mg_line line = {.look = smooth_look,
                          .state = s,
                          .value = s->here.value,
                          .slope = s->slope,
                          .flat = 0.1,
                          .longest = 1024.0};
    const mg_step step = step_of(s);
    return leads_down(s) && !mg_step_is_short(&step) ? MARGIN_OK : mg_line_search(&line, t);
}

/* Where the slope is 0 if it is linear between both ends; a third as far where nothing is known. */
static double shorter(const mg_smooth *s) {
    if (!isfinite(s->there.value) || !(s->slope_there > 0.0)) return 0.3 * s->step;
    return s->step * fmin(fmax(s->slope / (s->slope - s->slope_there), 0.1), 0.8);
}

static void smooth_take(mg_smooth *s) {
    const mg_smooth_point here = s->here;
    s->here = s->there;
    s->there = here;
    s->goal.proven = false;
    s->solution->iterations++;
    s->cut = s->step < 0.5;
    s->was_cut |= s->cut;
    const bool fell = s->there.value - s->here.value > rounding_of(s) * fabs(s->here.value);
    const bool tighter = s->here.slack < 0.5 * s->best_slack;
    const bool promising = !s->single && -s->slope < 0.5 * s->best_promise;
    if (tighter) s->best_slack = s->here.slack;
    if (promising) s->best_promise = -s->slope;
    s->idle_steps = fell || tighter || promising ? 0 : s->idle_steps + 1;
    trace_here(s);
}

margin_status mg_smooth_step(mg_smooth *s, bool *moved) {
    double t = 1.0;
    *moved = false;
    smooth_set_move(s);
    s->since++;
    s->before = s->last;
    s->last = -s->slope;
    if (!(s->slope < 0.0)) return MARGIN_OK;
    MG_TRY(smooth_try(s, t));
    if (s->here.scores) MG_TRY(smooth_search(s, &t));
    if (t != 1.0) MG_TRY(smooth_try(s, t));
    for (int k = 1; !s->here.scores && k < MOST_TRIES && !leads_down(s); k++) {
        if (mg_cancelled(s->design->context)) return mg_fail_cancelled(s->job->error);
        MG_TRY(smooth_try(s, shorter(s)));
    }
    if (!leads_down(s)) return MARGIN_OK;
    smooth_take(s);
    *moved = true;
    return MARGIN_OK;
}

margin_status mg_smooth_turn(mg_smooth *s, double rent, bool *went) {
    static const double price = 0.075; /* of a row's products, in passes over all rows */
    *went = false;
    if (s->turned || rent < price * (double)s->samples) return MARGIN_OK;
    s->turned = true;
    if (!mg_can_solve_in_rows(s->objective, s->centre, s->factor)) return MARGIN_OK;
    margin_status status = mg_solve_in_rows(s->job, s->solution, s->there.w, s->there.b);
    if (status == MARGIN_OK) status = mg_smooth_evaluate(s, &s->there); /* late or not */
    mg_stop_arm(&s->job->stop);
    s->slope = s->there.value - s->here.value;
    *went = status == MARGIN_OK && s->slope < 0.0;
    if (!*went) return MG_MIN(status, MARGIN_OK);
    s->step = 1.0;
    smooth_take(s);
    mg_lbfgs_pairs_clear(&s->pairs);
    return MARGIN_OK;
}
