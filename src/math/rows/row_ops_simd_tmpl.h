/* Dense rows with vectors of f64: included by an instruction-set file with REAL (float or double),
 * NAME(x) (adds the suffix), LOAD(p) and LOAD_PART(p, n) (a vector, or its first n lanes and zeros,
 * from REAL memory, widened) defined, after the vector type `vec` and its functions.
 *
 * Vector t of a row (LANES elements, the last one filled up with zeros) goes to sum t mod 4. Every
 * product is made by `tile`, so a row's bits do not depend on the function that computes it. */

MG_INLINE const REAL *NAME(row_of)(const margin_matrix *x, int64_t row) {
    return (const REAL *)x->values + row * x->stride;
}

/* out[r * ldout + f] = a_r . w_f for `rows` rows and `functions` weight vectors; both are constants
 * up to TILE_ROWS and TILE_FUNCTIONS where this is called, so that the sums stay in registers. */
MG_INLINE void NAME(tile)(const REAL *a, int64_t lda, int rows, const double *w, int functions,
                          int64_t n, double *out, int64_t ldout) {
    vec sum[TILE_ROWS][TILE_FUNCTIONS][4], weight[TILE_FUNCTIONS];
    for (int r = 0; r < rows; r++)
        for (int f = 0; f < functions; f++)
            for (int k = 0; k < 4; k++)
                sum[r][f][k] = vec_zero();
    int64_t j = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) {
        for (int k = 0; k < 4; k++) {
            for (int f = 0; f < functions; f++)
                weight[f] = vec_load(w + f * n + j + k * LANES);
            for (int r = 0; r < rows; r++) {
                const vec value = LOAD(a + r * lda + j + k * LANES);
                for (int f = 0; f < functions; f++)
                    sum[r][f][k] = vec_fma(value, weight[f], sum[r][f][k]);
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        if (j >= n) break;
        const int64_t left = MG_MIN(n - j, LANES);
        for (int f = 0; f < functions; f++)
            weight[f] =
                left == LANES ? vec_load(w + f * n + j) : vec_load_part(w + f * n + j, left);
        for (int r = 0; r < rows; r++) {
            const REAL *p = a + r * lda + j;
            const vec value = left == LANES ? LOAD(p) : LOAD_PART(p, left);
            for (int f = 0; f < functions; f++)
                sum[r][f][k] = vec_fma(value, weight[f], sum[r][f][k]);
        }
        j += LANES;
    }
    for (int r = 0; r < rows; r++)
        for (int f = 0; f < functions; f++)
            out[r * ldout + f] = vec_sum(
                vec_add(vec_add(sum[r][f][0], sum[r][f][1]), vec_add(sum[r][f][2], sum[r][f][3])));
}

MG_INLINE double NAME(product)(const REAL *a, const double *w, int64_t n) {
    double out;
    NAME(tile)(a, 0, 1, w, 1, n, &out, 0);
    return out;
}

static double NAME(dot)(const margin_matrix *x, int64_t row, const double *w) {
    return NAME(product)(NAME(row_of)(x, row), w, x->columns);
}

MG_INLINE void NAME(add_scaled)(const REAL *a, double c, double *w, int64_t n) {
    const vec factor = vec_set(c);
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        vec_store(w + j, vec_add(vec_load(w + j), vec_multiply(factor, LOAD(a + j))));
    if (j < n)
        vec_store_part(
            w + j,
            vec_add(vec_load_part(w + j, n - j), vec_multiply(factor, LOAD_PART(a + j, n - j))),
            n - j);
}

static void NAME(add)(const margin_matrix *x, int64_t row, double c, double *w) {
    NAME(add_scaled)(NAME(row_of)(x, row), c, w, x->columns);
}

static double NAME(square)(const margin_matrix *x, int64_t row) {
    const REAL *a = NAME(row_of)(x, row);
    const int64_t n = x->columns;
    vec sum[4] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
    int64_t j = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) {
        for (int k = 0; k < 4; k++) {
            const vec value = LOAD(a + j + k * LANES);
            sum[k] = vec_fma(value, value, sum[k]);
        }
    }
    for (int k = 0; k < 4 && j < n; k++, j += LANES) {
        const vec value = n - j >= LANES ? LOAD(a + j) : LOAD_PART(a + j, n - j);
        sum[k] = vec_fma(value, value, sum[k]);
    }
    return vec_sum(vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
}

/* Scores of `rows` neighbouring rows. */
MG_INLINE void NAME(score_rows)(const margin_matrix *x, int64_t first, int rows, const double *w,
                                const double *b, int64_t functions, double *out) {
    const REAL *a = NAME(row_of)(x, first);
    int64_t f = 0;
    for (; f + TILE_FUNCTIONS <= functions; f += TILE_FUNCTIONS)
        NAME(tile)
    (a, x->stride, rows, w + f * x->columns, TILE_FUNCTIONS, x->columns, out + f, functions);
    for (; f < functions; f++)
        NAME(tile)(a, x->stride, rows, w + f * x->columns, 1, x->columns, out + f, functions);
    for (int r = 0; r < rows; r++)
        for (f = 0; f < functions; f++)
            out[r * functions + f] += b[f];
}

static void NAME(scores)(const margin_matrix *x, int64_t first, int64_t count, const double *w,
                         const double *b, int64_t functions, double *out) {
    const int64_t bytes = TILE_ROWS * x->columns * (int64_t)sizeof(REAL);
    const int64_t fetched = x->stride == x->columns ? MG_MIN(bytes, FAR_AHEAD) : 0;
    int64_t i = 0;
    for (; i + TILE_ROWS <= count; i += TILE_ROWS) {
        mg_fetch(NAME(row_of)(x, first + i), FAR_AHEAD, fetched);
        NAME(score_rows)(x, first + i, TILE_ROWS, w, b, functions, out + i * functions);
    }
    for (; i < count; i++)
        NAME(score_rows)(x, first + i, 1, w, b, functions, out + i * functions);
}

MG_INLINE void NAME(prefetch)(const REAL *a, int64_t n) {
    mg_fetch(a, 0, MG_MIN(n * (int64_t)sizeof *a, 1024));
}

/* The processor fetches rows one after the other by itself, but a few of them earlier is better:
 * 10 to 25 % faster, most for f32. */
static int64_t NAME(next_in_order)(const mg_row_scan *scan, int64_t first, int64_t last,
                                   const double *w, double b) {
    const margin_matrix *x = scan->x;
    const int64_t row_bytes = MG_MAX(x->stride, 1) * (int64_t)sizeof(REAL);
    const int64_t ahead = MG_MAX(BYTES_AHEAD / row_bytes, 1);
    for (int64_t i = first; i < last; i++) {
        if (i + ahead < last) NAME(prefetch)(NAME(row_of)(x, i + ahead), x->columns);
        const double score = NAME(product)(NAME(row_of)(x, i), w, x->columns) + b;
        if (!(scan->sign[i] * score > 0.0)) return i;
    }
    return last;
}

static int64_t NAME(next_error)(const mg_row_scan *scan, int64_t first, int64_t last,
                                const double *w, double b) {
    if (!scan->rows) return NAME(next_in_order)(scan, first, last, w, b);
    const margin_matrix *x = scan->x;
    for (int64_t i = first; i < last; i++) {
        if (i + ROWS_AHEAD < last)
            NAME(prefetch)(NAME(row_of)(x, scan->rows[i + ROWS_AHEAD]), x->columns);
        const double score = NAME(product)(NAME(row_of)(x, scan->rows[i]), w, x->columns) + b;
        if (!(scan->sign[i] * score > 0.0)) return i;
    }
    return last;
}

/* ---- The plain perceptron with its weights in registers -------------------------------------- */

/* A correction that goes through memory has to be stored before the next row can be multiplied, and
 * every third row or so is corrected where classes overlap. `vectors` is a constant where this is
 * called, so that the loops unroll and the weights live in registers. */
MG_INLINE int64_t NAME(walk_with)(const int vectors, const mg_row_scan *scan, int64_t first,
                                  int64_t last, double rate, double *w, double *b) {
    const margin_matrix *x = scan->x;
    const int64_t left = x->columns - (int64_t)(vectors - 1) * LANES; /* lanes of the last vector */
    const int64_t ahead = scan->rows ? (int64_t)ROWS_AHEAD
                                     : MG_MAX(FAR_AHEAD / (x->stride * (int64_t)sizeof(REAL)), 1);
    const double constant = b ? 1.0 : 0.0;
    double intercept = b ? *b : 0.0;
    int64_t corrections = 0;
    vec weight[WALK_VECTORS];
    for (int t = 0; t < vectors; t++)
        weight[t] = t < vectors - 1 ? vec_load(w + t * LANES) : vec_load_part(w + t * LANES, left);
    for (int64_t i = first; i < last; i++) {
        const REAL *a = NAME(row_of)(x, scan->rows ? scan->rows[i] : i);
        if (i + ahead < last) NAME(prefetch)
        (NAME(row_of)(x, scan->rows ? scan->rows[i + ahead] : i + ahead), x->columns);
        vec sum[4] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
#pragma GCC unroll 16
        for (int t = 0; t < vectors; t++) {
            const vec value =
                t < vectors - 1 ? LOAD(a + t * LANES) : LOAD_PART(a + t * LANES, left);
            sum[t % 4] = vec_fma(value, weight[t], sum[t % 4]);
        }
        const double score =
            vec_sum(vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3]))) + intercept;
        if (scan->sign[i] * score > 0.0) continue;
        const double move = rate * scan->sign[i];
        const vec factor = vec_set(move);
#pragma GCC unroll 16
        for (int t = 0; t < vectors; t++) {
            const vec value =
                t < vectors - 1 ? LOAD(a + t * LANES) : LOAD_PART(a + t * LANES, left);
            weight[t] = vec_add(weight[t], vec_multiply(factor, value));
        }
        intercept += move * constant;
        corrections++;
    }
    for (int t = 0; t < vectors - 1; t++)
        vec_store(w + t * LANES, weight[t]);
    vec_store_part(w + (vectors - 1) * LANES, weight[vectors - 1], left);
    if (b) *b = intercept;
    return corrections;
}

static int64_t NAME(walk)(const mg_row_scan *scan, int64_t first, int64_t last, double rate,
                          double *w, double *b) {
#define WALK_CASE(count)                                                                           \
    case count:                                                                                    \
        return NAME(walk_with)(count, scan, first, last, rate, w, b);
    switch ((int)((scan->x->columns + LANES - 1) / LANES)) { WALK_CASES }
#undef WALK_CASE
    return 0; /* no columns, or more than walk_columns: the caller does not ask */
}
