/* margin_search: every value against fits made one by one. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

static margin_splits *folds_of(const margin_data *data, int64_t folds, int64_t repeats,
                               int stratify) {
    const margin_split_options options = {.size = sizeof options,
                                          .folds = folds,
                                          .repeats = repeats,
                                          .seed = 7,
                                          .stratify = stratify};
    margin_splits *splits = NULL;
    margin_error error = {0};
    if (margin_split(context, data, &options, &splits, &error) < 0) fail_msg("%s", error.text);
    return splits;
}

static margin_search_result *search_in(margin_context *in, const char *text,
                                       const margin_data *data, const margin_splits *splits,
                                       const margin_search_options *options) {
    margin_search_result *found = NULL;
    margin_error error = {0};
    margin_spec *spec = parse_text(in, text);
    if (margin_search(in, spec, data, splits, options, &found, &error) < 0)
        fail_msg("%s: %s", text, error.text);
    margin_spec_free(spec);
    return found;
}

static margin_search_result *search(const char *text, const margin_data *data,
                                    const margin_splits *splits,
                                    const margin_search_options *options) {
    return search_in(context, text, data, splits, options);
}

static void refused(const char *text, const margin_data *data, const margin_splits *splits,
                    const margin_search_options *options, margin_status status, const char *part) {
    margin_search_result *found = (margin_search_result *)&status;
    margin_error error = {0};
    margin_spec *spec = parse_text(context, text);
    assert_int_equal(margin_search(context, spec, data, splits, options, &found, &error), status);
    assert_contains(error.text, part);
    assert_ptr_equal(found, &status);
    margin_spec_free(spec);
}

/* The rows of a part; free() them. */
static int64_t *part_rows(const margin_splits *splits, int64_t split, int32_t part,
                          int64_t *count) {
    *count = margin_splits_size(splits, split, part);
    int64_t *rows = malloc((size_t)(*count + 1) * sizeof *rows);
    margin_splits_rows(splits, split, part, rows);
    return rows;
}

/* The metric of one setting on one split, by the public functions alone. */
static double plain_value(const char *spec, const margin_data *data, const margin_splits *splits,
                          int64_t split, const char *metric) {
    int64_t train_count, test_count;
    int64_t *train = part_rows(splits, split, MARGIN_PART_TRAIN, &train_count),
            *test = part_rows(splits, split, MARGIN_PART_TEST, &test_count);
    margin_data part = *data;
    margin_metrics found = {.size = sizeof found};
    margin_error error = {0};
    part.selection = train;
    part.selected = train_count;
    margin_model *model = fit_text(context, spec, &part, NULL);
    part.selection = test;
    part.selected = test_count;
    if (margin_evaluate(context, model, &part, &found, &error) < 0) fail_msg("%s", error.text);
    const double value = margin_metrics_value(&found, metric);
    margin_metrics_free(&found);
    margin_model_free(model);
    free(train);
    free(test);
    return value;
}

static void assert_plain(const char *text, const margin_data *data, const margin_splits *splits,
                         const char *metric) {
    const margin_search_options options = {.size = sizeof options, .metric = metric};
    margin_search_result *found = search(text, data, splits, &options);
    margin_spec *spec = parse_text(context, text);
    assert_int_equal(found->count, margin_spec_variants(spec));
    assert_int_equal(found->splits, margin_splits_count(splits));
    assert_string_equal(found->metric, metric);
    for (int64_t k = 0; k < found->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(found, k);
        double sum = 0, squares = 0;
        assert_int_equal(cell->status, MARGIN_OK);
        for (int64_t i = 0; i < found->splits; i++) {
            assert_close(cell->values[i], plain_value(cell->spec, data, splits, i, metric), 1e-7);
            sum += cell->values[i];
        }
        assert_close(cell->mean, sum / (double)found->splits, 1e-12);
        for (int64_t i = 0; i < found->splits; i++)
            squares += (cell->values[i] - cell->mean) * (cell->values[i] - cell->mean);
        assert_close(cell->deviation, sqrt(squares / (double)(found->splits - 1)), 1e-9);
        const margin_search_cell *best = margin_search_cell_at(found, found->best);
        assert_true(found->greater ? best->mean >= cell->mean : best->mean <= cell->mean);
    }
    margin_spec_free(spec);
    margin_search_result_free(found);
}

static margin_data weighted(const sample *s, double *weights) {
    margin_data data = sample_data(s, DENSE_F64);
    for (int64_t i = 0; i < s->rows; i++)
        weights[i] = (double)(i % 3);
    data.weights = margin_values_f64(weights, s->rows);
    return data;
}

static void assert_same_table(const margin_search_result *a, const margin_search_result *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->best, b->best);
    assert_int_equal(a->best_one_se, b->best_one_se);
    for (int64_t k = 0; k < a->count; k++) {
        const margin_search_cell *left = margin_search_cell_at(a, k),
                                 *right = margin_search_cell_at(b, k);
        assert_string_equal(left->spec, right->spec);
        assert_string_equal(left->reason, right->reason);
        assert_int_equal(left->status, right->status);
        assert_int_equal(left->dropped, right->dropped);
        assert_int_equal(left->rows, right->rows);
        assert_memory_equal(left->values, right->values, (size_t)a->splits * sizeof(double));
        assert_memory_equal(&left->mean, &right->mean, sizeof(double));
        assert_memory_equal(&left->gap, &right->gap, sizeof(double));
    }
}

/* ---- Against single fits --------------------------------------------------------------------- */

static void test_classes(void **state) {
    (void)state;
    for (int64_t classes = 2; classes <= 3; classes++) {
        sample *s = sample_make(90, 4, classes, 0.2, 11);
        double *weights = malloc((size_t)s->rows * sizeof *weights);
        margin_data data = sample_data(s, DENSE_F64);
        margin_splits *splits = folds_of(&data, 4, 1, 1);
        assert_plain("standardize | logistic(C={0.1,1,10})", &data, splits, "accuracy");
        assert_plain("logistic(C={0.1,10}, tol=1e-13)", &data, splits, "log_loss");
        assert_plain("minmax | svm(C={0.1,10})", &data, splits, "auc");
        assert_plain("knn(k={1..4})", &data, splits, "f1");
        margin_splits_free(splits);
        data = weighted(s, weights);
        splits = folds_of(&data, 5, 2, 0);
        assert_plain("naive-bayes(smoothing={0.1,1}, distribution={bernoulli,gaussian})", &data,
                     splits, "log_loss"); /* which count once for all smoothings */
        assert_plain("standardize | logistic(C={0.1,10}, class_weight={none,balanced})", &data,
                     splits, "error");
        margin_splits_free(splits);
        free(weights);
        sample_free(s);
    }
}

static void test_numbers(void **state) {
    (void)state;
    sample *s = sample_make(80, 5, 40, 0.1, 12);
    double *weights = malloc((size_t)s->rows * sizeof *weights);
    margin_data data = weighted(s, weights);
    margin_splits *splits = folds_of(&data, 5, 1, 0);
    assert_plain("poly(degree={1,2}) | ridge(alpha={0.1,1,10})", &data, splits, "rmse");
    assert_plain("standardize(target=yes) | lasso(lambda={0.01,0.1})", &data, splits, "r2");
    assert_plain("knn(k={1,3}, task=regress)", &data, splits, "mae");
    assert_plain("ridge", &data, splits, "mse");
    margin_splits_free(splits);
    free(weights);
    sample_free(s);
}

/* Folds by subtraction of their products: the same values, and no gap claimed. */
static void test_ridge_folds(void **state) {
    (void)state;
    static const char *const specs[] = {"ridge(alpha={0.01..1000 log 6})",
                                        "standardize | ridge(lambda={1e-4..1 log 6})",
                                        "minmax | standardize | ridge(C={0.01,0.1,1,10,inf})"};
    sample *s = sample_make(150, 6, 40, 0.2, 40);
    double *weights = malloc((size_t)s->rows * sizeof *weights);
    for (int layout = DENSE_F64; layout <= CSR_F32_I32_I64; layout++)
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
            margin_data data = k == 1 ? weighted(s, weights) : sample_data(s, layout);
            margin_splits *splits = folds_of(&data, 5, k == 2 ? 2 : 1, 0);
            margin_search_result *found = search(specs[k], &data, splits, NULL);
            const bool together = k != 2; /* two repeats have each row twice */
            assert_true(isnan(margin_search_cell_at(found, 0)->gap) == together);
            margin_search_result_free(found);
            assert_plain(specs[k], &data, splits, "rmse");
            margin_splits_free(splits);
        }
    /* what declines is fitted one by one: a constant in one fold only, no intercept */
    margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 5, 1, 0);
    int64_t count;
    int64_t *train = part_rows(splits, 3, MARGIN_PART_TRAIN, &count);
    for (int64_t i = 0; i < count; i++)
        s->f64[train[i] * s->columns + 2] = 1;
    assert_plain(specs[0], &data, splits, "rmse");
    assert_plain("ridge(intercept=no, alpha={0.1,1})", &data, splits, "rmse");
    free(train);
    margin_splits_free(splits);
    free(weights);
    sample_free(s);
}

/* The same for |w|_1, one penalty after the other: values of separate fits, each with its gap. */
static void test_lasso_folds(void **state) {
    (void)state;
    static const char *const specs[] = {
        "lasso(tol=1e-11, alpha={0.01..300 log 8})",
        "standardize | elastic-net(tol=1e-11, lambda={1e-4..1 log 4}, l1_ratio={0.1,0.5,1})",
        "lasso(tol=1e-11, intercept=no, alpha={0.1,1,10})", /* one by one */
    };
    sample *s = sample_make(150, 6, 40, 0.2, 40);
    double *weights = malloc((size_t)s->rows * sizeof *weights);
    for (int64_t i = 0; i < s->rows; i++)
        s->f64[i * s->columns + 1] = 3; /* constant */
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_data data = k == 1 ? weighted(s, weights) : sample_data(s, DENSE_F64);
        margin_splits *splits = folds_of(&data, 5, 1, 0);
        int64_t count;
        int64_t *train = part_rows(splits, 3, MARGIN_PART_TRAIN, &count);
        for (int64_t i = 0; i < count && k == 2; i++)
            s->f64[train[i] * s->columns + 2] = 1;
        margin_search_result *found = search(specs[k], &data, splits, NULL);
        for (int64_t i = 0; i < found->count; i++)
            assert_true(margin_search_cell_at(found, i)->gap <= 1e-11);
        const bool together = k != 2; /* which shares its time out evenly */
        const double own = margin_search_cell_at(found, 0)->fit_seconds,
                     other = margin_search_cell_at(found, 1)->fit_seconds;
        assert_true((own == other) == together);
        margin_search_result_free(found);
        assert_plain(specs[k], &data, splits, "mse");
        free(train);
        margin_splits_free(splits);
    }
    free(weights);
    sample_free(s);
}

/* All folds of two classes in each pass: values of separate fits, each with its gap, the same for
 * any number of threads. */
static void test_logistic_folds(void **state) {
    (void)state;
    static const char *const specs[] = {
        "logistic(tol=1e-13, C={0.1..1000 log 8})",
        "standardize | logistic(tol=1e-13, alpha={0.01..100 log 8}, class_weight={none,balanced})",
        "logistic(tol=1e-13, intercept=no, alpha={0.1,1,10,0.01})",
        "logistic(tol=1e-13, lambda={1e-4..1 log 8})",
        "logistic(tol=1e-13, C={0.1,1,10,inf})", /* one by one: these two */
        "logistic(tol=1e-9, C={1..10 log 5}, l1_ratio={0,1})",
    };
    sample *s = sample_make(303, 6, 2, 0.3, 46);
    double *weights = malloc((size_t)s->rows * sizeof *weights);
    margin_context *other = support_context(NULL, 4);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_data data =
            k % 2 == 1 ? weighted(s, weights) : sample_data(s, k == 2 ? DENSE_F32 : DENSE_F64);
        margin_splits *splits = folds_of(&data, 5, 1, k == 0);
        margin_search_result *found = search(specs[k], &data, splits, NULL),
                             *again = search_in(other, specs[k], &data, splits, NULL);
        assert_same_table(found, again);
        for (int64_t i = 0; i < found->count; i++)
            assert_true(margin_search_cell_at(found, i)->gap <= 1e-9);
        const double own = margin_search_cell_at(found, 0)->fit_seconds,
                     next = margin_search_cell_at(found, k == 1 ? 2 : 1)->fit_seconds;
        assert_true((own == next) == (k < 4)); /* together time is shared out evenly */
        margin_search_result_free(again);
        margin_search_result_free(found);
        if (k < 5) assert_plain(specs[k], &data, splits, "log_loss");
        margin_splits_free(splits);
    }
    margin_context_free(other);
    free(weights);
    sample_free(s);
}

/* Penalties of a kernel machine begin where another ended, on its matrices: the optimum is that of
 * fits made one by one, for any number of threads and in any order of the sets. */
static void test_kernel_penalties(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const char *const specs[] = {
        "svm(kernel=rbf, tol=1e-9, C={0.001..1000 log 7}, gamma={0.05,0.5})",
        "svm(kernel=rbf, tol=1e-9, lambda={1e-5..0.01 log 6}, class_weight={none,balanced})",
        "standardize | svm(kernel=poly, degree=2, C={100,0.1,1}, tol=1e-9)", /* one by one */
        "svm(kernel=rbf, task=regress, tol=1e-9, C={0.001..100 log 6}, epsilon={0.1,3}, gamma=0.2)",
    };
    sample *s = sample_make(150, 4, 2, 0.3, 44), *numbers = sample_make(120, 4, 30, 0.3, 45);
    double *weights = malloc((size_t)s->rows * sizeof *weights);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_data data = k == 3   ? sample_data(numbers, DENSE_F64)
                           : k == 2 ? weighted(s, weights)
                                    : sample_data(s, DENSE_F64);
        margin_splits *splits = folds_of(&data, 3, 1, k < 3);
        margin_context *other = support_context(NULL, 4);
        margin_search_result *found = search(specs[k], &data, splits, NULL),
                             *again = search_in(other, specs[k], &data, splits, NULL);
        assert_same_table(found, again);
        const margin_search_cell *one = margin_search_cell_at(found, 0),
                                 *next = margin_search_cell_at(found, k % 2 ? 2 : 1);
        /* which shares its time out evenly; not with stages, or a gamma of each fold's rows */
        const bool together = k % 3 == 0;
        assert_true((one->fit_seconds == next->fit_seconds) == together);
        for (int64_t c = 0; c < found->count; c++) {
            const margin_search_cell *cell = margin_search_cell_at(found, c);
            assert_int_equal(cell->status, MARGIN_OK);
            assert_true(cell->gap <= 1e-9);
            for (int64_t i = 0; i < found->splits; i++)
                assert_close(cell->values[i],
                             plain_value(cell->spec, &data, splits, i, found->metric), 1e-4);
        }
        margin_search_result_free(again);
        margin_search_result_free(found);
        margin_context_free(other);
        margin_splits_free(splits);
    }
    free(weights);
    sample_free(numbers);
    sample_free(s);
}

/* Folds on one matrix: scores of rows left out, and folds of other rows in each repeat. */
static void test_kernel_folds(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    sample *s = sample_make(150, 4, 2, 0.3, 48);
    margin_data data = sample_data(s, DENSE_F32);
    margin_splits *splits = folds_of(&data, 3, 2, 1);
    assert_plain("svm(kernel=rbf, tol=1e-9, C={0.1,1,10,100}, gamma=0.2)", &data, splits, "auc");
    assert_plain("svm(kernel=rbf, kkt=1e-7, C={0.1,1,10,100}, gamma=0.2)", &data, splits, "f1");
    margin_splits_free(splits);
    sample_free(s);
}

/* One search for all numbers of neighbours: the values of separate fits, to the bit. */
static void test_knn_together(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) { /* classes, numbers; folds, each row left out */
        sample *s = sample_make(60, 3, kind % 2 ? 30 : 3, 0.2, 42);
        for (int64_t j = 0; j < 3; j++)
            s->f64[7 * 3 + j] = s->f64[j]; /* twins */
        const margin_data data = sample_data(s, DENSE_F64);
        margin_splits *splits = folds_of(&data, kind < 2 ? 4 : MARGIN_LEAVE_ONE_OUT, 1, 0);
        const char *task = kind % 2 ? "regress" : "classify";
        static const char *const forms[] = {
            "knn(k={1..30}, weights={uniform,distance}, task=%s)",
            "standardize | knn(k={1..4}, p={1,2}, method={tree,brute}, task=%s)",
            "knn(k={2,60}, task=%s)"};
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            char text[200];
            snprintf(text, sizeof text, forms[f], task);
            margin_search_result *found = search(text, &data, splits, NULL);
            for (int64_t k = 0; k < found->count; k++) {
                const margin_search_cell *cell = margin_search_cell_at(found, k);
                assert_true((cell->status < 0) == (f == 2 && k == 1)); /* too few rows for k=60 */
                for (int64_t i = 0; i < found->splits && cell->status >= 0; i++)
                    assert_close(cell->values[i],
                                 plain_value(cell->spec, &data, splits, i, found->metric), 0);
            }
            margin_search_result_free(found);
        }
        margin_splits_free(splits);
        sample_free(s);
    }
}

static void test_sparse(void **state) {
    (void)state;
    sample *s = sample_make(70, 6, 2, 0.1, 13);
    const margin_data data = sample_data(s, CSR_F32_I32_I64);
    margin_splits *splits = folds_of(&data, 3, 1, 1);
    assert_plain("standardize | svm(C={0.1,1})", &data, splits, "accuracy");
    margin_splits_free(splits);
    sample_free(s);
}

/* Leave-one-out of ridge has a closed form, which margin_path uses. */
static void test_leave_one_out(void **state) {
    (void)state;
    sample *s = sample_make(40, 3, 30, 0, 14);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, MARGIN_LEAVE_ONE_OUT, 1, 0);
    margin_search_result *found = search("ridge(alpha={0.1,1,10})", &data, splits, NULL);
    margin_spec *spec = parse_text(context, "ridge(alpha={0.1,1,10})");
    margin_path_result path = {0};
    margin_error error = {0};
    if (margin_path(context, spec, &data, &path, &error) < 0) fail_msg("%s", error.text);
    assert_string_equal(found->metric, "mse");
    for (int64_t k = 0; k < 3; k++) {
        const double rmse = margin_path_point_at(&path, k)->leave_one_out_rmse;
        assert_close(margin_search_cell_at(found, k)->mean, rmse * rmse, 1e-8);
    }
    assert_int_equal(found->best, path.best);
    margin_path_free(&path);
    margin_spec_free(spec);
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

/* ---- Leakage --------------------------------------------------------------------------------- */

/* What is predicted for the test rows of split 0 is the same whatever their targets are, and for
 * all of them but one whatever the values of that one are. */
static void assert_sealed(const char *text, const sample *s, bool numbers) {
    margin_data data = sample_data(s, DENSE_F64);
    const margin_search_options options = {.size = sizeof options, .predictions = 1};
    margin_splits *splits = folds_of(&data, 5, 1, 0);
    margin_search_result *clean = search(text, &data, splits, &options);
    int64_t count;
    int64_t *test = part_rows(splits, 0, MARGIN_PART_TEST, &count);
    for (int64_t i = 0; i < count; i++)
        s->labels[test[i]] = numbers ? 1e6 * (double)(i + 1) : 1 - s->labels[test[i]];
    for (int64_t j = 0; j < s->columns; j++)
        s->f64[test[0] * s->columns + j] = 1e3;
    margin_search_result *changed = search(text, &data, splits, &options);
    int64_t moved = 0;
    for (int64_t k = 0; k < clean->count; k++) {
        const double *before = margin_search_cell_at(clean, k)->predictions,
                     *after = margin_search_cell_at(changed, k)->predictions;
        for (int64_t i = 1; i < count; i++)
            assert_memory_equal(&before[test[i]], &after[test[i]], sizeof(double));
        for (int64_t i = 0; i < s->rows; i++)
            moved += before[i] != after[i];
    }
    assert_true(moved > 1); /* the other folds learned from the changed rows */
    free(test);
    margin_search_result_free(changed);
    margin_search_result_free(clean);
    margin_splits_free(splits);
}

static void test_no_leak(void **state) {
    (void)state;
    sample *s = sample_make(60, 3, 2, 0.3, 15);
    assert_sealed("standardize | rbf(centres=5) | logistic(C={0.1,10})", s, false);
    sample_free(s);
    s = sample_make(60, 3, 30, 0.3, 16);
    assert_sealed("impute | standardize(target=yes) | poly(degree=2) | ridge(alpha={0.1,10})", s,
                  true);
    sample_free(s);
}

/* Rows that stand in the table twice: the nearest neighbour gives the answer away unless the two
 * are one group. */
static void test_grouped_duplicates(void **state) {
    (void)state;
    enum { ROWS = 200 };
    double x[ROWS * 2], y[ROWS], group[ROWS];
    uint64_t random = 5;
    for (int i = 0; i < ROWS; i += 2) {
        for (int twin = 0; twin < 2; twin++) {
            x[2 * (i + twin)] = twin ? x[2 * i] : support_uniform(&random);
            x[2 * (i + twin) + 1] = twin ? x[2 * i + 1] : support_uniform(&random);
            y[i + twin] = twin ? y[i] : (double)(support_random(&random) % 2);
            group[i + twin] = i;
        }
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2),
                              .y = margin_values_f64(y, ROWS)};
    margin_split_options options = {.size = sizeof options, .folds = 10};
    margin_splits *splits = folds_of(&data, 10, 1, 0), *grouped = NULL;
    margin_error error = {0};
    options.groups = margin_values_f64(group, ROWS);
    if (margin_split(context, &data, &options, &grouped, &error) < 0) fail_msg("%s", error.text);
    margin_search_result *leaks = search("knn(k=1, task=classify)", &data, splits, NULL),
                         *tight = search("knn(k=1, task=classify)", &data, grouped, NULL);
    assert_true(margin_search_cell_at(leaks, 0)->mean > 0.85);
    assert_true(margin_search_cell_at(tight, 0)->mean < 0.65);
    margin_search_result_free(leaks);
    margin_search_result_free(tight);
    margin_splits_free(splits);
    margin_splits_free(grouped);
}

/* ---- Sameness -------------------------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    sample *s = sample_make(300, 4, 3, 0.2, 17);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 5, 1, 1);
    for (int32_t method = MARGIN_SEARCH_GRID; method <= MARGIN_SEARCH_HALVING; method++) {
        const margin_search_options options = {
            .size = sizeof options, .method = method, .count = 4, .training = 1};
        const char *spec = "standardize | svm(C={0.01..10 log 4}, multiclass={ovr,argmax})";
        margin_search_result *first = NULL;
        for (int threads = 1; threads <= 4; threads += 3) {
            margin_context *other = support_context(NULL, threads);
            margin_search_result *found = search_in(other, spec, &data, splits, &options);
            if (first) assert_same_table(first, found);
            if (first) margin_search_result_free(found);
            if (!first) first = found;
            margin_context_free(other);
        }
        margin_search_result_free(first);
    }
    margin_splits_free(splits);
    sample_free(s);
}

/* ---- Cells that do not count ----------------------------------------------------------------- */

static void test_failed_cells(void **state) {
    (void)state;
    sample *s = sample_make(50, 3, 2, 0.2, 18);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 5, 1, 0);
    margin_search_result *found = search("knn(k={41,3}, task=classify)", &data, splits, NULL);
    const margin_search_cell *cell = margin_search_cell_at(found, 0);
    assert_int_equal(cell->status, MARGIN_ERROR_DATA);
    assert_contains(cell->reason, "fold 1: ");
    assert_contains(cell->reason, "k=41");
    assert_true(isnan(cell->mean) && isnan(cell->values[0]));
    assert_int_equal(found->failed, 1);
    assert_int_equal(found->best, 1);
    assert_int_equal(found->best_one_se, 1);
    margin_search_result_free(found);
    found = search("knn(k=41, task=classify)", &data, splits, NULL);
    assert_int_equal(found->best, -1);
    assert_null(margin_search_cell_at(found, found->best));
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

/* An option that another choice takes is left out, and what then is the same counts once. */
static void test_options_of_other_choices(void **state) {
    (void)state;
    static const struct {
        const char *spec, *first;
        int64_t count, failed;
    } cases[] = {
        {"svm(kernel={rbf,poly}, degree={2,3})", "svm(kernel=rbf)", 3, 0},
        {"svm(degree={2,3}, coef0={0,1}, kernel={rbf,poly,sigmoid}, C={1,2})",
         "svm(kernel=rbf, C=1)", 14, 0},
        {"standardize | svm(kernel={linear,rbf}, C={1,10}, gamma={0.1,1})",
         "standardize | svm(kernel=linear, C=1)", 6, 0},
        {"nystroem(kernel={rbf,poly}, degree={2,3}) | svm", "nystroem(kernel=rbf) | svm", 3, 0},
        {"logistic(solver={gd,lbfgs}, schedule={constant,sqrt}, tol=0.1)",
         "logistic(tol=0.1, solver=gd, schedule=constant)", 3, 0},
        {"svm(multiclass={ovo,ovr}, gamma={0.1,1})", "svm(gamma=0.1, multiclass=ovo)", 4, 4},
        {"svm(kernel=rbf, C={1,inf})", "svm(kernel=rbf, C=1)", 2, 1},
    };
    sample *s = sample_make(60, 3, 2, 0.2, 18);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 3, 1, 0);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        margin_search_result *found = search(cases[k].spec, &data, splits, NULL),
                             *alone = search(cases[k].first, &data, splits, NULL);
        const margin_search_cell *first = margin_search_cell_at(found, 0);
        assert_string_equal(first->spec, cases[k].first);
        assert_int_equal(found->count, cases[k].count);
        assert_int_equal(found->failed, cases[k].failed);
        for (int64_t i = 0; i < 3 && !cases[k].failed; i++)
            assert_true(first->values[i] == margin_search_cell_at(alone, 0)->values[i]);
        margin_search_result_free(alone);
        margin_search_result_free(found);
    }
    const margin_search_options o = {sizeof o, MARGIN_SEARCH_RANDOM, .count = 7};
    margin_search_result *few = search("svm(kernel={rbf,poly}, degree={2..5})", &data, splits, &o);
    assert_true(few->count >= 4 && few->count <= 5 && few->failed == 0);
    margin_search_result_free(few);
    margin_splits_free(splits);
    sample_free(s);
}

static void test_stopped_cells(void **state) {
    (void)state;
    sample *s = sample_make(200, 6, 2, 0.1, 19);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 5, 1, 0);
    margin_search_result *found =
        search("logistic(C=1000, max_iter={1,1000})", &data, splits, NULL);
    const margin_search_cell *cell = margin_search_cell_at(found, 0);
    assert_int_equal(cell->status, MARGIN_STOPPED_ITERATIONS);
    assert_contains(cell->reason, "fold 1: ");
    assert_true(cell->mean > 0.5 && cell->gap > 1e-6);
    assert_int_equal(found->stopped, 1);
    assert_int_equal(found->best, 1);
    margin_search_result_free(found);
    /* the clock */
    const margin_search_options options = {.size = sizeof options, .cell_seconds = 1e-9};
    found = search("logistic(solver=gd, tol=1e-15, C=1e6)", &data, splits, &options);
    assert_true(margin_search_cell_at(found, 0)->status != MARGIN_OK);
    assert_int_equal(found->best, -1);
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

/* What is said is the limit that was set, not the share of a fold; the fit takes far longer. */
static void test_share_of_time(void **state) {
    (void)state;
    sample *s = sample_make(1500, 12, 2, 0.1, 19);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 5, 1, 0);
    const margin_search_options options = {.size = sizeof options, .cell_seconds = 0.01};
    margin_search_result *found =
        search("poly(degree=4) | ridge(solver=qr)", &data, splits, &options);
    assert_contains(margin_search_cell_at(found, 0)->reason,
                    "the time limit of 0.01 seconds was reached (each fold has an equal share");
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

/* A class with a single row is in the test part once: an error, not a failure. */
static void test_rare_class(void **state) {
    (void)state;
    sample *s = sample_make(60, 3, 2, 0, 20);
    s->labels[17] = 5;
    const margin_data data = sample_data(s, DENSE_F64);
    const margin_search_options options = {.size = sizeof options, .predictions = 1};
    margin_splits *splits = folds_of(&data, 6, 1, 0);
    margin_search_result *found = search("logistic", &data, splits, &options);
    const margin_search_cell *cell = margin_search_cell_at(found, 0);
    assert_int_equal(cell->status, MARGIN_OK);
    assert_int_equal(found->classes, 3);
    assert_string_equal(found->class_names[2], "5");
    double right = 0;
    for (int64_t i = 0; i < s->rows; i++) {
        assert_true(i == 17 ? cell->predictions[i] < 2 : cell->predictions[i] >= 0);
        right += cell->predictions[i] == (s->labels[i] == 5 ? 2 : s->labels[i]);
    }
    assert_close(cell->mean, right / 60, 1e-12); /* folds of equal size */
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* Within one standard error of the best, the strongest penalty. */
static void test_one_se(void **state) {
    (void)state;
    sample *s = sample_make(120, 8, 40, 0.5, 21);
    uint64_t random = 6;
    for (int64_t i = 0; i < s->rows; i++)
        s->labels[i] = s->f64[i * 8] - s->f64[i * 8 + 1] + support_normal(&random);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 6, 1, 0);
    margin_search_result *found = search("ridge(alpha={0.01..10000 log 13})", &data, splits, NULL);
    const margin_search_cell *best = margin_search_cell_at(found, found->best);
    const double most = best->mean + best->deviation / sqrt(6);
    int64_t expected = -1;
    for (int64_t k = 0; k < found->count; k++)
        if (margin_search_cell_at(found, k)->mean <= most) expected = k;
    assert_int_equal(found->best_one_se, expected);
    assert_true((found->set_end != NULL) == (found->best == 0 || found->best == 12));
    assert_true(found->best_one_se > found->best);
    margin_search_result_free(found);
    found = search("ridge(alpha={1000,100,1e4})", &data, splits, NULL);
    assert_string_equal(found->set_end, "alpha");
    margin_search_result_free(found);
    found = search("kernel-ridge(kernel=rbf, gamma={1e-7,1e-8,1e-9}, alpha={1e4,1e5,1e6})", &data,
                   splits, NULL);
    assert_string_equal(found->set_end, "gamma, alpha");
    margin_search_result_free(found);
    found = search("ridge(C={1e-4..100 log 7})", &data, splits, NULL);
    assert_true(found->best_one_se < found->best);
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

/* The answer that looks at no column, against plain loops; intervals against t = 2.776445 of 4
 * degrees of freedom. */
static void test_baseline(void **state) {
    (void)state;
    const double t = 2.7764451051977987;
    sample *s = sample_make(100, 3, 3, 0.3, 41);
    double *weights = malloc((size_t)s->rows * sizeof *weights);
    const margin_data data = weighted(s, weights);
    const margin_search_options options = {.size = sizeof options, .baseline = 1};
    margin_splits *splits = folds_of(&data, 5, 1, 0);
    margin_search_result *found = search("logistic", &data, splits, &options);
    const double *values = margin_search_cell_at(found, 0)->values;
    double mean = 0, off, squares = 0;
    for (int64_t k = 0; k < 5; k++) {
        int64_t count;
        int64_t *rows = part_rows(splits, k, MARGIN_PART_TRAIN, &count);
        double weight[3] = {0}, right = 0, all = 0;
        for (int64_t i = 0; i < count; i++)
            weight[(int)s->labels[rows[i]]] += weights[rows[i]];
        const int most = weight[0] >= weight[1] && weight[0] >= weight[2] ? 0
                         : weight[1] >= weight[2]                         ? 1
                                                                          : 2;
        free(rows);
        rows = part_rows(splits, k, MARGIN_PART_TEST, &count);
        for (int64_t i = 0; i < count; i++) {
            all += weights[rows[i]];
            right += s->labels[rows[i]] == most ? weights[rows[i]] : 0;
        }
        assert_close(found->baseline[k], right / all, 1e-12);
        free(rows);
        mean += (values[k] - found->baseline[k]) / 5;
    }
    for (int64_t k = 0; k < 5; k++) {
        off = values[k] - found->baseline[k] - mean;
        squares += off * off;
    }
    margin_search_difference d = {.size = sizeof d};
    assert_close(found->test_share, 0.25, 0.02);
    const double reach = t * sqrt(squares / 4 * (0.2 + found->test_share));
    assert_int_equal(margin_search_interval(found, values, found->baseline, 0.95, &d), 1);
    assert_close(d.mean, mean, 1e-12);
    assert_close(d.low, mean - reach, 1e-12);
    assert_close(d.high, mean + reach, 1e-12);
    assert_int_equal(margin_search_interval(found, NULL, NULL, 0.95, &d), 0);
    assert_int_equal(margin_search_interval(found, values, NULL, 1, &d), 0);
    margin_search_result_free(found);
    margin_splits_free(splits);
    free(weights);
    sample_free(s);
}

static void test_random(void **state) {
    (void)state;
    sample *s = sample_make(60, 3, 2, 0.1, 22);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 3, 1, 0);
    margin_search_options options = {
        .size = sizeof options, .method = MARGIN_SEARCH_RANDOM, .count = 5};
    const char *spec = "svm(C={0.001..1000 log 1000}, loss={hinge,squared-hinge})";
    margin_search_result *found = search(spec, &data, splits, &options);
    assert_int_equal(found->count, 5);
    for (int64_t k = 1; k < 5; k++)
        assert_true(margin_search_cell_at(found, k)->number >
                    margin_search_cell_at(found, k - 1)->number);
    margin_search_result_free(found);
    options.count = 5;
    found = search("svm(C={1,2,3,4,5,6})", &data, splits, &options);
    assert_int_equal(found->count, 5);
    margin_search_result_free(found);
    options.count = 50;
    found = search("svm(C={1,2,3})", &data, splits, &options);
    assert_int_equal(found->count, 3);
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

static void test_halving(void **state) {
    (void)state;
    sample *s = sample_make(700, 5, 3, 0.1, 23);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 4, 1, 1);
    const margin_search_options options = {.size = sizeof options, .method = MARGIN_SEARCH_HALVING};
    margin_search_result *found =
        search("logistic(C={0.0001..1000 log 9})", &data, splits, &options);
    int64_t in_round[4] = {0};
    for (int64_t k = 0; k < 9; k++) {
        const margin_search_cell *cell = margin_search_cell_at(found, k);
        in_round[cell->dropped]++;
        assert_int_equal(cell->rows, cell->dropped == 1 ? 59 : cell->dropped == 2 ? 175 : 525);
    }
    assert_int_equal(in_round[1], 6);
    assert_int_equal(in_round[2], 2);
    assert_int_equal(in_round[0], 1);
    assert_int_equal(margin_search_cell_at(found, found->best)->dropped, 0);
    assert_close(
        margin_search_cell_at(found, found->best)->values[1],
        plain_value(margin_search_cell_at(found, found->best)->spec, &data, splits, 1, "accuracy"),
        1e-15);
    margin_search_result_free(found);
    margin_splits_free(splits);
    sample_free(s);
}

/* ---- Journal --------------------------------------------------------------------------------- */

typedef struct {
    margin_context *context;
    int64_t cells, after; /* cancel then; 0: never */
} witness;

static void count_cell(const margin_search_cell *cell, int64_t done, int64_t count, void *user) {
    witness *w = user;
    assert_non_null(cell->spec);
    assert_true(done <= count);
    if (++w->cells == w->after) margin_context_cancel(w->context);
}

static void test_journal(void **state) {
    (void)state;
    char folder[SUPPORT_PATH], path[SUPPORT_PATH + 20];
    support_temp_dir(folder);
    snprintf(path, sizeof path, "%s/journal", folder);
    sample *s = sample_make(900, 4, 3, 0.2, 24);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 5, 1, 1);
    for (int32_t method = MARGIN_SEARCH_GRID; method <= MARGIN_SEARCH_HALVING; method += 2) {
        const char *text = "svm(C={0.01..10 log 20}, max_iter={3,100})";
        witness w = {.context = support_context(NULL, 1), .after = 3};
        margin_search_options options = {.size = sizeof options, .method = method};
        margin_search_result *whole = search(text, &data, splits, &options), *found = NULL;
        margin_spec *spec = parse_text(context, text);
        margin_error error = {0};
        options.journal = path;
        options.finished = count_cell;
        options.user = &w;
        assert_int_equal(margin_search(w.context, spec, &data, splits, &options, &found, &error),
                         MARGIN_ERROR_CANCELLED);
        margin_context_resume(w.context);
        /* killed in the middle of a line */
        FILE *file = fopen(path, "a");
        fputs("7 1 0.5 0.", file);
        fclose(file);
        w.after = 0;
        found = search_in(w.context, text, &data, splits, &options);
        assert_true(found->resumed < found->count);
        assert_true(method == MARGIN_SEARCH_HALVING || found->resumed >= 3);
        assert_same_table(whole, found);
        margin_search_result_free(found);
        found = search_in(context, text, &data, splits, &options);
        assert_int_equal(found->resumed, found->count);
        assert_same_table(whole, found);
        margin_search_result_free(found);
        /* another search */
        refused("svm(C={0.01..10 log 20}, max_iter={3,101})", &data, splits, &options,
                MARGIN_ERROR_FORMAT, "another search");
        s->f64[5] += 1;
        refused(text, &data, splits, &options, MARGIN_ERROR_FORMAT, "another search");
        s->f64[5] -= 1;
        margin_spec_free(spec);
        margin_search_result_free(whole);
        margin_context_free(w.context);
        remove(path);
    }
    margin_splits_free(splits);
    sample_free(s);
    support_temp_remove(folder);
}

/* What the clock ended is made again, also where an older program wrote it down. */
static void test_journal_of_limited_fits(void **state) {
    (void)state;
    char folder[SUPPORT_PATH], path[SUPPORT_PATH + 20];
    const char *text = "logistic(C={0.01..1e3 log 8})";
    support_temp_dir(folder);
    snprintf(path, sizeof path, "%s/journal", folder);
    sample *s = sample_make(300, 4, 2, 0.2, 25);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 5, 1, 1);
    margin_search_options options = {.size = sizeof options, .cell_seconds = 1e-9};
    margin_search_result *whole = search(text, &data, splits, NULL), *found;
    options.journal = path;
    found = search(text, &data, splits, &options);
    assert_int_equal(found->stopped + found->failed, found->count);
    margin_search_result_free(found);
    FILE *file = fopen(path, "a");
    fputs("0 0 1 0.5 nan 2 1 0 0\tfold 1: the time limit is reached\n", file);
    fputs("0 1 1 nan nan -7 nan 0 0\tfold 2: the time limit is reached\n", file);
    fclose(file);
    options.cell_seconds = 0;
    for (int64_t resumed = 0; resumed <= whole->count; resumed += whole->count) {
        found = search(text, &data, splits, &options);
        assert_int_equal(found->resumed, resumed);
        assert_same_table(whole, found);
        margin_search_result_free(found);
    }
    margin_search_result_free(whole);
    margin_splits_free(splits);
    sample_free(s);
    support_temp_remove(folder);
}

static void test_journal_refused(void **state) {
    (void)state;
    char folder[SUPPORT_PATH], path[SUPPORT_PATH];
    support_temp_dir(folder);
    sample *s = sample_make(40, 3, 2, 0.1, 25);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 3, 1, 0);
    margin_search_options options = {.size = sizeof options, .journal = "/nowhere/journal"};
    refused("svm", &data, splits, &options, MARGIN_ERROR_FILE, "/nowhere/journal");
    options.journal = support_write_text(path, folder, "text", "a letter\n");
    refused("svm", &data, splits, &options, MARGIN_ERROR_FORMAT, "is no journal");
    options.journal = folder;
    refused("svm", &data, splits, &options, MARGIN_ERROR_FILE, "journal");
    margin_splits_free(splits);
    sample_free(s);
    support_temp_remove(folder);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    sample *s = sample_make(40, 3, 2, 0.1, 26);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_splits *splits = folds_of(&data, 3, 1, 0);
    margin_search_options options = {.size = sizeof options};
    refused("kmeans(k={2,3})", &data, splits, &options, MARGIN_ERROR_SPEC, "no target");
    refused("svm(C={1e-3..1e3 log 1000}, tol={1e-6..1e-3 log 1000})", &data, splits, &options,
            MARGIN_ERROR_LIMIT, "1000000 settings, each fitted 3 times");
    options.metric = "rmse";
    refused("svm", &data, splits, &options, MARGIN_ERROR_ARGUMENT, "accuracy, ");
    options.metric = "beauty";
    refused("svm", &data, splits, &options, MARGIN_ERROR_ARGUMENT, "no metric 'beauty'");
    options = (margin_search_options){.size = sizeof options, .method = MARGIN_SEARCH_RANDOM};
    refused("svm", &data, splits, &options, MARGIN_ERROR_ARGUMENT, "count");
    options.method = 9;
    refused("svm", &data, splits, &options, MARGIN_ERROR_ARGUMENT, "no method 9");
    options = (margin_search_options){.size = sizeof options, .metric = "log_loss"};
    refused("svm", NULL, splits, &options, MARGIN_ERROR_ARGUMENT, "data set is NULL");
    refused("svm", &data, NULL, &options, MARGIN_ERROR_ARGUMENT, "split is NULL");
    /* no probabilities: a failure of the setting */
    margin_search_result *found = search("svm", &data, splits, &options);
    assert_contains(margin_search_cell_at(found, 0)->reason, "probabilities");
    margin_search_result_free(found);
    /* settings and specs of two tasks */
    refused("svm(task={regress,classify})", &data, splits, NULL, MARGIN_ERROR_SPEC,
            "'svm(task=classify)' does not predict numbers");
    margin_spec *specs[] = {parse_text(context, "svm"), parse_text(context, "ridge")};
    margin_error error = {0};
    assert_int_equal(margin_search_specs(context, (const margin_spec *const *)specs, 2, &data,
                                         splits, NULL, &found, &error),
                     MARGIN_ERROR_SPEC);
    assert_contains(error.text, "predicts classes and 'ridge' numbers");
    margin_spec_free(specs[0]);
    margin_spec_free(specs[1]);
    margin_splits_free(splits);
    sample_free(s);
}

typedef struct {
    margin_data data;
    char journal[SUPPORT_PATH];
    const char *spec;
} attempt;

static margin_nested_result *nested(const char *text, const margin_data *data,
                                    const margin_splits *outer, const margin_split_options *inner,
                                    int one_se) {
    const margin_search_options options = {.size = sizeof options, .baseline = 1};
    margin_nested_result *found = NULL;
    margin_error error = {0};
    const margin_spec *spec = parse_text(context, text);
    if (margin_search_nested(context, &spec, 1, data, outer, inner, &options, one_se, &found,
                             &error) < 0)
        fail_msg("%s: %s", text, error.text);
    margin_spec_free((margin_spec *)spec);
    return found;
}

/* Against a search and a fit for each outer split by the public functions alone. */
static void assert_plain_nested(const char *text, const margin_data *data, const char *metric,
                                int one_se) {
    const margin_split_options inner = {.size = sizeof inner, .folds = 3, .seed = 2};
    margin_splits *outer = folds_of(data, 4, 1, 0);
    margin_nested_result *found = nested(text, data, outer, &inner, one_se);
    assert_string_equal(found->metric, metric);
    assert_int_equal(found->splits, 4);
    double sum = 0;
    for (int64_t f = 0; f < 4; f++) {
        int64_t count;
        int64_t *train = part_rows(outer, f, MARGIN_PART_TRAIN, &count);
        margin_data part = *data;
        margin_splits *splits = NULL;
        margin_error error = {0};
        part.selection = train;
        part.selected = count;
        if (margin_split(context, &part, &inner, &splits, &error) < 0) fail_msg("%s", error.text);
        margin_search_result *table = search(text, &part, splits, NULL);
        const margin_search_cell *cell =
            margin_search_cell_at(table, one_se ? table->best_one_se : table->best);
        assert_string_equal(margin_nested_fold_at(found, f)->spec, cell->spec);
        assert_close(margin_nested_fold_at(found, f)->inside, cell->mean, 1e-12);
        assert_close(found->values[f], plain_value(cell->spec, data, outer, f, metric), 1e-7);
        assert_true(margin_nested_fold_at(found, f)->value == found->values[f] &&
                    !margin_nested_fold_at(found, f)->reason[0]);
        sum += found->values[f];
        margin_search_result_free(table);
        margin_splits_free(splits);
        free(train);
    }
    assert_close(found->mean, sum / 4, 1e-12);
    assert_true(found->low < found->mean && found->mean < found->high);
    margin_nested_result_free(found);
    margin_splits_free(outer);
}

static void test_nested(void **state) {
    (void)state;
    sample *s = sample_make(90, 4, 3, 0.2, 31), *n = sample_make(80, 5, 40, 0.1, 32);
    const margin_data classes = sample_data(s, DENSE_F64), numbers = sample_data(n, DENSE_F64);
    assert_plain_nested("standardize | logistic(C={0.01,1,100})", &classes, "accuracy", 0);
    assert_plain_nested("knn(k={1..6})", &classes, "accuracy", 1);
    assert_plain_nested("poly(degree={1,2}) | ridge(alpha={0.1,1,10})", &numbers, "rmse", 0);
    sample_free(n);
    sample_free(s);
}

/* Coins: nobody can tell their side. The best of many settings seems to; nested it does not. */
static void test_nested_is_not_lucky(void **state) {
    (void)state;
    enum { ROWS = 60, TRIALS = 12 };
    const margin_split_options inner = {.size = sizeof inner, .folds = 5};
    double best = 0, honest = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double x[ROWS], y[ROWS];
        uint64_t draw = (uint64_t)trial * 2654435761u + 1;
        for (int i = 0; i < ROWS; i++) {
            draw = draw * 6364136223846793005u + 1442695040888963407u;
            x[i] = (double)(draw >> 40);
            y[i] = (double)(draw >> 33 & 1);
        }
        const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                                  .y = margin_values_f64(y, ROWS)};
        margin_splits *outer = folds_of(&data, 5, 1, 0);
        margin_search_result *table = search("knn(k={1..21})", &data, outer, NULL);
        margin_nested_result *found = nested("knn(k={1..21})", &data, outer, &inner, 0);
        best += margin_search_cell_at(table, table->best)->mean / TRIALS;
        honest += found->mean / TRIALS;
        margin_nested_result_free(found);
        margin_search_result_free(table);
        margin_splits_free(outer);
    }
    if (!(best > 0.55 && fabs(honest - 0.5) < 0.06)) fail_msg("%g %g", best, honest);
}

/* What no inner search can choose is told, and is no value. */
static void test_nested_without_choice(void **state) {
    (void)state;
    sample *s = sample_make(30, 2, 2, 0, 33);
    const margin_data data = sample_data(s, DENSE_F64);
    const margin_split_options inner = {.size = sizeof inner, .folds = 3};
    margin_splits *outer = folds_of(&data, 3, 1, 0);
    margin_nested_result *found = nested("knn(k={25,26})", &data, outer, &inner, 0);
    assert_int_equal(found->failed, 3);
    assert_true(isnan(found->mean) && isnan(found->low) &&
                !margin_nested_fold_at(found, 0)->spec[0]);
    assert_contains(margin_nested_fold_at(found, 0)->reason, "every setting failed,");
    margin_nested_result_free(found);
    margin_error error = {0};
    const margin_spec *spec = parse_text(context, "knn(k={1,2})");
    const margin_search_options journal = {.size = sizeof journal, .journal = "x"};
    assert_int_equal(
        margin_search_nested(context, &spec, 1, &data, outer, &inner, &journal, 0, &found, &error),
        MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "journal");
    assert_int_equal(
        margin_search_nested(context, &spec, 1, &data, outer, NULL, NULL, 0, &found, &error),
        MARGIN_ERROR_ARGUMENT);
    margin_spec_free((margin_spec *)spec);
    margin_splits_free(outer);
    sample_free(s);
}

static margin_status attempt_nested(margin_context *in, void *user, margin_error *error) {
    const margin_data *data = user;
    const margin_split_options cut = {.size = sizeof cut, .folds = 2};
    const margin_search_options options = {.size = sizeof options, .baseline = 1};
    margin_spec *spec = NULL;
    margin_splits *outer = NULL;
    margin_nested_result *found = NULL;
    margin_status status = margin_spec_parse(in, "ridge(alpha={1,2})", &spec, error);
    const margin_spec *specs = spec;
    if (status >= 0) status = margin_split(in, data, &cut, &outer, error);
    if (status >= 0)
        status = margin_search_nested(in, &specs, 1, data, outer, &cut, &options, 0, &found, error);
    margin_nested_result_free(found);
    margin_splits_free(outer);
    margin_spec_free(spec);
    return status;
}

static margin_status attempt_search(margin_context *in, void *user, margin_error *error) {
    attempt *a = user;
    const margin_split_options cut = {.size = sizeof cut, .folds = 3};
    const margin_search_options options = {.size = sizeof options,
                                           .predictions = 1,
                                           .training = 1,
                                           .method = MARGIN_SEARCH_RANDOM,
                                           .count = 2,
                                           .journal = a->journal};
    margin_splits *splits = NULL;
    margin_spec *spec = NULL;
    margin_search_result *found = NULL;
    margin_status status = margin_spec_parse(in, a->spec, &spec, error);
    if (status >= 0) status = margin_split(in, &a->data, &cut, &splits, error);
    if (status >= 0) status = margin_search(in, spec, &a->data, splits, &options, &found, error);
    margin_search_result_free(found);
    margin_splits_free(splits);
    margin_spec_free(spec);
    remove(a->journal);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    char folder[SUPPORT_PATH];
    sample *s = sample_make(20, 2, 15, 0, 27);
    attempt a = {.data = sample_data(s, DENSE_F64), .spec = "standardize | ridge(alpha={1,2,3})"};
    support_temp_dir(folder);
    snprintf(a.journal, sizeof a.journal, "%.900s/journal", folder);
    assert_true(support_fail_each_allocation(2, attempt_search, &a) > 50);
    a.spec = "naive-bayes(distribution={bernoulli,gaussian}, smoothing={1,2})";
    assert_true(support_fail_each_allocation(1, attempt_search, &a) > 50);
    assert_true(support_fail_each_allocation(1, attempt_nested, &a.data) > 50);
    support_temp_remove(folder);
    sample_free(s);
}

static int64_t usual_specs(const margin_data *data, char text[2000]) {
    margin_spec *specs[16];
    margin_error error = {0};
    int64_t count = -1;
    if (margin_usual_specs(context, data, 16, specs, &count, &error) < 0)
        fail_msg("%s", error.text);
    text[0] = 0;
    for (int64_t k = 0; k < count; k++) {
        strcat(strcat(text, margin_spec_text(specs[k])), "\n");
        margin_spec_free(specs[k]);
    }
    return count;
}

static void test_usual_specs(void **state) {
    sample *s = sample_make(60, 3, 3, 0, 4);
    margin_data data = sample_data(s, DENSE_F64);
    margin_spec *specs[16];
    margin_error error = {0};
    char text[2000];
    int64_t count = -1;
    (void)state;
    usual_specs(&data, text);
    assert_contains(text, "standardize | softmax(C={");
    assert_contains(text, "kernel-logistic");
    assert_null(strstr(text, "ridge("));
    assert_null(strstr(text, "impute"));
    data = sample_data(s, CSR_F64_I32_I64);
    usual_specs(&data, text);
    assert_null(strstr(text, "knn"));
    data = sample_data(s, DENSE_F64);
    s->labels[7] = 0.5;
    s->f64[5] = NAN;
    usual_specs(&data, text);
    assert_contains(text, "impute | standardize | ridge(alpha={");
    assert_null(strstr(text, "logistic"));
    assert_int_equal(margin_usual_specs(context, &data, 2, specs, &count, &error), MARGIN_OK);
    assert_int_equal(count, 2);
    assert_string_equal(margin_spec_text(specs[0]), "impute | least-squares");
    margin_spec_free(specs[0]);
    margin_spec_free(specs[1]);
    data.y.values = NULL;
    assert_true(margin_usual_specs(context, &data, 16, specs, &count, &error) < 0);
    assert_int_equal(margin_usual_specs(context, NULL, 16, specs, &count, &error),
                     MARGIN_ERROR_ARGUMENT);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_ridge_folds),
        cmocka_unit_test(test_lasso_folds),
        cmocka_unit_test(test_logistic_folds),
        cmocka_unit_test(test_kernel_penalties),
        cmocka_unit_test(test_kernel_folds),
        cmocka_unit_test(test_knn_together),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_leave_one_out),
        cmocka_unit_test(test_no_leak),
        cmocka_unit_test(test_grouped_duplicates),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_failed_cells),
        cmocka_unit_test(test_options_of_other_choices),
        cmocka_unit_test(test_stopped_cells),
        cmocka_unit_test(test_share_of_time),
        cmocka_unit_test(test_rare_class),
        cmocka_unit_test(test_one_se),
        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_halving),
        cmocka_unit_test(test_journal),
        cmocka_unit_test(test_journal_of_limited_fits),
        cmocka_unit_test(test_journal_refused),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_nested_is_not_lucky),
        cmocka_unit_test(test_nested_without_choice),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_usual_specs),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
