/* Streams of Arrow IPC: those of fuzz/seeds/arrow, written by polars 2.1 (`shared`: by hand). */
#include "arrow_maker.h"

#include "margin/margin.h"
#include "support/group_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *stream_bytes(const char *name, size_t *length) {
    char path[SUPPORT_PATH], place[80];
    snprintf(place, sizeof place, "fuzz/seeds/arrow/%s", name);
    return support_read_file(support_source(path, place), length);
}

static margin_status parse(const void *bytes, size_t length, const char *name, margin_table **table,
                           margin_error *error) {
    *table = NULL;
    return margin_table_parse(context, bytes, (int64_t)length, name, NULL, table, error);
}

/* What the streams `texts` and `words` hold. */
static const char same_csv[] = "size,count,hot,colour,class\n"
                               ",-20,1,red,yes\n-0.75,-13,0,green,no\n-0.5,-6,1,,no\n"
                               "-0.25,1,,blue,yes\n0.0,8,1,red,no\n,15,0,green,no\n"
                               "0.5,22,1,,yes\n0.75,29,0,blue,no\n1.0,36,1,red,no\n"
                               "1.25,43,0,green,yes\n,50,1,,no\n1.75,57,0,blue,no\n";

static void a_stream_is_the_table_of_its_csv(void **state) {
    static const char *const names[] = {"texts", "words", "views"};
    margin_table *from_csv, *table;
    margin_error error;
    (void)state;
    assert_int_equal(parse(same_csv, sizeof same_csv - 1, "t.csv", &from_csv, &error), MARGIN_OK);
    for (int k = 0; k < 3; k++) {
        size_t length;
        char *bytes = stream_bytes(names[k], &length);
        char *moved = malloc(length + 1); /* at an odd address */
        memcpy(moved + 1, bytes, length);
        for (int odd = 0; odd < 2; odd++) {
            if (parse(odd ? moved + 1 : bytes, length, odd ? "-" : "t.arrows", &table, &error) < 0)
                fail_msg("%s", error.text);
            maker_assert_same_tables(from_csv, table);
            margin_table_details details = {.size = sizeof details};
            margin_table_info(table, &details);
            assert_int_equal(details.format, MARGIN_FORMAT_ARROW);
            assert_int_equal(details.missing, 7);
            margin_table_free(table);
        }
        free(moved);
        free(bytes);
    }
    margin_table_free(from_csv);
}

static void assert_same_as_csv(const char *csv, const void *bytes, size_t length) {
    margin_table *from_csv, *table;
    margin_error error;
    assert_int_equal(parse(csv, strlen(csv), "t.csv", &from_csv, &error), MARGIN_OK);
    if (parse(bytes, length, "t.arrows", &table, &error) < 0) fail_msg("%s", error.text);
    maker_assert_same_tables(from_csv, table);
    margin_table_free(table);
    margin_table_free(from_csv);
}

/* Two columns have one dictionary, which is replaced between the batches. */
static void columns_share_a_dictionary(void **state) {
    enum { TYPE_OF_B = 203 };
    size_t length;
    char *bytes = stream_bytes("shared", &length);
    margin_table *table;
    margin_error error;
    (void)state;
    assert_same_as_csv("a,b,c,y\nu,w,p,1\nv,w,q,2\nw,u,p,3\nw,x,q,4\nx,w,q,5\n", bytes, length);
    assert_int_equal(bytes[TYPE_OF_B], 5);
    bytes[TYPE_OF_B] = 20;
    assert_int_equal(parse(bytes, length, "t.arrows", &table, &error), MARGIN_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "has a dictionary of two types"));
    free(bytes);
}

/* What lies where a value is missing is nobody's. */
static void views_of_missing_texts_may_be_anything(void **state) {
    static const char red[] = "\3\0\0\0red";
    size_t length, at = 0;
    char *bytes = stream_bytes("views", &length);
    (void)state;
    while (memcmp(bytes + at, red, sizeof red) != 0)
        at++;
    memset(bytes + at + 32, 0x7f, 16); /* of row 3 */
    assert_same_as_csv(same_csv, bytes, length);
    memset(bytes + at + 16, 0x7f, 16);
    margin_table *table;
    margin_error error;
    assert_int_equal(parse(bytes, length, "t.arrows", &table, &error), MARGIN_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "row 2: the text of column 'colour' lies outside"));
    free(bytes);
}

static void single_precision_stays(void **state) {
    size_t length;
    char *bytes = stream_bytes("numbers", &length);
    margin_table *table;
    margin_error error;
    (void)state;
    if (parse(bytes, length, "numbers.arrows", &table, &error) < 0) fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    assert_int_equal(data.x.value_type, MARGIN_F32);
    assert_int_equal(data.x.rows, 3);
    assert_true(((const float *)data.x.values)[2] == -0.5F);
    margin_table_free(table);
    free(bytes);
}

static void refused(const void *bytes, size_t length, const char *name, const char *words) {
    margin_table *table;
    margin_error error;
    assert_int_equal(parse(bytes, length, name, &table, &error), MARGIN_ERROR_FORMAT);
    assert_null(table);
    if (!strstr(error.text, words)) fail_msg("'%s' is not in: %s", words, error.text);
}

static void what_is_not_read_is_told(void **state) {
    size_t length;
    (void)state;
    char *bytes = stream_bytes("packed", &length);
    refused(bytes, length, "t.arrows", "write the stream without compression");
    free(bytes);
    refused("ARROW1\0\0........", 16, "t", "is an Arrow file (Feather)");
    refused("PAR1............", 16, "t", "is a Parquet file");
    refused("a,b\n1,2\n3,4\n", 12, "t.arrows", "is not an Arrow stream");
    refused("\xff\xff\xff\xff\xff\xff\xff\x7f", 8, "t", "message 1 is cut off");
    refused("\xff\xff\xff\xff\x10\0\0\0................", 24, "t",
            "message 1 has a damaged header");
}

static void a_cut_stream_has_fewer_rows_or_is_refused(void **state) {
    static const char *const names[] = {"texts", "words", "views", "numbers"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        size_t length;
        char *bytes = stream_bytes(names[k], &length);
        for (size_t cut = 0; cut < length; cut++) {
            margin_table *table;
            margin_error error;
            char *part = malloc(cut + 1); /* so that reading over its end is seen */
            memcpy(part, bytes, cut);
            const margin_status status = parse(part, cut, "cut.arrows", &table, &error);
            if (status >= 0)
                assert_true(length - cut <= 8); /* the mark of the end may be missing */
            else
                assert_true(status == MARGIN_ERROR_FORMAT || status == MARGIN_ERROR_DATA);
            margin_table_free(table);
            free(part);
        }
        free(bytes);
    }
}

/* Each byte changed: a table or a sentence. */
static void a_changed_stream_does_no_harm(void **state) {
    static const char *const names[] = {"texts", "words", "views", "numbers"};
    static const unsigned char changes[] = {1, 0x80, 0xff};
    (void)state;
    for (int k = 0; k < 4; k++) {
        size_t length;
        char *bytes = stream_bytes(names[k], &length);
        for (size_t at = 0; at < length; at++)
            for (size_t c = 0; c < sizeof changes; c++) {
                margin_table *table;
                margin_error error = {0};
                bytes[at] = (char)(bytes[at] ^ changes[c]);
                const margin_status status = parse(bytes, length, "t.arrows", &table, &error);
                if (status < 0) assert_true(!table && strlen(error.text) > 20);
                margin_table_free(table);
                bytes[at] = (char)(bytes[at] ^ changes[c]);
            }
        free(bytes);
    }
}

/* All columns are one field of the header, so that its name is as long as all of them together. */
static void names_are_not_longer_than_their_header(void **state) {
    enum { COLUMNS = 1000, NAME = 1000, FIELD = 12 };
    static const uint16_t head[] = {
        16, 0, 10, 12, 0, 8, 4, 0, 12,      0, 16, 0, 1, 0, /* message: its type and table */
        8,  8, 0,  4,  8, 0, 4, 0, COLUMNS, 0};             /* schema: the list of its fields */
    static const uint16_t field[] = {12, 16, 4, 0, 12, 8, 12, 0, 20,   0,
                                     12, 0,  5, 0, 4,  4, 4,  0, NAME, 0};
    const int32_t size = sizeof head + 4 * COLUMNS + sizeof field + NAME + 4;
    char *bytes = calloc((size_t)size + 8, 1), *to = bytes + 8 + sizeof head;
    (void)state;
    memset(bytes, 0xff, 4);
    memcpy(bytes + 4, &size, sizeof size);
    memcpy(bytes + 8, head, sizeof head);
    for (int32_t j = 0; j < COLUMNS; j++, to += sizeof j) {
        const int32_t distance = 4 * (COLUMNS - j) + FIELD;
        memcpy(to, &distance, sizeof distance);
    }
    memcpy(to, field, sizeof field);
    memset(to + sizeof field, 'n', NAME);
    refused(bytes, (size_t)size + 8, "t.arrows", "message 1 has a damaged header");
    free(bytes);
}

/* A few hundred bytes that ask for gigabytes. */
static void rows_of_nothing_are_refused(void **state) {
    static const size_t types[] = {0x51, 0x89}, lengths[] = {0xe8, 0x150, 0x160};
    const int64_t rows = 200000000;
    size_t length;
    char *bytes = stream_bytes("numbers", &length);
    (void)state;
    for (int k = 0; k < 2; k++)
        bytes[types[k]] = 1; /* null */
    for (int k = 0; k < 3; k++)
        memcpy(bytes + lengths[k], &rows, sizeof rows);
    refused(bytes, length, "t.arrows", "message 2 has rows without values");
    free(bytes);
}

/* The end of the message at `at`: its header and what follows it up to `next`. */
static size_t header_end(const char *bytes, size_t at) {
    int32_t length;
    memcpy(&length, bytes + at + 4, sizeof length);
    return at + 8 + (size_t)length;
}

/* The stream `numbers` with its one batch so many times. */
static char *many_batches(size_t times, size_t *length) {
    size_t whole;
    char *bytes = stream_bytes("numbers", &whole);
    const size_t first = header_end(bytes, 0), end = whole - 8;
    char *many = malloc(first + times * (end - first) + 8), *to = many + first;
    memcpy(many, bytes, first);
    for (size_t k = 0; k < times; k++, to += end - first)
        memcpy(to, bytes + first, end - first);
    memcpy(to, bytes + end, 8);
    *length = (size_t)(to - many) + 8;
    free(bytes);
    return many;
}

static void batches_follow_each_other_within_the_memory_limit(void **state) {
    size_t length;
    char *bytes = many_batches(5000, &length);
    margin_table *table;
    margin_error error;
    (void)state;
    if (parse(bytes, length, "many.arrows", &table, &error) < 0) fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    assert_int_equal(data.x.rows, 15000);
    for (int64_t i = 0; i < data.x.rows; i++)
        assert_true(((const double *)data.y.values)[i] == -20.0 + 7.0 * (double)(i % 3));
    margin_table_free(table);
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = (int64_t)length};
    margin_context *small;
    assert_int_equal(margin_context_create(&options, &small, NULL), MARGIN_OK);
    assert_int_equal(
        margin_table_parse(small, bytes, (int64_t)length, "t.arrows", NULL, &table, &error),
        MARGIN_ERROR_LIMIT);
    margin_context_free(small);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_the_table_of_its_csv),
        cmocka_unit_test(columns_share_a_dictionary),
        cmocka_unit_test(views_of_missing_texts_may_be_anything),
        cmocka_unit_test(single_precision_stays),
        cmocka_unit_test(what_is_not_read_is_told),
        cmocka_unit_test(a_cut_stream_has_fewer_rows_or_is_refused),
        cmocka_unit_test(a_changed_stream_does_no_harm),
        cmocka_unit_test(names_are_not_longer_than_their_header),
        cmocka_unit_test(rows_of_nothing_are_refused),
        cmocka_unit_test(batches_follow_each_other_within_the_memory_limit),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
