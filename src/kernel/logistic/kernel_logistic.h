/* Kernel logistic regression: minimise C sum log(1 + e^(-y f)) + |f|^2/2 over the functions
 * f = sum_j a_j k(x_j, .), whose value is the log-odds of the class. See kernel_point.h for the
 * proof. */
#pragma once

#include "kernel/machine/kernel_fit.h"

typedef struct mg_newton {
    const mg_kernel_objective *objective;
    mg_stop stop;
    double tolerance;
    mg_arena *arena;
    margin_error *error;
    int64_t steps, products; /* results */
    margin_status ended;
    bool direct; /* by a factor, which takes the lower triangle of the Gram matrix */
} mg_newton;

/* From point->a = 0 on: Newton steps until the gap is at most the tolerance. */
margin_status mg_kernel_newton(mg_newton *newton, mg_kernel_point *point);

/* The options that verification needs. */
mg_penalty mg_kernel_logistic_penalty(const mg_fit *fit);
double mg_kernel_logistic_tolerance(const mg_fit *fit);
margin_status mg_kernel_logistic_verify(mg_fit *fit, const mg_hypothesis *hypothesis);

extern const mg_learner mg_learner_kernel_logistic;
