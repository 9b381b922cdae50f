/* Eight f32 with AVX2, for both vector sets: a search gains nothing from longer vectors. */
#pragma once

#include "math/vectors/arithmetic.h"

#include <immintrin.h>

typedef __m256 lanes8;
MG_ARITHMETIC(lanes8)

MG_INLINE lanes8 lanes8_set(float a) {
    return _mm256_set1_ps(a);
}
MG_INLINE lanes8 lanes8_load(const float *p) {
    return _mm256_loadu_ps(p);
}
MG_INLINE void lanes8_store(float *p, lanes8 a) {
    _mm256_storeu_ps(p, a);
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

MG_INLINE unsigned lanes8_within_each(lanes8 a, lanes8 limits) { /* each by its own limit */
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, limits, _CMP_LE_OQ));
}
MG_INLINE unsigned lanes8_equal(lanes8 a, float value) {
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, _mm256_set1_ps(value), _CMP_EQ_OQ));
}

/* Four numbers into an ascending list of numbers of at least 0, whose last ones leave: number i of
 * the new list is the least of max(list[i - t], a[t - 1]) over t, a ascending, and list[i]. */
MG_INLINE lanes8 lanes8_insert_four(lanes8 list, const float *numbers) {
#define LOWER(a, b)  ((a) < (b) ? (a) : (b))
#define HIGHER(a, b) ((a) < (b) ? (b) : (a))
    const float p = LOWER(numbers[0], numbers[1]), q = HIGHER(numbers[0], numbers[1]);
    const float r = LOWER(numbers[2], numbers[3]), s = HIGHER(numbers[2], numbers[3]);
    const float first = LOWER(p, r), u = HIGHER(p, r), v = LOWER(q, s), fourth = HIGHER(q, s);
    const float second = LOWER(u, v), third = HIGHER(u, v);
#undef LOWER
#undef HIGHER
    /* before the first number stands 0 */
    const __m256 zero = _mm256_setzero_ps();
    const __m256i by_1 = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
    const __m256i by_2 = _mm256_setr_epi32(0, 0, 0, 1, 2, 3, 4, 5);
    const __m256i by_3 = _mm256_setr_epi32(0, 0, 0, 0, 1, 2, 3, 4);
    const __m256i by_4 = _mm256_setr_epi32(0, 0, 0, 0, 0, 1, 2, 3);
    const __m256 a = _mm256_max_ps(_mm256_blend_ps(_mm256_permutevar8x32_ps(list, by_1), zero, 1),
                                   _mm256_set1_ps(first));
    const __m256 b = _mm256_max_ps(_mm256_blend_ps(_mm256_permutevar8x32_ps(list, by_2), zero, 3),
                                   _mm256_set1_ps(second));
    const __m256 c = _mm256_max_ps(_mm256_blend_ps(_mm256_permutevar8x32_ps(list, by_3), zero, 7),
                                   _mm256_set1_ps(third));
    const __m256 d = _mm256_max_ps(_mm256_blend_ps(_mm256_permutevar8x32_ps(list, by_4), zero, 15),
                                   _mm256_set1_ps(fourth));
    return _mm256_min_ps(_mm256_min_ps(list, _mm256_min_ps(a, b)), _mm256_min_ps(c, d));
}
MG_INLINE float lanes8_last(lanes8 a) {
    const __m128 high = _mm256_extractf128_ps(a, 1);
    return _mm_cvtss_f32(_mm_shuffle_ps(high, high, 3));
}

#include "neighbors/search/lanes_sixteen.h"
