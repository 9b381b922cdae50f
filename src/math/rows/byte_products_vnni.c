/* Tiles of bytes with AVX-512 VNNI, as large as those of f32 (math/gram/gram_tiles_tmpl.h). */
#include "math/rows/byte_rows.h"

#if defined(__AVX512VNNI__)

#include <immintrin.h>

enum { ROWS = 12, VECTORS = 2, LANES = 16, COLUMNS = VECTORS * LANES, WORD = 64 };

/* sum + four products of each lane. With the intrinsic compilers copy sums and put them on the
 * stack. */
MG_INLINE __m512i add_products(__m512i sum, __m512i bytes, __m512i others) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(others));
    return sum;
}

MG_INLINE __m512i line_at(const mg_byte_tile *t, int64_t k, int v) {
    return _mm512_loadu_si512(t->b + k * COLUMNS + v * LANES);
}

/* Of lines from `first` on, which are not 0 on the right: those that are 0 on the left, or not. */
MG_INLINE uint64_t lines_at(const mg_byte_tile *t, int64_t first, bool zeros) {
    const int64_t count = t->depth - first;
    uint64_t left, right, all = count < WORD ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    if (!t->b_marks) return all;
    memcpy(&left, t->a_marks + first / 32, sizeof left);
    memcpy(&right, t->b_marks + first / 32, sizeof right);
    return all & right & (zeros ? ~left : left);
}

void mg_byte_products_vnni(const mg_byte_tile *t) {
    const int32_t *a = (const int32_t *)(const void *)t->a,
                  *a_add = (const int32_t *)(const void *)t->a_add;
    __m512i sum[ROWS][VECTORS], zeros[VECTORS]; /* zeros: of lines that are 0 on the left */
    for (int v = 0; v < VECTORS; v++)
        zeros[v] = _mm512_setzero_si512();
    for (int64_t first = 0; first < t->depth && t->b_marks; first += WORD)
        for (uint64_t left = lines_at(t, first, true); left != 0; left &= left - 1)
            for (int v = 0; v < VECTORS; v++)
                zeros[v] = add_products(zeros[v], line_at(t, first + __builtin_ctzll(left), v),
                                        _mm512_set1_epi8(-128));
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < VECTORS; v++) {
            const float *from = t->sums + r * COLUMNS + v * LANES;
            sum[r][v] = t->first ? zeros[v] : _mm512_add_epi32(zeros[v], _mm512_loadu_si512(from));
        }
    for (int64_t first = 0; first < t->depth; first += WORD)
        for (uint64_t left = lines_at(t, first, false); left != 0; left &= left - 1) {
            const int64_t k = first + __builtin_ctzll(left);
            __m512i right[VECTORS];
            for (int v = 0; v < VECTORS; v++)
                right[v] = line_at(t, k, v);
            for (int r = 0; r < ROWS; r++)
                for (int v = 0; v < VECTORS; v++)
                    sum[r][v] =
                        add_products(sum[r][v], right[v], _mm512_set1_epi32(a[k * ROWS + r]));
        }
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < VECTORS; v++) {
            float *to = t->sums + r * COLUMNS + v * LANES;
            if (!t->last) {
                _mm512_storeu_si512(to, sum[r][v]);
                continue;
            }
            const __m512i square = _mm512_add_epi32(_mm512_set1_epi32(a_add[r]),
                                                    _mm512_loadu_si512(t->b_add + v * LANES));
            const __m512i all = _mm512_add_epi32(_mm512_slli_epi32(sum[r][v], 1), square);
            _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_set1_ps(t->scale), _mm512_cvtepi32_ps(all)));
        }
}
#else
void mg_byte_products_vnni(const mg_byte_tile *t) {
    (void)t; /* no rows are bytes: see mg_byte_row_vnni */
}
#endif
