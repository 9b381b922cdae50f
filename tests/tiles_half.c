/* Tiles in bfloat16 as the matrix registers make them, in plain C. */
#include "tiles_half.h"

enum { SIDE = 32, HALF = 16 };

static float widened(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

static unsigned product(int64_t depth, const void *panel_a, const void *panel_b, const float *start,
                        const float *threshold, float *c) {
    const uint16_t *a = panel_a, *b = panel_b;
    unsigned hits = 0;
    for (int r = 0; start && r < SIDE; r++)
        for (int l = 0; l < SIDE; l++)
            c[r * SIDE + l] = start[l];
    for (int64_t k = 0; k < depth; k += SIDE, a += SIDE * SIDE, b += SIDE * SIDE)
        for (int r = 0; r < SIDE; r++)
            for (int l = 0; l < SIDE; l++)
                for (int j = 0; j < SIDE; j++)
                    c[r * SIDE + l] +=
                        widened(a[r * SIDE + j]) *
                        widened(b[l / HALF * HALF * SIDE + j / 2 * SIDE + l % HALF * 2 + j % 2]);
    for (int r = 0; threshold && r < SIDE; r++)
        for (int l = 0; l < SIDE; l++)
            hits |= (unsigned)(c[r * SIDE + l] <= threshold[r]) << r;
    return hits;
}

static uint32_t within(const float *values, float threshold) {
    uint32_t bits = 0;
    for (int l = 0; l < SIDE; l++)
        bits |= (uint32_t)(values[l] <= threshold) << l;
    return bits;
}

const mg_tile_ops tiles_half = {
    .rows = SIDE, .columns = SIDE, .half = true, .product = product, .within = within};
