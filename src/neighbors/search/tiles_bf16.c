/* Tiles of 12 queries by 32 points in bfloat16 with vectors (AVX-512 BF16). Compilers that do not
 * know them leave the table without a product. */
#include "neighbors/search/neighbor_index.h"

#if defined(__AVX512BF16__)

#include "neighbors/search/tile_avx512.h"
#include "neighbors/search/tile_ends_tmpl.h"

enum { LINES = 32, PAIR = 2 }; /* of a block; lines that an instruction takes */

static unsigned half_product(int64_t depth, const void *panel_a, const void *panel_b,
                             const float *start, const float *threshold, float *out) {
    const char *a = panel_a, *b = panel_b; /* a pair is as long as one f32 */
    enum { BLOCK_A = TILE_ROWS * LINES * 2, LINE_A = LINES * 2, HALF_B = LINES * FLANES * 2 };
    fvec c[TILE_ROWS][2];
    tile_begin(c, start, out);
    for (int64_t k = 0; k < depth; k += LINES, a += BLOCK_A, b += 2 * HALF_B)
        for (int64_t pair = 0; pair < MG_MIN(LINES, depth - k + 1) / PAIR; pair++) {
            const void *line = b + pair * (int64_t)sizeof(fvec);
            const __m512bh b0 = (__m512bh)_mm512_loadu_si512(line);
            const __m512bh b1 = (__m512bh)_mm512_loadu_si512((const char *)line + HALF_B);
#pragma GCC unroll 12
            for (int r = 0; r < TILE_ROWS; r++) {
                int32_t both;
                __builtin_memcpy(&both, a + r * LINE_A + pair * 4, sizeof both);
                const __m512bh q = (__m512bh)_mm512_set1_epi32(both);
                c[r][0] = _mm512_dpbf16_ps(c[r][0], q, b0);
                c[r][1] = _mm512_dpbf16_ps(c[r][1], q, b1);
            }
        }
    return tile_finish(c, threshold, out);
}

/* Columns j ... j + count - 1 of LANES points, scaled, by lines; 0 behind them. */
MG_INLINE vec half_lines(const mg_neighbors *index, int64_t first, int64_t j, int64_t count,
                         bool single, vec lines[LANES], vec sum) {
    const int64_t size = single ? 4 : 8, ahead = 2 * FLANES * index->columns * size;
#pragma GCC unroll 8
    for (int l = 0; l < LANES; l++) {
        const int64_t at = MG_MIN(first + l, index->rows - 1) * index->columns + j;
        const char *values = (const char *)index->points + at * size;
        __builtin_prefetch(values + ahead); /* of the next panel */
        lines[l] = single ? vec_widen_part((const float *)(const void *)values, count)
                          : vec_load_part((const double *)(const void *)values, count);
    }
    vec_turn(lines);
#pragma GCC unroll 8
    for (int k = 0; k < LANES; k++) {
        const double centre = k < count ? index->centre[j + k] : 0;
        lines[k] = vec_multiply(vec_subtract(lines[k], vec_set(centre)), vec_set(index->scale));
        sum = vec_fma(lines[k], lines[k], sum);
    }
    return sum;
}

/* Sixteen numbers as the low halves of 32 bits. */
MG_INLINE __m512i half_of(vec low, vec high) {
    const __m512 both =
        _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
    return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(both));
}

MG_INLINE void pack_type(const mg_neighbors *index, int64_t first, bool single, char *out,
                         double *square) {
    for (int64_t l = 0; l < 2 * FLANES; l += FLANES, out += LINES * FLANES * 2) {
        vec sum[2] = {vec_zero(), vec_zero()};
        for (int64_t j = 0; j < index->columns; j += LANES) {
            const int64_t count = MG_MIN(LANES, index->columns - j);
            char *to = out + j / LINES * (LINES * 2 * FLANES * 2) +
                       j % LINES / PAIR * (int64_t)sizeof(fvec);
            vec low[LANES], high[LANES];
            sum[0] = half_lines(index, first + l, j, count, single, low, sum[0]);
            sum[1] = half_lines(index, first + l + LANES, j, count, single, high, sum[1]);
#pragma GCC unroll 4
            for (int k = 0; k < LANES; k += PAIR, to += sizeof(fvec))
                _mm512_storeu_si512(
                    to, _mm512_or_si512(half_of(low[k], high[k]),
                                        _mm512_slli_epi32(half_of(low[k + 1], high[k + 1]), 16)));
        }
        vec_store(square + l, sum[0]);
        vec_store(square + l + LANES, sum[1]);
    }
}

static void half_pack(const mg_neighbors *index, int64_t first, void *panel, double *square) {
    if (index->single)
        pack_type(index, first, true, panel, square);
    else
        pack_type(index, first, false, panel, square);
}

const mg_tile_ops mg_tile_ops_bf16 = {.rows = TILE_ROWS,
                                      .columns = 2 * FLANES,
                                      .half = true,
                                      .pack = half_pack,
                                      .product = half_product,
                                      .within = tile_within};

#else

const mg_tile_ops mg_tile_ops_bf16 = {0};

#endif
