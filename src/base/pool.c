/* Thread pool.
 *
 * A run lives on its caller's stack and is published under the lock; workers that are awake join
 * it, take tasks from its counter, and leave. The caller works too, then closes the run and waits
 * for those who joined only: a worker that is slow to wake is not waited for.
 *
 * Tasks are handed out in ascending order. So when task f fails, every task below f has been
 * started, and the lowest failure is the same whatever the timing.
 *
 * The floating-point environment of the caller is set in the workers for each run: a host that
 * changed rounding or flushes subnormals to zero in one thread would otherwise get results that
 * depend on which thread did what. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_sigmask */
#endif
#include "base/pool.h"

#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define PAUSE() _mm_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ __volatile__("yield")
#else
#define PAUSE() ((void)0)
#endif

/* Looks before sleeping: some 25 us, about what a sleep and a wake cost, so that a solver's passes
 * follow each other without the system's scheduler. */
enum { SPIN = 1000, LEAST_STACK = 1 << 20, STEP_NANOSECONDS = 10 * 1000 * 1000 };

typedef struct pool_run {
    margin_context *context;
    mg_task task;
    void *argument;
    int64_t count;
    int threads; /* most that work on it, the caller's own counted */
    int joined;  /* those that have, of which each is the worker that was next; under the lock */
    fenv_t floats;
    atomic_ullong failure; /* lowest failed task << 8 | -status; ULLONG_MAX: none */
    atomic_int skipped;    /* some task was not run because the context was cancelled */
    _Alignas(64) atomic_llong next;
} pool_run;

typedef struct pool_worker {
    mg_pool *pool;
    pthread_t handle;
} pool_worker;

struct mg_pool {
    mg_heap *heap;
    int threads;
    atomic_int owner; /* process whose threads these are; minus it: being made anew by it */

    pthread_mutex_t lock; /* guards all below */
    bool taken;           /* by a caller, for the whole of its run */
    pthread_cond_t turn;  /* other callers: it no longer is */
    pthread_cond_t wake;  /* workers: a new run, or the end */
    pthread_cond_t idle;  /* the caller: no worker is in the run any more */
    pool_run *run;        /* open for joining; NULL: none */
    atomic_uint runs;     /* number of runs published; changed under the lock, watched without */
    atomic_int working;   /* workers in the run; changed under the lock, watched without */
    int sleeping;         /* workers that wait on `wake` */
    int started;          /* workers that exist */
    bool refused;         /* the system did not give a thread: ask no more */
    bool stopping;
    pool_worker workers[]; /* threads - 1 */
};

/* Which pool this thread works a task for, and as which worker: 0 is the caller. So a call from
 * inside a task is known; the only state of the library that is not in a context. */
static _Thread_local struct {
    const mg_pool *pool;
    int worker;
} inside;

/* ---- Tasks ---- */

static void note_failure(pool_run *run, int64_t task, margin_status status) {
    unsigned long long mine = (unsigned long long)task << 8 | (unsigned)-(int)status;
    unsigned long long lowest = atomic_load(&run->failure);
    while (mine < lowest && !atomic_compare_exchange_weak(&run->failure, &lowest, mine)) {
    }
}

static bool beyond_failure(const pool_run *run, int64_t task) {
    unsigned long long lowest =
        atomic_load_explicit(&((pool_run *)run)->failure, memory_order_relaxed);
    return (unsigned long long)task > lowest >> 8;
}

/* Takes tasks until none is left for this worker. */
MG_INLINE void work(pool_run *run, int worker) {
    for (;;) {
        int64_t task = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (task >= run->count || beyond_failure(run, task)) return;
        if (mg_cancelled(run->context)) {
            atomic_store_explicit(&run->skipped, 1, memory_order_relaxed);
            return;
        }
        margin_status status = run->task(run->argument, task, worker);
        if (status < 0) note_failure(run, task, status);
        if (worker == 0) mg_progress_tasks(run->context, task + 1, run->count);
    }
}

static margin_status outcome(const pool_run *run, margin_error *error) {
    unsigned long long lowest = atomic_load(&((pool_run *)run)->failure);
    margin_status status =
        lowest == ULLONG_MAX ? MARGIN_OK : (margin_status)(-(int)(lowest & 0xff));
    if (atomic_load(&((pool_run *)run)->skipped)) status = MARGIN_ERROR_CANCELLED;
    return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(error) : status;
}

static void run_init(pool_run *run, margin_context *context, int64_t count, mg_task task,
                     void *argument) {
    run->context = context;
    run->task = task;
    run->argument = argument;
    run->count = count;
    run->threads = mg_threads(context);
    run->joined = 1;
    atomic_init(&run->failure, ULLONG_MAX);
    atomic_init(&run->skipped, 0);
    atomic_init(&run->next, 0);
}

/* ---- Workers ---- */

/* Watches for a new run for a moment before the worker goes to sleep on the condition. */
static void spin_for_run(mg_pool *pool, unsigned seen) {
    for (int i = 0; i < SPIN; i++) {
        if (atomic_load_explicit(&pool->runs, memory_order_relaxed) != seen) return;
        PAUSE();
    }
}

/* A run that this worker has not seen yet and that takes one more. Holds the lock. */
static pool_run *next_run(mg_pool *pool, unsigned *seen) {
    pool_run *run = pool->run;
    if (!run || atomic_load(&pool->runs) == *seen) return NULL;
    *seen = atomic_load(&pool->runs);
    return run->joined < run->threads ? run : NULL;
}

/* Waits for such a run and joins it; NULL: the pool ends. */
static pool_run *join_run(mg_pool *pool, unsigned *seen) {
    pool_run *run = NULL;
    spin_for_run(pool, *seen);
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping && !(run = next_run(pool, seen))) {
        pool->sleeping++;
        pthread_cond_wait(&pool->wake, &pool->lock);
        pool->sleeping--;
    }
    if (run) {
        inside.worker = run->joined++;
        atomic_fetch_add(&pool->working, 1);
    }
    pthread_mutex_unlock(&pool->lock);
    return run;
}

static void leave_run(mg_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    if (atomic_fetch_sub(&pool->working, 1) == 1) pthread_cond_signal(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument) {
    const pool_worker *worker = argument;
    inside.pool = worker->pool;
    unsigned seen = 0;
    pool_run *run;
    while ((run = join_run(worker->pool, &seen)) != NULL) {
        fesetenv(&run->floats);
        work(run, inside.worker);
        leave_run(worker->pool);
    }
    return NULL;
}

/* Signals of the host are for its own threads. Those a thread causes itself stay: a crash reporter
 * must see them. */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (int i = 0; i < MG_LENGTH(own); i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static bool start_worker(pool_worker *worker) {
    pthread_attr_t attributes;
    size_t stack = 0;
    if (pthread_attr_init(&attributes) != 0) return false;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < LEAST_STACK)
        pthread_attr_setstacksize(&attributes, LEAST_STACK);
    int refusal = pthread_create(&worker->handle, &attributes, worker_main, worker);
    pthread_attr_destroy(&attributes);
    return refusal == 0;
}

/* Threads beside the caller's that a run has work for. */
static int helpers_for(const pool_run *run) {
    return (int)MG_MIN(run->count, (int64_t)run->threads) - 1;
}

/* Workers for a run; fewer if the system gives no more. In the caller's turn. */
static void start_workers(mg_pool *pool, const pool_run *run) {
    sigset_t before;
    const int wanted = helpers_for(run);
    if (pool->refused || pool->started >= wanted) return;
    block_signals(&before);
    while (pool->started < wanted && !pool->refused) {
        pool_worker *worker = &pool->workers[pool->started];
        worker->pool = pool;
        if (start_worker(worker))
            pool->started++;
        else
            pool->refused = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- Pool ---- */

static void init_locks(mg_pool *pool) {
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->idle, &monotonic);
    pthread_cond_init(&pool->turn, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->taken = false;
    pool->run = NULL;
    atomic_store(&pool->working, 0);
    pool->sleeping = 0;
    pool->started = 0;
    pool->refused = false;
    pool->stopping = false;
}

margin_status mg_pool_create(mg_heap *heap, int threads, mg_pool **pool, margin_error *error) {
    size_t bytes = sizeof(mg_pool) + (size_t)(threads - 1) * sizeof(pool_worker);
    mg_pool *created = mg_new_zero(heap, (int64_t)bytes, 1);
    if (!created) return mg_no_memory(heap, (int64_t)bytes, 1, "the thread pool", error);
    created->heap = heap;
    created->threads = threads;
    atomic_init(&created->owner, (int)getpid());
    atomic_init(&created->runs, 0);
    atomic_init(&created->working, 0);
    init_locks(created);
    *pool = created;
    return MARGIN_OK;
}

/* In a child of fork() there are no threads to join, and the locks may have been taken by threads
 * that do not exist here: destroying such a condition would wait for ever. */
void mg_pool_free(mg_pool *pool) {
    if (!pool) return;
    if (atomic_load(&pool->owner) == (int)getpid()) {
        pthread_mutex_lock(&pool->lock);
        pool->stopping = true;
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < pool->started; i++)
            pthread_join(pool->workers[i].handle, NULL);
        pthread_cond_destroy(&pool->idle);
        pthread_cond_destroy(&pool->wake);
        pthread_cond_destroy(&pool->turn);
        pthread_mutex_destroy(&pool->lock);
    }
    mg_free(pool->heap, pool);
}

int mg_task_worker(void) {
    return inside.pool ? inside.worker : -1;
}

int mg_worker(const margin_context *context) {
    return inside.pool == context->pool && inside.worker < mg_threads(context) ? inside.worker : 0;
}

/* Makes the pool this process's own. In a child of fork() the first call gets here with the
 * parent's process id; of several threads one re-makes the locks, the others wait for it. */
static void adopt(mg_pool *pool) {
    int self = (int)getpid();
    int owner = atomic_load_explicit(&pool->owner, memory_order_acquire);
    while (owner != self) {
        if (owner == -self) {
            PAUSE();
            owner = atomic_load_explicit(&pool->owner, memory_order_acquire);
        } else if (atomic_compare_exchange_weak(&pool->owner, &owner, -self)) {
            init_locks(pool);
            atomic_store_explicit(&pool->owner, self, memory_order_release);
            owner = self;
        }
    }
}

/* Waits for a condition, some milliseconds at most; true: meanwhile the call was told to end, or
 * its time is over. Holds the lock, but not while the host's poll runs. */
static bool wait_a_step(mg_pool *pool, pthread_cond_t *condition, const margin_context *context) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += STEP_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(condition, &pool->lock, &until);
    pthread_mutex_unlock(&pool->lock);
    const bool over = mg_cancelled(context) || mg_clock() >= context->deadline;
    pthread_mutex_lock(&pool->lock);
    return over;
}

/* Waits until no other thread's run keeps the pool; false: not that long, as the call is to end or
 * its time is over. What a solver then still has to do is done by its own thread. */
static bool take_turn(mg_pool *pool, const margin_context *context) {
    bool over = mg_told_to_end(context) || mg_clock() >= context->deadline;
    pthread_mutex_lock(&pool->lock);
    while (pool->taken && !over)
        over = wait_a_step(pool, &pool->turn, context);
    const bool mine = !pool->taken;
    pool->taken = true;
    pthread_mutex_unlock(&pool->lock);
    return mine;
}

static void open_run(mg_pool *pool, pool_run *run) {
    fegetenv(&run->floats);
    pthread_mutex_lock(&pool->lock);
    pool->run = run;
    atomic_fetch_add(&pool->runs, 1);
    const int wanted = MG_MIN(helpers_for(run), pool->sleeping);
    bool all = wanted == pool->sleeping;
    pthread_mutex_unlock(&pool->lock);
    /* not under the lock, or those that wake would run into it at once */
    if (wanted > 0 && all) pthread_cond_broadcast(&pool->wake);
    for (int i = 0; !all && i < wanted; i++)
        pthread_cond_signal(&pool->wake);
}

/* Waits for the workers, and ends the caller's turn. */
static void close_run(mg_pool *pool, const margin_context *context) {
    pthread_mutex_lock(&pool->lock);
    pool->run = NULL;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < SPIN && atomic_load_explicit(&pool->working, memory_order_relaxed); i++)
        PAUSE();
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->working) > 0)
        (void)wait_a_step(pool, &pool->idle, context);
    pool->taken = false;
    pthread_cond_signal(&pool->turn);
    pthread_mutex_unlock(&pool->lock);
}

margin_status mg_parallel(margin_context *context, int64_t count, mg_task task, void *argument,
                          margin_error *error) {
    mg_pool *pool = context->pool;
    pool_run run;
    run_init(&run, context, count, task, argument);
    const bool alone = inside.pool || run.threads == 1;
    if (!alone) adopt(pool);
    const bool mine = !alone && take_turn(pool, context);
    if (!alone) inside.pool = pool; /* as worker 0 */
    if (mine) start_workers(pool, &run);
    if (mine && count > 1 && pool->started > 0) open_run(pool, &run);
    work(&run, mg_worker(context));
    /* a task called fork() and this is the child: what the workers had begun is lost */
    const bool child = mine && atomic_load(&pool->owner) != (int)getpid();
    if (mine && !child) close_run(pool, context);
    if (!alone) inside.pool = NULL;
    return child ? MARGIN_ERROR_SYSTEM : outcome(&run, error);
}
