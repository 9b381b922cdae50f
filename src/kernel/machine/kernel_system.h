/* The Gram matrix K of the samples of a problem as an operator: stored, or made again for every
 * product. */
#pragma once

#include "learn/kernels/kernel_plan.h"

typedef struct mg_kernel_system {
    margin_context *context;
    const mg_problem *problem;
    mg_kernel kernel;
    mg_kernel_curvature curvature; /* of K */
    int64_t count;
    double *squares; /* of all rows of x; NULL where the kernel needs none */
    mg_kernel_scratch *scratch;
    mg_gram_storage storage;
    /* Products read the upper triangle and `diagonal` only, so the lower one of a square may hold a
     * factor. */
    double *gram, *diagonal;
    margin_error *error;
} mg_kernel_system;

/* Computes what is stored. LIMIT, MEMORY, CANCELLED; DATA where a kernel value is not finite. The
 * kernel's gamma is there. After a failure the system makes no products, and may still hand over.
 */
margin_status mg_kernel_system_make(margin_context *context, const mg_problem *problem,
                                    const mg_kernel *kernel, mg_gram_storage storage,
                                    mg_kernel_system *system, margin_error *error);
/* Of some samples of the problem of a stored square: those of `problem`, whose row r of x is its
 * sample position[r]. The values are copied. */
margin_status mg_kernel_system_part(const mg_kernel_system *whole, const int64_t *position,
                                    margin_context *context, const mg_problem *problem,
                                    mg_kernel_system *part, margin_error *error);
void mg_kernel_system_free(mg_kernel_system *system);

/* out = K v for `vectors` vectors, one after the other in both (count numbers each). */
margin_status mg_kernel_system_multiply(const mg_kernel_system *system, int64_t vectors,
                                        const double *v, double *out);

/* The root t_i of k(x_i, x_i), for sigmoid 1: |k(x_i, x_j)| <= t_i t_j, so rounding of a sum in
 * four lanes or more moves (K a)_i by about mg_kernel_rounding times t_i sum_j |a_j| t_j. */
#define mg_kernel_rounding 0x1p-54
double mg_kernel_system_root(const mg_kernel_system *system, int64_t sample);
/* s_i: rounding moves k(x_i, x_j) by a few times mg_kernel_rounding t_i t_j (s_i + s_j) / 2. */
double mg_kernel_system_steepness(const mg_kernel_system *system, int64_t sample);

/* The function sum_i a_i k(x_i, .) + b as the hypothesis of a fit. */
margin_status mg_kernel_system_hand_over(const mg_kernel_system *system, const double *a, double b,
                                         mg_fit *fit);
