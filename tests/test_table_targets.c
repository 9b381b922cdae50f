/* Several targets in tables: read from every format, as a model wants them, and written. */
#include "support/support.h"

#include "margin/margin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[SUPPORT_PATH];

static int set_up(void **state) {
    support_temp_dir(folder);
    *state = support_context(NULL, 2);
    return 0;
}

static int tear_down(void **state) {
    margin_context_free(*state);
    support_temp_remove(folder);
    return 0;
}

static margin_table *read_text(margin_context *context, const char *text, const char *name,
                               margin_read_options options) {
    margin_table *table = NULL;
    margin_error error = {0};
    options.size = sizeof options;
    if (margin_table_parse(context, text, (int64_t)strlen(text), name, &options, &table, &error) <
        0)
        fail_msg("%s", error.text);
    return table;
}

static void assert_refused(margin_context *context, const char *text, const char *name,
                           margin_read_options options, const char *sentence) {
    margin_table *table = NULL;
    margin_error error = {0};
    options.size = sizeof options;
    assert_int_equal(
        margin_table_parse(context, text, (int64_t)strlen(text), name, &options, &table, &error),
        MARGIN_ERROR_DATA);
    assert_contains(error.text, sentence);
    assert_null(table);
}

/* "name name ..." and the numbers of y row by row. */
static void assert_targets(const margin_table *table, const char *names, const double *y,
                           int64_t rows) {
    const margin_data data = margin_table_data(table);
    char joined[200] = "";
    for (int64_t t = 0; t < data.targets; t++)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", t ? " " : "",
                 data.target[t].name);
    assert_string_equal(joined, names);
    assert_int_equal(data.x.rows, rows);
    assert_int_equal(data.y.count, rows * data.targets);
    for (int64_t k = 0; k < rows * data.targets; k++) {
        const double value = ((const double *)data.y.values)[k];
        assert_true(value == y[k] || (isnan(value) && isnan(y[k])));
    }
}

static const char text[] = "a,y1,b,\"y,2\",w\n1,10,2,20,1\n3,30,4,40,2\n5,50,6,60,1\n";

/* ---- CSV ------------------------------------------------------------------------------------- */

static void test_csv(void **state) {
    static const double both[] = {20, 10, 40, 30, 60, 50}, three[] = {1, 2, 20, 3, 4, 40, 5, 6, 60};
    margin_table *table =
        read_text(*state, text, "t.csv", (margin_read_options){.target = "-2, y1", .weights = "w"});
    assert_targets(table, "y,2 y1", both, 3);
    margin_data data = margin_table_data(table);
    assert_int_equal(data.x.columns, 2);
    assert_string_equal(data.columns[1].name, "b");
    assert_true(((const double *)data.x.values)[3] == 4);
    assert_true(((const double *)data.weights.values)[1] == 2);
    margin_table_free(table);

    table = read_text(*state, text, "t.csv",
                      (margin_read_options){.target = "1,b,4", .value_type = MARGIN_F32});
    assert_targets(table, "a b y,2", three, 3);
    margin_column_summary summaries[5];
    margin_error error = {0};
    assert_int_equal(margin_table_summarize(*state, table, summaries, 4, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "3 targets");
    assert_int_equal(margin_table_summarize(*state, table, summaries, 5, &error), MARGIN_OK);
    assert_string_equal(summaries[4].column.name, "y,2");
    assert_true(summaries[3].mean == 4 && summaries[4].maximum == 60);
    margin_table_free(table);

    table = read_text(*state, text, "t.csv", (margin_read_options){.target = "y,2"});
    assert_int_equal(margin_table_data(table).targets, 0); /* the name of one */
    assert_string_equal(margin_table_data(table).target->name, "y,2");
    margin_table_free(table);
}

static void test_csv_refused(void **state) {
    static const struct {
        const char *target, *ignore, *sentence;
    } cases[] = {
        {"y1,y3", NULL, "no column 'y3' (the target); did you mean 'y1'?"},
        {"y1,9", NULL, "no column 9 (the target): the file has 5 columns"},
        {"y1,b,y1", NULL, "column 2 ('y1') is named as a target twice"},
        {"y1,2", NULL, "is named as a target twice"},
        {"y1,b", "b", "column 3 ('b') is to be ignored and the target at once"},
        {"1,2,3,4,5", NULL, "no column is left for features"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refused(*state, text, "t.csv",
                       (margin_read_options){.target = cases[k].target, .ignore = cases[k].ignore},
                       cases[k].sentence);
}

static void test_csv_missing(void **state) {
    static const char gaps[] = "a,y,z\n1,,3\n4,5,6\n7,8,\n,9,10\n";
    static const double kept[] = {NAN, 3, 5, 6, 8, NAN, 9, 10}, whole[] = {5, 6};
    margin_read_options options = {.target = "y,z"};
    margin_table *table = read_text(*state, gaps, "t.csv", options);
    assert_targets(table, "y z", kept, 4);
    margin_table_free(table);
    options.missing = MARGIN_MISSING_DROP;
    table = read_text(*state, gaps, "t.csv", options);
    assert_targets(table, "y z", whole, 1);
    assert_int_equal(table_details(table).rows_dropped, 3);
    margin_table_free(table);
}

/* Texts become codes target by target; rows that are left out take categories with them. */
static void test_csv_categories(void **state) {
    static const char words[] = "a,y,z\n1,red,3\n2,blue,x\n3,red,?\n4,green,y\n";
    static const double codes[] = {1, 0, 0, 1};
    margin_table *table = read_text(*state, "a,y,z\n1,red,3\n2,blue,4\n", "t.csv",
                                    (margin_read_options){.target = "y,z", .categorical = "z"});
    const margin_data data = margin_table_data(table);
    assert_int_equal(data.target[0].kind, MARGIN_CATEGORICAL);
    assert_string_equal(data.target[1].categories[1], "4");
    assert_memory_equal(data.y.values, ((const double[]){1, 0, 0, 1}), sizeof codes);
    margin_table_free(table);
    table = read_text(
        *state, words, "t.csv",
        (margin_read_options){.target = "y,z", .categorical = "z", .missing = MARGIN_MISSING_DROP});
    assert_int_equal(margin_table_data(table).target[0].category_count, 3);
    assert_int_equal(margin_table_data(table).target[1].category_count, 3);
    margin_table_free(table);
}

/* ---- As a model wants them ------------------------------------------------------------------- */

static const margin_column features[] = {{.name = "b"}, {.name = "a"}};
static const margin_column targets[] = {{.name = "y,2"}, {.name = "y1"}};

static margin_read_options wanted(void) {
    return (margin_read_options){.expected = features,
                                 .expected_count = 2,
                                 .expected_target = targets,
                                 .expected_targets = 2};
}

static void test_for_a_model(void **state) {
    static const double y[] = {20, 10, 40, 30, 60, 50}, other[] = {1, 10, 2, 30, 1, 50};
    margin_read_options options = wanted();
    margin_table *table = read_text(*state, text, "t.csv", options);
    assert_targets(table, "y,2 y1", y, 3);
    assert_true(((const double *)margin_table_data(table).x.values)[0] == 2);
    margin_table_free(table);
    options.target = "w,y1"; /* other columns in their place, under the model's names */
    table = read_text(*state, text, "t.csv", options);
    assert_targets(table, "y,2 y1", other, 3);
    margin_table_free(table);
    options.target = "w";
    assert_refused(*state, text, "t.csv", options, "the model has 2 targets and 1 is named: 'w'");
    options = wanted();
    assert_refused(*state, "a,b,y1\n1,2,3\n", "t.csv", options, "no column 'y,2' (the target)");
    options.target_optional = 1;
    table = read_text(*state, "a,b,y1\n1,2,3\n", "t.csv", options);
    assert_null(margin_table_data(table).y.values); /* all or none */
    margin_table_free(table);
}

/* Without names: as many columns more as there are targets, the last ones or those of their
 * numbers. */
static void test_by_position(void **state) {
    static const margin_column numbered[] = {{.name = "x1"}, {.name = "x4"}};
    static const char rows[] = "1,2,3,4\n5,6,7,8\n";
    static const double last[] = {3, 4, 7, 8}, outer[] = {1, 4, 5, 8};
    margin_read_options options = wanted();
    options.header = MARGIN_HEADER_NO;
    margin_table *table = read_text(*state, rows, "t.csv", options);
    assert_targets(table, "y,2 y1", last, 2);
    margin_table_free(table);
    options.expected_target = numbered;
    table = read_text(*state, rows, "t.csv", options);
    assert_targets(table, "x1 x4", outer, 2);
    assert_true(((const double *)margin_table_data(table).x.values)[0] == 2);
    margin_table_free(table);
    assert_refused(*state, "1,2\n3,4\n", "t.csv", options, "the targets are missing");
    assert_refused(*state, "1,2,3\n3,4,5\n", "t.csv", options, "2 features and 2 targets");
}

/* ---- svmlight -------------------------------------------------------------------------------- */

static void test_svmlight(void **state) {
    static const char rows[] = "7 1:1 2:2 3:3\n8 2:4\n9 1:5 3:6 4:1\n";
    static const double y[] = {3, 1, 0, 0, 6, 5};
    margin_read_options options = {.target = "3,x1"};
    margin_table *table = read_text(*state, rows, "t.svm", options);
    assert_targets(table, "x3 x1", y, 3);
    margin_data data = margin_table_data(table);
    assert_int_equal(((const int64_t *)data.x.row_starts)[3], 3); /* columns 2, 2 and 4 */
    assert_int_equal(data.x.columns, 4);
    margin_table_free(table);
    options.target = "3,1,3";
    assert_refused(*state, rows, "t.svm", options, "column x3 is given two parts");
    options = wanted();
    assert_refused(*state, rows, "t.svm", options, "a row has one label, and the model has 2");
    options.target = "1";
    assert_refused(*state, rows, "t.svm", options, "the model has 2 targets and '1' names 1");
    options.target = "3,1";
    table = read_text(*state, rows, "t.svm", options);
    assert_targets(table, "y,2 y1", y, 3);
    margin_table_free(table);
    options.target = NULL;
    options.target_optional = 1;
    table = read_text(*state, rows, "t.svm", options);
    assert_null(margin_table_data(table).y.values);
    margin_table_free(table);
}

/* ---- npy, and writing ------------------------------------------------------------------------ */

static const double matrix[] = {1, 2, 3, 4, 5, 6}, answers[] = {10, 20, 30, 40, 50, NAN};

static margin_data small_data(void) {
    return (margin_data){
        .x = margin_dense_f64(matrix, 3, 2, 2), .y = margin_values_f64(answers, 6), .targets = 2};
}

static char *path_of(char path[SUPPORT_PATH], const char *name) {
    snprintf(path, SUPPORT_PATH, "%.900s/%.100s", folder, name);
    return path;
}

static void write_data(margin_context *context, const margin_data *data, const char *path,
                       const char *labels) {
    const margin_write_options options = {.size = sizeof options, .labels = labels};
    margin_error error = {0};
    if (margin_data_write(context, data, path, &options, &error) < 0) fail_msg("%s", error.text);
}

static void test_npy(void **state) {
    char x[SUPPORT_PATH], y[SUPPORT_PATH];
    margin_data data = small_data();
    margin_error error = {0};
    margin_table *table = NULL;
    write_data(*state, &data, path_of(x, "x.npy"), path_of(y, "y.npy"));
    margin_read_options options = {.size = sizeof options, .labels = y};
    assert_int_equal(margin_table_read(*state, x, &options, &table, &error), MARGIN_OK);
    assert_targets(table, "y1 y2", answers, 3);
    margin_table_free(table);
    options.missing = MARGIN_MISSING_ERROR;
    assert_int_equal(margin_table_read(*state, x, &options, &table, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 3: the target number 2 is missing");
    options.missing = MARGIN_MISSING_DROP;
    assert_int_equal(margin_table_read(*state, x, &options, &table, &error), MARGIN_OK);
    assert_targets(table, "y1 y2", answers, 2);
    margin_table_free(table);
    options = (margin_read_options){.size = sizeof options, .labels = y};
    options.expected_target = targets;
    options.expected_targets = 3;
    assert_int_equal(margin_table_read(*state, x, &options, &table, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "2 columns of labels, and the model has 3 targets");
    options.expected_targets = -1;
    assert_int_equal(margin_table_read(*state, x, &options, &table, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "expected_targets is -1");

    margin_data wide = {.x = margin_dense_f64(matrix, 2, 3, 3)};
    write_data(*state, &wide, x, NULL);
    options = (margin_read_options){.size = sizeof options, .target = "3,1"};
    assert_int_equal(margin_table_read(*state, x, &options, &table, &error), MARGIN_OK);
    assert_targets(table, "x3 x1", (const double[]){3, 1, 6, 4}, 2);
    margin_table_free(table);
    options.categorical = "1";
    assert_int_equal(margin_table_read(*state, x, &options, &table, &error), MARGIN_OK);
    assert_targets(table, "x3 x1", (const double[]){3, 0, 6, 1}, 2);
    assert_string_equal(margin_table_data(table).target[1].categories[1], "4");
    margin_table_free(table);
}

static void test_writers(void **state) {
    static const char *const colours[] = {"blue", "red"};
    static const margin_column kinds[] = {
        {.name = "y,2"},
        {.name = "c", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 2}};
    static const double codes[] = {0.5, 1, NAN, 0, 2, NAN};
    static const int64_t selection[] = {2, 0};
    char path[SUPPORT_PATH], other[SUPPORT_PATH];
    margin_data data = small_data();
    margin_error error = {0};
    write_data(*state, &data, path_of(path, "t.csv"), NULL);
    char *written = support_read_file(path, NULL);
    assert_string_equal(written, "x1,x2,y1,y2\n1,2,10,20\n3,4,30,40\n5,6,50,\n");
    free(written);
    data.target = kinds;
    data.y = margin_values_f64(codes, 6);
    data.selection = selection;
    data.selected = 2;
    write_data(*state, &data, path, NULL);
    written = support_read_file(path, NULL);
    assert_string_equal(written, "x1,x2,\"y,2\",c\n5,6,2,\n1,2,0.5,red\n");
    free(written);
    static const char *const names[] = {"t.svm", "t-ubyte"};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(margin_data_write(*state, &data, path_of(path, names[k]), NULL, &error),
                         MARGIN_ERROR_DATA);
        assert_contains(error.text, "2 targets go into CSV or npy");
    }
    const margin_write_options options = {.size = sizeof options,
                                          .labels = path_of(other, "l.npy")};
    assert_int_equal(margin_data_write(*state, &data, path_of(path, "t.npy"), &options, &error),
                     MARGIN_ERROR_DATA);
    assert_contains(error.text, "the target c has categories");
}

/* ---- Threads, memory ------------------------------------------------------------------------- */

static void test_threads(void **state) {
    enum { ROWS = 40000 };
    char *rows = malloc(ROWS * 40 + 20);
    size_t length = 0;
    margin_table *first = NULL;
    (void)state;
    assert_non_null(rows);
    length += (size_t)sprintf(rows, "p,q,r\n");
    for (int i = 0; i < ROWS; i++)
        length += (size_t)sprintf(rows + length, "%d,%d.5,%s\n", i % 97, i, i % 301 ? "2" : "");
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        margin_table *table =
            read_text(context, rows, "t.csv",
                      (margin_read_options){.target = "r,q", .missing = MARGIN_MISSING_DROP});
        const margin_data data = margin_table_data(table);
        assert_int_equal(data.x.rows, ROWS - (ROWS + 300) / 301);
        if (threads == 1) first = table;
        assert_memory_equal(data.y.values, margin_table_data(first).y.values,
                            (size_t)data.y.count * sizeof(double));
        assert_true(((const double *)data.y.values)[1] == 1.5);
        if (threads > 1) margin_table_free(table);
        margin_context_free(context);
    }
    margin_table_free(first);
    free(rows);
}

typedef struct {
    const char *name, *target;
} reading;

static margin_status read_body(margin_context *context, void *user, margin_error *error) {
    const reading *r = user;
    const bool sparse = strstr(r->name, ".svm") != NULL;
    const char *bytes = sparse ? "1 1:2 2:3 3:4\n" : text;
    margin_read_options options = {.size = sizeof options, .target = r->target};
    margin_table *table = NULL;
    margin_status status = margin_table_parse(context, bytes, (int64_t)strlen(bytes), r->name,
                                              &options, &table, error);
    margin_table_free(table);
    return status;
}

static margin_status round_body(margin_context *context, void *user, margin_error *error) {
    const char *const *paths = user;
    const margin_data data = small_data();
    const margin_write_options options = {.size = sizeof options, .labels = paths[1]};
    margin_read_options back = {.size = sizeof back, .labels = paths[1]};
    margin_table *table = NULL;
    margin_status status = margin_data_write(context, &data, paths[0], &options, error);
    if (status >= 0) status = margin_table_read(context, paths[0], &back, &table, error);
    margin_table_free(table);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    reading csv = {"t.csv", "y1,b"}, sparse = {"t.svm", "2,1"};
    char x[SUPPORT_PATH], y[SUPPORT_PATH];
    const char *paths[] = {path_of(x, "m.npy"), path_of(y, "n.npy")};
    assert_true(support_fail_each_allocation(1, read_body, &csv) > 10);
    assert_true(support_fail_each_allocation(1, read_body, &sparse) > 5);
    assert_true(support_fail_each_allocation(1, round_body, paths) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),         cmocka_unit_test(test_csv_refused),
        cmocka_unit_test(test_csv_missing), cmocka_unit_test(test_csv_categories),
        cmocka_unit_test(test_for_a_model), cmocka_unit_test(test_by_position),
        cmocka_unit_test(test_svmlight),    cmocka_unit_test(test_npy),
        cmocka_unit_test(test_writers),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
