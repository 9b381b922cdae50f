/* For verification: sums over pairs of rows by plain loops in extended precision. */
#pragma once

#include "learn/kernels/kernel_options.h"

/* What the rounding of k(x, z) is a small part of, its terms before they cancel; value: k(x, z); x
 * and z: the norms of the rows. */
double mg_kernel_terms(const mg_kernel *kernel, double value, double x, double z);
/* The column that a support row of a precomputed kernel stands for; -1: it is no unit vector. */
int64_t mg_kernel_sums_place(const mg_hypothesis *h, int64_t support);
/* First of all, for `verified.skew`, which counts as rounding: training may have read either value.
 * CANCELLED. */
margin_status mg_kernel_sums_skew(mg_fit *fit, const mg_hypothesis *h);
/* Which entry of the hypothesis, of one function, stands for each row of x (-1: none): its support
 * rows are those of the samples, in the order of x and each once, or there are none. *matches
 * false: they are not, which is said in `verified`. entries: x.rows numbers. */
void mg_kernel_sums_match(mg_fit *fit, const mg_hypothesis *h, int64_t *entries, bool *matches);
/* f(x) without the intercept of a hypothesis of one function at a row; *blur (NULL: not wanted):
 * what rounding may have made of it in training. */
double mg_kernel_sums_score(const mg_fit *fit, const mg_hypothesis *h, const margin_matrix *x,
                            int64_t row, double *blur);
/* The same at a sample. Where a support row stands for it (entries of its row, as above; NULL or
 * -1: none) this is the row that training saw, which a stage may make otherwise now; so below. */
double mg_kernel_sums_sample(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                             int64_t sample, double *blur);
/* k of two samples that both have a support row, and what rounding may have made of it. */
double mg_kernel_sums_pair(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                           int64_t i, int64_t j, double *blur);
/* k(x, x) of a sample, and what rounding may have made of it. */
double mg_kernel_sums_square(const mg_fit *fit, const mg_hypothesis *h, const int64_t *entries,
                             int64_t sample, double *blur);
/* |f|^2 = a'Ka over the support rows, and its rounding. CANCELLED. */
margin_status mg_kernel_sums_norm(const mg_fit *fit, const mg_hypothesis *h, long double *norm,
                                  double *blur);
/* Whether the Gram matrix of the samples is known to have no negative eigenvalue. LIMIT: there is
 * too little memory to know, and the model has a gap. */
margin_status mg_kernel_sums_definite(const mg_fit *fit, const mg_hypothesis *h, bool *definite);
/* |f - f_u|^2 for f_u = sum_i u_i k(x_i, .) over the samples of the problem, from the norm above
 * and scores f (without the intercept). *blur: what rounding may have made of |f_u|^2 in training.
 */
margin_status mg_kernel_sums_distance(const mg_fit *fit, const mg_hypothesis *h,
                                      const int64_t *entries, const double *u, const double *f,
                                      long double norm, double *distance, double *blur);
