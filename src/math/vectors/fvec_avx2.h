/* Vectors of eight f32 with AVX2 and FMA, for kernel templates. Include it in *_avx2.c only. */
#pragma once

#include "math/vectors/vec_avx2.h"

enum { FLANES = 8 };
typedef __m256 fvec;
MG_ARITHMETIC(fvec)
typedef struct fvec_least { /* in each lane the least value so far and its place */
    __m256 value;
    __m256i place;
} fvec_least;

/* Loaded at 8 - n, the first n lanes are on. */
static const int32_t fvec_mask_table[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

MG_INLINE fvec fvec_zero(void) {
    return _mm256_setzero_ps();
}
MG_INLINE fvec fvec_set(float value) {
    return _mm256_set1_ps(value);
}
MG_INLINE fvec fvec_load(const float *p) {
    return _mm256_loadu_ps(p);
}
MG_INLINE fvec fvec_load_part(const float *p, int64_t n) { /* the first n lanes and zeros */
    return _mm256_maskload_ps(p,
                              _mm256_loadu_si256((const __m256i *)(fvec_mask_table + FLANES - n)));
}
MG_INLINE void fvec_store(float *p, fvec a) {
    _mm256_storeu_ps(p, a);
}
MG_INLINE fvec fvec_fma(fvec a, fvec b, fvec c) { /* a b + c */
    return _mm256_fmadd_ps(a, b, c);
}
MG_INLINE fvec fvec_max(fvec a, fvec b) {
    return _mm256_max_ps(a, b);
}
MG_INLINE fvec fvec_min(fvec a, fvec b) {
    return _mm256_min_ps(a, b);
}
MG_INLINE fvec fvec_absolute(fvec a) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
MG_INLINE fvec fvec_round(fvec a) { /* to the nearest whole number */
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
MG_INLINE fvec fvec_scale(fvec a, fvec k) { /* a 2^k for whole k, both normal numbers */
    const __m256i shift = _mm256_slli_epi32(_mm256_cvtps_epi32(k), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), shift));
}
MG_INLINE vec fvec_low(fvec a) { /* the first half, widened */
    return _mm256_cvtps_pd(_mm256_castps256_ps128(a));
}
MG_INLINE vec fvec_high(fvec a) {
    return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
}
MG_INLINE double fvec_sum_widened(fvec a) { /* of halves, in f64 from there on */
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    return vec_sum(_mm256_cvtps_pd(half));
}
MG_INLINE float fvec_greatest(fvec a) {
    __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}
MG_INLINE fvec_least fvec_least_start(void) {
    return (fvec_least){_mm256_set1_ps((float)__builtin_inff()), _mm256_set1_epi32(INT32_MAX)};
}
/* Values at places first, first + 1, ... */
MG_INLINE void fvec_least_take(fvec_least *least, fvec value, int first) {
    const __m256i places =
        _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
    const __m256 less = _mm256_cmp_ps(value, least->value, _CMP_LT_OQ);
    least->value = _mm256_blendv_ps(least->value, value, less);
    least->place = _mm256_blendv_epi8(least->place, places, _mm256_castps_si256(less));
}
/* The first place of the least value; INT32_MAX: nothing was below infinity. */
MG_INLINE int fvec_least_place(const fvec_least *least, float *value) {
    *value = -fvec_greatest(_mm256_sub_ps(_mm256_setzero_ps(), least->value));
    const __m256 equal = _mm256_cmp_ps(least->value, _mm256_set1_ps(*value), _CMP_EQ_OQ);
    const __m256i places =
        _mm256_blendv_epi8(_mm256_set1_epi32(INT32_MAX), least->place, _mm256_castps_si256(equal));
    __m128i a = _mm_min_epi32(_mm256_castsi256_si128(places), _mm256_extracti128_si256(places, 1));
    a = _mm_min_epi32(a, _mm_shuffle_epi32(a, 0x4e));
    return _mm_cvtsi128_si32(_mm_min_epi32(a, _mm_shuffle_epi32(a, 0xb1)));
}
