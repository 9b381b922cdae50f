/* What CSV means: cells, lines, headers, separators, missing values, types of columns. */
#include "csv_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Cells ---------------------------------------------------------------------------------- */

static void numbers_are_exact(void **state) {
    (void)state;
    csv_values(READ("0.1,-2.5e-3,1e308\n+7,.5,5.\n", PLAIN),
               VALUES(2, 3, 0.1, -2.5e-3, 1e308, 7, 0.5, 5));
    csv_values(READ("0.30000000000000004,9007199254740993.,2.2250738585072011e-308\n", PLAIN),
               VALUES(1, 3, 0.30000000000000004, 9007199254740992.0, 2.2250738585072011e-308));
    csv_values(READ("inf,-inf\n-Infinity,INF\n", PLAIN),
               VALUES(2, 2, INFINITY, -INFINITY, -INFINITY, INFINITY));
    csv_values(READ("12345678901234567890123456789012345678901234567890.0,1\n", PLAIN),
               VALUES(1, 2, 12345678901234567890123456789012345678901234567890.0, 1));
}

static void f32_is_rounded_once(void **state) {
    (void)state;
    /* Half way between two floats, and a little more than that: rounding to double first would
     * lose the little. */
    csv_values(READ("1.00000005960464477539062500001,1.000000059604644775390625\n", PLAIN,
                    .value_type = MARGIN_F32),
               VALUES(1, 2, 1.00000011920928955078125, 1.0));
    /* The target stays f64. */
    margin_table *table = READ("0.1,0.1\n", PLAIN, .value_type = MARGIN_F32, .target = "2");
    assert_true(csv_value(table, 0, 0) == (double)0.1f);
    assert_true(((const double *)margin_table_data(table).y.values)[0] == 0.1);
    margin_table_free(table);
}

static void blanks_around_cells_are_trimmed(void **state) {
    (void)state;
    csv_values(READ(" 1 ,\t2\n3,  4  \n", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    margin_table *table = READ(" a b ,\" c \"\nx, \"d\" \n", PLAIN);
    csv_categories(&margin_table_data(table).columns[0], "a b/x");
    csv_categories(&margin_table_data(table).columns[1], " c /d");
    margin_table_free(table);
}

static void quotes_protect(void **state) {
    (void)state;
    static const char text[] =
        "n,t\r\n1,\"a,b\"\r\n2,\"say \"\"hi\"\"\"\r\n\"3\",\"two\nlines\"\r\n"
        "4,\"\"\"\"\r\n5,\"\"\r\n6,\" \"\r\n";
    margin_table *table = READ(text, .separator = ',');
    csv_names(table, "n/t");
    csv_categories(&margin_table_data(table).columns[1], "\"/a,b/say \"hi\"/two\nlines");
    csv_values(table, VALUES(6, 2, 1, 1, 2, 2, 3, 3, 4, 0, 5, NAN, 6, NAN));
}

static void single_quotes_around_a_cell_are_taken_off(void **state) {
    (void)state;
    margin_table *table = READ("'40-49','1'\n'it''s','2'\n'tis,3\n',4\n'','5'\n", PLAIN);
    csv_categories(&margin_table_data(table).columns[0], "'/'tis/40-49/it''s");
    csv_values(table, VALUES(5, 2, 2, 1, 3, 2, 1, 3, 0, 4, NAN, 5));
}

static void quoted_numbers_are_numbers_unless_declared(void **state) {
    (void)state;
    csv_values(READ("\"1\",\" 2 \"\n\"-1e2\",'3'\n", PLAIN), VALUES(2, 2, 1, 2, -100, 3));
    margin_table *table = READ("\"1\",2\n01,3\n1.0,4\n", PLAIN, .categorical = "1");
    csv_categories(&margin_table_data(table).columns[0], "01/1/1.0");
    csv_values(table, VALUES(3, 2, 1, 2, 0, 3, 2, 4));
}

static void missing_values(void **state) {
    (void)state;
    static const char text[] =
        "a,b\n,1\n?,2\nNA,3\nnan,4\nNaN,5\n-nan,6\nN/A,7\nn/a,8\n#N/A,9\nnull,10\n"
        "NULL,11\n\"\",12\n\"NA\",13\n\" ? \",14\n'',15\n   ,16\n5,17\n";
    margin_table *table = READ(text);
    assert_int_equal(table_details(table).missing, 16);
    assert_true(csv_value(table, 16, 0) == 5);
    for (int i = 0; i < 16; i++) {
        assert_true(isnan(csv_value(table, i, 0)));
        assert_true(csv_value(table, i, 1) == i + 1);
    }
    margin_table_free(table);
    /* The same in a column of texts; words that only look alike are texts. */
    table = READ("?,1\nx,2\nNA,3\nna,4\nNone,5\nnil,6\n??,7\n,8\nnano,9\n", PLAIN);
    assert_int_equal(table_details(table).missing, 3);
    csv_categories(&margin_table_data(table).columns[0], "\?\?/None/na/nano/nil/x");
    margin_table_free(table);
    /* A column without any value is one of numbers. */
    table = READ("1,\n2,?\n", PLAIN);
    assert_int_equal(margin_table_data(table).columns[1].kind, MARGIN_NUMERIC);
    csv_values(table, VALUES(2, 2, 1, NAN, 2, NAN));
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void line_ends(void **state) {
    (void)state;
    csv_values(READ("1,2\n3,4", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    csv_values(READ("1,2\r\n3,4\r\n", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    csv_values(READ("1,2\r\n3,4\r", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    csv_values(READ("1,2\n3,4\n\x1a", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    csv_values(READ("1,\n3,", PLAIN), VALUES(2, 2, 1, NAN, 3, NAN));
    csv_values(READ("1\n2\n3\n", PLAIN), VALUES(3, 1, 1, 2, 3));
    csv_values(READ("7", PLAIN), VALUES(1, 1, 7));
}

static void blank_lines_make_no_rows(void **state) {
    (void)state;
    csv_values(READ("\n\r\n1,2\n\n\r\n\n3,4\n\n\n  \n\r\n", PLAIN), VALUES(2, 2, 1, 2, 3, 4));
    csv_values(READ("\n\n1\n\n2\n\n", PLAIN), VALUES(2, 1, 1, 2));
    /* A line of blanks between rows is no blank line: in one column, a missing value. */
    csv_values(READ("1\n  \n2\n", PLAIN), VALUES(3, 1, 1, NAN, 2));
}

static void cells_of_blanks_are_not_blank_lines_in_tab_separated_text(void **state) {
    (void)state;
    csv_values(READ("1\t2\n\t\n3\t4\n\t\n", PLAIN, .separator = '\t'),
               VALUES(4, 2, 1, 2, NAN, NAN, 3, 4, NAN, NAN));
}

static void byte_order_mark_and_comments_are_skipped(void **state) {
    (void)state;
    margin_table *table = READ("\xef\xbb\xbf# a, \"comment\n\n#another\na,b\n1,2\n");
    csv_names(table, "a/b");
    csv_values(table, VALUES(1, 2, 1, 2));
    table = READ("1,2\n#3,4\n", PLAIN); /* only before the first row */
    csv_categories(&margin_table_data(table).columns[0], "#3/1");
    margin_table_free(table);
}

/* ---- Separators and headers ----------------------------------------------------------------- */

static char separator_of(const char *text) {
    margin_table *table = csv_read(text, strlen(text), (margin_read_options){PLAIN});
    char separator = table_details(table).separator;
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
    assert_int_equal(separator_of("a b\nc d\n"), ' ');
    assert_int_equal(separator_of("a b\nc\n"), ',');
    assert_int_equal(separator_of("1  2   5\t3\n4  5  6\t6\n"), ' ');
    assert_int_equal(separator_of("a b\t1\nc d\t2\n"), '\t');
    assert_int_equal(separator_of("\"1;2\",3\n\"a\nb\",4\n"), ',');
    assert_int_equal(separator_of("x;y,1\nz,2\n"), ',');
    assert_int_equal(separator_of("x;y;z,1\nu;v,2\n"), ',');
    csv_values(READ("1:2\n3:4\n", PLAIN, .separator = ':'), VALUES(2, 2, 1, 2, 3, 4));
    csv_values(READ("1 2\n3 4\n", PLAIN, .separator = ' '), VALUES(2, 2, 1, 2, 3, 4));
    margin_table *table = NULL;
    margin_read_options options = {.size = sizeof options, .target = "", PLAIN};
    assert_int_equal(
        margin_table_parse(csv_context, "a,b\tc,d\n", 8, "a.TSV", &options, &table, NULL),
        MARGIN_OK);
    assert_int_equal(table_details(table).separator, '\t');
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
            csv_read(cases[k].text, strlen(cases[k].text), (margin_read_options){0});
        if ((table_details(table).has_header != 0) != cases[k].header)
            fail_msg("header: %s", cases[k].why);
        margin_table_free(table);
    }
    margin_table *table = READ("1,2\n3,4\n", NAMED);
    csv_names(table, "1/2");
    csv_values(table, VALUES(1, 2, 3, 4));
    table = READ("a,b\n1,2\n", PLAIN);
    csv_names(table, "x1/x2");
    margin_table_free(table);
}

static void names_are_made_usable(void **state) {
    (void)state;
    margin_table *table = READ("a,,a,\" b \"\"c\"\"\",\xe9t\xe9,\xc3\xa9t\xc3\xa9,'q'\n"
                               "1,2,3,4,5,6,7\n");
    csv_names(table, "a/x2/a.1/ b \"c\"/\xc3\xa9t\xc3\xa9/\xc3\xa9t\xc3\xa9.1/q");
    margin_table_free(table);
}

/* ---- Types ---------------------------------------------------------------------------------- */

static void categories_are_sorted_by_bytes(void **state) {
    (void)state;
    margin_table *table = READ("b,1\nB,1\na,1\nab,1\n\xc3\xa4,1\nB,1\n10,1\n9,1\n", PLAIN);
    csv_categories(&margin_table_data(table).columns[0], "10/9/B/a/ab/b/\xc3\xa4");
    csv_values(table, VALUES(8, 2, 5, 1, 2, 1, 3, 1, 4, 1, 6, 1, 2, 1, 0, 1, 1, 1));
}

static void long_categories_are_sorted_to_the_last_byte(void **state) {
    (void)state;
    margin_table *table = READ("longer text b,1\nlonger text a,1\nlonger text,1\nlonger text c,1\n"
                               "longer text that goes on and on 2,1\n"
                               "longer text that goes on and on 1,1\n",
                               PLAIN);
    csv_categories(&margin_table_data(table).columns[0],
                   "longer text/longer text a/longer text b/longer text c/"
                   "longer text that goes on and on 1/longer text that goes on and on 2");
    csv_values(table, VALUES(6, 2, 2, 1, 1, 1, 0, 1, 3, 1, 5, 1, 4, 1));
}

static void latin1_becomes_utf8(void **state) {
    (void)state;
    margin_table *table = READ("caf\xe9,1\ncaf\xc3\xa9,2\ntea,3\n", PLAIN);
    csv_categories(&margin_table_data(table).columns[0], "caf\xc3\xa9/tea");
    csv_values(table, VALUES(3, 2, 0, 1, 0, 2, 1, 3));
}

static void targets_and_weights_lie_beside_the_features(void **state) {
    (void)state;
    margin_table *table =
        READ("w,x,c\n2,5,yes\n0,6,no\n1,7,yes\n", .target = CSV_NULL, .weights = "w");
    margin_data data = margin_table_data(table);
    const double codes[] = {1, 0, 1}, weights[] = {2, 0, 1};
    assert_memory_equal(data.y.values, codes, sizeof codes);
    assert_memory_equal(data.weights.values, weights, sizeof weights);
    csv_categories(data.target, "no/yes");
    assert_string_equal(data.target->name, "c");
    csv_names(table, "x");
    csv_values(table, VALUES(3, 1, 5, 6, 7));
    table = READ("1,2\n3,\n,4\n", .target = CSV_NULL);
    assert_int_equal(table_details(table).missing, 1); /* the target's do not count */
    assert_true(isnan(((const double *)margin_table_data(table).y.values)[1]));
    assert_int_equal(margin_table_data(table).target->kind, MARGIN_NUMERIC);
    assert_string_equal(margin_table_data(table).target->name, "x2");
    margin_table_free(table);
}

static void ignored_columns_are_left_out(void **state) {
    (void)state;
    margin_table *table = READ("a,b,c\nx,1,y\n\"q,\nr\",2,\"\"\"\"\n", .ignore = "a,c");
    csv_names(table, "b");
    csv_values(table, VALUES(2, 1, 1, 2));
}

/* ---- Missing values, weights ---------------------------------------------------------------- */

static void rows_with_missing_values_may_be_dropped(void **state) {
    (void)state;
    static const char text[] = "w,a,b,c\n1,1,x,p\n2,,y,p\n3,3,?,q\n4,4,z,\n5,5,x,r\n";
    margin_table *table = READ(text, .missing = MARGIN_MISSING_DROP, .target = "c", .weights = "w");
    margin_data data = margin_table_data(table);
    const double codes[] = {0, 1}, weights[] = {1, 5};
    assert_int_equal(table_details(table).rows_dropped, 3);
    assert_int_equal(table_details(table).missing, 0);
    assert_int_equal(data.y.count, 2);
    assert_memory_equal(data.y.values, codes, sizeof codes);
    assert_memory_equal(data.weights.values, weights, sizeof weights);
    /* Categories that only dropped rows had are gone. */
    csv_categories(&data.columns[1], "x");
    csv_categories(data.target, "p/r");
    csv_values(table, VALUES(2, 2, 1, 0, 5, 0));
    csv_values(
        READ("1,2\n,3\n4,5\n", PLAIN, .missing = MARGIN_MISSING_DROP, .value_type = MARGIN_F32),
        VALUES(2, 2, 1, 2, 4, 5));
    csv_values(READ("1,2\n3,4\n", PLAIN, .missing = MARGIN_MISSING_DROP), VALUES(2, 2, 1, 2, 3, 4));
    REFUSED("a,b\n1,\n,2\n", MARGIN_ERROR_DATA, 0, 0, "none is left",
            .missing = MARGIN_MISSING_DROP);
}

/* ---- As a model wants it -------------------------------------------------------------------- */

static void a_model_reads_by_name(void **state) {
    (void)state;
    margin_table *table = READ("ok,age,id,town\nno,30,a,Kiel\nyes,40,b,Rome\nmaybe,,c,\n"
                               "no,50,d,caf\xe9\nno,60,e,\"x \"\"y\"\"\"\n",
                               MODEL, .target = CSV_NULL);
    margin_data data = margin_table_data(table);
    assert_int_equal(table_details(table).unknown_categories, 2);
    assert_int_equal(table_details(table).missing, 2);
    const double *y = data.y.values;
    assert_true(y[0] == 1 && y[1] == 0 && isnan(y[2]) && y[3] == 1);
    csv_categories(&data.columns[0], "Bonn/caf\xc3\xa9/Kiel/x \"y\"");
    csv_names(table, "town/age");
    csv_values(table, VALUES(5, 2, 2, 30, NAN, 40, NAN, NAN, 1, 50, 3, 60));
}

static void a_model_reads_by_position_without_a_header(void **state) {
    (void)state;
    margin_table *table = READ("Kiel,1,yes\nBonn,2,no\n", MODEL, .target = CSV_NULL);
    assert_false(table_details(table).has_header);
    csv_names(table, "town/age");
    csv_values(table, VALUES(2, 2, 2, 1, 0, 2));
    table = READ("Kiel,1\nBonn,2\n", MODEL, .target = CSV_NULL, .target_optional = 1);
    assert_null(margin_table_data(table).y.values);
    csv_values(table, VALUES(2, 2, 2, 1, 0, 2));
}

static void a_model_recognises_its_header(void **state) {
    (void)state;
    /* One row of texts alone could be data. */
    margin_table *table =
        READ("town,age\nKiel,7\n", MODEL, .target = CSV_NULL, .target_optional = 1);
    assert_true(table_details(table).has_header);
    csv_values(table, VALUES(1, 2, 2, 7));
    table = READ("age,town\nold,Kiel\n", .expected = csv_model_columns, .expected_count = 1,
                 .target = CSV_NULL);
    assert_true(table_details(table).has_header);
    csv_values(table, VALUES(1, 1, 2));
}

static void unknown_categories_of_dropped_rows_do_not_count(void **state) {
    (void)state;
    margin_table *table = READ("town,age\nRome,1\nParis,\nKiel,3\n", MODEL, .target = CSV_NULL,
                               .target_optional = 1, .missing = MARGIN_MISSING_DROP);
    assert_int_equal(table_details(table).unknown_categories, 1);
    csv_values(table, VALUES(2, 2, NAN, 1, 2, 3));
}

/* Categories that a model does not know keep their names, behind the model's own. */
static void unknown_categories_may_be_kept(void **state) {
    (void)state;
    static const char text[] =
        "ok,age,town\nno,30,Rome\nmaybe,,Kiel\nyes,40,\"x \"\"y\"\"\"\nno,5,Aachen\nnever,6,Rome\n";
    margin_table *table = READ(text, MODEL, .target = CSV_NULL, .unknown = MARGIN_UNKNOWN_KEEP,
                               .unknown_target = MARGIN_UNKNOWN_KEEP);
    margin_data data = margin_table_data(table);
    csv_categories(&data.columns[0], "Bonn/caf\xc3\xa9/Kiel/x \"y\"/Aachen/Rome");
    csv_categories(data.target, "yes/no/maybe/never");
    assert_int_equal(table_details(table).unknown_categories, 5);
    assert_int_equal(table_details(table).unknown_classes, 2);
    assert_int_equal(table_details(table).missing, 1);
    const double *y = data.y.values;
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 0 && y[3] == 1 && y[4] == 3);
    csv_values(table, VALUES(5, 2, 5, 30, 2, NAN, 3, 40, 4, 5, 5, 6));

    /* of rows that are left out only the model's stay in the list */
    table = READ(text, MODEL, .target = CSV_NULL, .unknown = MARGIN_UNKNOWN_KEEP,
                 .unknown_target = MARGIN_UNKNOWN_KEEP, .missing = MARGIN_MISSING_DROP);
    data = margin_table_data(table);
    csv_categories(data.target, "yes/no/never");
    assert_int_equal(table_details(table).unknown_categories, 4);
    csv_values(table, VALUES(4, 2, 5, 30, 3, 40, 4, 5, 5, 6));
}

static void unknown_categories_may_be_refused(void **state) {
    (void)state;
    REFUSED("ok,age,town\nno,30,Kiel\nyes,1,Rome\n", MARGIN_ERROR_FORMAT, 3, 7,
            "'Rome' in column 'town' is a category that the model does not know; it knows 'Bonn', ",
            MODEL, .target = CSV_NULL, .unknown = MARGIN_UNKNOWN_ERROR);
    REFUSED("ok,age,town\nno,30,Kiel\nnever,1,Kiel\n", MARGIN_ERROR_FORMAT, 3, 1,
            "'never' in column 'ok' is a class that the model does not know; it knows 'yes', 'no'",
            MODEL, .target = CSV_NULL, .unknown_target = MARGIN_UNKNOWN_ERROR);
}

static void a_target_may_be_of_no_use(void **state) {
    (void)state;
    margin_table *table = READ("ok,age,town\n,30,Kiel\nnever,1,Bonn\n", MODEL, .target = CSV_NULL,
                               .target_optional = 2, .unknown_target = MARGIN_UNKNOWN_ERROR,
                               .missing = MARGIN_MISSING_ERROR);
    assert_null(margin_table_data(table).y.values);
    csv_values(table, VALUES(2, 2, 2, 30, 0, 1));
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
        cmocka_unit_test(long_categories_are_sorted_to_the_last_byte),
        cmocka_unit_test(latin1_becomes_utf8),
        cmocka_unit_test(targets_and_weights_lie_beside_the_features),
        cmocka_unit_test(ignored_columns_are_left_out),
        cmocka_unit_test(rows_with_missing_values_may_be_dropped),
        cmocka_unit_test(a_model_reads_by_name),
        cmocka_unit_test(a_model_reads_by_position_without_a_header),
        cmocka_unit_test(a_model_recognises_its_header),
        cmocka_unit_test(unknown_categories_of_dropped_rows_do_not_count),
        cmocka_unit_test(unknown_categories_may_be_kept),
        cmocka_unit_test(unknown_categories_may_be_refused),
        cmocka_unit_test(a_target_may_be_of_no_use),
    };
    return cmocka_run_group_tests(tests, csv_set_up, csv_tear_down);
}
