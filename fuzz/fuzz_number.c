/* Number text: what is accepted agrees with strtod (an independent reader), what is printed reads
 * back to the same bits. */
#include "fuzz.h"

#include "margin/base.h"

#include <math.h>

static int same_f64(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}
static int same_f32(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void round_trip(double value) {
    char text[MARGIN_NUMBER_TEXT];
    double back = 0;
    float narrow = (float)value, narrow_back = 0;
    int length = margin_number_print_f64(value, text);
    FUZZ_CHECK(length > 0 && length < MARGIN_NUMBER_TEXT && text[length] == 0);
    FUZZ_CHECK(margin_number_parse_f64(text, (size_t)length, &back) == 1);
    FUZZ_CHECK(isnan(value) ? isnan(back) : same_f64(value, back));
    length = margin_number_print_f32(narrow, text);
    FUZZ_CHECK(length > 0 && length < MARGIN_NUMBER_TEXT && text[length] == 0);
    FUZZ_CHECK(margin_number_parse_f32(text, (size_t)length, &narrow_back) == 1);
    FUZZ_CHECK(isnan(narrow) ? isnan(narrow_back) : same_f32(narrow, narrow_back));
}

static void against_strtod(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size > 0) memcpy(text, data, size);
    text[size] = 0;
    double value = 1234.5;
    int accepted = margin_number_parse_f64(text, size, &value);
    FUZZ_CHECK(accepted == 0 || accepted == 1);
    if (!accepted) {
        FUZZ_CHECK(same_f64(value, 1234.5));
    } else {
        char *end = text;
        double expected = strtod(text, &end);
        FUZZ_CHECK(end == text + size); /* the reader takes nothing that strtod does not */
        FUZZ_CHECK(isnan(expected) ? isnan(value) : same_f64(value, expected));
        float narrow = 0;
        FUZZ_CHECK(margin_number_parse_f32(text, size, &narrow) == 1);
        float expected_narrow = strtof(text, NULL);
        FUZZ_CHECK(isnan(narrow) ? isnan(expected_narrow) : same_f32(narrow, expected_narrow));
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 8) {
        double value;
        memcpy(&value, data, sizeof value);
        round_trip(value);
    }
    against_strtod(data, size);
    return 0;
}
