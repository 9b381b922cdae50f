/* Scans of one value type: included by matrix_check.c with REAL and NAME(x) (adds the suffix)
 * defined, after NAME(bits), the unsigned integer of that width.
 *
 * Both scans work on the bits without branches: one OR a value, so that the compiler can use whole
 * vectors. NaNs lie above the bits of infinity. */
static const NAME(bits) NAME(top) = (NAME(bits))1 << (8 * sizeof(REAL) - 1);
static const NAME(bits)
    NAME(infinite) = (NAME(bits))(sizeof(REAL) == 8 ? UINT64_C(0x7ff) << 52 : UINT64_C(0xff) << 23);

/* True if one of values[0..count) is a NaN or an infinity: adding what is missing from infinity to
 * the top bit sets that bit exactly then. */
static bool NAME(has_nonfinite)(const REAL *values, int64_t count) {
    NAME(bits) seen = 0;
    for (int64_t k = 0; k < count; k++) {
        NAME(bits) bits;
        memcpy(&bits, values + k, sizeof bits);
        seen |= (bits & ~NAME(top)) + (NAME(top) - NAME(infinite));
    }
    return (seen & NAME(top)) != 0;
}

/* True if one of values[0..count) is an infinity: only then is the difference 0, and 0 - 1 sets the
 * top bit. */
static bool NAME(has_infinite)(const REAL *values, int64_t count) {
    NAME(bits) seen = 0;
    for (int64_t k = 0; k < count; k++) {
        NAME(bits) bits;
        memcpy(&bits, values + k, sizeof bits);
        seen |= ((bits & ~NAME(top)) ^ NAME(infinite)) - 1;
    }
    return (seen & NAME(top)) != 0;
}
