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
    atomic_int *cancelled;          /* own_flag, or that of the context this is a part of */
    atomic_int own_flag;
    double deadline; /* clock time by which the fit this is a part of must end; INFINITY: none */
    int sharers;     /* parts that may run at the same time, this one included: each plans for its
                        share of memory */
    atomic_llong progress_next; /* nanoseconds on the clock before which progress is not called */
};

double mg_clock(void); /* seconds, monotonic */

/* True once the context is cancelled. One relaxed atomic load: poll it in every inner loop (each
 * few thousand operations). Safe from any thread. */
MG_INLINE bool mg_cancelled(const margin_context *context) {
    return atomic_load_explicit(context->cancelled, memory_order_relaxed) != 0;
}
margin_status mg_fail_cancelled(margin_error *error); /* "interrupted" */

/* Reports progress if the time has come (always from the thread that called the public function: in
 * a task only as worker 0; cheap to call often). A nonzero answer of the callback cancels the
 * context. */
void mg_progress(margin_context *context, const char *activity, double done, double total,
                 double measure);
void mg_log(margin_context *context, margin_log_level level, const char *format, ...)
    MG_PRINTF(3, 4);

/* The context for a part of a call that runs as a task of its own (a sub-problem, a fold): the same
 * heap, pool and cancellation; no callbacks, as they belong to the calling thread; every mg_stop
 * made from it ends at `deadline` (clock time, INFINITY: none). On the caller's stack, nothing to
 * release; must not outlive `context`. */
void mg_context_part(const margin_context *context, double deadline, margin_context *part);
/* The context of a whole call, from the calling thread: callbacks stay, and every mg_stop of the
 * call ends at one deadline, that of a call that starts now. */
void mg_context_call(const margin_context *context, margin_context *call);
/* Bytes that a part may plan to take where more would only make it faster: at most `most`, at most
 * half of what the memory limit leaves, divided by the sharers. */
int64_t mg_context_room(const margin_context *context, int64_t most);
/* The deadline of a call that starts now. */
double mg_deadline(const margin_context *context);

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
