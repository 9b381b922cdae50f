/* Vectors of AVX-512 for search_tmpl.h and tile_tmpl.h. Include it in *_avx512.c only. */
#ifndef MG_LANES_AVX512_H
#define MG_LANES_AVX512_H

#include "neighbors/lanes_eight.h"

/* For tiles. */
enum { WIDE = 16, TILE_ROWS = 12 };
typedef __m512 wide;
MG_INLINE wide wide_set(float a) {
    return _mm512_set1_ps(a);
}
MG_INLINE wide wide_load(const float *p) {
    return _mm512_loadu_ps(p);
}
MG_INLINE void wide_store(float *p, wide a) {
    _mm512_storeu_ps(p, a);
}
MG_INLINE wide wide_fma(wide a, wide b, wide c) {
    return _mm512_fmadd_ps(a, b, c);
}
MG_INLINE unsigned wide_within(wide a, wide b, float limit) { /* not 0 if one is <= limit */
    return _mm512_cmp_ps_mask(_mm512_min_ps(a, b), _mm512_set1_ps(limit), _CMP_LE_OQ);
}
MG_INLINE uint32_t wide_bits(wide a, float limit) { /* a bit for each a <= limit */
    return _mm512_cmp_ps_mask(a, _mm512_set1_ps(limit), _CMP_LE_OQ);
}

#endif
