/* Support vector machines as people call them: values of other programs on small tables, known
 * answers, what the dual form says.
 *
 * The values for the squared hinge are those of Newton's method on the rows inside the margin in
 * NumPy, to a gradient of 1e-12. */
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

static void assert_iris(const char *spec, const iris_answer *expected) {
    table_case t = read_example("examples/data/iris.csv", 50, 150);
    margin_report report;
    t.data.selection = t.selection;
    margin_model *model = fit_text(t.context, spec, &t.data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    for (int j = 0; j < 4; j++)
        assert_close(margin_model_weights(model, 0)[j], expected->function[j], 1e-7);
    assert_close(margin_model_intercept(model, 0), expected->function[4], 1e-6);
    assert_close(report.objective, expected->objective, 1e-10);
    assert_close(margin_report_item_value(&report, "support_vectors"), expected->support, 0);
    margin_model_free(model);
    close_example(&t);
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
    assert_iris("svm(C=100, tol=1e-13)", &hundred);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iris_squared_hinge),
        cmocka_unit_test(test_iris_hinge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
