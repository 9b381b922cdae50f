/* Writing: exact bytes of small tables in each format, the same bytes for any number of threads,
 * what a format cannot hold is refused by name, failures leave nothing behind. */
#include "support/group_folder.h"

#include "margin/data.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int files_in_folder(void) {
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return count;
}

/* Writes and gives the file's bytes; free() them. The file is removed. */
static char *written(const margin_data *data, const char *name, const margin_write_options *options,
                     int threads, size_t *length) {
    char path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, threads);
    margin_error error = {0};
    margin_status status = margin_data_write(context, data, in_folder(path, name), options, &error);
    if (status != MARGIN_OK) fail_msg("not written: %s", error.text);
    margin_context_free(context);
    char *bytes = support_read_file(path, length);
    unlink(path);
    return bytes;
}

static void assert_text(const margin_data *data, const char *name,
                        const margin_write_options *options, const char *expected) {
    size_t length;
    char *text = written(data, name, options, 2, &length);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
    free(text);
}

static void assert_refused(const margin_data *data, const char *name,
                           const margin_write_options *options, margin_status status,
                           const char *part) {
    char path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, 2);
    margin_error error = {0};
    int before = files_in_folder();
    assert_int_equal(margin_data_write(context, data, in_folder(path, name), options, &error),
                     status);
    assert_contains(error.text, part);
    assert_int_equal(files_in_folder(), before);
    margin_context_free(context);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static const double small_values[6] = {1, 0.1, -0.0, 1e300, (double)NAN, 5e-324};

static void csv_of_plain_numbers(void **state) {
    (void)state;
    margin_data data = {.x = margin_dense_f64(small_values, 3, 2, 2)};
    assert_text(&data, "a.csv", NULL, "x1,x2\n1,0.1\n-0,1e+300\n,5e-324\n");
    assert_text(&data, "a.tsv", NULL, "x1\tx2\n1\t0.1\n-0\t1e+300\n\t5e-324\n");
    assert_text(&data, "a.TSV", NULL, "x1\tx2\n1\t0.1\n-0\t1e+300\n\t5e-324\n");
    size_t length;
    char *packed = written(&data, "a.TSV.GZ", NULL, 1, &length);
    assert_memory_equal(packed, "\x1f\x8b", 2);
    free(packed);
    margin_write_options options = {.size = sizeof options, .separator = ';', .no_header = 1};
    assert_text(&data, "a.csv", &options, "1;0.1\n-0;1e+300\n;5e-324\n");
    options = (margin_write_options){.format = MARGIN_FORMAT_CSV};
    assert_text(&data, "a.unknown", &options, "x1,x2\n1,0.1\n-0,1e+300\n,5e-324\n");
    data.x.rows = 0;
    assert_text(&data, "a.csv", NULL, "x1,x2\n");
}

static void csv_keeps_f32_short(void **state) {
    (void)state;
    static const float values[] = {0.1F, 16777216, -INFINITY, NAN, 1e-45F, 3.4028235e38F};
    margin_data data = {.x = margin_dense_f32(values, 2, 3, 3)};
    assert_text(&data, "a.csv", NULL, "x1,x2,x3\n0.1,16777216,-inf\n,1e-45,3.4028235e+38\n");
}

static void csv_puts_the_target_last_and_the_weights_before_it(void **state) {
    (void)state;
    static const int32_t y[] = {-1, 7, 0};
    static const float weights[] = {0.5F, 1, 2};
    margin_data data = {.x = margin_dense_f64(small_values, 3, 1, 2),
                        .y = margin_labels_i32(y, 3),
                        .weights = margin_values_f32(weights, 3)};
    assert_text(&data, "a.csv", NULL, "x1,weight,y\n1,0.5,-1\n-0,1,7\n,2,0\n");
    static const int64_t large[] = {INT64_MAX, INT64_MIN, 9007199254740993};
    data.y = margin_labels_i64(large, 3);
    static const int64_t selection[] = {2, 0, 0};
    data.selection = selection;
    data.selected = 3;
    assert_text(&data, "a.csv", NULL,
                "x1,weight,y\n,2,9007199254740993\n1,0.5,9223372036854775807\n"
                "1,0.5,9223372036854775807\n");
    data.selected = 0;
    assert_text(&data, "a.csv", NULL, "x1,weight,y\n");
}

static void csv_quotes_what_would_read_as_something_else(void **state) {
    (void)state;
    static const char *const names[] = {"",     "1.5",      " a",   "a ",  "a,b",  "a;b",
                                        "a\tb", "NA",       "a\"b", "'a'", "a\nb", "?",
                                        "nan",  "\xc3\xa9", "a b",  "inf", "a'b",  "a\rb"};
    enum { COUNT = sizeof names / sizeof *names };
    double codes[COUNT + 1];
    for (int k = 0; k < COUNT; k++)
        codes[k] = k;
    codes[COUNT] = (double)NAN;
    const margin_column column = {.name = "say \"hi\", all",
                                  .kind = MARGIN_CATEGORICAL,
                                  .categories = names,
                                  .category_count = COUNT};
    margin_data data = {.x = margin_dense_f64(codes, COUNT + 1, 1, 1), .columns = &column};
    assert_text(&data, "a.csv", NULL,
                "\"say \"\"hi\"\", all\"\n\"\"\n\"1.5\"\n\" a\"\n\"a \"\n\"a,b\"\n\"a;b\"\n"
                "\"a\tb\"\n\"NA\"\n\"a\"\"b\"\n\"'a'\"\n\"a\nb\"\n\"?\"\n\"nan\"\n\xc3\xa9\na b\n"
                "\"inf\"\na'b\n\"a\rb\"\nnan\n");
    /* the last row, a lone missing value, would be a blank line: it is written as nan */
    margin_write_options options = {.separator = '|', .no_header = 1};
    static const char *const bar[] = {"a|b"};
    const margin_column barred = {
        .name = "x", .kind = MARGIN_CATEGORICAL, .categories = bar, .category_count = 1};
    data.columns = &barred;
    data.x.rows = 1;
    assert_text(&data, "a.csv", &options, "\"a|b\"\n");
}

static void csv_writes_sparse_data_in_full(void **state) {
    (void)state;
    static const double values[] = {1.5, -2, 0, 3};
    static const int32_t indices[] = {1, 0, 2, 3};
    static const int64_t starts[] = {0, 1, 1, 4};
    static const char *const kinds[] = {"none", "some", "all", "more"};
    static const margin_column columns[] = {
        {.name = "a"},
        {.name = "b"},
        {.name = "c"},
        {.name = "d", .kind = MARGIN_CATEGORICAL, .categories = kinds, .category_count = 4}};
    static const double y[] = {1, 0, (double)NAN};
    static const char *const classes[] = {"no", "yes"};
    static const margin_column target = {
        .name = "class", .kind = MARGIN_CATEGORICAL, .categories = classes, .category_count = 2};
    margin_data data = {.x = margin_csr_f64(values, indices, starts, 3, 4),
                        .y = margin_values_f64(y, 3),
                        .columns = columns,
                        .target = &target};
    assert_text(&data, "a.csv", NULL,
                "a,b,c,d,class\n0,1.5,0,none,yes\n0,0,0,none,no\n-2,0,0,more,\n");
    static const float narrow[] = {0.1F, -2, 0, 3};
    data.x = margin_csr_f32(narrow, indices, starts, 3, 4);
    assert_text(&data, "a.csv", NULL,
                "a,b,c,d,class\n0,0.1,0,none,yes\n0,0,0,none,no\n-2,0,0,more,\n");
}

static int warnings;
static char last_warning[500];

static void note_warning(margin_log_level level, const char *text, void *user) {
    (void)level;
    (void)user;
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", text);
}

static void csv_warns_of_categories_it_cannot_keep(void **state) {
    (void)state;
    static const char *const first[] = {"NA", "b"}, *const second[] = {"1", "b"},
                             *const third[] = {"a", "b"};
    static const char *const *const lists[] = {first, second, third};
    static const char *const parts[] = {"missing value", "margin_read_options.categorical", NULL};
    char path[SUPPORT_PATH];
    for (int k = 0; k < 3; k++) {
        margin_context_options options = {.size = sizeof options, .log = note_warning};
        margin_context *context = NULL;
        assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
        margin_column column = {.name = "kind",
                                .kind = MARGIN_CATEGORICAL,
                                .categories = lists[k],
                                .category_count = 2};
        static const double codes[] = {0, 1};
        margin_data data = {.x = margin_dense_f64(codes, 2, 1, 1), .columns = &column};
        warnings = 0;
        assert_int_equal(margin_data_write(context, &data, in_folder(path, "a.csv"), NULL, NULL),
                         MARGIN_OK);
        assert_int_equal(warnings, parts[k] != NULL);
        if (parts[k]) assert_contains(last_warning, parts[k]);
        unlink(path);
        margin_context_free(context);
    }
}

/* ---- svmlight ------------------------------------------------------------------------------- */

static void svmlight_leaves_zeros_out(void **state) {
    (void)state;
    static const double values[] = {1, 0, -0.0, 1e-5, 0, 0, 0, 0, 0.1, 0, 3, 1e300};
    static const double y[] = {1, -1, 0.5};
    margin_data data = {.x = margin_dense_f64(values, 3, 4, 4), .y = margin_values_f64(y, 3)};
    assert_text(&data, "a.svm", NULL, "1 1:1 4:1e-05\n-1\n0.5 1:0.1 3:3 4:1e+300\n");
    margin_write_options options = {.zero_based = 1};
    assert_text(&data, "a.libsvm", &options, "1 0:1 3:1e-05\n-1\n0.5 0:0.1 2:3 3:1e+300\n");
}

static void svmlight_of_sparse_data_and_class_names(void **state) {
    (void)state;
    static const float values[] = {1.5F, 0, 3};
    static const int64_t indices[] = {999999, 0, 2};
    static const int32_t starts[] = {0, 1, 1, 3};
    static const char *const classes[] = {"-1", "setosa"};
    static const margin_column target = {
        .name = "class", .kind = MARGIN_CATEGORICAL, .categories = classes, .category_count = 2};
    static const int32_t codes[] = {1, 0, 1};
    margin_data data = {.x = {.values = values,
                              .row_starts = starts,
                              .column_indices = indices,
                              .rows = 3,
                              .columns = 1000000,
                              .value_type = MARGIN_F32,
                              .start_type = MARGIN_I32,
                              .index_type = MARGIN_I64},
                        .y = margin_labels_i32(codes, 3),
                        .target = &target};
    static const int64_t selection[] = {2, 0, 1};
    data.selection = selection;
    data.selected = 3;
    assert_text(&data, "a.svm", NULL, "setosa 3:3\nsetosa 1000000:1.5\n-1\n");
}

static void svmlight_refuses_what_it_cannot_hold(void **state) {
    (void)state;
    double values[] = {1, 2, 3, 4}, y[] = {0, 1};
    static const char *const kinds[] = {"a", "b"};
    const margin_column columns[] = {
        {.name = "kind", .kind = MARGIN_CATEGORICAL, .categories = kinds, .category_count = 2},
        {.name = "size"}};
    margin_data data = {.x = margin_dense_f64(values, 2, 2, 2)};
    assert_refused(&data, "a.svm", NULL, MARGIN_ERROR_DATA, "no target");
    data.y = margin_values_f64(y, 2);
    data.columns = columns;
    assert_refused(&data, "a.svm", NULL, MARGIN_ERROR_DATA, "column kind has categories");
    data.columns = NULL;
    data.weights = data.y;
    assert_refused(&data, "a.svm", NULL, MARGIN_ERROR_DATA, "weights");
    data.weights.values = NULL;
    values[2] = (double)NAN;
    assert_refused(&data, "a.svm", NULL, MARGIN_ERROR_DATA, "row 2 has no value in column x1");
    values[2] = (double)INFINITY;
    assert_refused(&data, "a.svm", NULL, MARGIN_ERROR_DATA, "row 2 has infinity in column x1");
    values[2] = 1;
    y[0] = (double)NAN;
    assert_refused(&data, "a.svm", NULL, MARGIN_ERROR_DATA, "row 1 has no value in the target");
    y[0] = 0;
    static const char *const bad[] = {"",   "a b", "a:b", "a,b", "#a",
                                      "NA", "?",   "nan", "inf", "a\n"};
    for (int k = 0; k < 10; k++) {
        const char *const classes[] = {"good", bad[k]};
        const margin_column target = {.name = "class",
                                      .kind = MARGIN_CATEGORICAL,
                                      .categories = classes,
                                      .category_count = 2};
        data.target = &target;
        assert_refused(&data, "a.svm", NULL, MARGIN_ERROR_DATA, "cannot be a label");
    }
    data.target = NULL;
    margin_write_options options = {.labels = "b.npy"};
    assert_refused(&data, "a.svm", &options, MARGIN_ERROR_ARGUMENT, "labels file");
}

/* ---- npy and idx ---------------------------------------------------------------------------- */

static void assert_bytes(const char *bytes, size_t length, const char *header, size_t header_length,
                         const void *items, size_t items_length) {
    assert_int_equal(length, header_length + items_length);
    assert_memory_equal(bytes, header, header_length);
    assert_memory_equal(bytes + header_length, items, items_length);
}

static void npy_has_the_bytes_numpy_writes(void **state) {
    (void)state;
    static const char header[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"
        "                                                          \n";
    margin_data data = {.x = margin_dense_f64(small_values, 3, 2, 2)};
    size_t length;
    char *bytes = written(&data, "a.npy", NULL, 2, &length);
    assert_bytes(bytes, length, header, 128, small_values, sizeof small_values);
    free(bytes);
    /* with padding between rows, chosen rows, f32, sparse */
    static const float wide[] = {1, 2, -9, 3, 4, -9}, chosen[] = {3, 4, 1, 2};
    static const int64_t selection[] = {1, 0};
    data =
        (margin_data){.x = margin_dense_f32(wide, 2, 2, 3), .selection = selection, .selected = 2};
    bytes = written(&data, "a.npy", NULL, 2, &length);
    assert_int_equal(length, 128 + sizeof chosen);
    assert_memory_equal(bytes + 128, chosen, sizeof chosen);
    assert_contains(bytes + 10, "'<f4'");
    free(bytes);
    static const float values[] = {7, 8}, full[] = {0, 7, 0, 8};
    static const int32_t indices[] = {1, 1};
    static const int64_t starts[] = {0, 1, 2};
    data = (margin_data){.x = margin_csr_f32(values, indices, starts, 2, 2)};
    bytes = written(&data, "a.npy", NULL, 2, &length);
    assert_memory_equal(bytes + 128, full, sizeof full);
    free(bytes);
}

static void npy_labels_keep_their_type(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3}, f64[] = {1, 2, 3};
    static const float f32[] = {1, 2, 3};
    static const int32_t i32[] = {1, 2, 3};
    static const int64_t i64[] = {1, 2, 3};
    const margin_vector vectors[] = {margin_values_f64(f64, 3), margin_values_f32(f32, 3),
                                     margin_labels_i32(i32, 3), margin_labels_i64(i64, 3)};
    static const char *const types[] = {"'<f8'", "'<f4'", "'<i4'", "'<i8'"};
    static const size_t sizes[] = {8, 4, 4, 8};
    char path[SUPPORT_PATH];
    margin_write_options options = {.labels = in_folder(path, "y.npy")};
    for (int k = 0; k < 4; k++) {
        margin_data data = {.x = margin_dense_f64(x, 3, 1, 1), .y = vectors[k]};
        size_t length;
        free(written(&data, "x.npy", &options, 2, &length));
        char *bytes = support_read_file(path, &length);
        assert_int_equal(length, 128 + 3 * sizes[k]);
        assert_contains(bytes + 10, types[k]);
        assert_contains(bytes + 10, "'shape': (3,), }");
        assert_memory_equal(bytes + 128, vectors[k].values, 3 * sizes[k]);
        free(bytes);
        unlink(path);
    }
}

static void npy_class_names_are_text(void **state) {
    (void)state;
    static const char *const classes[] = {"a", "b\xc3\xa9\xf0\x9f\x98\x80"};
    static const margin_column target = {
        .name = "class", .kind = MARGIN_CATEGORICAL, .categories = classes, .category_count = 2};
    static const double x[] = {1, 2, 3}, y[] = {1, 0, (double)NAN};
    static const uint32_t items[] = {'b', 0xe9, 0x1f600, 'a', 0, 0, 0, 0, 0};
    char path[SUPPORT_PATH];
    margin_write_options options = {.labels = in_folder(path, "y.npy")};
    margin_data data = {
        .x = margin_dense_f64(x, 3, 1, 1), .y = margin_values_f64(y, 3), .target = &target};
    size_t length;
    free(written(&data, "x.npy", &options, 2, &length));
    char *bytes = support_read_file(path, &length);
    assert_int_equal(length, 128 + sizeof items);
    assert_contains(bytes + 10, "'<U3'");
    assert_memory_equal(bytes + 128, items, sizeof items);
    free(bytes);
    unlink(path);
}

static void idx_holds_bytes(void **state) {
    (void)state;
    static const double x[] = {0, 255, 7, 1, 2, 3};
    static const int32_t y[] = {9, 0};
    static const char images[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, (char)255, 7, 1, 2, 3};
    static const char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 9, 0};
    char path[SUPPORT_PATH];
    margin_write_options options = {.labels = in_folder(path, "y-idx1-ubyte")};
    margin_data data = {.x = margin_dense_f64(x, 2, 3, 3), .y = margin_labels_i32(y, 2)};
    size_t length;
    char *bytes = written(&data, "x-idx3-ubyte", &options, 2, &length);
    assert_int_equal(length, sizeof images);
    assert_memory_equal(bytes, images, sizeof images);
    free(bytes);
    bytes = support_read_file(path, &length);
    assert_int_equal(length, sizeof labels);
    assert_memory_equal(bytes, labels, sizeof labels);
    free(bytes);
    unlink(path);
}

static void binary_formats_refuse_what_they_cannot_hold(void **state) {
    (void)state;
    double values[] = {1, 2, 3, 4}, y[] = {0, 1};
    static const char *const kinds[] = {"a", "b"};
    const margin_column columns[] = {
        {.name = "kind", .kind = MARGIN_CATEGORICAL, .categories = kinds, .category_count = 2},
        {.name = "size"}};
    static const char *const names[] = {"a.npy", "a.idx"};
    char path[SUPPORT_PATH];
    in_folder(path, "labels");
    for (int k = 0; k < 2; k++) {
        margin_write_options options = {.labels = path};
        margin_data data = {.x = margin_dense_f64(values, 2, 2, 2)};
        assert_refused(&data, names[k], &options, MARGIN_ERROR_ARGUMENT, "no target");
        data.y = margin_values_f64(y, 2);
        assert_refused(&data, names[k], NULL, MARGIN_ERROR_ARGUMENT, "margin_write_options.labels");
        options.labels = "-";
        assert_refused(&data, names[k], &options, MARGIN_ERROR_ARGUMENT, "standard output");
        options.labels = path;
        data.columns = columns;
        assert_refused(&data, names[k], &options, MARGIN_ERROR_DATA, "column kind has categories");
        data.columns = NULL;
        data.weights = data.y;
        assert_refused(&data, names[k], &options, MARGIN_ERROR_DATA, "weights");
        char same[SUPPORT_PATH];
        data.weights.values = NULL;
        options.labels = in_folder(same, names[k]);
        assert_refused(&data, names[k], &options, MARGIN_ERROR_ARGUMENT, "two files");
    }
    margin_write_options options = {.labels = "/dev/full"};
    margin_data data = {.x = margin_dense_f64(values, 2, 2, 2), .y = margin_values_f64(y, 2)};
    for (int k = 0; k < 2; k++) /* neither file appears */
        assert_refused(&data, names[k], &options, MARGIN_ERROR_FILE, "/dev/full");
    options.labels = path;
    static const double bad[] = {-1, 256, 0.5, (double)NAN, (double)INFINITY};
    for (int k = 0; k < 5; k++) {
        values[3] = bad[k];
        assert_refused(&data, "a.idx", &options, MARGIN_ERROR_DATA, "x2");
        values[3] = 4;
        y[1] = bad[k];
        assert_refused(&data, "a.idx", &options, MARGIN_ERROR_DATA, "the target");
        y[1] = 1;
    }
    data.target = &columns[0];
    assert_refused(&data, "a.idx", &options, MARGIN_ERROR_DATA, "the target has categories");
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* The same row over and over: what it takes is what the buffers hold. */
static void memory_of_wide_tables_is_a_few_buffers(void **state) {
    (void)state;
    enum { COLUMNS = 20000, ROWS = 64 };
    double *values = malloc(COLUMNS * sizeof *values);
    int64_t selection[ROWS] = {0};
    for (int j = 0; j < COLUMNS; j++)
        values[j] = 1.0 / (j + 3);
    margin_data data = {.x = margin_dense_f64(values, 1, COLUMNS, COLUMNS),
                        .selection = selection,
                        .selected = ROWS};
    margin_context *context = support_context(NULL, 2);
    margin_error error = {0};
    char path[SUPPORT_PATH];
    margin_status status =
        margin_data_write(context, &data, in_folder(path, "wide.csv"), NULL, &error);
    if (status != MARGIN_OK) fail_msg("not written: %s", error.text);
    assert_true(margin_context_peak_memory(context) < 8 << 20); /* the file has 25 MB */
    margin_context_free(context);
    unlink(path);
    free(values);
}

static void absurd_widths_are_refused(void **state) {
    (void)state;
    static const int64_t starts[] = {0, 0};
    margin_data data = {.x = {.value_type = MARGIN_F64,
                              .rows = 1,
                              .columns = INT64_MAX / 2,
                              .row_starts = starts,
                              .start_type = MARGIN_I64,
                              .index_type = MARGIN_I64}};
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_LIMIT, "columns are more than a CSV file");
    data.x.columns = INT64_MAX;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_LIMIT, "columns are more than a CSV file");
    assert_refused(&data, "a.npy", NULL, MARGIN_ERROR_LIMIT, "more than a file can hold");
}

/* ---- Wrong calls, failures ------------------------------------------------------------------ */

static void wrong_data_is_refused(void **state) {
    (void)state;
    static const double values[] = {1, 2, 3, 4};
    margin_data data = {.x = margin_dense_f64(values, 2, 2, 1)};
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_ARGUMENT, "stride");
    data.x.stride = 2;
    data.y = margin_values_f64(values, 3);
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_ARGUMENT, "y has 3 numbers and x has 2 rows");
    data.y.count = 2;
    data.y.type = MARGIN_U64;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_ARGUMENT, "y: type");
    data.y.values = NULL;
    data.weights = margin_values_f64(values, 1);
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_ARGUMENT, "weights has 1");
    data.weights.values = NULL;
    static const int64_t selection[] = {0, 2};
    data.selection = selection;
    data.selected = 2;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_ARGUMENT, "selection[1] is row 2");
    data.selection = NULL;
    static const char *const kinds[] = {"a", NULL};
    margin_column columns[] = {{.name = "a"}, {.name = "b", .kind = MARGIN_CATEGORICAL}};
    data.columns = columns;
    columns[1].category_count = 2;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_ARGUMENT,
                   "column b has no list of categories");
    columns[1].categories = kinds;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_ARGUMENT, "column b: category 1 has no name");
    static const char *const good[] = {"a", "b"};
    columns[1].categories = good;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_DATA, "row 1 has the code 2 in column b");
    static const double half[] = {1, 0.5, 1, 0};
    data.x.values = half;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_DATA, "row 1 has the code 0.5");
    data.columns = NULL;
    static const char separators[] = {'a', '0', '.', '-', '"', '\'', ' ', '\n', (char)0xc3};
    for (int k = 0; k < (int)sizeof separators; k++) {
        margin_write_options options = {.separator = separators[k]};
        assert_refused(&data, "a.csv", &options, MARGIN_ERROR_ARGUMENT, "separator");
    }
    struct {
        margin_write_options known;
        double later;
    } newer = {.known = {.size = sizeof newer}, .later = 1};
    assert_refused(&data, "a.csv", &newer.known, MARGIN_ERROR_ARGUMENT, "later version");
    newer.known.size = 1;
    assert_refused(&data, "a.csv", &newer.known, MARGIN_ERROR_ARGUMENT, "options.size is 1");
    data.x.columns = 0;
    assert_refused(&data, "a.csv", NULL, MARGIN_ERROR_DATA, "no columns");
    assert_refused(&data, "a.npy", NULL, MARGIN_ERROR_DATA, "no columns");
    assert_refused(&data, "a.idx", NULL, MARGIN_ERROR_DATA, "no columns");
    assert_refused(NULL, "a.csv", NULL, MARGIN_ERROR_ARGUMENT, "data set is NULL");
    margin_context *context = support_context(NULL, 1);
    margin_error error = {0};
    data.x.columns = 2;
    assert_int_equal(margin_data_write(context, &data, NULL, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_data_write(NULL, &data, "a.csv", NULL, &error), MARGIN_ERROR_ARGUMENT);
    margin_write_options options = {.format = MARGIN_FORMAT_NPY};
    assert_int_equal(margin_data_write(context, &data, "-", &options, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "standard output");
    margin_context_free(context);
}

typedef struct large_table {
    double *values, *y, *weights;
    margin_column columns[3], target;
    margin_data data;
} large_table;

enum { LARGE_ROWS = 30011 };
static const char *const colours[] = {"blue", "dark, red", "green \"x\""};

static large_table make_large(void) {
    large_table t = {.values = malloc(sizeof(double) * LARGE_ROWS * 3),
                     .y = malloc(sizeof(double) * LARGE_ROWS),
                     .weights = malloc(sizeof(double) * LARGE_ROWS)};
    uint64_t random = 11;
    for (int i = 0; i < LARGE_ROWS; i++) {
        t.values[3 * i] = support_normal(&random);
        t.values[3 * i + 1] = (double)(support_random(&random) % 3);
        t.values[3 * i + 2] =
            support_random(&random) % 5 == 0 ? (double)NAN : support_uniform(&random) * 1e-300;
        t.y[i] = (double)(support_random(&random) % 3);
        t.weights[i] = support_uniform(&random);
    }
    t.columns[0] = (margin_column){.name = "a"};
    t.columns[1] = (margin_column){
        .name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 3};
    t.columns[2] = (margin_column){.name = "b"};
    t.target = t.columns[1];
    t.target.name = "class";
    return t;
}

/* The pointers of the data set point into the table: set them where it lies. */
static void bind_large(large_table *t) {
    t->data = (margin_data){.x = margin_dense_f64(t->values, LARGE_ROWS, 3, 3),
                            .y = margin_values_f64(t->y, LARGE_ROWS),
                            .weights = margin_values_f64(t->weights, LARGE_ROWS),
                            .columns = t->columns,
                            .target = &t->target};
}

static void free_large(large_table *t) {
    free(t->values);
    free(t->y);
    free(t->weights);
}

static void bytes_do_not_depend_on_threads(void **state) {
    (void)state;
    large_table t = make_large();
    bind_large(&t);
    static const char *const names[] = {"a.csv", "a.csv.gz", "a.svm", "a.npy", "a.npy.gz"};
    char path[SUPPORT_PATH];
    for (int k = 0; k < 5; k++) {
        margin_write_options options = {.labels = k >= 3 ? in_folder(path, "y.npy") : NULL};
        margin_data data = t.data;
        if (k >= 2) { /* numbers only */
            data.columns = NULL;
            data.weights.values = NULL;
        }
        if (k == 2) { /* no missing values, no blanks in labels */
            data.x.columns = 2;
            data.target = NULL;
        }
        size_t length, other;
        char *first = written(&data, names[k], &options, 1, &length);
        assert_true(length > 100000);
        for (int threads = 2; threads <= 8; threads *= 2) {
            char *bytes = written(&data, names[k], &options, threads, &other);
            assert_int_equal(other, length);
            assert_memory_equal(bytes, first, length);
            free(bytes);
        }
        free(first);
        if (options.labels) unlink(path);
    }
    free_large(&t);
}

static void first_bad_row_is_named_on_any_number_of_threads(void **state) {
    (void)state;
    large_table t = make_large();
    bind_large(&t);
    t.values[3 * 29000 + 1] = 5;
    t.values[3 * 17000 + 1] = -1;
    char path[SUPPORT_PATH];
    in_folder(path, "a.csv");
    for (int threads = 1; threads <= 8; threads *= 2) {
        margin_context *context = support_context(NULL, threads);
        margin_error error = {0};
        assert_int_equal(margin_data_write(context, &t.data, path, NULL, &error),
                         MARGIN_ERROR_DATA);
        assert_int_equal(error.row, 17001);
        margin_context_free(context);
    }
    assert_int_equal(files_in_folder(), 0);
    free_large(&t);
}

static int cancel_at_once(const margin_progress *progress, void *user) {
    (void)user;
    return strcmp(progress->activity, "writing") == 0;
}

static void failures_leave_nothing_behind(void **state) {
    (void)state;
    large_table t = make_large();
    bind_large(&t);
    char path[SUPPORT_PATH], labels[SUPPORT_PATH];
    margin_error error = {0};
    margin_context *context = support_context(NULL, 2);
    if (access("/dev/full", W_OK) == 0) {
        margin_write_options options = {.format = MARGIN_FORMAT_CSV};
        assert_int_equal(margin_data_write(context, &t.data, "/dev/full", &options, &error),
                         MARGIN_ERROR_FILE);
        assert_contains(error.text, "No space left");
    }
    /* the labels fail: the data does not appear either */
    margin_data numbers = {.x = t.data.x, .y = t.data.y};
    margin_write_options options = {.labels = in_folder(labels, "missing/y.npy")};
    assert_int_equal(
        margin_data_write(context, &numbers, in_folder(path, "a.npy"), &options, &error),
        MARGIN_ERROR_FILE);
    assert_contains(error.text, "missing");
    margin_context_cancel(context);
    assert_int_equal(margin_data_write(context, &t.data, in_folder(path, "a.csv"), NULL, &error),
                     MARGIN_ERROR_CANCELLED);
    margin_context_free(context);

    margin_context_options cancelling = {.size = sizeof cancelling, .progress = cancel_at_once};
    assert_int_equal(margin_context_create(&cancelling, &context, NULL), MARGIN_OK);
    assert_int_equal(margin_data_write(context, &t.data, path, NULL, &error),
                     MARGIN_ERROR_CANCELLED);
    margin_context_free(context);
    assert_int_equal(files_in_folder(), 0);
    free_large(&t);
}

static margin_status write_body(margin_context *context, void *user, margin_error *error) {
    char path[SUPPORT_PATH], labels[SUPPORT_PATH];
    large_table *t = user;
    margin_write_options options = {0};
    margin_status status =
        margin_data_write(context, &t->data, in_folder(path, "a.csv"), NULL, error);
    if (status == MARGIN_OK) {
        unlink(path);
        margin_data numbers = {.x = t->data.x, .y = t->data.y, .target = &t->target};
        options.labels = in_folder(labels, "y.npy");
        status = margin_data_write(context, &numbers, in_folder(path, "a.npy"), &options, error);
    }
    if (status == MARGIN_OK) {
        unlink(path);
        unlink(labels);
        margin_data numbers = {.x = t->data.x, .y = t->data.y};
        numbers.x.columns = 2;
        status = margin_data_write(context, &numbers, in_folder(path, "a.svm.gz"), NULL, error);
    }
    if (status == MARGIN_OK) unlink(path);
    return status;
}

static void failing_allocations_leave_nothing(void **state) {
    (void)state;
    large_table t = make_large();
    bind_large(&t);
    t.data.x.rows = t.data.y.count = t.data.weights.count = 9000;
    assert_true(support_fail_each_allocation(1, write_body, &t) > 20);
    assert_true(support_fail_each_allocation(3, write_body, &t) > 20);
    assert_int_equal(files_in_folder(), 0);
    free_large(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_of_plain_numbers),
        cmocka_unit_test(csv_keeps_f32_short),
        cmocka_unit_test(csv_puts_the_target_last_and_the_weights_before_it),
        cmocka_unit_test(csv_quotes_what_would_read_as_something_else),
        cmocka_unit_test(csv_writes_sparse_data_in_full),
        cmocka_unit_test(csv_warns_of_categories_it_cannot_keep),
        cmocka_unit_test(svmlight_leaves_zeros_out),
        cmocka_unit_test(svmlight_of_sparse_data_and_class_names),
        cmocka_unit_test(svmlight_refuses_what_it_cannot_hold),
        cmocka_unit_test(npy_has_the_bytes_numpy_writes),
        cmocka_unit_test(npy_labels_keep_their_type),
        cmocka_unit_test(npy_class_names_are_text),
        cmocka_unit_test(idx_holds_bytes),
        cmocka_unit_test(binary_formats_refuse_what_they_cannot_hold),
        cmocka_unit_test(memory_of_wide_tables_is_a_few_buffers),
        cmocka_unit_test(absurd_widths_are_refused),
        cmocka_unit_test(wrong_data_is_refused),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(first_bad_row_is_named_on_any_number_of_threads),
        cmocka_unit_test(failures_leave_nothing_behind),
        cmocka_unit_test(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, group_folder_make, group_folder_remove);
}
