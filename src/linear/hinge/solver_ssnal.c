/* Semismooth Newton on the augmented Lagrangian, for the hinge loss.
 *
 *   given    P(w, b) = sum c_i max(1 - y_i f_i, 0) + rho/2 |w|^2; multipliers u = 0, sharpness s
 *   repeat   (w, b) = nearly where F of ssnal.h is least, by Newton's method: F is piecewise
 *            quadratic, and only the rows at the margin, 0 < u_i + s (1 - y_i f_i) < 1, bend it
 *            u_i = what u_i + s (1 - y_i f_i) is, brought into [0, 1]
 *            s = 10 s
 *   until    the dual variables alpha = c u prove P to be within the tolerance
 *
 * (Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex
 * programming", Math. Oper. Res. 1, 1976; Li, Sun, Toh, "A highly efficient semismooth Newton
 * augmented Lagrangian method for solving Lasso problems", SIAM J. Optim. 28, 2018.)
 *
 * The gap of (w, b, c n) is slackness + residual + amiss (ssnal.h): the first is lessened by
 * new multipliers and more sharpness, the others by Newton steps. So a Newton step is made while
 * its part is the greater one. Sharpness grows only while more rows are active than there are
 * columns: beyond that the steps would have to find the right rows one by one.
 *
 * Where one class weighs much less than the other, often no function is better than the best
 * constant, and from u = 0 that is found late. There the first steps start at the constant with
 * its multipliers: they are done once these pull w nowhere, to rounding. What little w the
 * sharpness leaves by then (1e-7 of P at most) is kept, so that rows are told apart. */
#include "linear/hinge/ssnal.h"
#include "linear/objective/row_space.h"
#include "linear/proof/goal.h"

#include <stdio.h>
#include <string.h>

/* Of the sharpness, from round to round; and where few rows are active. */
static const double growth = 10.0, small_growth = 3.0;
/* Below it more sharpness is progress, whatever the gap does. */
static const double slow_below = 0.3;
/* Inner steps end where their part of the gap is this share of the rest, or of the tolerance. */
static const double inner_share = 0.1, tolerance_share = 0.2;
/* Without a penalty: what counts as 0 of the pull, relative to the loss. */
static const double feasible = 1e-11;

enum { IDLE_ROUNDS = 12, MOST_INNER = 60, MOST_CONSTANT = 15 };
/* Of F, relative to it. */
static const double rounding = 1e-13;
/* The matrix is made from more rows if a step promises more than this share of what the one before
 * promised. */
static const double slow = 0.3;
/* Columns up to which the Newton equations may be solved by a factor, by what the rows in it grow,
 * and steps that conjugate gradients are taken to need before they were tried. */
enum { FACTOR_COLUMNS = 2048, MORE_ROWS = 4, FIRST_PRODUCTS = 20 };
static const double first_sharpness = 0.3;
/* The greatest ratio to start with between what the rows and what the penalty do to a column, in
 * the geometric mean of the columns. */
static const double hold = 1e4;
/* Of q in the coordinates, relative to the sum of the boxes, where there is no penalty. */
static const double softness = 1e-11;
/* Boxes are cut to this much more than the multipliers can be, if that is so much less. */
static const double above_bound = 1.001, worth_cutting = 4.0;

static bool ssnal_can(const mg_objective *objective, char *why) {
    if (objective->loss->kind != MG_LOSS_HINGE)
        return mg_solver_cannot(why, "ssnal is for the hinge loss");
    return objective->penalty.kappa > 0.0 ? mg_solver_cannot(why, "|w|_1 has corners") : true;
}

static margin_status ssnal_new_vectors(mg_ssnal *s) {
    static const char purpose[] = "the state of a solver";
    const int64_t n = s->columns, size = s->size, m = s->samples;
    const int64_t bytes = size * size * (int64_t)sizeof *s->matrix;
    margin_error *error = s->job->error;
    MG_TRY(MG_PIECES(
        s->arena, purpose, error, MG_PIECE(s->centre, n), MG_PIECE(s->factor, n),
        MG_PIECE(s->move, n), MG_PIECE(s->here.w, n), MG_PIECE(s->there.w, n),
        MG_PIECE(s->here.pull, n), MG_PIECE(s->there.pull, n), MG_PIECE(s->stiffness, n),
        MG_PIECE(s->anchor, n), MG_PIECE(s->direction, size), MG_PIECE(s->diagonal, size),
        MG_PIECE(s->here.gradient, size), MG_PIECE(s->there.gradient, size),
        MG_PIECE(s->here.scores, m), MG_PIECE(s->there.scores, m), MG_PIECE(s->active_weights, m),
        MG_PIECE(s->multipliers, m), MG_PIECE(s->active, m), MG_PIECE(s->work, 5 * size),
        MG_PIECE(s->usual, n), MG_PIECE(s->ridge, size)));
    if (n <= FACTOR_COLUMNS && mg_fits_limit(s->design->heap, bytes, 4))
        MG_ARENA_NEW(s->arena, s->matrix, size * size, purpose, error);
    return MARGIN_OK;
}

/* ---- Modes ----------------------------------------------------------------------------------- */

/* The first sharpness: with w, b and the multipliers 0 all rows are active, so that the first step
 * is a least squares fit; less where the boxes are so large that few rows would hold w from then
 * on. */
static double start_sharpness(const mg_ssnal *s) {
    double logs = 0.0, columns = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        if (!(s->factor[j] > 0.0)) continue;
        logs -= log(s->factor[j] * s->factor[j] * s->stiffness[j]);
        columns += 1.0;
    }
    return columns > 0.0
               ? fmin(first_sharpness, hold / (mg_sum(s->c, s->samples) * exp(logs / columns)))
               : first_sharpness;
}

/* With multipliers of 0. */
static margin_status begin_softly(mg_ssnal *s) {
    s->sharpness = start_sharpness(s);
    memset(s->multipliers, 0, (size_t)s->samples * sizeof *s->multipliers);
    return mg_ssnal_pass(s, &s->here, true);
}

/* q = rho, and w = 0. */
static void penalise(mg_ssnal *s, double rho) {
    for (int64_t j = 0; j < s->columns; j++) {
        s->stiffness[j] = rho;
        s->here.w[j] = s->anchor[j] = 0.0;
    }
}

/* Where there is no penalty: the anchor goes to `here`, and q = softness x the sum of the boxes in
 * the coordinates of the solver. `here` is to be passed again. */
static void ssnal_soften(mg_ssnal *s) {
    const double q = softness * s->objective->mass;
    s->mode = MG_SSNAL_FREE;
    memcpy(s->anchor, s->here.w, (size_t)s->columns * sizeof *s->anchor);
    for (int64_t j = 0; j < s->columns; j++)
        s->stiffness[j] = s->factor[j] > 0.0 ? q / s->factor[j] / s->factor[j] : q;
}

/* `here` has every row on its side: scaled to a least y f of 1 it proves that the multipliers of
 * the widest margin sum up to rho |w|^2 at most. Where all boxes are larger, or there is no
 * penalty, the optimum is the widest margin, and with the boxes cut to that bound it still is:
 * starts afresh from there. */
static margin_status ssnal_harden(mg_ssnal *s, bool *hardened) {
    const double scale = 1.0 / s->here.least;
    const double rho = s->objective->penalty.rho > 0.0 ? s->objective->penalty.rho : 1.0;
    const double norm = scale * sqrt(s->vectors->square(s->here.w, s->columns));
    const double enough = above_bound * rho * norm * norm;
    double least = (double)INFINITY; /* one box that binds is enough to make it another optimum */
    for (int64_t i = 0; i < s->samples; i++)
        least = fmin(least, s->c[i]);
    *hardened = isfinite(enough) && enough > 0.0 &&
                (s->mode == MG_SSNAL_FREE || worth_cutting * enough < least);
    if (!*hardened) return MARGIN_OK;
    if (!s->cut) MG_ARENA_NEW(s->arena, s->cut, s->samples, "the boxes of a solver", s->job->error);
    for (int64_t i = 0; i < s->samples; i++)
        s->cut[i] = s->mode == MG_SSNAL_FREE ? enough : fmin(s->c[i], enough);
    s->c = s->cut;
    s->mode = MG_SSNAL_HARD;
    penalise(s, rho);
    s->here.b = 0.0;
    return begin_softly(s);
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* 0 where both classes are there, else the sign of all samples. */
static int only_sign(const mg_ssnal *s) {
    const int8_t *sign = s->design->problem->sign;
    for (int64_t i = 1; i < s->samples; i++)
        if (sign[i] != sign[0]) return 0;
    return sign[0];
}

/* Goes to the best constant, where one class weighs much less than the other; *started false: it
 * does not, or no function is likely to be as bad. For a constant to be optimal, multipliers must
 * move the mean of the larger class to that of the smaller one, none of them to more than `ratio`
 * times their mean: with normal columns that moves it by the root of 2 log(ratio) deviations at
 * most, and in practice by that of log(ratio). */
static margin_status ssnal_start_constant(mg_ssnal *s, bool *started) {
    static const double larger = 2.0, near = 0.95, sharp = 1e5, sharper = 1e12;
    const int8_t *sign = s->design->problem->sign;
    double boxes[2] = {0.0, 0.0};
    for (int64_t i = 0; i < s->samples; i++)
        boxes[sign[i] > 0] += s->c[i];
    const bool most = boxes[1] > boxes[0];
    const double few = boxes[!most], ratio = boxes[most] / few, rho = s->objective->penalty.rho;
    *started = s->objective->intercept && rho > 0.0 && few > 0.0 && ratio >= larger;
    if (!*started) return MARGIN_OK;
    s->here.b = most ? 1.0 : -1.0;
    s->sharpness = fmax(sharp, sqrt(sharper / few)); /* what w it leaves: as 1 / (s^2 few) */
    penalise(s, rho);
    for (int64_t i = 0; i < s->samples; i++) {
        s->multipliers[i] = (sign[i] > 0) == most ? 1.0 / ratio : 1.0;
        s->here.scores[i] = s->here.b;
    }
    MG_TRY(mg_ssnal_pass(s, &s->here, false));
    const double apart = s->vectors->square(s->here.gradient, s->columns) / few / few;
    *started = apart <= near * log(ratio);
    return MARGIN_OK;
}

/* Goes to the start of the solution. */
static margin_status ssnal_start(mg_ssnal *s) {
    const double rho = s->objective->penalty.rho;
    penalise(s, rho);
    memcpy(s->here.w, s->solution->w, (size_t)s->columns * sizeof *s->here.w);
    s->here.b = mg_drop_constants(s->centre, s->factor, s->here.w, s->columns);
    s->here.b += *s->solution->b;
    if (s->objective->intercept && only_sign(s) != 0) s->here.b = only_sign(s);
    if (rho == 0.0) ssnal_soften(s);
    s->last_slope = 0.0;
    s->most_rows = 0;
    MG_TRY(begin_softly(s));
    return mg_objective_finite(s->here.value, s->job->error);
}

static margin_status ssnal_begin(mg_linear_job *job, mg_linear_solution *solution, mg_arena *arena,
                                 mg_ssnal *s) {
    *s = (mg_ssnal){MG_SOLVER_OF(job, solution),
                    .arena = arena,
                    .size = job->objective->columns + 1,
                    .c = job->objective->c,
                    .last_products = FIRST_PRODUCTS,
                    .constant = mg_objective_constant(job->objective, &(double){0.0}),
                    .best = (double)INFINITY,
                    .strictness = 0.95};
    MG_TRY(ssnal_new_vectors(s));
    mg_ssnal_sizes(s);
    return mg_design_coordinates(s->design, s->objective->intercept, s->centre, s->factor,
                                 job->error);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

typedef struct line_walk {
    const mg_ssnal *s;
    double t;
} line_walk;

static margin_status line_add_block(void *state, const mg_block *block, void *argument) {
    const line_walk *walk = argument;
    const mg_ssnal *s = walk->s;
    const int8_t *sign = s->design->problem->sign;
    const double *from = s->here.scores, *to = s->there.scores, t = walk->t;
    mg_line_value *sums = state;
    double slope = 0.0, curvature = 0.0;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const double change = to[i] - from[i], y = sign[i];
        const double v = s->multipliers[i] + s->sharpness * (1.0 - y * (from[i] + t * change));
        const double above = v > 0.0 ? v : 0.0, n = above < 1.0 ? above : 1.0;
        slope -= s->c[i] * n * y * change;
        curvature += v > 0.0 && v < 1.0 ? s->c[i] * (change * change) : 0.0;
    }
    sums->slope += slope;
    sums->curvature += curvature * s->sharpness;
    return MARGIN_OK;
}

/* Slope and curvature of F at `here` + t direction, along it. */
static margin_status look_along(const void *state, double t, mg_line_value *found) {
    const mg_ssnal *s = state;
    line_walk walk = {s, t};
    MG_TRY(mg_sweep_sums(s->design->context, s->samples, MG_BLOCK_ROWS, 3, 0, line_add_block, &walk,
                         found, s->job->error));
    found->slope += s->along + t * s->square;
    found->curvature += s->square;
    return MARGIN_OK;
}

/* The best length of a step, from the scores of here and there = here + direction: they are linear
 * along the line, and F is piecewise quadratic there. */
static margin_status ssnal_line(const mg_ssnal *s, double *t) {
    const mg_line line = {.look = look_along,
                          .state = s,
                          .value = (double)INFINITY,
                          .slope = s->slope,
                          .flat = 0.1,
                          .longest = 1048576.0,
                          .pieces = true};
    return mg_line_search(&line, t);
}

static void set_move(mg_ssnal *s) {
    s->move_b = mg_design_from_coordinates(s->design, s->centre, s->factor, s->direction, s->move);
    if (!s->objective->intercept) s->move_b = 0.0;
    s->slope = s->vectors->dot(s->here.gradient, s->direction, s->size);
    s->along = s->square = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        s->along += s->stiffness[j] * (s->here.w[j] - s->anchor[j]) * s->move[j];
        s->square += s->stiffness[j] * s->move[j] * s->move[j];
    }
}

/* there = here + t direction; its scores, but for t = 1, from those of t = 1. */
static margin_status ssnal_try(mg_ssnal *s, double t) {
    for (int64_t j = 0; j < s->columns; j++)
        s->there.w[j] = s->here.w[j] + t * s->move[j];
    s->there.b = s->here.b + t * s->move_b;
    for (int64_t i = 0; t != 1.0 && i < s->samples; i++)
        s->there.scores[i] = s->here.scores[i] + t * (s->there.scores[i] - s->here.scores[i]);
    return mg_ssnal_pass(s, &s->there, t == 1.0);
}

static mg_step step_of(const mg_ssnal *s, double t) {
    const double slope_there = s->vectors->dot(s->there.gradient, s->direction, s->size);
    return (mg_step){s->here.value, s->there.value, t, s->slope, slope_there};
}

/* A step along it; *moved false: it does not lead down by more than rounding. */
static margin_status ssnal_step(mg_ssnal *s, bool *moved) {
    *moved = false;
    set_move(s);
    if (!(s->slope < 0.0)) return MARGIN_OK;
    if (s->sampled && s->last_slope != 0.0 && s->slope < slow * s->last_slope)
        s->most_rows *= MORE_ROWS;
    s->last_slope = s->sampled ? s->slope : 0.0;
    MG_TRY(ssnal_try(s, 1.0));
    mg_step step = step_of(s, 1.0);
    if (!mg_step_leads_down(&step, rounding) || mg_step_is_short(&step)) {
        double t;
        MG_TRY(ssnal_line(s, &t));
        if (t != 1.0) MG_TRY(ssnal_try(s, t));
        step = step_of(s, t);
        if (!mg_step_leads_down(&step, rounding)) return MARGIN_OK;
    }
    const mg_ssnal_point here = s->here;
    s->here = s->there;
    s->there = here;
    s->solution->iterations++;
    *moved = true;
    return MARGIN_OK;
}

/* ---- Gap ------------------------------------------------------------------------------------- */

/* Where the margin is hard, w and b are scaled so that the least y f is 1. */
static double scale_of(const mg_ssnal *s) {
    const double beyond = 1.0 + 1e-14; /* so that no loss is left by rounding */
    return s->mode == MG_SSNAL_HARD && s->here.least > 0.0 ? beyond / s->here.least : 1.0;
}

static double objective_of(const mg_ssnal *s) {
    const mg_ssnal_point *p = &s->here;
    const double scale = scale_of(s);
    if (s->mode != MG_SSNAL_HARD) return p->loss + p->penalty;
    return p->least > 0.0 ? scale * scale * p->penalty : (double)INFINITY;
}

/* The part of the gap that Newton steps lessen. */
static double inner_gap(const mg_ssnal *s) {
    return s->here.residual + s->here.amiss;
}

static double expected_gap(const mg_ssnal *s) {
    const mg_ssnal_point *p = &s->here;
    const double own = p->slackness + inner_gap(s);
    if (s->mode == MG_SSNAL_HARD) return own + fmax(objective_of(s) - p->loss - p->penalty, 0.0);
    if (s->mode == MG_SSNAL_PENALISED) return own;
    if (p->infeasible > feasible * p->loss) return (double)INFINITY;
    return p->slackness + p->charge + p->amiss;
}

/* About what the best constant loses more than any function; of that, |balance| matters least. */
static double excess(const mg_ssnal *s) {
    return 2.0 * (s->here.penalty + s->here.residual) + s->here.amiss;
}

static bool constant_is_best(const mg_ssnal *s) {
    const double amiss = s->here.amiss, tolerance = s->job->tolerance;
    return excess(s) - amiss <= 1e-7 * s->constant &&
           amiss <= fmin(1e-8, tolerance_share * tolerance) * s->constant;
}

/* The gap to reach. */
static double goal_of(const mg_ssnal *s) {
    const double tolerance = s->job->tolerance, size = objective_of(s);
    if (s->is_constant) return constant_is_best(s) ? tolerance * fmax(1.0, size) : 0.0;
    if (s->mode == MG_SSNAL_HARD) return tolerance * (isinf(size) ? s->here.penalty : size);
    return mg_wanted_gap(tolerance, size, s->constant);
}

/* ---- Best so far ----------------------------------------------------------------------------- */

/* Without a penalty, and separable. */
static bool is_widest(const mg_ssnal *s) {
    return s->mode == MG_SSNAL_HARD && s->objective->penalty.rho == 0.0;
}

/* The solution becomes that of `here`. */
static void ssnal_keep(mg_ssnal *s) {
    mg_linear_solution *out = s->solution;
    const double scale = scale_of(s);
    for (int64_t j = 0; j < s->columns; j++)
        out->w[j] = scale * s->here.w[j];
    *out->b = scale * s->here.b;
    mg_ssnal_update(s, out->alpha);
    for (int64_t i = 0; i < s->samples; i++)
        out->alpha[i] *= s->c[i];
    s->best = expected_gap(s);
    s->share = s->best / objective_of(s);
}

/* Without a penalty the multipliers of the widest margin prove nothing about the loss, which is 0,
 * but they are what w is made of. */
static margin_status ssnal_prove(mg_ssnal *s) {
    mg_linear_solution *out = s->solution;
    const size_t bytes = (size_t)s->samples * sizeof *out->alpha;
    if (is_widest(s)) {
        memcpy(s->active_weights, out->alpha, bytes);
        memset(out->alpha, 0, bytes);
    }
    MG_TRY(mg_certify(s->objective, out, NULL, s->job->error));
    if (is_widest(s)) memcpy(out->alpha, s->active_weights, bytes);
    return MARGIN_OK;
}

/* Whether what is proven is what was asked for. */
static bool is_proven(const mg_ssnal *s) {
    const double tolerance = s->job->tolerance;
    return s->solution->gap <= tolerance && (!is_widest(s) || s->share <= tolerance);
}

static margin_status ssnal_check(mg_ssnal *s, bool *done) {
    *done = false;
    mg_progress(s->job->context, "training", (double)s->solution->iterations, 0.0,
                (s->here.slackness + inner_gap(s)) / fmax(1.0, s->here.loss + s->here.penalty));
    if (!(expected_gap(s) <= s->strictness * goal_of(s))) return MARGIN_OK;
    ssnal_keep(s);
    MG_TRY(ssnal_prove(s));
    *done = is_proven(s);
    if (!*done) s->strictness *= 0.3;
    return MARGIN_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void ssnal_trace(const mg_ssnal *s) {
    mg_linear_trace(s->job, s->solution->iterations, s->here.w, &s->here.b,
                    s->here.loss + s->here.penalty, s->here.errors);
}

/* The constant is not optimal, or not soon seen to be. */
static margin_status give_up(mg_ssnal *s, bool *restarted) {
    *restarted = true;
    s->is_constant = false;
    return ssnal_start(s);
}

/* Newton steps on F. *stop: the method is to end, with that status. *restarted: F is another one
 * now. */
static margin_status ssnal_minimise(mg_ssnal *s, bool *done, bool *restarted, margin_status *stop) {
    static const double fall = 0.8;     /* of what the constant seemed to lose two steps before */
    static const double nothing = 1e-4; /* of its loss: below it the balance goes up and down */
    double past[2] = {(double)INFINITY, (double)INFINITY};
    for (int k = 0; k < MOST_INNER; k++) {
        bool moved;
        MG_TRY(ssnal_check(s, done));
        const double enough = fmax(inner_share * s->here.slackness, tolerance_share * goal_of(s));
        const bool ended = s->is_constant ? constant_is_best(s) : inner_gap(s) <= enough;
        if (*done || (k > 0 && ended)) return MARGIN_OK;
        *stop = mg_stop_check(&s->job->stop, s->solution->iterations);
        if (*stop != MARGIN_OK) return MARGIN_OK;
        const double fallen = fmax(fall * fmax(past[0], past[1]), nothing * s->constant);
        if (s->is_constant && !(k < MOST_CONSTANT && excess(s) <= fallen))
            return give_up(s, restarted);
        past[k % 2] = excess(s);
        MG_TRY(mg_ssnal_direction(s));
        MG_TRY(ssnal_step(s, &moved));
        if (!moved) return s->is_constant ? give_up(s, restarted) : MARGIN_OK;
        ssnal_trace(s);
        if (s->here.errors == 0 && !s->is_constant) MG_TRY(ssnal_harden(s, restarted));
        if (*restarted) return MARGIN_OK;
    }
    return MARGIN_OK;
}

static margin_status next_round(mg_ssnal *s) {
    const double expected = expected_gap(s);
    s->idle = expected < 0.5 * s->best || s->sharpness < slow_below ? 0 : s->idle + 1;
    if (expected < s->best) ssnal_keep(s);
    mg_ssnal_update(s, s->multipliers);
    s->last_slope = 0.0;
    if (s->here.active > 2 * s->size)
        s->sharpness *= fmin(growth, (double)s->here.active / (double)s->size);
    else if (s->here.slackness > 0.25 * s->slackness)
        s->sharpness *= small_growth;
    s->slackness = s->here.slackness;
    if (s->mode == MG_SSNAL_FREE) ssnal_soften(s);
    return mg_ssnal_pass(s, &s->here, false);
}

/* ---- End ------------------------------------------------------------------------------------- */

static void ssnal_explain(const mg_ssnal *s) {
    mg_linear_solution *out = s->solution;
    const double norm = sqrt(s->vectors->square(out->w, s->columns));
    const mg_number_text width = mg_about(2.0 / norm), within = mg_number(s->job->tolerance);
    const size_t room = sizeof out->why;
    mg_explain_end(out->status, "steps", out->iterations, is_widest(s) ? s->share : out->gap,
                   s->job->tolerance, out->why, room);
    if (out->status == MARGIN_OK && is_widest(s))
        snprintf(out->why, room,
                 "the classes are separable, and with no price on w this is the widest margin "
                 "between them, %s across, within %s of the widest",
                 width.text, within.text);
    if (out->status == MARGIN_STOPPED_STALLED && s->mode == MG_SSNAL_FREE && out->primal > 0.0)
        snprintf(out->why, room,
                 "the classes are not separable, and without a penalty no bound of the least hinge "
                 "loss is known; give C a finite value");
}

static margin_status ssnal_end(mg_ssnal *s, margin_status ended) {
    if (ended != MARGIN_OK) {
        if (expected_gap(s) < s->best || isinf(s->best)) ssnal_keep(s);
        MG_TRY(ssnal_prove(s));
    }
    s->solution->status = is_proven(s) ? MARGIN_OK : ended;
    ssnal_explain(s);
    return s->solution->status;
}

static margin_status ssnal_iterate(mg_ssnal *s) {
    for (;;) {
        bool done = false, restarted = false;
        margin_status stop = MARGIN_OK;
        MG_TRY(ssnal_minimise(s, &done, &restarted, &stop));
        if (stop < 0) return mg_fail_cancelled(s->job->error);
        if (done || stop > 0) return ssnal_end(s, stop);
        if (s->is_constant && s->idle >= IDLE_ROUNDS) MG_TRY(give_up(s, &restarted));
        if (restarted) {
            s->best = s->slackness = (double)INFINITY;
            s->idle = 0;
            continue;
        }
        if (s->idle >= IDLE_ROUNDS) return ssnal_end(s, MARGIN_STOPPED_STALLED);
        MG_TRY(next_round(s));
    }
}

/* Where columns are many more than rows: the optimum by way of a column for each row. */
static margin_status ssnal_solve_in_rows(mg_ssnal *s, bool *done) {
    mg_linear_solution *out = s->solution;
    *done = false;
    if (!mg_can_solve_in_rows(s->objective, s->centre, s->factor)) return MARGIN_OK;
    const margin_status status = mg_solve_in_rows(s->job, out, out->w, out->b);
    if (status < 0 || status == MARGIN_STOPPED_TIME) return MG_MIN(status, MARGIN_OK);
    MG_TRY(mg_certify(s->objective, out, NULL, s->job->error));
    *done = is_proven(s);
    if (!*done) return MARGIN_OK;
    out->status = MARGIN_OK;
    ssnal_explain(s);
    return s->job->trace ? mg_linear_trace_solution(s->job, out) : MARGIN_OK;
}

static margin_status ssnal_solve(mg_linear_job *job, mg_linear_solution *solution) {
    mg_ssnal s;
    bool done;
    MG_SCOPED_ARENA(arena, job->objective->design->heap);
    MG_TRY(ssnal_begin(job, solution, &arena, &s));
    MG_TRY(ssnal_solve_in_rows(&s, &done));
    if (done) return MARGIN_OK;
    MG_TRY(ssnal_start_constant(&s, &s.is_constant));
    if (!s.is_constant) MG_TRY(ssnal_start(&s));
    if (solution->iterations == 0) ssnal_trace(&s); /* else the start was another solver's step */
    return ssnal_iterate(&s);
}

const mg_linear_solver mg_solver_ssnal = {
    .name = "ssnal",
    .step_name = "Newton steps",
    .can = ssnal_can,
    .solve = ssnal_solve,
};
