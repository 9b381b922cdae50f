/* Tiles of bytes with AVX-512 VNNI, as large as those of f32 (gram_tiles_tmpl.h). */
#include "math/gram/gram_tiles.h"

#if defined(__AVX512VNNI__)

#include <immintrin.h>

enum { ROWS = 12, VECTORS = 2, LANES = 16, COLUMNS = VECTORS * LANES };

/* sum + four products of each lane. With the intrinsic compilers copy sums and put them on the
 * stack. */
MG_INLINE __m512i add_products(__m512i sum, __m512i bytes, __m512i others) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(others));
    return sum;
}

void mg_byte_products_vnni(const mg_gram_tile *t, float scale) {
    const int32_t *a = (const int32_t *)(const void *)t->a,
                  *a_square = (const int32_t *)(const void *)t->a_square;
    const float *b = t->b;
    __m512i sum[ROWS][VECTORS];
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = t->first ? _mm512_setzero_si512()
                                 : _mm512_loadu_si512(t->sums + r * COLUMNS + v * LANES);
    for (int64_t k = 0; k < t->depth; k++, a += ROWS, b += COLUMNS) {
        __m512i right[VECTORS];
        for (int v = 0; v < VECTORS; v++)
            right[v] = _mm512_loadu_si512(b + v * LANES);
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] = add_products(sum[r][v], right[v], _mm512_set1_epi32(a[r]));
    }
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < VECTORS; v++) {
            float *to = t->sums + r * COLUMNS + v * LANES;
            if (!t->last) {
                _mm512_storeu_si512(to, sum[r][v]);
                continue;
            }
            const __m512i square = _mm512_add_epi32(_mm512_set1_epi32(a_square[r]),
                                                    _mm512_loadu_si512(t->b_square + v * LANES));
            const __m512i all = _mm512_add_epi32(_mm512_slli_epi32(sum[r][v], 1), square);
            _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_cvtepi32_ps(all)));
        }
}
#else
void mg_byte_products_vnni(const mg_gram_tile *t, float scale) {
    (void)t, (void)scale; /* no rows are bytes: see mg_byte_row_vnni */
}
#endif
