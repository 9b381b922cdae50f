/* Numbers of a model for a host: tensors by name, class values, bytes in the caller's memory. */
#include "model_cases.h"
#include "support/group_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

static margin_tensor found(const margin_model *model, const char *name) {
    margin_tensor tensor = {.size = sizeof tensor};
    if (!margin_model_tensor_find(model, name, &tensor)) fail_msg("no tensor %s", name);
    assert_string_equal(tensor.name, name);
    return tensor;
}

static void weights_are_those_of_the_model(void **state) {
    (void)state;
    sample *s = sample_make(60, 4, 3, 0.1, 5);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(context, "standardize | softmax", &data, NULL);
    const margin_tensor w = found(model, "hypothesis.weights");
    assert_int_equal(w.type, MARGIN_F64);
    assert_int_equal(w.rank, 2);
    assert_int_equal(w.shape[0], 3);
    assert_int_equal(w.shape[1], 4);
    for (int64_t c = 0; c < 3; c++)
        assert_ptr_equal((const double *)w.values + 4 * c, margin_model_weights(model, c));
    const margin_tensor scale = found(model, "stage.0.divisor");
    assert_int_equal(scale.rank, 1);
    assert_int_equal(scale.shape[0], 4);
    assert_int_equal(scale.shape[1], 1);
    const margin_tensor values = found(model, "class_values");
    assert_int_equal(values.shape[0], 3);
    for (int64_t c = 0; c < 3; c++) {
        assert_true(((const double *)values.values)[c] == (double)c);
        assert_true(margin_model_class_value(model, c) == (double)c);
    }
    assert_true(isnan(margin_model_class_value(model, 3)));
    assert_true(isnan(margin_model_class_value(model, -1)));
    margin_model_free(model);
    sample_free(s);
}

/* The names, types, shapes and bytes of the file's own table, read by plain search in its text. */
static void tensors_are_those_of_the_file(void **state) {
    (void)state;
    static const char *const specs[] = {"impute | standardize | logistic(multiclass=ovr)",
                                        "onehot | naive-bayes",
                                        "knn(k=3)",
                                        "svm(kernel=rbf, multiclass=ovo)",
                                        "perceptron(form=dual, multiclass=ovr)",
                                        "rbf(centres=5) | ridge"};
    sample *s = sample_make(40, 3, 3, 0.1, 6);
    for (int k = 0; k < 6; k++) {
        const margin_data data = sample_data(s, DENSE_F64);
        margin_model *model = fit_text(context, specs[k], &data, NULL);
        void *bytes;
        int64_t length;
        assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
        uint64_t header = 0;
        for (int b = 7; b >= 0; b--)
            header = header << 8 | ((const unsigned char *)bytes)[b];
        char *text = calloc(1, (size_t)header + 1);
        memcpy(text, (const char *)bytes + 8, (size_t)header);
        const unsigned char *numbers = (const unsigned char *)bytes + 8 + header;
        margin_tensor t = {.size = sizeof t};
        int64_t listed = 0, count = margin_model_tensor_count(model);
        for (const char *at = text; (at = strstr(at, "\"dtype\"")); at++)
            listed++;
        assert_int_equal(count, listed);
        for (int64_t i = 0; i < count; i++) {
            char key[80];
            long long rows = 0, columns = 1, first = 0;
            assert_int_equal(margin_model_tensor(model, i, &t), 1);
            snprintf(key, sizeof key, "\"%s\":{", t.name);
            const char *at = strstr(text, key);
            assert_non_null(at);
            const char *shape = strstr(at, "\"shape\":[") + 9;
            char *end;
            rows = strtoll(shape, &end, 10);
            if (*end == ',') columns = strtoll(end + 1, &end, 10);
            first = strtoll(strstr(at, "\"data_offsets\":[") + 16, &end, 10);
            const long long last = strtoll(end + 1, NULL, 10);
            assert_int_equal(t.shape[0], rows);
            assert_int_equal(t.shape[1], columns);
            assert_memory_equal(t.values ? t.values : "", numbers + first, (size_t)(last - first));
        }
        assert_int_equal(margin_model_tensor(model, count, &t), 0);
        assert_int_equal(margin_model_tensor(model, -1, &t), 0);
        assert_int_equal(margin_model_tensor_find(model, "hypothesis.nothing", &t), 0);
        free(text);
        margin_bytes_free(model, bytes);
        margin_model_free(model);
    }
    sample_free(s);
}

static void texts_and_clusters_have_no_value(void **state) {
    (void)state;
    static const char *const names[] = {"no", "yes"};
    sample *s = sample_make(30, 2, 2, 0.1, 8);
    margin_data data = sample_data(s, DENSE_F64);
    const margin_column target = {
        .name = "y", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2};
    data.target = &target;
    margin_model *model = fit_text(context, "logistic", &data, NULL);
    margin_tensor t = {.size = sizeof t};
    assert_true(isnan(margin_model_class_value(model, 0)));
    assert_int_equal(margin_model_tensor_find(model, "class_values", &t), 0);
    margin_model_free(model);
    data.target = NULL;
    data.y = (margin_vector){0};
    model = fit_text(context, "kmeans(k=2)", &data, NULL);
    assert_true(isnan(margin_model_class_value(model, 0)));
    assert_ptr_equal(found(model, "hypothesis.centres").values, margin_model_centre(model, 0));
    margin_model_free(model);
    sample_free(s);
}

static void bytes_go_into_the_callers_memory(void **state) {
    (void)state;
    sample *s = sample_make(30, 3, 2, 0.1, 9);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(context, "standardize | svm(kernel=rbf)", &data, NULL);
    void *bytes;
    int64_t length, size = -1, written = -1;
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_encoded_size(model, &size, &error), MARGIN_OK);
    assert_int_equal(size, length);
    unsigned char *room = malloc((size_t)size + 1);
    memset(room, 0x33, (size_t)size + 1);
    assert_int_equal(margin_model_encode_into(model, room, size - 1, &written, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "margin_model_encoded_size"));
    assert_int_equal(written, -1);
    assert_int_equal(room[0], 0x33);
    assert_int_equal(margin_model_encode_into(model, room, size + 1, &written, &error), MARGIN_OK);
    assert_int_equal(written, length);
    assert_memory_equal(room, bytes, (size_t)length);
    assert_int_equal(room[size], 0x33);
    margin_model *again;
    assert_int_equal(margin_model_decode(context, room, written, &again, &error), MARGIN_OK);
    assert_same_model(model, again);
    assert_int_equal(margin_model_encode_into(model, NULL, size, &written, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_model_encoded_size(NULL, &size, &error), MARGIN_ERROR_ARGUMENT);
    margin_model_free(again);
    free(room);
    margin_bytes_free(model, bytes);
    margin_model_free(model);
    sample_free(s);
}

static margin_status attempt_encode(margin_context *c, void *user, margin_error *e) {
    margin_model *model = NULL;
    unsigned char *room = user;
    int64_t size;
    fit_attempt *attempt = (fit_attempt *)(void *)(room + (1 << 16));
    margin_spec *spec = NULL;
    margin_status status = margin_spec_parse(c, attempt->spec, &spec, e);
    if (status >= 0) status = margin_fit(c, spec, &attempt->data, &model, NULL, e);
    if (status >= 0) status = margin_model_encoded_size(model, &size, e);
    if (status >= 0) status = margin_model_encode_into(model, room, 1 << 16, &size, e);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void allocations_may_fail(void **state) {
    (void)state;
    sample *s = sample_make(12, 2, 2, 0, 10);
    unsigned char *user = malloc((1 << 16) + sizeof(fit_attempt));
    *(fit_attempt *)(void *)(user + (1 << 16)) =
        (fit_attempt){"minmax | logistic", sample_data(s, DENSE_F64)};
    assert_true(support_fail_each_allocation(1, attempt_encode, user) > 5);
    free(user);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_the_model),
        cmocka_unit_test(tensors_are_those_of_the_file),

        cmocka_unit_test(texts_and_clusters_have_no_value),
        cmocka_unit_test(bytes_go_into_the_callers_memory),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
