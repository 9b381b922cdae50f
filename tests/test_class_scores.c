/* margin_class_scores: the greatest is the label, whatever decides; margin_distances. */
#include "model_cases.h"
#include "support/group_context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 120, COLUMNS = 3, MOST = 5 };

static margin_error error;

static int64_t greatest(const double *scores, int64_t classes) {
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (scores[c] > scores[best]) best = c;
    return best;
}

/* Against margin_predict, for all rows and a grid on which ties abound; the same bits row by row
 * and on all threads. */
static void check_model(const margin_model *model, const margin_matrix *x) {
    const int64_t classes = margin_model_class_count(model);
    double scores[ROWS * MOST], again[ROWS * MOST];
    int64_t labels[ROWS];
    assert_int_equal(margin_predict(model, x, labels, &error), MARGIN_OK);
    assert_int_equal(margin_class_scores(model, x, scores, &error), MARGIN_OK);
    for (int64_t i = 0; i < x->rows; i++)
        if (greatest(scores + i * classes, classes) != labels[i])
            fail_msg("%s: row %d", margin_model_spec(model), (int)i);
    assert_int_equal(
        margin_predict_parallel(context, model, x, MARGIN_OUTPUT_CLASS_SCORES, again, &error),
        MARGIN_OK);
    assert_memory_equal(scores, again, sizeof *scores * (size_t)(x->rows * classes));
}

static void fill_grid(double grid[ROWS * COLUMNS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            grid[i * COLUMNS + j] = (j == 0 ? i % 5 : j == 1 ? i / 5 % 5 : i / 25) - 2;
}

static void the_greatest_is_the_label(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int64_t classes;
    } cases[] = {{"perceptron", 2},
                 {"perceptron(multiclass=ovo, passes=3)", 4},
                 {"perceptron(multiclass=ovr, passes=3)", 4},
                 {"standardize | svm(multiclass=ovo)", 4},
                 {"svm(multiclass=ovo, kernel=rbf)", 3},
                 {"logistic", 2},
                 {"logistic(multiclass=ovo)", 5},
                 {"softmax", 4},
                 {"knn(k=2)", 4},
                 {"knn(k=4)", 2},
                 {"naive-bayes", 3}};
    double grid[ROWS * COLUMNS];
    fill_grid(grid);
    const margin_matrix ties = margin_dense_f64(grid, ROWS, COLUMNS, COLUMNS);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sample *s = sample_make(ROWS, COLUMNS, cases[k].classes, 0.2, 11 + k);
        const margin_data data = sample_data(s, DENSE_F64);
        margin_model *model = fit_text(context, cases[k].spec, &data, NULL);
        check_model(model, &data.x);
        check_model(model, &ties);
        const margin_matrix sparse = sample_view(s, CSR_F64_I32_I64);
        check_model(model, &sparse);
        margin_model_free(model);
        sample_free(s);
    }
}

/* Pairs: votes counted here from the scores of the pairs, and the sum that settles ties. */
static void pairs_are_votes_and_their_sum(void **state) {
    (void)state;
    enum { CLASSES = 4, PAIRS = 6 };
    sample *s = sample_make(ROWS, COLUMNS, CLASSES, 0.3, 4);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(context, "logistic(multiclass=ovo)", &data, NULL);
    double pairs[ROWS * PAIRS], scores[ROWS * CLASSES];
    assert_int_equal(margin_scores(model, &data.x, pairs, &error), MARGIN_OK);
    assert_int_equal(margin_class_scores(model, &data.x, scores, &error), MARGIN_OK);
    for (int i = 0; i < ROWS; i++) {
        double votes[CLASSES] = {0}, sums[CLASSES] = {0};
        int pair = i * PAIRS;
        for (int a = 0; a < CLASSES; a++)
            for (int b = a + 1; b < CLASSES; b++, pair++) {
                votes[pairs[pair] >= 0 ? a : b]++;
                sums[a] += pairs[pair];
                sums[b] -= pairs[pair];
            }
        for (int c = 0; c < CLASSES; c++) {
            const double wanted = votes[c] + sums[c] / (1 + fabs(sums[c])) / 3;
            assert_true(fabs(scores[i * CLASSES + c] - wanted) < 1e-12);
        }
    }
    margin_model_free(model);
    sample_free(s);
}

/* The hyperplane itself is of the second class, and so says the greatest of the two. */
static void a_score_of_zero_is_the_second_class(void **state) {
    (void)state;
    static const double x[] = {-1, 1}, zero = 0;
    static const int32_t y[] = {0, 1};
    const margin_data data = {.x = margin_dense_f64(x, 2, 1, 1), .y = margin_labels_i32(y, 2)};
    margin_model *model = fit_text(context, "least-squares", &data, NULL);
    const margin_matrix at = margin_dense_f64(&zero, 1, 1, 1);
    double scores[2];
    assert_int_equal(margin_class_scores(model, &at, scores, &error), MARGIN_ERROR_ARGUMENT);
    margin_model_free(model);
    model = fit_text(context, "svm", &data, NULL);
    double score;
    assert_int_equal(margin_scores(model, &at, &score, &error), MARGIN_OK);
    assert_int_equal(margin_class_scores(model, &at, scores, &error), MARGIN_OK);
    assert_true(scores[0] == -score);
    if (score == 0) assert_true(scores[1] == 4.9406564584124654e-324);
    const double none = (double)NAN;
    const margin_matrix missing = margin_dense_f64(&none, 1, 1, 1);
    assert_int_equal(margin_class_scores(model, &missing, scores, &error), MARGIN_OK);
    assert_true(isnan(scores[0]) && isnan(scores[1]));
    margin_model_free(model);
}

static void thresholds_costs_and_calibrations_decide(void **state) {
    (void)state;
    static const double costs[] = {0, 1, 5, 2, 0, 1, 1, 3, 0}, two[] = {0, 1, 7, 0};
    double grid[ROWS * COLUMNS];
    fill_grid(grid);
    const margin_matrix ties = margin_dense_f64(grid, ROWS, COLUMNS, COLUMNS);
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.3, 21),
           *three = sample_make(ROWS, COLUMNS, 3, 0.3, 22);
    const margin_data data = sample_data(s, DENSE_F64), more = sample_data(three, DENSE_F64);
    const struct {
        const char *spec;
        const margin_data *data;
        margin_promise_options options;
    } cases[] = {
        {"logistic",
         &data,
         {.size = sizeof(margin_promise_options), .costs = two, .cost_count = 4}},
        {"softmax",
         &more,
         {.size = sizeof(margin_promise_options), .costs = costs, .cost_count = 9}},
        {"svm",
         &data,
         {.size = sizeof(margin_promise_options), .calibrate = MARGIN_CALIBRATE_ISOTONIC}},
        {"svm",
         &data,
         {.size = sizeof(margin_promise_options), .calibrate = MARGIN_CALIBRATE_SIGMOID}},
    };
    for (int k = 0; k < 4; k++) {
        margin_model *model = fit_text(context, cases[k].spec, cases[k].data, NULL), *promised;
        assert_int_equal(
            margin_promise(context, model, cases[k].data, &cases[k].options, &promised, &error),
            MARGIN_OK);
        check_model(promised, &cases[k].data->x);
        check_model(promised, &ties);
        margin_model_free(promised);
        margin_model_free(model);
    }
    margin_model *model = fit_text(context, "knn(k=4)", &data, NULL), *changed;
    for (int t = 1; t <= 4; t++) { /* shares of four neighbours: exactly on the threshold, too */
        assert_int_equal(margin_model_with_threshold(context, model, 0.25 * t, &changed, &error),
                         MARGIN_OK);
        check_model(changed, &data.x);
        check_model(changed, &ties);
        margin_model_free(changed);
    }
    margin_model_free(model);
    sample_free(three);
    sample_free(s);
}

static void clusters_have_distances(void **state) {
    (void)state;
    enum { K = 4 };
    sample *s = sample_make(ROWS, COLUMNS, 2, 0, 31);
    margin_data data = sample_data(s, DENSE_F64);
    const double *x = data.x.values;
    double distances[ROWS * K], again[ROWS * K];
    margin_model *classes = fit_text(context, "logistic", &data, NULL);
    assert_int_equal(margin_distances(classes, &data.x, distances, &error), MARGIN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "no centres"));
    data.y = (margin_vector){0};
    margin_model *model = fit_text(context, "kmeans(k=4)", &data, NULL);
    check_model(model, &data.x);
    assert_int_equal(margin_distances(model, &data.x, distances, &error), MARGIN_OK);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < K; c++) {
            double square = 0;
            for (int j = 0; j < COLUMNS; j++) {
                const double d = x[i * COLUMNS + j] - margin_model_centre(model, c)[j];
                square += d * d;
            }
            assert_true(fabs(distances[i * K + c] - sqrt(square)) <= 1e-12);
            assert_false(signbit(distances[i * K + c]));
        }
    assert_int_equal(
        margin_predict_parallel(context, model, &data.x, MARGIN_OUTPUT_DISTANCES, again, &error),
        MARGIN_OK);
    assert_memory_equal(distances, again, sizeof distances);
    assert_int_equal(
        margin_predict_data(context, model, &data, MARGIN_OUTPUT_DISTANCES, again, &error),
        MARGIN_OK);
    assert_memory_equal(distances, again, sizeof distances);
    margin_model_free(model);
    margin_model_free(classes);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_greatest_is_the_label),
        cmocka_unit_test(pairs_are_votes_and_their_sum),
        cmocka_unit_test(a_score_of_zero_is_the_second_class),
        cmocka_unit_test(thresholds_costs_and_calibrations_decide),
        cmocka_unit_test(clusters_have_distances),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
