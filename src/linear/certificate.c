/* How good a linear model provably is: a lower bound of the objective, by Fenchel duality.
 *
 * Every loss satisfies loss(t) >= dual(u) - u t for all u, with equality where u = -slope(t)
 * (loss.h). With t_i = y_i f_i for losses of a margin (t_i = f_i - y_i otherwise), alpha_i = c_i
 * u_i and v = sum_i alpha_i y_i a_i (sum_i alpha_i a_i) it follows for every w and b that
 *
 *   P(w, b) >= sum_i c_i dual(u_i) [+ sum_i alpha_i y_i] - v.w - b s + rho/2 |w|^2 + kappa |w|_1
 *
 * where s = sum_i alpha_i y_i (sum_i alpha_i) must be 0 if b is free. The least value over w is
 *
 *   D = sum_i c_i dual(u_i) [+ sum_i alpha_i y_i] - sum_j max(|v_j| - kappa, 0)^2 / (2 rho)
 *
 * and for rho = 0 the last sum turns into the condition |v_j| <= kappa (Rockafellar, "Convex
 * Analysis", 1970, theorem 31.3). u = 0 is always feasible, so D = 0 is always to be had.
 *
 * Feasible points:
 * - sum 0: for losses of a margin the class of the larger sum is scaled down to the other, which
 *   stays in the box; for the squared loss the weighted mean is taken off. Then, and with
 *   alpha = -c slope, the gap is |grad_w P|^2 / (2 rho) if the intercept is optimal and kappa = 0.
 * - rho = 0 < kappa: all of alpha times min(1, kappa / max |v_j|), for the squared loss the best
 *   factor in that range (El Ghaoui, Viallon, Rabbani, "Safe feature elimination", 2012).
 * - rho = kappa = 0: one Newton step in the dual: alpha_i y_i -= h_i (a_i, 1).g with h_i = c_i
 *   curvature(t_i) and (sum_i h_i (a_i, 1)(a_i, 1)') g = (v, s) makes v and s vanish; for the
 *   squared loss this is the projection. It is repeated while rounding or a box is in the way. What
 *   remains of v and s is charged to D as 2 sum |v_j w_j| + 2 |s b|, so that D bounds P wherever
 *   the weights are at most twice these. */
#include "linear/objective.h"

#include "math/cholesky.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PROJECTED = 4096, /* columns for which the matrix of the Newton step is made */
    MOST_ROUNDS = 8
}; /* of it */

typedef struct proof {
    const mg_objective *objective;
    const mg_linear_solution *solution;
    mg_design *design;
    double *alpha;          /* samples */
    double *r;              /* samples: alpha_i y_i (or alpha_i) */
    double *v;              /* columns */
    double s;               /* see above */
    double factor;          /* alpha is to be multiplied by this */
    double class_factor[2]; /* of the classes -1 and +1 */
    double mean;            /* to be taken off u */
    margin_error *error;
} proof;

/* ---- Sums over samples ----------------------------------------------------------------------- */

typedef struct sums {
    double a, b;
} sums;
typedef sums (*range_sums)(const proof *p, int64_t first, int64_t count);

typedef struct sum_job {
    const proof *p;
    range_sums of_range;
} sum_job;

static void start_sums(void *state, void *argument) {
    (void)argument;
    *(sums *)state = (sums){0, 0};
}

static margin_status add_range(void *state, const mg_block *block, void *argument) {
    const sum_job *job = argument;
    sums *total = state;
    const sums part = job->of_range(job->p, block->first, block->count);
    total->a += part.a;
    total->b += part.b;
    return MARGIN_OK;
}

static void merge_sums(void *into, const void *from, void *argument) {
    (void)argument;
    ((sums *)into)->a += ((const sums *)from)->a;
    ((sums *)into)->b += ((const sums *)from)->b;
}

static margin_status sum_samples(const proof *p, range_sums of_range, sums *total) {
    static const mg_accumulator steps = {
        .state_size = sizeof(sums), .init = start_sums, .add = add_range, .merge = merge_sums};
    sum_job job = {p, of_range};
    return mg_sweep(p->design->context, p->design->samples, MG_BLOCK_ROWS, &steps, &job, total,
                    p->error);
}

static bool is_positive(const proof *p, int64_t i) {
    return p->design->problem->sign[i] > 0;
}

/* The dual variables into their box; r. */
static sums clip_range(const proof *p, int64_t first, int64_t count) {
    const mg_loss *loss = p->objective->loss;
    sums changed = {0, 0};
    for (int64_t i = first; i < first + count; i++) {
        const double c = p->objective->c[i], u = c > 0 ? p->alpha[i] / c : 0;
        const double inside = fmin(fmax(u, loss->dual_low), loss->dual_high);
        if (inside != u || c == 0) {
            changed.a += fabs(p->alpha[i] - c * inside);
            p->alpha[i] = c * inside;
        }
        p->r[i] = loss->margin_based && !is_positive(p, i) ? -p->alpha[i] : p->alpha[i];
    }
    return changed;
}

/* Class sums of alpha; or the sums of alpha and c. */
static sums balance_range(const proof *p, int64_t first, int64_t count) {
    sums part = {0, 0};
    if (!p->objective->loss->margin_based) {
        for (int64_t i = first; i < first + count; i++) {
            part.a += p->alpha[i];
            part.b += p->objective->c[i];
        }
        return part;
    }
    for (int64_t i = first; i < first + count; i++)
        *(is_positive(p, i) ? &part.a : &part.b) += p->alpha[i];
    return part;
}

static sums rescale_range(const proof *p, int64_t first, int64_t count) {
    const bool classes = p->objective->loss->margin_based;
    for (int64_t i = first; i < first + count; i++) {
        p->alpha[i] -= p->mean * p->objective->c[i];
        if (classes) p->alpha[i] *= p->class_factor[is_positive(p, i)];
        p->r[i] = classes && !is_positive(p, i) ? -p->alpha[i] : p->alpha[i];
    }
    return (sums){0, 0};
}

/* sum c dual(u), and sum alpha y for residuals, with alpha times the factor. */
static sums dual_range(const proof *p, int64_t first, int64_t count) {
    const mg_loss *loss = p->objective->loss;
    const double *target = p->design->problem->target;
    sums part = {0, 0};
    for (int64_t i = first; i < first + count; i++) {
        const double c = p->objective->c[i], alpha = p->factor * p->alpha[i];
        if (c == 0) continue;
        const double u = fmin(fmax(alpha / c, loss->dual_low), loss->dual_high); /* rounding */
        part.a += c * loss->dual(u);
        if (!loss->margin_based) part.b += alpha * target[i];
    }
    return part;
}

static sums scale_range(const proof *p, int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; i++)
        p->alpha[i] *= p->factor;
    return (sums){0, 0};
}

/* ---- Feasible points --------------------------------------------------------------------------*/

/* Makes s = 0. */
static margin_status balance(proof *p) {
    sums total;
    if (!p->objective->intercept) return MARGIN_OK;
    MG_TRY(sum_samples(p, balance_range, &total));
    p->mean = 0;
    p->class_factor[0] = p->class_factor[1] = 1;
    if (!p->objective->loss->margin_based)
        p->mean = total.a / total.b;
    else if (total.a > total.b)
        p->class_factor[1] = total.b / total.a;
    else if (total.b > total.a)
        p->class_factor[0] = total.a / total.b;
    return sum_samples(p, rescale_range, &total);
}

static margin_status add_up(proof *p) {
    return mg_design_gradient(p->design, p->r, p->v, &p->s, p->error);
}

static double greatest(const double *v, int64_t count) {
    double most = 0;
    for (int64_t j = 0; j < count; j++)
        most = fmax(most, fabs(v[j]));
    return most;
}

/* D at factor * alpha; -inf where that is not feasible. */
static margin_status dual_value(proof *p, double factor, double *dual) {
    const mg_penalty *penalty = &p->objective->penalty;
    double excess_square = 0;
    sums total;
    p->factor = factor;
    MG_TRY(sum_samples(p, dual_range, &total));
    *dual = total.a + total.b;
    for (int64_t j = 0; j < p->design->columns; j++) {
        const double excess = fmax(fabs(factor * p->v[j]) - penalty->kappa, 0);
        excess_square += excess * excess;
    }
    if (penalty->rho > 0) *dual -= excess_square / (2 * penalty->rho);
    if (isnan(*dual)) *dual = -(double)INFINITY;
    return MARGIN_OK;
}

/* What v and s that should be 0 may cost. */
static double slack(const proof *p) {
    double sum = p->objective->intercept ? fabs(p->s * p->solution->b) : 0;
    for (int64_t j = 0; j < p->design->columns; j++)
        sum += fabs(p->v[j] * p->solution->w[j]);
    return 2 * sum;
}

/* ---- No penalty: the Newton step --------------------------------------------------------------*/

typedef struct newton_step {
    int64_t size;
    double *curvatures; /* samples */
    double *matrix;     /* size x size: the factor, of the matrix with a diagonal of about 1 */
    double *scale, *g;  /* size */
    double *scores;     /* samples */
} newton_step;

/* The factor; with a small multiple of the identity, so that dependent columns do no harm. */
static margin_status factor_matrix(proof *p, newton_step *step, int64_t *failed) {
    const int64_t n = step->size;
    const mg_gram_request request = {.weights = step->curvatures};
    double *a = step->matrix;
    MG_TRY(mg_design_gram(p->design, &request, a, p->error));
    if (!p->objective->intercept) {
        for (int64_t j = 0; j < n; j++)
            a[(n - 1) * n + j] = 0;
    }
    for (int64_t j = 0; j < n; j++)
        step->scale[j] = a[j * n + j] > 0 ? 1 / sqrt(a[j * n + j]) : 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] *= step->scale[i] * step->scale[j];
        a[i * n + i] = 1 + 1e-10;
    }
    return mg_cholesky_factor(p->design->context, n, a, n, failed, p->error);
}

static margin_status correct(proof *p, newton_step *step) {
    const int64_t n = step->size;
    mg_design *d = p->design;
    for (int64_t j = 0; j < n - 1; j++)
        step->g[j] = p->v[j] * step->scale[j];
    step->g[n - 1] = p->s * step->scale[n - 1];
    mg_cholesky_solve(d->isa, n, step->matrix, n, step->g);
    for (int64_t j = 0; j < n; j++)
        step->g[j] *= step->scale[j];
    MG_TRY(mg_design_scores(d, step->g, p->objective->intercept ? step->g[n - 1] : 0, step->scores,
                            p->error));
    for (int64_t i = 0; i < d->samples; i++) {
        const double change = step->curvatures[i] * step->scores[i];
        p->alpha[i] -= p->objective->loss->margin_based && !is_positive(p, i) ? -change : change;
    }
    return MARGIN_OK;
}

/* Corrects until what is left costs no more than `enough`, or no longer falls. */
static margin_status correct_all(proof *p, newton_step *step, double enough) {
    double before = (double)INFINITY, left = slack(p);
    sums total;
    for (int round = 0; round < MOST_ROUNDS && left > enough && left < 0.5 * before; round++) {
        before = left;
        MG_TRY(correct(p, step));
        MG_TRY(sum_samples(p, clip_range, &total));
        MG_TRY(add_up(p));
        left = slack(p);
    }
    return MARGIN_OK;
}

static margin_status project(proof *p, double enough) {
    mg_design *d = p->design;
    newton_step step = {.size = d->columns + 1};
    const int64_t n = step.size;
    mg_loss_point point = {0};
    int64_t failed = 0;
    margin_status status = MARGIN_OK;
    if (!p->objective->loss->curved || d->columns > MOST_PROJECTED) return MARGIN_OK;
    MG_GO_NEW(d->heap, step.curvatures, 2 * d->samples, "a proof of the optimum", p->error);
    MG_GO_NEW(d->heap, step.matrix, n * (n + 2), "a proof of the optimum", p->error);
    step.scores = step.curvatures + d->samples;
    step.scale = step.matrix + n * n;
    step.g = step.scale + n;
    point.curvatures = step.curvatures;
    MG_GO(mg_design_loss(d, p->objective->loss, p->solution->w, p->solution->b, p->objective->c,
                         &point, p->error));
    MG_GO(factor_matrix(p, &step, &failed));
    if (failed == 0) status = correct_all(p, &step, enough);
done:
    mg_free(d->heap, step.curvatures);
    mg_free(d->heap, step.matrix);
    return status;
}

/* ---- The three cases --------------------------------------------------------------------------*/

static margin_status bound_ridge(proof *p, double *dual, double *factor) {
    const double most = greatest(p->v, p->design->columns), kappa = p->objective->penalty.kappa;
    MG_TRY(dual_value(p, 1, dual));
    *factor = 1;
    if (!(kappa > 0 && most > kappa)) return MARGIN_OK;
    double scaled;
    MG_TRY(dual_value(p, kappa / most, &scaled));
    if (scaled > *dual) {
        *dual = scaled;
        *factor = kappa / most;
    }
    return MARGIN_OK;
}

static margin_status bound_lasso(proof *p, double *dual, double *factor) {
    const double kappa = p->objective->penalty.kappa, most = greatest(p->v, p->design->columns);
    const double limit = most > 0 ? kappa / most : (double)INFINITY;
    *factor = fmin(1, limit);
    if (p->objective->loss->kind == MG_LOSS_SQUARED) { /* D = linear x - square x^2 */
        sums total;
        p->factor = 1;
        MG_TRY(sum_samples(p, dual_range, &total));
        if (total.a < 0) *factor = fmax(-limit, fmin(limit, -total.b / (2 * total.a)));
    }
    return dual_value(p, *factor, dual);
}

static margin_status bound_free(proof *p, double *dual, double *factor) {
    const double enough = 1e-13 * fabs(p->solution->primal);
    if (slack(p) > enough) MG_TRY(project(p, enough));
    *factor = 1;
    MG_TRY(dual_value(p, 1, dual));
    *dual -= slack(p);
    return MARGIN_OK;
}

static margin_status bound(proof *p, double *dual) {
    const mg_penalty *penalty = &p->objective->penalty;
    double factor = 1;
    sums total;
    MG_TRY(sum_samples(p, clip_range, &total));
    MG_TRY(balance(p));
    MG_TRY(add_up(p));
    if (penalty->rho > 0)
        MG_TRY(bound_ridge(p, dual, &factor));
    else if (penalty->kappa > 0)
        MG_TRY(bound_lasso(p, dual, &factor));
    else
        MG_TRY(bound_free(p, dual, &factor));
    if (!(*dual >= 0)) *dual = factor = 0; /* u = 0 */
    p->factor = factor;
    return factor == 1 ? MARGIN_OK : sum_samples(p, scale_range, &total);
}

margin_status mg_certify(const mg_objective *objective, mg_linear_solution *solution,
                         margin_error *error) {
    mg_design *d = objective->design;
    const int64_t own = solution->alpha ? 0 : d->samples;
    double *memory = NULL, dual = 0;
    proof p = {.objective = objective, .solution = solution, .design = d, .error = error};
    mg_loss_point point = {0};
    margin_status status;
    MG_GO_NEW(d->heap, memory, own + d->samples + d->columns, "a proof of the optimum", error);
    p.v = memory + own + d->samples;
    p.r = memory + own;
    p.alpha = own ? memory : solution->alpha;
    if (own) point.slopes = p.alpha;
    MG_GO(mg_objective_pass(objective, solution->w, solution->b, &point, error));
    for (int64_t i = 0; i < own; i++) /* these are the slopes in f, not in t */
        if (!objective->loss->margin_based || is_positive(&p, i)) p.alpha[i] = -p.alpha[i];
    solution->primal = point.value;
    MG_GO(bound(&p, &dual));
    solution->dual = dual;
    solution->gap = (point.value - dual) / fmax(1, fabs(point.value));
done:
    mg_free(d->heap, memory);
    return status;
}
