/* margin_verify accepts what a fit made and nothing else: random fits, random changes. */
#include "verify_cases.h"

#include "cluster/learner/kmeans_learner.h"
#include "model/object/model.h"
#include "model_cases.h"

#include <math.h>
#include <string.h>

static void test_honest_fits(void **state) {
    (void)state;
    assert_honest_fits_verify(150 / SUPPORT_SLOWER, 1000000);
}

static void test_changes(void **state) {
    (void)state;
    assert_changes_are_noticed(150 / SUPPORT_SLOWER, 2000000);
}

/* Of test_verify_long: a stage before a learner without weights, the middle of an index, an
 * accuracy that an update would leave out. */
static void test_changes_once_missed(void **state) {
    static const uint64_t numbers[] = {4000116, 4002568, 4004828};
    (void)state;
    for (int k = 0; k < 3; k++)
        assert_changes_are_noticed(1, numbers[k]);
}

static margin_status verified(margin_context *context, const margin_model *model,
                              const margin_data *data) {
    margin_report found = {0};
    margin_error error = {0};
    const margin_status status = margin_verify(context, model, data, &found, &error);
    if (status < 0) fail_msg("%s", error.text);
    return status;
}

/* A row exactly at the radius, by the distance that knn has: another formula puts it beyond. */
static void test_at_the_radius(void **state) {
    (void)state;
    static const double x[6] = {0, 0, 0.6, 0.5, 9, 9}, y[3] = {0, 1, 1};
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2), .y = margin_values_f64(y, 3)};
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, "knn(radius=0.7810249675906654)", &data, &report);
    assert_true(report.objective > 0.5);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    margin_model_free(model);
    margin_context_free(context);
}

/* Far more columns than rows that differ, many of them alike but for rounding: a basis is to be
 * taken from those that are not. */
static void test_columns_alike(void **state) {
    (void)state;
    enum { ROWS = 20, COLUMNS = 6 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 1;
    margin_context *context = support_context(NULL, 1);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = i % 2 ? x[(i - 1) * COLUMNS + j]
                                       : (double)((support_random(&random) >> 60) % 8 % 5);
        y[i] = i % 7;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    margin_report report = {0};
    margin_model *model =
        fit_text(context, "rbf(pick=even, centres=2) | least-squares", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    margin_model_free(model);
    margin_context_free(context);
}

/* With a penalty every column counts, however many there are: none may be left out of the bound of
 * a ridge that has hardly a penalty. */
static void test_ridge_of_few_rows(void **state) {
    (void)state;
    enum { ROWS = 4, COLUMNS = 7 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 3;
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 40; k++) {
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++)
                x[i * COLUMNS + j] = pow(10, j % 4) * support_normal(&random);
            y[i] = support_normal(&random);
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(y, ROWS)};
        margin_model *model = fit_text(
            context, k % 2 ? "ridge(solver=gd, max_iter=30)" : "ridge(solver=gd, alpha=1e-6)",
            &data, NULL);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Where all that is known is that no loss is below 0, the gap is the objective, rounding and all.
 */
static void test_objective_for_gap(void **state) {
    (void)state;
    enum { ROWS = 24 };
    double x[ROWS], y[ROWS], weights[ROWS];
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 12; k++) {
        for (int i = 0; i < ROWS; i++) {
            x[i] = pow(10, 4 + k % 4) + 0.3 * i;
            y[i] = i % (5 + k) > 2;
            weights[i] = 0.013;
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                                  .y = margin_values_f64(y, ROWS),
                                  .weights = margin_values_f64(weights, ROWS)};
        margin_report report = {0};
        margin_model *model = fit_text(context, "svm(loss=hinge, alpha=0)", &data, &report);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Targets so large that their last digits hide more than was asked for: both find the same, and
 * verification says how much neither can tell. */
static void test_rounding_is_told(void **state) {
    (void)state;
    enum { ROWS = 24 };
    double x[ROWS], y[ROWS];
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < ROWS; i++) {
            x[i] = 0.25 * i;
            y[i] = sin(3 * x[i]) + (k ? 1e11 : 0);
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                                  .y = margin_values_f64(y, ROWS)};
        margin_report report = {0}, found = {0};
        margin_model *model = fit_text(context, "ridge", &data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
        const double rounding = margin_report_item_value(&found, "rounding");
        assert_true(k ? rounding > report.tolerance : rounding < 1e-12);
        assert_true((strstr(found.reason, "rounding of these numbers hides") != NULL) == k);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* What the file adds to its report tells nothing of rounding, and a fit that ran out of time may
 * leave scores out, not invent others. */
static void test_forged_reports(void **state) {
    (void)state;
    enum { ROWS = 24 };
    double x[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.25 * i;
        y[i] = sin(x[i]) + 0.125 * (i % 3);
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    static const char *const specs[] = {"knn(k=3, task=regress)", "kernel-ridge(task=regress)",
                                        "ridge"};
    for (int k = 0; k < (int)(sizeof specs / sizeof *specs); k++) {
        margin_report report = {0};
        margin_model *model = fit_text(context, specs[k], &data, &report);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        margin_report *stored = &model->report;
        const double objective = stored->objective;
        stored->objective *= 1 + 1e-10; /* more than rounding */
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        stored->objective = objective;
        strcpy(stored->items[stored->item_count].name, "radius");
        stored->items[stored->item_count].value = 1e40;
        stored->item_count++;
        stored->train_rmse *= 1.01;
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        stored->item_count--;
        stored->train_rmse = NAN;
        stored->train_r2 = 0.9999;
        stored->status = MARGIN_STOPPED_TIME;
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Numbers that no other one depends on: the exact silhouette of clusters, which a fit without time
 * leaves out, and what knn answers where there are no neighbours. */
static void test_forged_asides(void **state) {
    (void)state;
    enum { ROWS = 24 };
    double x[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.25 * i + 5 * (i % 3);
        y[i] = i % 3;
    }
    margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1)};
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, "kmeans(k=3)", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    const double honest = margin_report_item_value(&report, "silhouette");
    const double told[] = {honest * (1 + 1e-9), (double)INFINITY, (double)NAN};
    for (int k = 0; k < 3; k++) {
        mg_report_set(&model->report, "silhouette", told[k]);
        assert_int_equal(verified(context, model, &data),
                         k == 2 ? MARGIN_OK : MARGIN_STOPPED_STALLED);
    }
    margin_model_free(model);
    data.y = margin_values_f64(y, ROWS);
    static const char *const specs[] = {"knn(radius=0.5, empty=prior)",
                                        "knn(radius=0.5, empty=prior, task=regress)"};
    for (int k = 0; k < 2; k++) {
        model = fit_text(context, specs[k], &data, &report);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        double *prior = mg_bag_find(&model->hypothesis->bag, "prior")->data;
        prior[0] *= 1 + 1e-9;
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Where the kernel is no inner product the dual is no bound, whatever the file claims; and
 * kernel-logistic has no intercept. */
static void test_forged_proof(void **state) {
    (void)state;
    enum { ROWS = 24 };
    double x[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.25 * i - 2;
        y[i] = i % 3 == 0;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    margin_report report;
    margin_model *model = fit_text(context, "svm(kernel=sigmoid, coef0=-1, C=10)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_true(isinf(report.gap));
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    model->report.gap = 0;
    model->report.status = MARGIN_OK;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    model = fit_text(context, "kernel-logistic", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    ((double *)model->hypothesis->view.expansion.intercept)[0] = 0.125;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* Columns far from 0, and equal terms by the thousand: plain sums of training lose digits there,
 * and verification once refused them. */
static void test_sums_of_many_rows(void **state) {
    (void)state;
    enum { ROWS = 3000 / SUPPORT_SLOWER };
    static const char *const specs[] = {"lasso(lambda=0.1)",
                                        "lasso(C=0.3)",
                                        "lasso(lambda=0.1, solver=gd)",
                                        "elastic-net(lambda=0.01)",
                                        "logistic(l1_ratio=1, C=0.01)",
                                        "perceptron(passes=3)",
                                        "kernel-logistic(C=1e-5)"};
    static double x[3 * ROWS], number[ROWS], class[ROWS];
    margin_context *context = support_context(NULL, 1);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t random = seed;
        for (int i = 0; i < ROWS; i++) {
            x[3 * i] = rint(1000 + 30 * support_uniform(&random)) / 10;
            x[3 * i + 1] = rint(4 * support_uniform(&random));
            x[3 * i + 2] = 1;
            number[i] = x[3 * i] + rint(10 * support_uniform(&random)) / 10;
            class[i] = support_uniform(&random) < 0.4;
        }
        for (int k = 0; k < MG_LENGTH(specs); k++) {
            const margin_data data = {.x = margin_dense_f64(x, ROWS, 3, 3),
                                      .y = margin_values_f64(k < 4 ? number : class, ROWS)};
            margin_report report;
            margin_model *model = fit_text(context, specs[k], &data, &report);
            if (verified(context, model, &data) != MARGIN_OK) fail_msg("%s is refused", specs[k]);
            margin_model_free(model);
        }
    }
    margin_context_free(context);
}

/* What an attack changed unnoticed: the names of numeric classes, and a centre so far that the
 * rounding of all distances was taken for larger than they are. */
static void test_forgeries_of_an_attack(void **state) {
    (void)state;
    static const double x[6] = {0, 1, 2, 8, 9, 12}, y[6] = {5, 5, 5, 7, 7, 7};
    margin_data data = {.x = margin_dense_f64(x, 6, 1, 1), .y = margin_values_f64(y, 6)};
    margin_context *context = support_context(NULL, 1);
    margin_report report;
    margin_error error;
    margin_model *model = fit_text(context, "logistic", &data, &report);
    char *first = model->class_names[0];
    void *bytes;
    int64_t length;
    margin_model *loaded;
    model->class_names[0] = model->class_names[1];
    model->class_names[1] = first;
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_decode(context, bytes, length, &loaded, &error),
                     MARGIN_ERROR_MODEL);
    assert_contains(error.text, "another name than its label");
    margin_bytes_free(model, bytes);
    margin_model_free(model);
    model = fit_text(context, "logistic", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    model->report.formula[0] = 'x';
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    data.y = (margin_vector){0};
    model = fit_text(context, "kmeans(k=3)", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    ((double *)mg_centres_of(model->hypothesis)->centres)[0] = 1e150;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_fits),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_changes_once_missed),
        cmocka_unit_test(test_at_the_radius),
        cmocka_unit_test(test_columns_alike),
        cmocka_unit_test(test_ridge_of_few_rows),
        cmocka_unit_test(test_rounding_is_told),
        cmocka_unit_test(test_objective_for_gap),
        cmocka_unit_test(test_forged_reports),
        cmocka_unit_test(test_forged_proof),
        cmocka_unit_test(test_forged_asides),
        cmocka_unit_test(test_sums_of_many_rows),
        cmocka_unit_test(test_forgeries_of_an_attack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
