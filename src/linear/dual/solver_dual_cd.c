/* Dual coordinate descent, for sparse rows with many columns (and for more columns than rows).
 *
 *   given    loss of a margin (hinge, squared hinge, logistic), |w|^2 with rho > 0
 *   dual     max sum_i c_i dual(alpha_i / c_i) - |sum_i alpha_i y_i a_i|^2 / (2 rho)
 *            with S = sum_i alpha_i y_i = 0 if the intercept is free
 *   keep     w = sum_i alpha_i y_i a_i / rho
 *   step     the best alpha_i for all others as they are: one row to read, one to add
 *   epoch    a step for each sample that counts, in a new random order
 *
 * Steps: dual_cd_epoch.c. A step for one sample cannot keep S = 0. So the intercept is found by the
 * proximal method of multipliers (Rockafellar, "Augmented Lagrangians and applications of the
 * proximal point algorithm in convex programming", Math. Oper. Res. 1, 1976): with the multiplier
 * b0 the term tau S^2 / 2 + b0 S is added to what is minimised, which is a bias coordinate of
 * variance tau, b = b0 + tau S; after an epoch over all samples b0 = b. At the end S = 0 and
 * nothing is paid for b. tau is 0.3 mean |a|^2 / rho: more makes steps small, less moves b slowly.
 * It starts at the best intercept for w = 0, so that b has to move no further than the scores do.
 *
 * Samples at a bound of alpha that are surely right leave (shrinking) until those that stay have
 * lost most of their part of the gap; then all are looked at again. Each visit adds up the gap, so
 * that it is known for nothing; the proof is made once that is small enough. Where it goes too
 * slowly and the columns are few a method that factors Hessians (lbfgs, ssnal) goes on from there.
 *
 * Several functions (the hinge of Crammer and Singer): crammer_singer.c. */
#include "base/random.h"
#include "linear/dual/dual_cd.h"

static const char purpose[] = "the state of dual coordinate descent";

static bool dual_cd_can(const mg_objective *objective, char *why) {
    const mg_loss_kind kind = objective->loss->kind;
    const bool several = kind == MG_LOSS_CRAMMER_SINGER;
    if (!several && kind != MG_LOSS_HINGE && kind != MG_LOSS_SQUARED_HINGE &&
        kind != MG_LOSS_LOGISTIC)
        return mg_solver_cannot(why, "it has no steps for the %s loss", objective->loss->name);
    if (!(objective->penalty.rho > 0.0))
        return mg_solver_cannot(why, "its dual needs the penalty |w|^2");
    if (objective->penalty.kappa > 0.0) return mg_solver_cannot(why, "it has no steps for |w|_1");
    if (several) return true;
    if (objective->design->problem->maker)
        return mg_solver_cannot(
            why, "it reads rows again and again, and these are made afresh each time");
    if (objective->design->shift && !objective->intercept)
        return mg_solver_cannot(why, "columns that are shifted need an intercept");
    return true;
}

/* Weights side by side take eight times the memory of one vector. */
static bool can_together(const mg_objective *objective) {
    enum { SHARE = 4 };
    const mg_design *d = objective->design;
    const int64_t limit = mg_heap_limit(d->heap);
    const int64_t bytes = MG_ROW_LANES * (d->columns + 3 * d->samples) * (int64_t)sizeof(double);
    return mg_is_csr(&d->problem->x) && (limit == 0 || bytes <= limit / SHARE);
}

margin_status mg_dual_cd_begin(mg_linear_job *job, mg_linear_solution *solution, mg_arena *arena,
                               mg_dual_cd *m) {
    const mg_design *d = job->objective->design;
    const bool logistic = job->objective->loss->kind == MG_LOSS_LOGISTIC;
    mg_dual_cd_start(m, job, solution);
    MG_TRY(MG_PIECES(arena, purpose, job->error, MG_PIECE(m->order, m->samples),
                     MG_PIECE(m->alpha, m->samples), MG_PIECE(m->curvature, m->samples),
                     MG_PIECE(m->weights, m->columns)));
    if (d->scale) MG_ARENA_NEW(arena, m->factor, m->columns, purpose, job->error);
    if (logistic) MG_ARENA_NEW(arena, m->logit, m->samples, purpose, job->error);
    for (int64_t j = 0; j < m->columns; j++) {
        m->weights[j] = 0.0;
        if (m->factor) m->factor[j] = d->scale[j] * d->scale[j] / job->objective->penalty.rho;
    }
    for (int64_t i = 0; i < m->samples; i++) {
        m->alpha[i] = 0.0;
        m->order[i] = i;
        if (m->logit) m->logit[i] = (double)NAN;
    }
    return mg_dual_cd_curvatures(m);
}

static margin_status one_epoch(mg_dual_cd *m, bool *full) {
    const int64_t visited = m->active;
    bool reopen;
    *full = visited == m->samples;
    mg_random_shuffle(m->job->seed, MG_RANDOM_SHUFFLE, (uint64_t)m->solution->iterations, m->order,
                      m->active);
    if (mg_dual_cd_epoch(m) < 0) return mg_fail_cancelled(m->job->error);
    mg_dual_cd_note(m, visited, *full, &reopen);
    if (reopen) m->active = m->samples;
    return mg_dual_cd_trace(m);
}

margin_status mg_dual_cd_go_on(mg_dual_cd *m) {
    for (bool done = false; !done;) {
        const margin_status stop = mg_stop_check(&m->job->stop, m->solution->iterations);
        bool full;
        if (stop < 0) return mg_fail_cancelled(m->job->error);
        if (stop > 0) return mg_dual_cd_end(m, stop);
        MG_TRY(one_epoch(m, &full));
        if (full) MG_TRY(mg_dual_cd_judge(m, &done));
    }
    return m->solution->status;
}

static margin_status dual_cd_solve(mg_linear_job *job, mg_linear_solution *solution) {
    mg_dual_cd m;
    bool done;
    MG_SCOPED_ARENA(arena, job->objective->design->heap);
    if (job->objective->functions > 1) return mg_crammer_singer(job, solution);
    MG_TRY(mg_dual_cd_begin(job, solution, &arena, &m));
    MG_TRY(mg_dual_cd_trace(&m));
    mg_stop_arm(&job->stop);
    margin_status status = mg_dual_cd_leap(&m, &done);
    if (status >= 0) status = done ? solution->status : mg_dual_cd_go_on(&m);
    if (!mg_stop_cut(&job->stop, status)) return status;
    m.proven = -1; /* in the middle of an epoch */
    return mg_dual_cd_end(&m, MARGIN_STOPPED_TIME);
}

const mg_linear_solver mg_solver_dual_cd = {
    .name = "dual_cd",
    .step_name = "epochs",
    .can = dual_cd_can,
    .solve = dual_cd_solve,
    .can_together = can_together,
    .solve_together = mg_dual_cd_solve_lanes,
};
