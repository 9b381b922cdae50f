/* A lower bound of the least eigenvalue of a symmetric positive semidefinite matrix H that is known
 * by its products alone, and by the same products the solution of an equation H x = b.
 *
 * Conjugate gradients for H x = v leave the residual r = p(H) v, with a polynomial p of their own:
 * p(0) = 1, its roots t_i are above 0, and S = sum 1/t_i falls out of the recurrence. Up to 1/(2 S)
 * p is at least 1/2. So if the least eigenvalue is not above 1/(2 S), and u is its vector, then
 * |u.v| <= 2 |r|. For three independent vectors v of normal numbers, u.v are three normal numbers:
 * once all residuals are below 2^-15 that has a probability below 2e-13, whatever H is. The draw
 * depends on a seed that the caller takes from all numbers behind H, so that data do not meet it by
 * their making. The equation is the fourth vector: few products cost more for four than for one,
 * and so far down it is about as near its end as they are. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

enum { MG_LEAST_LANES = 4, MG_LEAST_VECTORS = 3 };

/* The equation H x = right, by conjugate gradients from x = 0. */
typedef struct mg_least_equation {
    const double *right; /* size */
    double *x;           /* size: as far as the steps went */
    int64_t most, steps; /* made; at the end: */
    double left, fallen;
    /* |right - H x|^2 = left is little enough; least: the bound; x'Hx - 2 right.x = -fallen */
    bool (*enough)(const void *state, double left, double fallen, double least);
    const void *state; /* of enough */
} mg_least_equation;

typedef struct mg_least_eigenvalue {
    int64_t size;
    /* image = H v for four vectors side by side: number j of vector l at [j * 4 + l] */
    margin_status (*product)(void *state, const double *v, double *image, margin_error *error);
    void *state;
    uint64_t seed;
    int64_t most; /* products */
    double *work; /* MG_LEAST_VECTORS x 4 x size */
    mg_least_equation *equation;
} mg_least_eigenvalue;

/* *least 0: no bound within `most` products; x is then worth nothing. Else OK, or what a product
 * returned. */
margin_status mg_least_eigenvalue_bound(const mg_least_eigenvalue *m, double *least,
                                        margin_error *error);
