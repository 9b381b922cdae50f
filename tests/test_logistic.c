/* Logistic regression and exponential loss as people call them: values of another program on small
 * tables, known answers, class weights, probabilities.
 *
 * The values were computed with scikit-learn 1.9.1, LogisticRegression(solver="newton-cholesky",
 * tol=1e-14), OneVsRestClassifier and OneVsOneClassifier around it, and agree to 1e-12 with
 * Newton's method in NumPy's extended precision. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tables ---------------------------------------------------------------------------------- */

typedef struct table_case {
    margin_context *context;
    margin_table *table;
    margin_data data;
    int64_t selection[200];
} table_case;

static table_case read_example(const char *name) {
    table_case t = {.context = support_context(NULL, 2)};
    char path[SUPPORT_PATH];
    margin_error error = {0};
    if (margin_table_read(t.context, support_source(path, name), NULL, &t.table, &error) < 0)
        fail_msg("%s", error.text);
    t.data = margin_table_data(t.table);
    return t;
}

/* Rows first..last-1 only. */
static void select_rows(table_case *t, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++)
        t->selection[i - first] = i;
    t->data.selection = t->selection;
    t->data.selected = last - first;
}

static void close_example(table_case *t) {
    margin_table_free(t->table);
    margin_context_free(t->context);
}

/* weights of a score function, then the intercept */
static void assert_function(const margin_model *model, int64_t score, const double *expected,
                            int64_t columns, double tolerance) {
    for (int64_t j = 0; j < columns; j++)
        assert_close(margin_model_weights(model, score)[j], expected[j], tolerance);
    assert_close(margin_model_intercept(model, score), expected[columns], tolerance);
}

static void assert_iris(const char *spec, int64_t first, int64_t last, const double *expected) {
    table_case t = read_example("examples/data/iris.csv");
    margin_report report = {0};
    select_rows(&t, first, last);
    margin_model *model = fit_text(t.context, spec, &t.data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_function(model, 0, expected, 4, 1e-7);
    margin_model_free(model);
    close_example(&t);
}

/* Versicolor against virginica: rows 51 to 150. */
static void test_iris(void **state) {
    const double one[] = {-0.3944334786, -0.5132774044, 2.930751384, 2.417032188, -14.43075818};
    const double hundred[] = {-2.305272452, -3.949196589, 7.267353698, 11.28313847, -28.93219213};
    const double without[] = {-1.863341081, -1.646020516, 2.477246723, 2.593142807, 0};
    (void)state;
    assert_iris("logistic(tol=1e-14)", 50, 150, one);
    assert_iris("logistic(C=1, solver=newton, tol=1e-14)", 50, 150, one);
    assert_iris("logistic(alpha=0.5, tol=1e-14)", 50, 150, one);
    assert_iris("logistic(lambda=0.005, tol=1e-14)", 50, 150, one);
    assert_iris("logistic(C=100, tol=1e-14)", 50, 150, hundred);
    assert_iris("logistic(intercept=no, tol=1e-14)", 50, 150, without);
}

static void test_iris_report(void **state) {
    (void)state;
    table_case t = read_example("examples/data/iris.csv");
    margin_report report = {0};
    margin_error error = {0};
    double p[300];
    select_rows(&t, 50, 150);
    margin_model *model = fit_text(t.context, "logistic(tol=1e-14)", &t.data, &report);
    assert_close(report.objective, 24.0546623402, 1e-11);
    assert_string_equal(report.formula, "C sum log(1+exp(-y f)) + |w|^2/2");
    assert_close(margin_report_item_value(&report, "C"), 1, 0);
    assert_close(margin_report_item_value(&report, "alpha"), 0.5, 1e-15);
    assert_close(margin_report_item_value(&report, "lambda"), 0.005, 1e-15);
    assert_close(report.train_accuracy, 0.96, 1e-15);
    assert_string_equal(report.iteration_name, "L-BFGS steps");
    assert_int_equal(margin_probabilities(model, &t.data.x, p, &error), MARGIN_OK);
    assert_close(p[2 * 50 + 1], 0.1576386545, 1e-8);
    assert_close(p[2 * 50], 1 - 0.1576386545, 1e-8);
    margin_model_free(model);
    close_example(&t);
}

/* Rows 51 to 130: 50 of one class and 30 of the other. */
static void test_class_weights(void **state) {
    const double balanced[] = {-0.4341451067, -0.5914511991, 2.686910092, 2.215252622,
                               -12.44132281};
    const double thrice[] = {-0.7076887431, -0.859935259, 3.163118975, 2.778606346, -12.82557486};
    (void)state;
    assert_iris("logistic(class_weight=balanced, tol=1e-14)", 50, 130, balanced);
    assert_iris("logistic(class_weight=\"virginica:3\", tol=1e-14)", 50, 130, thrice);
    assert_iris("logistic(class_weight=\"virginica:3,versicolor:1\", tol=1e-14)", 50, 130, thrice);
}

static void test_iris_classes(void **state) {
    const double rest[3][5] = {
        {-0.4450270976, 0.900006792, -2.323536322, -0.9734506823, 6.690423643},
        {-0.1793103512, -2.12864992, 0.6966734807, -1.274806591, 5.586215762},
        {-0.3944269213, -0.5133297021, 2.93086437, 2.417064716, -14.4312639}};
    const double pairs[3][5] = {
        /* positive for the second of the pair */
        {0.4403477076, -0.9070010507, 2.308473082, 0.9623267952, -6.611403287},
        {0.4849901515, -0.34084068, 1.827808859, 0.8336644376, -8.769128858},
        {-0.3944334786, -0.5132774044, 2.930751384, 2.417032188, -14.43075818}};
    const double probabilities[3][3] = {
        {8.968085591530e-01, 1.031903685663e-01, 1.072280668174e-06},
        {3.511557780503e-03, 3.078183606779e-01, 6.886700815416e-01},
        {1.077886339686e-04, 1.667318085416e-01, 8.331604028244e-01}};
    const int64_t rows[3] = {0, 70, 120};
    double p[450];
    (void)state;
    table_case t = read_example("examples/data/iris.csv");
    margin_report report = {0};
    margin_error error = {0};
    margin_metrics metrics = {.size = sizeof metrics};
    margin_model *model = fit_text(t.context, "logistic(tol=1e-14)", &t.data, &report);
    for (int k = 0; k < 3; k++)
        assert_function(model, k, rest[k], 4, 1e-7);
    assert_close(report.train_accuracy, 143.0 / 150, 1e-12);
    assert_int_equal(report.subproblems, 3);
    assert_int_equal(margin_probabilities(model, &t.data.x, p, &error), MARGIN_OK);
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs(p[3 * rows[k] + c] - probabilities[k][c]) < 1e-8);
    assert_int_equal(margin_evaluate(t.context, model, &t.data, &metrics, &error), MARGIN_OK);
    assert_close(metrics.log_loss, 0.2720019636, 1e-8);
    margin_metrics_free(&metrics);
    margin_model_free(model);

    model = fit_text(t.context, "logistic(multiclass=ovo, tol=1e-14)", &t.data, &report);
    for (int k = 0; k < 3; k++) {
        double turned[5];
        for (int j = 0; j < 5; j++)
            turned[j] = -pairs[k][j];
        assert_function(model, k, turned, 4, 1e-7);
    }
    assert_int_equal(margin_model_has_probabilities(model), 0);
    assert_int_equal(margin_probabilities(model, &t.data.x, p, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "pairs of classes");
    margin_model_free(model);
    close_example(&t);
}

/* Standardised columns, weights in the table's units. */
static void test_wine(void **state) {
    const double third[] = {0.62805731,  0.4330117,  2.2404913,     0.10525756,  0.014453489,
                            -0.60644059, -1.5180211, 0.015102614,   -1.2519673,  0.51417074,
                            -5.3224548,  -1.6427103, 0.00031670216, -8.576556038};
    (void)state;
    table_case t = read_example("examples/data/wine.csv");
    margin_report report = {0};
    margin_model *model =
        fit_text(t.context, "standardize | logistic(tol=1e-14)", &t.data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_function(model, 2, third, 13, 1e-6);
    margin_model_free(model);
    close_example(&t);
}

/* The breast cancer table in its own units, from 1e-3 to 4e3; the objective by Newton's method in
 * NumPy, on scaled columns with the penalty scaled back. */
static void test_wdbc(void **state) {
    char path[SUPPORT_PATH];
    margin_read_options options = {.size = sizeof options, .target = "diagnosis", .ignore = "id"};
    margin_error error = {0};
    margin_table *table;
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/wdbc.csv");
    margin_context *context = support_context(NULL, 2);
    assert_int_equal(margin_table_read(context, path, &options, &table, &error), MARGIN_OK);
    const margin_data data = margin_table_data(table);
    margin_report report = {0}, found = {0};
    margin_model *model = fit_text(context, "logistic", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_close(report.objective, 53.7946112305, 1e-6);
    assert_true(report.iterations < 40);
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_OK);
    margin_model_free(model);
    margin_table_free(table);
    margin_context_free(context);
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* Where the columns say nothing, the intercept is the log-odds of the classes; the exponential's is
 * half of them. */
static void test_intercept_alone(void **state) {
    const double x[6] = {2, 2, 2, 2, 2, 2}, y[6] = {0, 0, 1, 0, 0, 0};
    const margin_data data = {.x = margin_dense_f64(x, 6, 1, 1), .y = margin_values_f64(y, 6)};
    const char *const specs[] = {"logistic(tol=1e-12)", "exponential(tol=1e-12)"};
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 2; k++) {
        double p[12];
        margin_error error = {0};
        margin_report report = {0};
        margin_model *model = fit_text(context, specs[k], &data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        assert_true(margin_model_weights(model, 0)[0] == 0);
        assert_close(margin_model_intercept(model, 0), log(0.2) / (1 + k), 1e-9);
        assert_int_equal(margin_probabilities(model, &data.x, p, &error), MARGIN_OK);
        assert_close(p[1], 1.0 / 6, 1e-9);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Two rows at -1 and +1: exponential, 2 C e^-w + w^2/2 with w e^w = 2 C. */
static void test_two_rows(void **state) {
    const double x[2] = {-1, 1}, y[2] = {0, 1};
    const margin_data data = {.x = margin_dense_f64(x, 2, 1, 1), .y = margin_values_f64(y, 2)};
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_model *model = fit_text(context, "exponential(C=5, tol=1e-13)", &data, NULL);
    const double w = margin_model_weights(model, 0)[0];
    assert_close(w * exp(w), 10, 1e-6);
    margin_model_free(model);
    margin_context_free(context);
}

/* A 0/1 column without a penalty: the fitted probabilities are the shares of its groups. */
static void test_saturated(void **state) {
    double x[40], y[40];
    (void)state;
    for (int i = 0; i < 40; i++) {
        x[i] = i < 25;
        y[i] = i < 25 ? i % 5 == 0 : i % 3 == 0; /* 5 of 25, 5 of 15 */
    }
    const margin_data data = {.x = margin_dense_f64(x, 40, 1, 1), .y = margin_values_f64(y, 40)};
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, "logistic(C=inf, tol=1e-12)", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_close(margin_model_intercept(model, 0), log(0.5), 1e-6);
    assert_close(margin_model_weights(model, 0)[0], log(0.25) - log(0.5), 1e-6);
    margin_model_free(model);
    margin_context_free(context);
}

/* Told from the scores of the last step, of columns that are far from 0, too. */
static void test_accuracy_is_that_of_predictions(void **state) {
    enum { ROWS = 400, COLUMNS = 4 };
    static const char *const specs[] = {
        "logistic",
        "logistic(C=inf)",
        "logistic(solver=newton, intercept=no)",
        "standardize | logistic",
        "minmax | svm(loss=squared-hinge)",
        "svm(loss=squared-hinge, C=inf)",
        "exponential(C=10)",
        "logistic(class_weight=balanced)",
    };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t seed = 3;
    (void)state;
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < 2 * (int)(sizeof specs / sizeof specs[0]); k++) {
        int64_t labels[ROWS], right = 0;
        margin_report report = {0};
        margin_error error = {0};
        for (int i = 0; i < ROWS; i++) {
            double sum = 2 * support_normal(&seed);
            for (int j = 0; j < COLUMNS; j++) {
                x[i * COLUMNS + j] = support_normal(&seed) + (k % 2 && j == 1 ? 1e7 : 0);
                sum += x[i * COLUMNS + j] - (k % 2 && j == 1 ? 1e7 : 0);
            }
            y[i] = sum > 1;
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(y, ROWS)};
        margin_model *model = fit_text(context, specs[k / 2], &data, &report);
        assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_OK);
        for (int i = 0; i < ROWS; i++)
            right += (double)labels[i] == y[i];
        if (report.train_accuracy != (double)right / ROWS)
            fail_msg("%s: %.17g for %.17g", specs[k / 2], report.train_accuracy,
                     (double)right / ROWS);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* As a row moves through the place where its own score is 0, rounding has the last word. */
static void test_accuracy_near_0(void **state) {
    enum { ROWS = 5, HALVINGS = 32, AROUND = 20 };
    static const double y[ROWS] = {0, 0, 1, 1, 1}, far = 1e7, step = 2e-9; /* its last digit */
    double x[ROWS] = {far - 2, far - 1, far + 1, far + 2}, low = far - 2, high = far + 2;
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < HALVINGS + 2 * AROUND; k++) {
        margin_report report = {0};
        int64_t labels[ROWS], right = 0;
        x[4] = k < HALVINGS ? (low + high) / 2 : high + step * (k - HALVINGS - AROUND);
        const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                                  .y = margin_values_f64(y, ROWS)};
        margin_model *model = fit_text(context, "logistic", &data, &report);
        assert_int_equal(margin_predict(model, &data.x, labels, NULL), MARGIN_OK);
        for (int i = 0; i < ROWS; i++)
            right += (double)labels[i] == y[i];
        if (k < HALVINGS) *(labels[4] ? &high : &low) = x[4];
        if (report.train_accuracy != (double)right / ROWS)
            fail_msg("%d: %.17g for %.17g", k, report.train_accuracy, (double)right / ROWS);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* ---- Class weights --------------------------------------------------------------------------- */

/* The weight of a class is that of its rows, with several classes and weighted rows too. */
static void test_class_weights_are_row_weights(void **state) {
    const char *const with[] = {
        "logistic(class_weight=\"0:0.5,2:3\")",
        "logistic(class_weight=\"0:0.5,2:3\", multiclass=ovo)",
        "perceptron(passes=7, class_weight=\"0:0.5,2:3\")",
        "perceptron(variant=averaged, intercept=no, class_weight=\"0:0.5,2:3\")",
        "perceptron(passes=9, intercept=no, multiclass=argmax, class_weight=\"0:0.5,2:3\")"};
    const char *const without[] = {"logistic", "logistic(multiclass=ovo)", "perceptron(passes=7)",
                                   "perceptron(variant=averaged, intercept=no)",
                                   "perceptron(passes=9, intercept=no, multiclass=argmax)"};
    const double of_class[3] = {0.5, 1, 3};
    double own[70], both[70];
    (void)state;
    sample *s = sample_make(70, 5, 3, 0.1, 11);
    margin_context *context = support_context(NULL, 2);
    for (int i = 0; i < 70; i++) {
        own[i] = 1 + i % 2;
        both[i] = own[i] * of_class[(int)s->labels[i]];
    }
    for (int k = 0; k < (int)(sizeof with / sizeof *with); k++) {
        margin_data data = sample_data(s, DENSE_F64);
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        data.weights = margin_values_f64(own, 70);
        margin_model *weighted = fit_text(context, with[k], &data, &report);
        assert_int_equal(margin_verify(context, weighted, &data, &found, &error), MARGIN_OK);
        data.weights = margin_values_f64(both, 70);
        margin_model *written = fit_text(context, without[k], &data, NULL);
        for (int f = 0; f < 3; f++) {
            assert_memory_equal(margin_model_weights(weighted, f), margin_model_weights(written, f),
                                5 * sizeof(double));
            assert_true(margin_model_intercept(weighted, f) == margin_model_intercept(written, f));
        }
        margin_model_free(weighted);
        margin_model_free(written);
    }
    margin_context_free(context);
    sample_free(s);
}

/* Balanced: the classes weigh the same, and all of them as much as before. */
static void test_balanced(void **state) {
    (void)state;
    sample *s = sample_make(70, 5, 3, 0.1, 12);
    margin_context *context = support_context(NULL, 2);
    double counts[3] = {0}, weights[70];
    for (int i = 0; i < 70; i++)
        counts[(int)s->labels[i]]++;
    for (int i = 0; i < 70; i++)
        weights[i] = 70 / (3 * counts[(int)s->labels[i]]);
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *balanced = fit_text(context, "exponential(class_weight=balanced)", &data, NULL);
    data.weights = margin_values_f64(weights, 70);
    margin_model *written = fit_text(context, "exponential", &data, NULL);
    for (int f = 0; f < 3; f++)
        for (int j = 0; j < 5; j++)
            assert_close(margin_model_weights(balanced, f)[j], margin_model_weights(written, f)[j],
                         1e-9);
    margin_model_free(balanced);
    margin_model_free(written);
    margin_context_free(context);
    sample_free(s);
}

static void test_class_weights_refused(void **state) {
    const struct {
        const char *value, *says;
    } cases[] = {
        {"versicolour:2", "did you mean 'versicolor'"},
        {"tulip:2", "there is no class 'tulip'"},
        {"even", "none, balanced or a list"},
        {":3", "there is no class ''"},
        {"setosa:0", "above 0"},
        {"setosa:-1", "above 0"},
        {"setosa:inf", "above 0"},
        {"setosa:nan", "above 0"},
        {"setosa:two", "'two' is not a weight for class 'setosa'"},
        {"setosa:1,,virginica:2", "none, balanced or a list"},
    };
    (void)state;
    table_case t = read_example("examples/data/iris.csv");
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        char spec[100];
        snprintf(spec, sizeof spec, "logistic(class_weight=\"%s\")", cases[k].value);
        fit_refused(t.context, spec, &t.data, MARGIN_ERROR_SPEC, cases[k].says);
    }
    close_example(&t);
}

/* Names with colons: the last one ends the name. */
static void test_class_names_with_colons(void **state) {
    static const char *const names[2] = {"a:1", "b"};
    const margin_column target = {
        .name = "t", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2};
    const double x[4] = {0, 1, 0.5, 2}, y[4] = {0, 1, 0, 1};
    double weights[4] = {7, 1, 7, 1};
    margin_data data = {
        .x = margin_dense_f64(x, 4, 1, 1), .y = margin_values_f64(y, 4), .target = &target};
    (void)state;
    margin_context *context = support_context(NULL, 1);
    margin_model *named = fit_text(context, "logistic(class_weight=\"a:1:7\")", &data, NULL);
    data.weights = margin_values_f64(weights, 4);
    margin_model *written = fit_text(context, "logistic", &data, NULL);
    assert_true(margin_model_weights(named, 0)[0] == margin_model_weights(written, 0)[0]);
    margin_model_free(named);
    margin_model_free(written);
    margin_context_free(context);
}

/* ---- Probabilities --------------------------------------------------------------------------- */

/* Far out: still numbers that add up to 1, and the label the most probable class. */
static void test_far_probabilities(void **state) {
    (void)state;
    sample *s = sample_make(70, 5, 3, 0, 13);
    margin_context *context = support_context(NULL, 1);
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(context, "logistic(C=1e6)", &data, NULL);
    for (double scale = 1e-3; scale < 1e9; scale *= 1e3) {
        for (int sign = -1; sign < 2; sign += 2) {
            double row[5], p[3];
            int64_t label;
            margin_error error = {0};
            for (int j = 0; j < 5; j++)
                row[j] = sign * scale * (j - 1.5);
            const margin_matrix x = margin_dense_f64(row, 1, 5, 5);
            assert_int_equal(margin_probabilities(model, &x, p, &error), MARGIN_OK);
            assert_int_equal(margin_predict(model, &x, &label, &error), MARGIN_OK);
            assert_close(p[0] + p[1] + p[2], 1, 1e-12);
            for (int c = 0; c < 3; c++)
                assert_true(p[c] >= 0 && p[c] <= p[label]);
        }
    }
    margin_model_free(model);
    margin_context_free(context);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iris),
        cmocka_unit_test(test_iris_report),
        cmocka_unit_test(test_class_weights),
        cmocka_unit_test(test_iris_classes),
        cmocka_unit_test(test_wine),
        cmocka_unit_test(test_wdbc),
        cmocka_unit_test(test_intercept_alone),
        cmocka_unit_test(test_two_rows),
        cmocka_unit_test(test_accuracy_is_that_of_predictions),
        cmocka_unit_test(test_accuracy_near_0),
        cmocka_unit_test(test_saturated),
        cmocka_unit_test(test_class_weights_are_row_weights),
        cmocka_unit_test(test_balanced),
        cmocka_unit_test(test_class_weights_refused),
        cmocka_unit_test(test_class_names_with_colons),
        cmocka_unit_test(test_far_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
