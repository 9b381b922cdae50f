/* Context: options checked once, then heap, pool, clock, callbacks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime */
#endif
#include "base/context.h"
#include "base/caller_options.h"
#include "base/machine/cores.h"
#include "base/pool.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 1024 };

static const long long progress_interval = 100 * 1000 * 1000; /* nanoseconds */
static const long long poll_interval = 10 * 1000 * 1000;
static const long long silence =
    200 * 1000 * 1000; /* before the pool speaks for those who do not */

/* ---- Options ---- */

static margin_status check_options(const margin_context_options *options, margin_error *error) {
    MG_REQUIRE(options->threads >= 0 && options->threads <= MOST_THREADS, error,
               MARGIN_ERROR_ARGUMENT,
               "threads is %d; give 1 to %d, or 0 for every core that may be used",
               options->threads, MOST_THREADS);
    MG_REQUIRE(options->memory_limit >= 0, error, MARGIN_ERROR_ARGUMENT,
               "memory_limit is %lld bytes; give a positive number, or 0 for no limit",
               (long long)options->memory_limit);
    MG_REQUIRE(options->time_limit >= 0, error, MARGIN_ERROR_ARGUMENT,
               "time_limit is %s seconds; give a positive number, or 0 for no limit",
               mg_number(options->time_limit).text);
    MG_REQUIRE(!options->allocator.allocate == !options->allocator.release, error,
               MARGIN_ERROR_ARGUMENT,
               "allocator has only one of `allocate` and `release`; give both, or neither for "
               "malloc");
    MG_REQUIRE(!(options->kernel_threads & ~1) && !(options->seed_given & ~1), error,
               MARGIN_ERROR_ARGUMENT, "kernel_threads is %d and seed_given %d; each is 0 or 1",
               options->kernel_threads, options->seed_given);
    return MARGIN_OK;
}

static long long clock_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In a call, and in a new context, what others report comes first. */
static void begin_silence(const margin_context *call) {
    const long long now = clock_nanoseconds();
    long long next = atomic_load_explicit(call->progress_next, memory_order_relaxed);
    if (next < now)
        atomic_compare_exchange_strong_explicit(call->progress_next, &next, now,
                                                memory_order_relaxed, memory_order_relaxed);
}

/* ---- Life ---- */

static void context_start(margin_context *created, mg_heap *heap, mg_pool *pool,
                          const margin_context_options *chosen) {
    memset(created, 0, sizeof *created);
    created->heap = heap;
    created->pool = pool;
    created->options = *chosen;
    atomic_init(&created->own_flag, 0);
    created->cancelled = &created->own_flag;
    created->deadline = created->end = (double)INFINITY;
    created->shares.count = 1;
    atomic_init(&created->own_next, 0);
    created->progress_next = &created->own_next;
    atomic_init(&created->own_poll_next, 0);
    created->poll_next = &created->own_poll_next;
    begin_silence(created);
}

margin_status margin_context_create(const margin_context_options *options, margin_context **context,
                                    margin_error *error) {
    margin_context_options chosen;
    margin_context *created = NULL;
    mg_heap *heap = NULL;
    mg_pool *pool = NULL;
    margin_status status;

    MG_REQUIRE(context, error, MARGIN_ERROR_ARGUMENT,
               "margin_context_create: `context` is NULL; give the address of a pointer");
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_context_options, seed_given),
                           "margin_context_options", &chosen, sizeof chosen, error));
    MG_TRY(check_options(&chosen, error));
    if (chosen.kernel && !chosen.kernel_threads) chosen.threads = 1;
    if (chosen.threads == 0) chosen.threads = MG_MIN(mg_cores_allowed(), MOST_THREADS);

    MG_GO(mg_heap_create(&chosen.allocator, chosen.memory_limit, &heap, error));
    MG_GO(mg_pool_create(heap, chosen.threads, &pool, error));
    MG_GO_NEW(heap, created, 1, "the context", error);
    context_start(created, heap, pool, &chosen);
    *context = created;
    return MARGIN_OK;
done:
    mg_pool_free(pool);
    mg_heap_release(heap);
    return status;
}

/* What is zero stays as it was. */
static void change_options(margin_context_options *options, const margin_context_options *change) {
    if (change->threads) options->threads = MG_MIN(change->threads, options->threads);
    if (change->memory_limit) options->memory_limit = change->memory_limit;
    if (change->seed || change->seed_given) options->seed = change->seed;
    if (change->time_limit > 0) options->time_limit = change->time_limit;
    if (change->log || change->progress || change->poll) {
        options->log = change->log;
        options->progress = change->progress;
        options->poll = change->poll;
        options->user = change->user;
    }
    if (!change->kernel) return;
    options->kernel = change->kernel;
    options->kernel_user = change->kernel_user;
    options->kernel_threads = change->kernel_threads;
    if (!change->kernel_threads) options->threads = 1;
}

margin_status margin_context_with(margin_context *context, const margin_context_options *options,
                                  margin_context **made, margin_error *error) {
    margin_context_options change, chosen;
    margin_context *created = NULL;
    mg_heap *heap = NULL;
    margin_status status;
    MG_GIVEN(error, {context, "context"}, {options, "options"}, {made, "place for the context"});
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_context_options, seed_given),
                           "margin_context_options", &change, sizeof change, error));
    MG_TRY(check_options(&change, error));
    MG_REQUIRE(!change.allocator.allocate, error, MARGIN_ERROR_ARGUMENT,
               "a context that is made from another one takes its allocator; give none");
    chosen = context->options;
    change_options(&chosen, &change);
    if (change.memory_limit > 0)
        MG_TRY(mg_heap_part(context->heap, change.memory_limit, &heap, error));
    else
        heap = mg_heap_retain(context->heap);
    MG_GO_NEW(heap, created, 1, "the context", error);
    context_start(created, heap, context->pool, &chosen);
    created->base = context;
    *made = created;
    return MARGIN_OK;
done:
    mg_heap_release(heap);
    return status;
}

void margin_context_free(margin_context *context) {
    if (!context) return;
    mg_heap *heap = context->heap;
    if (!context->base) mg_pool_free(context->pool);
    mg_free(heap, context);
    mg_heap_release(heap);
}

int margin_context_threads(const margin_context *context) {
    return mg_threads(context);
}

int64_t margin_context_memory(const margin_context *context) {
    return mg_heap_held(context->heap);
}

int64_t margin_context_peak_memory(const margin_context *context) {
    return mg_heap_peak(context->heap);
}

int64_t margin_context_announced_memory(const margin_context *context) {
    return mg_heap_announced(context->heap);
}

/* ---- Cancel ---- */

void margin_context_cancel(margin_context *context) {
    atomic_store_explicit(context->cancelled, 1, memory_order_relaxed);
}

void margin_context_resume(margin_context *context) {
    atomic_store_explicit(context->cancelled, 0, memory_order_relaxed);
}

margin_status mg_fail_cancelled(margin_error *error) {
    return mg_fail(error, MARGIN_ERROR_CANCELLED, "interrupted: the context was cancelled");
}

/* ---- Clock, progress, log ---- */

double mg_clock(void) {
    return (double)clock_nanoseconds() * 1e-9;
}

/* Reports if nobody has for `quiet` nanoseconds beyond the interval. */
static void report(margin_context *context, const margin_progress *progress, long long quiet) {
    long long now = clock_nanoseconds();
    long long next = atomic_load_explicit(context->progress_next, memory_order_relaxed);
    if (now < next + quiet) return;
    /* of two threads that share the context, one reports */
    if (!atomic_compare_exchange_strong_explicit(context->progress_next, &next,
                                                 now + progress_interval, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    if (context->options.progress(progress, context->options.user) != 0)
        margin_context_cancel(context);
}

void mg_progress(margin_context *context, const char *activity, double done, double total,
                 double measure) {
    if (!context->options.progress) return;
    report(context, &(margin_progress){activity, done, total, measure}, 0);
}

bool mg_poll(const margin_context *context) {
    if (mg_task_worker() > 0) return false;
    const long long now = clock_nanoseconds();
    long long next = atomic_load_explicit(context->poll_next, memory_order_relaxed);
    if (now < next ||
        !atomic_compare_exchange_strong_explicit(context->poll_next, &next, INT64_MAX,
                                                 memory_order_relaxed, memory_order_relaxed))
        return false; /* nor is it asked once more by what it calls itself */
    const bool goes_on = context->options.poll(context->options.user) == 0;
    atomic_store_explicit(context->poll_next, now + poll_interval, memory_order_relaxed);
    if (!goes_on) atomic_store_explicit(context->cancelled, 1, memory_order_relaxed);
    return !goes_on;
}

void mg_progress_tasks(margin_context *context, int64_t done, int64_t total) {
    if (!context->options.progress) return;
    report(context, &(margin_progress){"working", (double)done, (double)total, (double)NAN},
           silence);
}

void mg_log(margin_context *context, margin_log_level level, const char *format, ...) {
    char text[1000];
    va_list arguments;
    if (!context->options.log) return;
    va_start(arguments, format);
    mg_sentence(text, sizeof text, format, arguments);
    va_end(arguments);
    context->options.log(level, text, context->options.user);
}

/* ---- Parts of a call, stopping ---- */

void mg_context_copy(const margin_context *context, margin_context *copy) {
    memset(copy, 0, sizeof *copy);
    copy->heap = context->heap;
    copy->pool = context->pool;
    copy->options = context->options;
    copy->base = context->base;
    copy->cancelled = context->cancelled;
    copy->progress_next = context->progress_next;
    copy->poll_next = context->poll_next;
    copy->deadline = context->deadline;
    copy->end = context->end;
    copy->shares = context->shares;
}

void mg_context_part(const margin_context *context, double deadline, mg_shares shares,
                     margin_context *part) {
    mg_context_copy(context, part);
    part->shares = shares;
    part->options.log = NULL;
    part->options.progress = NULL;
    if (mg_task_worker() >= 0) part->options.threads = 1; /* inside of a task all is inline */
    part->deadline = deadline;
}

margin_context mg_context_call(const margin_context *context) {
    margin_context call;
    mg_context_copy(context, &call);
    call.deadline = mg_deadline(context);
    call.end = call.deadline + MG_GRACE;
    if (call.options.progress) begin_silence(&call);
    return call;
}

void mg_context_extend(margin_context *context) {
    if (isinf(context->deadline)) return;
    context->end = MG_MAX(mg_clock(), context->deadline) + MG_GRACE;
}

margin_status mg_context_without_end(margin_context *context, margin_error *error) {
    if (mg_cancelled(context)) return mg_fail_cancelled(error);
    context->end = (double)INFINITY;
    return MARGIN_OK;
}

bool mg_timed_out(const margin_context *call, margin_status status) {
    return status == MARGIN_ERROR_CANCELLED && !mg_told_to_end(call);
}

margin_status mg_call_status(const margin_context *call, margin_status status, const char *when,
                             margin_error *error) {
    if (!mg_timed_out(call, status)) return status;
    return mg_fail(error, MG_CAUSE(MARGIN_ERROR_LIMIT, TIME_LIMIT),
                   "the time limit of %s seconds was reached %s",
                   mg_number(call->options.time_limit).text, when);
}

/* In steps of a 64th of the limit: what threads hold of their own hardly tells. */
static int64_t left_of_limit(const margin_context *context) {
    const int64_t left = mg_heap_left(context->heap);
    const int64_t step = mg_heap_limit(context->heap) / 64;
    return step > 0 ? left - left % step : left;
}

mg_shares mg_context_shares(const margin_context *context, int64_t parts) {
    enum { MOST = 8 };
    const int count = (int)MG_MIN(parts, MOST);
    if (count <= context->shares.count) return context->shares;
    const bool alone = context->shares.count == 1;
    return (mg_shares){count, alone ? left_of_limit(context) : context->shares.left};
}

int64_t mg_context_room(const margin_context *context, int64_t most) {
    const mg_shares *shares = &context->shares;
    const int64_t left = shares->count > 1 ? shares->left : left_of_limit(context);
    most = MG_MIN(most, left / 2);
    return MG_MAX(most, 0) / shares->count;
}

double mg_deadline(const margin_context *context) {
    double limit = context->options.time_limit;
    if (!isinf(context->deadline)) return context->deadline;
    return limit > 0 ? mg_clock() + limit : (double)INFINITY;
}

mg_stop mg_stop_make(margin_context *context, int64_t max_iterations) {
    return (mg_stop){context, mg_deadline(context), max_iterations, NULL};
}

static double time_ahead(mg_pace *pace, double now) {
    if (!pace) return 0.0;
    pace->step = MG_MAX(pace->step, now - pace->asked);
    pace->asked = now;
    return (1.0 + pace->behind) * pace->step;
}

margin_status mg_stop_check(const mg_stop *stop, int64_t iterations_done) {
    if (mg_cancelled(stop->context)) return MARGIN_ERROR_CANCELLED;
    if (stop->max_iterations >= 0 && iterations_done >= stop->max_iterations)
        return MARGIN_STOPPED_ITERATIONS;
    if (isinf(stop->deadline)) return MARGIN_OK;
    const double now = mg_clock();
    return now + time_ahead(stop->pace, now) >= stop->deadline ? MARGIN_STOPPED_TIME : MARGIN_OK;
}

void mg_stop_arm(const mg_stop *stop) {
    stop->context->end = stop->deadline;
}

void mg_stop_disarm(const mg_stop *stop) {
    stop->context->end = (double)INFINITY;
}

bool mg_stop_cut(const mg_stop *stop, margin_status status) {
    const bool cut = mg_timed_out(stop->context, status);
    if (cut) mg_stop_disarm(stop);
    return cut;
}
