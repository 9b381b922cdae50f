/* Sparse rows against eight vectors side by side: included by an instruction-set file after
 * its vector type, with REAL, INDEX and NAME(x) defined.
 *
 * Stored value k goes to sum k mod 4; products and sums are rounded one after the other, so that
 * every instruction set gives the same bits. */

static void NAME(lanes_dot)(const margin_matrix *x, int64_t row, const double *weights,
                            double *out) {
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
    for (int s = 0; k < length; k++, s++) {
        const vec value = vec_set((double)values[k]);
        const double *w = weights + (int64_t)columns[k] * MG_ROW_LANES;
        for (int v = 0; v < PARTS; v++)
            sum[s][v] = vec_add(sum[s][v], vec_multiply(value, vec_load(w + v * LANES)));
    }
    for (int v = 0; v < PARTS; v++)
        vec_store(out + v * LANES,
                  vec_add(vec_add(sum[0][v], sum[1][v]), vec_add(sum[2][v], sum[3][v])));
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
