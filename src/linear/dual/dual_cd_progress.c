/* Where dual coordinate descent begins, how far it is, what it hands over with its proof, and when
 * it ends.
 *
 * Between epochs w and b are those of dual variables that are not there yet. Two numbers can be set
 * right at once from the scores s of the rows: P(t w, b) is convex in t and b. A free intercept is
 * the best one then, and for the hinges, where C is so great that no row may lie inside of the
 * margin, t moves them out. */
#include "linear/dual/dual_cd.h"
#include "linear/objective/row_space.h"
#include "linear/proof/goal.h"

#include <string.h>

static const char purpose[] = "the state of dual coordinate descent";

enum { MOST_SHRUNK = 20 }; /* epochs over active samples before all are looked at again */
/* Active samples have lost enough when their part of the gap is this share of the whole one. */
static const double small_share = 0.1;
/* Work is counted in visits of all samples. Another method takes over where so much is left, after
 * so much was done: of the hinge ssnal, else lbfgs; and it is given up if the gap has not halved
 * for so long. */
static const double much_left = 400.0, much_done = 20.0, left_tall = 100.0, done_tall = 60.0;
static const double left_hinges = 6000.0;
static const double least_idle = 2000.0;
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
        const int64_t row = mg_sample_row(m->design->problem, i);
        m->curvature[i] =
            m->factor ? m->rows->square(x, row, m->factor) : m->design->ops->square(x, row) / rho;
    }
    return MARGIN_OK;
}

/* curvature and spread, from the squares of the rows (factor is set); `curvature` may be shared.
 * CANCELLED, DATA. */
static margin_status dual_cd_curvatures(mg_dual_cd *m) {
    const mg_design *d = m->design;
    const double weight = m->objective->mass, samples = (double)m->samples;
    MG_TRY(mg_sweep_each(d->context, m->samples, d->block_rows, square_rows, m, m->job->error));
    const double total = mg_sum(m->curvature, m->samples);
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
    return dual_cd_curvatures(m);
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

/* ---- Solution -------------------------------------------------------------------------------- */

/* Weights, intercept and dual variables as they are, in A's units, into the solution. */
static void dual_cd_weights(mg_dual_cd *m) {
    mg_linear_solution *out = m->solution;
    const mg_design *d = m->design;
    if (m->fetch) m->fetch(m);
    *out->b = m->b;
    for (int64_t j = 0; j < m->columns; j++) {
        const double scale = d->scale ? d->scale[j] : 1.0;
        out->w[j] = scale != 0.0 ? m->weights[j] / scale : 0.0;
        if (d->shift) *out->b -= d->shift[j] * out->w[j];
    }
    if (out->alpha) memcpy(out->alpha, m->alpha, (size_t)m->samples * sizeof *out->alpha);
}

margin_status mg_dual_cd_trace(mg_dual_cd *m) {
    if (!m->job->trace) return MARGIN_OK;
    dual_cd_weights(m);
    return mg_linear_trace_solution(m->job, m->solution);
}

/* S = 0 by way of the samples between their bounds, which sit at the margin, where a change of
 * alpha costs nothing at first order. What they cannot take is left to the certificate. */
static void dual_cd_balance(const mg_dual_cd *m) {
    const int8_t *sign = m->design->problem->sign;
    const double *c = m->objective->c;
    double *alpha = m->solution->alpha, sum = 0.0, room = 0.0;
    for (int64_t i = 0; i < m->samples; i++) {
        sum += sign[i] * alpha[i];
        room += alpha[i] / c[i] * (c[i] - alpha[i]);
    }
    if (!(room > fabs(sum))) return;
    for (int64_t i = 0; i < m->samples; i++)
        alpha[i] -= sign[i] * (sum / room) * (alpha[i] / c[i] * (c[i] - alpha[i]));
}

/* ---- Two numbers -----------------------------------------------------------------------------
 * P along t or along b, the scores being t s + b. */

typedef struct line {
    const mg_dual_cd *m;
    const double *scores;
    double square; /* rho |w|^2 */
    double t, b;
    double curvature; /* second derivative where the first was asked for */
} line;

static double slope_at(line *l, bool along_t) {
    enum { CHUNK = 256 };
    const mg_dual_cd *m = l->m;
    const int8_t *sign = m->design->problem->sign;
    double z[CHUNK], slopes[CHUNK], curvatures[CHUNK];
    double sum = along_t ? l->t * l->square : 0.0;
    l->curvature = along_t ? l->square : 0.0;
    for (int64_t first = 0; first < m->samples; first += CHUNK) {
        const int64_t count = MG_MIN(m->samples - first, CHUNK);
        const double *s = l->scores + first;
        for (int64_t k = 0; k < count; k++)
            z[k] = sign[first + k] * (l->t * s[k] + l->b);
        mg_loss_pass_for(m->design->isa)(m->objective->loss->kind, z, m->objective->c + first,
                                         count, slopes, curvatures);
        for (int64_t k = 0; k < count; k++) {
            const double by = along_t ? s[k] : 1.0;
            sum += sign[first + k] * slopes[k] * by;
            l->curvature += curvatures[k] * by * by;
        }
    }
    return sum;
}

/* Where the slope, which rises, changes its sign: Newton's method while it stays between what is
 * known, else halves. */
static void line_minimise(line *l, bool along_t) {
    enum { MOST = 80, NEWTON = 30 };
    const bool curved = l->m->objective->loss->curved;
    double *x = along_t ? &l->t : &l->b, reach = 1e-4;
    double low = -(double)INFINITY, high = (double)INFINITY;
    for (int k = 0; k < MOST && high - low > 1e-15 * fabs(*x); k++) {
        const double slope = slope_at(l, along_t);
        if (slope == 0.0) return;
        *(slope > 0.0 ? &high : &low) = *x;
        double next = *x - slope / l->curvature;
        if (!(curved && k < NEWTON && next > low && next < high)) {
            next = isinf(low) ? *x - reach : isinf(high) ? *x + reach : 0.5 * (low + high);
            reach *= 4.0;
        }
        if (fabs(next - *x) <= 1e-15 * fabs(*x)) return;
        *x = next;
    }
}

/* The same with the best intercept for those weights, and for the hinges the best length of them:
 * one pass. *given: the scores of the rows, in `arena`; NULL: they were not needed. */
static margin_status dual_cd_write(mg_dual_cd *m, mg_arena *arena, double **given) {
    mg_linear_solution *out = m->solution;
    const bool hinge = m->objective->loss->kind != MG_LOSS_LOGISTIC;
    double *scores = *given = NULL;
    dual_cd_weights(m);
    if (!m->objective->intercept && !hinge) return MARGIN_OK;
    MG_ARENA_NEW(arena, scores, m->samples, "the scores of the rows", m->job->error);
    if (m->scores && !m->design->shift)
        memcpy(scores, m->scores, (size_t)m->samples * sizeof *scores);
    else
        MG_TRY(mg_design_scores(m->design, out->w, 0.0, scores, m->job->error));
    line l = {.m = m,
              .scores = scores,
              .square = 2.0 * mg_objective_penalty(m->objective, out->w),
              .t = 1.0,
              .b = *out->b};
    if (m->objective->intercept) line_minimise(&l, false);
    if (hinge) line_minimise(&l, true);
    if (hinge && m->objective->intercept) line_minimise(&l, false);
    for (int64_t j = 0; j < m->columns; j++)
        out->w[j] *= l.t;
    *out->b = l.b;
    for (int64_t i = 0; i < m->samples; i++)
        scores[i] = l.t * scores[i] + l.b;
    *given = scores;
    return MARGIN_OK;
}

/* Rounding makes other scores of a prediction, but not so many. */
static double dual_cd_accuracy(const mg_dual_cd *m, const double *scores) {
    const mg_problem *p = m->design->problem;
    const double square = 2.0 * mg_objective_penalty(m->objective, m->solution->w);
    bool sure = scores && !p->weight && !m->design->shift && p->kind == MG_TWO_CLASS;
    double right = 0.0;
    for (int64_t i = 0; sure && i < m->samples; i++) {
        right += p->sign[i] * scores[i] > 0.0;
        sure = fabs(scores[i]) > 1e-9 * (fabs(*m->solution->b) + sqrt(square * m->curvature[i]));
    }
    return sure ? right / (double)m->samples : (double)NAN;
}

/* ---- Proof ----------------------------------------------------------------------------------- */

/* Writes and certifies: two or three passes. */
static margin_status dual_cd_prove(mg_dual_cd *m) {
    double *scores;
    MG_SCOPED_ARENA(arena, m->design->heap);
    MG_TRY(dual_cd_write(m, &arena, &scores));
    if (m->solution->alpha && m->objective->intercept) dual_cd_balance(m);
    /* an intercept that cancels shifts must do so before the rows are added */
    const double *known = m->design->shift ? NULL : scores;
    MG_TRY(mg_certify(m->objective, m->solution, known, m->job->error));
    m->solution->accuracy = dual_cd_accuracy(m, scores);
    m->proven = m->solution->iterations;
    return MARGIN_OK;
}

margin_status mg_dual_cd_end(mg_dual_cd *m, margin_status ended) {
    if (m->proven != m->solution->iterations) MG_TRY(dual_cd_prove(m));
    return mg_goal_end(m->job, m->solution, ended, "epochs");
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
    const double goal = mg_wanted_gap(m->job->tolerance, p->value, m->constant_value);
    const double wanted = log(p->gap / goal);
    return fall > 0.0 ? wanted / fall * (p->work - p->past_work[oldest]) : (double)INFINITY;
}

/* Whether another method should go on from here. In the space of dense rows it is soon done; and
 * moves of all at once, where those have to do with each other, soon lead nowhere. For the hinges
 * more columns than a factor has room for take the others thousands of epochs. */
static bool is_for_others(const mg_dual_cd *m) {
    enum { MOST_COLUMNS = 4096, LEAPS = 8 };
    static const double left_rows = 20.0, left_row = 0.06; /* and for each row */
    const mg_loss_kind kind = m->objective->loss->kind;
    const bool rows = mg_has_row_space(m->objective);
    const bool soon = kind == MG_LOSS_LOGISTIC || m->columns <= MOST_COLUMNS;
    const double work = m->progress.work, left = work_left(m);
    const double much = soon ? much_left : left_hinges;
    if (kind == MG_LOSS_HINGE && m->samples > m->columns)
        return work > done_tall && left > left_tall;
    if (rows && m->scores) return work >= LEAPS && m->progress.gap > m->progress.value;
    return work > much_done && left > (rows ? left_rows + left_row * (double)m->samples : much);
}

/* From here, or from the beginning if that was better. */
static margin_status dual_cd_hand_over(mg_dual_cd *m) {
    mg_linear_solution *out = m->solution;
    double *scores;
    MG_SCOPED_ARENA(arena, m->design->heap);
    MG_TRY(dual_cd_write(m, &arena, &scores));
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
        MG_TRY(dual_cd_prove(m));
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
