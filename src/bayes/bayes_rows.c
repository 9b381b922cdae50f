/* Choice of the inner loops. */
#include "bayes/bayes_rows.h"

const mg_bayes_rows *mg_bayes_rows_for(mg_isa isa, bool single) {
#if defined(__x86_64__)
    if (isa == MG_ISA_AVX512) return &mg_bayes_rows_avx512[single];
    if (isa == MG_ISA_AVX2) return &mg_bayes_rows_avx2[single];
#else
    (void)isa;
#endif
    return &mg_bayes_rows_ref[single];
}
