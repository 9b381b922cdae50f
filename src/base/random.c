/* Philox4x32-10 and what is drawn from it. Only integer arithmetic and exactly rounded operations
 * (+ - * / sqrt) are used, so every draw has the same bits everywhere. */
#include "base/random.h"

#include "base/cancelled_at.h"

#include <math.h>

/* ---- Generator ---- */

typedef struct philox_words {
    uint32_t word[4];
} philox_words;

static philox_words philox(philox_words x, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * x.word[0];
        uint64_t b = (uint64_t)0xCD9E8D57 * x.word[2];
        x = (philox_words){{(uint32_t)(b >> 32) ^ x.word[1] ^ key0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ x.word[3] ^ key1, (uint32_t)a}};
        key0 += 0x9E3779B9; /* golden ratio */
        key1 += 0xBB67AE85; /* sqrt(3) - 1 */
    }
    return x;
}

void mg_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    philox_words x = {{counter[0], counter[1], counter[2], counter[3]}};
    x = philox(x, key[0], key[1]);
    for (int i = 0; i < 4; i++)
        out[i] = x.word[i];
}

/* Draw number `draw` at (seed, purpose, index): each block of the generator holds two. */
static uint64_t draw_u64(uint64_t seed, mg_purpose purpose, uint64_t index, uint32_t draw) {
    philox_words x = {{(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)purpose, draw >> 1}};
    x = philox(x, (uint32_t)seed, (uint32_t)(seed >> 32));
    int half = (int)(draw & 1) * 2;
    return (uint64_t)x.word[half + 1] << 32 | x.word[half];
}

uint64_t mg_random_u64(uint64_t seed, mg_purpose purpose, uint64_t index) {
    return draw_u64(seed, purpose, index, 0);
}

double mg_random_unit(uint64_t seed, mg_purpose purpose, uint64_t index) {
    return (double)(draw_u64(seed, purpose, index, 0) >> 11) * 0x1p-53;
}

/* ---- Bounded integers ---- */

static uint64_t multiply_high(uint64_t a, uint64_t b, uint64_t *low) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;
    *low = middle << 32 | (uint32_t)p00;
    return p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

/* Lemire, "Fast random integer generation in an interval", TOMACS 2019: the high half of draw *
 * bound, unless the low half falls among the 2^64 mod bound values that would be one too many; then
 * the next draw decides. */
static uint64_t below(uint64_t first, uint64_t seed, mg_purpose purpose, uint64_t index,
                      uint64_t bound) {
    uint64_t low;
    uint64_t high = multiply_high(first, bound, &low);
    if (low >= bound) return high;
    uint64_t surplus = (0 - bound) % bound;
    for (uint32_t draw = 1; low < surplus; draw++)
        high = multiply_high(draw_u64(seed, purpose, index, draw), bound, &low);
    return high;
}

uint64_t mg_random_below(uint64_t seed, mg_purpose purpose, uint64_t index, uint64_t bound) {
    return below(draw_u64(seed, purpose, index, 0), seed, purpose, index, bound);
}

bool mg_random_shuffle_many(const margin_context *context, uint64_t seed, mg_purpose purpose,
                            uint64_t round, int64_t *order, int64_t count) {
    enum { DRAWS = 32 }; /* made together: none waits for the one before */
    uint64_t first[DRAWS];
    for (int64_t i = count - 1; i > 0; i--) {
        const uint64_t index = round << 40 | (uint64_t)i;
        if (context && mg_cancelled_at(context, i)) return false;
        if (i % DRAWS == DRAWS - 1 || i == count - 1)
            for (uint64_t k = 0; k < DRAWS; k++)
                first[k] = draw_u64(seed, purpose, index / DRAWS * DRAWS + k, 0);
        const int64_t other =
            (int64_t)below(first[i % DRAWS], seed, purpose, index, (uint64_t)i + 1);
        int64_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return true;
}

void mg_random_shuffle(uint64_t seed, mg_purpose purpose, uint64_t round, int64_t *order,
                       int64_t count) {
    if (!mg_random_shuffle_many(NULL, seed, purpose, round, order, count)) return; /* never */
}

/* ---- Normal ---- */

static double polynomial(const double *coefficients, int degree, double x) {
    double sum = coefficients[degree];
    for (int i = degree - 1; i >= 0; i--)
        sum = sum * x + coefficients[i];
    return sum;
}

/* Natural logarithm of a normal number in (0, 1], to about 1 ulp; libm's differ in the last bit
 * from system to system. log(m 2^e) with m in [sqrt(1/2), sqrt(2)), log m = 2 artanh((m - 1)/(m +
 * 1)). */
static double portable_log(double x) {
    static const double series[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                    1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
    int exponent;
    double mantissa = frexp(x, &exponent); /* exact */
    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        exponent--;
    }
    double s = (mantissa - 1) / (mantissa + 1);
    return exponent * 0.69314718055994530942 + 2 * s * polynomial(series, 10, s * s);
}

/* The quantile of N(0, 1): Wichura, "Algorithm AS 241: the percentage points of the normal
 * distribution", Applied Statistics 37, 1988 (PPND16, relative error about 1e-16). */
static double normal_quantile(double p) {
    static const double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                               1.9715909503065514427e+3, 1.3731693765509461125e+4,
                               4.5921953931549871457e+4, 6.7265770927008700853e+4,
                               3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[] = {1.0,
                               4.2313330701600911252e+1,
                               6.8718700749205790830e+2,
                               5.3941960214247511077e+3,
                               2.1213794301586595867e+4,
                               3.9307895800092710610e+4,
                               2.8729085735721942674e+4,
                               5.2264952788528545610e+3};
    static const double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                               5.76949722146069140550e0,  3.64784832476320460504e0,
                               1.27045825245236838258e0,  2.41780725177450611770e-1,
                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[] = {1.0,
                               2.05319162663775882187e0,
                               1.67638483018380384940e0,
                               6.89767334985100004550e-1,
                               1.48103976427480074590e-1,
                               1.51986665636164571966e-2,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
    static const double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                               1.78482653991729133580e0,  2.96560571828504891230e-1,
                               2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[] = {1.0,
                               5.99832206555887937690e-1,
                               1.36929880922735805310e-1,
                               1.48753612908506148525e-2,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(a, 7, r) / polynomial(b, 7, r);
    }
    double r = sqrt(-portable_log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? polynomial(c, 7, r - 1.6) / polynomial(d, 7, r - 1.6)
                      : polynomial(e, 7, r - 5) / polynomial(f, 7, r - 5);
    return q < 0 ? -x : x;
}

double mg_random_normal(uint64_t seed, mg_purpose purpose, uint64_t index) {
    /* 52 bits and a half: never 0 or 1, exact, symmetric about 1/2 */
    double p = ((double)(draw_u64(seed, purpose, index, 0) >> 12) + 0.5) * 0x1p-52;
    return normal_quantile(p);
}
