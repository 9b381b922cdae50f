/* Context: options checked once, then heap, pool, clock, callbacks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime */
#endif
#include "base/context.h"
#include "base/caller_options.h"
#include "base/pool.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 1024 };

static const long long progress_interval = 100 * 1000 * 1000; /* nanoseconds */

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
    return MARGIN_OK;
}

/* ---- Life ---- */

margin_status margin_context_create(const margin_context_options *options, margin_context **context,
                                    margin_error *error) {
    margin_context_options chosen;
    margin_context *created = NULL;
    mg_heap *heap = NULL;
    mg_pool *pool = NULL;
    margin_status status;

    MG_REQUIRE(context, error, MARGIN_ERROR_ARGUMENT,
               "margin_context_create: `context` is NULL; give the address of a pointer");
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_context_options, user),
                           "margin_context_options", &chosen, sizeof chosen, error));
    MG_TRY(check_options(&chosen, error));
    if (chosen.threads == 0) chosen.threads = MG_MIN(mg_cores_allowed(), MOST_THREADS);

    MG_GO(mg_heap_create(&chosen.allocator, chosen.memory_limit, &heap, error));
    MG_GO(mg_pool_create(heap, chosen.threads, &pool, error));
    MG_GO_NEW(heap, created, 1, "the context", error);
    created->heap = heap;
    created->pool = pool;
    created->options = chosen;
    atomic_init(&created->own_flag, 0);
    created->cancelled = &created->own_flag;
    created->deadline = (double)INFINITY;
    created->sharers = 1;
    atomic_init(&created->progress_next, 0);
    *context = created;
    return MARGIN_OK;
done:
    mg_pool_free(pool);
    mg_heap_release(heap);
    return status;
}

void margin_context_free(margin_context *context) {
    if (!context) return;
    mg_heap *heap = context->heap;
    mg_pool_free(context->pool);
    mg_free(heap, context);
    mg_heap_release(heap);
}

int margin_context_threads(const margin_context *context) {
    return mg_pool_threads(context->pool);
}

int64_t margin_context_memory(const margin_context *context) {
    return mg_heap_held(context->heap);
}

int64_t margin_context_peak_memory(const margin_context *context) {
    return mg_heap_peak(context->heap);
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

static long long clock_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

double mg_clock(void) {
    return (double)clock_nanoseconds() * 1e-9;
}

void mg_progress(margin_context *context, const char *activity, double done, double total,
                 double measure) {
    if (!context->options.progress) return;
    long long now = clock_nanoseconds();
    long long next = atomic_load_explicit(&context->progress_next, memory_order_relaxed);
    if (now < next) return;
    /* of two threads that share the context, one reports */
    if (!atomic_compare_exchange_strong_explicit(&context->progress_next, &next,
                                                 now + progress_interval, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    margin_progress progress = {activity, done, total, measure};
    if (context->options.progress(&progress, context->options.user) != 0)
        margin_context_cancel(context);
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

void mg_context_part(const margin_context *context, double deadline, margin_context *part) {
    memset(part, 0, sizeof *part);
    part->heap = context->heap;
    part->pool = context->pool;
    part->options = context->options;
    part->options.log = NULL;
    part->options.progress = NULL;
    part->cancelled = context->cancelled;
    part->deadline = deadline;
    part->sharers = context->sharers;
}

void mg_context_call(const margin_context *context, margin_context *call) {
    mg_context_part(context, mg_deadline(context), call);
    call->options.log = context->options.log;
    call->options.progress = context->options.progress;
}

int64_t mg_context_room(const margin_context *context, int64_t most) {
    const int64_t limit = mg_heap_limit(context->heap);
    if (limit > 0) most = MG_MIN(most, (limit - mg_heap_held(context->heap)) / 2);
    return MG_MAX(most, 0) / context->sharers;
}

double mg_deadline(const margin_context *context) {
    double limit = context->options.time_limit;
    if (!isinf(context->deadline)) return context->deadline;
    return limit > 0 ? mg_clock() + limit : (double)INFINITY;
}

mg_stop mg_stop_make(margin_context *context, int64_t max_iterations) {
    return (mg_stop){context, mg_deadline(context), max_iterations};
}

margin_status mg_stop_check(const mg_stop *stop, int64_t iterations_done) {
    if (mg_cancelled(stop->context)) return MARGIN_ERROR_CANCELLED;
    if (stop->max_iterations >= 0 && iterations_done >= stop->max_iterations)
        return MARGIN_STOPPED_ITERATIONS;
    if (!isinf(stop->deadline) && mg_clock() >= stop->deadline) return MARGIN_STOPPED_TIME;
    return MARGIN_OK;
}
