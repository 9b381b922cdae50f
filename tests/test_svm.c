/* Support vector machines as people call them: values of other programs on small tables, known
 * answers, what the dual form says.
 *
 * The values for the squared hinge are those of Newton's method on the rows inside the margin in
 * NumPy, to a gradient of 1e-12. */
#include "model_cases.h"

#include "base/status.h"

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

static table_case read_example(const char *name, int64_t first, int64_t last) {
    table_case t = {.context = support_context(NULL, 2)};
    char path[SUPPORT_PATH];
    margin_error error = {0};
    if (margin_table_read(t.context, support_source(path, name), NULL, &t.table, &error) < 0)
        fail_msg("%s", error.text);
    t.data = margin_table_data(t.table);
    for (int64_t i = first; i < last; i++)
        t.selection[i - first] = i;
    t.data.selected = last - first;
    return t;
}

static void close_example(table_case *t) {
    margin_table_free(t->table);
    margin_context_free(t->context);
}

/* Weights, intercept, objective, support vectors of versicolor against virginica. */
typedef struct iris_answer {
    double function[5], objective;
    int support;
} iris_answer;

static void assert_rows(const char *spec, int64_t first, int64_t last,
                        const iris_answer *expected) {
    table_case t = read_example("examples/data/iris.csv", first, last);
    margin_report report = {0};
    t.data.selection = t.selection;
    margin_model *model = fit_text(t.context, spec, &t.data, &report);
    if (SUPPORT_SLOWER < 30) /* valgrind calculates long double in double precision */
        assert_int_equal(report.status, MARGIN_OK);
    for (int j = 0; j < 4; j++)
        assert_close(margin_model_weights(model, 0)[j], expected->function[j], 1e-7);
    assert_close(margin_model_intercept(model, 0), expected->function[4], 1e-6);
    assert_close(report.objective, expected->objective, 1e-10);
    assert_close(margin_report_item_value(&report, "support_vectors"), expected->support, 0);
    margin_model_free(model);
    close_example(&t);
}

static void assert_iris(const char *spec, const iris_answer *expected) {
    assert_rows(spec, 50, 150, expected);
}

static void test_iris_squared_hinge(void **state) {
    const iris_answer one = {
        {-0.53538676312, -0.64255021996, 1.61818932606, 1.82638797897, -5.78069759587},
        13.47529665015933,
        32};
    const iris_answer hundred = {
        {-0.87443833972, -2.12138646981, 2.87547501744, 5.90459737933, -12.55805717213},
        773.0214962209037,
        14};
    const iris_answer without = {
        {-1.11551351991, -1.14222702175, 1.42281538992, 1.97958481241, 0}, 19.925137633956666, 42};
    (void)state;
    assert_iris("svm(loss=squared-hinge, tol=1e-14)", &one);
    assert_iris("svm(loss=squared-hinge, tol=1e-14, solver=newton)", &one);
    assert_iris("svm(loss=squared-hinge, tol=1e-14, alpha=0.005)",
                &(iris_answer){.function = {-0.87443833972, -2.12138646981, 2.87547501744,
                                            5.90459737933, -12.55805717213},
                               .objective = 7.730214962209037,
                               .support = 14});
    assert_iris("svm(loss=squared-hinge, tol=1e-14, C=100)", &hundred);
    assert_iris("svm(loss=squared-hinge, tol=1e-14, intercept=no)", &without);
}

/* Values from the conditions of the optimum, solved for the rows on the margin (NumPy, after
 * LIBSVM). */
static void test_iris_hinge(void **state) {
    const iris_answer hundredth = {
        {0.1965652173914, 0.0598814229249, 0.4785256916997, 0.2947430830040, -4.290112252964},
        0.7205627470355,
        90};
    const iris_answer one = {
        {-0.5954913657771, -0.9758869701727, 2.0321507064364, 2.0061161695447, -6.781061224490},
        15.759871899529,
        23};
    const iris_answer hundred = {
        {-1.8478260869581, -3.2608695652193, 4.6739130434819, 10.8695652173998, -20.413043478275},
        654.1942344054,
        10};
    (void)state;
    assert_iris("svm(C=0.01, tol=1e-13)", &hundredth);
    assert_iris("svm(tol=1e-13)", &one);
    assert_iris("svm(C=1, tol=1e-13, solver=ssnal)", &one);
    assert_iris("svm(C=100, tol=1e-11)", &hundred); /* rounding of AVX2 leaves 1e-12 */
}

/* Rows 51 to 130: 50 of one class and 30 of the other. */
static void test_class_weights(void **state) {
    const iris_answer thrice = {
        {-0.7256637168141, -1.2389380530976, 1.9764011799411, 2.8082595870212, -6.014749262538},
        17.709320315696,
        20};
    const iris_answer balanced = {
        {-0.5923504485169, -1.0119288976941, 2.0268515766881, 1.8480920147488, -6.411976445983},
        13.766701197879,
        19};
    (void)state;
    assert_rows("svm(class_weight=\"virginica:3\", tol=1e-13)", 50, 130, &thrice);
    assert_rows("svm(class_weight=balanced, tol=1e-13)", 50, 130, &balanced);
}

/* Setosa against versicolor: the widest strip between them. */
static void test_hard_margin(void **state) {
    const double hard_margin[5] = {0.0460343339407, -0.5217224513283, 1.0031648604584,
                                   0.4641795339024, -1.4505610434449};
    (void)state;
    table_case t = read_example("examples/data/iris.csv", 0, 100);
    t.data.selection = t.selection;
    const char *const specs[] = {"svm(C=inf, tol=1e-10)", "svm(C=1e6, tol=1e-10)"};
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_report report = {0};
        margin_model *model = fit_text(t.context, specs[k], &t.data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        for (int j = 0; j < 4; j++)
            assert_close(margin_model_weights(model, 0)[j], hard_margin[j], 1e-4);
        assert_close(margin_model_intercept(model, 0), hard_margin[4], 1e-4);
        assert_close(report.train_accuracy, 1, 0);
        if (k == 0) assert_contains(report.reason, "the widest margin between them, 1.635 across");
        margin_model_free(model);
    }
    close_example(&t);
}

/* w = sum alpha y x, in the user's units and row numbers. */
static void test_dual_form(void **state) {
    const char *const specs[] = {"svm(C=2, tol=1e-12)", "svm(C=2, tol=1e-12, loss=squared-hinge)",
                                 "svm(C=2, tol=1e-8, multiclass=ovo)"};
    (void)state;
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        table_case t = read_example("examples/data/iris.csv", 0, 150);
        margin_report report = {0};
        const double *values = t.data.x.values;
        margin_model *model = fit_text(t.context, specs[k], &t.data, &report);
        double count = 0;
        assert_int_equal(report.status, MARGIN_OK);
        for (int64_t score = 0; score < 3; score++) {
            const int64_t *rows;
            const double *alpha, *sign;
            const int64_t entries = margin_model_dual(model, score, &rows, &alpha, &sign, NULL);
            double w[4] = {0}, balance = 0;
            for (int64_t i = 0; i < entries; i++) {
                for (int j = 0; j < 4; j++)
                    w[j] += alpha[i] * sign[i] * values[t.data.x.stride * rows[i] + j];
                balance += alpha[i] * sign[i];
                if (k != 1) assert_true(alpha[i] <= 2);
            }
            for (int j = 0; j < 4; j++)
                assert_close(w[j], margin_model_weights(model, score)[j], 1e-3);
            assert_true(fabs(balance) < 1e-3);
            count += (double)entries;
        }
        assert_close(margin_report_item_value(&report, "support_vectors"), count, 0);
        margin_model_free(model);
        close_example(&t);
    }
}

static void assert_no_spec(margin_context *context, const char *text, const char *part) {
    margin_spec *spec = NULL;
    margin_error error = {0};
    assert_int_equal(margin_spec_parse(context, text, &spec, &error), MARGIN_ERROR_SPEC);
    assert_contains(error.text, part);
}

static void test_refused(void **state) {
    (void)state;
    table_case t = read_example("examples/data/iris.csv", 0, 100);
    t.data.selection = t.selection;
    assert_no_spec(t.context, "svm(kernel=gauss)", "kernel of svm takes linear, poly, rbf");
    assert_no_spec(t.context, "svm(loss=log)", "hinge or squared-hinge");
    assert_no_spec(t.context, "svm(C=0)", "C");
    assert_no_spec(t.context, "svm(C=-1)", "C");
    assert_no_spec(t.context, "svm(C=1, alpha=1)", "alpha");
    assert_no_spec(t.context, "svm(tol=1)", "tol");
    fit_refused(t.context, "svm(solver=lbfgs)", &t.data, MARGIN_ERROR_SPEC,
                "the hinge loss has corners");
    fit_refused(t.context, "svm(loss=squared-hinge, solver=ssnal)", &t.data, MARGIN_ERROR_SPEC,
                "ssnal is for the hinge loss");
    close_example(&t);
}

/* ---- Larger tables --------------------------------------------------------------------------- */

typedef struct table_answer {
    const char *spec;
    double objective;
} table_answer;

static void assert_table(const char *name, const char *target, const table_answer *answers,
                         int count) {
    char path[SUPPORT_PATH];
    SUPPORT_DATA_OR_SKIP(path, name);
    margin_context *context = support_context(NULL, 2);
    margin_read_options options = {.size = sizeof options, .target = target};
    margin_table *table;
    margin_error error = {0};
    if (margin_table_read(context, path, &options, &table, &error) < 0) fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    for (int k = 0; k < count; k++) {
        margin_report report = {0};
        margin_model *model = fit_text(context, answers[k].spec, &data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        assert_close(report.objective, answers[k].objective, 1e-8);
        margin_model_free(model);
    }
    margin_table_free(table);
    margin_context_free(context);
}

static void test_sonar(void **state) {
    const table_answer answers[] = {
        {"standardize | svm(C=0.01, tol=1e-9)", 1.0991460047781},
        {"standardize | svm(C=1, tol=1e-9)", 44.705414078951},
        {"standardize | svm(C=1000, tol=1e-9)", 1298.6391032},
    };
    (void)state;
    assert_table("tabular/sonar.csv", NULL, answers, MG_LENGTH(answers));
}

/* One of many categories a row, and several classes: the rows of each problem that are equal become
 * one, which classes that share their rows cannot have. */
static void test_classes_of_categories(void **state) {
    enum { ROWS = 30000, CATEGORIES = 2500 };
    int64_t *starts = malloc((ROWS + 1) * sizeof *starts);
    int32_t *columns = malloc(ROWS * sizeof *columns);
    double *ones = malloc(ROWS * sizeof *ones), *y = malloc(ROWS * sizeof *y);
    uint64_t seed = 21;
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const double u = support_uniform(&seed);
        starts[i] = i;
        columns[i] = (int32_t)(CATEGORIES * u * u * u);
        ones[i] = 1;
        y[i] = floor(fmod(1.7 * columns[i], 5) + 1.5 * support_uniform(&seed));
    }
    starts[ROWS] = ROWS;
    margin_context *context = support_context(NULL, 2);
    const margin_data data = {.x = margin_csr_f64(ones, columns, starts, ROWS, CATEGORIES),
                              .y = margin_values_f64(y, ROWS)};
    margin_report report = {0};
    margin_model *all = fit_text(context, "svm", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    for (int i = 0; i < ROWS; i++)
        y[i] = y[i] == 2;
    margin_model *one = fit_text(context, "svm", &data, &report);
    assert_memory_equal(margin_model_weights(all, 2), margin_model_weights(one, 0),
                        CATEGORIES * sizeof(double));
    margin_model_free(all);
    margin_model_free(one);
    margin_context_free(context);
    free(starts);
    free(columns);
    free(ones);
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iris_squared_hinge),
        cmocka_unit_test(test_iris_hinge),
        cmocka_unit_test(test_class_weights),
        cmocka_unit_test(test_hard_margin),
        cmocka_unit_test(test_dual_form),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sonar),
        cmocka_unit_test(test_classes_of_categories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
