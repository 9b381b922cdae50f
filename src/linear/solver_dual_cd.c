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
 * slowly and the columns are few L-BFGS with factored Hessians goes on from there. */
#include "linear/dual_cd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_SHRUNK = 20, /* epochs over active samples before all are looked at again */
    HISTORY = 8       /* full epochs over which progress is measured */
};
/* Work is counted in visits of all samples. Another method takes over where so much is left, after
 * so much was done; and it is given up if the gap has not halved for so long. */
static const double much_left = 400.0, much_done = 50.0, least_idle = 2000.0;
static const double idle_values = 1e9; /* or while fewer stored values were read */
/* Active samples have lost enough when their part of the gap is this share of the whole one. */
static const double small_share = 0.3;
static const double spread_share = 0.3; /* tau, in mean squares of a row */
static const double rounding = 1e-13;
#define MOST_START 30.0 /* log-odds */

static const char purpose[] = "the state of dual coordinate descent";

static bool can(const mg_objective *objective, char *why) {
    enum { ROOM = 200 };
    const mg_loss_kind kind = objective->loss->kind;
    const char *reason = NULL;
    if (kind != MG_LOSS_HINGE && kind != MG_LOSS_SQUARED_HINGE && kind != MG_LOSS_LOGISTIC)
        snprintf(why, ROOM, "it has no steps for the %s loss", objective->loss->name);
    else if (!(objective->penalty.rho > 0.0))
        reason = "its dual needs the penalty |w|^2";
    else if (objective->penalty.kappa > 0.0)
        reason = "it has no steps for |w|_1";
    else if (objective->design->made)
        reason = "it reads rows again and again, and these are made afresh each time";
    else if (objective->design->shift && !objective->intercept)
        reason = "columns that are shifted need an intercept";
    else
        return true;
    if (reason) snprintf(why, ROOM, "%s", reason);
    return false;
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* Goes to w = 0 and the best intercept, and keeps P there. */
static void start_constant(mg_dual_cd *m) {
    const mg_objective *objective = m->objective;
    double n[2] = {0.0, 0.0};
    for (int64_t i = 0; i < m->samples; i++)
        n[m->design->problem->sign[i] > 0] += objective->c[i];
    if (objective->intercept) {
        const double share = n[1] / (n[0] + n[1]), odds = share / (1.0 - share);
        if (objective->loss->kind == MG_LOSS_HINGE)
            m->b = share < 0.5 ? -1.0 : 1.0;
        else if (objective->loss->kind == MG_LOSS_SQUARED_HINGE)
            m->b = 2.0 * share - 1.0;
        else
            m->b = fmin(fmax(log(odds), -MOST_START), MOST_START);
    }
    m->constant_value = n[0] * objective->loss->value(-m->b) + n[1] * objective->loss->value(m->b);
}

static margin_status new_vectors(mg_dual_cd *m) {
    const bool logistic = m->objective->loss->kind == MG_LOSS_LOGISTIC, scaled = m->design->scale;
    const int64_t numbers = (2 + logistic) * m->samples + (1 + scaled) * m->columns;
    double *at = mg_arena_new(&m->arena, numbers, sizeof *at);
    m->order = mg_arena_new(&m->arena, m->samples, sizeof *m->order);
    if (!at || !m->order)
        return mg_no_memory(m->design->heap, numbers, sizeof *at, purpose, m->job->error);
    m->alpha = at;
    m->bend = m->alpha + m->samples;
    m->weights = m->bend + m->samples;
    if (scaled) m->factor = m->weights + m->columns;
    if (logistic) m->logit = at + numbers - m->samples;
    return MARGIN_OK;
}

static margin_status square_rows(const mg_block *block, void *argument) {
    mg_dual_cd *m = argument;
    const double rho = m->objective->penalty.rho;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_design_row(m->design, i);
        const double square = m->rows->square(&m->design->problem->x, row, m->factor);
        m->bend[i] = m->factor ? square : square / rho;
    }
    return MARGIN_OK;
}

static margin_status set_bends(mg_dual_cd *m) {
    const mg_design *d = m->design;
    double total = 0.0, weight = 0.0;
    if (mg_sweep_each(d->context, m->samples, d->block_rows, square_rows, m) < 0)
        return mg_fail_cancelled(m->job->error);
    for (int64_t i = 0; i < m->samples; i++) {
        total += m->bend[i];
        weight += m->objective->c[i];
    }
    MG_REQUIRE(isfinite(total), m->job->error, MARGIN_ERROR_DATA,
               "the objective is beyond double precision; bring the columns to one scale first: "
               "standardize | ...");
    if (!m->objective->intercept) return MARGIN_OK;
    m->spread = spread_share * total / (double)m->samples;
    if (!(m->spread > 0.0)) m->spread = 1.0 / weight; /* nothing but the intercept */
    for (int64_t i = 0; i < m->samples; i++)
        m->bend[i] += m->spread;
    return MARGIN_OK;
}

static margin_status begin(mg_linear_job *job, mg_linear_solution *solution, mg_dual_cd *m) {
    mg_design *d = job->objective->design;
    *m = (mg_dual_cd){.job = job,
                      .solution = solution,
                      .objective = job->objective,
                      .design = d,
                      .rows = mg_dual_rows_for(&d->problem->x),
                      .samples = d->samples,
                      .columns = d->columns};
    mg_arena_init(&m->arena, d->heap);
    MG_TRY(new_vectors(m));
    for (int64_t j = 0; j < m->columns; j++) {
        m->weights[j] = 0.0;
        if (m->factor) m->factor[j] = d->scale[j] * d->scale[j] / job->objective->penalty.rho;
    }
    for (int64_t i = 0; i < m->samples; i++) {
        m->alpha[i] = 0.0;
        m->order[i] = i;
        if (m->logit) m->logit[i] = (double)NAN;
    }
    start_constant(m);
    m->active = m->samples;
    m->highest = (double)INFINITY;
    m->lowest = -(double)INFINITY;
    return set_bends(m);
}

/* A small gap says little where the loss weighs next to nothing: it must be small beside what the
 * columns gain over the best constant as well. */
static bool is_enough(const mg_dual_cd *m, double gap, double value) {
    const double tolerance = m->job->tolerance, gain = m->constant_value - value;
    return gap <= tolerance * fmax(1.0, fabs(value)) &&
           gap <= fmax(sqrt(tolerance) * gain, rounding * fabs(value));
}

/* ---- Trace ----------------------------------------------------------------------------------- */

static margin_status trace(mg_dual_cd *m) {
    mg_loss_point point = {0};
    if (!m->job->trace) return MARGIN_OK;
    mg_dual_cd_weights(m);
    MG_TRY(mg_objective_pass(m->objective, m->solution->w, m->solution->b, &point, m->job->error));
    mg_linear_trace(m->job, m->solution->iterations, m->solution->w, m->solution->b, &point);
    return MARGIN_OK;
}

/* ---- Progress ------------------------------------------------------------------------------ */

typedef struct progress {
    double value, gap;    /* P and gap, as the last full epoch saw them */
    double strictness;    /* share of the tolerance that this gap must reach before a proof */
    double work;          /* visits of samples, in all of them */
    double past[HISTORY]; /* gaps of the full epochs before, and the work by then */
    double past_work[HISTORY];
    double best, best_work; /* least gap that halved the one before, and the work by then */
    int64_t full, shrunk;   /* full epochs; shrunk ones since the last of them */
} progress;

static double squared_norm(const mg_dual_cd *m) {
    double sum = 0.0;
    for (int64_t j = 0; j < m->columns; j++) {
        const double square = m->weights[j] * m->weights[j];
        if (!m->factor)
            sum += square;
        else if (m->factor[j] > 0.0)
            sum += square / (m->factor[j] * m->objective->penalty.rho);
    }
    return sum;
}

/* Work that is left, if it goes on as in the last epochs; 0: cannot be told. */
static double work_left(const progress *p, const mg_dual_cd *m) {
    if (p->full < HISTORY) return 0.0;
    const int oldest = (int)(p->full % HISTORY);
    const double fall = log(p->past[oldest] / p->gap);
    const double wanted = log(p->gap / (m->job->tolerance * fmax(1.0, p->value)));
    return fall > 0.0 ? wanted / fall * (p->work - p->past_work[oldest]) : 0.0;
}

static void note_progress(progress *p, mg_dual_cd *m) {
    const double penalty = m->objective->penalty.rho / 2.0 * squared_norm(m);
    m->b += m->spread * m->sum;
    p->value = m->loss + penalty;
    p->gap = m->slack;
    p->past[p->full % HISTORY] = p->gap;
    p->past_work[p->full++ % HISTORY] = p->work;
    if (p->gap < 0.5 * p->best) {
        p->best = p->gap;
        p->best_work = p->work;
    }
    mg_progress(m->job->context, "training", (double)m->solution->iterations, 0.0,
                p->gap / fmax(1.0, p->value));
}

static margin_status one_epoch(mg_dual_cd *m, progress *p) {
    const bool all = m->active == m->samples;
    p->work += (double)m->active / (double)m->samples;
    if (mg_dual_cd_epoch(m) < 0) return mg_fail_cancelled(m->job->error);
    m->solution->iterations++;
    m->solution->passes += 2;
    if (all) {
        note_progress(p, m);
    } else if (++p->shrunk >= MOST_SHRUNK || m->slack <= small_share * p->gap || m->active == 0) {
        m->active = m->samples;
        p->shrunk = 0;
    }
    return trace(m);
}

/* Whether a method that factors the Hessian should go on from here. */
static bool is_for_others(const mg_dual_cd *m, const progress *p) {
    enum { MOST_COLUMNS = 4096 };
    return p->work > much_done && work_left(p, m) > much_left && m->columns <= MOST_COLUMNS &&
           mg_solver_lbfgs.can(m->objective, (char[200]){0});
}

/* From here, or from the beginning if that was better. */
static margin_status pass_on(mg_dual_cd *m, const progress *p) {
    MG_TRY(mg_dual_cd_write(m));
    if (!(p->value < m->constant_value)) {
        memset(m->solution->w, 0, (size_t)m->columns * sizeof *m->solution->w);
        m->solution->b = 0.0;
    }
    return mg_solver_lbfgs.solve(m->job, m->solution);
}

static double idle_work(const mg_dual_cd *m) {
    const margin_matrix *x = &m->design->problem->x;
    const double values = (double)mg_row_bytes(x) / (double)mg_type_size(x->value_type);
    return fmax(least_idle, idle_values / (fmax(values, 1.0) * (double)m->samples));
}

static margin_status iterate(mg_dual_cd *m) {
    const mg_linear_solution *out = m->solution;
    const double idle = idle_work(m);
    progress p = {.strictness = 2.0, .best = (double)INFINITY};
    MG_TRY(trace(m));
    for (;;) {
        const margin_status stop = mg_stop_check(&m->job->stop, out->iterations);
        if (stop < 0) return mg_fail_cancelled(m->job->error);
        if (stop > 0) return mg_dual_cd_end(m, stop);
        const int64_t full = p.full;
        MG_TRY(one_epoch(m, &p));
        if (p.full == full) continue;
        if (is_enough(m, p.gap / p.strictness, p.value)) {
            MG_TRY(mg_dual_cd_prove(m));
            if (is_enough(m, out->primal - out->dual, out->primal))
                return mg_dual_cd_end(m, MARGIN_OK);
            p.strictness *= 0.5;
        }
        if (is_for_others(m, &p)) return pass_on(m, &p);
        if (p.work - p.best_work > idle) return mg_dual_cd_end(m, MARGIN_STOPPED_STALLED);
    }
}

static margin_status solve(mg_linear_job *job, mg_linear_solution *solution) {
    mg_dual_cd m;
    margin_status status;
    MG_GO(begin(job, solution, &m));
    status = iterate(&m);
done:
    mg_arena_free(&m.arena);
    return status;
}

const mg_linear_solver mg_solver_dual_cd = {
    .name = "dual_cd",
    .summary = "dual coordinate descent with shrinking, a row at a time",
    .step_name = "epochs",
    .can = can,
    .solve = solve,
};
