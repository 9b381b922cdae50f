/* A lower bound of the least eigenvalue of a symmetric positive semidefinite matrix H that is known
 * by its products alone.
 *
 * Conjugate gradients for H x = v leave the residual r = p(H) v, with a polynomial p of their own:
 * p(0) = 1, its roots t_i are above 0, and S = sum 1/t_i falls out of the recurrence. Up to 1/(2 S)
 * p is at least 1/2. So if the least eigenvalue is not above 1/(2 S), and u is its vector, then
 * |u.v| <= 2 |r|. For eight independent vectors v of normal numbers, u.v are eight normal numbers:
 * once all residuals are below 1/64 that has a probability below 2e-13, whatever H is. The draw
 * depends on a seed that the caller takes from all numbers behind H, so that data do not meet it by
 * their making. */
#pragma once

#include "base/status.h"

enum { MG_LEAST_LANES = 8, MG_LEAST_VECTORS = 3 };

typedef struct mg_least_eigenvalue {
    int64_t size;
    /* image = H v for eight vectors side by side: number j of vector l at [j * 8 + l] */
    margin_status (*product)(void *state, const double *v, double *image, margin_error *error);
    void *state;
    uint64_t seed;
    int64_t most; /* products */
    double *work; /* MG_LEAST_VECTORS x 8 x size */
} mg_least_eigenvalue;

/* *least 0: no bound within `most` products. Else OK, or what a product returned. */
margin_status mg_least_eigenvalue_bound(const mg_least_eigenvalue *m, double *least,
                                        margin_error *error);
