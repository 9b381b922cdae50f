/* Squared distances of a row to many points ("centres"), eight at a time.
 *
 * Centres lie in tiles of MG_TILE, column by column: coordinate j of the centre in lane l of tile g
 * is tiles[(g * n + j) * MG_TILE + l]. Differences are taken before they are squared, so nothing
 * cancels and no square is negative. The sum of a lane runs over the columns in four parts (j mod
 * 4) that are added as (0 + 1) + (2 + 3), for every instruction set; the fused multiplication of
 * the vector sets makes their last bits other than those of plain C. */
#pragma once

#include "base/machine/cpu.h"
#include "base/status.h"

enum { MG_TILE = 8 };

MG_INLINE int64_t mg_tile_count(int64_t centres) {
    return (centres + MG_TILE - 1) / MG_TILE;
}
/* Numbers of the tiles of `centres` points in n columns. */
MG_INLINE int64_t mg_tile_numbers(int64_t centres, int64_t n) {
    return mg_tile_count(centres) * MG_TILE * n;
}
/* Lane l of tile g takes row order[g * MG_TILE + l] of centres (order NULL: that number). Lanes
 * without a centre (order < 0) are infinitely far from everything. */
void mg_tile_pack(const double *centres, const int32_t *order, int64_t count, int64_t n,
                  double *tiles);

/* out[l] = squared distance of x to the centre in lane l of one tile. */
typedef void (*mg_tile_distances)(const double *x, const double *tile, int64_t n,
                                  double out[MG_TILE]);
mg_tile_distances mg_tile_distances_for(mg_isa isa);
