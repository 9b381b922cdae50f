/* Thread pool: own pthreads, no OpenMP. Threads start at the first parallel call, honour affinity
 * and cgroup limits (the count is fixed at creation), and are started anew in the child after
 * fork() (the pool remembers its process id). */
#ifndef MG_POOL_H
#define MG_POOL_H

#include "base/context.h"

margin_status mg_pool_create(mg_heap *heap, int threads, mg_pool **pool, margin_error *error);
void mg_pool_free(mg_pool *pool);
int mg_pool_threads(const mg_pool *pool);
int mg_cores_allowed(void); /* affinity and cgroup v1/v2 quota, at least 1 */

/* Work on one task; `worker` is 0..threads-1 and unique among the tasks running at the same time
 * (use it to pick scratch, never to decide what is computed). A negative status ends the whole run
 * early. */
typedef margin_status (*mg_task)(void *argument, int64_t task, int worker);

/* Runs task 0..count-1, each exactly once, on the pool's threads and the calling one; returns when
 * all are done. The result is the failure of the LOWEST failed task, or MARGIN_OK. If a context is
 * cancelled the rest is skipped and MARGIN_ERROR_CANCELLED returned. A call from inside a task runs
 * inline, one task after the other. If a thread cannot be started the work is done by those that
 * could. Calls from several threads on one pool wait for each other. */
margin_status mg_parallel(margin_context *context, int64_t count, mg_task task, void *argument);

#endif
