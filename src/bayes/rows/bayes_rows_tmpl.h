/* One value type of dense rows: included by an instruction-set file after its vector type, with
 * REAL, NAME(x), LOAD(p) and LOAD_PART(p, n) (a vector, or its first n lanes and zeros, from REAL
 * memory, widened) defined. Products and sums of a fit are rounded one after the other. */

MG_INLINE void NAME(fetch_row)(const REAL *x, int64_t n) {
    const char *at = (const char *)x;
    for (int64_t byte = 0; byte < n * (int64_t)sizeof *x; byte += 64)
        __builtin_prefetch(at + byte, 0, 2);
}

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

static void NAME(moments)(const void *const *rows, int64_t ahead, const int32_t *codes,
                          const double *weights, int64_t count, int64_t n, int64_t stride,
                          const double *pivot, double *first, double *second) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = codes[i] * stride;
        if (ahead > 0) NAME(fetch_row)(rows[i + ahead], n);
        if (weights)
            NAME(add_row)(rows[i], n, true, weights[i], pivot + at, first + at, second + at);
        else
            NAME(add_row)(rows[i], n, false, 1.0, pivot + at, first + at, second + at);
    }
}

/* Lanes j.. of `rows` rows in `classes` classes; `left` numbers of them, LANES: all. */
MG_INLINE void NAME(add_squares)(const REAL *const *x, int rows, int classes, int64_t j,
                                 int64_t left, const double *centre, const double *slope,
                                 const double *offset, int64_t stride, vec sum[BESIDE][TOGETHER]) {
    const bool whole = left == LANES;
    vec value[TOGETHER];
    for (int r = 0; r < rows; r++) {
        value[r] = whole ? LOAD(x[r] + j) : LOAD_PART(x[r] + j, left);
        if (centre)
            value[r] = vec_subtract(value[r],
                                    whole ? vec_load(centre + j) : vec_load_part(centre + j, left));
    }
    for (int c = 0; c < classes; c++) {
        const double *at = slope + c * stride + j, *by = offset + c * stride + j;
        const vec s = whole ? vec_load(at) : vec_load_part(at, left);
        const vec o = whole ? vec_load(by) : vec_load_part(by, left);
        for (int r = 0; r < rows; r++) {
            const vec t = vec_fma(value[r], s, o);
            sum[c][r] = vec_fma(t, t, sum[c][r]);
        }
    }
}

/* `rows`, `classes` and whether centre is NULL are constants where this is called. `all`: classes
 * of a row of out. */
MG_INLINE void NAME(distances)(const REAL *const *x, int rows, int classes, int64_t n,
                               const double *centre, const double *slope, const double *offset,
                               int64_t stride, int64_t all, double *out) {
    vec sum[BESIDE][TOGETHER];
    int64_t j = 0;
    for (int c = 0; c < classes; c++)
        for (int r = 0; r < rows; r++)
            sum[c][r] = vec_zero();
    for (; j + LANES <= n; j += LANES)
        NAME(add_squares)(x, rows, classes, j, LANES, centre, slope, offset, stride, sum);
    if (j < n) NAME(add_squares)(x, rows, classes, j, n - j, centre, slope, offset, stride, sum);
    for (int c = 0; c < classes; c++)
        for (int r = 0; r < rows; r++)
            out[r * all + c] -= vec_sum(sum[c][r]);
}

/* BESIDE classes at a time, then two, then one that is left. */
MG_INLINE void NAME(scores_of)(const void *const *rows, int together, int64_t n,
                               const double *centre, const double *slope, const double *offset,
                               int64_t stride, int64_t classes, double *out) {
    const REAL *x[TOGETHER];
    int64_t k = 0;
    for (int r = 0; r < together; r++)
        x[r] = rows[r];
    for (; k + BESIDE <= classes; k += BESIDE)
        NAME(distances)
    (x, together, BESIDE, n, centre, slope + k * stride, offset + k * stride, stride, classes,
     out + k);
    if (BESIDE > 2 && k + 2 <= classes) {
        NAME(distances)
        (x, together, 2, n, centre, slope + k * stride, offset + k * stride, stride, classes,
         out + k);
        k += 2;
    }
    if (k < classes) NAME(distances)
    (x, together, 1, n, centre, slope + k * stride, offset + k * stride, stride, classes, out + k);
}

MG_INLINE void NAME(all_scores)(const void *const *rows, int64_t ahead, int64_t count, int64_t n,
                                const double *centre, const double *slope, const double *offset,
                                int64_t stride, int64_t classes, double *out) {
    int64_t i = 0;
    for (; i + TOGETHER <= count; i += TOGETHER) {
        for (int r = 0; r < TOGETHER && ahead > 0; r++)
            NAME(fetch_row)(rows[i + r + ahead], n);
        NAME(scores_of)
        (rows + i, TOGETHER, n, centre, slope, offset, stride, classes, out + i * classes);
    }
    for (; i < count; i++)
        NAME(scores_of)(rows + i, 1, n, centre, slope, offset, stride, classes, out + i * classes);
}

static void NAME(scores)(const void *const *rows, int64_t ahead, int64_t count, int64_t n,
                         const double *centre, const double *slope, const double *offset,
                         int64_t stride, int64_t classes, double *out) {
    if (centre)
        NAME(all_scores)(rows, ahead, count, n, centre, slope, offset, stride, classes, out);
    else
        NAME(all_scores)(rows, ahead, count, n, NULL, slope, offset, stride, classes, out);
}

/* ---- 0/1 numbers and counts; whether they are counts is a constant where these are called -----
 */

/* a, or x a of counts, where x > 0; *gap: NaN where x is none of its kind. */
MG_INLINE vec NAME(part_of)(vec x, vec a, bool counts, vec *gap) {
    const vec none = vec_multiply(x, vec_zero());
    *gap = vec_add(*gap, counts ? vec_if_negative(x, vec_set((double)NAN), none) : none);
    return vec_if_negative(vec_subtract(vec_zero(), x), counts ? vec_multiply(x, a) : a,
                           vec_zero());
}

MG_INLINE vec NAME(tally_row)(const REAL *x, int64_t n, double weight, bool counts, double *sums) {
    const vec w = vec_set(weight);
    vec gap = vec_zero();
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        vec_store(sums + j,
                  vec_add(vec_load(sums + j), NAME(part_of)(LOAD(x + j), w, counts, &gap)));
    if (j == n) return gap;
    const vec part = NAME(part_of)(LOAD_PART(x + j, n - j), w, counts, &gap);
    vec_store_part(sums + j, vec_add(vec_load_part(sums + j, n - j), part), n - j);
    return gap;
}

MG_INLINE bool NAME(tally_rows)(const void *const *rows, const int32_t *codes,
                                const double *weights, int64_t count, int64_t n, int64_t stride,
                                bool counts, double *table) {
    vec gap = vec_zero();
    for (int64_t i = 0; i < count; i++)
        gap = vec_add(gap, NAME(tally_row)(rows[i], n, weights ? weights[i] : 1.0, counts,
                                           table + codes[i] * stride));
    return vec_sum(gap) == 0;
}

static bool NAME(tally)(const void *const *rows, const int32_t *codes, const double *weights,
                        int64_t count, int64_t n, int64_t stride, bool counts, double *table) {
    return counts ? NAME(tally_rows)(rows, codes, weights, count, n, stride, true, table)
                  : NAME(tally_rows)(rows, codes, weights, count, n, stride, false, table);
}

/* `classes` is a constant. */
MG_INLINE void NAME(weigh_row)(const REAL *x, int64_t n, bool counts, const double *on,
                               int64_t stride, int classes, double *out) {
    vec sum[BESIDE], gap = vec_zero();
    int64_t j = 0;
    for (int k = 0; k < classes; k++)
        sum[k] = vec_zero();
    for (; j < n; j += LANES) {
        const int64_t left = n - j;
        const bool whole = left >= LANES;
        const vec value = whole ? LOAD(x + j) : LOAD_PART(x + j, left);
        for (int k = 0; k < classes; k++) {
            const double *at = on + k * stride + j;
            vec mine = vec_zero();
            const vec a = whole ? vec_load(at) : vec_load_part(at, left);
            sum[k] = vec_add(sum[k], NAME(part_of)(value, a, counts, k == 0 ? &gap : &mine));
        }
    }
    for (int k = 0; k < classes; k++)
        out[k] += vec_sum(vec_add(sum[k], gap));
}

MG_INLINE void NAME(weigh_rows)(const void *const *rows, int64_t count, int64_t n, bool counts,
                                const double *on, int64_t stride, int64_t classes, double *out) {
    for (int64_t i = 0; i < count; i++, out += classes) {
        int64_t k = 0;
        for (; k + BESIDE <= classes; k += BESIDE)
            NAME(weigh_row)(rows[i], n, counts, on + k * stride, stride, BESIDE, out + k);
        for (; k < classes; k++)
            NAME(weigh_row)(rows[i], n, counts, on + k * stride, stride, 1, out + k);
    }
}

static void NAME(weigh)(const void *const *rows, int64_t count, int64_t n, bool counts,
                        const double *on, int64_t stride, int64_t classes, double *out) {
    if (counts)
        NAME(weigh_rows)(rows, count, n, true, on, stride, classes, out);
    else
        NAME(weigh_rows)(rows, count, n, false, on, stride, classes, out);
}
