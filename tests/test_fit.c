/* Fits: weights in original units, reports, limits, traces, callbacks. */
#include "model_cases.h"

#include "model/object/model_object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    margin_context *context;
    sample *two;   /* two classes, separable */
    sample *three; /* three classes */
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->context = support_context(NULL, 2);
    f->two = sample_make(60, 4, 2, 0, 11);
    f->three = sample_make(90, 5, 3, 0.1, 12);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sample_free(f->two);
    sample_free(f->three);
    margin_context_free(f->context);
    free(f);
    return 0;
}

/* ---- Folding --------------------------------------------------------------------------------- */

/* A model of scaled data, in original units, scores as its stages and learner did. */
static void test_folding(void **state) {
    fixture *f = *state;
    static const struct {
        const char *spec;
        int active;
    } cases[] = {{"perceptron", 0},
                 {"standardize | perceptron", 0},
                 {"minmax | standardize | perceptron", 0},
                 {"normalize | perceptron", 1},
                 {"minmax | normalize | standardize | perceptron", 2},
                 {"standardize | perceptron(kernel=rbf)", 1},
                 {"impute | minmax | perceptron", 1}};
    sample *s = sample_make(80, 6, 2, 0.05, 21);
    for (int64_t i = 0; i < 80; i++) {
        s->f64[i * 6 + 3] = 7.25; /* a constant column */
        s->f64[i * 6 + 1] = s->f64[i * 6 + 1] * 1000 - 5000;
    }
    margin_data data = sample_data(s, DENSE_F64);
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        margin_report report = {0};
        margin_model *model = fit_text(f->context, cases[n].spec, &data, &report);
        assert_int_equal(model->active, cases[n].active);
        int64_t features = 0, inputs = 0;
        const margin_column *columns = margin_model_columns(model, &inputs);
        assert_int_equal(inputs, 6);
        assert_string_equal(columns[5].name, "x6");
        assert_non_null(margin_model_features(model, &features));
        assert_int_equal(features, 6);
        const double *w = margin_model_weights(model, 0);
        if (w && cases[n].active == 0 && n > 0) {
            assert_true(w[3] == 0 && !signbit(w[3]));
            double *scores = scores_of(model, &data.x);
            for (int i = 0; i < 80; i++) {
                double sum = margin_model_intercept(model, 0);
                for (int j = 0; j < 6; j++)
                    sum += w[j] * s->f64[i * 6 + j];
                assert_close(scores[i], sum, 1e-9);
            }
            free(scores);
        }
        if (!w) assert_int_equal(n, 5);
        /* the report's accuracy is the finished model's */
        int64_t labels[80], right = 0;
        margin_error error = {0};
        assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_OK);
        for (int i = 0; i < 80; i++)
            right += (double)labels[i] == s->labels[i];
        assert_close(report.train_accuracy, (double)right / 80, 1e-15);
        margin_model_free(model);
    }
    sample_free(s);
}

/* A weight on a constant column means nothing: it becomes 0, and not -0. */
static void test_folding_constant_column(void **state) {
    fixture *f = *state;
    sample *s = sample_make(30, 3, 2, 0, 4);
    for (int i = 0; i < 30; i++)
        s->f64[3 * i + 1] = 2.5;
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *model =
        fit_text(f->context, "minmax | perceptron(start_weights=\"0 -3 0\")", &data, NULL);
    assert_true(margin_model_weights(model, 0)[1] == 0);
    assert_true(!signbit(margin_model_weights(model, 0)[1]));
    margin_model_free(model);
    sample_free(s);
}

/* minmax by hand: the weights in original units. */
static void test_folding_by_hand(void **state) {
    fixture *f = *state;
    const double x[6] = {2, 10, 4, 30, 6, 20}, scaled[6] = {0, 0, 0.5, 1, 1, 0.5};
    const double labels[3] = {0, 1, 1};
    margin_data raw = {.x = margin_dense_f64(x, 3, 2, 2), .y = margin_values_f64(labels, 3)};
    margin_data by_hand = raw;
    by_hand.x.values = scaled;
    margin_model *folded = fit_text(f->context, "minmax | perceptron", &raw, NULL);
    margin_model *plain = fit_text(f->context, "perceptron", &by_hand, NULL);
    const double *w = margin_model_weights(folded, 0), *v = margin_model_weights(plain, 0);
    assert_close(w[0], v[0] / 4, 1e-15);
    assert_close(w[1], v[1] / 20, 1e-15);
    assert_close(margin_model_intercept(folded, 0),
                 margin_model_intercept(plain, 0) - w[0] * 2 - w[1] * 10, 1e-14);
    margin_model_free(folded);
    margin_model_free(plain);
}

/* ---- Report, limits, callbacks --------------------------------------------------------------- */

static void test_report(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->three, DENSE_F64);
    margin_report report = {0};
    margin_model *model =
        fit_text(f->context, "standardize | perceptron(multiclass=ovo, passes=3)", &data, &report);
    assert_int_equal(report.rows, 90);
    assert_int_equal(report.columns, 5);
    assert_int_equal(report.classes, 3);
    assert_int_equal(report.subproblems, 3);
    assert_int_equal(report.task, MARGIN_CLASSIFY);
    assert_int_equal(report.threads, 2);
    assert_true(report.seconds >= 0);
    assert_true(report.train_accuracy > 0.5 && report.train_accuracy <= 1);
    assert_true(isnan(report.train_rmse) && isnan(report.train_r2));
    const margin_report *stored = margin_model_report(model);
    assert_int_equal(stored->threads, 0); /* the model does not know who trained it */
    assert_true(stored->seconds == 0);
    assert_string_equal(stored->reason, report.reason);
    assert_string_equal(margin_model_spec(model),
                        "standardize | perceptron(passes=3, multiclass=ovo)");
    margin_model_free(model);
}

/* A perceptron counts a score of 0 as an error, where the answer is right. */
static void test_accuracy_at_0(void **state) {
    static const double x[] = {1, -1, 0}, y[] = {1, 0, 1};
    fixture *f = *state;
    const margin_data data = {.x = margin_dense_f64(x, 3, 1, 1), .y = margin_values_f64(y, 3)};
    margin_report report = {0};
    margin_model_free(fit_text(f->context, "perceptron(intercept=no, passes=2)", &data, &report));
    assert_true(margin_report_item_value(&report, "errors") == 1.0);
    assert_true(report.train_accuracy == 1.0);
}

/* A memory limit stops a fit with LIMIT at whatever allocation, and nothing is left behind. */
static void test_memory_limit(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->three, DENSE_F64);
    bool refused = false, done = false;
    for (int64_t limit = 8192; limit < INT64_C(1) << 24; limit += limit / 4) {
        support_heap heap;
        support_heap_init(&heap);
        margin_context_options options = {.size = sizeof options, .threads = 1};
        options.memory_limit = limit;
        options.allocator = support_allocator(&heap);
        margin_context *context = NULL;
        margin_spec *spec = NULL;
        margin_model *model = NULL;
        margin_error error = {0};
        if (margin_context_create(&options, &context, &error) < 0) continue;
        margin_status status = margin_spec_parse(
            context, "standardize | normalize | perceptron(kernel=rbf)", &spec, &error);
        if (status >= 0) status = margin_fit(context, spec, &data, &model, NULL, &error);
        assert_true(status >= 0 || status == MARGIN_ERROR_LIMIT);
        if (status < 0) {
            refused = true;
            assert_null(model);
            assert_true(strstr(error.text, "limit") || strstr(error.text, "there is room for"));
        }
        done = done || status >= 0;
        assert_true(margin_context_peak_memory(context) <= limit);
        margin_spec_free(spec);
        margin_model_free(model);
        margin_context_free(context);
        support_assert_nothing_live(&heap);
    }
    assert_true(refused && done);
}

/* A model outlives its context. */
static void test_model_outlives_context(void **state) {
    fixture *f = *state;
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 2);
    margin_data data = sample_data(f->two, DENSE_F64);
    margin_model *model = fit_text(context, "standardize | perceptron", &data, NULL);
    margin_context_free(context);
    double *scores = scores_of(model, &data.x);
    free(scores);
    margin_model_free(model);
    support_assert_nothing_live(&heap);
}

typedef struct {
    int64_t steps, last_part, last_step;
} trace_log;

static int on_step(const margin_trace_step *step, void *user) {
    trace_log *log = user;
    if (step->subproblem == log->last_part)
        assert_int_equal(step->step, log->last_step + 1);
    else
        assert_int_equal(step->step, 0);
    assert_true(step->subproblem >= log->last_part); /* in the order of the sub-problems */
    log->last_part = step->subproblem;
    log->last_step = step->step;
    log->steps++;
    return 0;
}

static void test_trace(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->three, DENSE_F64);
    margin_spec *spec = parse_text(f->context, "perceptron(multiclass=ovo, passes=4)");
    trace_log log = {0, -1, -1};
    margin_fit_options options = {.size = sizeof options, .trace = on_step, .user = &log};
    margin_model *traced = NULL;
    margin_error error = {0};
    if (margin_fit_with(f->context, spec, &data, &options, &traced, NULL, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(log.last_part, 2);
    assert_true(log.steps > 10);
    margin_model *plain = fit_text(f->context, "perceptron(multiclass=ovo, passes=4)", &data, NULL);
    assert_same_model(traced, plain);
    margin_model_free(traced);
    margin_model_free(plain);
    margin_spec_free(spec);
}

static void test_time_limit(void **state) {
    (void)state;
    /* Never separable, so only the clock can end it. */
    sample *s = sample_make(3000, 10, 4, 0.5, 2);
    margin_context_options options = {
        .size = sizeof options, .threads = 2, .time_limit = 0.05 * SUPPORT_SLOWER};
    margin_context *context = NULL;
    margin_error error = {0};
    assert_int_equal(margin_context_create(&options, &context, &error), MARGIN_OK);
    margin_data data = sample_data(s, DENSE_F64);
    margin_report report = {0};
    margin_model *model =
        fit_text(context, "perceptron(passes=10000000, bound=no)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_TIME);
    assert_contains(report.reason, "sub-problems stopped early");
    margin_model_free(model);
    margin_context_free(context);
    sample_free(s);
}

static int stop_at_once(const margin_progress *progress, void *user) {
    assert_non_null(progress->activity);
    ++*(int *)user;
    return 1;
}

static void test_progress_cancels(void **state) {
    (void)state;
    sample *s = sample_make(3000, 10, 2, 0.5, 2);
    int calls = 0;
    margin_context_options options = {.size = sizeof options, .threads = 2};
    options.progress = stop_at_once;
    options.user = &calls;
    margin_context *context = NULL;
    margin_error error = {0};
    assert_int_equal(margin_context_create(&options, &context, &error), MARGIN_OK);
    margin_data data = sample_data(s, DENSE_F64);
    fit_refused(context, "perceptron(passes=10000000, bound=no)", &data, MARGIN_ERROR_CANCELLED,
                "cancelled");
    assert_int_equal(calls, 1);
    margin_context_free(context);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_folding_constant_column),
        cmocka_unit_test(test_folding_by_hand),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_accuracy_at_0),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_model_outlives_context),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_progress_cancels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
