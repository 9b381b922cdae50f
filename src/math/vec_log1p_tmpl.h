/* log(1 + e) of a vector for 0 <= e <= 1, within two units in the last place: included after a
 * vector type with fused multiply-add.
 *
 * log(1 + e) = 2 atanh(e / (2 + e)), or ln 2 + 2 atanh((e - 1) / (e + 3)) where e > sqrt(2) - 1, so
 * that the argument s of atanh stays below 0.172; then its series to s^23 (remainder below 1e-20).
 */
MG_INLINE vec vec_log1p(vec e) {
    const vec one = vec_set(1.0), split = vec_set(0.41421356237309515);
    const vec low = vec_subtract(e, split); /* negative: below the split */
    const vec top = vec_if_negative(low, e, vec_subtract(e, one));
    const vec s = vec_divide(top, vec_add(e, vec_if_negative(low, vec_set(2.0), vec_set(3.0))));
    const vec square = vec_multiply(s, s);
    vec series = vec_set(1.0 / 23.0);
    for (int k = 21; k > 0; k -= 2)
        series = vec_fma(series, square, vec_set(1.0 / k));
    const vec base = vec_if_negative(low, vec_zero(), vec_set(0.6931471805599453));
    return vec_fma(vec_add(s, s), series, base);
}
