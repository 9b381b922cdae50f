/* A lower bound of an objective without penalty: v and s (certificate.c) must be 0.
 *
 * One Newton step in the dual: r_i -= h_i (a_i, 1).g with h_i = c_i curvature(t_i) and
 * (sum_i h_i (a_i, 1)(a_i, 1)') g = (v, s) makes both vanish; for the squared loss this is the
 * projection onto what is feasible. It is repeated while rounding or the box of alpha is in the
 * way.
 *
 * v and s count as 0 if they are small beside the absolute values of their terms. What remains of
 * them is charged to D as sum |v_j| q_j + |s| q with q_j = 2 |w_j| + 1/rms_j, q = 2 |b| + 1: D then
 * bounds P wherever |w_j| <= q_j and |b| <= q, which at 1e-10 costs nothing that could be seen. */
#include "linear/proof/certificate.h"
#include "math/products/cholesky.h"

#include <math.h>

enum {
    MOST_COLUMNS = 4096, /* for which the matrix is made */
    MOST_ROUNDS = 8
};
/* What rounding makes of 0, and what still counts as 0, relative to the terms. */
static const double rounding = 1e-15, feasible = 1e-10;

static const char purpose[] = "a proof of the optimum";

typedef struct free_bound {
    mg_proof *proof;
    int64_t size;       /* columns + 1 */
    double *mean, *rms; /* columns; rms_j: root mean square of a_ij */
    double *curvatures; /* samples: h */
    double *scores;     /* samples */
    double *matrix;     /* size x size: the factor, of a matrix with about 1 on the diagonal */
    double *scale, *g;  /* size */
    double left;        /* v and s relative to their terms */
} free_bound;

static mg_proof_sums absolute_range(const mg_proof *proof, int64_t first, int64_t count) {
    mg_proof_sums part = {0, 0};
    for (int64_t i = first; i < first + count; i++)
        part.a += fabs(proof->alpha[i]);
    return part;
}

static margin_status measure(free_bound *f) {
    const mg_proof *proof = f->proof;
    mg_proof_sums total;
    MG_TRY(mg_proof_sum(proof, absolute_range, &total));
    double most = proof->objective->intercept ? fabs(proof->s) : 0;
    for (int64_t j = 0; j < f->size - 1; j++)
        if (proof->v[j] != 0) most = fmax(most, fabs(proof->v[j]) / f->rms[j]);
    f->left = total.a > 0 ? most / total.a : 0;
    return MARGIN_OK;
}

static double slack(const free_bound *f) {
    const mg_proof *proof = f->proof;
    const mg_linear_solution *solution = proof->solution;
    double sum = proof->objective->intercept ? fabs(proof->s) * (2 * fabs(*solution->b) + 1) : 0;
    for (int64_t j = 0; j < f->size - 1; j++)
        if (proof->v[j] != 0) sum += fabs(proof->v[j]) * (2 * fabs(solution->w[j]) + 1 / f->rms[j]);
    return sum;
}

/* With a small multiple of the identity, so that dependent columns do no harm. */
static margin_status factor_matrix(free_bound *f, int64_t *failed) {
    mg_proof *proof = f->proof;
    const mg_gram_request request = {.weights = f->curvatures};
    const int64_t n = f->size;
    double *a = f->matrix;
    MG_TRY(mg_design_gram(proof->design, &request, a, proof->error));
    for (int64_t j = 0; j < n; j++)
        f->scale[j] = a[j * n + j] > 0 ? 1 / sqrt(a[j * n + j]) : 0;
    if (!proof->objective->intercept) f->scale[n - 1] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] *= f->scale[i] * f->scale[j];
        a[i * n + i] = 1 + 1e-10;
    }
    return mg_cholesky_factor(proof->design->context, n, a, n, failed, proof->error);
}

static margin_status correct(free_bound *f) {
    mg_proof *proof = f->proof;
    const int64_t n = f->size;
    for (int64_t j = 0; j < n; j++)
        f->g[j] = f->scale[j] * (j < n - 1 ? proof->v[j] : proof->s);
    mg_cholesky_solve(proof->design->isa, n, f->matrix, n, f->g);
    for (int64_t j = 0; j < n; j++)
        f->g[j] *= f->scale[j];
    MG_TRY(mg_design_scores(proof->design, f->g, f->g[n - 1], f->scores, proof->error));
    for (int64_t i = 0; i < proof->design->samples; i++) {
        const double change = f->curvatures[i] * f->scores[i];
        proof->alpha[i] -= mg_proof_turns(proof, i) ? -change : change;
    }
    MG_TRY(mg_proof_settle(proof));
    return measure(f);
}

static margin_status project(free_bound *f) {
    mg_proof *proof = f->proof;
    mg_loss_point point = {.curvatures = f->curvatures};
    double before = (double)INFINITY;
    int64_t failed = 0;
    MG_TRY(mg_design_loss(proof->design, proof->objective->loss, proof->solution->w,
                          *proof->solution->b, proof->objective->c, &point, proof->error));
    MG_TRY(factor_matrix(f, &failed));
    if (failed > 0) return MARGIN_OK;
    for (int round = 0; round < MOST_ROUNDS && f->left > rounding; round++) {
        if (!(f->left < 0.5 * before)) break;
        before = f->left;
        MG_TRY(correct(f));
    }
    return MARGIN_OK;
}

static margin_status new_matrix(free_bound *f, margin_error *error) {
    mg_heap *heap = f->proof->design->heap;
    const int64_t n = f->size, samples = f->proof->design->samples;
    MG_NEW(heap, f->curvatures, 2 * samples, purpose, error);
    MG_NEW(heap, f->matrix, n * (n + 2), purpose, error);
    f->scores = f->curvatures + samples;
    f->scale = f->matrix + n * n;
    f->g = f->scale + n;
    return MARGIN_OK;
}

margin_status mg_proof_bound_free(mg_proof *proof, double *dual) {
    mg_design *d = proof->design;
    free_bound f = {.proof = proof, .size = d->columns + 1};
    margin_status status;
    *dual = -(double)INFINITY;
    MG_GO_NEW(d->heap, f.mean, 2 * d->columns, purpose, proof->error);
    f.rms = f.mean + d->columns;
    MG_GO(mg_design_moments(d, true, f.mean, f.rms, proof->error));
    for (int64_t j = 0; j < d->columns; j++)
        f.rms[j] = hypot(f.mean[j], f.rms[j]);
    MG_GO(measure(&f));
    if (f.left > rounding && proof->objective->loss->curved && d->columns <= MOST_COLUMNS) {
        MG_GO(new_matrix(&f, proof->error));
        MG_GO(project(&f));
    }
    if (!(f.left <= feasible)) goto done;
    MG_GO(mg_proof_dual(proof, 1, dual));
    *dual -= slack(&f);
done:
    mg_free(d->heap, f.mean);
    mg_free(d->heap, f.curvatures);
    mg_free(d->heap, f.matrix);
    return status;
}
