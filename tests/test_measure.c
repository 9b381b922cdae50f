/* margin_measure against numbers of scikit-learn 1.9.1 (computed once, on the same made data), its
 * intervals, and what it refuses. */
#include "margin/measure.h"
#include "support/group_context.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { ROWS = 40, MOST = 4 };

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

/* Truth, probabilities and weights, from a congruential generator that is one line in any language.
 */
typedef struct {
    int32_t truth[ROWS];
    double p[ROWS * MOST], weights[ROWS];
} made;

static uint64_t state_of_made = 12345;
static double draw(void) {
    state_of_made = (state_of_made * 1103515245 + 12345) % 2147483648u;
    return (double)state_of_made / 2147483648.0;
}

static void make(made *m, int classes) {
    for (int i = 0; i < ROWS; i++) {
        double sum = 0, *p = m->p + i * classes;
        m->truth[i] = (int32_t)(draw() * classes);
        for (int c = 0; c < classes; c++)
            p[c] = 1 + floor(draw() * 16);
        p[m->truth[i]] += 6;
        for (int c = 0; c < classes; c++)
            sum += p[c];
        for (int c = 0; c < classes; c++)
            p[c] /= sum;
        m->weights[i] = 1 + floor(draw() * 4) * 0.5;
    }
}

typedef struct {
    int kind; /* classes, or targets */
    const char *name;
    double plain, weighted;
} known;

static const known of_classes[] = {
    {2, "accuracy", 0.80000000000000004, 0.80147058823529416},
    {2, "log_loss", 0.46046870310435128, 0.46771183459768689},
    {2, "brier", 0.14712494170159945, 0.14948489149774757},
    {2, "auc", 0.94000000000000006, 0.94528546712802763},
    {2, "average_precision", 0.94237286637062878, 0.94799460819824544},
    {2, "balanced_accuracy", 0.80000000000000004, 0.80147058823529416},
    {2, "precision", 0.77272727272727271, 0.78082191780821919},
    {2, "recall", 0.84999999999999998, 0.83823529411764708},
    {2, "f1", 0.80952380952380953, 0.80851063829787229},
    {2, "precision_macro", 0.80303030303030298, 0.80310937160252227},
    {2, "recall_macro", 0.80000000000000004, 0.80147058823529416},
    {2, "f1_macro", 0.79949874686716793, 0.80120188403443238},
    {2, "precision_micro", 0.80000000000000004, 0.80147058823529416},
    {2, "recall_micro", 0.80000000000000004, 0.80147058823529416},
    {2, "f1_micro", 0.80000000000000004, 0.80147058823529416},
    {2, "precision_weighted", 0.80303030303030309, 0.80310937160252227},
    {2, "recall_weighted", 0.80000000000000004, 0.80147058823529416},
    {2, "f1_weighted", 0.79949874686716793, 0.80120188403443227},
    {4, "accuracy", 0.625, 0.6028368794326241},
    {4, "log_loss", 1.0016045972424183, 1.027232842083474},
    {4, "brier", 0.55859039749660844, 0.57448461270205087},
    {4, "auc", 0.85876664106502809, 0.84453833483331586},
    {4, "average_precision", 0.70472530462427885, 0.68137700289581704},
    {4, "balanced_accuracy", 0.61805555555555558, 0.59665002102173892},
    {4, "precision_macro", 0.6294642857142857, 0.60893077921379801},
    {4, "recall_macro", 0.61805555555555558, 0.59665002102173892},
    {4, "f1_macro", 0.62160633484162897, 0.59959097028062547},
    {4, "precision_micro", 0.625, 0.6028368794326241},
    {4, "recall_micro", 0.625, 0.6028368794326241},
    {4, "f1_micro", 0.625, 0.6028368794326241},
    {4, "precision_weighted", 0.6272321428571429, 0.60380295124039263},
    {4, "recall_weighted", 0.625, 0.6028368794326241},
    {4, "f1_weighted", 0.62386877828054299, 0.599819188227112},
};

static const known of_numbers[] = {
    {1, "mse", 1.0997102931980358, 1.1753063544403366},
    {1, "mae", 0.87155042085796597, 0.91179944371958832},
    {1, "r2", 0.87868721328312505, 0.87130397768430057},
    {2, "mse", 1.3926191957040057, 1.4248968400616018},
    {2, "mae", 1.0162529740482569, 1.0319236640100646},
    {2, "r2", 0.84791538814173406, 0.84243095285705516},
};

static margin_predictions of(const made *m, int classes, bool weighted) {
    return (margin_predictions){.size = sizeof(margin_predictions),
                                .task = MARGIN_CLASSIFY,
                                .rows = ROWS,
                                .classes = classes,
                                .truth = margin_labels_i32(m->truth, ROWS),
                                .weights = weighted ? margin_values_f64(m->weights, ROWS)
                                                    : (margin_vector){0},
                                .probabilities = m->p};
}

static margin_metrics measure(const margin_predictions *p, const margin_measure_options *options) {
    margin_metrics m = {.size = sizeof m};
    OK(margin_measure(context, p, options, &m, &error));
    return m;
}

static void compare(const known *list, size_t count, int kind, bool weighted,
                    const margin_metrics *m) {
    for (size_t k = 0; k < count; k++) {
        if (list[k].kind != kind) continue;
        const double expected = weighted ? list[k].weighted : list[k].plain,
                     found = margin_metrics_value(m, list[k].name);
        if (!(fabs(found - expected) <= 1e-12))
            fail_msg("%s of %d%s: %.17g, not %.17g", list[k].name, kind,
                     weighted ? ", weighted" : "", found, expected);
    }
}

static void test_known(void **state) {
    (void)state;
    made m;
    state_of_made = 12345;
    for (int k = 2; k <= 4; k += 2) {
        make(&m, k);
        for (int weighted = 0; weighted < 2; weighted++) {
            const margin_predictions p = of(&m, k, weighted);
            margin_metrics found = measure(&p, NULL);
            compare(of_classes, sizeof of_classes / sizeof of_classes[0], k, weighted, &found);
            assert_true(found.accuracy == margin_metrics_value(&found, "accuracy"));
            assert_close(found.error, 1 - found.accuracy, 1e-15);
            if (k == 4 && weighted) { /* row 0 of scikit-learn's matrix */
                const double row[4] = {7.5, 1, 2.5, 3};
                assert_memory_equal(found.confusion, row, sizeof row);
            }
            margin_metrics_free(&found);
        }
    }
    double truth[2 * ROWS], value[2 * ROWS], one[2][ROWS], weights[ROWS];
    for (int i = 0; i < ROWS; i++) {
        for (int t = 0; t < 2; t++) {
            truth[2 * i + t] = draw() * 10;
            value[2 * i + t] = truth[2 * i + t] + draw() * 4 - 2;
        }
        one[0][i] = truth[2 * i];
        one[1][i] = value[2 * i];
        weights[i] = 1 + floor(draw() * 4) * 0.5;
    }
    for (int targets = 1; targets <= 2; targets++)
        for (int weighted = 0; weighted < 2; weighted++) {
            const margin_predictions p = {
                .size = sizeof p,
                .task = MARGIN_REGRESS,
                .rows = ROWS,
                .targets = targets,
                .truth = margin_values_f64(targets == 1 ? one[0] : truth, targets * ROWS),
                .predicted = margin_values_f64(targets == 1 ? one[1] : value, targets * ROWS),
                .weights = weighted ? margin_values_f64(weights, ROWS) : (margin_vector){0}};
            margin_metrics found = measure(&p, NULL);
            compare(of_numbers, sizeof of_numbers / sizeof of_numbers[0], targets, weighted,
                    &found);
            assert_close(found.rmse * found.rmse, found.mse, 1e-14);
            assert_int_equal(found.targets, targets == 1 ? 0 : 2);
            margin_metrics_free(&found);
        }
}

/* Ties by hand: of 9 pairs 7 in order and 2 ties; from the top, precision 1, 2/4 and 3/6 for thirds
 * of the recall. */
static void test_ranks(void **state) {
    (void)state;
    const double scores[6] = {1, 2, 2, 2, 3, 0}, weights[6] = {1, 2, 0.5, 4, 1, 3};
    const int32_t truth[6] = {0, 0, 1, 1, 1, 0}, same[6] = {1, 1, 1, 1, 1, 1};
    margin_predictions p = {.size = sizeof p,
                            .task = MARGIN_CLASSIFY,
                            .rows = 6,
                            .classes = 2,
                            .truth = margin_labels_i32(truth, 6),
                            .predicted = margin_labels_i32(same, 6),
                            .scores = scores};
    margin_metrics m = measure(&p, NULL);
    assert_close(m.auc, 8.0 / 9, 1e-15);
    assert_close(m.average_precision, 1.0 / 3 + 2.0 / 3 * 0.75, 1e-15);
    assert_true(isnan(m.log_loss) && isnan(m.rmse));
    margin_metrics_free(&m);
    p.weights = margin_values_f64(weights, 6);
    m = measure(&p, NULL);
    assert_close(m.auc, (1 * 6 + 4.5 * (4 + 1)) / (6 * 5.5), 1e-15);
    margin_metrics_free(&m);
    p.truth.values = same;
    m = measure(&p, NULL);
    assert_true(isnan(m.auc) && isnan(m.average_precision));
    margin_metrics_free(&m);
}

/* A weight of k is k copies, 0 is absent; an unknown class is an error that losses leave out. */
static void test_weights_and_unknown(void **state) {
    (void)state;
    made m, copies;
    int32_t rows = 0;
    make(&m, 2);
    for (int i = 0; i < ROWS; i++)
        m.weights[i] = i % 3;
    m.p[0] = (double)NAN; /* weight 0: may hold anything */
    margin_predictions p = of(&m, 2, true);
    margin_metrics weighted = measure(&p, NULL);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < i % 3 && rows < ROWS; k++, rows++) {
            copies.truth[rows] = m.truth[i];
            memcpy(copies.p + 2 * rows, m.p + 2 * i, 2 * sizeof(double));
        }
    margin_predictions q = of(&copies, 2, false);
    q.rows = rows;
    q.truth.count = rows;
    margin_metrics plain = measure(&q, NULL);
    for (int64_t k = 0; k <= 18; k++) {
        const char *name = margin_metric_at(k)->name;
        const double a = margin_metrics_value(&weighted, name),
                     b = margin_metrics_value(&plain, name);
        assert_true(fabs(a - b) < 1e-13);
    }
    margin_metrics_free(&weighted);
    const double loss = plain.log_loss, accuracy = plain.accuracy;
    margin_metrics_free(&plain);
    copies.truth[rows] = -1;
    memcpy(copies.p + 2 * rows, copies.p, 2 * sizeof(double));
    q.rows = q.truth.count = rows + 1;
    plain = measure(&q, NULL);
    assert_close(plain.accuracy, accuracy * rows / (rows + 1), 1e-15);
    assert_close(plain.log_loss, loss, 1e-15);
    assert_true(plain.unknown == 1);
    margin_class_metrics c = {.size = sizeof c};
    assert_int_equal(margin_metrics_class(&plain, 2, &c), 0);
    assert_int_equal(margin_metrics_class(&plain, 1, &c), 1);
    assert_true(c.precision == plain.precision && c.recall == plain.recall && c.auc == plain.auc);
    margin_metrics_free(&plain);
}

/* 50 rows, two of them of a class that is none of three: scikit-learn's figures with its label. */
static void test_unknown_is_a_class(void **state) {
    (void)state;
    int32_t truth[50], predicted[50];
    for (int i = 0; i < 50; i++) {
        truth[i] = i < 15 ? 0 : i < 32 ? 1 : i < 48 ? 2 : -1;
        predicted[i] = truth[i] < 0 ? 0 : truth[i];
    }
    const margin_predictions p = {
        .size = sizeof p,
        .task = MARGIN_CLASSIFY,
        .rows = 50,
        .classes = 3,
        .truth = {.values = truth, .count = 50, .type = MARGIN_I32},
        .predicted = {.values = predicted, .count = 50, .type = MARGIN_I32}};
    static const struct {
        const char *name;
        double value;
    } expected[] = {{"accuracy", 0.96},
                    {"recall_weighted", 0.96},
                    {"recall_macro", 0.75},
                    {"recall", 0.75},
                    {"recall_micro", 0.96},
                    {"balanced_accuracy", 0.75},
                    {"precision_macro", (15. / 17 + 2) / 4},
                    {"f1_macro", (30. / 32 + 2) / 4},
                    {"precision_weighted", (15 * 15. / 17 + 33) / 50}};
    margin_metrics m = measure(&p, NULL);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
        assert_close(margin_metrics_value(&m, expected[k].name), expected[k].value, 1e-15);
    margin_metrics_free(&m);
}

/* Intervals hold the metric, are the same for any number of threads, and those of an accuracy come
 * near the binomial's. */
static void test_bootstrap(void **state) {
    (void)state;
    made m;
    make(&m, 4);
    const margin_predictions p = of(&m, 4, false);
    margin_measure_options o = {.size = sizeof o, .bootstrap = 999, .seed = 5};
    double low[2], high[2], from, to;
    for (int threads = 1; threads <= 4; threads += 3) {
        margin_context *c = support_context(NULL, threads);
        margin_metrics found = {.size = sizeof found};
        OK(margin_measure(c, &p, &o, &found, &error));
        for (int64_t k = 0; k <= 18; k++) {
            const char *name = margin_metric_at(k)->name;
            assert_int_equal(margin_metrics_interval(&found, name, &from, &to), 1);
            const double value = margin_metrics_value(&found, name);
            assert_true(from <= value && value <= to);
        }
        assert_int_equal(margin_metrics_interval(&found, "rmse", &from, &to), 0);
        OK(margin_metrics_interval(&found, "accuracy", &low[threads > 1], &high[threads > 1]));
        margin_metrics_free(&found);
        margin_context_free(c);
    }
    assert_true(low[0] == low[1] && high[0] == high[1]);
    margin_metrics found = measure(&p, NULL);
    const double half = 1.96 * sqrt(found.accuracy * found.error / ROWS);
    assert_close(high[0] - low[0], 2 * half, 0.06);
    assert_int_equal(margin_metrics_interval(&found, "accuracy", &low[0], &high[0]), 0);
    margin_metrics_free(&found);
}

static void refused(const margin_predictions *p, const margin_measure_options *o,
                    margin_status status, const char *text) {
    margin_metrics m = {.size = sizeof m}, before = m;
    assert_int_equal(margin_measure(context, p, o, &m, &error), status);
    assert_contains(error.text, text);
    assert_memory_equal(&m, &before, sizeof m);
}

static void test_refusals(void **state) {
    (void)state;
    made m;
    make(&m, 2);
    const margin_predictions good = of(&m, 2, true);
    margin_predictions p = good;
    p.task = MARGIN_CLUSTER;
    refused(&p, NULL, MARGIN_ERROR_ARGUMENT, "the task of the predictions is 3");
    p = good;
    p.rows = 0;
    refused(&p, NULL, MARGIN_ERROR_DATA, "no predictions to measure");
    p = good;
    p.classes = 1;
    refused(&p, NULL, MARGIN_ERROR_ARGUMENT, "1 classes");
    p = good;
    p.truth.count = 3;
    refused(&p, NULL, MARGIN_ERROR_ARGUMENT, "truth has 3 entries, where 40 are needed");
    p = good;
    p.probabilities = NULL;
    refused(&p, NULL, MARGIN_ERROR_ARGUMENT, "no predictions to compare the truth with");
    margin_measure_options o = {.size = sizeof o, .bootstrap = 3};
    refused(&good, &o, MARGIN_ERROR_ARGUMENT, "3 resamples for the intervals");
    o = (margin_measure_options){.size = sizeof o, .level = 1};
    refused(&good, &o, MARGIN_ERROR_ARGUMENT, "the level of the intervals is 1");
    m.truth[6] = 2;
    refused(&good, NULL, MARGIN_ERROR_DATA, "row 7: the true class is 2");
    m.truth[6] = 0;
    m.p[4] += 0.1;
    refused(&good, NULL, MARGIN_ERROR_DATA,
            "row 3: the sum of the probabilities is 1.1; it must be 1");
    m.p[4] = (double)NAN;
    refused(&good, NULL, MARGIN_ERROR_DATA, "row 3: the probability of a class is nan");
    m.p[4] = 1 - m.p[5];
    m.weights[1] = -1;
    refused(&good, NULL, MARGIN_ERROR_DATA, "row 2: the weight is -1");
    memset(m.weights, 0, sizeof m.weights);
    refused(&good, NULL, MARGIN_ERROR_DATA, "all 40 rows have the weight 0");
    double y[2] = {1, (double)INFINITY};
    p = (margin_predictions){.size = sizeof p,
                             .task = MARGIN_REGRESS,
                             .rows = 2,
                             .truth = margin_values_f64(y, 2),
                             .predicted = margin_values_f64(y, 2)};
    refused(&p, NULL, MARGIN_ERROR_DATA, "row 2: the target is inf");
    margin_metrics small = {.size = 8};
    assert_int_equal(margin_measure(context, &good, NULL, &small, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "size of the result is 8");
    assert_null(margin_metric_find("nonsense"));
    assert_null(margin_metric_at(-1));
    for (int64_t k = 0; margin_metric_at(k); k++)
        assert_ptr_equal(margin_metric_find(margin_metric_at(k)->name), margin_metric_at(k));
}

static margin_status measure_once(margin_context *c, void *user, margin_error *e) {
    const margin_measure_options o = {.size = sizeof o, .bootstrap = 20};
    margin_metrics m = {.size = sizeof m};
    const margin_status status = margin_measure(c, user, &o, &m, e);
    if (status >= 0) margin_metrics_free(&m);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    made m;
    make(&m, 4);
    margin_predictions p = of(&m, 4, true);
    assert_true(support_fail_each_allocation(2, measure_once, &p) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_weights_and_unknown),
        cmocka_unit_test(test_unknown_is_a_class),
        cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
