/* Tiles of kernel values in f32 with AVX-512. */
#include "math/vectors/fvec_avx512.h"

#define TILE_ROWS    12
#define TILE_VECTORS 2
#include "kernel/gram/gram_tiles_tmpl.h"

const mg_gram_tile_ops mg_gram_tile_ops_avx512 = GRAM_TILE_TABLE;
