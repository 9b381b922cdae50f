/* Vectors of AVX2 for search_tmpl.h and tile_tmpl.h. Include it in *_avx2.c only. */
#ifndef MG_LANES_AVX2_H
#define MG_LANES_AVX2_H

#include "neighbors/lanes_eight.h"

/* For tiles. */
enum { WIDE = 8, TILE_ROWS = 6 };
typedef __m256 wide;
MG_INLINE wide wide_set(float a) {
    return _mm256_set1_ps(a);
}
MG_INLINE wide wide_load(const float *p) {
    return _mm256_loadu_ps(p);
}
MG_INLINE void wide_store(float *p, wide a) {
    _mm256_storeu_ps(p, a);
}
MG_INLINE wide wide_fma(wide a, wide b, wide c) {
    return _mm256_fmadd_ps(a, b, c);
}
MG_INLINE unsigned wide_within(wide a, wide b, float limit) { /* not 0 if one is <= limit */
    return (unsigned)_mm256_movemask_ps(
        _mm256_cmp_ps(_mm256_min_ps(a, b), _mm256_set1_ps(limit), _CMP_LE_OQ));
}
MG_INLINE uint32_t wide_bits(wide a, float limit) { /* a bit for each a <= limit */
    return lanes8_within(a, limit);
}

#endif
