/* margin_verify accepts what a fit made and nothing else: random fits, random changes. */
#include "verify_cases.h"

#include "cluster/learner/kmeans_learner.h"
#include "model/object/model_object.h"
#include "model_cases.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_honest_fits(void **state) {
    (void)state;
    assert_honest_fits_verify(150 / SUPPORT_SLOWER, 1000000);
}

static void test_changes(void **state) {
    (void)state;
    assert_changes_are_noticed(150 / SUPPORT_SLOWER, 2000000);
}

/* Of test_verify_long: kernels of features in f32, whose last digits move k(x, z) by more than a
 * fit counts, and of a cubic of features that cancel. */
static void test_honest_fits_once_refused(void **state) {
    static const uint64_t numbers[] = {3000308, 3000353, 3001481, 3001716};
    (void)state;
    for (int k = 0; k < MG_LENGTH(numbers); k++)
        assert_honest_fits_verify(1, numbers[k]);
}

/* Of test_verify_long: a stage before a learner without weights, the middle of an index, an
 * accuracy that an update would leave out, a centre and a gap behind features in f32. */
static void test_changes_once_missed(void **state) {
    static const uint64_t numbers[] = {4000116, 4002568, 4004828, 4002080, 4002711};
    (void)state;
    for (int k = 0; k < MG_LENGTH(numbers); k++)
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
    model->report.objective *= 1.001; /* no row is in doubt */
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
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
    margin_report report = {0};
    margin_model *model = fit_text(context, "svm(kernel=sigmoid, coef0=-1, C=10)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_true(isinf(report.gap));
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    for (int k = 0; k < 2; k++) { /* stopped, or converged */
        model->report.gap = 0;
        model->report.status = k ? MARGIN_OK : MARGIN_STOPPED_STALLED;
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    }
    margin_model_free(model);
    model = fit_text(context, "kernel-logistic", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    ((double *)model->hypothesis->view.expansion.intercept)[0] = 0.125;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* A gap that rests on a kernel's being definite is no other one where the memory is too little to
 * decide that: the limit is told. */
static void test_too_little_to_decide(void **state) {
    (void)state;
    static const char *const specs[] = {"svm(kernel=sigmoid, gamma=1e-4)",
                                        "svm(kernel=sigmoid, gamma=1e-4, C=1e6, max_iter=3)",
                                        "kernel-ridge(kernel=sigmoid, gamma=1e-4)"};
    enum { ROWS = 300 };
    sample *s = sample_make(ROWS, 3, 2, 0.1, 3);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_context *context = support_context(NULL, 1), *small;
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = 3 * ROWS * ROWS * 4};
    assert_int_equal(margin_context_create(&options, &small, NULL), MARGIN_OK);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        margin_model *model = fit_text(context, specs[k], &data, &report);
        assert_true(isfinite(report.gap));
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        assert_int_equal(margin_verify(small, model, &data, &found, &error), MARGIN_ERROR_LIMIT);
        assert_contains(error.text, "whether its kernel is an inner product");
        assert_int_equal(error.cause, MARGIN_CAUSE_MEMORY_LIMIT);
        margin_model_free(model);
    }
    margin_context_free(small);
    margin_context_free(context);
    sample_free(s);
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
            margin_report report = {0};
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
    margin_report report = {0};
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

/* ---- Stages ---------------------------------------------------------------------------------- */

enum { STAGED_ROWS = 30, STAGED_COLUMNS = 4 };

/* The last column is constant, the first has a missing value if asked for. */
static margin_data staged_data(double *x, double *y, bool missing) {
    uint64_t random = 5;
    for (int i = 0; i < STAGED_ROWS; i++) {
        x[i * STAGED_COLUMNS] = support_normal(&random);
        x[i * STAGED_COLUMNS + 1] = 100 + support_normal(&random);
        x[i * STAGED_COLUMNS + 2] = i % 3;
        x[i * STAGED_COLUMNS + 3] = 2.5;
        y[i] = x[i * STAGED_COLUMNS] + 0.25 * (i % 3) + 0.1 * support_normal(&random);
    }
    if (missing) x[0] = NAN;
    return (margin_data){.x = margin_dense_f64(x, STAGED_ROWS, STAGED_COLUMNS, STAGED_COLUMNS),
                         .y = margin_values_f64(y, STAGED_ROWS)};
}

/* The names of the tensors that a seed draws; they are not followed by others. */
static bool is_drawn(const char *name) {
    return strcmp(name, "frequencies") == 0 || strcmp(name, "centres") == 0;
}

/* The reason of each refusal contains `reason`. */
static void change_each_number(margin_context *context, margin_model *model,
                               const margin_data *data, mg_tensor *tensor, const char *reason) {
    const int64_t count = tensor->shape[0] * MG_MAX(tensor->shape[1], 1);
    margin_report found = {0};
    for (int64_t i = 0; i < count; i++) {
        double *number = (double *)tensor->data + i;
        const double honest = *number;
        *number = isfinite(honest) ? honest + 0.01 * fmax(1, fabs(honest)) : 1;
        const margin_status status = margin_verify(context, model, data, &found, NULL);
        if (status == MARGIN_OK)
            fail_msg("%s: %s[%d] is not compared", model->spec, tensor->name, (int)i);
        if (status > 0) assert_contains(found.reason, reason); /* else it is no model */
        *number = honest;
    }
}

/* Each number that a stage learned is compared, whether the weights make use of it or not. */
static void test_stages_are_compared(void **state) {
    (void)state;
    static const char *const specs[] = {"impute | ridge",
                                        "impute(with=median) | knn(task=regress)",
                                        "standardize | ridge",
                                        "standardize(target=yes) | ridge",
                                        "minmax | lasso(lambda=1)",
                                        "standardize | knn(task=regress)",
                                        "rbf(centres=5) | ridge",
                                        "rbf(centres=2, pick=even) | standardize | ridge",
                                        "fourier(features=6) | ridge",
                                        "minmax | nystroem(centres=6) | ridge"};
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        const margin_data data = staged_data(x, y, k < 2);
        margin_report report = {0};
        margin_model *model = fit_text(context, specs[k], &data, &report);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        for (int s = 0; s < model->stage_count; s++)
            for (int t = 0; t < model->stages[s].bag.count; t++) {
                mg_tensor *tensor = &model->stages[s].bag.tensors[t];
                if (tensor->type == MARGIN_F64 && !is_drawn(tensor->name))
                    change_each_number(context, model, &data, tensor, "the stage ");
            }
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* What an attack got through: names of made columns, a width in place of a median's, a fill of a
 * column without values, items of other learners. */
static void test_stages_forged(void **state) {
    (void)state;
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    margin_data data = staged_data(x, y, false);
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0}, found = {0};
    margin_model *model = fit_text(context, "poly | ridge", &data, &report);
    margin_column *columns = model->stages[0].columns.items;
    const char *name = columns[2].name;
    columns[2].name = columns[3].name;
    columns[3].name = name;
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_STOPPED_STALLED);
    assert_contains(found.reason, "the stage poly has another 'columns'");
    margin_model_free(model);
    for (int i = 0; i < STAGED_ROWS; i++)
        x[i * STAGED_COLUMNS + 1] = NAN;
    model = fit_text(context, "impute(with=0) | lasso(lambda=10)", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    ((double *)mg_bag_find(&model->stages[0].bag, "fill")->data)[1] = 5;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    data = staged_data(x, y, false);
    model = fit_text(context, "standardize | ridge", &data, &report);
    static const char *const items[] = {"margin", "bound", "best_run", "rate", "mistakes"};
    for (int k = 0; k < MG_LENGTH(items); k++) {
        const margin_report honest = model->report;
        mg_report_set(&model->report, items[k], 42);
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        model->report = honest;
    }
    margin_model_free(model);
    data.x.columns = 1; /* one column far from 0: its size is no slack for the width */
    for (int i = 0; i < STAGED_ROWS; i++)
        x[i * STAGED_COLUMNS] += 1e9;
    model = fit_text(context, "rbf(centres=5) | ridge", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    ((double *)mg_bag_find(&model->stages[0].bag, "gamma")->data)[0] *= 1.0001;
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_STOPPED_STALLED);
    assert_contains(found.reason, "the stage rbf has the gamma ");
    margin_model_free(model);
    margin_context_free(context);
}

/* Other data are told so, even if the stages cannot be fitted to them. */
static void test_stages_of_other_data(void **state) {
    (void)state;
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    const margin_data data = staged_data(x, y, true);
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, "impute | ridge", &data, &report);
    for (int i = 0; i < STAGED_ROWS; i++)
        x[i * STAGED_COLUMNS] = NAN;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* A scaling named as another one: the weights are of what was done, the spec tells otherwise. */
static void test_stage_of_another_name(void **state) {
    (void)state;
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    const margin_data data = staged_data(x, y, false);
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0}, found = {0};
    margin_model *model = fit_text(context, "minmax | ridge", &data, &report);
    margin_model *other = fit_text(context, "standardize | ridge", &data, &report);
    char *spec = model->spec;
    mg_fitted_stage *stage = model->stages;
    model->spec = other->spec;
    model->stages = other->stages;
    other->spec = spec;
    other->stages = stage;
    for (int t = 0; t < 2; t++) /* as minmax has them, under the name standardize */
        memcpy(model->stages[0].bag.tensors[t].data, stage->bag.tensors[t].data,
               STAGED_COLUMNS * sizeof(double));
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_STOPPED_STALLED);
    assert_contains(found.reason, "the stage standardize has the offset of column x1");
    margin_model_free(model);
    margin_model_free(other);
    margin_context_free(context);
}

/* The order of the rows is no part of it; other seeds are not refused. */
static void test_stages_of_permuted_rows(void **state) {
    (void)state;
    static const char *const specs[] = {"impute | standardize | ridge",
                                        "impute(with=most-frequent) | minmax | poly | ridge",
                                        "impute | standardize | rbf(centres=5) | ridge",
                                        "impute | nystroem(centres=6, pick=kmeans) | ridge",
                                        "impute | fourier(features=6) | ridge"};
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    int64_t backwards[STAGED_ROWS];
    margin_data data = staged_data(x, y, true);
    for (int i = 0; i < STAGED_ROWS; i++)
        backwards[i] = STAGED_ROWS - 1 - i;
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        const margin_context_options seed = {.size = sizeof seed, .threads = 1, .seed = 7};
        margin_context *seeded = NULL, *context = support_context(NULL, 1);
        margin_report report = {0}, found = {0};
        assert_int_equal(margin_context_create(&seed, &seeded, NULL), MARGIN_OK);
        margin_model *model = fit_text(seeded, specs[k], &data, &report);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        data.selection = backwards;
        data.selected = STAGED_ROWS;
        if (margin_verify(context, model, &data, &found, NULL) != MARGIN_OK)
            fail_msg("%s backwards: %s", specs[k], found.reason);
        data.selection = NULL;
        data.selected = 0;
        margin_model_free(model);
        margin_context_free(seeded);
        margin_context_free(context);
    }
}

/* Of a model that took more rows the stages are those of its first ones, and the reason says so. */
static void test_stages_of_an_update(void **state) {
    (void)state;
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    margin_data data = staged_data(x, y, false), first, second;
    for (int i = 0; i < STAGED_ROWS; i++)
        y[i] = i % 2;
    first = second = data;
    first.x.rows = first.y.count = second.x.rows = second.y.count = STAGED_ROWS / 2;
    second.x.values = x + STAGED_ROWS / 2 * STAGED_COLUMNS;
    second.y.values = y + STAGED_ROWS / 2;
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *updated, *model = fit_text(context, "standardize | naive-bayes", &first, &report);
    assert_int_equal(margin_update(context, model, &second, &updated, NULL, &error), MARGIN_OK);
    assert_int_equal(margin_verify(context, updated, &data, &found, &error), MARGIN_OK);
    assert_contains(found.reason, "its stages are those that its first 15 rows give");
    margin_model_free(updated);
    margin_model_free(model);
    model = fit_text(context, "standardize | logistic", &data, &report);
    mg_report_set(&model->report, MG_STAGE_ROWS, 15);
    void *bytes;
    int64_t length;
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_decode(context, bytes, length, &updated, &error),
                     MARGIN_ERROR_MODEL);
    margin_bytes_free(model, bytes);
    margin_model_free(model);
    margin_context_free(context);
}

/* A search of the margin that the clock ends contradicts nothing. */
static void assert_verifies_or_ends(const margin_model *model, const margin_data *data) {
    const margin_context_options soon = {.size = sizeof soon, .threads = 1, .time_limit = 1e-9};
    margin_context *hurried = NULL;
    margin_report found = {0};
    margin_error error = {0};
    assert_int_equal(margin_context_create(&soon, &hurried, &error), MARGIN_OK);
    if (margin_verify(hurried, model, data, &found, &error) != MARGIN_OK) {
        assert_int_equal(error.status, MARGIN_ERROR_LIMIT);
        assert_contains(error.text, "the time limit of 1e-09 seconds was reached");
    }
    margin_context_free(hurried);
}

/* A perceptron's widest margin, the bound of its steps, and items that nobody knows. */
static void test_forged_items(void **state) {
    (void)state;
    static const double x[12] = {0, 1, 1, 0, 2, 2, 5, 6, 6, 5, 7, 7}, y[6] = {0, 0, 0, 1, 1, 1};
    const margin_data data = {.x = margin_dense_f64(x, 6, 2, 2), .y = margin_values_f64(y, 6)};
    static const char *const names[] = {"margin", "bound", "radius", "gold"};
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, "perceptron", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    assert_verifies_or_ends(model, &data);
    for (int k = 0; k < 4; k++) {
        const margin_report honest = model->report;
        const double value = margin_report_item_value(&honest, names[k]);
        assert_true(k == 3 || value > 0);
        mg_report_set(&model->report, names[k], k == 3 ? 42 : 1.001 * value);
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        model->report = honest;
    }
    margin_model_free(model);
    model = fit_text(context, "standardize(target=yes) | ridge", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    assert_contains(model->report.formula, " for y");
    for (int k = 0; k < 2; k++) {
        const margin_report honest = model->report;
        char *end = model->report.formula + strlen(model->report.formula);
        snprintf(k ? strchr(model->report.formula, '(') : end, 20, k ? "(y - 3)/2 for y" : "0");
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        model->report = honest;
    }
    margin_model_free(model);
    model = fit_text(context, "perceptron(bound=no)", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    mg_report_set(&model->report, "margin", 3); /* invented */
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* Three clouds apart, so that nothing is said of most rows but that they are right. */
static margin_data clouds(double *x, double *y) {
    uint64_t random = 11;
    for (int i = 0; i < STAGED_ROWS; i++) {
        for (int j = 0; j < STAGED_COLUMNS; j++)
            x[i * STAGED_COLUMNS + j] = support_normal(&random) + (i % 3 == j ? 6 : 0);
        y[i] = i % 3;
    }
    return (margin_data){.x = margin_dense_f64(x, STAGED_ROWS, STAGED_COLUMNS, STAGED_COLUMNS),
                         .y = margin_values_f64(y, STAGED_ROWS)};
}

/* Rows on the plane, where errors may be as many as rounding lets them be: a whole number. */
static void test_counts_are_whole(void **state) {
    (void)state;
    static const double x[12] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, y[6] = {0, 1, 0, 1, 0, 1};
    const margin_data data = {.x = margin_dense_f64(x, 6, 2, 2), .y = margin_values_f64(y, 6)};
    static const char *const names[] = {"errors", "mistakes"};
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    margin_model *model = fit_text(context, "perceptron(passes=9, intercept=no)", &data, &report);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    for (int k = 0; k < 4; k++) {
        const margin_report honest = model->report;
        const double count = margin_report_item_value(&honest, names[k % 2]);
        mg_report_set(&model->report, names[k % 2], k < 2 ? count + 0.013 : -count - 1);
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        model->report = honest;
    }
    /* the margin of a row of zeros is exactly 0, an error; no other one is near the plane */
    const double errors = margin_report_item_value(&model->report, "errors");
    for (int more = -1; more <= 1; more += 2) {
        mg_report_set(&model->report, "errors", errors + more);
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    }
    margin_model_free(model);
    margin_context_free(context);
}

/* A gamma that the spec leaves to a rule is what the rule makes of the rows. */
static void test_gamma_of_a_rule(void **state) {
    (void)state;
    static const char *const learners[] = {"svm(kernel=rbf",
                                           "svm(kernel=laplacian, multiclass=ovo",
                                           "svm(kernel=rbf, task=one-class",
                                           "svm(kernel=poly, task=regress",
                                           "kernel-ridge(task=regress",
                                           "kernel-logistic(class_weight=balanced",
                                           "perceptron(kernel=rbf, passes=9"};
    static const char *const rules[] = {"scale", "median"};
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    for (int k = 0; k < 2 * MG_LENGTH(learners); k++) {
        const char *learner = learners[k / 2];
        margin_data data = clouds(x, y);
        char given[120], ruled[120];
        if (strstr(learner, "one-class")) data.y = (margin_vector){0};
        snprintf(given, sizeof given, "%s, gamma=0.3)", learner);
        snprintf(ruled, sizeof ruled, "%s, gamma=%s)", learner, rules[k % 2]);
        margin_model *model = fit_text(context, ruled, &data, &report);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        margin_model_free(model);
        model = fit_text(context, given, &data, &report);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        char *honest = model->spec;
        model->spec = ruled;
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        model->spec = honest;
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Each number of a perceptron that has no row wrong, and updates told of other rows. */
static void test_perceptrons_are_compared(void **state) {
    (void)state;
    static const char *const specs[] = {"perceptron",
                                        "perceptron(multiclass=argmax)",
                                        "perceptron(form=dual)",
                                        "perceptron(kernel=rbf)",
                                        "perceptron(kernel=rbf, multiclass=ovo)",
                                        "perceptron(kernel=laplacian, variant=averaged)",
                                        "perceptron(kernel=poly, rate=0.3, variant=pocket)"};
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    const margin_data data = clouds(x, y);
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_report report = {0};
        margin_model *model = fit_text(context, specs[k], &data, &report);
        mg_bag *bag = &model->hypothesis->bag;
        assert_int_equal(report.status, MARGIN_OK);
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        for (int t = 0; t < bag->count; t++)
            if (bag->tensors[t].type == MARGIN_F64 && strcmp(bag->tensors[t].name, "kernel") != 0)
                change_each_number(context, model, &data, &bag->tensors[t], "the model was chang");
        margin_model_free(model);
    }
    margin_model *model = fit_text(context, "perceptron(kernel=rbf)", &data, &(margin_report){0});
    double *const numbers[] = {mg_bag_find(&model->hypothesis->bag, "dual_coefficient")->data,
                               mg_bag_find(&model->hypothesis->bag, "dual_update")->data,
                               mg_bag_find(&model->hypothesis->bag, "coefficients")->data};
    int64_t other = 1;
    while (numbers[2][other] * numbers[2][0] < 0)
        other++;
    assert_true(other < model->hypothesis->dual_starts[1]); /* of the same function */
    for (int k = 0; k < 3; k++) {
        const double moved = 0.5 * (k < 2 || numbers[k][0] > 0 ? 1 : -1);
        numbers[k][0] += moved;
        numbers[k][other] -= moved;
    }
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* Rows in any order and several times; updates that are told of another row of the class. */
static void test_perceptrons_of_chosen_rows(void **state) {
    (void)state;
    static const char *const specs[] = {"perceptron(kernel=rbf)", "perceptron(form=dual)",
                                        "perceptron(kernel=rbf, variant=averaged, passes=5)",
                                        "perceptron(form=dual, start_intercept=2, passes=9)"};
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    int64_t rows[2 * STAGED_ROWS];
    margin_data data = clouds(x, y);
    margin_context *context = support_context(NULL, 1);
    for (int64_t i = 0; i < 2 * STAGED_ROWS; i++)
        rows[i] = (STAGED_ROWS - 1 - i / 2 + i % 2 * 7) % STAGED_ROWS;
    data.selection = rows;
    data.selected = 2 * STAGED_ROWS;
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        const mg_hypothesis *h = model->hypothesis;
        double *alpha = mg_bag_find(&model->hypothesis->bag, "dual_coefficient")->data;
        double *updates = mg_bag_find(&model->hypothesis->bag, "dual_update")->data;
        const double *signs = h->dual_signs;
        int64_t other = 1;
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        while (other < h->dual_starts[1] && signs[other] != signs[0])
            other++;
        assert_true(other < h->dual_starts[1]);
        alpha[0] += 0.5;
        updates[0] += 0.5;
        alpha[other] -= 0.5;
        updates[other] -= 0.5;
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Totals that are the sum of their parts to the last digit: what is left of the errors is the
 * rounding of predictions, which another layout or instruction set adds up otherwise. */
static void test_totals_of_parts(void **state) {
    (void)state;
    enum { ROWS = 500, COLUMNS = 3 };
    double x[ROWS * COLUMNS], y[ROWS], squares = 0;
    int64_t starts[ROWS + 1];
    int32_t columns[ROWS * COLUMNS];
    uint64_t random = 3;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        x[i] = rint(1e8 * support_uniform(&random)) / 100;
        columns[i] = i % COLUMNS;
    }
    for (int i = 0; i <= ROWS; i++)
        starts[i] = (int64_t)i * COLUMNS;
    for (int i = 0; i < ROWS; i++) {
        y[i] = rint(100 * (x[3 * i] + x[3 * i + 1] + x[3 * i + 2])) / 100;
        squares += y[i] * y[i];
    }
    margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                        .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    margin_model *model = fit_text(context, "least-squares", &data, &(margin_report){0});
    double *rmse = &model->report.train_rmse, rounding = 1e-16 * sqrt(squares / ROWS);
    const double honest = *rmse;
    assert_true(honest > rounding / 10);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    *rmse = honest + rounding; /* as of another instruction set */
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    data.x = margin_csr_f64(x, columns, starts, ROWS, COLUMNS);
    *rmse = honest;
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    *rmse = honest + 1000 * rounding;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* One row that hardly counts says nothing of the others' rounding. */
static void test_a_row_of_little_weight(void **state) {
    (void)state;
    enum { ROWS = 100 };
    double x[ROWS], y[ROWS], weights[ROWS];
    uint64_t random = 4;
    for (int i = 0; i < ROWS; i++) {
        x[i] = support_normal(&random);
        y[i] = i ? x[i] + support_normal(&random) : 1e15;
        weights[i] = i ? 1 : 1e-30;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                              .y = margin_values_f64(y, ROWS),
                              .weights = margin_values_f64(weights, ROWS)};
    margin_context *context = support_context(NULL, 1);
    margin_model *model = fit_text(context, "ridge", &data, &(margin_report){0});
    margin_report *report = &model->report;
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    report->train_rmse *= 1.01;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    report->train_rmse /= 1.01;
    report->train_r2 += 0.01;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* Rows that stages made have other last digits on another instruction set; others are copies. */
static void test_support_rows_are_alike(void **state) {
    (void)state;
    static const char *const specs[] = {
        "fourier(features=6) | svm(kernel=rbf, gamma=0.5)",
        "fourier(features=6) | kernel-ridge(kernel=rbf, gamma=0.5, task=classify)",
        "fourier(features=6) | perceptron(kernel=rbf, gamma=0.5)",
        "svm(kernel=rbf, gamma=0.5)",
        "kernel-ridge(kernel=rbf, gamma=0.5, task=classify)",
        "perceptron(kernel=rbf, gamma=0.5)"};
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    const margin_data data = clouds(x, y);
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        double *support = mg_bag_find(&model->hypothesis->bag, "support")->data;
        support[1] *= 1 + 8 * DBL_EPSILON;
        assert_int_equal(verified(context, model, &data),
                         model->stage_count ? MARGIN_OK : MARGIN_STOPPED_STALLED);
        support[1] *= 1 + 1e-6;
        assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Predictions would stand under each other's names. */
static void test_targets_have_names(void **state) {
    (void)state;
    enum { ROWS = 6 };
    double x[ROWS] = {1, 2, 3, 4, 5, 7}, y[2 * ROWS];
    const margin_column names[2] = {{.name = "size"}, {.name = "cost"}};
    for (int i = 0; i < 2 * ROWS; i++)
        y[i] = (double)(i * i % 7);
    margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                        .y = margin_values_f64(y, 2 * ROWS),
                        .target = names,
                        .targets = 2};
    margin_context *context = support_context(NULL, 1);
    margin_model *model = fit_text(context, "least-squares", &data, &(margin_report){0});
    margin_column *items = model->target.items;
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    const margin_column first = items[0];
    items[0] = items[1];
    items[1] = first;
    assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
    data.target = NULL; /* of data without names the order counts */
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    margin_model_free(model);
    margin_context_free(context);
}

/* Descent that stops early without a penalty: the gap is no less than the distance from the
 * optimum, which another solver found. */
static void test_gaps_by_another_optimum(void **state) {
    (void)state;
    static const char *const specs[][2] = {
        {"lasso(lambda=0, max_iter=%d, solver=gd)", "lasso(lambda=0, tol=1e-12)"},
        {"elastic-net(lambda=0, max_iter=%d, solver=gd)", "elastic-net(lambda=0, tol=1e-12)"},
        {"ridge(alpha=0, max_iter=%d, solver=gd)", "ridge(alpha=0, solver=qr)"}};
    enum { ROWS = 40, COLUMNS = 4 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 17;
    for (int i = 0; i < ROWS; i++) {
        const double shared = support_normal(&random);
        y[i] = 0.2 * support_normal(&random);
        for (int j = 0; j < COLUMNS; j++) {
            x[i * COLUMNS + j] = shared + (0.05 + 0.3 * j) * support_normal(&random);
            y[i] += (j % 2 ? -1 : 1) * x[i * COLUMNS + j];
        }
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    int stopped = 0;
    for (int k = 0; k < MG_LENGTH(specs); k++)
        for (int steps = 3; steps < 400; steps *= 3) {
            margin_report early = {0}, optimum = {0};
            char text[80];
            snprintf(text, sizeof text, specs[k][0], steps);
            margin_model_free(fit_text(context, text, &data, &early));
            margin_model_free(fit_text(context, specs[k][1], &data, &optimum));
            const double distance =
                (early.objective - optimum.objective) / fmax(1, early.objective);
            stopped += early.status != MARGIN_OK && distance > 1e-3;
            if (!(early.gap >= distance - 1e-9))
                fail_msg("%s: gap %g, and the optimum is %g away", text, early.gap, distance);
        }
    assert_true(stopped > 3);
    margin_context_free(context);
}

/* Of many classes other weights may have the same errors and the same least margin. */
static void test_claims_of_a_perceptron(void **state) {
    (void)state;
    double x[STAGED_ROWS * STAGED_COLUMNS], y[STAGED_ROWS];
    const margin_data data = clouds(x, y);
    margin_context *context = support_context(NULL, 1);
    margin_model *model =
        fit_text(context, "perceptron(multiclass=argmax)", &data, &(margin_report){0});
    margin_report found = {0};
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
    assert_contains(found.reason, "what is claimed of its weights is their errors, least margin");
    margin_model_free(model);
    margin_context_free(context);
}

/* A model half as large again, whose report says what is true of that. */
static void enlarge(margin_context *context, margin_model *model, const margin_data *data) {
    static const char *const names[] = {"weights", "intercept", "coefficients", "learner_weights",
                                        "learner_intercept"};
    mg_bag *bag = &model->hypothesis->bag;
    margin_report found = {0};
    margin_error error = {0};
    for (int k = 0; k < MG_LENGTH(names); k++) {
        const mg_tensor *t = mg_bag_find(bag, names[k]);
        for (int64_t i = 0; t && i < t->shape[0] * MG_MAX(t->shape[1], 1); i++)
            ((double *)t->data)[i] *= 1.5;
    }
    assert_true(margin_verify(context, model, data, &found, &error) > 0);
    model->report.objective = found.objective;
    model->report.train_accuracy = found.train_accuracy;
    model->report.train_rmse = found.train_rmse;
    model->report.train_r2 = found.train_r2;
    model->report.gap = found.gap;
    model->report.status = MARGIN_STOPPED_STALLED;
    for (int64_t i = 0; i < found.item_count; i++)
        if (!isnan(margin_report_item_value(&model->report, found.items[i].name)))
            mg_report_set(&model->report, found.items[i].name, found.items[i].value);
}

/* One lie covered by others: weights and objective go together, and gap, tolerance or status say
 * that this is the optimum. */
static void test_forgeries(void **state) {
    (void)state;
    static const char *const specs[] = {"logistic",
                                        "logistic(C=0.1, multiclass=ovo)",
                                        "svm",
                                        "svm(loss=squared-hinge)",
                                        "softmax",
                                        "svm(multiclass=argmax)",
                                        "exponential",
                                        "ridge",
                                        "lasso",
                                        "elastic-net(lambda=0.1)",
                                        "kernel-ridge(kernel=rbf, task=regress)",
                                        "svm(kernel=rbf)",
                                        "kernel-logistic"};
    static const struct {
        margin_status status;
        double gap, tolerance; /* tolerance 0: that of the spec */
    } lies[] = {{MARGIN_OK, NAN, 0},
                {MARGIN_OK, NAN, 1e9},
                {MARGIN_OK, 1e-10, 0},
                {MARGIN_OK, 1e-10, 1e9},
                {MARGIN_OK, 1e-10, 1},
                {MARGIN_OK, 1e-10, INFINITY},
                {MARGIN_OK, 1e-10, NAN},
                {MARGIN_OK, 0, 0},
                {MARGIN_OK, -1, 0},
                {MARGIN_OK, INFINITY, 0},
                {MARGIN_OK, INFINITY, INFINITY},
                {MARGIN_OK, 1e8, 1e9},
                {MARGIN_STOPPED_STALLED, NAN, 0},
                {MARGIN_STOPPED_STALLED, 1e-10, 0},
                {MARGIN_STOPPED_ITERATIONS, 0, 1e9}};
    enum { ROWS = 60, COLUMNS = 3 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 13;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = support_normal(&random) + (i % 3 == j);
        y[i] = i % 3;
    }
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(y, ROWS)};
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        const double tolerance = model->report.tolerance;
        assert_int_equal(verified(context, model, &data), MARGIN_OK);
        enlarge(context, model, &data);
        /* what is true is not refused; support vectors of a kernel were at C */
        if (!strstr(specs[k], "svm(kernel") && verified(context, model, &data) != MARGIN_OK)
            fail_msg("%s: a model that stopped does not hold", specs[k]);
        for (int n = 0; n < MG_LENGTH(lies); n++) {
            model->report.status = lies[n].status;
            model->report.gap = lies[n].gap;
            model->report.tolerance = lies[n].tolerance == 0 ? tolerance : lies[n].tolerance;
            if (verified(context, model, &data) != MARGIN_STOPPED_STALLED)
                fail_msg("%s: forgery %d holds", specs[k], n);
        }
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* The model of a text, fitted by one instruction set (NULL: the machine's) and read under another.
 */
static margin_model *fitted_under(margin_context *context, const char *isa, const char *other,
                                  const char *text, const margin_data *data) {
    margin_error error = {0};
    margin_model *read = NULL;
    void *bytes = NULL;
    int64_t length = 0;
    if (isa) assert_int_equal(setenv("MARGIN_ISA", isa, 1), 0);
    margin_model *model = fit_text(context, text, data, &(margin_report){0});
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(unsetenv("MARGIN_ISA"), 0);
    if (other) assert_int_equal(setenv("MARGIN_ISA", other, 1), 0);
    assert_int_equal(margin_model_decode(context, bytes, length, &read, &error), MARGIN_OK);
    margin_bytes_free(model, bytes);
    margin_model_free(model);
    return read;
}

/* Dependent centres magnify the last digits of kernel values, in which instruction sets differ. */
static void test_other_instruction_sets(void **state) {
    (void)state;
    static const char *const specs[] = {
        "nystroem(centres=60) | knn",
        "nystroem(centres=60) | standardize | knn",
        "nystroem(centres=60) | svm(multiclass=argmax)",
        "nystroem(centres=60) | standardize | logistic",
        "nystroem(centres=60) | standardize | svm(multiclass=argmax)",
        "nystroem(centres=60) | svm(C=10000)",
        "nystroem(centres=60) | naive-bayes",
        "nystroem(centres=60) | standardize | kmeans(k=3)",
        "nystroem(centres=60) | minmax | perceptron",
        "nystroem(centres=60, kernel=poly) | svm(kernel=rbf)"};
    static const char *const sets[][2] = {
        {NULL, "ref"}, {"ref", NULL}, {"avx2", "ref"}, {"ref", "avx2"}, {NULL, "avx2"}};
    enum { ROWS = 120, COLUMNS = 3 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t random = 12;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = support_normal(&random) + (i % 3 == j ? 2 : 0);
        y[i] = i % 3;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++)
        for (int s = 0; s < MG_LENGTH(sets); s++) {
            margin_model *model = fitted_under(context, sets[s][0], sets[s][1], specs[k], &data);
            margin_report found = {0};
            if (margin_verify(context, model, &data, &found, NULL) != MARGIN_OK)
                fail_msg("%s by %s under %s: %s", specs[k], sets[s][0] ? sets[s][0] : "all",
                         sets[s][1] ? sets[s][1] : "all", found.reason);
            model->report.objective *= 1.0001;
            if (!strstr(specs[k], "perceptron")) /* its allowance is for scores near 0 */
                assert_int_equal(verified(context, model, &data), MARGIN_STOPPED_STALLED);
            margin_model_free(model);
            unsetenv("MARGIN_ISA");
        }
    margin_context_free(context);
}

/* Weights times 0.9 with all numbers made to match: what rounding may have made of features by
 * dependent centres would hide the gap, and once did. */
static void test_rounding_of_features_hides_no_gap(void **state) {
    (void)state;
    enum { ROWS = 50 };
    double x[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i] = 4 + i / 2;
        y[i] = 4 * x[i] - 17 + i * 7 % 31;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                              .y = margin_values_f64(y, ROWS)};
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0}, found = {0};
    margin_model *model =
        fit_text(context, "nystroem(centres=8, kernel=poly, degree=3) | ridge", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_int_equal(verified(context, model, &data), MARGIN_OK);
    static const char *const names[] = {"weights", "learner_weights"};
    for (int k = 0; k < 2; k++) {
        const mg_tensor *tensor = mg_bag_find(&model->hypothesis->bag, names[k]);
        for (int64_t j = 0; j < tensor->shape[0] * tensor->shape[1]; j++)
            ((double *)tensor->data)[j] *= 0.9;
    }
    for (int k = 0; k < 3; k++) { /* each round makes the next number match */
        assert_int_equal(margin_verify(context, model, &data, &found, NULL),
                         MARGIN_STOPPED_STALLED);
        model->report.objective = found.objective;
        model->report.train_rmse = found.train_rmse;
        model->report.train_r2 = found.train_r2;
    }
    assert_true(found.gap > 0.01);
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_fits),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_honest_fits_once_refused),
        cmocka_unit_test(test_rounding_of_features_hides_no_gap),
        cmocka_unit_test(test_changes_once_missed),
        cmocka_unit_test(test_at_the_radius),
        cmocka_unit_test(test_columns_alike),
        cmocka_unit_test(test_ridge_of_few_rows),
        cmocka_unit_test(test_rounding_is_told),
        cmocka_unit_test(test_objective_for_gap),
        cmocka_unit_test(test_forged_reports),
        cmocka_unit_test(test_forged_proof),
        cmocka_unit_test(test_too_little_to_decide),
        cmocka_unit_test(test_forged_asides),
        cmocka_unit_test(test_sums_of_many_rows),
        cmocka_unit_test(test_forgeries_of_an_attack),
        cmocka_unit_test(test_stages_are_compared),
        cmocka_unit_test(test_stages_forged),
        cmocka_unit_test(test_stages_of_other_data),
        cmocka_unit_test(test_stage_of_another_name),
        cmocka_unit_test(test_stages_of_permuted_rows),
        cmocka_unit_test(test_stages_of_an_update),
        cmocka_unit_test(test_forged_items),
        cmocka_unit_test(test_counts_are_whole),
        cmocka_unit_test(test_gamma_of_a_rule),
        cmocka_unit_test(test_perceptrons_are_compared),
        cmocka_unit_test(test_perceptrons_of_chosen_rows),
        cmocka_unit_test(test_totals_of_parts),
        cmocka_unit_test(test_a_row_of_little_weight),
        cmocka_unit_test(test_support_rows_are_alike),
        cmocka_unit_test(test_gaps_by_another_optimum),
        cmocka_unit_test(test_claims_of_a_perceptron),
        cmocka_unit_test(test_forgeries),
        cmocka_unit_test(test_other_instruction_sets),
        cmocka_unit_test(test_targets_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
