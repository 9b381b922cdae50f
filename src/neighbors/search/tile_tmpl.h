/* The register tile of search_tmpl.h: TILE_ROWS queries by two vectors of points. */

MG_INLINE unsigned tile_finish(wide c[TILE_ROWS][2], const float *threshold, float *out) {
    unsigned hits = 0;
    if (threshold) {
#pragma GCC unroll 12
        for (int r = 0; r < TILE_ROWS; r++)
            hits |= (unsigned)(wide_within(c[r][0], c[r][1], threshold[r]) != 0) << r;
        if (MG_LIKELY(!hits)) return 0;
    }
#pragma GCC unroll 12
    for (int r = 0; r < TILE_ROWS; r++) {
        wide_store(out + r * 2 * WIDE, c[r][0]);
        wide_store(out + r * 2 * WIDE + WIDE, c[r][1]);
    }
    return hits;
}

static unsigned tile_product(int64_t depth, const void *panel_a, const void *panel_b,
                             const float *start, const float *threshold, float *out) {
    const float *a = panel_a, *b = panel_b;
    wide c[TILE_ROWS][2];
#pragma GCC unroll 12
    for (int r = 0; r < TILE_ROWS; r++) {
        const float *from = start ? start : out + r * 2 * WIDE;
        c[r][0] = wide_load(from);
        c[r][1] = wide_load(from + WIDE);
    }
    for (int64_t k = 0; k < depth; k++, a += TILE_ROWS, b += 2 * WIDE) {
        const wide b0 = wide_load(b), b1 = wide_load(b + WIDE);
#pragma GCC unroll 12
        for (int r = 0; r < TILE_ROWS; r++) {
            const wide q = wide_set(a[r]);
            c[r][0] = wide_fma(q, b0, c[r][0]);
            c[r][1] = wide_fma(q, b1, c[r][1]);
        }
    }
    return tile_finish(c, threshold, out);
}

static uint32_t tile_within(const float *values, float threshold) {
    return wide_bits(wide_load(values), threshold) | wide_bits(wide_load(values + WIDE), threshold)
                                                         << WIDE;
}
