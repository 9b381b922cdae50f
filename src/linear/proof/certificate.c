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
 * - s = 0: for losses of a margin the class of the larger sum is scaled down to the other, which
 *   stays in the box; for the squared loss the weighted mean is taken off. Then, and with
 *   alpha = -c slope, the gap is |grad_w P|^2 / (2 rho) if the intercept is optimal and kappa = 0.
 * - rho = 0 < kappa: all of alpha times min(1, kappa / max |v_j|), for the squared loss the best
 *   factor in that range (El Ghaoui, Viallon, Rabbani, "Safe feature elimination for the LASSO",
 *   2012). With rho and kappa > 0 that, or the factor 1, whichever gives more.
 * - rho = kappa = 0: certificate_free.c.
 *
 * Rounding of v. Where columns are large and the penalty is small, v_j cannot be brought as near to
 * rho w_j + kappa sign(w_j) as the square asks for: alpha has no digits for it, though numbers next
 * to it would do. Where v_j is that but for rounding of its terms, D takes the least value over
 * |w_j| <= 2 |w_j of the model| + 1/rms_j in place of all w_j, as certificate_free.c does.
 *
 * P and D are sums in double precision of terms that may cancel: scores of |b| + sum_j |w_j| |a_ij|
 * and gradients of sum_i |alpha_i| |a_ij|. What their rounding may hide, or nearly so, is added to
 * the gap where it is above 1e-12: where columns are far from 0 beside their deviation, mostly. */
#include "linear/proof/certificate.h"
#include "linear/proof/classes_certificate.h"

#include <float.h>
#include <math.h>

static const char purpose[] = "a proof of the optimum";
/* What rounding may leave of 0, relative to the terms. */
static const double rounding = 1e-12;
static const double seen = 1e-12; /* what verifications allow for anyhow is left out */

/* ---- Sums over samples ----------------------------------------------------------------------- */

typedef struct sum_job {
    const mg_proof *proof;
    mg_proof_range of_range;
} sum_job;

static void start_sums(void *state, void *argument) {
    (void)argument;
    *(mg_proof_sums *)state = (mg_proof_sums){0, 0};
}

static void merge_sums(void *into, const void *from, void *argument) {
    (void)argument;
    ((mg_proof_sums *)into)->a += ((const mg_proof_sums *)from)->a;
    ((mg_proof_sums *)into)->b += ((const mg_proof_sums *)from)->b;
}

static margin_status add_range(void *state, const mg_block *block, void *argument) {
    const sum_job *job = argument;
    const mg_proof_sums part = job->of_range(job->proof, block->first, block->count);
    merge_sums(state, &part, argument);
    return MARGIN_OK;
}

margin_status mg_proof_sum(const mg_proof *proof, mg_proof_range of_range, mg_proof_sums *total) {
    static const mg_accumulator steps = {.state_size = sizeof(mg_proof_sums),
                                         .init = start_sums,
                                         .add = add_range,
                                         .merge = merge_sums};
    sum_job job = {proof, of_range};
    return mg_sweep(proof->design->context, proof->design->samples, MG_BLOCK_ROWS, &steps, &job,
                    total, proof->error);
}

/* ---- Dual variables -------------------------------------------------------------------------- */

static mg_proof_sums clip_range(const mg_proof *proof, int64_t first, int64_t count) {
    const mg_loss *loss = proof->objective->loss;
    for (int64_t i = first; i < first + count; i++) {
        const double c = proof->objective->c[i], alpha = proof->alpha[i];
        /* a NaN becomes 0 */
        const double u = c > 0 && !isnan(alpha) ? alpha / c : 0;
        if (u < loss->dual_low)
            proof->alpha[i] = c * loss->dual_low;
        else if (u > loss->dual_high)
            proof->alpha[i] = c * loss->dual_high;
        else if (u == 0)
            proof->alpha[i] = 0;
        proof->r[i] = mg_proof_turns(proof, i) ? -proof->alpha[i] : proof->alpha[i];
    }
    return (mg_proof_sums){0, 0};
}

margin_status mg_proof_settle(mg_proof *proof) {
    mg_proof_sums none;
    MG_TRY(mg_proof_sum(proof, clip_range, &none));
    return mg_design_gradient(proof->design, proof->r, proof->v, &proof->s, proof->error);
}

/* Sums of alpha of the classes +1 and -1; or the sums of alpha and c. */
static mg_proof_sums balance_range(const mg_proof *proof, int64_t first, int64_t count) {
    mg_proof_sums part = {0, 0};
    if (proof->objective->loss->margin_based) {
        for (int64_t i = first; i < first + count; i++)
            *(mg_proof_is_positive(proof, i) ? &part.a : &part.b) += proof->alpha[i];
    } else {
        for (int64_t i = first; i < first + count; i++) {
            part.a += proof->alpha[i];
            part.b += proof->objective->c[i];
        }
    }
    return part;
}

static mg_proof_sums rescale_range(const mg_proof *proof, int64_t first, int64_t count) {
    const bool classes = proof->objective->loss->margin_based;
    for (int64_t i = first; i < first + count; i++) {
        proof->alpha[i] -= proof->mean * proof->objective->c[i];
        if (classes) proof->alpha[i] *= proof->class_factor[mg_proof_is_positive(proof, i)];
    }
    return (mg_proof_sums){0, 0};
}

/* Makes s = 0 by the simple means above. */
static margin_status balance(mg_proof *proof) {
    mg_proof_sums total;
    MG_TRY(mg_proof_sum(proof, clip_range, &total));
    if (!proof->objective->intercept) return MARGIN_OK;
    MG_TRY(mg_proof_sum(proof, balance_range, &total));
    proof->mean = 0;
    proof->class_factor[0] = proof->class_factor[1] = 1;
    if (!proof->objective->loss->margin_based)
        proof->mean = total.a / total.b;
    else if (total.a > total.b)
        proof->class_factor[1] = total.b / total.a;
    else if (total.b > total.a)
        proof->class_factor[0] = total.a / total.b;
    return mg_proof_sum(proof, rescale_range, &total);
}

static mg_proof_sums scale_range(const mg_proof *proof, int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; i++)
        proof->alpha[i] *= proof->factor;
    return (mg_proof_sums){0, 0};
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* sum c dual(u), and sum alpha y for residuals, with alpha times the factor. */
static mg_proof_sums dual_range(const mg_proof *proof, int64_t first, int64_t count) {
    const mg_loss *loss = proof->objective->loss;
    const double *target = proof->design->problem->target;
    mg_proof_sums part = {0, 0};
    for (int64_t i = first; i < first + count; i++) {
        const double c = proof->objective->c[i], alpha = proof->factor * proof->alpha[i];
        if (!(c > 0)) continue;
        /* rounding may have left the box */
        part.a += c * loss->dual(fmin(fmax(alpha / c, loss->dual_low), loss->dual_high));
        if (!loss->margin_based) part.b += alpha * target[i];
    }
    return part;
}

/* The greatest value of excess x - rho x^2 / 2 where 0 <= x <= box: what a column takes off. */
static double charge(double excess, double rho, double box) {
    if (!(excess > 0)) return 0;
    if (rho > 0 && excess <= rho * box) return excess * excess / (2 * rho);
    return box * (excess - rho / 2 * box);
}

margin_status mg_proof_dual(mg_proof *proof, double factor, double *dual) {
    const mg_penalty *penalty = &proof->objective->penalty;
    const bool free = !(penalty->rho > 0) && !proof->box; /* feasible, says the caller */
    double charges = 0;
    mg_proof_sums total;
    proof->factor = factor;
    MG_TRY(mg_proof_sum(proof, dual_range, &total));
    for (int64_t j = 0; j < proof->design->columns && !free; j++)
        charges += charge(fabs(factor * proof->v[j]) - penalty->kappa, penalty->rho,
                          proof->box ? proof->box[j] : (double)INFINITY);
    *dual = total.a + total.b - charges;
    if (isnan(*dual)) *dual = -(double)INFINITY;
    return MARGIN_OK;
}

/* ---- Rounding of v --------------------------------------------------------------------------- */

/* Sums of |alpha| and of c. */
static mg_proof_sums absolute_range(const mg_proof *proof, int64_t first, int64_t count) {
    mg_proof_sums part = {0, 0};
    for (int64_t i = first; i < first + count; i++) {
        part.a += fabs(proof->alpha[i]);
        part.b += proof->objective->c[i];
    }
    return part;
}

/* How far v_j is from what it should be. */
static double distance(const mg_proof *proof, int64_t j) {
    const mg_penalty *penalty = &proof->objective->penalty;
    const double w = proof->solution->w[j], v = proof->v[j];
    if (w == 0) return fmax(fabs(v) - penalty->kappa, 0);
    return fabs(v - penalty->rho * w - copysign(penalty->kappa, w));
}

/* A box only matters where |v_j| - kappa > rho box_j, so that the distance is above rho / rms_j;
 * and it is one where that is at most rounding * total * rms_j. No rms_j is above the limit. */
static bool may_box(const mg_proof *proof, double total) {
    const double limit = mg_design_row_limit(proof->design);
    return !(2 * rounding * total * limit * limit < proof->objective->penalty.rho);
}

/* A bound of its own where boxes help: *dual and *factor become those, if better. */
static margin_status bound_in_boxes(mg_proof *proof, double *dual, double *factor) {
    mg_design *d = proof->design;
    const double primal = proof->solution->primal;
    double *mean = NULL, *rms, boxed;
    mg_proof_sums total;
    margin_status status;
    if (primal - *dual <= proof->solution->tolerance * fmax(1, fabs(primal))) return MARGIN_OK;
    MG_GO(mg_proof_sum(proof, absolute_range, &total));
    if (!may_box(proof, total.a)) return MARGIN_OK;
    MG_GO_NEW(d->heap, mean, 2 * d->columns, purpose, proof->error);
    rms = mean + d->columns;
    MG_GO(mg_design_moments(d, false, mean, rms, proof->error));
    for (int64_t j = 0; j < d->columns; j++) {
        rms[j] = hypot(mean[j], rms[j]);
        mean[j] = distance(proof, j) <= rounding * total.a * rms[j]
                      ? 2 * fabs(proof->solution->w[j]) + 1 / rms[j]
                      : (double)INFINITY;
    }
    proof->box = mean;
    MG_GO(mg_proof_dual(proof, 1, &boxed));
    if (boxed > *dual) {
        *dual = boxed;
        *factor = 1;
    }
done:
    proof->box = NULL;
    mg_free(d->heap, mean);
    return status;
}

static double greatest(const double *v, int64_t count) {
    double most = 0;
    for (int64_t j = 0; j < count; j++)
        most = fmax(most, fabs(v[j]));
    return most;
}

static margin_status bound_ridge(mg_proof *proof, double *dual, double *factor) {
    const double most = greatest(proof->v, proof->design->columns);
    const double kappa = proof->objective->penalty.kappa;
    double scaled;
    *factor = 1;
    MG_TRY(mg_proof_dual(proof, 1, dual));
    if (!(kappa > 0 && most > kappa)) return MARGIN_OK;
    MG_TRY(mg_proof_dual(proof, kappa / most, &scaled));
    if (scaled > *dual) {
        *dual = scaled;
        *factor = kappa / most;
    }
    return MARGIN_OK;
}

static margin_status bound_lasso(mg_proof *proof, double *dual, double *factor) {
    const double most = greatest(proof->v, proof->design->columns);
    const double kappa = proof->objective->penalty.kappa;
    const double limit = most > 0 ? kappa / most : (double)INFINITY;
    *factor = fmin(1, limit);
    if (proof->objective->loss->kind == MG_LOSS_SQUARED) { /* D(x) = b x + a x^2, a <= 0 */
        mg_proof_sums total;
        proof->factor = 1;
        MG_TRY(mg_proof_sum(proof, dual_range, &total));
        /* not far above 1: where alpha is what rounding left of 0, so is s */
        const double most_factor = fmin(limit, 1000);
        if (total.a < 0) *factor = fmax(-most_factor, fmin(most_factor, -total.b / (2 * total.a)));
    }
    return mg_proof_dual(proof, *factor, dual);
}

static margin_status bound(mg_proof *proof, double *dual) {
    const mg_penalty *penalty = &proof->objective->penalty;
    double factor = 1;
    mg_proof_sums none;
    MG_TRY(balance(proof));
    MG_TRY(mg_proof_settle(proof));
    if (penalty->rho > 0)
        MG_TRY(bound_ridge(proof, dual, &factor));
    else if (penalty->kappa > 0)
        MG_TRY(bound_lasso(proof, dual, &factor));
    else
        MG_TRY(mg_proof_bound_free(proof, dual));
    if (penalty->rho > 0 || penalty->kappa > 0) MG_TRY(bound_in_boxes(proof, dual, &factor));
    if (!(*dual >= 0)) *dual = factor = 0; /* u = 0 */
    proof->factor = factor;
    if (factor != 1) MG_TRY(mg_proof_sum(proof, scale_range, &none));
    proof->factor = 1;
    return MARGIN_OK;
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* How far the terms of a score are from 0: of the columns as they are seen, and of the columns as
 * they are stored, where shifts cancel. */
static margin_status score_terms(const mg_proof *proof, double *terms) {
    mg_design *d = proof->design;
    const mg_linear_solution *solution = proof->solution;
    double *mean;
    MG_NEW(d->heap, mean, 2 * d->columns, purpose, proof->error);
    const margin_status status = mg_design_moments(d, false, mean, mean + d->columns, proof->error);
    *terms = fabs(*solution->b);
    for (int64_t j = 0; j < d->columns && status >= 0; j++) {
        double size = hypot(mean[j], mean[d->columns + j]);
        if (d->shift) size += 2 * fabs(d->shift[j]);
        if (solution->w[j] != 0) *terms += fabs(solution->w[j]) * size;
    }
    mg_free(d->heap, mean);
    return status;
}

/* At least as much, for less. */
static double score_terms_limit(const mg_proof *proof) {
    const double limit = mg_design_row_limit(proof->design);
    double square = 0;
    for (int64_t j = 0; j < proof->design->columns && isfinite(limit); j++)
        square += proof->solution->w[j] * proof->solution->w[j];
    return fabs(*proof->solution->b) + sqrt(square) * limit;
}

/* What rounding may hide in P - D. */
static margin_status rounding_of(const mg_proof *proof, double *hidden) {
    static const double units = 4 * DBL_EPSILON;
    const double bend = proof->objective->loss->curvature_bound;
    const double size = fmax(1, fabs(proof->solution->primal));
    mg_proof_sums weights;
    double terms = score_terms_limit(proof);
    MG_TRY(mg_proof_sum(proof, absolute_range, &weights));
    for (int turn = 0; turn < 2; turn++) {
        if (turn) MG_TRY(score_terms(proof, &terms));
        *hidden = units * terms * weights.a;
        if (isfinite(bend)) *hidden += bend / 2 * weights.b * (units * terms) * (units * terms);
        if (*hidden < 0.5 * seen * size) break; /* however little it is */
    }
    return MARGIN_OK;
}

double mg_proof_gap(double primal, double dual, double hidden) {
    const double size = fmax(1, fabs(primal)), gap = fmax((primal - dual) / size, 0);
    return hidden > seen * size ? gap + hidden / size : gap;
}

margin_status mg_certify(const mg_objective *objective, mg_linear_solution *solution,
                         margin_error *error) {
    return objective->coupled ? mg_certify_classes(objective, solution, error)
                              : mg_certify_scored(objective, solution, NULL, error);
}

margin_status mg_certify_scored(const mg_objective *objective, mg_linear_solution *solution,
                                const double *scores, margin_error *error) {
    mg_design *d = objective->design;
    const int64_t own = solution->alpha ? 0 : d->samples;
    double *memory = NULL, dual = 0, hidden = 0;
    mg_proof proof = {.objective = objective, .solution = solution, .design = d, .error = error};
    mg_loss_point point = {.known = scores};
    margin_status status;
    MG_GO_NEW(d->heap, memory, own + d->samples + d->columns, purpose, error);
    proof.alpha = own ? memory : solution->alpha;
    proof.r = memory + own;
    proof.v = proof.r + d->samples;
    if (own) point.slopes = proof.alpha;
    MG_GO(mg_objective_pass(objective, solution->w, solution->b, &point, error));
    for (int64_t i = 0; i < own; i++) /* these are the slopes in f, not in t */
        if (!mg_proof_turns(&proof, i)) proof.alpha[i] = -proof.alpha[i];
    solution->primal = point.value;
    MG_GO(bound(&proof, &dual));
    solution->dual = dual;
    MG_GO(rounding_of(&proof, &hidden));
    solution->gap = mg_proof_gap(point.value, dual, hidden);
done:
    mg_free(d->heap, memory);
    return status;
}
