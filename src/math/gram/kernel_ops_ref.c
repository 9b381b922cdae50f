/* Kernel blocks in plain C: the specification. */
#include "math/vectors/fvec_ref.h"
#include "math/vectors/vec_ref.h"

#define PANEL_ROWS          4
#define PANEL_VECTORS       4
#define SCALAR_FMA(a, b, c) ((a) * (b) + (c))
#include "math/gram/kernel_ops_tmpl.h"

const mg_kernel_ops mg_kernel_ops_ref = KERNEL_OPS_TABLE;

#define TILE_ROWS    2
#define TILE_VECTORS 4
#include "math/gram/gram_tiles_tmpl.h"

const mg_gram_tile_ops mg_gram_tile_ops_ref = GRAM_TILE_TABLE;
