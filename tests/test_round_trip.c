/* Written and read back: nothing changes, bit for bit, in every format that can hold the data, for
 * dense and sparse, f64 and f32, plain and compressed; and what is written from what was read is
 * the same file. */
#include "support/group_folder.h"

#include "data/matrix/matrix.h"
#include "margin/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Comparing ------------------------------------------------------------------------------ */

/* Equal as bits, one NaN like another; `zeros`: the sign of zero is not kept. */
static bool same_number(double a, double b, bool zeros) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return memcmp(&a, &b, sizeof a) == 0 || (zeros && a == b);
}

static void assert_same_column(const margin_column *a, const margin_column *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->category_count, b->category_count);
    for (int64_t k = 0; k < a->category_count; k++)
        assert_string_equal(a->categories[k], b->categories[k]);
}

static void assert_same_vector(const margin_vector *a, const margin_vector *b) {
    assert_int_equal(a->values != NULL, b->values != NULL);
    if (!a->values) return;
    assert_int_equal(a->count, b->count);
    for (int64_t k = 0; k < a->count; k++)
        if (!same_number(mg_vector_f64(a, k), mg_vector_f64(b, k), false))
            fail_msg("number %lld differs: %a, %a", (long long)k, mg_vector_f64(a, k),
                     mg_vector_f64(b, k));
}

static void assert_same_matrix(const margin_matrix *a, const margin_matrix *b, bool zeros) {
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    assert_int_equal(a->value_type, b->value_type);
    double *left = malloc((size_t)a->columns * sizeof *left);
    double *right = malloc((size_t)a->columns * sizeof *right);
    for (int64_t i = 0; i < a->rows; i++) {
        mg_row_expand(a, i, left);
        mg_row_expand(b, i, right);
        for (int64_t j = 0; j < a->columns; j++)
            if (!same_number(left[j], right[j], zeros))
                fail_msg("row %lld, column %lld: %a became %a", (long long)i, (long long)j, left[j],
                         right[j]);
    }
    free(left);
    free(right);
}

/* ---- Going and coming back ------------------------------------------------------------------ */

static void write_file(const margin_data *data, const char *path,
                       const margin_write_options *options) {
    margin_context *context = support_context(NULL, 2);
    margin_error error = {0};
    if (margin_data_write(context, data, path, options, &error) != MARGIN_OK)
        fail_msg("not written: %s", error.text);
    margin_context_free(context);
}

static margin_table *read_file(const char *path, const margin_read_options *options) {
    margin_context *context = support_context(NULL, 3);
    margin_table *table = NULL;
    margin_error error = {0};
    if (margin_table_read(context, path, options, &table, &error) != MARGIN_OK)
        fail_msg("not read: %s", error.text);
    margin_context_free(context);
    return table;
}

static void assert_same_files(const char *first, const char *second) {
    size_t a, b;
    char *left = support_read_file(first, &a), *right = support_read_file(second, &b);
    assert_int_equal(a, b);
    assert_memory_equal(left, right, a);
    free(left);
    free(right);
}

/* ---- A table with everything in it ---------------------------------------------------------- */

enum { MIXED_ROWS = 5003, MIXED_COLUMNS = 4 };

static const char *const words[] = {
    " blank ", "\"quoted\"", "'single'",  "comma, here",       "line\nbreak",
    "plain",   "semi;colon", "tab\there", "\xc3\xa9t\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac"};
static const char *const classes[] = {"M", "N O", "W\"X\"Y"};

typedef struct mixed_table {
    double values[MIXED_ROWS * MIXED_COLUMNS], y[MIXED_ROWS], weights[MIXED_ROWS];
    margin_column columns[MIXED_COLUMNS], target;
    margin_data data;
} mixed_table;

/* Any finite bit pattern: every exponent alike, subnormal numbers too. */
static double any_finite(uint64_t *random) {
    double value;
    do {
        uint64_t bits = support_random(random);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

static mixed_table *make_mixed(void) {
    mixed_table *t = calloc(1, sizeof *t);
    uint64_t random = 3;
    static const double special[] = {-0.0,
                                     0,
                                     5e-324,
                                     -5e-324,
                                     2.2250738585072009e-308,
                                     1.7976931348623157e308,
                                     9007199254740993.0,
                                     0.1,
                                     1e22,
                                     1e23};
    for (int i = 0; i < MIXED_ROWS; i++) {
        double *row = t->values + (ptrdiff_t)i * MIXED_COLUMNS;
        row[0] = any_finite(&random);
        row[1] = i < 10 ? i : (double)(support_random(&random) % 10);
        row[2] = support_random(&random) % 4 == 0 ? (double)NAN : special[i % 10];
        row[3] = (double)(float)support_normal(&random);
        if (i >= 10 && support_random(&random) % 6 == 0) row[1] = (double)NAN;
        t->y[i] = (double)(i < 3 ? (uint64_t)i : support_random(&random) % 3);
        t->weights[i] = support_uniform(&random);
    }
    static const char *const names[] = {"any, number", "word", "special \"ones\"", "\xce\xb1"};
    for (int j = 0; j < MIXED_COLUMNS; j++)
        t->columns[j].name = names[j];
    t->columns[1].kind = t->target.kind = MARGIN_CATEGORICAL;
    t->columns[1].categories = words;
    t->columns[1].category_count = 10;
    t->target.name = "class";
    t->target.categories = classes;
    t->target.category_count = 3;
    t->data =
        (margin_data){.x = margin_dense_f64(t->values, MIXED_ROWS, MIXED_COLUMNS, MIXED_COLUMNS),
                      .y = margin_values_f64(t->y, MIXED_ROWS),
                      .weights = margin_values_f64(t->weights, MIXED_ROWS),
                      .columns = t->columns,
                      .target = &t->target};
    return t;
}

static void mixed_table_survives_csv(void **state) {
    (void)state;
    mixed_table *t = make_mixed();
    static const char *const names[] = {"a.csv", "a.tsv", "a.csv.gz"};
    for (int k = 0; k < 3; k++) {
        char path[SUPPORT_PATH], again[SUPPORT_PATH];
        write_file(&t->data, in_folder(path, names[k]), NULL);
        margin_read_options options = {.weights = "weight"};
        margin_table *table = read_file(path, &options);
        margin_data data = margin_table_data(table);
        assert_same_matrix(&data.x, &t->data.x, false);
        assert_same_vector(&data.y, &t->data.y);
        assert_same_vector(&data.weights, &t->data.weights);
        for (int j = 0; j < MIXED_COLUMNS; j++)
            assert_same_column(&data.columns[j], &t->columns[j]);
        assert_same_column(data.target, &t->target);
        char other[40] = "b";
        strcat(other, names[k]);
        write_file(&data, in_folder(again, other), NULL);
        assert_same_files(path, again);
        margin_table_free(table);
    }
    free(t);
}

/* ---- Numbers through every format ----------------------------------------------------------- */

enum { ROWS = 3001, COLUMNS = 7 };

/* The same matrix in four layouts. The last column is never zero, so that svmlight knows it. */
typedef struct number_table {
    double f64[ROWS * COLUMNS], stored_f64[ROWS * COLUMNS], y[ROWS];
    float f32[ROWS * COLUMNS], stored_f32[ROWS * COLUMNS];
    int32_t indices[ROWS * COLUMNS];
    int64_t starts[ROWS + 1];
} number_table;

static number_table *make_numbers(bool bytes) {
    number_table *t = calloc(1, sizeof *t);
    uint64_t random = 21;
    int64_t stored = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            bool zero = j < COLUMNS - 1 && support_random(&random) % 3 == 0;
            double value = bytes ? (double)(1 + support_random(&random) % 255)
                                 : (double)(float)ldexp(support_normal(&random),
                                                        (int)(support_random(&random) % 60) - 30);
            int k = i * COLUMNS + j;
            t->f64[k] = zero ? 0 : value;
            t->f32[k] = (float)t->f64[k];
            if (zero) continue;
            t->indices[stored] = j;
            t->stored_f64[stored] = value;
            t->stored_f32[stored++] = (float)value;
        }
        t->starts[i + 1] = stored;
        t->y[i] = (double)(support_random(&random) % 10);
    }
    return t;
}

static margin_data layout_of(const number_table *t, int layout) {
    margin_data data = {.y = margin_values_f64(t->y, ROWS)};
    switch (layout) {
    case 0:
        data.x = margin_dense_f64(t->f64, ROWS, COLUMNS, COLUMNS);
        break;
    case 1:
        data.x = margin_dense_f32(t->f32, ROWS, COLUMNS, COLUMNS);
        break;
    case 2:
        data.x = margin_csr_f64(t->stored_f64, t->indices, t->starts, ROWS, COLUMNS);
        break;
    default:
        data.x = margin_csr_f32(t->stored_f32, t->indices, t->starts, ROWS, COLUMNS);
    }
    return data;
}

static void numbers_survive_every_format_in_every_layout(void **state) {
    (void)state;
    static const char *const names[] = {"n.csv",    "n.svm",    "n.npy",    "n.idx",
                                        "n.csv.gz", "n.svm.gz", "n.npy.gz", "n.idx.gz"};
    for (int bytes = 0; bytes < 2; bytes++) {
        number_table *t = make_numbers(bytes);
        for (int layout = 0; layout < 4; layout++) {
            for (int f = 0; f < 8; f++) {
                bool binary = f % 4 >= 2;
                if (!bytes && f % 4 == 3) continue; /* idx holds bytes only */
                char path[SUPPORT_PATH], labels[SUPPORT_PATH];
                margin_data data = layout_of(t, layout);
                in_folder(labels, f % 4 == 3 ? "labels.idx" : "labels.npy.gz");
                margin_write_options writing = {.labels = binary ? labels : NULL};
                write_file(&data, in_folder(path, names[f]), &writing);
                margin_read_options reading = {.labels = binary ? labels : NULL,
                                               .value_type = data.x.value_type};
                margin_table *table = read_file(path, &reading);
                margin_data back = margin_table_data(table);
                assert_same_matrix(&back.x, &data.x, false);
                assert_same_vector(&back.y, &data.y);
                assert_int_equal(mg_is_csr(&back.x), f % 4 == 1);
                margin_table_free(table);
            }
        }
        free(t);
    }
}

/* csv -> svmlight -> npy -> idx -> csv: the first file and the last are the same. */
static void a_chain_of_conversions_ends_where_it_began(void **state) {
    (void)state;
    number_table *t = make_numbers(true);
    margin_data data = layout_of(t, 0);
    static const char *const chain[] = {"c1.csv", "c2.svm", "c3.npy", "c4-ubyte", "c5.csv"};
    char path[SUPPORT_PATH], labels[SUPPORT_PATH], first[SUPPORT_PATH];
    write_file(&data, in_folder(first, chain[0]), NULL);
    memcpy(path, first, sizeof path);
    for (int k = 1; k < 5; k++) {
        bool from_binary = k - 1 == 2 || k - 1 == 3, to_binary = k == 2 || k == 3;
        margin_read_options reading = {.labels = from_binary ? labels : NULL};
        margin_table *table = read_file(path, &reading);
        data = margin_table_data(table);
        char next_labels[SUPPORT_PATH];
        in_folder(next_labels, k == 2 ? "cl.npy" : "cl-ubyte");
        margin_write_options writing = {.labels = to_binary ? next_labels : NULL};
        if (k == 4 || k == 1) data.target = NULL; /* svmlight and npy call it otherwise */
        write_file(&data, in_folder(path, chain[k]), &writing);
        memcpy(labels, next_labels, sizeof labels);
        margin_table_free(table);
    }
    assert_same_files(first, path);
    free(t);
}

static void class_names_survive_svmlight_and_npy(void **state) {
    (void)state;
    static const char *const names[] = {"\xc3\xa9", "setosa", "virginica"};
    static const char *const in_order[] = {"setosa", "virginica", "\xc3\xa9"};
    margin_column target = {
        .name = "class", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 3};
    static const double x[] = {1, 2, 3, 4}, y[] = {2, 0, 1, 1}, expected[] = {1, 2, 0, 0};
    margin_data data = {
        .x = margin_dense_f64(x, 4, 1, 1), .y = margin_values_f64(y, 4), .target = &target};
    char path[SUPPORT_PATH], labels[SUPPORT_PATH];
    for (int k = 0; k < 2; k++) {
        margin_write_options writing = {.labels = k ? in_folder(labels, "l.npy") : NULL};
        write_file(&data, in_folder(path, k ? "c.npy" : "c.svm"), &writing);
        margin_read_options reading = {.labels = writing.labels};
        margin_table *table = read_file(path, &reading);
        margin_data back = margin_table_data(table);
        assert_int_equal(back.target->kind, MARGIN_CATEGORICAL);
        assert_int_equal(back.target->category_count, 3);
        for (int c = 0; c < 3; c++)
            assert_string_equal(back.target->categories[c], in_order[c]);
        for (int i = 0; i < 4; i++)
            assert_true(mg_vector_f64(&back.y, i) == expected[i]);
        margin_table_free(table);
    }
}

/* A single column, where a missing value must not become a blank line. */
static void one_column_keeps_its_missing_rows(void **state) {
    (void)state;
    static const double values[] = {1, (double)NAN, 3, (double)NAN};
    margin_data data = {.x = margin_dense_f64(values, 4, 1, 1)};
    char path[SUPPORT_PATH];
    write_file(&data, in_folder(path, "one.csv"), NULL);
    margin_read_options options = {.target = ""};
    margin_table *table = read_file(path, &options);
    margin_data back = margin_table_data(table);
    assert_same_matrix(&back.x, &data.x, false);
    margin_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_table_survives_csv),
        cmocka_unit_test(numbers_survive_every_format_in_every_layout),
        cmocka_unit_test(a_chain_of_conversions_ends_where_it_began),
        cmocka_unit_test(class_names_survive_svmlight_and_npy),
        cmocka_unit_test(one_column_keeps_its_missing_rows),
    };
    return cmocka_run_group_tests(tests, group_folder_make, group_folder_remove);
}
