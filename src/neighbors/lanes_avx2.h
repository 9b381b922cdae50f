/* Eight and sixteen f32 side by side with AVX2, for search_tmpl.h and tile_tmpl.h. Include it in
 * *_avx2.c only. */
#ifndef MG_LANES_AVX2_H
#define MG_LANES_AVX2_H

#include "neighbors/lanes_eight.h"

typedef struct lanes16 {
    lanes8 low, high;
} lanes16;

MG_INLINE lanes16 lanes16_zero(void) {
    return (lanes16){lanes8_set(0), lanes8_set(0)};
}
MG_INLINE lanes16 lanes16_gap(const float *p, float q) {
    return (lanes16){lanes8_absolute(lanes8_subtract(lanes8_load(p), lanes8_set(q))),
                     lanes8_absolute(lanes8_subtract(lanes8_load(p + 8), lanes8_set(q)))};
}
MG_INLINE lanes16 lanes16_add(lanes16 a, lanes16 b) {
    return (lanes16){lanes8_add(a.low, b.low), lanes8_add(a.high, b.high)};
}
MG_INLINE lanes16 lanes16_square(lanes16 a) {
    return (lanes16){lanes8_multiply(a.low, a.low), lanes8_multiply(a.high, a.high)};
}
MG_INLINE lanes16 lanes16_max(lanes16 a, lanes16 b) {
    return (lanes16){lanes8_max(a.low, b.low), lanes8_max(a.high, b.high)};
}
MG_INLINE unsigned lanes16_within(lanes16 a, float limit) {
    return lanes8_within(a.low, limit) | lanes8_within(a.high, limit) << 8;
}
MG_INLINE void lanes16_store(float *p, lanes16 a) {
    lanes8_store(p, a.low);
    lanes8_store(p + 8, a.high);
}

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

#endif
