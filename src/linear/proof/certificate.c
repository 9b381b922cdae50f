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
 * - rho = kappa = 0: v must vanish, which no computed alpha obeys exactly; the bound is that of
 *   curvature_bound.c.
 *
 * Rounding is allowed for in verifications only (linear/verify). */
#include "linear/proof/certificate.h"

#include "linear/proof/classes_certificate.h"
#include "linear/proof/curvature_bound.h"
#include "linear/proof/goal.h"

#include <math.h>

static const char purpose[] = "a proof of the optimum";

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

margin_status mg_proof_dual(mg_proof *proof, double factor, double *dual) {
    const mg_penalty *penalty = &proof->objective->penalty;
    double square = 0;
    mg_proof_sums total;
    proof->factor = factor;
    MG_TRY(mg_proof_sum(proof, dual_range, &total));
    for (int64_t j = 0; j < proof->design->columns && penalty->rho > 0; j++) {
        const double excess = fmax(fabs(factor * proof->v[j]) - penalty->kappa, 0);
        square += excess * excess;
    }
    *dual = total.a + total.b - (penalty->rho > 0 ? square / (2 * penalty->rho) : 0);
    if (isnan(*dual)) *dual = -(double)INFINITY;
    return MARGIN_OK;
}

/* ---- Bounds ---- */

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

static margin_status bound_unpenalised(mg_proof *proof, double *dual) {
    double above;
    MG_TRY(mg_bound_by_curvature(proof->objective, proof->solution, &above, proof->error));
    *dual = proof->solution->primal - above;
    return MARGIN_OK;
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
        MG_TRY(bound_unpenalised(proof, dual));
    if (!(*dual >= 0)) *dual = factor = 0; /* u = 0 */
    proof->factor = factor;
    if (factor != 1) MG_TRY(mg_proof_sum(proof, scale_range, &none));
    proof->factor = 1;
    return MARGIN_OK;
}

double mg_proof_gap(double primal, double dual) {
    return fmax((primal - dual) / fmax(1, fabs(primal)), 0);
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
    double *memory = NULL, dual = 0;
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
    solution->gap = mg_proof_gap(point.value, dual);
done:
    mg_free(d->heap, memory);
    return status;
}
