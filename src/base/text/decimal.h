/* The inline parts that number_text.c and the bulk token readers (data/source/token_tmpl.h) share:
 * eight digits at once in a 64-bit word, and the rounding of significand * 10^power to a binary
 * number.
 *
 * Rounding: two exact operands and one division or product where both fit (Clinger, "How to read
 * floating point numbers accurately", PLDI 1990), else a 64 x 128 bit product with a power of five
 * (Lemire, "Number parsing at a gigabyte per second", SPE 2021), which is always right for an exact
 * significand (Mushtak and Lemire, "Fast number parsing without fallback", SPE 2023). */
#pragma once

#include "base/status.h"
#include "base/text/powers_of_five.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 mg_u128;

/* ---- Bits ------------------------------------------------------------------------------------ */

MG_INLINE uint64_t mg_f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
MG_INLINE double mg_f64_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
MG_INLINE uint32_t mg_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
MG_INLINE float mg_f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Eight characters in a word, the first one in the lowest byte ---------------------------- */

MG_INLINE uint64_t mg_load_8(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* 0x80 in the bytes that are no digits. Exact up to the first marked byte; the carry of that one
 * may mark bytes above it falsely, so use the lowest mark only. */
MG_INLINE uint64_t mg_nondigit_marks(uint64_t word) {
    const uint64_t digits = word ^ 0x3030303030303030u; /* '0'..'9' become 0..9 */
    return ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
}

/* Value of eight digits; only the low half of each byte counts, so zero bytes are zeros. Three
 * multiplications join neighbours: pairs, then fours and eights at once. */
MG_INLINE uint32_t mg_eight_digits(uint64_t word) {
    word &= 0x0f0f0f0f0f0f0f0fu;
    word = word * 10 + (word >> 8);
    const uint64_t even = (word & 0x000000ff000000ffu) * 0x000f424000000064u;
    const uint64_t odd = ((word >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u;
    return (uint32_t)((even + odd) >> 32);
}

/* clang-format off */
static const uint64_t mg_powers_of_ten_u64[20] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
    10000000000000000000u};
/* clang-format on */

/* All exact. */
static const double mg_powers_of_ten_f64[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const float mg_powers_of_ten_f32[11] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F,
                                               1e6F, 1e7F, 1e8F, 1e9F, 1e10F};

/* ---- Rounding -------------------------------------------------------------------------------- */

/* A binary format; always a compile-time constant, so that the rounding below is compiled once for
 * each. */
typedef struct mg_binary_format {
    int mantissa_bits;         /* stored ones: 52, 23 */
    int bias;                  /* of the exponent: 1023, 127 */
    int exponent_ones;         /* infinity */
    int power_low, power_high; /* below: zero, above: infinity, whatever the significand */
    int tie_low, tie_high;     /* powers of ten with which a tie can be hit exactly */
} mg_binary_format;

static const mg_binary_format mg_format_f64 = {52, 1023, 0x7ff, -342, 308, -4, 23};
static const mg_binary_format mg_format_f32 = {23, 127, 0xff, -65, 38, -17, 10};

/* Bits of significand * 10^power, correctly rounded, ties to even, without sign. */
MG_INLINE uint64_t mg_round_decimal(uint64_t significand, int power, mg_binary_format format) {
    const int mantissa_bits = format.mantissa_bits;
    if (significand == 0 || power < format.power_low) return 0;
    if (power > format.power_high) return (uint64_t)format.exponent_ones << mantissa_bits;

    const int leading = __builtin_clzll(significand);
    significand <<= leading;
    const uint64_t *five = mg_powers_of_five[power - MG_POWER_LOWEST];
    const mg_u128 product = (mg_u128)significand * five[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    /* The lower half of the power matters only if the bits behind the kept ones are all ones. */
    const uint64_t unused = ~(uint64_t)0 >> (mantissa_bits + 3);
    if (MG_UNLIKELY((high & unused) == unused)) {
        const uint64_t carry = (uint64_t)(((mg_u128)significand * five[1]) >> 64);
        low += carry;
        high += low < carry;
    }

    const int top = (int)(high >> 63);
    const int shift = top + 64 - mantissa_bits - 3;
    uint64_t mantissa = high >> shift; /* with the hidden bit and one more bit for rounding */
    /* 217706 / 2^16 is log2(10): the binary exponent of 10^power. */
    int exponent = ((217706 * power) >> 16) + 63 + top - leading + format.bias;
    if (MG_UNLIKELY(exponent <= 0)) { /* subnormal: fewer bits are kept */
        if (1 - exponent >= 64) return 0;
        mantissa >>= 1 - exponent;
        mantissa = (mantissa + (mantissa & 1)) >> 1;
        return mantissa; /* rounding up to the smallest normal number sets the exponent bit */
    }
    if (low <= 1 && power >= format.tie_low && power <= format.tie_high && (mantissa & 3) == 1 &&
        mantissa << shift == high)
        mantissa &= ~(uint64_t)1; /* an exact tie below an odd bit: to even */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (mantissa_bits + 1)) { /* rounded up to the next power of two */
        mantissa = (uint64_t)1 << mantissa_bits;
        exponent++;
    }
    if (exponent >= format.exponent_ones) return (uint64_t)format.exponent_ones << mantissa_bits;
    return (mantissa & (((uint64_t)1 << mantissa_bits) - 1)) | (uint64_t)exponent << mantissa_bits;
}

/* significand * 10^power. Data files tend to hold either a few digits or 15 to 17 of them; the
 * limit below 2^53 keeps the latter on one side of the branch. */
MG_INLINE double mg_round_f64(uint64_t significand, int power, bool negative) {
    uint64_t bits;
    if (FLT_EVAL_METHOD == 0 && significand < 1000000000000000u && (unsigned)(power + 22) <= 44) {
        const double exact = (double)(int64_t)significand;
        bits = mg_f64_bits(power <= 0 ? exact / mg_powers_of_ten_f64[-power]
                                      : exact * mg_powers_of_ten_f64[power]);
    } else {
        bits = mg_round_decimal(significand, power, mg_format_f64);
    }
    return mg_f64_from_bits(bits | (uint64_t)negative << 63);
}

/* Never by way of f64: that would round twice. */
MG_INLINE float mg_round_f32(uint64_t significand, int power, bool negative) {
    uint32_t bits;
    if (FLT_EVAL_METHOD == 0 && significand <= (uint64_t)1 << 24 && (unsigned)(power + 10) <= 20) {
        const float exact = (float)(int32_t)significand;
        bits = mg_f32_bits(power <= 0 ? exact / mg_powers_of_ten_f32[-power]
                                      : exact * mg_powers_of_ten_f32[power]);
    } else {
        bits = (uint32_t)mg_round_decimal(significand, power, mg_format_f32);
    }
    return mg_f32_from_bits(bits | (uint32_t)negative << 31);
}
