/* Squared distances to tiles of centres in plain C. */
#include "cluster/centres/centre_tiles.h"
#include "math/vectors/vec_ref.h"

#define KERNEL mg_tile_distances_ref
#include "cluster/centres/centre_tiles_tmpl.h"
