/* Stored values of a sparse row: included by an instruction-set file after its vector type. */

/* Classes 0..LANES + left, left <= LANES. */
MG_INLINE void add_entries(const int64_t *places, const double *factors, int64_t count,
                           const double *on, int64_t classes, int64_t left, double *out) {
    vec a = vec_load(out), b = vec_load_part(out + LANES, left);
    for (int64_t e = 0; e < count; e++) {
        const double *at = on + places[e] * classes;
        const vec factor = vec_set(factors[e]);
        a = vec_add(a, vec_multiply(factor, vec_load(at)));
        b = vec_add(b, vec_multiply(factor, vec_load_part(at + LANES, left)));
    }
    vec_store(out, a);
    vec_store_part(out + LANES, b, left);
}

static void entries(const int64_t *places, const double *factors, int64_t count, const double *on,
                    int64_t classes, double *out) {
    int64_t k = 0;
    for (; classes - k > LANES; k += 2 * LANES)
        add_entries(places, factors, count, on + k, classes, MG_MIN(LANES, classes - k - LANES),
                    out + k);
    if (k >= classes) return;
    vec sum = vec_load_part(out + k, classes - k);
    for (int64_t e = 0; e < count; e++) {
        const vec at = vec_load_part(on + places[e] * classes + k, classes - k);
        sum = vec_add(sum, vec_multiply(vec_set(factors[e]), at));
    }
    vec_store_part(out + k, sum, classes - k);
}
