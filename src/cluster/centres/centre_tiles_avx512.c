/* Squared distances to tiles of centres with AVX-512. */
#include "cluster/centres/centre_tiles.h"
#include "math/vectors/vec_avx512.h"

#define KERNEL mg_tile_distances_avx512
#include "cluster/centres/centre_tiles_tmpl.h"
