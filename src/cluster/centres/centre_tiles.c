/* Packing of centres, and the choice of the kernel. */
#include "cluster/centres/centre_tiles.h"

#include "cluster/centres/centre_kernels.h"

#include <math.h>

void mg_tile_pack(const double *centres, const int32_t *order, int64_t count, int64_t n,
                  double *tiles) {
    for (int64_t first = 0; first < count; first += MG_TILE, tiles += MG_TILE * n) {
        const double *from[MG_TILE]; /* NULL: none */
        for (int64_t l = 0, lane = first; l < MG_TILE; l++, lane++)
            from[l] = lane >= count      ? NULL
                      : !order           ? centres + lane * n
                      : order[lane] >= 0 ? centres + order[lane] * n
                                         : NULL;
        for (int64_t j = 0; j < n; j++)
            for (int l = 0; l < MG_TILE; l++)
                tiles[j * MG_TILE + l] = from[l] ? from[l][j] : (double)INFINITY;
    }
}

mg_tile_distances mg_tile_distances_for(mg_isa isa) {
    return MG_ISA_TABLE(isa, mg_centre_kernels)->tile_distances;
}
