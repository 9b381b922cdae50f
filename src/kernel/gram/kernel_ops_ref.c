/* Kernel blocks in plain C: the specification. */
#include "math/vectors/vec_ref.h"

#define PANEL_ROWS          4
#define PANEL_VECTORS       4
#define SCALAR_FMA(a, b, c) ((a) * (b) + (c))
#include "kernel/gram/kernel_ops_tmpl.h"

const mg_kernel_ops mg_kernel_ops_ref = KERNEL_OPS_TABLE;
