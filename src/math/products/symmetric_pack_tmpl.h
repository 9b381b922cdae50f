/* Packing of one line from numbers of type SOURCE: included by symmetric_tile_tmpl.h with PACK(x)
 * (adds the suffixes) defined. */

MG_INLINE void PACK(pack_part)(const SOURCE *values, int64_t first, int64_t count,
                               const mg_affine *affine, double factor, REAL *out) {
    values += first;
    if (affine->centre) {
        const double *centre = affine->centre + first, *scale = affine->scale + first;
        const double *shift = affine->shift + first;
        for (int64_t j = 0; j < count; j++)
            out[j] = (REAL)((((double)values[j] - centre[j]) * scale[j] + shift[j]) * factor);
    } else {
        for (int64_t j = 0; j < count; j++)
            out[j] = (REAL)((double)values[j] * factor);
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
