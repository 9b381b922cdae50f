/* Reading decimal numbers, correctly rounded, without strtod and locale.
 *
 * Up to 19 significant digits are an exact 64-bit significand and mg_round_decimal is final. With
 * more, the number lies in [w, w + 1) * 10^q, w being its first 19 digits; unless both ends round
 * alike, the two candidates are told apart by comparing the whole decimal with the point half-way
 * between them in big integers (Clinger 1990, AlgorithmM's question asked once). */
#include "base/text/number_text.h"

#include "base/text/decimal.h"

#include <stdio.h>
#include <string.h>

/* ---- The text of a number -------------------------------------------------------------------- */

enum { EXACT_DIGITS = 19 }; /* every number of 19 digits fits 64 bits */

typedef struct decimal_text {
    const char *digits, *end; /* digits and at most one point, without sign and exponent */
    uint64_t significand;     /* the first 19 significant digits */
    int64_t power;            /* of ten, belonging to `significand` */
    int64_t last_power;       /* of ten, belonging to the last digit of the text */
    bool negative;
    bool truncated; /* there are more digits, not all of them zero */
} decimal_text;

static bool is_digit(const char *text, const char *end) {
    return text < end && (unsigned)(*text - '0') < 10;
}

/* Appends the digits at `text` to *significand, which wraps beyond 19 of them. */
static const char *take_digits(const char *text, const char *end, uint64_t *significand) {
    while (end - text >= 8) {
        const uint64_t word = mg_load_8(text);
        if (mg_nondigit_marks(word) != 0) break;
        *significand = *significand * 100000000u + mg_eight_digits(word);
        text += 8;
    }
    for (; is_digit(text, end); text++)
        *significand = *significand * 10 + (uint64_t)(*text - '0');
    return text;
}

/* Moves behind an exponent if a whole one stands at `text`, else stays. */
static const char *take_exponent(const char *text, const char *end, int64_t *exponent) {
    const int64_t enough = (int64_t)1 << 56; /* beyond any count of digits: saturate */
    if (text == end || (*text | 0x20) != 'e') return text;
    const char *p = text + 1;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (!is_digit(p, end)) return text;
    int64_t value = 0;
    for (; is_digit(p, end); p++)
        if (value < enough) value = value * 10 + (*p - '0');
    *exponent = negative ? -value : value;
    return p;
}

/* More than 19 digits were written: keeps the first 19 significant ones. */
static void keep_exact_digits(decimal_text *number, const char *point) {
    const char *p = number->digits;
    while (p < number->end && (*p == '0' || p == point))
        p++;
    number->significand = 0;
    int kept = 0;
    for (; p < number->end && kept < EXACT_DIGITS; p++) {
        if (p == point) continue;
        number->significand = number->significand * 10 + (uint64_t)(*p - '0');
        kept++;
    }
    number->power = number->last_power + (number->end - p) - (point != NULL && point >= p);
    for (; p < number->end; p++)
        number->truncated |= p != point && *p != '0';
}

/* Returns the position behind the number, NULL if no digit starts here. */
static const char *scan_decimal(const char *text, const char *end, decimal_text *number) {
    *number = (decimal_text){.negative = text < end && *text == '-'};
    if (text < end && (*text == '-' || *text == '+')) text++;
    number->digits = text;
    const char *point = NULL;
    const char *p = take_digits(text, end, &number->significand);
    int64_t count = p - text, exponent = 0;
    if (p < end && *p == '.') {
        point = p;
        p = take_digits(point + 1, end, &number->significand);
        number->power = point + 1 - p;
        count -= number->power;
    }
    if (count == 0) return NULL;
    number->end = p;
    p = take_exponent(p, end, &exponent);
    number->power += exponent;
    number->last_power = number->power;
    if (MG_UNLIKELY(count > EXACT_DIGITS)) keep_exact_digits(number, point);
    return p;
}

/* ---- Big integers ---------------------------------------------------------------------------- */

/* Half-way points between f64 numbers have at most 767 significant digits; the digits behind the
 * 770th matter only by not being zero. Both sides of the comparison are about equal and below
 * 10^771 * 2^53 or 5^1112 * 2^54 * 2^32 (2700 bits). */
enum { BIG_WORDS = 160, DECISIVE_DIGITS = 770 };

typedef struct big {
    int count; /* words in use */
    uint32_t words[BIG_WORDS];
} big;

static void big_multiply_add(big *number, uint32_t factor, uint32_t term) {
    uint64_t carry = term;
    for (int k = 0; k < number->count; k++) {
        carry += (uint64_t)number->words[k] * factor;
        number->words[k] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) number->words[number->count++] = (uint32_t)carry;
}

static void big_multiply_power_of_five(big *number, int64_t power) {
    for (; power >= 13; power -= 13)
        big_multiply_add(number, 1220703125u, 0);
    for (; power > 0; power--)
        big_multiply_add(number, 5, 0);
}

static void big_shift_left(big *number, int64_t bits) {
    const int words = (int)(bits >> 5);
    if (number->count == 0) return;
    big_multiply_add(number, (uint32_t)1 << (bits & 31), 0);
    memmove(number->words + words, number->words, sizeof(uint32_t) * (size_t)number->count);
    memset(number->words, 0, sizeof(uint32_t) * (size_t)words);
    number->count += words;
}

static int big_compare(const big *a, const big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int k = a->count - 1; k >= 0; k--)
        if (a->words[k] != b->words[k]) return a->words[k] < b->words[k] ? -1 : 1;
    return 0;
}

/* number = value * 10^*power, *power of the last digit taken. */
static void big_from_text(big *value, const decimal_text *number, int64_t *power) {
    value->count = 0;
    *power = number->last_power;
    int taken = 0;
    bool more = false;
    for (const char *p = number->digits; p < number->end; p++) {
        if (*p == '.' || (taken == 0 && *p == '0')) continue;
        if (taken < DECISIVE_DIGITS) {
            big_multiply_add(value, 10, (uint32_t)(*p - '0'));
            taken++;
        } else {
            more |= *p != '0';
            ++*power;
        }
    }
    if (more) { /* stands for all digits left out */
        big_multiply_add(value, 10, 1);
        --*power;
    }
}

/* Rounds to `lower`, the bits of the candidate below, or to the next one above. */
static uint64_t round_by_comparison(const decimal_text *number, uint64_t lower,
                                    mg_binary_format format) {
    big decimal, middle;
    int64_t decimal_power;
    big_from_text(&decimal, number, &decimal_power);

    const uint64_t hidden_bit = (uint64_t)1 << format.mantissa_bits;
    uint64_t mantissa = lower & (hidden_bit - 1);
    int exponent = (int)(lower >> format.mantissa_bits);
    if (exponent != 0)
        mantissa |= hidden_bit;
    else
        exponent = 1;
    const uint64_t odd = 2 * mantissa + 1;
    const int64_t middle_power = exponent - format.bias - format.mantissa_bits - 1; /* of two */
    middle.count = odd >> 32 != 0 ? 2 : 1;
    middle.words[0] = (uint32_t)odd;
    middle.words[1] = (uint32_t)(odd >> 32);

    /* decimal * 5^d * 2^d against middle * 2^m, brought to exponents of at least 0. */
    if (decimal_power >= 0)
        big_multiply_power_of_five(&decimal, decimal_power);
    else
        big_multiply_power_of_five(&middle, -decimal_power);
    const int64_t least = MG_MIN(decimal_power, middle_power);
    big_shift_left(&decimal, decimal_power - least);
    big_shift_left(&middle, middle_power - least);
    const int order = big_compare(&decimal, &middle);
    return lower + (order > 0 || (order == 0 && (mantissa & 1) != 0));
}

/* ---- Rounding -------------------------------------------------------------------------------- */

static int clamp_power(int64_t power) {
    return (int)(power < -10000 ? -10000 : power > 10000 ? 10000 : power);
}

static uint64_t round_truncated(const decimal_text *number, mg_binary_format format) {
    const int power = clamp_power(number->power);
    const uint64_t lower = mg_round_decimal(number->significand, power, format);
    const uint64_t upper = mg_round_decimal(number->significand + 1, power, format);
    return lower == upper ? lower : round_by_comparison(number, lower, format);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool starts_with(const char *text, const char *end, const char *word) {
    for (; *word != 0; word++, text++)
        if (text == end || (*text | 0x20) != *word) return false;
    return true;
}

/* inf, infinity and nan, with a sign; NULL if there is none. The sign of a nan means nothing: there
 * is one missing value. */
static const char *read_word(const char *text, const char *end, double *value) {
    const bool negative = text < end && *text == '-';
    if (text < end && (*text == '-' || *text == '+')) text++;
    const uint64_t sign = (uint64_t)negative << 63;
    if (starts_with(text, end, "inf")) {
        *value = mg_f64_from_bits(0x7ff0000000000000u | sign);
        return text + (starts_with(text, end, "infinity") ? 8 : 3);
    }
    if (starts_with(text, end, "nan")) {
        *value = mg_f64_from_bits(0x7ff8000000000000u);
        return text + 3;
    }
    return NULL;
}

/* ---- The readers ----------------------------------------------------------------------------- */

const char *mg_read_f64(const char *text, const char *end, double *value) {
    decimal_text number;
    const char *behind = scan_decimal(text, end, &number);
    if (MG_UNLIKELY(behind == NULL)) return read_word(text, end, value);
    if (MG_UNLIKELY(number.truncated)) {
        const uint64_t sign = (uint64_t)number.negative << 63;
        *value = mg_f64_from_bits(round_truncated(&number, mg_format_f64) | sign);
    } else {
        *value = mg_round_f64(number.significand, clamp_power(number.power), number.negative);
    }
    return behind;
}

const char *mg_read_f32(const char *text, const char *end, float *value) {
    decimal_text number;
    const char *behind = scan_decimal(text, end, &number);
    if (MG_UNLIKELY(behind == NULL)) {
        double word;
        behind = read_word(text, end, &word);
        if (behind != NULL) *value = (float)word;
        return behind;
    }
    if (MG_UNLIKELY(number.truncated)) {
        const uint32_t sign = (uint32_t)number.negative << 31;
        const uint32_t bits = (uint32_t)round_truncated(&number, mg_format_f32);
        *value = mg_f32_from_bits(bits | sign);
    } else {
        *value = mg_round_f32(number.significand, clamp_power(number.power), number.negative);
    }
    return behind;
}

int margin_number_parse_f64(const char *text, size_t length, double *value) {
    double number;
    if (text == NULL || value == NULL || length == 0) return 0;
    if (mg_read_f64(text, text + length, &number) != text + length) return 0;
    *value = number;
    return 1;
}

int margin_number_parse_f32(const char *text, size_t length, float *value) {
    float number;
    if (text == NULL || value == NULL || length == 0) return 0;
    if (mg_read_f32(text, text + length, &number) != text + length) return 0;
    *value = number;
    return 1;
}

bool mg_number_loses_digits(const char *text, int64_t length) {
    enum { SURE = 15, MOST = 16 }; /* digits that are always printed again, and that may be */
    char printed[MARGIN_NUMBER_TEXT];
    double value;
    if (length > 0 && (*text == '-' || *text == '+')) text++, length--;
    while (length > 0 && *text == '0')
        text++, length--;
    if (length <= SURE) return false;
    for (int64_t k = 0; k < length; k++)
        if (text[k] < '0' || text[k] > '9') return false;
    if (length > MOST || !margin_number_parse_f64(text, (size_t)length, &value)) return true;
    return margin_number_print_f64(value, printed) != length ||
           memcmp(printed, text, (size_t)length) != 0;
}

mg_counted_text mg_counted(int64_t count, const char *plural) {
    mg_counted_text counted;
    const int64_t length = (int64_t)strlen(plural);
    const int many = count != 1 ? 0 : length > 4 && !strcmp(plural + length - 4, "sses") ? 2 : 1;
    snprintf(counted.text, sizeof counted.text, "%lld %.*s", (long long)count, (int)(length - many),
             plural);
    return counted;
}
