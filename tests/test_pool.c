/* Pool: every task once, the lowest failure, nesting, fork, cancel, few threads. */
#include "support/support.h"

#include "base/pool.h"

#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread sanitizer does not follow fork() into threads, and neither it nor the address
 * sanitizer lives under a limit on address space. */
#if defined(__SANITIZE_THREAD__)
static const bool under_thread_sanitizer = true, under_address_sanitizer = false;
#elif defined(__SANITIZE_ADDRESS__)
static const bool under_thread_sanitizer = false, under_address_sanitizer = true;
#elif defined(__has_feature)
static const bool under_thread_sanitizer = __has_feature(thread_sanitizer);
static const bool under_address_sanitizer = __has_feature(address_sanitizer);
#else
static const bool under_thread_sanitizer = false, under_address_sanitizer = false;
#endif

enum { MOST_TASKS = 5000, MOST_WORKERS = 64 };

/* Takes a little time without giving up the core: on a busy machine that would take long. */
static void dawdle(int turns) {
    for (volatile int i = 0; i < turns; i++) {
    }
}

typedef struct tally {
    margin_context *context;
    atomic_int runs[MOST_TASKS];   /* how often each task ran */
    atomic_int busy[MOST_WORKERS]; /* tasks running now under each worker number */
    atomic_int clashes;            /* a worker number in use twice at once, or out of range */
    atomic_int started;
    int threads;
    bool slow;
} tally;

static tally *new_tally(margin_context *context) {
    tally *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->context = context;
    t->threads = margin_context_threads(context);
    return t;
}

static margin_status count_task(void *argument, int64_t task, int worker) {
    tally *t = argument;
    if (worker < 0 || worker >= t->threads) {
        atomic_fetch_add(&t->clashes, 1);
        return MARGIN_ERROR_INTERNAL;
    }
    if (atomic_fetch_add(&t->busy[worker], 1) != 0) atomic_fetch_add(&t->clashes, 1);
    atomic_fetch_add(&t->runs[task], 1);
    atomic_fetch_add(&t->started, 1);
    if (t->slow) dawdle(500);
    atomic_fetch_sub(&t->busy[worker], 1);
    return MARGIN_OK;
}

static void assert_each_once(const tally *t, int64_t count) {
    for (int64_t i = 0; i < MOST_TASKS; i++)
        if (atomic_load(&((tally *)t)->runs[i]) != (i < count ? 1 : 0))
            fail_msg("task %lld of %lld ran %d times", (long long)i, (long long)count,
                     atomic_load(&((tally *)t)->runs[i]));
    assert_int_equal(atomic_load(&((tally *)t)->clashes), 0);
}

static void every_task_runs_once(void **state) {
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 100, MOST_TASKS};
    for (int threads = 1; threads <= 8; threads++) {
        margin_context *context = support_context(NULL, threads);
        for (int i = 0; i < MG_LENGTH(counts); i++) {
            for (int slow = 0; slow < 2; slow++) {
                tally *t = new_tally(context);
                t->slow = slow;
                assert_int_equal(mg_parallel(context, counts[i], count_task, t, NULL), MARGIN_OK);
                assert_each_once(t, counts[i]);
                free(t);
            }
        }
        margin_context_free(context);
    }
}

static void many_short_runs(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 4);
    tally *t = new_tally(context);
    uint64_t random = 3;
    int64_t expected = 0;
    for (int i = 0; i < 20000; i++) {
        int64_t count = (int64_t)(support_random(&random) % 7);
        if (i % 1000 == 0) usleep(1000); /* the workers go to sleep */
        assert_int_equal(mg_parallel(context, count, count_task, t, NULL), MARGIN_OK);
        expected += count;
        assert_int_equal(atomic_load(&t->started), expected);
    }
    assert_int_equal(atomic_load(&t->clashes), 0);
    free(t);
    margin_context_free(context);
}

static void unused_and_fresh_pools_end(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        margin_context *context = support_context(NULL, 3);
        if (i % 2 == 1) {
            tally *t = new_tally(context);
            assert_int_equal(mg_parallel(context, 2, count_task, t, NULL), MARGIN_OK);
            free(t);
        }
        margin_context_free(context);
    }
}

/* Meets the other tasks of the run: only threads that work at the same time get past it. */
static margin_status meet(void *argument, int64_t task, int worker) {
    atomic_int *arrived = argument;
    (void)task, (void)worker;
    atomic_fetch_add(arrived, 1);
    for (double start = 0; atomic_load(arrived) < 3; start++) {
        if (start > 20000) return MARGIN_ERROR_INTERNAL;
        usleep(1000);
    }
    return MARGIN_OK;
}

static void tasks_run_at_the_same_time(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 3);
    atomic_int arrived = 0;
    assert_int_equal(mg_parallel(context, 3, meet, &arrived, NULL), MARGIN_OK);
    margin_context_free(context);
}

/* ---- Failures ---- */

typedef struct failing {
    int64_t from;     /* every task from here on fails */
    bool lowest_last; /* the lowest failure comes after the others, or before them */
    int wait;         /* how long */
} failing;

static margin_status fail_from(void *argument, int64_t task, int worker) {
    const failing *f = argument;
    (void)worker;
    if (task < f->from) return task % 2 ? MARGIN_STOPPED_TIME : MARGIN_OK;
    if ((task == f->from) == f->lowest_last) dawdle(f->wait);
    return task == f->from ? MARGIN_ERROR_DATA : MARGIN_ERROR_FILE;
}

static void the_lowest_failure_counts(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        margin_context *context = support_context(NULL, threads);
        for (int64_t from = 0; from < 200; from++) {
            failing f = {from / 2, from % 2, 20000};
            assert_int_equal(mg_parallel(context, 100, fail_from, &f, NULL), MARGIN_ERROR_DATA);
        }
        failing none = {100, false, 0};
        assert_int_equal(mg_parallel(context, 100, fail_from, &none, NULL), MARGIN_OK);
        margin_context_free(context);
    }
}

static void a_failure_ends_the_run_early(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    failing f = {5, false, 0};
    assert_int_equal(mg_parallel(context, INT64_MAX / 512, fail_from, &f, NULL), MARGIN_ERROR_DATA);
    tally *t = new_tally(context);
    assert_int_equal(mg_parallel(context, 100, count_task, t, NULL),
                     MARGIN_OK); /* and is forgotten */
    assert_each_once(t, 100);
    free(t);
    margin_context_free(context);
}

/* ---- Cancel ---- */

static margin_status cancel_at(void *argument, int64_t task, int worker) {
    tally *t = argument;
    (void)worker;
    atomic_fetch_add(&t->started, 1);
    if (task == 10) margin_context_cancel(t->context);
    return MARGIN_OK;
}

static void a_cancelled_run_skips_the_rest(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        tally *t = new_tally(context);
        assert_int_equal(mg_parallel(context, INT64_MAX / 512, cancel_at, t, NULL),
                         MARGIN_ERROR_CANCELLED);
        int started = atomic_load(&t->started);
        assert_true(started >= 11);
        assert_int_equal(mg_parallel(context, 5, cancel_at, t, NULL), MARGIN_ERROR_CANCELLED);
        assert_int_equal(atomic_load(&t->started), started);
        margin_context_resume(context);
        assert_int_equal(mg_parallel(context, 5, cancel_at, t, NULL), MARGIN_OK);
        free(t);
        margin_context_free(context);
    }
}

/* ---- Nesting ---- */

typedef struct nest {
    margin_context *outer, *inner;
    atomic_int wrong, arrived;
} nest;

typedef struct inner_call {
    nest *nest;
    pthread_t thread;
    int worker;
    int64_t last;
} inner_call;

static margin_status inner_task(void *argument, int64_t task, int worker) {
    inner_call *call = argument;
    bool here = pthread_equal(call->thread, pthread_self()) != 0;
    int expected = call->nest->inner == call->nest->outer ? call->worker : 0;
    if (!here || worker != expected || task != call->last + 1)
        atomic_fetch_add(&call->nest->wrong, 1);
    call->last = task;
    return task == 8 ? MARGIN_ERROR_DATA : MARGIN_OK;
}

static margin_status outer_task(void *argument, int64_t task, int worker) {
    nest *n = argument;
    inner_call call = {n, pthread_self(), worker, -1};
    if (task < 3 && meet(&n->arrived, task, worker) < 0) return MARGIN_ERROR_INTERNAL;
    if (mg_parallel(n->inner, 8, inner_task, &call, NULL) != MARGIN_OK)
        return MARGIN_ERROR_INTERNAL;
    if (call.last != 7) atomic_fetch_add(&n->wrong, 1);
    call.last = -1;
    if (mg_parallel(n->inner, 20, inner_task, &call, NULL) != MARGIN_ERROR_DATA || call.last != 8)
        atomic_fetch_add(&n->wrong, 1);
    return MARGIN_OK;
}

static void calls_from_a_task_run_inline(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 4), *other = support_context(NULL, 2);
    nest n = {.outer = context, .inner = context};
    assert_int_equal(mg_parallel(context, 200, outer_task, &n, NULL), MARGIN_OK);
    assert_int_equal(atomic_load(&n.wrong), 0);
    n.inner = other;
    assert_int_equal(mg_parallel(context, 200, outer_task, &n, NULL), MARGIN_OK);
    assert_int_equal(atomic_load(&n.wrong), 0);
    /* and afterwards this thread is outside again */
    atomic_int arrived = 1;
    assert_int_equal(mg_parallel(context, 2, meet, &arrived, NULL), MARGIN_OK);
    margin_context_free(context);
    margin_context_free(other);
}

typedef struct crossing {
    margin_context *mine, *theirs;
    tally *tally;
    int rounds;
} crossing;

static margin_status cross(void *argument, int64_t task, int worker) {
    crossing *c = argument;
    (void)task, (void)worker;
    return mg_parallel(c->theirs, 3, count_task, c->tally, NULL);
}

static margin_status no_work(void *argument, int64_t task, int worker) {
    (void)argument, (void)task, (void)worker;
    return MARGIN_OK;
}

static margin_status cross_idle(void *argument, int64_t task, int worker) {
    crossing *c = argument;
    (void)task, (void)worker;
    return mg_parallel(c->theirs, 3, no_work, NULL, NULL);
}

static void *run_crossing(void *argument) {
    crossing *c = argument;
    for (int i = 0; i < 300; i++)
        if (mg_parallel(c->mine, 4, cross_idle, c, NULL) < 0) return c;
    return NULL;
}

static void two_pools_that_call_each_other_do_not_lock_up(void **state) {
    (void)state;
    margin_context *a = support_context(NULL, 2), *b = support_context(NULL, 2);
    crossing there = {a, b, NULL, 0}, back = {b, a, NULL, 0};
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, run_crossing, &there), 0);
    assert_null(run_crossing(&back));
    pthread_join(thread, &failed);
    assert_null(failed);
    tally *t = new_tally(b);
    crossing one = {a, b, t, 0};
    assert_int_equal(mg_parallel(a, 1, cross, &one, NULL), MARGIN_OK);
    assert_each_once(t, 0 + 3);
    free(t);
    margin_context_free(a);
    margin_context_free(b);
}

/* ---- Several callers ---- */

typedef struct caller {
    tally *tally;
    int failures;
} caller;

static void *call_often(void *argument) {
    caller *c = argument;
    for (int i = 0; i < 300; i++)
        if (mg_parallel(c->tally->context, 9, count_task, c->tally, NULL) < 0) c->failures++;
    return NULL;
}

static void callers_take_turns(void **state) {
    (void)state;
    enum { CALLERS = 4 };
    margin_context *context = support_context(NULL, 3);
    tally *t = new_tally(context); /* shared: worker numbers must be unique across callers too */
    pthread_t threads[CALLERS];
    caller callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){t, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].failures, 0);
    }
    assert_int_equal(atomic_load(&t->started), CALLERS * 300 * 9);
    assert_int_equal(atomic_load(&t->clashes), 0);
    free(t);
    margin_context_free(context);
}

/* ---- What workers are ---- */

typedef struct look {
    atomic_int arrived, wrong;
    int rounding;
} look;

static margin_status look_around(void *argument, int64_t task, int worker) {
    look *l = argument;
    sigset_t blocked;
    pthread_attr_t attributes;
    size_t stack;
    atomic_int *arrived = &l->arrived;
    if (meet(arrived, task, worker) < 0) return MARGIN_ERROR_INTERNAL; /* on three threads */
    if (fegetround() != l->rounding) atomic_fetch_add(&l->wrong, 1);
    if (worker == 0) return MARGIN_OK;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    static const int host[] = {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM, SIGPIPE, SIGPROF};
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (int i = 0; i < MG_LENGTH(host); i++)
        if (!sigismember(&blocked, host[i])) atomic_fetch_add(&l->wrong, 1);
    for (int i = 0; i < MG_LENGTH(own); i++)
        if (sigismember(&blocked, own[i])) atomic_fetch_add(&l->wrong, 1);
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &stack);
        pthread_attr_destroy(&attributes);
        if (stack < 1 << 20) atomic_fetch_add(&l->wrong, 1);
    }
    return MARGIN_OK;
}

static void workers_leave_signals_to_the_host(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 3);
    sigset_t before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGWINCH);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    look l = {.rounding = FE_TONEAREST};
    assert_int_equal(mg_parallel(context, 3, look_around, &l, NULL), MARGIN_OK);
    assert_int_equal(atomic_load(&l.wrong), 0);
    pthread_sigmask(SIG_UNBLOCK, &before, &after);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
    margin_context_free(context);
}

static void workers_compute_as_their_caller(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 3);
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (int i = 0; i < MG_LENGTH(modes); i++) {
        look l = {.rounding = modes[i]};
        assert_int_equal(fesetround(modes[i]), 0);
        margin_status status = mg_parallel(context, 3, look_around, &l, NULL);
        fesetround(FE_TONEAREST);
        assert_int_equal(status, MARGIN_OK);
        assert_int_equal(atomic_load(&l.wrong), 0);
    }
    margin_context_free(context);
}

/* ---- Fork ---- */

/* Runs `body` in a child process and returns its exit code; 77 if it hangs. */
static int in_child(int (*body)(void *argument), void *argument) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(body(argument));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_tally(margin_context *context) {
    tally *t = new_tally(context);
    int wrong = 0;
    if (mg_parallel(context, 500, count_task, t, NULL) < 0) return 1;
    for (int i = 0; i < 500; i++)
        wrong += atomic_load(&t->runs[i]) != 1;
    wrong += atomic_load(&t->clashes);
    atomic_int arrived = 0;
    if (mg_parallel(context, 3, meet, &arrived, NULL) < 0) return 2; /* really on three threads */
    free(t);
    return wrong > 0 ? 3 : 0;
}

static int child_uses_pool(void *argument) {
    int result = run_tally(argument);
    if (result == 0) margin_context_free(argument);
    return result;
}

static int child_frees_pool(void *argument) {
    margin_context_free(argument);
    return 0;
}

static int child_has_child(void *argument) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) _exit(child_uses_pool(argument));
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 10;
    return child_uses_pool(argument);
}

static void *use_in_thread(void *argument) {
    return run_tally(argument) == 0 ? NULL : argument;
}

static int child_has_threads(void *argument) {
    pthread_t thread;
    void *failed;
    if (pthread_create(&thread, NULL, use_in_thread, argument) != 0) return 20;
    int result = run_tally(argument);
    pthread_join(thread, &failed);
    if (failed) return 21;
    margin_context_free(argument);
    return result;
}

static void children_get_threads_of_their_own(void **state) {
    (void)state;
    if (under_thread_sanitizer) skip();
    static int (*const bodies[])(void *) = {child_uses_pool, child_frees_pool, child_has_child,
                                            child_has_threads};
    for (int used = 0; used < 2; used++) {
        margin_context *context = support_context(NULL, 3);
        if (used) assert_int_equal(run_tally(context), 0);
        for (int i = 0; i < MG_LENGTH(bodies); i++)
            assert_int_equal(in_child(bodies[i], context), 0);
        assert_int_equal(run_tally(context), 0); /* the parent's pool goes on */
        margin_context_free(context);
    }
}

typedef struct background {
    tally *tally;
    atomic_int stop, failed;
} background;

static void *run_until_told(void *argument) {
    background *b = argument;
    while (!atomic_load(&b->stop))
        if (mg_parallel(b->tally->context, 50, count_task, b->tally, NULL) < 0)
            atomic_store(&b->failed, 1);
    return NULL;
}

/* fork() at any moment of another thread's run: locks are held by threads the child does not have.
 */
static void fork_in_the_middle_of_a_run(void **state) {
    (void)state;
    if (under_thread_sanitizer) skip();
    margin_context *context = support_context(NULL, 3);
    background b = {.tally = new_tally(context)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_until_told, &b), 0);
    for (int i = 0; i < 40; i++) {
        usleep(300);
        int result = in_child(i % 2 ? child_uses_pool : child_frees_pool, context);
        if (result != 0) fail_msg("child %d: %d", i, result);
    }
    atomic_store(&b.stop, 1);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&b.failed), 0);
    assert_int_equal(atomic_load(&b.tally->clashes), 0);
    free(b.tally);
    margin_context_free(context);
}

static margin_status fork_once(void *argument, int64_t task, int worker) {
    pid_t *child = argument;
    (void)worker;
    if (task == 0) *child = fork();
    return MARGIN_OK;
}

static void fork_inside_a_task_fails_in_the_child(void **state) {
    (void)state;
    if (under_thread_sanitizer) skip();
    margin_context *context = support_context(NULL, 2);
    pid_t child = -1;
    margin_status status = mg_parallel(context, 1, fork_once, &child, NULL);
    if (child == 0) {
        bool again = mg_parallel(context, 5, no_work, NULL, NULL) == MARGIN_OK;
        margin_context_free(context);
        _exit(status == MARGIN_ERROR_SYSTEM && again ? 0 : 1);
    }
    int result = 0;
    assert_int_equal(status, MARGIN_OK);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    margin_context_free(context);
}

/* ---- Refused threads ---- */

static int run_without_room(void *argument) {
    margin_context *context = argument;
    /* address space for no further stack: pthread_create is refused */
    struct rlimit limit = {0, 0};
    tally *t = new_tally(context);
    int wrong = 0;
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 77;
    margin_status status = mg_parallel(context, 1000, count_task, t, NULL);
    for (int i = 0; i < 1000; i++)
        wrong += atomic_load(&t->runs[i]) != 1;
    free(t);
    margin_context_free(context);
    return status < 0 ? 2 : wrong > 0 ? 3 : 0;
}

static void work_is_done_without_threads_too(void **state) {
    (void)state;
    if (under_thread_sanitizer || under_address_sanitizer) skip();
    /* more threads than stacks of earlier ones may be lying about for reuse */
    margin_context *context = support_context(NULL, MOST_WORKERS);
    int result = in_child(run_without_room, context);
    margin_context_free(context);
    if (result == 77) skip();
    assert_int_equal(result, 0);
}

static margin_status use_pool(margin_context *context, void *user, margin_error *error) {
    margin_context_options options = context->options;
    margin_context *second;
    margin_status status = margin_context_create(&options, &second, error);
    if (status < 0) return status;
    status = mg_parallel(second, 100, no_work, user, NULL);
    margin_context_free(second);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(3, use_pool, NULL) >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(many_short_runs),
        cmocka_unit_test(unused_and_fresh_pools_end),
        cmocka_unit_test(tasks_run_at_the_same_time),
        cmocka_unit_test(the_lowest_failure_counts),
        cmocka_unit_test(a_failure_ends_the_run_early),
        cmocka_unit_test(a_cancelled_run_skips_the_rest),
        cmocka_unit_test(calls_from_a_task_run_inline),
        cmocka_unit_test(two_pools_that_call_each_other_do_not_lock_up),
        cmocka_unit_test(callers_take_turns),
        cmocka_unit_test(workers_leave_signals_to_the_host),
        cmocka_unit_test(workers_compute_as_their_caller),
        cmocka_unit_test(children_get_threads_of_their_own),
        cmocka_unit_test(fork_in_the_middle_of_a_run),
        cmocka_unit_test(fork_inside_a_task_fails_in_the_child),
        cmocka_unit_test(work_is_done_without_threads_too),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
