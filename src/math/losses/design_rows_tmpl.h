/* One value type of dense rows: included by an instruction-set file after its vector type, with
 * REAL, NAME(x), LOAD(p) and LOAD_PART(p, n) (a vector, or its first n lanes and zeros, from REAL
 * memory, widened) defined.
 *
 * Four rows share each load of a vector, but long ones are read alone for their scores
 * as long as the weights stay near. A score has two sums, of even and odd vectors. */

/* `centred` and `left` (the lanes that are there, LANES if all) are constants or nearly so. */
MG_INLINE vec NAME(design_value)(const REAL *row, int64_t j, int64_t left, bool centred,
                                 vec centre) {
    const vec x = left == LANES ? LOAD(row + j) : LOAD_PART(row + j, left);
    return centred ? vec_subtract(x, centre) : x;
}

MG_INLINE vec NAME(design_part)(const double *p, int64_t left) {
    return left == LANES ? vec_load(p) : vec_load_part(p, left);
}

MG_INLINE void NAME(design_ask)(const REAL *const *x, int64_t count, int64_t k, int64_t ahead,
                                int64_t n) {
    mg_ask_behind((const void *const *)x, count, k, ahead, TOGETHER, n * (int64_t)sizeof(REAL));
}

/* `rows` and `centred` are constants where this is called. */
MG_INLINE void NAME(design_score_rows)(const REAL *const *x, int rows, int64_t n, bool centred,
                                       const double *centre, const double *w, double b,
                                       double *scores) {
    vec sum[TOGETHER][2];
    for (int r = 0; r < rows; r++)
        sum[r][0] = sum[r][1] = vec_zero();
    int64_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES)
        for (int h = 0; h < 2; h++) {
            const int64_t at = j + h * LANES;
            const vec weight = vec_load(w + at);
            const vec middle = centred ? vec_load(centre + at) : vec_zero();
            for (int r = 0; r < rows; r++)
                sum[r][h] = vec_fma(NAME(design_value)(x[r], at, LANES, centred, middle), weight,
                                    sum[r][h]);
        }
    for (int h = 0; h < 2 && j < n; h++, j += LANES) {
        const int64_t left = MG_MIN(n - j, LANES);
        const vec weight = NAME(design_part)(w + j, left);
        const vec middle = centred ? NAME(design_part)(centre + j, left) : vec_zero();
        for (int r = 0; r < rows; r++)
            sum[r][h] =
                vec_fma(NAME(design_value)(x[r], j, left, centred, middle), weight, sum[r][h]);
    }
    for (int r = 0; r < rows; r++)
        scores[r] = b + vec_sum(vec_add(sum[r][0], sum[r][1]));
}

MG_INLINE void NAME(design_scores_of)(const REAL *const *x, int64_t count, int64_t n, bool centred,
                                      const double *centre, const double *w, double b,
                                      double *scores) {
    enum { FEW = 1280 }; /* of which the weights stay in the first cache beside a row */
    const bool alone = n * (int64_t)sizeof(REAL) > MG_LONG_ROW && n <= FEW;
    int64_t k = 0;
    for (; !alone && k + TOGETHER <= count; k += TOGETHER) {
        NAME(design_ask)(x, count, k, TOGETHER, n);
        NAME(design_score_rows)(x + k, TOGETHER, n, centred, centre, w, b, scores + k);
    }
    for (; k < count; k++)
        NAME(design_score_rows)(x + k, 1, n, centred, centre, w, b, scores + k);
}

static void NAME(design_scores)(const void *const *rows, int64_t count, int64_t n,
                                const double *centre, const double *w, double b, double *scores) {
    const REAL *x[MOST_ROWS];
    for (int64_t k = 0; k < count; k++)
        x[k] = rows[k];
    if (centre)
        NAME(design_scores_of)(x, count, n, true, centre, w, b, scores);
    else
        NAME(design_scores_of)(x, count, n, false, NULL, w, b, scores);
}

/* `rows` and `centred` are constants where this is called. */
MG_INLINE void NAME(design_add_rows)(const REAL *const *x, int rows, int64_t n, bool centred,
                                     const double *centre, const double *r, double *sum) {
    vec factor[TOGETHER];
    for (int k = 0; k < rows; k++)
        factor[k] = vec_set(r[k]);
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const vec middle = centred ? vec_load(centre + j) : vec_zero();
        vec total = vec_load(sum + j);
        for (int k = 0; k < rows; k++)
            total = vec_fma(factor[k], NAME(design_value)(x[k], j, LANES, centred, middle), total);
        vec_store(sum + j, total);
    }
    if (j == n) return;
    const int64_t left = n - j;
    const vec middle = centred ? vec_load_part(centre + j, left) : vec_zero();
    vec total = vec_load_part(sum + j, left);
    for (int k = 0; k < rows; k++)
        total = vec_fma(factor[k], NAME(design_value)(x[k], j, left, centred, middle), total);
    vec_store_part(sum + j, total, left);
}

MG_INLINE void NAME(design_gradient_of)(const REAL *const *x, int64_t count, int64_t n,
                                        bool centred, const double *centre, const double *r,
                                        double *sum) {
    int64_t k = 0;
    for (; k + TOGETHER <= count; k += TOGETHER) {
        NAME(design_ask)(x, count, k, count, n);
        NAME(design_add_rows)(x + k, TOGETHER, n, centred, centre, r + k, sum);
    }
    for (; k < count; k++)
        NAME(design_add_rows)(x + k, 1, n, centred, centre, r + k, sum);
}

/* Rows that add nothing are left out, as those of most samples do for a hinge. */
static void NAME(design_gradient)(const void *const *rows, int64_t count, int64_t n,
                                  const double *centre, const double *r, double *sum) {
    const REAL *x[MOST_ROWS];
    double factor[MOST_ROWS];
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        x[kept] = rows[k];
        factor[kept] = r[k];
        kept += r[k] != 0.0;
    }
    if (centre)
        NAME(design_gradient_of)(x, kept, n, true, centre, factor, sum);
    else
        NAME(design_gradient_of)(x, kept, n, false, NULL, factor, sum);
}

/* One vector of columns; everything but the addresses is a constant where this is called, `left`
 * too except for the last columns. */
MG_INLINE void NAME(design_add_moment)(const REAL *const *x, int rows, int64_t j, int64_t left,
                                       bool centred, const double *centre, const vec *weight,
                                       double *first, double *second) {
    const vec middle = centred ? NAME(design_part)(centre + j, left) : vec_zero();
    vec sum = NAME(design_part)(first + j, left), squares = NAME(design_part)(second + j, left);
    for (int k = 0; k < rows; k++) {
        const vec value = NAME(design_value)(x[k], j, left, centred, middle);
        const vec weighted = vec_multiply(weight[k], value);
        sum = vec_add(sum, weighted);
        squares = vec_fma(weighted, value, squares);
    }
    if (left == LANES) {
        vec_store(first + j, sum);
        vec_store(second + j, squares);
    } else {
        vec_store_part(first + j, sum, left);
        vec_store_part(second + j, squares, left);
    }
}

MG_INLINE void NAME(design_add_moments)(const REAL *const *x, int rows, int64_t n, bool centred,
                                        const double *centre, const double *weights, double *first,
                                        double *second) {
    vec weight[TOGETHER];
    int64_t j = 0;
    for (int k = 0; k < rows; k++)
        weight[k] = vec_set(weights[k]);
    for (; j + LANES <= n; j += LANES)
        NAME(design_add_moment)(x, rows, j, LANES, centred, centre, weight, first, second);
    if (j < n) NAME(design_add_moment)(x, rows, j, n - j, centred, centre, weight, first, second);
}

MG_INLINE void NAME(design_moments_of)(const REAL *const *x, int64_t count, int64_t n, bool centred,
                                       const double *centre, const double *weights, double *first,
                                       double *second) {
    int64_t k = 0;
    for (; k + TOGETHER <= count; k += TOGETHER) {
        NAME(design_ask)(x, count, k, TOGETHER, n);
        NAME(design_add_moments)(x + k, TOGETHER, n, centred, centre, weights + k, first, second);
    }
    for (; k < count; k++)
        NAME(design_add_moments)(x + k, 1, n, centred, centre, weights + k, first, second);
}

static void NAME(design_moments)(const void *const *rows, int64_t count, int64_t n,
                                 const double *centre, const double *weights, double *first,
                                 double *second) {
    const REAL *x[MOST_ROWS];
    for (int64_t k = 0; k < count; k++)
        x[k] = rows[k];
    if (centre)
        NAME(design_moments_of)(x, count, n, true, centre, weights, first, second);
    else
        NAME(design_moments_of)(x, count, n, false, NULL, weights, first, second);
}
