/* The filter of centres with AVX2. */
#include "math/centre_filter.h"

#include <float.h>
#include <immintrin.h>

enum { WIDE = 8, TILE_ROWS = 6, TILE_STRIPS = 1 };
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
MG_INLINE wide wide_add(wide a, wide b) {
    return _mm256_add_ps(a, b);
}
MG_INLINE wide wide_subtract(wide a, wide b) {
    return _mm256_sub_ps(a, b);
}
MG_INLINE wide wide_multiply(wide a, wide b) {
    return _mm256_mul_ps(a, b);
}
MG_INLINE wide wide_fma(wide a, wide b, wide c) {
    return _mm256_fmadd_ps(a, b, c);
}
MG_INLINE wide wide_min(wide a, wide b) {
    return _mm256_min_ps(a, b);
}
MG_INLINE wide wide_max(wide a, wide b) {
    return _mm256_max_ps(a, b);
}
MG_INLINE wide wide_root(wide a) {
    return _mm256_sqrt_ps(a);
}

#define NAME mg_filter_ops_avx2
#include "math/centre_filter_tmpl.h"
