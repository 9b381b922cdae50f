/* Packing of centres, and the choice of the kernel. */
#include "cluster/centres/centre_tiles.h"

#include "cluster/centres/centre_kernels.h"

#include <math.h>

void mg_tile_pack(const double *centres, const int32_t *order, int64_t count, int64_t n,
                  double *tiles) {
    for (int64_t lane = 0; lane < mg_tile_count(count) * MG_TILE; lane++) {
        double *out = tiles + lane / MG_TILE * MG_TILE * n + lane % MG_TILE;
        const int64_t from = lane >= count ? -1 : order ? order[lane] : lane; /* -1: none */
        for (int64_t j = 0; j < n; j++)
            out[j * MG_TILE] = from < 0 ? (double)INFINITY : centres[from * n + j];
    }
}

mg_tile_distances mg_tile_distances_for(mg_isa isa) {
    return MG_ISA_TABLE(isa, mg_centre_kernels)->tile_distances;
}
