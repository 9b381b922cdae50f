/* A function of kernels f = sum_j a_j k(x_j, .) under the objective
 *
 *   P(a) = sum_i c_i loss(t_i) + rho/2 a'Ka        t = y f or f - y, c = factor x weight
 *
 * and how far from the optimum it is. With g_i = c_i loss'(f_i) the gradient in a is K (g + rho a).
 * The dual variables u = -g give, where loss and conjugate meet,
 *
 *   P(a) - D(u) = rho/2 d'K d,      d = a + g / rho
 *
 * so one product, K d, is gradient and proof. What rounding of the scores, of d and of K d may have
 * made of P and of the distance is counted with it. */
#pragma once

#include "kernel/machine/kernel_system.h"
#include "math/losses/loss.h"

typedef struct mg_kernel_objective {
    const mg_kernel_system *system;
    const mg_loss *loss; /* smooth, or with subgradients that are slopes (hinge) */
    mg_penalty penalty;
    int64_t count;
    double *c; /* count: factor x weight */
    double *y; /* count: signs, or targets */
} mg_kernel_objective;

typedef struct mg_kernel_point {
    double *a, *f; /* count: coefficients, K a */
    double *g;     /* count: derivatives of the summed loss in f */
    double *curvature;
    double *d, *kd;          /* count: a + g / rho, K d */
    double loss, value, gap; /* the summed loss, P, P - D */
    double rounding;         /* what rounding may hide of P - D */
    int64_t errors;          /* samples with y f <= 0; -1: a regression */
    double *judged; /* count: the coefficients that were judged last; at first 0 with no bound */
    double judged_value, judged_gap;
} mg_kernel_point;

/* A fit on its way from a = 0 to the least value. */
typedef struct mg_kernel_walk {
    mg_fit *fit;
    const mg_kernel_objective *objective;
    mg_kernel_point *point;
    mg_arena *arena;
    mg_stop stop; /* max_iterations below 0: the walker has a limit of its own */
    double tolerance;
    int64_t steps; /* results */
    margin_status ended;
    const char *step_name;
} mg_kernel_walk;

/* Memory from the arena; a = 0. */
margin_status mg_kernel_objective_make(const mg_kernel_system *system, const mg_fit *fit,
                                       const mg_loss *loss, const mg_penalty *penalty,
                                       mg_arena *arena, mg_kernel_objective *objective);
margin_status mg_kernel_point_make(const mg_kernel_objective *objective, mg_arena *arena,
                                   mg_kernel_point *point);
/* sum_i c_i loss at scores f. */
double mg_kernel_loss(const mg_kernel_objective *objective, const double *f, double *slopes,
                      double *curvatures);
/* From a and f: everything else. One product. */
margin_status mg_kernel_point_judge(const mg_kernel_objective *objective, mg_kernel_point *point);
/* A status of the end of the call is no failure: the fit `ended`, with what was judged last. */
margin_status mg_kernel_point_in_time(const mg_kernel_objective *objective, mg_kernel_point *point,
                                      margin_status status, margin_status *ended);
/* (gap + rounding) / max(1, P), as reports have it. */
double mg_kernel_point_gap(const mg_kernel_point *point);
