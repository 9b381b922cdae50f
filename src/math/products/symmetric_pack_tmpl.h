/* Packing of lines from numbers of type SOURCE, those of a line or of columns: included by
 * symmetric_tile_tmpl.h with PACK(x) (adds the suffixes), PACK_LOAD(p), a vector of such numbers in
 * f64, and PACK_STORE(p, a), which stores one as packed numbers, defined. */

MG_INLINE REAL PACK(packed)(SOURCE value, bool moved, const mg_affine *affine, int64_t j,
                            double factor) {
    double number = (double)value;
    if (moved) number = (number - affine->centre[j]) * affine->scale[j] + affine->shift[j];
    return (REAL)(number * factor);
}

MG_INLINE void PACK(pack_part)(const SOURCE *values, int64_t first, int64_t count,
                               const mg_affine *affine, double factor, REAL *out) {
    values += first;
    if (affine->centre) {
        for (int64_t j = 0; j < count; j++)
            out[j] = PACK(packed)(values[j], true, affine, first + j, factor);
    } else {
        for (int64_t j = 0; j < count; j++)
            out[j] = PACK(packed)(values[j], false, affine, first + j, factor);
    }
}

static void PACK(pack)(const SOURCE *values, int64_t count, const mg_affine *affine, double factor,
                       int64_t stride, void *line) {
    enum { LINE = NAME(WIDTH) };
    REAL *out = line;
    int64_t j = 0;
    for (; j + LINE <= count; j += LINE, out += stride * LINE)
        PACK(pack_part)(values, j, LINE, affine, factor, out);
    if (j == count) return;
    PACK(pack_part)(values, j, count - j, affine, factor, out);
    for (int64_t k = count - j; k < LINE; k++)
        out[k] = 0;
}

/* ---- From columns ---------------------------------------------------------------------------- */

/* As many columns as a vector has numbers, elements from j on, and those read after them, which are
 * fetched meanwhile. */
typedef struct PACK(column_lanes) {
    const SOURCE *at[LANES], *ahead[LANES];
    int64_t j;
    int count; /* that are elements; the others are columns of zeros */
} PACK(column_lanes);

MG_INLINE const SOURCE *PACK(column_at)(const mg_column_lines *from, int64_t j) {
    const int64_t column = from->chosen ? from->chosen[j] : j;
    return (const SOURCE *)from->columns[column] + (from->rows ? 0 : from->first);
}

/* Behind the last columns the first ones are read, further down. */
MG_INLINE PACK(column_lanes) PACK(lanes_at)(const mg_column_lines *from, int64_t j) {
    PACK(column_lanes) lanes = {.j = j, .count = (int)MG_MIN(from->count - j, LANES)};
    const int64_t next = j + LANES < from->count ? j + LANES : 0;
    const int64_t down = next > 0 || from->rows ? 0 : from->lines;
    for (int c = 0; c < LANES; c++) {
        lanes.at[c] = PACK(column_at)(from, MG_MIN(j + c, from->count - 1));
        lanes.ahead[c] = PACK(column_at)(from, MG_MIN(next + c, from->count - 1)) + down;
    }
    return lanes;
}

/* Squares of numbers are turned in registers. Returns the lines made. */
MG_INLINE int64_t PACK(pack_squares)(const PACK(column_lanes) * lanes, bool moved,
                                     const mg_affine *affine, const double *factors, int64_t lines,
                                     REAL *out) {
    enum { LINE = 64 / sizeof(SOURCE) };
    const vec centre = moved ? vec_load(affine->centre + lanes->j) : vec_zero();
    const vec scale = moved ? vec_load(affine->scale + lanes->j) : vec_zero();
    const vec shift = moved ? vec_load(affine->shift + lanes->j) : vec_zero();
    int64_t k = 0;
    for (; k + LINE <= lines; k += LINE) {
        for (int c = 0; c < LANES; c++)
            __builtin_prefetch(lanes->ahead[c] + k);
        for (int64_t i = k; i < k + LINE; i += LANES) {
            vec value[LANES];
            for (int c = 0; c < LANES; c++)
                value[c] = PACK_LOAD(lanes->at[c] + i);
            vec_turn(value);
            for (int r = 0; r < LANES; r++) {
                vec a = value[r];
                if (moved) a = vec_add(vec_multiply(vec_subtract(a, centre), scale), shift);
                PACK_STORE(out + (i + r) * NAME(WIDTH), vec_multiply(a, vec_set(factors[i + r])));
            }
        }
    }
    return k;
}

/* Lines from k on one number after the other. */
MG_INLINE void PACK(pack_numbers)(const mg_column_lines *from, const PACK(column_lanes) * lanes,
                                  bool moved, const mg_affine *affine, const double *factors,
                                  int64_t k, REAL *out) {
    for (; k < from->lines; k++) {
        const int64_t row = from->rows ? from->rows[k] : k;
        for (int c = 0; c < LANES; c++) {
            __builtin_prefetch(lanes->ahead[c] + row);
            out[k * NAME(WIDTH) + c] =
                c < lanes->count
                    ? PACK(packed)(lanes->at[c][row], moved, affine, lanes->j + c, factors[k])
                    : 0;
        }
    }
}

MG_INLINE void PACK(pack_lanes)(const mg_column_lines *from, int64_t j, bool moved,
                                const mg_affine *affine, const double *factors, REAL *out) {
    const PACK(column_lanes) lanes = PACK(lanes_at)(from, j);
    const bool squares = !from->rows && lanes.count == LANES;
    const int64_t k =
        squares ? PACK(pack_squares)(&lanes, moved, affine, factors, from->lines, out) : 0;
    PACK(pack_numbers)(from, &lanes, moved, affine, factors, k, out);
}

static void PACK(pack_columns)(const mg_column_lines *from, const mg_affine *affine,
                               const double *factors, int64_t stride, void *line) {
    enum { LINE = NAME(WIDTH) };
    const int64_t end = (from->count + LINE - 1) / LINE * LINE;
    for (int64_t j = 0; j < end; j += LANES) {
        REAL *out = (REAL *)line + j / LINE * LINE * stride + j % LINE;
        if (j >= from->count)
            for (int64_t k = 0; k < from->lines; k++)
                memset(out + k * LINE, 0, LANES * sizeof *out);
        else if (affine->centre)
            PACK(pack_lanes)(from, j, true, affine, factors, out);
        else
            PACK(pack_lanes)(from, j, false, affine, factors, out);
    }
}
