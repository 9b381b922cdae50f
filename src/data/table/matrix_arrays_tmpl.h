/* Columns of types of their own as REAL: included by matrix_arrays.c with REAL and NAME(x) (adds
 * the suffix) defined. */

/* Numbers rows[0..count), or (NULL) from `first` on. */
void NAME(mg_column_read)(const margin_array *a, const int64_t *rows, int64_t first, int64_t count,
                          REAL *restrict out) {
    const int64_t step = step_of(a), start = a->offset + (rows ? 0 : first);
    const char *from = a->values;
    switch (a->type) {
        EACH_TYPE(READ_ALL)
    case MARGIN_BITS:
        for (int64_t k = 0; k < count; k++)
            out[k] = (REAL)bit_at(a->values, start + (rows ? rows[k] : k));
    }
    for (int64_t k = 0; a->validity && k < count; k++)
        if (!bit_at(a->validity, start + (rows ? rows[k] : k))) out[k] = (REAL)NAN;
}

/* A few columns' lines of memory are written while they are near. */
static void NAME(rows_from_arrays)(const margin_matrix *x, const int64_t *rows, int64_t first,
                                   int64_t count, REAL *restrict out) {
    REAL side[RUN];
    for (int64_t at = 0; at < count; at += RUN) {
        const int64_t part = MG_MIN(count - at, RUN);
        REAL *to = out + at * x->columns;
        for (int64_t j = 0; j < x->columns; j++) {
            NAME(mg_column_read)(&x->arrays[j], rows ? rows + at : NULL, first + at, part, side);
            for (int64_t k = 0; k < part; k++)
                to[k * x->columns + j] = side[k];
        }
    }
}
