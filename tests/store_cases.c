#include "store_cases.h"

#include <stdlib.h>
#include <string.h>

static const char *const colours[] = {"blue", "green \"x\" \\ \xc3\xa4", "red"};
static const char *const animals[] = {"ant", "bee", "cat"};
static const margin_column columns_named[] = {
    {.name = "size"},
    {.name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 3},
    {.name = "x3"}};
static const margin_column target_named = {
    .name = "animal", .kind = MARGIN_CATEGORICAL, .categories = animals, .category_count = 3};

const double store_points[18] = {3, 0, 3, 4, 1, 3, 1, 2, 1, 0, 1, 2, 7, 2, 9, 8, 0, 9};
static const int32_t two_labels[] = {5, 5, -3, -3, 5, 5};
static const double three_codes[] = {0, 0, 1, 1, 2, 2};

const store_case store_cases[STORE_CASES] = {
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

margin_model *store_train(margin_context *context, const store_case *c) {
    float floats[18];
    int32_t indices[18];
    int64_t starts[7] = {0};
    for (int k = 0; k < 18; k++) {
        floats[k] = (float)store_points[k];
        indices[k] = k % 3;
        if (k % 3 == 2) starts[k / 3 + 1] = k + 1;
    }
    margin_data data = {.x = margin_dense_f64(store_points, 6, 3, 3),
                        .y = margin_labels_i32(two_labels, 6)};
    if (c->sparse) data.x = margin_csr_f64(store_points, indices, starts, 6, 3);
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

store_bytes store_encode(const margin_model *model) {
    void *bytes = NULL;
    int64_t length = 0;
    margin_error error = {0};
    if (margin_model_encode(model, &bytes, &length, &error) < 0) fail_msg("%s", error.text);
    store_bytes copy = {malloc((size_t)length), length};
    memcpy(copy.bytes, bytes, (size_t)length);
    margin_bytes_free(model, bytes);
    return copy;
}

store_bytes store_encode_case(const store_case *c, int threads) {
    margin_context *context = support_context(NULL, threads);
    margin_model *model = store_train(context, c);
    const store_bytes e = store_encode(model);
    margin_model_free(model);
    margin_context_free(context);
    return e;
}

const store_case *store_find_case(const char *name) {
    for (int k = 0; k < STORE_CASES; k++)
        if (strcmp(store_cases[k].name, name) == 0) return &store_cases[k];
    fail_msg("no case %s", name);
    return NULL;
}
