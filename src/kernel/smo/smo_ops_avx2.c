/* Inner loop of the dual solver with AVX2. */
#include "math/vectors/fvec_avx2.h"

#include "kernel/smo/smo_ops_tmpl.h"

const mg_smo_ops mg_smo_ops_avx2 = SMO_OPS_TABLE;
