/* CSV that is refused: each bad input by name, with the place and the sentence. */
#include "csv_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `numbers` rows with numbers of `different` values, then `texts` rows with a text. */
static void mixed_column(char *text, int numbers, int different, int texts) {
    strcpy(text, "a,b\n");
    for (int k = 0; k < numbers + texts; k++) {
        char line[40];
        if (k < numbers)
            snprintf(line, sizeof line, "%d,%d\n", k % different, k);
        else
            snprintf(line, sizeof line, "%s,%d\n", k % 2 ? "unknown" : "high", k);
        strcat(text, line);
    }
}

static void stray_texts_among_numbers_are_refused(void **state) {
    (void)state;
    char text[20000], sentence[100];
    static const struct {
        int numbers, different, texts;
        bool refused;
    } cases[] = {{9, 9, 1, false},       {10, 1, 1, true},       {10, 10, 2, false},
                 {90, 5, 9, true},       {90, 5, 10, false},     {300, 101, 200, true},
                 {300, 100, 200, false}, {200, 200, 200, false}, {201, 200, 200, true}};
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        mixed_column(text, cases[k].numbers, cases[k].different, cases[k].texts);
        margin_read_options options = {0};
        if (cases[k].refused) {
            snprintf(sentence, sizeof sentence, "while %d of its %d values are", cases[k].numbers,
                     cases[k].numbers + cases[k].texts);
            csv_refused(text, strlen(text), options, MARGIN_ERROR_FORMAT, cases[k].numbers + 2, 1,
                        sentence);
            options.categorical = "a";
        }
        margin_table *table = csv_read(text, strlen(text), options);
        assert_int_equal(margin_table_data(table).columns[0].category_count,
                         cases[k].different + (cases[k].texts > 1 ? 2 : 1));
        margin_table_free(table);
    }
    /* In the target as well. */
    mixed_column(text, 50, 50, 1);
    csv_refused(text, strlen(text), (margin_read_options){.target = "a"}, MARGIN_ERROR_FORMAT, 52,
                1, "'high' in column 'a'");
}

static void decimal_commas_are_refused(void **state) {
    (void)state;
    REFUSED("a;b\n1;3,5\n2;-4,25\n", MARGIN_ERROR_FORMAT, 2, 3, "'3,5' in column 'b'");
    REFUSED("a,b\n1,\"3,5\"\n", MARGIN_ERROR_FORMAT, 2, 3, "a number with a comma");
    margin_table *table = READ("a;b\n1;3,5\n2;4,5x\n");
    csv_categories(&margin_table_data(table).columns[1], "3,5/4,5x");
    margin_table_free(table);
    table = READ("a;b\n1;3,5\n", .categorical = "b");
    margin_table_free(table);
    REFUSED("a,b\n1,\"1,234.50\"\n2,999\n3,\"-12,345,678\"\n", MARGIN_ERROR_FORMAT, 2, 3,
            "'1,234.50'");
    REFUSED("a,b\n1,$5.00\n2,-$7\n", MARGIN_ERROR_FORMAT, 2, 3, "'$5.00' in column 'b'");
    REFUSED("a,b\n1,5 %\n2,7.5%\n3,8\n", MARGIN_ERROR_FORMAT, 2, 3, "a comma or a unit");
    table = READ("a;b\n1;1,2,3\n2;$\n3;%\n4;1,23,4\n5;5 kg\n6;1,2 3\n");
    csv_categories(&margin_table_data(table).columns[1], "$/%/1,2 3/1,2,3/1,23,4/5 kg");
    margin_table_free(table);
}

static void missing_may_be_an_error(void **state) {
    (void)state;
    REFUSED("a,b\n1,2\n3, ?\n", MARGIN_ERROR_FORMAT, 3, 4, "column 'b' is missing",
            .missing = MARGIN_MISSING_ERROR);
    REFUSED("a,b\n1,x\n3,\n", MARGIN_ERROR_FORMAT, 3, 3, "data row 2",
            .missing = MARGIN_MISSING_ERROR);
    REFUSED("a,b\n1,2\n3,\n", MARGIN_ERROR_FORMAT, 3, 3, "the target 'b' is missing",
            .missing = MARGIN_MISSING_ERROR, .target = "b");
    csv_values(READ("a,b\n1,2\n,3\n", .missing = MARGIN_MISSING_ERROR, .ignore = "a"),
               VALUES(2, 1, 2, 3));
}

static void weights_must_be_usable(void **state) {
    (void)state;
    REFUSED("w,a\n1,2\n-1,3\n", MARGIN_ERROR_FORMAT, 3, 1, "the weight '-1'", .weights = "w");
    REFUSED("w,a\n1,2\n,3\n", MARGIN_ERROR_FORMAT, 3, 1, "the weight ''", .weights = "w");
    REFUSED("w,a\n1,2\nnan,3\n", MARGIN_ERROR_FORMAT, 3, 1, "the weight 'nan'", .weights = "w");
    REFUSED("w,a\n1,2\ninf,3\n", MARGIN_ERROR_FORMAT, 3, 1, "the weight 'inf'", .weights = "w");
    REFUSED("w,a\n1,2\n1e999,3\n", MARGIN_ERROR_FORMAT, 3, 1, "the weight '1e999'", .weights = "w");
    REFUSED("w,a\n1,2\nmuch,3\n", MARGIN_ERROR_FORMAT, 3, 1, "'much' in column 'w'",
            .weights = "w");
    REFUSED("w,a\n1,2\n,3\n", MARGIN_ERROR_FORMAT, 3, 1, "the weight ''", .weights = "w",
            .missing = MARGIN_MISSING_DROP);
}

static void a_model_wants_numbers_where_it_had_numbers(void **state) {
    (void)state;
    REFUSED("town,age\nKiel,7\nKiel,old\n", MARGIN_ERROR_FORMAT, 3, 6,
            "'old' in column 'age' is not a number, but the model", MODEL, .target = CSV_NULL,
            .target_optional = 1);
    REFUSED("age,ok\n7,yes\n", MARGIN_ERROR_DATA, 0, 0, "'town'", MODEL, .target = CSV_NULL);
    static const char *const twice[] = {"a", "a"};
    static const margin_column odd = {
        .name = "town", .kind = MARGIN_CATEGORICAL, .categories = twice, .category_count = 2};
    margin_table *table = NULL;
    margin_error error;
    margin_read_options options = {.size = sizeof options, .expected = &odd, .expected_count = 1};
    assert_int_equal(
        margin_table_parse(csv_context, "town\na\n", 7, "t.csv", &options, &table, &error),
        MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "'a' twice");
}

/* ---- Bad input ------------------------------------------------------------------------------ */

static void empty_files(void **state) {
    (void)state;
    REFUSED("", MARGIN_ERROR_DATA, 0, 0, "is empty");
    REFUSED("\n\r\n  \n", MARGIN_ERROR_DATA, 0, 0, "is empty");
    REFUSED("\xef\xbb\xbf", MARGIN_ERROR_DATA, 0, 0, "is empty");
    REFUSED("\n\x1a", MARGIN_ERROR_DATA, 0, 0, "is empty");
    REFUSED("# only a comment\n", MARGIN_ERROR_DATA, 0, 0, "is empty");
    REFUSED("a,b\n", MARGIN_ERROR_DATA, 0, 0, "a header but no rows (if its only line");
    REFUSED("1,2\n", MARGIN_ERROR_DATA, 0, 0, "a header but no rows", NAMED);
    REFUSED("a,b\n\n\n", MARGIN_ERROR_DATA, 0, 0, "a header but no rows");
}

static void one_column_has_no_features_beside_the_target(void **state) {
    (void)state;
    REFUSED("a\n1\n2\n", MARGIN_ERROR_DATA, 0, 0, "the last column is the target",
            .target = CSV_NULL);
    csv_values(READ("a\n1\n2\n"), VALUES(2, 1, 1, 2));
}

static void ragged_rows(void **state) {
    (void)state;
    REFUSED("a,b\n1,2\n3\n", MARGIN_ERROR_FORMAT, 3, 1, "the row has 1 cell, but the header has 2");
    REFUSED("1,2\n3,4,5\n", MARGIN_ERROR_FORMAT, 2, 1, "has 3 cells, but the first row has 2");
    REFUSED("a,b,c\n1,2,3\n1,2,3,4\n1,2,3\n", MARGIN_ERROR_FORMAT, 3, 1, "has 4 cells");
    REFUSED("a,b,c\n1,2\n1,2,3\n", MARGIN_ERROR_FORMAT, 2, 1, "has 2 cells");
    REFUSED("a,b\n1,2\n\n\n3,4,5\n", MARGIN_ERROR_FORMAT, 5, 1, "has 3 cells");
    REFUSED("a,b\n1,\"x\ny\"\n3\n", MARGIN_ERROR_FORMAT, 4, 1, "has 1 cell");
    REFUSED("a,b\n1,2\n3", MARGIN_ERROR_FORMAT, 3, 1, "has 1 cell");
    REFUSED("a,b\n 'x,y',1\n", MARGIN_ERROR_FORMAT, 2, 1, "must be in double quotes");
    /* a carriage return inside a row is no blank; found by fuzzing */
    REFUSED("1\n2\r3\n\t\n4 5 6\n", MARGIN_ERROR_FORMAT, 3, 1, "has 0 cells", .separator = ' ');
    REFUSED("1 2\n2 3 \r 4\n", MARGIN_ERROR_FORMAT, 2, 1, "has 4 cells", .separator = ' ');
    REFUSED("1 2 3\t\r\r\n4 5 6\n", MARGIN_ERROR_FORMAT, 2, 1, "has 3 cells", .separator = ' ');
    REFUSED("1 2 \r\n\r \r\n3 4\n", MARGIN_ERROR_FORMAT, 2, 1, "has 1 cell", .separator = ' ');
    REFUSED("1 2\n \r\n3 4\n", MARGIN_ERROR_FORMAT, 2, 1, "has 0 cells", .separator = ' ');
    csv_values(READ("1 2\r\n 3  4 \r\n", PLAIN, .separator = ' '), VALUES(2, 2, 1, 2, 3, 4));
    REFUSED("1,2\n   \n3,4\n", MARGIN_ERROR_FORMAT, 2, 1, "has 1 cell");
    /* More cells than the text has bytes: found before the table is allocated. */
    REFUSED("a,b,c,d,e,f,g,h\n1\n1\n1\n1\n1\n1\n1\n1\n", MARGIN_ERROR_FORMAT, 2, 1, "has 1 cell");
}

static void damaged_quotes(void **state) {
    (void)state;
    REFUSED("a,b\n1,\"x\n2,y\n", MARGIN_ERROR_FORMAT, 2, 3, "never closed");
    REFUSED("a,b\n1,5\" disk\n2,6\" disk\n", MARGIN_ERROR_FORMAT, 2, 3, "a double quote inside");
    REFUSED("a,b\n1,\"x\"y\n2,z\n", MARGIN_ERROR_FORMAT, 2, 3, "a double quote inside");
    REFUSED("a,b\n1,\"x\" \"y\"\n2,z\n", MARGIN_ERROR_FORMAT, 2, 3, "a double quote inside");
    REFUSED("a,b\n1,x\"y\"\n2,z\n", MARGIN_ERROR_FORMAT, 2, 3, "a double quote inside",
            .ignore = "b");
    REFUSED("a,b\n1,x\"\"\n2,z\n", MARGIN_ERROR_FORMAT, 2, 3, "a double quote inside");
    REFUSED("a,b\n1,5\"\n2,y\n3,z\n", MARGIN_ERROR_FORMAT, 2, 4, "never closed");
    REFUSED("a,\"b\"c\n1,2\n", MARGIN_ERROR_FORMAT, 1, 3, "the name of column 2");
}

static void zero_bytes(void **state) {
    (void)state;
    REFUSED("a,b\n1,x\0y\n2,z\n", MARGIN_ERROR_FORMAT, 2, 4, "a zero byte");
    REFUSED("a\0,b\n1,2\n", MARGIN_ERROR_FORMAT, 1, 1, "a zero byte", NAMED);
    REFUSED("\0\0\0\0\0\0", MARGIN_ERROR_FORMAT, 1, 1, "this is not a text file");
    REFUSED("a,b\n1,x\0y\n2,z\n", MARGIN_ERROR_FORMAT, 2, 4, "a zero byte", .categorical = "b");
    REFUSED("a,b\n1,2\0\n2,3\n4,4\n", MARGIN_ERROR_FORMAT, 2, 4, "a zero byte");
}

static void files_that_are_not_csv(void **state) {
    (void)state;
    REFUSED("\xff\xfe"
            "a\0,\0",
            MARGIN_ERROR_FORMAT, 0, 0, "UTF-16");
    REFUSED("\xfe\xff\0a\0,", MARGIN_ERROR_FORMAT, 0, 0, "UTF-16");
    REFUSED("PK\x03\x04xxxx", MARGIN_ERROR_FORMAT, 0, 0, "spreadsheet");
    REFUSED("PAR1xxxxxx", MARGIN_ERROR_FORMAT, 0, 0, "Parquet");
    REFUSED("\x28\xb5\x2f\xfdxxxx", MARGIN_ERROR_FORMAT, 0, 0, "zstd");
    REFUSED("BZh9xxxxxx", MARGIN_ERROR_FORMAT, 0, 0, "bzip2");
    REFUSED("a,b\r1,2\r3,4\r", MARGIN_ERROR_FORMAT, 1, 4, "carriage return alone");
}

static void options_without_meaning(void **state) {
    (void)state;
    static const char separators[] = "\n\"'0a.-+e#\x80";
    margin_table *table = NULL;
    margin_read_options options = {.size = sizeof options, .target = ""};
    for (const char *c = separators; *c; c++) {
        options.separator = *c;
        assert_int_equal(
            margin_table_parse(csv_context, "1,2\n", 4, "t.csv", &options, &table, NULL),
            MARGIN_ERROR_ARGUMENT);
    }
    options.separator = 0;
    options.value_type = MARGIN_I32;
    assert_int_equal(margin_table_parse(csv_context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    options.value_type = MARGIN_F64;
    options.missing = (margin_missing)9;
    assert_int_equal(margin_table_parse(csv_context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    options.missing = MARGIN_MISSING_KEEP;
    options.header = (margin_header)9;
    assert_int_equal(margin_table_parse(csv_context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    options.header = MARGIN_HEADER_NO;
    options.expected_count = 3;
    assert_int_equal(margin_table_parse(csv_context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    assert_null(table);
}

static void errors_shorten_what_they_quote(void **state) {
    (void)state;
    char text[3000] = "town,age\nKiel,7\nKiel,";
    size_t length = strlen(text);
    memset(text + length, 'z', 2000);
    text[length + 7] = '\t';
    margin_read_options options = {.expected = csv_model_columns, .expected_count = 2};
    csv_refused(text, length + 2000, options, MARGIN_ERROR_FORMAT, 3, 6,
                "'zzzzzzz zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...' in column");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stray_texts_among_numbers_are_refused),
        cmocka_unit_test(decimal_commas_are_refused),
        cmocka_unit_test(missing_may_be_an_error),
        cmocka_unit_test(weights_must_be_usable),
        cmocka_unit_test(a_model_wants_numbers_where_it_had_numbers),
        cmocka_unit_test(empty_files),
        cmocka_unit_test(one_column_has_no_features_beside_the_target),
        cmocka_unit_test(ragged_rows),
        cmocka_unit_test(damaged_quotes),
        cmocka_unit_test(zero_bytes),
        cmocka_unit_test(files_that_are_not_csv),
        cmocka_unit_test(options_without_meaning),
        cmocka_unit_test(errors_shorten_what_they_quote),
    };
    return cmocka_run_group_tests(tests, csv_set_up, csv_tear_down);
}
