/* CSR rows in plain C: included by row_kernels_ref.c with REAL (float or double), INDEX (int32_t or
 * int64_t) and NAME(x) (adds the suffix) defined. Four sums, stored value k of the row goes to sum
 * k mod 4: gather instructions were slower than four scalar chains. */

typedef struct NAME(csr_row) {
    const REAL *values;
    const INDEX *columns;
    int64_t length;
} NAME(csr_row);

MG_INLINE NAME(csr_row) NAME(row_of)(const margin_matrix *x, int64_t row) {
    int64_t first = mg_csr_start(x, row);
    NAME(csr_row)
    a = {(const REAL *)x->values + first, (const INDEX *)x->column_indices + first,
         mg_csr_start(x, row + 1) - first};
    return a;
}

MG_INLINE double NAME(product)(NAME(csr_row) a, const double *w) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t k = 0;
    for (; k + 4 <= a.length; k += 4)
        for (int s = 0; s < 4; s++)
            sum[s] += (double)a.values[k + s] * w[a.columns[k + s]];
    for (int s = 0; s < 3; s++) /* with constants as places the sums stay in registers */
        if (k + s < a.length) sum[s] += (double)a.values[k + s] * w[a.columns[k + s]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double NAME(dot)(const margin_matrix *x, int64_t row, const double *w) {
    return NAME(product)(NAME(row_of)(x, row), w);
}

MG_INLINE void NAME(add_scaled)(NAME(csr_row) a, double c, double *w) {
    int64_t k = 0;
    for (; k + 4 <= a.length; k += 4)
        for (int s = 0; s < 4; s++)
            w[a.columns[k + s]] += c * (double)a.values[k + s];
    for (; k < a.length; k++)
        w[a.columns[k]] += c * (double)a.values[k];
}

static void NAME(add)(const margin_matrix *x, int64_t row, double c, double *w) {
    NAME(add_scaled)(NAME(row_of)(x, row), c, w);
}

static double NAME(square)(const margin_matrix *x, int64_t row) {
    const NAME(csr_row) a = NAME(row_of)(x, row);
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (int64_t k = 0; k < a.length; k++)
        sum[k & 3] += (double)a.values[k] * (double)a.values[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Long rows: their beginning; the processor follows by itself from there. */
MG_INLINE void NAME(prefetch)(const margin_matrix *x, int64_t row) {
    const int64_t first = mg_csr_start(x, row);
    const int64_t length = MG_MIN(mg_csr_start(x, row + 1) - first, 128);
    mg_fetch((const REAL *)x->values + first, 0, length * (int64_t)sizeof(REAL));
    mg_fetch((const INDEX *)x->column_indices + first, 0, length * (int64_t)sizeof(INDEX));
}

static void NAME(scores)(const margin_matrix *x, int64_t first, int64_t count, const double *w,
                         const double *b, int64_t functions, double *out) {
    for (int64_t i = 0; i < count; i++) {
        const NAME(csr_row) a = NAME(row_of)(x, first + i);
        if (i + MG_CSR_LIST_AHEAD < count) NAME(prefetch)(x, first + i + MG_CSR_LIST_AHEAD);
        for (int64_t f = 0; f < functions; f++)
            *out++ = NAME(product)(a, w + f * x->columns) + b[f];
    }
}

static int64_t NAME(next_error)(const mg_row_scan *scan, int64_t first, int64_t last,
                                const double *w, double b) {
    const margin_matrix *x = scan->x;
    for (int64_t i = first; i < last; i++) {
        if (i + MG_CSR_AHEAD < last)
            NAME(prefetch)(x, scan->rows ? scan->rows[i + MG_CSR_AHEAD] : i + MG_CSR_AHEAD);
        double score = NAME(dot)(x, scan->rows ? scan->rows[i] : i, w) + b;
        if (!(scan->sign[i] * score > 0.0)) return i;
    }
    return last;
}

static void NAME(dots)(const margin_matrix *x, const int64_t *rows, int64_t count, const double *w,
                       double b, double *out) {
    for (int64_t k = 0; k < count; k++) {
        if (k + MG_CSR_LIST_AHEAD < count) NAME(prefetch)(x, rows[k + MG_CSR_LIST_AHEAD]);
        out[k] = NAME(product)(NAME(row_of)(x, rows[k]), w) + b;
    }
}

static void NAME(adds)(const margin_matrix *x, const int64_t *rows, int64_t count, const double *c,
                       double *w) {
    for (int64_t k = 0; k < count; k++)
        if (c[k] != 0.0) NAME(add)(x, rows[k], c[k], w);
}

static void NAME(visit)(const margin_matrix *x, const int64_t *rows, int64_t count, const double *w,
                        double b, double *c, double *sum) {
    for (int64_t k = 0; k < count; k++) {
        const NAME(csr_row) a = NAME(row_of)(x, rows[k]);
        if (k + MG_CSR_LIST_AHEAD < count) NAME(prefetch)(x, rows[k + MG_CSR_LIST_AHEAD]);
        c[k] *= NAME(product)(a, w) + b;
        if (c[k] != 0.0) NAME(add_scaled)(a, c[k], sum);
    }
}
