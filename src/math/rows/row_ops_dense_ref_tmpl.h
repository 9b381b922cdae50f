/* Dense rows in plain C: included by row_kernels_ref.c with REAL (float or double) and NAME(x)
 * (adds the suffix) defined. Four sums, element j goes to sum j mod 4. */

MG_INLINE const REAL *NAME(row_of)(const margin_matrix *x, int64_t row) {
    return (const REAL *)x->values + row * x->stride;
}

MG_INLINE double NAME(product)(const REAL *a, const double *w, int64_t n) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += (double)a[j + k] * w[j + k];
    for (int k = 0; j < n; j++, k++)
        sum[k] += (double)a[j] * w[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double NAME(dot)(const margin_matrix *x, int64_t row, const double *w) {
    return NAME(product)(NAME(row_of)(x, row), w, x->columns);
}

static void NAME(add)(const margin_matrix *x, int64_t row, double c, double *w) {
    const REAL *a = NAME(row_of)(x, row);
    for (int64_t j = 0; j < x->columns; j++)
        w[j] += c * (double)a[j];
}

static double NAME(square)(const margin_matrix *x, int64_t row) {
    const REAL *a = NAME(row_of)(x, row);
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (int64_t j = 0; j < x->columns; j++)
        sum[j & 3] += (double)a[j] * (double)a[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void NAME(scores)(const margin_matrix *x, int64_t first, int64_t count, const double *w,
                         const double *b, int64_t functions, double *out) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t f = 0; f < functions; f++)
            *out++ = NAME(dot)(x, first + i, w + f * x->columns) + b[f];
}

static int64_t NAME(next_error)(const mg_row_scan *scan, int64_t first, int64_t last,
                                const double *w, double b) {
    for (int64_t i = first; i < last; i++) {
        double score = NAME(dot)(scan->x, scan->rows ? scan->rows[i] : i, w) + b;
        if (!(scan->sign[i] * score > 0.0)) return i;
    }
    return last;
}
