/* The learner knn as people call it: answers by hand, values of scikit-learn 1.9.1
 * (KNeighborsClassifier, KNeighborsRegressor), published figures, weights, ties, bad input. */
#include "model_cases.h"

#include "base/random.h"
#include "model/object/model_object.h"
#include "neighbors/learner/knn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_data points_data(const double *x, int64_t rows, int64_t columns, const double *y) {
    return (margin_data){.x = margin_dense_f64(x, rows, columns, columns),
                         .y = margin_values_f64(y, rows)};
}

/* ---- By hand --------------------------------------------------------------------------------- */

static const double six[12] = {2, 3, 5, 4, 9, 6, 4, 7, 8, 1, 7, 2};

static void test_six_points(void **state) {
    const double y[6] = {0, 0, 1, 0, 1, 1};
    margin_context *context = support_context(NULL, 1);
    margin_data data = points_data(six, 6, 2, y);
    (void)state;
    for (int method = 0; method < 3; method++) {
        static const char *const specs[] = {"knn(k=1)", "knn(k=1, method=tree)",
                                            "knn(k=1, method=brute)"};
        margin_model *model = fit_text(context, specs[method], &data, NULL);
        const double q[6] = {2, 4.5, 7.5, 1.8, 6, 3};
        int64_t label[3];
        const margin_matrix x = margin_dense_f64(q, 3, 2, 2);
        assert_int_equal(margin_predict(model, &x, label, NULL), MARGIN_OK);
        assert_int_equal(label[0], 0);
        assert_int_equal(label[1], 1);
        assert_int_equal(label[2], 0); /* (5,4) and (7,2) are equally far: the earlier row */
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* On a line: 0 1 2 3 10, classes 0 1 1 0 1. */
static void test_votes(void **state) {
    const double x[5] = {0, 1, 2, 3, 10}, y[5] = {0, 1, 1, 0, 1};
    margin_context *context = support_context(NULL, 2);
    margin_data data = points_data(x, 5, 1, y);
    static const struct {
        const char *spec;
        double q, share;
        int64_t label;
    } cases[] = {
        {"knn(k=1)", 0.4, 0, 0},
        {"knn(k=2)", 0.4, 0.5, 0}, /* one vote each: the lower class */
        {"knn(k=3)", 0.4, 2.0 / 3, 1},
        {"knn(k=5)", 0.4, 0.6, 1},
        {"knn(k=2, weights=distance)", 0.4, 0.4, 0}, /* 1/0.4 and 1/0.6 */
        {"knn(k=3, weights=distance)", 1, 1, 1},     /* one at distance 0 */
        {"knn(k=1)", 0.5, 0, 0},                     /* equally far: the earlier row */
        {"knn(k=2, weights=distance)", 6.5, 0.5, 0}, /* 3.5 either way */
        {"knn(k=2, weights=distance)", 1e299, 0.5, 0},
    };
    (void)state;
    for (int n = 0; n < (int)(sizeof cases / sizeof cases[0]); n++) {
        margin_model *model = fit_text(context, cases[n].spec, &data, NULL);
        const margin_matrix q = margin_dense_f64(&cases[n].q, 1, 1, 1);
        double p[2];
        int64_t label;
        assert_int_equal(margin_probabilities(model, &q, p, NULL), MARGIN_OK);
        assert_int_equal(margin_predict(model, &q, &label, NULL), MARGIN_OK);
        if (fabs(p[1] - cases[n].share) > 1e-12) fail_msg("case %d: share %.17g", n, p[1]);
        assert_close(p[0] + p[1], 1, 1e-12);
        assert_int_equal(label, cases[n].label);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* A row of weight w is w rows; the last one takes part with the rest of k. */
static void test_weights(void **state) {
    const double x[4] = {0, 1, 2, 3}, y[4] = {0, 10, 20, 30}, w[4] = {2, 2.5, 0.5, 1};
    margin_context *context = support_context(NULL, 1);
    margin_data data = points_data(x, 4, 1, y);
    static const struct {
        int k;
        double value;
    } cases[] = {{1, 0}, {2, 0}, {3, 10.0 / 3}, {4, 5}, {5, 35.0 / 5}, {6, 65.0 / 6}};
    data.weights = margin_values_f64(w, 4);
    (void)state;
    for (int n = 0; n < 6; n++) {
        char spec[60];
        const double q = -1;
        double value;
        const margin_matrix at = margin_dense_f64(&q, 1, 1, 1);
        snprintf(spec, sizeof spec, "knn(k=%d, task=regress)", cases[n].k);
        margin_model *model = fit_text(context, spec, &data, NULL);
        assert_int_equal(margin_predict_values(model, &at, &value, NULL), MARGIN_OK);
        assert_close(value, cases[n].value, 1e-12);
        margin_model_free(model);
    }
    fit_refused(context, "knn(k=7, task=regress)", &data, MARGIN_ERROR_DATA, "k=7 neighbours");
    margin_context_free(context);
}

/* More neighbours than a list on the stack holds, and weights so small that a first look at the
 * average does not suffice. */
static void test_many_neighbours(void **state) {
    enum { ROWS = 1600 };
    double *x = malloc(ROWS * sizeof *x), *y = malloc(ROWS * sizeof *y),
           *w = malloc(ROWS * sizeof *w), sum = 0, taken = 0;
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        x[i] = i;
        y[i] = i + 0.5;
        w[i] = i < 1400 ? 0.001 : 1;
    }
    margin_data data = points_data(x, ROWS, 1, y);
    const double q = 0;
    double value, parallel;
    const margin_matrix at = margin_dense_f64(&q, 1, 1, 1);
    margin_model *model = fit_text(context, "knn(k=1500)", &data, NULL);
    assert_int_equal(margin_predict_values(model, &at, &value, NULL), MARGIN_OK);
    assert_close(value, 750, 1e-12);
    margin_model_free(model);
    data.weights = margin_values_f64(w, ROWS);
    model = fit_text(context, "knn(k=8)", &data, NULL);
    for (int i = 0; taken < 8; i++) {
        const double take = fmin(w[i], 8 - taken);
        taken += take;
        sum += take * y[i];
    }
    assert_int_equal(margin_predict_values(model, &at, &value, NULL), MARGIN_OK);
    assert_close(value, sum / 8, 1e-9);
    assert_int_equal(
        margin_predict_parallel(context, model, &at, MARGIN_OUTPUT_VALUES, &parallel, NULL),
        MARGIN_OK);
    assert_true(value == parallel);
    margin_model_free(model);
    margin_context_free(context);
    free(x);
    free(y);
    free(w);
}

/* ---- Another program ------------------------------------------------------------------------- */

static margin_table *read_table(margin_context *context, const char *path) {
    margin_table *table = NULL;
    margin_error error = {0};
    if (margin_table_read(context, path, NULL, &table, &error) < 0) fail_msg("%s", error.text);
    return table;
}

static const double queries[16] = {5.9,   3.0,   4.9,   1.75,  6.1, 2.8, 4.7,  1.6,
                                   5.013, 3.331, 1.517, 0.253, 6.3, 2.7, 4.95, 1.77};

static void test_iris_classes(void **state) {
    static const struct {
        const char *spec;
        double second[4], accuracy;
    } cases[] = {
        {"knn", {0.2, 0.6, 0, 0.2}, 145.0 / 150},
        {"knn(k=7, weights=distance)", {0.24150851, 0.47305243, 0, 0.14951787}, 1},
        {"knn(k=4, p=1, weights=distance)", {0.19230769, 0.75806452, 0, 0}, 1},
        {"knn(k=9, p=inf)", {2.0 / 9, 4.0 / 9, 0, 2.0 / 9}, 148.0 / 150},
    };
    margin_context *context = support_context(NULL, 2);
    char path[SUPPORT_PATH];
    margin_table *table = read_table(context, support_source(path, "examples/data/iris.csv"));
    const margin_data data = margin_table_data(table);
    const margin_matrix q = margin_dense_f64(queries, 4, 4, 4);
    (void)state;
    for (int n = 0; n < 4; n++) {
        margin_report report = {0};
        double p[12];
        margin_model *model = fit_text(context, cases[n].spec, &data, &report);
        assert_close(report.train_accuracy, cases[n].accuracy, 1e-12);
        assert_int_equal(margin_probabilities(model, &q, p, NULL), MARGIN_OK);
        for (int i = 0; i < 4; i++)
            assert_close(p[3 * i + 1], cases[n].second[i], 5e-9);
        margin_model_free(model);
    }
    margin_table_free(table);
    margin_context_free(context);
}

/* The fourth column from the first three. */
static void test_iris_values(void **state) {
    static const struct {
        const char *spec;
        double value[4];
    } cases[] = {
        {"knn(task=regress)", {1.72, 1.52, 0.32, 1.7}},
        {"knn(k=6, weights=distance)", {1.82363239, 1.2, 0.30773221, 1.72501194}},
        {"knn(k=3, p=3)", {1.8, 1.46666667, 0.26666667, 1.7}},
    };
    margin_context *context = support_context(NULL, 2);
    char path[SUPPORT_PATH];
    margin_table *table = read_table(context, support_source(path, "examples/data/iris.csv"));
    const margin_matrix x = margin_table_data(table).x;
    double three[450], fourth[150], q[12];
    (void)state;
    for (int i = 0; i < 150; i++) {
        memcpy(three + 3 * i, (const double *)x.values + i * x.stride, 3 * sizeof *three);
        fourth[i] = ((const double *)x.values)[i * x.stride + 3];
    }
    for (int i = 0; i < 4; i++)
        memcpy(q + 3 * i, queries + 4 * i, 3 * sizeof *q);
    const margin_data data = points_data(three, 150, 3, fourth);
    const margin_matrix at = margin_dense_f64(q, 4, 3, 3);
    for (int n = 0; n < 3; n++) {
        double value[4];
        margin_model *model = fit_text(context, cases[n].spec, &data, NULL);
        assert_int_equal(margin_predict_values(model, &at, value, NULL), MARGIN_OK);
        for (int i = 0; i < 4; i++)
            assert_close(value[i], cases[n].value[i], 5e-9);
        margin_model_free(model);
    }
    margin_table_free(table);
    margin_context_free(context);
}

/* ---- Published figures ----------------------------------------------------------------------- */

/* optdigits.names: accuracy in percent for k = 1 .. 11, Euclid, .tra to .tes. */
static void test_optdigits(void **state) {
    static const double published[11] = {98.00, 97.38, 97.83, 97.61, 97.89, 97.77,
                                         97.66, 97.66, 97.72, 97.55, 97.89};
    char path[SUPPORT_PATH], test_path[SUPPORT_PATH];
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/optdigits.tra");
    SUPPORT_DATA_OR_SKIP(test_path, "tabular/optdigits.tes");
    margin_context *context = support_context(NULL, 0);
    margin_table *train = NULL, *test = NULL;
    margin_error error = {0};
    const margin_read_options options = {.size = sizeof options, .format = MARGIN_FORMAT_CSV};
    if (margin_table_read(context, path, &options, &train, &error) < 0 ||
        margin_table_read(context, test_path, &options, &test, &error) < 0)
        fail_msg("%s", error.text);
    const margin_data data = margin_table_data(train), other = margin_table_data(test);
    for (int k = 1; k <= 11; k += 2) {
        char spec[60];
        margin_metrics metrics = {.size = sizeof metrics};
        snprintf(spec, sizeof spec, "knn(k=%d)", k);
        margin_model *model = fit_text(context, spec, &data, NULL);
        assert_int_equal(margin_evaluate(context, model, &other, &metrics, &error), MARGIN_OK);
        if (fabs(100 * metrics.accuracy - published[k - 1]) > 0.0051)
            fail_msg("k=%d: %g %%, published %g %%", k, 100 * metrics.accuracy, published[k - 1]);
        margin_metrics_free(&metrics);
        margin_model_free(model);
    }
    margin_table_free(train);
    margin_table_free(test);
    margin_context_free(context);
}

/* ionosphere.names: nearest neighbour, the first 200 rows train: 92.1 %. */
static void test_ionosphere(void **state) {
    char path[SUPPORT_PATH];
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/ionosphere.csv");
    margin_context *context = support_context(NULL, 2);
    margin_table *table = read_table(context, path);
    margin_data data = margin_table_data(table);
    int64_t rows[351];
    margin_metrics metrics = {.size = sizeof metrics};
    margin_error error = {0};
    for (int64_t i = 0; i < 351; i++)
        rows[i] = i;
    data.selection = rows;
    data.selected = 200;
    margin_model *model = fit_text(context, "knn(k=1)", &data, NULL);
    data.selection = rows + 200;
    data.selected = 151;
    assert_int_equal(margin_evaluate(context, model, &data, &metrics, &error), MARGIN_OK);
    assert_close(metrics.accuracy, 139.0 / 151, 1e-12); /* 92.05 % */
    margin_metrics_free(&metrics);
    margin_model_free(model);
    margin_table_free(table);
    margin_context_free(context);
}

/* ---- Prediction ------------------------------------------------------------------------------ */

/* One row, many rows and all threads: the same bits; one row allocates nothing. */
static void test_ways_to_predict(void **state) {
    static const char *const specs[] = {
        "knn(method=tree)",         "knn(method=brute)", "knn(method=tree, weights=distance)",
        "standardize | knn(k=9)",   "knn(k=3, p=1)",     "normalize | knn(method=brute, k=3)",
        "knn(method=brute, p=inf)",
    };
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 3);
    sample *s = sample_make(500, 6, 3, 0.1, 3);
    (void)state;
    for (int n = 0; n < (int)(sizeof specs / sizeof specs[0]); n++)
        for (int layout = 0; layout < LAYOUTS; layout += 2) {
            const margin_data data = sample_data(s, layout);
            margin_model *model = fit_text(context, specs[n], &data, NULL);
            double *all = scores_of(model, &data.x), one[3];
            double *parallel = malloc(500 * 3 * sizeof *parallel);
            assert_int_equal(margin_predict_parallel(context, model, &data.x, MARGIN_OUTPUT_SCORES,
                                                     parallel, NULL),
                             MARGIN_OK);
            assert_memory_equal(all, parallel, 500 * 3 * sizeof *all);
            const long long calls = heap.calls;
            const margin_matrix row = margin_dense_f64(s->f64 + 6 * 77, 1, 6, 6);
            assert_int_equal(margin_scores(model, &row, one, NULL), MARGIN_OK);
            assert_int_equal(heap.calls, calls);
            assert_memory_equal(one, all + 3 * 77, sizeof one);
            free(parallel);
            free(all);
            margin_model_free(model);
        }
    sample_free(s);
    margin_context_free(context);
    support_assert_nothing_live(&heap);
}

static void test_missing_and_large(void **state) {
    const double y[6] = {0, 0, 1, 0, 1, 1};
    const double q[8] = {NAN, 1, 1, (double)INFINITY, 2e300, 0, 2, 3};
    margin_context *context = support_context(NULL, 2);
    margin_data data = points_data(six, 6, 2, y);
    double large[12];
    int64_t labels[4], again[4];
    double p[8];
    (void)state;
    const margin_matrix x = margin_dense_f64(q, 4, 2, 2);
    margin_model *model = fit_text(context, "knn(k=1)", &data, NULL);
    assert_int_equal(margin_predict(model, &x, labels, NULL), MARGIN_OK);
    assert_int_equal(margin_predict_parallel(context, model, &x, MARGIN_OUTPUT_LABELS, again, NULL),
                     MARGIN_OK);
    assert_int_equal(margin_probabilities(model, &x, p, NULL), MARGIN_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(labels[i], i < 3 ? -1 : 0);
        assert_int_equal(again[i], labels[i]);
        assert_true(isnan(p[2 * i]) == (i < 3));
    }
    margin_model_free(model);
    memcpy(large, six, sizeof large);
    large[7] = -3e305;
    data.x.values = large;
    fit_refused(context, "knn(k=1)", &data, MARGIN_ERROR_DATA, "row 4 has the value -3e+305");
    large[9] = (double)NAN;
    fit_refused(context, "knn(k=1)", &data, MARGIN_ERROR_DATA, "impute");
    large[9] = (double)INFINITY;
    fit_refused(context, "knn(k=1)", &data, MARGIN_ERROR_DATA, "row 5 has the value inf");
    margin_context_free(context);
}

static void test_refused(void **state) {
    static const struct {
        const char *spec, *part;
    } wrong[] = {{"knn(k=0)", "k"},
                 {"knn(p=0.5)", "p"},
                 {"knn(weights=none)", "uniform"},
                 {"knn(method=ball)", "brute"},
                 {"knn(k=1.5)", "k"}};
    const double y[6] = {0, 0, 1, 0, 1, 1};
    margin_context *context = support_context(NULL, 1);
    margin_data data = points_data(six, 6, 2, y);
    (void)state;
    for (int n = 0; n < 5; n++) {
        margin_spec *spec = NULL;
        margin_error error = {0};
        assert_int_equal(margin_spec_parse(context, wrong[n].spec, &spec, &error),
                         MARGIN_ERROR_SPEC);
        assert_contains(error.text, wrong[n].part);
    }
    fit_refused(context, "knn(k=7)", &data, MARGIN_ERROR_DATA, "the training rows are 6");
    sample *s = sample_make(70, 100, 2, 0, 1);
    data = sample_data(s, DENSE_F64);
    fit_refused(context, "knn(method=tree)", &data, MARGIN_ERROR_DATA, "at most 64");
    sample_free(s);
    margin_context_free(context);
}

static void test_tasks(void **state) {
    const double whole[6] = {1, 3, 1, 3, 3, 1}, parts[6] = {1, 3, 1.5, 3, 3, 1};
    const int32_t numbers[6] = {1, 3, 1, 3, 3, 1};
    margin_context *context = support_context(NULL, 1);
    (void)state;
    static const struct {
        const char *spec;
        int target;
        margin_task task;
    } cases[] = {{"knn(k=1)", 0, MARGIN_CLASSIFY}, {"knn(k=1, task=regress)", 0, MARGIN_REGRESS},
                 {"knn(k=1)", 1, MARGIN_REGRESS},  {"knn(k=1, task=classify)", 1, MARGIN_CLASSIFY},
                 {"knn(k=1)", 2, MARGIN_CLASSIFY}, {"knn(k=1, task=regress)", 2, MARGIN_REGRESS}};
    for (int n = 0; n < 6; n++) {
        margin_data data = points_data(six, 6, 2, cases[n].target == 1 ? parts : whole);
        if (cases[n].target == 2) data.y = margin_labels_i32(numbers, 6);
        margin_model *model = fit_text(context, cases[n].spec, &data, NULL);
        assert_int_equal(margin_model_task(model), cases[n].task);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* A proof that fails: other data, and a model whose rows were moved. */
static void test_verify(void **state) {
    margin_context *context = support_context(NULL, 1);
    sample *s = sample_make(300, 3, 2, 0.1, 9);
    margin_data data = sample_data(s, DENSE_F64);
    margin_report found = {0};
    margin_error error = {0};
    (void)state;
    margin_model *model = fit_text(context, "knn(method=brute, weights=distance)", &data, NULL);
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_OK);
    assert_true(margin_report_item_value(&found, "differences") == 0);
    int32_t *code = mg_bag_find(&model->hypothesis->bag, "class")->data;
    for (int i = 0; i < 300; i++)
        code[i] = 1 - code[i];
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_STOPPED_STALLED);
    assert_true(margin_report_item_value(&found, "differences") > 0);
    data.x.rows = data.y.count = 299;
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_ERROR_DATA);
    margin_model_free(model);
    sample_free(s);
    margin_context_free(context);
}

/* Of rows 0 ... count - 1 of `kept` one of each stretch of count / asked: the share, by weight,
 * that the model answers right; of a regression the rmse. */
static double plain_score(const margin_model *model, const margin_data *data, const int64_t *kept,
                          int64_t count, int64_t asked) {
    const bool classes = margin_model_task(model) == MARGIN_CLASSIFY;
    const int64_t columns = data->x.columns, finest = mg_scored_finest(count, 1024, 32);
    double sum = 0, total = 0;
    for (int64_t i = 0; i < asked; i++) {
        const int64_t from = i * count / asked, length = (i + 1) * count / asked - from;
        const int64_t at = mg_scored_row(count, finest, asked, i), row = kept[at];
        const double y = ((const double *)data->y.values)[row];
        const double w = data->weights.values ? ((const double *)data->weights.values)[row] : 1;
        const margin_matrix x =
            margin_dense_f64((const double *)data->x.values + row * columns, 1, columns, columns);
        int64_t label = 0;
        double value = 0;
        if (classes) assert_int_equal(margin_predict(model, &x, &label, NULL), MARGIN_OK);
        if (!classes) assert_int_equal(margin_predict_values(model, &x, &value, NULL), MARGIN_OK);
        assert_true(from <= at && at < from + length);
        assert_int_equal(at,
                         mg_scored_row(count, finest, finest, mg_scored_stretch(asked, i, finest)));
        sum += w * (classes ? (double)((double)label == y) : (value - y) * (value - y));
        total += w;
    }
    return classes ? sum / total : sqrt(sum / total);
}

static double told_score(const margin_report *report) {
    return report->task == MARGIN_CLASSIFY ? report->train_accuracy : report->train_rmse;
}

static void check_scored(margin_context *context, const char *spec, const margin_data *data,
                         const int64_t *kept, int64_t count, int64_t asked) {
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, data, &report);
    assert_true(margin_report_item_value(&report, "scored_rows") == (double)asked);
    assert_close(told_score(&report), plain_score(model, data, kept, count, asked), 1e-12);
    assert_int_equal(margin_verify(context, model, data, &found, &error), MARGIN_OK);
    assert_true(margin_report_item_value(&found, "scored_rows") == (double)asked);
    assert_close(told_score(&found), told_score(&report), 1e-12);
    mg_report_set(&model->report, "scored_rows", (double)asked + 0.5);
    assert_int_equal(margin_verify(context, model, data, &found, &error), MARGIN_STOPPED_STALLED);
    assert_contains(found.reason, "this is not the data it was trained on");
    margin_model_free(model);
}

/* Others answer for all rows, whatever a file says. */
static void check_other_learner(margin_context *context, const margin_data *data) {
    margin_report found = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, "logistic", data, NULL);
    mg_report_set(&model->report, "scored_rows", 1);
    assert_int_equal(margin_verify(context, model, data, &found, &error), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
}

/* The training accuracy of many rows is that of 1,024 of them, or fewer where answers cost more. */
static void test_scored_rows(void **state) {
    enum { ROWS = 2345 };
    static double x[ROWS * 2], y[ROWS], weights[ROWS];
    static int64_t kept[ROWS], weighed[ROWS];
    int64_t count = 0;
    uint64_t random = 7;
    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        kept[i] = i;
        x[2 * i] = support_uniform(&random), x[2 * i + 1] = support_uniform(&random);
        y[i] = (double)(x[2 * i] + 0.2 * support_normal(&random) > 0.5);
        weights[i] = (double)(support_random(&random) % 4) / 2;
        if (weights[i] > 0) weighed[count++] = i;
    }
    for (int threads = 1; threads <= 4; threads += 3) {
        margin_context *context = support_context(NULL, threads);
        margin_data data = points_data(x, ROWS, 2, y);
        check_scored(context, "knn", &data, kept, ROWS, 1024);
        check_scored(context, "knn(k=1, task=regress, method=brute)", &data, kept, ROWS, 256);
        check_scored(context, "knn(k=40, p=3, method=brute)", &data, kept, ROWS, 64);
        data.weights = margin_values_f64(weights, ROWS);
        check_scored(context, "standardize | knn(method=tree)", &data, weighed, count, 1024);
        margin_report report = {0};
        data = points_data(x, 1000, 2, y);
        margin_model_free(fit_text(context, "knn", &data, &report));
        assert_true(isnan(margin_report_item_value(&report, "scored_rows")));
        check_scored(context, "knn(method=brute)", &data, kept, 1000, 256);
        check_scored(context, "knn(k=40, p=3, method=brute, task=regress)", &data, kept, 1000, 128);
        check_other_learner(context, &data);
        margin_context_free(context);
    }
}

/* Rows whose answers are dear are all asked where they are no more than are proven. */
static void test_few_wide_rows(void **state) {
    enum { ROWS = 20, COLUMNS = 20000 };
    static double x[ROWS * COLUMNS];
    double y[ROWS];
    uint64_t random = 3;
    margin_context *context = support_context(NULL, 1);
    margin_report report = {0};
    (void)state;
    for (int64_t v = 0; v < ROWS * COLUMNS; v++)
        x[v] = support_uniform(&random);
    for (int i = 0; i < ROWS; i++)
        y[i] = i % 2;
    margin_data data = points_data(x, ROWS, COLUMNS, y);
    margin_model_free(fit_text(context, "knn(p=1)", &data, &report));
    assert_true(isnan(margin_report_item_value(&report, "scored_rows")));
    assert_true(margin_report_item_value(&report, "checked_rows") == ROWS);
    margin_context_free(context);
}

/* Data whose weights are not those of the fit and do not add up to k. */
static void test_verify_weights(void **state) {
    double x[6], y[6], weights[6];
    margin_context *context = support_context(NULL, 1);
    margin_report found = {0};
    margin_error error = {0};
    (void)state;
    for (int i = 0; i < 6; i++) {
        x[i] = i;
        y[i] = i % 2;
        weights[i] = 10;
    }
    margin_data data = points_data(x, 6, 1, y);
    data.weights = margin_values_f64(weights, 6);
    margin_model *model = fit_text(context, "knn(k=30)", &data, NULL);
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_OK);
    data.weights = (margin_vector){0};
    assert_int_equal(margin_verify(context, model, &data, &found, &error), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

/* Rows that are equally far, of which the last one takes part with a share of its weight: the
 * shares follow the order of the distances' last digits, which two ways of adding need not agree
 * about. */
static void test_verify_shares_of_ties(void **state) {
    static const double x[16 * 8] = {
        -3,  101, -1,   -2,  -2, 2,   103, 2,   2,  99, 1,    -3,  6,  2,   97,  1,  1,   101, -2,
        3,   3,   2,    98,  2,  1,   103, 3,   -2, 4,  2,    98,  3,  -1,  100, 2,  -2,  4,   2,
        103, -2,  -3,   103, 1,  0,   0,   2,   98, 0,  1,    102, -2, -1,  -1,  2,  101, 0,   -3,
        97,  -3,  3,    3,   2,  100, 3,   -1,  98, 1,  -1,   -1,  2,  103, -3,  3,  100, 0,   -3,
        6,   2,   98,   -2,  -3, 101, -2,  -3,  -3, 2,  99,   2,   -1, 101, 1,   2,  2,   2,   103,
        1,   -2,  100,  -3,  3,  -6,  2,   98,  2,  -2, 100,  -3,  3,  -6,  2,   98, 2,   -1,  100,
        1,   0,   -0.0, 2,   99, -3,  -1,  100, 1,  0,  -0.0, 2,   99, -3};
    static const double w[16] = {
        0.23011623076907309, 0.91237057071237437, 0.7611938271817793,  0.65438825567297698,
        0.57009500831948046, 1.0537836481229752,  0.44314642770602419, 0.92750727613078554,
        0.10732437112265572, 0.89995575040586417, 0.57544633412718083, 1.0577142178484837,
        0.37295966810572179, 0.24838097408043094, 1.0905478837076235,  0.35871090218906354};
    double y[16];
    margin_context *context = support_context(NULL, 1);
    margin_report found = {0};
    margin_error error = {0};
    (void)state;
    for (int i = 0; i < 16; i++)
        y[i] = -30 - 0.7 * i + 0.1 * (i % 3);
    margin_data data = points_data(x, 16, 8, y);
    data.weights = margin_values_f64(w, 16);
    margin_model *model = fit_text(context, "knn(k=4)", &data, NULL);
    if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
        fail_msg("%s", found.reason);
    margin_model_free(model);
    margin_context_free(context);
}

/* A row of weight w counts as w rows in what the report says, too. */
static void test_objective_of_copies(void **state) {
    (void)state;
    static const double x[6] = {0, 1, 4, 9, 16, 25}, y[6] = {0, 1, 0, 1, 1, 0},
                        weights[6] = {1, 2, 1, 1, 3, 1};
    static const char *const specs[] = {"knn(k=3)", "knn(radius=5)", "knn(k=3, task=regress)"};
    margin_context *context = support_context(NULL, 1);
    double copies[9], answers[9];
    int64_t count = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < (int)weights[i]; k++, count++) {
            copies[count] = x[i];
            answers[count] = y[i];
        }
    margin_data once = points_data(x, 6, 1, y);
    const margin_data each = points_data(copies, count, 1, answers);
    once.weights = margin_values_f64(weights, 6);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_report weighted = {0}, copied = {0}, found = {0};
        margin_model *model = fit_text(context, specs[k], &once, &weighted);
        margin_model_free(fit_text(context, specs[k], &each, &copied));
        assert_close(weighted.objective, copied.objective, 1e-14);
        assert_int_equal(margin_verify(context, model, &once, &found, NULL), MARGIN_OK);
        margin_model_free(model);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_six_points),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_many_neighbours),
        cmocka_unit_test(test_iris_classes),
        cmocka_unit_test(test_iris_values),
        cmocka_unit_test(test_optdigits),
        cmocka_unit_test(test_ionosphere),
        cmocka_unit_test(test_ways_to_predict),
        cmocka_unit_test(test_missing_and_large),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_verify),
        cmocka_unit_test(test_scored_rows),
        cmocka_unit_test(test_few_wide_rows),
        cmocka_unit_test(test_verify_weights),
        cmocka_unit_test(test_verify_shares_of_ties),
        cmocka_unit_test(test_objective_of_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
