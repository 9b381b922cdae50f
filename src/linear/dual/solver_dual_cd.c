/* Dual coordinate descent, for sparse rows with many columns (and for more columns than rows).
 *
 *   given    loss of a margin (hinge, squared hinge, logistic), |w|^2 with rho > 0
 *   dual     max sum_i c_i dual(alpha_i / c_i) - |sum_i alpha_i y_i a_i|^2 / (2 rho)
 *            with S = sum_i alpha_i y_i = 0 if the intercept is free
 *   keep     w = sum_i alpha_i y_i a_i / rho
 *   step     the best alpha_i for all others as they are: one row to read, one to add
 *   epoch    a step for each sample that counts, in a new random order
 *
 * With q_i = |a_i|^2 / rho + tau and f_i at hand a step moves alpha_i to the best place for all
 * others as they are; d = y_i f_i minus the slope of the loss's part is what it makes 0:
 *
 *   hinge           d = y f - 1                    alpha -= d / q                 in [0, c]
 *   squared hinge   d = y f - 1 + alpha / 2c       alpha -= d / (q + 1/2c)        in [0, inf)
 *   logistic        d = y f + s,                   alpha = c / (1 + e^-s), Newton's method in s
 *
 * A visit also adds the sample's part of the gap, loss + dual(u) + alpha y f, at no cost.
 *
 * A step for one sample cannot keep S = 0. So the intercept is found by the proximal method of
 * multipliers (Rockafellar, "Augmented Lagrangians and applications of the
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
#include "math/losses/logit_dual.h"

enum { AHEAD = 3, POLL = 64 }; /* rows to fetch early; between looks for an interrupt */

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
    const mg_design *d = objective->design;
    const int64_t bytes = MG_ROW_LANES * (d->columns + 3 * d->samples) * (int64_t)sizeof(double);
    return mg_is_csr(&d->problem->x) && mg_fits_limit(d->heap, bytes, 4);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* z: y_i f_i before the step. */
static void dual_cd_move(mg_dual_cd *m, int64_t i, int64_t row, double z, double change) {
    const margin_matrix *x = &m->design->problem->x;
    const double step = mg_dual_cd_count(m, i, z, change);
    if (m->factor)
        m->rows->add_scaled(x, row, step, m->factor, m->weights);
    else
        m->design->ops->add(x, row, step / m->objective->penalty.rho, m->weights);
}

/* Yu, Huang, Lin, "Dual coordinate descent methods for logistic regression and maximum entropy
 * models", Machine Learning 85, 2011, section 3; here in the logit, where neither end of the range
 * loses digits. */
static void step_logistic(mg_dual_cd *m, int64_t i, int64_t row, double z) {
    const double c = m->objective->c[i], alpha = m->alpha[i], curvature = m->curvature[i];
    const bool first = isnan(m->logit[i]);
    const double s = first ? -z : m->logit[i];
    double slope = alpha * (c - alpha) / c, d = z + s;
    m->loss += c * mg_log1pexp_minus(z);
    if (first) { /* as if alpha were what the logit says */
        d = curvature * c * mg_sigmoid(s);
        slope = c * mg_sigmoid(s) * mg_sigmoid(-s);
        m->slack += c;
    } else {
        m->slack += 0.5 * slope * d * d;
    }
    if (!first && fabs(d) < 1e-13) return;
    m->logit[i] = mg_logit_root(c, curvature, alpha, z, s, d, slope, &m->alpha[i]);
    dual_cd_move(m, i, row, z, m->alpha[i] - alpha);
}

/* ---- Epoch ----------------------------------------------------------------------------------- */

/* `kind` is a constant where this is called. */
MG_INLINE margin_status epoch_run(mg_dual_cd *m, mg_loss_kind kind) {
    const mg_problem *problem = m->design->problem;
    const mg_row_ops *ops = m->design->ops;
    for (int64_t k = 0; k < m->active; k++) {
        if (k % POLL == 0 && mg_cancelled(m->job->context)) return MARGIN_ERROR_CANCELLED;
        if (k + AHEAD < m->active)
            m->rows->prefetch(&problem->x, mg_sample_row(m->design->problem, m->order[k + AHEAD]));
        const int64_t i = m->order[k], row = mg_sample_row(m->design->problem, i);
        const double z = problem->sign[i] * (ops->dot(&problem->x, row, m->weights) + m->b);
        if (kind == MG_LOSS_LOGISTIC) {
            step_logistic(m, i, row, z);
            continue;
        }
        bool leaves;
        const double change =
            mg_dual_cd_step_hinge(m, kind == MG_LOSS_SQUARED_HINGE, i, z, &m->alpha[i], &leaves);
        if (change != 0.0) dual_cd_move(m, i, row, z, change);
        if (!leaves) continue;
        m->order[k--] = m->order[--m->active];
        m->order[m->active] = i;
    }
    return MARGIN_OK;
}

/* One epoch over the active samples in their order. CANCELLED only. */
static margin_status dual_cd_epoch(mg_dual_cd *m) {
    const mg_loss_kind kind = m->objective->loss->kind;
    margin_status status;
    mg_dual_cd_epoch_begin(m);
    if (kind == MG_LOSS_LOGISTIC)
        status = epoch_run(m, MG_LOSS_LOGISTIC);
    else if (kind == MG_LOSS_HINGE)
        status = epoch_run(m, MG_LOSS_HINGE);
    else
        status = epoch_run(m, MG_LOSS_SQUARED_HINGE);
    mg_dual_cd_epoch_end(m);
    return status;
}

/* ---- The method ------------------------------------------------------------------------------ */

static margin_status one_epoch(mg_dual_cd *m, bool *full) {
    const int64_t visited = m->active;
    bool reopen;
    *full = visited == m->samples;
    mg_random_shuffle(m->job->seed, MG_RANDOM_SHUFFLE, (uint64_t)m->solution->iterations, m->order,
                      m->active);
    if (dual_cd_epoch(m) < 0) return mg_fail_cancelled(m->job->error);
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
    m.proven = -1;   /* in the middle of an epoch */
    m.scores = NULL; /* those of a leap went with it */
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
