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
enum {
    FIRST = 2
}; /* steps from a constant that may raise what it loses: its balance begins at 0 */

typedef struct ssnal {
    mg_ssnal s;
    double constant;  /* P with w = 0 and the best intercept */
    double best;      /* the solution's gap, as expected: the least so far */
    double share;     /* and relative to its objective */
    double slackness; /* of the round before */
    double strictness;
    int idle;         /* rounds since the gap last fell by much */
    bool is_constant; /* it started from the best constant, which may yet be optimal */
} ssnal;

static bool ssnal_can(const mg_objective *objective, char *why) {
    if (objective->loss->kind != MG_LOSS_HINGE)
        return mg_solver_cannot(why, "ssnal is for the hinge loss");
    return objective->penalty.kappa > 0.0 ? mg_solver_cannot(why, "|w|_1 has corners") : true;
}

/* ---- Gap ------------------------------------------------------------------------------------- */

/* Where the margin is hard, w and b are scaled so that the least y f is 1. */
static double scale_of(const mg_ssnal *s) {
    const double beyond = 1.0 + 1e-14; /* so that no loss is left by rounding */
    return s->mode == MG_SSNAL_HARD && s->here.least > 0.0 ? beyond / s->here.least : 1.0;
}

static double objective_of(const ssnal *m) {
    const mg_ssnal_point *p = &m->s.here;
    const double scale = scale_of(&m->s);
    if (m->s.mode != MG_SSNAL_HARD) return p->loss + p->penalty;
    return p->least > 0.0 ? scale * scale * p->penalty : (double)INFINITY;
}

/* The part of the gap that Newton steps lessen. */
static double inner_gap(const ssnal *m) {
    const mg_ssnal_point *p = &m->s.here;
    return p->residual + p->amiss;
}

static double expected_gap(const ssnal *m) {
    const mg_ssnal_point *p = &m->s.here;
    const double own = p->slackness + inner_gap(m);
    if (m->s.mode == MG_SSNAL_HARD) return own + fmax(objective_of(m) - p->loss - p->penalty, 0.0);
    if (m->s.mode == MG_SSNAL_PENALISED) return own;
    if (p->infeasible > feasible * p->loss) return (double)INFINITY;
    return p->slackness + p->charge + p->amiss;
}

/* About what the best constant loses more than any function; of that, |balance| matters least. */
static double excess(const ssnal *m) {
    const mg_ssnal_point *p = &m->s.here;
    return 2.0 * (p->penalty + p->residual) + p->amiss;
}

static bool constant_is_best(const ssnal *m) {
    const double amiss = m->s.here.amiss, tolerance = m->s.job->tolerance;
    return excess(m) - amiss <= 1e-10 * m->constant &&
           amiss <= fmin(1e-8, tolerance_share * tolerance) * m->constant;
}

/* The gap to reach. */
static double goal_of(const ssnal *m) {
    const double tolerance = m->s.job->tolerance, size = objective_of(m);
    if (m->is_constant) return constant_is_best(m) ? tolerance * fmax(1.0, size) : 0.0;
    if (m->s.mode == MG_SSNAL_HARD) return tolerance * (isinf(size) ? m->s.here.penalty : size);
    return mg_wanted_gap(tolerance, size, m->constant);
}

/* ---- Best so far ----------------------------------------------------------------------------- */

/* Without a penalty, and separable. */
static bool is_widest(const ssnal *m) {
    return m->s.mode == MG_SSNAL_HARD && m->s.objective->penalty.rho == 0.0;
}

/* The solution becomes that of `here`. */
static void ssnal_keep(ssnal *m) {
    mg_ssnal *s = &m->s;
    mg_linear_solution *out = s->solution;
    const double scale = scale_of(s);
    for (int64_t j = 0; j < s->columns; j++)
        out->w[j] = scale * s->here.w[j];
    *out->b = scale * s->here.b;
    mg_ssnal_update(s, out->alpha);
    for (int64_t i = 0; i < s->samples; i++)
        out->alpha[i] *= s->c[i];
    m->best = expected_gap(m);
    m->share = m->best / objective_of(m);
}

/* Without a penalty the multipliers of the widest margin prove nothing about the loss, which is 0,
 * but they are what w is made of. */
static margin_status ssnal_prove(ssnal *m) {
    mg_ssnal *s = &m->s;
    mg_linear_solution *out = s->solution;
    const size_t bytes = (size_t)s->samples * sizeof *out->alpha;
    if (is_widest(m)) {
        memcpy(s->active_weights, out->alpha, bytes);
        memset(out->alpha, 0, bytes);
    }
    MG_TRY(mg_certify(s->objective, out, NULL, s->job->error));
    if (is_widest(m)) memcpy(out->alpha, s->active_weights, bytes);
    return MARGIN_OK;
}

/* Whether what is proven is what was asked for. */
static bool is_proven(const ssnal *m) {
    const double tolerance = m->s.job->tolerance;
    return m->s.solution->gap <= tolerance && (!is_widest(m) || m->share <= tolerance);
}

static margin_status ssnal_check(ssnal *m, bool *done) {
    mg_ssnal *s = &m->s;
    *done = false;
    mg_progress(s->job->context, "training", (double)s->solution->iterations, 0.0,
                (s->here.slackness + inner_gap(m)) / fmax(1.0, s->here.loss + s->here.penalty));
    if (!(expected_gap(m) <= m->strictness * goal_of(m))) return MARGIN_OK;
    ssnal_keep(m);
    MG_TRY(ssnal_prove(m));
    *done = is_proven(m);
    if (!*done) m->strictness *= 0.3;
    return MARGIN_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void ssnal_trace(const mg_ssnal *s) {
    mg_linear_trace(s->job, s->solution->iterations, s->here.w, &s->here.b,
                    s->here.loss + s->here.penalty, s->here.errors);
}

/* The constant is not optimal, or not soon seen to be. */
static margin_status give_up(ssnal *m, bool *restarted) {
    *restarted = true;
    m->is_constant = false;
    return mg_ssnal_start(&m->s);
}

/* Newton steps on F. *stop: the method is to end, with that status. *restarted: F is another one
 * now. */
static margin_status ssnal_minimise(ssnal *m, bool *done, bool *restarted, margin_status *stop) {
    static const double fall = 0.8; /* at least, of what the constant seems to lose */
    mg_ssnal *s = &m->s;
    double last = (double)INFINITY;
    for (int k = 0; k < MOST_INNER; k++) {
        bool moved;
        MG_TRY(ssnal_check(m, done));
        const double enough = fmax(inner_share * s->here.slackness, tolerance_share * goal_of(m));
        const bool ended = m->is_constant ? constant_is_best(m) : inner_gap(m) <= enough;
        if (*done || (k > 0 && ended)) return MARGIN_OK;
        *stop = mg_stop_check(&s->job->stop, s->solution->iterations);
        if (*stop != MARGIN_OK) return MARGIN_OK;
        if (m->is_constant && !(k < MOST_CONSTANT && (k < FIRST || excess(m) <= fall * last)))
            return give_up(m, restarted);
        last = excess(m);
        MG_TRY(mg_ssnal_direction(s));
        MG_TRY(mg_ssnal_step(s, &moved));
        if (!moved) return m->is_constant ? give_up(m, restarted) : MARGIN_OK;
        ssnal_trace(s);
        if (s->here.errors == 0 && !m->is_constant) MG_TRY(mg_ssnal_harden(s, restarted));
        if (*restarted) return MARGIN_OK;
    }
    return MARGIN_OK;
}

static margin_status next_round(ssnal *m) {
    mg_ssnal *s = &m->s;
    const double expected = expected_gap(m);
    m->idle = expected < 0.5 * m->best || s->sharpness < slow_below ? 0 : m->idle + 1;
    if (expected < m->best) ssnal_keep(m);
    mg_ssnal_update(s, s->multipliers);
    s->last_slope = 0.0;
    if (s->here.active > 2 * s->size)
        s->sharpness *= fmin(growth, (double)s->here.active / (double)s->size);
    else if (s->here.slackness > 0.25 * m->slackness)
        s->sharpness *= small_growth;
    m->slackness = s->here.slackness;
    if (s->mode == MG_SSNAL_FREE) mg_ssnal_soften(s);
    return mg_ssnal_pass(s, &s->here, false);
}

/* ---- End ------------------------------------------------------------------------------------- */

static void ssnal_explain(const ssnal *m) {
    mg_linear_solution *out = m->s.solution;
    const double norm = sqrt(m->s.vectors->square(out->w, m->s.columns));
    const mg_number_text width = mg_about(2.0 / norm), within = mg_number(m->s.job->tolerance);
    const size_t room = sizeof out->why;
    mg_explain_end(out->status, "steps", out->iterations, is_widest(m) ? m->share : out->gap,
                   m->s.job->tolerance, out->why, room);
    if (out->status == MARGIN_OK && is_widest(m))
        snprintf(out->why, room,
                 "the classes are separable, and with no price on w this is the widest margin "
                 "between them, %s across, within %s of the widest",
                 width.text, within.text);
    if (out->status == MARGIN_STOPPED_STALLED && m->s.mode == MG_SSNAL_FREE && out->primal > 0.0)
        snprintf(out->why, room,
                 "the classes are not separable, and without a penalty no bound of the least hinge "
                 "loss is known; give C a finite value");
}

static margin_status ssnal_end(ssnal *m, margin_status ended) {
    if (ended != MARGIN_OK) {
        if (expected_gap(m) < m->best || isinf(m->best)) ssnal_keep(m);
        MG_TRY(ssnal_prove(m));
    }
    m->s.solution->status = is_proven(m) ? MARGIN_OK : ended;
    ssnal_explain(m);
    return m->s.solution->status;
}

static margin_status ssnal_iterate(ssnal *m) {
    for (;;) {
        bool done = false, restarted = false;
        margin_status stop = MARGIN_OK;
        MG_TRY(ssnal_minimise(m, &done, &restarted, &stop));
        if (stop < 0) return mg_fail_cancelled(m->s.job->error);
        if (done || stop > 0) return ssnal_end(m, stop);
        if (m->is_constant && m->idle >= IDLE_ROUNDS) MG_TRY(give_up(m, &restarted));
        if (restarted) {
            m->best = m->slackness = (double)INFINITY;
            m->idle = 0;
            continue;
        }
        if (m->idle >= IDLE_ROUNDS) return ssnal_end(m, MARGIN_STOPPED_STALLED);
        MG_TRY(next_round(m));
    }
}

static margin_status ssnal_solve(mg_linear_job *job, mg_linear_solution *solution) {
    ssnal m = {.best = (double)INFINITY, .strictness = 0.95};
    MG_SCOPED_ARENA(arena, job->objective->design->heap);
    MG_TRY(mg_ssnal_begin(job, solution, &arena, &m.s));
    m.constant = mg_objective_constant(job->objective, &(double){0.0});
    MG_TRY(mg_ssnal_start_constant(&m.s, &m.is_constant));
    if (!m.is_constant) MG_TRY(mg_ssnal_start(&m.s));
    ssnal_trace(&m.s);
    return ssnal_iterate(&m);
}

const mg_linear_solver mg_solver_ssnal = {
    .name = "ssnal",
    .step_name = "Newton steps",
    .can = ssnal_can,
    .solve = ssnal_solve,
};
