/* Vectors of eight f64 with AVX-512, for the shared kernel templates. Include it in *_avx512.c
 * only.
 */
#pragma once

#include "math/vectors/arithmetic.h"

#include <immintrin.h>

enum { LANES = 8 };
typedef __m512d vec;
MG_ARITHMETIC(vec)

MG_INLINE __mmask8 vec_mask(int64_t n) {
    return (__mmask8)((1u << n) - 1u);
}
MG_INLINE vec vec_zero(void) {
    return _mm512_setzero_pd();
}
MG_INLINE vec vec_set(double value) {
    return _mm512_set1_pd(value);
}
MG_INLINE vec vec_load(const double *p) {
    return _mm512_loadu_pd(p);
}
MG_INLINE vec vec_load_part(const double *p, int64_t n) {
    return _mm512_maskz_loadu_pd(vec_mask(n), p);
}
MG_INLINE vec vec_widen(const float *p) {
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}
MG_INLINE vec vec_widen_part(const float *p, int64_t n) {
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(vec_mask(n), p));
}
MG_INLINE void vec_store(double *p, vec a) {
    _mm512_storeu_pd(p, a);
}
MG_INLINE void vec_store_part(double *p, vec a, int64_t n) {
    _mm512_mask_storeu_pd(p, vec_mask(n), a);
}
MG_INLINE vec vec_if_negative(vec sign, vec a, vec b) { /* a where the sign bit is set, else b */
    return _mm512_mask_blend_pd(_mm512_movepi64_mask(_mm512_castpd_si512(sign)), b, a);
}
MG_INLINE vec vec_fma(vec a, vec b, vec c) { /* a b + c */
    return _mm512_fmadd_pd(a, b, c);
}
MG_INLINE vec vec_absolute(vec a) {
    return _mm512_abs_pd(a);
}
MG_INLINE vec vec_max(vec a, vec b) { /* b where one is a NaN */
    return _mm512_max_pd(a, b);
}
MG_INLINE vec vec_min(vec a, vec b) {
    return _mm512_min_pd(a, b);
}
/* Without optimisation the intrinsic is a macro that converts a mask of 255 to char. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
MG_INLINE vec vec_round(vec a) { /* to the nearest whole number */
    return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#pragma GCC diagnostic pop
MG_INLINE vec vec_scale(vec a, vec k) { /* a 2^k for whole k */
    return _mm512_scalef_pd(a, k);
}
/* Four vectors of four pairs, `step` apart, as a square of pairs. */
MG_INLINE void vec_turn_pairs(const vec pairs[4], vec *out) {
    const vec low01 = _mm512_shuffle_f64x2(pairs[0], pairs[1], 0x44);
    const vec high01 = _mm512_shuffle_f64x2(pairs[0], pairs[1], 0xEE);
    const vec low23 = _mm512_shuffle_f64x2(pairs[2], pairs[3], 0x44);
    const vec high23 = _mm512_shuffle_f64x2(pairs[2], pairs[3], 0xEE);
    out[0] = _mm512_shuffle_f64x2(low01, low23, 0x88);
    out[2] = _mm512_shuffle_f64x2(low01, low23, 0xDD);
    out[4] = _mm512_shuffle_f64x2(high01, high23, 0x88);
    out[6] = _mm512_shuffle_f64x2(high01, high23, 0xDD);
}
MG_INLINE void vec_turn(vec a[LANES]) { /* a square: rows become columns */
    vec even[4], odd[4];
    for (int k = 0; k < 4; k++) {
        even[k] = _mm512_unpacklo_pd(a[2 * k], a[2 * k + 1]);
        odd[k] = _mm512_unpackhi_pd(a[2 * k], a[2 * k + 1]);
    }
    vec_turn_pairs(even, a);
    vec_turn_pairs(odd, a + 1);
}
MG_INLINE double vec_sum(vec a) { /* halves, then as the four-lane sum */
    const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
