/* Tiles of kernel values in f32 with AVX2. */
#include "math/vectors/fvec_avx2.h"

#define TILE_ROWS    6
#define TILE_VECTORS 2
#include "kernel/gram/gram_tiles_tmpl.h"

const mg_gram_tile_ops mg_gram_tile_ops_avx2 = GRAM_TILE_TABLE;
