/* Coordinate steps of dual coordinate descent: the step of each loss, and an epoch of them.
 *
 * With q_i = |a_i|^2 / rho + tau and f_i at hand a step moves alpha_i to the best place for all
 * others as they are; d = y_i f_i minus the slope of the loss's part is what it makes 0:
 *
 *   hinge           d = y f - 1                    alpha -= d / q                 in [0, c]
 *   squared hinge   d = y f - 1 + alpha / 2c       alpha -= d / (q + 1/2c)        in [0, inf)
 *   logistic        d = y f + s,                   alpha = c / (1 + e^-s), Newton's method in s
 *
 * A visit also adds the sample's part of the gap, loss + dual(u) + alpha y f, at no cost. */
#include "linear/dual/dual_cd.h"
#include "math/losses/logit_dual.h"

enum { AHEAD = 3, POLL = 64 }; /* rows to fetch early; between looks for an interrupt */

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
            m->rows->prefetch(&problem->x, mg_design_row(m->design, m->order[k + AHEAD]));
        const int64_t i = m->order[k], row = mg_design_row(m->design, i);
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

margin_status mg_dual_cd_epoch(mg_dual_cd *m) {
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
