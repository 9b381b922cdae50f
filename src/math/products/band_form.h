/* A symmetric matrix as Q B Q' with a band B, so that equations with A + s for many numbers s cost
 * one reduction, 2/3 n^3 multiply-adds in products of matrices, and then n^2 for each factor's
 * solve. (It is the first half of a reduction to tridiagonal form: Bischof, Lang and Sun, "A
 * framework for symmetric band reduction", ACM TOMS 26, 2000. The second half makes solves no
 * cheaper and Q dearer.) */
#pragma once

#include "base/context.h"

/* Entries of B beside the diagonal. */
enum { MG_BAND = 32 };

/* Row-major n x n, leading dimension ld, of which the lower triangle and the diagonal are read, and
 * become B and, below it, V of the factors 1 - V T V' of Q. */
typedef struct mg_band_form {
    int64_t n, ld;
    double *a;     /* the matrix; borrowed */
    double *turns; /* n x MG_BAND: T of each factor; the caller's */
} mg_band_form;

/* Serial; the bits depend on the instruction set. MEMORY, CANCELLED; STOPPED_TIME: the lower
 * triangle is worth nothing. */
margin_status mg_band_reduce(const mg_stop *stop, const mg_band_form *form, margin_error *error);
/* Numbers that this takes meanwhile. */
int64_t mg_band_room(int64_t n);

/* B + shift = L L', factor: n x (MG_BAND + 1); false: not positive definite. */
bool mg_band_factor(const mg_band_form *form, double shift, double *factor);
/* x = (B + shift)^-1 x. Allocates nothing. */
void mg_band_solve(const mg_band_form *form, const double *factor, double *x);
/* x = Q x, or Q'x (`back`), of `vectors` one after the other, n numbers each. Allocates nothing. */
void mg_band_turn(const mg_band_form *form, bool back, int64_t vectors, double *x);
