/* The directions that a matrix A of dependent columns does not see, from a triangular factor of it,
 * and the projection that takes them out of a vector: what is left is the shortest of all vectors
 * with the same product with A. */
#pragma once

#include "base/context.h"

typedef struct mg_null_space {
    int64_t size, rank; /* columns; those behind the first `rank` are sums of these */
    double *sums;       /* row l, `size` numbers apart: the `rank` factors of column rank + l */
    /* With N = [-sums'; 1] a Cholesky factor of N'N; or the Householder form of N with its rows in
     * the order `sorted`. */
    double *inner, *null, *tau;
    int64_t *sorted;
    double *work; /* 2 size */
} mg_null_space;

/* factor: size x size numbers by rows, the first `rank` columns of a lower triangle R' with A = Q R
 * for the columns times `scale`. The rows behind `rank` become the sums, of columns as they are.
 * Arrays come from the arena. MEMORY, CANCELLED; STOPPED_TIME: then it is worth nothing. */
margin_status mg_null_space_make(const mg_stop *stop, mg_arena *arena, int64_t size, int64_t rank,
                                 double *factor, const double *scale, mg_null_space *n,
                                 margin_error *error);
/* Takes the directions out of x (size numbers). As above. */
margin_status mg_null_space_remove(const mg_stop *stop, const mg_null_space *n, double *x,
                                   margin_error *error);
