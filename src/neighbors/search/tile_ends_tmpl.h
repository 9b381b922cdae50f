/* How a register tile of TILE_ROWS queries by two vectors of points begins and ends. */

MG_INLINE void tile_begin(fvec c[TILE_ROWS][2], const float *start, const float *out) {
#pragma GCC unroll 12
    for (int r = 0; r < TILE_ROWS; r++) {
        const float *from = start ? start : out + r * 2 * FLANES;
        c[r][0] = fvec_load(from);
        c[r][1] = fvec_load(from + FLANES);
    }
}

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

static uint32_t tile_within(const float *values, float threshold) {
    return fvec_bits(fvec_load(values), threshold) |
           fvec_bits(fvec_load(values + FLANES), threshold) << FLANES;
}
