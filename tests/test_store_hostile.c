/* Model files that are damaged, or well sealed with one thing wrong: all are refused with a
 * sentence.
 */
#include "store_cases.h"

#include "data/source/crc64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Damage ---------------------------------------------------------------------------------- */

static void assert_refused(margin_context *context, const unsigned char *bytes, int64_t length,
                           const char *part) {
    margin_model *model = NULL;
    margin_error error = {0};
    const margin_status status = margin_model_decode(context, bytes, length, &model, &error);
    if (status != MARGIN_ERROR_MODEL) fail_msg("%s: status %d: %s", part, (int)status, error.text);
    assert_null(model);
    assert_contains(error.text, "the model is not a usable model file: ");
    assert_contains(error.text, part);
}

static void test_cut_anywhere(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const store_bytes whole = store_encode_case(store_find_case("folded"), 1);
    for (int64_t length = 0; length < whole.length; length++) {
        unsigned char *cut = malloc((size_t)length + 1); /* its own block: no byte behind it */
        memcpy(cut, whole.bytes, (size_t)length);
        assert_refused(context, cut, length, "");
        free(cut);
    }
    unsigned char *more = malloc((size_t)whole.length + 1);
    memcpy(more, whole.bytes, (size_t)whole.length);
    more[whole.length] = 0;
    assert_refused(context, more, whole.length + 1, "it is damaged");
    free(more);
    free(whole.bytes);
    margin_context_free(context);
}

static void test_any_byte_changed(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const store_bytes whole = store_encode_case(store_find_case("kernel"), 1);
    static const unsigned char flips[] = {0x01, 0x20, 0x80, 0xff};
    for (int64_t at = 0; at < whole.length; at++)
        for (int k = 0; k < MG_LENGTH(flips); k++) {
            whole.bytes[at] ^= flips[k];
            assert_refused(context, whole.bytes, whole.length, "");
            whole.bytes[at] ^= flips[k];
        }
    free(whole.bytes);
    margin_context_free(context);
}

/* Bit by bit, as the standard defines it. */
static uint64_t checksum_of(const unsigned char *bytes, int64_t length) {
    uint64_t value = ~UINT64_C(0);
    for (int64_t i = 0; i < length; i++) {
        value ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? UINT64_C(0xc96c5795d7870f42) : 0);
    }
    return ~value;
}

static void checksum_of_long_pieces(void **unused) {
    (void)unused;
    unsigned char bytes[5000];
    uint64_t state = 11;
    for (int k = 0; k < MG_LENGTH(bytes); k++)
        bytes[k] = (unsigned char)support_random(&state);
    for (int n = 0; n < 300; n++) {
        const int64_t from = (int64_t)(support_random(&state) % 64),
                      length = (int64_t)(support_random(&state) % 4900),
                      cut = (int64_t)(support_random(&state) % (uint64_t)(length + 1));
        mg_crc64 crc;
        mg_crc64_begin(&crc);
        mg_crc64_add(&crc, bytes + from, cut);
        mg_crc64_add(&crc, bytes + from + cut, length - cut);
        assert_true(mg_crc64_value(&crc) == checksum_of(bytes + from, length));
    }
}

static void test_checksum(void **state) {
    (void)state;
    mg_crc64 crc; /* the published check value, in one piece and in two */
    mg_crc64_begin(&crc);
    mg_crc64_add(&crc, "123456789", 9);
    assert_true(mg_crc64_value(&crc) == UINT64_C(0x995dc9bbdf1939fa));
    for (int cut = 0; cut <= 9; cut++) {
        mg_crc64_begin(&crc);
        mg_crc64_add(&crc, "123456789", cut);
        mg_crc64_add(&crc, &"123456789"[cut], 9 - cut);
        assert_true(mg_crc64_value(&crc) == UINT64_C(0x995dc9bbdf1939fa));
    }
    margin_context *context = support_context(NULL, 1);
    const store_bytes whole = store_encode_case(&store_cases[0], 1);
    whole.bytes[whole.length - 1] ^= 1;
    assert_refused(context, whole.bytes, whole.length,
                   "it is damaged: its contents have the "
                   "checksum ");
    assert_true(mg_store_seal(whole.bytes, whole.length));
    margin_model *model = NULL;
    assert_int_equal(margin_model_decode(context, whole.bytes, whole.length, &model, NULL),
                     MARGIN_OK);
    margin_model_free(model);
    assert_false(mg_store_seal(whole.bytes, 20));
    free(whole.bytes);
    margin_context_free(context);
}

/* ---- Hostile files: well sealed, with one thing wrong ---------------------------------------- */

/* The file with `from` in its header replaced by `to`, length and checksum made right again. */
static store_bytes forge(const store_bytes *whole, const char *from, const char *to) {
    uint64_t header = 0;
    for (int k = 7; k >= 0; k--)
        header = header << 8 | whole->bytes[k];
    char *text = malloc(header + 1);
    memcpy(text, whole->bytes + 8, header);
    text[header] = '\0';
    char *found = strstr(text, from);
    if (!found) fail_msg("the header has no %s: %s", from, text);
    const size_t before = (size_t)(found - text), after = strlen(found + strlen(from));
    const size_t made = before + strlen(to) + after;
    const size_t data = (size_t)whole->length - 8 - header;
    store_bytes forged = {malloc(8 + made + data), (int64_t)(8 + made + data)};
    for (int k = 0; k < 8; k++)
        forged.bytes[k] = (unsigned char)(made >> (8 * k) & 255);
    memcpy(forged.bytes + 8, text, before);
    memcpy(forged.bytes + 8 + before, to, strlen(to));
    memcpy(forged.bytes + 8 + before + strlen(to), found + strlen(from), after);
    memcpy(forged.bytes + 8 + made, whole->bytes + 8 + header, data);
    mg_store_seal(forged.bytes, forged.length);
    free(text);
    return forged;
}

typedef struct forgery {
    const char *name; /* of the model */
    const char *from, *to, *part;
} forgery;

static const forgery forgeries[] = {
    /* outside */
    {"plain", "crc64-xz", "crc64-XZ", "it does not begin as one"},
    {"plain", "\"format\":\"margin\"", "\"format\":\"marble\"", "which format and version"},
    {"plain", "\"format\":\"margin\",", "", "which format and version"},
    {"plain", "\"format_version\":\"1\"", "\"format_version\":1", "which format and version"},
    {"plain", "\"format_version\":\"1\"", "\"format_version\":\"x\"", "which format and version"},
    {"plain", "\"format_version\":\"1\"", "\"format_version\":\"0\"", "no format version 0"},
    {"plain", "\"format_version\":\"1\"", "\"format_version\":\"nan\"", "no format version nan"},
    {"plain", "\"margin_version\":\"0.1.0\",", "", "which format and version"},
    {"plain", "\"model\":\"", "\"modal\":\"", "it does not describe a model"},
    {"plain", "\"model\":\"{", "\"model\":\"{{", "the description of the model is not valid JSON"},
    {"plain", "\"model\":\"{", "\"model\":\"{\\\"task\\\":1,", "is not valid JSON"}, /* twice */
    {"plain", "\"spec\":", "\"spoc\":", "it does not say what the model was trained as"},
    {"plain", "[72,80]}}", "[72,80]}", "its header is not valid JSON"},
    {"plain", "\"data_offsets\":[0,16]}", "\"data_offsets\":[0,16]},\"class_values\":{}",
     "its header is not valid JSON: duplicate"},
    {"plain", "{\"__metadata__\":{\"checksum\":\"crc64-xz:",
     "{\"__metadata__\":{\"checksum\":\"crc64-xy:", "it does not begin as one"},
    /* table of tensors */
    {"plain", "\"dtype\":\"F64\"", "\"dtype\":\"F16\"", "class_values has no number type"},
    {"plain", "\"dtype\":\"F64\"", "\"dtype\":64", "class_values has no number type"},
    {"plain", "\"dtype\":\"F64\"", "\"dtype\":\"F32\"", "shape that does not fit its bytes"},
    {"plain", "\"shape\":[2]", "\"shape\":[3]", "shape that does not fit its bytes"},
    {"plain", "\"shape\":[2]", "\"shape\":[-2]", "no shape of one or two sizes"},
    {"plain", "\"shape\":[2]", "\"shape\":[2.0]", "no shape of one or two sizes"},
    {"plain", "\"shape\":[2]", "\"shape\":[]", "no shape of one or two sizes"},
    {"plain", "\"shape\":[2]", "\"shape\":[2,1,1]", "no shape of one or two sizes"},
    {"plain", "\"shape\":[2]", "\"shape\":2", "no shape of one or two sizes"},
    {"plain", "\"shape\":[2]", "\"shape\":[2,0]", "shape that does not fit its bytes"},
    {"plain", "\"shape\":[2]", "\"shape\":[4611686018427387906]", "does not fit its bytes"},
    {"plain", "\"shape\":[2]", "\"shape\":[2305843009213693952,8]", "does not fit its bytes"},
    {"plain", "\"shape\":[2]", "\"shape\":[9223372036854775808]", "not valid JSON"},
    {"plain", "\"data_offsets\":[0,16]", "\"data_offsets\":[0,1600000]", "lies outside"},
    {"plain", "\"data_offsets\":[0,16]", "\"data_offsets\":[16,0]", "lies outside"},
    {"plain", "\"data_offsets\":[0,16]", "\"data_offsets\":[-16,0]", "lies outside"},
    {"plain", "\"data_offsets\":[0,16]", "\"data_offsets\":[0]", "lies outside"},
    {"plain", "\"data_offsets\":[0,16]", "\"data_offsets\":[16,32]",
     "overlaps another one or leaves a gap"},
    {"plain",
     ",\"hypothesis.learner_intercept\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[72,80]}",
     "", "8 bytes at its end belong to no tensor"},
    {"plain", "\"class_values\"", "\"class_valued\"", "no part of the model has a tensor"},
    {"plain", "\"hypothesis.intercept\"", "\"hypothesis.interceptions_of_great_length\"",
     "longer named"},
    {"plain", "\"hypothesis.intercept\"",
     "\"hypothesis.0123456789012345678901234567890123456789012345678901234567890\"",
     "has too long a name"},
    {"plain", "\"hypothesis.intercept\"", "\"hypothesis.intersept\"", "no tensor 'intercept'"},
    {"plain", "\"hypothesis.intercept\"", "\"stage.0.intercept\"", "no tensor 'intercept'"},
    /* spec */
    {"plain", "\"spec\":\"perceptron\"", "\"spec\":\"perzeptron\"",
     "its spec is not valid: spec, column 1: there is no stage or learner perzeptron"},
    {"plain", "\"spec\":\"perceptron\"", "\"spec\":\"perceptron \"", "not in canonical form"},
    {"plain", "\"spec\":\"perceptron\"", "\"spec\":\"perceptron(rate={0.5,1})\"",
     "not in canonical form"},
    {"plain", "\"spec\":\"perceptron\"", "\"spec\":\"minmax | perceptron\"",
     "0 stages and its spec 1"},
    /* description */
    {"plain", "\\\"classify\\\"", "\\\"regress\\\"", "perceptron is not a learner for the task"},
    {"plain", "\\\"classify\\\"", "\\\"juggle\\\"", "task is not a word that this version knows"},
    {"plain", "\\\"classify\\\"", "7", "task is not a text"},
    {"plain", "\\\"sign\\\"", "\\\"argmax\\\"", "do not fit"},
    {"plain", "[\\\"-3\\\",\\\"5\\\"]", "[\\\"-3\\\",5]", "class 2 has no name"},
    {"plain", "[\\\"-3\\\",\\\"5\\\"]", "[\\\"-3\\\"]", "class values do not fit"},
    {"plain", "[\\\"-3\\\",\\\"5\\\"]", "2", "no part of the model has a tensor class_values"},
    {"plain", "[\\\"-3\\\",\\\"5\\\"]", "\\\"two\\\"", "classes is not a whole number"},
    {"plain", "\\\"inputs\\\":3", "\\\"inputs\\\":4", ""},
    {"plain", "\\\"inputs\\\":3", "\\\"inputs\\\":0", "no input columns"},
    {"plain", "\\\"inputs\\\":3", "\\\"inputs\\\":-1", "inputs is -1, out of the range"},
    {"plain", "\\\"inputs\\\":3", "\\\"inputs\\\":4000001", "out of the range 0 to 4000000"},
    {"plain", "\\\"inputs\\\":3", "\\\"inputs\\\":[\\\"a\\\",\\\"b\\\",7]",
     "inputs describes column 3 in a way"},
    {"plain", "\\\"inputs\\\":3", "\\\"inputs\\\":[\\\"a\\\",{\\\"name\\\":\\\"b\\\"},\\\"c\\\"]",
     "inputs describes column 2 in a way"},
    {"plain", "\\\"inputs\\\":3",
     "\\\"inputs\\\":[{\\\"name\\\":\\\"b\\\",\\\"categories\\\":[1]},\\\"b\\\",\\\"c\\\"]",
     "inputs describes column 1 in a way"},
    {"plain", "\\\"target\\\":[\\\"y\\\"]", "\\\"target\\\":[]", "0 target columns"},
    {"plain", "\\\"stages\\\":[]", "\\\"stages\\\":{}", "stages is not a list"},
    {"plain", "\\\"stages\\\":[]", "\\\"stages\\\":[{}]", "1 stages and its spec 0"},
    {"plain", "\\\"active\\\":0", "\\\"active\\\":1", "active is 1, out of the range 0 to 0"},
    {"plain", "\\\"linear\\\"", "\\\"bilinear\\\"", "no model of the kind bilinear"},
    {"plain", "\\\"linear\\\"", "\\\"expansion\\\"", "kernel"},
    {"plain", "\\\"columns\\\":3", "\\\"columns\\\":9223372036854775807", "out of the range"},
    {"plain", "\\\"columns\\\":3", "\\\"columns\\\":4", "another shape"},
    {"plain", "\\\"functions\\\":1", "\\\"functions\\\":9223372036854775807", "out of the range"},
    {"plain", "\\\"functions\\\":1", "\\\"functions\\\":0", "out of the range"},
    {"plain", "\\\"functions\\\":1", "\\\"functions\\\":2", "another shape"},
    {"plain", "\\\"hypothesis\\\":{", "\\\"hypothesis\\\":7,\\\"h\\\":{",
     "hypothesis is not an object"},
    /* report */
    {"plain", "\\\"report\\\":{", "\\\"report\\\":[],\\\"r\\\":{", "report is not an object"},
    {"plain", "\\\"status\\\":0", "\\\"status\\\":-8", "status is -8, out of the range"},
    {"plain", "\\\"objective\\\":\\\"0\\\"", "\\\"objective\\\":\\\"zero\\\"",
     "objective is not a number written as text"},
    {"plain", "\\\"objective\\\":\\\"0\\\"", "\\\"objective\\\":0", "objective is not a text"},
    {"plain", "\\\"iteration_name\\\":\\\"",
     "\\\"iteration_name\\\":\\\"0123456789012345678901234567890123456789",
     "iteration_name is longer than 23 bytes"},
    {"plain", "\\\"items\\\":{", "\\\"items\\\":{\\\"0123456789012345678901234\\\":\\\"1\\\",",
     "item with too long a name"},
    {"plain", "\\\"items\\\":{",
     "\\\"items\\\":{\\\"a\\\":\\\"1\\\",\\\"b\\\":\\\"1\\\",\\\"c\\\":\\\"1\\\",\\\"d\\\":"
     "\\\"1\\\","
     "\\\"e\\\":\\\"1\\\",\\\"f\\\":\\\"1\\\",\\\"g\\\":\\\"1\\\",\\\"h\\\":\\\"1\\\","
     "\\\"i\\\":\\\"1\\\",\\\"j\\\":\\\"1\\\",\\\"k\\\":\\\"1\\\",\\\"l\\\":\\\"1\\\","
     "\\\"m\\\":\\\"1\\\",\\\"n\\\":\\\"1\\\",\\\"o\\\":\\\"1\\\",\\\"p\\\":\\\"1\\\",",
     "more than 16 items"},
    /* stages */
    {"folded", "minmax(low=0, high=1, target=no)\\\"", "normalize\\\"",
     "is not the one of its spec"},
    {"folded", "minmax(low=0, high=1, target=no)\\\"", "minmax | minmax\\\"",
     "is not the one of its spec"},
    {"folded", "minmax(low=0, high=1, target=no)\\\"", "minmax(low={0,1})\\\"",
     "is not the one of its spec"},
    {"folded", "minmax(low=0, high=1, target=no)\\\"", "minmax(low=\\\"", "its spec is not valid"},
    {"folded", "\\\"columns_in\\\":3", "\\\"columns_in\\\":2", ""},
    {"folded", "\\\"columns_out\\\":3", "\\\"columns_out\\\":2", ""},
    {"folded", "\\\"columns_in\\\":3,", "", "columns_in is not a whole number"},
    {"folded", "stage.1.offset", "stage.7.offset", "standardize"},
    {"kernel", "\\\"active\\\":1", "\\\"active\\\":0",
     "with a hypothesis that is expansion there are 1"},
    {"kernel", "hypothesis.support\"", "hypothesis.supper\"", "no support rows"},
    {"sparse", "hypothesis.support_starts", "hypothesis.support_stars", "no support rows"},
};

static void test_forgeries(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(forgeries); k++) {
        const store_bytes whole = store_encode_case(store_find_case(forgeries[k].name), 1);
        const store_bytes forged = forge(&whole, forgeries[k].from, forgeries[k].to);
        assert_refused(context, forged.bytes, forged.length, forgeries[k].part);
        free(forged.bytes);
        free(whole.bytes);
    }
    margin_context_free(context);
}

static void test_newer_version(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    store_bytes whole = store_encode_case(&store_cases[0], 1);
    const store_bytes newer = forge(&whole, "\"format_version\":\"1\",\"margin_version\":\"0.1.0\"",
                                    "\"format_version\":\"7\",\"margin_version\":\"9.3.1\"");
    assert_refused(context, newer.bytes, newer.length,
                   "margin 9.3.1 wrote it in format version 7, and this is margin ");
    assert_refused(context, newer.bytes, newer.length, "update margin, or train again");
    const store_bytes named = forge(&whole, "\"0.1.0\"", "\"9.3.1\""); /* in this format */
    const store_bytes unknown = forge(&named, "\"spec\":\"perceptron\"", "\"spec\":\"decetron\"");
    assert_refused(context, unknown.bytes, unknown.length,
                   "margin 9.3.1 wrote it, and this is margin 0.1.0, which does not know its spec");
    assert_refused(context, unknown.bytes, unknown.length, "a margin of that version reads it");
    free(unknown.bytes);
    free(named.bytes);
    free(newer.bytes);
    free(whole.bytes);
    margin_context_free(context);
}

/* Entries that this version does not know are for later ones. */
static void test_unknown_entries(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const store_bytes whole = store_encode_case(&store_cases[0], 1);
    const store_bytes more = forge(&whole, "\"format\":", "\"note\":\"hello\",\"format\":");
    const store_bytes deep = forge(&more, "\\\"task\\\":", "\\\"new\\\":[1.5,null],\\\"task\\\":");
    margin_model *model = NULL;
    margin_error error = {0};
    if (margin_model_decode(context, deep.bytes, deep.length, &model, &error) < 0)
        fail_msg("%s", error.text);
    margin_model_free(model);
    free(whole.bytes);
    free(more.bytes);
    free(deep.bytes);
    margin_context_free(context);
}

/* Numbers that must be finite, ascending or in range, changed in the data. */
static void test_hostile_numbers(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    uint64_t random = 77;
    int refused = 0, accepted = 0;
    for (int k = 0; k < STORE_CASES; k++) {
        const store_bytes whole = store_encode_case(&store_cases[k], 1);
        uint64_t header = 0;
        for (int b = 7; b >= 0; b--)
            header = header << 8 | whole.bytes[b];
        const int64_t first = 8 + (int64_t)header, numbers = (whole.length - first) / 8;
        static const uint64_t strange[] = {0x7ff8000000000000,
                                           0x7ff0000000000000,
                                           UINT64_MAX,
                                           0x8000000000000000,
                                           0x7fffffffffffffff,
                                           2,
                                           100};
        for (int round = 0; round < 200; round++) {
            unsigned char kept[8];
            unsigned char *at =
                whole.bytes + first + 8 * (int64_t)(support_random(&random) % (uint64_t)numbers);
            memcpy(kept, at, 8);
            memcpy(at, &strange[support_random(&random) % MG_LENGTH(strange)], 8);
            mg_store_seal(whole.bytes, whole.length);
            margin_model *model = NULL;
            margin_error error = {0};
            const margin_status status =
                margin_model_decode(context, whole.bytes, whole.length, &model, &error);
            if (status >= 0) {
                const margin_matrix x = margin_dense_f64(store_points, 6, 3, 3);
                int64_t labels[6];
                assert_int_equal(margin_predict(model, &x, labels, NULL), MARGIN_OK);
                margin_model_free(model);
                accepted++;
            } else {
                assert_int_equal(status, MARGIN_ERROR_MODEL);
                assert_contains(error.text, "is not a usable model file: ");
                refused++;
            }
            memcpy(at, kept, 8);
        }
        free(whole.bytes);
    }
    assert_true(refused > 500 && accepted > 10);
    margin_context_free(context);
}

/* Random slips in the header, sealed again: refused or harmless. */
static void test_damaged_headers(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    uint64_t random = 78;
    for (int k = 0; k < STORE_CASES; k++) {
        const store_bytes whole = store_encode_case(&store_cases[k], 1);
        uint64_t header = 0;
        for (int b = 7; b >= 0; b--)
            header = header << 8 | whole.bytes[b];
        for (int round = 0; round < 300; round++) {
            const size_t at = 8 + 60 + (size_t)(support_random(&random) % (header - 60));
            const unsigned char kept = whole.bytes[at];
            whole.bytes[at] =
                (unsigned char)"0129\"\\{}[],:-. \x80\xff"[support_random(&random) % 17];
            mg_store_seal(whole.bytes, whole.length);
            margin_model *model = NULL;
            margin_error error = {0};
            const margin_status status =
                margin_model_decode(context, whole.bytes, whole.length, &model, &error);
            if (status != MARGIN_ERROR_MODEL && status != MARGIN_OK)
                fail_msg("status %d: %s", (int)status, error.text);
            margin_model_free(model);
            whole.bytes[at] = kept;
        }
        free(whole.bytes);
    }
    margin_context_free(context);
}

/* A header of a thousand opening brackets, of values beyond the memory limit, of too many tensors,
 * of more values than a model has: those take a hundred times their bytes. */
static void test_large_headers(void **state) {
    (void)state;
    enum { MANY = 100000 };
    const store_bytes whole = store_encode_case(&store_cases[0], 1);
    char *text = malloc(8 * MANY + 100);
    margin_context *context = support_context(NULL, 1);
    memset(text, '[', 3000);
    strcpy(text + 3000, ",\"format\":");
    memcpy(text, "\"a\":", 4);
    const store_bytes nested = forge(&whole, "\"format\":", text);
    assert_refused(context, nested.bytes, nested.length, "its header is not valid JSON");
    free(nested.bytes);

    char *at = text;
    for (int k = 0; k < 3000; k++)
        at += sprintf(at, "\"t%d\":{},", k);
    strcpy(at, "\"class_values\":");
    const store_bytes crowded = forge(&whole, "\"class_values\":", text);
    assert_refused(context, crowded.bytes, crowded.length, "models have at most");
    free(crowded.bytes);

    at = text + sprintf(text, "\"a\":[0");
    for (int k = 0; k < MANY; k++)
        at += sprintf(at, ",{}");
    strcpy(at, "],\"format\":");
    const store_bytes swollen = forge(&whole, "\"format\":", text);
    assert_refused(context, swollen.bytes, swollen.length, "its header has more values than");
    free(swollen.bytes);

    char *big = malloc(4 * 600000), *end = big + sprintf(big, "\\\"a\\\":[0");
    for (int k = 0; k < 500000; k++)
        end += sprintf(end, ",{}");
    strcpy(end, "],\\\"task\\\":");
    const store_bytes described = forge(&whole, "\\\"task\\\":", big);
    free(big);
    assert_refused(context, described.bytes, described.length,
                   "the description of the model has more values than");
    free(described.bytes);

    at = text + sprintf(text, "\\\"a\\\":[0");
    for (int k = 0; k < MANY; k++)
        at += sprintf(at, ",0");
    strcpy(at, "],\\\"task\\\":");
    const store_bytes wide = forge(&whole, "\\\"task\\\":", text);
    margin_model *model = NULL;
    margin_error error = {0};
    assert_int_equal(margin_model_decode(context, wide.bytes, wide.length, &model, &error),
                     MARGIN_OK);
    margin_model_free(model);
    margin_context_free(context);
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = 4 << 20};
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    model = NULL;
    assert_int_equal(margin_model_decode(context, wide.bytes, wide.length, &model, &error),
                     MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "more than the memory limit leaves");
    assert_int_equal(margin_model_decode(context, whole.bytes, whole.length, &model, &error),
                     MARGIN_OK);
    margin_model_free(model);
    margin_context_free(context);
    free(wide.bytes);
    free(whole.bytes);
    free(text);
}

/* ---- Options of stages ----------------------------------------------------------------------- */

/* The k-th value of an option to try; false: there are no more. */
static bool value_of(const margin_option *option, int k, char value[32]) {
    static const char *const numbers[] = {"2", "4"}, *const words[] = {"no", "yes"};
    const int fixed = option->type == MARGIN_OPTION_CHOICE ? 0 : 2;
    int64_t length = 0;
    if (k < fixed) {
        const bool text = option->type == MARGIN_OPTION_TEXT;
        const char *const *of = option->type == MARGIN_OPTION_SWITCH ? words : numbers;
        snprintf(value, 32, "%s", text ? (k ? "'1,2'" : "'1'") : of[k]);
        return true;
    }
    if (!option->choices || k - fixed >= mg_choice_count(option->choices)) return false;
    const char *word = mg_choice_at(option->choices, k - fixed, &length);
    snprintf(value, 32, "%.*s", (int)length, word);
    return true;
}

static margin_model *fit_stage(margin_context *context, const char *text) {
    const margin_data data = {.x = margin_dense_f64(store_points, 6, 3, 3),
                              .y = margin_values_f64(store_points, 6)};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    if (margin_spec_parse(context, text, &spec, NULL) >= 0 &&
        margin_fit(context, spec, &data, &model, NULL, NULL) < 0)
        assert_null(model);
    margin_spec_free(spec);
    return model;
}

/* The model as a file whose spec says something else of the stage. */
static void assert_held(margin_context *context, margin_model *model, const char *spec,
                        const char *option) {
    char *const own = model->spec, said[200], part[100];
    snprintf(said, sizeof said, "%s", spec);
    model->spec = said;
    const store_bytes forged = store_encode(model);
    model->spec = own;
    snprintf(part, sizeof part, "has another %s than its spec says", option);
    assert_refused(context, forged.bytes, forged.length, part);
    free(forged.bytes);
}

/* Every value of an option; returns how many fits there were. */
static int try_option(margin_context *context, const margin_component *stage,
                      const margin_option *option) {
    const char *learner = strcmp(option->name, "target") == 0 ? " | ridge" : "";
    char value[32], spec[200], bare[200];
    int fits = 0;
    snprintf(bare, sizeof bare, "%s%s", stage->name, learner);
    for (int k = 0; value_of(option, k, value); k++) {
        snprintf(spec, sizeof spec, "%s(%s=%s)%s", stage->name, option->name, value, learner);
        margin_model *model = fit_stage(context, spec), *again = NULL;
        if (!model) continue;
        const store_bytes honest = store_encode(model);
        margin_error error = {0};
        if (margin_model_decode(context, honest.bytes, honest.length, &again, &error) < 0)
            fail_msg("%s: %s", spec, error.text);
        const mg_option_value *has = model->stages[0].options;
        margin_model *plain = fit_stage(context, bare);
        const int at = mg_option_index(stage, option->name);
        if (!mg_option_equal(&has[at], &plain->stages[0].options[at])) {
            assert_held(context, model, bare, option->name);
            assert_held(context, plain, model->spec, option->name);
        }
        margin_model_free(plain);
        margin_model_free(again);
        margin_model_free(model);
        free(honest.bytes);
        fits++;
    }
    return fits;
}

/* A stage has the options of the spec, and where it says nothing the defaults: not others that the
 * entry of the stage names. Honest files load, whatever the option. */
static void test_options_of_stages(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int c = 0; c < margin_component_count(); c++) {
        const margin_component *stage = margin_component_at(c);
        int fits = 0;
        if (stage->kind != MARGIN_STAGE) continue;
        for (int k = 0; k < stage->option_count; k++) /* some go with others only */
            fits += try_option(context, stage, &stage->options[k]);
        if (fits < 2) fail_msg("%s: %d fits", stage->name, fits);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_anywhere),      cmocka_unit_test(test_any_byte_changed),
        cmocka_unit_test(test_checksum),          cmocka_unit_test(checksum_of_long_pieces),
        cmocka_unit_test(test_forgeries),         cmocka_unit_test(test_newer_version),
        cmocka_unit_test(test_unknown_entries),   cmocka_unit_test(test_hostile_numbers),
        cmocka_unit_test(test_damaged_headers),   cmocka_unit_test(test_large_headers),
        cmocka_unit_test(test_options_of_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
