/* Status names, error sentences, byte counts, UTF-8. */
#include "support/support.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void names_are_distinct_and_never_null(void **state) {
    (void)state;
    static const int codes[] = {0, 1, 2, 3, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11};
    for (int i = 0; i < MG_LENGTH(codes); i++) {
        const char *name = margin_status_text((margin_status)codes[i]);
        assert_non_null(name);
        assert_string_not_equal(name, "unknown status");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(name, margin_status_text((margin_status)codes[j]));
    }
    assert_string_equal(margin_status_text(MARGIN_ERROR_MEMORY), "out of memory");
    assert_string_equal(margin_status_text((margin_status)77), "unknown status");
    assert_string_equal(margin_status_text((margin_status)INT32_MAX), "unknown status");
    assert_string_equal(margin_status_text((margin_status)-77), "unknown status");
}

static void fail_fills_the_error_and_returns_the_status(void **state) {
    (void)state;
    margin_error error;
    memset(&error, 0x55, sizeof error);
    assert_int_equal(mg_fail(&error, MARGIN_ERROR_DATA, "row %d: %s", 7, "bad"), MARGIN_ERROR_DATA);
    assert_int_equal(error.status, MARGIN_ERROR_DATA);
    assert_string_equal(error.text, "row 7: bad");
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_int_equal(error.row, 0);
    assert_int_equal(error.position, -1);
}

static void fail_without_error_returns_the_status(void **state) {
    (void)state;
    assert_int_equal(mg_fail(NULL, MARGIN_ERROR_FILE, "%s", "x"), MARGIN_ERROR_FILE);
    assert_int_equal(mg_fail_at(NULL, MARGIN_ERROR_SPEC, (mg_place){0}, "x"), MARGIN_ERROR_SPEC);
    assert_int_equal(mg_fail_memory(NULL, 5, "x"), MARGIN_ERROR_MEMORY);
}

static void place_is_copied_and_position_belongs_to_specs(void **state) {
    (void)state;
    margin_error error;
    mg_place place = {.line = 57, .column = 706, .row = 56, .position = 12};
    mg_fail_at(&error, MARGIN_ERROR_FORMAT, place, "here");
    assert_int_equal(error.line, 57);
    assert_int_equal(error.column, 706);
    assert_int_equal(error.row, 56);
    assert_int_equal(error.position, -1);
    mg_fail_at(&error, MARGIN_ERROR_SPEC, place, "here");
    assert_int_equal(error.position, 12);
}

static void sentence_may_quote_the_error_it_replaces(void **state) {
    (void)state;
    margin_error error;
    mg_fail(&error, MARGIN_ERROR_FORMAT, "inner");
    mg_fail(&error, MARGIN_ERROR_FILE, "outer: %s, again %s", error.text, error.text);
    assert_string_equal(error.text, "outer: inner, again inner");
}

static void computed_numbers_have_four_digits(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.7508766909419957, "0.7509"},
                 {-2.0 / 3.0, "-0.6667"},
                 {123456789.0, "123500000"},
                 {0.99996, "1"},
                 {99.995, "100"},
                 {2.5e-300, "2.5e-300"},
                 {1234.5, "1235"},
                 {1.23456e-7, "1.235e-07"},
                 {12345678.9e20, "1.235e+27"},
                 {5e-324, "5e-324"},
                 {0.0, "0"},
                 {42.0, "42"}};
    for (int k = 0; k < MG_LENGTH(cases); k++)
        assert_string_equal(mg_about(cases[k].value).text, cases[k].text);
    assert_string_equal(mg_about(1.7976931348623157e308).text, "1.798e+308");
    assert_string_equal(mg_about((double)INFINITY).text, "inf");
    assert_string_equal(mg_about((double)NAN).text, "nan");
}

static bool is_utf8(const char *text) {
    int64_t length = (int64_t)strlen(text);
    for (int64_t i = 0; i < length;) {
        int size = mg_utf8_length(text + i, length - i);
        if (size == 0) return false;
        i += size;
    }
    return true;
}

/* Characters of 1 to 4 bytes, shifted by every offset, so that the cut falls everywhere. */
static void long_sentences_are_cut_between_characters(void **state) {
    (void)state;
    static const char *const characters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    char text[3000];
    margin_error error;
    for (int c = 0; c < 4; c++) {
        size_t size = strlen(characters[c]);
        for (size_t shift = 0; shift < 5; shift++) {
            size_t length = shift;
            memset(text, 'x', shift);
            for (; length < 2000; length += size)
                memcpy(text + length, characters[c], size);
            text[length] = '\0';
            mg_fail(&error, MARGIN_ERROR_DATA, "%s", text);
            size_t kept = strlen(error.text);
            assert_true(kept < sizeof error.text && kept > sizeof error.text - 8);
            assert_string_equal(error.text + kept - 3, "...");
            assert_true(is_utf8(error.text));
            assert_memory_equal(error.text, text, kept - 3);
            assert_int_equal((kept - 3 - shift) % size, 0);
        }
    }
}

static void sentences_that_fit_exactly_are_whole(void **state) {
    (void)state;
    margin_error error;
    char text[sizeof error.text + 1];
    memset(text, 'x', sizeof text);
    text[sizeof error.text - 1] = '\0';
    mg_fail(&error, MARGIN_ERROR_DATA, "%s", text);
    assert_string_equal(error.text, text);
    text[sizeof error.text - 1] = 'x';
    text[sizeof error.text] = '\0';
    mg_fail(&error, MARGIN_ERROR_DATA, "%s", text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_string_equal(error.text + sizeof error.text - 4, "...");
}

static void foreign_bytes_cannot_reach_a_terminal(void **state) {
    (void)state;
    margin_error error;
    mg_fail(&error, MARGIN_ERROR_FILE, "%s",
            "a\x1b[31m\xff\xc3(\x7f\xc2\x9b"
            "b\n\tc\xe2\x82");
    assert_string_equal(error.text, "a?[31m?"
                                    "?(?"
                                    "?"
                                    "?b\n\tc?"
                                    "?");
}

/* The decoder of the Unicode standard, written as encoding: every code point, and no other. */
static int encode(uint32_t point, char bytes[4]) {
    if (point < 0x80) return bytes[0] = (char)point, 1;
    int size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const int lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = size - 1; i > 0; i--, point >>= 6)
        bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(lead[size] | (int)point);
    return size;
}

static void utf8_length_knows_every_character(void **state) {
    (void)state;
    char bytes[4];
    for (uint32_t point = 0; point <= 0x10ffff + 0x1000; point++) {
        bool valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        int size = encode(point, bytes);
        if (mg_utf8_length(bytes, 4) != (valid ? size : 0)) fail_msg("U+%04X", (unsigned)point);
        if (mg_utf8_length(bytes, size - 1) != 0) fail_msg("U+%04X, cut", (unsigned)point);
    }
}

static void utf8_length_refuses_long_forms(void **state) {
    (void)state;
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xe0\x9f\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xc3x",
                                      "\xe2\x82x",
                                      "\xf0\x9f\x99x"};
    for (int i = 0; i < MG_LENGTH(bad); i++)
        if (mg_utf8_length(bad[i], (int64_t)strlen(bad[i])) != 0) fail_msg("case %d", i);
    assert_int_equal(mg_utf8_length("a", 0), 0);
}

static void byte_counts_read_well(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 bytes"},
                 {1, "1 byte"},
                 {1023, "1023 bytes"},
                 {1024, "1 KiB"},
                 {1536, "1.5 KiB"},
                 {10000, "9.8 KiB"},
                 {160000000, "153 MiB"},
                 {(1 << 20) - 1, "1 MiB"},
                 {1047552, "1023 KiB"},
                 {(uint64_t)1 << 30, "1 GiB"},
                 {(uint64_t)5 << 40, "5 TiB"},
                 {(uint64_t)3 << 49, "1.5 PiB"},
                 {UINT64_MAX, "16 EiB"}};
    for (int i = 0; i < MG_LENGTH(cases); i++)
        assert_string_equal(mg_bytes(cases[i].bytes).text, cases[i].text);
}

/* The text is off by no more than half of its last digit. */
static void byte_counts_are_rounded_to_nearest(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        uint64_t bytes = support_random(&random) >> (support_random(&random) % 64);
        mg_bytes_text text = mg_bytes(bytes);
        char *unit;
        double shown = strtod(text.text, &unit);
        static const char letters[] = "KMGTPE";
        const char *letter = *unit && unit[1] != 'b' ? strchr(letters, unit[1]) : NULL;
        double scale = 1;
        for (int k = 0; letter && k <= letter - letters; k++)
            scale *= 1024;
        double step = shown < 100 && letter ? 0.1 : 1;
        double off = shown - (double)bytes / scale;
        if (off > step * 0.51 || off < -step * 0.51)
            fail_msg("%llu printed as %s", (unsigned long long)bytes, text.text);
    }
}

static void numbers_in_sentences(void **state) {
    (void)state;
    margin_error error;
    mg_fail(&error, MARGIN_ERROR_DATA, "%s and %s", mg_number(0.1).text, mg_number(-3).text);
    assert_string_equal(error.text, "0.1 and -3");
}

static void memory_failures_say_how_much_for_what(void **state) {
    (void)state;
    margin_error error;
    assert_int_equal(mg_fail_memory(&error, (size_t)3 << 20, "the Gram matrix"),
                     MARGIN_ERROR_MEMORY);
    assert_contains(error.text, "3 MiB");
    assert_contains(error.text, "the Gram matrix");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_distinct_and_never_null),
        cmocka_unit_test(fail_fills_the_error_and_returns_the_status),
        cmocka_unit_test(fail_without_error_returns_the_status),
        cmocka_unit_test(place_is_copied_and_position_belongs_to_specs),
        cmocka_unit_test(sentence_may_quote_the_error_it_replaces),
        cmocka_unit_test(computed_numbers_have_four_digits),
        cmocka_unit_test(long_sentences_are_cut_between_characters),
        cmocka_unit_test(sentences_that_fit_exactly_are_whole),
        cmocka_unit_test(foreign_bytes_cannot_reach_a_terminal),
        cmocka_unit_test(utf8_length_knows_every_character),
        cmocka_unit_test(utf8_length_refuses_long_forms),
        cmocka_unit_test(byte_counts_read_well),
        cmocka_unit_test(byte_counts_are_rounded_to_nearest),
        cmocka_unit_test(numbers_in_sentences),
        cmocka_unit_test(memory_failures_say_how_much_for_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
