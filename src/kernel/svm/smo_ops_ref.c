/* Inner loops of the dual solver in plain C: the specification. */
#include "math/vectors/fvec_ref.h"
#include "math/vectors/vec_ref.h"

#define SCALAR_FMA(a, b, c) ((a) * (b) + (c))
#include "kernel/svm/smo_ops_tmpl.h"

const mg_smo_ops mg_smo_ops_ref = SMO_OPS_TABLE;
