/* Eight f32 with AVX, for lanes_avx2.h and lanes_avx512.h. */
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

#endif
