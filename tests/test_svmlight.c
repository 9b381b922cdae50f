/* svmlight text: known answers, labels and columns by options, refusals by name. */
#include "support/support.h"

#include "base/context.h"
#include "data/source/source.h"
#include "data/table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

static margin_status read_bytes(margin_context *in, const char *text, size_t length,
                                const margin_read_options *options, margin_table **table,
                                margin_error *error) {
    mg_source source;
    margin_status status = mg_source_memory(in, text, (int64_t)length, "f.svm", &source, error);
    if (status < 0) return status;
    status = mg_reader_svmlight.read(in, &source, options, table, error);
    mg_source_close(&source);
    return status;
}

static margin_table *read_text(const char *text, const margin_read_options *options) {
    margin_table *table = NULL;
    margin_error error = {0};
    if (read_bytes(context, text, strlen(text), options, &table, &error) < 0)
        fail_msg("%s", error.text);
    return table;
}

/* One row of a table in the form "label | column:value ...", columns from 0. */
static const char *row_text(const margin_table *table, int64_t row, char text[1000]) {
    const margin_data data = margin_table_data(table);
    const int64_t *starts = data.x.row_starts;
    const int32_t *columns = data.x.column_indices;
    int length = 0;
    if (table->has_target) length = sprintf(text, "%g |", table->y[row]);
    if (!table->has_target) length = sprintf(text, "|");
    for (int64_t k = starts[row]; k < starts[row + 1]; k++) {
        const double value = data.x.value_type == MARGIN_F32
                                 ? (double)((const float *)data.x.values)[k]
                                 : ((const double *)data.x.values)[k];
        length += sprintf(text + length, " %d:%g", (int)columns[k], value);
    }
    return text;
}

/* The whole table as such rows, each followed by a newline. */
static void assert_rows(const margin_table *table, const char *expected) {
    char all[10000] = "", text[1000];
    for (int64_t i = 0; i < table->x.view.rows; i++) {
        strcat(all, row_text(table, i, text));
        strcat(all, "\n");
    }
    assert_string_equal(all, expected);
}

static void assert_reads(const char *text, const margin_read_options *options, int64_t columns,
                         const char *expected) {
    margin_table *table = read_text(text, options);
    assert_int_equal(table->x.view.columns, columns);
    assert_rows(table, expected);
    margin_error error;
    const margin_data data = margin_table_data(table);
    assert_int_equal(mg_matrix_check(context, &data.x, "x", &error), MARGIN_OK);
    margin_table_free(table);
}

static void assert_refused(const char *text, const margin_read_options *options,
                           margin_status status, const char *sentence) {
    margin_table *table = (margin_table *)(void *)&context;
    margin_table *const untouched = table;
    margin_error error = {0};
    assert_int_equal(read_bytes(context, text, strlen(text), options, &table, &error), status);
    assert_ptr_equal(table, untouched);
    assert_contains(error.text, sentence);
}

/* ---- What is read ---------------------------------------------------------------------------- */

static void plain_rows(void **unused) {
    (void)unused;
    assert_reads("+1 1:0.5 3:-2e-1\n-1 2:7\n", NULL, 3, "1 | 0:0.5 2:-0.2\n-1 | 1:7\n");
    assert_reads("2.5 1:1", NULL, 1, "2.5 | 0:1\n");
}

static void blanks_comments_and_line_ends(void **unused) {
    (void)unused;
    assert_reads("# made by hand: 1:2\n\n1 1:1  2:2\t3:3 \r\n  \t\n2\t 1:4   # 5:5 and: so on\n"
                 "   3 2:6#\n4\n5   \r\n#\n\r\n6 # 1:1",
                 NULL, 3, "1 | 0:1 1:2 2:3\n2 | 0:4\n3 | 1:6\n4 |\n5 |\n6 |\n");
}

static void numbers_of_every_form(void **unused) {
    (void)unused;
    assert_reads("1 1:+1 2:-.5 3:5. 4:1e-05 5:1.234E+2 6:0.00012345678901234567 "
                 "7:12345678901234567890123 8:-0 000000000000009:2 2147483646:1e-400\n",
                 NULL, 2147483646,
                 "1 | 0:1 1:-0.5 2:5 3:1e-05 4:123.4 5:0.000123457 6:1.23457e+22 7:-0 8:2 "
                 "2147483645:0\n");
}

static void indices_from_zero_are_found_or_told(void **unused) {
    (void)unused;
    assert_reads("1 1:1\n1 0:2 2:3\n", NULL, 3, "1 | 1:1\n1 | 0:2 2:3\n");
    const margin_read_options from_zero = {.index_base = -1}, from_one = {.index_base = 1};
    assert_reads("1 1:1\n", &from_zero, 2, "1 | 1:1\n");
    assert_reads("1 1:1\n", &from_one, 1, "1 | 0:1\n");
    assert_refused("1 1:1\n\n2 0:1\n", &from_one, MARGIN_ERROR_FORMAT, "f.svm:3:3: index 0");
}

static void query_ids_are_noted(void **unused) {
    (void)unused;
    assert_reads("3 qid:1 1:1 2:2\n2 qid:12 2:1\n", NULL, 2, "3 | 0:1 1:2\n2 | 1:1\n");
    assert_refused("3 qid:x 1:1\n", NULL, MARGIN_ERROR_FORMAT, "f.svm:1:3: 'qid:x' is not of");
}

static void floats_are_rounded_once(void **unused) {
    (void)unused;
    /* Just above half-way between two floats; rounding to f64 first would hit the middle. */
    const margin_read_options options = {.value_type = MARGIN_F32};
    margin_table *table = read_text("1 1:1.00000005960464477540 2:0.1\n", &options);
    const float *values = table->x.view.values;
    assert_int_equal(table->x.view.value_type, MARGIN_F32);
    assert_true(values[0] == strtof("1.00000005960464477540", NULL));
    assert_true(values[1] == 0.1F);
    margin_table_free(table);
}

static void a_number_of_columns_can_be_asked_for(void **unused) {
    (void)unused;
    const margin_read_options ten = {.svmlight_columns = 10}, one = {.svmlight_columns = 1};
    assert_reads("1 2:1\n", &ten, 10, "1 | 1:1\n");
    assert_reads("1 2:1\n", &one, 2, "1 | 1:1\n");
    assert_reads("1\n", &ten, 10, "1 |\n");
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static void names_become_sorted_categories(void **unused) {
    (void)unused;
    margin_table *table = read_text("spam 1:1\nham 1:2\n? 1:3\nspam 1:4\nno-spam\n", NULL);
    assert_int_equal(table->target.items[0].kind, MARGIN_CATEGORICAL);
    assert_int_equal(table->target.items[0].category_count, 3);
    assert_string_equal(table->target.items[0].name, "label");
    assert_string_equal(table->target.items[0].categories[0], "ham");
    assert_string_equal(table->target.items[0].categories[1], "no-spam");
    assert_string_equal(table->target.items[0].categories[2], "spam");
    assert_rows(table, "2 | 0:1\n0 | 0:2\nnan | 0:3\n2 | 0:4\n1 |\n");
    margin_table_free(table);
}

static void numbers_beside_names_are_names(void **unused) {
    (void)unused;
    margin_table *table = read_text("+1 1:1\n1.0 1:2\nother 1:3\n-1 1:4\n", NULL);
    assert_int_equal(table->target.items[0].category_count, 3);
    assert_string_equal(table->target.items[0].categories[0], "-1");
    assert_string_equal(table->target.items[0].categories[1], "1");
    assert_string_equal(table->target.items[0].categories[2], "other");
    assert_rows(table, "1 | 0:1\n1 | 0:2\n2 | 0:3\n0 | 0:4\n");
    margin_table_free(table);
}

static void numbers_can_be_told_to_be_categories(void **unused) {
    (void)unused;
    const margin_read_options options = {.categorical = "label"};
    margin_table *table = read_text("10 1:1\n9 1:2\n", &options);
    assert_int_equal(table->target.items[0].kind, MARGIN_CATEGORICAL);
    assert_string_equal(table->target.items[0].categories[0], "10");
    assert_rows(table, "0 | 0:1\n1 | 0:2\n");
    margin_table_free(table);
}

static void labels_of_a_model(void **unused) {
    (void)unused;
    const char *names[] = {"+2", "1", "yes"};
    const margin_column categories = {
        .name = "answer", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 3};
    const margin_column number = {.name = "answer"};
    margin_read_options options = {.expected_target = &categories};
    margin_table *table = read_text("yes 1:1\n+1 1:1\n+2 1:1\nno 1:1\nnan 1:1\n", &options);
    assert_rows(table, "2 | 0:1\n1 | 0:1\n0 | 0:1\nnan | 0:1\nnan | 0:1\n");
    assert_string_equal(table->target.items[0].name, "answer");
    assert_int_equal(table->details.unknown_categories, 1);
    margin_table_free(table);

    options.unknown_target = MARGIN_UNKNOWN_KEEP;
    table = read_text("yes 1:1\n+1 1:1\n+2 1:1\nno 1:1\n7.0 1:1\n", &options);
    assert_rows(table, "2 | 0:1\n1 | 0:1\n0 | 0:1\n4 | 0:1\n3 | 0:1\n");
    assert_string_equal(table->target.items[0].categories[3], "7");
    assert_int_equal(table->details.unknown_classes, 2);
    margin_table_free(table);
    options.unknown_target = MARGIN_UNKNOWN_ERROR;
    assert_refused("yes 1:1\nno 1:1\n", &options, MARGIN_ERROR_DATA,
                   "row 2: 'no' in the labels is unknown to the model, which knows +2, 1, yes");
    options.unknown_target = MARGIN_UNKNOWN_MISSING;

    options.expected_target = &number;
    assert_reads("3 1:1\n", &options, 1, "3 | 0:1\n");
    assert_refused("3 1:1\nyes 1:1\n", &options, MARGIN_ERROR_FORMAT,
                   "f.svm:2:1: label 'yes' is not a number");
}

static void labels_may_be_optional(void **unused) {
    (void)unused;
    margin_read_options options = {.target_optional = 1};
    assert_reads("1:1 2:2\n\n2:3\n", &options, 2, "| 0:1 1:2\n| 1:3\n");
    assert_reads("5 1:1\n", &options, 1, "5 | 0:1\n");
    assert_refused("1 1:1\n2:2\n", &options, MARGIN_ERROR_FORMAT,
                   "f.svm:2:1: the line has no label, but others have");
    assert_reads("a,b 1:1 2:2\n2:3\ninf 1:5\n", &(margin_read_options){.target = ""}, 2,
                 "| 0:1 1:2\n| 1:3\n| 0:5\n");
}

static void labels_that_are_refused(void **unused) {
    (void)unused;
    assert_refused("1:0.5 2:1\n", NULL, MARGIN_ERROR_FORMAT,
                   "f.svm:1:1: the line begins with '1:0.5' and not with a label");
    assert_refused("1 1:1\n1,3 1:1\n", NULL, MARGIN_ERROR_FORMAT,
                   "f.svm:2:1: '1,3' is a list of labels");
    assert_refused("a,b 1:1\n", NULL, MARGIN_ERROR_FORMAT, "f.svm:1:1: 'a,b' is a list");
    assert_refused("1 1:1\n  inf 1:1\n", NULL, MARGIN_ERROR_FORMAT,
                   "f.svm:2:3: label 'inf' is infinite");
    assert_refused("1e999 1:1\n", NULL, MARGIN_ERROR_FORMAT, "label '1e999' is infinite");
    assert_refused("\xff\xfe 1:1\n", NULL, MARGIN_ERROR_FORMAT, "the label is not text in UTF-8");
    assert_refused("a\rb 1:1\n", NULL, MARGIN_ERROR_FORMAT, "the label is not text in UTF-8");
    margin_table *table;
    margin_error error;
    assert_int_equal(read_bytes(context, "a\0b 1:1\n", 8, NULL, &table, &error),
                     MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "not text in UTF-8");
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void pairs_that_are_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"1 1:1\n1 2:1 1:1\n", "f.svm:2:7: index 1 follows a larger one"},
        {"1 1:1 2:1 2:3\n", "f.svm:1:11: index 2 is there twice"},
        {"1 0:1 0:1\n", "f.svm:1:7: index 0 is there twice"},
        {"1 2147483647:1\n", "f.svm:1:3: index 2147483647 is beyond the limit of 2147483646"},
        {"1 99999999999999999999999:1\n", "is beyond the limit"},
        {"1 1:1 a\n", "f.svm:1:7: 'a' is not of the form index:value"},
        {"1 1:1 2\n", "f.svm:1:7: '2' is not of the form index:value"},
        {"1 :1\n", "f.svm:1:3: ':1' is not of the form index:value"},
        {"1 -1:1\n", "f.svm:1:3: '-1:1' is not of the form"},
        {"1 1.5:1\n", "f.svm:1:3: '1.5:1' is not of the form"},
        {"1 1:\n", "f.svm:1:5: there is no number behind the colon"},
        {"1 1: 2\n", "f.svm:1:5: there is no number behind the colon"},
        {"1 1:x 2:1\n", "f.svm:1:5: 'x' is not a number"},
        {"1 1:2x 2:1\n", "f.svm:1:5: '2x' is not a number"},
        {"1 1:2,3\n", "f.svm:1:5: '2,3' is not a number"},
        {"1 12:1.2.3\n", "f.svm:1:6: '1.2.3' is not a number"},
        {"1 1:2:3\n", "f.svm:1:5: '2:3' is not a number"},
        {"1 1:1\r2:2\n", "f.svm:1:5: '1' is not a number"},
        {"1 1:1 2:1e309 3:1\n", "f.svm:1:9: '1e309' is infinite or too large; the largest f64"},
        {"1 1:0.00012345678901234567e999\xc8\n", "f.svm:1:5: '0.00012345678901234567e999?' is not"},
        {"1 1:5e999x\n", "f.svm:1:5: '5e999x' is not a number"},
        {"1 1:-inf\n", "f.svm:1:5: '-inf' is infinite or too large"},
        {"1 1:1e999999999999\n", "f.svm:1:5: '1e999999999999' is infinite"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        assert_refused(cases[k].text, NULL, MARGIN_ERROR_FORMAT, cases[k].sentence);
    assert_refused("1 1:1e39\n", &(margin_read_options){.value_type = MARGIN_F32},
                   MARGIN_ERROR_FORMAT,
                   "f.svm:1:5: '1e39' is infinite or too large; the largest f32");
    margin_table *table;
    margin_error error;
    assert_int_equal(read_bytes(context, "1 1:2\0003 2:1\n", 12, NULL, &table, &error),
                     MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "f.svm:1:5: '2' is not a number");
    assert_int_equal(error.line, 1);
    assert_int_equal(error.column, 5);
}

static void texts_without_data(void **unused) {
    (void)unused;
    assert_refused("", NULL, MARGIN_ERROR_DATA, "f.svm has no rows");
    assert_refused("\n# nothing: 1:2\n \n", NULL, MARGIN_ERROR_DATA, "f.svm has no rows");
    assert_refused("1\n2\n", NULL, MARGIN_ERROR_DATA, "f.svm: no row has a feature");
}

static void missing_values(void **unused) {
    (void)unused;
    const char *text = "1 1:1 2:nan\n2 2:2\n3 1:NaN 2:3\n? 1:4\n5 1:5\n";
    margin_table *table = read_text(text, NULL);
    assert_rows(table, "1 | 0:1 1:nan\n2 | 1:2\n3 | 0:nan 1:3\nnan | 0:4\n5 | 0:5\n");
    assert_int_equal(table->details.missing, 2);
    margin_table_free(table);

    const margin_read_options drop = {.missing = MARGIN_MISSING_DROP};
    table = read_text(text, &drop);
    assert_rows(table, "2 | 1:2\n5 | 0:5\n");
    assert_int_equal(table->details.missing, 0);
    assert_int_equal(table->details.rows_dropped, 3);
    margin_table_free(table);
    assert_refused("1 1:nan\n", &drop, MARGIN_ERROR_DATA, "every row has a missing value");

    const margin_read_options refuse = {.missing = MARGIN_MISSING_ERROR};
    assert_refused(text, &refuse, MARGIN_ERROR_FORMAT, "f.svm:1:9: the value 'nan' is missing");
    assert_refused("1 1:1\n? 1:1\n", &refuse, MARGIN_ERROR_FORMAT,
                   "f.svm:2:1: the label '?' is missing");
    assert_reads("? 1:1\n", &(margin_read_options){.missing = MARGIN_MISSING_ERROR, .target = ""},
                 1, "| 0:1\n");
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void columns_with_other_parts(void **unused) {
    (void)unused;
    const char *text = "1 1:1 2:2 3:3\n2 2:5\n3 1:7 4:nan\n";
    margin_table *table = read_text(text, &(margin_read_options){.ignore = "x2, -1,2"});
    assert_int_equal(table->details.missing, 0);
    assert_rows(table, "1 | 0:1 2:3\n2 |\n3 | 0:7\n");
    assert_int_equal(table->x.view.columns, 4);
    margin_table_free(table);

    table = read_text(text, &(margin_read_options){.weights = "1", .target = "x2"});
    assert_rows(table, "2 | 2:3\n5 |\n0 | 3:nan\n");
    assert_true(table->weights[0] == 1 && table->weights[1] == 0 && table->weights[2] == 7);
    assert_string_equal(table->target.items[0].name, "x2");
    margin_table_free(table);

    assert_reads(text, &(margin_read_options){.ignore = "label"}, 4,
                 "| 0:1 1:2 2:3\n| 1:5\n| 0:7 3:nan\n");
    assert_reads(text, &(margin_read_options){.target = "label"}, 4,
                 "1 | 0:1 1:2 2:3\n2 | 1:5\n3 | 0:7 3:nan\n");
    const char *unknown[] = {"9", "0", "-5", "x0", "y", "x", "-", "99999999999999999999", "1x"};
    for (size_t k = 0; k < sizeof unknown / sizeof unknown[0]; k++)
        assert_refused(text, &(margin_read_options){.ignore = unknown[k]}, MARGIN_ERROR_DATA,
                       "(to be ignored): the columns are called x1 to x4 or by number");
    assert_refused(text, &(margin_read_options){.weights = "label"}, MARGIN_ERROR_DATA,
                   "no column 'label' (the weights)");
    assert_refused(text, &(margin_read_options){.categorical = "label,2"}, MARGIN_ERROR_DATA,
                   "column '2' cannot be a category");
    assert_refused(text, &(margin_read_options){.ignore = "1,2", .weights = "x2"},
                   MARGIN_ERROR_DATA, "column x2 is given two parts");
}

static void columns_of_a_model(void **unused) {
    (void)unused;
    const margin_column expected[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    margin_read_options options = {.expected = expected, .expected_count = 3};
    margin_table *table = read_text("1 1:1\n", &options);
    assert_int_equal(table->x.view.columns, 3);
    assert_string_equal(table->columns.items[2].name, "c");
    margin_table_free(table);
    assert_reads("1 1:1 3:3 4:nan 5:5\n2 4:1\n", &options, 3, "1 | 0:1 2:3\n2 |\n");
    options.ignore = "2";
    assert_reads("1 1:1 2:2 3:3 4:4 5:5\n", &options, 3, "1 | 0:1 2:3\n");
    options.ignore = NULL;

    const char *names[] = {"red"};
    const margin_column category = {
        .name = "colour", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 1};
    options.expected = &category;
    options.expected_count = 1;
    assert_refused("1 1:1\n", &options, MARGIN_ERROR_DATA,
                   "column colour of the model is a category");
}

/* ---- Memory, cancel, callbacks --------------------------------------------------------------- */

static margin_status read_in_all_ways(margin_context *in, void *user, margin_error *error) {
    margin_table *table;
    const char *texts[] = {"1 1:1 2:2\n2 0:1\n", "a 1:1\n1 2:2\n"};
    (void)user;
    for (int k = 0; k < 2; k++) {
        const margin_read_options options[] = {
            {.value_type = MARGIN_F32}, {.ignore = "1", .weights = "2", .svmlight_columns = 5}};
        for (int m = 0; m < 2; m++) {
            const margin_status status =
                read_bytes(in, texts[k], strlen(texts[k]), &options[m], &table, error);
            if (status < 0) return status;
            margin_table_free(table);
        }
    }
    return MARGIN_OK;
}

static void every_allocation_may_fail(void **unused) {
    (void)unused;
    assert_true(support_fail_each_allocation(1, read_in_all_ways, NULL) > 20);
}

static void a_cancelled_read_ends(void **unused) {
    (void)unused;
    margin_table *table;
    margin_error error;
    mg_source source;
    assert_int_equal(mg_source_memory(context, "1 1:1\n", 6, "f.svm", &source, &error), MARGIN_OK);
    margin_context_cancel(context);
    assert_int_equal(mg_reader_svmlight.read(context, &source, NULL, &table, &error),
                     MARGIN_ERROR_CANCELLED);
    margin_context_resume(context);
    mg_source_close(&source);
}

static void count_notes(margin_log_level level, const char *text, void *user) {
    int *notes = user;
    assert_int_equal(level, MARGIN_LOG_NOTE);
    assert_contains(text, "f.svm: the query ids (qid) were not read");
    ++*notes;
}

static void a_note_says_what_was_not_read(void **unused) {
    (void)unused;
    int notes = 0;
    margin_context *own;
    margin_error error;
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .log = count_notes, .user = &notes};
    assert_int_equal(margin_context_create(&options, &own, &error), MARGIN_OK);
    margin_table *table;
    assert_int_equal(read_bytes(own, "1 qid:1 1:1\n1 qid:1 1:1\n", 24, NULL, &table, &error),
                     MARGIN_OK);
    assert_int_equal(notes, 1);
    margin_table_free(table);
    margin_context_free(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_rows),
        cmocka_unit_test(blanks_comments_and_line_ends),
        cmocka_unit_test(numbers_of_every_form),
        cmocka_unit_test(indices_from_zero_are_found_or_told),
        cmocka_unit_test(query_ids_are_noted),
        cmocka_unit_test(floats_are_rounded_once),
        cmocka_unit_test(a_number_of_columns_can_be_asked_for),
        cmocka_unit_test(names_become_sorted_categories),
        cmocka_unit_test(numbers_beside_names_are_names),
        cmocka_unit_test(numbers_can_be_told_to_be_categories),
        cmocka_unit_test(labels_of_a_model),
        cmocka_unit_test(labels_may_be_optional),
        cmocka_unit_test(labels_that_are_refused),
        cmocka_unit_test(pairs_that_are_refused),
        cmocka_unit_test(texts_without_data),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(columns_with_other_parts),
        cmocka_unit_test(columns_of_a_model),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_cancelled_read_ends),
        cmocka_unit_test(a_note_says_what_was_not_read),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
