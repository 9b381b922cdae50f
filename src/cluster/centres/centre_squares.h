/* Squared distances of one row to many centres, as sums of squared differences: exact to rounding
 * however far from 0 the points lie, and never negative. One algorithm: the same bits for every
 * instruction set. Cost: columns * centres subtractions, products and sums. */
#pragma once

#include "base/machine/cpu.h"

#include <stdint.h>

enum { MG_CENTRE_GROUP = 32 }; /* centres that lie side by side */

/* Numbers of `count` packed centres. */
int64_t mg_centres_packed(int64_t count, int64_t columns);
/* centres: count x columns, row-major; the last group is filled up with copies. */
void mg_centres_pack(const double *centres, int64_t count, int64_t columns, double *packed);

/* squares[k] = sum_j (x_j - centre_kj)^2 */
void mg_centre_squares(mg_isa isa, const double *x, int64_t columns, const double *packed,
                       int64_t count, double *squares);
