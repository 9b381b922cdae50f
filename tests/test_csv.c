/* What CSV means: cells, headers, separators, missing values, types of columns, bad input. */
#include "support/support.h"

#include "base/context.h"
#include "data/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_context *context;

static int set_up(void **state) {
    (void)state;
    context = support_context(NULL, 2);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    margin_context_free(context);
    return 0;
}

/* ---- Reading texts -------------------------------------------------------------------------- */

/* Here all columns are features unless a target is given; this one stands for NULL. */
static const char NO_WORD[] = "";

static margin_read_options complete(margin_read_options options) {
    options.size = sizeof options;
    if (!options.target)
        options.target = "";
    else if (options.target == NO_WORD)
        options.target = NULL;
    return options;
}

static margin_table *read_bytes(const char *text, size_t length, margin_read_options options) {
    margin_table *table = NULL;
    margin_error error = {0};
    options = complete(options);
    margin_status status =
        margin_table_parse(context, text, (int64_t)length, "t.csv", &options, &table, &error);
    if (status < 0) fail_msg("%s", error.text);
    return table;
}

#define READ(text, ...)                                                                            \
    read_bytes((text), sizeof(text) - 1, (margin_read_options){.size = 0, __VA_ARGS__})
#define PLAIN .header = MARGIN_HEADER_NO
#define NAMED .header = MARGIN_HEADER_YES

static double value_at(const margin_table *table, int64_t row, int64_t column) {
    margin_data data = margin_table_data(table);
    assert_true(row < data.x.rows && column < data.x.columns);
    return data.x.value_type == MARGIN_F32
               ? (double)((const float *)data.x.values)[row * data.x.stride + column]
               : ((const double *)data.x.values)[row * data.x.stride + column];
}

/* rows x columns values, row after row; missing ones are NAN. Frees the table. */
static void assert_values(margin_table *table, int64_t rows, int64_t columns,
                          const double *values) {
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.rows, rows);
    assert_int_equal(data.x.columns, columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double wanted = values[i * columns + j], found = value_at(table, i, j);
            if (isnan(wanted) ? !isnan(found) : found != wanted)
                fail_msg("cell (%lld, %lld) is %.17g, not %.17g", (long long)i, (long long)j, found,
                         wanted);
        }
    margin_table_free(table);
}
#define VALUES(rows, columns, ...)                                                                 \
    (rows), (columns), (const double[]) {                                                          \
        __VA_ARGS__                                                                                \
    }

/* The categories of a column, separated by '/'. */
static void assert_categories(const margin_column *column, const char *joined) {
    char found[500] = "";
    assert_int_equal(column->kind, MARGIN_CATEGORICAL);
    for (int64_t k = 0; k < column->category_count; k++) {
        if (k) strcat(found, "/");
        strncat(found, column->categories[k], 100);
    }
    assert_string_equal(found, joined);
}

static void assert_names(const margin_table *table, const char *joined) {
    margin_data data = margin_table_data(table);
    char found[500] = "";
    for (int64_t j = 0; j < data.x.columns; j++) {
        if (j) strcat(found, "/");
        strncat(found, data.columns[j].name, 100);
    }
    assert_string_equal(found, joined);
}

static void assert_refused(const char *text, size_t length, margin_read_options options,
                           margin_status wanted, int line, int column, const char *sentence) {
    margin_table *table = NULL;
    margin_error error = {0};
    options = complete(options);
    margin_status status =
        margin_table_parse(context, text, (int64_t)length, "t.csv", &options, &table, &error);
    if (status != wanted) fail_msg("status %d, not %d: %s", status, wanted, error.text);
    assert_null(table);
    assert_contains(error.text, "t.csv");
    assert_contains(error.text, sentence);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    if (line) {
        char place[64];
        snprintf(place, sizeof place, "t.csv:%d:%d: ", line, column);
        assert_contains(error.text, place);
    }
}
#define REFUSED(text, status, line, column, sentence, ...)                                         \
    assert_refused((text), sizeof(text) - 1, (margin_read_options){.size = 0, __VA_ARGS__},        \
                   (status), (line), (column), (sentence))

/* ---- Cells ---------------------------------------------------------------------------------- */

static void numbers_are_exact(void **state) {
    (void)state;
    assert_values(READ("0.1,-2.5e-3,1e308\n+7,.5,5.\n", PLAIN),
                  VALUES(2, 3, 0.1, -2.5e-3, 1e308, 7, 0.5, 5));
    assert_values(READ("0.30000000000000004,9007199254740993,2.2250738585072011e-308\n", PLAIN),
                  VALUES(1, 3, 0.30000000000000004, 9007199254740992.0, 2.2250738585072011e-308));
    assert_values(READ("inf,-inf\n-Infinity,INF\n", PLAIN),
                  VALUES(2, 2, INFINITY, -INFINITY, -INFINITY, INFINITY));
    assert_values(READ("12345678901234567890123456789012345678901234567890,1\n", PLAIN),
                  VALUES(1, 2, 12345678901234567890123456789012345678901234567890.0, 1));
}

static void f32_is_rounded_once(void **state) {
    (void)state;
    /* Half way between two floats, and a little more than that: rounding to double first would
     * lose the little. */
    assert_values(READ("1.00000005960464477539062500001,1.000000059604644775390625\n", PLAIN,
                       .value_type = MARGIN_F32),
                  VALUES(1, 2, 1.00000011920928955078125, 1.0));
    /* The target stays f64. */
    margin_table *table = READ("0.1,0.1\n", PLAIN, .value_type = MARGIN_F32, .target = "2");
    assert_true(value_at(table, 0, 0) == (double)0.1f);
    assert_true(((const double *)margin_table_data(table).y.values)[0] == 0.1);
    margin_table_free(table);
}

static void blanks_around_cells_are_trimmed(void **state) {
    (void)state;
    assert_values(READ(" 1 ,\t2\n3,  4  \n", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    margin_table *table = READ(" a b ,\" c \"\nx, \"d\" \n", PLAIN);
    assert_categories(&margin_table_data(table).columns[0], "a b/x");
    assert_categories(&margin_table_data(table).columns[1], " c /d");
    margin_table_free(table);
}

static void quotes_protect(void **state) {
    (void)state;
    static const char text[] =
        "n,t\r\n1,\"a,b\"\r\n2,\"say \"\"hi\"\"\"\r\n\"3\",\"two\nlines\"\r\n"
        "4,\"\"\"\"\r\n5,\"\"\r\n6,\" \"\r\n";
    margin_table *table = READ(text, .separator = ',');
    assert_names(table, "n/t");
    assert_categories(&margin_table_data(table).columns[1], "\"/a,b/say \"hi\"/two\nlines");
    assert_values(table, VALUES(6, 2, 1, 1, 2, 2, 3, 3, 4, 0, 5, NAN, 6, NAN));
}

static void single_quotes_around_a_cell_are_taken_off(void **state) {
    (void)state;
    margin_table *table = READ("'40-49','1'\n'it''s','2'\n'tis,3\n',4\n'','5'\n", PLAIN);
    assert_categories(&margin_table_data(table).columns[0], "'/'tis/40-49/it''s");
    assert_values(table, VALUES(5, 2, 2, 1, 3, 2, 1, 3, 0, 4, NAN, 5));
}

static void quoted_numbers_are_numbers_unless_declared(void **state) {
    (void)state;
    assert_values(READ("\"1\",\" 2 \"\n\"-1e2\",'3'\n", PLAIN), VALUES(2, 2, 1, 2, -100, 3));
    margin_table *table = READ("\"1\",2\n01,3\n1.0,4\n", PLAIN, .categorical = "1");
    assert_categories(&margin_table_data(table).columns[0], "01/1/1.0");
    assert_values(table, VALUES(3, 2, 1, 2, 0, 3, 2, 4));
}

static void missing_values(void **state) {
    (void)state;
    static const char text[] =
        "a,b\n,1\n?,2\nNA,3\nnan,4\nNaN,5\n-nan,6\nN/A,7\nn/a,8\n#N/A,9\nnull,10\n"
        "NULL,11\n\"\",12\n\"NA\",13\n\" ? \",14\n'',15\n   ,16\n5,17\n";
    margin_table *table = READ(text);
    assert_int_equal(margin_table_info(table).missing, 16);
    assert_true(value_at(table, 16, 0) == 5);
    for (int i = 0; i < 16; i++) {
        assert_true(isnan(value_at(table, i, 0)));
        assert_true(value_at(table, i, 1) == i + 1);
    }
    margin_table_free(table);
    /* The same in a column of texts; words that only look alike are texts. */
    table = READ("?,1\nx,2\nNA,3\nna,4\nNone,5\nnil,6\n??,7\n,8\nnano,9\n", PLAIN);
    assert_int_equal(margin_table_info(table).missing, 3);
    assert_categories(&margin_table_data(table).columns[0], "\?\?/None/na/nano/nil/x");
    margin_table_free(table);
    /* A column without any value is one of numbers. */
    table = READ("1,\n2,?\n", PLAIN);
    assert_int_equal(margin_table_data(table).columns[1].kind, MARGIN_NUMERIC);
    assert_values(table, VALUES(2, 2, 1, NAN, 2, NAN));
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void line_ends(void **state) {
    (void)state;
    assert_values(READ("1,2\n3,4", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    assert_values(READ("1,2\r\n3,4\r\n", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    assert_values(READ("1,2\r\n3,4\r", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    assert_values(READ("1,2\n3,4\n\x1a", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    assert_values(READ("1,\n3,", PLAIN), VALUES(2, 2, 1, NAN, 3, NAN));
    assert_values(READ("1\n2\n3\n", PLAIN), VALUES(3, 1, 1, 2, 3));
    assert_values(READ("7", PLAIN), VALUES(1, 1, 7));
}

static void blank_lines_make_no_rows(void **state) {
    (void)state;
    assert_values(READ("\n\r\n1,2\n\n\r\n\n3,4\n\n\n  \n\r\n", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    assert_values(READ("\n\n1\n\n2\n\n", PLAIN), VALUES(2, 1, 1, 2));
    /* A line of blanks between rows is no blank line: in one column, a missing value. */
    assert_values(READ("1\n  \n2\n", PLAIN), VALUES(3, 1, 1, NAN, 2));
}

static void cells_of_blanks_are_not_blank_lines_in_tab_separated_text(void **state) {
    (void)state;
    assert_values(READ("1\t2\n\t\n3\t4\n\t\n", PLAIN, .separator = '\t'),
                  VALUES(4, 2, 1, 2, NAN, NAN, 3, 4, NAN, NAN));
}

static void byte_order_mark_and_comments_are_skipped(void **state) {
    (void)state;
    margin_table *table = READ("\xef\xbb\xbf# a, \"comment\n\n#another\na,b\n1,2\n");
    assert_names(table, "a/b");
    assert_values(table, VALUES(1, 2, 1, 2));
    table = READ("1,2\n#3,4\n", PLAIN); /* only before the first row */
    assert_categories(&margin_table_data(table).columns[0], "#3/1");
    margin_table_free(table);
}

/* ---- Separators and headers ----------------------------------------------------------------- */

static char separator_of(const char *text) {
    margin_table *table = read_bytes(text, strlen(text), (margin_read_options){PLAIN});
    char separator = margin_table_info(table).separator;
    margin_table_free(table);
    return separator;
}

static void separators_are_found(void **state) {
    (void)state;
    assert_int_equal(separator_of("1,2\n3,4\n"), ',');
    assert_int_equal(separator_of("1;2\n3;4\n"), ';');
    assert_int_equal(separator_of("1\t2\n3\t4\n"), '\t');
    assert_int_equal(separator_of("1|2\n3|4\n"), '|');
    assert_int_equal(separator_of("1\n3\n"), ',');
    assert_int_equal(separator_of("a b\nc d\n"), ',');
    assert_int_equal(separator_of("\"1;2\",3\n\"a\nb\",4\n"), ',');
    assert_int_equal(separator_of("x;y,1\nz,2\n"), ',');
    assert_values(READ("1:2\n3:4\n", PLAIN, .separator = ':'), VALUES(2, 2, 1, 2, 3, 4));
    assert_values(READ("1 2\n3 4\n", PLAIN, .separator = ' '), VALUES(2, 2, 1, 2, 3, 4));
    margin_table *table = NULL;
    margin_read_options options = {.size = sizeof options, .target = "", PLAIN};
    assert_int_equal(margin_table_parse(context, "a,b\tc,d\n", 8, "a.tsv", &options, &table, NULL),
                     MARGIN_OK);
    assert_int_equal(margin_table_info(table).separator, '\t');
    margin_table_free(table);
}

static void headers_are_found(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool header;
        const char *why;
    } cases[] = {
        {"a,b\n1,2\n", true, "text above numbers"},
        {"a,b\n1,x\n", true, "text above a number"},
        {"\"a\",\"2\"\n1,2\n", true, "text above a number, whatever the other"},
        {",b\n1,2\n", true, "one name is empty"},
        {"1,2\n3,4\n", false, "numbers above numbers"},
        {"5.1,setosa\n4.9,setosa\n", false, "a row as any other"},
        {"?,2\n3,4\n", false, "missing is not text"},
        {"party,vote\nr,y\nd,n\n", true, "texts that do not repeat"},
        {"r,y\nd,n\nr,y\n", false, "a text repeats below"},
        {"p,x,p\ne,s,y\n", false, "a text repeats in the row"},
        {"1,2,3\np,x,s\ne,x,s\n", true, "numbered columns of texts"},
        {"1,1,3\np,x,s\ne,x,s\n", false, "a number repeats"},
        {"T,2\nI,5\nD,4\n", false, "letters and numbers"},
        {"a,b\n", false, "header only is refused elsewhere"},
    };
    for (int k = 0; k + 1 < MG_LENGTH(cases); k++) {
        margin_table *table =
            read_bytes(cases[k].text, strlen(cases[k].text), (margin_read_options){0});
        if ((margin_table_info(table).has_header != 0) != cases[k].header)
            fail_msg("header: %s", cases[k].why);
        margin_table_free(table);
    }
    margin_table *table = READ("1,2\n3,4\n", NAMED);
    assert_names(table, "1/2");
    assert_values(table, VALUES(1, 2, 3, 4));
    table = READ("a,b\n1,2\n", PLAIN);
    assert_names(table, "x1/x2");
    margin_table_free(table);
}

static void names_are_made_usable(void **state) {
    (void)state;
    margin_table *table = READ("a,,a,\" b \"\"c\"\"\",\xe9t\xe9,\xc3\xa9t\xc3\xa9,'q'\n"
                               "1,2,3,4,5,6,7\n");
    assert_names(table, "a/x2/a.1/ b \"c\"/\xc3\xa9t\xc3\xa9/\xc3\xa9t\xc3\xa9.1/q");
    margin_table_free(table);
}

/* ---- Types ---------------------------------------------------------------------------------- */

static void categories_are_sorted_by_bytes(void **state) {
    (void)state;
    margin_table *table = READ("b,1\nB,1\na,1\nab,1\n\xc3\xa4,1\nB,1\n10,1\n9,1\n", PLAIN);
    assert_categories(&margin_table_data(table).columns[0], "10/9/B/a/ab/b/\xc3\xa4");
    assert_values(table, VALUES(8, 2, 5, 1, 2, 1, 3, 1, 4, 1, 6, 1, 2, 1, 0, 1, 1, 1));
}

static void latin1_becomes_utf8(void **state) {
    (void)state;
    margin_table *table = READ("caf\xe9,1\ncaf\xc3\xa9,2\ntea,3\n", PLAIN);
    assert_categories(&margin_table_data(table).columns[0], "caf\xc3\xa9/tea");
    assert_values(table, VALUES(3, 2, 0, 1, 0, 2, 1, 3));
}

static void targets_and_weights_lie_beside_the_features(void **state) {
    (void)state;
    margin_table *table =
        READ("w,x,c\n2,5,yes\n0,6,no\n1,7,yes\n", .target = NO_WORD, .weights = "w");
    margin_data data = margin_table_data(table);
    const double codes[] = {1, 0, 1}, weights[] = {2, 0, 1};
    assert_memory_equal(data.y.values, codes, sizeof codes);
    assert_memory_equal(data.weights.values, weights, sizeof weights);
    assert_categories(data.target, "no/yes");
    assert_string_equal(data.target->name, "c");
    assert_names(table, "x");
    assert_values(table, VALUES(3, 1, 5, 6, 7));
    table = READ("1,2\n3,4\n", .target = NO_WORD);
    assert_int_equal(margin_table_data(table).target->kind, MARGIN_NUMERIC);
    assert_string_equal(margin_table_data(table).target->name, "x2");
    margin_table_free(table);
}

static void ignored_columns_are_left_out(void **state) {
    (void)state;
    margin_table *table = READ("a,b,c\nx,1,y\n\"q,\nr\",2,\"\"\"\"\n", .ignore = "a,c");
    assert_names(table, "b");
    assert_values(table, VALUES(2, 1, 1, 2));
}

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
            assert_refused(text, strlen(text), options, MARGIN_ERROR_FORMAT, cases[k].numbers + 2,
                           1, sentence);
            options.categorical = "a";
        }
        margin_table *table = read_bytes(text, strlen(text), options);
        assert_int_equal(margin_table_data(table).columns[0].category_count,
                         cases[k].different + (cases[k].texts > 1 ? 2 : 1));
        margin_table_free(table);
    }
    /* In the target as well. */
    mixed_column(text, 50, 50, 1);
    assert_refused(text, strlen(text), (margin_read_options){.target = "a"}, MARGIN_ERROR_FORMAT,
                   52, 1, "'high' in column 'a'");
}

static void decimal_commas_are_refused(void **state) {
    (void)state;
    REFUSED("a;b\n1;3,5\n2;-4,25\n", MARGIN_ERROR_FORMAT, 2, 3, "'3,5' in column 'b'");
    REFUSED("a,b\n1,\"3,5\"\n", MARGIN_ERROR_FORMAT, 2, 3, "decimal comma");
    margin_table *table = READ("a;b\n1;3,5\n2;4,5x\n");
    assert_categories(&margin_table_data(table).columns[1], "3,5/4,5x");
    margin_table_free(table);
    table = READ("a;b\n1;3,5\n", .categorical = "b");
    margin_table_free(table);
}

/* ---- Missing values, weights ---------------------------------------------------------------- */

static void missing_may_be_an_error(void **state) {
    (void)state;
    REFUSED("a,b\n1,2\n3, ?\n", MARGIN_ERROR_FORMAT, 3, 4, "column 'b' is missing",
            .missing = MARGIN_MISSING_ERROR);
    REFUSED("a,b\n1,x\n3,\n", MARGIN_ERROR_FORMAT, 3, 3, "data row 2",
            .missing = MARGIN_MISSING_ERROR);
    REFUSED("a,b\n1,2\n3,\n", MARGIN_ERROR_FORMAT, 3, 3, "column 'b' is missing",
            .missing = MARGIN_MISSING_ERROR, .target = "b");
    assert_values(READ("a,b\n1,2\n,3\n", .missing = MARGIN_MISSING_ERROR, .ignore = "a"),
                  VALUES(2, 1, 2, 3));
}

static void rows_with_missing_values_may_be_dropped(void **state) {
    (void)state;
    static const char text[] = "w,a,b,c\n1,1,x,p\n2,,y,p\n3,3,?,q\n4,4,z,\n5,5,x,r\n";
    margin_table *table = READ(text, .missing = MARGIN_MISSING_DROP, .target = "c", .weights = "w");
    margin_data data = margin_table_data(table);
    const double codes[] = {0, 1}, weights[] = {1, 5};
    assert_int_equal(margin_table_info(table).rows_dropped, 3);
    assert_int_equal(margin_table_info(table).missing, 0);
    assert_int_equal(data.y.count, 2);
    assert_memory_equal(data.y.values, codes, sizeof codes);
    assert_memory_equal(data.weights.values, weights, sizeof weights);
    /* Categories that only dropped rows had are gone. */
    assert_categories(&data.columns[1], "x");
    assert_categories(data.target, "p/r");
    assert_values(table, VALUES(2, 2, 1, 0, 5, 0));
    assert_values(
        READ("1,2\n,3\n4,5\n", PLAIN, .missing = MARGIN_MISSING_DROP, .value_type = MARGIN_F32),
        VALUES(2, 2, 1, 2, 4, 5));
    assert_values(READ("1,2\n3,4\n", PLAIN, .missing = MARGIN_MISSING_DROP),
                  VALUES(2, 2, 1, 2, 3, 4));
    REFUSED("a,b\n1,\n,2\n", MARGIN_ERROR_DATA, 0, 0, "none is left",
            .missing = MARGIN_MISSING_DROP);
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

/* ---- As a model wants it -------------------------------------------------------------------- */

static const char *const cities[] = {"Bonn", "caf\xc3\xa9", "Kiel", "x \"y\""};
static const margin_column model_columns[] = {
    {.name = "town", .kind = MARGIN_CATEGORICAL, .categories = cities, .category_count = 4},
    {.name = "age"}};
static const char *const answers[] = {"yes", "no"}; /* a model may have any order */
static const margin_column model_target = {
    .name = "ok", .kind = MARGIN_CATEGORICAL, .categories = answers, .category_count = 2};
#define MODEL .expected = model_columns, .expected_count = 2, .expected_target = &model_target

static void a_model_reads_by_name(void **state) {
    (void)state;
    margin_table *table = READ("ok,age,id,town\nno,30,a,Kiel\nyes,40,b,Rome\nmaybe,,c,\n"
                               "no,50,d,caf\xe9\nno,60,e,\"x \"\"y\"\"\"\n",
                               MODEL, .target = NO_WORD);
    margin_data data = margin_table_data(table);
    assert_int_equal(margin_table_info(table).unknown_categories, 2);
    assert_int_equal(margin_table_info(table).missing, 2);
    const double *y = data.y.values;
    assert_true(y[0] == 1 && y[1] == 0 && isnan(y[2]) && y[3] == 1);
    assert_categories(&data.columns[0], "Bonn/caf\xc3\xa9/Kiel/x \"y\"");
    assert_names(table, "town/age");
    assert_values(table, VALUES(5, 2, 2, 30, NAN, 40, NAN, NAN, 1, 50, 3, 60));
}

static void a_model_reads_by_position_without_a_header(void **state) {
    (void)state;
    margin_table *table = READ("Kiel,1,yes\nBonn,2,no\n", MODEL, .target = NO_WORD);
    assert_false(margin_table_info(table).has_header);
    assert_names(table, "town/age");
    assert_values(table, VALUES(2, 2, 2, 1, 0, 2));
    table = READ("Kiel,1\nBonn,2\n", MODEL, .target = NO_WORD, .target_optional = 1);
    assert_null(margin_table_data(table).y.values);
    assert_values(table, VALUES(2, 2, 2, 1, 0, 2));
}

static void a_model_recognises_its_header(void **state) {
    (void)state;
    /* One row of texts alone could be data. */
    margin_table *table =
        READ("town,age\nKiel,7\n", MODEL, .target = NO_WORD, .target_optional = 1);
    assert_true(margin_table_info(table).has_header);
    assert_values(table, VALUES(1, 2, 2, 7));
    table = READ("age,town\nold,Kiel\n", .expected = model_columns, .expected_count = 1,
                 .target = NO_WORD);
    assert_true(margin_table_info(table).has_header);
    assert_values(table, VALUES(1, 1, 2));
}

static void a_model_wants_numbers_where_it_had_numbers(void **state) {
    (void)state;
    REFUSED("town,age\nKiel,7\nKiel,old\n", MARGIN_ERROR_FORMAT, 3, 6,
            "'old' in column 'age' is not a number, but the model", MODEL, .target = NO_WORD,
            .target_optional = 1);
    REFUSED("age,ok\n7,yes\n", MARGIN_ERROR_DATA, 0, 0, "'town'", MODEL, .target = NO_WORD);
    static const char *const twice[] = {"a", "a"};
    static const margin_column odd = {
        .name = "town", .kind = MARGIN_CATEGORICAL, .categories = twice, .category_count = 2};
    margin_table *table = NULL;
    margin_error error;
    margin_read_options options = {.size = sizeof options, .expected = &odd, .expected_count = 1};
    assert_int_equal(margin_table_parse(context, "town\na\n", 7, "t.csv", &options, &table, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "'a' twice");
}

static void unknown_categories_of_dropped_rows_do_not_count(void **state) {
    (void)state;
    margin_table *table = READ("town,age\nRome,1\nParis,\nKiel,3\n", MODEL, .target = NO_WORD,
                               .target_optional = 1, .missing = MARGIN_MISSING_DROP);
    assert_int_equal(margin_table_info(table).unknown_categories, 1);
    assert_values(table, VALUES(2, 2, NAN, 1, 2, 3));
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
            .target = NO_WORD);
    assert_values(READ("a\n1\n2\n"), VALUES(2, 1, 1, 2));
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
        assert_int_equal(margin_table_parse(context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                         MARGIN_ERROR_ARGUMENT);
    }
    options.separator = 0;
    options.value_type = MARGIN_I32;
    assert_int_equal(margin_table_parse(context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    options.value_type = MARGIN_F64;
    options.missing = (margin_missing)9;
    assert_int_equal(margin_table_parse(context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    options.missing = MARGIN_MISSING_KEEP;
    options.header = (margin_header)9;
    assert_int_equal(margin_table_parse(context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    options.header = MARGIN_HEADER_NO;
    options.expected_count = 3;
    assert_int_equal(margin_table_parse(context, "1,2\n", 4, "t.csv", &options, &table, NULL),
                     MARGIN_ERROR_ARGUMENT);
    assert_null(table);
}

static void errors_shorten_what_they_quote(void **state) {
    (void)state;
    char text[3000] = "town,age\nKiel,7\nKiel,";
    size_t length = strlen(text);
    memset(text + length, 'z', 2000);
    text[length + 7] = '\t';
    margin_read_options options = {.expected = model_columns, .expected_count = 2};
    assert_refused(text, length + 2000, options, MARGIN_ERROR_FORMAT, 3, 6,
                   "'zzzzzzz zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...' in column");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(f32_is_rounded_once),
        cmocka_unit_test(blanks_around_cells_are_trimmed),
        cmocka_unit_test(quotes_protect),
        cmocka_unit_test(single_quotes_around_a_cell_are_taken_off),
        cmocka_unit_test(quoted_numbers_are_numbers_unless_declared),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(blank_lines_make_no_rows),
        cmocka_unit_test(cells_of_blanks_are_not_blank_lines_in_tab_separated_text),
        cmocka_unit_test(byte_order_mark_and_comments_are_skipped),
        cmocka_unit_test(separators_are_found),
        cmocka_unit_test(headers_are_found),
        cmocka_unit_test(names_are_made_usable),
        cmocka_unit_test(categories_are_sorted_by_bytes),
        cmocka_unit_test(latin1_becomes_utf8),
        cmocka_unit_test(targets_and_weights_lie_beside_the_features),
        cmocka_unit_test(ignored_columns_are_left_out),
        cmocka_unit_test(stray_texts_among_numbers_are_refused),
        cmocka_unit_test(decimal_commas_are_refused),
        cmocka_unit_test(missing_may_be_an_error),
        cmocka_unit_test(rows_with_missing_values_may_be_dropped),
        cmocka_unit_test(weights_must_be_usable),
        cmocka_unit_test(a_model_reads_by_name),
        cmocka_unit_test(a_model_reads_by_position_without_a_header),
        cmocka_unit_test(a_model_recognises_its_header),
        cmocka_unit_test(a_model_wants_numbers_where_it_had_numbers),
        cmocka_unit_test(unknown_categories_of_dropped_rows_do_not_count),
        cmocka_unit_test(empty_files),
        cmocka_unit_test(one_column_has_no_features_beside_the_target),
        cmocka_unit_test(ragged_rows),
        cmocka_unit_test(damaged_quotes),
        cmocka_unit_test(zero_bytes),
        cmocka_unit_test(files_that_are_not_csv),
        cmocka_unit_test(options_without_meaning),
        cmocka_unit_test(errors_shorten_what_they_quote),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
