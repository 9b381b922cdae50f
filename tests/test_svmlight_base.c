/* What the indices of an svmlight file count from: a model keeps it, and files that are read for
 * the model count as its own did, also those without the index 0 that would tell. */
#include "model_cases.h"

#include <stdio.h>
#include <string.h>

static const char from_zero[] = "0 0:1 1:2\n1 0:3 1:9\n0 0:2 1:1\n1 0:4 1:8\n";
static const char from_one[] = "0 1:1 2:2\n1 1:3 2:9\n0 1:2 2:1\n1 1:4 2:8\n";

static margin_status read_as(margin_context *context, const char *text,
                             const margin_read_options *options, margin_table **table,
                             margin_error *error) {
    return margin_table_parse(context, text, (int64_t)strlen(text), "f.svm", options, table, error);
}

static margin_model *fit_file(margin_context *context, const char *text) {
    margin_error error = {0};
    margin_table *table = NULL;
    if (read_as(context, text, NULL, &table, &error) < 0) fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    margin_model *model = fit_text(context, "logistic", &data, &(margin_report){0});
    margin_table_free(table);
    return model;
}

/* The model as its file holds it. */
static margin_model *stored(margin_context *context, const margin_model *model, const char *item) {
    margin_error error = {0};
    void *bytes = NULL;
    int64_t length = 0;
    margin_model *loaded = NULL;
    if (margin_model_encode(model, &bytes, &length, &error) < 0) fail_msg("%s", error.text);
    const char *found = memmem(bytes, (size_t)length, "index_base", 10);
    if ((found != NULL) != (item != NULL)) fail_msg("index_base: %d", found != NULL);
    if (item) assert_memory_equal(found, item, strlen(item));
    if (margin_model_decode(context, bytes, length, &loaded, &error) < 0)
        fail_msg("%s", error.text);
    margin_bytes_free(model, bytes);
    return loaded;
}

static margin_read_options options_for(const margin_model *model, int32_t told) {
    margin_read_options options = {.size = sizeof options, .index_base = told};
    options.expected = margin_model_columns(model, &options.expected_count);
    return options;
}

/* The column of the one value in the text. */
static int32_t column_of(margin_context *context, const margin_model *model, const char *text,
                         int32_t told) {
    const margin_read_options options = options_for(model, told);
    margin_error error = {0};
    margin_table *table = NULL;
    if (read_as(context, text, &options, &table, &error) < 0) fail_msg("%s", error.text);
    const int32_t column = ((const int32_t *)margin_table_data(table).x.column_indices)[0];
    margin_table_free(table);
    return column;
}

static void a_file_counts_as_that_of_the_model(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_model *zero = fit_file(context, from_zero), *one = fit_file(context, from_one);
    margin_model *old = stored(context, zero, "index_base\\\":0,");
    assert_int_equal(column_of(context, zero, "1 1:5\n", 0), 1);
    assert_int_equal(column_of(context, old, "1 1:5\n", 0), 1);
    assert_int_equal(column_of(context, zero, "1 1:5\n", 1), 0);
    margin_model_free(old);
    old = stored(context, one, "index_base\\\":1,");
    assert_int_equal(column_of(context, one, "1 1:5\n", 0), 0);
    assert_int_equal(column_of(context, old, "1 1:5\n", -1), 1);
    const margin_read_options options = options_for(old, 0);
    margin_table *table = NULL;
    margin_error error = {0};
    assert_int_equal(read_as(context, "1 0:5\n", &options, &table, &error), MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "as that of the model did");
    margin_model_free(old);
    margin_model_free(zero);
    margin_model_free(one);
    margin_context_free(context);
}

/* A model of other data keeps no base, and files for it are read as before. */
static void other_models_keep_none(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const double x[] = {1, 2, 3, 9, 2, 1, 4, 8}, y[] = {0, 1, 0, 1};
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_values_f64(y, 4)};
    margin_model *model = fit_text(context, "logistic", &data, &(margin_report){0});
    margin_model *loaded = stored(context, model, NULL);
    assert_int_equal(column_of(context, loaded, "1 1:5\n", 0), 0);
    assert_int_equal(column_of(context, loaded, "1 0:0 1:5\n", 0), 0);
    margin_model_free(loaded);
    margin_model_free(model);
    margin_context_free(context);
}

static void count_notes(margin_log_level level, const char *text, void *user) {
    if (level == MARGIN_LOG_NOTE && strstr(text, "counted from 0")) ++*(int *)user;
}

static void what_contradicts_the_model_is_told(void **state) {
    (void)state;
    int notes = 0;
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .log = count_notes, .user = &notes};
    margin_context *context = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    margin_model *model = fit_file(context, from_zero);
    column_of(context, model, "1 1:5\n", 0);
    column_of(context, model, "1 1:5\n", -1);
    assert_int_equal(notes, 0);
    column_of(context, model, "1 1:5\n", 1);
    assert_int_equal(notes, 1);
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_counts_as_that_of_the_model),
                                       cmocka_unit_test(other_models_keep_none),
                                       cmocka_unit_test(what_contradicts_the_model_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
