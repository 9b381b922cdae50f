/* Streams of Arrow batches: every type against values known otherwise, the same table as from CSV
 * and however it is cut, roles, missing values, a model's wishes. */
#include "arrow_maker.h"

#include "margin/margin.h"
#include "support/group_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_table *read_good(arrow_maker *maker, const margin_read_options *options) {
    margin_table *table;
    margin_error error = {0};
    if (maker_read(context, maker, options, &table, &error) != MARGIN_OK)
        fail_msg("refused: %s", error.text);
    return table;
}

static double cell(const margin_table *table, int64_t row, int64_t column) {
    const margin_matrix x = margin_table_data(table).x;
    const int64_t k = row * x.stride + column;
    return x.value_type == MARGIN_F32 ? (double)((const float *)x.values)[k]
                                      : ((const double *)x.values)[k];
}

static const char *word(const margin_table *table, int64_t row, int64_t column) {
    const margin_column *described = &margin_table_data(table).columns[column];
    const double code = cell(table, row, column);
    assert_int_equal(described->kind, MARGIN_CATEGORICAL);
    return isnan(code) ? NULL : described->categories[(int64_t)code];
}

static const margin_read_options no_target = {.size = sizeof no_target, .target = ""};

/* ---- Types ---------------------------------------------------------------------------------- */

/* 0, 1, ... as numbers of a format; returns the bytes of one. */
static size_t count_up(const char *format, int count, void *out) {
    for (int k = 0; k < count; k++) {
        switch (*format) {
        case 'c':
        case 'C':
            ((uint8_t *)out)[k] = (uint8_t)k;
            break;
        case 's':
        case 'S':
            ((uint16_t *)out)[k] = (uint16_t)k;
            break;
        case 'i':
        case 'I':
            ((uint32_t *)out)[k] = (uint32_t)k;
            break;
        case 'l':
        case 'L':
            ((uint64_t *)out)[k] = (uint64_t)k;
            break;
        case 'e': /* exact for 0, 1, 2, 3 */
            ((uint16_t *)out)[k] = (uint16_t[]){0, 0x3c00, 0x4000, 0x4200}[k % 4];
            break;
        case 'f':
            ((float *)out)[k] = (float)k;
            break;
        default:
            ((double *)out)[k] = k;
        }
    }
    return strchr("cC", *format) ? 1 : strchr("sSe", *format) ? 2 : strchr("iIf", *format) ? 4 : 8;
}

/* Behind an offset of the column and one of the batch, with nulls, twice. */
static void every_number_is_read(void **state) {
    (void)state;
    static const char *formats[] = {"c", "C", "s", "S", "i", "I", "l", "L", "e", "f", "g"};
    for (int f = 0; f < 11; f++) {
        uint64_t values[8];
        const size_t each = count_up(formats[f], 8, values);
        arrow_maker maker;
        maker_begin(&maker);
        maker_column(&maker, formats[f], "a", NULL);
        for (int b = 0; b < 2; b++) {
            struct ArrowArray column = maker_numbers(&maker, 6, 2, values, each, "11101111");
            maker_batch(&maker, 4, 1, &column); /* rows 3 to 6 of the buffer */
        }
        margin_table *table = read_good(&maker, &no_target);
        const margin_matrix x = margin_table_data(table).x;
        assert_int_equal(x.rows, 8);
        assert_int_equal(x.value_type, strchr("ef", *formats[f]) ? MARGIN_F32 : MARGIN_F64);
        for (int i = 0; i < 8; i++) {
            const int at = 3 + i % 4;
            if (at == 3)
                assert_true(isnan(cell(table, i, 0)));
            else
                assert_true(cell(table, i, 0) == (*formats[f] == 'e' ? at % 4 : at));
        }
        assert_int_equal(table_details(table).missing, 2);
        assert_int_equal(table_details(table).format, MARGIN_FORMAT_ARROW);
        margin_table_free(table);
    }
}

static void signs_and_extremes_are_kept(void **state) {
    (void)state;
    const int8_t small[] = {-128, 127};
    const uint64_t large[] = {UINT64_MAX, (uint64_t)1 << 53};
    const int64_t low[] = {INT64_MIN, -1};
    const double real[] = {-HUGE_VAL, (double)NAN};
    arrow_maker maker;
    maker_begin(&maker);
    maker_column(&maker, "c", "small", NULL);
    maker_column(&maker, "L", "large", NULL);
    maker_column(&maker, "l", "low", NULL);
    maker_column(&maker, "g", "real", NULL);
    maker_column(&maker, "n", "none", NULL);
    maker_column(&maker, "b", "bit", NULL);
    struct ArrowArray columns[] = {maker_numbers(&maker, 2, 0, small, 1, NULL),
                                   maker_numbers(&maker, 2, 0, large, 8, NULL),
                                   maker_numbers(&maker, 2, 0, low, 8, NULL),
                                   maker_numbers(&maker, 2, 0, real, 8, NULL),
                                   maker_nulls(&maker, 2),
                                   maker_bits(&maker, 2, 7, "000000010", NULL)};
    maker_batch(&maker, 2, 0, columns);
    margin_table *table = read_good(&maker, &no_target);
    const double expected[2][4] = {{-128, 0x1p64, -0x1p63, -HUGE_VAL}, {127, 0x1p53, -1, 0}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4 - i; j++)
            assert_true(cell(table, i, j) == expected[i][j]);
    assert_true(isnan(cell(table, 1, 3)) && isnan(cell(table, 0, 4)) && isnan(cell(table, 1, 4)));
    assert_true(cell(table, 0, 5) == 1 && cell(table, 1, 5) == 0);
    margin_table_free(table);
}

static const char *const words[] = {
    "unseen", "b", "a text of more than twelve bytes", NULL, "\xc3\xa9", "", "b", "a"};

static void assert_words(margin_table *table) {
    assert_int_equal(margin_table_data(table).x.rows, 7);
    for (int i = 0; i < 7; i++) {
        const char *found = word(table, i, 0);
        if (words[i + 1])
            assert_string_equal(found, words[i + 1]);
        else
            assert_null(found);
    }
    /* in order of their bytes, and only those that occur */
    const margin_column *column = &margin_table_data(table).columns[0];
    const char *const sorted[] = {"", "a", "a text of more than twelve bytes", "b", "\xc3\xa9"};
    assert_int_equal(column->category_count, 5);
    for (int k = 0; k < 5; k++)
        assert_string_equal(column->categories[k], sorted[k]);
    margin_table_free(table);
}

static void texts_and_dictionaries_are_categories(void **state) {
    (void)state;
    static const char *formats[] = {"u", "U", "vu"},
                      *indices[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
    for (int f = 0; f < 3; f++) {
        arrow_maker maker;
        maker_begin(&maker);
        maker_column(&maker, formats[f], "word", NULL);
        struct ArrowArray column = maker_texts(&maker, 7, 1, words, formats[f]);
        maker_batch(&maker, 7, 0, &column);
        assert_words(read_good(&maker, &no_target));
        for (int k = 0; k < 8; k++) {
            uint64_t numbers[8];
            const size_t each = count_up(indices[k], 8, numbers);
            maker_begin(&maker);
            maker_column(&maker, indices[k], "word", formats[f]);
            for (int b = 0; b < 2; b++) { /* one word is missing in the dictionary itself */
                struct ArrowArray codes =
                    maker_numbers(&maker, b ? 4 : 3, b ? 4 : 1, numbers, each, NULL);
                maker_give_dictionary(&codes, maker_texts(&maker, 8, 0, words, formats[f]));
                maker_batch(&maker, b ? 4 : 3, 0, &codes);
            }
            assert_words(read_good(&maker, &no_target));
        }
    }
}

static void (*release_of_words)(struct ArrowArray *);

static void release_but_offsets(struct ArrowArray *array) {
    array->buffers[1] = NULL;
    array->release = release_of_words;
    array->release(array);
}

/* Dictionaries of texts of the same lengths may share offsets, and are two for all that. */
static void shared_offsets_are_not_shared_words(void **state) {
    (void)state;
    static const char *const texts[][2] = {{"aa", "b"}, {"cc", "d"}};
    static const int8_t index[] = {0, 1};
    const void *offsets = NULL;
    arrow_maker maker;
    maker_begin(&maker);
    maker_column(&maker, "c", "word", "u");
    for (int b = 0; b < 2; b++) {
        struct ArrowArray codes = maker_numbers(&maker, 2, 0, index, 1, NULL);
        struct ArrowArray of = maker_texts(&maker, 2, 0, texts[b], "u");
        free((void *)of.buffers[0]);
        of.buffers[0] = NULL; /* none is missing */
        if (b == 1) {
            free((void *)of.buffers[1]);
            of.buffers[1] = offsets;
            release_of_words = of.release;
            of.release = release_but_offsets;
        }
        offsets = of.buffers[1];
        maker_give_dictionary(&codes, of);
        maker_batch(&maker, 2, 0, &codes);
    }
    margin_table *table = read_good(&maker, &no_target);
    for (int i = 0; i < 4; i++)
        assert_string_equal(word(table, i, 0), texts[i / 2][i % 2]);
    margin_table_free(table);
}

/* ---- The same table as from a file ---------------------------------------------------------- */

static char *rows_as_csv(void) {
    char *text = malloc(MAKER_ROWS * 64), *to = text;
    assert_non_null(text);
    to += sprintf(to, "size,count,colour,class\n");
    for (int i = 0; i < MAKER_ROWS; i++) {
        char size[MARGIN_NUMBER_TEXT], number[16] = "";
        margin_number_print_f64(i * 0.37 - 300, size);
        if (i % 17) sprintf(number, "%d", i * 7919 % 1009 - 500);
        to += sprintf(to, "%s,%s,%s,%d\n", size, number,
                      (const char *const[]){"red", "green", "blue"}[i * i % 3], i % 5 > 1);
    }
    return text;
}

static void the_table_is_that_of_the_same_csv(void **state) {
    (void)state;
    char *text = rows_as_csv();
    margin_table *from_csv, *table;
    margin_error error;
    assert_int_equal(
        margin_table_parse(context, text, (int64_t)strlen(text), "t.csv", NULL, &from_csv, &error),
        MARGIN_OK);
    static const int lengths[] = {MAKER_ROWS, 1000, 47};
    for (int k = 0; k < 3; k++) {
        for (int threads = 1; threads <= 4; threads += 3) {
            arrow_maker maker;
            maker_rows(&maker, lengths[k]);
            margin_context *with = support_context(NULL, threads);
            if (maker_read(with, &maker, NULL, &table, &error) < 0) fail_msg("%s", error.text);
            maker_assert_same_tables(from_csv, table);
            assert_int_equal(table_details(table).missing, table_details(from_csv).missing);
            margin_table_free(table);
            margin_context_free(with);
        }
    }
    margin_table_free(from_csv);
    free(text);
}

/* ---- Roles ---------------------------------------------------------------------------------- */

/* Columns: weight (f32), when (a date), word (utf8), a (i32), no name (i32). */
static void make_mixed(arrow_maker *maker) {
    const float weight[] = {1, 2, 0.5F, 1};
    const int32_t number[] = {10, 20, 30, 40};
    static const char *const texts[] = {"yes", "no", NULL, "yes"};
    maker_begin(maker);
    maker_column(maker, "f", "weight", NULL);
    maker_column(maker, "tdD", "when", NULL);
    maker_column(maker, "u", "word", NULL);
    maker_column(maker, "i", "a", NULL);
    maker_column(maker, "i", "", NULL);
    struct ArrowArray columns[] = {
        maker_numbers(maker, 4, 0, weight, 4, NULL), maker_numbers(maker, 4, 0, number, 4, NULL),
        maker_texts(maker, 4, 0, texts, "u"), maker_numbers(maker, 4, 0, number, 4, "1011"),
        maker_numbers(maker, 4, 0, number, 4, NULL)};
    maker_batch(maker, 4, 0, columns);
}

static void columns_play_their_parts(void **state) {
    (void)state;
    arrow_maker maker;
    margin_read_options options = {
        .size = sizeof options, .target = "word", .weights = "weight", .ignore = "when"};
    make_mixed(&maker);
    margin_table *table = read_good(&maker, &options);
    const margin_data data = margin_table_data(table);
    assert_int_equal(data.x.columns, 2);
    assert_string_equal(data.columns[0].name, "a");
    assert_string_equal(data.columns[1].name, "x5");
    assert_string_equal(data.target->name, "word");
    assert_int_equal(data.target->category_count, 2);
    const double *y = data.y.values, *w = data.weights.values;
    assert_true(y[0] == 1 && y[1] == 0 && isnan(y[2]) && y[3] == 1);
    assert_true(w[0] == 1 && w[1] == 2 && w[2] == 0.5 && w[3] == 1);
    margin_table_free(table);

    options.missing = MARGIN_MISSING_DROP; /* the second row and the third */
    make_mixed(&maker);
    table = read_good(&maker, &options);
    assert_int_equal(margin_table_data(table).x.rows, 2);
    assert_int_equal(table_details(table).rows_dropped, 2);
    assert_int_equal(margin_table_data(table).target->category_count, 1); /* no `no` is left */
    assert_true(cell(table, 1, 0) == 40);
    margin_table_free(table);

    options.missing = MARGIN_MISSING_ERROR;
    make_mixed(&maker);
    maker_assert_refused(context, &maker, &options, MARGIN_ERROR_DATA,
                         "row 2: the value of column a is missing");
    options = (margin_read_options){.size = sizeof options,
                                    .ignore = "when",
                                    .missing = MARGIN_MISSING_CATEGORY,
                                    .categorical = "a"};
    make_mixed(&maker);
    table = read_good(&maker, &options);
    assert_string_equal(word(table, 1, 2), "missing");
    assert_string_equal(word(table, 2, 1), "missing");
    assert_string_equal(word(table, 3, 2), "40");
    assert_int_equal(table_details(table).missing, 0);
    margin_table_free(table);
}

static void what_is_not_read_is_named(void **state) {
    (void)state;
    arrow_maker maker;
    const margin_read_options by_text = {
        .size = sizeof by_text, .target = "a", .weights = "word", .ignore = "when"};
    make_mixed(&maker);
    maker_assert_refused(context, &maker, NULL, MARGIN_ERROR_FORMAT, "column 'when' holds dates");
    make_mixed(&maker);
    maker_assert_refused(context, &maker, &by_text, MARGIN_ERROR_DATA,
                         "column 'word' holds texts, but weights");
    static const struct {
        const char *format, *values, *part;
    } others[] = {{"d:18,3", NULL, "decimal"}, {"+l", NULL, "lists"},    {"z", NULL, "bytes"},
                  {"vz", NULL, "bytes"},       {"i", "l", "dictionary"}, {"f", "u", "dictionary"},
                  {"tsu:UTC", NULL, "dates"},  {"", NULL, "values"},     {"gg", NULL, "values"}};
    for (int k = 0; k < 9; k++) {
        maker_begin(&maker);
        maker_column(&maker, others[k].format, "odd", others[k].values);
        maker_assert_refused(context, &maker, &no_target, MARGIN_ERROR_FORMAT, others[k].part);
    }
}

static void long_labels_keep_their_digits(void **state) {
    (void)state;
    const int64_t label[] = {9007199254740993, 9007199254740992, 1, INT64_MAX};
    const double value[] = {1, 2, 3, 4};
    for (int k = 0; k < 2; k++) { /* the same number where it is null does not count */
        arrow_maker maker;
        maker_begin(&maker);
        maker_column(&maker, "g", "x", NULL);
        maker_column(&maker, "l", "label", NULL);
        struct ArrowArray columns[] = {maker_numbers(&maker, 4, 0, value, 8, NULL),
                                       maker_numbers(&maker, 4, 0, label, 8, k ? "0110" : NULL)};
        maker_batch(&maker, 4, 0, columns);
        margin_table *table = read_good(&maker, NULL);
        const margin_data data = margin_table_data(table);
        assert_int_equal(data.target->kind, k ? MARGIN_NUMERIC : MARGIN_CATEGORICAL);
        if (!k) assert_string_equal(data.target->categories[2], "9007199254740993");
        margin_table_free(table);
    }
}

static void a_model_finds_its_columns(void **state) {
    (void)state;
    static const char *const known[] = {"no", "maybe"}, *const bits[] = {"false", "true"};
    const margin_column expected[] = {
        {.name = "a"},
        {.name = "word", .kind = MARGIN_CATEGORICAL, .categories = known, .category_count = 2}};
    margin_read_options options = {
        .size = sizeof options, .expected = expected, .expected_count = 2};
    arrow_maker maker;
    make_mixed(&maker);
    margin_table *table = read_good(&maker, &options);
    assert_true(cell(table, 0, 0) == 10 && cell(table, 1, 1) == 0 && isnan(cell(table, 0, 1)));
    assert_int_equal(table_details(table).unknown_categories, 2);
    margin_table_free(table);
    options.unknown = MARGIN_UNKNOWN_KEEP;
    make_mixed(&maker);
    table = read_good(&maker, &options);
    assert_string_equal(word(table, 0, 1), "yes");
    assert_int_equal(margin_table_data(table).columns[1].category_count, 3);
    margin_table_free(table);
    options.unknown = MARGIN_UNKNOWN_ERROR;
    make_mixed(&maker);
    maker_assert_refused(context, &maker, &options, MARGIN_ERROR_DATA,
                         "'yes' in column word is unknown");
    options.expected = &(margin_column){.name = "word"};
    options.expected_count = 1;
    make_mixed(&maker);
    maker_assert_refused(context, &maker, &options, MARGIN_ERROR_DATA,
                         "the model was trained on numbers");
    options.expected = &(margin_column){.name = "absent"};
    make_mixed(&maker);
    maker_assert_refused(context, &maker, &options, MARGIN_ERROR_DATA, "absent");

    const margin_column truth = {
        .name = "bit", .kind = MARGIN_CATEGORICAL, .categories = bits, .category_count = 2};
    options.expected = &truth;
    maker_begin(&maker);
    maker_column(&maker, "b", "bit", NULL);
    struct ArrowArray column = maker_bits(&maker, 3, 0, "101", "110");
    maker_batch(&maker, 3, 0, &column);
    table = read_good(&maker, &options);
    assert_true(cell(table, 0, 0) == 1 && cell(table, 1, 0) == 0 && isnan(cell(table, 2, 0)));
    margin_table_free(table);
}

static void null_rows_are_missing_in_all_columns(void **state) {
    (void)state;
    const double value[] = {1, 2, 3};
    arrow_maker maker;
    maker_begin(&maker);
    maker_column(&maker, "g", "x", NULL);
    maker_column(&maker, "u", "word", NULL);
    struct ArrowArray columns[] = {maker_numbers(&maker, 3, 0, value, 8, NULL),
                                   maker_texts(&maker, 3, 0, words + 4, "u")};
    struct ArrowArray *batch = maker_batch(&maker, 2, 1, columns);
    uint8_t *bits = malloc(1);
    assert_non_null(bits);
    *bits = 2; /* of three rows the middle one, which is the first */
    batch->buffers[0] = bits;
    batch->null_count = -1;
    margin_table *table = read_good(&maker, &no_target);
    assert_true(cell(table, 0, 0) == 2 && isnan(cell(table, 1, 0)));
    assert_string_equal(word(table, 0, 1), "");
    assert_null(word(table, 1, 1));
    margin_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_read),
        cmocka_unit_test(signs_and_extremes_are_kept),
        cmocka_unit_test(texts_and_dictionaries_are_categories),
        cmocka_unit_test(shared_offsets_are_not_shared_words),
        cmocka_unit_test(the_table_is_that_of_the_same_csv),
        cmocka_unit_test(columns_play_their_parts),
        cmocka_unit_test(what_is_not_read_is_named),
        cmocka_unit_test(long_labels_keep_their_digits),
        cmocka_unit_test(a_model_finds_its_columns),
        cmocka_unit_test(null_rows_are_missing_in_all_columns),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
