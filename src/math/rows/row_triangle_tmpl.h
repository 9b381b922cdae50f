/* Rows of a lower triangle against sixteen vectors side by side, or one: included after a vector
 * type with TRIANGLE_ROWS, the rows whose sums are in registers together.
 *
 * Terms are added one after the other, fused, up to the end of the row's group of eight: so every
 * instruction set, and one vector as sixteen, gives the same bits. */

enum { TRIANGLE_VECTORS = MG_TRIANGLE_WIDTH / LANES };

/* So many rows, a constant, from `a` on. */
MG_INLINE void triangle_rows(const double *a, int64_t lda, int rows, int64_t depth, const double *x,
                             double *out) {
    vec sum[TRIANGLE_ROWS][TRIANGLE_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < TRIANGLE_VECTORS; v++)
            sum[r][v] = vec_zero();
    for (int64_t j = 0; j < depth; j++)
        for (int r = 0; r < rows; r++) {
            const vec factor = vec_set(a[r * lda + j]);
            for (int v = 0; v < TRIANGLE_VECTORS; v++)
                sum[r][v] =
                    vec_fma(factor, vec_load(x + j * MG_TRIANGLE_WIDTH + v * LANES), sum[r][v]);
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < TRIANGLE_VECTORS; v++)
            vec_store(out + r * MG_TRIANGLE_WIDTH + v * LANES, sum[r][v]);
}

static void triangle_of_many(const double *a, int64_t lda, int64_t rows, int64_t depth,
                             const double *x, double *out) {
    int64_t r = 0;
    for (; r + TRIANGLE_ROWS <= rows; r += TRIANGLE_ROWS)
        triangle_rows(a + r * lda, lda, TRIANGLE_ROWS, depth, x, out + r * MG_TRIANGLE_WIDTH);
    for (; r < rows; r++)
        triangle_rows(a + r * lda, lda, 1, depth, x, out + r * MG_TRIANGLE_WIDTH);
}

MG_INLINE void triangle_sums(const double *a, int64_t lda, int64_t rows, int64_t depth,
                             const double *x, double *out) {
    double sum[MG_TRIANGLE_GROUP] = {0.0};
    for (int64_t j = 0; j < depth; j++)
        for (int64_t r = 0; r < rows; r++)
            sum[r] = fma(a[r * lda + j], x[j], sum[r]);
    for (int64_t r = 0; r < rows; r++)
        out[r] = sum[r];
}

/* A whole group, a constant, has its sums in registers. */
static void triangle_of_one(const double *a, int64_t lda, int64_t rows, int64_t depth,
                            const double *x, double *out) {
    if (rows == MG_TRIANGLE_GROUP)
        triangle_sums(a, lda, MG_TRIANGLE_GROUP, depth, x, out);
    else
        triangle_sums(a, lda, rows, depth, x, out);
}
