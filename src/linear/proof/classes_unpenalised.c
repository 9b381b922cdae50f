/* A lower bound of the softmax objective without penalty: v and s (classes_certificate.c) must be
 * 0.
 *
 * A Newton step in the dual, repeated while rounding or the simplex is in the way:
 * q_ik (1 - (u_ik - mean)) with u_i = G (a_i, 1), `mean` the mean of u_i under q_i, and H G = (v,
 * s) with H the Hessian of the objective, so that v and s become 0 to first order while rows keep
 * the sum 1. What remains of v and s is charged as in certificate_free.c: sum |v| r + |s| r with r
 * = 2 |w| + 1/rms and 2 |b| + 1, so that D bounds P wherever |w| <= r.
 *
 * The functions of all classes may move together without changing the loss, so H is taken without
 * the last class. */
#include "linear/proof/classes_certificate.h"
#include "math/products/ridge_factor.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 8 };
static const double rounding = 1e-15, feasible = 1e-10;

static const char purpose[] = "a proof of the optimum";

/* ---- Newton's matrix ------------------------------------------------------------------------- */

bool mg_classes_newton_can(const mg_objective *o) {
    return (o->functions - 1) * (o->columns + 1) <= MG_CLASSES_NEWTON_SIZE;
}

void mg_classes_newton_free(mg_classes_newton *n) {
    mg_free(n->heap, n->matrix);
    mg_free(n->heap, n->mean);
    memset(n, 0, sizeof *n);
}

/* Of a change that all classes share the loss knows nothing, so that it is what the penalty wants:
 * rho (1[k = l] - 1/K). */
static void add_penalty(const mg_objective *o, const mg_classes_curvature *curvature, int64_t k,
                        int64_t l, mg_classes_newton *n) {
    const int64_t size = o->columns + 1;
    const double share = (k == l ? 1.0 : 0.0) - 1.0 / (double)o->functions;
    for (int64_t j = 0; j < o->columns && curvature->rho > 0.0; j++) {
        const double added = curvature->rho * n->factor[j] * n->factor[j] * share;
        n->matrix[(k * size + j) * n->size + l * size + j] += added;
        if (k != l) n->matrix[(l * size + j) * n->size + k * size + j] += added;
    }
    double *own = n->matrix + (k * size + o->columns) * (n->size + 1);
    if (k == l && curvature->least) *own = fmax(*own, curvature->least[k]);
}

/* Of the classes k and l: the Gram with weights c q_k (1 - q_k), or minus that with c q_k q_l. */
static margin_status add_block(const mg_objective *o, const mg_classes_curvature *curvature,
                               int64_t k, int64_t l, double *weights, int64_t *chosen, double *gram,
                               mg_classes_newton *n, margin_error *error) {
    const int64_t size = o->columns + 1;
    mg_gram_request request = {.weights = weights, .centre = n->mean, .factor = n->factor};
    for (int64_t i = 0; i < o->samples; i++) {
        const double *q = curvature->shares + i * o->functions;
        double others = 0.0;
        if (k == l)
            for (int64_t m = 0; m < o->functions; m++)
                others += m == k ? 0.0 : q[m];
        const double weight = curvature->c[i] * q[k] * (k == l ? others : q[l]);
        if (weight == 0.0) continue;
        chosen[request.count] = i;
        weights[request.count++] = weight;
    }
    if (request.count < o->samples) request.chosen = chosen;
    MG_TRY(mg_design_gram(o->design, &request, gram, error));
    for (int64_t r = 0; r < size; r++)
        for (int64_t c = 0; c < size; c++) {
            double value = k == l ? gram[r * size + c] : -gram[r * size + c];
            if (!o->intercept && (r == size - 1 || c == size - 1)) value = 0.0;
            n->matrix[(k * size + r) * n->size + l * size + c] = value;
            n->matrix[(l * size + c) * n->size + k * size + r] = value;
        }
    add_penalty(o, curvature, k, l, n);
    return MARGIN_OK;
}

/* To a diagonal of 1, and factored. */
static margin_status factor_matrix(const mg_objective *o, mg_classes_newton *n,
                                   margin_error *error) {
    double *diagonal;
    for (int64_t r = 0; r < n->size; r++) {
        const double own = n->matrix[r * n->size + r];
        n->scale[r] = own > 0.0 ? 1.0 / sqrt(own) : 0.0;
    }
    for (int64_t r = 0; r < n->size; r++)
        for (int64_t c = r + 1; c < n->size; c++)
            n->matrix[r * n->size + c] *= n->scale[r] * n->scale[c];
    MG_NEW(n->heap, diagonal, n->size, purpose, error);
    for (int64_t r = 0; r < n->size; r++)
        diagonal[r] = 1.0;
    const margin_status status =
        mg_ridge_factor(o->design->context, n->size, n->matrix, diagonal, mg_ridge_double, error);
    mg_free(n->heap, diagonal);
    return status;
}

margin_status mg_classes_newton_make(const mg_objective *o, const mg_classes_curvature *curvature,
                                     mg_classes_newton *n, margin_error *error) {
    mg_heap *heap = o->design->heap;
    const int64_t size = o->columns + 1;
    mg_classes_newton made = {.heap = heap, .size = (o->functions - 1) * size};
    double *weights = NULL, *gram = NULL;
    int64_t *chosen = NULL;
    margin_status status;
    MG_GO_NEW(heap, made.matrix, made.size * made.size, purpose, error);
    MG_GO_NEW(heap, made.mean, 2 * o->columns + made.size, purpose, error);
    made.factor = made.mean + o->columns;
    made.scale = made.factor + o->columns;
    MG_GO_NEW(heap, weights, o->samples, purpose, error);
    MG_GO_NEW(heap, chosen, o->samples, purpose, error);
    MG_GO_NEW(heap, gram, size * size, purpose, error);
    MG_GO(mg_design_coordinates(o->design, o->intercept, made.mean, made.factor, error));
    for (int64_t k = 0; k < o->functions - 1; k++)
        for (int64_t l = 0; l <= k; l++)
            MG_GO(add_block(o, curvature, k, l, weights, chosen, gram, &made, error));
    MG_GO(factor_matrix(o, &made, error));
    *n = made;
    made = (mg_classes_newton){.heap = heap};
done:
    mg_free(heap, gram);
    mg_free(heap, chosen);
    mg_free(heap, weights);
    mg_classes_newton_free(&made);
    return status;
}

void mg_classes_newton_solve(const mg_objective *o, const mg_classes_newton *n, const double *v,
                             const double *s, double *w, double *b) {
    const int64_t p = o->columns, size = p + 1;
    double *x =
        w; /* coordinates (w_k, b_k) of a class one behind the other; taken apart in place */
    for (int64_t k = 0; k < o->functions - 1; k++) {
        for (int64_t j = 0; j < p; j++)
            x[k * size + j] = n->factor[j] * (v[k * p + j] - n->mean[j] * s[k]);
        x[k * size + p] = o->intercept ? s[k] : 0.0;
    }
    for (int64_t r = 0; r < n->size; r++)
        x[r] *= n->scale[r];
    mg_cholesky_solve(o->design->isa, n->size, n->matrix, n->size, x);
    for (int64_t r = 0; r < n->size; r++)
        x[r] *= n->scale[r];
    for (int64_t k = 0; k < o->functions - 1; k++) {
        double *own = w + k * p, intercept = x[k * size + p];
        for (int64_t j = 0; j < p; j++) {
            own[j] = n->factor[j] * x[k * size + j];
            intercept -= n->mean[j] * own[j];
        }
        b[k] = o->intercept ? intercept : 0.0;
    }
    memset(w + (o->functions - 1) * p, 0, (size_t)p * sizeof *w);
    b[o->functions - 1] = 0.0;
}

/* ---- Bound ----------------------------------------------------------------------------------- */

typedef struct free_bound {
    mg_classes_proof *proof;
    double *mean, *rms; /* columns; rms_j: root mean square of a_ij */
    double *w, *b;      /* room for classes (columns + 1) numbers in w */
    double *scores;     /* samples x classes */
} free_bound;

/* v and s against the sums of the absolute values of their terms. */
static double measure(const free_bound *f) {
    const mg_classes_proof *proof = f->proof;
    const mg_objective *o = proof->o;
    double absolute = 0.0, most = 0.0;
    for (int64_t i = 0; i < o->samples; i++) {
        const double *q = proof->shares + i * o->functions;
        const int32_t own = o->design->problem->code[i];
        for (int64_t k = 0; k < o->functions; k++)
            absolute += k == own ? 0.0 : o->c[i] * q[k];
    }
    for (int64_t k = 0; k < o->functions; k++) {
        if (o->intercept) most = fmax(most, fabs(proof->s[k]));
        for (int64_t j = 0; j < o->columns; j++) {
            const double v = proof->v[k * o->columns + j];
            if (v != 0.0) most = fmax(most, fabs(v) / f->rms[j]);
        }
    }
    return absolute > 0.0 ? most / absolute : 0.0;
}

static double slack(const free_bound *f) {
    const mg_classes_proof *proof = f->proof;
    const mg_objective *o = proof->o;
    const mg_linear_solution *at = proof->solution;
    double sum = 0.0;
    for (int64_t k = 0; k < o->functions; k++) {
        if (o->intercept) sum += fabs(proof->s[k]) * (2.0 * fabs(at->b[k]) + 1.0);
        for (int64_t j = 0; j < o->columns; j++) {
            const double v = proof->v[k * o->columns + j];
            if (v != 0.0)
                sum += fabs(v) * (2.0 * fabs(at->w[k * o->columns + j]) + 1.0 / f->rms[j]);
        }
    }
    return sum;
}

static margin_status correct(free_bound *f) {
    mg_classes_proof *proof = f->proof;
    const mg_objective *o = proof->o;
    mg_classes_newton newton;
    const mg_classes_curvature curvature = {.shares = proof->shares, .c = o->c};
    MG_TRY(mg_classes_newton_make(o, &curvature, &newton, proof->error));
    mg_classes_newton_solve(o, &newton, proof->v, proof->s, f->w, f->b);
    mg_classes_newton_free(&newton);
    MG_TRY(mg_objective_scores(o, f->w, f->b, f->scores, proof->error));
    for (int64_t i = 0; i < o->samples; i++) {
        double *q = proof->shares + i * o->functions, mean = 0.0;
        const double *u = f->scores + i * o->functions;
        for (int64_t k = 0; k < o->functions; k++)
            mean += q[k] * u[k];
        for (int64_t k = 0; k < o->functions; k++)
            q[k] *= 1.0 - (u[k] - mean);
    }
    MG_TRY(mg_classes_settle(proof));
    return mg_classes_sums(proof);
}

static margin_status correct_all(free_bound *f, double *dual) {
    double left = measure(f), before = (double)INFINITY;
    const bool can = mg_classes_newton_can(f->proof->o);
    for (int round = 0; can && round < MOST_ROUNDS && left > rounding && left < 0.5 * before;
         round++) {
        before = left;
        MG_TRY(correct(f));
        left = measure(f);
    }
    *dual = -(double)INFINITY;
    if (left > feasible) return MARGIN_OK;
    MG_TRY(mg_classes_dual(f->proof, dual));
    *dual -= slack(f);
    return MARGIN_OK;
}

margin_status mg_classes_bound_free(mg_classes_proof *proof, double *dual) {
    const mg_objective *o = proof->o;
    mg_heap *heap = o->design->heap;
    free_bound f = {.proof = proof};
    margin_status status;
    *dual = -(double)INFINITY;
    if (o->loss->kind != MG_LOSS_SOFTMAX) return MARGIN_OK;
    MG_GO_NEW(heap, f.mean, 2 * o->columns, purpose, proof->error);
    f.rms = f.mean + o->columns;
    MG_GO_NEW(heap, f.w, o->functions * (o->columns + 2), purpose, proof->error);
    f.b = f.w + o->functions * (o->columns + 1);
    MG_GO_NEW(heap, f.scores, o->samples * o->functions, purpose, proof->error);
    MG_GO(mg_design_moments(o->design, true, f.mean, f.rms, proof->error));
    for (int64_t j = 0; j < o->columns; j++) {
        f.rms[j] = hypot(f.rms[j], f.mean[j]);
        if (!(f.rms[j] > 0.0)) f.rms[j] = 1.0;
    }
    status = correct_all(&f, dual);
done:
    mg_free(heap, f.scores);
    mg_free(heap, f.w);
    mg_free(heap, f.mean);
    return status;
}
