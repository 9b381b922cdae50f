/* Each fold's penalties one after the other on the products of its columns, from where the last one
 * ended. With the loss divided by twice its factor and v = A'C(y - Aw - b) the penalty is
 * rho/2 |w|^2 + kappa |w|_1, and what the products miss of their sums moves v_j by no more than
 *
 *   3 u length_j (length_y + sum_k length_k |w_k|)        u: rounding of a sum
 *
 * by which much v is taken to be farther from what it should be. */
#include "linear/folds/folds.h"

#include "linear/objective/quadratic.h"
#include "linear/proof/goal.h"

#include <string.h>

static const double sum_rounding = 16 * 0x1p-52;

typedef struct lasso_fold {
    mg_fold_system s;
    mg_quadratic q;
    mg_stop stop;
    double *lambda, *diagonal; /* columns; of the matrix without a penalty */
    double rho, kappa;         /* of the penalty at hand */
} lasso_fold;

/* ---- The proof ------------------------------------------------------------------------------- */

/* r = (G + rho I) w - slope, afresh. */
static void find_slopes(lasso_fold *fold) {
    mg_quadratic *q = &fold->q;
    const mg_vector_ops *ops = mg_vector_ops_for(q->isa);
    for (int64_t j = 0; j < q->count; j++)
        q->r[j] = -fold->s.slope[j];
    for (int64_t j = 0; j < q->count; j++)
        if (q->u[j] != 0.0) ops->add(q->r, q->u[j], q->h + j * q->stride, q->count);
}

/* The gap at the dual point that the residuals make; *value: of the objective. */
static double fold_gap(const lasso_fold *fold, double *value) {
    const mg_quadratic *q = &fold->q;
    mg_l1_gap gap = {.rho = fold->rho, .kappa = fold->kappa};
    double length = fold->s.length[q->count], square = fold->s.square;
    for (int64_t j = 0; j < q->count; j++)
        length += fold->s.length[j] * fabs(q->u[j]);
    const double error = 3.0 * sum_rounding * length;
    for (int64_t j = 0; j < q->count; j++) {
        const double w = q->u[j], v = fold->rho * w - q->r[j];
        square -= w * (fold->s.slope[j] + v);
        mg_l1_gap_add(&gap, w, v, fold->s.length[j] * error);
    }
    const double loss = (fmax(square, 0.0) + error * length) / 2.0;
    *value = loss + gap.penalty;
    return mg_l1_gap_of(&gap, loss);
}

/* ---- Penalties ------------------------------------------------------------------------------- */

static void set_penalty(lasso_fold *fold, const mg_penalty *penalty) {
    const double unit = 1.0 / (2.0 * penalty->factor);
    const int64_t n = fold->q.count;
    fold->rho = penalty->rho * unit;
    fold->kappa = penalty->kappa * unit;
    for (int64_t j = 0; j < n; j++) {
        fold->lambda[j] = fold->kappa;
        fold->s.matrix[j * n + j] = fold->diagonal[j] + fold->rho;
    }
    find_slopes(fold);
}

static margin_status solve_penalty(lasso_fold *fold, const mg_linear_options *o, mg_fit *fit) {
    enum { MOST_TRIES = 4 };
    const int64_t n = fold->q.count;
    const double unit = 2.0 * o->penalty.factor, constant = unit * fold->s.square / 2.0;
    double tolerance = o->tolerance, gap = 0.0, value;
    set_penalty(fold, &o->penalty);
    for (int k = 0;; k++, tolerance *= 0.03) {
        MG_TRY(mg_quadratic_solve(&fold->q, tolerance));
        find_slopes(fold);
        gap = unit * fold_gap(fold, &value);
        value *= unit;
        if (gap <= mg_wanted_gap_l1(o->tolerance, value, constant)) break;
        if (k == MOST_TRIES) return MARGIN_ERROR_LIMIT;
    }
    fit->report.status = MARGIN_OK;
    fit->report.objective = value;
    fit->report.gap = gap / fmax(1.0, value);
    fit->report.tolerance = o->tolerance;
    return mg_linear_make(fit->context->heap, fold->q.u, n,
                          mg_fold_intercept(&fold->s, fold->q.u, n), &fit->hypothesis, NULL);
}

static margin_status lasso_solve_fold(const mg_fold_products *p, int64_t f, mg_fold_system *s,
                                      double *room, const mg_linear_options *options) {
    const int64_t n = p->columns, count = p->count;
    lasso_fold made = {.s = *s, .lambda = room, .diagonal = room + n}, *fold = &made;
    fold->stop = mg_stop_make(p->fits[0].context, -1);
    fold->q = (mg_quadratic){.context = p->fits[0].context,
                             .isa = mg_isa_level(),
                             .count = n,
                             .stride = n,
                             .h = fold->s.matrix,
                             .lambda = fold->lambda,
                             .u = room + 2 * n,
                             .r = room + 3 * n,
                             .stop = &fold->stop};
    memset(fold->q.u, 0, (size_t)n * sizeof *fold->q.u);
    for (int64_t j = 0; j < n; j++)
        fold->diagonal[j] = fold->s.matrix[j * n + j];
    for (int64_t k = f * count; k < (f + 1) * count; k++)
        MG_TRY(solve_penalty(fold, &options[k], &p->fits[k]));
    return MARGIN_OK;
}

margin_status mg_lasso_folds(mg_fit *fits, int64_t count, const mg_linear_options *options) {
    bool can = options[0].intercept && options[0].max_iterations < 0;
    for (int64_t k = 0; k < count; k++)
        can = can && options[k].penalty.kappa > 0.0;
    MG_REQUIRE(can, fits[0].error, MARGIN_ERROR_LIMIT, "the folds are not for their products");
    return mg_fold_products_solve(fits, count, 4, lasso_solve_fold, options);
}
