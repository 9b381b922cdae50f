/* Model files: what is written comes back, byte for byte, and nothing else is let in. */
#include "support/support.h"

#include "base/crc64.h"
#include "margin/model.h"
#include "model/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Models of every kind -------------------------------------------------------------------- */

static const char *const colours[] = {"blue", "green \"x\" \\ \xc3\xa4", "red"};
static const char *const animals[] = {"ant", "bee", "cat"};
static const margin_column columns_named[] = {
    {.name = "size"},
    {.name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 3},
    {.name = "x3"}};
static const margin_column target_named = {
    .name = "animal", .kind = MARGIN_CATEGORICAL, .categories = animals, .category_count = 3};

static const double points[] = {3, 0, 3, 4, 1, 3, 1, 2, 1, 0, 1, 2, 7, 2, 9, 8, 0, 9};
static const int32_t two_labels[] = {5, 5, -3, -3, 5, 5};
static const double three_codes[] = {0, 0, 1, 1, 2, 2};

typedef struct model_case {
    const char *name, *spec;
    bool sparse, floats, three, named;
} model_case;

static const model_case cases[] = {
    {.name = "plain", .spec = "perceptron"},
    {.name = "folded", .spec = "minmax | standardize(columns=1) | perceptron"},
    {.name = "dual", .spec = "perceptron(form=dual, rate=0.5)"},
    {.name = "kernel", .spec = "minmax | perceptron(kernel=rbf, sigma=1)"},
    {.name = "floats", .spec = "perceptron(kernel=poly)", .floats = true},
    {.name = "sparse", .spec = "perceptron(kernel=poly)", .sparse = true},
    {.name = "ovr", .spec = "perceptron(passes=20)", .three = true},
    {.name = "ovo", .spec = "perceptron(multiclass=ovo, passes=20, kernel=rbf)", .three = true},
    {.name = "argmax",
     .spec = "normalize | perceptron(multiclass=argmax, passes=20)",
     .three = true},
    {.name = "named",
     .spec = "impute(with=median) | onehot(columns='size,x3') | normalize(norm=l1) | "
             "perceptron(variant=pocket, passes=9)",
     .three = true,
     .named = true},
};

static margin_model *train(margin_context *context, const model_case *c) {
    float floats[18];
    int32_t indices[18];
    int64_t starts[7] = {0};
    for (int k = 0; k < 18; k++) {
        floats[k] = (float)points[k];
        indices[k] = k % 3;
        if (k % 3 == 2) starts[k / 3 + 1] = k + 1;
    }
    margin_data data = {.x = margin_dense_f64(points, 6, 3, 3),
                        .y = margin_labels_i32(two_labels, 6)};
    if (c->sparse) data.x = margin_csr_f64(points, indices, starts, 6, 3);
    if (c->floats) data.x = margin_dense_f32(floats, 6, 3, 3);
    if (c->three) data.y = margin_values_f64(three_codes, 6);
    if (c->named) data.columns = columns_named;
    if (c->named) data.target = &target_named;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    if (margin_spec_parse(context, c->spec, &spec, &error) < 0 ||
        margin_fit(context, spec, &data, &model, NULL, &error) < 0)
        fail_msg("%s: %s", c->spec, error.text);
    margin_spec_free(spec);
    return model;
}

typedef struct encoded {
    unsigned char *bytes; /* free() it */
    int64_t length;
} encoded;

static encoded encode(const margin_model *model) {
    void *bytes = NULL;
    int64_t length = 0;
    margin_error error = {0};
    if (margin_model_encode(model, &bytes, &length, &error) < 0) fail_msg("%s", error.text);
    encoded copy = {malloc((size_t)length), length};
    memcpy(copy.bytes, bytes, (size_t)length);
    margin_bytes_free(model, bytes);
    return copy;
}

static encoded encode_case(const model_case *c, int threads) {
    margin_context *context = support_context(NULL, threads);
    margin_model *model = train(context, c);
    const encoded e = encode(model);
    margin_model_free(model);
    margin_context_free(context);
    return e;
}

static const model_case *find_case(const char *name) {
    for (int k = 0; k < MG_LENGTH(cases); k++)
        if (strcmp(cases[k].name, name) == 0) return &cases[k];
    fail_msg("no case %s", name);
    return NULL;
}

/* ---- Round trip ------------------------------------------------------------------------------ */

static void assert_same_columns(const margin_column *a, const margin_column *b, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        assert_string_equal(a[j].name, b[j].name);
        assert_int_equal(a[j].kind, b[j].kind);
        assert_int_equal(a[j].category_count, b[j].category_count);
        for (int64_t k = 0; k < a[j].category_count; k++)
            assert_string_equal(a[j].categories[k], b[j].categories[k]);
    }
}

static bool same_number(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void assert_same_reports(const margin_report *a, const margin_report *b) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->task, b->task);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->subproblems, b->subproblems);
    assert_true(same_number(a->objective, b->objective) && same_number(a->gap, b->gap) &&
                same_number(a->tolerance, b->tolerance) &&
                same_number(a->train_accuracy, b->train_accuracy) &&
                same_number(a->train_rmse, b->train_rmse) && same_number(a->train_r2, b->train_r2));
    assert_string_equal(a->iteration_name, b->iteration_name);
    assert_string_equal(a->formula, b->formula);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->item_count, b->item_count);
    for (int64_t k = 0; k < a->item_count; k++) {
        assert_string_equal(a->items[k].name, b->items[k].name);
        assert_true(same_number(a->items[k].value, b->items[k].value));
    }
    assert_true(b->seconds == 0 && b->threads == 0);
}

static void assert_same_predictions(const margin_model *a, const margin_model *b) {
    const margin_matrix x = margin_dense_f64(points, 6, 3, 3);
    double left[6 * 3], right[6 * 3];
    int64_t labels[6], other[6];
    assert_int_equal(margin_model_score_count(a), margin_model_score_count(b));
    assert_int_equal(margin_scores(a, &x, left, NULL), MARGIN_OK);
    assert_int_equal(margin_scores(b, &x, right, NULL), MARGIN_OK);
    assert_memory_equal(left, right, (size_t)(6 * margin_model_score_count(a)) * sizeof *left);
    assert_int_equal(margin_predict(a, &x, labels, NULL), MARGIN_OK);
    assert_int_equal(margin_predict(b, &x, other, NULL), MARGIN_OK);
    assert_memory_equal(labels, other, sizeof labels);
}

static void assert_same_models(const margin_model *a, const margin_model *b) {
    int64_t count, other;
    assert_string_equal(margin_model_spec(a), margin_model_spec(b));
    assert_int_equal(margin_model_task(a), margin_model_task(b));
    assert_int_equal(a->decision, b->decision);
    assert_int_equal(a->active, b->active);
    assert_int_equal(margin_model_class_count(a), margin_model_class_count(b));
    for (int64_t c = 0; c < margin_model_class_count(a); c++) {
        assert_string_equal(margin_model_class_name(a, c), margin_model_class_name(b, c));
        assert_true(!a->class_values == !b->class_values);
        if (a->class_values) assert_true(a->class_values[c] == b->class_values[c]);
    }
    const margin_column *inputs = margin_model_columns(a, &count);
    const margin_column *others = margin_model_columns(b, &other);
    assert_int_equal(count, other);
    assert_same_columns(inputs, others, count);
    assert_same_columns(margin_model_target(a), margin_model_target(b), 1);
    inputs = margin_model_features(a, &count);
    others = margin_model_features(b, &other);
    assert_int_equal(count, other);
    if (inputs) assert_same_columns(inputs, others, count);
    assert_same_reports(margin_model_report(a), margin_model_report(b));
    assert_same_predictions(a, b);
}

/* Every kind of model: decoded it is the same, and encoded again it has the same bytes. */
static void test_round_trip(void **state) {
    (void)state;
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        margin_context *context = support_context(NULL, 2);
        margin_model *model = train(context, &cases[k]), *loaded = NULL;
        margin_error error = {0};
        encoded first = encode(model);
        if (margin_model_decode(context, first.bytes, first.length, &loaded, &error) < 0)
            fail_msg("%s: %s", cases[k].name, error.text);
        assert_same_models(model, loaded);
        encoded second = encode(loaded);
        assert_int_equal(first.length, second.length);
        assert_memory_equal(first.bytes, second.bytes, (size_t)first.length);
        margin_context_free(context); /* the models outlive it */
        margin_model_free(model);
        assert_string_equal(margin_model_spec(loaded), margin_model_spec(loaded));
        margin_model_free(loaded);
        free(first.bytes);
        free(second.bytes);
    }
}

/* The bytes depend on data, spec and seed: not on threads, time or the run. */
static void test_same_bytes(void **state) {
    (void)state;
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        const encoded one = encode_case(&cases[k], 1), three = encode_case(&cases[k], 3);
        assert_int_equal(one.length, three.length);
        assert_memory_equal(one.bytes, three.bytes, (size_t)one.length);
        free(one.bytes);
        free(three.bytes);
    }
}

static void test_files(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH + 40];
    support_temp_dir(dir);
    margin_context *context = support_context(NULL, 1);
    margin_model *model = train(context, find_case("named")), *loaded = NULL;
    const encoded bytes = encode(model);
    margin_error error = {0};
    static const char *const names[] = {"model.margin", "model.margin.gz"};
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        assert_int_equal(margin_model_save(model, path, &error), MARGIN_OK);
        if (margin_model_load(context, path, &loaded, &error) < 0) fail_msg("%s", error.text);
        assert_same_models(model, loaded);
        margin_model_free(loaded);
        size_t length;
        char *file = support_read_file(path, &length);
        if (k == 0) {
            assert_int_equal(length, bytes.length);
            assert_memory_equal(file, bytes.bytes, length);
        } else {
            assert_true(file[0] == '\x1f');
        }
        free(file);
    }
    snprintf(path, sizeof path, "%s/none.margin", dir);
    loaded = NULL;
    assert_int_equal(margin_model_load(context, path, &loaded, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, "none.margin");
    snprintf(path, sizeof path, "%s/no/such/folder.margin", dir);
    assert_int_equal(margin_model_save(model, path, &error), MARGIN_ERROR_FILE);
    snprintf(path, sizeof path, "%s/cut.margin", dir);
    char cut[SUPPORT_PATH];
    support_write_bytes(cut, dir, "cut.margin", bytes.bytes, (size_t)bytes.length - 9);
    assert_int_equal(margin_model_load(context, path, &loaded, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "cut.margin is not a usable model file: it is damaged");
    assert_null(loaded);
    margin_model_free(model);
    margin_context_free(context);
    free(bytes.bytes);
    support_temp_remove(dir);
}

static void test_arguments(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_model *model = train(context, &cases[0]), *out = NULL;
    void *bytes = NULL;
    int64_t length = 0;
    assert_int_equal(margin_model_save(NULL, "x", NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_save(model, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_encode(NULL, &bytes, &length, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_encode(model, NULL, &length, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_encode(model, &bytes, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(NULL, "x", 1, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, NULL, 1, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, "x", -1, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, "x", 1, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_load(NULL, "x", &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_load(context, NULL, &out, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_load(context, "x", NULL, NULL), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_decode(context, NULL, 0, &out, NULL), MARGIN_ERROR_MODEL);
    margin_bytes_free(NULL, NULL);
    margin_model_free(model);
    margin_context_free(context);
}

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
    const encoded whole = encode_case(find_case("folded"), 1);
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
    const encoded whole = encode_case(find_case("kernel"), 1);
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
    const encoded whole = encode_case(&cases[0], 1);
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
static encoded forge(const encoded *whole, const char *from, const char *to) {
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
    encoded forged = {malloc(8 + made + data), (int64_t)(8 + made + data)};
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
    {"plain", "[40,48]}}", "[40,48]}", "its header is not valid JSON"},
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
     ",\"hypothesis.intercept\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[40,48]}", "",
     "8 bytes at its end belong to no tensor"},
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
    {"plain", "\\\"classify\\\"", "\\\"regress\\\"", "do not fit"},
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
    {"folded", "minmax(low=0, high=1)\\\"", "normalize\\\"", "is not the one of its spec"},
    {"folded", "minmax(low=0, high=1)\\\"", "minmax | minmax\\\"", "is not the one of its spec"},
    {"folded", "minmax(low=0, high=1)\\\"", "minmax(low={0,1})\\\"", "is not the one of its spec"},
    {"folded", "minmax(low=0, high=1)\\\"", "minmax(low=\\\"", "its spec is not valid"},
    {"folded", "\\\"columns_in\\\":3", "\\\"columns_in\\\":2", ""},
    {"folded", "\\\"columns_out\\\":3", "\\\"columns_out\\\":2", ""},
    {"folded", "\\\"columns_in\\\":3,", "", "columns_in is not a whole number"},
    {"folded", "stage.1.offset", "stage.7.offset", "standardize"},
    {"kernel", "\\\"active\\\":1", "\\\"active\\\":0", "folded into what is not linear"},
    {"kernel", "hypothesis.support\"", "hypothesis.supper\"", "no support rows"},
    {"sparse", "hypothesis.support_starts", "hypothesis.support_stars", "no support rows"},
};

static void test_forgeries(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(forgeries); k++) {
        const encoded whole = encode_case(find_case(forgeries[k].name), 1);
        const encoded forged = forge(&whole, forgeries[k].from, forgeries[k].to);
        assert_refused(context, forged.bytes, forged.length, forgeries[k].part);
        free(forged.bytes);
        free(whole.bytes);
    }
    margin_context_free(context);
}

static void test_newer_version(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    encoded whole = encode_case(&cases[0], 1);
    const encoded newer = forge(&whole, "\"format_version\":\"1\",\"margin_version\":\"0.1.0\"",
                                "\"format_version\":\"7\",\"margin_version\":\"9.3.1\"");
    assert_refused(context, newer.bytes, newer.length,
                   "margin 9.3.1 wrote it in format version 7, and this is margin ");
    assert_refused(context, newer.bytes, newer.length, "update margin, or train again");
    free(newer.bytes);
    free(whole.bytes);
    margin_context_free(context);
}

/* Entries that this version does not know are for later ones. */
static void test_unknown_entries(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const encoded whole = encode_case(&cases[0], 1);
    const encoded more = forge(&whole, "\"format\":", "\"note\":\"hello\",\"format\":");
    const encoded deep = forge(&more, "\\\"task\\\":", "\\\"new\\\":[1.5,null],\\\"task\\\":");
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
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        const encoded whole = encode_case(&cases[k], 1);
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
                const margin_matrix x = margin_dense_f64(points, 6, 3, 3);
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
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        const encoded whole = encode_case(&cases[k], 1);
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

/* A header of a thousand opening brackets, of values beyond the memory limit, of too many tensors.
 */
static void test_large_headers(void **state) {
    (void)state;
    enum { MANY = 100000 };
    const encoded whole = encode_case(&cases[0], 1);
    char *text = malloc(8 * MANY + 100);
    margin_context *context = support_context(NULL, 1);
    memset(text, '[', MANY);
    strcpy(text + MANY, ",\"format\":");
    memcpy(text, "\"a\":", 4);
    const encoded nested = forge(&whole, "\"format\":", text);
    assert_refused(context, nested.bytes, nested.length, "its header is not valid JSON");
    free(nested.bytes);

    char *at = text;
    for (int k = 0; k < 3000; k++)
        at += sprintf(at, "\"t%d\":{},", k);
    strcpy(at, "\"class_values\":");
    const encoded crowded = forge(&whole, "\"class_values\":", text);
    assert_refused(context, crowded.bytes, crowded.length, "models have at most");
    free(crowded.bytes);

    at = text + sprintf(text, "\\\"a\\\":[0");
    for (int k = 0; k < MANY; k++)
        at += sprintf(at, ",0");
    strcpy(at, "],\\\"task\\\":");
    const encoded wide = forge(&whole, "\\\"task\\\":", text);
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

/* ---- Memory ---------------------------------------------------------------------------------- */

static margin_status decode_body(margin_context *context, void *user, margin_error *error) {
    const encoded *e = user;
    margin_model *model = NULL;
    const margin_status status = margin_model_decode(context, e->bytes, e->length, &model, error);
    if (status < 0) assert_null(model);
    margin_model_free(model);
    return status;
}

static margin_status encode_body(margin_context *context, void *user, margin_error *error) {
    const encoded *e = user;
    margin_model *model = NULL;
    void *bytes = NULL;
    int64_t length = 0;
    MG_TRY(margin_model_decode(context, e->bytes, e->length, &model, error));
    margin_status status = margin_model_encode(model, &bytes, &length, error);
    if (status < 0) assert_null(bytes);
    margin_bytes_free(model, bytes);
    if (status >= 0) {
        char dir[SUPPORT_PATH], path[SUPPORT_PATH + 20];
        support_temp_dir(dir);
        snprintf(path, sizeof path, "%s/m.margin", dir);
        status = margin_model_save(model, path, error);
        if (status >= 0) {
            margin_model *loaded = NULL;
            status = margin_model_load(context, path, &loaded, error);
            margin_model_free(loaded);
        }
        support_temp_remove(dir);
    }
    margin_model_free(model);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    static const char *const names[] = {"named", "kernel", "sparse", "ovo"};
    for (int k = 0; k < MG_LENGTH(names); k++) {
        encoded whole = encode_case(find_case(names[k]), 1);
        assert_true(support_fail_each_allocation(1, decode_body, &whole) > 15);
        assert_true(support_fail_each_allocation(1, encode_body, &whole) > 20);
        free(whole.bytes);
    }
}

/* ---- Other readers --------------------------------------------------------------------------- */

/* Runs a command and gives its output; NULL if it exits with 77. */
static char *output_of(const char *command) {
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *text = calloc(1, 4096);
    const size_t length = fread(text, 1, 4095, pipe);
    text[length] = '\0';
    const int status = pclose(pipe);
    if (status == 77 * 256) {
        free(text);
        return NULL;
    }
    if (status != 0) fail_msg("%s: status %d: %s", command, status, text);
    return text;
}

/* The example of docs/format.md, taken from the page, on the model that it describes. */
static void test_page_example(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH], script[SUPPORT_PATH], command[3 * SUPPORT_PATH];
    size_t length;
    support_temp_dir(dir);
    margin_context *context = support_context(NULL, 1);
    const double x[] = {3, 3, 4, 3, 1, 1, 0, 2};
    const int32_t y[] = {1, 1, 0, 0};
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_labels_i32(y, 4)};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    char *page = support_read_file(support_source(path, "docs/format.md"), &length);
    assert_contains(page, "x1,x2,y\n3,3,1\n4,3,1\n1,1,0\n0,2,0\n");
    snprintf(path, sizeof path, "%.*s/m.margin", SUPPORT_PATH - 20, dir);
    if (margin_spec_parse(context, "minmax | perceptron", &spec, &error) < 0)
        fail_msg("%s", error.text);
    if (margin_fit(context, spec, &data, &model, NULL, &error) < 0 ||
        margin_model_save(model, path, &error) < 0)
        fail_msg("%s", error.text);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);

    char *code = strstr(page, "```python\n");
    assert_non_null(code);
    code += strlen("```python\n");
    char *end = strstr(code, "```");
    assert_non_null(end);
    char *expected = strstr(end, "It prints\n\n```\n");
    assert_non_null(expected);
    expected += strlen("It prints\n\n```\n");
    *end = '\0';
    *strstr(expected, "```") = '\0';
    support_write_text(script, dir, "example.py", code);
    snprintf(command, sizeof command,
             "command -v python3 >/dev/null || exit 77; python3 '%s' '%s' 2>&1", script, path);
    char *output = output_of(command);
    if (!output) {
        print_message("skipped: no python3\n");
    } else {
        assert_string_equal(output, expected);
    }
    free(output);
    free(page);
    support_temp_remove(dir);
}

/* The package safetensors opens every kind of model. */
static void test_safetensors_package(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH], command[3 * SUPPORT_PATH];
    support_temp_dir(dir);
    bool missing = false;
    for (int k = 0; k < MG_LENGTH(cases) && !missing; k++) {
        const encoded whole = encode_case(&cases[k], 1);
        support_write_bytes(path, dir, "m.safetensors", whole.bytes, (size_t)whole.length);
        snprintf(command, sizeof command,
                 "${MARGIN_PYTHON:-python3} - '%s' <<'END' 2>&1\n"
                 "import sys\n"
                 "try:\n"
                 "    import numpy\n"
                 "    from safetensors import safe_open\n"
                 "except ImportError:\n"
                 "    sys.exit(77)\n"
                 "with safe_open(sys.argv[1], framework='np') as f:\n"
                 "    assert f.metadata()['format'] == 'margin'\n"
                 "    assert sum(f.get_tensor(k).nbytes for k in f.keys()) > 0\n"
                 "    print(f.metadata()['spec'], end='')\n"
                 "END\n",
                 path);
        char *output = output_of(command);
        missing = !output;
        if (output) assert_true(strncmp(output, cases[k].spec, 6) == 0);
        free(output);
        free(whole.bytes);
    }
    support_temp_remove(dir);
    if (missing) {
        print_message("skipped: no python3 with safetensors and numpy\n");
        skip();
    }
}

/* ---- Fixtures -------------------------------------------------------------------------------- */

enum { MOST_SCORES = 6 * 3 };

static int64_t scores_of(const margin_model *model, double scores[MOST_SCORES]) {
    const margin_matrix x = margin_dense_f64(points, 6, 3, 3);
    assert_int_equal(margin_scores(model, &x, scores, NULL), MARGIN_OK);
    return 6 * margin_model_score_count(model);
}

/* Writes the fixtures anew, for a person to look at and commit. */
static void write_fixtures(margin_context *context, const char *folder) {
    char path[SUPPORT_PATH + 80], text[MARGIN_NUMBER_TEXT];
    snprintf(path, sizeof path, "%s/v1-scores.txt", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        double scores[MOST_SCORES];
        margin_model *model = train(context, &cases[k]);
        snprintf(path, sizeof path, "%s/v1-%s.margin", folder, cases[k].name);
        assert_int_equal(margin_model_save(model, path, NULL), MARGIN_OK);
        const int64_t count = scores_of(model, scores);
        fprintf(file, "%s", cases[k].name);
        for (int64_t i = 0; i < count; i++) {
            margin_number_print_f64(scores[i], text);
            fprintf(file, " %s", text);
        }
        fprintf(file, "\n");
        margin_model_free(model);
    }
    fclose(file);
}

/* Files of format version 1, written when it was new, stay readable and keep their scores. */
static void test_fixtures(void **state) {
    (void)state;
    char path[SUPPORT_PATH], name[80];
    size_t length;
    margin_context *context = support_context(NULL, 1);
    if (getenv("MARGIN_WRITE_FIXTURES")) write_fixtures(context, getenv("MARGIN_WRITE_FIXTURES"));
    char *text = support_read_file(support_source(path, "tests/fixtures/v1-scores.txt"), &length);
    int read = 0;
    char *next_line = NULL, *next_word = NULL;
    for (char *line = strtok_r(text, "\n", &next_line); line;
         line = strtok_r(NULL, "\n", &next_line), read++) {
        double scores[MOST_SCORES], expected;
        margin_model *model = NULL;
        margin_error error = {0};
        snprintf(name, sizeof name, "tests/fixtures/v1-%s.margin", strtok_r(line, " ", &next_word));
        if (margin_model_load(context, support_source(path, name), &model, &error) < 0)
            fail_msg("%s", error.text);
        const int64_t count = scores_of(model, scores);
        for (int64_t k = 0; k < count; k++) {
            const char *word = strtok_r(NULL, " ", &next_word);
            assert_non_null(word);
            assert_true(margin_number_parse_f64(word, strlen(word), &expected));
            assert_close(scores[k], expected, 1e-12);
        }
        margin_model_free(model);
    }
    assert_int_equal(read, 10);
    free(text);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_files),           cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_cut_anywhere),    cmocka_unit_test(test_any_byte_changed),
        cmocka_unit_test(test_checksum),        cmocka_unit_test(test_forgeries),
        cmocka_unit_test(test_newer_version),   cmocka_unit_test(test_unknown_entries),
        cmocka_unit_test(test_hostile_numbers), cmocka_unit_test(test_damaged_headers),
        cmocka_unit_test(test_large_headers),   cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_page_example),    cmocka_unit_test(test_safetensors_package),
        cmocka_unit_test(test_fixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
