/* Kernel blocks with AVX2. */
#include "math/vectors/fvec_avx2.h"
#include "math/vectors/vec_exp_tmpl.h"

#define PANEL_ROWS          6 /* twelve sums of sixteen registers */
#define PANEL_VECTORS       2
#define SCALAR_FMA(a, b, c) __builtin_fma(a, b, c)
#include "math/gram/kernel_ops_tmpl.h"

const mg_kernel_ops mg_kernel_ops_avx2 = KERNEL_OPS_TABLE;

#define TILE_ROWS    6
#define TILE_VECTORS 2
#include "math/gram/gram_tiles_tmpl.h"

const mg_gram_tile_ops mg_gram_tile_ops_avx2 = GRAM_TILE_TABLE;
