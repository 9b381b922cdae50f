/* Vectors of sixteen f32 with AVX-512, for kernel templates. Include it in *_avx512.c only. */
#pragma once

#include "math/vectors/vec_avx512.h"

enum { FLANES = 16 };
typedef __m512 fvec;
MG_ARITHMETIC(fvec)
typedef struct fvec_least { /* in each lane the least value so far and its place */
    __m512 value;
    __m512i place;
} fvec_least;

MG_INLINE fvec fvec_zero(void) {
    return _mm512_setzero_ps();
}
MG_INLINE fvec fvec_set(float value) {
    return _mm512_set1_ps(value);
}
MG_INLINE fvec fvec_load(const float *p) {
    return _mm512_loadu_ps(p);
}
MG_INLINE fvec fvec_load_part(const float *p, int64_t n) { /* the first n lanes and zeros */
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), p);
}
MG_INLINE void fvec_store(float *p, fvec a) {
    _mm512_storeu_ps(p, a);
}
MG_INLINE fvec fvec_fma(fvec a, fvec b, fvec c) { /* a b + c */
    return _mm512_fmadd_ps(a, b, c);
}
MG_INLINE fvec fvec_max(fvec a, fvec b) {
    return _mm512_max_ps(a, b);
}
MG_INLINE fvec fvec_min(fvec a, fvec b) {
    return _mm512_min_ps(a, b);
}
MG_INLINE fvec fvec_absolute(fvec a) {
    return _mm512_abs_ps(a);
}
/* Without optimisation the intrinsic is a macro that converts a mask of 255 to char. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
MG_INLINE fvec fvec_round(fvec a) { /* to the nearest whole number */
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#pragma GCC diagnostic pop
MG_INLINE fvec fvec_scale(fvec a, fvec k) { /* a 2^k for whole k, both normal numbers */
    const __m512i shift = _mm512_slli_epi32(_mm512_cvtps_epi32(k), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), shift));
}
MG_INLINE vec fvec_low(fvec a) { /* the first half, widened */
    return _mm512_cvtps_pd(_mm512_castps512_ps256(a));
}
MG_INLINE vec fvec_high(fvec a) {
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
}
MG_INLINE double fvec_sum_widened(fvec a) { /* of halves, in f64 from there on */
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    return vec_sum(_mm512_cvtps_pd(half));
}
MG_INLINE float fvec_greatest(fvec a) {
    return _mm512_reduce_max_ps(a);
}
MG_INLINE fvec_least fvec_least_start(void) {
    return (fvec_least){_mm512_set1_ps((float)__builtin_inff()), _mm512_set1_epi32(INT32_MAX)};
}
/* Values at places first, first + 1, ... */
MG_INLINE void fvec_least_take(fvec_least *least, fvec value, int first) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __mmask16 less = _mm512_cmp_ps_mask(value, least->value, _CMP_LT_OQ);
    least->value = _mm512_mask_mov_ps(least->value, less, value);
    least->place = _mm512_mask_add_epi32(least->place, less, lanes, _mm512_set1_epi32(first));
}
/* The first place of the least value; INT32_MAX: nothing was below infinity. */
MG_INLINE int fvec_least_place(const fvec_least *least, float *value) {
    *value = _mm512_reduce_min_ps(least->value);
    const __mmask16 equal = _mm512_cmp_ps_mask(least->value, _mm512_set1_ps(*value), _CMP_EQ_OQ);
    return _mm512_mask_reduce_min_epi32(equal, least->place);
}
