/* The context from the inside: heap, pool, clock, cancel, progress. */
#pragma once

#include "base/memory.h"

#include <math.h>
#include <stdatomic.h>

typedef struct mg_pool mg_pool;

/* Parts side by side, each of which plans for its share of memory: of what the limit left when they
 * began, as what is left while they run depends on the threads. */
typedef struct mg_shares {
    int count;
    int64_t left; /* bytes; INT64_MAX: no limit */
} mg_shares;

struct margin_context {
    mg_heap *heap;
    mg_pool *pool;
    margin_context_options options; /* as given, defaults filled in */
    const margin_context *base;     /* that this was made from (margin_context_with), or NULL */
    atomic_int *cancelled;          /* own_flag, or that of the context this is a part of */
    atomic_int own_flag;
    double deadline; /* clock time by which the call this is a part of must end; INFINITY: none */
    double end; /* clock time from which on all its work ends as if cancelled; INFINITY: none */
    mg_shares shares; /* count 1: a call that runs alone; `left` is then not known */
    /* nanoseconds on the clock before which progress is not called: own_next, or that of the
     * context this is a copy of */
    atomic_llong *progress_next;
    atomic_llong own_next;
    atomic_llong *poll_next; /* the same of poll */
    atomic_llong own_poll_next;
};

double mg_clock(void); /* seconds, monotonic */

/* Threads that work at the same time in calls with this context, at most those of its pool. */
MG_INLINE int mg_threads(const margin_context *context) {
    return context->options.threads;
}

/* Whether somebody cancelled the context, or one that it was made from. */
MG_INLINE bool mg_told_to_end(const margin_context *context) {
    for (; context; context = context->base)
        if (atomic_load_explicit(context->cancelled, memory_order_relaxed) != 0) return true;
    return false;
}

/* Calls the host's poll where its time has come, in a thread that is none of the pool's; true: it
 * cancelled the context. */
bool mg_poll(const margin_context *context);

/* True once the context is cancelled, or its end has come. A relaxed atomic load, and with a time
 * limit or a poll a look at the clock: ask it in every inner loop (each few thousand operations).
 * Safe from any thread. */
MG_INLINE bool mg_cancelled(const margin_context *context) {
    return mg_told_to_end(context) ||
           (context->end < (double)INFINITY && mg_clock() >= context->end) ||
           (context->options.poll && mg_poll(context));
}
margin_status mg_fail_cancelled(margin_error *error); /* "interrupted" */

/* Reports progress if the time has come (always from the thread that called the public function: in
 * a task only as worker 0; cheap to call often). A nonzero answer of the callback cancels the
 * context. */
void mg_progress(margin_context *context, const char *activity, double done, double total,
                 double measure);
/* What the pool does between the tasks of the calling thread: reports `done` of `total` tasks where
 * nobody has reported for a while. */
void mg_progress_tasks(margin_context *context, int64_t done, int64_t total);
void mg_log(margin_context *context, margin_log_level level, const char *format, ...)
    MG_PRINTF(3, 4);

/* ---- One time limit ---------------------------------------------------------------------------
 * A call that can take long makes itself a context with one deadline and hands that down. Shortly
 * after the deadline everything in it ends as if it were cancelled: sweeps, tasks and loops that
 * poll. The call then says that the time limit was reached (mg_call_status). A learner that can
 * hand back what it has when the clock says so (mg_stop) takes the end off its own context
 * (mg_context_without_end), and is stopped by mg_stop alone. */

/* So many seconds behind the deadline comes the end: small data get a model whatever the limit. */
#define MG_GRACE 0.05

/* The same context with callbacks, deadline and end of its own. On the caller's stack, nothing to
 * release; must not outlive `context`. */
void mg_context_copy(const margin_context *context, margin_context *copy);
/* For a part of a call that runs as a task of its own (a sub-problem, a fold): one thread, and no
 * callbacks, as they belong to the calling thread; every mg_stop made from it ends at `deadline`
 * (clock time, INFINITY: none). */
void mg_context_part(const margin_context *context, double deadline, mg_shares shares,
                     margin_context *part);
/* For a whole call, from the calling thread: its deadline is that of a call that starts now. */
margin_context mg_context_call(const margin_context *context);
/* Seconds of grace from now on, or from the deadline if that is later, for what is done after a
 * learner was stopped. */
void mg_context_extend(margin_context *context);
/* CANCELLED if the end has come: what was done before may be cut off. */
margin_status mg_context_without_end(margin_context *context, margin_error *error);
/* Whether a status of a call is that of its end and not of a cancellation. */
bool mg_timed_out(const margin_context *call, margin_status status);
/* The status of a call at its end: if that has come, LIMIT with the sentence "the time limit of 3
 * seconds was reached `when`". */
margin_status mg_call_status(const margin_context *call, margin_status status, const char *when,
                             margin_error *error);
/* Before so many parts begin: their shares, by their number (at most 8) and not by the threads, for
 * what is planned may decide the way to an answer; those of `context` if it shares with more. */
mg_shares mg_context_shares(const margin_context *context, int64_t parts);
/* Bytes that a part may plan to take where more would only make it faster: at most `most`, at most
 * half of what the memory limit leaves, divided by the shares. */
int64_t mg_context_room(const margin_context *context, int64_t most);
/* The deadline of a call that starts now. */
double mg_deadline(const margin_context *context);

/* ---- One way to stop -------------------------------------------------------------------------
 * Made at the start of a fit; asked once per pass or iteration. */
typedef struct mg_pace { /* the clock stops a solver in time for another step and its proof */
    double asked;        /* clock time of the last question */
    double step;         /* the longest time from one to the next */
    double behind;       /* what is done after the last step, in steps */
} mg_pace;
typedef struct mg_stop {
    margin_context *context;
    double deadline;        /* clock time; INFINITY: none */
    int64_t max_iterations; /* < 0: none */
    mg_pace *pace;          /* NULL: the clock stops it at the deadline */
} mg_stop;
mg_stop mg_stop_make(margin_context *context, int64_t max_iterations);
/* MARGIN_OK: go on. STOPPED_ITERATIONS, STOPPED_TIME: end with what there is. ERROR_CANCELLED: give
 * up. */
margin_status mg_stop_check(const mg_stop *stop, int64_t iterations_done);
/* A solver whose steps may be cut short, as what it has does not change before they are over: from
 * now on its context ends at the deadline. */
void mg_stop_arm(const mg_stop *stop);
/* No longer: what follows is done to its end. */
void mg_stop_disarm(const mg_stop *stop);
/* Whether the clock, and nobody else, cut a step that ended with that status; disarms then. */
bool mg_stop_cut(const mg_stop *stop, margin_status status);
