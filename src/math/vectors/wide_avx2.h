/* Vectors of f32 with AVX2, for the shared kernel templates. Include it in *_avx2.c only. */
#ifndef MG_WIDE_AVX2_H
#define MG_WIDE_AVX2_H

#include "math/vectors/vec_avx2.h"

enum { WIDE = 8 };
typedef __m256 wide;

/* Loaded at 8 - n, the first n lanes are on. */
static const int32_t wide_mask_table[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

MG_INLINE wide wide_zero(void) {
    return _mm256_setzero_ps();
}
MG_INLINE wide wide_set(float a) {
    return _mm256_set1_ps(a);
}
MG_INLINE wide wide_load(const float *p) {
    return _mm256_loadu_ps(p);
}
MG_INLINE wide wide_load_part(const float *p, int64_t n) { /* the first n lanes and zeros */
    return _mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(wide_mask_table + WIDE - n)));
}
MG_INLINE void wide_store(float *p, wide a) {
    _mm256_storeu_ps(p, a);
}
MG_INLINE wide wide_add(wide a, wide b) {
    return _mm256_add_ps(a, b);
}
MG_INLINE wide wide_subtract(wide a, wide b) {
    return _mm256_sub_ps(a, b);
}
MG_INLINE wide wide_multiply(wide a, wide b) {
    return _mm256_mul_ps(a, b);
}
MG_INLINE wide wide_fma(wide a, wide b, wide c) { /* a b + c */
    return _mm256_fmadd_ps(a, b, c);
}
MG_INLINE wide wide_min(wide a, wide b) {
    return _mm256_min_ps(a, b);
}
MG_INLINE wide wide_max(wide a, wide b) {
    return _mm256_max_ps(a, b);
}
MG_INLINE vec wide_low(wide a) { /* the first half, widened */
    return _mm256_cvtps_pd(_mm256_castps256_ps128(a));
}
MG_INLINE vec wide_high(wide a) {
    return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
}
MG_INLINE double wide_sum_widened(wide a) { /* of halves, in f64 from there on */
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    return vec_sum(_mm256_cvtps_pd(half));
}

#endif
