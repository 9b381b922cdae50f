/* Sparse rows against eight vectors side by side: included by an instruction-set file after
 * its vector type, with REAL, INDEX and NAME(x) defined.
 *
 * Stored value k goes to sum k mod 4; products and sums are rounded one after the other, so that
 * every instruction set gives the same bits. */

MG_INLINE void NAME(lanes_products)(const margin_matrix *x, int64_t row, const double *weights,
                                    vec dots[PARTS]) {
    const int64_t first = mg_csr_start(x, row), length = mg_csr_start(x, row + 1) - first;
    const REAL *values = (const REAL *)x->values + first;
    const INDEX *columns = (const INDEX *)x->column_indices + first;
    vec sum[SUMS][PARTS];
    for (int s = 0; s < SUMS; s++)
        for (int v = 0; v < PARTS; v++)
            sum[s][v] = vec_zero();
    int64_t k = 0;
    for (; k + SUMS <= length; k += SUMS)
        for (int s = 0; s < SUMS; s++) {
            const vec value = vec_set((double)values[k + s]);
            const double *w = weights + (int64_t)columns[k + s] * MG_ROW_LANES;
            for (int v = 0; v < PARTS; v++)
                sum[s][v] = vec_add(sum[s][v], vec_multiply(value, vec_load(w + v * LANES)));
        }
#pragma GCC unroll 4
    for (int s = 0; s < SUMS - 1; s++) { /* so that the sums stay in registers */
        if (k + s >= length) break;
        const vec value = vec_set((double)values[k + s]);
        const double *w = weights + (int64_t)columns[k + s] * MG_ROW_LANES;
        for (int v = 0; v < PARTS; v++)
            sum[s][v] = vec_add(sum[s][v], vec_multiply(value, vec_load(w + v * LANES)));
    }
    for (int v = 0; v < PARTS; v++)
        dots[v] = vec_add(vec_add(sum[0][v], sum[1][v]), vec_add(sum[2][v], sum[3][v]));
}

static void NAME(lanes_dot)(const margin_matrix *x, int64_t row, const double *weights,
                            double *out) {
    vec dots[PARTS];
    NAME(lanes_products)(x, row, weights, dots);
    for (int v = 0; v < PARTS; v++)
        vec_store(out + v * LANES, dots[v]);
}

static bool NAME(lanes_squares)(const margin_matrix *x, int64_t row, const double *weights,
                                const mg_lane_squares *s, double *out) {
    vec dots[PARTS], below = vec_zero();
    NAME(lanes_products)(x, row, weights, dots);
    for (int v = 0; v < PARTS; v++) {
        const vec size = vec_add(vec_set(s->own), vec_load(s->squares + v * LANES));
        const vec square = vec_subtract(size, vec_multiply(vec_set(2), dots[v]));
        const vec least = vec_multiply(vec_set(s->share), size);
        vec_store(out + v * LANES, square);
        below = vec_add(below, vec_max(vec_subtract(least, square), vec_zero()));
    }
    return vec_sum(below) > 0;
}

static void NAME(lanes_add)(const margin_matrix *x, int64_t row, const double *c,
                            const double *factor, double *weights) {
    const int64_t first = mg_csr_start(x, row), length = mg_csr_start(x, row + 1) - first;
    const REAL *values = (const REAL *)x->values + first;
    const INDEX *columns = (const INDEX *)x->column_indices + first;
    vec change[PARTS];
    for (int v = 0; v < PARTS; v++)
        change[v] = vec_load(c + v * LANES);
    for (int64_t k = 0; k < length; k++) {
        const double given = (double)values[k];
        const vec value = vec_set(factor ? factor[columns[k]] * given : given);
        double *w = weights + (int64_t)columns[k] * MG_ROW_LANES;
        for (int v = 0; v < PARTS; v++)
            vec_store(w + v * LANES,
                      vec_add(vec_load(w + v * LANES), vec_multiply(value, change[v])));
    }
}
