/* Rows of one value type in one working precision: included by an instruction-set file with REAL
 * (of the rows), WORK, NAME(x), VEC, VEC_LANES, VEC_ZERO(), VEC_LOAD(p), VEC_SET(x),
 * VEC_SUBTRACT(a, b), VEC_FMA(a, b, c), VEC_SUM(a), VEC_ADD_TO(c, a), which adds to f64 numbers,
 * LOAD(p) and LOAD_PART(p, n), the first n lanes and zeros, from REAL memory, defined;
 * ROW_TILE, CLASS_TILE and COLUMN_TILE are how many rows, classes and vectors of columns share
 * their loads.
 */

/* ---- Scores ---------------------------------------------------------------------------------- */

/* `rows`, `classes` and `centred` are constants where this is called. */
MG_INLINE void NAME(classes_score_tile)(const REAL *const *x, int rows, int64_t n, bool centred,
                                        const WORK *centre, const WORK *w, int64_t ld, int classes,
                                        double *scores, int64_t stride) {
    VEC sum[ROW_TILE][CLASS_TILE];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < classes; k++)
            sum[r][k] = VEC_ZERO();
    for (int64_t j = 0; j < n; j += VEC_LANES) {
        const int64_t left = MG_MIN(n - j, VEC_LANES);
        VEC value[ROW_TILE];
        for (int r = 0; r < rows; r++) {
            value[r] = left == VEC_LANES ? LOAD(x[r] + j) : LOAD_PART(x[r] + j, left);
            if (centred) value[r] = VEC_SUBTRACT(value[r], VEC_LOAD(centre + j));
        }
        for (int k = 0; k < classes; k++) {
            const VEC weight = VEC_LOAD(w + k * ld + j);
            for (int r = 0; r < rows; r++)
                sum[r][k] = VEC_FMA(value[r], weight, sum[r][k]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < classes; k++)
            scores[r * stride + k] = VEC_SUM(sum[r][k]);
}

MG_INLINE void NAME(classes_score_rows)(const REAL *const *x, int rows, int64_t n, bool centred,
                                        const WORK *centre, const WORK *w, int64_t ld,
                                        int64_t classes, double *scores) {
    int64_t k = 0;
    for (; k + CLASS_TILE <= classes; k += CLASS_TILE)
        NAME(classes_score_tile)
    (x, rows, n, centred, centre, w + k * ld, ld, CLASS_TILE, scores + k, classes);
    switch (classes - k) {
#if CLASS_TILE > 4
    case 4:
        NAME(classes_score_tile)
        (x, rows, n, centred, centre, w + k * ld, ld, 4, scores + k, classes);
        break;
#endif
#if CLASS_TILE > 3
    case 3:
        NAME(classes_score_tile)
        (x, rows, n, centred, centre, w + k * ld, ld, 3, scores + k, classes);
        break;
#endif
    case 2:
        NAME(classes_score_tile)
        (x, rows, n, centred, centre, w + k * ld, ld, 2, scores + k, classes);
        break;
    case 1:
        NAME(classes_score_tile)
        (x, rows, n, centred, centre, w + k * ld, ld, 1, scores + k, classes);
        break;
    default:
        break;
    }
}

MG_INLINE void NAME(classes_scores_of)(const REAL *const *x, int64_t count, int64_t n, bool centred,
                                       const WORK *centre, const WORK *w, int64_t ld,
                                       int64_t classes, double *scores) {
    int64_t r = 0;
    for (; r + ROW_TILE <= count; r += ROW_TILE) {
        mg_ask_behind((const void *const *)x, count, r, ROW_TILE, ROW_TILE,
                      n * (int64_t)sizeof(REAL));
        NAME(classes_score_rows)
        (x + r, ROW_TILE, n, centred, centre, w, ld, classes, scores + r * classes);
    }
    for (; r < count; r++)
        NAME(classes_score_rows)
    (x + r, 1, n, centred, centre, w, ld, classes, scores + r * classes);
}

static void NAME(classes_scores)(const void *const *rows, int64_t count, int64_t n,
                                 const void *centre, const void *w, int64_t ld, int64_t classes,
                                 double *scores) {
    const REAL *x[MG_CLASSES_MOST_ROWS];
    for (int64_t r = 0; r < count; r++)
        x[r] = rows[r];
    if (centre)
        NAME(classes_scores_of)(x, count, n, true, centre, w, ld, classes, scores);
    else
        NAME(classes_scores_of)(x, count, n, false, NULL, w, ld, classes, scores);
}

/* ---- Gradient -------------------------------------------------------------------------------- */

MG_INLINE void NAME(classes_add_part)(double *sum, VEC a, int64_t left) {
    double all[VEC_LANES] = {0.0};
    VEC_ADD_TO(all, a);
    for (int64_t j = 0; j < left; j++)
        sum[j] += all[j];
}

/* Columns [0, vectors * VEC_LANES) of the addresses, or the first `left` of one vector; `vectors`,
 * `classes` and `centred` are constants where this is called. */
MG_INLINE void NAME(classes_gradient_tile)(const REAL *const *x, int64_t count, int64_t j,
                                           int vectors, int64_t left, bool centred,
                                           const WORK *centre, const WORK *slopes, int64_t stride,
                                           int classes, double *sum, int64_t n) {
    VEC total[CLASS_TILE][COLUMN_TILE];
    for (int k = 0; k < classes; k++)
        for (int v = 0; v < vectors; v++)
            total[k][v] = VEC_ZERO();
    for (int64_t r = 0; r < count; r++) {
        VEC value[COLUMN_TILE];
        for (int v = 0; v < vectors; v++) {
            const REAL *at = x[r] + j + v * VEC_LANES;
            value[v] = left == VEC_LANES ? LOAD(at) : LOAD_PART(at, left);
            if (centred) value[v] = VEC_SUBTRACT(value[v], VEC_LOAD(centre + j + v * VEC_LANES));
        }
        for (int k = 0; k < classes; k++) {
            const VEC slope = VEC_SET(slopes[r * stride + k]);
            for (int v = 0; v < vectors; v++)
                total[k][v] = VEC_FMA(slope, value[v], total[k][v]);
        }
    }
    for (int k = 0; k < classes; k++)
        for (int v = 0; v < vectors; v++) {
            double *at = sum + k * n + j + v * VEC_LANES;
            if (left == VEC_LANES)
                VEC_ADD_TO(at, total[k][v]);
            else
                NAME(classes_add_part)(at, total[k][v], left);
        }
}

MG_INLINE void NAME(classes_gradient_columns)(const REAL *const *x, int64_t count, int64_t j,
                                              int vectors, int64_t left, bool centred,
                                              const WORK *centre, const WORK *slopes,
                                              int64_t classes, double *sum, int64_t n) {
    int64_t k = 0;
    for (; k + CLASS_TILE <= classes; k += CLASS_TILE)
        NAME(classes_gradient_tile)
    (x, count, j, vectors, left, centred, centre, slopes + k, classes, CLASS_TILE, sum + k * n, n);
    for (; k + 2 <= classes; k += 2)
        NAME(classes_gradient_tile)
    (x, count, j, vectors, left, centred, centre, slopes + k, classes, 2, sum + k * n, n);
    if (k < classes) NAME(classes_gradient_tile)
    (x, count, j, vectors, left, centred, centre, slopes + k, classes, 1, sum + k * n, n);
}

MG_INLINE void NAME(classes_gradient_of)(const REAL *const *x, int64_t count, int64_t n,
                                         bool centred, const WORK *centre, const WORK *slopes,
                                         int64_t classes, double *sum) {
    int64_t j = 0;
    for (; j + COLUMN_TILE * VEC_LANES <= n; j += COLUMN_TILE * VEC_LANES)
        NAME(classes_gradient_columns)
    (x, count, j, COLUMN_TILE, VEC_LANES, centred, centre, slopes, classes, sum, n);
    for (; j + VEC_LANES <= n; j += VEC_LANES)
        NAME(classes_gradient_columns)
    (x, count, j, 1, VEC_LANES, centred, centre, slopes, classes, sum, n);
    if (j < n) NAME(classes_gradient_columns)
    (x, count, j, 1, n - j, centred, centre, slopes, classes, sum, n);
}

static void NAME(classes_gradient)(const void *const *rows, int64_t count, int64_t n,
                                   const void *centre, const void *slopes, int64_t classes,
                                   double *sum) {
    const REAL *x[MG_CLASSES_MOST_ROWS];
    for (int64_t r = 0; r < count; r++)
        x[r] = rows[r];
    if (centre)
        NAME(classes_gradient_of)(x, count, n, true, centre, slopes, classes, sum);
    else
        NAME(classes_gradient_of)(x, count, n, false, NULL, slopes, classes, sum);
}
