/* How good a linear model provably is: a lower bound of the objective, by Fenchel duality.
 *
 * Every loss of one function satisfies loss(t) >= dual(u) - u t for all u, with equality where u =
 * -slope(t) (loss.h). With t_i = y_i f_i for losses of a margin (t_i = f_i - y_i otherwise),
 * alpha_i = c_i u_i and r_i = alpha_i y_i (alpha_i) it follows for every w and b that
 *
 *   P(w, b) >= sum_i c_i dual(u_i) [+ sum_i alpha_i y_i] - v.w - b s + rho/2 |w|^2 + kappa |w|_1
 *
 * where v = sum_i r_i a_i, and s = sum_i r_i must be 0 if b is free. The least value over w is
 *
 *   D = sum_i c_i dual(u_i) [+ sum_i alpha_i y_i] - sum_j max(|v_j| - kappa, 0)^2 / (2 rho)
 *
 * and for rho = 0 the last sum turns into the condition |v_j| <= kappa (Rockafellar, "Convex
 * Analysis", 1970, theorem 31.3). u = 0 is always feasible, so D = 0 is always to be had.
 *
 * Several functions: for every q in the simplex loss(f, y) >= (q - e_y) . f + dual(q)
 * (objective.h). With r_ik = c_i (q_ik - 1[y_i = k]), v and s of each function the same sums, and
 * the signs of v and s turned, all of this holds again; kappa is 0, and q = e_y has D = 0.
 *
 * Feasible points:
 * - s = 0, one function: for losses of a margin the class of the larger sum is scaled down to the
 *   other, which stays in the box; for the squared loss the weighted mean is taken off. Then, and
 *   with alpha = -c slope, the gap is |grad_w P|^2 / (2 rho) if the intercept is optimal and kappa
 *   = 0.
 * - s = 0, several: the shares of classes that have too much (sum_i c_i q_ik above the sum of c of
 *   the class) are scaled down to what they should have; what a sample loses thereby goes to the
 *   classes that have too little, in proportion to what they lack. Rows keep the sum 1, nothing
 *   becomes negative, and every class gets exactly what it lacked. Where that is enough each sample
 *   gives in proportion to q (1 - q_y): samples with q = e_y are no support vectors and do not
 *   become any, and rounding of s does not reach those that are all but settled, whose rows may be
 *   large. With q the probabilities the gap is then |grad_w P|^2 / (2 rho) up to s . b and what is
 *   of second order in s.
 * - rho = 0 < kappa: all of alpha times min(1, kappa / max |v_j|), for the squared loss the best
 *   factor in that range (El Ghaoui, Viallon, Rabbani, "Safe feature elimination for the LASSO",
 *   2012). With rho and kappa > 0 that, or the factor 1, whichever gives more.
 * - rho = kappa = 0: v must vanish, which no computed point obeys exactly; the bound is that of
 *   curvature_bound.c.
 *
 * Rounding is allowed for in verifications only (linear/verify). */
#include "linear/objective/coupled.h"
#include "linear/proof/goal.h"

#include <string.h>

typedef struct certificate certificate;

/* Samples [first, first + count). */
typedef void (*proof_visit)(const certificate *m, int64_t first, int64_t count, double *sums);

struct certificate {
    const mg_objective *o;
    proof_visit visit; /* of the walk at hand */
    const struct dual_set *set;
    double *point;     /* samples x functions: alpha, or the shares q */
    double *r;         /* samples x functions */
    double *v, *s;     /* functions x columns; functions */
    double *sums;      /* 2 functions: what a walk adds up */
    double *move;      /* 2 functions: what makes s = 0; of shares what part is taken off, and what
                          part of that goes to each class */
    bool spare;        /* samples give in proportion to q (1 - q_y), not to q */
    double factor;     /* alpha is to be multiplied by this */
    double dual, kept; /* the greatest D so far, and its factor */
    margin_error *error;
};

/* The dual points of one function, or of several. */
typedef struct dual_set {
    int64_t block_rows;
    proof_visit settle;              /* each sample becomes feasible; sums what balance needs */
    void (*balance)(certificate *m); /* finds the move from the sums */
    proof_visit finish;              /* makes the move, and r */
    proof_visit values;              /* sums to D without v: two numbers, c dual and alpha y */
} dual_set;

/* ---- One function: alpha / c in a box -------------------------------------------------------- */

static bool is_positive(const certificate *m, int64_t i) {
    return m->o->design->problem->sign[i] > 0;
}

/* Whether y_i = -1 turns the sign of what belongs to sample i. */
static bool turns(const certificate *m, int64_t i) {
    return m->o->loss->margin_based && !is_positive(m, i);
}

static double into_box(const certificate *m, int64_t i, double alpha) {
    const mg_loss *loss = m->o->loss;
    const double c = m->o->c[i], u = c > 0 && !isnan(alpha) ? alpha / c : 0;
    if (u < loss->dual_low) return c * loss->dual_low;
    if (u > loss->dual_high) return c * loss->dual_high;
    return u == 0 ? 0 : alpha;
}

/* Sums of alpha of the classes +1 and -1; or the sums of alpha and c. */
static void box_settle(const certificate *m, int64_t first, int64_t count, double *sums) {
    double part[2] = {0, 0};
    for (int64_t i = first; i < first + count; i++) {
        m->point[i] = into_box(m, i, m->point[i]);
        part[turns(m, i)] += m->point[i];
        if (!m->o->loss->margin_based) part[1] += m->o->c[i];
    }
    sums[0] += part[0];
    sums[1] += part[1];
}

/* The factors of the classes -1 and +1; or the mean. */
static void box_balance(certificate *m) {
    const bool classes = m->o->loss->margin_based;
    const double a = m->sums[0], b = m->sums[1];
    m->move[0] = m->move[1] = classes ? 1 : 0;
    if (!m->o->intercept) return;
    if (!classes)
        m->move[0] = a / b;
    else if (a > b)
        m->move[1] = b / a;
    else if (b > a)
        m->move[0] = a / b;
}

static void box_finish(const certificate *m, int64_t first, int64_t count, double *sums) {
    (void)sums;
    for (int64_t i = first; i < first + count; i++) {
        const double alpha = m->o->loss->margin_based ? m->point[i] * m->move[is_positive(m, i)]
                                                      : m->point[i] - m->move[0] * m->o->c[i];
        m->point[i] = into_box(m, i, alpha);
        m->r[i] = turns(m, i) ? -m->point[i] : m->point[i];
    }
}

static void box_values(const certificate *m, int64_t first, int64_t count, double *sums) {
    const mg_loss *loss = m->o->loss;
    const double *target = m->o->design->problem->target;
    double part[2] = {0, 0};
    for (int64_t i = first; i < first + count; i++) {
        const double c = m->o->c[i], alpha = m->factor * m->point[i];
        if (!(c > 0)) continue;
        /* rounding may have left the box */
        part[0] += c * loss->dual(fmin(fmax(alpha / c, loss->dual_low), loss->dual_high));
        if (!loss->margin_based) part[1] += alpha * target[i];
    }
    sums[0] += part[0];
    sums[1] += part[1];
}

static const dual_set box = {MG_BLOCK_ROWS, box_settle, box_balance, box_finish, box_values};

/* ---- Several functions: shares in a simplex -------------------------------------------------- */

static double others_of(const double *q, int64_t classes, int32_t own) {
    double sum = 0.0;
    for (int64_t k = 0; k < classes; k++)
        sum += k == own ? 0.0 : q[k];
    return sum;
}

/* Sums: what each class has too much, and what samples give of it. */
static void simplex_settle(const certificate *m, int64_t first, int64_t count, double *sums) {
    const int64_t classes = m->o->functions;
    for (int64_t i = first; i < first + count; i++) {
        const int32_t own = m->o->design->problem->code[i];
        double *q = m->point + i * classes, sum = 0.0;
        for (int64_t k = 0; k < classes; k++) {
            if (!(q[k] > 0.0)) q[k] = 0.0;
            sum += q[k];
        }
        if (!(sum > 0.0 && isfinite(sum))) {
            memset(q, 0, (size_t)classes * sizeof *q);
            q[own] = sum = 1.0;
        }
        for (int64_t k = 0; k < classes; k++)
            q[k] /= sum;
        const double others = others_of(q, classes, own);
        for (int64_t k = 0; k < classes; k++) {
            sums[classes + k] += m->o->c[i] * q[k] * others;
            sums[k] += m->o->c[i] * (k == own ? -others : q[k]); /* of c (q - e_y) */
        }
    }
}

static void simplex_balance(certificate *m) {
    const int64_t classes = m->o->functions;
    const double *excess = m->sums, *gives = excess + classes, *due = m->o->totals;
    double lacking = 0.0;
    m->spare = true;
    for (int64_t k = 0; k < classes; k++) {
        lacking += fmax(-excess[k], 0.0);
        m->spare &= gives[k] >= excess[k];
    }
    const bool moves = m->o->intercept && lacking > 0.0;
    for (int64_t k = 0; k < classes; k++) {
        const double from = m->spare ? gives[k] : due[k] + excess[k];
        m->move[k] = moves && excess[k] > 0.0 ? fmin(excess[k] / from, 1.0) : 0.0;
        m->move[classes + k] = moves ? fmax(-excess[k], 0.0) / lacking : 0.0;
    }
}

static void simplex_finish(const certificate *m, int64_t first, int64_t count, double *sums) {
    const int64_t classes = m->o->functions;
    (void)sums;
    for (int64_t i = first; i < first + count; i++) {
        const int32_t own = m->o->design->problem->code[i];
        double *q = m->point + i * classes, taken = 0.0;
        const double others = others_of(q, classes, own);
        for (int64_t k = 0; k < classes; k++) {
            const double given = q[k] * (m->spare ? others : 1.0) * m->move[k];
            taken += given;
            q[k] -= given;
        }
        for (int64_t k = 0; k < classes; k++)
            q[k] += taken * m->move[classes + k];
        mg_coupled_slopes(q, classes, own, m->o->c[i], m->r + i * classes);
    }
}

static void simplex_values(const certificate *m, int64_t first, int64_t count, double *sums) {
    const int64_t classes = m->o->functions;
    for (int64_t i = first; i < first + count; i++) {
        const int32_t own = m->o->design->problem->code[i];
        const double *q = m->point + i * classes;
        double value = 0.0, others = 0.0;
        for (int64_t k = 0; k < classes; k++) {
            if (k == own || !(q[k] > 0.0)) continue;
            others += q[k];
            value -= q[k] * log(q[k]);
        }
        if (m->o->loss->kind == MG_LOSS_CRAMMER_SINGER)
            value = others;
        else if (others < 1.0) /* q_own, whose rounding would hide how small the value is */
            value -= (1.0 - others) * log1p(-others);
        sums[0] += m->o->c[i] * value;
    }
}

static const dual_set simplex = {MG_BLOCK_ROWS / 4, simplex_settle, simplex_balance, simplex_finish,
                                 simplex_values};

/* ---- Walks ----------------------------------------------------------------------------------- */

static margin_status proof_add_block(void *state, const mg_block *block, void *argument) {
    const certificate *m = argument;
    m->visit(m, block->first, block->count, state);
    return MARGIN_OK;
}

static margin_status walk_samples(certificate *m, proof_visit visit) {
    m->visit = visit;
    return mg_sweep_sums(m->o->design->context, m->o->samples, m->set->block_rows,
                         2 * m->o->functions, 0, proof_add_block, m, m->sums, m->error);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* D at factor * the point, taking v and s for feasible; kept if it is a number and more. */
static margin_status try_factor(certificate *m, double factor) {
    const mg_penalty *penalty = &m->o->penalty;
    double square = 0;
    m->factor = factor;
    MG_TRY(walk_samples(m, m->set->values));
    for (int64_t j = 0; j < m->o->functions * m->o->columns && penalty->rho > 0; j++) {
        const double excess = fabs(factor * m->v[j]) - penalty->kappa;
        if (!(excess <= 0)) square += excess * excess;
    }
    const double taken = penalty->rho > 0 ? square / (2 * penalty->rho) : 0;
    const double dual = m->sums[0] + m->sums[1] - taken;
    if (!(dual > m->dual)) return MARGIN_OK;
    m->dual = dual;
    m->kept = factor;
    return MARGIN_OK;
}

static margin_status bound_penalised(certificate *m) {
    const double rho = m->o->penalty.rho, kappa = m->o->penalty.kappa;
    double most = 0;
    for (int64_t j = 0; j < m->o->functions * m->o->columns; j++)
        most = fmax(most, fabs(m->v[j]));
    const double limit = most > 0 ? kappa / most : (double)INFINITY;
    double factor = rho > 0 ? 1 : fmin(1, limit);
    if (rho == 0 && m->o->loss->kind == MG_LOSS_SQUARED) { /* D(x) = b x + a x^2, a <= 0 */
        m->factor = 1;
        MG_TRY(walk_samples(m, m->set->values));
        const double a = m->sums[0], b = m->sums[1];
        /* not far above 1: where alpha is what rounding left of 0, so is s */
        const double most_factor = fmin(limit, 1000);
        if (a < 0) factor = fmax(-most_factor, fmin(most_factor, -b / (2 * a)));
    }
    MG_TRY(try_factor(m, factor));
    return rho > 0 && kappa > 0 && limit < 1 ? try_factor(m, limit) : MARGIN_OK;
}

static margin_status bound(certificate *m, mg_linear_solution *at) {
    double above;
    MG_TRY(walk_samples(m, m->set->settle));
    m->set->balance(m);
    MG_TRY(walk_samples(m, m->set->finish));
    if (mg_is_unpenalised(m->o)) {
        MG_TRY(mg_bound_by_curvature(m->o, at, &above, m->error));
        m->dual = at->primal - above;
    } else {
        MG_TRY(mg_objective_gradient(m->o, m->r, m->v, m->s, m->error));
        MG_TRY(bound_penalised(m));
    }
    if (!(m->dual >= 0)) m->dual = m->kept = 0; /* u = 0, q = e_y */
    for (int64_t i = 0; i < m->o->samples && m->set == &box && m->kept != 1; i++)
        m->point[i] *= m->kept;
    return MARGIN_OK;
}

/* Never below 0; a value or bound beyond double precision proves nothing. */
static double gap_between(double value, double bound) {
    const double gap = (value - bound) / fmax(1, fabs(value));
    return isnan(gap) ? (double)INFINITY : fmax(gap, 0);
}

margin_status mg_certify(const mg_objective *o, mg_linear_solution *solution, const double *scores,
                         margin_error *error) {
    static const char purpose[] = "a proof of the optimum";
    const int64_t k = o->functions, numbers = o->samples * k;
    MG_SCOPED_ARENA(arena, o->design->heap);
    solution->accuracy = (double)NAN;
    certificate m = {.o = o,
                     .set = o->coupled ? &simplex : &box,
                     .point = o->coupled ? solution->shares : solution->alpha,
                     .dual = -(double)INFINITY,
                     .kept = 1,
                     .error = error};
    mg_loss_point point = {.known = scores};
    MG_TRY(MG_PIECES(&arena, purpose, error, MG_PIECE(m.r, numbers), MG_PIECE(m.v, k * o->columns),
                     MG_PIECE(m.s, k), MG_PIECE(m.sums, 2 * k), MG_PIECE(m.move, 2 * k)));
    if (!m.point) {
        MG_ARENA_NEW(&arena, m.point, numbers, purpose, error);
        *(o->coupled ? &point.shares : &point.slopes) = m.point;
    }
    MG_TRY(mg_objective_pass(o, solution->w, solution->b, &point, error));
    for (int64_t i = 0; point.slopes && i < o->samples; i++) /* these are in f, not in t */
        if (!turns(&m, i)) m.point[i] = -m.point[i];
    solution->primal = point.value;
    MG_TRY(bound(&m, solution));
    solution->dual = m.dual;
    solution->gap = gap_between(point.value, m.dual);
    return MARGIN_OK;
}
