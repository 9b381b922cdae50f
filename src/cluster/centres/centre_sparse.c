/* Squared distances of sparse rows to tiles. */
#include "cluster/centres/centre_sparse.h"

#include <math.h>
#include <string.h>

enum { LEAST_BLOCK = 4, MOST_BLOCK = 512, USUAL = 32 /* values of a row */ };

/* The square of a centre that leaves the range of numbers: with it no distance is near enough. */
static const double unknown = -1e300;

/* A sum that forgets nothing of its terms, none of which is negative. */
typedef struct careful {
    double sum, lost;
} careful;
static void careful_add(careful *c, double value) {
    const double more = value - c->lost, sum = c->sum + more;
    c->lost = (sum - c->sum) - more;
    c->sum = sum;
}
static double careful_sum(const careful *c) {
    return isnan(c->sum) ? (double)INFINITY : c->sum;
}

int64_t mg_tiles_block(int64_t n) {
    int64_t block = LEAST_BLOCK;
    while (block < MOST_BLOCK && block * block * USUAL < n)
        block *= 2;
    return block;
}

int64_t mg_tiles_square_numbers(int64_t tiles, int64_t n) {
    return tiles * (mg_tiles_blocks(n, mg_tiles_block(n)) + 1) * MG_TILE;
}

void mg_tiles_square(const mg_tiles *tiles, int64_t g) {
    static const double origin[MOST_BLOCK];
    const int64_t n = tiles->n, count = mg_tiles_blocks(n, tiles->block);
    double *blocks = tiles->blocks + g * count * MG_TILE;
    careful sums[MG_TILE] = {{0, 0}};
    for (int64_t b = 0; b < count; b++, blocks += MG_TILE) {
        const int64_t first = b * tiles->block;
        tiles->distances(origin, tiles->values + (g * n + first) * MG_TILE,
                         MG_MIN(tiles->block, n - first), blocks);
        for (int l = 0; l < MG_TILE; l++)
            careful_add(&sums[l], blocks[l]);
    }
    for (int l = 0; l < MG_TILE; l++) {
        double *lane = tiles->values + g * n * MG_TILE + l, square = careful_sum(&sums[l]);
        const bool none = isinf(lane[0]);
        tiles->squares[g * MG_TILE + l] = none || square < (double)INFINITY ? square : unknown;
        for (int64_t j = 0; j < n && none; j++)
            lane[j * MG_TILE] = 0;
    }
}

mg_sparse_point mg_sparse_point_of(const margin_matrix *x, const mg_row_lanes *lanes, int64_t row) {
    careful square = {0, 0};
    for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++)
        careful_add(&square, mg_stored_value(x, k) * mg_stored_value(x, k));
    return (mg_sparse_point){x, lanes, row, careful_sum(&square)};
}

/* By differences. */
static void distances_by_blocks(const mg_sparse_point *point, const mg_tiles *tiles, int64_t g,
                                double out[MG_TILE]) {
    const margin_matrix *x = point->x;
    const int64_t n = tiles->n, size = tiles->block, count = mg_tiles_blocks(n, size);
    const int64_t end = mg_row_start(x, point->row + 1);
    const double *tile = tiles->values + g * n * MG_TILE,
                 *other = tiles->blocks + g * count * MG_TILE;
    int64_t b = 0, k = mg_row_start(x, point->row);
    double values[MOST_BLOCK], part[MG_TILE];
    for (int l = 0; l < MG_TILE; l++) /* without a centre: infinitely far */
        out[l] = isinf(tiles->squares[g * MG_TILE + l]) ? (double)INFINITY : 0;
    for (;;) {
        const int64_t next = k < end ? mg_column_index(x, k) / size : count;
        for (; b < next; b++)
            for (int l = 0; l < MG_TILE; l++)
                out[l] += other[b * MG_TILE + l];
        if (b == count) return;
        memset(values, 0, (size_t)size * sizeof *values);
        for (; k < end && mg_column_index(x, k) < (b + 1) * size; k++)
            values[mg_column_index(x, k) - b * size] = mg_stored_value(x, k);
        tiles->distances(values, tile + b * size * MG_TILE, MG_MIN(size, n - b * size), part);
        for (int l = 0; l < MG_TILE; l++)
            out[l] += part[l];
        b++;
    }
}

/* u = DBL_EPSILON / 2, of a row with `length` values: the dot product is off by at most (length / 4
 * + 4) u (|x|^2 + |c|^2) / 2, |x|^2 by 4 u of it, |c|^2 by (block / 4 + 8) u, and the sums of them
 * by 2 u: together by ((length + block) / 4 + 17) u (|x|^2 + |c|^2) at most. A quarter of what the
 * sum of n squares may be off by, (n + 16) DBL_EPSILON, is allowed. */
void mg_sparse_distances(const mg_sparse_point *point, const mg_tiles *tiles, int64_t g,
                         double out[MG_TILE]) {
    const margin_matrix *x = point->x;
    const int64_t length = mg_row_start(x, point->row + 1) - mg_row_start(x, point->row);
    const double *squares = tiles->squares + g * MG_TILE;
    const mg_lane_squares lanes = {point->square, squares,
                                   (double)(length + tiles->block + 68) /
                                       (2 * (double)(tiles->n + 16))};
    double exact[MG_TILE];
    if (lanes.share >= 1 || !(point->square < (double)INFINITY)) {
        distances_by_blocks(point, tiles, g, out);
        return;
    }
    if (!point->lanes->squares(x, point->row, tiles->values + g * tiles->n * MG_TILE, &lanes, out))
        return;
    distances_by_blocks(point, tiles, g, exact);
    for (int l = 0; l < MG_TILE; l++)
        if (!(out[l] >= lanes.share * (point->square + squares[l]))) out[l] = exact[l];
}
