/* Column descriptions, names, the plan of which column plays which part, formats. */
#include "support/support.h"

#include "base/context.h"
#include "data/reader/reader.h"
#include "data/table/names.h"
#include "data/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Descriptions --------------------------------------------------------------------------- */

static void assert_same_columns(const margin_column *a, const margin_column *b, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        assert_string_equal(a[j].name, b[j].name);
        assert_int_equal(a[j].kind, b[j].kind);
        assert_int_equal(a[j].category_count, b[j].category_count);
        for (int64_t k = 0; k < a[j].category_count; k++)
            assert_string_equal(a[j].categories[k], b[j].categories[k]);
    }
}

static const char *const sizes[] = {"large", "small", ""};
static const margin_column some_columns[] = {
    {.name = "a"},
    {.name = "size", .kind = MARGIN_CATEGORICAL, .categories = sizes, .category_count = 3},
    {.name = "", .kind = MARGIN_CATEGORICAL}};

static void columns_are_copied_deep(void **state) {
    margin_context *context = *state;
    mg_columns copy;
    margin_column given[3];
    char name[] = "a";
    memcpy(given, some_columns, sizeof given);
    given[0].name = name;
    assert_int_equal(mg_columns_copy(context->heap, given, 3, &copy, NULL), MARGIN_OK);
    name[0] = 'z';
    memset(given, 0, sizeof given);
    assert_int_equal(copy.count, 3);
    assert_same_columns(copy.items, some_columns, 3);
    assert_null(copy.items[2].categories);
    mg_columns_free(&copy);
    assert_null(copy.items);
    mg_columns_free(&copy);

    assert_int_equal(mg_columns_copy(context->heap, NULL, 0, &copy, NULL), MARGIN_OK);
    assert_int_equal(copy.count, 0);
    mg_columns_free(&copy);
    const margin_column nameless[] = {{.name = "a"}, {.name = NULL}};
    assert_int_equal(mg_columns_copy(context->heap, nameless, 2, &copy, NULL), MARGIN_OK);
    assert_string_equal(copy.items[1].name, "x2");
    mg_columns_free(&copy);
}

static void columns_are_numbered_from_one(void **state) {
    margin_context *context = *state;
    mg_columns columns;
    enum { COUNT = 12345 };
    char name[32];
    assert_int_equal(mg_columns_numbered(context->heap, "x", COUNT, &columns, NULL), MARGIN_OK);
    for (int64_t j = 0; j < COUNT; j++) {
        snprintf(name, sizeof name, "x%d", (int)j + 1);
        assert_string_equal(columns.items[j].name, name);
    }
    assert_int_equal(columns.items[7].kind, MARGIN_NUMERIC);
    mg_columns_free(&columns);
    for (int64_t count = 0; count < 102; count++) { /* the last name ends with the block */
        assert_int_equal(mg_columns_numbered(context->heap, "x", count, &columns, NULL), MARGIN_OK);
        mg_columns_free(&columns);
    }
}

/* What a file of a line can ask for: refused before a name is made. */
static void too_many_columns_are_refused_at_once(void **state) {
    (void)state;
    static const int64_t counts[] = {2147483648, 1LL << 40, 1LL << 58, INT64_MAX};
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = 1 << 30};
    margin_context *context;
    mg_columns columns;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    const clock_t start = clock();
    for (int k = 0; k < 4; k++)
        assert_true(mg_columns_numbered(context->heap, "x", counts[k], &columns, NULL) < 0);
    assert_true(clock() - start < CLOCKS_PER_SEC); /* of the processor: without a walk nothing */
    margin_context_free(context);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void assert_unique(margin_context *context, const char *const *names, int64_t count,
                          const char *const *expected) {
    mg_names unique;
    assert_int_equal(mg_names_unique(context->heap, names, count, &unique, NULL), MARGIN_OK);
    for (int64_t j = 0; j < count; j++)
        assert_string_equal(unique.items[j], expected[j]);
    mg_names_free(&unique);
}

static void repeated_names_get_numbers(void **state) {
    const char *const plain[] = {"b", "a", "c"};
    assert_unique(*state, plain, 3, plain);
    const char *const thrice[] = {"a", "b", "a", "a", "b"};
    const char *const numbered[] = {"a", "b", "a.1", "a.2", "b.1"};
    assert_unique(*state, thrice, 5, numbered);
    const char *const taken[] = {"a", "a", "a.1", "a.1", "a.2"};
    const char *const skipped[] = {"a", "a.3", "a.1", "a.1.1", "a.2"};
    assert_unique(*state, taken, 5, skipped);
    const char *const empty[] = {"", ""};
    const char *const called[] = {"", ".1"};
    assert_unique(*state, empty, 2, called);
    assert_unique(*state, NULL, 0, NULL);
}

static void names_are_found_by_bisection(void **state) {
    margin_context *context = *state;
    enum { COUNT = 3000 };
    static char text[COUNT][8];
    static const char *names[COUNT];
    for (int k = 0; k < COUNT; k++) {
        snprintf(text[k], sizeof text[k], "n%d", (k * 7) % COUNT); /* 7 and COUNT: no divisor */
        names[k] = text[k];
    }
    mg_name_index index;
    bool several = true;
    assert_int_equal(mg_name_index_make(context->heap, names, COUNT, &index, NULL), MARGIN_OK);
    for (int k = 0; k < COUNT; k++) {
        assert_int_equal(mg_name_find(&index, text[k], (int64_t)strlen(text[k]), &several), k);
        assert_false(several);
    }
    assert_int_equal(mg_name_find(&index, "n", 1, &several), -1);
    assert_int_equal(mg_name_find(&index, "n12x", 3, &several), (12 * 2143) % COUNT); /* "n12" */
    assert_int_equal(mg_name_find(&index, "n1\0002", 4, &several), -1);
    assert_int_equal(mg_name_find(&index, "zzz", 3, &several), -1);
    mg_name_index_free(&index);
}

/* ---- Plans ---------------------------------------------------------------------------------- */

enum { MOST = 8 };

typedef struct planned {
    mg_column_plan plan[MOST];
    int64_t features;
    margin_error error;
    margin_status status;
} planned;

static planned plan(margin_context *context, const char *const *names, int count, bool has_names,
                    margin_read_options options) {
    planned result = {0};
    result.status = mg_plan_columns(context->heap, names, has_names, count, &options, "t.csv",
                                    result.plan, &result.features, &result.error);
    return result;
}

static const char *const five[] = {"id", "age", "weight", "city", "class"};
static const char *const numbered_five[] = {"x1", "x2", "x3", "x4", "x5"};

/* Roles as letters: f t w i, upper case: categorical. */
static void assert_roles(planned result, const char *roles) {
    static const char letters[] = "ftwi";
    if (result.status < 0) fail_msg("%s", result.error.text);
    int64_t features = 0;
    for (int j = 0; roles[j]; j++) {
        char letter = letters[result.plan[j].role];
        if (result.plan[j].categorical) letter = (char)(letter - 'a' + 'A');
        if (letter != roles[j]) fail_msg("column %d is %c, not %c", j, letter, roles[j]);
        if (result.plan[j].role == MG_ROLE_FEATURE) {
            if (!result.plan[j].expected) assert_int_equal(result.plan[j].feature, features);
            features++;
        }
    }
    assert_int_equal(result.features, features);
}

static void assert_plan_refused(planned result, const char *sentence) {
    assert_int_equal(result.status, MARGIN_ERROR_DATA);
    assert_contains(result.error.text, "t.csv");
    assert_contains(result.error.text, sentence);
}

#define PLAN(...)      plan(*state, five, 5, true, (margin_read_options){__VA_ARGS__})
#define PLAN_NONE(...) plan(*state, numbered_five, 5, false, (margin_read_options){__VA_ARGS__})

static void references_are_names_or_numbers(void **state) {
    assert_roles(PLAN(0), "fffft");
    assert_roles(PLAN(.target = "age"), "ftfff");
    assert_roles(PLAN(.target = "2"), "ftfff");
    assert_roles(PLAN(.target = "-1"), "fffft");
    assert_roles(PLAN(.target = "-5"), "tffff");
    assert_roles(PLAN(.target = ""), "fffff");
    assert_roles(PLAN(.weights = "weight"), "ffwft");
    assert_roles(PLAN(.weights = ""), "fffft");
    assert_roles(PLAN(.ignore = "id, city"), "iffit");
    assert_roles(PLAN(.ignore = "1,4,"), "iffit");
    assert_roles(PLAN(.ignore = "id,id"), "iffft");
    assert_roles(PLAN(.categorical = "age,class"), "fFffT");
    assert_roles(PLAN(.ignore = "class"), "fffti");
    assert_roles(PLAN(.ignore = "class", .weights = "city"), "fftwi");
    assert_roles(PLAN_NONE(.target = "x2"), "ftfff");
    assert_roles(PLAN_NONE(.target = "3"), "fftff");
}

static void names_win_over_numbers_and_lists(void **state) {
    static const char *const odd[] = {"3", "a,b", "c"};
    assert_roles(plan(*state, odd, 3, true, (margin_read_options){.target = "3"}), "tff");
    assert_roles(plan(*state, odd, 3, true, (margin_read_options){.ignore = "a,b"}), "fit");
    assert_roles(plan(*state, odd, 3, true, (margin_read_options){.target = "1"}), "tff");
}

static void wrong_references_are_refused(void **state) {
    assert_plan_refused(PLAN(.target = "clas"), "did you mean 'class'");
    assert_plan_refused(PLAN(.target = "zzzzzzzz"), "from 'id' to 'class'");
    assert_plan_refused(PLAN(.target = "6"), "no column 6");
    assert_plan_refused(PLAN(.target = "0"), "no column 0");
    assert_plan_refused(PLAN(.target = "-6"), "no column -6");
    assert_plan_refused(PLAN(.target = "99999999999999999999999"), "has 5 columns");
    assert_plan_refused(PLAN(.target = "-"), "'-'");
    assert_plan_refused(PLAN(.ignore = "id,ages"), "did you mean 'age'");
    assert_plan_refused(PLAN(.weights = "wieght"), "did you mean 'weight'");
    assert_plan_refused(PLAN(.categorical = "town"), "'town' (categorical)");
    assert_plan_refused(PLAN_NONE(.target = "class"), "has no header");
    assert_plan_refused(PLAN(.target = "id", .ignore = "id"),
                        "to be ignored and the target at once");
    assert_plan_refused(PLAN(.target = "id", .weights = "id"),
                        "is the weights and the target at once");
    assert_plan_refused(PLAN(.weights = "id", .ignore = "id"),
                        "is to be ignored and the weights at once");
    assert_plan_refused(PLAN(.ignore = "1,2,3,4"), "no column is left for features");
    assert_plan_refused(PLAN(.ignore = "1,2,3,4,5"), "no column is left for features");
}

static void repeated_names_are_refused_where_they_are_used(void **state) {
    static const char *const twice[] = {"a", "b", "a", "y"};
    assert_roles(plan(*state, twice, 4, true, (margin_read_options){.target = "y"}), "ffft");
    assert_plan_refused(plan(*state, twice, 4, true, (margin_read_options){.target = "a"}),
                        "several columns are called 'a'");
    assert_plan_refused(plan(*state, twice, 4, true, (margin_read_options){.ignore = "b,a"}),
                        "several columns are called 'a'");
    assert_roles(plan(*state, twice, 4, true, (margin_read_options){.target = "3"}), "fftf");
}

static const margin_column wanted[] = {
    {.name = "city", .kind = MARGIN_CATEGORICAL, .categories = sizes, .category_count = 3},
    {.name = "age"}};
static const margin_column wanted_class = {
    .name = "class", .kind = MARGIN_CATEGORICAL, .categories = sizes, .category_count = 3};

static void a_model_finds_its_columns_by_name(void **state) {
    planned found = PLAN(.expected = wanted, .expected_count = 2, .expected_target = &wanted_class);
    assert_roles(found, "ifiFT");
    assert_int_equal(found.plan[3].feature, 0);
    assert_int_equal(found.plan[1].feature, 1);
    assert_ptr_equal(found.plan[3].expected, &wanted[0]);
    assert_ptr_equal(found.plan[4].expected, &wanted_class);
    assert_roles(PLAN(.expected = wanted, .expected_count = 2), "ifiFi");
    assert_roles(PLAN(.expected = wanted, .expected_count = 2, .target = "id"), "tfiFi");
    assert_roles(PLAN(.expected = wanted, .expected_count = 2, .expected_target = &wanted_class,
                      .target = ""),
                 "ifiFi");
    assert_roles(PLAN(.expected = wanted, .expected_count = 2, .expected_target = &wanted_class,
                      .weights = "weight"),
                 "ifwFT");
}

static void a_model_misses_columns(void **state) {
    static const margin_column more[] = {{.name = "agee"}, {.name = "id"}, {.name = "height"}};
    assert_plan_refused(PLAN(.expected = more, .expected_count = 3),
                        "lacks 2 of the 3 columns the model was trained on: 'agee', 'height'; is "
                        "the first one the file's 'age'?");
    static const margin_column both[] = {{.name = "agee"}, {.name = "age"}}; /* age is taken */
    planned found = PLAN(.expected = both, .expected_count = 2);
    assert_contains(found.error.text, "lacks 1 of the 2 columns the model was trained on: 'agee'");
    assert_null(strstr(found.error.text, "is the first one"));
    static const margin_column klass = {.name = "klass"};
    assert_plan_refused(PLAN(.expected = wanted, .expected_count = 2, .expected_target = &klass),
                        "did you mean 'class'");
    assert_roles(PLAN(.expected = wanted, .expected_count = 2, .expected_target = &klass,
                      .target_optional = 1),
                 "ifiFi");
    assert_plan_refused(
        PLAN(.expected = wanted, .expected_count = 2, .target = "klass", .target_optional = 2),
        "no column 'klass' (the target)");
    assert_plan_refused(PLAN(.expected = wanted, .expected_count = 2, .categorical = "klass"),
                        "no column 'klass' (categorical)");
    assert_roles(PLAN(.expected = wanted, .expected_count = 2, .categorical = "age"), "ifiFi");
    assert_plan_refused(PLAN(.expected = wanted, .expected_count = 2, .ignore = "age"),
                        "to be ignored and a feature at once");
    assert_plan_refused(PLAN(.expected = wanted, .expected_count = 2, .target = "age"),
                        "is the target and a feature at once");
}

static void a_model_finds_repeated_names_as_it_knew_them(void **state) {
    static const char *const twice[] = {"a", "a", "y"};
    static const margin_column known[] = {{.name = "a.1"}, {.name = "a"}};
    planned found =
        plan(*state, twice, 3, true, (margin_read_options){.expected = known, .expected_count = 2});
    assert_roles(found, "ffi");
    assert_int_equal(found.plan[0].feature, 1);
    assert_int_equal(found.plan[1].feature, 0);
}

static void without_names_a_model_goes_by_position(void **state) {
    static const margin_column four[] = {
        {.name = "p"}, {.name = "q", .kind = MARGIN_CATEGORICAL}, {.name = "r"}, {.name = "s"}};
    static const margin_column second = {.name = "x2"}, named = {.name = "y"};
    planned found = PLAN_NONE(.expected = four, .expected_count = 4, .expected_target = &named);
    assert_roles(found, "fFfft");
    assert_int_equal(found.plan[3].feature, 3);
    assert_roles(PLAN_NONE(.expected = four, .expected_count = 4, .expected_target = &second),
                 "ftFff");
    assert_roles(PLAN_NONE(.expected = four, .expected_count = 4, .target = "1"), "tfFff");
    assert_roles(PLAN_NONE(.expected = four, .expected_count = 4, .ignore = "3"), "fFiff");
    assert_roles(
        PLAN_NONE(.expected = four, .expected_count = 3, .expected_target = &named, .weights = "1"),
        "wfFft");
    assert_plan_refused(
        PLAN_NONE(.expected = four, .expected_count = 4, .expected_target = &named, .ignore = "1"),
        "the target is missing");
    assert_roles(PLAN_NONE(.expected = four, .expected_count = 4, .expected_target = &named,
                           .ignore = "1", .target_optional = 1),
                 "ifFff");
    assert_plan_refused(PLAN_NONE(.expected = four, .expected_count = 2),
                        "has 5 columns, but the model was trained on 2 features");
    /* A model without names reads any file by position, unless one of its names is there. */
    static const margin_column nameless[] = {
        {.name = "x1"}, {.name = "x2"}, {.name = "x4"}, {.name = "x5"}};
    static const margin_column third = {.name = "x3"};
    assert_roles(PLAN(.expected = nameless, .expected_count = 4, .expected_target = &third),
                 "fftff");
    static const char *const own[] = {"x5", "x4", "x2", "x1"};
    found = plan(*state, own, 4, true,
                 (margin_read_options){.expected = nameless, .expected_count = 4});
    assert_roles(found, "ffff");
    assert_int_equal(found.plan[0].feature, 3);
}

static margin_status plan_with_failures(margin_context *context, void *user, margin_error *error) {
    static const char *const twice[] = {"a", "b", "a", "y"};
    mg_column_plan made[4];
    mg_columns copy;
    int64_t features;
    (void)user;
    MG_TRY(mg_plan_columns(context->heap, twice, true, 4, NULL, "t.csv", made, &features, error));
    MG_TRY(mg_columns_copy(context->heap, some_columns, 3, &copy, error));
    mg_columns_free(&copy);
    MG_TRY(mg_columns_numbered(context->heap, "x", 3, &copy, error));
    mg_columns_free(&copy);
    margin_table *table;
    MG_TRY(mg_table_new(context->heap, "t.csv", &table, error));
    margin_table_free(table);
    return MARGIN_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, plan_with_failures, NULL) >= 8);
}

/* ---- Formats -------------------------------------------------------------------------------- */

static void formats_are_told_by_ending(void **state) {
    static const struct {
        const char *path;
        margin_format format;
    } known[] = {{"a.csv", MARGIN_FORMAT_CSV},
                 {"a.CSV.GZ", MARGIN_FORMAT_CSV},
                 {"dir.svm/a.tsv", MARGIN_FORMAT_CSV},
                 {"a.data", MARGIN_FORMAT_CSV},
                 {"-", MARGIN_FORMAT_CSV},
                 {"a.libsvm", MARGIN_FORMAT_SVMLIGHT},
                 {"a.svm.gz", MARGIN_FORMAT_SVMLIGHT},
                 {"a.npy", MARGIN_FORMAT_NPY},
                 {"train-images-idx3-ubyte.gz", MARGIN_FORMAT_IDX}};
    margin_format format;
    margin_error error;
    (void)state;
    for (int k = 0; k < MG_LENGTH(known); k++) {
        assert_int_equal(mg_format_find(known[k].path, MARGIN_FORMAT_AUTO, &format, &error),
                         MARGIN_OK);
        assert_int_equal(format, known[k].format);
    }
    assert_int_equal(mg_format_find("a.csv", MARGIN_FORMAT_NPY, &format, &error), MARGIN_OK);
    assert_int_equal(format, MARGIN_FORMAT_NPY);
    assert_int_equal(mg_format_find("a.xlsx", MARGIN_FORMAT_AUTO, &format, &error),
                     MARGIN_ERROR_FORMAT);
    assert_contains(error.text, ".csv, .tsv");
    assert_contains(error.text, ".npy");
    assert_int_equal(mg_format_find("csv", MARGIN_FORMAT_AUTO, &format, &error),
                     MARGIN_ERROR_FORMAT);
    assert_int_equal(mg_format_find("a.csv", (margin_format)77, &format, &error),
                     MARGIN_ERROR_ARGUMENT);
}

static margin_format format_of(margin_context *context, const char *name, const char *text,
                               int64_t length) {
    margin_table *table;
    margin_error error;
    margin_status status = margin_table_parse(context, text, length, name, NULL, &table, &error);
    if (status < 0) fail_msg("%s: %s", name, error.text);
    margin_format format = table_details(table).format;
    margin_table_free(table);
    return format;
}

static void formats_are_told_by_content_where_the_ending_says_little(void **state) {
    static const char svm[] = "# note\n+1 1:0.5 7:-2 # end\n-1 2:1\n", csv[] = "1 2,3:4\n5,6\n";
    static const char *const unsure[] = {"-", "a9a", "a.txt", "a.train", "heart_scale.gz"};
    for (int k = 0; k < MG_LENGTH(unsure); k++) {
        assert_int_equal(format_of(*state, unsure[k], svm, sizeof svm - 1), MARGIN_FORMAT_SVMLIGHT);
        assert_int_equal(format_of(*state, unsure[k], csv, sizeof csv - 1), MARGIN_FORMAT_CSV);
    }
    static const char times[] = "a b,12:30\nc d,12:45\n", labels[] = "1\n2\n";
    assert_int_equal(format_of(*state, "x", times, sizeof times - 1), MARGIN_FORMAT_CSV);
    margin_table *table;
    margin_read_options no_target = {.size = sizeof no_target, .target = ""};
    assert_int_equal(margin_table_parse(*state, labels, 4, "x", &no_target, &table, NULL),
                     MARGIN_OK);
    assert_int_equal(table_details(table).format, MARGIN_FORMAT_CSV);
    margin_table_free(table);
}

static void options_of_other_versions(void **state) {
    struct {
        margin_read_options known;
        char later[16];
    } longer = {.known = {.size = sizeof longer, .target = ""}};
    margin_table *table = NULL;
    margin_error error;
    assert_int_equal(margin_table_parse(*state, "1,2\n", 4, "x.csv", &longer.known, &table, &error),
                     MARGIN_OK);
    assert_int_equal(margin_table_data(table).x.columns, 2);
    margin_table_free(table);
    longer.later[3] = 1;
    table = NULL;
    assert_int_equal(margin_table_parse(*state, "1,2\n", 4, "x.csv", &longer.known, &table, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_null(table);
    margin_read_options small = {.size = 8};
    assert_int_equal(margin_table_parse(*state, "1,2\n", 4, "x.csv", &small, &table, &error),
                     MARGIN_ERROR_ARGUMENT);
    margin_read_options unset = {.size = 0, .target = ""};
    assert_int_equal(margin_table_parse(*state, "1,2\n", 4, "x.csv", &unset, &table, &error),
                     MARGIN_OK);
    margin_table_free(table);
}

static void assert_option_refused(margin_context *context, margin_read_options options,
                                  const char *part) {
    static const char *const names[] = {"x.csv", "x.svm", "x.npy", "x.idx"};
    options.size = sizeof options;
    for (int k = 0; k < MG_LENGTH(names); k++) {
        margin_table *table = NULL;
        margin_error error = {0};
        assert_int_equal(
            margin_table_parse(context, "1 1:2\n", 6, names[k], &options, &table, &error),
            MARGIN_ERROR_ARGUMENT);
        assert_null(table);
        assert_contains(error.text, part);
    }
}

static void options_without_meaning_are_refused_in_every_format(void **state) {
    assert_option_refused(*state, (margin_read_options){.value_type = MARGIN_U8}, "value_type is");
    assert_option_refused(*state, (margin_read_options){.value_type = MARGIN_I32}, "value_type is");
    assert_option_refused(*state, (margin_read_options){.missing = (margin_missing)7},
                          "missing is 7");
    assert_option_refused(*state, (margin_read_options){.header = (margin_header)7}, "header is 7");
    assert_option_refused(*state, (margin_read_options){.expected_count = 1},
                          "expected_count is 1");
    assert_option_refused(*state, (margin_read_options){.index_base = 2}, "index_base is 2");
    assert_option_refused(*state, (margin_read_options){.svmlight_columns = -1},
                          "svmlight_columns is -1");
    assert_option_refused(*state, (margin_read_options){.svmlight_columns = INT64_C(1) << 31},
                          "svmlight_columns is 2147483648");
}

static void null_arguments_are_refused(void **state) {
    margin_table *table = NULL;
    margin_error error;
    assert_int_equal(margin_table_read(*state, NULL, NULL, &table, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_table_read(NULL, "x", NULL, &table, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_table_read(*state, "x", NULL, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_table_parse(*state, NULL, 3, "x", NULL, &table, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_table_parse(*state, "x", -1, "x", NULL, &table, &error),
                     MARGIN_ERROR_ARGUMENT);
    margin_table_free(NULL);
}

int main(void) {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, support_open_context, support_close_context)
    const struct CMUnitTest tests[] = {
        TEST(columns_are_copied_deep),
        TEST(columns_are_numbered_from_one),
        TEST(too_many_columns_are_refused_at_once),
        TEST(repeated_names_get_numbers),
        TEST(names_are_found_by_bisection),
        TEST(references_are_names_or_numbers),
        TEST(names_win_over_numbers_and_lists),
        TEST(wrong_references_are_refused),
        TEST(repeated_names_are_refused_where_they_are_used),
        TEST(a_model_finds_its_columns_by_name),
        TEST(a_model_misses_columns),
        TEST(a_model_finds_repeated_names_as_it_knew_them),
        TEST(without_names_a_model_goes_by_position),
        TEST(every_allocation_may_fail),
        TEST(formats_are_told_by_ending),
        TEST(formats_are_told_by_content_where_the_ending_says_little),
        TEST(options_of_other_versions),
        TEST(options_without_meaning_are_refused_in_every_format),
        TEST(null_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
