/* Kernel values and dense solves in plain loops and extended precision, and data for kernels. */
#ifndef KERNEL_CASES_H
#define KERNEL_CASES_H

#include "least_squares_cases.h"

#include "math/gram/kernel.h"

/* sin of the first column plus the square of the last one plus noise, in place of r->y. */
void kernel_targets(regression *r, uint64_t seed);

/* k(x_i, x_j) in long double. */
long double kernel_of(const mg_kernel *kernel, const double *x, const double *z, int64_t columns);
/* 1 / (columns x variance of all values), rows weighted (NULL: all 1). */
double kernel_scale_of(const regression *r, const double *weights);

/* The a and b of (K + alpha / weight) a + b = y, 1'a = 0 (no intercept: b = 0), by elimination with
 * pivots. */
void kernel_ridge_oracle(const regression *r, const mg_kernel *kernel, const double *weights,
                         double alpha, bool intercept, long double *a, long double *b);
/* sum_j a_j k(x_j, x) + b */
long double kernel_score(const regression *r, const mg_kernel *kernel, const long double *a,
                         long double b, const double *x);

/* x (count) = A^-1 x by elimination with pivots; A is lost. */
void eliminate_dense(long double *A, long double *x, int64_t count);

#endif
