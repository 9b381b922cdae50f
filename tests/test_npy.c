/* .npy files: every type, order and version against values known otherwise; headers that lie or
 * are damaged are refused; labels, roles, categories, missing values. */
#include "support/group_folder.h"

#include "data/source/source.h"
#include "data/table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files in memory ------------------------------------------------------------------------ */

typedef struct bytes {
    unsigned char data[4096];
    size_t length;
} bytes;

static void add(bytes *b, const void *data, size_t length) {
    assert_true(b->length + length <= sizeof b->data);
    if (length) memcpy(b->data + b->length, data, length);
    b->length += length;
}

/* A file of any version with that dictionary; not padded, so that items are not aligned. */
static bytes file_of(int version, const char *dictionary, const void *items, size_t length) {
    bytes b = {0};
    size_t header = strlen(dictionary) + 1;
    unsigned char start[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
    start[8] = header & 255;
    start[9] = (unsigned char)(header >> 8);
    add(&b, start, version == 1 ? 10 : 12);
    add(&b, dictionary, header - 1);
    add(&b, "\n", 1);
    add(&b, items, length);
    return b;
}

static bytes array_of(const char *descr, bool column_major, const char *shape, const void *items,
                      size_t length) {
    char dictionary[200];
    snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
             descr, column_major ? "True" : "False", shape);
    return file_of(1, dictionary, items, length);
}

/* Whole numbers 0, 1, ... (mod 100) as items of a type, in either byte order. */
static size_t count_up(const char *kind, bool big, int count, unsigned char *out) {
    size_t size = (size_t)(kind[1] - '0');
    for (int k = 0; k < count; k++) {
        unsigned char item[8];
        int n = k % 100;
        const double f64 = n;
        const float f32 = (float)n;
        const uint64_t whole = (uint64_t)n;
        if (kind[0] == 'f' && size == 8)
            memcpy(item, &f64, 8);
        else if (kind[0] == 'f')
            memcpy(item, &f32, 4);
        else
            memcpy(item, &whole, size);
        for (size_t j = 0; j < size; j++)
            *out++ = item[big ? size - 1 - j : j];
    }
    return size * (size_t)count;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static margin_status parse(const bytes *b, const margin_read_options *options, margin_table **table,
                           margin_error *error) {
    margin_context *context = support_context(NULL, 2);
    margin_status status =
        margin_table_parse(context, b->data, (int64_t)b->length, "t.npy", options, table, error);
    margin_context_free(context);
    return status;
}

static margin_table *parse_good(const bytes *b, const margin_read_options *options) {
    margin_table *table = NULL;
    margin_error error = {0};
    if (parse(b, options, &table, &error) != MARGIN_OK) fail_msg("refused: %s", error.text);
    assert_non_null(table);
    return table;
}

static int32_t assert_refused(const bytes *b, const margin_read_options *options,
                              margin_status status, const char *part) {
    margin_table *table = NULL;
    margin_error error = {0};
    assert_int_equal(parse(b, options, &table, &error), status);
    assert_null(table);
    assert_contains(error.text, part);
    assert_contains(error.text, "t.npy");
    return error.cause;
}

static double at(const margin_table *table, int64_t row, int64_t column) {
    margin_matrix x = margin_table_data(table).x;
    assert_true(row < x.rows && column < x.columns);
    int64_t k = row * x.stride + column;
    return x.value_type == MARGIN_F32 ? (double)((const float *)x.values)[k]
                                      : ((const double *)x.values)[k];
}

static double target_at(const margin_table *table, int64_t row) {
    margin_data data = margin_table_data(table);
    assert_true(row < data.y.count);
    return mg_vector_f64(&data.y, row);
}

/* ---- Known files ---------------------------------------------------------------------------- */

/* numpy.save of numpy.array([[1.5, -2], [numpy.nan, 1e300]]), byte for byte. */
static void file_written_by_numpy(void **state) {
    (void)state;
    static const char header[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"
        "                                                          \n";
    static const double items[] = {1.5, -2, (double)NAN, 1e300};
    assert_int_equal(sizeof header - 1, 128);
    bytes b = {0};
    add(&b, header, 128);
    add(&b, items, sizeof items);
    margin_table *table = parse_good(&b, NULL);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.rows, 2);
    assert_int_equal(data.x.columns, 2);
    assert_int_equal(data.x.value_type, MARGIN_F64);
    assert_memory_equal(data.x.values, items, sizeof items);
    assert_null(data.y.values);
    assert_null(data.target);
    assert_null(data.weights.values);
    assert_string_equal(data.columns[0].name, "x1");
    assert_string_equal(data.columns[1].name, "x2");
    margin_table_details info = {.size = sizeof info};
    margin_table_info(table, &info);
    assert_int_equal(info.format, MARGIN_FORMAT_NPY);
    assert_int_equal(info.missing, 1);
    assert_string_equal(info.name, "t.npy");
    margin_table_free(table);
}

static void every_type_and_order_gives_the_same_table(void **state) {
    (void)state;
    static const char *const kinds[] = {"f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"};
    enum { ROWS = 3, COLUMNS = 5 };
    for (int k = 0; k < MG_LENGTH(kinds); k++) {
        for (int variant = 0; variant < 4; variant++) {
            bool big = variant & 1, column_major = variant & 2;
            char descr[8];
            unsigned char items[ROWS * COLUMNS * 8];
            size_t length = count_up(kinds[k], big, ROWS * COLUMNS, items);
            snprintf(descr, sizeof descr, "%c%s",
                     kinds[k][1] == '1' ? '|'
                     : big              ? '>'
                                        : '<',
                     kinds[k]);
            bytes b = array_of(descr, column_major, "(3, 5)", items, length);
            margin_table *table = parse_good(&b, NULL);
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLUMNS; j++)
                    assert_true(at(table, i, j) == (column_major ? j * ROWS + i : i * COLUMNS + j));
            bool narrow = strcmp(kinds[k], "f4") == 0;
            assert_int_equal(margin_table_data(table).x.value_type,
                             narrow ? MARGIN_F32 : MARGIN_F64);
            margin_table_free(table);
        }
    }
}

static void extreme_integers_keep_their_sign(void **state) {
    (void)state;
    static const struct {
        const char *descr;
        unsigned char item[8];
        double value;
    } cases[] = {
        {"|i1", {0x80}, -128},
        {"|u1", {0xff}, 255},
        {"<i2", {0x00, 0x80}, -32768},
        {"<u2", {0xff, 0xff}, 65535},
        {">i4", {0x80, 0, 0, 0}, -2147483648.0},
        {">u4", {0xff, 0xff, 0xff, 0xff}, 4294967295.0},
        {">i8", {0x80, 0, 0, 0, 0, 0, 0, 0}, -9223372036854775808.0},
        {"<u8", {255, 255, 255, 255, 255, 255, 255, 255}, 18446744073709551616.0},
        {">f8", {0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}, 0.1},
        {">f4", {0xff, 0x80, 0, 0}, -(double)INFINITY},
        {"|b1", {0}, 0},
        {"|b1", {1}, 1},
        {"|b1", {7}, 1},
    };
    for (int c = 0; c < MG_LENGTH(cases); c++) {
        bytes b = array_of(cases[c].descr, false, "(1, 1)", cases[c].item,
                           (size_t)(cases[c].descr[2] - '0'));
        margin_table *table = parse_good(&b, NULL);
        assert_true(at(table, 0, 0) == cases[c].value);
        margin_table_free(table);
    }
}

/* All 65536 half-precision numbers, by their definition. */
static double half_by_definition(unsigned bits) {
    double sign = bits >> 15 ? -1 : 1;
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static void every_half_precision_number_is_exact(void **state) {
    (void)state;
    for (unsigned high = 0; high < 256; high++) {
        unsigned char items[512];
        for (unsigned low = 0; low < 256; low++) {
            items[2 * low] = (unsigned char)high;
            items[2 * low + 1] = (unsigned char)low;
        }
        bytes b = array_of(">f2", false, "(64, 4)", items, sizeof items);
        margin_read_options options = {.value_type = high % 2 ? MARGIN_F64 : (margin_type)0};
        margin_table *table = parse_good(&b, &options);
        assert_int_equal(margin_table_data(table).x.value_type, high % 2 ? MARGIN_F64 : MARGIN_F32);
        for (unsigned low = 0; low < 256; low++) {
            double expected = half_by_definition(high << 8 | low);
            double got = at(table, low / 4, low % 4);
            assert_true(isnan(expected) ? isnan(got)
                                        : got == expected && signbit(got) == signbit(expected));
        }
        margin_table_free(table);
    }
}

static void headers_in_every_legal_form(void **state) {
    (void)state;
    static const char *const dictionaries[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr':'|u1','fortran_order':False,'shape':(2,3)}",
        "{\"descr\": \"|u1\", \"fortran_order\": False, \"shape\": (2, 3)}",
        "  { 'shape' : ( 2 , 3 , ) , 'fortran_order' : False , 'descr' : '|u1' , }  \n  ",
        "{'shape': (2L, 3L), 'fortran_order': False, 'descr': '<u1'}",
        "{'descr': '>u1', 'fortran_order': False, 'shape': (0002, 3)}",
    };
    static const unsigned char items[] = {0, 1, 2, 3, 4, 5};
    for (int version = 1; version <= 3; version++)
        for (int k = 0; k < MG_LENGTH(dictionaries); k++) {
            bytes b = file_of(version, dictionaries[k], items, sizeof items);
            margin_table *table = parse_good(&b, NULL);
            for (int i = 0; i < 6; i++)
                assert_true(at(table, i / 3, i % 3) == i);
            margin_table_free(table);
        }
}

static void other_dimensions_become_rows(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        int64_t rows, columns;
    } cases[] = {{"(12,)", 12, 1},    {"(12, 1)", 12, 1},     {"(1, 12)", 1, 12},
                 {"(3, 2, 2)", 3, 4}, {"(2, 3, 1, 2)", 2, 6}, {"(1, 1, 1, 1, 12)", 1, 12}};
    unsigned char items[12];
    count_up("u1", false, 12, items);
    for (int c = 0; c < MG_LENGTH(cases); c++) {
        bytes b = array_of("|u1", false, cases[c].shape, items, 12);
        margin_table *table = parse_good(&b, NULL);
        assert_int_equal(margin_table_data(table).x.rows, cases[c].rows);
        assert_int_equal(margin_table_data(table).x.columns, cases[c].columns);
        for (int k = 0; k < 12; k++)
            assert_true(at(table, k / cases[c].columns, k % cases[c].columns) == k);
        margin_table_free(table);
    }
}

static void value_type_is_as_asked(void **state) {
    (void)state;
    static const double items[] = {0.1, 1e300, 5e-324, -0.0};
    bytes b = array_of("<f8", false, "(2, 2)", items, sizeof items);
    margin_read_options options = {.value_type = MARGIN_F32};
    margin_table *table = parse_good(&b, &options);
    const float *values = margin_table_data(table).x.values;
    assert_int_equal(margin_table_data(table).x.value_type, MARGIN_F32);
    assert_true(values[0] == 0.1F && isinf(values[1]) && values[2] == 0 && signbit(values[3]));
    margin_table_free(table);
    const float narrow[] = {0.1F};
    b = array_of("<f4", false, "(1,)", narrow, sizeof narrow);
    options.value_type = MARGIN_F64;
    table = parse_good(&b, &options);
    assert_true(*(const double *)margin_table_data(table).x.values == (double)0.1F);
    margin_table_free(table);
}

/* ---- Damage --------------------------------------------------------------------------------- */

static void damaged_headers_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *dictionary, *part;
    } cases[] = {
        {"", "'{'"},
        {"[]", "'{'"},
        {"{}", "keys descr"},
        {"{'descr': '|u1'}", "keys descr"},
        {"{'descr': '|u1', 'fortran_order': False}", "keys descr"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,)", "',' or '}'"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,),", "a key in quotes"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,)} x", "nothing behind"},
        {"{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", "once each"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,), 'more': 1}", "once each"},
        {"{'Descr': '|u1', 'fortran_order': False, 'shape': (2,)}", "once each"},
        {"{descr: '|u1', 'fortran_order': False, 'shape': (2,)}", "a key in quotes"},
        {"{'descr' '|u1', 'fortran_order': False, 'shape': (2,)}", "':'"},
        {"{'descr': '|u1' 'fortran_order': False, 'shape': (2,)}", "',' or '}'"},
        {"{'descr': '|u1', 'fortran_order': 0, 'shape': (2,)}", "True or False"},
        {"{'descr': '|u1', 'fortran_order': true, 'shape': (2,)}", "True or False"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': 2}", "a shape"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': [2]}", "a shape"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2)}", "',' behind one size"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (,)}", "whole number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,,1)}", "whole number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2 1)}", "',' or ')'"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}", "whole number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (+2,)}", "whole number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2.0,)}", "',' or ')'"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (0x2,)}", "',' or ')'"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (None,)}", "whole number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         "whole number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "single number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1,2)}",
         "32 dimensions"},
        {"{'descr': '|u\\1', 'fortran_order': False, 'shape': (2,)}", "a type text"},
        {"{'descr': 5, 'fortran_order': False, 'shape': (2,)}", "a type text"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "Python objects"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}", "complex numbers"},
        {"{'descr': '|V8', 'fortran_order': False, 'shape': (2,)}", "raw records"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,)}", "dates"},
        {"{'descr': '<m8[D]', 'fortran_order': False, 'shape': (2,)}", "time spans"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (2,)}", "numbers of this width"},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (2,)}", "numbers of this width"},
        {"{'descr': '<f8x', 'fortran_order': False, 'shape': (2,)}", "cannot be read"},
        {"{'descr': '<f', 'fortran_order': False, 'shape': (2,)}", "cannot be read"},
        {"{'descr': 'f8', 'fortran_order': False, 'shape': (2,)}", "cannot be read"},
        {"{'descr': '=f8', 'fortran_order': False, 'shape': (2,)}", "cannot be read"},
        {"{'descr': '|f8', 'fortran_order': False, 'shape': (2,)}", "cannot be read"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", "cannot be read"},
        {"{'descr': '<U0', 'fortran_order': False, 'shape': (2,)}", "cannot be read"},
        {"{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': (2,)}",
         "structured"},
        {"{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1, 2)}", "Fortran order"},
    };
    static const unsigned char items[] = {1, 2};
    for (int c = 0; c < MG_LENGTH(cases); c++) {
        bytes b = file_of(1, cases[c].dictionary, items, sizeof items);
        assert_refused(&b, NULL, MARGIN_ERROR_FORMAT, cases[c].part);
    }
}

static void lying_shapes_are_refused_before_anything_is_allocated(void **state) {
    (void)state;
    static const struct {
        const char *descr, *shape, *part;
        margin_status status;
    } cases[] = {
        {"<f8", "(3,)", "only 16 bytes follow", MARGIN_ERROR_FORMAT},
        {"<f8", "(1, 3)", "only 16 bytes follow", MARGIN_ERROR_FORMAT},
        {"<f8", "(1,)", "8 bytes follow", MARGIN_ERROR_FORMAT},
        {"<f8", "(9223372036854775807,)", "only 16 bytes", MARGIN_ERROR_FORMAT},
        {"<f8", "(4294967296, 4294967296)", "only 16 bytes", MARGIN_ERROR_FORMAT},
        {"<f8", "(2305843009213693953, 1)", "only 16 bytes", MARGIN_ERROR_FORMAT},
        {"<f8", "(2, 9223372036854775807, 9223372036854775807)", "impossibly large",
         MARGIN_ERROR_FORMAT},
        {"<f8", "(0, 2)", "16 bytes follow", MARGIN_ERROR_FORMAT},
    };
    static const double items[] = {1, 2};
    for (int c = 0; c < MG_LENGTH(cases); c++) {
        bytes b = array_of(cases[c].descr, false, cases[c].shape, items, sizeof items);
        assert_refused(&b, NULL, cases[c].status, cases[c].part);
    }
    bytes b = array_of("<f8", false, "(0, 2)", NULL, 0);
    assert_refused(&b, NULL, MARGIN_ERROR_DATA, "no rows");
    b = array_of("<f8", false, "(1000000000000, 0)", NULL, 0);
    assert_refused(&b, NULL, MARGIN_ERROR_DATA, "no columns");
    b = array_of("<f8", false, "(0, 1000000000000)", NULL, 0);
    assert_refused(&b, NULL, MARGIN_ERROR_DATA, "no rows");
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    static const double items[] = {1, 2, 3, 4};
    for (int version = 1; version <= 3; version++) {
        bytes whole = file_of(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}",
                              items, sizeof items);
        for (size_t length = 0; length < whole.length; length++) {
            bytes cut = whole;
            cut.length = length;
            margin_table *table = NULL;
            margin_error error = {0};
            margin_status status = parse(&cut, NULL, &table, &error);
            assert_true(status == MARGIN_ERROR_FORMAT ||
                        (length == 0 && status == MARGIN_ERROR_DATA));
            assert_null(table);
        }
        whole.data[6] = 4;
        assert_refused(&whole, NULL, MARGIN_ERROR_FORMAT, "version 4");
        whole.data[6] = 0;
        assert_refused(&whole, NULL, MARGIN_ERROR_FORMAT, "version 0");
        whole.data[0] = 'x';
        assert_refused(&whole, NULL, MARGIN_ERROR_FORMAT, "not an .npy file");
    }
}

/* ---- Roles ---------------------------------------------------------------------------------- */

static void columns_take_the_roles_they_are_given(void **state) {
    (void)state;
    /* row i: i, 10 i, 100 i, 1000 i */
    double items[20];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            items[4 * i + j] = i * pow(10, j);
    bytes b = array_of("<f8", false, "(5, 4)", items, sizeof items);
    margin_read_options options = {.target = "x2", .weights = "-1", .ignore = "1"};
    for (int column_major = 0; column_major < 2; column_major++) {
        if (column_major) {
            for (int k = 0; k < 20; k++)
                items[k] = (k % 5) * pow(10, k / 5);
            b = array_of("<f8", true, "(5, 4)", items, sizeof items);
        }
        options.target = column_major ? "2" : "x2";
        margin_table *table = parse_good(&b, &options);
        margin_data data = margin_table_data(table);
        assert_int_equal(data.x.columns, 1);
        assert_string_equal(data.columns[0].name, "x3");
        assert_string_equal(data.target->name, "x2");
        for (int i = 0; i < 5; i++) {
            assert_true(at(table, i, 0) == 100 * i);
            assert_true(target_at(table, i) == 10 * i);
            assert_true(mg_vector_f64(&data.weights, i) == 1000 * i);
        }
        margin_table_free(table);
    }
    options = (margin_read_options){.target = "7"};
    assert_refused(&b, &options, MARGIN_ERROR_DATA, "7");
    options = (margin_read_options){.target = ""};
    margin_table *table = parse_good(&b, &options);
    assert_null(margin_table_data(table).y.values);
    assert_int_equal(margin_table_data(table).x.columns, 4);
    margin_table_free(table);
}

static void numbers_become_categories_where_asked(void **state) {
    (void)state;
    static const float items[] = {10, 0.5F, 1, 2, 0.5F, 0, 10, NAN, 1, 1, -3, 0};
    bytes b = array_of("<f4", false, "(4, 3)", items, sizeof items);
    margin_read_options options = {.categorical = "1,2,3", .target = "3"};
    margin_table *table = parse_good(&b, &options);
    margin_data data = margin_table_data(table);
    static const char *const first[] = {"1", "10", "2"}, *const second[] = {"-3", "0.5"};
    assert_int_equal(data.columns[0].kind, MARGIN_CATEGORICAL);
    assert_int_equal(data.columns[0].category_count, 3);
    assert_int_equal(data.columns[1].category_count, 2);
    for (int k = 0; k < 3; k++)
        assert_string_equal(data.columns[0].categories[k], first[k]);
    for (int k = 0; k < 2; k++)
        assert_string_equal(data.columns[1].categories[k], second[k]);
    static const double codes[] = {1, 2, 1, 0};
    for (int i = 0; i < 4; i++)
        assert_true(at(table, i, 0) == codes[i]);
    assert_true(at(table, 0, 1) == 1 && isnan(at(table, 2, 1)) && at(table, 3, 1) == 0);
    assert_int_equal(data.target->category_count, 2);
    assert_string_equal(data.target->categories[1], "1");
    assert_true(target_at(table, 0) == 1 && target_at(table, 1) == 0);
    assert_int_equal(table_details(table).missing, 1);
    margin_table_free(table);
}

static void a_model_finds_its_columns_by_position(void **state) {
    (void)state;
    static const char *const names[] = {"1", "2"}, *const classes[] = {"5", "6"};
    const margin_column expected[] = {
        {.name = "age"},
        {.name = "kind", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2}};
    const margin_column target = {
        .name = "class", .kind = MARGIN_CATEGORICAL, .categories = classes, .category_count = 2};
    static const int32_t items[] = {30, 2, 6, 40, 3, 5, 50, 1, 7};
    bytes b = array_of("<i4", false, "(3, 3)", items, sizeof items);
    margin_read_options options = {
        .expected = expected, .expected_count = 2, .expected_target = &target};
    margin_table *table = parse_good(&b, &options);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.columns, 2);
    assert_string_equal(data.columns[0].name, "age");
    assert_string_equal(data.columns[1].categories[1], "2");
    assert_true(at(table, 0, 1) == 1 && isnan(at(table, 1, 1)) && at(table, 2, 1) == 0);
    assert_string_equal(data.target->name, "class");
    assert_true(target_at(table, 0) == 1 && target_at(table, 1) == 0 && isnan(target_at(table, 2)));
    assert_int_equal(table_details(table).unknown_categories, 2);
    margin_table_free(table);

    options.size = sizeof options;
    options.unknown = options.unknown_target = MARGIN_UNKNOWN_KEEP;
    table = parse_good(&b, &options);
    data = margin_table_data(table);
    assert_int_equal(data.columns[1].category_count, 3);
    assert_string_equal(data.columns[1].categories[2], "3");
    assert_true(at(table, 0, 1) == 1 && at(table, 1, 1) == 2 && at(table, 2, 1) == 0);
    assert_string_equal(data.target->categories[2], "7");
    assert_true(target_at(table, 2) == 2);
    assert_int_equal(table_details(table).unknown_categories, 2);
    assert_int_equal(table_details(table).unknown_classes, 1);
    margin_table_free(table);
    options.unknown = MARGIN_UNKNOWN_ERROR;
    assert_int_equal(
        assert_refused(&b, &options, MARGIN_ERROR_DATA, "row 2: '3' in column kind is unknown"),
        MARGIN_CAUSE_UNKNOWN_CATEGORY);
    options.unknown = MARGIN_UNKNOWN_MISSING;
    options.unknown_target = MARGIN_UNKNOWN_ERROR;
    assert_int_equal(
        assert_refused(&b, &options, MARGIN_ERROR_DATA, "row 3: '7' in column class is unknown"),
        MARGIN_CAUSE_UNKNOWN_CLASS);
    margin_error error = {0};
    options.unknown = (margin_unknown)7;
    assert_int_equal(parse(&b, &options, &table, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "unknown is 7");
    options.unknown = MARGIN_UNKNOWN_MISSING;
    options.target_optional = 3;
    assert_int_equal(parse(&b, &options, &table, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "target_optional is 3");
    options.target_optional = 0;

    b = array_of("<i4", false, "(3, 2)", items, 24);
    assert_refused(&b, &options, MARGIN_ERROR_DATA, "margin_read_options.labels");
    options.target_optional = 1;
    table = parse_good(&b, &options);
    assert_null(margin_table_data(table).y.values);
    margin_table_free(table);
    b = array_of("<i4", false, "(9,)", items, sizeof items);
    assert_refused(&b, &options, MARGIN_ERROR_DATA, "1 columns");
}

/* ---- Missing values ------------------------------------------------------------------------- */

static void missing_values_are_kept_refused_or_dropped(void **state) {
    (void)state;
    static const double items[] = {1, 2, 3, 4, (double)NAN, 6, 7, 8, (double)NAN, 10, 11, 12};
    bytes b = array_of("<f8", false, "(4, 3)", items, sizeof items);
    margin_read_options options = {.target = "3"};
    margin_table *table = parse_good(&b, &options);
    assert_int_equal(table_details(table).missing, 1);
    assert_true(isnan(at(table, 1, 1)) && isnan(target_at(table, 2)));
    margin_table_free(table);

    options.missing = MARGIN_MISSING_ERROR;
    margin_error error = {0};
    assert_int_equal(parse(&b, &options, &table, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 2: the value of column x2 is missing");
    assert_int_equal(error.row, 2);

    options.missing = MARGIN_MISSING_DROP;
    table = parse_good(&b, &options);
    assert_int_equal(margin_table_data(table).x.rows, 2);
    assert_int_equal(table_details(table).rows_dropped, 2);
    assert_true(at(table, 1, 0) == 10 && at(table, 1, 1) == 11 && target_at(table, 1) == 12);
    margin_table_free(table);

    static const double nothing[] = {(double)NAN, (double)NAN};
    b = array_of("<f8", false, "(2, 1)", nothing, sizeof nothing);
    options.target = NULL;
    assert_refused(&b, &options, MARGIN_ERROR_DATA, "none is left");
}

/* What is not in a model's lists is no reason to leave a row out. */
static void unknown_categories_are_not_missing_values(void **state) {
    (void)state;
    static const char *const names[] = {"1", "2"};
    const margin_column expected[] = {
        {.name = "x1"},
        {.name = "x2", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2}};
    static const double items[] = {5, 1, (double)NAN, 3, 6, 3, 7, 2};
    bytes b = array_of("<f8", false, "(4, 2)", items, sizeof items);
    margin_read_options options = {
        .expected = expected, .expected_count = 2, .missing = MARGIN_MISSING_DROP};
    margin_table *table = parse_good(&b, &options);
    assert_int_equal(margin_table_data(table).x.rows, 3);
    assert_int_equal(table_details(table).rows_dropped, 1);
    assert_int_equal(table_details(table).unknown_categories, 1);
    assert_true(at(table, 0, 1) == 0 && isnan(at(table, 1, 1)) && at(table, 2, 1) == 1);
    margin_table_free(table);
    options.missing = MARGIN_MISSING_KEEP;
    table = parse_good(&b, &options);
    assert_int_equal(table_details(table).missing, 1);
    assert_int_equal(table_details(table).unknown_categories, 2);
    margin_table_free(table);
}

/* ---- Labels --------------------------------------------------------------------------------- */

static const char *labels_file(char path[SUPPORT_PATH], const bytes *b) {
    return support_write_bytes(path, folder, "labels.npy", b->data, b->length);
}

static bytes three_rows(void) {
    static const double items[] = {1, 2, 3, 4, 5, 6};
    return array_of("<f8", false, "(3, 2)", items, sizeof items);
}

static void numeric_labels_are_the_target(void **state) {
    (void)state;
    static const char *const shapes[] = {"(3,)", "(3, 1)"};
    static const int64_t values[] = {7, -1, 7};
    char path[SUPPORT_PATH];
    for (int s = 0; s < 2; s++) {
        bytes x = three_rows(), y = array_of("<i8", s == 1, shapes[s], values, sizeof values);
        margin_read_options options = {.labels = labels_file(path, &y)};
        margin_table *table = parse_good(&x, &options);
        margin_data data = margin_table_data(table);
        assert_int_equal(data.x.columns, 2);
        assert_int_equal(data.y.count, 3);
        assert_string_equal(data.target->name, "y");
        assert_int_equal(data.target->kind, MARGIN_NUMERIC);
        for (int i = 0; i < 3; i++)
            assert_true(target_at(table, i) == (double)values[i]);
        margin_table_free(table);
    }
}

static void text_labels_become_sorted_categories(void **state) {
    (void)state;
    /* "zebra", "Ähre", "zebra" and the same with an empty one, as <U5, >U5 and |S6 */
    static const uint32_t zebra[] = {'z', 'e', 'b', 'r', 'a'}, aehre[] = {0xc4, 'h', 'r', 'e', 0};
    char path[SUPPORT_PATH];
    for (int variant = 0; variant < 4; variant++) {
        bytes x = three_rows(), y;
        unsigned char items[60] = {0};
        if (variant < 2) {
            for (int k = 0; k < 15; k++) {
                uint32_t code = k / 5 == 1 ? aehre[k % 5] : zebra[k % 5];
                for (int j = 0; j < 4; j++)
                    items[4 * k + j] = (unsigned char)(code >> 8 * (variant ? 3 - j : j));
            }
            y = array_of(variant ? ">U5" : "<U5", false, "(3,)", items, 60);
        } else {
            memcpy(items, "zebra\0\xc3\x84hre\0zebra\0", 18);
            if (variant == 3) memset(items + 12, 0, 6);
            y = array_of("|S6", false, "(3, 1)", items, 18);
        }
        margin_read_options options = {.labels = labels_file(path, &y)};
        margin_table *table = parse_good(&x, &options);
        const margin_column *target = margin_table_data(table).target;
        assert_int_equal(target->kind, MARGIN_CATEGORICAL);
        assert_int_equal(target->category_count, 2);
        assert_string_equal(target->categories[0], "zebra");
        assert_string_equal(target->categories[1], "\xc3\x84hre");
        assert_true(target_at(table, 0) == 0 && target_at(table, 1) == 1);
        assert_true(variant == 3 ? isnan(target_at(table, 2)) : target_at(table, 2) == 0);
        margin_table_free(table);
    }
}

static void categories_of_dropped_rows_are_gone(void **state) {
    (void)state;
    static const double items[] = {1, 2, 3, (double)NAN, 5, 6, 7, 8};
    bytes x = array_of("<f8", false, "(4, 2)", items, sizeof items);
    bytes y = array_of("|S1", false, "(4,)", "cab\0", 4);
    char path[SUPPORT_PATH];
    margin_read_options options = {
        .labels = labels_file(path, &y), .missing = MARGIN_MISSING_DROP, .categorical = "1"};
    margin_table *table = parse_good(&x, &options);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.rows, 2);
    assert_int_equal(data.target->category_count, 2);
    assert_string_equal(data.target->categories[0], "b");
    assert_string_equal(data.target->categories[1], "c");
    assert_true(target_at(table, 0) == 1 && target_at(table, 1) == 0);
    assert_int_equal(data.columns[0].category_count, 2);
    assert_string_equal(data.columns[0].categories[1], "5");
    margin_table_free(table);
}

static void labels_follow_a_models_categories(void **state) {
    (void)state;
    static const char *const classes[] = {"a", "b", "c"}, *const digits[] = {"-1", "1"};
    margin_column target = {
        .name = "class", .kind = MARGIN_CATEGORICAL, .categories = classes, .category_count = 3};
    const margin_column features[] = {{.name = "x1"}, {.name = "x2"}};
    char path[SUPPORT_PATH];
    bytes x = three_rows(), y = array_of("|S1", false, "(3,)", "cxb", 3);
    margin_read_options options = {.labels = labels_file(path, &y),
                                   .expected = features,
                                   .expected_count = 2,
                                   .expected_target = &target};
    margin_table *table = parse_good(&x, &options);
    assert_int_equal(margin_table_data(table).target->category_count, 3);
    assert_string_equal(margin_table_data(table).target->name, "class");
    assert_true(target_at(table, 0) == 2 && isnan(target_at(table, 1)) && target_at(table, 2) == 1);
    assert_int_equal(table_details(table).unknown_categories, 1);
    margin_table_free(table);

    /* numbers are found by their text */
    static const double values[] = {1, -1, 1};
    y = array_of("<f8", false, "(3,)", values, sizeof values);
    labels_file(path, &y);
    target.categories = digits;
    target.category_count = 2;
    table = parse_good(&x, &options);
    assert_true(target_at(table, 0) == 1 && target_at(table, 1) == 0);
    margin_table_free(table);

    y = array_of("|S1", false, "(3,)", "cxb", 3);
    labels_file(path, &y);
    target.kind = MARGIN_NUMERIC;
    margin_error error = {0};
    assert_int_equal(parse(&x, &options, &table, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "labels are text");
}

static void assert_digits(margin_table *table, const char *first, const char *second) {
    const margin_column *target = margin_table_data(table).target;
    assert_int_equal(target->kind, MARGIN_CATEGORICAL);
    assert_int_equal(target->category_count, 2);
    assert_string_equal(target->categories[0], first);
    assert_string_equal(target->categories[1], second);
    margin_table_free(table);
}

static void labels_of_64_bits_keep_their_digits(void **state) {
    (void)state;
    static const int64_t whole[] = {9007199254740993, 9007199254740992, 9007199254740993};
    static const uint64_t large[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    static const int64_t both[] = {1, 9007199254740993, 2, 9007199254740992, 3, 9007199254740993};
    char path[SUPPORT_PATH];
    bytes x = three_rows(), y = array_of("<i8", false, "(3,)", whole, sizeof whole);
    margin_read_options options = {.labels = labels_file(path, &y)};
    assert_digits(parse_good(&x, &options), "9007199254740992", "9007199254740993");
    y = array_of("<u8", false, "(3,)", large, sizeof large);
    labels_file(path, &y);
    assert_digits(parse_good(&x, &options), "18446744073709551614", "18446744073709551615");

    const margin_column features[] = {{.name = "x1"}, {.name = "x2"}}, target = {.name = "y"};
    margin_read_options wanted = {
        .labels = path, .expected = features, .expected_count = 2, .expected_target = &target};
    margin_table *none = NULL;
    margin_error error = {0};
    assert_int_equal(parse(&x, &wanted, &none, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "labels.npy: row 1 has the target 18446744073709551615");

    bytes table = array_of("<i8", false, "(3, 2)", both, sizeof both);
    options = (margin_read_options){.target = "2"};
    assert_digits(parse_good(&table, &options), "9007199254740992", "9007199254740993");
    options = (margin_read_options){.target = "1", .categorical = "2"};
    margin_table *read = parse_good(&table, &options);
    assert_string_equal(margin_table_data(read).columns[0].categories[1], "9007199254740993");
    margin_table_free(read);
}

/* Of a file of many pages, which are given back as they are read: one just written is in memory. */
static void digits_are_kept_beyond_a_page(void **state) {
    (void)state;
    enum { ROWS_HERE = 20000 };
    const bytes head = array_of("<i8", false, "(20000, 2)", "", 0);
    const size_t length = head.length + 2 * ROWS_HERE * sizeof(int64_t);
    char path[SUPPORT_PATH], *file = malloc(length);
    const margin_read_options options = {.size = sizeof options, .target = "2"};
    margin_context *context = support_context(NULL, 2);
    margin_table *table;
    margin_error error = {0};
    memcpy(file, head.data, head.length);
    for (int64_t k = 0; k < 2 * ROWS_HERE; k++) {
        const int64_t value = k % 2 == 0 ? k : 9007199254740992 + k / 2 % 2;
        memcpy(file + head.length + (size_t)k * sizeof value, &value, sizeof value);
    }
    support_write_bytes(path, folder, "many.npy", file, length);
    assert_int_equal(margin_table_read(context, path, &options, &table, &error), MARGIN_OK);
    assert_true(target_at(table, 0) == 0 && target_at(table, ROWS_HERE - 1) == 1);
    assert_digits(table, "9007199254740992", "9007199254740993");
    margin_context_free(context);
    free(file);
}

static void wrong_labels_are_refused(void **state) {
    (void)state;
    static const double values[] = {1, 2, 3, 4, 5, 6};
    static const struct {
        const char *descr, *shape;
        const void *items;
        size_t length;
        margin_status status;
        const char *part;
    } cases[] = {
        {"<f8", "(4,)", values, 32, MARGIN_ERROR_DATA, "has 4 labels, but t.npy has 3 rows"},
        {"|S1", "(3, 2)", values, 6, MARGIN_ERROR_DATA, "text must be one column, this file has 2"},
        {"<f8", "(1, 3)", values, 24, MARGIN_ERROR_DATA, "has 1 label, but t.npy has 3 rows"},
        {"<U1", "(3,)", "\0\0\x11\0a\0\0\0b\0\0\0", 12, MARGIN_ERROR_FORMAT, "row 1"},
        {"<U1", "(3,)", "a\0\0\0\0\xd8\0\0b\0\0\0", 12, MARGIN_ERROR_FORMAT, "row 2"},
        {"<U2", "(3,)", "a\0\0\0b\0\0\0a\0\0\0b\0\0\0\0\0\0\0c\0\0\0", 24, MARGIN_ERROR_FORMAT,
         "row 3"},
        {"|S1", "(3,)",
         "a\xff"
         "b",
         3, MARGIN_ERROR_FORMAT, "row 2"},
        {"|S2", "(3,)", "ab\0bab", 6, MARGIN_ERROR_FORMAT, "row 2"},
    };
    char path[SUPPORT_PATH];
    bytes x = three_rows();
    for (int c = 0; c < MG_LENGTH(cases); c++) {
        bytes y = array_of(cases[c].descr, false, cases[c].shape, cases[c].items, cases[c].length);
        margin_read_options options = {.labels = labels_file(path, &y)};
        margin_table *table = NULL;
        margin_error error = {0};
        assert_int_equal(parse(&x, &options, &table, &error), cases[c].status);
        assert_contains(error.text, cases[c].part);
        assert_contains(error.text, "labels.npy");
        assert_null(table);
    }
    margin_table *table = NULL;
    margin_error error = {0};
    margin_read_options options = {.labels =
                                       support_write_text(path, folder, "l.csv", "1\n2\n3\n")};
    assert_int_equal(parse(&x, &options, &table, &error), MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "npy or idx");
    options.target = "1";
    assert_int_equal(parse(&x, &options, &table, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "twice");
    options = (margin_read_options){.labels = "no/such/file.npy"};
    assert_int_equal(parse(&x, &options, &table, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, "no/such/file.npy");
    static const char *const others[][2] = {{"t.csv", "a,y\n1,2\n"}, {"t.svm", "1 1:2\n"}};
    for (int k = 0; k < MG_LENGTH(others); k++) { /* the target of other tables is in them */
        margin_context *context = support_context(NULL, 1);
        assert_int_equal(margin_table_parse(context, others[k][1], (int64_t)strlen(others[k][1]),
                                            others[k][0], &options, &table, &error),
                         MARGIN_ERROR_ARGUMENT);
        assert_contains(error.text, "go with npy and idx data, and this is");
        assert_null(table);
        margin_context_free(context);
    }
    bytes text = array_of("|S1", false, "(3,)", "abc", 3);
    assert_refused(&text, NULL, MARGIN_ERROR_FORMAT, "holds text");
}

/* ---- Size, threads, memory ------------------------------------------------------------------ */

/* A large file on disk, in both orders, read by several threads: the same bytes each time. */
static void large_files_read_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    enum { ROWS = 20011, COLUMNS = 37 };
    const size_t count = (size_t)ROWS * COLUMNS;
    double *items = malloc(count * sizeof *items), *turned = malloc(count * sizeof *turned);
    uint64_t random = 5;
    for (size_t k = 0; k < count; k++)
        items[k] = support_normal(&random);
    for (size_t k = 0; k < count; k++)
        turned[k % COLUMNS * ROWS + k / COLUMNS] = items[k];
    for (int column_major = 0; column_major < 2; column_major++) {
        bytes header = array_of("<f8", column_major, "(20011, 37)", NULL, 0);
        unsigned char *whole = malloc(header.length + count * sizeof *items);
        memcpy(whole, header.data, header.length);
        memcpy(whole + header.length, column_major ? turned : items, count * sizeof *items);
        char path[SUPPORT_PATH];
        support_write_bytes(path, folder, "large.npy", whole,
                            header.length + count * sizeof *items);
        free(whole);
        for (int threads = 1; threads <= 4; threads *= 2) {
            margin_context *context = support_context(NULL, threads);
            margin_table *table = NULL;
            margin_error error;
            assert_int_equal(margin_table_read(context, path, NULL, &table, &error), MARGIN_OK);
            assert_memory_equal(margin_table_data(table).x.values, items, count * sizeof *items);
            margin_table_free(table);
            margin_context_free(context);
        }
    }
    free(items);
    free(turned);
}

/* Columns so long that the file is read in two passes. */
static void long_columns_are_read_in_panels(void **state) {
    (void)state;
    enum { ROWS = 2100000, COLUMNS = 9 };
    bytes header = array_of("|u1", true, "(2100000, 9)", NULL, 0);
    const size_t length = header.length + (size_t)ROWS * COLUMNS;
    unsigned char *whole = malloc(length), *items = whole + header.length;
    memcpy(whole, header.data, header.length);
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            items[(size_t)j * ROWS + (size_t)i] = (unsigned char)(i * 7 + j * 31);
    margin_context *context = support_context(NULL, 2);
    margin_table *table = NULL;
    margin_error error;
    margin_read_options options = {.value_type = MARGIN_F32};
    assert_int_equal(
        margin_table_parse(context, whole, (int64_t)length, "long.npy", &options, &table, &error),
        MARGIN_OK);
    free(whole);
    const float *values = margin_table_data(table).x.values;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (values[(size_t)i * COLUMNS + (size_t)j] != (float)((i * 7 + j * 31) & 255))
                fail_msg("row %d, column %d", i, j);
    margin_table_free(table);
    margin_context_free(context);
}

static margin_status read_body(margin_context *context, void *user, margin_error *error) {
    static const double items[] = {1, 2, 3, 4, 5, 6};
    bytes x = array_of("<f8", false, "(3, 2)", items, sizeof items);
    margin_read_options options = {.labels = user, .categorical = "2"};
    margin_table *table = NULL;
    margin_status status =
        margin_table_parse(context, x.data, (int64_t)x.length, "t.npy", &options, &table, error);
    if (status < 0) assert_null(table);
    margin_table_free(table);
    return status;
}

static void failing_allocations_leave_nothing(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    bytes y = array_of("|S1", false, "(3,)", "aba", 3);
    labels_file(path, &y);
    assert_true(support_fail_each_allocation(1, read_body, path) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_written_by_numpy),
        cmocka_unit_test(every_type_and_order_gives_the_same_table),
        cmocka_unit_test(extreme_integers_keep_their_sign),
        cmocka_unit_test(every_half_precision_number_is_exact),
        cmocka_unit_test(headers_in_every_legal_form),
        cmocka_unit_test(other_dimensions_become_rows),
        cmocka_unit_test(value_type_is_as_asked),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(lying_shapes_are_refused_before_anything_is_allocated),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(columns_take_the_roles_they_are_given),
        cmocka_unit_test(numbers_become_categories_where_asked),
        cmocka_unit_test(a_model_finds_its_columns_by_position),
        cmocka_unit_test(missing_values_are_kept_refused_or_dropped),
        cmocka_unit_test(unknown_categories_are_not_missing_values),
        cmocka_unit_test(numeric_labels_are_the_target),
        cmocka_unit_test(text_labels_become_sorted_categories),
        cmocka_unit_test(categories_of_dropped_rows_are_gone),
        cmocka_unit_test(labels_follow_a_models_categories),
        cmocka_unit_test(labels_of_64_bits_keep_their_digits),
        cmocka_unit_test(digits_are_kept_beyond_a_page),
        cmocka_unit_test(wrong_labels_are_refused),
        cmocka_unit_test(large_files_read_the_same_on_any_number_of_threads),
        cmocka_unit_test(long_columns_are_read_in_panels),
        cmocka_unit_test(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, group_folder_make, group_folder_remove);
}
