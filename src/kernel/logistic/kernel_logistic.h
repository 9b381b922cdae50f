/* Kernel logistic regression: minimise C sum log(1 + e^(-y f)) + |f|^2/2 over the functions
 * f = sum_j a_j k(x_j, .), whose value is the log-odds of the class. See kernel_point.h for the
 * proof. */
#pragma once

#include "kernel/machine/kernel_fit.h"

/* Newton steps, by a factor where the Gram matrix is a square (its lower triangle is taken). */
margin_status mg_kernel_newton(mg_kernel_walk *walk);

extern const mg_learner mg_learner_kernel_logistic;
