/* Numbers to bytes with AVX-512. Compilers that do not know VNNI find none. */
#include "math/rows/byte_rows.h"

#if defined(__AVX512VNNI__)

#include <immintrin.h>

enum { LANES = 16 };

/* Numbers [j, j + LANES) of all, those of the mask and zeros. */
MG_INLINE __m512 load_numbers(const margin_matrix *x, int64_t j, unsigned mask) {
    if (x->value_type == MARGIN_F32)
        return _mm512_maskz_loadu_ps((__mmask16)mask, (const float *)x->values + j);
    const double *values = (const double *)x->values + j;
    const __m512d low = _mm512_maskz_loadu_pd((__mmask8)mask, values),
                  high = _mm512_maskz_loadu_pd((__mmask8)(mask >> 8), values + 8);
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high),
                              1);
}

bool mg_byte_row_vnni(const margin_matrix *x, int64_t row, float over, uint8_t *to,
                      mg_byte_point *point) {
    const __m512 near = _mm512_set1_ps(0x1p-22f), most = _mm512_set1_ps(255.0f);
    __m512i sum = _mm512_setzero_si512(), square = sum;
    int32_t words = 0;
    for (int64_t j = 0; j < x->columns; j += LANES) {
        const int64_t left = MG_MIN(x->columns - j, LANES);
        const __m512 value = _mm512_mul_ps(load_numbers(x, row * x->stride + j, (1u << left) - 1u),
                                           _mm512_set1_ps(over));
        const __m512i byte = _mm512_cvtps_epi32(value);
        const __m512 whole = _mm512_cvtepi32_ps(byte),
                     off = _mm512_abs_ps(_mm512_sub_ps(value, whole));
        const unsigned bytes = _mm512_cmp_ps_mask(off, _mm512_mul_ps(near, whole), _CMP_LE_OQ) &
                               _mm512_cmp_ps_mask(whole, most, _CMP_LE_OQ);
        if (bytes != 0xffff) return false;
        const __m128i four = _mm512_cvtepi32_epi8(byte);
        _mm_storeu_si128((__m128i *)(void *)(to + j), four);
        words += __builtin_popcount(_mm_test_epi32_mask(four, four));
        sum = _mm512_add_epi32(sum, byte);
        square = _mm512_add_epi32(square, _mm512_mullo_epi32(byte, byte));
    }
    *point = (mg_byte_point){_mm512_reduce_add_epi32(sum), _mm512_reduce_add_epi32(square), words};
    return true;
}
#else
bool mg_byte_row_vnni(const margin_matrix *x, int64_t row, float over, uint8_t *to,
                      mg_byte_point *point) {
    (void)x, (void)row, (void)over, (void)to, (void)point;
    return false;
}
#endif
