/* The register tile of search_tmpl.h: TILE_ROWS queries by two vectors of points. */

MG_INLINE unsigned tile_finish(fvec c[TILE_ROWS][2], const float *threshold, float *out) {
    unsigned hits = 0;
    if (threshold) {
#pragma GCC unroll 12
        for (int r = 0; r < TILE_ROWS; r++)
            hits |= (unsigned)(fvec_within(c[r][0], c[r][1], threshold[r]) != 0) << r;
        if (MG_LIKELY(!hits)) return 0;
    }
#pragma GCC unroll 12
    for (int r = 0; r < TILE_ROWS; r++) {
        fvec_store(out + r * 2 * FLANES, c[r][0]);
        fvec_store(out + r * 2 * FLANES + FLANES, c[r][1]);
    }
    return hits;
}

static unsigned tile_product(int64_t depth, const void *panel_a, const void *panel_b,
                             const float *start, const float *threshold, float *out) {
    const float *a = panel_a, *b = panel_b;
    fvec c[TILE_ROWS][2];
#pragma GCC unroll 12
    for (int r = 0; r < TILE_ROWS; r++) {
        const float *from = start ? start : out + r * 2 * FLANES;
        c[r][0] = fvec_load(from);
        c[r][1] = fvec_load(from + FLANES);
    }
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

static uint32_t tile_within(const float *values, float threshold) {
    return fvec_bits(fvec_load(values), threshold) |
           fvec_bits(fvec_load(values + FLANES), threshold) << FLANES;
}
