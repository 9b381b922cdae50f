/* e^x of a vector, within one unit in the last place: included after a vector type with fused
 * multiply-add.
 *
 * x = k ln 2 + r with |r| <= ln(2)/2; ln 2 in two parts (the first one with 32 trailing zeros) so
 * that r is exact to double precision (Cody and Waite, "Software Manual for the Elementary
 * Functions", 1980); e^r by its Taylor polynomial of degree 13 (remainder below 5e-18), then two
 * exact scalings, so that results between the smallest normal number and 0 are right too. NaN stays
 * NaN, results beyond the range become 0 or infinity. */
MG_INLINE vec vec_exp(vec x) {
    static const double coefficient[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
                                         1.0 / 3628800.0,    1.0 / 362880.0,    1.0 / 40320.0,
                                         1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,
                                         1.0 / 24.0,         1.0 / 6.0,         0.5};
    x = vec_max(vec_set(-1000.0), vec_min(vec_set(1000.0), x)); /* a NaN in x is kept */
    const vec k = vec_round(vec_multiply(x, vec_set(1.4426950408889634)));
    vec r = vec_fma(k, vec_set(-0x1.62e42fee00000p-1), x);
    r = vec_fma(k, vec_set(-0x1.a39ef35793c76p-33), r);
    vec q = vec_set(coefficient[0]);
    for (int i = 1; i < MG_LENGTH(coefficient); i++)
        q = vec_fma(q, r, vec_set(coefficient[i]));
    const vec p = vec_add(vec_fma(vec_multiply(r, r), q, r), vec_set(1.0));
    return vec_scale(p, k);
}
