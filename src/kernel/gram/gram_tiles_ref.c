/* Tiles of kernel values in f32 in plain C. */
#include "math/vectors/fvec_ref.h"

#define TILE_ROWS    2
#define TILE_VECTORS 4
#include "kernel/gram/gram_tiles_tmpl.h"

const mg_gram_tile_ops mg_gram_tile_ops_ref = GRAM_TILE_TABLE;
