/* The dual of a kernel machine with a box and one sum, by working sets.
 *
 *   minimise  b'Kb/2 - y'b + epsilon |b|_1   over  low <= b <= high,  sum of b = 0
 *
 * Two classes: y = +-1, b_i between 0 and C y_i, epsilon 0. Regression: b_i in [-C, C]. With r = Kb
 * - y + intercept, the sum over the rows of
 *
 *   b_i r_i + epsilon |b_i| + high_i max(-r_i - epsilon, 0) - low_i max(r_i - epsilon, 0)
 *
 * is what the primal is above the dual; no term is negative, and it is 0 for a row that agrees with
 * its bounds. One class: y = 0, b_i between 0 and 1, and their sum is `total` in place of 0; the
 * intercept is -rho, and the primal has -rho total more.
 *
 * A round takes up to 1024 variables, half of them from the round before, the others those that
 * violate most; solves them on their own part of K (f32, two variables at a time); and adds the
 * rows of the variables that changed to the gradient (f64). Where few variables can still move,
 * they are solved as a problem of their own, in the same way, before all are looked at again. What
 * is computed does not depend on the number of threads.
 *
 * Working sets: Joachims 1999; Zanghirati and Zanni, Parallel Computing 29, 2003. */
#pragma once

#include "kernel/smo/smo_ops.h"
#include "math/gram/gram_tiles.h"

typedef struct mg_smo {
    margin_context *context;
    const mg_stop *stop; /* iterations: steps */
    const mg_smo_ops *ops;
    const mg_gram_tile_ops *tiles;
    int64_t count;
    const double *target, *low, *high;
    double epsilon, total; /* total: the sum of b */
    const float *diagonal;
    /* K in f32: rows of a gram over exactly these points, or a matrix of which variable i has row
     * and column place[i] (NULL: i). */
    mg_gram *gram;
    const float *matrix;
    const int64_t *place;
    int64_t ld;
    double row_seconds; /* the least that a round took for each of its rows; 0: not yet known */
    /* Where matrices of smaller problems are made, from the end on: `room` numbers. */
    float *spare;
    int64_t room;
    mg_gram *lender;      /* of which these are the last rows; NULL: nobody's */
    const int64_t *point; /* of the lender, of each variable; NULL: i */
    /* When to end: kkt > 0: the greatest slope to the left exceeds the least to the right by at
     * most that. Else: the primal is above the dual by at most gap + relative * |primal|. */
    double kkt, gap, relative;
    double enough; /* a gap below which it soon ends, where rounding stops it */

    /* beta: feasible, from start to end. f = K beta - y on entry, and of this K at the end. */
    double *beta, *f;
    /* 2 x count: both where the primal was least, the state that a limit leaves, as steps lower the
     * dual but may raise the primal. NULL: the last one. */
    double *best;
    double least; /* that primal */

    /* Results. */
    double *right, *left;    /* slopes of each variable at the last measure */
    double up, lowest;       /* least slope to the right, greatest to the left */
    double primal, dual_gap; /* at the intercept between them */
    int64_t steps, rounds;
    bool indefinite; /* negative curvature was met */
    bool stalled;    /* no progress any more: f32 is at its end */
} mg_smo;

/* Slopes of variable i to the right, and to the left. */
MG_INLINE double mg_smo_right(const mg_smo *s, int64_t i) {
    return s->f[i] + mg_smo_up(s->beta[i], s->high[i], s->epsilon);
}
MG_INLINE double mg_smo_left(const mg_smo *s, int64_t i) {
    return s->f[i] + mg_smo_low(s->beta[i], s->low[i], s->epsilon);
}
/* Of one class every row that is not on its bound is an inlier, so that nu bounds the outliers;
 * else the middle. */
MG_INLINE double mg_smo_intercept(const mg_smo *s) {
    const double up = s->up, lowest = s->lowest, least = up < lowest ? up : lowest;
    if (s->total > 0.0 && least > -(double)INFINITY)
        return least < (double)INFINITY ? 1e-12 * (least < 0.0 ? -least : least) - least : 0.0;
    if (up < (double)INFINITY && lowest > -(double)INFINITY) return -(up + lowest) / 2.0;
    return up < (double)INFINITY ? -up : lowest > -(double)INFINITY ? -lowest : 0.0;
}

/* up, lowest, primal and dual_gap of s->beta and s->f. */
void mg_smo_measure(mg_smo *s);
/* f += K (moved) for some variables: after a change of beta, which is the caller's. */
margin_status mg_smo_apply(mg_smo *s, const int64_t *changed, const double *moved, int64_t count,
                           margin_error *error);
/* OK also where it stalled; STOPPED_* as the stop says; failures. */
margin_status mg_smo_solve(mg_smo *s, margin_error *error);

/* Goes on where single precision ended, from s->f in f64: slower, each step looks at all variables.
 * gram: f64 rows that are kept; K is `factor` times its value (place[i], place[j]). */
margin_status mg_smo_finish(mg_smo *s, mg_gram *gram, const int64_t *place, double factor,
                            margin_error *error);
