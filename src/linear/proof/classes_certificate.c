/* How good a model of several classes provably is: a lower bound of its objective, by duality.
 *
 * For every q in the simplex loss(f, y) >= (q - e_y) . f + dual(q) (objective.h). With v_k =
 * sum_i c_i (q_ik - 1[y_i = k]) a_i and s_k the same sum without a_i it follows that
 *
 *   P(W, b) >= sum_i c_i dual(q_i) + sum_k (w_k . v_k + b_k s_k) + rho/2 |W|^2
 *
 * where s must be 0 if b is free. The least value over W is D = sum_i c_i dual(q_i) -
 * |v|^2 / (2 rho).
 *
 * s = 0: the shares of classes that have too much (sum_i c_i q_ik above the sum of c of the class)
 * are scaled down to what they should have; what a sample loses thereby goes to the classes that
 * have too little, in proportion to what they lack. Rows keep the sum 1, nothing becomes negative,
 * and every class gets exactly what it lacked. Samples with q = e_y stay as they are where the
 * others have enough to give: they are no support vectors and are not to become any. With q the
 * probabilities the gap is then |grad_W P|^2 / (2 rho) up to s . b and what is of second order in
 * s. */
#include "linear/proof/classes_certificate.h"
#include "linear/proof/certificate.h"
#include "linear/proof/curvature_bound.h"
#include "linear/proof/goal.h"

#include <math.h>
#include <string.h>

static const char purpose[] = "a proof of the optimum";

/* ---- Walks over the shares ------------------------------------------------------------------- */

/* What a walk adds up: `classes` numbers, and as many again. */
typedef void (*of_sample)(mg_classes_proof *proof, int64_t i, double *q, double *sums);

typedef struct share_walk {
    mg_classes_proof *proof;
    of_sample visit;
} share_walk;

static int64_t sum_count(const mg_classes_proof *proof) {
    return 2 * proof->o->functions;
}

static void start_sums(void *state, void *argument) {
    const share_walk *walk = argument;
    memset(state, 0, (size_t)sum_count(walk->proof) * sizeof(double));
}

static void merge_sums(void *into, const void *from, void *argument) {
    const share_walk *walk = argument;
    for (int64_t k = 0; k < sum_count(walk->proof); k++)
        ((double *)into)[k] += ((const double *)from)[k];
}

static margin_status add_block(void *state, const mg_block *block, void *argument) {
    const share_walk *walk = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        walk->visit(walk->proof, i, walk->proof->shares + i * walk->proof->o->functions, state);
    return MARGIN_OK;
}

/* sums: 2 classes numbers */
static margin_status walk_shares(mg_classes_proof *proof, of_sample visit, double *sums) {
    const mg_accumulator accumulator = {.state_size = sum_count(proof) * (int64_t)sizeof(double),
                                        .init = start_sums,
                                        .add = add_block,
                                        .merge = merge_sums};
    share_walk walk = {proof, visit};
    return mg_sweep(proof->o->design->context, proof->o->samples, 1024, &accumulator, &walk, sums,
                    proof->error);
}

/* ---- Feasible shares ------------------------------------------------------------------------- */

/* Sums: what each class has, in all samples and in those that are divided among classes. */
static void settle_sample(mg_classes_proof *proof, int64_t i, double *q, double *sums) {
    const int64_t classes = proof->o->functions;
    const int32_t own = proof->o->design->problem->code[i];
    double sum = 0.0;
    for (int64_t k = 0; k < classes; k++) {
        if (!(q[k] > 0.0)) q[k] = 0.0;
        sum += q[k];
    }
    if (!(sum > 0.0 && isfinite(sum))) {
        memset(q, 0, (size_t)classes * sizeof *q);
        q[own] = sum = 1.0;
    }
    const bool divided = q[own] / sum < 1.0;
    for (int64_t k = 0; k < classes; k++) {
        q[k] /= sum;
        sums[k] += proof->o->c[i] * q[k];
        if (divided) sums[classes + k] += proof->o->c[i] * q[k];
    }
}

static void move_shares(mg_classes_proof *proof, int64_t i, double *q, double *sums) {
    double taken = 0.0;
    (void)sums;
    if (proof->spare_settled && q[proof->o->design->problem->code[i]] >= 1.0) return;
    for (int64_t k = 0; k < proof->o->functions; k++) {
        const double rest = q[k] * proof->factor[k];
        taken += q[k] - rest;
        q[k] = rest;
    }
    for (int64_t k = 0; k < proof->o->functions; k++)
        q[k] += taken * proof->need[k];
}

/* Makes s = 0; `has`: the sums of settle_sample. */
static margin_status balance(mg_classes_proof *proof, double *has) {
    const mg_objective *o = proof->o;
    const double *divided = has + o->functions;
    double lacking = 0.0;
    proof->spare_settled = true;
    for (int64_t k = 0; k < o->functions; k++) {
        lacking += fmax(o->totals[k] - has[k], 0.0);
        proof->spare_settled &= divided[k] >= has[k] - o->totals[k];
    }
    if (!(lacking > 0.0)) return MARGIN_OK;
    for (int64_t k = 0; k < o->functions; k++) {
        const double excess = fmax(has[k] - o->totals[k], 0.0);
        const double from = proof->spare_settled ? divided[k] : has[k];
        proof->factor[k] = excess > 0.0 ? fmax(1.0 - excess / from, 0.0) : 1.0;
        proof->need[k] = fmax(o->totals[k] - has[k], 0.0) / lacking;
    }
    return walk_shares(proof, move_shares, has);
}

margin_status mg_classes_settle(mg_classes_proof *proof) {
    const mg_objective *o = proof->o;
    double *has;
    MG_NEW(o->design->heap, has, sum_count(proof), purpose, proof->error);
    margin_status status = walk_shares(proof, settle_sample, has);
    if (status >= 0 && o->intercept) status = balance(proof, has);
    mg_free(o->design->heap, has);
    return status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void dual_of_sample(mg_classes_proof *proof, int64_t i, double *q, double *sums) {
    const mg_objective *o = proof->o;
    const int32_t own = o->design->problem->code[i];
    double value = 0.0;
    for (int64_t k = 0; k < o->functions; k++) {
        if (o->loss->kind == MG_LOSS_CRAMMER_SINGER)
            value += k == own ? 0.0 : q[k];
        else if (q[k] > 0.0)
            value -= q[k] * log(q[k]);
    }
    sums[o->functions] += o->c[i] * value;
}

margin_status mg_classes_sums(mg_classes_proof *proof) {
    MG_TRY(mg_objective_residuals(proof->o, proof->shares, proof->residuals, proof->error));
    return mg_objective_gradient(proof->o, proof->residuals, proof->v, proof->s, proof->error);
}

margin_status mg_classes_dual(mg_classes_proof *proof, double *dual) {
    const mg_objective *o = proof->o;
    const double rho = o->penalty.rho;
    double *sums, taken = 0.0;
    MG_NEW(o->design->heap, sums, sum_count(proof), purpose, proof->error);
    const margin_status status = walk_shares(proof, dual_of_sample, sums);
    for (int64_t j = 0; j < o->functions * o->columns && rho > 0.0; j++)
        taken += proof->v[j] * proof->v[j] / (2.0 * rho);
    *dual = sums[o->functions] - taken;
    if (isnan(*dual)) *dual = -(double)INFINITY;
    mg_free(o->design->heap, sums);
    return status;
}

static margin_status bound(mg_classes_proof *proof, double primal, double *dual) {
    double above;
    if (proof->o->penalty.rho > 0.0) {
        MG_TRY(mg_classes_settle(proof));
        MG_TRY(mg_classes_sums(proof));
        MG_TRY(mg_classes_dual(proof, dual));
    } else {
        MG_TRY(mg_bound_by_curvature(proof->o, proof->solution, &above, proof->error));
        *dual = primal - above;
    }
    if (!(*dual >= 0.0)) *dual = 0.0; /* q = e_y */
    return MARGIN_OK;
}

margin_status mg_certify_classes(const mg_objective *o, mg_linear_solution *solution,
                                 margin_error *error) {
    mg_heap *heap = o->design->heap;
    const int64_t numbers = o->samples * o->functions, own = solution->shares ? 0 : numbers;
    double *memory = NULL, dual = 0.0;
    mg_classes_proof proof = {.o = o, .solution = solution, .error = error};
    mg_loss_point point = {0};
    margin_status status;
    MG_GO_NEW(heap, memory, own + numbers + o->functions * (o->columns + 3), purpose, error);
    proof.shares = own ? memory : solution->shares;
    proof.residuals = memory + own;
    proof.v = proof.residuals + numbers;
    proof.s = proof.v + o->functions * o->columns;
    proof.factor = proof.s + o->functions;
    proof.need = proof.factor + o->functions;
    if (own) point.shares = proof.shares;
    MG_GO(mg_objective_pass(o, solution->w, solution->b, &point, error));
    MG_GO(bound(&proof, point.value, &dual));
    solution->primal = point.value;
    solution->dual = dual;
    solution->gap = mg_proof_gap(point.value, dual);
done:
    mg_free(heap, memory);
    return status;
}
