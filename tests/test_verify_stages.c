/* margin_verify and the numbers of stages: what is no sum is the same to the bit, and what has a
 * place in a column is held to its range, however far from 0 the column lies. */
#include "model/object/model_object.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 120, COLUMNS = 2 };

typedef struct table {
    double x[ROWS * COLUMNS], y[ROWS], weights[ROWS];
    float narrow[ROWS * COLUMNS];
    int64_t starts[ROWS + 1];
    int32_t indices[ROWS * COLUMNS];
} table;

/* Column 1 from `base` on over `spread`, in steps of a 128th of it; then normal numbers. */
static void fill_table(table *t, double base, double spread) {
    uint64_t random = 7;
    for (int i = 0; i < ROWS; i++) {
        t->x[i * COLUMNS] = base + spread * floor(fabs(support_normal(&random)) * 32) / 128;
        t->x[i * COLUMNS + 1] = support_normal(&random);
        t->y[i] = i % 2 || t->x[i * COLUMNS + 1] > 1;
        t->weights[i] = 1;
        t->starts[i + 1] = (int64_t)COLUMNS * (i + 1);
        for (int j = 0; j < COLUMNS; j++) {
            t->indices[i * COLUMNS + j] = j;
            t->narrow[i * COLUMNS + j] = (float)t->x[i * COLUMNS + j];
        }
    }
    t->starts[0] = 0;
}

static margin_data dense_data(const table *t) {
    return (margin_data){.x = margin_dense_f64(t->x, ROWS, COLUMNS, COLUMNS),
                         .y = margin_values_f64(t->y, ROWS),
                         .weights = margin_values_f64(t->weights, ROWS)};
}

static void test_moved_numbers_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec, *tensor;
        int number;
        double moved, base, spread;
    } cases[] = {
        {"standardize | svm(kernel=poly, degree=2, gamma=1)", "offset", 0, 1600, 1.7e12, 600},
        {"standardize | svm(kernel=poly, degree=2, gamma=1)", "offset", 0, 0.09, 1e8, 0.3},
        {"minmax | svm(kernel=poly, degree=2, gamma=1)", "offset", 0, 1, 1.7e12, 600},
        {"minmax | logistic", "divisor", 0, 1e-8, 3, 100},
        {"impute | logistic", "fill", 0, 1600, 1.7e12, 600},
        {"impute(with=median) | knn(k=1)", "fill", 0, 1e-9, 3, 100},
        {"impute(with=3) | knn(k=1)", "fill", 1, 1e-9, 3, 100},
        {"onehot(columns=1) | logistic", "values", 3, 1e-9, 3, 4},
        {"rbf(centres=2, pick=even, sigma=1) | logistic", "centres", 0, 100, 1.7e12, 600},
        {"standardize(target=yes, columns=2) | ridge", "target", 0, 100, 1.7e12, 600},
    };
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        table t;
        char reason[64];
        fill_table(&t, cases[k].base, cases[k].spread);
        margin_data data = dense_data(&t);
        margin_error error = {0};
        margin_report found = {0};
        if (strstr(cases[k].spec, "target")) /* column 1 is what is to be found */
            for (int i = 0; i < ROWS; i++)
                t.y[i] = t.x[i * COLUMNS];
        margin_model *model = fit_text(context, cases[k].spec, &data, &(margin_report){0});
        assert_verified(context, model, &data);
        double *numbers = mg_bag_find(&model->stages[0].bag, cases[k].tensor)->data;
        numbers[cases[k].number] += cases[k].moved;
        assert_int_equal(margin_verify(context, model, &data, &found, &error),
                         MARGIN_STOPPED_STALLED);
        snprintf(reason, sizeof reason, "has the %s", cases[k].tensor);
        if (!strstr(found.reason, reason)) fail_msg("%s: %s", cases[k].spec, found.reason);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* The same numbers as sparse rows are summed in another order, and later stages see the sum. */
static void test_other_layouts_verify(void **state) {
    (void)state;
    static const char *const specs[] = {"standardize | minmax | logistic",
                                        "standardize | standardize | knn(k=3)",
                                        "standardize | minmax(low=-1) | svm(kernel=poly, degree=2)",
                                        "impute | standardize | minmax | logistic",
                                        "impute(with=median) | minmax | logistic",
                                        "impute(with=most-frequent) | onehot(columns=1) | logistic",
                                        "impute | standardize | poly | minmax | logistic",
                                        "standardize | rbf(centres=5) | standardize | ridge",
                                        "minmax | rbf(centres=3, pick=even) | minmax | logistic",
                                        "standardize | nystroem(centres=9) | minmax | logistic",
                                        "standardize(target=yes) | minmax | ridge"};
    static const double bases[] = {1e12, 1e6, 0, -5};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs) * MG_LENGTH(bases) * 3; k++) {
        const char *spec = specs[k / 3 % MG_LENGTH(specs)];
        table t;
        fill_table(&t, bases[k / 3 / MG_LENGTH(specs)], 1);
        for (int i = 0; i < ROWS; i++)
            t.weights[i] = k % 3 == 0 ? 1 : k % 3 == 1 ? 0.1 : i % 3 ? 1e9 : 1;
        if (strncmp(spec, "impute", 6) == 0) t.x[0] = t.x[9 * COLUMNS + 1] = (double)NAN;
        margin_data data = dense_data(&t), sparse = data;
        sparse.x = margin_csr_f64(t.x, t.indices, t.starts, ROWS, COLUMNS);
        margin_model *model = fit_text(context, spec, &data, &(margin_report){0});
        assert_verified(context, model, &data);
        assert_verified(context, model, &sparse);
        margin_model_free(model);
        model = fit_text(context, spec, &sparse, &(margin_report){0});
        assert_verified(context, model, &data);
        margin_model_free(model);
        data.x = margin_dense_f32(t.narrow, ROWS, COLUMNS, COLUMNS);
        model = fit_text(context, spec, &data, &(margin_report){0});
        assert_verified(context, model, &data);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Two values that weigh the same do so where one of them is not stored. */
static void test_ties_of_weights_are_ties(void **state) {
    (void)state;
    static const char *const specs[] = {"impute(with=most-frequent) | ridge",
                                        "impute(with=median) | ridge"};
    static const int each[] = {2, 3, 5, 30, 37, 41, 10000};
    enum { MOST = 20001 };
    static double x[MOST], y[MOST], weights[MOST], values[MOST];
    static int64_t starts[MOST + 1];
    static int32_t indices[MOST];
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 2 * 2 * MG_LENGTH(each); k++) {
        const int count = each[k / 4], rows = 2 * count + 1;
        for (int i = 0; i < rows; i++) {
            x[i] = i == rows - 1 ? (double)NAN : i % 2 ? 0.1 : 0;
            y[i] = i % 3;
            weights[i] = k / 2 % 2 ? 0.1 : 1.0 / 3;
            starts[i + 1] = starts[i] + (x[i] != 0);
            if (x[i] != 0) values[starts[i]] = x[i];
        }
        margin_data dense = {.x = margin_dense_f64(x, rows, 1, 1),
                             .y = margin_values_f64(y, rows),
                             .weights = margin_values_f64(weights, rows)};
        margin_data sparse = dense;
        sparse.x = margin_csr_f64(values, indices, starts, rows, 1);
        margin_model *model = fit_text(context, specs[k % 2], &dense, &(margin_report){0});
        assert_verified(context, model, &sparse);
        assert_true(*(double *)mg_bag_find(&model->stages[0].bag, "fill")->data ==
                    (k % 2 ? 0.05 : 0));
        margin_model_free(model);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moved_numbers_are_refused),
                                       cmocka_unit_test(test_ties_of_weights_are_ties),
                                       cmocka_unit_test(test_other_layouts_verify)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
