/* The textbook's recipe for any loss: gradient descent on the coefficients,
 *
 *   a -= rate (K g / (factor m) + 2 lambda K a)        mean loss + lambda a'Ka
 *
 * with every step in the trace. For least squares that is (2/m) K (K a - y) + 2 lambda K a. Of the
 * hinge g is a subgradient, and step t has rate / sqrt(1 + t). */
#pragma once

#include "kernel/machine/kernel_point.h"

/* Entries for option tables: rate. */
#define MG_OPTION_KERNEL_RATE                                                                      \
    MG_NUMBER("rate", NULL,                                                                        \
              "solver=gd: step along the gradient of mean loss + lambda a'Ka (default: 1 / "       \
              "its largest curvature)",                                                            \
              MG_ABOVE_0, .when = "solver=gd")

/* Ends at the gap, a limit, or where the objective is no number any more (STALLED). Options rate
 * and max_iter; two products a step. */
margin_status mg_kernel_descend(mg_kernel_walk *walk);
