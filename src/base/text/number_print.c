/* Printing binary numbers as the shortest decimal that reads back to the same bits, the closest of
 * the shortest ones.
 *
 * Given x = c * 2^q, all decimals strictly between the two half-way points to its neighbours (or on
 * them, if c is even: ties read back to even) read back to x. With k = floor(log10(width of that
 * interval)) there is always a multiple of 10^k in it and at most one of 10^(k+1); three products
 * with one 128-bit power of ten give the interval and x in units of 10^k with a sticky bit, enough
 * to decide exactly (Giulietti, "The Schubfach way to render doubles", 2020). Our change: whole
 * numbers below 2^53 (2^24) print without it. */
#include "base/text/decimal.h"

/* digits * 10^power */
typedef struct short_decimal {
    uint64_t digits;
    int power;
} short_decimal;

/* The upper 64 bits of power * factor / 2^64; the lowest bit is set if anything was lost. */
static uint64_t scale(mg_u128 power, uint64_t factor) {
    const mg_u128 low = (mg_u128)(uint64_t)power * factor;
    const mg_u128 high = (mg_u128)(uint64_t)(power >> 64) * factor + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* 10^power, scaled to 128 bits, rounded up where it is not exact. */
static mg_u128 power_of_ten_above(int power) {
    const uint64_t *five = mg_powers_of_five[power - MG_POWER_LOWEST];
    const mg_u128 value = (mg_u128)five[0] << 64 | five[1];
    const bool rounded_down = power < -27 || power > 55; /* see powers_of_five.h */
    return value + rounded_down;
}

/* The shortest decimal of the finite number above 0 with these bits. */
static short_decimal shortest(uint64_t bits, mg_binary_format format) {
    const int mantissa_bits = format.mantissa_bits;
    const uint64_t hidden_bit = (uint64_t)1 << mantissa_bits;
    const uint64_t fraction = bits & (hidden_bit - 1);
    const int exponent = (int)(bits >> mantissa_bits);
    const uint64_t c = exponent != 0 ? fraction | hidden_bit : fraction;
    const int q = (exponent != 0 ? exponent : 1) - format.bias - mantissa_bits;
    if (q <= 0 && q >= -mantissa_bits && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return (short_decimal){c >> -q, 0};

    /* Below a power of two the neighbour is at half the distance. */
    const bool narrow = fraction == 0 && exponent > 1;
    /* floor(log10(2^q)) or floor(log10(3/4 * 2^q)); then floor(log2(10^-k)). */
    const int k = (int)(((int64_t)q * 1262611 - (narrow ? 524031 : 0)) >> 22);
    const int shift = q + (int)(((int64_t)-k * 1741647) >> 19) + 1; /* 1..4 */
    const mg_u128 power = power_of_ten_above(-k);
    /* All in quarters of 10^k. */
    const uint64_t value = scale(power, 4 * c << shift);
    const bool open = (c & 1) != 0;
    const uint64_t low = scale(power, (4 * c - 2 + narrow) << shift) + open;
    const uint64_t high = scale(power, (4 * c + 2) << shift) - open;

    const uint64_t whole = value / 4;
    if (whole >= 10) { /* one digit less? */
        const uint64_t tens = whole / 10;
        const bool below = low <= 40 * tens, above = 40 * tens + 40 <= high;
        if (below != above) return (short_decimal){tens + above, k + 1};
    }
    const bool below = low <= 4 * whole, above = 4 * whole + 4 <= high;
    if (below != above) return (short_decimal){whole + above, k};
    /* Both are in: the closer one, on a tie the even one. */
    const uint64_t middle = 4 * whole + 2;
    return (short_decimal){whole + (value > middle || (value == middle && (whole & 1) != 0)), k};
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Decimal digits of `value` at the end of a buffer of 20; returns the first one. */
static const char *write_digits(uint64_t value, char buffer[20]) {
    char *p = buffer + 20;
    do {
        *--p = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return p;
}

static char *append(char *out, const char *text, int length) {
    memcpy(out, text, (size_t)length);
    return out + length;
}

static char *append_zeros(char *out, int count) {
    memset(out, '0', (size_t)count);
    return out + count;
}

static char *append_exponent(char *out, int exponent) {
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    const int magnitude = exponent < 0 ? -exponent : exponent;
    if (magnitude >= 100) *out++ = (char)('0' + magnitude / 100);
    *out++ = (char)('0' + magnitude / 10 % 10);
    *out++ = (char)('0' + magnitude % 10);
    return out;
}

/* As Python's repr, without a ".0": plain from 0.0001 to below 1e16, else with an exponent. */
static char *append_decimal(char *out, short_decimal number) {
    while (number.digits % 10 == 0) {
        number.digits /= 10;
        number.power++;
    }
    char buffer[20];
    const char *digits = write_digits(number.digits, buffer);
    const int count = (int)(buffer + 20 - digits);
    const int whole = count + number.power; /* digits before the point; 0.ddd * 10^whole */
    if (whole > 16 || whole <= -4) {
        out = append(out, digits, 1);
        if (count > 1) {
            *out++ = '.';
            out = append(out, digits + 1, count - 1);
        }
        return append_exponent(out, whole - 1);
    }
    if (number.power >= 0) return append_zeros(append(out, digits, count), number.power);
    if (whole > 0) {
        out = append(out, digits, whole);
        *out++ = '.';
        return append(out, digits + whole, count - whole);
    }
    out = append_zeros(append(out, "0.", 2), -whole);
    return append(out, digits, count);
}

/* The nearest number of less digits than `limit` has, a power of ten; a tie goes up. */
static short_decimal round_below(short_decimal number, uint64_t limit) {
    uint64_t unit = 1;
    for (; number.digits / unit >= limit; unit *= 10)
        number.power++;
    number.digits = (number.digits + unit / 2) / unit;
    return number;
}

static int print(bool negative, uint64_t magnitude, mg_binary_format format, uint64_t limit,
                 char *text) {
    const uint64_t infinity = (uint64_t)format.exponent_ones << format.mantissa_bits;
    char *out = text;
    if (magnitude > infinity) {
        out = append(out, "nan", 3);
    } else {
        if (negative) *out++ = '-';
        if (magnitude == infinity)
            out = append(out, "inf", 3);
        else if (magnitude == 0)
            *out++ = '0';
        else
            out = append_decimal(out, round_below(shortest(magnitude, format), limit));
    }
    *out = 0;
    return (int)(out - text);
}

int margin_number_print_f64(double value, char text[MARGIN_NUMBER_TEXT]) {
    const uint64_t bits = mg_f64_bits(value);
    return print(bits >> 63 != 0, bits & ~(uint64_t)0 >> 1, mg_format_f64, UINT64_MAX, text);
}

int margin_number_print_f32(float value, char text[MARGIN_NUMBER_TEXT]) {
    const uint32_t bits = mg_f32_bits(value);
    return print(bits >> 31 != 0, bits & 0x7fffffffu, mg_format_f32, UINT64_MAX, text);
}

mg_number_text mg_about(double value) {
    mg_number_text number;
    const uint64_t bits = mg_f64_bits(value);
    print(bits >> 63 != 0, bits & ~(uint64_t)0 >> 1, mg_format_f64, 10000, number.text);
    return number;
}
