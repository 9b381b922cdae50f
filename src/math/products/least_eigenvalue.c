#include "math/products/least_eigenvalue.h"

#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = MG_LEAST_LANES };
static const double small = 1.0 / 64 / 64; /* square of a residual */

/* Of each lane. */
typedef struct least_lanes {
    double rest[LANES];    /* |r|^2 */
    double sum[LANES];     /* S */
    double at_zero[LANES]; /* the polynomial of the conjugate vector, at 0 */
} least_lanes;

static void dots(int64_t size, const double *a, const double *b, double *out) {
    memset(out, 0, LANES * sizeof *out);
    for (int64_t j = 0; j < size; j++)
        for (int l = 0; l < LANES; l++)
            out[l] += a[j * LANES + l] * b[j * LANES + l];
}

/* One step of all lanes that are not there yet. *sound: H is as it should be. */
static void least_step(int64_t size, double *r, double *q, const double *image, least_lanes *g,
                       bool *sound) {
    double curvature[LANES], next[LANES], by[LANES], keep[LANES]; /* a lane that is there: 0 */
    dots(size, q, image, curvature);
    for (int l = 0; l < LANES; l++) {
        const bool open = g->rest[l] > small;
        by[l] = open ? g->rest[l] / curvature[l] : 0.0;
        *sound &= by[l] >= 0.0 && isfinite(by[l]);
        g->sum[l] += by[l] * g->at_zero[l];
    }
    for (int64_t j = 0; j < size; j++)
        for (int l = 0; l < LANES; l++)
            r[j * LANES + l] -= by[l] * image[j * LANES + l];
    dots(size, r, r, next);
    for (int l = 0; l < LANES; l++) {
        keep[l] = by[l] > 0.0 ? next[l] / g->rest[l] : 0.0;
        g->at_zero[l] = 1.0 + keep[l] * g->at_zero[l];
        g->rest[l] = next[l];
    }
    for (int64_t j = 0; j < size; j++)
        for (int l = 0; l < LANES; l++)
            q[j * LANES + l] = r[j * LANES + l] + keep[l] * q[j * LANES + l];
}

static bool is_there(const least_lanes *g) {
    bool there = true;
    for (int l = 0; l < LANES; l++)
        there &= g->rest[l] <= small;
    return there;
}

margin_status mg_least_eigenvalue_bound(const mg_least_eigenvalue *m, double *least,
                                        margin_error *error) {
    const int64_t numbers = m->size * LANES;
    double *r = m->work, *q = r + numbers, *image = q + numbers, most = 0.0;
    least_lanes g = {.sum = {0.0}};
    bool sound = true;
    *least = 0.0;
    for (int64_t k = 0; k < numbers; k++)
        q[k] = r[k] = mg_random_normal(m->seed, MG_RANDOM_CHECK, (uint64_t)k);
    dots(m->size, r, r, g.rest);
    for (int l = 0; l < LANES; l++)
        g.at_zero[l] = 1.0;
    for (int64_t k = 0; k < m->most && sound && !is_there(&g); k++) {
        const margin_status status = m->product(m->state, q, image, error);
        if (status != MARGIN_OK) return status;
        least_step(m->size, r, q, image, &g, &sound);
    }
    for (int l = 0; l < LANES; l++)
        most = fmax(most, g.sum[l]);
    if (sound && is_there(&g) && most > 0.0) *least = 0.5 / most;
    return MARGIN_OK;
}
