/* Squared distances of sparse rows to the tiles of centre_tiles.h.
 *
 * |x|^2 + |c|^2 - 2 x·c, which costs what the row stores, where that is as exact as sums of squared
 * differences may be; else such sums, so that nothing cancels: of the blocks of columns in which
 * the row stores values, and |c|^2 of the others, known beforehand. */
#pragma once

#include "cluster/centres/centre_tiles.h"
#include "math/rows/row_ops.h"

/* Tiles, and for sparse rows (else 0) |c|^2 of their lanes: of each tile in blocks of `block`
 * columns, and of all of them. */
typedef struct mg_tiles {
    double *values; /* mg_tile_numbers(centres, n) */
    double *blocks, *squares;
    int64_t n, block;
    mg_tile_distances distances;
} mg_tiles;

MG_INLINE int64_t mg_tiles_blocks(int64_t n, int64_t block) {
    return (n + block - 1) / block;
}
/* Columns of a block: as many as make few blocks and short ones. */
int64_t mg_tiles_block(int64_t n);
/* Numbers of blocks and squares of so many tiles. */
int64_t mg_tiles_square_numbers(int64_t tiles, int64_t n);
/* Fills them in for tile g, whose values are there; of lanes without a centre these become 0, so
 * that products with them are numbers. */
void mg_tiles_square(const mg_tiles *tiles, int64_t g);

typedef struct mg_sparse_point {
    const margin_matrix *x;
    const mg_row_lanes *lanes; /* for x */
    int64_t row;
    double square; /* |x|^2 */
} mg_sparse_point;
mg_sparse_point mg_sparse_point_of(const margin_matrix *x, const mg_row_lanes *lanes, int64_t row);
/* out[l] = squared distance to the centre in lane l of tile g */
void mg_sparse_distances(const mg_sparse_point *point, const mg_tiles *tiles, int64_t g,
                         double out[MG_TILE]);
