#include "perceptron/separation/corral.h"

#include <math.h>
#include <string.h>

/* A point is taken as dependent on the members when less than this part of its norm is left after
 * projecting it out. */
static const double dependence = 1e-13;
/* Without Q the projection comes from inner products and loses half of the digits. */
static const double dependence_r_only = 1e-10;
/* Convex weights at or below this are dropped. */
static const double weight_floor = 1e-15;

margin_status mg_corral_create(mg_arena *arena, mg_isa isa, int64_t dimension, int64_t groups,
                               double lift, int64_t capacity, bool keep_q, mg_corral *corral,
                               margin_error *error) {
    const char *purpose = "the active set of the separability solver";
    *corral = (mg_corral){.ops = mg_vector_ops_for(isa),
                          .dimension = dimension,
                          .groups = groups,
                          .length = dimension + groups,
                          .lift = lift,
                          .capacity = capacity};
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(corral->member, capacity),
                     MG_PIECE(corral->group, capacity), MG_PIECE(corral->weight, capacity),
                     MG_PIECE(corral->r, capacity * capacity),
                     MG_PIECE(corral->scratch, corral->length + 4 * capacity)));
    if (keep_q) MG_ARENA_NEW(arena, corral->q, corral->length * capacity, purpose, error);
    return MARGIN_OK;
}

void mg_corral_clear(mg_corral *corral) {
    corral->size = 0;
}

static double *column_r(const mg_corral *c, int64_t k) {
    return c->r + k * c->capacity;
}

static double *column_q(const mg_corral *c, int64_t k) {
    return c->q + k * c->length;
}

/* x := R^-T x for the leading `size` block. */
static void solve_transposed(const mg_corral *c, double *x) {
    for (int64_t k = 0; k < c->size; k++) {
        const double *r = column_r(c, k);
        x[k] = (x[k] - c->ops->dot(r, x, k)) / r[k];
    }
}

/* x := R^-1 x. */
static void solve_upper(const mg_corral *c, double *x) {
    for (int64_t k = c->size - 1; k >= 0; k--) {
        const double *r = column_r(c, k);
        x[k] /= r[k];
        c->ops->add(x, -x[k], r, k);
    }
}

/* Column `size` of R, and of Q, by classical Gram-Schmidt applied twice. */
static bool append_orthogonal(mg_corral *c, int group, const double *z) {
    double *v = column_q(c, c->size), *r = column_r(c, c->size), *again = c->scratch;
    memcpy(v, z, (size_t)c->dimension * sizeof *v);
    memset(v + c->dimension, 0, (size_t)c->groups * sizeof *v);
    v[c->dimension + group] = c->lift;
    double norm = sqrt(c->ops->square(v, c->length));
    for (int64_t k = 0; k < c->size; k++)
        r[k] = c->ops->dot(column_q(c, k), v, c->length);
    for (int64_t k = 0; k < c->size; k++)
        c->ops->add(v, -r[k], column_q(c, k), c->length);
    for (int64_t k = 0; k < c->size; k++)
        again[k] = c->ops->dot(column_q(c, k), v, c->length);
    for (int64_t k = 0; k < c->size; k++) {
        c->ops->add(v, -again[k], column_q(c, k), c->length);
        r[k] += again[k];
    }
    double rest = sqrt(c->ops->square(v, c->length));
    if (!(rest > dependence * norm)) return false;
    r[c->size] = rest;
    for (int64_t j = 0; j < c->length; j++)
        v[j] /= rest;
    return true;
}

static bool append_products(mg_corral *c, int group, const double *products) {
    double *r = column_r(c, c->size), lift2 = c->lift * c->lift;
    for (int64_t k = 0; k < c->size; k++)
        r[k] = products[k] + (c->group[k] == group ? lift2 : 0);
    solve_transposed(c, r);
    double norm2 = products[c->size] + lift2;
    double rest2 = norm2 - c->ops->square(r, c->size);
    if (!(rest2 > dependence_r_only * norm2)) return false;
    r[c->size] = sqrt(rest2);
    return true;
}

bool mg_corral_add(mg_corral *c, int64_t member, int group, const double *z,
                   const double *products) {
    if (c->size == c->capacity) return false;
    bool fits = c->q ? append_orthogonal(c, group, z) : append_products(c, group, products);
    if (!fits) return false;
    c->member[c->size] = member;
    c->group[c->size] = (int8_t)group;
    c->weight[c->size] = 0;
    c->size++;
    return true;
}

/* Rotates columns a and b of Q like rows a and b of R. */
static void rotate_q(mg_corral *c, int64_t a, int64_t b, double cosine, double sine) {
    double *qa = column_q(c, a), *qb = column_q(c, b);
    for (int64_t j = 0; j < c->length; j++) {
        double x = qa[j], y = qb[j];
        qa[j] = cosine * x + sine * y;
        qb[j] = cosine * y - sine * x;
    }
}

static void corral_remove(mg_corral *c, int64_t position) {
    int64_t last = --c->size;
    for (int64_t k = position; k < last; k++) {
        memcpy(column_r(c, k), column_r(c, k + 1), (size_t)(k + 2) * sizeof(double));
        c->member[k] = c->member[k + 1];
        c->group[k] = c->group[k + 1];
        c->weight[k] = c->weight[k + 1];
    }
    for (int64_t i = position; i < last; i++) { /* zero the subdiagonal entry (i + 1, i) */
        double *head = column_r(c, i);          /* head[i + 1] is at least `dependence` x lift */
        double length = sqrt(head[i] * head[i] + head[i + 1] * head[i + 1]);
        double cosine = head[i] / length, sine = head[i + 1] / length;
        for (int64_t k = i; k < last; k++) {
            double *r = column_r(c, k), x = r[i], y = r[i + 1];
            r[i] = cosine * x + sine * y;
            r[i + 1] = cosine * y - sine * x;
        }
        if (c->q) rotate_q(c, i, i + 1, cosine, sine);
    }
}

/* Q^T (lifted unit vector of a group): the right-hand side whose least-squares solution pulls that
 * group. */
static void group_pull(const mg_corral *c, int64_t group, double *out) {
    if (c->q) {
        for (int64_t k = 0; k < c->size; k++)
            out[k] = column_q(c, k)[c->dimension + group];
        return;
    }
    for (int64_t k = 0; k < c->size; k++)
        out[k] = c->group[k] == group ? c->lift : 0;
    solve_transposed(c, out);
}

static double group_sum(const mg_corral *c, const double *values, int64_t group) {
    double sum = 0;
    for (int64_t k = 0; k < c->size; k++)
        if (c->group[k] == group) sum += values[k];
    return sum;
}

/* Minimiser of |sum a z| over the affine hull (sums 1 per group) into `affine` (size numbers).
 * False: no such point in double precision. */
static bool corral_affine(mg_corral *c, double *affine) {
    double *pull[MG_CORRAL_GROUPS], sum[MG_CORRAL_GROUPS][MG_CORRAL_GROUPS];
    for (int64_t g = 0; g < c->groups; g++) {
        pull[g] = c->scratch + c->length + g * c->capacity;
        group_pull(c, g, pull[g]);
        solve_upper(c, pull[g]);
        for (int64_t h = 0; h < c->groups; h++)
            sum[h][g] = group_sum(c, pull[g], h);
    }
    double share[MG_CORRAL_GROUPS] = {1, 0};
    if (c->groups == 1) {
        share[0] = 1 / sum[0][0];
    } else {
        double determinant = sum[0][0] * sum[1][1] - sum[0][1] * sum[1][0];
        share[0] = (sum[1][1] - sum[0][1]) / determinant;
        share[1] = (sum[0][0] - sum[1][0]) / determinant;
    }
    bool finite = true;
    for (int64_t k = 0; k < c->size; k++) {
        affine[k] = share[0] * pull[0][k] + (c->groups == 2 ? share[1] * pull[1][k] : 0);
        finite &= isfinite(affine[k]) != 0;
    }
    return finite;
}

void mg_corral_correct(mg_corral *c, double *residual, double *g) {
    solve_transposed(c, residual);
    for (int64_t k = 0; k < c->size; k++)
        c->ops->add(g, -residual[k], column_q(c, k), c->dimension);
}

/* Largest step from the weights towards `affine` that keeps all weights >= 0; 1: all the way. */
static double step_length(const mg_corral *c, const double *affine) {
    double step = 1;
    for (int64_t k = 0; k < c->size; k++)
        if (affine[k] <= weight_floor && c->weight[k] - affine[k] > 0)
            step = fmin(step, c->weight[k] / (c->weight[k] - affine[k]));
    return step;
}

/* Sums of weights drift by rounding: put them back to exactly what 1 allows. */
static void normalise(mg_corral *c) {
    for (int64_t g = 0; g < c->groups; g++) {
        double sum = group_sum(c, c->weight, g);
        for (int64_t k = 0; k < c->size; k++)
            if (c->group[k] == g) c->weight[k] /= sum;
    }
}

int64_t mg_corral_settle(mg_corral *c) {
    double *affine = c->scratch + c->length + 3 * c->capacity;
    int64_t dropped = 0;
    for (;;) {
        if (!corral_affine(c, affine)) return -1;
        double step = step_length(c, affine);
        bool inside = step >= 1;
        for (int64_t k = 0; k < c->size; k++)
            c->weight[k] += step * (affine[k] - c->weight[k]);
        if (inside) break;
        int64_t before = c->size, least = 0;
        for (int64_t k = 1; k < c->size; k++)
            if (c->weight[k] < c->weight[least]) least = k;
        c->weight[least] = 0; /* the one that limited the step, whatever rounding left of it */
        for (int64_t k = c->size - 1; k >= 0; k--)
            if (c->weight[k] <= weight_floor && c->size > c->groups) corral_remove(c, k);
        dropped += before - c->size;
        if (before == c->size) return -1;
    }
    normalise(c);
    return dropped;
}
