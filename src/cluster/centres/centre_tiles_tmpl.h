/* The kernel: included by an instruction-set file after its vector type `vec`. */

enum { PARTS = 4, TILE_VECTORS = MG_TILE / LANES };

MG_INLINE void add_column(double x, const double *tile, vec *sum) {
    const vec value = vec_set(x);
    for (int h = 0; h < TILE_VECTORS; h++) {
        const vec d = vec_subtract(value, vec_load(tile + h * LANES));
        sum[h] = vec_fma(d, d, sum[h]);
    }
}

static void tile_distances(const double *x, const double *tile, int64_t n, double out[MG_TILE]) {
    vec sum[PARTS][TILE_VECTORS];
    int64_t j = 0;
    for (int part = 0; part < PARTS; part++)
        for (int h = 0; h < TILE_VECTORS; h++)
            sum[part][h] = vec_zero();
    for (; j + PARTS <= n; j += PARTS)
        for (int part = 0; part < PARTS; part++)
            add_column(x[j + part], tile + (j + part) * MG_TILE, sum[part]);
    for (int part = 0; j + part < n; part++)
        add_column(x[j + part], tile + (j + part) * MG_TILE, sum[part]);
    for (int h = 0; h < TILE_VECTORS; h++)
        vec_store(out + h * LANES,
                  vec_add(vec_add(sum[0][h], sum[1][h]), vec_add(sum[2][h], sum[3][h])));
}
