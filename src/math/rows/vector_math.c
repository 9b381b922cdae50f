/* Choice of the elementary functions. */
#include "math/rows/vector_math.h"

#include "math/rows/row_kernels.h"

void mg_vector_exp(mg_isa isa, const double *x, int64_t count, double *out) {
    MG_ISA_TABLE(isa, mg_row_kernels)->exp(x, count, out);
}

void mg_vector_log1p(mg_isa isa, const double *x, int64_t count, double *out) {
    MG_ISA_TABLE(isa, mg_row_kernels)->log1p(x, count, out);
}
