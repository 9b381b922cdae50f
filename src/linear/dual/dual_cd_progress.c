/* Where dual coordinate descent begins, how far it is, and when it ends. */
#include "linear/dual/dual_cd.h"
#include "linear/proof/goal.h"

#include <string.h>

enum { MOST_SHRUNK = 20 }; /* epochs over active samples before all are looked at again */
/* Active samples have lost enough when their part of the gap is this share of the whole one. */
static const double small_share = 0.1;
/* Work is counted in visits of all samples. Another method takes over where so much is left, after
 * so much was done; and it is given up if the gap has not halved for so long. */
static const double much_left = 400.0, much_done = 50.0, least_idle = 2000.0;
static const double idle_values = 1e9;  /* or while fewer stored values were read */
static const double spread_share = 0.3; /* tau, in mean squares of a row */
static const double hope = 3.0, least_share = 1.0 / 16.0; /* of the gap in a proof that failed */
#define MOST_START 30.0                                   /* log-odds */

/* ---- Start ----------------------------------------------------------------------------------- */

void mg_dual_cd_start(mg_dual_cd *m, mg_linear_job *job, mg_linear_solution *solution) {
    *m = (mg_dual_cd){MG_SOLVER_OF(job, solution),
                      .rows = mg_dual_rows_for(&job->objective->design->problem->x),
                      .active = job->objective->samples,
                      .proven = -1,
                      .highest = (double)INFINITY,
                      .lowest = -(double)INFINITY,
                      .progress = {.strictness = 2.0, .best = (double)INFINITY}};
    m->constant_value = mg_objective_constant(m->objective, &m->b);
    m->b = fmin(fmax(m->b, -MOST_START), MOST_START);
}

static margin_status square_rows(const mg_block *block, void *argument) {
    mg_dual_cd *m = argument;
    const margin_matrix *x = &m->design->problem->x;
    const double rho = m->objective->penalty.rho;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_design_row(m->design, i);
        m->curvature[i] =
            m->factor ? m->rows->square(x, row, m->factor) : m->design->ops->square(x, row) / rho;
    }
    return MARGIN_OK;
}

margin_status mg_dual_cd_curvatures(mg_dual_cd *m) {
    const mg_design *d = m->design;
    const double weight = m->objective->mass, samples = (double)m->samples;
    double total = 0.0;
    MG_TRY(mg_sweep_each(d->context, m->samples, d->block_rows, square_rows, m, m->job->error));
    for (int64_t i = 0; i < m->samples; i++)
        total += m->curvature[i];
    MG_TRY(mg_objective_finite(total, m->job->error));
    /* the squared hinge is proven by the gradient, 2 c (miss - alpha / 2c) of each sample, whose
     * square is 2 c |a|^2 times the gap and more */
    const double growth = 2.0 * (weight / samples) * (total / samples);
    if (m->objective->loss->kind == MG_LOSS_SQUARED_HINGE)
        m->progress.strictness = fmin(fmax(hope / (1.0 + growth), least_share), 2.0);
    if (!m->objective->intercept) return MARGIN_OK;
    m->spread = spread_share * total / samples;
    if (!(m->spread > 0.0)) m->spread = 1.0 / weight; /* nothing but the intercept */
    for (int64_t i = 0; i < m->samples; i++)
        m->curvature[i] += m->spread;
    return MARGIN_OK;
}

/* ---- Progress -------------------------------------------------------------------------------- */

void mg_dual_cd_note(mg_dual_cd *m, int64_t visited, bool full, bool *reopen) {
    mg_dual_progress *p = &m->progress;
    p->work += (double)visited / (double)m->samples;
    m->solution->iterations++;
    *reopen = false;
    if (!full) {
        *reopen = ++p->shrunk >= MOST_SHRUNK || m->slack <= small_share * p->gap || m->active == 0;
        return;
    }
    m->b += m->spread * m->sum;
    p->value = m->loss + 0.5 * m->square;
    p->gap = m->slack;
    p->past[p->full % MG_DUAL_HISTORY] = p->gap;
    p->past_work[p->full++ % MG_DUAL_HISTORY] = p->work;
    p->shrunk = 0;
    if (p->gap < 0.5 * p->best) {
        p->best = p->gap;
        p->best_work = p->work;
    }
    mg_progress(m->job->context, "training", (double)m->solution->iterations, 0.0,
                p->gap / fmax(1.0, p->value));
}

margin_status mg_dual_cd_trace(mg_dual_cd *m) {
    if (!m->job->trace) return MARGIN_OK;
    mg_dual_cd_weights(m);
    return mg_linear_trace_solution(m->job, m->solution);
}

/* ---- End ------------------------------------------------------------------------------------- */

static bool is_enough(const mg_dual_cd *m, double gap, double value) {
    return gap <= mg_wanted_gap(m->job->tolerance, value, m->constant_value);
}

/* Work that is left, if it goes on as in the last epochs; 0: cannot be told. INFINITY: it gets
 * nowhere. */
static double work_left(const mg_dual_cd *m) {
    const mg_dual_progress *p = &m->progress;
    if (p->full < MG_DUAL_HISTORY) return 0.0;
    const int oldest = (int)(p->full % MG_DUAL_HISTORY);
    const double fall = log(p->past[oldest] / p->gap);
    const double wanted = log(p->gap / (m->job->tolerance * fmax(1.0, p->value)));
    return fall > 0.0 ? wanted / fall * (p->work - p->past_work[oldest]) : (double)INFINITY;
}

/* Whether a method that factors Hessians, which few columns allow, should go on from here. */
static bool is_for_others(const mg_dual_cd *m) {
    enum { MOST_COLUMNS = 4096 };
    return m->progress.work > much_done && work_left(m) > much_left && m->columns <= MOST_COLUMNS;
}

/* From here, or from the beginning if that was better. */
static margin_status dual_cd_hand_over(mg_dual_cd *m) {
    mg_linear_solution *out = m->solution;
    MG_TRY(mg_dual_cd_write(m));
    if (!(m->progress.value < m->constant_value)) {
        memset(out->w, 0, (size_t)(m->columns + 1) * sizeof *out->w);
        if (out->alpha) memset(out->alpha, 0, (size_t)m->samples * sizeof *out->alpha);
    }
    out->gap = (double)NAN; /* of another point */
    out->next = m->objective->loss->curved ? "lbfgs" : "ssnal";
    return out->status = MARGIN_STOPPED_STALLED;
}

static double idle_work(const mg_dual_cd *m) {
    const margin_matrix *x = &m->design->problem->x;
    const double values = (double)mg_row_bytes(x) / (double)mg_type_size(x->value_type);
    return fmax(least_idle, idle_values / (fmax(values, 1.0) * (double)m->samples));
}

margin_status mg_dual_cd_judge(mg_dual_cd *m, bool *done) {
    const mg_linear_solution *out = m->solution;
    mg_dual_progress *p = &m->progress;
    *done = true;
    if (is_enough(m, p->gap / p->strictness, p->value)) {
        MG_TRY(mg_dual_cd_prove(m));
        if (is_enough(m, out->primal - out->dual, out->primal)) return mg_dual_cd_end(m, MARGIN_OK);
        const double share = p->gap / (out->primal - out->dual);
        /* the gap may be a small share of what is proven; that wanders, so hope for better */
        p->strictness *= fmin(0.5, fmax(hope * share / p->strictness, least_share));
    }
    if (is_for_others(m)) return dual_cd_hand_over(m);
    if (p->work - p->best_work > idle_work(m)) return mg_dual_cd_end(m, MARGIN_STOPPED_STALLED);
    *done = false;
    return MARGIN_OK;
}
