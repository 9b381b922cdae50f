/* Rows of one kind: included by linear_kernels.c with REAL, NAME(x) and, for sparse rows, INDEX
 * defined. */

#if defined(INDEX)

typedef struct NAME(line) {
    const REAL *values;
    const INDEX *columns;
    int64_t length;
} NAME(line);

MG_INLINE NAME(line) NAME(line_of)(const margin_matrix *x, int64_t row) {
    const int64_t first = mg_row_start(x, row);
    return (NAME(line)){(const REAL *)x->values + first, (const INDEX *)x->column_indices + first,
                        mg_row_start(x, row + 1) - first};
}

MG_INLINE int64_t NAME(column)(const NAME(line) * a, int64_t k) {
    return a->columns[k];
}

static void NAME(prefetch)(const margin_matrix *x, int64_t row) {
    const int64_t first = mg_row_start(x, row), length = mg_row_start(x, row + 1) - first;
    fetch((const REAL *)x->values + first, length * (int64_t)sizeof(REAL));
    fetch((const INDEX *)x->column_indices + first, length * (int64_t)sizeof(INDEX));
}

#else

typedef struct NAME(line) {
    const REAL *values;
    int64_t length;
} NAME(line);

MG_INLINE NAME(line) NAME(line_of)(const margin_matrix *x, int64_t row) {
    return (NAME(line)){(const REAL *)x->values + row * x->stride, x->columns};
}

MG_INLINE int64_t NAME(column)(const NAME(line) * a, int64_t k) {
    (void)a;
    return k;
}

static void NAME(prefetch)(const margin_matrix *x, int64_t row) {
    fetch((const REAL *)x->values + row * x->stride, x->columns * (int64_t)sizeof(REAL));
}

#endif

static void NAME(add_scaled)(const margin_matrix *x, int64_t row, double c, const double *factor,
                             double *weights) {
    const NAME(line) a = NAME(line_of)(x, row);
    for (int64_t k = 0; k < a.length; k++) {
        const int64_t j = NAME(column)(&a, k);
        weights[j] += c * factor[j] * (double)a.values[k];
    }
}

static double NAME(square)(const margin_matrix *x, int64_t row, const double *factor) {
    const NAME(line) a = NAME(line_of)(x, row);
    double sum[2] = {0.0, 0.0};
    for (int64_t k = 0; k < a.length; k++) {
        const double value = (double)a.values[k];
        sum[k & 1] += factor ? factor[NAME(column)(&a, k)] * value * value : value * value;
    }
    return sum[0] + sum[1];
}
