/* A few columns of a Gram matrix that stand for all of it: randomly pivoted Cholesky.
 *
 *   S K S is nearly F F',  F = count x rank, pivots drawn in proportion to the diagonal of what is
 *   left
 *
 * (Chen, Epperly, Tropp and Webber, "Randomly pivoted Cholesky", Communications on Pure and Applied
 * Mathematics 78, 2025), a block of candidates at a time, of which each is kept with the chance
 * that makes the law that of one draw after the other (Epperly, Tropp and Webber, "Embrace
 * rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky", 2024). */
#pragma once

#include "math/gram/kernel.h"

typedef struct mg_pivoting {
    margin_context *context;
    const mg_kernel *kernel;
    mg_kernel_points points; /* the samples */
    const double *scale;     /* S: count numbers >= 0; NULL: all 1 */
    const double *squares;   /* of all rows of x; NULL where the kernel needs none */
    int64_t most;            /* columns of F */
    double enough;           /* ends where the trace of what is left is at most this */
    uint64_t seed;
    margin_error *error;
} mg_pivoting;

/* factor: count x most, row-major, of which the first *rank columns are filled; pivots: `most`
 * samples, in the order in which they were taken; *left: the trace of what is left. Fewer than
 * `most` where nothing is left but rounding. Does not depend on the number of threads. CANCELLED,
 * MEMORY. Cost: count x rank kernel values, count x rank^2 multiply-adds. */
margin_status mg_pivoted_cholesky(const mg_pivoting *task, double *factor, int64_t *pivots,
                                  int64_t *rank, double *left);
