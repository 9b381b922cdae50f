/* The kernels: included by an instruction-set file after its vector type `wide` of WIDE numbers,
 * TILE_ROWS (a multiple of 3), TILE_STRIPS (1 or 2) and NAME. */

enum { HALVES = MG_FILTER_GROUPS / WIDE, VECTORS = TILE_STRIPS * HALVES };

/* TILE_ROWS rows by `strips` strips (1 or TILE_STRIPS; a constant where it is called); to[row *
 * row_step]. Three rows share a pointer: there are not enough registers for one each. */
MG_INLINE void tile(const float *rows, int64_t columns, const float *strip, const float *start,
                    int strips, int64_t row_step, float *to) {
    wide c[TILE_ROWS][VECTORS];
    const float *a[TILE_ROWS / 3];
    const int64_t step = columns * MG_FILTER_GROUPS;
#pragma GCC unroll 12
    for (int r = 0; r < TILE_ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < strips * HALVES; v++)
            c[r][v] = wide_load(start + v * WIDE);
#pragma GCC unroll 4
    for (int q = 0; q < TILE_ROWS / 3; q++)
        a[q] = rows + 3 * q * columns;
    for (int64_t j = 0; j < columns; j++, strip += MG_FILTER_GROUPS) {
        wide b[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < strips * HALVES; v++)
            b[v] = wide_load(strip + v / HALVES * step + v % HALVES * WIDE);
#pragma GCC unroll 12
        for (int r = 0; r < TILE_ROWS; r++) {
            const wide x = wide_set(a[r / 3][r % 3 * columns]);
#pragma GCC unroll 2
            for (int v = 0; v < strips * HALVES; v++)
                c[r][v] = wide_fma(x, b[v], c[r][v]);
        }
#pragma GCC unroll 4
        for (int q = 0; q < TILE_ROWS / 3; q++)
            a[q]++;
    }
#pragma GCC unroll 12
    for (int r = 0; r < TILE_ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < strips * HALVES; v++)
            wide_store(to + r * row_step + v * WIDE, c[r][v]);
}

static void tile_full(const float *rows, int64_t columns, const float *strip, const float *start,
                      int64_t row_step, float *to) {
    tile(rows, columns, strip, start, TILE_STRIPS, row_step, to);
}

static void tile_single(const float *rows, int64_t columns, const float *strip, const float *start,
                        int64_t row_step, float *to) {
    tile(rows, columns, strip, start, 1, row_step, to);
}

/* The least two of each group of a set. */
MG_INLINE void least_two(const float *values, int64_t strips, float *least, float *next) {
    for (int h = 0; h < HALVES; h++) {
        wide first = wide_load(values + h * WIDE), second = wide_set(FLT_MAX);
        for (int64_t t = 1; t < strips; t++) {
            const wide v = wide_load(values + t * MG_FILTER_GROUPS + h * WIDE);
            second = wide_min(second, wide_max(first, v));
            first = wide_min(first, v);
        }
        wide_store(least + h * WIDE, first);
        wide_store(next + h * WIDE, second);
    }
}

static void cross(const float *rows, int64_t columns, const float *strip, const float *start,
                  int64_t sets, int64_t strips, float *values, float *least, float *next) {
    const int64_t all = sets * strips, row_step = all * MG_FILTER_GROUPS;
    const int64_t size = columns * MG_FILTER_GROUPS;
    int64_t t = 0;
    for (; t + TILE_STRIPS <= all; t += TILE_STRIPS)
        tile_full(rows, columns, strip + t * size, start + t * MG_FILTER_GROUPS, row_step,
                  values + t * MG_FILTER_GROUPS);
    for (; t < all; t++)
        tile_single(rows, columns, strip + t * size, start + t * MG_FILTER_GROUPS, row_step,
                    values + t * MG_FILTER_GROUPS);
    for (int64_t r = 0; r < TILE_ROWS; r++)
        for (int64_t s = 0; s < sets; s++)
            least_two(values + r * row_step + s * strips * MG_FILTER_GROUPS, strips,
                      least + (r * sets + s) * MG_FILTER_GROUPS,
                      next + (r * sets + s) * MG_FILTER_GROUPS);
}

static void bound(const float *least, int64_t count, float shift, float factor, float *out) {
    const wide zero = wide_set(0), shifts = wide_set(shift), factors = wide_set(factor);
    for (int64_t g = 0; g < count; g += WIDE) {
        const wide square = wide_max(wide_add(wide_load(least + g), shifts), zero);
        wide_store(out + g, wide_multiply(wide_root(square), factors));
    }
}

static float drift_bounds(float *bounds, const float *drift, int64_t count, float factor) {
    float parts[WIDE], smallest = FLT_MAX;
    wide least = wide_set(FLT_MAX);
    for (int64_t g = 0; g < count; g += WIDE) {
        const wide moved = wide_multiply(wide_subtract(wide_load(bounds + g), wide_load(drift + g)),
                                         wide_set(factor));
        wide_store(bounds + g, moved);
        least = wide_min(least, moved);
    }
    wide_store(parts, least);
    for (int l = 0; l < WIDE; l++)
        smallest = parts[l] < smallest ? parts[l] : smallest;
    return smallest;
}

const mg_filter_ops NAME = {TILE_ROWS, cross, bound, drift_bounds};
