/* What data go into: by columns into all that takes a data set, to the answers of the same rows;
 * and codes of categories, of which -1 is a missing one wherever data are described. */
#include "model_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 200, COLUMNS = 3 };

static double rows[ROWS * COLUMNS], by_column[COLUMNS][ROWS], values[ROWS];
static int32_t labels[ROWS];
static const double *columns[COLUMNS];

static void make_table(void) {
    uint64_t state = 11;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            rows[i * COLUMNS + j] = by_column[j][i] = support_normal(&state);
        values[i] = rows[i * COLUMNS] - rows[i * COLUMNS + 1] + 0.5 * support_normal(&state);
        labels[i] = values[i] > 0;
    }
    for (int j = 0; j < COLUMNS; j++)
        columns[j] = by_column[j];
}

static margin_data data_of(bool in_columns, bool numbers) {
    return (margin_data){.x = in_columns ? margin_columns_f64(columns, ROWS, COLUMNS)
                                         : margin_dense_f64(rows, ROWS, COLUMNS, COLUMNS),
                         .y = numbers ? margin_values_f64(values, ROWS)
                                      : margin_labels_i32(labels, ROWS)};
}

/* ---- By columns ------------------------------------------------------------------------------ */

/* Numbers that a call came to, for both forms of the data. */
enum { MOST = 2 * ROWS * COLUMNS };
typedef void (*form_call)(margin_context *context, bool in_columns, double *found);

static void judge(margin_context *context, bool in_columns, double *found) {
    const margin_data data = data_of(in_columns, true), row_data = data_of(false, true);
    margin_error error;
    margin_statistics_result told = {.size = sizeof told};
    margin_importance *importance = NULL;
    margin_importance_column first = {.size = sizeof first};
    margin_model *model = fit_text(context, "least-squares", &row_data, NULL);
    assert_int_equal(margin_statistics(context, model, &data, NULL, &told, &error), MARGIN_OK);
    found[0] = margin_statistics_coefficient(&told, 0)->p_value;
    margin_statistics_free(&told);
    assert_int_equal(margin_importance_measure(context, model, &data, NULL, &importance, &error),
                     MARGIN_OK);
    assert_true(margin_importance_of(importance, 0, &first));
    found[1] = first.mean;
    margin_importance_free(importance);
    margin_model_free(model);
}

static void promise(margin_context *context, bool in_columns, double *found) {
    const margin_data data = data_of(in_columns, true), row_data = data_of(false, true);
    const margin_promise_options asked = {.size = sizeof asked, .coverage = 0.8};
    margin_error error;
    margin_coverage_found held = {.size = sizeof held};
    margin_model *model = fit_text(context, "standardize | ridge", &row_data, NULL), *sure = NULL;
    assert_int_equal(margin_promise(context, model, &data, &asked, &sure, &error), MARGIN_OK);
    assert_int_equal(margin_predict_intervals(context, sure, &data, found, found + ROWS, &error),
                     MARGIN_OK);
    assert_int_equal(margin_coverage(context, sure, &data, &held, &error), MARGIN_OK);
    found[2 * ROWS] = held.covered;
    margin_model_free(sure);
    margin_model_free(model);
}

static void transform(margin_context *context, bool in_columns, double *found) {
    const margin_data data = data_of(in_columns, true), row_data = data_of(false, true);
    static const char *const specs[] = {"standardize", "poly(degree=2) | least-squares", "ridge"};
    margin_error error;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_transformed made = {.size = sizeof made};
        margin_model *model = fit_text(context, specs[k], &row_data, NULL);
        assert_int_equal(margin_transform(context, model, &data, &made, &error), MARGIN_OK);
        const double *x = made.x.values;
        for (int64_t i = 0; i < ROWS; i++)
            found[i] += (double)(k + 1) * x[i * made.x.stride + made.x.columns - 1];
        margin_transformed_free(&made);
        margin_model_free(model);
    }
}

static void search(margin_context *context, bool in_columns, double *found) {
    const margin_data data = data_of(in_columns, false);
    const margin_split_options three = {.size = sizeof three, .folds = 3};
    margin_error error;
    margin_splits *splits = NULL;
    margin_search_result *table = NULL;
    margin_nested_result *nested = NULL;
    const margin_spec *spec = parse_text(context, "logistic(alpha={0.01,1})");
    assert_int_equal(margin_split(context, &data, &three, &splits, &error), MARGIN_OK);
    assert_int_equal(margin_search(context, spec, &data, splits, NULL, &table, &error), MARGIN_OK);
    for (int64_t k = 0; k < table->count; k++)
        found[k] = margin_search_cell_at(table, k)->mean;
    assert_int_equal(
        margin_search_nested(context, &spec, 1, &data, splits, &three, NULL, 0, &nested, &error),
        MARGIN_OK);
    found[10] = nested->mean;
    margin_nested_result_free(nested);
    margin_search_result_free(table);
    margin_splits_free(splits);
    margin_spec_free((margin_spec *)spec);
}

static void others(margin_context *context, bool in_columns, double *found) {
    const margin_data numbers = data_of(in_columns, true), classes = data_of(in_columns, false);
    const margin_data row_data = data_of(false, false);
    margin_error error;
    margin_model *model = fit_text(context, "naive-bayes", &row_data, NULL), *more = NULL;
    margin_spec *ridge = parse_text(context, "ridge(alpha={1,10})");
    margin_spec *kernel = parse_text(context, "svm(kernel=rbf)"), *usual[20] = {0};
    margin_path_result path = {.size = sizeof path};
    margin_separation apart = {.size = sizeof apart};
    double *gram = malloc(sizeof *gram * ROWS * ROWS);
    int64_t count;
    assert_int_equal(margin_update(context, model, &classes, &more, NULL, &error), MARGIN_OK);
    assert_int_equal(margin_scores(more, &row_data.x, found, &error), MARGIN_OK);
    assert_int_equal(margin_path(context, ridge, &numbers, &path, &error), MARGIN_OK);
    found[2 * ROWS] = margin_path_point_at(&path, 1)->leave_one_out_rmse;
    assert_true(margin_separable(context, &classes, &apart, &error) >= 0);
    found[2 * ROWS + 1] = apart.residual;
    assert_int_equal(margin_gram(context, kernel, &classes, ROWS * ROWS, gram, &count, &error),
                     MARGIN_OK);
    found[2 * ROWS + 2] = gram[ROWS + 7];
    assert_int_equal(margin_usual_specs(context, &classes, 20, usual, &count, &error), MARGIN_OK);
    found[2 * ROWS + 3] = (double)count;
    for (int64_t k = 0; k < count; k++)
        margin_spec_free(usual[k]);
    free(gram);
    margin_separation_free(&apart);
    margin_path_free(&path);
    margin_spec_free(kernel);
    margin_spec_free(ridge);
    margin_model_free(more);
    margin_model_free(model);
}

static void test_all_take_columns(void **state) {
    static const form_call calls[] = {judge, promise, transform, search, others};
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        double found[2][MOST] = {{0}};
        calls[k](*state, false, found[0]);
        calls[k](*state, true, found[1]);
        assert_memory_equal(found[0], found[1], sizeof found[0]);
    }
}

static void test_copies_are_counted(void **state) {
    const margin_context_options little = {.size = sizeof little, .memory_limit = 4000};
    const margin_data data = data_of(true, true), row_data = data_of(false, true);
    margin_context *call;
    margin_error error;
    margin_transformed made = {.size = sizeof made};
    margin_model *model = fit_text(*state, "standardize", &row_data, NULL);
    assert_int_equal(margin_context_with(*state, &little, &call, &error), MARGIN_OK);
    assert_int_equal(margin_transform(call, model, &data, &made, &error), MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "a copy in rows");
    margin_context_free(call);
    margin_model_free(model);
}

/* ---- Codes ----------------------------------------------------------------------------------- */

enum { CODED = 12 };
static const char *const names[] = {"clay", "loam", "sand"};
static const margin_column described[] = {
    {.name = "soil", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 3},
    {.name = "height"}};

/* soil, height; codes in turn, the given one in row 5. */
static margin_data coded(double x[2 * CODED], double code) {
    static int32_t fruit[CODED];
    for (int i = 0; i < CODED; i++) {
        x[2 * i] = i % 3;
        x[2 * i + 1] = i - 3.0 * (i % 2);
        fruit[i] = i % 3 == 1 || i % 5 == 0;
    }
    x[2 * 5] = code;
    return (margin_data){.x = margin_dense_f64(x, CODED, 2, 2),
                         .y = margin_labels_i32(fruit, CODED),
                         .columns = described};
}

static void test_minus_one_is_missing(void **state) {
    static const char *const specs[] = {"impute | onehot | logistic", "naive-bayes",
                                        "impute | onehot | knn"};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        double x[2][2 * CODED], copy[2 * CODED], scores[2][2 * CODED];
        margin_model *models[2];
        const margin_data with[] = {coded(x[0], -1), coded(x[1], (double)NAN)};
        margin_report found = {.size = sizeof found};
        margin_error error;
        memcpy(copy, x[0], sizeof copy);
        for (int by = 0; by < 2; by++) {
            models[by] = fit_text(*state, specs[k], &with[by], NULL);
            assert_int_equal(margin_predict_data(*state, models[by], &with[by],
                                                 MARGIN_OUTPUT_SCORES, scores[by], &error),
                             MARGIN_OK);
            assert_int_equal(margin_verify(*state, models[0], &with[by], &found, &error),
                             MARGIN_OK);
        }
        assert_same_model(models[0], models[1]);
        const size_t count = (size_t)(CODED * margin_model_score_count(models[0]));
        assert_memory_equal(scores[0], scores[1], count * sizeof **scores);
        assert_memory_equal(copy, x[0], sizeof copy); /* the caller's data stay */
        margin_model_free(models[0]);
        margin_model_free(models[1]);
    }
}

static void test_minus_one_is_refused_as_missing(void **state) {
    double x[2 * CODED];
    margin_data data = coded(x, -1);
    fit_refused(*state, "onehot | logistic", &data, MARGIN_ERROR_DATA,
                "row 6 has no value in column soil");
    fit_refused(*state, "logistic", &data, MARGIN_ERROR_DATA, "column soil holds categories");
}

static void test_other_codes_are_refused(void **state) {
    static const double codes[] = {3, -2, 0.5, 1e300};
    static const char *const specs[] = {"onehot | logistic", "impute | onehot | logistic",
                                        "naive-bayes", "onehot | standardize"};
    double x[2 * CODED];
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++)
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
            margin_data data = coded(x, codes[c]);
            fit_refused(*state, specs[k], &data, MARGIN_ERROR_DATA, "in column soil");
            margin_error error;
            margin_model *model = NULL;
            margin_spec *spec = parse_text(*state, specs[k]);
            assert_int_equal(margin_fit(*state, spec, &data, &model, NULL, &error),
                             MARGIN_ERROR_DATA);
            assert_int_equal(error.row, 6);
            assert_int_equal(error.feature, 1);
            assert_int_equal(error.cause, MARGIN_CAUSE_UNKNOWN_CATEGORY);
            margin_spec_free(spec);
            /* rows that take no part may hold anything */
            double weights[CODED];
            for (int i = 0; i < CODED; i++)
                weights[i] = i != 5;
            data.weights = margin_values_f64(weights, CODED);
            margin_model_free(fit_text(*state, specs[k], &data, NULL));
        }
}

/* In columns of types of their own, -1 of bytes as pandas has it; and in a search and an update. */
static void test_codes_in_columns(void **state) {
    double x[2 * CODED], height[CODED];
    int8_t soil[CODED];
    const margin_data plain = coded(x, (double)NAN);
    for (int i = 0; i < CODED; i++) {
        soil[i] = (int8_t)(i == 5 ? -1 : i % 3);
        height[i] = x[2 * i + 1];
    }
    const margin_array arrays[] = {{.values = soil, .type = MARGIN_I8},
                                   {.values = height, .type = MARGIN_F64}};
    margin_data data = plain;
    data.x = margin_columns_typed(arrays, CODED, 2);
    margin_model *a = fit_text(*state, "impute | onehot | logistic", &plain, NULL);
    margin_model *b = fit_text(*state, "impute | onehot | logistic", &data, NULL);
    assert_same_model(a, b);
    margin_model_free(a);
    margin_model_free(b);

    margin_error error;
    margin_splits *splits = NULL;
    margin_search_result *found = NULL;
    const margin_split_options two = {.size = sizeof two, .folds = 2};
    margin_spec *spec = parse_text(*state, "impute | onehot | logistic(alpha={0.1,1})");
    assert_int_equal(margin_split(*state, &data, &two, &splits, &error), MARGIN_OK);
    assert_int_equal(margin_search(*state, spec, &data, splits, NULL, &found, &error), MARGIN_OK);
    assert_int_equal(found->failed, 0);
    margin_search_result_free(found);
    soil[5] = 7;
    assert_int_equal(margin_search(*state, spec, &data, splits, NULL, &found, &error),
                     MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 6 has the code 7 in column soil, which has 3");
    a = fit_text(*state, "naive-bayes", &plain, NULL);
    assert_int_equal(margin_update(*state, a, &data, &b, NULL, &error), MARGIN_ERROR_DATA);
    assert_int_equal(error.row, 6);
    margin_model_free(a);
    margin_splits_free(splits);
    margin_spec_free(spec);
}

static void test_failing_allocations(void **state) {
    double x[2 * CODED];
    fit_attempt a = {"impute | onehot | logistic", coded(x, -1)};
    (void)state;
    assert_true(support_fail_each_allocation(1, attempt_fit, &a) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_take_columns),
        cmocka_unit_test(test_copies_are_counted),
        cmocka_unit_test(test_minus_one_is_missing),
        cmocka_unit_test(test_minus_one_is_refused_as_missing),
        cmocka_unit_test(test_other_codes_are_refused),
        cmocka_unit_test(test_codes_in_columns),
        cmocka_unit_test(test_failing_allocations),
    };
    make_table();
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
