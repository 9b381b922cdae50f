/* Coordinate descent and exact steps on a small lasso. */
#include "linear/objective/quadratic.h"

#include "math/products/cholesky.h"
#include "math/rows/row_ops.h"

#include <string.h>

enum {
    SUPPORT_SWEEPS = 8, /* over the u_k that are not 0, between two sweeps over all */
    MOST_ROUNDS = 10000,
    IDLE_ROUNDS = 20 /* without a lower violation: only rounding is left */
};
/* A u_k is not moved by less than this part of itself: that is rounding. */
static const double still = 1e-16;
/* Multiply-adds of a Cholesky factor in those of coordinate steps: tiles, and all threads. */
static const double factor_price = 0.25;

static const char purpose[] = "the model of an objective over its working set";

typedef struct descent {
    mg_quadratic *q;
    const mg_vector_ops *vectors;
    double *direction; /* count, and as many of room */
    int64_t *support;  /* count: k with u_k not 0, ascending */
    int64_t size;      /* of it */
    double *matrix;    /* room x room: a factor; NULL: none so far */
    int64_t room;
    double work;    /* multiply-adds since the last exact step */
    double scarred; /* relative addition to the diagonal that the last factor needed */
} descent;

/* ---- Coordinate steps ------------------------------------------------------------------------ */

/* How far u_k is from its best value, as a share of lambda_k. */
static double violation(const descent *d, int64_t k) {
    const mg_quadratic *q = d->q;
    const double lambda = d->q->lambda[k];
    if (q->u[k] == 0.0) return fmax(fabs(q->r[k]) - lambda, 0.0) / lambda;
    return fabs(q->r[k] + copysign(lambda, q->u[k])) / lambda;
}

static void quadratic_move(descent *d, int64_t k) {
    mg_quadratic *q = d->q;
    const double curvature = q->h[k * q->stride + k], before = q->u[k];
    double next = 0.0;
    if (curvature > 0.0) {
        const double point = before - q->r[k] / curvature;
        const double short_of = fabs(point) - d->q->lambda[k] / curvature;
        if (short_of > 0.0) next = copysign(short_of, point);
    } else if (fabs(q->r[k]) > d->q->lambda[k]) {
        return; /* it falls for ever */
    }
    const double change = next - before;
    if (!(fabs(change) > still * fabs(before)) || !isfinite(next)) return;
    q->u[k] = next;
    d->vectors->add(q->r, change, q->h + k * q->stride, q->count);
    d->work += (double)q->count;
}

/* One step each; returns the greatest violation that it met. */
static double sweep_all(descent *d) {
    double most = 0.0;
    for (int64_t k = 0; k < d->q->count; k++) {
        const double found = violation(d, k);
        most = fmax(most, found);
        if (found > 0.0) quadratic_move(d, k);
    }
    d->work += (double)d->q->count;
    return most;
}

static double sweep_support(descent *d) {
    double most = 0.0;
    for (int64_t s = 0; s < d->size; s++) {
        const int64_t k = d->support[s];
        most = fmax(most, violation(d, k));
        quadratic_move(d, k);
    }
    return most;
}

static void list_support(descent *d) {
    d->size = 0;
    for (int64_t k = 0; k < d->q->count; k++)
        if (d->q->u[k] != 0.0) d->support[d->size++] = k;
}

/* ---- Exact steps ----------------------------------------------------------------------------- */

static margin_status quadratic_make_room(descent *d) {
    mg_heap *heap = d->q->context->heap;
    if (d->room >= d->size) return MARGIN_OK;
    mg_free(heap, d->matrix);
    d->matrix = NULL;
    d->room = MG_MIN(d->size + d->size / 4 + 16, d->q->count);
    MG_NEW(heap, d->matrix, d->room * d->room, purpose, d->q->error);
    return MARGIN_OK;
}

static void copy_support(const descent *d, double scar) {
    const mg_quadratic *q = d->q;
    for (int64_t s = 0; s < d->size; s++) {
        const double *from = q->h + d->support[s] * q->stride;
        double *to = d->matrix + s * d->room;
        for (int64_t t = 0; t <= s; t++)
            to[t] = from[d->support[t]];
        to[s] *= 1.0 + scar;
    }
}

/* The factor of H over the support, with as little added to its diagonal as it takes. *done false:
 * there is none. */
static margin_status factor_support(descent *d, bool *done) {
    static const double first = 1e-13, most = 1e-4, times = 100.0;
    int64_t failed = 0;
    MG_TRY(quadratic_make_room(d));
    for (double scar = fmax(d->scarred, first); scar <= most; scar *= times) {
        copy_support(d, scar);
        MG_TRY(
            mg_cholesky_factor(d->q->context, d->size, d->matrix, d->room, &failed, d->q->error));
        *done = failed == 0;
        d->scarred = scar;
        if (*done) break;
    }
    return MARGIN_OK;
}

/* Where u_k crosses 0 along the direction. */
static double crossing(const descent *d, int64_t s) {
    return -d->q->u[d->support[s]] / d->direction[s];
}

/* The first crossing behind `after` and before 1. */
static int64_t next_crossing(const descent *d, double after, double *t) {
    int64_t found = -1;
    *t = 1.0;
    for (int64_t s = 0; s < d->size; s++) {
        const double at = crossing(d, s);
        if (!(at > after && at < *t)) continue;
        *t = at;
        found = s;
    }
    return found;
}

/* The length at which the objective along the direction is least, 1 at most; `slope` and
 * `curvature` at its start. *zero: the number in the support of what becomes 0 there, or -1. */
static double best_length(const descent *d, double slope, double curvature, int64_t *zero) {
    enum { MOST_CROSSINGS = 1000 };
    double t = 0.0;
    *zero = -1;
    for (int crossings = 0; crossings < MOST_CROSSINGS; crossings++) {
        const double after = t, flat = curvature > 0.0 ? -slope / curvature : (double)INFINITY;
        const int64_t next = next_crossing(d, after, &t);
        if (flat <= t || next < 0) {
            *zero = -1;
            return fmin(flat, t);
        }
        *zero = next;
        for (int64_t s = 0; s < d->size; s++)
            if (crossing(d, s) == t)
                slope += 2.0 * d->q->lambda[d->support[s]] * fabs(d->direction[s]);
        if (slope + t * curvature >= 0.0) break;
    }
    return t;
}

/* direction = the way to the best point for the signs of the support, behind it H times that.
 * Returns the slope along it, below 0, or 0 if it does not lead down; *curvature: the curvature. */
static double find_direction(descent *d, double *curvature) {
    mg_quadratic *q = d->q;
    double *image = d->direction + q->count, slope = 0.0;
    for (int64_t s = 0; s < d->size; s++) {
        const int64_t k = d->support[s];
        d->direction[s] = -(q->r[k] + copysign(d->q->lambda[k], q->u[k]));
    }
    mg_cholesky_solve(q->isa, d->size, d->matrix, d->room, d->direction);
    memset(image, 0, (size_t)q->count * sizeof *image);
    for (int64_t s = 0; s < d->size; s++)
        d->vectors->add(image, d->direction[s], q->h + d->support[s] * q->stride, q->count);
    *curvature = 0.0;
    for (int64_t s = 0; s < d->size; s++) {
        const int64_t k = d->support[s];
        slope += d->direction[s] * (q->r[k] + copysign(d->q->lambda[k], q->u[k]));
        *curvature += d->direction[s] * image[k];
    }
    return slope < 0.0 && isfinite(slope) && isfinite(*curvature) ? slope : 0.0;
}

/* The factor without row and column `gone`: rotations clear what lies right of the diagonal. */
static void shrink_factor(descent *d, int64_t gone) {
    const int64_t room = d->room;
    double *l = d->matrix;
    d->size--;
    memmove(d->support + gone, d->support + gone + 1,
            (size_t)(d->size - gone) * sizeof *d->support);
    for (int64_t i = gone; i < d->size; i++)
        memcpy(l + i * room, l + (i + 1) * room, (size_t)(i + 2) * sizeof *l);
    for (int64_t j = gone; j < d->size; j++) {
        const double a = l[j * room + j], b = l[j * room + j + 1], length = hypot(a, b);
        const double c = length > 0.0 ? a / length : 1.0, s = length > 0.0 ? b / length : 0.0;
        for (int64_t i = j; i < d->size; i++) {
            double *left = l + i * room + j;
            const double turned = c * left[0] + s * left[1];
            left[1] = c * left[1] - s * left[0];
            left[0] = turned;
        }
    }
}

/* From u to the best point for the signs of the support, without those that become 0 on the way. */
static margin_status step_exactly(descent *d) {
    mg_quadratic *q = d->q;
    bool done = false;
    if (d->size == 0) return MARGIN_OK;
    MG_TRY(factor_support(d, &done));
    while (done && d->size > 0 && mg_stop_check(q->stop, 0) == MARGIN_OK) {
        double curvature;
        int64_t zero;
        const double slope = find_direction(d, &curvature);
        if (!(slope < 0.0)) break;
        const double t = best_length(d, slope, curvature, &zero);
        for (int64_t s = 0; s < d->size; s++)
            q->u[d->support[s]] += t * d->direction[s];
        d->vectors->add(q->r, t, d->direction + q->count, q->count);
        if (zero < 0) break;
        q->u[d->support[zero]] = 0.0;
        shrink_factor(d, zero);
    }
    return MARGIN_OK;
}

static margin_status step_if_it_pays(descent *d) {
    const double size = (double)d->size;
    const double price = factor_price * size * size * size / 3.0 + size * (double)d->q->count;
    if (d->work < price) return MARGIN_OK;
    d->work = 0.0;
    return step_exactly(d);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static margin_status quadratic_descend(descent *d, double tolerance) {
    double best = (double)INFINITY;
    int idle = 0;
    for (int round = 0; round < MOST_ROUNDS && idle < IDLE_ROUNDS; round++) {
        const double met = sweep_all(d);
        if (met <= tolerance) break;
        idle = met < best ? 0 : idle + 1;
        best = fmin(best, met);
        list_support(d);
        for (int sweep = 0; sweep < SUPPORT_SWEEPS; sweep++)
            if (sweep_support(d) <= 0.3 * fmax(tolerance, 0.01 * met)) break;
        const margin_status stop = mg_stop_check(d->q->stop, 0);
        if (stop < 0) return mg_fail_cancelled(d->q->error);
        if (stop > 0) break; /* the caller looks again */
        list_support(d);
        MG_TRY(step_if_it_pays(d));
    }
    return MARGIN_OK;
}

margin_status mg_quadratic_solve(mg_quadratic *q, double tolerance) {
    descent d = {.q = q, .vectors = mg_vector_ops_for(q->isa)};
    MG_SCOPED_ARENA(arena, q->context->heap);
    MG_TRY(MG_PIECES(&arena, purpose, q->error, MG_PIECE(d.direction, 2 * q->count),
                     MG_PIECE(d.support, q->count)));
    const margin_status status = quadratic_descend(&d, tolerance);
    mg_free(arena.heap, d.matrix);
    return status;
}
