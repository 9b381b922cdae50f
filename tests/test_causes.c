/* What margin_error says beside its sentence: the cause, the column, the system's number. */
#include "margin/margin.h"
#include "support/group_context.h"
#include "support/support.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { ROWS = 6, COLUMNS = 2 };

static const double good_x[ROWS * COLUMNS] = {0, 1, 1, 0, 2, 3, 3, 2, 4, 5, 5, 4};
static const double good_y[ROWS] = {0, 0, 0, 1, 1, 1};

/* One data set with one thing wrong in it, refused by a fit. */
typedef struct {
    const char *spec;
    double x[ROWS * COLUMNS], y[ROWS], weights[ROWS];
    margin_column columns[COLUMNS];
    margin_data data;
} bad;

static void bad_init(bad *b, const char *spec) {
    memset(b, 0, sizeof *b);
    b->spec = spec;
    memcpy(b->x, good_x, sizeof good_x);
    memcpy(b->y, good_y, sizeof good_y);
    for (int i = 0; i < ROWS; i++)
        b->weights[i] = 1;
    b->columns[0] = (margin_column){.name = "length", .kind = MARGIN_NUMERIC};
    b->columns[1] = (margin_column){.name = "colour", .kind = MARGIN_NUMERIC};
    b->data = (margin_data){.x = margin_dense_f64(b->x, ROWS, COLUMNS, COLUMNS),
                            .y = margin_values_f64(b->y, ROWS),
                            .weights = margin_values_f64(b->weights, ROWS),
                            .columns = b->columns};
}

/* Every field is written, whatever stood there. */
static void refused(const bad *b, margin_status status, margin_cause cause, int64_t row,
                    int64_t feature) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error;
    assert_int_equal(margin_spec_parse(context, b->spec, &spec, NULL), MARGIN_OK);
    memset(&error, 0x55, sizeof error);
    assert_int_equal(margin_fit(context, spec, &b->data, &model, NULL, &error), status);
    if (error.cause != (int32_t)cause)
        fail_msg("%s: cause %d: %s", b->spec, error.cause, error.text);
    assert_int_equal(error.status, status);
    assert_int_equal(error.row, row);
    assert_int_equal(error.feature, feature);
    assert_int_equal(error.system_error, 0);
    assert_int_equal(error.position, -1);
    for (int k = 0; k < 4; k++)
        assert_int_equal(error.reserved[k], 0);
    margin_spec_free(spec);
}

static void values_are_told_apart(void **state) {
    (void)state;
    static const char *const specs[] = {"logistic", "standardize | logistic", "knn(k=1)"};
    for (int s = 0; s < 3; s++) {
        bad b;
        bad_init(&b, specs[s]);
        b.x[2 * COLUMNS + 1] = (double)NAN;
        refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_MISSING_VALUE, 3, 2);
        bad_init(&b, specs[s]);
        b.x[3 * COLUMNS] = -(double)INFINITY;
        refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_INFINITE_VALUE, 4, 1);
        bad_init(&b, specs[s]);
        b.y[4] = (double)NAN;
        refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_MISSING_VALUE, 5, 0);
    }
    bad b;
    bad_init(&b, "ridge");
    b.y[4] = (double)INFINITY;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_INFINITE_VALUE, 5, 0);
    bad_init(&b, "naive-bayes(distribution=multinomial)");
    b.x[COLUMNS] = -1;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_NEGATIVE_VALUE, 2, 0);
    bad_init(&b, "least-squares");
    for (int i = 0; i < ROWS; i++)
        b.x[i * COLUMNS] *= 1e300;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_OVERFLOW, 0, 0);
}

static void rows_and_classes_are_told_apart(void **state) {
    (void)state;
    bad b;
    bad_init(&b, "logistic");
    for (int i = 0; i < ROWS; i++)
        b.y[i] = 1;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_ONE_CLASS, 0, 0);
    bad_init(&b, "logistic");
    memset(b.weights, 0, sizeof b.weights);
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_NO_ROWS, 0, 0);
    bad_init(&b, "logistic");
    b.data.x.rows = b.data.y.count = b.data.weights.count = 0;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_NO_ROWS, 0, 0);
    bad_init(&b, "logistic");
    b.weights[3] = -1;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_WEIGHTS, 4, 0);
    bad_init(&b, "knn(k=7)");
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_FEW_ROWS, 0, 0);
    bad_init(&b, "kmeans(k=7)");
    b.data.y = (margin_vector){0};
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_FEW_ROWS, 0, 0);
    bad_init(&b, "logistic");
    b.data.y = (margin_vector){0};
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_TARGET, 0, 0);
    bad_init(&b, "logistic");
    b.data.x.columns = 0;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_COLUMNS, 0, 0);
}

static void categories_are_told_apart(void **state) {
    (void)state;
    static const char *const colours[] = {"blue", "red"};
    bad b;
    bad_init(&b, "logistic");
    b.columns[1].kind = MARGIN_CATEGORICAL;
    b.columns[1].categories = colours;
    b.columns[1].category_count = 2;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_CATEGORIES, 1, 2);
    const margin_column target = b.columns[1];
    bad_init(&b, "ridge");
    b.data.target = &target;
    refused(&b, MARGIN_ERROR_DATA, MARGIN_CAUSE_TARGET, 0, 0);
}

static margin_model *fitted(const char *text, const margin_data *data) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    assert_int_equal(margin_spec_parse(context, text, &spec, NULL), MARGIN_OK);
    assert_true(margin_fit(context, spec, data, &model, NULL, NULL) >= 0);
    margin_spec_free(spec);
    return model;
}

static void judging_and_predicting_say_it_too(void **state) {
    (void)state;
    margin_metrics metrics = {.size = sizeof metrics};
    margin_error error;
    bad b;
    bad_init(&b, "logistic");
    margin_model *model = fitted(b.spec, &b.data);
    b.y[2] = 7;
    assert_int_equal(margin_evaluate(context, model, &b.data, &metrics, &error), MARGIN_ERROR_DATA);
    assert_int_equal(error.cause, MARGIN_CAUSE_UNKNOWN_CLASS);
    assert_int_equal(error.row, 3);
    b.y[2] = 1;
    b.x[0] = (double)NAN;
    assert_int_equal(margin_evaluate(context, model, &b.data, &metrics, &error), MARGIN_ERROR_DATA);
    assert_int_equal(error.cause, MARGIN_CAUSE_MISSING_VALUE);
    int64_t labels[ROWS];
    const margin_matrix narrow = margin_dense_f64(b.x, ROWS, 1, 1);
    assert_int_equal(margin_predict(model, &narrow, labels, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(error.cause, MARGIN_CAUSE_COLUMNS);
    b.columns[0].name = "weight";
    assert_int_equal(
        margin_predict_data(context, model, &b.data, MARGIN_OUTPUT_LABELS, labels, &error),
        MARGIN_ERROR_DATA);
    assert_int_equal(error.cause, MARGIN_CAUSE_COLUMNS);
    margin_model_free(model);
}

static void cells_of_files_say_it_too(void **state) {
    (void)state;
    static const char text[] = "a,w,y\n1,1,0\n,1,1\n3,-2,1\n";
    margin_read_options options = {
        .size = sizeof options, .target = "y", .missing = MARGIN_MISSING_ERROR};
    margin_table *table = NULL;
    margin_error error;
    assert_int_equal(
        margin_table_parse(context, text, (int64_t)strlen(text), "t.csv", &options, &table, &error),
        MARGIN_ERROR_FORMAT);
    assert_int_equal(error.cause, MARGIN_CAUSE_MISSING_VALUE);
    assert_int_equal(error.line, 3);
    options.missing = MARGIN_MISSING_KEEP;
    options.weights = "w";
    assert_int_equal(
        margin_table_parse(context, text, (int64_t)strlen(text), "t.csv", &options, &table, &error),
        MARGIN_ERROR_FORMAT);
    assert_int_equal(error.cause, MARGIN_CAUSE_WEIGHTS);
    assert_int_equal(error.line, 4);
}

/* A class that a model does not know is none in every format, a category of a feature is one. */
static void unknown_words_of_files_are_told_apart(void **state) {
    (void)state;
    static const char *const words[] = {"a", "b"};
    const margin_column kinds = {
        .name = "y", .kind = MARGIN_CATEGORICAL, .categories = words, .category_count = 2};
    const margin_column number = {.name = "x"};
    margin_column word = kinds;
    word.name = "x";
    const struct {
        const char *name, *text;
        const margin_column *feature;
        margin_cause cause;
    } files[] = {{"t.csv", "x,y\n1,a\n2,c\n", &number, MARGIN_CAUSE_UNKNOWN_CLASS},
                 {"t.csv", "x,y\na,a\nc,b\n", &word, MARGIN_CAUSE_UNKNOWN_CATEGORY},
                 {"t.svm", "a 1:1\nc 1:2\n", &number, MARGIN_CAUSE_UNKNOWN_CLASS}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        const margin_read_options options = {.size = sizeof options,
                                             .expected = files[k].feature,
                                             .expected_count = 1,
                                             .expected_target = &kinds,
                                             .unknown = MARGIN_UNKNOWN_ERROR,
                                             .unknown_target = MARGIN_UNKNOWN_ERROR};
        margin_table *table = NULL;
        margin_error error = {0};
        const margin_status status =
            margin_table_parse(context, files[k].text, (int64_t)strlen(files[k].text),
                               files[k].name, &options, &table, &error);
        assert_true(status == MARGIN_ERROR_DATA || status == MARGIN_ERROR_FORMAT);
        if (error.cause != (int32_t)files[k].cause)
            fail_msg("%s: cause %d: %s", files[k].name, error.cause, error.text);
    }
}

static void files_carry_the_reason_of_the_system(void **state) {
    (void)state;
    margin_error error;
    margin_table *table = NULL;
    margin_model *model = NULL;
    assert_int_equal(margin_table_read(context, "/nowhere/at.csv", NULL, &table, &error),
                     MARGIN_ERROR_FILE);
    assert_int_equal(error.system_error, ENOENT);
    assert_int_equal(error.cause, MARGIN_CAUSE_NONE);
    assert_int_equal(margin_model_load(context, "/nowhere/at.margin", &model, &error),
                     MARGIN_ERROR_FILE);
    assert_int_equal(error.system_error, ENOENT);
    assert_int_equal(margin_table_read(context, "/", NULL, &table, &error), MARGIN_ERROR_FILE);
    assert_int_equal(error.system_error, EISDIR);
    assert_int_equal(margin_file_write("/nowhere/at.txt", "x", 1, &error), MARGIN_ERROR_FILE);
    assert_int_equal(error.system_error, ENOENT);
    assert_int_equal(margin_file_write("/", "x", 1, &error), MARGIN_ERROR_FILE);
    assert_int_equal(error.system_error, EISDIR);
    /* and the next failure forgets it */
    margin_spec *spec = NULL;
    assert_int_equal(margin_spec_parse(context, "nothing", &spec, &error), MARGIN_ERROR_SPEC);
    assert_int_equal(error.system_error, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_told_apart),
        cmocka_unit_test(rows_and_classes_are_told_apart),
        cmocka_unit_test(categories_are_told_apart),
        cmocka_unit_test(judging_and_predicting_say_it_too),
        cmocka_unit_test(cells_of_files_say_it_too),
        cmocka_unit_test(unknown_words_of_files_are_told_apart),
        cmocka_unit_test(files_carry_the_reason_of_the_system),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
