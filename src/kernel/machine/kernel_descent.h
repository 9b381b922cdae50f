/* The textbook's recipe for any loss: gradient descent on the coefficients,
 *
 *   a -= rate (K g / (factor m) + 2 lambda K a)        mean loss + lambda a'Ka
 *
 * with every step in the trace. For least squares that is (2/m) K (K a - y) + 2 lambda K a. */
#pragma once

#include "kernel/machine/kernel_point.h"

/* Entries for option tables: rate. */
#define MG_OPTION_KERNEL_RATE                                                                      \
    MG_NUMBER("rate", NULL,                                                                        \
              "solver=gd: step along the gradient of mean loss + lambda a'Ka (default: 1 / "       \
              "its largest curvature)",                                                            \
              .low = 0, .low_open = 1, .high = (double)INFINITY, .high_open = 1)

typedef struct mg_kernel_descent {
    const mg_kernel_objective *objective;
    const mg_trace *trace; /* NULL: none */
    mg_stop stop;
    double rate; /* NaN: 1 / the largest curvature, which is estimated; set to what was taken */
    double tolerance;
    margin_error *error;
    int64_t steps; /* results */
    margin_status ended;
} mg_kernel_descent;

/* All of it for a fit whose options max_iter, rate and tol are given; fills what a report says of
 * steps. DATA where the coefficients left the range of numbers. */
margin_status mg_kernel_descend_fit(mg_fit *fit, const mg_kernel_objective *objective,
                                    mg_kernel_point *point);
