/* The context from the inside: heap, pool, clock, cancel, progress. */
#ifndef MG_CONTEXT_H
#define MG_CONTEXT_H

#include "base/memory.h"

#include <stdatomic.h>

typedef struct mg_pool mg_pool;

struct margin_context {
    mg_heap *heap;
    mg_pool *pool;
    margin_context_options options; /* as given, defaults filled in */
    atomic_int cancelled;
    atomic_llong progress_next; /* nanoseconds on the clock before which progress is not called */
};

double mg_clock(void); /* seconds, monotonic */

/* True once the context is cancelled. One relaxed atomic load: poll it in every inner loop (each
 * few thousand operations). Safe from any thread. */
MG_INLINE bool mg_cancelled(const margin_context *context) {
    return atomic_load_explicit(&((margin_context *)context)->cancelled, memory_order_relaxed) != 0;
}
margin_status mg_fail_cancelled(margin_error *error); /* "interrupted" */

/* Reports progress if the time has come (never from a task, always from the thread that called the
 * public function; cheap to call often). A nonzero answer of the callback cancels the context. */
void mg_progress(margin_context *context, const char *activity, double done, double total,
                 double measure);
void mg_log(margin_context *context, margin_log_level level, const char *format, ...)
    MG_PRINTF(3, 4);

/* ---- One way to stop -------------------------------------------------------------------------
 * Made at the start of a fit; asked once per pass or iteration. */
typedef struct mg_stop {
    margin_context *context;
    double deadline;        /* clock time; INFINITY: none */
    int64_t max_iterations; /* < 0: none */
} mg_stop;
mg_stop mg_stop_make(margin_context *context, int64_t max_iterations);
/* MARGIN_OK: go on. STOPPED_ITERATIONS, STOPPED_TIME: end with what there is. ERROR_CANCELLED: give
 * up. */
margin_status mg_stop_check(const mg_stop *stop, int64_t iterations_done);

#endif
