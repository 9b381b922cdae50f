/* Data whose columns and categories are in another order than a model's: told by name. */
#include "model_cases.h"

#include "margin/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;
#define OK(expression)                                                                             \
    do {                                                                                           \
        if ((expression) < 0) fail_msg("%s", error.text);                                          \
    } while (0)

enum { N = 120, COLUMNS = 3 };

static const char *const towns[] = {"Bonn", "Kiel", "Ulm"}, *const sizes[] = {"L", "M", "S"};
static const char *const classes[] = {"no", "yes"};
/* the same texts as another table may have them; "Trier" and "XL" are known to nobody */
static const char *const other_towns[] = {"Ulm", "Trier", "Bonn", "Kiel"};
static const char *const other_sizes[] = {"S", "XL", "M", "L"};
static const char *const other_classes[] = {"yes", "no"};
static const int town_of[] = {2, 3, 0}, size_of[] = {3, 2, 0}, class_of[] = {1, 0};

/* One table in two orders: town size weight, and extra weight size town. */
typedef struct {
    double x[N * COLUMNS], y[N], moved[N * (COLUMNS + 1)], moved_y[N];
    float narrow[N * (COLUMNS + 1)];
    margin_column columns[COLUMNS], moved_columns[COLUMNS + 1], target, moved_target;
} tables;

static tables *tables_make(void) {
    tables *t = calloc(1, sizeof *t);
    uint64_t seed = 5;
    for (int i = 0; i < N; i++) {
        const int town = (int)(support_random(&seed) % 3), size = (int)(support_random(&seed) % 3);
        const double weight = town + size + support_normal(&seed);
        t->x[3 * i] = town;
        t->x[3 * i + 1] = size;
        t->x[3 * i + 2] = weight;
        t->y[i] = weight + support_normal(&seed) > 2;
        t->moved[4 * i] = i;
        t->moved[4 * i + 1] = weight;
        t->moved[4 * i + 2] = size_of[size];
        t->moved[4 * i + 3] = town_of[town];
        t->moved_y[i] = class_of[(int)t->y[i]];
        for (int j = 0; j < 4; j++)
            t->narrow[4 * i + j] = (float)t->moved[4 * i + j];
    }
    t->columns[0] = (margin_column){
        .name = "town", .kind = MARGIN_CATEGORICAL, .categories = towns, .category_count = 3};
    t->columns[1] = (margin_column){
        .name = "size", .kind = MARGIN_CATEGORICAL, .categories = sizes, .category_count = 3};
    t->columns[2] = (margin_column){.name = "weight"};
    t->moved_columns[0] = (margin_column){.name = "extra"};
    t->moved_columns[1] = (margin_column){.name = "weight"};
    t->moved_columns[2] = (margin_column){
        .name = "size", .kind = MARGIN_CATEGORICAL, .categories = other_sizes, .category_count = 4};
    t->moved_columns[3] = (margin_column){
        .name = "town", .kind = MARGIN_CATEGORICAL, .categories = other_towns, .category_count = 4};
    t->target = (margin_column){
        .name = "class", .kind = MARGIN_CATEGORICAL, .categories = classes, .category_count = 2};
    t->moved_target = (margin_column){.name = "class",
                                      .kind = MARGIN_CATEGORICAL,
                                      .categories = other_classes,
                                      .category_count = 2};
    return t;
}

static margin_data plain(const tables *t) {
    return (margin_data){.x = margin_dense_f64(t->x, N, COLUMNS, COLUMNS),
                         .y = margin_values_f64(t->y, N),
                         .columns = t->columns,
                         .target = &t->target};
}

static margin_data moved(const tables *t) {
    return (margin_data){.x = margin_dense_f64(t->moved, N, COLUMNS + 1, COLUMNS + 1),
                         .y = margin_values_f64(t->moved_y, N),
                         .columns = t->moved_columns,
                         .target = &t->moved_target};
}

static const char *const specs[] = {"naive-bayes", "onehot | standardize | logistic(C=2)",
                                    "onehot(drop=first) | logistic(C=1)",
                                    "impute | onehot | perceptron(passes=3)"};

static void test_names_decide(void **state) {
    tables *t = tables_make();
    const margin_data here = plain(t), there = moved(t);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        margin_model *model = fit_text(*state, specs[s], &here, NULL);
        int64_t a[N], b[N];
        OK(margin_predict(model, &here.x, a, &error));
        OK(margin_predict_data(*state, model, &there, MARGIN_OUTPUT_LABELS, b, &error));
        assert_memory_equal(a, b, sizeof a);
        double *p = scores_of(model, &here.x), q[N * 2];
        OK(margin_predict_data(*state, model, &there, MARGIN_OUTPUT_SCORES, q, &error));
        assert_memory_equal(p, q, (size_t)(N * margin_model_score_count(model)) * sizeof *p);
        free(p);
        margin_metrics left = {.size = sizeof left}, right = {.size = sizeof right};
        OK(margin_evaluate(*state, model, &here, &left, &error));
        OK(margin_evaluate(*state, model, &there, &right, &error));
        assert_memory_equal(left.confusion, right.confusion, 4 * sizeof *left.confusion);
        assert_true(left.accuracy > 0 && left.accuracy == right.accuracy);
        margin_metrics_free(&left);
        margin_metrics_free(&right);
        margin_report found = {0};
        assert_int_equal(margin_verify(*state, model, &there, &found, &error), MARGIN_OK);
        double m[N], n[N];
        OK(margin_margins(*state, model, &here, m, NULL, &error));
        OK(margin_margins(*state, model, &there, n, NULL, &error));
        assert_memory_equal(m, n, sizeof m);
        margin_model_free(model);
    }
    free(t);
}

static void test_selected_rows_and_f32(void **state) {
    static const int64_t rows[] = {7, 3, 3, 119};
    tables *t = tables_make();
    const margin_data here = plain(t);
    margin_data there = moved(t);
    margin_model *model = fit_text(*state, "naive-bayes(gaussian=weight)", &here, NULL);
    int64_t all[N], some[4];
    OK(margin_predict(model, &here.x, all, &error));
    there.selection = rows;
    there.selected = 4;
    OK(margin_predict_data(*state, model, &there, MARGIN_OUTPUT_LABELS, some, &error));
    for (int i = 0; i < 4; i++)
        assert_int_equal(some[i], all[rows[i]]);
    there.selection = NULL;
    there.x = margin_dense_f32(t->narrow, N, COLUMNS + 1, COLUMNS + 1);
    int64_t narrow[N], differ = 0;
    OK(margin_predict_data(*state, model, &there, MARGIN_OUTPUT_LABELS, narrow, &error));
    for (int i = 0; i < N; i++)
        differ += narrow[i] != all[i];
    assert_int_equal(differ, 0);
    margin_model_free(model);
    free(t);
}

static void test_statistics(void **state) {
    static const char *const names[] = {"a", "b"};
    double x[40], reversed[40], y[20];
    uint64_t seed = 3;
    for (int i = 0; i < 20; i++) {
        x[2 * i] = reversed[2 * i + 1] = support_normal(&seed);
        x[2 * i + 1] = reversed[2 * i] = support_normal(&seed) * 3;
        y[i] = x[2 * i] - x[2 * i + 1] + support_normal(&seed);
    }
    const margin_column columns[] = {{.name = names[0]}, {.name = names[1]}};
    const margin_column back[] = {{.name = names[1]}, {.name = names[0]}};
    margin_data data = {
        .x = margin_dense_f64(x, 20, 2, 2), .y = margin_values_f64(y, 20), .columns = columns};
    margin_model *model = fit_text(*state, "least-squares", &data, NULL);
    margin_statistics_result left = {0}, right = {0};
    OK(margin_statistics(*state, model, &data, NULL, &left, &error));
    data.x = margin_dense_f64(reversed, 20, 2, 2);
    data.columns = back;
    OK(margin_statistics(*state, model, &data, NULL, &right, &error));
    assert_int_equal(left.coefficient_count, 3);
    for (int64_t j = 0; j < 3; j++)
        assert_true(margin_statistics_coefficient(&left, j)->error > 0 &&
                    margin_statistics_coefficient(&left, j)->error ==
                        margin_statistics_coefficient(&right, j)->error);
    assert_true(left.r2 == right.r2 && left.residual_error == right.residual_error);
    margin_statistics_free(&left);
    margin_statistics_free(&right);
    margin_model_free(model);
}

/* Without names in common, columns are the model's in its order. */
static void test_position_where_names_mean_nothing(void **state) {
    tables *t = tables_make();
    const margin_data here = plain(t);
    margin_data there = here;
    margin_model *model = fit_text(*state, "naive-bayes", &here, NULL);
    int64_t a[N], b[N];
    OK(margin_predict(model, &here.x, a, &error));
    there.columns = NULL;
    OK(margin_predict_data(*state, model, &there, MARGIN_OUTPUT_LABELS, b, &error));
    assert_memory_equal(a, b, sizeof a);
    margin_column renamed[COLUMNS];
    memcpy(renamed, t->columns, sizeof renamed);
    renamed[0].name = "p";
    renamed[1].name = "r";
    renamed[2].name = "q";
    there.columns = renamed;
    OK(margin_predict_data(*state, model, &there, MARGIN_OUTPUT_LABELS, b, &error));
    assert_memory_equal(a, b, sizeof a);
    there.x.columns = 2;
    assert_int_equal(margin_predict_data(*state, model, &there, MARGIN_OUTPUT_LABELS, b, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "2 columns");
    margin_model_free(model);
    free(t);
}

static void refuse(margin_context *context, const margin_model *model, const margin_data *data,
                   margin_status status, const char *sentence) {
    margin_metrics metrics = {.size = sizeof metrics};
    margin_report found = {0};
    int64_t labels[N];
    error.text[0] = 0;
    assert_int_equal(
        margin_predict_data(context, model, data, MARGIN_OUTPUT_LABELS, labels, &error), status);
    assert_contains(error.text, sentence);
    assert_int_equal(margin_evaluate(context, model, data, &metrics, &error), status);
    assert_int_equal(margin_verify(context, model, data, &found, &error), status);
}

static void test_refused(void **state) {
    tables *t = tables_make();
    const margin_data here = plain(t);
    margin_data there = moved(t);
    margin_model *model = fit_text(*state, "naive-bayes", &here, NULL);
    t->moved_columns[1].name = "height";
    refuse(*state, model, &there, MARGIN_ERROR_DATA, "lacks 1 of the 3 columns");
    assert_contains(error.text, "'weight'");
    t->moved_columns[1].name = "weight";
    t->moved_columns[0].name = "weight";
    refuse(*state, model, &there, MARGIN_ERROR_DATA,
           "several columns of the data are called 'weight'");
    t->moved_columns[0].name = "extra";
    t->moved_columns[3].kind = MARGIN_NUMERIC;
    refuse(*state, model, &there, MARGIN_ERROR_DATA,
           "column town holds numbers and the model was trained on categories");
    t->moved_columns[3].kind = MARGIN_CATEGORICAL;
    margin_column wrong[COLUMNS];
    memcpy(wrong, t->columns, sizeof wrong);
    wrong[2] = t->columns[0];
    wrong[2].name = "weight";
    there = here;
    there.columns = wrong;
    refuse(*state, model, &there, MARGIN_ERROR_DATA,
           "column weight holds categories and the model was trained on numbers");

    static const double one[] = {1};
    static const int32_t index[] = {0};
    static const int64_t starts[] = {0, 1};
    there.x = margin_csr_f64(one, index, starts, 1, 4);
    there.columns = t->moved_columns;
    there.y.count = 1;
    refuse(*state, model, &there, MARGIN_ERROR_ARGUMENT,
           "sparse data must have the model's columns");
    memcpy(wrong, t->columns, sizeof wrong);
    wrong[0].categories = other_towns;
    there.x.columns = 3;
    there.columns = wrong;
    refuse(*state, model, &there, MARGIN_ERROR_ARGUMENT, "sparse data must have the categories");
    margin_model_free(model);
    free(t);
}

/* A category of nobody is treated as the spec says, whatever code it has in the data. */
static void test_unknown_categories(void **state) {
    tables *t = tables_make();
    const margin_data here = plain(t);
    double row[] = {0, 1.5, 1, 2}; /* XL from Bonn */
    margin_data query = {.x = margin_dense_f64(row, 1, 4, 4), .columns = t->moved_columns};
    double direct[] = {0, 3, 1.5}, missing[] = {0, (double)NAN, 1.5};
    const margin_matrix code = margin_dense_f64(direct, 1, 3, 3);
    const margin_matrix gap = margin_dense_f64(missing, 1, 3, 3);
    double a[2], b[2];
    static const char *const lenient[] = {"naive-bayes", "naive-bayes(unseen=ignore)",
                                          "onehot | softmax(C=1)"};
    for (int s = 0; s < 3; s++) {
        margin_model *model = fit_text(*state, lenient[s], &here, NULL);
        assert_int_equal(margin_model_unknown(model), MARGIN_UNKNOWN_KEEP);
        OK(margin_predict_data(*state, model, &query, MARGIN_OUTPUT_PROBABILITIES, a, &error));
        OK(margin_probabilities(model, &code, b, &error));
        assert_true(a[0] == b[0] && a[1] == b[1] && a[0] > 0);
        OK(margin_probabilities(model, &gap, b, &error));
        assert_int_equal(a[0] == b[0], s > 0); /* smoothed: a mass of its own */
        row[2] = (double)INFINITY;             /* no code, in whatever order */
        OK(margin_predict_data(*state, model, &query, MARGIN_OUTPUT_PROBABILITIES, a, &error));
        assert_true(isnan(a[0]));
        row[2] = 1;
        margin_model_free(model);
    }
    static const char *const strict[] = {"naive-bayes(unseen=error)",
                                         "onehot(unknown=error) | softmax(C=1)"};
    const double y = 0;
    query.y = margin_values_f64(&y, 1);
    query.target = &t->target;
    for (int s = 0; s < 2; s++) {
        margin_model *model = fit_text(*state, strict[s], &here, NULL);
        assert_int_equal(margin_model_unknown(model), MARGIN_UNKNOWN_ERROR);
        int64_t label;
        OK(margin_predict_data(*state, model, &query, MARGIN_OUTPUT_LABELS, &label, &error));
        assert_int_equal(label, -1);
        margin_metrics metrics = {.size = sizeof metrics};
        assert_int_equal(margin_evaluate(*state, model, &query, &metrics, &error),
                         MARGIN_ERROR_DATA);
        assert_contains(error.text, "row 1 has a category in column size that was not in");
        margin_model_free(model);
    }
    /* what a stage encodes is that stage's business */
    margin_model *model = fit_text(*state, "onehot | naive-bayes(unseen=error)", &here, NULL);
    assert_int_equal(margin_model_unknown(model), MARGIN_UNKNOWN_KEEP);
    margin_model_free(model);
    free(t);
}

/* An update finds columns by name, too. */
static void test_update(void **state) {
    tables *t = tables_make();
    margin_data first = plain(t), second = moved(t), whole = plain(t);
    first.x.rows = first.y.count = 70;
    second.x.values = t->moved + 4 * 70;
    second.y.values = t->moved_y + 70;
    second.x.rows = second.y.count = N - 70;
    margin_model *part = fit_text(*state, "naive-bayes(bernoulli=weight)", &first, NULL), *updated;
    margin_model *at_once = fit_text(*state, "naive-bayes(bernoulli=weight)", &whole, NULL);
    OK(margin_update(*state, part, &second, &updated, NULL, &error));
    /* the lists of the second part have a category each that no row has: it joins them */
    const margin_column *columns = margin_model_columns(updated, NULL);
    assert_int_equal(columns[0].category_count, 4);
    assert_string_equal(columns[0].categories[2], "Trier");
    assert_string_equal(columns[1].categories[3], "XL");
    /* and counts for S_j: the same as if it had been in the list from the start */
    static const char *const four_towns[] = {"Bonn", "Kiel", "Trier", "Ulm"};
    static const char *const four_sizes[] = {"L", "M", "S", "XL"};
    margin_model_free(at_once);
    t->columns[0].categories = four_towns;
    t->columns[1].categories = four_sizes;
    t->columns[0].category_count = t->columns[1].category_count = 4;
    for (int i = 0; i < N; i++)
        t->x[3 * i] += t->x[3 * i] == 2;
    whole = plain(t);
    at_once = fit_text(*state, "naive-bayes(bernoulli=weight)", &whole, NULL);
    double *a = scores_of(updated, &whole.x), *b = scores_of(at_once, &whole.x);
    assert_memory_equal(a, b, N * 2 * sizeof *a);
    free(a);
    free(b);
    margin_model_free(part);
    margin_model_free(updated);
    margin_model_free(at_once);
    free(t);
}

static margin_status predict_body(margin_context *context, void *user, margin_error *failure) {
    const tables *t = user;
    const margin_data here = plain(t), there = moved(t);
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    int64_t labels[N];
    margin_status status = margin_spec_parse(context, "naive-bayes", &spec, failure);
    if (status >= 0) status = margin_fit(context, spec, &here, &model, NULL, failure);
    if (status >= 0)
        status = margin_predict_data(context, model, &there, MARGIN_OUTPUT_LABELS, labels, failure);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    tables *t = tables_make();
    assert_true(support_fail_each_allocation(1, predict_body, t) > 30);
    free(t);
}

static int open_context(void **state) {
    *state = support_context(NULL, 2);
    return 0;
}

static int close_context(void **state) {
    margin_context_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_decide),
        cmocka_unit_test(test_selected_rows_and_f32),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_position_where_names_mean_nothing),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unknown_categories),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
