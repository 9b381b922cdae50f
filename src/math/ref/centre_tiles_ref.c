/* Squared distances to tiles of centres in plain C. */
#include "math/centre_tiles.h"
#include "math/ref/vec_ref.h"

#define KERNEL mg_tile_distances_ref
#include "math/centre_tiles_tmpl.h"
