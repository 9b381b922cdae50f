/* log(1 + e) of a vector for 0 <= e <= 1, within one and a half units in the last place: included
 * after a vector type with fused multiply-add.
 *
 * log(1 + e) = b + log(1 + g) with b = 0, g = e, or b = ln 2, g = (e - 1)/2 where e > sqrt(2) - 1.
 * log(1 + g) = 2 atanh(s) with s = g/(2 + g), |s| < 0.172, and as 2 s = g - g s that is
 * g - s (g - 2 r) with r = s^2/3 + s^4/5 + ... + s^22/23 (remainder below 1e-20): the rounding of s
 * is made small (Tang, "Table-driven implementation of the logarithm function", ACM TOMS 16, 1990).
 */
MG_INLINE vec vec_log1p(vec e) {
    const vec low = vec_subtract(e, vec_set(0.41421356237309515)); /* negative: below the split */
    const vec half = vec_multiply(vec_subtract(e, vec_set(1.0)), vec_set(0.5));
    const vec g = vec_if_negative(low, e, half);
    const vec s = vec_divide(g, vec_add(g, vec_set(2.0)));
    const vec square = vec_multiply(s, s);
    vec series = vec_set(2.0 / 23.0);
    for (int k = 21; k > 1; k -= 2)
        series = vec_fma(series, square, vec_set(2.0 / k));
    const vec rest = vec_fma(vec_subtract(vec_zero(), series), square, g); /* g - 2 r */
    const vec small = vec_fma(vec_subtract(vec_zero(), s), rest, g);
    return vec_add(vec_if_negative(low, vec_zero(), vec_set(0.6931471805599453)), small);
}
