#include "convex_oracle.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

typedef long double real;

enum { SIZE = 2 * ORACLE_WEIGHTS + ORACLE_ROWS }; /* weights, their slacks, those of the rows */

/* Variables: functions x (columns + 1) weights and intercepts, then a slack for each weight (|w|_1)
 * and one for each row (hinge). */
typedef struct barrier {
    const convex_problem *p;
    int weights, slacks, rows, size;
    real mu;
    real g[SIZE], h[SIZE][SIZE];
} barrier;

static real weight_of(const convex_problem *p, int64_t i) {
    return (real)p->factor * (real)(p->weight ? p->weight[i] : 1.0);
}

static int at(const convex_problem *p, int64_t function, int64_t column) {
    return (int)(function * (p->columns + 1) + column);
}

static real score(const convex_problem *p, const real *u, int64_t i, int64_t function) {
    real f = u[at(p, function, p->columns)];
    for (int64_t j = 0; j < p->columns; j++)
        f += (real)p->x[i * p->columns + j] * u[at(p, function, j)];
    return f;
}

static real sign_of(const convex_problem *p, int64_t i) {
    return p->y[i] > 0 ? 1 : -1;
}

/* t of a loss with one function: y f, or f - y. */
static real margin_of(const convex_problem *p, const real *u, int64_t i) {
    const real f = score(p, u, i, 0);
    return p->loss == ORACLE_SQUARED ? f - (real)p->y[i] : sign_of(p, i) * f;
}

static void loss_at(oracle_loss loss, real t, real out[3]) {
    const real lack = t < 1 ? 1 - t : 0;
    switch (loss) {
    case ORACLE_SQUARED:
        out[0] = t * t, out[1] = 2 * t, out[2] = 2;
        return;
    case ORACLE_HINGE:
        out[0] = lack, out[1] = t < 1 ? -1 : 0, out[2] = 0;
        return;
    case ORACLE_SQUARED_HINGE:
        out[0] = lack * lack, out[1] = -2 * lack, out[2] = t < 1 ? 2 : 0;
        return;
    case ORACLE_LOGISTIC:
        out[0] = t > 0 ? log1pl(expl(-t)) : log1pl(expl(t)) - t;
        out[1] = -1 / (1 + expl(t));
        out[2] = -out[1] * (1 + out[1]);
        return;
    default:
        out[0] = out[2] = expl(-t), out[1] = -expl(-t);
    }
}

/* log sum exp of the scores less that of the class; shares of the classes. */
static real softmax_at(const convex_problem *p, const real *u, int64_t i, real *share) {
    real most = -HUGE_VALL, sum = 0;
    for (int64_t k = 0; k < p->functions; k++) {
        share[k] = score(p, u, i, k);
        most = fmaxl(most, share[k]);
    }
    const real own = share[(int64_t)p->y[i]];
    for (int64_t k = 0; k < p->functions; k++)
        sum += share[k] = expl(share[k] - most);
    for (int64_t k = 0; k < p->functions; k++)
        share[k] /= sum;
    return most + logl(sum) - own;
}

static real exact_value(const convex_problem *p, const real *u) {
    real value = 0, out[3], share[ORACLE_WEIGHTS];
    for (int64_t i = 0; i < p->rows; i++) {
        if (p->loss == ORACLE_SOFTMAX)
            out[0] = softmax_at(p, u, i, share);
        else
            loss_at(p->loss, margin_of(p, u, i), out);
        value += weight_of(p, i) * out[0];
    }
    for (int64_t k = 0; k < p->functions; k++)
        for (int64_t j = 0; j < p->columns; j++) {
            const real w = u[at(p, k, j)];
            value += (real)p->square * w * w + (real)p->absolute * fabsl(w);
        }
    return value;
}

double convex_value(const convex_problem *p, const double *w, const double *b) {
    real u[SIZE] = {0};
    for (int64_t k = 0; k < p->functions; k++) {
        for (int64_t j = 0; j < p->columns; j++)
            u[at(p, k, j)] = (real)w[k * p->columns + j];
        u[at(p, k, p->columns)] = (real)b[k];
    }
    return (double)exact_value(p, u);
}

/* ---- Barrier --------------------------------------------------------------------------------- */

/* The value with slacks and barriers; infinite outside. */
static real value_at(const barrier *s, const real *u) {
    const convex_problem *p = s->p;
    real value = 0, out[3], share[ORACLE_WEIGHTS];
    for (int64_t i = 0; i < p->rows; i++) {
        if (s->rows) {
            const real xi = u[s->weights + s->slacks + i], over = xi - 1 + margin_of(p, u, i);
            if (!(xi > 0) || !(over > 0)) return HUGE_VALL;
            value += weight_of(p, i) * xi - s->mu * (logl(xi) + logl(over));
            continue;
        }
        if (p->loss == ORACLE_SOFTMAX)
            out[0] = softmax_at(p, u, i, share);
        else
            loss_at(p->loss, margin_of(p, u, i), out);
        value += weight_of(p, i) * out[0];
    }
    for (int v = 0; v < s->weights; v++) {
        if (v % (p->columns + 1) == p->columns) continue;
        value += (real)p->square * u[v] * u[v];
        if (!s->slacks) continue;
        const real slack = u[s->weights + v];
        if (!(slack > fabsl(u[v]))) return HUGE_VALL;
        value += (real)p->absolute * slack - s->mu * (logl(slack - u[v]) + logl(slack + u[v]));
    }
    return value;
}

/* Adds slope and bend of a function of score `function` of row i. */
static void add_row(barrier *s, int64_t i, int64_t function, real slope, int64_t other, real bend) {
    const convex_problem *p = s->p;
    for (int64_t r = 0; r <= p->columns; r++) {
        const real left = r < p->columns ? (real)p->x[i * p->columns + r] : 1;
        if (function == other) s->g[at(p, function, r)] += slope * left;
        for (int64_t c = 0; c <= p->columns; c++) {
            const real right = c < p->columns ? (real)p->x[i * p->columns + c] : 1;
            s->h[at(p, function, r)][at(p, other, c)] += bend * left * right;
        }
    }
}

static void add_hinge(barrier *s, const real *u, int64_t i) {
    const convex_problem *p = s->p;
    const int v = s->weights + s->slacks + (int)i;
    const real xi = u[v], over = xi - 1 + margin_of(p, u, i), sign = sign_of(p, i);
    const real a = s->mu / xi, b = s->mu / over;
    s->g[v] += weight_of(p, i) - a - b;
    s->h[v][v] += a / xi + b / over;
    add_row(s, i, 0, -b * sign, 0, b / over);
    for (int64_t r = 0; r <= p->columns; r++) {
        const real left = r < p->columns ? (real)p->x[i * p->columns + r] : 1;
        s->h[v][r] += b / over * sign * left;
        s->h[r][v] += b / over * sign * left;
    }
}

static void add_softmax(barrier *s, const real *u, int64_t i) {
    const convex_problem *p = s->p;
    const real weight = weight_of(p, i);
    real share[ORACLE_WEIGHTS];
    softmax_at(p, u, i, share);
    for (int64_t k = 0; k < p->functions; k++)
        for (int64_t l = 0; l < p->functions; l++)
            add_row(s, i, k, weight * (share[k] - (k == (int64_t)p->y[i])), l,
                    weight * ((k == l ? share[k] : 0) - share[k] * share[l]));
}

static void add_penalty(barrier *s, const real *u) {
    const convex_problem *p = s->p;
    for (int v = 0; v < s->weights; v++) {
        const int slack = s->weights + v;
        if (v % (p->columns + 1) == p->columns) { /* an intercept */
            if (s->slacks) s->h[slack][slack] = 1;
            continue;
        }
        s->g[v] += 2 * (real)p->square * u[v];
        s->h[v][v] += 2 * (real)p->square;
        if (!s->slacks) continue;
        const real a = 1 / (u[slack] - u[v]), b = 1 / (u[slack] + u[v]);
        s->g[v] += s->mu * (a - b);
        s->g[slack] += (real)p->absolute - s->mu * (a + b);
        s->h[v][v] += s->mu * (a * a + b * b);
        s->h[slack][slack] += s->mu * (a * a + b * b);
        s->h[v][slack] += s->mu * (b * b - a * a);
        s->h[slack][v] += s->mu * (b * b - a * a);
    }
}

static void fill(barrier *s, const real *u) {
    const convex_problem *p = s->p;
    real out[3];
    memset(s->g, 0, sizeof s->g);
    memset(s->h, 0, sizeof s->h);
    for (int64_t i = 0; i < p->rows; i++) {
        if (s->rows) {
            add_hinge(s, u, i);
        } else if (p->loss == ORACLE_SOFTMAX) {
            add_softmax(s, u, i);
        } else {
            const real weight = weight_of(p, i),
                       sign = p->loss == ORACLE_SQUARED ? 1 : sign_of(p, i);
            loss_at(p->loss, margin_of(p, u, i), out);
            add_row(s, i, 0, weight * sign * out[1], 0, weight * out[2]);
        }
    }
    add_penalty(s, u);
    for (int64_t k = 0; k < p->functions; k++) {
        const int b = at(p, k, p->columns);
        s->h[b][b] *= 1 + 1e-15L; /* softmax: only differences of intercepts are determined */
        if (p->intercept) continue;
        s->g[b] = 0;
        for (int v = 0; v < s->size; v++)
            s->h[b][v] = s->h[v][b] = 0;
        s->h[b][b] = 1;
    }
}

/* x = H^-1 x, with the greatest pivot of each column. */
static void eliminate(barrier *s, real *x) {
    const int n = s->size;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int r = k + 1; r < n; r++)
            if (fabsl(s->h[r][k]) > fabsl(s->h[best][k])) best = r;
        for (int c = 0; c < n; c++) {
            const real held = s->h[k][c];
            s->h[k][c] = s->h[best][c];
            s->h[best][c] = held;
        }
        const real held = x[k];
        x[k] = x[best];
        x[best] = held;
        if (s->h[k][k] == 0) s->h[k][k] = 1;
        for (int r = k + 1; r < n; r++) {
            const real share = s->h[r][k] / s->h[k][k];
            for (int c = k; c < n && share != 0; c++)
                s->h[r][c] -= share * s->h[k][c];
            x[r] -= share * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int c = k + 1; c < n; c++)
            x[k] -= s->h[k][c] * x[c];
        x[k] /= s->h[k][k];
    }
}

/* One step; false: it leads nowhere any more. */
static bool step(barrier *s, real *u) {
    real d[SIZE], there[SIZE], slope = 0, t = 1;
    const real value = value_at(s, u);
    fill(s, u);
    for (int v = 0; v < s->size; v++)
        d[v] = -s->g[v];
    eliminate(s, d);
    for (int v = 0; v < s->size; v++)
        slope += d[v] * s->g[v];
    if (!(slope < 0)) return false;
    for (int cut = 0; cut < 60; cut++, t /= 2) {
        for (int v = 0; v < s->size; v++)
            there[v] = u[v] + t * d[v];
        if (value_at(s, there) <= value + 1e-4L * t * slope) {
            memcpy(u, there, sizeof there);
            return -slope > 1e-6L * s->mu + 1e-18L * (1 + fabsl(value));
        }
    }
    return false;
}

double convex_minimum(const convex_problem *p, double *w, double *b) {
    static barrier s; /* large */
    real u[SIZE] = {0};
    memset(&s, 0, sizeof s);
    s.p = p;
    s.weights = (int)(p->functions * (p->columns + 1));
    s.slacks = p->absolute > 0 ? s.weights : 0;
    s.rows = p->loss == ORACLE_HINGE ? (int)p->rows : 0;
    s.size = s.weights + s.slacks + s.rows;
    assert_true(s.weights <= ORACLE_WEIGHTS && p->rows <= ORACLE_ROWS);
    for (int v = s.weights; v < s.size; v++)
        u[v] = 2;
    const bool barriers = s.slacks > 0 || s.rows > 0;
    for (s.mu = barriers ? (real)p->factor : 0;; s.mu *= 0.2L) {
        for (int k = 0; k < 100 && step(&s, u); k++)
            continue;
        if (s.mu <= 1e-15L * (real)p->factor) break;
    }
    for (int64_t k = 0; k < p->functions; k++) {
        for (int64_t j = 0; j < p->columns; j++)
            w[k * p->columns + j] = (double)u[at(p, k, j)];
        b[k] = p->intercept ? (double)u[at(p, k, p->columns)] : 0;
    }
    return (double)exact_value(p, u);
}
