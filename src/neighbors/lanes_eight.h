/* Eight and sixteen f32 with AVX2, for lanes_avx2.h and lanes_avx512.h: a search gains nothing from
 * longer vectors. */
#ifndef MG_LANES_EIGHT_H
#define MG_LANES_EIGHT_H

#include "base/status.h"

#include <immintrin.h>

typedef __m256 lanes8;

MG_INLINE lanes8 lanes8_set(float a) {
    return _mm256_set1_ps(a);
}
MG_INLINE lanes8 lanes8_load(const float *p) {
    return _mm256_loadu_ps(p);
}
MG_INLINE void lanes8_store(float *p, lanes8 a) {
    _mm256_storeu_ps(p, a);
}
MG_INLINE lanes8 lanes8_subtract(lanes8 a, lanes8 b) {
    return _mm256_sub_ps(a, b);
}
MG_INLINE lanes8 lanes8_add(lanes8 a, lanes8 b) {
    return _mm256_add_ps(a, b);
}
MG_INLINE lanes8 lanes8_multiply(lanes8 a, lanes8 b) {
    return _mm256_mul_ps(a, b);
}
MG_INLINE lanes8 lanes8_max(lanes8 a, lanes8 b) {
    return _mm256_max_ps(a, b);
}
MG_INLINE lanes8 lanes8_absolute(lanes8 a) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
MG_INLINE unsigned lanes8_within(lanes8 a, float limit) { /* a bit for each a <= limit */
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, _mm256_set1_ps(limit), _CMP_LE_OQ));
}

/* Into an ascending list of numbers of at least 0, whose last one leaves. */
MG_INLINE lanes8 lanes8_insert(lanes8 list, float a) {
    const __m256i before = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
    const lanes8 moved =
        _mm256_blend_ps(_mm256_permutevar8x32_ps(list, before), _mm256_setzero_ps(), 1);
    return _mm256_min_ps(list, _mm256_max_ps(moved, _mm256_set1_ps(a)));
}
MG_INLINE float lanes8_last(lanes8 a) {
    const __m128 high = _mm256_extractf128_ps(a, 1);
    return _mm_cvtss_f32(_mm_shuffle_ps(high, high, 3));
}

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

#endif
