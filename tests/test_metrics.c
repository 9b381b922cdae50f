/* Metrics, margins and proofs against plain sums. */
#include "model_cases.h"

#include "model/judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

static const char *const specs[] = {
    "perceptron(passes=4)",
    "standardize | perceptron(passes=4)",
    "perceptron(passes=4, multiclass=ovo)",
    "minmax | perceptron(passes=4, multiclass=argmax)",
    "normalize | perceptron(passes=4, multiclass=ovo)",
    "perceptron(kernel=rbf, passes=4)",
    "perceptron(kernel=poly, passes=4, multiclass=ovo)",
};
enum { SPECS = sizeof specs / sizeof specs[0], ROWS = 120 };

typedef struct {
    margin_context *context;
    sample *samples[2]; /* two classes, four classes */
    double weights[ROWS];
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->context = support_context(NULL, 2);
    f->samples[0] = sample_make(ROWS, 4, 2, 0.15, 51);
    f->samples[1] = sample_make(ROWS, 4, 4, 0.15, 52);
    for (int i = 0; i < ROWS; i++)
        f->weights[i] = (i * 7 % 5) * 0.5;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sample_free(f->samples[0]);
    sample_free(f->samples[1]);
    margin_context_free(f->context);
    free(f);
    return 0;
}

/* ---- Metrics --------------------------------------------------------------------------------- */

/* The area by its definition: over all pairs of a negative and a positive row. */
static double slow_auc(const double *scores, const double *labels, const double *weights,
                       int64_t rows) {
    double sum = 0, pairs = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < rows; j++) {
            if (labels[i] != 0 || labels[j] != 1) continue;
            double weight = weights ? weights[i] * weights[j] : 1;
            pairs += weight;
            sum += weight * (scores[j] > scores[i] ? 1 : scores[j] == scores[i] ? 0.5 : 0);
        }
    return sum / pairs;
}

static void check_classes(const margin_model *model, const sample *s, const double *weights,
                          const margin_metrics *m) {
    int64_t k = margin_model_class_count(model), labels[ROWS];
    margin_matrix x = sample_view(s, DENSE_F64);
    double confusion[16] = {0}, total = 0, right = 0, f1 = 0;
    OK(margin_predict(model, &x, labels, &error));
    for (int i = 0; i < ROWS; i++) {
        double weight = weights ? weights[i] : 1;
        confusion[(int64_t)s->labels[i] * k + labels[i]] += weight;
        total += weight;
        if (s->labels[i] == (double)labels[i]) right += weight;
    }
    assert_int_equal(m->classes, k);
    assert_close(m->weight, total, 1e-13);
    assert_close(m->accuracy, right / total, 1e-13);
    assert_close(m->error, 1 - right / total, 1e-13);
    for (int64_t c = 0; c < k * k; c++)
        assert_close(m->confusion[c], confusion[c], 1e-13);
    for (int64_t c = k == 2; c < k; c++) {
        double rows = 0, given = 0, hits = confusion[c * k + c];
        for (int64_t d = 0; d < k; d++) {
            rows += confusion[c * k + d];
            given += confusion[d * k + c];
        }
        double precision = given > 0 ? hits / given : 0, recall = rows > 0 ? hits / rows : 0;
        if (precision + recall > 0) f1 += 2 * precision * recall / (precision + recall);
    }
    assert_close(m->f1, k == 2 ? f1 : f1 / (double)k, 1e-13);
    assert_true(isnan(m->log_loss) && isnan(m->rmse) && isnan(m->mae) && isnan(m->r2));
}

static void check_two_classes(const margin_model *model, const sample *s, const double *weights,
                              const margin_metrics *m) {
    margin_matrix x = sample_view(s, DENSE_F64);
    double *scores = scores_of(model, &x), single[ROWS];
    double mean = 0, least = (double)INFINITY, total = 0;
    bool two = margin_model_score_count(model) == 2;
    for (int i = 0; i < ROWS; i++) {
        single[i] = two ? scores[2 * i + 1] - scores[2 * i] : scores[i];
        double weight = weights ? weights[i] : 1, margin = (s->labels[i] > 0 ? 1 : -1) * single[i];
        if (weight == 0) continue;
        mean += weight * margin;
        total += weight;
        least = fmin(least, margin);
    }
    assert_close(m->auc, slow_auc(single, s->labels, weights, ROWS), 1e-12);
    assert_close(m->mean_margin, mean / total, 1e-12);
    assert_true(m->least_margin == least);
    const double *w = margin_model_weights(model, 0), *v = margin_model_weights(model, 1);
    int64_t features = 0;
    margin_model_features(model, &features);
    double norm = 0;
    for (int64_t j = 0; w && j < features; j++)
        norm += (w[j] - (v ? v[j] : 0)) * (w[j] - (v ? v[j] : 0));
    if (w)
        assert_close(m->least_geometric_margin, least / sqrt(norm), 1e-12);
    else
        assert_true(isnan(m->least_geometric_margin));
    free(scores);
}

static void test_metrics(void **state) {
    fixture *f = *state;
    for (int n = 0; n < SPECS; n++)
        for (int many = 0; many < 2; many++)
            for (int weighted = 0; weighted < 2; weighted++) {
                const sample *s = f->samples[many];
                margin_data data = sample_data(s, DENSE_F64);
                margin_report report = {0};
                margin_model *model = fit_text(f->context, specs[n], &data, &report);
                margin_metrics m = {.size = sizeof m};
                const double *weights = weighted ? f->weights : NULL;
                if (weighted) data.weights = margin_values_f64(weights, ROWS);
                OK(margin_evaluate(f->context, model, &data, &m, &error));
                assert_int_equal(m.task, MARGIN_CLASSIFY);
                assert_int_equal(m.rows, weighted ? ROWS * 4 / 5 : ROWS);
                check_classes(model, s, weights, &m);
                if (many)
                    assert_true(isnan(m.mean_margin));
                else
                    check_two_classes(model, s, weights, &m);
                if (!weighted) assert_close(m.accuracy, report.train_accuracy, 1e-15);
                margin_metrics_free(&m);
                margin_metrics_free(&m); /* twice is fine */
                margin_model_free(model);
            }
    margin_metrics_free(NULL);
}

/* ---- Labels of other data -------------------------------------------------------------------- */

static void test_labels(void **state) {
    fixture *f = *state;
    const char *const fruit[3] = {"fig", "plum", "pear"}, *const digits[4] = {"1.0", "3", "0", "2"};
    const char *const few[1] = {"nut"};
    const sample *s = f->samples[1];
    double numbers[ROWS], codes[ROWS];
    const int to_digit[4] = {2, 0, 3, 1};
    for (int i = 0; i < ROWS; i++) {
        numbers[i] = s->labels[i];
        codes[i] = to_digit[(int)s->labels[i]];
    }
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(f->context, specs[0], &data, NULL);
    margin_metrics plain = {.size = sizeof plain}, m = {.size = sizeof m};
    OK(margin_evaluate(f->context, model, &data, &plain, &error));

    /* categories whose names are the numbers */
    margin_column target = {
        .name = "kind", .kind = MARGIN_CATEGORICAL, .categories = digits, .category_count = 4};
    margin_data named = data;
    named.target = &target;
    named.y.values = codes;
    OK(margin_evaluate(f->context, model, &named, &m, &error));
    assert_true(m.accuracy == plain.accuracy);
    margin_metrics_free(&m);

    /* the other way: a model of categories, data with numbers */
    margin_model *categorical = fit_text(f->context, specs[0], &named, NULL);
    assert_string_equal(margin_model_class_name(categorical, 1), "1.0");
    memset(&m, 0x5C, sizeof m);
    m.size = sizeof m;
    margin_metrics before = m;
    assert_int_equal(margin_evaluate(f->context, categorical, &data, &m, &error),
                     MARGIN_ERROR_DATA); /* 1 is not "1.0" there: nothing says what that text is */
    assert_contains(error.text, "the label '1' in the target y, which the model does not know");
    assert_contains(error.text, "it knows 0, 1.0, 2, 3");
    assert_memory_equal(&m, &before, sizeof m);
    margin_model_free(categorical);

    numbers[17] = 9;
    data.y.values = numbers;
    assert_int_equal(margin_evaluate(f->context, model, &data, &m, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 18 has the label '9'");
    assert_contains(error.text, "it knows 0, 1, 2, 3");
    data.weights = margin_values_f64(f->weights, ROWS); /* row 18 has a weight, row 16 none */
    assert_true(f->weights[17] > 0 && f->weights[15] == 0);
    assert_int_equal(margin_evaluate(f->context, model, &data, &m, &error), MARGIN_ERROR_DATA);
    numbers[17] = 1;
    numbers[15] = 9;
    OK(margin_evaluate(f->context, model, &data, &m, &error));
    margin_metrics_free(&m);

    target.categories = fruit;
    target.category_count = 3;
    for (int i = 0; i < ROWS; i++)
        codes[i] = i % 3;
    assert_int_equal(margin_evaluate(f->context, model, &named, &m, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "the label 'fig' in the target kind");
    target.categories = few;
    target.category_count = 1;
    assert_int_equal(margin_evaluate(f->context, model, &named, &m, &error), MARGIN_ERROR_DATA);
    margin_metrics_free(&plain);
    margin_model_free(model);
}

/* A row whose scores are beyond double precision has no class and no rank among the others. */
static void test_overflow(void **state) {
    fixture *f = *state;
    const sample *s = f->samples[1];
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(f->context, "softmax(alpha=1e-9, max_iter=9)", &data, NULL);
    double x[ROWS * 4];
    margin_metrics m = {.size = sizeof m};
    int64_t labels[ROWS];
    memcpy(x, s->f64, sizeof x);
    for (int j = 0; j < 4; j++)
        x[28 + j] = j ? 0 : 1e308;
    data.x.values = x;
    OK(margin_predict(model, &data.x, labels, &error));
    assert_int_equal(labels[7], -1);
    assert_int_equal(margin_evaluate(f->context, model, &data, &m, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 8 has no class: its scores are beyond double precision");
    margin_model_free(model);
}

static void test_refusals(void **state) {
    fixture *f = *state;
    const sample *s = f->samples[0];
    margin_data data = sample_data(s, DENSE_F64), wrong = data;
    margin_model *model = fit_text(f->context, specs[0], &data, NULL);
    margin_metrics m = {.size = sizeof m};
    double numbers[ROWS];
    assert_int_equal(margin_evaluate(NULL, model, &data, &m, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_evaluate(f->context, NULL, &data, &m, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_evaluate(f->context, model, NULL, &m, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_evaluate(f->context, model, &data, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    wrong.y.values = NULL;
    assert_int_equal(margin_evaluate(f->context, model, &wrong, &m, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "no target");
    assert_int_equal(margin_margins(f->context, model, &wrong, numbers, NULL, &error),
                     MARGIN_ERROR_DATA);
    wrong = data;
    wrong.x.columns = 3;
    assert_int_equal(margin_evaluate(f->context, model, &wrong, &m, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "3 columns");
    assert_int_equal(margin_margins(f->context, model, NULL, numbers, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    wrong = data;
    wrong.x.rows = wrong.y.count = 0;
    assert_int_equal(margin_evaluate(f->context, model, &wrong, &m, &error), MARGIN_ERROR_DATA);

    double *gap = malloc(ROWS * 4 * sizeof *gap);
    memcpy(gap, s->f64, ROWS * 4 * sizeof *gap);
    gap[4 * 30 + 2] = (double)NAN;
    wrong = data;
    wrong.x.values = gap;
    assert_int_equal(margin_evaluate(f->context, model, &wrong, &m, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 31 has a missing value");
    free(gap);
    margin_model_free(model);
}

/* ---- Margins --------------------------------------------------------------------------------- */

static double weight_distance(const margin_model *model, int64_t f, int64_t g) {
    int64_t features = 0;
    margin_model_features(model, &features);
    const double *w = margin_model_weights(model, f);
    const double *v = g < 0 ? NULL : margin_model_weights(model, g);
    double square = 0;
    for (int64_t j = 0; j < features; j++)
        square += (w[j] - (v ? v[j] : 0)) * (w[j] - (v ? v[j] : 0));
    return sqrt(square);
}

/* Margin of a row by its definition; *norm: what it is divided by (linear models). */
static double slow_margin(const margin_model *model, const double *scores, int64_t label,
                          double *norm) {
    int64_t functions = margin_model_score_count(model), classes = margin_model_class_count(model);
    double best = (double)INFINITY;
    bool linear = margin_model_weights(model, 0) != NULL;
    *norm = (double)NAN;
    for (int64_t f = 0; f < functions; f++) {
        int64_t a, b, other = -1;
        double margin;
        margin_model_score_classes(model, f, &a, &b);
        if (functions == classes) { /* one function per class */
            if (f == label) continue;
            other = f;
            margin = scores[label] - scores[f];
        } else {
            if (a != label && b != label) continue;
            margin = a == label ? scores[f] : -scores[f];
        }
        if (margin >= best) continue;
        best = margin;
        if (linear)
            *norm =
                other < 0 ? weight_distance(model, f, -1) : weight_distance(model, label, other);
    }
    return best;
}

static void test_margins(void **state) {
    fixture *f = *state;
    for (int n = 0; n < SPECS; n++)
        for (int many = 0; many < 2; many++) {
            const sample *s = f->samples[many];
            margin_data data = sample_data(s, DENSE_F64);
            margin_model *model = fit_text(f->context, specs[n], &data, NULL);
            data.weights = margin_values_f64(f->weights, ROWS); /* makes no difference here */
            double functional[ROWS], geometric[ROWS], only[ROWS], norm;
            OK(margin_margins(f->context, model, &data, functional, geometric, &error));
            OK(margin_margins(f->context, model, &data, NULL, only, &error));
            assert_memory_equal(geometric, only, sizeof only);
            double *scores = scores_of(model, &data.x);
            int64_t functions = margin_model_score_count(model), labels[ROWS];
            OK(margin_predict(model, &data.x, labels, &error));
            for (int i = 0; i < ROWS; i++) {
                int64_t label = (int64_t)s->labels[i];
                double margin = slow_margin(model, scores + i * functions, label, &norm);
                assert_close(functional[i], margin, 1e-13);
                if (!isnan(norm)) assert_close(geometric[i], margin / norm, 1e-12);
                assert_true(isfinite(geometric[i]));
                if (functional[i] > 0) assert_int_equal(labels[i], label);
                if (functions == margin_model_class_count(model) && functional[i] < 0)
                    assert_int_not_equal(labels[i], label);
            }
            int64_t selection[3] = {70, 3, 3};
            data.selection = selection;
            data.selected = 3;
            OK(margin_margins(f->context, model, &data, only, NULL, &error));
            for (int k = 0; k < 3; k++)
                assert_true(only[k] == functional[selection[k]]);
            free(scores);
            margin_model_free(model);
        }
}

/* With the linear kernel the norm in feature space is that of the weights. */
static void test_kernel_margins(void **state) {
    fixture *f = *state;
    for (int many = 0; many < 2; many++) {
        margin_data data = sample_data(f->samples[many], DENSE_F64);
        for (int pairs = 0; pairs < 2; pairs++) {
            const char *linear = pairs ? "perceptron(form=dual, passes=3, multiclass=ovo)"
                                       : "perceptron(form=dual, passes=3)";
            const char *kernel = pairs ? "perceptron(kernel=linear, passes=3, multiclass=ovo)"
                                       : "perceptron(kernel=linear, passes=3)";
            margin_model *a = fit_text(f->context, linear, &data, NULL);
            margin_model *b = fit_text(f->context, kernel, &data, NULL);
            double left[ROWS], right[ROWS];
            OK(margin_margins(f->context, a, &data, NULL, left, &error));
            OK(margin_margins(f->context, b, &data, NULL, right, &error));
            for (int i = 0; i < ROWS; i++)
                assert_close(left[i], right[i], 1e-10);
            margin_model_free(a);
            margin_model_free(b);
        }
    }
}

/* ---- Proofs ---------------------------------------------------------------------------------- */

static void test_verify(void **state) {
    fixture *f = *state;
    for (int n = 0; n < SPECS; n++)
        for (int many = 0; many < 2; many++)
            for (int weighted = 0; weighted < 2; weighted++) {
                margin_data data = sample_data(f->samples[many], DENSE_F64);
                if (weighted) data.weights = margin_values_f64(f->weights, ROWS);
                margin_report report = {0}, found = {0};
                margin_model *model = fit_text(f->context, specs[n], &data, &report);
                margin_status status = margin_verify(f->context, model, &data, &found, &error);
                if (status != MARGIN_OK) fail_msg("%s: %s", specs[n], found.reason);
                assert_close(found.objective, report.objective, 1e-9);
                assert_close(margin_report_item_value(&found, "errors"),
                             margin_report_item_value(&report, "errors"), 0);
                assert_int_equal(found.subproblems, report.subproblems);

                double *x = malloc(ROWS * 4 * sizeof *x); /* other data: told apart */
                memcpy(x, f->samples[many]->f64, ROWS * 4 * sizeof *x);
                for (int i = 0; i < ROWS; i++)
                    x[4 * i] *= 1.5;
                data.x.values = x;
                assert_int_equal(margin_verify(f->context, model, &data, &found, &error),
                                 MARGIN_STOPPED_STALLED);
                assert_contains(found.reason, "this is not the data it was trained on");
                free(x);
                data = sample_data(f->samples[many], DENSE_F64);
                data.x.rows = data.y.count = ROWS - 1;
                assert_int_equal(margin_verify(f->context, model, &data, &found, &error),
                                 MARGIN_STOPPED_STALLED);
                assert_contains(found.reason, "number of rows");
                margin_model_free(model);
            }
}

typedef struct {
    margin_data data;
    const margin_model *model;
} judged_case;

static margin_status judge_body(margin_context *context, void *user, margin_error *failure) {
    judged_case *c = user;
    margin_metrics m = {.size = sizeof m}, before = {.size = sizeof before};
    margin_report found = {0};
    double functional[ROWS], geometric[ROWS];
    memset(&m, 0x5C, sizeof m);
    m.size = sizeof m;
    before = m;
    margin_status status = margin_evaluate(context, c->model, &c->data, &m, failure);
    if (status < 0) {
        assert_memory_equal(&m, &before, sizeof m);
        return status;
    }
    margin_metrics_free(&m);
    status = margin_margins(context, c->model, &c->data, functional, geometric, failure);
    if (status < 0) return status;
    return margin_verify(context, c->model, &c->data, &found, failure);
}

static void test_allocations(void **state) {
    fixture *f = *state;
    for (int n = 0; n < SPECS; n++) {
        judged_case c = {.data = sample_data(f->samples[n % 2], DENSE_F64)};
        c.data.weights = margin_values_f64(f->weights, ROWS);
        margin_model *model = fit_text(f->context, specs[n], &c.data, NULL);
        c.model = model;
        assert_true(support_fail_each_allocation(1, judge_body, &c) > 10);
        margin_model_free(model);
    }
}

/* Rows of a class that the model does not know, and intervals: what margin_measure makes of the
 * model's answers. */
static void test_with_options(void **state) {
    fixture *f = *state;
    const sample *s = f->samples[1];
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *model = fit_text(f->context, specs[0], &data, NULL);
    margin_matrix x = sample_view(s, DENSE_F64);
    int64_t labels[ROWS];
    double other[ROWS], truth[ROWS];
    for (int i = 0; i < ROWS; i++) {
        other[i] = i % 10 == 3 ? 77 : s->labels[i];
        truth[i] = i % 10 == 3 ? -1 : s->labels[i];
    }
    data.y.values = other;
    OK(margin_predict(model, &x, labels, &error));
    margin_metrics m = {.size = sizeof m}, plain = {.size = sizeof plain};
    margin_evaluate_options o = {
        .size = sizeof o, .unknown_wrong = 1, .bootstrap = 50, .seed = 3, .level = 0.9};
    const margin_predictions p = {.size = sizeof p,
                                  .task = MARGIN_CLASSIFY,
                                  .rows = ROWS,
                                  .classes = margin_model_class_count(model),
                                  .truth = margin_values_f64(truth, ROWS),
                                  .predicted = margin_labels_i64(labels, ROWS)};
    const margin_measure_options measure = {
        .size = sizeof measure, .bootstrap = 50, .seed = 3, .level = 0.9};
    assert_int_equal(margin_evaluate(f->context, model, &data, &m, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "the label '77'");
    OK(margin_evaluate_with(f->context, model, &data, &o, &m, &error));
    OK(margin_measure(f->context, &p, &measure, &plain, &error));
    assert_true(m.unknown == ROWS / 10 && m.accuracy == plain.accuracy && m.f1 == plain.f1);
    double low[2], high[2];
    assert_true(margin_metrics_interval(&m, "f1", &low[0], &high[0]) == 1 &&
                margin_metrics_interval(&plain, "f1", &low[1], &high[1]) == 1);
    assert_true(low[0] == low[1] && high[0] == high[1] && low[0] < m.f1 && m.f1 < high[0]);
    margin_metrics_free(&plain);
    margin_metrics_free(&m);
    o.bootstrap = 1;
    assert_int_equal(margin_evaluate_with(f->context, model, &data, &o, &m, &error),
                     MARGIN_ERROR_ARGUMENT);
    margin_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),      cmocka_unit_test(test_labels),
        cmocka_unit_test(test_with_options), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_margins),      cmocka_unit_test(test_kernel_margins),
        cmocka_unit_test(test_verify),       cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
