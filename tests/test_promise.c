/* What is settled after a fit: against plain loops of fits, by simulation, through files. */
#include "margin/margin.h"
#include "model/store/store.h"
#include "support/group_context.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, COLUMNS = 3, NEW = 7 };

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

static uint64_t drawn;
static double draw(void) {
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (double)(drawn >> 11) * 0x1p-53;
}
static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += draw();
    return sum;
}

typedef struct {
    double x[ROWS * COLUMNS], y[ROWS], kind[ROWS], query[NEW * COLUMNS];
} made;

/* y is linear with noise; kinds are classes that overlap. */
static void make(made *m, int classes) {
    drawn = 7;
    for (int i = 0; i < NEW * COLUMNS; i++)
        m->query[i] = 2 * normal();
    for (int i = 0; i < ROWS; i++) {
        double *x = m->x + i * COLUMNS;
        m->kind[i] = i % classes;
        for (int j = 0; j < COLUMNS; j++)
            x[j] = normal() + (j < classes && i % classes == j ? 1.5 : 0);
        m->y[i] = 3 + 2 * x[0] - x[1] + normal();
    }
}

static margin_data data_of(const made *m, bool numbers) {
    return (margin_data){.x = margin_dense_f64(m->x, ROWS, COLUMNS, COLUMNS),
                         .y = margin_values_f64(numbers ? m->y : m->kind, ROWS)};
}

static margin_model *fit(margin_context *c, const char *spec, const margin_data *data) {
    margin_spec *parsed;
    margin_model *model;
    OK(margin_spec_parse(c, spec, &parsed, &error));
    OK(margin_fit(c, parsed, data, &model, NULL, &error));
    margin_spec_free(parsed);
    return model;
}

static margin_model *promise(margin_context *c, const char *spec, const margin_data *data,
                             const margin_promise_options *o) {
    margin_model *model = fit(c, spec, data), *promised;
    OK(margin_promise(c, model, data, o, &promised, &error));
    margin_model_free(model);
    return promised;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- Coverage against loops ------------------------------------------------------------------ */

/* Intervals from one fit for each fold: jackknife+ where folds are rows. */
static void plain_intervals(const char *spec, const made *m, const margin_splits *splits,
                            double level, double lower[NEW], double upper[NEW]) {
    double low[NEW][ROWS], high[NEW][ROWS], at[NEW], own[ROWS];
    int64_t rows[ROWS];
    margin_data data = data_of(m, true);
    const margin_matrix query = margin_dense_f64(m->query, NEW, COLUMNS, COLUMNS);
    for (int64_t k = 0; k < margin_splits_count(splits); k++) {
        data.selection = rows;
        data.selected = margin_splits_rows(splits, k, MARGIN_PART_TRAIN, rows);
        margin_model *without = fit(context, spec, &data);
        OK(margin_predict_values(without, &query, at, &error));
        OK(margin_predict_values(without, &data.x, own, &error));
        const int64_t count = margin_splits_rows(splits, k, MARGIN_PART_TEST, rows);
        for (int64_t i = 0; i < count; i++)
            for (int q = 0; q < NEW; q++) {
                const double miss = fabs(m->y[rows[i]] - own[rows[i]]);
                low[q][rows[i]] = at[q] - miss;
                high[q][rows[i]] = at[q] + miss;
            }
        margin_model_free(without);
    }
    const int k = (int)floor((1 - level) * (ROWS + 1) + 1e-9);
    for (int q = 0; q < NEW; q++) {
        qsort(low[q], ROWS, sizeof(double), ascending);
        qsort(high[q], ROWS, sizeof(double), ascending);
        lower[q] = low[q][k - 1];
        upper[q] = high[q][ROWS - k];
    }
}

static void test_intervals(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int folds; /* -1: each row by itself */
    } cases[] = {{"least-squares", -1},
                 {"standardize | least-squares", -1},
                 {"ridge(alpha=5)", -1},
                 {"ridge(alpha=5, intercept=no)", -1},
                 {"standardize | ridge(alpha=5)", 10},
                 {"knn(k=3, task=regress)", 10},
                 {"poly(degree=2) | least-squares", 6}};
    made m;
    make(&m, 2);
    const margin_data data = data_of(&m, true);
    const margin_data query = {.x = margin_dense_f64(m.query, NEW, COLUMNS, COLUMNS)};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const margin_promise_options o = {
            .size = sizeof o, .coverage = 0.8, .seed = 5, .folds = cases[n].folds == 6 ? 6 : 0};
        const margin_split_options split = {
            .size = sizeof split, .folds = cases[n].folds, .seed = 5};
        double lower[NEW], upper[NEW], low[NEW], high[NEW];
        margin_splits *splits;
        margin_model *model = promise(context, cases[n].spec, &data, &o);
        OK(margin_split(context, &data, &split, &splits, &error));
        OK(margin_predict_intervals(context, model, &query, lower, upper, &error));
        plain_intervals(cases[n].spec, &m, splits, 0.8, low, high);
        for (int q = 0; q < NEW; q++) {
            assert_close(lower[q], low[q], 1e-7);
            assert_close(upper[q], high[q], 1e-7);
        }
        assert_true(margin_model_coverage(model) == 0.8);
        margin_coverage_found found = {.size = sizeof found};
        OK(margin_coverage(context, model, &data, &found, &error));
        assert_true(found.rows == ROWS && found.covered > 0.6 && found.width > 0);
        margin_splits_free(splits);
        margin_model_free(model);
    }
}

/* Every row is there as often as its group has rows: left out alone it would be met by its copies.
 * Without a word there are 10 folds, or as many as groups. */
static void test_intervals_of_groups(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "ridge(alpha=5)"};
    double group[ROWS];
    made m;
    for (int n = 0; n < 4; n++) {
        const int groups = n < 2 ? ROWS / 2 : 6;
        make(&m, 2);
        for (int i = 0; i < ROWS; i++) {
            memcpy(m.x + i * COLUMNS, m.x + i % groups * COLUMNS, COLUMNS * sizeof *m.x);
            m.y[i] = m.y[i % groups];
            group[i] = i % groups;
        }
        const margin_data data = data_of(&m, true);
        const margin_data query = {.x = margin_dense_f64(m.query, NEW, COLUMNS, COLUMNS)};
        const margin_promise_options o = {
            .size = sizeof o, .coverage = 0.8, .seed = 5, .groups = margin_values_f64(group, ROWS)};
        const margin_split_options split = {
            .size = sizeof split, .folds = n < 2 ? 10 : 6, .seed = 5, .groups = o.groups};
        double lower[NEW], upper[NEW], low[NEW], high[NEW];
        margin_splits *splits;
        margin_model *model = promise(context, specs[n % 2], &data, &o);
        OK(margin_split(context, &data, &split, &splits, &error));
        OK(margin_predict_intervals(context, model, &query, lower, upper, &error));
        plain_intervals(specs[n % 2], &m, splits, 0.8, low, high);
        for (int q = 0; q < NEW; q++) {
            assert_close(lower[q], low[q], 1e-7);
            assert_close(upper[q], high[q], 1e-7);
        }
        margin_splits_free(splits);
        margin_model_free(model);
    }
}

/* An intercept that is exactly 0 is one, and leaves with each row: from the least f_-i - R_i to the
 * greatest f_-i + R_i of seven lines. */
static void test_intercept_of_zero(void **state) {
    (void)state;
    static const double x[] = {-3, -2, -1, 0, 1, 2, 3}, y[] = {-5.25, -3, -2.5, 0, 2.5, 3, 5.25};
    const margin_data data = {.x = margin_dense_f64(x, 7, 1, 1), .y = margin_values_f64(y, 7)};
    const margin_data query = {.x = margin_dense_f64(x, 1, 1, 1)};
    const margin_promise_options o = {.size = sizeof o, .coverage = 0.8};
    double lower, upper;
    margin_model *model = promise(context, "least-squares", &data, &o);
    assert_true(margin_model_intercept(model, 0) == 0);
    OK(margin_predict_intervals(context, model, &query, &lower, &upper, &error));
    assert_close(lower, -6.1645962732919255, 1e-12);
    assert_close(upper, -4.027950310559005, 1e-12);
    margin_model_free(model);
    /* A stage that found the mean 0 finds another without a row. */
    double through, staged;
    model = promise(context, "least-squares(intercept=no)", &data, &o);
    OK(margin_predict_intervals(context, model, &query, &through, &upper, &error));
    margin_model_free(model);
    model = promise(context, "standardize | least-squares(intercept=no)", &data, &o);
    OK(margin_predict_intervals(context, model, &query, &staged, &upper, &error));
    assert_true(fabs(staged - through) > 0.01);
    margin_model_free(model);
}

/* Of columns that rounding hardly tells apart the factor has no digits: fits of folds are asked. */
static void test_nearly_dependent_columns(void **state) {
    (void)state;
    enum { COUNT = 24 };
    double x[COUNT * 2], y[COUNT];
    for (int near = 0; near < 2; near++) {
        for (int i = 0; i < COUNT; i++) {
            x[2 * i] = sin(i);
            x[2 * i + 1] = x[2 * i] + (near ? 1e-8 : 1.0) * cos(3 * i);
            y[i] = 2 * x[2 * i] + 0.3 * sin(5 * i);
        }
        const margin_data data = {.x = margin_dense_f64(x, COUNT, 2, 2),
                                  .y = margin_values_f64(y, COUNT)};
        const margin_promise_options o = {.size = sizeof o, .coverage = 0.8};
        margin_tensor kept = {.size = sizeof kept};
        margin_model *model = promise(context, "least-squares", &data, &o);
        assert_int_equal(margin_model_tensor_find(model, "addition.left_out", &kept), !near);
        margin_model_free(model);
    }
}

static void test_sets(void **state) {
    (void)state;
    static const char *const specs[] = {"logistic", "svm(multiclass=ovo)", "knn(k=5)",
                                        "naive-bayes(distribution=gaussian)"};
    made m;
    for (int classes = 2; classes <= 3; classes++)
        for (size_t n = 0; n < sizeof specs / sizeof *specs; n++) {
            make(&m, classes);
            margin_data data = data_of(&m, false);
            const margin_data query = {.x = margin_dense_f64(m.query, NEW, COLUMNS, COLUMNS)};
            const margin_promise_options o = {
                .size = sizeof o, .coverage = 0.85, .folds = 5, .seed = 2};
            const margin_split_options split = {
                .size = sizeof split, .folds = 5, .seed = 2, .stratify = 1};
            margin_model *model = promise(context, specs[n], &data, &o);
            margin_splits *splits;
            int64_t rows[ROWS];
            uint8_t sets[NEW * 3];
            int as_strange[NEW][3] = {{0}};
            OK(margin_predict_sets(context, model, &query, sets, &error));
            OK(margin_split(context, &data, &split, &splits, &error));
            for (int64_t k = 0; k < 5; k++) {
                margin_data part = data;
                double own[ROWS], other[ROWS], labels[NEW];
                part.selection = rows;
                part.selected = margin_splits_rows(splits, k, MARGIN_PART_TRAIN, rows);
                margin_model *without = fit(context, specs[n], &part);
                part.selected = margin_splits_rows(splits, k, MARGIN_PART_TEST, rows);
                OK(margin_margins(context, without, &part, own, NULL, &error));
                for (int c = 0; c < classes; c++) {
                    margin_data asked = query;
                    for (int q = 0; q < NEW; q++)
                        labels[q] = c;
                    asked.y = margin_values_f64(labels, NEW);
                    OK(margin_margins(context, without, &asked, other, NULL, &error));
                    for (int q = 0; q < NEW; q++)
                        for (int64_t i = 0; i < part.selected; i++)
                            as_strange[q][c] += -own[i] >= -other[q];
                }
                margin_model_free(without);
            }
            for (int q = 0; q < NEW; q++)
                for (int c = 0; c < classes; c++)
                    assert_int_equal(sets[q * classes + c],
                                     as_strange[q][c] + 1 > 0.15 * (ROWS + 1) + 1e-9);
            margin_splits_free(splits);
            margin_model_free(model);
        }
}

/* ---- Coverage by simulation ------------------------------------------------------------------ */

/* A row of one of five kinds: linear, curved, of growing noise, of heavy tails, all the same y. */
static double truth_at(int kind, double x) {
    const double e = normal();
    switch (kind) {
    case 0:
        return 1 + x + e;
    case 1:
        return x * x + e;
    case 2:
        return x + fabs(x) * e;
    case 3:
        return x + e / (0.05 + draw());
    default:
        return 4;
    }
}

/* A new row is in its interval as often as promised: within 4 standard errors of 0.8 below. Few
 * rows above it: intervals are as wide as they must be, and no wider. */
static void test_simulation(void **state) {
    (void)state;
    enum { TRAIN = 19, DRAWS = 1000 / SUPPORT_SLOWER };
    margin_context *one = support_context(NULL, 1);
    const margin_promise_options o = {.size = sizeof o, .coverage = 0.8, .folds = 5};
    for (int kind = 0; kind < 5; kind++)
        for (int folds = 0; folds < 2; folds++) {
            int held = 0;
            drawn = 100 + (uint64_t)kind;
            for (int n = 0; n < DRAWS; n++) {
                double x[TRAIN], y[TRAIN], at = normal(), lower, upper;
                for (int i = 0; i < TRAIN; i++) {
                    x[i] = normal();
                    y[i] = truth_at(kind, x[i]);
                }
                const double truth = truth_at(kind, at);
                const margin_data data = {.x = margin_dense_f64(x, TRAIN, 1, 1),
                                          .y = margin_values_f64(y, TRAIN)},
                                  query = {.x = margin_dense_f64(&at, 1, 1, 1)};
                margin_model *model =
                    promise(one, folds ? "knn(k=3, task=regress)" : "ridge(alpha=1)", &data, &o);
                OK(margin_predict_intervals(one, model, &query, &lower, &upper, &error));
                held += lower - 1e-9 <= truth && truth <= upper + 1e-9;
                margin_model_free(model);
            }
            const double share = (double)held / DRAWS, noise = sqrt(0.8 * 0.2 / DRAWS);
            if (share < 0.8 - 4 * noise || (kind == 0 && share > 0.86 + 4 * noise))
                fail_msg("kind %d, folds %d: %g of the rows were in their interval", kind, folds,
                         share);
        }
    margin_context_free(one);
}

/* ---- Calibration ----------------------------------------------------------------------------- */

/* Scores of fits that did not see the rows. */
static void crossed(const char *spec, const margin_data *data, int64_t folds, int functions,
                    double *scores) {
    const margin_split_options o = {.size = sizeof o, .folds = folds, .stratify = 1};
    int64_t rows[ROWS];
    double own[ROWS * 3];
    margin_splits *splits;
    OK(margin_split(context, data, &o, &splits, &error));
    for (int64_t k = 0; k < folds; k++) {
        margin_data part = *data;
        part.selection = rows;
        part.selected = margin_splits_rows(splits, k, MARGIN_PART_TRAIN, rows);
        margin_model *without = fit(context, spec, &part);
        OK(margin_scores(without, &data->x, own, &error));
        const int64_t count = margin_splits_rows(splits, k, MARGIN_PART_TEST, rows);
        for (int64_t i = 0; i < count; i++)
            memcpy(scores + rows[i] * functions, own + rows[i] * functions,
                   (size_t)functions * sizeof *own);
        margin_model_free(without);
    }
    margin_splits_free(splits);
}

/* What a curve of two classes is best for, of the probabilities it gives the crossed scores. */
static double worth(int kind, const made *m, const double *p) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        const double y =
            kind == MARGIN_CALIBRATE_SIGMOID
                ? (m->kind[i] > 0 ? (ROWS / 2 + 1.0) / (ROWS / 2 + 2.0) : 1 / (ROWS / 2 + 2.0))
                : m->kind[i];
        if (kind == MARGIN_CALIBRATE_ISOTONIC)
            sum += (p[i] - y) * (p[i] - y);
        else
            sum -= y * log(p[i]) + (1 - y) * log(1 - p[i]);
    }
    return sum;
}

static double logistic(double t) {
    return 1 / (1 + exp(-t));
}

/* The curve is better than all near it, rises with the score, and labels are the most probable
 * class; the one of least squares is that of brute force over blocks (minimax formula). */
static void test_two_class_calibration(void **state) {
    (void)state;
    made m;
    double s[ROWS], p[ROWS];
    make(&m, 2);
    const margin_data data = data_of(&m, false);
    crossed("svm", &data, 10, 1, s);
    for (int kind = 1; kind <= 3; kind++) {
        const margin_promise_options o = {.size = sizeof o, .calibrate = kind};
        margin_model *model = promise(context, "svm", &data, &o);
        double probability[ROWS * 2], scores[ROWS];
        int64_t labels[ROWS];
        assert_int_equal(margin_model_calibration(model), kind);
        OK(margin_probabilities(model, &data.x, probability, &error));
        OK(margin_scores(model, &data.x, scores, &error));
        OK(margin_predict(model, &data.x, labels, &error));
        for (int i = 0; i < ROWS; i++) {
            assert_int_equal(labels[i], probability[2 * i + 1] >= 0.5);
            assert_close(probability[2 * i] + probability[2 * i + 1], 1, 1e-15);
            for (int j = 0; j < ROWS; j++)
                assert_true(scores[i] < scores[j] ? probability[2 * i + 1] <= probability[2 * j + 1]
                                                  : true);
        }
        /* the curve itself: of a line through two of its points */
        if (kind != MARGIN_CALIBRATE_ISOTONIC) {
            int a = 0, b = 0;
            for (int i = 0; i < ROWS; i++) {
                if (scores[i] < scores[a]) a = i;
                if (scores[i] > scores[b]) b = i;
            }
            const double la = margin_log_odds(probability[2 * a + 1]),
                         lb = margin_log_odds(probability[2 * b + 1]);
            const double slope = (lb - la) / (scores[b] - scores[a]),
                         level = la - slope * scores[a];
            if (kind == MARGIN_CALIBRATE_TEMPERATURE) assert_close(level, 0, 1e-9);
            for (int i = 0; i < ROWS; i++)
                p[i] = logistic(slope * s[i] + level);
            const double best = worth(kind, &m, p);
            for (int step = 0; step < 4; step++) {
                const double da = step < 2 ? (step ? 1e-3 : -1e-3) : 0,
                             db = step >= 2 ? (step > 2 ? 1e-3 : -1e-3) : 0;
                if (db != 0 && kind == MARGIN_CALIBRATE_TEMPERATURE) continue;
                for (int i = 0; i < ROWS; i++)
                    p[i] = logistic((slope + da) * s[i] + level + db);
                assert_true(worth(kind, &m, p) > best);
            }
        } else {
            for (int i = 0; i < ROWS; i++) { /* max over starts of min over ends of block means */
                double most = -1;
                for (int a = 0; a < ROWS; a++) {
                    double least = 2;
                    if (s[a] > s[i]) continue;
                    for (int b = 0; b < ROWS; b++) {
                        double sum = 0, count = 0;
                        if (s[b] < s[i]) continue;
                        for (int k = 0; k < ROWS; k++)
                            if (s[a] <= s[k] && s[k] <= s[b]) {
                                sum += m.kind[k];
                                count++;
                            }
                        least = fmin(least, sum / count);
                    }
                    most = fmax(most, least);
                }
                p[i] = fmin(fmax(most, 1.0 / (ROWS + 2)), 1 - 1.0 / (ROWS + 2));
            }
            for (int i = 0; i < ROWS; i++) { /* where a score lies between two crossed ones */
                double below = 0, above = 1;
                for (int k = 0; k < ROWS; k++) {
                    if (s[k] <= scores[i]) below = fmax(below, p[k]);
                    if (s[k] >= scores[i]) above = fmin(above, p[k]);
                }
                assert_true(probability[2 * i + 1] >= below - 1e-12 &&
                            probability[2 * i + 1] <= above + 1e-12);
            }
        }
        margin_model_free(model);
    }
}

static void test_many_classes(void **state) {
    (void)state;
    static const char *const specs[] = {"softmax", "logistic", "svm", "knn(k=5)", "perceptron"};
    made m;
    make(&m, 3);
    const margin_data data = data_of(&m, false);
    for (size_t n = 0; n < sizeof specs / sizeof *specs; n++)
        for (int kind = 1; kind <= 3; kind++) {
            const margin_promise_options o = {.size = sizeof o, .calibrate = kind, .folds = 4};
            margin_model *plain = fit(context, specs[n], &data),
                         *model = promise(context, specs[n], &data, &o);
            double p[ROWS * 3];
            int64_t labels[ROWS], before[ROWS];
            assert_true(margin_model_has_probabilities(model));
            OK(margin_probabilities(model, &data.x, p, &error));
            OK(margin_predict(model, &data.x, labels, &error));
            OK(margin_predict(plain, &data.x, before, &error));
            for (int i = 0; i < ROWS; i++) {
                double sum = 0;
                for (int c = 0; c < 3; c++) {
                    sum += p[3 * i + c];
                    assert_true(p[3 * i + c] <= p[3 * i + labels[i]]);
                }
                assert_close(sum, 1, 1e-14);
                if (kind == MARGIN_CALIBRATE_TEMPERATURE) assert_int_equal(labels[i], before[i]);
            }
            margin_model_free(model);
            margin_model_free(plain);
        }
}

/* ---- Decisions ------------------------------------------------------------------------------- */

/* Votes of knn that count w(class) are a decision by cost, w(class) for each mistake. */
static void check_weighed_votes(const made *m) {
    const margin_data data = data_of(m, false);
    const double w[3] = {1, 4, 1.5}, costs[9] = {0, 1, 1, 4, 0, 4, 1.5, 1.5, 0};
    const margin_promise_options o = {.size = sizeof o, .costs = costs, .cost_count = 9};
    margin_model *plain = fit(context, "knn(k=9)", &data);
    margin_model *model = promise(context, "knn(k=9)", &data, &o);
    double votes[ROWS * 3], p[ROWS * 3];
    int64_t labels[ROWS];
    OK(margin_probabilities(plain, &data.x, votes, &error));
    OK(margin_probabilities(model, &data.x, p, &error));
    OK(margin_predict(model, &data.x, labels, &error));
    assert_memory_equal(p, votes, sizeof votes);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < 3; c++)
            assert_true(w[c] * votes[3 * i + c] <= w[labels[i]] * votes[3 * i + labels[i]] + 1e-12);
    margin_model_free(plain);
    margin_model_free(model);
}

static void test_decisions(void **state) {
    (void)state;
    made m;
    make(&m, 3);
    margin_data data = data_of(&m, false);
    const double costs[9] = {0, 1, 7, 2, 0, 1, 1, 3, 0};
    const margin_promise_options o = {.size = sizeof o, .costs = costs, .cost_count = 9};
    margin_model *model = promise(context, "softmax", &data, &o);
    double p[ROWS * 3], two[ROWS * 2], best = -1, chosen = 0;
    int64_t labels[ROWS];
    OK(margin_probabilities(model, &data.x, p, &error));
    OK(margin_predict(model, &data.x, labels, &error));
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < 3; c++) {
            double cost = 0, mine = 0;
            for (int t = 0; t < 3; t++) {
                cost += p[3 * i + t] * costs[3 * t + c];
                mine += p[3 * i + t] * costs[3 * t + labels[i]];
            }
            assert_true(mine <= cost + 1e-12);
        }
    assert_memory_equal(margin_model_costs(model), costs, sizeof costs);
    margin_model_free(model);
    check_weighed_votes(&m);
    make(&m, 2);
    data = data_of(&m, false);
    for (double threshold = 0.1; threshold < 1; threshold += 0.4) {
        const margin_promise_options at = {.size = sizeof at, .threshold = threshold};
        margin_model *changed, *plain = fit(context, "logistic", &data);
        model = promise(context, "logistic", &data, &at);
        OK(margin_probabilities(model, &data.x, two, &error));
        OK(margin_predict(model, &data.x, labels, &error));
        for (int i = 0; i < ROWS; i++)
            assert_int_equal(labels[i], two[2 * i + 1] >= threshold);
        OK(margin_model_with_threshold(context, plain, threshold, &changed, &error));
        assert_true(margin_model_threshold(changed) == threshold &&
                    isnan(margin_model_threshold(plain)));
        margin_model_free(changed);
        margin_model_free(plain);
        margin_model_free(model);
    }
    /* recall of the second class is best where all rows are it; precision where few are */
    const margin_promise_options recall = {.size = sizeof recall, .threshold_metric = "recall"},
                                 f1 = {.size = sizeof f1, .threshold_metric = "f1"};
    model = promise(context, "logistic", &data, &recall);
    double s[ROWS];
    crossed("logistic", &data, 10, 1, s);
    for (int i = 0; i < ROWS; i++)
        if (m.kind[i] > 0) assert_true(logistic(s[i]) >= margin_model_threshold(model));
    margin_model_free(model);
    model = promise(context, "logistic", &data, &f1);
    for (int k = 0; k <= ROWS; k++) { /* no threshold at a row does better */
        const double at = k < ROWS ? logistic(s[k]) : margin_model_threshold(model);
        double right = 0, given = 0;
        for (int i = 0; i < ROWS; i++) {
            given += logistic(s[i]) >= at;
            right += logistic(s[i]) >= at && m.kind[i] > 0;
        }
        const double found = 2 * right / (given + ROWS / 2);
        if (k < ROWS)
            best = fmax(best, found);
        else
            chosen = found;
    }
    assert_close(chosen, best, 1e-12);
    margin_model_free(model);
}

/* ---- Files, threads, refusals ---------------------------------------------------------------- */

static const margin_promise_options everything = {.size = sizeof everything,
                                                  .calibrate = MARGIN_CALIBRATE_ISOTONIC,
                                                  .coverage = 0.8,
                                                  .threshold = 0.3,
                                                  .folds = 3};

static void test_files_and_threads(void **state) {
    (void)state;
    made m;
    make(&m, 2);
    const margin_data data = data_of(&m, false);
    void *bytes[2];
    int64_t length[2];
    margin_model *models[2], *back;
    for (int k = 0; k < 2; k++) {
        margin_context *c = support_context(NULL, 1 + 3 * k);
        models[k] = promise(c, "standardize | logistic", &data, &everything);
        OK(margin_model_encode(models[k], &bytes[k], &length[k], &error));
        margin_context_free(c);
    }
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)length[0]);
    OK(margin_model_decode(context, bytes[0], length[0], &back, &error));
    uint8_t a[ROWS * 2], b[ROWS * 2];
    int64_t la[ROWS], lb[ROWS];
    OK(margin_predict_sets(context, models[0], &data, a, &error));
    OK(margin_predict_sets(context, back, &data, b, &error));
    OK(margin_predict(models[0], &data.x, la, &error));
    OK(margin_predict(back, &data.x, lb, &error));
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(la, lb, sizeof la);
    margin_report found = {0};
    assert_int_equal(margin_verify(context, back, &data, &found, &error), MARGIN_OK);
    assert_contains(found.reason, "what was settled after the fit");
    for (int k = 0; k < 2; k++) {
        margin_bytes_free(models[k], bytes[k]);
        margin_model_free(models[k]);
    }
    margin_model_free(back);
}

/* Files that somebody has changed, with the right checksum: refused, or a model that answers. */
static void test_hostile(void **state) {
    (void)state;
    made m;
    make(&m, 2);
    const margin_data data = data_of(&m, false), numbers = data_of(&m, true);
    int refused = 0;
    for (int regress = 0; regress < 2; regress++) {
        const margin_promise_options o = {.size = sizeof o, .coverage = 0.8};
        margin_model *model =
            regress ? promise(context, "ridge", &numbers, &o)
                    : promise(context, "naive-bayes(distribution=gaussian)", &data, &everything);
        void *bytes;
        int64_t length;
        OK(margin_model_encode(model, &bytes, &length, &error));
        unsigned char *changed = malloc((size_t)length);
        drawn = 3;
        for (int n = 0; n < 2000 / SUPPORT_SLOWER; n++) {
            margin_model *loaded;
            memcpy(changed, bytes, (size_t)length);
            for (int k = 0; k < 1 + n % 3; k++) {
                const int64_t at = 8 + (int64_t)(draw() * (double)(length - 8));
                changed[at] = (unsigned char)(n % 2 ? (int)(draw() * 256)
                                                    : changed[at] ^ (1 << (int)(draw() * 8)));
            }
            if (!mg_store_seal(changed, length)) continue;
            if (margin_model_decode(context, changed, length, &loaded, &error) < 0) {
                refused++;
                continue;
            }
            double lower[ROWS], upper[ROWS], p[ROWS * 2];
            uint8_t sets[ROWS * 2];
            if (!isnan(margin_model_coverage(loaded)) &&
                (regress ? margin_predict_intervals(context, loaded, &numbers, lower, upper, &error)
                         : margin_predict_sets(context, loaded, &data, sets, &error)) < 0)
                assert_non_null(error.text);
            if (!regress && margin_probabilities(loaded, &data.x, p, &error) < 0)
                assert_non_null(error.text);
            margin_model_free(loaded);
        }
        free(changed);
        margin_bytes_free(model, bytes);
        margin_model_free(model);
    }
    assert_true(refused > 100 / SUPPORT_SLOWER);
}

static void refuses(const margin_model *model, const margin_data *data, margin_promise_options o,
                    margin_status status, const char *text) {
    margin_model *promised = (void *)&o;
    o.size = sizeof o;
    assert_int_equal(margin_promise(context, model, data, &o, &promised, &error), status);
    assert_contains(error.text, text);
    assert_ptr_equal(promised, &o);
}

static void test_refusals(void **state) {
    (void)state;
    made m;
    double weights[ROWS];
    make(&m, 3);
    margin_data data = data_of(&m, false), numbers = data_of(&m, true);
    margin_model *pairs = fit(context, "svm(multiclass=ovo)", &data),
                 *three = fit(context, "softmax", &data), *line = fit(context, "ridge", &numbers);
    margin_model *svm = fit(context, "svm", &data);
    const double costs[4] = {0, 1, 1, (double)NAN};
    const margin_status a = MARGIN_ERROR_ARGUMENT;
    refuses(line, &numbers, (margin_promise_options){.coverage = 1}, a, "a coverage of 1");
    refuses(line, &numbers, (margin_promise_options){.coverage = -0.5}, a, "a coverage of -0.5");
    refuses(line, &numbers, (margin_promise_options){.coverage = 1e-12}, a, "tell from none");
    for (int more = -1; more <= 1; more += 2) {
        margin_data other = numbers;
        other.x = margin_dense_f64(m.x, ROWS / 2, COLUMNS + more, COLUMNS + more);
        other.y = margin_values_f64(m.y, ROWS / 2);
        refuses(line, &other, (margin_promise_options){.coverage = 0.8}, a, "the data has");
    }
    refuses(line, &numbers, (margin_promise_options){.coverage = 0.99}, a,
            "60 rows can promise a coverage of at most 60/61");
    refuses(line, &numbers, (margin_promise_options){.calibrate = 1}, a, "no probabilities");
    refuses(pairs, &data, (margin_promise_options){.calibrate = 3}, a, "pairs of classes");
    refuses(three, &data, (margin_promise_options){.calibrate = 4}, a, "4 is no calibration");
    refuses(three, &data, (margin_promise_options){.threshold = 0.4}, a, "has 3; give costs");
    refuses(svm, &data, (margin_promise_options){.costs = costs, .cost_count = 4}, a,
            "has no probabilities to decide by; calibrate it");
    refuses(three, &data, (margin_promise_options){.costs = costs, .cost_count = 4}, a,
            "4 costs for 3 classes");
    refuses(three, &data, (margin_promise_options){.folds = 1}, a, "1 fold");
    refuses(three, &data, (margin_promise_options){.coverage = 0.8, .folds = 30}, MARGIN_ERROR_DATA,
            "class '0' has 20 rows, fewer than the 30 folds");
    for (int i = 0; i < ROWS; i++) /* one group has all rows of class 0 */
        weights[i] = m.kind[i] == 0 ? 7 : i % 5;
    for (int folds = 0; folds <= 3; folds += 3)
        refuses(three, &data,
                (margin_promise_options){
                    .calibrate = 1, .folds = folds, .groups = margin_values_f64(weights, ROWS)},
                MARGIN_ERROR_DATA, "class '0' has 1 group");
    for (int i = 0; i < ROWS; i++)
        weights[i] = 1 + i % 2;
    numbers.weights = margin_values_f64(weights, ROWS);
    refuses(line, &numbers, (margin_promise_options){.coverage = 0.8}, a, "leave the weights out");
    margin_model_free(svm);
    make(&m, 2);
    margin_model *two = fit(context, "logistic", &data), *more;
    refuses(two, &data, (margin_promise_options){.threshold_metric = "auc"}, a,
            "'auc' is no metric that a threshold changes");
    refuses(two, &data, (margin_promise_options){.threshold = 0.5, .threshold_metric = "f1"}, a,
            "exclude each other");
    refuses(two, &data, (margin_promise_options){.threshold = 2}, a, "threshold 2");
    margin_promise_options o = {.size = sizeof o, .threshold = 0.5};
    OK(margin_promise(context, two, &data, &o, &more, &error));
    refuses(more, &data, (margin_promise_options){.threshold = 0.2}, a, "has promises already");
    double lower[ROWS], upper[ROWS];
    assert_int_equal(margin_predict_intervals(context, line, &numbers, lower, upper, &error), a);
    assert_contains(error.text, "promises no coverage");
    margin_model_free(more);
    margin_model_free(two);
    margin_model_free(line);
    margin_model_free(three);
    margin_model_free(pairs);
}

typedef struct {
    const margin_data *data;
    const margin_promise_options *options;
    const char *spec;
} promised_case;

static margin_status promise_once(margin_context *c, void *user, margin_error *e) {
    const promised_case *p = user;
    margin_spec *spec = NULL;
    margin_model *model = NULL, *promised = NULL;
    uint8_t sets[ROWS * 2];
    double lower[ROWS], upper[ROWS];
    margin_status status = margin_spec_parse(c, p->spec, &spec, e);
    if (status >= 0) status = margin_fit(c, spec, p->data, &model, NULL, e);
    if (status >= 0) status = margin_promise(c, model, p->data, p->options, &promised, e);
    if (status >= 0)
        status = margin_model_task(model) == MARGIN_REGRESS
                     ? margin_predict_intervals(c, promised, p->data, lower, upper, e)
                     : margin_predict_sets(c, promised, p->data, sets, e);
    margin_model_free(promised);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    made m;
    make(&m, 2);
    margin_data data = data_of(&m, false), numbers = data_of(&m, true);
    promised_case c = {&data, &everything, "naive-bayes(distribution=gaussian)"};
    assert_true(support_fail_each_allocation(1, promise_once, &c) > 50);
    const margin_promise_options o = {.size = sizeof o, .coverage = 0.8};
    c = (promised_case){&numbers, &o, "ridge"};
    assert_true(support_fail_each_allocation(1, promise_once, &c) > 20);
}

/* Twenty-one whole numbers are numbers, and so they are where a part of the rows has only twenty,
 * which alone would look like classes: in folds, and where settings are chosen for each of them. */
static void test_task_of_all_rows(void **state) {
    (void)state;
    made m;
    make(&m, 2);
    for (int i = 0; i < ROWS; i++)
        m.y[i] = 7 * (i < 20 ? i + 1 : i % 20);
    const margin_data data = data_of(&m, true);
    const margin_promise_options o = {.size = sizeof o, .coverage = 0.8};
    const margin_split_options outer = {.size = sizeof outer, .folds = 6, .in_order = 1},
                               inner = {.size = sizeof inner, .folds = 3};
    margin_model *model = fit(context, "knn", &data), *promised;
    assert_int_equal(margin_model_task(model), MARGIN_REGRESS);
    OK(margin_promise(context, model, &data, &o, &promised, &error));
    margin_model_free(promised);
    margin_model_free(model);
    margin_spec *spec;
    margin_splits *splits;
    margin_nested_result *nested;
    OK(margin_spec_parse(context, "knn(k={3,4})", &spec, &error));
    OK(margin_split(context, &data, &outer, &splits, &error));
    const margin_spec *const specs[] = {spec};
    OK(margin_search_nested(context, specs, 1, &data, splits, &inner, NULL, 0, &nested, &error));
    for (int f = 0; f < 6; f++)
        assert_true(margin_nested_fold_at(nested, f)->inside > 10); /* an rmse, no accuracy */
    margin_nested_result_free(nested);
    margin_splits_free(splits);
    margin_spec_free(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_intervals_of_groups),
        cmocka_unit_test(test_intercept_of_zero),
        cmocka_unit_test(test_nearly_dependent_columns),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_simulation),
        cmocka_unit_test(test_two_class_calibration),
        cmocka_unit_test(test_many_classes),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_files_and_threads),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_task_of_all_rows),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
