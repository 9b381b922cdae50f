/* Vectors of f32 with AVX-512, for the shared kernel templates. Include it in *_avx512.c only. */
#ifndef MG_WIDE_AVX512_H
#define MG_WIDE_AVX512_H

#include "math/vectors/vec_avx512.h"

enum { WIDE = 16 };
typedef __m512 wide;

MG_INLINE wide wide_zero(void) {
    return _mm512_setzero_ps();
}
MG_INLINE wide wide_set(float a) {
    return _mm512_set1_ps(a);
}
MG_INLINE wide wide_load(const float *p) {
    return _mm512_loadu_ps(p);
}
MG_INLINE wide wide_load_part(const float *p, int64_t n) { /* the first n lanes and zeros */
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), p);
}
MG_INLINE void wide_store(float *p, wide a) {
    _mm512_storeu_ps(p, a);
}
MG_INLINE wide wide_add(wide a, wide b) {
    return _mm512_add_ps(a, b);
}
MG_INLINE wide wide_subtract(wide a, wide b) {
    return _mm512_sub_ps(a, b);
}
MG_INLINE wide wide_multiply(wide a, wide b) {
    return _mm512_mul_ps(a, b);
}
MG_INLINE wide wide_fma(wide a, wide b, wide c) { /* a b + c */
    return _mm512_fmadd_ps(a, b, c);
}
MG_INLINE wide wide_min(wide a, wide b) {
    return _mm512_min_ps(a, b);
}
MG_INLINE wide wide_max(wide a, wide b) {
    return _mm512_max_ps(a, b);
}
MG_INLINE vec wide_low(wide a) { /* the first half, widened */
    return _mm512_cvtps_pd(_mm512_castps512_ps256(a));
}
MG_INLINE vec wide_high(wide a) {
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
}
MG_INLINE double wide_sum_widened(wide a) { /* of halves, in f64 from there on */
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    return vec_sum(_mm512_cvtps_pd(half));
}

#endif
