/* Tiles of 32 queries by 32 points in bfloat16 with the matrix registers (AMX). Compilers that do
 * not know them leave the table without a product. */
#include "neighbors/search/neighbor_index.h"

#if defined(__AMX_BF16__) && defined(__AVX512F__)

#include <immintrin.h>

enum { SIDE = 32, HALF = 16, LINE = 64 };

typedef struct settings { /* of the matrix registers, as the processor reads them */
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} settings;

/* In memory for good: compilers believe that only its first bytes are read. */
static const settings all = {.palette = 1,
                             .bytes = {LINE, LINE, LINE, LINE, LINE, LINE, LINE, LINE},
                             .rows = {HALF, HALF, HALF, HALF, HALF, HALF, HALF, HALF}};

static void amx_begin(void) {
    _tile_loadconfig(&all);
}

static void amx_end(void) {
    _tile_release();
}

/* Registers 0 to 3 are the quarters of c, 4 and 5 are of a, 6 and 7 of b. */
static unsigned amx_product(int64_t depth, const void *panel_a, const void *panel_b,
                            const float *start, const float *threshold, float *c) {
    const char *a = panel_a, *b = panel_b;
    unsigned hits = 0;
    if (start) { /* the same line for each query: no step from one to the next */
        _tile_loadd(0, start, 0);
        _tile_loadd(1, start + HALF, 0);
        _tile_loadd(2, start, 0);
        _tile_loadd(3, start + HALF, 0);
    } else {
        _tile_loadd(0, c, 2 * LINE);
        _tile_loadd(1, c + HALF, 2 * LINE);
        _tile_loadd(2, c + HALF * SIDE, 2 * LINE);
        _tile_loadd(3, c + HALF * SIDE + HALF, 2 * LINE);
    }
    for (int64_t k = 0; k < depth; k += SIDE, a += SIDE * LINE, b += SIDE * LINE) {
        _tile_loadd(4, a, LINE);
        _tile_loadd(6, b, LINE);
        _tile_loadd(7, b + HALF * LINE, LINE);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a + HALF * LINE, LINE);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, 2 * LINE);
    _tile_stored(1, c + HALF, 2 * LINE);
    _tile_stored(2, c + HALF * SIDE, 2 * LINE);
    _tile_stored(3, c + HALF * SIDE + HALF, 2 * LINE);
    for (int r = 0; threshold && r < SIDE; r++) {
        const __m512 low = _mm512_loadu_ps(c + r * SIDE),
                     high = _mm512_loadu_ps(c + r * SIDE + HALF);
        const __mmask16 within =
            _mm512_cmp_ps_mask(_mm512_min_ps(low, high), _mm512_set1_ps(threshold[r]), _CMP_LE_OQ);
        hits |= (unsigned)(within != 0) << r;
    }
    return hits;
}

static uint32_t within(const float *values, float threshold) {
    const __m512 limit = _mm512_set1_ps(threshold);
    const uint32_t low = _mm512_cmp_ps_mask(_mm512_loadu_ps(values), limit, _CMP_LE_OQ);
    const uint32_t high = _mm512_cmp_ps_mask(_mm512_loadu_ps(values + HALF), limit, _CMP_LE_OQ);
    return low | high << HALF;
}

const mg_tile_ops mg_tile_ops_amx = {.rows = SIDE,
                                     .columns = SIDE,
                                     .half = true,
                                     .product = amx_product,
                                     .within = within,
                                     .begin = amx_begin,
                                     .end = amx_end};

#else

const mg_tile_ops mg_tile_ops_amx = {0};

#endif
