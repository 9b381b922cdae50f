/* margin_table_summarize against plain loops and known answers. */
#include "support/support.h"

#include "base/context.h"
#include "data/table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static margin_table *parse(margin_context *context, const char *text, const char *name,
                           margin_read_options options) {
    margin_table *table = NULL;
    margin_error error = {0};
    options.size = sizeof options;
    if (margin_table_parse(context, text, (int64_t)strlen(text), name, &options, &table, &error) <
        0)
        fail_msg("%s", error.text);
    return table;
}

static void summarize(margin_context *context, const margin_table *table,
                      margin_column_summary summaries[MOST]) {
    margin_error error = {0};
    if (margin_table_summarize(context, table, summaries, MOST, &error) < 0)
        fail_msg("%s", error.text);
}

static void kinds_of_columns(void **state) {
    (void)state;
    static const char text[] = "num,int,bin,const,empty,big,city,y\n"
                               "0.5,3,1,7,,1e300,Kiel,-1\n"
                               "-2,0,0,7,?,2e300,Bonn,1\n"
                               ",-3,1,7,NA,3e300,Kiel,1\n"
                               "4,5,1,7,,inf,?,-1\n"
                               "0,5,,7,,-1,Ulm,0\n";
    margin_context *context = support_context(NULL, 2);
    margin_table *table = parse(context, text, "t.csv", (margin_read_options){0});
    margin_column_summary s[MOST];
    summarize(context, table, s);

    assert_string_equal(s[0].column.name, "num");
    assert_string_equal(s[0].type, "number");
    assert_int_equal(s[0].count, 4);
    assert_int_equal(s[0].missing, 1);
    assert_int_equal(s[0].zeros, 1);
    assert_int_equal(s[0].distinct, 4);
    assert_true(s[0].minimum == -2 && s[0].maximum == 4);
    assert_close(s[0].mean, 0.625, 1e-15);
    assert_close(s[0].deviation, 2.4958298553119898, 1e-15);
    assert_int_equal(s[0].top, -1);

    assert_string_equal(s[1].type, "integer");
    assert_int_equal(s[1].distinct, 4);
    assert_int_equal(s[1].zeros, 1);
    assert_string_equal(s[2].type, "binary");
    assert_int_equal(s[2].missing, 1);
    assert_string_equal(s[3].type, "constant");
    assert_true(s[3].deviation == 0 && s[3].mean == 7);
    assert_string_equal(s[4].type, "constant");
    assert_int_equal(s[4].count, 0);
    assert_int_equal(s[4].missing, 5);
    assert_int_equal(s[4].distinct, 0);
    assert_true(isnan(s[4].minimum) && isnan(s[4].mean) && isnan(s[4].deviation));
    assert_string_equal(s[5].type, "integer");
    assert_true(isinf(s[5].maximum) && s[5].minimum == -1);

    assert_string_equal(s[6].type, "category");
    assert_int_equal(s[6].count, 4);
    assert_int_equal(s[6].missing, 1);
    assert_int_equal(s[6].distinct, 3);
    assert_string_equal(s[6].column.categories[s[6].top], "Kiel");
    assert_int_equal(s[6].top_count, 2);
    assert_true(isnan(s[6].mean));

    assert_string_equal(s[7].column.name, "y"); /* the target comes last */
    assert_string_equal(s[7].type, "integer");
    assert_int_equal(s[7].distinct, 3);
    margin_table_free(table);
    margin_context_free(context);
}

static void ties_of_the_most_frequent_go_to_the_first(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_table *table = parse(context, "1,b\n2,a\n3,b\n4,a\n5,c\n", "t.csv",
                                (margin_read_options){.header = MARGIN_HEADER_NO});
    margin_column_summary s[MOST];
    summarize(context, table, s);
    assert_int_equal(s[1].top, 0);
    assert_int_equal(s[1].top_count, 2);
    margin_table_free(table);
    margin_context_free(context);
}

/* Numbers of many sizes with a far-off first one, against sums in long double. */
static void moments_agree_with_a_plain_loop(void **state) {
    (void)state;
    enum { ROWS = 20000, COLUMNS = 9 };
    static double values[ROWS][COLUMNS];
    uint64_t seed = 3;
    size_t room = (size_t)ROWS * COLUMNS * 26 + 1, length = 0;
    char *text = malloc(room);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double value = support_normal(&seed) * pow(10, j - 4) + (i == 0 ? 1e6 : 100.0 * j);
            values[i][j] = value;
            length += (size_t)snprintf(text + length, room - length, "%.17g%c", value,
                                       j + 1 < COLUMNS ? ',' : '\n');
        }
    margin_column_summary first[MOST] = {0};
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        margin_table *table = parse(context, text, "t.csv", (margin_read_options){.target = ""});
        margin_column_summary s[MOST] = {0};
        summarize(context, table, s);
        for (int j = 0; j < COLUMNS; j++) {
            long double sum = 0, squares = 0;
            for (int i = 0; i < ROWS; i++)
                sum += values[i][j];
            for (int i = 0; i < ROWS; i++)
                squares += (values[i][j] - sum / ROWS) * (values[i][j] - sum / ROWS);
            assert_close(s[j].mean, (double)(sum / ROWS), 1e-13);
            assert_close(s[j].deviation, (double)sqrtl(squares / (ROWS - 1)), 1e-11);
            assert_int_equal(s[j].distinct, -1);
            assert_int_equal(s[j].count, ROWS);
            if (threads == 1) {
                first[j] = s[j];
                continue;
            }
            assert_true(s[j].mean == first[j].mean); /* to the last bit */
            assert_true(s[j].deviation == first[j].deviation);
        }
        margin_table_free(table);
        margin_context_free(context);
    }
    free(text);
}

static void distinct_values_are_counted_up_to_a_thousand(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    for (int distinct = 999; distinct <= 1001; distinct++) {
        char *text = malloc(200000);
        size_t length = 0;
        for (int i = 0; i < 2500; i++)
            length +=
                (size_t)snprintf(text + length, 100, "%d,%s0\n", i % distinct, i % 2 ? "-" : "");
        margin_table *table = parse(context, text, "t.csv",
                                    (margin_read_options){.target = "", .value_type = MARGIN_F32});
        margin_column_summary s[MOST];
        summarize(context, table, s);
        assert_int_equal(s[0].distinct, distinct <= 1000 ? distinct : -1);
        assert_string_equal(s[0].type, "integer");
        assert_int_equal(s[1].distinct, 1); /* -0 is 0 */
        assert_int_equal(s[1].zeros, 2500);
        margin_table_free(table);
        free(text);
    }
    margin_context_free(context);
}

/* The same table dense and as svmlight: what is not stored counts as zero. */
static void sparse_and_dense_agree(void **state) {
    (void)state;
    enum { ROWS = 300, COLUMNS = 5 };
    char *dense = malloc(60000), *sparse = malloc(60000);
    size_t dense_length = 0, sparse_length = 0;
    uint64_t seed = 8;
    for (int i = 0; i < ROWS; i++) {
        sparse_length += (size_t)sprintf(sparse + sparse_length, "%d", i % 2 ? 1 : -1);
        for (int j = 0; j < COLUMNS; j++) {
            double value = support_random(&seed) % 3 ? 0 : (double)(support_random(&seed) % 9) / 2;
            if (j == 3) value = 0;
            if (j == 4) value = i + 1;
            if (value != 0 || support_random(&seed) % 8 == 0)
                sparse_length += (size_t)sprintf(sparse + sparse_length, " %d:%g", j + 1, value);
            dense_length += (size_t)sprintf(dense + dense_length, "%g,", value);
        }
        sparse_length += (size_t)sprintf(sparse + sparse_length, "\n");
        dense_length += (size_t)sprintf(dense + dense_length, "%d\n", i % 2 ? 1 : -1);
    }
    margin_context *context = support_context(NULL, 3);
    margin_table *a = parse(context, dense, "t.csv", (margin_read_options){0});
    margin_table *b =
        parse(context, sparse, "t.svm", (margin_read_options){.svmlight_columns = COLUMNS});
    margin_column_summary s[MOST], t[MOST];
    summarize(context, a, s);
    summarize(context, b, t);
    for (int j = 0; j <= COLUMNS; j++) {
        assert_string_equal(s[j].type, t[j].type);
        assert_int_equal(s[j].count, t[j].count);
        assert_int_equal(s[j].zeros, t[j].zeros);
        assert_int_equal(s[j].distinct, t[j].distinct);
        assert_true(s[j].minimum == t[j].minimum && s[j].maximum == t[j].maximum);
        assert_close(s[j].mean, t[j].mean, 1e-14);
        assert_close(s[j].deviation, t[j].deviation, 1e-13);
    }
    margin_table_free(a);
    margin_table_free(b);
    margin_context_free(context);
    free(dense);
    free(sparse);
}

static void too_little_room_is_refused(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_table *table = parse(context, "1,2,3\n4,5,6\n", "t.csv", (margin_read_options){0});
    margin_column_summary s[MOST];
    margin_error error;
    memset(s, 0x55, sizeof s);
    assert_int_equal(margin_table_summarize(context, table, s, 2, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "room for 2 summaries");
    assert_int_equal(margin_table_summarize(NULL, table, s, 3, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_table_summarize(context, NULL, s, 3, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_table_summarize(context, table, NULL, 3, &error),
                     MARGIN_ERROR_ARGUMENT);
    margin_context_cancel(context);
    assert_int_equal(margin_table_summarize(context, table, s, 3, &error), MARGIN_ERROR_CANCELLED);
    assert_int_equal(((unsigned char *)s)[0], 0x55); /* nothing was written */
    margin_context_resume(context);
    assert_int_equal(margin_table_summarize(context, table, s, 3, &error), MARGIN_OK);
    margin_table_free(table);
    margin_context_free(context);
}

static margin_status read_and_summarize(margin_context *context, void *user, margin_error *error) {
    margin_table *table = NULL;
    margin_column_summary s[MOST];
    margin_read_options options = {.size = sizeof options};
    MG_TRY(
        margin_table_parse(context, user, (int64_t)strlen(user), "t.csv", &options, &table, error));
    margin_status status = margin_table_summarize(context, table, s, MOST, error);
    margin_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char text[4000] = "a,b,c\n";
    for (int i = 0; i < 200; i++)
        sprintf(text + strlen(text), "%d,x%d,y\n", i, i % 7);
    assert_true(support_fail_each_allocation(1, read_and_summarize, text) > 30);
    assert_true(support_fail_each_allocation(2, read_and_summarize, text) > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_columns),
        cmocka_unit_test(ties_of_the_most_frequent_go_to_the_first),
        cmocka_unit_test(moments_agree_with_a_plain_loop),
        cmocka_unit_test(distinct_values_are_counted_up_to_a_thousand),
        cmocka_unit_test(sparse_and_dense_agree),
        cmocka_unit_test(too_little_room_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
