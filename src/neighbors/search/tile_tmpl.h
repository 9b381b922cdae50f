/* The register tile of search_tmpl.h: TILE_ROWS queries by two vectors of points. */
#include "neighbors/search/tile_ends_tmpl.h"

static unsigned tile_product(int64_t depth, const void *panel_a, const void *panel_b,
                             const float *start, const float *threshold, float *out) {
    const float *a = panel_a, *b = panel_b;
    fvec c[TILE_ROWS][2];
    tile_begin(c, start, out);
    for (int64_t k = 0; k < depth; k++, a += TILE_ROWS, b += 2 * FLANES) {
        const fvec b0 = fvec_load(b), b1 = fvec_load(b + FLANES);
#pragma GCC unroll 12
        for (int r = 0; r < TILE_ROWS; r++) {
            const fvec q = fvec_set(a[r]);
            c[r][0] = fvec_fma(q, b0, c[r][0]);
            c[r][1] = fvec_fma(q, b1, c[r][1]);
        }
    }
    return tile_finish(c, threshold, out);
}

/* Columns j ... j + count - 1 of LANES points: lanes of their lines, and the sums of squares. */
MG_INLINE vec tile_square(const mg_neighbors *index, const int64_t *at, int64_t j, int64_t count,
                          bool single, float *line, vec sum) {
    const int64_t size = single ? 4 : 8, ahead = 2 * FLANES * index->columns * size;
    vec y[LANES];
#pragma GCC unroll 8
    for (int l = 0; l < LANES; l++) {
        const char *values = (const char *)index->points + (at[l] + j) * size;
        __builtin_prefetch(values + ahead); /* of the next panel */
        y[l] = single ? vec_widen_part((const float *)(const void *)values, count)
                      : vec_load_part((const double *)(const void *)values, count);
    }
    vec_turn(y);
#pragma GCC unroll 8
    for (int k = 0; k < LANES; k++, line += 2 * FLANES) {
        if (k >= count) break;
        double scaled[LANES];
        y[k] =
            vec_multiply(vec_subtract(y[k], vec_set(index->centre[j + k])), vec_set(index->scale));
        sum = vec_fma(y[k], y[k], sum);
        vec_store(scaled, y[k]);
        for (int l = 0; l < LANES; l++)
            line[l] = (float)scaled[l];
    }
    return sum;
}

static void tile_pack(const mg_neighbors *index, int64_t first, void *out, double *square) {
    float *panel = out;
    for (int64_t l = 0; l < 2 * FLANES; l += LANES) {
        vec sum = vec_zero();
        int64_t at[LANES], j = 0;
        for (int k = 0; k < LANES; k++)
            at[k] = MG_MIN(first + l + k, index->rows - 1) * index->columns;
        for (; j + LANES <= index->columns; j += LANES)
            sum = index->single
                      ? tile_square(index, at, j, LANES, true, panel + j * 2 * FLANES + l, sum)
                      : tile_square(index, at, j, LANES, false, panel + j * 2 * FLANES + l, sum);
        if (j < index->columns)
            sum = tile_square(index, at, j, index->columns - j, index->single,
                              panel + j * 2 * FLANES + l, sum);
        vec_store(square + l, sum);
    }
}
