/* Searches over kernel-ridge: penalties share the Gram matrix and its band form, and are what fits
 * made one by one are. */
#include "model_cases.h"

#include "kernel_cases.h"

#include "base/context.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 140, COLUMNS = 3, TARGETS = 2, FOLDS = 3 };

static margin_splits *folds_of(const margin_data *data, int64_t repeats) {
    const margin_split_options options = {
        .size = sizeof options, .folds = FOLDS, .repeats = repeats, .seed = 7};
    margin_splits *splits = NULL;
    margin_error error = {0};
    if (margin_split(context, data, &options, &splits, &error) < 0) fail_msg("%s", error.text);
    return splits;
}

static margin_search_result *search(margin_context *in, const char *text, const margin_data *data,
                                    const margin_splits *splits, const char *metric) {
    const margin_search_options options = {.size = sizeof options, .metric = metric};
    margin_search_result *found = NULL;
    margin_error error = {0};
    margin_spec *spec = parse_text(in, text);
    if (margin_search(in, spec, data, splits, &options, &found, &error) < 0)
        fail_msg("%s: %s", text, error.text);
    margin_spec_free(spec);
    return found;
}

static int64_t *rows_of(const margin_splits *splits, int64_t split, int32_t part, int64_t *count) {
    *count = margin_splits_size(splits, split, part);
    int64_t *rows = malloc((size_t)(*count + 1) * sizeof *rows);
    assert_non_null(rows);
    margin_splits_rows(splits, split, part, rows);
    return rows;
}

/* The metric of a fit of its own. */
static double plain_value(const char *spec, const margin_data *data, const margin_splits *splits,
                          int64_t split, const char *metric) {
    margin_data train = *data, test = *data;
    margin_metrics found = {.size = sizeof found};
    margin_error error = {0};
    int64_t *learned = rows_of(splits, split, MARGIN_PART_TRAIN, &train.selected),
            *left = rows_of(splits, split, MARGIN_PART_TEST, &test.selected);
    train.selection = learned;
    test.selection = left;
    margin_model *model = fit_text(context, spec, &train, NULL);
    if (margin_evaluate(context, model, &test, &found, &error) < 0) fail_msg("%s", error.text);
    const double value = margin_metrics_value(&found, metric);
    margin_metrics_free(&found);
    margin_model_free(model);
    free(learned), free(left);
    return value;
}

/* Each value, and the same bytes on four threads. */
static void assert_plain(const char *text, const margin_data *data, const char *metric,
                         double near) {
    margin_splits *splits = folds_of(data, 2);
    margin_context *other = support_context(NULL, 4);
    margin_search_result *found = search(context, text, data, splits, metric),
                         *again = search(other, text, data, splits, metric);
    for (int64_t k = 0; k < found->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(found, k),
                                 *same = margin_search_cell_at(again, k);
        if (cell->status != MARGIN_OK) fail_msg("%s: %s", cell->spec, cell->reason);
        assert_true(cell->gap <= 1e-6);
        assert_memory_equal(cell->values, same->values, (size_t)found->splits * sizeof(double));
        assert_memory_equal(&cell->gap, &same->gap, sizeof cell->gap);
        for (int64_t i = 0; i < found->splits; i++)
            assert_close(cell->values[i], plain_value(cell->spec, data, splits, i, metric), near);
    }
    margin_search_result_free(found);
    margin_search_result_free(again);
    margin_splits_free(splits);
    margin_context_free(other);
}

/* Few penalties, which have a factor each, and more, which have a form. */
static const char *const numbers[] = {
    "kernel-ridge(gamma=0.4, alpha={0.01..100 log 5})",
    "kernel-ridge(gamma=0.4, alpha={0.01..100 log 7})",
    "kernel-ridge(alpha={0.01..100 log 7}, intercept=yes)",
    "standardize | kernel-ridge(kernel=laplacian, lambda={1e-4..1 log 5}, intercept=yes)",
    "standardize | kernel-ridge(kernel=poly, degree={2,3}, C={0.01..10 log 6})",
    "kernel-ridge(gamma={0.2,0.5}, alpha={0.01..100 log 6}, intercept={no,yes})",
    "kernel-ridge(gamma=0.4, alpha={0.1,1}, solver={cholesky,auto})",
};

static void test_numbers(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    regression r = regression_make(ROWS, COLUMNS, 0, 1, 3);
    kernel_targets(&r, 4);
    double both[TARGETS * ROWS], weights[ROWS];
    margin_data data = regression_data(&r);
    for (int64_t i = 0; i < ROWS; i++) {
        both[2 * i] = r.y[i];
        both[2 * i + 1] = cos(r.x[COLUMNS * i]);
        weights[i] = (double)(i % 4);
    }
    for (int variant = 0; variant < 4; variant++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            margin_data these = data;
            if (variant & 1) these.weights = margin_values_f64(weights, ROWS);
            if (variant & 2) {
                these.y = margin_values_f64(both, TARGETS * ROWS);
                these.targets = TARGETS;
            }
            assert_plain(numbers[k], &these, "rmse", 1e-9);
        }
    regression_free(&r);
}

/* Many columns, so that conjugate gradients need few steps: one of them serves all penalties. */
static void test_shifts(void **state) {
    (void)state;
    enum { M = 420, WIDE = 40 };
    static const char *const specs[] = {
        "kernel-ridge(gamma=0.025, alpha={0.5..100 log 7})",
        "kernel-ridge(gamma=0.025, alpha={0.5..100 log 7}, intercept=yes)",
        "kernel-ridge(kernel=laplacian, gamma=0.1, C={0.01..1 log 6}, intercept=yes)",
    };
    regression r = regression_make(M, WIDE, 0, 1, 5);
    kernel_targets(&r, 6);
    double weights[M];
    for (int64_t i = 0; i < M; i++)
        weights[i] = (double)(i % 3) / 2.0;
    margin_data data = regression_data(&r);
    for (int weighted = 0; weighted < 2; weighted++) {
        if (weighted) data.weights = margin_values_f64(weights, M);
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
            assert_plain(specs[k], &data, "rmse", 1e-7);
    }
    regression_free(&r);
}

static void test_classes(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const char *const specs[] = {
        "kernel-ridge(gamma=0.4, alpha={0.01..100 log 5})",
        "kernel-ridge(gamma=0.4, alpha={0.01..100 log 7}, class_weight={none,balanced})",
        "standardize | kernel-ridge(alpha={0.01..100 log 7}, intercept=yes)",
        "kernel-ridge(gamma=0.4, alpha={0.01..100 log 6}, multiclass={ovo,ovr})",
    };
    for (int classes = 2; classes < 4; classes++) {
        sample *s = sample_make(ROWS, COLUMNS, classes, 0.2, 31);
        const margin_data data = sample_data(s, classes == 2 ? CSR_F64_I32_I64 : DENSE_F32);
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
            if (k == 2 && classes == 2) continue; /* sparse */
            assert_plain(specs[k], &data, classes == 2 ? "auc" : "accuracy", 1e-9);
        }
        sample_free(s);
    }
}

/* Penalties that rounding eats in the form, where a factor still knows them, or not. */
static void test_weak_penalties(void **state) {
    (void)state;
    regression r = regression_make(ROWS, 1, 0, 1, 5);
    kernel_targets(&r, 6);
    const margin_data data = regression_data(&r);
    margin_splits *splits = folds_of(&data, 1);
    static const char text[] = "kernel-ridge(gamma=0.1, tol=1e-4, alpha={1e-14..1 log 15})";
    margin_search_result *found = search(context, text, &data, splits, "rmse");
    for (int64_t k = 0; k < found->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(found, k);
        bool all = true;
        for (int64_t i = 0; i < FOLDS; i++) {
            margin_data train = data;
            margin_report report = {0};
            int64_t *rows = rows_of(splits, i, MARGIN_PART_TRAIN, &train.selected);
            train.selection = rows;
            margin_model_free(fit_text(context, cell->spec, &train, &report));
            all = all && report.status == MARGIN_OK;
            free(rows);
        }
        assert_int_equal(cell->status == MARGIN_OK, all); /* no worse than fits of their own */
    }
    margin_search_result_free(found);
    margin_splits_free(splits);
    regression_free(&r);
}

/* ---- What is shared -------------------------------------------------------------------------- */

static int counted_kernel(const double *x, int64_t x_rows, const double *z, int64_t z_rows,
                          int64_t columns, double *values, void *user) {
    atomic_llong *asked = user;
    *asked += x_rows * z_rows;
    for (int64_t i = 0; i < x_rows; i++)
        for (int64_t j = 0; j < z_rows; j++) {
            double square = 0;
            for (int64_t k = 0; k < columns; k++)
                square += pow(x[i * columns + k] - z[j * columns + k], 2);
            values[i * z_rows + j] = exp(-0.3 * square);
        }
    return 0;
}

/* A Gram matrix for a fold, whatever the penalties: the values that are asked for are those and,
 * for each penalty, some that try the function and those of the rows that are predicted. */
static void test_one_matrix(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-ridge(kernel=user, alpha=1)",
                                        "kernel-ridge(kernel=user, alpha={0.1..10 log 5})",
                                        "kernel-ridge(kernel=user, alpha={0.1..10 log 9})"};
    regression r = regression_make(600, COLUMNS, 0, 1, 7);
    kernel_targets(&r, 8);
    atomic_llong asked;
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .kernel = counted_kernel, .kernel_user = &asked};
    const margin_data data = regression_data(&r);
    margin_splits *splits = folds_of(&data, 1);
    margin_context *counting;
    double counts[3];
    assert_int_equal(margin_context_create(&options, &counting, NULL), MARGIN_OK);
    for (int k = 0; k < 3; k++) {
        atomic_init(&asked, 0);
        margin_search_result_free(search(counting, specs[k], &data, splits, "rmse"));
        counts[k] = (double)asked;
    }
    const double predicted = FOLDS * 200 * 400, tried = FOLDS * 4.0 * 64 * 64;
    assert_true(counts[0] > FOLDS * 400.0 * 400 / 2);
    assert_true(counts[1] <= counts[0] + 4 * (predicted + tried));
    assert_true(counts[2] <= counts[0] + 8 * (predicted + tried));
    margin_context_free(counting);
    margin_splits_free(splits);
    regression_free(&r);
}

/* One matrix for all folds where they have one kernel and there is room; settings that are solved
 * together have equal shares of the time. */
static void test_together(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int64_t limit;
        bool together;
    } cases[] = {{"kernel-ridge(gamma=0.4, alpha={0.1..10 log 6})", 0, true},
                 {"kernel-ridge(gamma=0.4, alpha={0.1..10 log 3})", 0, true},
                 {"kernel-ridge(gamma=0.4, alpha={0.1..10 log 6})", 1 << 21, false},
                 {"kernel-ridge(gamma=0.4, alpha={0.1..10 log 6}, solver=cg)", 0, false},
                 {"kernel-ridge(alpha={0.1..10 log 6})", 0, false},
                 {"minmax | kernel-ridge(gamma=0.4, alpha={0.1..10 log 6})", 0, false}};
    regression r = regression_make(ROWS, COLUMNS, 0, 1, 3);
    kernel_targets(&r, 4);
    const margin_data data = regression_data(&r);
    margin_splits *splits = folds_of(&data, 1);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        const margin_context_options options = {
            .size = sizeof options, .threads = 2, .memory_limit = cases[k].limit};
        margin_context *limited;
        assert_int_equal(margin_context_create(&options, &limited, NULL), MARGIN_OK);
        margin_search_result *found = search(limited, cases[k].spec, &data, splits, "rmse");
        const margin_search_cell *one = margin_search_cell_at(found, 0),
                                 *next = margin_search_cell_at(found, 1);
        assert_int_equal(one->status, MARGIN_OK);
        if ((one->fit_seconds == next->fit_seconds) != cases[k].together)
            fail_msg("%s: case %d", cases[k].spec, k);
        assert_close(one->values[1], plain_value(one->spec, &data, splits, 1, "rmse"), 1e-5);
        margin_search_result_free(found);
        margin_context_free(limited);
    }
    margin_splits_free(splits);
    regression_free(&r);
}

static margin_status attempt_search(margin_context *in, void *user, margin_error *error) {
    const margin_data *data = user;
    const margin_split_options folds = {.size = sizeof folds, .folds = 2};
    margin_spec *spec = NULL;
    margin_splits *splits = NULL;
    margin_search_result *found = NULL;
    margin_status status = margin_spec_parse(
        in,
        data->x.columns > 2 ? "kernel-ridge(gamma=0.05, alpha={20..900 log 6}, intercept=yes)"
                            : "kernel-ridge(gamma=1, alpha={0.1..10 log 6}, intercept=yes)",
        &spec, error);
    if (status >= 0) status = margin_split(in, data, &folds, &splits, error);
    if (status >= 0) status = margin_search(in, spec, data, splits, NULL, &found, error);
    margin_search_result_free(found);
    margin_splits_free(splits);
    margin_spec_free(spec);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        regression r = regression_make(wide ? 240 : 40, wide ? 30 : 2, 0, 1, 9);
        margin_data data = regression_data(&r);
        assert_true(support_fail_each_allocation(1, attempt_search, &data) > 50);
        regression_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_weak_penalties),
        cmocka_unit_test(test_one_matrix),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
