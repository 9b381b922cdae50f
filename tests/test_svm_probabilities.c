/* Probabilities of support vector machines: sigmoids of scores of fits to folds that did not see
 * the rows, found once more by another optimiser, for two classes, classes against the rest and
 * pairs of classes, with weights. */
#include "model_cases.h"

#include "model/object/model_object.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 150, MOST = 3 };

typedef struct table {
    double x[2 * ROWS], y[ROWS], weight[ROWS];
} table;

/* Three classes on a line that overlap; of two the third is the second. */
static void make_table(table *t, int classes) {
    uint64_t state = 5;
    for (int i = 0; i < ROWS; i++) {
        const int c = i % 3;
        t->x[2 * i] = 1.5 * c + support_normal(&state);
        t->x[2 * i + 1] = support_normal(&state);
        t->y[i] = c < classes ? c : classes - 1;
        t->weight[i] = 1 + i % 4;
    }
}

static margin_data data_of(const table *t, bool weights) {
    margin_data data = {.x = margin_dense_f64(t->x, ROWS, 2, 2),
                        .y = margin_values_f64(t->y, ROWS)};
    if (weights) data.weights = margin_values_f64(t->weight, ROWS);
    return data;
}

static margin_model *calibrated(margin_context *context, const char *spec, const margin_data *data,
                                int32_t kind) {
    const margin_promise_options o = {.size = sizeof o, .calibrate = kind, .folds = 5};
    margin_model *plain = fit_text(context, spec, data, NULL), *model;
    margin_error error;
    if (margin_promise(context, plain, data, &o, &model, &error) < 0) fail_msg("%s", error.text);
    margin_model_free(plain);
    return model;
}

/* ---- Once more ------------------------------------------------------------------------------- */

/* Scores of each row by the fit to the other folds. */
static void cross(margin_context *context, const char *spec, const margin_data *data,
                  int64_t functions, double *scores) {
    const margin_split_options o = {.size = sizeof o, .folds = 5, .stratify = 1};
    margin_splits *splits;
    int64_t rows[ROWS];
    double all[ROWS * MOST];
    assert_int_equal(margin_split(context, data, &o, &splits, NULL), MARGIN_OK);
    for (int64_t k = 0; k < 5; k++) {
        margin_data part = *data;
        part.selection = rows;
        part.selected = margin_splits_rows(splits, k, MARGIN_PART_TRAIN, rows);
        margin_model *fold = fit_text(context, spec, &part, NULL);
        assert_int_equal(margin_scores(fold, &data->x, all, NULL), MARGIN_OK);
        const int64_t count = margin_splits_rows(splits, k, MARGIN_PART_TEST, rows);
        for (int64_t i = 0; i < count; i++)
            memcpy(scores + rows[i] * functions, all + rows[i] * functions,
                   (size_t)functions * sizeof *scores);
        margin_model_free(fold);
    }
    margin_splits_free(splits);
}

typedef struct curve {
    double s[ROWS], target[ROWS], weight[ROWS];
    int count;
} curve;

static double loss_at(const curve *c, double a, double b) {
    double sum = 0;
    for (int i = 0; i < c->count; i++) {
        const double t = a * c->s[i] + b;
        sum += c->weight[i] * (fmax(t, 0) - c->target[i] * t + log1p(exp(-fabs(t))));
    }
    return sum;
}

static double narrow(const curve *c, double a, double low, double high, double *least);

/* The least over b of a given slope, or over both: the loss is convex, so a third can be left out
 * each time. */
static double loss_of(const curve *c, double a, double *b) {
    return narrow(c, a, -40, 40, b);
}

static double narrow(const curve *c, double a, double low, double high, double *least) {
    double unused;
    for (int i = 0; i < 50; i++) {
        const double p = low + (high - low) / 3, q = high - (high - low) / 3;
        const double at_p = isnan(a) ? loss_of(c, p, &unused) : loss_at(c, a, p);
        const double at_q = isnan(a) ? loss_of(c, q, &unused) : loss_at(c, a, q);
        if (at_p < at_q)
            high = q;
        else
            low = p;
    }
    *least = (low + high) / 2;
    return isnan(a) ? loss_of(c, *least, &unused) : loss_at(c, a, *least);
}

/* Platt's targets; positive and negative (-1: all others) are classes. */
static void fit_plain(const table *t, bool weights, const double *scores, int stride, int positive,
                      int negative, double ab[2]) {
    curve c = {.count = 0};
    double of[2] = {0, 0};
    for (int i = 0; i < ROWS; i++) {
        const bool first = t->y[i] == positive;
        if (!first && negative >= 0 && t->y[i] != negative) continue;
        c.s[c.count] = scores[i * stride];
        c.target[c.count] = first;
        c.weight[c.count] = weights ? t->weight[i] : 1;
        of[first] += c.weight[c.count++];
    }
    for (int i = 0; i < c.count; i++)
        c.target[i] = c.target[i] > 0 ? (of[1] + 1) / (of[1] + 2) : 1 / (of[0] + 2);
    narrow(&c, (double)NAN, 0, 30, &ab[0]);
    loss_of(&c, ab[0], &ab[1]);
}

static double plain_sigmoid(const double ab[2], double s) {
    return 1 / (1 + exp(-(ab[0] * s + ab[1])));
}

/* P of the classes from the scores of a row and the curves. */
static void plain_probabilities(int classes, bool pairs, const double (*ab)[2], const double *s,
                                double *p) {
    double r[MOST][MOST] = {{0}}, sum = 0;
    if (classes == 2) {
        p[1] = plain_sigmoid(ab[0], s[0]);
        p[0] = 1 - p[1];
        return;
    }
    for (int i = 0, n = 0; pairs && i < classes; i++)
        for (int j = i + 1; j < classes; j++, n++) {
            r[i][j] = plain_sigmoid(ab[n], s[n]);
            r[j][i] = 1 - r[i][j];
        }
    for (int i = 0; i < classes; i++) {
        double inverse = 2 - classes, total = 0;
        for (int j = 0; pairs && j < classes; j++)
            if (j != i) inverse += 1 / r[i][j];
        for (int k = 0; k < classes; k++)
            total += exp(s[k]);
        p[i] = pairs ? 1 / inverse : plain_sigmoid(ab[i], s[i] - log(total));
        sum += p[i];
    }
    for (int i = 0; i < classes; i++)
        p[i] /= sum;
}

static const struct {
    const char *spec;
    int classes;
    bool pairs, weights;
} machines[] = {
    {"svm", 2, false, false},
    {"svm(kernel=rbf, C=2, tol=1e-6)", 2, false, false},
    {"svm(kernel=rbf, C=2, tol=1e-6)", 2, false, true},
    {"svm(kernel=rbf, C=2, tol=1e-6, class_weight=balanced)", 2, false, false},
    {"svm(kernel=rbf, tol=1e-6)", 3, true, false},
    {"svm(kernel=rbf, tol=1e-6)", 3, true, true},
    {"svm(kernel=poly, coef0=1, degree=2, tol=1e-6, class_weight=balanced)", 3, true, true},
    {"svm(kernel=rbf, multiclass=ovr, tol=1e-6)", 3, false, false},
    {"svm(multiclass=ovo)", 3, true, false},
    {"standardize | svm(multiclass=ovr)", 3, false, true},
};

static void test_sigmoids(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    static table t;
    for (int n = 0; n < (int)(sizeof machines / sizeof *machines); n++) {
        const int classes = machines[n].classes, functions = classes == 2 ? 1 : 3;
        static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
        double crossed[ROWS * MOST], own[ROWS * MOST], p[ROWS * MOST], ab[MOST][2], plain[MOST];
        int64_t labels[ROWS];
        make_table(&t, classes);
        const margin_data data = data_of(&t, machines[n].weights);
        cross(context, machines[n].spec, &data, functions, crossed);
        for (int i = 0; i < ROWS && functions == 3 && !machines[n].pairs; i++) {
            double *s = crossed + 3 * i;
            const double total = log(exp(s[0]) + exp(s[1]) + exp(s[2]));
            for (int c = 0; c < 3; c++)
                s[c] -= total;
        }
        for (int f = 0; f < functions; f++)
            fit_plain(&t, machines[n].weights, crossed + f, functions,
                      classes == 2        ? 1
                      : machines[n].pairs ? pair[f][0]
                                          : f,
                      machines[n].pairs ? pair[f][1] : -1, ab[f]);
        margin_model *model =
            calibrated(context, machines[n].spec, &data, MARGIN_CALIBRATE_SIGMOID);
        assert_int_equal(margin_model_has_probabilities(model), 1);
        assert_int_equal(margin_probabilities(model, &data.x, p, NULL), MARGIN_OK);
        assert_int_equal(margin_scores(model, &data.x, own, NULL), MARGIN_OK);
        assert_int_equal(margin_predict(model, &data.x, labels, NULL), MARGIN_OK);
        for (int i = 0; i < ROWS; i++) {
            plain_probabilities(classes, machines[n].pairs, (const double(*)[2])ab,
                                own + i * functions, plain);
            for (int c = 0; c < classes; c++) {
                if (!(fabs(p[i * classes + c] - plain[c]) < 1e-6))
                    fail_msg("%s: row %d, class %d: %g and %g", machines[n].spec, i, c,
                             p[i * classes + c], plain[c]);
                assert_true(p[i * classes + c] <= p[i * classes + labels[i]]);
            }
        }
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* P of a class rises with the score of each of its pairs, falls for the other class of the pair,
 * and stays a distribution whatever the scores. */
static void test_monotone(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    static table t;
    make_table(&t, 3);
    const margin_data data = data_of(&t, false);
    for (int kind = MARGIN_CALIBRATE_SIGMOID; kind <= MARGIN_CALIBRATE_ISOTONIC; kind++) {
        margin_model *model = calibrated(context, "svm(kernel=rbf)", &data, kind);
        uint64_t seed = 3;
        for (int round = 0; round < 2000; round++) {
            static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
            const double size = round % 10 == 0 ? 1e6 : 3;
            double s[3], p[3], q[3];
            for (int f = 0; f < 3; f++)
                s[f] = size * support_normal(&seed);
            mg_probabilities(model, s, p);
            assert_close(p[0] + p[1] + p[2], 1, 1e-12);
            const int f = round % 3;
            s[f] += size * support_uniform(&seed);
            mg_probabilities(model, s, q);
            assert_true(q[pair[f][0]] >= p[pair[f][0]] * (1 - 1e-14));
            assert_true(q[pair[f][1]] <= p[pair[f][1]] * (1 + 1e-14));
        }
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* On rows of the same kind: what is said to be so likely is so often so. */
static void test_reliable(void **state) {
    (void)state;
    enum { NEW = 3000, BINS = 8 };
    margin_context *context = support_context(NULL, 2);
    static table t;
    static double x[2 * NEW], p[3 * NEW];
    static const char *const specs[] = {"svm(kernel=rbf)", "svm(kernel=rbf, multiclass=ovr)"};
    make_table(&t, 3);
    const margin_data data = data_of(&t, false);
    uint64_t seed = 77;
    for (int i = 0; i < NEW; i++) {
        x[2 * i] = 1.5 * (i % 3) + support_normal(&seed);
        x[2 * i + 1] = support_normal(&seed);
    }
    const margin_matrix rows = margin_dense_f64(x, NEW, 2, 2);
    for (int n = 0; n < 2; n++)
        for (int kind = MARGIN_CALIBRATE_SIGMOID; kind <= MARGIN_CALIBRATE_ISOTONIC; kind++) {
            margin_model *model = calibrated(context, specs[n], &data, kind);
            double said[BINS] = {0}, found[BINS] = {0}, off = 0;
            assert_int_equal(margin_predict_parallel(context, model, &rows,
                                                     MARGIN_OUTPUT_PROBABILITIES, p, NULL),
                             MARGIN_OK);
            for (int k = 0; k < 3 * NEW; k++) {
                const int bin = (int)fmin(p[k] * BINS, BINS - 1);
                said[bin] += p[k];
                found[bin] += k % 3 == (k / 3) % 3;
            }
            for (int bin = 0; bin < BINS; bin++)
                off += fabs(said[bin] - found[bin]) / (3 * NEW);
            if (!(off < 0.07)) fail_msg("%s: off by %g", specs[n], off);
            margin_model_free(model);
        }
    margin_context_free(context);
}

/* Decisions, files and threads of a machine of pairs. */
static void test_uses(void **state) {
    (void)state;
    margin_context *one = support_context(NULL, 1), *three = support_context(NULL, 3);
    static table t;
    make_table(&t, 3);
    const margin_data data = data_of(&t, false);
    static const double costs[] = {0, 1, 1, 9, 0, 1, 1, 1, 0};
    const margin_promise_options decide = {.size = sizeof decide,
                                           .calibrate = MARGIN_CALIBRATE_ISOTONIC,
                                           .costs = costs,
                                           .cost_count = 9,
                                           .coverage = 0.9,
                                           .folds = 5};
    const margin_promise_options temperature = {.size = sizeof decide,
                                                .calibrate = MARGIN_CALIBRATE_TEMPERATURE};
    margin_model *plain = fit_text(one, "svm(kernel=rbf)", &data, NULL), *a, *b, *again;
    margin_error error;
    margin_metrics metrics = {.size = sizeof metrics};
    double p[3 * ROWS];
    int64_t labels[ROWS], length;
    void *bytes;
    assert_int_equal(margin_promise(one, plain, &data, &temperature, &a, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "a temperature could divide");
    assert_int_equal(margin_probabilities(plain, &data.x, p, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "of pairs of classes has no probabilities; calibrate it");
    assert_int_equal(margin_promise(one, plain, &data, &decide, &a, &error), MARGIN_OK);
    assert_int_equal(margin_promise(three, plain, &data, &decide, &b, &error), MARGIN_OK);
    assert_same_model(a, b);
    assert_int_equal(margin_model_encode(a, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_decode(one, bytes, length, &again, &error), MARGIN_OK);
    margin_bytes_free(a, bytes);
    assert_int_equal(margin_probabilities(again, &data.x, p, &error), MARGIN_OK);
    assert_int_equal(margin_predict(again, &data.x, labels, &error), MARGIN_OK);
    for (int i = 0; i < ROWS; i++) {
        double least = (double)INFINITY;
        int64_t best = -1;
        for (int c = 0; c < 3; c++) {
            double cost = 0;
            for (int truth = 0; truth < 3; truth++)
                cost += p[3 * i + truth] * costs[3 * truth + c];
            if (cost < least) best = c;
            least = fmin(least, cost);
        }
        assert_int_equal(labels[i], best);
    }
    assert_int_equal(margin_evaluate(one, again, &data, &metrics, &error), MARGIN_OK);
    assert_true(metrics.log_loss > 0 && metrics.log_loss < 1);
    margin_metrics_free(&metrics);
    margin_model_free(again);
    margin_model_free(a);
    margin_model_free(b);
    margin_model_free(plain);
    margin_context_free(one);
    margin_context_free(three);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sigmoids),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_reliable),
        cmocka_unit_test(test_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
