/* Data by columns of one value type: included by an instruction-set file after its vector type,
 * with REAL, NAME(x), LOAD(p), LOAD_PART(p, n), COLUMN_FMA(a, b, c), the product and sum of the row
 * kernels, COLUMN_RUN, rows whose sums lie in the first cache, and COLUMN_GROUP, columns read side
 * by side, which divides the places of a row's vectors, defined. */

enum { NAME(TURNED) = 4 }; /* vectors of columns side by side */

/* ---- Scores ---------------------------------------------------------------------------------- */

/* What the columns [j, j + columns) add to the sums of their places, for rows [k, k + left) of a
 * run. `columns`, `fresh` (the first of a place), `centred` and `left`, but for the last vector,
 * are constants where this is called. */
MG_INLINE void NAME(run_add_at)(const REAL *const *from, int columns, bool fresh, bool centred,
                                const vec *middle, const vec *weight, int64_t k, int64_t left,
                                double (*sums)[COLUMN_RUN]) {
    for (int c = 0; c < columns; c++) {
        vec value = left == LANES ? LOAD(from[c] + k) : LOAD_PART(from[c] + k, left);
        if (centred) value = vec_subtract(value, middle[c]);
        vec_store(sums[c] + k,
                  COLUMN_FMA(value, weight[c], fresh ? vec_zero() : vec_load(sums[c] + k)));
    }
}

/* `ahead`: columns of which as much is fetched meanwhile. */
MG_INLINE void NAME(run_add)(const REAL *const *from, const REAL *const *ahead, int64_t count,
                             int columns, bool fresh, bool centred, const double *centre,
                             const double *w, double (*sums)[COLUMN_RUN]) {
    enum { LINE = 64 / sizeof(REAL) };
    vec weight[COLUMN_GROUP], middle[COLUMN_GROUP];
    int64_t k = 0;
    for (int c = 0; c < columns; c++) {
        weight[c] = vec_set(w[c]);
        middle[c] = centred ? vec_set(centre[c]) : vec_zero();
    }
    for (; k + LINE <= count; k += LINE) {
        for (int c = 0; c < columns; c++)
            __builtin_prefetch(ahead[c] + k);
        for (int i = 0; i < LINE; i += LANES)
            NAME(run_add_at)(from, columns, fresh, centred, middle, weight, k + i, LANES, sums);
    }
    for (; k + LANES <= count; k += LANES)
        NAME(run_add_at)(from, columns, fresh, centred, middle, weight, k, LANES, sums);
    if (k < count)
        NAME(run_add_at)(from, columns, fresh, centred, middle, weight, k, count - k, sums);
}

/* Columns from j on, as many as `columns` says; `columns` and `centred` are constants. */
MG_INLINE void NAME(run_columns)(const mg_column_part *x, int64_t j, int columns, bool centred,
                                 const double *centre, const double *w, int64_t places,
                                 double (*sums)[COLUMN_RUN]) {
    const REAL *from[COLUMN_GROUP], *ahead[COLUMN_GROUP];
    const int64_t next = j + columns < x->width ? MG_MIN(j + columns, x->width - columns) : 0;
    for (int c = 0; c < columns; c++) {
        from[c] = (const REAL *)x->columns[j + c] + x->first;
        ahead[c] = (const REAL *)x->columns[next + c] + x->first + (next > 0 ? 0 : x->count);
    }
    if (j < places) NAME(run_add)
    (from, ahead, x->count, columns, true, centred, centre + j, w + j, sums + j % places);
    else NAME(run_add)(from, ahead, x->count, columns, false, centred, centre + j, w + j,
                       sums + j % places);
}

/* The sums of the places are added up as the row kernels do: parts first, then lanes half a vector
 * apart, a quarter, and so on. */
MG_INLINE vec NAME(tree_sum)(int parts, double (*sums)[COLUMN_RUN], int64_t k) {
    vec sum[4 * LANES] = {vec_zero()};
    for (int p = 0; p < parts * LANES; p++)
        sum[p] = vec_load(sums[p] + k);
    for (int l = 0; l < LANES; l++) {
        sum[l] = vec_add(sum[l], sum[l + LANES]);
        if (parts == 4) sum[l] = vec_add(sum[l], vec_add(sum[l + 2 * LANES], sum[l + 3 * LANES]));
    }
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            sum[l] = vec_add(sum[l], sum[l + half]);
    return sum[0];
}

/* A row that does not fill its last vector has zeros there. */
static void NAME(run_zeros)(const mg_column_part *x, int64_t places, double (*sums)[COLUMN_RUN]) {
    const int64_t filled = (x->width + LANES - 1) / LANES * LANES;
    for (int64_t j = x->width; j < MG_MAX(filled, places); j++)
        for (int64_t k = 0; k < x->count; k += LANES) {
            double *sum = sums[j % places] + k;
            vec_store(sum, j < places ? vec_zero() : vec_add(vec_load(sum), vec_zero()));
        }
}

MG_INLINE void NAME(run_scores)(const mg_column_part *x, bool centred, const double *centre,
                                const double *w, double b, int parts, double *scores) {
    double sums[4 * LANES][COLUMN_RUN];
    int64_t j = 0, k = 0;
    for (; j + COLUMN_GROUP <= x->width; j += COLUMN_GROUP)
        NAME(run_columns)(x, j, COLUMN_GROUP, centred, centre, w, (int64_t)parts * LANES, sums);
    for (; j < x->width; j++)
        NAME(run_columns)(x, j, 1, centred, centre, w, (int64_t)parts * LANES, sums);
    NAME(run_zeros)(x, (int64_t)parts * LANES, sums);
    for (; k + LANES <= x->count; k += LANES)
        vec_store(scores + k, vec_add(vec_set(b), NAME(tree_sum)(parts, sums, k)));
    if (k < x->count)
        vec_store_part(scores + k, vec_add(vec_set(b), NAME(tree_sum)(parts, sums, k)),
                       x->count - k);
}

static void NAME(column_scores)(const mg_column_part *x, const double *centre, const double *w,
                                double b, int parts, double *scores) {
    mg_column_part run = *x;
    for (int64_t k = 0; k < x->count; k += COLUMN_RUN, run.first += COLUMN_RUN) {
        run.count = MG_MIN(x->count - k, COLUMN_RUN);
        if (centre)
            NAME(run_scores)(&run, true, centre, w, b, parts, scores + k);
        else
            NAME(run_scores)(&run, false, w, w, b, parts, scores + k);
    }
}

/* ---- Sums of columns ------------------------------------------------------------------------- */

/* What a row adds to the sums of a vector of columns. */
MG_INLINE void NAME(add_value)(bool moments, bool centred, double factor, vec middle, vec value,
                               vec *first, vec *second) {
    if (centred) value = vec_subtract(value, middle);
    if (moments) {
        const vec weighted = vec_multiply(vec_set(factor), value);
        *first = vec_add(*first, weighted);
        *second = COLUMN_FMA(weighted, value, *second);
    } else {
        *first = COLUMN_FMA(vec_set(factor), value, *first);
    }
}

/* Of `left` numbers: with several vectors there are as many as these have. */
MG_INLINE vec NAME(sums_at)(const double *sums, int v, int vectors, int64_t left) {
    return vectors > 1 || left >= LANES ? vec_load(sums + v * LANES) : vec_load_part(sums, left);
}

MG_INLINE void NAME(keep_sums)(double *sums, int v, int vectors, int64_t left, vec a) {
    if (vectors > 1 || left >= LANES)
        vec_store(sums + v * LANES, a);
    else
        vec_store_part(sums, a, left);
}

/* Columns [j, j + vectors * LANES), those that are there, of which a single vector may have fewer;
 * `vectors`, `moments` and `centred` are constants where this is called. */
MG_INLINE void NAME(turned_sums)(const mg_column_part *x, int64_t j, int vectors, bool moments,
                                 bool gaps, bool centred, const double *centre,
                                 const double *factor, double *first, double *second) {
    const int64_t left = MG_MIN(x->width - j, vectors * LANES);
    const REAL *from[NAME(TURNED) * LANES];
    vec total[NAME(TURNED)], squares[NAME(TURNED)], middle[NAME(TURNED)];
    int64_t k = 0;
    for (int c = 0; c < vectors * LANES; c++)
        from[c] = (const REAL *)x->columns[j + MG_MIN(c, left - 1)] + x->first;
    for (int v = 0; v < vectors; v++) {
        total[v] = NAME(sums_at)(first + j, v, vectors, left);
        squares[v] = moments ? NAME(sums_at)(second + j, v, vectors, left) : vec_zero();
        middle[v] = centred ? NAME(sums_at)(centre + j, v, vectors, left) : vec_zero();
    }
    for (; k + LANES <= x->count; k += LANES)
        for (int v = 0; v < vectors; v++) {
            vec value[LANES];
            for (int c = 0; c < LANES; c++)
                value[c] = LOAD(from[v * LANES + c] + k);
            vec_turn(value);
            for (int r = 0; r < LANES; r++)
                if (!gaps || factor[k + r] != 0.0) NAME(add_value)
            (moments, centred, factor[k + r], middle[v], value[r], &total[v], &squares[v]);
        }
    for (; k < x->count; k++)
        for (int v = 0; v < vectors; v++) {
            double value[LANES];
            for (int c = 0; c < LANES; c++)
                value[c] = (double)from[v * LANES + c][k];
            if (!gaps || factor[k] != 0.0) NAME(add_value)
            (moments, centred, factor[k], middle[v], vec_load(value), &total[v], &squares[v]);
        }
    for (int v = 0; v < vectors; v++) {
        NAME(keep_sums)(first + j, v, vectors, left, total[v]);
        if (moments) NAME(keep_sums)(second + j, v, vectors, left, squares[v]);
    }
}

MG_INLINE void NAME(column_sums)(const mg_column_part *x, bool moments, bool gaps, bool centred,
                                 const double *centre, const double *factor, double *first,
                                 double *second) {
    int64_t j = 0;
    for (; j + NAME(TURNED) * LANES <= x->width; j += NAME(TURNED) * LANES)
        NAME(turned_sums)
    (x, j, NAME(TURNED), moments, gaps, centred, centre, factor, first, second);
    for (; j < x->width; j += LANES)
        NAME(turned_sums)(x, j, 1, moments, gaps, centred, centre, factor, first, second);
}

MG_INLINE void NAME(gradient_of)(const mg_column_part *x, bool gaps, const double *centre,
                                 const double *r, double *sum) {
    if (centre)
        NAME(column_sums)(x, false, gaps, true, centre, r, sum, NULL);
    else
        NAME(column_sums)(x, false, gaps, false, NULL, r, sum, NULL);
}

static void NAME(column_gradient)(const mg_column_part *x, const double *centre, const double *r,
                                  double *sum) {
    bool gaps = false;
    for (int64_t k = 0; k < x->count; k++)
        gaps |= r[k] == 0.0;
    if (gaps)
        NAME(gradient_of)(x, true, centre, r, sum);
    else
        NAME(gradient_of)(x, false, centre, r, sum);
}

static void NAME(column_moments)(const mg_column_part *x, const double *centre,
                                 const double *weights, double *first, double *second) {
    if (centre)
        NAME(column_sums)(x, true, false, true, centre, weights, first, second);
    else
        NAME(column_sums)(x, true, false, false, NULL, weights, first, second);
}
