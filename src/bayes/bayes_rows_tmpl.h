/* One value type of dense rows: included by an instruction-set file after its vector type, with
 * REAL, NAME(x), LOAD(p) and LOAD_PART(p, n) (a vector, or its first n lanes and zeros, from REAL
 * memory, widened) defined. Products and sums of a fit are rounded one after the other. */

/* `weighted` is a constant where this is called. */
MG_INLINE void NAME(add_row)(const REAL *x, int64_t n, bool weighted, double weight,
                             const double *pivot, double *first, double *second) {
    const vec w = vec_set(weight);
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const vec d = vec_subtract(LOAD(x + j), vec_load(pivot + j));
        const vec wd = weighted ? vec_multiply(w, d) : d;
        vec_store(first + j, vec_add(vec_load(first + j), wd));
        vec_store(second + j, vec_add(vec_load(second + j), vec_multiply(wd, d)));
    }
    if (j == n) return;
    const int64_t left = n - j;
    const vec d = vec_subtract(LOAD_PART(x + j, left), vec_load_part(pivot + j, left));
    const vec wd = weighted ? vec_multiply(w, d) : d;
    vec_store_part(first + j, vec_add(vec_load_part(first + j, left), wd), left);
    vec_store_part(second + j, vec_add(vec_load_part(second + j, left), vec_multiply(wd, d)), left);
}

static void NAME(moments)(const void *const *rows, const int32_t *codes, const double *weights,
                          int64_t count, int64_t n, const double *pivot, double *first,
                          double *second) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = codes[i] * n;
        if (weights)
            NAME(add_row)(rows[i], n, true, weights[i], pivot + at, first + at, second + at);
        else
            NAME(add_row)(rows[i], n, false, 1.0, pivot + at, first + at, second + at);
    }
}

/* `rows` and `centred` are constants where this is called. */
MG_INLINE void NAME(distances)(const REAL *const *x, int rows, int64_t n, bool centred,
                               const double *centre, const double *slope, const double *offset,
                               double *sums) {
    vec sum[TOGETHER];
    int64_t j = 0;
    for (int r = 0; r < rows; r++)
        sum[r] = vec_zero();
    for (; j + LANES <= n; j += LANES) {
        const vec s = vec_load(slope + j), o = vec_load(offset + j);
        for (int r = 0; r < rows; r++) {
            vec value = LOAD(x[r] + j);
            if (centred) value = vec_subtract(value, vec_load(centre + j));
            const vec t = vec_fma(value, s, o);
            sum[r] = vec_fma(t, t, sum[r]);
        }
    }
    if (j < n) {
        const int64_t left = n - j;
        const vec s = vec_load_part(slope + j, left), o = vec_load_part(offset + j, left);
        for (int r = 0; r < rows; r++) {
            vec value = LOAD_PART(x[r] + j, left);
            if (centred) value = vec_subtract(value, vec_load_part(centre + j, left));
            const vec t = vec_fma(value, s, o);
            sum[r] = vec_fma(t, t, sum[r]);
        }
    }
    for (int r = 0; r < rows; r++)
        sums[r] = vec_sum(sum[r]);
}

MG_INLINE void NAME(scores_of)(const void *const *rows, int together, int64_t n,
                               const double *centre, const double *slope, const double *offset,
                               int64_t stride, int64_t classes, double *out) {
    const REAL *x[TOGETHER];
    double sums[TOGETHER];
    for (int r = 0; r < together; r++)
        x[r] = rows[r];
    for (int64_t k = 0; k < classes; k++) {
        if (centre) NAME(distances)
        (x, together, n, true, centre, slope + k * stride, offset + k * stride, sums);
        else NAME(distances)(x, together, n, false, NULL, slope + k * stride, offset + k * stride,
                             sums);
        for (int r = 0; r < together; r++)
            out[r * classes + k] -= sums[r];
    }
}

static void NAME(scores)(const void *const *rows, int64_t count, int64_t n, const double *centre,
                         const double *slope, const double *offset, int64_t stride, int64_t classes,
                         double *out) {
    int64_t i = 0;
    for (; i + TOGETHER <= count; i += TOGETHER)
        NAME(scores_of)
    (rows + i, TOGETHER, n, centre, slope, offset, stride, classes, out + i * classes);
    for (; i < count; i++)
        NAME(scores_of)(rows + i, 1, n, centre, slope, offset, stride, classes, out + i * classes);
}
