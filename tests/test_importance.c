/* Columns shuffled: against evaluations of tables that were shuffled outside. */
#include "base/random.h"
#include "margin/margin.h"
#include "support/group_context.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { ROWS = 50, COLUMNS = 3, REPEATS = 4 };

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

typedef struct {
    double x[ROWS * COLUMNS], y[ROWS], weights[ROWS];
    int64_t selection[ROWS];
    margin_data data;
} made;

static void make(made *m) {
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            m->x[i * COLUMNS + j] =
                mg_random_normal(3, MG_RANDOM_TEST, (uint64_t)(i * COLUMNS + j));
        m->y[i] = 3 * m->x[i * COLUMNS] - m->x[i * COLUMNS + 1] > 0;
        m->weights[i] = i % 4;
        m->selection[i] = (i * 7) % ROWS;
    }
    m->data = (margin_data){.x = margin_dense_f64(m->x, ROWS, COLUMNS, COLUMNS),
                            .y = margin_values_f64(m->y, ROWS)};
}

static margin_model *fit(const char *spec, const margin_data *data) {
    margin_spec *parsed;
    margin_model *model;
    OK(margin_spec_parse(context, spec, &parsed, &error));
    OK(margin_fit(context, parsed, data, &model, NULL, &error));
    margin_spec_free(parsed);
    return model;
}

static void test_against_loops(void **state) {
    (void)state;
    static const struct {
        const char *spec, *metric;
    } cases[] = {{"logistic", "log_loss"},
                 {"standardize | svm", NULL},
                 {"knn(k=3)", "f1"},
                 {"ridge", NULL},
                 {"knn(k=3, task=regress)", "r2"}};
    made m;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (int part = 0; part < 2; part++) {
            make(&m);
            margin_model *model = fit(cases[n].spec, &m.data);
            if (part) { /* some rows, weighted */
                m.data.selection = m.selection;
                m.data.selected = 30;
                m.data.weights = margin_values_f64(m.weights, ROWS);
            }
            int64_t rows[ROWS], order[ROWS], count = 0;
            for (int i = 0; i < (part ? 30 : ROWS); i++) {
                const int64_t row = part ? m.selection[i] : i;
                if (!part || m.weights[row] > 0) rows[count++] = row;
            }
            const margin_importance_options o = {
                .size = sizeof o, .metric = cases[n].metric, .repeats = REPEATS, .seed = 9};
            margin_importance *found;
            OK(margin_importance_measure(context, model, &m.data, &o, &found, &error));
            assert_int_equal(margin_importance_count(found), COLUMNS);
            const margin_metric *metric = margin_metric_find(margin_importance_metric(found));
            margin_metrics metrics = {.size = sizeof metrics};
            OK(margin_evaluate(context, model, &m.data, &metrics, &error));
            const double base = margin_metrics_value(&metrics, metric->name);
            margin_metrics_free(&metrics);
            assert_true(base == margin_importance_base(found));
            for (int j = 0; j < COLUMNS; j++) {
                double sum = 0, squares = 0, worse[REPEATS];
                for (int r = 0; r < REPEATS; r++) {
                    double x[ROWS * COLUMNS];
                    margin_data shuffled = m.data;
                    memcpy(x, m.x, sizeof x);
                    for (int64_t i = 0; i < count; i++)
                        order[i] = i;
                    mg_random_shuffle(9, MG_RANDOM_SAMPLE, (uint64_t)(j * REPEATS + r), order,
                                      count);
                    for (int64_t i = 0; i < count; i++)
                        x[rows[i] * COLUMNS + j] = m.x[rows[order[i]] * COLUMNS + j];
                    shuffled.x.values = x;
                    OK(margin_evaluate(context, model, &shuffled, &metrics, &error));
                    const double value = margin_metrics_value(&metrics, metric->name);
                    margin_metrics_free(&metrics);
                    worse[r] = metric->greater ? base - value : value - base;
                    sum += worse[r];
                }
                for (int r = 0; r < REPEATS; r++)
                    squares += (worse[r] - sum / REPEATS) * (worse[r] - sum / REPEATS);
                margin_importance_column c = {.size = sizeof c};
                assert_int_equal(margin_importance_of(found, j, &c), 1);
                assert_close(c.mean, sum / REPEATS, 1e-14);
                assert_close(c.deviation, sqrt(squares / (REPEATS - 1)), 1e-13);
                const double *w = margin_model_weights(model, 0);
                double mean = 0, spread = 0, all = 0;
                for (int64_t i = 0; i < count; i++)
                    all += part ? m.weights[rows[i]] : 1;
                for (int64_t i = 0; i < count; i++)
                    mean += (part ? m.weights[rows[i]] : 1) / all * m.x[rows[i] * COLUMNS + j];
                for (int64_t i = 0; i < count; i++)
                    spread += (part ? m.weights[rows[i]] : 1) / all *
                              pow(m.x[rows[i] * COLUMNS + j] - mean, 2);
                spread *= (double)count / (double)(count - 1);
                if (w)
                    assert_close(c.weight_per_deviation, w[j] * sqrt(spread), 1e-12);
                else
                    assert_true(isnan(c.weight_per_deviation));
            }
            margin_importance_column none = {.size = sizeof none};
            assert_int_equal(margin_importance_of(found, COLUMNS, &none), 0);
            margin_importance_free(found);
            margin_model_free(model);
        }
    margin_importance_free(NULL);
}

static void test_threads_and_refusals(void **state) {
    (void)state;
    made m;
    make(&m);
    margin_model *model = fit("logistic", &m.data), *line = fit("ridge", &m.data);
    margin_importance_column a[2] = {{.size = sizeof a[0]}, {.size = sizeof a[0]}};
    for (int k = 0; k < 2; k++) {
        margin_context *c = support_context(NULL, 1 + 3 * k);
        margin_importance *found;
        OK(margin_importance_measure(c, model, &m.data, NULL, &found, &error));
        margin_importance_of(found, 0, &a[k]);
        margin_importance_free(found);
        margin_context_free(c);
    }
    assert_memory_equal(&a[0], &a[1], sizeof a[0]);
    assert_true(a[0].mean > 0.1);
    margin_importance *found = (void *)&m;
    margin_importance_options o = {.size = sizeof o, .metric = "rmse"};
    assert_int_equal(margin_importance_measure(context, model, &m.data, &o, &found, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "'rmse' is no metric of classes");
    o.metric = "r2";
    double constant[ROWS] = {0};
    margin_data flat = m.data;
    flat.y.values = constant;
    assert_int_equal(margin_importance_measure(context, line, &flat, &o, &found, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "has no r2 on these rows");
    o = (margin_importance_options){.size = sizeof o, .repeats = 1001};
    assert_int_equal(margin_importance_measure(context, model, &m.data, &o, &found, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "1001 repeats");
    assert_ptr_equal(found, &m);
    margin_model_free(line);
    margin_model_free(model);
}

typedef struct {
    const margin_model *model;
    const margin_data *data;
} shuffled_case;

static margin_status shuffle_once(margin_context *c, void *user, margin_error *e) {
    const shuffled_case *s = user;
    const margin_importance_options o = {.size = sizeof o, .repeats = 1};
    margin_importance *found;
    const margin_status status = margin_importance_measure(c, s->model, s->data, &o, &found, e);
    if (status >= 0) margin_importance_free(found);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    made m;
    make(&m);
    margin_model *model = fit("logistic", &m.data);
    shuffled_case s = {model, &m.data};
    assert_true(support_fail_each_allocation(2, shuffle_once, &s) > 20);
    margin_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_loops),
        cmocka_unit_test(test_threads_and_refusals),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
