/* Coordinate descent over sparse columns, and Anderson's extrapolation. */
#include "linear/lasso/sparse_quadratic.h"

#include "math/products/cholesky.h"

#include <string.h>

enum { DEPTH = 5, KEPT = DEPTH + 1 }; /* sweeps that are combined; iterates for that */

typedef struct sparse_descent {
    const mg_sparse_quadratic *q;
    float *image;         /* rows: X (u - u0) */
    double shift;         /* m.(u - u0) */
    int64_t *live;        /* the columns that may move */
    int64_t living, read; /* read: values, since it was asked for the last time whether to go on */
    int kept;             /* iterates in `past` */
    double *past, shifts[KEPT];
    float *images;
} sparse_descent;

/* ---- Columns --------------------------------------------------------------------------------- */

MG_INLINE double column_dot(const mg_sparse_quadratic *q, int64_t k, const float *restrict image) {
    const int32_t *restrict row = q->samples;
    const float *restrict x = q->values;
    const int64_t end = q->starts[k + 1];
    int64_t e = q->starts[k];
    float a = 0.0F, b = 0.0F, c = 0.0F, d = 0.0F;
    for (; e + 4 <= end; e += 4) {
        a += x[e] * image[row[e]];
        b += x[e + 1] * image[row[e + 1]];
        c += x[e + 2] * image[row[e + 2]];
        d += x[e + 3] * image[row[e + 3]];
    }
    for (; e < end; e++)
        a += x[e] * image[row[e]];
    return (double)((a + b) + (c + d));
}

MG_INLINE void column_add(const mg_sparse_quadratic *q, int64_t k, double times,
                          float *restrict image) {
    const int32_t *restrict row = q->samples;
    const float *restrict x = q->values;
    const int64_t end = q->starts[k + 1];
    const float factor = (float)times;
    int64_t e = q->starts[k];
    for (; e + 4 <= end; e += 4) { /* the samples of a column are different ones */
        const float a = image[row[e]] + factor * x[e], b = image[row[e + 1]] + factor * x[e + 1],
                    c = image[row[e + 2]] + factor * x[e + 2],
                    d = image[row[e + 3]] + factor * x[e + 3];
        image[row[e]] = a;
        image[row[e + 1]] = b;
        image[row[e + 2]] = c;
        image[row[e + 3]] = d;
    }
    for (; e < end; e++)
        image[row[e]] += factor * x[e];
}

MG_INLINE double slope_of(const sparse_descent *d, int64_t k) {
    const mg_sparse_column *c = &d->q->column[k];
    return c->q + column_dot(d->q, k, d->image) - c->mean * d->shift +
           c->ridge * (d->q->u[k] - c->before);
}

/* ---- A sweep --------------------------------------------------------------------------------- */

static void sparse_move(sparse_descent *d, int64_t k, double slope) {
    const mg_sparse_column *c = &d->q->column[k];
    const double before = d->q->u[k], point = c->curvature * before - slope;
    const double short_of = fabs(point) - c->lambda;
    const double next = short_of > 0.0 ? copysign(short_of, point) * c->inverse : 0.0;
    const double change = next - before;
    if (change == 0.0 || !isfinite(change)) return;
    d->q->u[k] = next;
    d->shift += c->mean * change;
    column_add(d->q, k, change, d->image);
}

/* Whether to give up, after column k. */
MG_INLINE bool sparse_cancelled(sparse_descent *d, int64_t k) {
    enum { POLL = 1 << 18 };
    d->read += d->q->starts[k + 1] - d->q->starts[k] + 1;
    if (d->read < POLL) return false;
    *d->q->read += d->read;
    d->read = 0;
    return mg_cancelled(d->q->context);
}

/* *worst: how far some u_k was from its best value at most, as a share of lambda_k. */
static margin_status sparse_sweep(sparse_descent *d, double *worst) {
    const mg_sparse_quadratic *q = d->q;
    int64_t kept = 0;
    *worst = 0.0;
    for (int64_t s = 0; s < d->living; s++) {
        const int64_t k = d->live[s];
        const double lambda = q->column[k].lambda, slope = slope_of(d, k);
        const double off =
            q->u[k] == 0.0 ? fabs(slope) - lambda : fabs(slope + copysign(lambda, q->u[k]));
        if (sparse_cancelled(d, k)) return mg_fail_cancelled(q->error);
        if (off > -q->slack * lambda) d->live[kept++] = k;
        if (!(off > 0.0)) continue;
        if (off > *worst * lambda) *worst = off / lambda;
        if (q->column[k].curvature > 0.0) sparse_move(d, k, slope);
    }
    d->living = kept;
    return MARGIN_OK;
}

static void revive(sparse_descent *d) {
    for (d->living = 0; d->living < d->q->count; d->living++)
        d->live[d->living] = d->living;
}

/* What is minimised. */
static double descent_value(const sparse_descent *d, const double *u, const float *image,
                            double shift) {
    const mg_sparse_quadratic *q = d->q;
    double value = 0.0, square = 0.0;
    for (int64_t k = 0; k < q->count; k++) {
        const mg_sparse_column *c = &q->column[k];
        const double change = u[k] - c->before;
        value += change * (c->q + c->ridge / 2.0 * change) + c->lambda * fabs(u[k]);
    }
    for (int64_t i = 0; i < q->rows; i++)
        square += (double)image[i] * (double)image[i];
    return value + (square - shift * shift) / 2.0;
}

/* ---- Anderson's extrapolation ---------------------------------------------------------------- */

static void keep_iterate(sparse_descent *d) {
    const mg_sparse_quadratic *q = d->q;
    memcpy(d->past + d->kept * q->count, q->u, (size_t)q->count * sizeof *q->u);
    memcpy(d->images + d->kept * q->rows, d->image, (size_t)q->rows * sizeof *d->image);
    d->shifts[d->kept++] = d->shift;
}

/* Products of the differences of iterates in the norm of the diagonal of H. */
static void find_products(const sparse_descent *d, double products[DEPTH][DEPTH]) {
    const mg_sparse_quadratic *q = d->q;
    memset(products, 0, DEPTH * sizeof *products);
    for (int64_t k = 0; k < q->count; k++) {
        double change[DEPTH];
        for (int s = 0; s < DEPTH; s++)
            change[s] = d->past[(s + 1) * q->count + k] - d->past[s * q->count + k];
        for (int s = 0; s < DEPTH; s++)
            for (int t = 0; t <= s; t++)
                products[s][t] += q->column[k].curvature * change[s] * change[t];
    }
}

/* The shares, sum 1, with which the differences combine to the least one. *found false: none. */
static margin_status find_shares(const sparse_descent *d, double x[DEPTH], bool *found) {
    static const double scar = 1e-10;
    double products[DEPTH][DEPTH], trace = 0.0, sum = 0.0;
    int64_t failed;
    find_products(d, products);
    for (int s = 0; s < DEPTH; s++)
        trace += products[s][s];
    for (int s = 0; s < DEPTH; s++) {
        products[s][s] += scar * trace;
        x[s] = 1.0;
    }
    MG_TRY(mg_cholesky_factor(d->q->context, DEPTH, products[0], DEPTH, &failed, d->q->error));
    mg_cholesky_solve(mg_isa_level(), DEPTH, products[0], DEPTH, x);
    for (int s = 0; s < DEPTH; s++)
        sum += x[s];
    for (int s = 0; s < DEPTH; s++)
        x[s] /= sum;
    *found = failed == 0 && isfinite(x[0]);
    return MARGIN_OK;
}

/* The first of the iterates becomes their combination, as far as it changes no sign: what would is
 * 0 there. */
static void combine(sparse_descent *d, const double x[DEPTH]) {
    const mg_sparse_quadratic *q = d->q;
    d->shifts[0] = 0.0;
    for (int s = 0; s < DEPTH; s++)
        d->shifts[0] += x[s] * d->shifts[s + 1];
    for (int64_t i = 0; i < q->rows; i++) {
        float sum = 0.0F;
        for (int s = 0; s < DEPTH; s++)
            sum += (float)x[s] * d->images[(s + 1) * q->rows + i];
        d->images[i] = sum;
    }
    for (int64_t k = 0; k < q->count; k++) {
        double sum = 0.0;
        for (int s = 0; s < DEPTH; s++)
            sum += x[s] * d->past[(s + 1) * q->count + k];
        d->past[k] = sum * q->u[k] > 0.0 ? sum : 0.0;
        if (d->past[k] == sum) continue;
        d->shifts[0] -= q->column[k].mean * sum;
        column_add(q, k, -sum, d->images);
    }
}

/* The first of the iterates becomes the point at hand. */
static void go_back(sparse_descent *d) {
    const mg_sparse_quadratic *q = d->q;
    memcpy(q->u, d->past, (size_t)q->count * sizeof *q->u);
    memcpy(d->image, d->images, (size_t)q->rows * sizeof *d->image);
    d->shift = d->shifts[0];
}

static margin_status accelerate(sparse_descent *d) {
    double x[DEPTH];
    bool found;
    keep_iterate(d);
    if (d->kept < KEPT) return MARGIN_OK;
    d->kept = 0;
    MG_TRY(find_shares(d, x, &found));
    if (!found) return MARGIN_OK;
    combine(d, x);
    if (descent_value(d, d->past, d->images, d->shifts[0]) <
        descent_value(d, d->q->u, d->image, d->shift))
        go_back(d);
    return MARGIN_OK;
}

static margin_status sparse_descend(sparse_descent *d, double tolerance) {
    for (int sweeps = 0; sweeps < d->q->most; sweeps++) {
        double worst;
        MG_TRY(sparse_sweep(d, &worst));
        if (worst <= tolerance) break;
        MG_TRY(accelerate(d));
    }
    return MARGIN_OK;
}

margin_status mg_sparse_quadratic_solve(const mg_sparse_quadratic *q, double tolerance) {
    static const char purpose[] = "the model of an objective over its working set";
    sparse_descent d = {.q = q};
    MG_SCOPED_ARENA(arena, q->context->heap);
    MG_TRY(MG_PIECES(&arena, purpose, q->error, MG_PIECE(d.image, q->rows),
                     MG_PIECE(d.live, q->count), MG_PIECE(d.past, KEPT * q->count),
                     MG_PIECE(d.images, KEPT * q->rows)));
    memset(d.image, 0, (size_t)q->rows * sizeof *d.image);
    revive(&d);
    const margin_status status = sparse_descend(&d, tolerance);
    *q->read += d.read;
    return status;
}
