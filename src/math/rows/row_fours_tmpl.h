/* Sparse rows against four vectors side by side, there and back: included by an instruction-set
 * file after a vector type of one or four lanes, with REAL, INDEX and NAME(x) defined.
 *
 * Sums are those of row_lanes_tmpl.h: every instruction set gives the same bits. */

MG_INLINE void NAME(four_add)(vec sum[FOUR_PARTS], double value, const double *from) {
    const vec factor = vec_set(value);
    for (int v = 0; v < FOUR_PARTS; v++)
        sum[v] = vec_add(sum[v], vec_multiply(factor, vec_load(from + v * LANES)));
}

static void NAME(fours)(const margin_matrix *x, const mg_row_fours *f, int64_t sample,
                        double *sums) {
    const int64_t row = f->rows ? f->rows[sample] : sample;
    const int64_t first = mg_csr_start(x, row), length = mg_csr_start(x, row + 1) - first;
    const REAL *values = (const REAL *)x->values + first;
    const INDEX *columns = (const INDEX *)x->column_indices + first;
    double *total = sums + x->columns * MG_ROW_FOUR;
    const vec weight = vec_set(f->weights[sample]);
    vec sum[SUMS][FOUR_PARTS], z[FOUR_PARTS];
    mg_fetch(values, FOUR_AHEAD, length * (int64_t)sizeof(REAL));
    mg_fetch(columns, FOUR_AHEAD / 2, length * (int64_t)sizeof(INDEX));
    for (int s = 0; s < SUMS; s++)
        for (int v = 0; v < FOUR_PARTS; v++)
            sum[s][v] = vec_zero();
    int64_t k = 0;
    for (; k + SUMS <= length; k += SUMS)
        for (int s = 0; s < SUMS; s++)
            NAME(four_add)
    (sum[s], (double)values[k + s], f->vectors + (int64_t)columns[k + s] * MG_ROW_FOUR);
    for (int s = 0; k < length; k++, s++)
        NAME(four_add)(sum[s], (double)values[k], f->vectors + (int64_t)columns[k] * MG_ROW_FOUR);
    for (int v = 0; v < FOUR_PARTS; v++) {
        const vec whole = vec_add(vec_add(sum[0][v], sum[1][v]), vec_add(sum[2][v], sum[3][v]));
        z[v] = vec_multiply(weight, vec_add(whole, vec_load(f->offset + v * LANES)));
        vec_store(total + v * LANES, vec_add(vec_load(total + v * LANES), z[v]));
    }
    for (k = 0; k < length; k++) {
        const vec value = vec_set((double)values[k]);
        double *w = sums + (int64_t)columns[k] * MG_ROW_FOUR;
        for (int v = 0; v < FOUR_PARTS; v++)
            vec_store(w + v * LANES, vec_add(vec_load(w + v * LANES), vec_multiply(value, z[v])));
    }
}
