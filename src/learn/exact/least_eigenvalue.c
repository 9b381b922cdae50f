#include "learn/exact/least_eigenvalue.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

enum { LANES = MG_LEAST_LANES, DRAWN = LANES - 1 /* the last one is the equation */ };
static const double small = 0x1p-30; /* square of a residual */

/* Of each lane. */
typedef struct least_lanes {
    bool open[LANES];      /* goes on */
    double rest[LANES];    /* |r|^2 */
    double sum[LANES];     /* S */
    double at_zero[LANES]; /* the polynomial of the conjugate vector, at 0 */
    double smooth[LANES];  /* sum of 1 / |r|^2: 1 / it falls with every step (minimal residuals) */
    double before;         /* the greatest of those, where it was last looked at */
    bool sound;            /* H is as it should be */
} least_lanes;

static void dots(int64_t size, const double *a, const double *b, double *out) {
    double sum[LANES] = {0.0};
    for (int64_t j = 0; j < size; j++)
        for (int l = 0; l < LANES; l++)
            sum[l] += a[j * LANES + l] * b[j * LANES + l];
    memcpy(out, sum, sizeof sum);
}

/* One step of all lanes that go on. */
static void least_step(int64_t size, double *r, double *q, const double *image,
                       mg_least_equation *e, least_lanes *g) {
    double curvature[LANES], next[LANES], keep[LANES], by[LANES];
    dots(size, q, image, curvature);
    for (int l = 0; l < LANES; l++) {
        by[l] = g->open[l] ? g->rest[l] / curvature[l] : 0.0;
        g->sound &= by[l] >= 0.0 && isfinite(by[l]);
        g->sum[l] += by[l] * g->at_zero[l];
    }
    e->fallen += by[DRAWN] * g->rest[DRAWN];
    e->steps += g->open[DRAWN];
    for (int64_t j = 0; j < size; j++) {
        e->x[j] += by[DRAWN] * q[j * LANES + DRAWN];
        for (int l = 0; l < LANES; l++)
            r[j * LANES + l] -= by[l] * image[j * LANES + l];
    }
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

/* What goes on. Returns the bound, 0 until it is there. */
static double look_at_lanes(mg_least_equation *e, least_lanes *g) {
    double most = 0.0;
    bool there = g->sound;
    for (int l = 0; l < DRAWN; l++) {
        g->open[l] = g->rest[l] > small;
        g->smooth[l] += 1.0 / g->rest[l];
        there &= !g->open[l];
        most = fmax(most, g->sum[l]);
    }
    const double least = there && most > 0.0 ? 0.5 / most : 0.0;
    e->left = g->rest[DRAWN];
    g->open[DRAWN] = e->steps < e->most && g->rest[DRAWN] > 0.0 &&
                     !(there && e->enough(e->state, e->left, e->fallen, least));
    return least;
}

/* Whenever steps have doubled: residuals fall no more, as those of a singular H, or too slowly (by
 * half, as they fall ever faster). */
static bool is_hopeless(const mg_least_eigenvalue *m, least_lanes *g, int64_t steps) {
    enum { FIRST = 8 };
    double left = 0.0;
    if (steps < FIRST || (steps & (steps - 1)) != 0) return false;
    for (int l = 0; l < DRAWN; l++)
        if (g->open[l]) left = fmax(left, 1.0 / g->smooth[l]);
    const double speed = 2.0 * log(g->before / left) / (double)steps;
    const bool hopeless = g->before > 0.0 && left > 0.0 &&
                          (double)steps + log(left / small) / speed > 2.0 * (double)m->most;
    g->before = left;
    return hopeless;
}

static void start_lanes(const mg_least_eigenvalue *m, double *r, least_lanes *g) {
    for (int64_t j = 0; j < m->size; j++) {
        for (int l = 0; l < DRAWN; l++)
            r[j * LANES + l] =
                mg_random_normal(m->seed, MG_RANDOM_CHECK, (uint64_t)(j * DRAWN + l));
        r[j * LANES + DRAWN] = m->equation->right[j];
        m->equation->x[j] = 0.0;
    }
    *g = (least_lanes){.sound = true};
    dots(m->size, r, r, g->rest);
    for (int l = 0; l < LANES; l++)
        g->at_zero[l] = 1.0;
}

margin_status mg_least_eigenvalue_bound(const mg_least_eigenvalue *m, double *least,
                                        margin_error *error) {
    const int64_t numbers = m->size * LANES;
    double *r = m->work, *q = r + numbers, *image = q + numbers;
    mg_least_equation *e = m->equation;
    least_lanes g;
    start_lanes(m, r, &g);
    memcpy(q, r, (size_t)numbers * sizeof *q);
    e->steps = 0;
    e->fallen = 0.0;
    for (int64_t k = 0;; k++) {
        *least = look_at_lanes(e, &g);
        if (!g.sound || k == m->most || (*least > 0.0 && !g.open[DRAWN])) return MARGIN_OK;
        if (is_hopeless(m, &g, k)) return MARGIN_OK;
        const margin_status status = m->product(m->state, q, image, error);
        if (status != MARGIN_OK) return status;
        least_step(m->size, r, q, image, e, &g);
    }
}
