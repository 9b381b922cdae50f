/* What dual coordinate descent hands over, and its proof.
 *
 * Between epochs w and b are those of dual variables that are not there yet. Two numbers can be set
 * right at once from the scores s of the rows: P(t w, b) is convex in t and b. A free intercept is
 * the best one then, and for the hinges, where C is so great that no row may lie inside of the
 * margin, t moves them out. */
#include "linear/dual/dual_cd.h"
#include "linear/proof/goal.h"

#include <string.h>

void mg_dual_cd_weights(mg_dual_cd *m) {
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

/* *given: the scores of the rows, in `arena`; NULL: they were not needed. */
static margin_status write_scored(mg_dual_cd *m, mg_arena *arena, double **given) {
    mg_linear_solution *out = m->solution;
    const bool hinge = m->objective->loss->kind != MG_LOSS_LOGISTIC;
    double *scores = *given = NULL;
    mg_dual_cd_weights(m);
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

margin_status mg_dual_cd_write(mg_dual_cd *m) {
    double *scores;
    MG_SCOPED_ARENA(arena, m->design->heap);
    return write_scored(m, &arena, &scores);
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

margin_status mg_dual_cd_prove(mg_dual_cd *m) {
    double *scores;
    MG_SCOPED_ARENA(arena, m->design->heap);
    MG_TRY(write_scored(m, &arena, &scores));
    if (m->solution->alpha && m->objective->intercept) dual_cd_balance(m);
    /* an intercept that cancels shifts must do so before the rows are added */
    const double *known = m->design->shift ? NULL : scores;
    MG_TRY(mg_certify(m->objective, m->solution, known, m->job->error));
    m->solution->accuracy = dual_cd_accuracy(m, scores);
    m->proven = m->solution->iterations;
    return MARGIN_OK;
}

margin_status mg_dual_cd_end(mg_dual_cd *m, margin_status ended) {
    if (m->proven != m->solution->iterations) MG_TRY(mg_dual_cd_prove(m));
    return mg_goal_end(m->job, m->solution, ended, "epochs");
}
