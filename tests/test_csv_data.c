/* Published tables, as far as they are there: rows, types, missing cells and classes as counted by
 * others. */
#include "support/support.h"

#include "margin/data.h"

#include <math.h>
#include <string.h>

typedef struct known_file {
    const char *name;
    const char *target; /* NULL: the last column */
    int64_t rows;
    int numeric, categorical; /* columns, the target among them */
    int64_t missing;          /* cells, those of the target among them */
    int header;
    const char *category; /* one class and its count, where the target is categorical */
    int64_t count;
} known_file;

static const known_file files[] = {
    {"tabular/iris.csv", NULL, 150, 4, 1, 0, 0, "Iris-setosa", 50},
    {"tabular/wine.csv", NULL, 178, 14, 0, 0, 0, NULL, 0},
    {"tabular/breast-cancer-wisconsin.csv", NULL, 699, 10, 0, 16, 0, NULL, 0},
    {"tabular/pima-indians-diabetes.csv", NULL, 768, 9, 0, 0, 0, NULL, 0},
    {"tabular/sonar.csv", NULL, 208, 60, 1, 0, 0, "M", 111},
    {"tabular/ionosphere.csv", NULL, 351, 34, 1, 0, 0, "b", 126},
    {"tabular/glass.csv", NULL, 214, 10, 0, 0, 0, NULL, 0},
    {"tabular/banknote_authentication.csv", NULL, 1372, 5, 0, 0, 0, NULL, 0},
    {"tabular/adult-train.csv", NULL, 32561, 6, 9, 4262, 0, ">50K", 7841},
    {"tabular/adult-test.csv", NULL, 16281, 6, 9, 2203, 0, "<=50K.", 12435},
    {"tabular/wdbc.csv", "diagnosis", 569, 31, 1, 0, 1, "B", 357},
    {"tabular/letter-recognition.data", "1", 20000, 16, 1, 0, 0, "U", 813},
    {"tabular/optdigits.tra", NULL, 3823, 65, 0, 0, 0, NULL, 0},
    {"tabular/optdigits.tes", NULL, 1797, 65, 0, 0, 0, NULL, 0},
    {"tabular/titanic.csv", "survived", 891, 6, 9, 869, 1, NULL, 0},
    {"tabular/penguins.csv", "species", 344, 4, 3, 19, 1, "Adelie", 152},
    {"tabular/higgs-small.train", "1", 7000, 29, 0, 0, 0, NULL, 0},
    {"tabular/higgs-small.test", "1", 500, 29, 0, 0, 0, NULL, 0},
    {"large/kddcup.data_10_percent.gz", NULL, 494021, 38, 4, 0, 0, "smurf.", 280790},
    {"large/kddcup-corrected-test.gz", NULL, 311029, 38, 4, 0, 0, "mailbomb.", 5000},
    {"regression/abalone.csv", NULL, 4177, 8, 1, 0, 0, NULL, 0},
    {"regression/winequality-red.csv", NULL, 1599, 12, 0, 0, 0, NULL, 0},
    {"regression/california-housing.csv", "9", 20640, 9, 1, 207, 1, NULL, 0},
    {"regression/diamonds.csv", "price", 53940, 7, 3, 0, 1, NULL, 0},
    {"regression/auto-mpg.csv", "mpg", 398, 7, 2, 6, 1, NULL, 0},
    {"regression/concrete.csv", NULL, 1030, 9, 0, 0, 1, NULL, 0},
    {"regression/airfoil.csv.gz", NULL, 1503, 6, 0, 0, 0, NULL, 0},
    {"regression/kin40k.test_mask.csv.gz", NULL, 40000, 10, 0, 0, 0, NULL, 0},
    {"regression/protein.csv.gz", NULL, 45730, 10, 0, 0, 0, NULL, 0},
    {"categorical/agaricus-lepiota.data", "1", 8124, 0, 23, 2480, 1, "e", 4208},
    {"categorical/house-votes.csv", "1", 435, 0, 17, 392, 1, "democrat", 267},
    {"categorical/breast-cancer-yugoslavia.csv", NULL, 286, 1, 9, 9, 0, "recurrence-events", 85},
};

static margin_table *read_file(margin_context *context, const char *path, const char *target) {
    margin_read_options options = {.size = sizeof options, .target = target};
    margin_table *table = NULL;
    margin_error error = {0};
    if (margin_table_read(context, path, &options, &table, &error) < 0) fail_msg("%s", error.text);
    return table;
}

static int64_t count_missing(const margin_data *data) {
    const double *x = data->x.values, *y = data->y.values;
    int64_t missing = 0;
    for (int64_t k = 0; k < data->x.rows * data->x.columns; k++)
        missing += isnan(x[k]);
    for (int64_t i = 0; i < data->x.rows; i++)
        missing += isnan(y[i]);
    return missing;
}

static int64_t count_class(const margin_data *data, const char *category) {
    const double *y = data->y.values;
    int64_t count = 0;
    for (int64_t i = 0; i < data->x.rows; i++)
        count += !isnan(y[i]) && strcmp(data->target->categories[(int64_t)y[i]], category) == 0;
    return count;
}

static void check_file(margin_context *context, const known_file *known, const char *path) {
    margin_table *table = read_file(context, path, known->target);
    margin_data data = margin_table_data(table);
    int categorical = data.target->kind == MARGIN_CATEGORICAL;
    for (int64_t j = 0; j < data.x.columns; j++)
        categorical += data.columns[j].kind == MARGIN_CATEGORICAL;
    if (data.x.rows != known->rows || categorical != known->categorical ||
        data.x.columns + 1 != known->numeric + known->categorical ||
        count_missing(&data) != known->missing || table_details(table).has_header != known->header)
        fail_msg("%s: %lld rows, %lld columns, %d categorical, %lld missing", known->name,
                 (long long)data.x.rows, (long long)data.x.columns + 1, categorical,
                 (long long)count_missing(&data));
    if (known->category) assert_int_equal(count_class(&data, known->category), known->count);
    margin_table_free(table);
}

static void files_are_as_others_counted_them(void **state) {
    SUPPORT_LARGE_CASE();
    margin_context *context = support_context(NULL, 0);
    int found = 0;
    (void)state;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[SUPPORT_PATH];
        if (!support_data(path, files[k].name)) continue;
        check_file(context, &files[k], path);
        found++;
    }
    margin_context_free(context);
    if (found == 0) {
        print_message("skipped: no data sets\n");
        skip();
    }
}

/* Column sums of wdbc.csv, printed by another program. */
static void some_numbers_of_wdbc(void **state) {
    char path[SUPPORT_PATH];
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/wdbc.csv");
    margin_context *context = support_context(NULL, 2);
    margin_table *table = read_file(context, path, "diagnosis");
    margin_data data = margin_table_data(table);
    double sums[3] = {0};
    const double *x = data.x.values;
    for (int64_t i = 0; i < data.x.rows; i++)
        for (int j = 0; j < 3; j++)
            sums[j] += x[i * data.x.stride + j + 1];
    assert_string_equal(data.columns[1].name, "radius_mean");
    assert_close(sums[0], 8038.429, 1e-14);
    assert_close(sums[1], 10975.81, 1e-14);
    assert_close(sums[2], 52330.38, 1e-14);
    margin_table_free(table);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_as_others_counted_them),
        cmocka_unit_test(some_numbers_of_wdbc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
