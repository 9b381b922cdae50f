/* margin_verify and models with a report to match: what is left out of a model, or put into it. */
#include "model/object/model_object.h"
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void assert_holds(margin_context *context, const margin_model *model,
                         const margin_data *data) {
    margin_report found = {0};
    if (verify_model(context, model, data, &found) != MARGIN_OK) fail_msg("%s", found.reason);
}

/* States what a verification finds first. */
static void assert_refused(margin_context *context, margin_model *model, const margin_data *data,
                           const char *reason) {
    margin_report found = {0};
    verify_model(context, model, data, &found);
    model->report.objective = found.objective;
    model->report.train_accuracy = found.train_accuracy;
    model->report.gap = fmax(model->report.gap, found.gap);
    for (int64_t i = 0; i < found.item_count; i++)
        if (strcmp(found.items[i].name, "rounding") != 0)
            mg_report_set(&model->report, found.items[i].name, found.items[i].value);
    found = (margin_report){0};
    assert_int_equal(verify_model(context, model, data, &found), MARGIN_STOPPED_STALLED);
    if (!strstr(found.reason, reason)) fail_msg("%s", found.reason);
}

/* ---- Values and categories ------------------------------------------------------------------- */

enum { ROWS = 120, MOST = 3 };

/* Two columns of 0 to MOST. */
static margin_data listed_data(double *x, double *y) {
    uint64_t random = 5;
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 2;
        x[2 * i] = (double)(support_random(&random) % 3);
        x[2 * i + 1] = (double)((support_random(&random) % 4 + (uint64_t)i) % (MOST + 1));
    }
    return (margin_data){.x = margin_dense_f64(x, ROWS, 2, 2), .y = margin_values_f64(y, ROWS)};
}

static void leave_out(double *x, double value) {
    for (int i = 0; i < ROWS; i++)
        if (x[2 * i + 1] == value) x[2 * i + 1] = (double)NAN;
}

/* A model of the rows without their greatest value, which it might not know. */
static void test_a_value_is_left_out(void **state) {
    (void)state;
    double x[2 * ROWS], y[ROWS];
    margin_context *context = support_context(NULL, 1);
    const margin_data data = listed_data(x, y);
    leave_out(x, MOST);
    margin_model *model =
        fit_text(context, "naive-bayes(distribution=categorical)", &data, &(margin_report){0});
    assert_holds(context, model, &data);
    listed_data(x, y);
    assert_refused(context, model, &data, "its counts and moments are not those of the data");
    margin_model_free(model);
    margin_context_free(context);
}

/* One that lists a value that no row has. */
static void test_a_value_is_invented(void **state) {
    (void)state;
    double x[2 * ROWS], y[ROWS];
    margin_context *context = support_context(NULL, 1);
    const margin_data data = listed_data(x, y);
    margin_model *model =
        fit_text(context, "naive-bayes(distribution=categorical)", &data, &(margin_report){0});
    const mg_tensor *statistics = mg_bag_find(&model->hypothesis->bag, "statistics");
    const int64_t slots = statistics->shape[1];
    for (int64_t k = 0; k < 2; k++)
        ((double *)statistics->data)[(k + 1) * slots - 1] = 0;
    leave_out(x, MOST);
    assert_refused(context, model, &data, "its counts and moments are not those of the data");
    margin_model_free(model);
    margin_context_free(context);
}

/* Categories without rows may be declared; those of the data are all known. */
static void test_a_category_is_left_out(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    margin_column known[2] = {{.name = "u"}, {.name = "v"}};
    margin_column all[2] = {{.name = "u"}, {.name = "v"}};
    double x[2 * ROWS], y[ROWS];
    margin_context *context = support_context(NULL, 1);
    margin_data data = listed_data(x, y);
    for (int j = 0; j < 2; j++) {
        known[j].kind = all[j].kind = MARGIN_CATEGORICAL;
        known[j].categories = all[j].categories = names;
        known[j].category_count = MOST;
        all[j].category_count = MOST + 1;
    }
    leave_out(x, MOST);
    data.columns = known;
    margin_model *model = fit_text(context, "naive-bayes", &data, &(margin_report){0});
    data.columns = all;
    assert_holds(context, model, &data);
    listed_data(x, y);
    assert_refused(context, model, &data, "the data has categories that the model does not know");
    margin_model_free(model);
    margin_context_free(context);
}

/* ---- Stages of an updated model -------------------------------------------------------------- */

/* Of one that took more rows the stages are those of its first ones: no others, not of so many. */
static void test_stages_are_of_the_first_rows(void **state) {
    (void)state;
    static const char *const specs[] = {"standardize | naive-bayes", "impute | naive-bayes"};
    enum { COLUMNS = 2, FIRST = ROWS / 2 };
    double x[2 * ROWS * COLUMNS], y[2 * ROWS]; /* twice: of any ROWS in the midst all occur */
    uint64_t random = 7;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = i % 11 == 3 ? (double)NAN : support_normal(&random);
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_error error = {0};
        margin_model *updated;
        for (int i = 0; i < ROWS * COLUMNS && k != 1; i++)
            if (isnan(x[i])) x[i] = 0.5;
        for (int i = 0; i < ROWS; i++)
            y[i] = i % 2;
        memcpy(x + ROWS * COLUMNS, x, sizeof x / 2);
        memcpy(y + ROWS, y, sizeof y / 2);
        const margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(y, ROWS)};
        const margin_data first = {.x = margin_dense_f64(x, FIRST, COLUMNS, COLUMNS),
                                   .y = margin_values_f64(y, FIRST)};
        const margin_data second = {
            .x = margin_dense_f64(x + FIRST * COLUMNS, ROWS - FIRST, COLUMNS, COLUMNS),
            .y = margin_values_f64(y + FIRST, ROWS - FIRST)};
        const margin_data turned = {
            .x = margin_dense_f64(x + FIRST * COLUMNS, ROWS, COLUMNS, COLUMNS),
            .y = margin_values_f64(y + FIRST, ROWS)};
        margin_model *model = fit_text(context, specs[k], &first, &(margin_report){0});
        assert_int_equal(margin_update(context, model, &second, &updated, NULL, &error), MARGIN_OK);
        assert_holds(context, updated, &data);
        assert_refused(context, updated, &turned, "the rows are in another order");
        mg_report_set(&updated->report, MG_STAGE_ROWS, FIRST + 1);
        assert_refused(context, updated, &data, "the rows are in another order");
        margin_model_free(updated);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* A category that is new to the stages is filled in as a missing value is, and verified like that.
 */
static void test_update_with_new_categories(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    enum { FIRST = ROWS / 2 };
    double x[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i] = i % 5 == 0 ? (double)NAN : i % 3 % (i < FIRST ? 2 : 3);
        y[i] = i % 2;
    }
    margin_column column = {
        .name = "town", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2};
    margin_data all = {.x = margin_dense_f64(x, ROWS, 1, 1), .y = margin_values_f64(y, ROWS)};
    margin_data first = {.x = margin_dense_f64(x, FIRST, 1, 1), .y = margin_values_f64(y, FIRST)};
    margin_data second = {.x = margin_dense_f64(x + FIRST, ROWS - FIRST, 1, 1),
                          .y = margin_values_f64(y + FIRST, ROWS - FIRST)};
    margin_context *context = support_context(NULL, 1);
    margin_model *updated;
    all.columns = first.columns = second.columns = &column;
    margin_model *model = fit_text(context, "impute | naive-bayes", &first, &(margin_report){0});
    column.category_count = 3;
    assert_int_equal(margin_update(context, model, &second, &updated, NULL, &(margin_error){0}),
                     MARGIN_OK);
    assert_holds(context, updated, &all);
    x[1] = 2; /* of the first rows the stages know every category */
    assert_refused(context, updated, &all, "categories that the model does not know");
    margin_model_free(updated);
    margin_model_free(model);
    margin_context_free(context);
}

/* ---- Stages of all rows ---------------------------------------------------------------------- */

/* Centres that nearly span each other have an inverse of large numbers that cancel: what they make
 * is held, not how large they are; and above its diagonal there are none. */
static void test_an_inverse_is_one(void **state) {
    (void)state;
    static const char *const specs[] = {
        "nystroem(centres=12, gamma=0.0001) | ridge(alpha=0.001)",
        "nystroem(centres=12, gamma=0.01, pick=uniform) | kmeans(k=2)",
        "nystroem(centres=12, kernel=poly, degree=3) | ridge(alpha=0.001)"};
    static const double parts[] = {2.9e-5, 1e-8};
    double x[2 * ROWS], y[ROWS];
    uint64_t random = 3;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < 2; j++)
            x[2 * i + j] = support_normal(&random);
        y[i] = sin(2 * x[2 * i]) + x[2 * i + 1];
    }
    margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2)};
    margin_context *context = support_context(NULL, 1);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        data.y = strstr(specs[k], "ridge") ? margin_values_f64(y, ROWS) : (margin_vector){0};
        margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
        const mg_tensor *inverse = mg_bag_find(&model->stages[0].bag, "inverse");
        const int64_t n = inverse->shape[0];
        double *numbers = inverse->data, greatest = 0;
        for (int64_t i = 0; i < n * n; i++)
            greatest = fmax(greatest, fabs(numbers[i]));
        assert_holds(context, model, &data);
        for (int p = 0; p < MG_LENGTH(parts); p++)
            for (int64_t i = 0; i < 2; i++) { /* in the last row, and above the diagonal */
                double *number = &numbers[i == 0 ? n * n - 2 : 1], honest = *number;
                *number += parts[p] * greatest;
                assert_refused(context, model, &data, "the stage nystroem has ");
                *number = honest;
            }
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Rows as far from one centre as from the other may be in either cluster; in which they are is told
 * by the sizes, so that the silhouette is held. */
static void test_a_tie_frees_no_silhouette(void **state) {
    (void)state;
    static const double cycle[] = {0, 0, 3, 5, 5}, away[] = {-1.6, -0.01, 0.01, 0.2};
    enum { COUNT = 100 };
    double x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = cycle[i % 5];
    const margin_data data = {.x = margin_dense_f64(x, COUNT, 1, 1)};
    margin_context *context = support_context(NULL, 1);
    margin_model *model =
        fit_text(context, "kmeans(k=2, centres='1 5')", &data, &(margin_report){0});
    const double honest = margin_report_item_value(&model->report, "silhouette");
    assert_holds(context, model, &data);
    for (int m = 0; m < MG_LENGTH(away); m++) {
        margin_report found = {0};
        mg_report_set(&model->report, "silhouette", honest + away[m]);
        assert_int_equal(verify_model(context, model, &data, &found), MARGIN_STOPPED_STALLED);
        if (!strstr(found.reason, "the silhouette is")) fail_msg("%s", found.reason);
    }
    margin_model_free(model);
    margin_context_free(context);
}

/* Grids turned about their diagonal, where rounding puts rows of a tie here or there. */
static void test_ties_hold(void **state) {
    (void)state;
    static const char *const specs[] = {"kmeans(k=2)", "kmeans(k=3)", "standardize | kmeans(k=4)",
                                        "normalize | kmeans(k=3)"};
    enum { MOST_ROWS = 72 };
    double x[2 * MOST_ROWS];
    margin_context *context = support_context(NULL, 1);
    for (int side = 2; side <= 6; side++)
        for (int k = 0; k < MG_LENGTH(specs); k++) {
            const int count = side * side;
            for (int i = 0; i < count; i++) {
                x[2 * i] = x[2 * count + 2 * i + 1] = i / side * 0.1 + 0.3;
                x[2 * i + 1] = x[2 * count + 2 * i] = i % side * 0.1 + 0.3;
            }
            const margin_data data = {.x = margin_dense_f64(x, 2 * count, 2, 2)};
            margin_model *model = fit_text(context, specs[k], &data, &(margin_report){0});
            assert_holds(context, model, &data);
            margin_model_free(model);
        }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_value_is_left_out),
                                       cmocka_unit_test(test_a_value_is_invented),
                                       cmocka_unit_test(test_a_category_is_left_out),
                                       cmocka_unit_test(test_stages_are_of_the_first_rows),
                                       cmocka_unit_test(test_update_with_new_categories),
                                       cmocka_unit_test(test_an_inverse_is_one),
                                       cmocka_unit_test(test_a_tie_frees_no_silhouette),
                                       cmocka_unit_test(test_ties_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
