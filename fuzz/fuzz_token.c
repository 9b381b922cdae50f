/* The bulk token readers of both instruction sets, at every place of a text: same verdict, position
 * and value as the general reader, whatever surrounds the number. */
#include "fuzz.h"

#include "../tests/token_readers.h"
#include "base/machine/cpu.h"
#include "base/text/number_text.h"

enum { PAD = 64, LONGEST = 96 }; /* every place x every length is tried */

static int same_f64(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}
static int same_f32(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void check_field(const token_readers *readers, const char *start, size_t length) {
    double wide = 1, expected_wide = 1;
    float narrow = 1, expected_narrow = 1;
    const int valid = margin_number_parse_f64(start, length, &expected_wide);
    FUZZ_CHECK(margin_number_parse_f32(start, length, &expected_narrow) == valid);
    FUZZ_CHECK(readers->field_f64(start, length, &wide) == (valid != 0));
    FUZZ_CHECK(readers->field_f32(start, length, &narrow) == (valid != 0));
    FUZZ_CHECK(same_f64(wide, expected_wide) && same_f32(narrow, expected_narrow));
}

/* `end` is where the text ends in a byte that continues no number. */
static void check_number(const token_readers *readers, const char *start, const char *end) {
    double wide = 1, expected_wide = 1;
    float narrow = 1, expected_narrow = 1;
    const char *behind = mg_read_f64(start, end, &expected_wide);
    FUZZ_CHECK(mg_read_f32(start, end, &expected_narrow) == behind);
    FUZZ_CHECK(readers->number_f64(start, end, &wide) == behind);
    FUZZ_CHECK(readers->number_f32(start, end, &narrow) == behind);
    FUZZ_CHECK(same_f64(wide, expected_wide) && same_f32(narrow, expected_narrow));
}

static void check_pair(const token_readers *readers, const char *start, const char *end) {
    uint32_t index = 0, expected = 0;
    double value = 1, expected_value = 1;
    const char *behind = readers->pair(start, &index, &value), *p = start;
    if (behind == NULL) return;
    for (; *p >= '0' && *p <= '9'; p++)
        expected = expected * 10 + (uint32_t)(*p - '0');
    FUZZ_CHECK(p > start && *p == ':' && index == expected);
    FUZZ_CHECK(mg_read_f64(p + 1, end, &expected_value) == behind);
    FUZZ_CHECK(same_f64(value, expected_value));
}

static void check_everywhere(const token_readers *readers, const char *text, size_t length) {
    for (size_t from = 0; from < length; from++) {
        check_number(readers, text + from, text + length);
        check_pair(readers, text + from, text + length);
        for (size_t count = 0; count <= length - from && count < 40; count++)
            check_field(readers, text + from, count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[LONGEST + 2 * PAD] = {0};
    if (size > LONGEST) size = LONGEST;
    if (size > 0) memcpy(text + PAD, data, size);
    check_everywhere(&token_readers_portable, text + PAD, size);
#if defined(__x86_64__)
    if (mg_isa_level() >= MG_ISA_AVX2) check_everywhere(&token_readers_avx2, text + PAD, size);
#endif
    return 0;
}
