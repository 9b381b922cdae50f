/* Inner loop of the dual solver in plain C: the specification. */
#include "math/vectors/fvec_ref.h"

#include "kernel/smo/smo_ops_tmpl.h"

const mg_smo_ops mg_smo_ops_ref = SMO_OPS_TABLE;
