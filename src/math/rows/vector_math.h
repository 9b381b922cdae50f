/* Elementary functions of arrays. One algorithm: the bits of element i are the same for every
 * instruction set, count and alignment. out may be x. */
#pragma once

#include "base/machine/cpu.h"

#include <stdint.h>

/* e^x within one unit in the last place; 0 and infinity beyond the range, NaN stays NaN. */
void mg_vector_exp(mg_isa isa, const double *x, int64_t count, double *out);
/* log(1 + x) for 0 <= x <= 1, within one and a half units in the last place; NaN stays NaN. */
void mg_vector_log1p(mg_isa isa, const double *x, int64_t count, double *out);

/* z = exp z / sum exp z in place, by way of the greatest; NaN gives NaN. In plain C. */
void mg_softmax(double *z, int64_t count);
