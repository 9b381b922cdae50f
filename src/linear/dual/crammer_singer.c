/* The hinge of Crammer and Singer ("On the algorithmic implementation of multiclass kernel-based
 * vector machines", JMLR 2, 2001): the margin to every other class at once.
 *
 *   given    c_i, rho > 0; shares q_i in the simplex, at first e_y
 *   W        = 1/rho sum_i c_i (e_y - q_i) a_i'
 *   step     for a sample: g_k = 1[k != y] + f_k; its shares become the point of the simplex next
 *            to q_i + g / A with A = c_i (|a_i|^2 / rho + tau), which is the best choice for this
 *            sample (the sequential dual method of Keerthi, Sundararajan, Chang, Hsieh, Lin, KDD
 *            2008)
 *   gap      sum_i c_i (max_k g_ik - q_i . g_i)
 *
 * A free intercept wants S_k = sum_i c_i (1[y_i = k] - q_ik) = 0. It is had by the method of
 * multipliers: f_k has the intercept b_k + tau S_k, and b_k becomes that after every walk over all
 * samples. tau is a share of the mean of |a|^2 / rho: much larger ones make every step small. Rows
 * are then taken from their mean, which changes nothing but the intercepts, and makes |a| smaller.
 *
 * Walks over all samples alternate with walks over those whose shares are not settled. One after
 * the other, in an order drawn anew for each walk; so threads do not matter. */
#include "linear/dual/dual_cd.h"

#include "base/random.h"
#include "linear/design/design_sample.h"
#include "linear/proof/goal.h"

#include <string.h>

enum { INNER_WALKS = 8 };
/* A walk over some samples has done enough if the gap is this share of that before. */
static const double enough = 0.1;
static const double tau_share = 0.3;
/* It ends if the gap has not fallen by a fifth for so many walks: those of so many products of
 * values and classes, within bounds. */
static const double idle_least = 2000.0, idle_most = 10000.0, idle_products = 3e9;

static const char purpose[] = "the dual variables of the classes";

typedef struct crammer_singer {
    MG_SOLVER_STATE;
    mg_arena *arena;
    const mg_classes_rows *rows; /* dense */
    int64_t ld;
    double rho, tau;
    double *shares; /* samples x classes */
    double *w;      /* rho W: dense classes x ld; sparse columns x classes, without the shifts */
    double *b, *sums,
        *shifted;         /* classes: multipliers, S, and sum_j shift_j of rho W's sparse part */
    double *g, *next;     /* classes */
    double *mean, *shift; /* columns: what is taken off every row, and added to what is stored */
    mg_step_row row;      /* at hand */
    int64_t *order;       /* samples; the first `active` ones are walked over */
    int64_t active, walks;
    double gap, loss;  /* of a walk */
    double best_seen;  /* gap of a walk over all that was well below the one before, */
    int64_t best_walk; /* and the walks by then */
} crammer_singer;

/* ---- Rows ------------------------------------------------------------------------------------ */

/* g = scores of the row that was read */
static void find_scores(crammer_singer *m) {
    const mg_step_row *row = &m->row;
    double *g = m->g;
    if (m->rows) {
        const void *at = row->values;
        m->rows->scores(&at, 1, m->columns, NULL, m->w, m->ld, m->functions, g);
    } else {
        for (int64_t k = 0; k < m->functions; k++)
            g[k] = m->shifted[k] + m->sums[k] * (row->along_shift + row->shift_square);
        for (int64_t e = 0; e < row->stored; e++) {
            const double *w = m->w + row->at[e] * m->functions, value = row->values[e];
            for (int64_t k = 0; k < m->functions; k++)
                g[k] += value * w[k];
        }
    }
    for (int64_t k = 0; k < m->functions; k++)
        g[k] = g[k] / m->rho + m->b[k] + m->tau * m->sums[k];
}

/* The dual variable of the row that was read and class k grows by `change`. */
static void crammer_add_row(crammer_singer *m, int64_t k, double change) {
    const mg_step_row *row = &m->row;
    m->sums[k] += change;
    if (m->rows) {
        m->vectors->add(m->w + k * m->ld, change, row->values, m->columns);
        return;
    }
    m->shifted[k] += change * row->along_shift;
    for (int64_t e = 0; e < row->stored; e++)
        m->w[row->at[e] * m->functions + k] += change * row->values[e];
}

/* ---- One sample ------------------------------------------------------------------------------ */

/* The point of the simplex next to x, in place: what exceeds a level, found by leaving out what is
 * below the level of the rest (Michelot, J. Optim. Theory Appl. 50, 1986). As the greatest number
 * exceeds it by 1 at most, little is left from the start. */
static void project_simplex(double *x, int64_t count) {
    double level = x[0];
    for (int64_t k = 1; k < count; k++)
        level = fmax(level, x[k]);
    level -= 1.0;
    for (int64_t before = 0, above = count; above != before;) {
        double sum = 0.0;
        before = above;
        above = 0;
        for (int64_t k = 0; k < count; k++)
            if (x[k] > level) {
                sum += x[k];
                above++;
            }
        const double next = (sum - 1.0) / (double)above;
        if (above == 0 || !(next > level)) break; /* it only rises, but for rounding */
        level = next;
        above = 0;
        for (int64_t k = 0; k < count; k++)
            above += x[k] > level;
    }
    for (int64_t k = 0; k < count; k++)
        x[k] = x[k] > level ? x[k] - level : 0.0;
}

static void move_shares(crammer_singer *m, int64_t i) {
    const double c = m->objective->c[i];
    const double square = mg_step_row_square(&m->row, false);
    const double bound = fmax(c * (square / m->rho + m->tau), 1e-200);
    double *q = m->shares + i * m->functions, greatest = -(double)INFINITY;
    for (int64_t k = 0; k < m->functions; k++)
        greatest = fmax(greatest, m->g[k]);
    for (int64_t k = 0; k < m->functions; k++) /* moved all alike, which changes nothing */
        m->next[k] = fmax(q[k] + (m->g[k] - greatest) / bound, -1e9);
    project_simplex(m->next, m->functions);
    for (int64_t k = 0; k < m->functions; k++) {
        const double change = q[k] - m->next[k];
        q[k] = m->next[k];
        if (change != 0.0) crammer_add_row(m, k, c * change);
    }
}

/* Its part of the gap and of the loss; true if its shares are not where they should be, or may
 * still be divided. */
static bool singer_visit(crammer_singer *m, int64_t i) {
    const int32_t own = m->design->problem->code[i];
    const double c = m->objective->c[i], *q = m->shares + i * m->functions;
    double greatest = -(double)INFINITY, mean = 0.0, least = (double)INFINITY;
    mg_step_row_read(&m->row, i);
    find_scores(m);
    const double own_score = m->g[own];
    int64_t held = 0;
    for (int64_t k = 0; k < m->functions; k++) {
        if (k != own) m->g[k] += 1.0;
        greatest = fmax(greatest, m->g[k]);
        mean += q[k] * m->g[k];
        if (!(q[k] > 0.0)) continue;
        least = fmin(least, m->g[k]);
        held++;
    }
    m->gap += c * (greatest - mean);
    m->loss += c * (greatest - own_score);
    if (greatest > least) move_shares(m, i);
    return held > 1 || greatest > least;
}

/* A time limit ends it at any row: the shares are in the simplex after each. */
static margin_status singer_walk(crammer_singer *m, bool all) {
    enum { ROWS_BETWEEN = 32 };
    int64_t kept = 0;
    m->gap = m->loss = 0.0;
    if (all) {
        m->active = m->samples;
        for (int64_t i = 0; i < m->samples; i++)
            m->order[i] = i;
    }
    mg_random_shuffle(m->job->seed, MG_RANDOM_SHUFFLE, (uint64_t)(m->walks++ & 0xFFFFFF), m->order,
                      m->active);
    for (int64_t at = 0; at < m->active; at++) {
        const int64_t i = m->order[at];
        if (mg_cancelled(m->design->context)) return mg_fail_cancelled(m->job->error);
        if (at % ROWS_BETWEEN == 0 && mg_clock() >= m->job->stop.deadline) break;
        if (singer_visit(m, i)) m->order[kept++] = i;
    }
    m->active = kept;
    return MARGIN_OK;
}

/* ---- Solution -------------------------------------------------------------------------------- */

static void take_weights(const crammer_singer *m) {
    double *w = m->solution->w;
    for (int64_t k = 0; k < m->functions; k++) {
        m->solution->b[k] = m->b[k];
        for (int64_t j = 0; j < m->columns; j++) {
            double own = m->rows ? m->w[k * m->ld + j] : m->w[j * m->functions + k];
            if (!m->rows) own += m->shift[j] * m->sums[k];
            w[k * m->columns + j] = own / m->rho;
            m->solution->b[k] -= m->mean[j] * w[k * m->columns + j];
        }
    }
    mg_objective_centre(m->objective, w, m->solution->b);
}

static margin_status singer_prove(crammer_singer *m) {
    take_weights(m);
    memcpy(m->solution->shares, m->shares, (size_t)(m->samples * m->functions) * sizeof *m->shares);
    return mg_certify(m->objective, m->solution, NULL, m->job->error);
}

/* ---- The method ------------------------------------------------------------------------------ */

/* P and the gap as a walk over all samples saw them, while they moved. */
static double seen_gap(const crammer_singer *m) {
    take_weights(m);
    const double square = mg_objective_penalty(m->objective, m->solution->w);
    return m->gap / fmax(1.0, m->loss + square);
}

static bool is_stuck(crammer_singer *m, double seen) {
    const double row = (double)m->functions * (mg_row_length(&m->design->problem->x) + 1.0);
    const double most =
        fmin(fmax(idle_products / (row * (double)m->samples), idle_least), idle_most);
    if (seen < 0.8 * m->best_seen) {
        m->best_seen = seen;
        m->best_walk = m->walks;
    }
    return (double)(m->walks - m->best_walk) > most;
}

static margin_status inner_walks(crammer_singer *m) {
    const double target = enough * m->gap;
    for (int k = 0; k < INNER_WALKS && m->active > 0; k++) {
        MG_TRY(singer_walk(m, false));
        if (m->gap <= target) break;
    }
    return MARGIN_OK;
}

static margin_status trace_walk(crammer_singer *m) {
    if (!m->job->trace) return MARGIN_OK;
    take_weights(m);
    return mg_linear_trace_solution(m->job, m->solution);
}

static margin_status singer_iterate(crammer_singer *m) {
    enum { IDLE_PROOFS = 60 };
    double strictness = 1.0, best = (double)INFINITY;
    int idle = 0;
    m->best_seen = (double)INFINITY;
    MG_TRY(trace_walk(m));
    for (;;) {
        MG_TRY(singer_walk(m, true));
        for (int64_t k = 0; k < m->functions && m->objective->intercept; k++)
            m->b[k] += m->tau * m->sums[k];
        m->solution->iterations++;
        MG_TRY(trace_walk(m));
        const double seen = seen_gap(m);
        margin_status stop = mg_stop_check(&m->job->stop, m->solution->iterations);
        if (stop == MARGIN_OK) /* else the walk may be cut */
            mg_progress(m->design->context, "training", (double)m->solution->iterations, 0.0, seen);
        if (stop < 0) return mg_fail_cancelled(m->job->error);
        if (stop == MARGIN_OK && is_stuck(m, seen)) stop = MARGIN_STOPPED_STALLED;
        if (stop > 0 || seen <= strictness * m->job->tolerance) {
            MG_TRY(singer_prove(m));
            const bool better = m->solution->gap < 0.9 * best;
            if (better) best = m->solution->gap;
            idle = better ? 0 : idle + 1;
            if (m->solution->gap <= m->job->tolerance || stop > 0)
                return mg_goal_end(m->job, m->solution, stop, "epochs");
            if (idle > IDLE_PROOFS)
                return mg_goal_end(m->job, m->solution, MARGIN_STOPPED_STALLED, "epochs");
            strictness = fmax(0.7 * strictness, 0.02);
        }
        MG_TRY(inner_walks(m));
    }
}

static margin_status find_shift(crammer_singer *m) {
    const mg_design *d = m->design;
    double *deviation = m->shift; /* not needed */
    if (m->objective->intercept)
        MG_TRY(mg_design_moments(m->design, true, m->mean, deviation, m->job->error));
    for (int64_t j = 0; j < m->columns; j++)
        m->shift[j] = (d->shift ? d->shift[j] : 0.0) - m->mean[j];
    MG_TRY(mg_step_row_new(d, m->shift, !m->rows, m->arena, &m->row, m->job->error));
    m->row.as_is = false; /* the weights of all classes of a column lie side by side */
    return MARGIN_OK;
}

static margin_status find_tau(crammer_singer *m) {
    double weighted = 0.0;
    if (!m->objective->intercept) return MARGIN_OK;
    for (int64_t i = 0; i < m->samples; i++) {
        if (mg_cancelled(m->design->context)) return mg_fail_cancelled(m->job->error);
        mg_step_row_read(&m->row, i);
        weighted += m->objective->c[i] * mg_step_row_square(&m->row, false);
    }
    m->tau = tau_share * weighted / (m->objective->mass * m->rho);
    if (!(m->tau > 0.0)) m->tau = 1.0 / m->rho;
    return MARGIN_OK;
}

static margin_status singer_begin(crammer_singer *m) {
    const bool sparse = mg_is_csr(&m->design->problem->x);
    const int64_t weights = m->functions * (sparse ? m->columns : m->ld);
    const int64_t shares = m->samples * m->functions;
    MG_TRY(MG_PIECES(m->arena, purpose, m->job->error, MG_PIECE(m->order, m->samples),
                     MG_PIECE(m->shares, shares), MG_PIECE(m->w, weights),
                     MG_PIECE(m->b, 3 * m->functions), MG_PIECE(m->g, m->functions),
                     MG_PIECE(m->next, m->functions), MG_PIECE(m->mean, m->columns),
                     MG_PIECE(m->shift, m->columns)));
    memset(m->shares, 0, (size_t)shares * sizeof *m->shares);
    memset(m->w, 0, (size_t)weights * sizeof *m->w);
    memset(m->b, 0, (size_t)(3 * m->functions) * sizeof *m->b);
    memset(m->mean, 0, (size_t)m->columns * sizeof *m->mean);
    m->sums = m->b + m->functions;
    m->shifted = m->sums + m->functions;
    for (int64_t i = 0; i < m->samples; i++)
        m->shares[i * m->functions + m->design->problem->code[i]] = 1.0;
    MG_TRY(find_shift(m));
    return find_tau(m);
}

margin_status mg_crammer_singer(mg_linear_job *job, mg_linear_solution *solution) {
    const mg_objective *o = job->objective;
    const mg_design *d = o->design;
    /* rows are read into f64 */
    const margin_matrix row = margin_dense_f64(NULL, 1, o->columns, o->columns);
    MG_SCOPED_ARENA(arena, d->heap);
    crammer_singer m = {
        MG_SOLVER_OF(job, solution), .arena = &arena,
        .rows = mg_is_csr(&d->problem->x) ? NULL : mg_classes_rows_for(&row, d->isa, false),
        .ld = mg_classes_padded(o->columns), .rho = o->penalty.rho};
    MG_TRY(singer_begin(&m));
    return singer_iterate(&m);
}
