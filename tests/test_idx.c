/* idx files: every type and number of dimensions, damage, labels, the images of Fashion-MNIST. */
#include "support/group_folder.h"

#include "data/matrix/matrix.h"
#include "margin/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    unsigned char data[512];
    size_t length;
} bytes;

static bytes header_of(int type, int dimensions, const uint32_t *sizes) {
    bytes b = {.data = {0, 0, (unsigned char)type, (unsigned char)dimensions}, .length = 4};
    for (int k = 0; k < dimensions; k++)
        for (int j = 0; j < 4; j++)
            b.data[b.length++] = (unsigned char)(sizes[k] >> (24 - 8 * j));
    return b;
}

static void add_big_endian(bytes *b, uint64_t value, int size) {
    for (int j = 0; j < size; j++)
        b->data[b->length++] = (unsigned char)(value >> (8 * (size - 1 - j)));
}

static margin_status parse(const bytes *b, const char *name, const margin_read_options *options,
                           margin_table **table, margin_error *error) {
    margin_context *context = support_context(NULL, 2);
    margin_status status =
        margin_table_parse(context, b->data, (int64_t)b->length, name, options, table, error);
    margin_context_free(context);
    return status;
}

static margin_table *parse_good(const bytes *b, const margin_read_options *options) {
    margin_table *table = NULL;
    margin_error error = {0};
    if (parse(b, "t-images-idx3-ubyte", options, &table, &error) != MARGIN_OK)
        fail_msg("refused: %s", error.text);
    return table;
}

static void assert_refused(const bytes *b, const char *part) {
    margin_table *table = NULL;
    margin_error error = {0};
    assert_true(parse(b, "t.idx", NULL, &table, &error) < 0);
    assert_null(table);
    assert_contains(error.text, part);
    assert_contains(error.text, "t.idx");
}

static void every_type_is_read(void **state) {
    (void)state;
    static const struct {
        int type, size;
        bool is_signed;
    } types[] = {{0x08, 1, false}, {0x09, 1, true}, {0x0b, 2, true},
                 {0x0c, 4, true},  {0x0d, 4, true}, {0x0e, 8, true}};
    static const int numbers[] = {0, 1, 100, 127, -128, -1};
    for (int t = 0; t < MG_LENGTH(types); t++) {
        bytes b = header_of(types[t].type, 2, (const uint32_t[]){3, 2});
        for (int k = 0; k < 6; k++) {
            uint64_t item = (uint64_t)(int64_t)numbers[k];
            if (types[t].type == 0x0d) {
                float f = (float)numbers[k];
                uint32_t bits;
                memcpy(&bits, &f, 4);
                item = bits;
            } else if (types[t].type == 0x0e) {
                double d = numbers[k];
                memcpy(&item, &d, 8);
            }
            add_big_endian(&b, item, types[t].size);
        }
        margin_table *table = parse_good(&b, NULL);
        margin_matrix x = margin_table_data(table).x;
        assert_int_equal(x.rows, 3);
        assert_int_equal(x.columns, 2);
        assert_int_equal(x.value_type, types[t].type == 0x0d ? MARGIN_F32 : MARGIN_F64);
        for (int k = 0; k < 6; k++) {
            double out[2];
            mg_row_expand(&x, k / 2, out);
            double expected = types[t].is_signed ? numbers[k] : (uint8_t)numbers[k];
            assert_true(out[k % 2] == expected);
        }
        assert_int_equal(table_details(table).format, MARGIN_FORMAT_IDX);
        assert_null(margin_table_data(table).y.values);
        margin_table_free(table);
    }
}

static void dimensions_behind_the_first_become_columns(void **state) {
    (void)state;
    static const uint32_t sizes[][4] = {{24, 1, 1, 1}, {6, 4, 1, 1}, {2, 3, 4, 1}, {2, 3, 2, 2}};
    static const int64_t columns[] = {1, 4, 12, 12};
    for (int d = 1; d <= 4; d++) {
        bytes b = header_of(0x08, d, sizes[d - 1]);
        for (unsigned k = 0; k < 24; k++)
            b.data[b.length++] = (unsigned char)k;
        margin_table *table = parse_good(&b, NULL);
        margin_matrix x = margin_table_data(table).x;
        assert_int_equal(x.columns, columns[d - 1]);
        assert_int_equal(x.rows * x.columns, 24);
        for (int k = 0; k < 24; k++)
            assert_true(((const double *)x.values)[k] == k);
        margin_table_free(table);
    }
}

static void damage_is_refused(void **state) {
    (void)state;
    bytes whole = header_of(0x08, 3, (const uint32_t[]){2, 2, 1});
    add_big_endian(&whole, 0x01020304, 4);
    for (size_t length = 0; length < whole.length; length++) {
        bytes cut = whole;
        cut.length = length;
        margin_table *table = NULL;
        margin_error error = {0};
        assert_true(parse(&cut, "t.idx", NULL, &table, &error) < 0);
        assert_null(table);
    }
    bytes b = whole;
    b.length++;
    assert_refused(&b, "1 bytes follow");
    b = whole;
    b.data[0] = 1;
    assert_refused(&b, "not an idx file");
    b = whole;
    b.data[2] = 0x0a;
    assert_refused(&b, "type 0x0a");
    b = whole;
    b.data[3] = 0;
    assert_refused(&b, "0 dimensions");
    b.data[3] = 5;
    assert_refused(&b, "5 dimensions");
    b = header_of(0x0e, 4, (const uint32_t[]){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX});
    assert_refused(&b, "impossibly large");
    b = header_of(0x0e, 2, (const uint32_t[]){UINT32_MAX, UINT32_MAX});
    assert_refused(&b, "only 0 bytes");
    b = header_of(0x08, 2, (const uint32_t[]){0, 5});
    assert_refused(&b, "no rows");
    b = header_of(0x08, 2, (const uint32_t[]){UINT32_MAX, 0});
    assert_refused(&b, "no columns");
}

static void labels_come_from_idx_or_npy(void **state) {
    (void)state;
    bytes x = header_of(0x08, 2, (const uint32_t[]){3, 1}),
          y = header_of(0x08, 1, (const uint32_t[]){3});
    add_big_endian(&x, 0x0a0b0c, 3);
    add_big_endian(&y, 0x050005, 3);
    static const char npy[] = "\x93NUMPY\x01\x00\x3d\x00{'descr': '|u1', 'fortran_order': False, "
                              "'shape': (3,), }   \n\x05\x00\x05";
    char path[SUPPORT_PATH];
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0)
            support_write_bytes(path, folder, "labels", y.data, y.length);
        else
            support_write_bytes(path, folder, "labels", npy, sizeof npy - 1);
        margin_read_options options = {.labels = path};
        margin_table *table = parse_good(&x, &options);
        margin_data data = margin_table_data(table);
        assert_int_equal(data.x.columns, 1);
        assert_string_equal(data.target->name, "y");
        for (int i = 0; i < 3; i++)
            assert_true(mg_vector_f64(&data.y, i) == (i == 1 ? 0 : 5));
        margin_table_free(table);
    }
}

static void fashion_mnist_has_its_known_sums(void **state) {
    (void)state;
    char images[SUPPORT_PATH], labels[SUPPORT_PATH];
    SUPPORT_DATA_OR_SKIP(images, "images/fashion-mnist/t10k-images-idx3-ubyte.gz");
    SUPPORT_DATA_OR_SKIP(labels, "images/fashion-mnist/t10k-labels-idx1-ubyte.gz");
    margin_context *context = support_context(NULL, 2);
    margin_read_options options = {.labels = labels, .value_type = MARGIN_F32};
    margin_table *table = NULL;
    margin_error error = {0};
    if (margin_table_read(context, images, &options, &table, &error) != MARGIN_OK)
        fail_msg("refused: %s", error.text);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.rows, 10000);
    assert_int_equal(data.x.columns, 784);
    const float *values = data.x.values;
    double sum = 0, first = 0;
    for (int64_t k = 0; k < data.x.rows * data.x.columns; k++) {
        sum += (double)values[k];
        if (k < 784) first += (double)values[k];
    }
    assert_true(sum == 573469082);
    assert_true(first == 33456);
    static const int begin[] = {9, 2, 1, 1, 6, 1, 4, 6, 5, 7};
    int counts[10] = {0};
    for (int64_t i = 0; i < data.y.count; i++) {
        int label = (int)mg_vector_f64(&data.y, i);
        assert_in_range(label, 0, 9);
        counts[label]++;
        if (i < 10) assert_int_equal(label, begin[i]);
    }
    for (int k = 0; k < 10; k++)
        assert_int_equal(counts[k], 1000);
    margin_table_free(table);
    margin_context_free(context);
}

static margin_status read_body(margin_context *context, void *user, margin_error *error) {
    bytes x = header_of(0x08, 2, (const uint32_t[]){3, 2});
    add_big_endian(&x, 0x010203040506, 6);
    margin_read_options options = {.labels = user};
    margin_table *table = NULL;
    margin_status status =
        margin_table_parse(context, x.data, (int64_t)x.length, "t.idx", &options, &table, error);
    margin_table_free(table);
    return status;
}

static void failing_allocations_leave_nothing(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    bytes y = header_of(0x08, 1, (const uint32_t[]){3});
    add_big_endian(&y, 0x010201, 3);
    support_write_bytes(path, folder, "labels", y.data, y.length);
    assert_true(support_fail_each_allocation(1, read_body, path) > 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(dimensions_behind_the_first_become_columns),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(labels_come_from_idx_or_npy),
        cmocka_unit_test(fashion_mnist_has_its_known_sums),
        cmocka_unit_test(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, group_folder_make, group_folder_remove);
}
