/* Orders of visiting: for order=shuffled a new permutation per pass.
 *
 * A permutation depends on the seed and the number of the pass alone, so those of the next few
 * passes are made at the same time, one per task: to make one takes a third of the time of a pass.
 * Few at first, more as the passes go on, so that little is made in vain. */
#include "perceptron/learner/perceptron_run.h"

#include "base/random.h"

enum { MOST_AT_ONCE = 8, MOST_BYTES = 32 << 20 };

margin_status mg_perceptron_order_begin(mg_perceptron_run *run) {
    const mg_problem *p = run->problem;
    const char *purpose = "the shuffled order of the rows";
    mg_perceptron_orders *orders = &run->orders;
    run->scan = (mg_row_scan){&p->x, p->index, p->sign};
    if (run->options.order != MG_SHUFFLED) return MARGIN_OK;
    const int64_t fit = MOST_BYTES / (MG_MAX(run->count, 1) * (2 * 8 + 1));
    const int64_t threads = margin_context_threads(run->context);
    orders->room = MG_MAX(MG_MIN(MG_MIN(fit, threads), MOST_AT_ONCE), 1);
    const int64_t total = orders->room * run->count;
    MG_ARENA_NEW(&run->arena, orders->samples, total, purpose, run->fit->error);
    orders->rows = orders->samples;
    if (p->index) MG_ARENA_NEW(&run->arena, orders->rows, total, purpose, run->fit->error);
    if (p->sign) MG_ARENA_NEW(&run->arena, orders->sign, total, purpose, run->fit->error);
    return MARGIN_OK;
}

/* The samples in the order of pass first + task, and what the scan needs of them side by side. */
static margin_status make_order(void *argument, int64_t task, int worker) {
    (void)worker;
    const mg_perceptron_run *run = argument;
    const mg_problem *p = run->problem;
    const mg_perceptron_orders *orders = &run->orders;
    int64_t *samples = orders->samples + task * run->count;
    for (int64_t k = 0; k < run->count; k++)
        samples[k] = k;
    mg_random_shuffle(run->fit->seed, MG_RANDOM_SHUFFLE, (uint64_t)(orders->first + task), samples,
                      run->count);
    for (int64_t k = 0; p->index && k < run->count; k++)
        orders->rows[task * run->count + k] = p->index[samples[k]];
    for (int64_t k = 0; p->sign && k < run->count; k++)
        orders->sign[task * run->count + k] = p->sign[samples[k]];
    return MARGIN_OK;
}

margin_status mg_perceptron_order_next(mg_perceptron_run *run) {
    mg_perceptron_orders *orders = &run->orders;
    if (!orders->samples) return MARGIN_OK;
    if (run->passes >= orders->first + orders->ready) {
        const int64_t left = run->options.passes - run->passes;
        orders->first = run->passes;
        orders->ready = MG_MIN(MG_MIN(MG_MAX(run->passes, 1), orders->room), left);
        MG_TRY(mg_parallel(run->context, orders->ready, make_order, run, run->fit->error));
    }
    const int64_t at = (run->passes - orders->first) * run->count;
    run->order = orders->samples + at;
    run->scan.rows = orders->rows + at;
    if (orders->sign) run->scan.sign = orders->sign + at;
    return MARGIN_OK;
}
