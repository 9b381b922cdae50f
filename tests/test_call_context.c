/* Contexts made from another one, for one call: threads, seed, limits, callbacks, cancelling. */
#include "model_cases.h"

#include "base/context.h"
#include "base/pool.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 20000, COLUMNS = 4 };

static sample *classes;
static const margin_context_options none = {.size = sizeof none};

static margin_context *with(margin_context *base, margin_context_options options) {
    margin_context *made = NULL;
    margin_error error;
    options.size = sizeof options;
    if (margin_context_with(base, &options, &made, &error) < 0) fail_msg("%s", error.text);
    return made;
}

static margin_data few(int64_t rows) {
    margin_data data = sample_data(classes, DENSE_F64);
    data.x.rows = data.y.count = rows;
    return data;
}

/* ---- Options --------------------------------------------------------------------------------- */

static void what_is_wrong_is_named(void **state) {
    (void)state;
    support_heap source;
    support_heap_init(&source);
    margin_context *base = support_context(NULL, 2), *made = (margin_context *)8;
    const struct {
        margin_context_options options;
        const char *part;
    } cases[] = {{{.size = sizeof none, .threads = -1}, "threads is -1"},
                 {{.size = sizeof none, .memory_limit = -1}, "memory_limit is -1"},
                 {{.size = sizeof none, .time_limit = (double)NAN}, "time_limit is nan"},
                 {{.size = sizeof none, .kernel_threads = 2}, "kernel_threads is 2"},
                 {{.size = sizeof none, .seed_given = -1}, "seed_given -1"},
                 {{.size = sizeof none, .allocator = support_allocator(&source)}, "allocator"},
                 {{.size = 3}, "options.size is 3"}};
    margin_error error;
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        assert_int_equal(margin_context_with(base, &cases[k].options, &made, &error),
                         MARGIN_ERROR_ARGUMENT);
        assert_contains(error.text, cases[k].part);
        assert_ptr_equal(made, (margin_context *)8);
    }
    assert_int_equal(margin_context_with(NULL, &none, &made, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_context_with(base, NULL, &made, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_context_with(base, &none, NULL, &error), MARGIN_ERROR_ARGUMENT);
    margin_context_free(base);
}

static int hear_progress(const margin_progress *progress, void *user) {
    (void)progress;
    ++*(int *)user;
    return 0;
}
static void hear_log(margin_log_level level, const char *text, void *user) {
    (void)level, (void)text;
    ++*(int *)user;
}

static void what_is_zero_stays(void **state) {
    (void)state;
    int heard[2] = {0, 0};
    const margin_context_options options = {.size = sizeof options,
                                            .threads = 3,
                                            .seed = 5,
                                            .time_limit = 7,
                                            .log = hear_log,
                                            .progress = hear_progress,
                                            .user = &heard[0]};
    margin_context *base = NULL;
    assert_int_equal(margin_context_create(&options, &base, NULL), MARGIN_OK);
    margin_context *same = with(base, none);
    assert_int_equal(margin_context_threads(same), 3);
    assert_true(same->options.seed == 5 && same->options.time_limit == 7);
    mg_log(same, MARGIN_LOG_NOTE, "heard");
    assert_int_equal(heard[0], 1);
    /* callbacks and what they are given change together */
    margin_context *other = with(
        base, (margin_context_options){
                  .threads = 8, .seed = 6, .time_limit = 1, .log = hear_log, .user = &heard[1]});
    assert_int_equal(margin_context_threads(other), 3); /* there are no more */
    assert_true(other->options.seed == 6 && other->options.time_limit == 1);
    mg_log(other, MARGIN_LOG_NOTE, "heard");
    assert_int_equal(heard[1], 1);
    assert_null(other->options.progress);
    margin_context_free(other);
    margin_context_free(same);
    other = with(base, (margin_context_options){.seed_given = 1, .time_limit = (double)INFINITY});
    assert_true(other->options.seed == 0 && isinf(mg_deadline(other)));
    margin_context_free(other);
    margin_context_free(base);
}

/* A seed and threads of one call do what those of a context do. */
static void models_are_those_of_such_a_context(void **state) {
    (void)state;
    static const char text[] = "rbf(centres=5) | logistic";
    const margin_data data = few(300);
    const margin_context_options seeded = {.size = sizeof seeded, .threads = 2, .seed = 7};
    margin_context *base = support_context(NULL, 2), *seven = NULL;
    assert_int_equal(margin_context_create(&seeded, &seven, NULL), MARGIN_OK);
    margin_context *call = with(base, (margin_context_options){.seed = 7, .threads = 1});
    margin_report report = {.size = sizeof report};
    margin_model *wanted = fit_text(seven, text, &data, NULL);
    margin_model *made = fit_text(call, text, &data, &report);
    margin_model *zero = fit_text(base, text, &data, NULL);
    assert_same_model(wanted, made);
    assert_int_equal(report.threads, 1);
    margin_context_free(call);
    margin_model *again = fit_text(base, text, &data, &report);
    assert_same_model(zero, again); /* and only of those calls */
    assert_int_equal(report.threads, 2);
    margin_context_free(seven);
    margin_context_free(base);
    margin_model_free(wanted);
    margin_model_free(made);
    margin_model_free(zero);
    margin_model_free(again);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct tally {
    margin_context *context;
    atomic_int now, most, wrong;
} tally;

static margin_status count_task(void *argument, int64_t task, int worker) {
    tally *t = argument;
    const int now = atomic_fetch_add(&t->now, 1) + 1;
    int most = atomic_load(&t->most);
    while (now > most && !atomic_compare_exchange_weak(&t->most, &most, now)) {
    }
    if (worker < 0 || worker >= mg_threads(t->context) || worker != mg_worker(t->context))
        atomic_fetch_add(&t->wrong, 1);
    for (volatile int i = 0; i < 2000 + 10 * (int)(task % 7); i++) {
    }
    atomic_fetch_sub(&t->now, 1);
    return MARGIN_OK;
}

static void no_more_threads_work_than_asked(void **state) {
    (void)state;
    margin_context *base = support_context(NULL, 6);
    for (int turn = 0; turn < 200; turn++) {
        margin_context *call = with(base, (margin_context_options){.threads = 1 + turn % 6});
        tally t = {.context = call};
        assert_int_equal(mg_parallel(call, 1 + turn % 40, count_task, &t, NULL), MARGIN_OK);
        assert_true(atomic_load(&t.most) <= 1 + turn % 6);
        assert_int_equal(atomic_load(&t.wrong), 0);
        margin_context_free(call);
    }
    margin_context_free(base);
}

typedef struct host_thread {
    margin_context *base;
    margin_model *made;
} host_thread;

static void *fit_in_thread(void *argument) {
    host_thread *h = argument;
    const margin_data data = few(400);
    margin_context *call = with(h->base, (margin_context_options){.threads = 1});
    h->made = fit_text(call, "standardize | svm", &data, NULL);
    margin_context_free(call);
    return NULL;
}

static void contexts_of_one_thread_work_side_by_side(void **state) {
    (void)state;
    enum { HOSTS = 4 };
    margin_context *base = support_context(NULL, 3);
    pthread_t threads[HOSTS];
    host_thread hosts[HOSTS];
    const margin_data data = few(400);
    margin_model *wanted = fit_text(base, "standardize | svm", &data, NULL);
    for (int k = 0; k < HOSTS; k++) {
        hosts[k] = (host_thread){.base = base};
        assert_int_equal(pthread_create(&threads[k], NULL, fit_in_thread, &hosts[k]), 0);
    }
    for (int k = 0; k < HOSTS; k++) {
        pthread_join(threads[k], NULL);
        assert_same_model(wanted, hosts[k].made);
        margin_model_free(hosts[k].made);
    }
    margin_model_free(wanted);
    margin_context_free(base);
}

typedef struct waiting {
    margin_context *base;
    bool ran;
} waiting;

static margin_status ran(void *argument, int64_t task, int worker) {
    (void)task, (void)worker;
    ((waiting *)argument)->ran = true;
    return MARGIN_OK;
}

static void *run_one(void *argument) {
    waiting *w = argument;
    margin_context *call = with(w->base, (margin_context_options){.threads = 1});
    assert_int_equal(mg_parallel(call, 2, ran, w, NULL), MARGIN_OK);
    margin_context_free(call);
    return NULL;
}

/* While the pool is kept, a call of one thread comes to its end. */
static margin_status keep_pool(void *argument, int64_t task, int worker) {
    waiting *w = argument;
    pthread_t other;
    (void)worker;
    if (task > 0) return MARGIN_OK;
    assert_int_equal(pthread_create(&other, NULL, run_one, w), 0);
    pthread_join(other, NULL);
    return MARGIN_OK;
}

static void one_thread_does_not_wait_for_the_pool(void **state) {
    (void)state;
    waiting w = {.base = support_context(NULL, 2)};
    assert_int_equal(mg_parallel(w.base, 2, keep_pool, &w, NULL), MARGIN_OK);
    assert_true(w.ran);
    margin_context_free(w.base);
}

typedef struct held_pool {
    const margin_context_options *options;
    margin_context *base, *call; /* made from base: the one that waits */
    const margin_model *model;
    margin_status status, fitted;
    margin_error error;
    double accuracy;
} held_pool;

static void *evaluate_while_kept(void *argument) {
    held_pool *h = argument;
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_metrics metrics = {.size = sizeof metrics, .accuracy = 0.5};
    margin_model *made = NULL;
    h->status = margin_evaluate(h->call, h->model, &data, &metrics, &h->error);
    h->accuracy = metrics.accuracy;
    if (h->status >= 0) margin_metrics_free(&metrics);
    margin_spec *endless = parse_text(h->base, "perceptron(passes=10000000, bound=no)");
    h->fitted = margin_fit_with(h->call, endless, &data, NULL, &made, NULL, NULL);
    assert_true((h->fitted < 0) == !made);
    margin_spec_free(endless);
    margin_model_free(made);
    return NULL;
}

/* Ends only after the other call has. */
static margin_status keep_pool_from(void *argument, int64_t task, int worker) {
    held_pool *h = argument;
    pthread_t other;
    (void)worker;
    if (task > 0) return MARGIN_OK;
    assert_int_equal(pthread_create(&other, NULL, evaluate_while_kept, h), 0);
    usleep(50 * 1000);
    if (!h->options->poll && h->options->time_limit == 0) margin_context_cancel(h->call);
    pthread_join(other, NULL);
    return MARGIN_OK;
}

static int end_it(void *user) {
    return ++*(int *)user >= 3;
}

/* By itself, its time limit or its poll. */
static void a_call_that_waits_for_the_pool_ends(void **state) {
    (void)state;
    int asked = 0;
    const margin_context_options ends[] = {
        {.size = sizeof none},
        {.size = sizeof none, .time_limit = 0.05},
        {.size = sizeof none, .poll = end_it, .user = &asked},
    };
    held_pool h = {.base = support_context(NULL, 2)};
    const margin_data data = few(50);
    margin_model *model = fit_text(h.base, "svm", &data, NULL);
    h.model = model;
    for (int k = 0; k < MG_LENGTH(ends); k++) {
        h.options = &ends[k];
        h.call = with(h.base, ends[k]);
        assert_int_equal(mg_parallel(h.base, 2, keep_pool_from, &h, NULL), MARGIN_OK);
        if (ends[k].time_limit > 0) { /* little data: perhaps it is done nevertheless */
            assert_true(h.status == MARGIN_OK || h.error.cause == MARGIN_CAUSE_TIME_LIMIT);
            assert_true(h.fitted == MARGIN_STOPPED_TIME || h.fitted == MARGIN_ERROR_LIMIT);
        } else {
            assert_int_equal(h.status, MARGIN_ERROR_CANCELLED);
            assert_int_equal(h.fitted, MARGIN_ERROR_CANCELLED);
        }
        assert_true((h.status < 0) == (h.accuracy == 0.5));
        margin_context_free(h.call);
    }
    margin_metrics metrics = {.size = sizeof metrics};
    assert_int_equal(margin_evaluate(h.base, h.model, &data, &metrics, NULL), MARGIN_OK);
    margin_metrics_free(&metrics);
    margin_model_free(model);
    margin_context_free(h.base);
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static void cancelling_goes_down_and_not_up(void **state) {
    (void)state;
    margin_context *base = support_context(NULL, 2);
    margin_context *call = with(base, none), *inner = with(call, none);
    margin_context_cancel(call);
    assert_true(mg_cancelled(call) && mg_cancelled(inner) && !mg_cancelled(base));
    margin_context_resume(call);
    assert_true(!mg_cancelled(call) && !mg_cancelled(inner));
    margin_context_cancel(base);
    assert_true(mg_cancelled(call) && mg_cancelled(inner) && mg_cancelled(base));
    const margin_data data = few(50);
    fit_refused(inner, "svm", &data, MARGIN_ERROR_CANCELLED, "cancelled");
    margin_context_resume(base);
    margin_model_free(fit_text(inner, "svm", &data, NULL));
    margin_context_free(inner);
    margin_context_free(call);
    margin_context_free(base);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void a_fit_stops_in_time(void **state) {
    (void)state;
    margin_context *base = support_context(NULL, 1);
    margin_context *call = with(base, (margin_context_options){.time_limit = 0.01});
    const margin_data data = few(200);
    margin_report report = {.size = sizeof report};
    margin_model *model = NULL;
    margin_spec *endless = parse_text(base, "perceptron(passes=10000000, bound=no)");
    assert_int_equal(margin_fit_with(call, endless, &data, NULL, &model, &report, NULL),
                     MARGIN_STOPPED_TIME);
    margin_model_free(model);
    margin_spec_free(endless);
    margin_context_free(call);
    margin_context_free(base);
}

/* Sleeps once, beyond the end of the call's time. */
static int oversleep(void *user) {
    int *left = user;
    if ((*left)-- == 1) usleep(120 * 1000);
    return 0;
}

typedef struct place {
    const margin_model *model;
    margin_data data;
    void *out;
} place;

static margin_status do_evaluate(margin_context *c, const place *p, margin_error *error) {
    margin_metrics metrics = {.size = sizeof metrics};
    return margin_evaluate(c, p->model, &p->data, &metrics, error);
}
static margin_status do_verify(margin_context *c, const place *p, margin_error *error) {
    margin_report found = {.size = sizeof found};
    return margin_verify(c, p->model, &p->data, &found, error);
}
static margin_status do_predict(margin_context *c, const place *p, margin_error *error) {
    return margin_predict_parallel(c, p->model, &p->data.x, MARGIN_OUTPUT_SCORES, p->out, error);
}
static margin_status do_predict_data(margin_context *c, const place *p, margin_error *error) {
    return margin_predict_data(c, p->model, &p->data, MARGIN_OUTPUT_LABELS, p->out, error);
}
static margin_status do_margins(margin_context *c, const place *p, margin_error *error) {
    return margin_margins(c, p->model, &p->data, p->out, NULL, error);
}
static margin_status do_statistics(margin_context *c, const place *p, margin_error *error) {
    margin_statistics_result result = {.size = sizeof result};
    return margin_statistics(c, p->model, &p->data, NULL, &result, error);
}
static margin_status do_importance(margin_context *c, const place *p, margin_error *error) {
    margin_importance *made;
    return margin_importance_measure(c, p->model, &p->data, NULL, &made, error);
}
static margin_status do_transform(margin_context *c, const place *p, margin_error *error) {
    return margin_model_transform(c, p->model, &p->data.x, p->out, error);
}
static margin_status do_build(margin_context *c, const place *p, margin_error *error) {
    margin_neighbors *made;
    return margin_neighbors_build(c, &p->data.x, NULL, &made, error);
}
static margin_status do_write(margin_context *c, const place *p, margin_error *error) {
    const margin_write_options options = {.size = sizeof options, .format = MARGIN_FORMAT_CSV};
    return margin_data_write(c, &p->data, "/dev/null", &options, error);
}
static margin_status do_usual(margin_context *c, const place *p, margin_error *error) {
    margin_spec *specs[16];
    int64_t count = 0;
    return margin_usual_specs(c, &p->data, 16, specs, &count, error);
}

static const struct {
    const char *name;
    margin_status (*run)(margin_context *c, const place *p, margin_error *error);
} calls[] = {{"evaluate", do_evaluate},     {"verify", do_verify},
             {"predict", do_predict},       {"predict_data", do_predict_data},
             {"margins", do_margins},       {"statistics", do_statistics},
             {"importance", do_importance}, {"transform", do_transform},
             {"build", do_build},           {"write", do_write},
             {"usual specs", do_usual}};

static void every_long_call_ends_in_time(void **state) {
    (void)state;
    margin_context *base = support_context(NULL, 1);
    place p = {.data = sample_data(classes, DENSE_F64)};
    margin_model *model = fit_text(base, "logistic(C=inf)", &p.data, NULL);
    p.model = model;
    assert_non_null(p.out = malloc(ROWS * COLUMNS * sizeof(double)));
    for (int k = 0; k < MG_LENGTH(calls); k++) {
        int left = 1;
        margin_error error = {0};
        margin_context *call = with(
            base, (margin_context_options){.time_limit = 1e-3, .poll = oversleep, .user = &left});
        const margin_status status = calls[k].run(call, &p, &error);
        if (status != MARGIN_ERROR_LIMIT) fail_msg("%s: %d", calls[k].name, (int)status);
        assert_int_equal(error.cause, MARGIN_CAUSE_TIME_LIMIT);
        assert_contains(error.text, "the time limit of 0.001 seconds was reached before");
        assert_false(mg_told_to_end(call)); /* nobody cancelled it */
        margin_context_free(call);
    }
    free(p.out);
    margin_model_free(model);
    margin_context_free(base);
}

/* INT64_MAX is no limit: what a call holds and announces by itself. */
static void calls_have_accounts_of_their_own(void **state) {
    (void)state;
    margin_context *base = support_context(NULL, 2);
    const margin_data larger = few(400), smaller = few(40);
    int64_t held[2];
    for (int k = 0; k < 2; k++) {
        margin_context *alone = with(base, (margin_context_options){.memory_limit = INT64_MAX});
        assert_int_equal(mg_heap_limit(alone->heap), 0);
        margin_model *model = fit_text(alone, "svm(kernel=rbf)", k ? &smaller : &larger, NULL);
        held[k] = margin_context_announced_memory(alone);
        assert_true(margin_context_peak_memory(alone) <= held[k]);
        margin_model_free(model);
        margin_context_free(alone);
    }
    assert_true(0 < held[1] && held[1] < held[0]);
    assert_true(margin_context_announced_memory(base) >= held[0]);
    margin_context_free(base);
}

static void memory_has_a_limit_within_a_limit(void **state) {
    (void)state;
    support_heap source;
    support_heap_init(&source);
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_context_options options = {.size = sizeof options,
                                      .threads = 1,
                                      .memory_limit = 1 << 20,
                                      .allocator = support_allocator(&source)};
    margin_context *base = NULL;
    margin_error error = {0};
    margin_model *model = NULL;
    assert_int_equal(margin_context_create(&options, &base, NULL), MARGIN_OK);
    margin_context *little = with(base, (margin_context_options){.memory_limit = 1 << 15});
    margin_context *large = with(base, (margin_context_options){.memory_limit = 1 << 30});
    margin_spec *spec = parse_text(base, "knn");
    margin_context *const tried[] = {little, large};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(margin_fit(tried[k], spec, &data, &model, NULL, &error),
                         MARGIN_ERROR_LIMIT);
        assert_int_equal(error.cause, MARGIN_CAUSE_MEMORY_LIMIT);
        assert_contains(error.text, k ? "memory limit of 1 MiB" : "memory limit of 32 KiB");
    }
    assert_true(margin_context_peak_memory(little) <= 1 << 15);
    assert_true(mg_context_room(large, INT64_MAX) < 1 << 19);
    const margin_data part = few(100);
    model = fit_text(large, "knn", &part, NULL);
    assert_true(margin_context_memory(large) > 100 * COLUMNS * 8);
    assert_true(margin_context_memory(base) >= margin_context_memory(large));
    margin_context_free(little);
    margin_context_free(large);
    margin_spec_free(spec);
    margin_context_free(base);
    int64_t label = -1;
    assert_int_equal(margin_predict(model,
                                    &(margin_matrix){.values = part.x.values,
                                                     .rows = 1,
                                                     .columns = COLUMNS,
                                                     .stride = part.x.stride,
                                                     .value_type = MARGIN_F64},
                                    &label, NULL),
                     MARGIN_OK);
    margin_model_free(model); /* outlives both */
    support_assert_nothing_live(&source);
}

static margin_status fit_in_call(margin_context *context, void *user, margin_error *error) {
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = *(int64_t *)user, .seed = 3};
    const margin_data data = few(40);
    margin_context *call = NULL;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_status status;
    MG_TRY(margin_context_with(context, &options, &call, error));
    status = MARGIN_OK;
    if (options.memory_limit) goto done; /* within a limit texts try again with less */
    MG_GO(margin_spec_parse(call, "standardize | logistic", &spec, error));
    MG_GO(margin_fit(call, spec, &data, &model, NULL, error));
done:
    margin_spec_free(spec);
    margin_context_free(call);
    margin_model_free(model);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    int64_t none_given = 0, limit = 1 << 24;
    assert_true(support_fail_each_allocation(2, fit_in_call, &none_given) > 20);
    assert_int_equal(support_fail_each_allocation(2, fit_in_call, &limit), 2);
}

int main(void) {
    classes = sample_make(ROWS, COLUMNS, 2, 0.2, 5);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(what_is_zero_stays),
        cmocka_unit_test(models_are_those_of_such_a_context),
        cmocka_unit_test(no_more_threads_work_than_asked),
        cmocka_unit_test(contexts_of_one_thread_work_side_by_side),
        cmocka_unit_test(one_thread_does_not_wait_for_the_pool),
        cmocka_unit_test(a_call_that_waits_for_the_pool_ends),
        cmocka_unit_test(cancelling_goes_down_and_not_up),
        cmocka_unit_test(a_fit_stops_in_time),
        cmocka_unit_test(every_long_call_ends_in_time),
        cmocka_unit_test(calls_have_accounts_of_their_own),
        cmocka_unit_test(memory_has_a_limit_within_a_limit),
        cmocka_unit_test(every_allocation_may_fail),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sample_free(classes);
    return failed;
}
