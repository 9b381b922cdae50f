/* Squared distances to tiles of centres with AVX2. */
#include "cluster/centres/centre_tiles.h"
#include "math/vectors/vec_avx2.h"

#define KERNEL mg_tile_distances_avx2
#include "cluster/centres/centre_tiles_tmpl.h"
