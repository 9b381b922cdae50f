/* The factor of a symmetric matrix in extended precision (long double), with pivots, and how much
 * of its digits can be trusted: for verifications, by plain loops. The caller owns the arrays. */
#pragma once

#include "base/context.h"

typedef struct mg_extended_factor {
    int64_t size, count; /* rows of the matrix; how many of them the factor keeps */
    int64_t definite;    /* how many of those rounding left positive; fewer than count: of no use */
    long double *matrix; /* size x size, row-major */
    long double *scratch; /* size */
    int64_t *order;       /* size: the rows, those that are kept first */
    long double error;    /* of the matrix, relative to its least eigenvalue */
} mg_extended_factor;

/* The matrix A, of which the lower triangle is read, becomes L of A = L L' for `count` rows: the
 * row farthest from those before it is next, so that of many that nearly depend on each other those
 * are kept that tell most; the others have their rows of L, too. It ends where f->definite does.
 * With fewer rows, to which count may be set afterwards, it is the same. CANCELLED. size count^2
 * / 2. */
margin_status mg_extended_cholesky(margin_context *context, mg_extended_factor *f,
                                   margin_error *error);

/* The same L of A = X'X from the rows of X, where products would lose too many digits. From a
 * matrix of zeros each row is folded in by rotations (Givens), which changes x ... */
void mg_extended_fold(mg_extended_factor *f, long double *x);
/* ... and the rows of what that made, scaled to length 1 (scale: by how much), by reflections
 * (Householder). CANCELLED. */
margin_status mg_extended_reflect(const margin_context *context, mg_extended_factor *f,
                                  long double *scale, margin_error *error);

/* x = L^-1 x in the places of the rows that are kept; returns |x|^2. */
long double mg_extended_solve(const mg_extended_factor *f, long double *x);
/* Sets f->error from the trace of the inverse, which is at least 1 / the least eigenvalue; INFINITY
 * where fewer rows are definite than are kept. `folded`: of a factor from rows. MEMORY, CANCELLED.
 * count^3 / 6. */
margin_status mg_extended_error(margin_context *context, mg_extended_factor *f, bool folded,
                                margin_error *error);
