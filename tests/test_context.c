/* Context: options, cores, cancel, progress, log, stopping. */
#include "support/support.h"

#include "base/caller_options.h"
#include "base/context.h"
#include "base/machine/cores.h"
#include "base/pool.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const margin_context_options defaults = {.size = sizeof(margin_context_options)};

static margin_context *make(const margin_context_options *options) {
    margin_context *context = NULL;
    margin_error error;
    if (margin_context_create(options, &context, &error) < 0) fail_msg("%s", error.text);
    return context;
}

static void assert_refused(const margin_context_options *options, margin_status expected,
                           const char *part) {
    margin_context *context = (margin_context *)8;
    margin_error error;
    assert_int_equal(margin_context_create(options, &context, &error), expected);
    assert_int_equal(error.status, expected);
    assert_ptr_equal(context, (margin_context *)8);
    assert_contains(error.text, part);
    assert_int_equal(margin_context_create(options, &context, NULL), expected);
}

/* ---- Options ---- */

static void defaults_use_every_core(void **state) {
    (void)state;
    margin_context *context = make(NULL);
    assert_int_equal(margin_context_threads(context), mg_cores_allowed());
    assert_true(margin_context_memory(context) > 0);
    assert_int_equal(margin_context_memory(context), margin_context_peak_memory(context));
    margin_context_free(context);
    margin_context_options none = {0};
    context = make(&none);
    assert_int_equal(margin_context_threads(context), mg_cores_allowed());
    margin_context_free(context);
    margin_context_free(NULL);
}

static void threads_are_what_was_asked(void **state) {
    (void)state;
    static const int counts[] = {1, 2, 7, 1024};
    for (int i = 0; i < MG_LENGTH(counts); i++) {
        margin_context_options options = defaults;
        options.threads = counts[i];
        margin_context *context = make(&options);
        assert_int_equal(margin_context_threads(context), counts[i]);
        margin_context_free(context);
    }
}

static void bad_options_are_refused_by_name(void **state) {
    (void)state;
    support_heap source;
    support_heap_init(&source);
    margin_context_options options = defaults;
    options.threads = -1;
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "threads is -1");
    options.threads = 1025;
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "threads is 1025");
    options = defaults;
    options.memory_limit = -5;
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "memory_limit is -5");
    options = defaults;
    options.time_limit = -0.5;
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "time_limit is -0.5");
    options.time_limit = (double)NAN;
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "time_limit is nan");
    options = defaults;
    options.allocator = support_allocator(&source);
    options.allocator.release = NULL;
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "release");
    options.allocator = (margin_allocator){.release = support_allocator(&source).release};
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "allocate");
    options = defaults;
    options.memory_limit = 100;
    assert_refused(&options, MARGIN_ERROR_LIMIT, "memory limit of 100 bytes");

    margin_error error;
    assert_int_equal(margin_context_create(NULL, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "context");
}

static void options_of_other_versions(void **state) {
    (void)state;
    struct {
        margin_context_options known;
        double later[4];
    } newer = {.known = {.size = sizeof newer, .threads = 3}};
    margin_context *context = make(&newer.known);
    assert_int_equal(margin_context_threads(context), 3);
    margin_context_free(context);
    newer.later[3] = 1;
    assert_refused(&newer.known, MARGIN_ERROR_ARGUMENT, "later version");
    newer.known.size = sizeof newer.known; /* what follows is not ours to read */
    context = make(&newer.known);
    margin_context_free(context);

    margin_context_options options = defaults;
    options.size = MG_SIZE_UP_TO(margin_context_options, seed_given) - 1; /* that of version 0.1 */
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "options.size");
    options.size = 1;
    assert_refused(&options, MARGIN_ERROR_ARGUMENT, "options.size is 1");
}

/* ---- Memory ---- */

static margin_status create_and_free(margin_context *context, void *user, margin_error *error) {
    margin_context_options options = context->options;
    margin_context *second;
    (void)user;
    margin_status status = margin_context_create(&options, &second, error);
    if (status >= 0) margin_context_free(second);
    return status;
}

static void every_allocation_of_a_context_may_fail(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(2, create_and_free, NULL) >= 3);
}

static void everything_comes_from_the_allocator_and_is_counted(void **state) {
    (void)state;
    support_heap source;
    support_heap_init(&source);
    margin_context *context = support_context(&source, 3);
    assert_true(atomic_load(&source.live_blocks) >= 3); /* accounts, pool, context */
    assert_int_equal(margin_context_memory(context), atomic_load(&source.live_bytes));
    void *block = mg_new(context->heap, 1000, 1);
    assert_int_equal(margin_context_memory(context), atomic_load(&source.live_bytes));
    assert_int_equal(margin_context_peak_memory(context), atomic_load(&source.peak_bytes));
    mg_heap *heap = mg_heap_retain(context->heap);
    margin_context_free(context);
    memset(block, 1, 1000); /* what outlives the context keeps the heap */
    mg_free(heap, block);
    mg_heap_release(heap);
    support_assert_nothing_live(&source);
}

/* ---- Cores ---- */

/* A fake cgroup tree: writes a file, makes the folders on its way. */
static void put(const char *root, const char *path, const char *text) {
    char folder[SUPPORT_PATH], written[SUPPORT_PATH];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        int length = snprintf(folder, sizeof folder, "%s/%.*s", root, (int)(slash - path), path);
        assert_true(length < SUPPORT_PATH);
        mkdir(folder, 0777);
    }
    support_write_text(written, root, path, text);
}

static int quota(const char *root, const char *membership) {
    char path[SUPPORT_PATH];
    return mg_cores_in_quota(support_write_text(path, root, "membership", membership), root);
}

static void quotas_of_cgroup_2(void **state) {
    (void)state;
    char root[SUPPORT_PATH];
    support_temp_dir(root);
    assert_int_equal(quota(root, "0::/"), INT_MAX);
    put(root, "cpu.max", "max 100000\n");
    assert_int_equal(quota(root, "0::/\n"), INT_MAX);
    put(root, "cpu.max", "200000 100000\n");
    assert_int_equal(quota(root, "0::/\n"), 2);
    put(root, "cpu.max", "150000 100000");
    assert_int_equal(quota(root, "0::/"), 2);
    put(root, "cpu.max", "1000 100000");
    assert_int_equal(quota(root, "0::/\n"), 1);
    put(root, "cpu.max", "max 100000\n");
    put(root, "a/b/cpu.max", "600000 100000\n");
    put(root, "a/cpu.max", "300000 100000\n");
    assert_int_equal(quota(root, "0::/a/b\n"), 3); /* the tightest on the way up */
    assert_int_equal(quota(root, "0::/a\n"), 3);
    put(root, "a/cpu.max", "max 100000\n");
    assert_int_equal(quota(root, "0::/a/b\n"), 6);
    assert_int_equal(quota(root, "0::/docker/host/only\n"), INT_MAX);
    put(root, "cpu.max", "500000 100000\n");
    assert_int_equal(quota(root, "0::/docker/host/only\n"), 5);
    assert_int_equal(quota(root, "0::/../..\n"), 5);
    support_temp_remove(root);
}

static void quotas_of_cgroup_1(void **state) {
    (void)state;
    char root[SUPPORT_PATH];
    support_temp_dir(root);
    static const char lines[] = "12:memory:/x\n5:cpuset:/x\n4:cpu,cpuacct:/box\n1:name=systemd:/\n";
    assert_int_equal(quota(root, lines), INT_MAX);
    put(root, "cpu/box/cpu.cfs_quota_us", "-1\n");
    put(root, "cpu/box/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota(root, lines), INT_MAX);
    put(root, "cpu/box/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(quota(root, lines), 3);
    put(root, "cpu/cpu.cfs_quota_us", "100000\n");
    put(root, "cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota(root, lines), 1);
    assert_int_equal(quota(root, "5:cpuset:/box\n"), INT_MAX);
    assert_int_equal(quota(root, "3:cpuacct,cpu:/elsewhere\n"), 1);
    support_temp_remove(root);
}

static void damaged_quota_files_mean_no_quota(void **state) {
    (void)state;
    char root[SUPPORT_PATH];
    support_temp_dir(root);
    static const char *const bad[] = {
        "",         "\n",       "x",         "100000",
        "0 100000", "100000 0", "-5 100000", "999999999999999999999999999 1",
        "1 ",       "100000 x"};
    for (int i = 0; i < MG_LENGTH(bad); i++) {
        put(root, "cpu.max", bad[i]);
        if (quota(root, "0::/") != INT_MAX) fail_msg("cpu.max \"%s\"", bad[i]);
    }
    put(root, "cpu.max", "100000 100000");
    assert_int_equal(quota(root, ""), INT_MAX);
    assert_int_equal(quota(root, "nonsense\n:\n::\n"), 1); /* "::" is group "" of the tree */
    assert_int_equal(mg_cores_in_quota("/nowhere/at/all", root), INT_MAX);
    char *lengthy = malloc(9000);
    memset(lengthy, 'x', 8999);
    memcpy(lengthy, "0::/", 4);
    lengthy[8999] = '\0';
    assert_int_equal(quota(root, lengthy), 1); /* cut, and its parent is the root */
    free(lengthy);
    support_temp_remove(root);
}

static void affinity_is_honoured(void **state) {
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET((size_t)first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_true(mg_cores_allowed() >= 1);
    assert_true(mg_cores_allowed() <= CPU_COUNT(&all));
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    int cores = mg_cores_allowed();
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(cores, 1);
}

/* ---- Cancel ---- */

static margin_context *signalled;
static void on_signal(int number) {
    (void)number;
    margin_context_cancel(signalled);
}

static void cancel_stays_until_resume(void **state) {
    (void)state;
    margin_error error;
    margin_context *context = make(NULL);
    assert_false(mg_cancelled(context));
    margin_context_cancel(context);
    assert_true(mg_cancelled(context));
    assert_true(mg_cancelled(context));
    margin_context_resume(context);
    assert_false(mg_cancelled(context));

    signalled = context;
    void (*before)(int) = signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, before);
    assert_true(mg_cancelled(context));
    assert_int_equal(mg_fail_cancelled(&error), MARGIN_ERROR_CANCELLED);
    assert_contains(error.text, "interrupted");
    margin_context_free(context);
}

/* ---- Callbacks ---- */

typedef struct heard {
    int progress, logs, answer;
    margin_progress last;
    margin_log_level level;
    char text[1200];
} heard;

static int hear_progress(const margin_progress *progress, void *user) {
    heard *h = user;
    h->progress++;
    h->last = *progress;
    return h->answer;
}

static void hear_log(margin_log_level level, const char *text, void *user) {
    heard *h = user;
    h->logs++;
    h->level = level;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static margin_context *make_heard(heard *h) {
    margin_context_options options = defaults;
    memset(h, 0, sizeof *h);
    options.threads = 1;
    options.progress = hear_progress;
    options.log = hear_log;
    options.user = h;
    return make(&options);
}

static void progress_is_rare_and_complete(void **state) {
    (void)state;
    heard h;
    margin_context *context = make_heard(&h);
    double start = mg_clock();
    long calls = 0;
    while (mg_clock() - start < 0.25) {
        mg_progress(context, "reading", 3, 10, 0.5);
        calls++;
    }
    double seconds = mg_clock() - start;
    assert_true(h.progress >= 2);
    assert_true(h.progress <= 1 + (int)(seconds / 0.099));
    assert_true(calls > h.progress);
    assert_string_equal(h.last.activity, "reading");
    assert_close(h.last.done, 3, 0);
    assert_close(h.last.total, 10, 0);
    assert_close(h.last.measure, 0.5, 0);
    assert_false(mg_cancelled(context));
    margin_context_free(context);
}

static void progress_can_cancel(void **state) {
    (void)state;
    heard h;
    margin_context *context = make_heard(&h);
    h.answer = 1;
    mg_progress(context, "training", 1, 0, 0);
    assert_true(mg_cancelled(context));
    margin_context_free(context);
}

static void log_passes_whole_sentences(void **state) {
    (void)state;
    heard h;
    margin_context *context = make_heard(&h);
    mg_log(context, MARGIN_LOG_WARNING, "column %d (%s) is constant", 3, "age\x1b");
    assert_int_equal(h.logs, 1);
    assert_int_equal(h.level, MARGIN_LOG_WARNING);
    assert_string_equal(h.text, "column 3 (age?) is constant");
    char wide[2000];
    memset(wide, 'x', sizeof wide);
    wide[sizeof wide - 1] = '\0';
    mg_log(context, MARGIN_LOG_NOTE, "%s", wide);
    assert_int_equal(strlen(h.text), 999);
    margin_context_free(context);
}

static void silence_is_the_default(void **state) {
    (void)state;
    margin_context *context = make(NULL);
    mg_progress(context, "reading", 0, 0, 0);
    mg_log(context, MARGIN_LOG_NOTE, "nobody hears this");
    margin_context_free(context);
}

static void *report_from_thread(void *argument) {
    for (int i = 0; i < 2000; i++)
        mg_progress(argument, "training", i, 0, 0);
    return NULL;
}

static void two_threads_share_one_rate(void **state) {
    (void)state;
    heard h;
    margin_context *context = make_heard(&h);
    pthread_t other;
    double start = mg_clock();
    mg_progress(context, "training", 0, 0, 0); /* for 100 ms nobody reports, whoever asks */
    assert_int_equal(pthread_create(&other, NULL, report_from_thread, context), 0);
    report_from_thread(context);
    pthread_join(other, NULL);
    if (mg_clock() - start < 0.09) assert_int_equal(h.progress, 1);
    margin_context_free(context);
}

/* ---- Stopping ---- */

static void a_call_has_one_deadline_and_its_callbacks(void **state) {
    (void)state;
    heard h;
    margin_context *context = make_heard(&h);
    context->options.time_limit = 50;
    margin_context call = mg_context_call(context), part;
    assert_true(call.deadline >= mg_clock() && call.deadline <= mg_clock() + 50);
    mg_stop stop = mg_stop_make(&call, -1);
    assert_true(stop.deadline == call.deadline);
    mg_log(&call, MARGIN_LOG_NOTE, "heard");
    assert_string_equal(h.text, "heard");
    mg_context_part(&call, mg_deadline(&call), mg_context_shares(&call, 1), &part);
    assert_true(part.deadline == call.deadline);
    mg_log(&part, MARGIN_LOG_NOTE, "not heard");
    assert_int_equal(h.logs, 1);
    margin_context_free(context);
}

static void stopping_by_iterations_time_and_cancel(void **state) {
    (void)state;
    margin_context *context = make(NULL);
    mg_stop stop = mg_stop_make(context, 10);
    assert_true(isinf(stop.deadline));
    assert_int_equal(mg_stop_check(&stop, 0), MARGIN_OK);
    assert_int_equal(mg_stop_check(&stop, 9), MARGIN_OK);
    assert_int_equal(mg_stop_check(&stop, 10), MARGIN_STOPPED_ITERATIONS);
    stop = mg_stop_make(context, 0);
    assert_int_equal(mg_stop_check(&stop, 0), MARGIN_STOPPED_ITERATIONS);
    stop = mg_stop_make(context, -1);
    assert_int_equal(mg_stop_check(&stop, INT64_MAX), MARGIN_OK);
    margin_context_cancel(context);
    assert_int_equal(mg_stop_check(&stop, 0), MARGIN_ERROR_CANCELLED);
    margin_context_free(context);

    margin_context_options options = defaults;
    options.time_limit = 0.02;
    context = make(&options);
    double start = mg_clock();
    stop = mg_stop_make(context, 10);
    while (mg_stop_check(&stop, 0) == MARGIN_OK && mg_clock() < start + 60) {
    }
    assert_int_equal(mg_stop_check(&stop, 0), MARGIN_STOPPED_TIME);
    assert_int_equal(mg_stop_check(&stop, 10), MARGIN_STOPPED_ITERATIONS);
    assert_true(mg_clock() - start >= 0.0199);
    margin_context_free(context);

    options.time_limit = (double)INFINITY;
    context = make(&options);
    stop = mg_stop_make(context, -1);
    assert_int_equal(mg_stop_check(&stop, 5), MARGIN_OK);
    margin_context_free(context);
}

/* ---- Poll ---- */

typedef struct host {
    int polls, answer;
    pthread_t caller;
} host;

static int poll_host(void *user) {
    host *h = user;
    assert_true(pthread_equal(pthread_self(), h->caller));
    h->polls++;
    return h->answer;
}

/* Whoever takes the first task works on; the other has nothing to do. */
static margin_status sleep_in_a_task(void *argument, int64_t task, int worker) {
    const struct timespec tick = {.tv_nsec = 2000000};
    margin_context *context = argument;
    (void)worker;
    for (int k = 0; k < 100 && task == 0; k++) {
        if (mg_cancelled(context)) return MARGIN_ERROR_CANCELLED;
        nanosleep(&tick, NULL);
    }
    return MARGIN_OK;
}

static void a_host_is_polled_wherever_its_thread_is(void **state) {
    (void)state;
    host h = {.caller = pthread_self()};
    margin_context_options options = defaults;
    options.threads = 2;
    options.poll = poll_host;
    options.user = &h;
    margin_context *context = make(&options);
    for (int round = 0; round < 4; round++) { /* the calling thread works, or waits */
        h.polls = 0;
        assert_int_equal(mg_parallel(context, 2, sleep_in_a_task, context, NULL), MARGIN_OK);
        assert_true(h.polls >= 4);
    }
    margin_context part;
    mg_context_part(context, (double)INFINITY, mg_context_shares(context, 2), &part);
    h.polls = 0;
    assert_int_equal(sleep_in_a_task(&part, 0, 0), MARGIN_OK);
    assert_true(h.polls >= 4);
    h.answer = 1;
    assert_int_equal(mg_parallel(context, 2, sleep_in_a_task, context, NULL),
                     MARGIN_ERROR_CANCELLED);
    assert_true(mg_cancelled(context)); /* until margin_context_resume */
    margin_context_free(context);
}

static margin_status hold(mg_heap *heap, char **bytes, int64_t count) {
    MG_NEW(heap, *bytes, count, "a test", NULL);
    return MARGIN_OK;
}

/* What parts plan for does not depend on what others of them hold meanwhile. */
static void parts_plan_with_what_was_left_before(void **state) {
    (void)state;
    margin_context_options options = {.size = sizeof options, .memory_limit = 64 << 20};
    margin_context *context = make(&options);
    const int64_t alone = mg_context_room(context, INT64_MAX);
    assert_in_range(alone, 31 << 20, 32 << 20);
    assert_int_equal(alone % (1 << 19), 0);
    margin_context part, inner;
    const mg_shares shares = mg_context_shares(context, 4);
    mg_context_part(context, (double)INFINITY, shares, &part);
    char *held = NULL;
    assert_int_equal(hold(context->heap, &held, 20 << 20), MARGIN_OK);
    assert_int_equal(mg_context_room(&part, INT64_MAX), alone / 4);
    assert_int_equal(mg_context_room(&part, 4 << 20), 1 << 20);
    assert_in_range(mg_context_room(context, INT64_MAX), 21 << 20, 22 << 20);
    /* parts of a part: only more of them have less */
    mg_context_part(&part, (double)INFINITY, mg_context_shares(&part, 3), &inner);
    assert_int_equal(mg_context_room(&inner, INT64_MAX), alone / 4);
    mg_context_part(&part, (double)INFINITY, mg_context_shares(&part, 1000), &inner);
    assert_int_equal(mg_context_room(&inner, INT64_MAX), alone / 8);
    mg_free(context->heap, held);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_use_every_core),
        cmocka_unit_test(threads_are_what_was_asked),
        cmocka_unit_test(bad_options_are_refused_by_name),
        cmocka_unit_test(options_of_other_versions),
        cmocka_unit_test(every_allocation_of_a_context_may_fail),
        cmocka_unit_test(everything_comes_from_the_allocator_and_is_counted),
        cmocka_unit_test(quotas_of_cgroup_2),
        cmocka_unit_test(quotas_of_cgroup_1),
        cmocka_unit_test(damaged_quota_files_mean_no_quota),
        cmocka_unit_test(affinity_is_honoured),
        cmocka_unit_test(cancel_stays_until_resume),
        cmocka_unit_test(progress_is_rare_and_complete),
        cmocka_unit_test(progress_can_cancel),
        cmocka_unit_test(log_passes_whole_sentences),
        cmocka_unit_test(silence_is_the_default),
        cmocka_unit_test(two_threads_share_one_rate),
        cmocka_unit_test(a_call_has_one_deadline_and_its_callbacks),
        cmocka_unit_test(stopping_by_iterations_time_and_cancel),
        cmocka_unit_test(a_host_is_polled_wherever_its_thread_is),
        cmocka_unit_test(parts_plan_with_what_was_left_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
