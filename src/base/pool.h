/* Thread pool: own pthreads, no OpenMP. Threads start at the first parallel call, honour affinity
 * and cgroup limits (the count is fixed at creation), and are started anew in the child after
 * fork() (the pool remembers its process id). */
#pragma once

#include "base/context.h"

margin_status mg_pool_create(mg_heap *heap, int threads, mg_pool **pool, margin_error *error);
void mg_pool_free(mg_pool *pool);

/* Work on one task; `worker` is 0..mg_threads-1 and unique among the tasks of the pool running at
 * the same time (use it to pick scratch, never to decide what is computed). A negative status ends
 * the whole run early; a positive one counts as MARGIN_OK. */
typedef margin_status (*mg_task)(void *argument, int64_t task, int worker);

/* Runs task 0..count-1, each exactly once, on the calling thread and so many of the pool's that the
 * context's threads work; returns when all are done. A context of one thread does without the pool,
 * beside whatever the pool does. Tasks start in ascending order. The result is the failure of the
 * LOWEST failed task, or MARGIN_OK. If the context is cancelled the rest is skipped and
 * MARGIN_ERROR_CANCELLED returned, with its sentence in `error`. A call from inside a task (of this
 * or another pool) runs inline, one task after the other, as the same worker (of another pool: as
 * worker 0). If a thread cannot be started the work is done by those that could. Calls from several
 * threads on one pool wait for each other, but look whether they are to end; one whose deadline
 * comes while it waits does without the pool. Workers block all signals but those a fault raises,
 * and compute in the caller's floating-point environment. A task must not call fork(); if it does,
 * the child's call returns MARGIN_ERROR_SYSTEM. */
margin_status mg_parallel(margin_context *context, int64_t count, mg_task task, void *argument,
                          margin_error *error);
/* As which worker this thread is inside of a task, where mg_parallel has no other; -1: of none. */
int mg_task_worker(void);
/* The worker as which this thread works for the context's pool now, below mg_threads; 0 outside of
 * its tasks. */
int mg_worker(const margin_context *context);
