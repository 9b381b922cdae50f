/* The filter of centres with AVX-512. */
#include "math/centre_filter.h"

#include <float.h>
#include <immintrin.h>

enum { WIDE = 16, TILE_ROWS = 12, TILE_STRIPS = 2 };
typedef __m512 wide;

MG_INLINE wide wide_set(float a) {
    return _mm512_set1_ps(a);
}
MG_INLINE wide wide_load(const float *p) {
    return _mm512_loadu_ps(p);
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
MG_INLINE wide wide_fma(wide a, wide b, wide c) {
    return _mm512_fmadd_ps(a, b, c);
}
MG_INLINE wide wide_min(wide a, wide b) {
    return _mm512_min_ps(a, b);
}
MG_INLINE wide wide_max(wide a, wide b) {
    return _mm512_max_ps(a, b);
}
MG_INLINE wide wide_root(wide a) {
    return _mm512_sqrt_ps(a);
}

#define NAME mg_filter_ops_avx512
#include "math/centre_filter_tmpl.h"
