/* Rows out of columns: included by matrix.c with REAL and NAME(x) (adds the suffix)
 * defined, after NAME(pack), a vector of 16 bytes of them. Eight columns at a time, so that their
 * addresses stay in registers and lines of memory are used up. */

static void NAME(row_from_columns)(const margin_matrix *x, int64_t row, int64_t first,
                                   int64_t count, double *restrict out) {
    const void *const *from = x->column_values + first;
    for (int64_t j = 0; j < count; j++)
        out[j] = (double)((const REAL *)from[j])[row];
}

/* A square of rows that follow each other and columns, as many as a vector has numbers. */
MG_INLINE void NAME(turn_square)(const REAL *const *from, int64_t row, REAL *to, int64_t stride) {
    enum { WIDTH = sizeof(NAME(pack)) / sizeof(REAL) };
    NAME(pack) in[WIDTH];
    for (int c = 0; c < WIDTH; c++)
        memcpy(&in[c], from[c] + row, sizeof in[c]);
    for (int r = 0; r < WIDTH; r++) {
        NAME(pack) out = in[0];
        for (int c = 0; c < WIDTH; c++)
            out[c] = in[c][r];
        memcpy(to + r * stride, &out, sizeof out);
    }
}

/* Eight columns from j on. What is read next, of the next eight or of the first ones further down,
 * is fetched meanwhile: there are too many columns for the processor to see where they lead. */
static void NAME(turn_eight)(const margin_matrix *x, const int64_t *rows, int64_t first,
                             int64_t count, int64_t j, REAL *out) {
    enum { WIDTH = sizeof(NAME(pack)) / sizeof(REAL), LINE = 64 / sizeof(REAL) };
    const int64_t n = x->columns, next = j + EIGHT < n ? MG_MIN(j + EIGHT, n - EIGHT) : 0;
    const int64_t ahead = next > 0 ? first : first + count;
    const REAL *from[EIGHT];
    int64_t k = 0;
    for (int c = 0; c < EIGHT; c++)
        from[c] = x->column_values[j + c];
    for (; !rows && k + LINE <= count; k += LINE) {
        for (int c = 0; c < EIGHT; c++)
            __builtin_prefetch((const char *)x->column_values[next + c] +
                               (ahead + k) * (int64_t)sizeof(REAL));
        for (int r = 0; r < LINE; r += WIDTH)
            for (int c = 0; c < EIGHT; c += WIDTH)
                NAME(turn_square)(from + c, first + k + r, out + (k + r) * n + j + c, n);
    }
    for (; k < count; k++) {
        const int64_t row = rows ? rows[k] : first + k;
        for (int c = 0; c < EIGHT; c++)
            out[k * n + j + c] = from[c][row];
    }
}

/* The last eight may be written twice. */
static void NAME(rows_from_columns)(const margin_matrix *x, const int64_t *rows, int64_t first,
                                    int64_t count, REAL *out) {
    const int64_t n = x->columns;
    for (int64_t j = 0; n >= EIGHT && j < n; j += EIGHT)
        NAME(turn_eight)(x, rows, first, count, MG_MIN(j, n - EIGHT), out);
    for (int64_t j = 0; n < EIGHT && j < n; j++) {
        const REAL *from = x->column_values[j];
        for (int64_t k = 0; k < count; k++)
            out[k * n + j] = from[rows ? rows[k] : first + k];
    }
}
