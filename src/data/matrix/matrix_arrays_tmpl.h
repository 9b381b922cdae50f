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
    for (int64_t k = 0; a->validity && k < count; k++) {
        const int64_t place = start + (rows ? rows[k] : k);
        if (!rows && place % 8 == 0 && all_there(a->validity + place / 8, count - k))
            k += 63;
        else if (!bit_at(a->validity, place))
            out[k] = (REAL)NAN;
    }
}

/* Columns side by side, so that a line of memory of a row is written once. */
static void NAME(rows_from_arrays)(const margin_matrix *x, const int64_t *rows, int64_t first,
                                   int64_t count, REAL *restrict out) {
    enum { SIDES = 8 };
    REAL side[SIDES][RUN];
    for (int64_t at = 0; at < count; at += RUN) {
        const int64_t part = MG_MIN(count - at, RUN);
        for (int64_t j = 0; j < x->columns; j += SIDES) {
            const int64_t sides = MG_MIN(x->columns - j, SIDES);
            REAL *to = out + at * x->columns + j;
            for (int64_t c = 0; c < sides; c++)
                NAME(mg_column_read)
            (&x->arrays[j + c], rows ? rows + at : NULL, first + at, part, side[c]);
            for (int64_t k = 0; k < part; k++, to += x->columns)
                for (int64_t c = 0; c < sides; c++)
                    to[c] = side[c][k];
        }
    }
}
