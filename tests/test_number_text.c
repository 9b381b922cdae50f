/* Number text: the oracle for reading is the C library's strtod and strtof (this program never
 * leaves the C locale), for printing its %.*e, which is exact in glibc. */
#include "support/support.h"

#include "base/text/decimal.h"
#include "base/text/number_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXT_BYTES = 2048 };

static uint64_t bits_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static uint32_t bits_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static double f64_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static float f32_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void assert_reads_as(const char *text, size_t length, double wide, float narrow) {
    double got_wide = 42;
    float got_narrow = 42;
    if (!margin_number_parse_f64(text, length, &got_wide) || bits_f64(got_wide) != bits_f64(wide))
        fail_msg("f64 of %.*s: %.17g instead of %.17g", (int)length, text, got_wide, wide);
    if (!margin_number_parse_f32(text, length, &got_narrow) ||
        bits_f32(got_narrow) != bits_f32(narrow))
        fail_msg("f32 of %.*s: %.9g instead of %.9g", (int)length, text, (double)got_narrow,
                 (double)narrow);
}

/* `text` is a whole number in the C library's eyes, too. */
static void assert_like_libc(const char *text) {
    assert_reads_as(text, strlen(text), strtod(text, NULL), strtof(text, NULL));
}

/* ---- Random texts ---------------------------------------------------------------------------- */

static char *put_digits(char *out, uint64_t *state, int count) {
    while (count-- > 0)
        *out++ = (char)('0' + support_random(state) % 10);
    return out;
}

static int below(uint64_t *state, int bound) {
    return (int)(support_random(state) % (uint64_t)bound);
}

static double any_finite(uint64_t *state) {
    double value;
    do
        value = f64_of(support_random(state));
    while (!isfinite(value));
    return value;
}

/* Sign, up to `whole` digits, a point, up to `fraction` digits, an exponent up to `exponent`. */
static void put_pieces(char *out, uint64_t *state, int whole, int fraction, int exponent) {
    const char *signs[] = {"", "", "-", "+"};
    out += sprintf(out, "%s", signs[below(state, 4)]);
    out = put_digits(out, state, 1 + below(state, whole));
    if (below(state, 8) == 0) /* a long run of zeros, before or behind the point */
        out += sprintf(out, "%0*d", 1 + below(state, 30), 0);
    if (below(state, 4) != 0) {
        *out++ = '.';
        if (below(state, 8) == 0) out += sprintf(out, "%0*d", 1 + below(state, 30), 0);
        out = put_digits(out, state, below(state, fraction + 1));
    }
    if (exponent > 0) out += sprintf(out, "e%d", below(state, 2 * exponent + 1) - exponent);
    *out = 0;
}

static void put_random_number(char *out, uint64_t *state, int shape) {
    switch (shape) {
    case 0:
        sprintf(out, "%.17g", any_finite(state));
        return;
    case 1:
        sprintf(out, "%.*g", 1 + below(state, 20), any_finite(state));
        return;
    case 2: /* subnormal */
        sprintf(out, "%.*g", 1 + below(state, 25), f64_of(support_random(state) >> 12));
        return;
    case 3:
        sprintf(out, "%.9g", (double)f32_of((uint32_t)support_random(state) & 0x7f7fffff));
        return;
    case 4: /* the smallest floats */
        sprintf(out, "%.12g", (double)f32_of((uint32_t)support_random(state) >> 9));
        return;
    case 5:
        sprintf(out, "%lld", (long long)(support_random(state) >> below(state, 64)));
        return;
    case 6:
        sprintf(out, "%.*f", below(state, 12), support_normal(state) * 100);
        return;
    case 7:
        put_pieces(out, state, 3, 6, 0);
        return;
    case 8:
        put_pieces(out, state, 25, 25, 0);
        return;
    case 9:
        put_pieces(out, state, 4, 20, 60);
        return;
    case 10:
        put_pieces(out, state, 30, 30, 360);
        return;
    default:
        put_pieces(out, state, 2, 2, 23);
        return;
    }
}

static void random_texts_read_like_libc(void **unused) {
    (void)unused;
    enum { COUNT = 2400000 / SUPPORT_SLOWER, SHAPES = 12 };
    char text[TEXT_BYTES];
    uint64_t state = 1;
    for (int k = 0; k < COUNT; k++) {
        put_random_number(text, &state, k % SHAPES);
        assert_like_libc(text);
    }
}

/* ---- Half-way points ------------------------------------------------------------------------- */

/* The last digit that is not 0, one less, followed by nines: just below. */
static void nudge_down(char *digits) {
    char *last = digits + strlen(digits) - 1;
    while (*last == '0')
        last--;
    --*last;
    strcat(digits, "999");
}

/* A decimal of up to 780 digits that is exactly `value`, and its neighbours on both sides. */
static void assert_around(long double value) {
    char text[TEXT_BYTES], *exponent, tail[32];
    snprintf(text, sizeof text, "%.779Le", value);
    assert_like_libc(text);
    exponent = strchr(text, 'e');
    snprintf(tail, sizeof tail, "%s", exponent);

    strcpy(exponent, "0000000000000000000001");
    strcat(text, tail);
    assert_like_libc(text);

    *exponent = 0;
    nudge_down(text);
    strcat(text, tail);
    assert_like_libc(text);
}

static void half_way_points_go_to_even(void **unused) {
    (void)unused;
#if LDBL_MANT_DIG >= 55 && LDBL_MAX_EXP > 2048
    if (getenv("MARGIN_TEST_LAUNCHED")) skip(); /* valgrind rounds long double to double */
    uint64_t state = 2;
    for (int k = 0; k < 6000; k++) {
        const double low = k % 3 == 0 ? f64_of(support_random(&state) >> (12 + below(&state, 52)))
                                      : fabs(any_finite(&state));
        const double high = nextafter(low, HUGE_VAL);
        if (!isinf(high)) assert_around(((long double)low + (long double)high) / 2);
    }
    for (int k = 0; k < 3000; k++) {
        const uint32_t low = (uint32_t)(support_random(&state) % 0x7f7ffffe);
        const uint32_t bits = k % 2 == 0 ? low >> (9 + below(&state, 20)) : low;
        assert_around(((long double)f32_of(bits) + (long double)f32_of(bits + 1)) / 2);
    }
    /* From the largest number to where the next one would be. */
    assert_around(((long double)DBL_MAX + (long double)ldexp(1, 1023) * 2) / 2);
    assert_around(((long double)FLT_MAX + (long double)ldexp(1, 128)) / 2);
#else
    skip();
#endif
}

/* Ties with so few digits that they are read without big integers. */
static void short_half_way_points_go_to_even(void **unused) {
    (void)unused;
#if LDBL_MANT_DIG >= 55
    uint64_t state = 7;
    char text[TEXT_BYTES];
    for (int bits = 24; bits <= 53; bits += 53 - 24) {
        for (int k = 0; k < 20000; k++) {
            const int halvings = k % 24;
            const uint64_t top = (uint64_t)1 << bits;
            const long double odd = (long double)(top | (support_random(&state) & (top - 1)) | 1);
            snprintf(text, sizeof text, "%.*Lf", halvings, ldexpl(odd, -halvings));
            assert_like_libc(text);
            snprintf(text, sizeof text, "%.0Lfe%d", odd, k % 2);
            assert_like_libc(text);
        }
    }
    assert_true(mg_round_f32(12800000762939453125u, -17, false) == 128.0F);
    assert_true(mg_round_f64(5629499534213120625u, -4, false) == 562949953421312.0);
    assert_true(mg_round_f64(5629499534213121875u, -4, false) == 562949953421312.25);
#else
    skip();
#endif
}

/* ---- Known texts ----------------------------------------------------------------------------- */

static void known_texts(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        double value;
    } known[] = {
        {"0", 0.0},
        {"-0", -0.0},
        {"-0.0e7", -0.0},
        {"+.5", 0.5},
        {"5.", 5.0},
        {"-5.e1", -50.0},
        {"007", 7.0},
        {"1E5", 1e5},
        {"1e+05", 1e5},
        {"1e-05", 1e-5},
        {"0e999999999999", 0.0},
        {"1e999999999999", HUGE_VAL},
        {"-1e999999999999999999999999999", -HUGE_VAL},
        {"1e-999999999999", 0.0},
        {"-1e-999999999999999999999999999", -0.0},
        {"1.7976931348623157e308", DBL_MAX},
        {"1.7976931348623158e308", DBL_MAX},
        {"1.7976931348623159e308", HUGE_VAL},
        {"179769313486231580793e289", HUGE_VAL},
        {"179769313486231580792e288", 1.7976931348623157e308},
        {"4.9406564584124654e-324", 4.9406564584124654e-324},
        {"2.4703282292062327e-324", 0.0},
        {"2.4703282292062328e-324", 4.9406564584124654e-324},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"2.2250738585072014e-308", DBL_MIN},
        {"9007199254740992", 9007199254740992.0},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000000000001", 9007199254740994.0},
        {"9007199254740995", 9007199254740996.0},
        {"18446744073709551615", 18446744073709551616.0},
        {"18446744073709551616", 18446744073709551616.0},
        {"99999999999999999999", 1e20},
        {"inf", HUGE_VAL},
        {"-INF", -HUGE_VAL},
        {"+Infinity", HUGE_VAL},
        {"-infinity", -HUGE_VAL},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        double value = 42;
        if (!margin_number_parse_f64(known[k].text, strlen(known[k].text), &value) ||
            bits_f64(value) != bits_f64(known[k].value))
            fail_msg("%s: %.17g instead of %.17g", known[k].text, value, known[k].value);
        assert_like_libc(known[k].text);
    }
    const char *nans[] = {"nan", "NaN", "-nan", "+NAN"};
    for (size_t k = 0; k < sizeof nans / sizeof nans[0]; k++) {
        double wide = 42;
        float narrow = 42;
        assert_true(margin_number_parse_f64(nans[k], strlen(nans[k]), &wide));
        assert_true(margin_number_parse_f32(nans[k], strlen(nans[k]), &narrow));
        assert_true(bits_f64(wide) == 0x7ff8000000000000u && bits_f32(narrow) == 0x7fc00000u);
    }
}

static void very_long_texts(void **unused) {
    (void)unused;
    enum { LONG = 200000 };
    char *text = malloc(LONG + 64);
    assert_non_null(text);
    double value;
    /* 0.000...0001e200000 = 1 */
    memset(text, '0', LONG);
    text[1] = '.';
    sprintf(text + LONG, "1e%d", LONG - 1);
    assert_true(margin_number_parse_f64(text, strlen(text), &value));
    assert_true(value == 1.0);
    /* 1000...000e-200000 = 0.1 */
    memset(text, '0', LONG);
    text[0] = '1';
    sprintf(text + LONG, "e-%d", LONG);
    assert_true(margin_number_parse_f64(text, strlen(text), &value));
    assert_true(value == 0.1);
    /* 9007199254740993 and a 1 after 200000 zeros */
    memset(text, '0', LONG);
    memcpy(text, "9007199254740993.", 17);
    strcpy(text + LONG, "1");
    assert_true(margin_number_parse_f64(text, strlen(text), &value));
    assert_true(value == 9007199254740994.0);
    /* nothing but digits: infinity */
    memset(text, '7', LONG);
    assert_true(margin_number_parse_f64(text, LONG, &value));
    assert_true(value == HUGE_VAL);
    free(text);
}

static void what_is_no_number(void **unused) {
    (void)unused;
    const char *texts[] = {"",     ".",        "+",   "-",        "-.",   "e5",   ".e5",
                           "1e",   "1e+",      "1e-", "1e5.",     "1.2.", "..1",  "--1",
                           "+-1",  "1 ",       " 1",  "1,5",      "0x10", "1f",   "1_000",
                           "infi", "in",       "na",  "nan(1)",   "nano", "inf1", "1e5e",
                           "1d5",  "\xd9\xa1", "1-",  "infinityy"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        double wide = 42;
        float narrow = 42;
        if (margin_number_parse_f64(texts[k], strlen(texts[k]), &wide) ||
            margin_number_parse_f32(texts[k], strlen(texts[k]), &narrow))
            fail_msg("taken for a number: '%s'", texts[k]);
        assert_true(wide == 42 && narrow == 42);
    }
    double value = 42;
    assert_false(margin_number_parse_f64("1\0002", 3, &value));
    assert_false(margin_number_parse_f64(NULL, 0, &value));
    assert_false(margin_number_parse_f64("1", 1, NULL));
    assert_true(value == 42);
}

static void longest_number_at_the_start(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        int length; /* -1: none */
        double value;
    } known[] = {{"1e", 1, 1},
                 {"1e+x", 1, 1},
                 {"12.5.7", 4, 12.5},
                 {"1e5e5", 3, 1e5},
                 {"7:3", 1, 7},
                 {"infinit", 3, HUGE_VAL},
                 {"-1-1", 2, -1},
                 {"5.e", 2, 5},
                 {"1 2", 1, 1},
                 {"x1", -1, 0},
                 {"-", -1, 0},
                 {"", -1, 0},
                 {"+.", -1, 0},
                 {"0x10", 1, 0},
                 {"12345678:", 8, 12345678},
                 {"123456789012345678901234567890x", 30, 123456789012345678901234567890.0}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const char *text = known[k].text, *end = text + strlen(text);
        double wide = 42;
        float narrow = 42;
        const char *behind = mg_read_f64(text, end, &wide);
        assert_ptr_equal(behind, mg_read_f32(text, end, &narrow));
        if (known[k].length < 0) {
            assert_null(behind);
            assert_true(wide == 42 && narrow == 42);
        } else {
            assert_ptr_equal(behind, text + known[k].length);
            assert_true(wide == known[k].value && narrow == (float)known[k].value);
        }
    }
}

/* Every text ends where the next page begins, and that page cannot be read. */
static void nothing_is_read_behind_the_end(void **unused) {
    (void)unused;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    char *end = pages + page, text[TEXT_BYTES];
    const char *starts[] = {"",    "-",     "+",       ".",        "1e", "1e+", "1e-0", "i",
                            "inf", "infin", "-infini", "infinity", "n",  "na",  "nan",  "1."};
    uint64_t state = 3;
    for (int k = 0; k < 200000; k++) {
        if (k < (int)(sizeof starts / sizeof starts[0]))
            strcpy(text, starts[k]);
        else
            put_random_number(text, &state, below(&state, 12));
        const size_t length = (size_t)below(&state, (int)strlen(text) + 1);
        memcpy(end - length, text, length);
        text[length] = 0;
        double wide = 42;
        float narrow = 42;
        const char *behind = mg_read_f64(end - length, end, &wide);
        assert_ptr_equal(behind, mg_read_f32(end - length, end, &narrow));
        char *expected_behind;
        const double expected = strtod(text, &expected_behind);
        if (behind == NULL) {
            assert_ptr_equal(expected_behind, text);
        } else {
            assert_int_equal(behind - (end - length), expected_behind - text);
            assert_true(isnan(wide) || bits_f64(wide) == bits_f64(expected));
        }
    }
    munmap(pages, 2 * page);
}

static void significand_and_exponent(void **unused) {
    (void)unused;
    uint64_t state = 4;
    for (int k = 0; k < 200000; k++) {
        char text[64];
        const uint64_t significand = support_random(&state) >> below(&state, 64);
        const int exponent = below(&state, 760) - 380;
        const bool negative = below(&state, 2) != 0;
        snprintf(text, sizeof text, "%s%llue%d", negative ? "-" : "",
                 (unsigned long long)significand, exponent);
        assert_true(bits_f64(mg_round_f64(significand, exponent, negative)) ==
                    bits_f64(strtod(text, NULL)));
        assert_true(bits_f32(mg_round_f32(significand, exponent, negative)) ==
                    bits_f32(strtof(text, NULL)));
    }
    assert_true(mg_round_f64(1, 1000000, false) == HUGE_VAL);
    assert_true(mg_round_f64(UINT64_MAX, -1000000, false) == 0);
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_known(void **unused) {
    (void)unused;
    static const struct {
        double value;
        const char *text;
    } wide[] = {{0.0, "0"},
                {-0.0, "-0"},
                {1, "1"},
                {-3, "-3"},
                {10, "10"},
                {0.1, "0.1"},
                {0.3, "0.3"},
                {0.1 + 0.2, "0.30000000000000004"},
                {1.0 / 3, "0.3333333333333333"},
                {123.456, "123.456"},
                {0.0001, "0.0001"},
                {0.00012345, "0.00012345"},
                {0.00001, "1e-05"},
                {-1.234e-5, "-1.234e-05"},
                {1e15, "1000000000000000"},
                {9999999999999998, "9999999999999998"},
                {1e16, "1e+16"},
                {123456789012345680, "1.2345678901234568e+17"},
                {1e22, "1e+22"},
                {1e23, "1e+23"},
                {1e100, "1e+100"},
                {DBL_MAX, "1.7976931348623157e+308"},
                {DBL_MIN, "2.2250738585072014e-308"},
                {5e-324, "5e-324"},
                {1e-323, "1e-323"},
                {9.5367431640625e-07, "9.5367431640625e-07"},
                {HUGE_VAL, "inf"},
                {-HUGE_VAL, "-inf"},
                {(double)NAN, "nan"}};
    static const struct {
        float value;
        const char *text;
    } narrow[] = {{0.1F, "0.1"},
                  {-0.0F, "-0"},
                  {16777216.0F, "16777216"},
                  {0.3F, "0.3"},
                  {1e10F, "10000000000"},
                  {FLT_MAX, "3.4028235e+38"},
                  {1e-45F, "1e-45"},
                  {FLT_MIN, "1.1754944e-38"},
                  {-HUGE_VALF, "-inf"}};
    char text[MARGIN_NUMBER_TEXT];
    for (size_t k = 0; k < sizeof wide / sizeof wide[0]; k++) {
        assert_int_equal(margin_number_print_f64(wide[k].value, text), strlen(wide[k].text));
        assert_string_equal(text, wide[k].text);
    }
    for (size_t k = 0; k < sizeof narrow / sizeof narrow[0]; k++) {
        assert_int_equal(margin_number_print_f32(narrow[k].value, text), strlen(narrow[k].text));
        assert_string_equal(text, narrow[k].text);
    }
}

/* Significant digits of a printed number, without the zeros around them. */
static int significant_digits(const char *text, char *digits) {
    int count = 0;
    for (; *text != 0 && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) digits[count++] = *text;
    while (count > 0 && digits[count - 1] == '0')
        count--;
    digits[count] = 0;
    return count;
}

/* No decimal with fewer digits reads back, and none with as many is closer. */
static void assert_shortest(double value, bool is_f32) {
    char text[MARGIN_NUMBER_TEXT], digits[32], expected[64], expected_digits[32];
    const int length =
        is_f32 ? margin_number_print_f32((float)value, text) : margin_number_print_f64(value, text);
    assert_int_equal(length, strlen(text));
    assert_true(length < MARGIN_NUMBER_TEXT);
    assert_true(is_f32 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value);
    const int count = significant_digits(text, digits);
    for (int n = 1; n <= count; n++) {
        snprintf(expected, sizeof expected, "%.*e", n - 1, value);
        const bool reads_back =
            is_f32 ? strtof(expected, NULL) == (float)value : strtod(expected, NULL) == value;
        if (!reads_back) continue; /* n too small; or, below a power of two, the closest is out */
        significant_digits(expected, expected_digits);
        if (n < count || strcmp(digits, expected_digits) != 0)
            fail_msg("%s is not the shortest and closest, %s is", text, expected);
    }
}

static void assert_prints_around_f64(double value) {
    assert_shortest(value, false);
    assert_shortest(nextafter(value, 0), false);
    if (nextafter(value, HUGE_VAL) < HUGE_VAL) assert_shortest(nextafter(value, HUGE_VAL), false);
}

static void assert_prints_around_f32(float value) {
    assert_shortest((double)value, true);
    assert_shortest((double)nextafterf(value, 0), true);
    if (nextafterf(value, HUGE_VALF) < HUGE_VALF)
        assert_shortest((double)nextafterf(value, HUGE_VALF), true);
}

static void powers_of_ten_and_two_print(void **unused) {
    (void)unused;
    char text[32];
    for (int power = -323; power <= 308; power++) {
        snprintf(text, sizeof text, "1e%d", power);
        assert_prints_around_f64(strtod(text, NULL));
        if (power >= -45 && power <= 38) assert_prints_around_f32(strtof(text, NULL));
    }
    for (int power = -1074; power <= 1023; power++) {
        assert_prints_around_f64(ldexp(1, power));
        if (power >= -149 && power <= 127) assert_prints_around_f32(ldexpf(1, power));
    }
}

static void random_numbers_print_shortest(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (int k = 0; k < 60000 / SUPPORT_SLOWER; k++) {
        assert_shortest(any_finite(&state), false);
        assert_shortest(support_normal(&state) * 1000, false);
        assert_shortest((double)(int64_t)(support_random(&state) >> below(&state, 64)), false);
        const float narrow = f32_of((uint32_t)support_random(&state));
        if (isfinite(narrow)) assert_shortest((double)narrow, true);
    }
}

static void printed_numbers_read_back(void **unused) {
    (void)unused;
    uint64_t state = 6;
    char text[MARGIN_NUMBER_TEXT];
    for (int k = 0; k < 1000000; k++) {
        const double wide = f64_of(support_random(&state));
        double wide_back = 0;
        int length = margin_number_print_f64(wide, text);
        assert_true(margin_number_parse_f64(text, (size_t)length, &wide_back));
        assert_true(isnan(wide) ? isnan(wide_back) : bits_f64(wide) == bits_f64(wide_back));

        const float narrow = f32_of((uint32_t)support_random(&state));
        float narrow_back = 0;
        length = margin_number_print_f32(narrow, text);
        assert_true(margin_number_parse_f32(text, (size_t)length, &narrow_back));
        assert_true(isnan(narrow) ? isnan(narrow_back) : bits_f32(narrow) == bits_f32(narrow_back));
    }
}

static void digits_that_are_lost(void **state) {
    (void)state;
    static const char *const kept[] = {"",
                                       "-",
                                       "0",
                                       "9007199254740992",
                                       "-9007199254740992",
                                       "000000000000000000012",
                                       "1e300",
                                       "0.12345678901234567890",
                                       "9007199254740993.0",
                                       "123456789012345",
                                       "nan",
                                       "12345678901234567x"};
    static const char *const lost[] = {"9007199254740993",
                                       "+9007199254740993",
                                       "-9007199254740993",
                                       "0009007199254740993",
                                       "12345678901234567",
                                       "18446744073709551615",
                                       "100000000000000000000000000000000000000"};
    for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
        assert_false(mg_number_loses_digits(kept[k], (int64_t)strlen(kept[k])));
    for (size_t k = 0; k < sizeof lost / sizeof lost[0]; k++)
        assert_true(mg_number_loses_digits(lost[k], (int64_t)strlen(lost[k])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts),
        cmocka_unit_test(very_long_texts),
        cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(longest_number_at_the_start),
        cmocka_unit_test(nothing_is_read_behind_the_end),
        cmocka_unit_test(significand_and_exponent),
        cmocka_unit_test(half_way_points_go_to_even),
        cmocka_unit_test(short_half_way_points_go_to_even),
        cmocka_unit_test(random_texts_read_like_libc),
        cmocka_unit_test(digits_that_are_lost),
        cmocka_unit_test(print_known),
        cmocka_unit_test(powers_of_ten_and_two_print),
        cmocka_unit_test(random_numbers_print_shortest),
        cmocka_unit_test(printed_numbers_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
