/* Inner loop of the dual solver, one table per instruction set. */
#pragma once

#include "base/machine/cpu.h"
#include "base/status.h"

/* How far a variable of the dual may be moved up, and down, and what that costs beside f:
 * up + f is the slope to the right, low + f that to the left. epsilon: the kink at 0. */
MG_INLINE double mg_smo_up(double beta, double high, double epsilon) {
    const double kink = beta >= 0.0 ? epsilon : -epsilon; /* no branches: signs are in no order */
    return beta < high ? kink : (double)__builtin_inf();
}
MG_INLINE double mg_smo_low(double beta, double low, double epsilon) {
    const double kink = beta > 0.0 ? epsilon : -epsilon;
    return beta > low ? kink : -(double)__builtin_inf();
}

/* Moves beta_i up and beta_j down by the same: by `wish`, as far as the box (high of i, low of j),
 * or the kink at 0, allows; what ends there is there exactly. Returns the step. */
MG_INLINE double mg_smo_move(double *beta, int64_t i, int64_t j, double high, double low,
                             double epsilon, double wish) {
    const bool kinked = epsilon > 0.0;
    const double end_i = kinked && beta[i] < 0.0 ? 0.0 : high;
    const double end_j = kinked && beta[j] > 0.0 ? 0.0 : low;
    const double step = __builtin_fmin(wish, __builtin_fmin(end_i - beta[i], beta[j] - end_j));
    const bool at_i = step >= end_i - beta[i], at_j = step >= beta[j] - end_j;
    beta[i] = at_i ? end_i : beta[i] + step;
    beta[j] = at_j ? end_j : beta[j] - step;
    return step;
}

/* The variables of a working set, in f32 where there is room for errors: f was exact and comes back
 * exact outside. Arrays of `padded` numbers (a multiple of 16); behind `count` f and the matrix are
 * 0, up is infinity and low minus infinity. */
typedef struct mg_smo_set {
    int count, padded;
    const float *matrix; /* padded numbers a row */
    const float *diagonal;
    float *f, *up, *low;
    double *beta;
    const double *least, *most; /* box */
    double epsilon;
    float tolerance; /* greatest slope to the left less least slope to the right */
    int64_t most_steps;
    bool indefinite; /* result: a direction of negative curvature was met */
} mg_smo_set;

typedef struct mg_smo_ops {
    /* Steps of two variables, chosen to second order (Fan, Chen and Lin, Journal of Machine
     * Learning Research 6, 2005), until the tolerance is met; returns their number. */
    int64_t (*solve)(mg_smo_set *set);
} mg_smo_ops;

MG_ISA_TABLES(mg_smo_ops, mg_smo_ops);
