/* Distances to centres with AVX-512. */
#include "cluster/centres/centre_kernels.h"
#include "math/vectors/fvec_avx512.h"

enum { VECTORS = 2 };

/* At most the root, less by 2^-12 of it at most. */
MG_INLINE fvec fvec_root(fvec a) {
    const __mmask16 some = _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_GT_OQ);
    const fvec root = _mm512_mul_ps(a, _mm512_maskz_rsqrt14_ps(some, a));
    return _mm512_mul_ps(root, _mm512_set1_ps(1 - 0x1p-13F));
}
/* a < b ? x : y */
MG_INLINE fvec fvec_where(fvec a, fvec b, fvec x, fvec y) {
    return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), x);
}
MG_INLINE int fvec_count(fvec a, fvec most) {
    return __builtin_popcount(_mm512_cmp_ps_mask(a, most, _CMP_LE_OQ));
}
MG_INLINE float fvec_sum(fvec a) {
    return _mm512_reduce_add_ps(a);
}
/* Numbers [0, 4) of rows 0, 4, 8 and 12. */
MG_INLINE fvec fvec_quarters(const float *const *rows, int64_t at) {
    fvec a = _mm512_castps128_ps512(_mm_loadu_ps(rows[0] + at));
    a = _mm512_insertf32x4(a, _mm_loadu_ps(rows[4] + at), 1);
    a = _mm512_insertf32x4(a, _mm_loadu_ps(rows[8] + at), 2);
    return _mm512_insertf32x4(a, _mm_loadu_ps(rows[12] + at), 3);
}
MG_INLINE void fvec_put_quarters(fvec a, float *const *rows, int64_t at) {
    _mm_storeu_ps(rows[0] + at, _mm512_castps512_ps128(a));
    _mm_storeu_ps(rows[4] + at, _mm512_extractf32x4_ps(a, 1));
    _mm_storeu_ps(rows[8] + at, _mm512_extractf32x4_ps(a, 2));
    _mm_storeu_ps(rows[12] + at, _mm512_extractf32x4_ps(a, 3));
}
/* Transposes each quarter of four vectors. */
MG_INLINE void fvec_turn(fvec a[4]) {
    const fvec low = _mm512_unpacklo_ps(a[0], a[1]), high = _mm512_unpackhi_ps(a[0], a[1]);
    const fvec low2 = _mm512_unpacklo_ps(a[2], a[3]), high2 = _mm512_unpackhi_ps(a[2], a[3]);
    a[0] = _mm512_shuffle_ps(low, low2, 0x44);
    a[1] = _mm512_shuffle_ps(low, low2, 0xEE);
    a[2] = _mm512_shuffle_ps(high, high2, 0x44);
    a[3] = _mm512_shuffle_ps(high, high2, 0xEE);
}

#define KERNELS mg_centre_kernels_avx512
#include "cluster/centres/centre_kernels_tmpl.h"
