/* Scans of one value type: included by matrix_check.c with REAL (the type), BITS (the unsigned
 * integer of its width), NAME(x) (adds the suffix) and the constants of the format defined.
 *
 * Both scans work on the bits without branches: one OR a value, so that the compiler can use whole
 * vectors. MAGNITUDE(x) is the bit pattern without its sign; INFINITE_BITS that of infinity, NaNs
 * lie above it. */

/* True if one of values[0..count) is a NaN or an infinity: adding what is missing from infinity to
 * the top bit sets that bit exactly then. */
static bool NAME(has_nonfinite)(const REAL *values, int64_t count) {
    BITS seen = 0;
    for (int64_t k = 0; k < count; k++) {
        BITS bits;
        memcpy(&bits, values + k, sizeof bits);
        seen |= (bits & ~TOP_BIT) + (TOP_BIT - INFINITE_BITS);
    }
    return (seen & TOP_BIT) != 0;
}

/* True if one of values[0..count) is an infinity: only then is the difference 0, and 0 - 1 sets the
 * top bit. */
static bool NAME(has_infinite)(const REAL *values, int64_t count) {
    BITS seen = 0;
    for (int64_t k = 0; k < count; k++) {
        BITS bits;
        memcpy(&bits, values + k, sizeof bits);
        seen |= ((bits & ~TOP_BIT) ^ INFINITE_BITS) - 1;
    }
    return (seen & TOP_BIT) != 0;
}
