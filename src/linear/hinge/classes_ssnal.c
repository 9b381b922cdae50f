/* Semismooth Newton on the augmented Lagrangian, for the hinge of Crammer and Singer: what
 * solver_ssnal.c does for two classes. For problems that are too hard for coordinate descent
 * (crammer_singer.c).
 *
 *   given    P(W, b) = sum_i c_i (max_k g_ik - f_iy) + rho/2 |W|^2 with g_ik = 1[k != y] + f_ik;
 *            multipliers u_i in the simplex, at first e_y; sharpness s
 *   repeat   (W, b) = nearly where F is least, by Newton's method:
 *              F = sum_i c_i (q_i . g_i - |q_i - u_i|^2 / (2 s) - f_iy) + rho/2 |W|^2
 *              with q_i the point of the simplex next to u_i + s g_i
 *            u = q; s grows
 *   until    the shares q prove P to be within the tolerance
 *
 * F is P with its corners rounded off over a width of 1/s. Its derivative in f_i is c_i (q_i -
 * e_y), and that of q_i is s (diag 1_A - 1_A 1_A' / |A|) with A the classes of q_ik > 0: the
 * Hessian of a softmax with equal probabilities 1/|A| times s |A|, which is what
 * mg_classes_newton_make makes. Rows with one class in A have no curvature and cost nothing. */
#include "linear/hinge/classes_ssnal.h"

#include "linear/dual/crammer_singer.h"
#include "linear/proof/classes_certificate.h"
#include "linear/proof/end_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { IDLE_ROUNDS = 12, MOST_INNER = 60, MOST_LOOKS = 60, MOST_SHARES = 8000000 };
/* As in ssnal.c and solver_ssnal.c. */
static const double armijo = 1e-4, rounding = 1e-13, flatter = 0.9, still_steep = 0.5, flat = 0.1;
static const double growth = 10.0, small_growth = 3.0, first_sharpness = 0.3, hold = 1e4;
static const double slow_below = 0.3, inner_share = 0.1, tolerance_share = 0.2;
static const double rounding_of_terms = 1e-12, longest = 1048576.0, shorter = 1e-2;

static const char purpose[] = "the state of a solver";

typedef struct place {
    double *w, *b;            /* classes x columns; classes */
    double *scores, *shares;  /* samples x classes: f, q */
    double *gradient, *sums;  /* classes x columns, classes: of F */
    double value, loss;       /* F; the loss of P */
    double slackness, remain; /* parts of the gap: of the multipliers, and of the gradient */
    int64_t active;           /* rows with curvature */
} place;

typedef struct newton {
    const mg_linear_job *job;
    mg_linear_solution *solution;
    const mg_objective *o;
    mg_arena arena;
    int64_t classes, columns, samples;
    double rho, sharpness;
    double *centre, *factor; /* columns: coordinates */
    double *multipliers;     /* samples x classes: u */
    double *equal, *bend;    /* samples x classes: 1_A / |A|; samples: c s |A| */
    double *least;           /* classes: curvature that an intercept has at least */
    double *raw, *move,
        *push; /* a step: minus the gradient, the change of W and b, of the scores */
    place here, there;
    double slope, along, square; /* of F along the step; rho W.move and rho |move|^2 */
    double best, slackness, strictness;
    int64_t idle;
} newton;

bool mg_classes_ssnal_can(const mg_objective *o) {
    return mg_classes_newton_can(o) && o->penalty.rho > 0.0 &&
           o->samples <= MOST_SHARES / o->functions;
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* g, and q, of a sample whose scores are f. */
static void find_shares(const newton *m, int64_t i, const double *f, double *g, double *q) {
    const int32_t own = m->o->design->problem->code[i];
    const double *u = m->multipliers + i * m->classes;
    double greatest = -(double)INFINITY;
    for (int64_t k = 0; k < m->classes; k++) {
        g[k] = f[k] + (k == own ? 0.0 : 1.0);
        greatest = fmax(greatest, u[k] + m->sharpness * g[k]);
    }
    for (int64_t k = 0; k < m->classes; k++)
        q[k] = fmax(u[k] + m->sharpness * g[k] - greatest, -2.0);
    mg_project_simplex(q, m->classes);
}

static void add_sample(const newton *m, int64_t i, place *at, double *g) {
    const int32_t own = m->o->design->problem->code[i];
    const double *u = m->multipliers + i * m->classes, *f = at->scores + i * m->classes;
    double *q = at->shares + i * m->classes, most = -(double)INFINITY;
    double below = 0.0, bent = 0.0, over = 0.0;
    int64_t held = 0;
    find_shares(m, i, f, g, q);
    for (int64_t k = 0; k < m->classes; k++)
        most = fmax(most, g[k]);
    for (int64_t k = 0; k < m->classes; k++) { /* differences, so that shares next to 0 count */
        below += q[k] * (most - g[k]);
        over += k == own ? 0.0 : q[k] * (g[k] - g[own]);
        bent += (q[k] - u[k]) * (q[k] - u[k]);
        held += q[k] > 0.0;
    }
    at->loss += m->o->c[i] * (most - f[own]);
    at->slackness += m->o->c[i] * below;
    at->value += m->o->c[i] * (over - bent / (2.0 * m->sharpness));
    at->active += held > 1;
}

/* What the gradient leaves of the gap: classes_certificate.c. */
static double remain_of(const newton *m, const place *at) {
    double total = 0.0, sum = 0.0;
    for (int64_t i = 0; i < m->samples; i++)
        for (int64_t k = 0; k < m->classes; k++)
            total += k == m->o->design->problem->code[i]
                         ? 0.0
                         : m->o->c[i] * at->shares[i * m->classes + k];
    for (int64_t k = 0; k < m->classes; k++) {
        double middle = at->b[k];
        for (int64_t j = 0; j < m->columns; j++) {
            const double w = at->w[k * m->columns + j];
            const double g = at->gradient[k * m->columns + j] - m->centre[j] * at->sums[k];
            const double rms = hypot(m->centre[j], 1.0 / m->factor[j]);
            const double plain = 0.5 * g * g / m->rho;
            middle += m->centre[j] * w;
            if (!(m->factor[j] > 0.0)) continue;
            sum += fabs(g) <= rounding_of_terms * total * rms
                       ? fmin(plain, fabs(g) * (2.0 * fabs(w) + 1.0 / rms))
                       : plain;
        }
        sum += fabs(at->sums[k]) * (1.0 + fabs(middle));
    }
    return sum;
}

static margin_status evaluate(newton *m, place *at) {
    const int64_t count = m->classes * m->columns;
    const double penalty = mg_objective_penalty(m->o, at->w);
    MG_TRY(mg_objective_scores(m->o, at->w, at->b, at->scores, m->job->error));
    at->value = at->loss = at->slackness = 0.0;
    at->active = 0;
    for (int64_t i = 0; i < m->samples; i++)
        add_sample(m, i, at, m->least);
    MG_TRY(mg_objective_residuals(m->o, at->shares, m->equal, m->job->error));
    MG_TRY(mg_objective_gradient(m->o, m->equal, at->gradient, at->sums, m->job->error));
    for (int64_t j = 0; j < count; j++)
        at->gradient[j] += m->rho * at->w[j];
    for (int64_t k = 0; k < m->classes && !m->o->intercept; k++)
        at->sums[k] = 0.0;
    at->value += penalty;
    at->remain = remain_of(m, at);
    m->solution->passes += 2;
    return MARGIN_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static margin_status find_direction(newton *m) {
    const place *at = &m->here;
    const int64_t count = m->classes * m->columns;
    mg_classes_newton matrix;
    for (int64_t i = 0; i < m->samples; i++) {
        const double *q = at->shares + i * m->classes;
        double held = 0.0;
        for (int64_t k = 0; k < m->classes; k++)
            held += q[k] > 0.0;
        for (int64_t k = 0; k < m->classes; k++)
            m->equal[i * m->classes + k] = q[k] > 0.0 ? 1.0 / held : 0.0;
        m->bend[i] = held > 1.0 ? m->o->c[i] * m->sharpness * held : 0.0;
    }
    for (int64_t k = 0; k < m->classes; k++)
        m->least[k] = fabs(at->sums[k]);
    const mg_classes_curvature curvature = {m->equal, m->bend, m->rho, m->least};
    MG_TRY(mg_classes_newton_make(m->o, &curvature, &matrix, m->job->error));
    for (int64_t j = 0; j < count; j++)
        m->raw[j] = -at->gradient[j];
    for (int64_t k = 0; k < m->classes; k++)
        m->raw[count + k] = -at->sums[k];
    double *intercepts = m->move + count + m->classes; /* coordinates reach that far */
    mg_classes_newton_solve(m->o, &matrix, m->raw, m->raw + count, m->move, intercepts);
    mg_classes_newton_free(&matrix);
    memcpy(m->move + count, intercepts, (size_t)m->classes * sizeof *intercepts);
    mg_objective_centre(m->o, m->move, m->move + count);
    m->slope = m->along = m->square = 0.0;
    for (int64_t j = 0; j < count + m->classes; j++)
        m->slope -= m->raw[j] * m->move[j];
    for (int64_t j = 0; j < count; j++) {
        m->along += m->rho * at->w[j] * m->move[j];
        m->square += m->rho * m->move[j] * m->move[j];
    }
    return MARGIN_OK;
}

/* Slope and curvature of F at here + t move, along it. */
static void look(const newton *m, double t, double *slope, double *curvature) {
    double *f = m->least, *q = f + m->classes, *g = q + m->classes;
    *slope = m->along + t * m->square;
    *curvature = m->square;
    for (int64_t i = 0; i < m->samples; i++) {
        const double *change = m->push + i * m->classes, *from = m->here.scores + i * m->classes;
        const int32_t own = m->o->design->problem->code[i];
        double mean = 0.0, sum = 0.0, square = 0.0, held = 0.0;
        for (int64_t k = 0; k < m->classes; k++)
            f[k] = from[k] + t * change[k];
        find_shares(m, i, f, g, q);
        for (int64_t k = 0; k < m->classes; k++) {
            const double own_change = change[k] - change[own];
            mean += q[k] * own_change;
            if (!(q[k] > 0.0)) continue;
            held += 1.0;
            sum += own_change;
            square += own_change * own_change;
        }
        *slope += m->o->c[i] * mean;
        *curvature += m->o->c[i] * m->sharpness * fmax(square - sum * sum / held, 0.0);
    }
}

/* The best length of the step. */
static double find_length(const newton *m) {
    double low = 0.0, high = (double)INFINITY, t = 1.0, slope, curvature;
    for (int looks = 0; looks < MOST_LOOKS; looks++) {
        look(m, t, &slope, &curvature);
        if (fabs(slope) <= flat * fabs(m->slope)) return t;
        *(slope < 0.0 ? &low : &high) = t;
        if (low >= longest || high - low <= 1e-12 * high) break;
        const double next = t - slope / curvature;
        if (isinf(high))
            t = fmax(1.5 * t, fmin(next, 16.0 * t));
        else
            t = next > low && next < high ? next : low > 0.0 ? 0.5 * (low + high) : shorter * high;
    }
    return low > 0.0 ? low : t;
}

static margin_status try_step(newton *m, double t) {
    const int64_t count = m->classes * m->columns;
    for (int64_t j = 0; j < count; j++)
        m->there.w[j] = m->here.w[j] + t * m->move[j];
    for (int64_t k = 0; k < m->classes; k++)
        m->there.b[k] = m->here.b[k] + t * m->move[count + k];
    return evaluate(m, &m->there);
}

static double slope_there(const newton *m) {
    const int64_t count = m->classes * m->columns;
    double slope = 0.0;
    for (int64_t j = 0; j < count; j++)
        slope += m->there.gradient[j] * m->move[j];
    for (int64_t k = 0; k < m->classes; k++)
        slope += m->there.sums[k] * m->move[count + k];
    return slope;
}

static bool leads_down(const newton *m, double t) {
    const double change = m->there.value - m->here.value;
    if (change <= armijo * t * m->slope) return true;
    return change <= rounding * fabs(m->here.loss) &&
           fabs(slope_there(m)) <= flatter * fabs(m->slope);
}

static margin_status trace(const newton *m) {
    int64_t errors = 0;
    for (int64_t i = 0; i < m->samples && m->job->trace; i++) {
        const double *f = m->here.scores + i * m->classes;
        const int32_t own = m->o->design->problem->code[i];
        bool wrong = false;
        for (int64_t k = 0; k < m->classes; k++)
            wrong |= k != own && !(f[own] > f[k]);
        errors += wrong;
    }
    mg_linear_trace(m->job, m->solution->iterations, m->here.w, m->here.b,
                    m->here.loss + mg_objective_penalty(m->o, m->here.w), errors);
    return MARGIN_OK;
}

static margin_status step(newton *m, bool *moved) {
    *moved = false;
    MG_TRY(find_direction(m));
    if (!(m->slope < 0.0)) return MARGIN_OK;
    MG_TRY(mg_objective_scores(m->o, m->move, m->move + m->classes * m->columns, m->push,
                               m->job->error));
    m->solution->passes++;
    MG_TRY(try_step(m, 1.0));
    if (!leads_down(m, 1.0) || slope_there(m) < still_steep * m->slope) {
        const double t = find_length(m);
        MG_TRY(try_step(m, t));
        if (!leads_down(m, t)) return MARGIN_OK;
    }
    const place here = m->here;
    m->here = m->there;
    m->there = here;
    m->solution->iterations++;
    *moved = true;
    return trace(m);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static double expected_gap(const newton *m) {
    return m->here.slackness + m->here.remain;
}

static double goal_of(const newton *m) {
    return m->job->tolerance * fmax(1.0, m->here.loss + mg_objective_penalty(m->o, m->here.w));
}

/* The solution becomes that of `here`. */
static void keep(newton *m) {
    mg_linear_solution *out = m->solution;
    memcpy(out->w, m->here.w, (size_t)(m->classes * m->columns) * sizeof *out->w);
    memcpy(out->b, m->here.b, (size_t)m->classes * sizeof *out->b);
    memcpy(out->shares, m->here.shares, (size_t)(m->samples * m->classes) * sizeof *out->shares);
    mg_objective_centre(m->o, out->w, out->b);
    m->best = expected_gap(m);
}

static margin_status prove(newton *m) {
    m->solution->passes += 2;
    return mg_certify(m->o, m->solution, m->job->error);
}

static margin_status check(newton *m, bool *done) {
    *done = false;
    mg_progress(m->o->design->context, "training", (double)m->solution->iterations, 0.0,
                expected_gap(m) / fmax(1.0, m->here.loss));
    if (!(expected_gap(m) <= m->strictness * goal_of(m))) return MARGIN_OK;
    keep(m);
    MG_TRY(prove(m));
    *done = m->solution->gap <= m->job->tolerance;
    if (!*done) m->strictness *= 0.3;
    return MARGIN_OK;
}

static margin_status minimise(newton *m, bool *done, margin_status *stop) {
    for (int inner = 0; inner < MOST_INNER; inner++) {
        bool moved;
        MG_TRY(check(m, done));
        const double enough = fmax(inner_share * m->here.slackness, tolerance_share * goal_of(m));
        if (*done || (inner > 0 && m->here.remain <= enough)) return MARGIN_OK;
        *stop = mg_stop_check(&m->job->stop, m->solution->iterations);
        if (*stop != MARGIN_OK) return MARGIN_OK;
        MG_TRY(step(m, &moved));
        if (!moved) return MARGIN_OK;
    }
    return MARGIN_OK;
}

static margin_status next_round(newton *m) {
    const double expected = expected_gap(m);
    const int64_t size = (m->classes - 1) * (m->columns + 1);
    m->idle = expected < 0.5 * m->best || m->sharpness < slow_below ? 0 : m->idle + 1;
    if (expected < m->best) keep(m);
    memcpy(m->multipliers, m->here.shares,
           (size_t)(m->samples * m->classes) * sizeof *m->multipliers);
    if (m->here.active > 2 * size)
        m->sharpness *= fmin(growth, (double)m->here.active / (double)size);
    else if (m->here.slackness > 0.25 * m->slackness)
        m->sharpness *= small_growth;
    m->slackness = m->here.slackness;
    return evaluate(m, &m->here);
}

static margin_status end(newton *m, int64_t before, margin_status ended) {
    mg_linear_solution *out = m->solution;
    const mg_number_text tolerance = mg_number(m->job->tolerance);
    const long long walks = (long long)before, steps = (long long)(out->iterations - before);
    const size_t room = sizeof out->why;
    if (ended != MARGIN_OK) {
        if (expected_gap(m) < m->best || isinf(m->best)) keep(m);
        MG_TRY(prove(m));
    }
    const mg_number_text gap = mg_number(out->gap);
    out->status = out->gap <= m->job->tolerance ? MARGIN_OK : ended;
    if (out->status == MARGIN_OK)
        snprintf(out->why, room,
                 "the gap is proven, by %lld steps of semismooth Newton as coordinate descent got "
                 "too slow after %lld walks",
                 steps, walks);
    else if (!mg_explain_limit(ended, "steps", out->iterations, out->gap, out->why, room))
        snprintf(out->why, room,
                 "rounding ends progress at a gap of %s, above tol=%s, after %lld walks of "
                 "coordinate descent and %lld steps of semismooth Newton: ask for less, give C a "
                 "smaller value, or bring the columns to one scale (standardize | ...)",
                 gap.text, tolerance.text, walks, steps);
    return out->status;
}

/* ---- The method ------------------------------------------------------------------------------ */

/* As in ssnal.c: less than the first one where few rows would hold W. */
static double start_sharpness(const newton *m) {
    double boxes = 0.0, logs = 0.0, columns = 0.0;
    for (int64_t i = 0; i < m->samples; i++)
        boxes += m->o->c[i];
    for (int64_t j = 0; j < m->columns; j++) {
        if (!(m->factor[j] > 0.0)) continue;
        logs -= log(m->factor[j] * m->factor[j] * m->rho);
        columns += 1.0;
    }
    return columns > 0.0 ? fmin(first_sharpness, hold / (boxes * exp(logs / columns)))
                         : first_sharpness;
}

static margin_status begin(newton *m) {
    const int64_t weights = m->classes * (m->columns + 1), shares = m->samples * m->classes;
    const int64_t padding = m->classes;
    const int64_t numbers = 2 * m->columns + 7 * shares + m->samples + 3 * m->classes +
                            4 * weights + 2 * (weights + padding);
    double *at = mg_arena_new(&m->arena, numbers, sizeof *at);
    if (!at) return mg_no_memory(m->o->design->heap, numbers, sizeof *at, purpose, m->job->error);
    memset(at, 0, (size_t)numbers * sizeof *at);
    double **const of_shares[] = {&m->multipliers, &m->equal,       &m->push,
                                  &m->here.scores, &m->here.shares, &m->there.scores,
                                  &m->there.shares};
    double **const of_weights[] = {&m->here.w, &m->there.w, &m->here.gradient, &m->there.gradient};
    for (int k = 0; k < MG_LENGTH(of_shares); k++, at += shares)
        *of_shares[k] = at;
    for (int k = 0; k < MG_LENGTH(of_weights); k++, at += weights)
        *of_weights[k] = at;
    m->raw = at;
    m->move = m->raw + weights + padding;
    m->bend = m->move + weights + padding;
    m->least = m->bend + m->samples;
    m->centre = m->least + 3 * m->classes;
    m->factor = m->centre + m->columns;
    m->here.b = m->here.w + m->classes * m->columns;
    m->there.b = m->there.w + m->classes * m->columns;
    m->here.sums = m->here.gradient + m->classes * m->columns;
    m->there.sums = m->there.gradient + m->classes * m->columns;
    for (int64_t i = 0; i < m->samples; i++)
        m->multipliers[i * m->classes + m->o->design->problem->code[i]] = 1.0;
    MG_TRY(
        mg_design_coordinates(m->o->design, m->o->intercept, m->centre, m->factor, m->job->error));
    m->sharpness = start_sharpness(m);
    return evaluate(m, &m->here);
}

static margin_status iterate(newton *m) {
    const int64_t before = m->solution->iterations;
    for (;;) {
        bool done = false;
        margin_status stop = MARGIN_OK;
        MG_TRY(minimise(m, &done, &stop));
        if (stop < 0) return mg_fail_cancelled(m->job->error);
        if (done || stop > 0) return end(m, before, stop);
        if (m->idle >= IDLE_ROUNDS) return end(m, before, MARGIN_STOPPED_STALLED);
        MG_TRY(next_round(m));
    }
}

margin_status mg_classes_ssnal(const mg_linear_job *job, mg_linear_solution *solution) {
    const mg_objective *o = job->objective;
    newton m = {.job = job,
                .solution = solution,
                .o = o,
                .classes = o->functions,
                .columns = o->columns,
                .samples = o->samples,
                .rho = o->penalty.rho,
                .best = (double)INFINITY,
                .slackness = (double)INFINITY,
                .strictness = 0.95};
    mg_arena_init(&m.arena, o->design->heap);
    margin_status status = begin(&m);
    if (status >= 0) status = iterate(&m);
    mg_arena_free(&m.arena);
    return status;
}
