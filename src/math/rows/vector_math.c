/* Choice of the elementary functions. */
#include "math/rows/vector_math.h"

#include "math/rows/row_kernels.h"

#include <math.h>

void mg_vector_exp(mg_isa isa, const double *x, int64_t count, double *out) {
    MG_ISA_TABLE(isa, mg_row_kernels)->exp(x, count, out);
}

void mg_vector_log1p(mg_isa isa, const double *x, int64_t count, double *out) {
    MG_ISA_TABLE(isa, mg_row_kernels)->log1p(x, count, out);
}

void mg_softmax(double *z, int64_t count) {
    double greatest = -(double)INFINITY, sum = 0.0;
    for (int64_t k = 0; k < count; k++)
        if (!(z[k] <= greatest)) greatest = z[k];
    for (int64_t k = 0; k < count; k++) {
        z[k] = exp(z[k] - greatest);
        sum += z[k];
    }
    for (int64_t k = 0; k < count; k++)
        z[k] /= sum;
}
