/* The kernels of one instruction set: included by its file after the vector types `vec` and `fvec`,
 * with VECTORS (of `fvec` for the rows of a tile) and KERNELS (the name of the table) defined. */
#include <float.h>

#include "cluster/centres/centre_filter_tmpl.h"
#include "cluster/centres/centre_squares_tmpl.h"
#include "cluster/centres/centre_tiles_tmpl.h"

const mg_centre_kernels KERNELS = {
    .filter = {TILE_ROWS, filter_round, filter_load, filter_nearest, filter_bounds, drift_bounds,
               filter_draw},
    .tile_distances = tile_distances,
    .group_squares = group_squares,
};
