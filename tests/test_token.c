/* The bulk token readers, each instruction set by itself against the general reader (which has its
 * own tests against the C library), with hostile surroundings: what stands before and behind a
 * number must not change it. */
#include "support/support.h"

#include "base/machine/cpu.h"
#include "base/text/number_text.h"
#include "token_readers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAD = 64, TEXT_BYTES = 512, NUMBERS = SUPPORT_SLOWER > 20 ? 10000 : 250000 };

static const token_readers *readers; /* of the instruction set under test */

static bool same_f64(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}
static bool same_f32(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static int below(uint64_t *state, int bound) {
    return (int)(support_random(state) % (uint64_t)bound);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static char *put_digits(char *out, uint64_t *state, int count) {
    const int kind = below(state, 4);
    for (; count > 0; count--)
        *out++ = kind == 0 ? '0' : kind == 1 ? '9' : (char)('0' + support_random(state) % 10);
    return out;
}

/* Well-formed numbers of every length and some damaged ones. */
static void put_number(char *out, uint64_t *state) {
    if (below(state, 6) == 0) {
        double value;
        do {
            const uint64_t bits = support_random(state);
            memcpy(&value, &bits, sizeof value);
        } while (!isfinite(value));
        sprintf(out, "%.*g", 1 + below(state, 18), value);
        return;
    }
    const int sign = below(state, 6);
    if (sign < 2) *out++ = "-+"[sign];
    const int most = below(state, 5) == 0 ? 40 : 10;
    out = put_digits(out, state, below(state, most));
    if (below(state, 3) != 0) {
        *out++ = '.';
        out = put_digits(out, state, below(state, most));
    }
    if (below(state, 4) == 0) {
        *out++ = "eE"[below(state, 2)];
        const int exponent_sign = below(state, 4);
        if (exponent_sign < 2) *out++ = "-+"[exponent_sign];
        out = put_digits(out, state, below(state, 6));
    }
    if (below(state, 12) == 0) *out++ = ".-+eEx:,/ \t\xff"[below(state, 12)];
    *out = 0;
}

/* `text` between two stretches of whatever could be mistaken for a part of it. */
static char *surround(char buffer[TEXT_BYTES], const char *text, uint64_t *state) {
    static const char likely[] = "0123456789.-+eE: \n,";
    for (int k = 0; k < TEXT_BYTES; k++)
        buffer[k] = likely[below(state, (int)sizeof likely - 1)];
    memcpy(buffer + PAD, text, strlen(text));
    return buffer + PAD;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static void check_field(const char *text, const char *placed) {
    const size_t length = strlen(text);
    double wide = 42, expected_wide = 42;
    float narrow = 42, expected_narrow = 42;
    const bool valid = margin_number_parse_f64(text, length, &expected_wide) != 0;
    (void)margin_number_parse_f32(text, length, &expected_narrow);
    if (readers->field_f64(placed, length, &wide) != valid ||
        readers->field_f32(placed, length, &narrow) != valid || !same_f64(wide, expected_wide) ||
        !same_f32(narrow, expected_narrow))
        fail_msg("field '%s': %.17g instead of %.17g", text, wide, expected_wide);
}

static void fields_read_like_the_general_reader(void **unused) {
    (void)unused;
    char text[TEXT_BYTES], buffer[TEXT_BYTES];
    uint64_t state = 1;
    for (int k = 0; k < NUMBERS; k++) {
        put_number(text, &state);
        check_field(text, surround(buffer, text, &state));
    }
}

static void known_fields(void **unused) {
    (void)unused;
    const char *texts[] = {"",
                           "-",
                           "+",
                           ".",
                           "-.",
                           "1.",
                           ".5",
                           "-.5",
                           "1e5",
                           "1e-05",
                           "1E+5",
                           "e5",
                           "1.234e-05",
                           "1e",
                           "1e+",
                           "-1e5",
                           "nan",
                           "inf",
                           "-inf",
                           "1:2",
                           "1.2.3",
                           "1 ",
                           "--1",
                           "+-1",
                           "1-",
                           "1.e3",
                           ".e3",
                           "1e99999",
                           "1e123456",
                           "1234567890123456",
                           "12345678901234567",
                           "1234567890.123456",
                           "0.00012345678901234567",
                           "0000000000000000000000000000000.5",
                           "00000000000000000000000000000000.5",
                           "9999999999999999999",
                           "10000000000000000000",
                           "99999999999999999999",
                           "123456789.0123456789",
                           "-12345678901234567890123456789012"};
    char buffer[TEXT_BYTES];
    uint64_t state = 2;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        for (int repeat = 0; repeat < 50; repeat++)
            check_field(texts[k], surround(buffer, texts[k], &state));
}

/* Texts as programs write them do not need the general reader. */
static void common_fields_are_fast(void **unused) {
    (void)unused;
    const char *texts[] = {"0",
                           "1",
                           "-1",
                           "+1",
                           "3.14",
                           "0.123456",
                           "1e-5",
                           "1e-05",
                           "1.234e-05",
                           "5.",
                           ".5",
                           "123456789.123",
                           "-1.2345678901234567",
                           "+0.25",
                           "-1.5E+10",
                           "1234567890123456789"};
    char buffer[TEXT_BYTES];
    uint64_t state = 3;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        char *placed = surround(buffer, texts[k], &state);
        placed[strlen(texts[k])] = ',';
        assert_true(readers->fast_field(placed, strlen(texts[k])));
    }
}

/* ---- Numbers whose end is not known ---------------------------------------------------------- */

static void numbers_end_where_the_general_reader_ends(void **unused) {
    (void)unused;
    char text[TEXT_BYTES], buffer[TEXT_BYTES];
    uint64_t state = 4;
    for (int k = 0; k < NUMBERS; k++) {
        put_number(text, &state);
        char *start = surround(buffer, text, &state), *end = start + strlen(text);
        *end = " \n\t\r,;#:"[below(&state, 8)];
        double wide = 42, expected_wide = 42;
        float narrow = 42, expected_narrow = 42;
        const char *expected = mg_read_f64(start, end, &expected_wide);
        (void)mg_read_f32(start, end, &expected_narrow);
        if (readers->number_f64(start, end, &wide) != expected ||
            readers->number_f32(start, end, &narrow) != expected ||
            !same_f64(wide, expected_wide) || !same_f32(narrow, expected_narrow))
            fail_msg("number '%s': %.17g instead of %.17g", text, wide, expected_wide);
    }
}

static void pairs_give_index_and_number(void **unused) {
    (void)unused;
    char text[TEXT_BYTES], number[TEXT_BYTES], buffer[TEXT_BYTES];
    uint64_t state = 5;
    int taken = 0;
    for (int k = 0; k < NUMBERS; k++) {
        const uint32_t index = (uint32_t)support_random(&state) >> below(&state, 32);
        put_number(number, &state);
        const int prefix = sprintf(text, "%u:", index);
        strcpy(text + prefix, number);
        char *start = surround(buffer, text, &state), *end = start + strlen(text);
        *end = " \n\t\r"[below(&state, 4)];
        double value = 42, expected = 42;
        uint32_t got = 0;
        const char *behind = readers->pair(start, &got, &value);
        if (behind == NULL) continue;
        taken++;
        if (mg_read_f64(start + prefix, end, &expected) != behind || !same_f64(value, expected) ||
            got != index)
            fail_msg("pair '%s': %u, %.17g", text, got, value);
    }
    assert_true(taken > NUMBERS / 3);
}

static void what_is_no_pair(void **unused) {
    (void)unused;
    const char *texts[] = {"\n",   " 1:2",  ":5",    "a:1",           "1 :2",    "1: 2",
                           "1:\n", "1:-\n", "1:.\n", "123456789:1\n", "qid:3\n", "1\n",
                           "-1:2", "+1:2",  "1::2",  "1.5:2"};
    char buffer[TEXT_BYTES];
    uint64_t state = 6;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        uint32_t index;
        double value;
        assert_null(readers->pair(surround(buffer, texts[k], &state), &index, &value));
    }
    uint32_t index = 0;
    double value = 0;
    char *start = surround(buffer, "12345678:+1e-05 ", &state);
    assert_ptr_equal(readers->pair(start, &index, &value), start + 15);
    assert_true(index == 12345678 && value == 1e-05);
}

/* ---- Masks ----------------------------------------------------------------------------------- */

static void masks(void **unused) {
    (void)unused;
    uint64_t state = 7;
    for (int round = 0; round < NUMBERS / 125; round++) {
        char text[64];
        uint64_t expected = 0;
        const char wanted = (char)(support_random(&state) & 0xff);
        for (int k = 0; k < 64; k++) {
            /* near misses: one bit away from the byte that is looked for */
            const int bit = below(&state, 9);
            text[k] = (char)(bit == 8 ? wanted : wanted ^ (1 << bit));
            expected |= (uint64_t)(text[k] == wanted) << k;
        }
        assert_true(readers->equal_mask(text, wanted) == expected);

        uint64_t parity = 0, open = 0;
        for (int k = 0; k < 64; k++) {
            open ^= expected >> k & 1;
            parity |= open << k;
        }
        assert_true(readers->prefix_xor(expected) == parity);

        const uint64_t mask = round % 3 == 0 ? ~(uint64_t)0 >> below(&state, 64)
                                             : support_random(&state) & support_random(&state);
        uint32_t list[64 + 8];
        const uint32_t first = (uint32_t)support_random(&state) / 2;
        uint32_t *end = readers->list_bits(mask, first, list);
        const uint32_t *next = list;
        for (uint32_t k = 0; k < 64; k++)
            if (mask >> k & 1) assert_int_equal(*next++, first + k);
        assert_ptr_equal(next, end);
    }
    uint32_t list[8];
    assert_ptr_equal(readers->list_bits(0, 0, list), list);
    assert_true(readers->prefix_xor(0) == 0);
}

static int use_portable(void **unused) {
    (void)unused;
    readers = &token_readers_portable;
    return 0;
}

#if defined(__x86_64__)
static int use_avx2(void **unused) {
    (void)unused;
    readers = &token_readers_avx2;
    return 0;
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_fields),
        cmocka_unit_test(fields_read_like_the_general_reader),
        cmocka_unit_test(common_fields_are_fast),
        cmocka_unit_test(numbers_end_where_the_general_reader_ends),
        cmocka_unit_test(pairs_give_index_and_number),
        cmocka_unit_test(what_is_no_pair),
        cmocka_unit_test(masks),
    };
    int failed = cmocka_run_group_tests_name("plain C", tests, use_portable, NULL);
#if defined(__x86_64__)
    if (mg_isa_level() >= MG_ISA_AVX2)
        failed += cmocka_run_group_tests_name("AVX2", tests, use_avx2, NULL);
#endif
    return failed;
}
