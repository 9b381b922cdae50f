/* Vectors of four f64 with AVX2 and FMA, for the shared kernel templates. Include it in *_avx2.c
 * only. */
#pragma once

#include "math/vectors/arithmetic.h"

#include <immintrin.h>

enum { LANES = 4 };
typedef __m256d vec;
MG_ARITHMETIC(vec)

/* Loaded at 4 - n, the first n lanes are on. */
static const int64_t vec_mask_table[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
static const int32_t vec_mask_table_32[8] = {-1, -1, -1, -1, 0, 0, 0, 0};

MG_INLINE __m256i vec_mask(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(vec_mask_table + LANES - n));
}
MG_INLINE vec vec_zero(void) {
    return _mm256_setzero_pd();
}
MG_INLINE vec vec_set(double value) {
    return _mm256_set1_pd(value);
}
MG_INLINE vec vec_load(const double *p) {
    return _mm256_loadu_pd(p);
}
MG_INLINE vec vec_load_part(const double *p, int64_t n) {
    return _mm256_maskload_pd(p, vec_mask(n));
}
MG_INLINE vec vec_widen(const float *p) {
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
}
MG_INLINE vec vec_widen_part(const float *p, int64_t n) {
    const __m128i mask = _mm_loadu_si128((const __m128i *)(vec_mask_table_32 + LANES - n));
    return _mm256_cvtps_pd(_mm_maskload_ps(p, mask));
}
MG_INLINE void vec_store(double *p, vec a) {
    _mm256_storeu_pd(p, a);
}
MG_INLINE void vec_store_part(double *p, vec a, int64_t n) {
    _mm256_maskstore_pd(p, vec_mask(n), a);
}
MG_INLINE vec vec_if_negative(vec sign, vec a, vec b) { /* a where the sign bit is set, else b */
    return _mm256_blendv_pd(b, a, sign);
}
MG_INLINE vec vec_fma(vec a, vec b, vec c) { /* a b + c */
    return _mm256_fmadd_pd(a, b, c);
}
MG_INLINE vec vec_absolute(vec a) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
MG_INLINE vec vec_max(vec a, vec b) { /* b where one is a NaN */
    return _mm256_max_pd(a, b);
}
MG_INLINE vec vec_min(vec a, vec b) {
    return _mm256_min_pd(a, b);
}
MG_INLINE vec vec_round(vec a) { /* to the nearest whole number */
    return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
MG_INLINE vec vec_power_of_two(__m128i k) {
    const __m256i biased = _mm256_add_epi64(_mm256_cvtepi32_epi64(k), _mm256_set1_epi64x(1023));
    return _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
}
MG_INLINE vec vec_scale(vec a, vec k) { /* a 2^k for whole |k| < 2000, in two steps */
    const __m128i whole = _mm256_cvtpd_epi32(k), half = _mm_srai_epi32(whole, 1);
    return vec_multiply(vec_multiply(a, vec_power_of_two(half)),
                        vec_power_of_two(_mm_sub_epi32(whole, half)));
}
MG_INLINE void vec_turn(vec a[LANES]) { /* a square: rows become columns */
    const vec even01 = _mm256_unpacklo_pd(a[0], a[1]), odd01 = _mm256_unpackhi_pd(a[0], a[1]);
    const vec even23 = _mm256_unpacklo_pd(a[2], a[3]), odd23 = _mm256_unpackhi_pd(a[2], a[3]);
    a[0] = _mm256_permute2f128_pd(even01, even23, 0x20);
    a[1] = _mm256_permute2f128_pd(odd01, odd23, 0x20);
    a[2] = _mm256_permute2f128_pd(even01, even23, 0x31);
    a[3] = _mm256_permute2f128_pd(odd01, odd23, 0x31);
}
MG_INLINE double vec_sum(vec a) { /* (a0 + a2) + (a1 + a3) */
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
