/* Objectives with |w|_1: Newton's method over a working set of columns.
 *
 * Rows are what the data are stored by, so a pass gives the derivatives of all columns at once and
 * a single column would cost as much. Each step is therefore
 *
 *   1. a pass over the data: scores, P, and the slope in every w_j, which also tell how much is
 *      proven (certificate.c);
 *   2. the choice of a working set of columns (solver_working_set_model.c);
 *   3. the Gram of those columns, weighted with the curvatures of the loss: a second pass. For the
 *      squared loss it stays as it is while the set does;
 *   4. the lasso that this quadratic model is, solved in cache (quadratic.c), with the intercept
 *      eliminated: unpenalised and free;
 *   5. the step there; where it does not fit, as much of it as is best, found from the scores
 * alone.
 *
 * Of sparse data with many columns 2 to 4 go by the columns, without a matrix
 * (solver_working_set_columns.c).
 *
 * So for the squared loss it is the method of working sets (Massias, Gramfort, Salmon, "Celer",
 * ICML 2018) in Gram form, and for others proximal Newton (Yuan, Ho, Lin, "An improved GLMNET for
 * L1-regularized logistic regression", JMLR 13, 2012) over working sets. Ours: the exact steps of
 * the inner problem, so that closely related columns cost no more than others, and the memory
 * bound: at most `most` columns take part at a time, and with more than that the sets are blocks,
 * the most urgent columns first, in turns with steps of all weights
 * (solver_working_set_support.c). */
#include "linear/lasso/solver_working_set.h"

#include "linear/design/design_columns.h"

#include <string.h>

enum {
    IDLE_STEPS = 8,     /* without progress: only rounding is left */
    FIRST_SPARSE = 128, /* columns of the first working set */
    STRIDE = 8          /* of the rows that count for a first matrix */
};
static const double rounding = 1e-12;
/* Of the gap: a step that gains less is no progress; the same where the gap is within tol. */
static const double little = 1e-6, little_more = 1e-3;

static bool working_can(const mg_objective *objective, char *why) {
    if (!objective->loss->curved)
        return mg_solver_cannot(why, "the %s loss has corners", objective->loss->name);
    if (objective->penalty.kappa > 0.0) return true;
    return mg_solver_cannot(why, "there is no |w|_1 in the penalty");
}

/* ---- Points ---------------------------------------------------------------------------------- */

static double gap_of(mg_working *s) {
    const mg_working_point *point = &s->here;
    const double rho = s->objective->penalty.rho, kappa = s->objective->penalty.kappa;
    const double loss = point->value - mg_objective_penalty(s->objective, point->w);
    mg_l1_gap gap = {.rho = rho, .kappa = kappa};
    double worst = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        const double v = -point->gradient[j], w = point->w[j];
        if (w == 0.0 && fabs(v) <= kappa) continue; /* most columns: adds nothing */
        mg_l1_gap_add(&gap, w, v, 0.0);
        const double off = w == 0.0 ? fabs(v) - kappa : fabs(v - rho * w - copysign(kappa, w));
        if (s->factor[j] > 0.0 && off > worst) worst = off;
    }
    s->violation = worst / kappa;
    return fabs(mg_l1_gap_of(&gap, loss)) + fabs(point->excess) * (fabs(point->b) + 1.0);
}

static margin_status working_evaluate(mg_working *s, mg_working_point *point, double *curvatures) {
    double sum;
    mg_loss_point pass = {.scores = point->scores,
                          .gradient = point->gradient,
                          .intercept_gradient = &sum,
                          .curvatures = curvatures};
    MG_TRY(mg_design_loss(s->design, s->objective->loss, point->w, point->b, s->objective->c, &pass,
                          s->job->error));
    point->value = pass.value + mg_objective_penalty(s->objective, point->w);
    point->errors = pass.errors;
    point->excess = s->objective->intercept ? sum : 0.0;
    return MARGIN_OK;
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* Of dense columns so many that their products cost about as much as a pass; but hardly more of
 * them have weights than there are rows: twice as many are enough for squares, whose matrix stays,
 * and of wide data a quarter for others, whose set changes with it. At most so many that there is
 * room for their matrix, its factor and, where they are few, parts of the matrix. */
static void set_sizes(mg_working *s) {
    static const double products_of_a_pass = 80.0;
    enum { MOST_BYTES = 512 << 20, LEAST = 64, FEW_COLUMNS = 512 };
    const double bytes = (double)mg_context_room(s->job->context, MOST_BYTES);
    s->most = (int64_t)sqrt(bytes / (2 * sizeof(double)));
    if (s->most < FEW_COLUMNS) s->most = MG_MAX(s->most / 2, LEAST);
    const bool stays = s->objective->loss->kind == MG_LOSS_SQUARED;
    const int64_t of_rows = stays || s->columns <= s->samples ? 2 * s->samples : s->samples / 4;
    const int64_t of_columns = (int64_t)sqrt(products_of_a_pass * (double)s->columns);
    s->first = FIRST_SPARSE;
    if (!mg_is_csr(&s->design->problem->x)) s->first = MG_MAX(MG_MIN(of_columns, of_rows), LEAST);
    s->first = MG_MIN(s->first, s->most);
}

static margin_status working_start(mg_working *s) {
    const mg_linear_solution *given = s->solution;
    double limit = 0.0; /* the greatest slope at w = 0 */
    bool somewhere = false;
    for (int64_t j = 0; j < s->columns; j++)
        somewhere |= given->w[j] != 0.0;
    memset(s->here.w, 0, (size_t)s->columns * sizeof *s->here.w);
    s->goal.constant = mg_objective_constant(s->objective, &s->here.b);
    MG_TRY(working_evaluate(s, &s->here, s->curvatures));
    /* what rounding leaves of the slope of the intercept is taken off, lest columns far from 0
     * magnify it */
    for (int64_t j = 0; j < s->columns; j++)
        if (s->factor[j] > 0.0) limit = fmax(limit, fabs(mg_working_slope(s, j)));
    s->solution->l1_limit = limit;
    if (somewhere) {
        for (int64_t j = 0; j < s->columns; j++)
            s->here.w[j] = s->factor[j] > 0.0 ? given->w[j] : 0.0;
        s->here.b = *given->b;
        MG_TRY(working_evaluate(s, &s->here, s->curvatures));
    }
    MG_TRY(mg_objective_finite(s->here.value, s->job->error));
    s->here.gap = s->best_gap = gap_of(s);
    return MARGIN_OK;
}

static margin_status working_set_new_vectors(mg_working *s) {
    static const char purpose[] = "the state of a solver";
    const int64_t n = s->columns, m = s->samples, some = m / s->stride;
    margin_error *error = s->job->error;
    MG_TRY(MG_PIECES(&s->arena, purpose, error, MG_PIECE(s->centre, n), MG_PIECE(s->factor, n),
                     MG_PIECE(s->score, n), MG_PIECE(s->here.w, n), MG_PIECE(s->there.w, n),
                     MG_PIECE(s->here.gradient, n), MG_PIECE(s->there.gradient, n),
                     MG_PIECE(s->model.member, n), MG_PIECE(s->model.u, n),
                     MG_PIECE(s->model.before, n), MG_PIECE(s->model.r, n),
                     MG_PIECE(s->model.lambda, n), MG_PIECE(s->here.scores, m),
                     MG_PIECE(s->there.scores, m), MG_PIECE(s->curvatures, m)));
    if (s->stride == 1) return MARGIN_OK;
    return MG_PIECES(&s->arena, purpose, error, MG_PIECE(s->rows, some),
                     MG_PIECE(s->row_curvatures, some));
}

static margin_status working_begin(mg_linear_job *job, mg_linear_solution *solution,
                                   mg_working *s) {
    mg_design *design = job->objective->design;
    *s = (mg_working){MG_SOLVER_OF(job, solution), .stride = 1,
                      .careful = job->objective->loss->kind == MG_LOSS_SQUARED,
                      .goal = {.job = job, .solution = solution, .strictness = 0.95}};
    if (job->objective->loss->kind != MG_LOSS_SQUARED && !mg_is_csr(&design->problem->x))
        s->stride = STRIDE;
    mg_arena_init(&s->arena, design->heap);
    MG_TRY(working_set_new_vectors(s));
    MG_TRY(mg_working_columns_begin(s));
    MG_TRY(
        mg_design_coordinates(design, job->objective->intercept, s->centre, s->factor, job->error));
    for (int64_t j = 0; j < s->columns; j++)
        s->varying += s->factor[j] > 0.0;
    set_sizes(s);
    MG_TRY(working_start(s));
    mg_linear_trace(job, 0, s->here.w, &s->here.b, s->here.value, s->here.errors);
    return MARGIN_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static margin_status working_look(const void *state, double t, mg_line_value *found) {
    const mg_working *s = state;
    const mg_penalty *penalty = &s->objective->penalty;
    MG_TRY(mg_line_look(s->objective, s->here.scores, s->there.scores, t, found, s->job->error));
    for (int64_t j = 0; j < s->columns; j++) {
        const double change = s->there.w[j] - s->here.w[j], w = s->here.w[j] + t * change;
        found->value += penalty->rho / 2.0 * w * w + penalty->kappa * fabs(w);
        if (change == 0.0) continue;
        found->slope +=
            penalty->rho * w * change + (w != 0.0 ? copysign(penalty->kappa, w) : 0.0) * change;
        found->curvature += penalty->rho * change * change;
    }
    return MARGIN_OK;
}

/* By some share of what the slope promises, or at least not up. */
static bool leads_down(const mg_working *s, double t) {
    const mg_step step = {s->here.value, s->there.value, t, s->slope, 0.0};
    return mg_step_leads_down(&step, rounding);
}

/* To where P is least between `here` and `there`. */
static margin_status go_part_of_the_way(mg_working *s) {
    const mg_line line = {.look = working_look,
                          .state = s,
                          .value = s->here.value,
                          .slope = s->slope,
                          .flat = 0.01,
                          .longest = 1.0};
    double t;
    MG_TRY(mg_line_search(&line, &t));
    s->length = t;
    for (int64_t j = 0; j < s->columns; j++)
        s->there.w[j] = s->here.w[j] + t * (s->there.w[j] - s->here.w[j]);
    s->there.b = s->here.b + t * (s->there.b - s->here.b);
    return MARGIN_OK;
}

/* A matrix that is making good progress serves once more: one pass then is a step. If one of some
 * rows did not, near the optimum, the next has all. */
static void judge_model(mg_working *s, double violation_before) {
    static const double good_dense = 0.3, good_sparse = 0.15, near = 1.0;
    const double good = mg_is_csr(&s->design->problem->x) ? good_sparse : good_dense;
    const bool went_well = s->length == 1.0 && s->violation <= good * violation_before;
    if (s->objective->loss->kind == MG_LOSS_SQUARED) return;
    if (!went_well && !s->model.exact && s->model.fresh && s->violation < near) s->stride = 1;
    s->model.current = went_well && !s->careful && s->model.matrix;
    s->model.exact = false;
    s->model.fresh = false;
}

static void working_take(mg_working *s) {
    const mg_working_point here = s->here;
    s->here = s->there;
    s->there = here;
    s->goal.proven = false;
    s->solution->iterations++;
    const double before = s->violation;
    s->here.gap = gap_of(s);
    judge_model(s, before);
    const double value = s->here.value, gap = fmin(s->here.gap, value); /* no loss is below 0 */
    const double wanted = s->job->tolerance * fmax(1.0, value), constant = s->goal.constant;
    const bool enough = gap <= wanted && (gap <= little_more * constant || constant <= wanted);
    const double least = fmax(rounding * value, (enough ? little_more : little) * gap);
    const bool fell = s->there.value - value > least;
    const bool tighter = s->here.gap < 0.9 * s->best_gap;
    if (tighter) s->best_gap = s->here.gap;
    s->idle_steps = fell || tighter ? 0 : s->idle_steps + 1;
    mg_linear_trace(s->job, s->solution->iterations, s->here.w, &s->here.b, s->here.value,
                    s->here.errors);
}

/* Where sets take turns, every other step is one of all columns with weights. */
static margin_status aim(mg_working *s) {
    s->was_set = !(s->in_turns && s->was_set);
    if (!s->was_set) return mg_working_solve_support(s);
    return s->sparse.pays ? mg_working_columns_solve(s) : mg_working_solve(s);
}

static margin_status working_step(mg_working *s, bool *moved) {
    const bool squared = s->objective->loss->kind == MG_LOSS_SQUARED;
    double *curvatures = squared ? NULL : s->curvatures;
    *moved = false;
    MG_TRY(aim(s));
    if (!(s->slope < 0.0) && !s->was_set) MG_TRY(aim(s));
    if (!(s->slope < 0.0)) return MARGIN_OK;
    MG_TRY(working_evaluate(s, &s->there, curvatures));
    if (leads_down(s, 1.0)) {
        s->length = 1.0;
    } else {
        MG_TRY(go_part_of_the_way(s));
        MG_TRY(working_evaluate(s, &s->there, curvatures));
        if (!leads_down(s, 0.0)) return MARGIN_OK;
    }
    working_take(s);
    *moved = true;
    return MARGIN_OK;
}

/* ---- The end --------------------------------------------------------------------------------- */

static margin_status working_end(mg_working *s, margin_status ended) {
    mg_stop_disarm(&s->job->stop);
    MG_TRY(mg_goal_prove(&s->goal, s->here.w, &s->here.b, NULL));
    return mg_goal_end(s->job, s->solution, ended, "steps");
}

static margin_status working_iterate(mg_working *s) {
    for (;;) {
        bool done, moved = false;
        MG_TRY(mg_goal_check(&s->goal, s->here.gap,
                             mg_wanted_gap_l1(s->job->tolerance, s->here.value, s->goal.constant),
                             s->here.value, s->here.w, &s->here.b, NULL, &done));
        if (done) return working_end(s, MARGIN_OK);
        const margin_status stop = mg_stop_check(&s->job->stop, s->solution->iterations);
        if (stop < 0) return mg_fail_cancelled(s->job->error);
        if (stop > 0) return working_end(s, stop);
        if (s->idle_steps < IDLE_STEPS) MG_TRY(working_step(s, &moved));
        if (moved) continue;
        if (s->careful && !s->sparse.pays) return working_end(s, MARGIN_STOPPED_STALLED);
        s->careful = true; /* once more, with exact models only */
        s->sparse.pays = false;
        s->stride = 1;
        s->idle_steps = 0;
        s->model.current &= s->objective->loss->kind == MG_LOSS_SQUARED;
    }
}

static margin_status working_solve(mg_linear_job *job, mg_linear_solution *solution) {
    mg_working s;
    const double began = mg_clock();
    margin_status status = working_begin(job, solution, &s);
    if (status >= 0) {
        job->stop.deadline -= mg_clock() - began; /* the proof takes as long as the first pass */
        mg_stop_arm(&job->stop);
        status = working_iterate(&s);
        if (mg_stop_cut(&job->stop, status)) status = working_end(&s, MARGIN_STOPPED_TIME);
    }
    mg_working_model_free(&s);
    MG_FREE(job->context->heap, s.sparse.samples, s.sparse.values);
    mg_arena_free(&s.arena);
    return status;
}

const mg_linear_solver mg_solver_working_set = {
    .name = "working_set",
    .step_name = "working-set steps",
    .can = working_can,
    .cuts = true,
    .solve = working_solve,
};
