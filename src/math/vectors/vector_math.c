/* Choice of the elementary functions. */
#include "math/vectors/vector_math.h"

static const mg_vector_math *functions_for(mg_isa isa) {
#if defined(__x86_64__)
    if (isa == MG_ISA_AVX512) return &mg_vector_math_avx512;
    if (isa == MG_ISA_AVX2) return &mg_vector_math_avx2;
#else
    (void)isa;
#endif
    return &mg_vector_math_ref;
}

void mg_vector_exp(mg_isa isa, const double *x, int64_t count, double *out) {
    functions_for(isa)->exp(x, count, out);
}

void mg_vector_log1p(mg_isa isa, const double *x, int64_t count, double *out) {
    functions_for(isa)->log1p(x, count, out);
}
