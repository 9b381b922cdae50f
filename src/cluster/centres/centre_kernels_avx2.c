/* Distances to centres with AVX2. */
#include "cluster/centres/centre_kernels.h"
#include "math/vectors/fvec_avx2.h"

enum { VECTORS = 1 };

MG_INLINE fvec fvec_root(fvec a) {
    return _mm256_sqrt_ps(a);
}
/* a < b ? x : y */
MG_INLINE fvec fvec_where(fvec a, fvec b, fvec x, fvec y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
MG_INLINE int fvec_count(fvec a, fvec most) {
    const int mask = _mm256_movemask_ps(_mm256_cmp_ps(a, most, _CMP_LE_OQ));
    return __builtin_popcount((unsigned)mask);
}
MG_INLINE float fvec_sum(fvec a) {
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
}
/* Numbers [0, 4) of rows 0 and 4. */
MG_INLINE fvec fvec_quarters(const float *const *rows, int64_t at) {
    const fvec a = _mm256_castps128_ps256(_mm_loadu_ps(rows[0] + at));
    return _mm256_insertf128_ps(a, _mm_loadu_ps(rows[4] + at), 1);
}
MG_INLINE void fvec_put_quarters(fvec a, float *const *rows, int64_t at) {
    _mm_storeu_ps(rows[0] + at, _mm256_castps256_ps128(a));
    _mm_storeu_ps(rows[4] + at, _mm256_extractf128_ps(a, 1));
}
/* Transposes each quarter of four vectors. */
MG_INLINE void fvec_turn(fvec a[4]) {
    const fvec low = _mm256_unpacklo_ps(a[0], a[1]), high = _mm256_unpackhi_ps(a[0], a[1]);
    const fvec low2 = _mm256_unpacklo_ps(a[2], a[3]), high2 = _mm256_unpackhi_ps(a[2], a[3]);
    a[0] = _mm256_shuffle_ps(low, low2, 0x44);
    a[1] = _mm256_shuffle_ps(low, low2, 0xEE);
    a[2] = _mm256_shuffle_ps(high, high2, 0x44);
    a[3] = _mm256_shuffle_ps(high, high2, 0xEE);
}

#define KERNELS mg_centre_kernels_avx2
#include "cluster/centres/centre_kernels_tmpl.h"
