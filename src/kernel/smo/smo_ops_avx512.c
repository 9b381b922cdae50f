/* Inner loop of the dual solver with AVX-512. */
#include "math/vectors/fvec_avx512.h"

#include "kernel/smo/smo_ops_tmpl.h"

const mg_smo_ops mg_smo_ops_avx512 = SMO_OPS_TABLE;
