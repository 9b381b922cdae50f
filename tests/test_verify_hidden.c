/* margin_verify and what hides behind the rounding of large numbers: rows that a model keeps, what
 * stages make of them, and what is exact however large the numbers are. */
#include "model/object/model_object.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A row far out has large kernel values, whose rounding is its own: not that of other points. */
static void test_a_far_row_hides_no_other(void **state) {
    (void)state;
    static const char *const specs[] = {
        "nystroem(centres=3, kernel=linear) | knn(k=1, method=brute)",
        "nystroem(centres=3, kernel=poly, degree=2) | knn(k=1, method=brute)"};
    enum { ROWS = 60, COLUMNS = 3, FAR = 7 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 5;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = support_normal(&random) * (i == FAR ? 1e7 : 1);
        y[i] = i % 2;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        margin_report found = {0};
        const mg_tensor *points = mg_bag_find(&model->hypothesis->bag, "points");
        assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
        for (int64_t j = 0; j < COLUMNS; j++)
            ((double *)points->data)[j] *= 1.03;
        assert_not_verified(context, model, &data, "the rows that it keeps are not those");
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Milliseconds of an epoch beside hundredths: a narrow column is not rounded as the wide one is. */
static void test_a_wide_column_frees_no_other(void **state) {
    (void)state;
    static const struct {
        const char *spec, *tensor, *reason;
        double wide, moved;
    } cases[] = {{"knn(k=1)", "points", "the rows that it keeps are not those", 1.7e12, 1e-6},
                 {"impute | knn(k=1)", "points", "the rows that it keeps are not those", 1e8, 1e-6},
                 {"impute | kernel-logistic(kernel=laplacian, gamma=3)", "support", "", 1e8, 0.06},
                 {"impute | svm(kernel=laplacian, gamma=3, C=0.01)", "support", "", 2e7, 0.015}};
    enum { ROWS = 40, COLUMNS = 2 };
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        double x[ROWS * COLUMNS], y[ROWS];
        uint64_t random = 9;
        for (int i = 0; i < ROWS; i++) {
            x[i * COLUMNS] = cases[k].wide;
            x[i * COLUMNS + 1] = i / (double)ROWS;
            y[i] = sin(i / 5.0) + 0.3 * support_normal(&random) > 0;
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(y, ROWS)};
        margin_report found = {0};
        margin_model *model = fit_text(context, cases[k].spec, &data, &(margin_report){0});
        const mg_tensor *rows = mg_bag_find(&model->hypothesis->bag, cases[k].tensor);
        assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
        for (int64_t i = 0; i < rows->shape[0]; i++)
            ((double *)rows->data)[i * COLUMNS + 1] += cases[k].moved;
        assert_not_verified(context, model, &data, cases[k].reason);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* A learner without a gap behind features that rounding may have moved: numbers of the report that
 * hold only if it has are refused, however far they are off. */
static void test_rounding_hides_no_number(void **state) {
    (void)state;
    static const char *const specs[] = {
        "nystroem(centres=20, kernel=poly, degree=3) | normalize | kmeans(k=3)",
        "nystroem(centres=20, kernel=poly, degree=3) | normalize | naive-bayes",
        "nystroem(centres=20, kernel=poly, degree=3) | normalize | perceptron"};
    enum { ROWS = 60, COLUMNS = 3 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 3;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = 10 * support_normal(&random) + 30 * (i % 3);
        y[i] = i % 3 == 0;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_report found = {0};
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
        model->report.objective += 0.1 + 0.3 * fabs(model->report.objective);
        assert_not_verified(context, model, &data, "");
        margin_model_free(model);
    }
    margin_context_free(context);
}

static margin_model *reload(margin_context *context, const margin_model *model) {
    margin_model *loaded = NULL;
    margin_error error = {0};
    void *bytes = NULL;
    int64_t length = 0;
    if (margin_model_encode(model, &bytes, &length, &error) < 0 ||
        margin_model_decode(context, bytes, length, &loaded, &error) < 0)
        fail_msg("%s", error.text);
    margin_bytes_free(model, bytes);
    return loaded;
}

/* Takes a changed model from its file, as programs do, with a report that says what verification
 * finds, but for one item (NULL: none): refused all the same. The model is freed. */
static void assert_forgery_refused(margin_context *context, margin_model *model,
                                   const margin_data *data, const char *kept) {
    margin_report found = {0};
    for (int pass = 0; pass < 3; pass++) {
        margin_model *loaded = reload(context, model);
        margin_model_free(model);
        model = loaded;
        if (verify_model(context, model, data, &found) == MARGIN_OK) fail_msg("%s", found.reason);
        model->report.objective = found.objective;
        if (!isnan(found.gap)) model->report.gap = found.gap;
        model->report.train_accuracy = found.train_accuracy;
        for (int64_t i = 0; i < model->report.item_count; i++) {
            margin_report_item *item = &model->report.items[i];
            const double value = margin_report_item_value(&found, item->name);
            if (!isnan(value) && !(kept && strcmp(item->name, kept) == 0)) item->value = value;
        }
    }
    margin_model_free(model);
}

static margin_model *honest(margin_context *context, const char *spec, const margin_data *data) {
    margin_model *model = fit_text(context, spec, data, &(margin_report){0});
    margin_report found = {0};
    if (verify_model(context, model, data, &found) != MARGIN_OK) fail_msg("%s", found.reason);
    return model;
}

static double *tensor_of(const margin_model *model, const char *name) {
    return mg_bag_find(&model->hypothesis->bag, name)->data;
}

/* Every number stored, in sparse rows, too. */
static margin_matrix in_layout(bool sparse, const double *x, int64_t rows, int64_t columns,
                               int32_t *indices, int64_t *starts) {
    for (int64_t i = 0; i < rows * columns; i++)
        indices[i] = (int32_t)(i % columns);
    for (int64_t i = 0; i <= rows; i++)
        starts[i] = i * columns;
    return sparse ? margin_csr_f64(x, indices, starts, rows, columns)
                  : margin_dense_f64(x, rows, columns, columns);
}

enum { BAYES_ROWS = 200, BAYES_COLUMNS = 2 };
typedef struct {
    double x[BAYES_ROWS * BAYES_COLUMNS], y[BAYES_ROWS];
    int32_t indices[BAYES_ROWS * BAYES_COLUMNS];
    int64_t starts[BAYES_ROWS + 1];
    margin_data data;
} bayes_rows;

/* Two classes; the first column is `centre` and, with that width, more; the second tells them
 * apart. */
static void make_bayes_rows(bayes_rows *rows, bool sparse, double centre, double width) {
    uint64_t random = 1;
    for (int i = 0; i < BAYES_ROWS; i++) {
        rows->y[i] = i % 2;
        rows->x[i * BAYES_COLUMNS] = centre + width * (support_normal(&random) + 9 * rows->y[i]);
        rows->x[i * BAYES_COLUMNS + 1] = support_normal(&random) + 3 * rows->y[i];
    }
    rows->data = (margin_data){
        .x = in_layout(sparse, rows->x, BAYES_ROWS, BAYES_COLUMNS, rows->indices, rows->starts),
        .y = margin_values_f64(rows->y, BAYES_ROWS)};
}

/* Of a gaussian column: weight, mean, sum of squares. */
static void test_a_constant_column_counts_for_nothing(void **state) {
    (void)state;
    static const double centres[] = {1e3, 1e6, 1e8};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 4 * MG_LENGTH(centres); k++) {
        const double centre = centres[k / 4], unit = 2e-15 * centre;
        bayes_rows rows;
        make_bayes_rows(&rows, k % 2, centre, 0);
        margin_model *model = honest(context, "naive-bayes", &rows.data);
        double *moments = tensor_of(model, "statistics");
        assert_true(moments[2] == 0);
        if (k / 2 % 2)
            moments[1] = nextafter(moments[1], INFINITY);
        else
            moments[2] = 100 * unit * unit;
        assert_forgery_refused(context, model, &rows.data, NULL);
    }
    margin_context_free(context);
}

/* Nor is one left out whose values are the last digits of a large number. */
static void test_a_narrow_column_counts(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int sparse = 0; sparse < 2; sparse++) {
        bayes_rows rows;
        make_bayes_rows(&rows, sparse, 1e8, 0);
        for (int i = 0; i < BAYES_ROWS; i += 3)
            rows.x[i * BAYES_COLUMNS] = nextafter(1e8, INFINITY);
        margin_model *model = honest(context, "naive-bayes", &rows.data);
        double *moments = tensor_of(model, "statistics");
        const int64_t slots = 3 * BAYES_COLUMNS;
        moments[slots + 1] = moments[1];
        moments[2] = moments[slots + 2] = 0;
        assert_forgery_refused(context, model, &rows.data, NULL);
    }
    margin_context_free(context);
}

/* What sparse rows do not store comes to nothing where all is stored. */
static void test_the_variance_of_a_far_column_is_known(void **state) {
    (void)state;
    static const struct {
        double centre, factor;
    } cases[] = {{1e6, 1.001}, {1e8, 1.001}, {1e8, 1.5}};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 2 * MG_LENGTH(cases); k++) {
        bayes_rows rows;
        make_bayes_rows(&rows, k % 2, cases[k / 2].centre, 1);
        margin_model *model = honest(context, "naive-bayes", &rows.data);
        tensor_of(model, "statistics")[2] *= cases[k / 2].factor;
        assert_forgery_refused(context, model, &rows.data, NULL);
    }
    margin_context_free(context);
}

/* A count of 0 is exact: with smoothing=0 it excludes a class. */
static void test_what_never_occurs_is_counted_as_0(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int slot, other; /* gets a little; loses it (-1: none) */
    } cases[] = {{"naive-bayes(smoothing=0, distribution=categorical)", 1, -1},
                 {"naive-bayes(smoothing=0, distribution=multinomial)", 0, -1},
                 {"naive-bayes(smoothing=0, distribution=bernoulli)", 1, -1},
                 {"naive-bayes(smoothing=0, distribution=bernoulli)", 3, 3}};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        bayes_rows rows;
        make_bayes_rows(&rows, false, 0, 0);
        for (int i = 0; i < BAYES_ROWS; i++) {
            rows.x[i * BAYES_COLUMNS] = i % 2; /* never 1 in the first class */
            rows.x[i * BAYES_COLUMNS + 1] = i % 2 == 0 || i % 3 == 0;
        }
        margin_model *model = honest(context, cases[k].spec, &rows.data);
        double *slots = tensor_of(model, "statistics");
        if (cases[k].other < 0)
            slots[cases[k].slot] = 1e-14;
        else
            slots[cases[k].other] -= 1e-13;
        assert_forgery_refused(context, model, &rows.data, NULL);
    }
    margin_context_free(context);
}

/* All values of a column are missing in a class: its density there is that of all rows. */
static void test_a_class_without_values_has_no_moments(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    bayes_rows rows;
    make_bayes_rows(&rows, false, 3, 1);
    for (int i = 0; i < BAYES_ROWS; i += 2)
        rows.x[i * BAYES_COLUMNS] = (double)NAN;
    for (int slot = 0; slot < 3; slot++) {
        margin_model *model = honest(context, "naive-bayes", &rows.data);
        double *moments = tensor_of(model, "statistics");
        assert_true(moments[0] == 0);
        moments[slot] = 1e-15;
        assert_forgery_refused(context, model, &rows.data, NULL);
    }
    margin_context_free(context);
}

enum { CLUSTER_ROWS = 60 };

/* Two groups in the second column, `apart` from each other, beside a constant one. */
static margin_data clusters_beside(double wide, double apart, double *x) {
    uint64_t random = 2;
    for (int i = 0; i < CLUSTER_ROWS; i++) {
        x[2 * i] = wide;
        x[2 * i + 1] = apart * (i % 2) + 0.05 * support_normal(&random);
    }
    return (margin_data){.x = margin_dense_f64(x, CLUSTER_ROWS, 2, 2)};
}

/* What rounding makes of the mean of a wide column moves no centre in another one; behind a stage,
 * too, whose last digits may be others. */
static void test_a_wide_column_moves_no_centre_of_another(void **state) {
    (void)state;
    static const double wide[] = {1e8, 1.7e9, 1.7e12};
    static const char *const specs[] = {"kmeans(k=2)", "impute | kmeans(k=2)"};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(wide) * MG_LENGTH(specs); k++) {
        double x[2 * CLUSTER_ROWS];
        const double width = wide[k / MG_LENGTH(specs)];
        const margin_data data = clusters_beside(width, 1, x);
        margin_model *model = honest(context, specs[k % MG_LENGTH(specs)], &data);
        double *centres = tensor_of(model, "centres");
        centres[1] += 1e-15 * width;
        centres[3] += 1e-15 * width;
        assert_forgery_refused(context, model, &data, NULL);
    }
    margin_context_free(context);
}

/* Converged are centres that a step does not move, whatever the report says that it would gain. */
static void test_a_fixed_point_is_one(void **state) {
    (void)state;
    static const char *const specs[] = {"kmeans(k=2)", "kmeans(k=2, tol=0.01)"};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        double x[2 * CLUSTER_ROWS];
        const margin_data data = clusters_beside(0, 5, x);
        margin_model *model = honest(context, specs[k], &data);
        double *centres = tensor_of(model, "centres");
        centres[1] += 2;
        assert_forgery_refused(context, model, &data, NULL);
    }
    margin_context_free(context);
}

/* A margin of 0 is an error, whatever rounding excuses: weights of 0, and functions that are all
 * the same. */
static void test_no_weights_are_no_perceptron(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int classes;
        double value; /* of all weights */
    } cases[] = {{"perceptron", 2, 0},
                 {"perceptron(variant=averaged)", 2, 0},
                 {"perceptron", 3, 0},
                 {"perceptron(multiclass=argmax)", 3, 0.7}};
    enum { ROWS = 60 };
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        double x[2 * ROWS], y[ROWS];
        uint64_t random = 4;
        for (int i = 0; i < ROWS; i++) {
            y[i] = i % cases[k].classes;
            x[2 * i] = 8 * y[i] - 4 + support_normal(&random);
            x[2 * i + 1] = 8 * (y[i] == 1) - 4 + support_normal(&random);
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2),
                                  .y = margin_values_f64(y, ROWS)};
        margin_model *model = honest(context, cases[k].spec, &data);
        static const char *const names[] = {"weights", "intercept", "learner_weights",
                                            "learner_intercept"};
        for (int t = 0; t < MG_LENGTH(names); t++) {
            const mg_tensor *tensor = mg_bag_find(&model->hypothesis->bag, names[t]);
            for (int64_t i = 0; i < tensor->shape[0] * (t % 2 ? 1 : 2); i++)
                ((double *)tensor->data)[i] = cases[k].value;
        }
        if (model->report.status != MARGIN_OK)
            fail_msg("%s: %s", cases[k].spec, model->report.reason);
        assert_forgery_refused(context, model, &data, "errors");
    }
    margin_context_free(context);
}

/* Two classes far apart; `mixed`: every seventh label is the other. */
static void make_perceptron_rows(bool mixed, double *x, double *y, int rows) {
    uint64_t random = 6;
    for (int i = 0; i < rows; i++) {
        y[i] = i % 2;
        for (int j = 0; j < 2; j++)
            x[2 * i + j] = 4 * y[i] + support_normal(&random);
        if (mixed && i % 7 == 0) y[i] = 1 - y[i];
    }
}

/* Margin, bound and mistakes are found again, or hold each other. */
static void test_a_perceptron_has_the_margin_it_claims(void **state) {
    (void)state;
    static const struct {
        const char *spec, *item;
        bool mixed;
        double value;
    } cases[] = {{"perceptron(kernel=rbf)", "margin", false, 0.3},
                 {"perceptron(kernel=rbf)", "bound", false, 40},
                 {"perceptron(kernel=rbf, bound=yes)", "margin", false, 5},
                 {"perceptron(kernel=rbf, bound=yes)", "margin", false, 0.01},
                 {"perceptron(kernel=rbf, bound=yes)", "bound", false, 0.08},
                 {"perceptron(kernel=poly, degree=1, bound=yes, passes=20)", "margin", true, 0.5},
                 {"perceptron(kernel=rbf)", "mistakes", false, 1e6},
                 {"perceptron(kernel=rbf, rate=0.1)", "mistakes", true, 1},
                 {"perceptron(form=dual)", "mistakes", false, 1e6},
                 {"perceptron(form=dual, batch=all)", "mistakes", false, 1e6},
                 {"perceptron(kernel=rbf, variant=averaged, bound=yes)", "mistakes", false, 1e6},
                 {"perceptron", "mistakes", false, 1e6}};
    enum { ROWS = 60 };
    double x[2 * ROWS], y[ROWS];
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        make_perceptron_rows(cases[k].mixed, x, y, ROWS);
        const margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2),
                                  .y = margin_values_f64(y, ROWS)};
        margin_model *model = honest(context, cases[k].spec, &data);
        for (int64_t i = 0; i < model->report.item_count; i++)
            if (strcmp(model->report.items[i].name, cases[k].item) == 0)
                model->report.items[i].value = cases[k].value;
        assert_not_verified(context, model, &data, cases[k].item);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Copies of rows are updates, and the last, broken one is one, too; so is a step of a batch. */
static void test_mistakes_are_updates_of_rows(void **state) {
    (void)state;
    static const char *const specs[] = {"perceptron(form=dual, passes=9)",
                                        "perceptron(kernel=rbf, order=random, bound=yes)",
                                        "perceptron(kernel=linear, batch=7, passes=9)",
                                        "perceptron(form=dual, batch=all, rate=0.3)",
                                        "perceptron(kernel=poly, order=first, passes=3, rate=0.1)"};
    enum { ROWS = 40 };
    double x[2 * ROWS], y[ROWS], weights[ROWS];
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 3 * MG_LENGTH(specs); k++) {
        make_perceptron_rows(k % 2, x, y, ROWS);
        for (int i = 0; i < ROWS; i++)
            weights[i] = k % 3 == 1 ? 1 + i % 4 : 0.03 + 0.7 * (i % 5);
        const margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2),
                                  .y = margin_values_f64(y, ROWS),
                                  .weights = k % 3 == 0 ? (margin_vector){0}
                                                        : margin_values_f64(weights, ROWS)};
        margin_model_free(honest(context, specs[k / 3], &data));
    }
    margin_context_free(context);
}

/* A penalty that is hardly one beside columns of all sizes, as tables in their own units have them:
 * what rounding may have made of the training's dual point says nothing against the one found here,
 * whose sums are in extended precision. Where those do not tell, that is said. */
static void test_a_small_penalty_hides_nothing(void **state) {
    enum { SOME = 400, FEW = 4 };
    static const char *const specs[] = {"lasso(alpha=0.01)", "elastic-net(alpha=0.01)",
                                        "lasso(alpha=1, intercept=no)",
                                        "elastic-net(alpha=0.01, l1_ratio=0.9)"};
    static const double sizes[FEW] = {1e3, 5, 1, 0.01}, far[FEW] = {3e3, 0, -120, 1};
    static double x[SOME * FEW], y[SOME];
    uint64_t random = 9;
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < SOME; i++) {
            y[i] = 2e5 + 7e4 * support_normal(&random);
            for (int j = 0; j < FEW; j++) {
                x[i * FEW + j] = (turn ? 1e12 : 1) * far[j] + sizes[j] * support_normal(&random);
                y[i] += 3e4 * (x[i * FEW + j] - (turn ? 1e12 : 1) * far[j]) / sizes[j];
            }
        }
        const margin_data data = {.x = margin_dense_f64(x, SOME, FEW, FEW),
                                  .y = margin_values_f64(y, SOME)};
        for (int k = 0; k < (turn ? 1 : MG_LENGTH(specs)); k++) {
            margin_report found = {0};
            margin_model *model = honest(context, specs[k], &data);
            assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
            const double rounding = margin_report_item_value(&found, "rounding");
            assert_int_equal(strstr(found.reason, "hides") != NULL, turn);
            assert_true(turn || (found.gap < 1e-6 && rounding < 1e-8));
            margin_model_free(model);
        }
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_far_row_hides_no_other),
        cmocka_unit_test(test_a_wide_column_frees_no_other),
        cmocka_unit_test(test_rounding_hides_no_number),
        cmocka_unit_test(test_a_constant_column_counts_for_nothing),
        cmocka_unit_test(test_a_narrow_column_counts),
        cmocka_unit_test(test_the_variance_of_a_far_column_is_known),
        cmocka_unit_test(test_what_never_occurs_is_counted_as_0),
        cmocka_unit_test(test_a_class_without_values_has_no_moments),
        cmocka_unit_test(test_a_wide_column_moves_no_centre_of_another),
        cmocka_unit_test(test_a_fixed_point_is_one),
        cmocka_unit_test(test_no_weights_are_no_perceptron),
        cmocka_unit_test(test_a_perceptron_has_the_margin_it_claims),
        cmocka_unit_test(test_mistakes_are_updates_of_rows),
        cmocka_unit_test(test_a_small_penalty_hides_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
