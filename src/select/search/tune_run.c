/* Tasks of a round and the order they come in. A task is a chain of settings on one split; those of
 * a chain are neighbours, so that settings are finished one after the other. */
#include "base/sort.h"
#include "select/search/tune.h"

#include <stdio.h>

enum {
    MOST_OF_CHAIN = 25, /* longer ones would leave threads without work */
    ENOUGH = 5,         /* penalties, one beginning where another ended */
    TOLD_AHEAD = 1024   /* tasks behind one that takes long may be told before it */
};

/* ---- Telling --------------------------------------------------------------------------------- */

/* The caller learns of a cell whose fits are all told. */
static void tell_cell(mg_tune *s, mg_cell *cell) {
    margin_search_cell shown;
    s->told++;
    if (!s->options.finished) return;
    mg_cell_describe(s, cell, &shown);
    s->options.finished(&shown, s->told, s->count, s->options.user);
}

static margin_status tell_task(mg_tune_task *task, margin_error *error) {
    mg_tune *s = task->search;
    for (int64_t k = 0; k < task->chain->count; k++) {
        mg_cell *cell = task->chain->cells[k];
        MG_TRY(mg_journal_add(s, cell, task->split, error));
        cell->slots[task->split].state = MG_SLOT_TOLD;
        if (--cell->left == 0) tell_cell(s, cell);
    }
    task->told = true;
    return MARGIN_OK;
}

/* "8 of 25 settings, 12 s left: svm(C=10)" */
static void show_progress(mg_tune *s, const mg_cell *cell, int64_t done) {
    char text[300], left[40] = "";
    const int64_t since = done - s->done_before;
    if (!s->context->options.progress || done >= s->tasks) return;
    if (since > 0)
        snprintf(left, sizeof left, ", %.0f s left",
                 (mg_clock() - s->phase_started) / (double)since * (double)(s->tasks - done));
    snprintf(text, sizeof text, "%lld of %lld settings%s: %.200s",
             (long long)(done / s->split_count), (long long)(s->tasks / s->split_count), left,
             cell->spec->text);
    mg_progress(s->context, text, (double)done, (double)s->tasks, (double)NAN);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

typedef struct tune_round {
    mg_tune *search;
    mg_cell **cells;
    mg_chain *chains;
    mg_tune_task *tasks;
    int64_t chain_count, count; /* count: of tasks */
    int64_t first;              /* that is not told */
    atomic_flag failed;         /* the first failure writes the error */
    margin_error error;
} tune_round;

void mg_tune_done(const mg_tune_task *task, mg_cell *cell) {
    mg_tune *s = task->search;
    cell->slots[task->split].state = MG_SLOT_DONE;
    const int64_t done = ++s->done;
    if (task->worker == 0) show_progress(s, cell, done); /* the calling thread */
}

/* Journal and caller learn of what is finished. On the calling thread. */
static margin_status tell_finished(tune_round *round, margin_error *error) {
    const int64_t end = MG_MIN(round->count, round->first + TOLD_AHEAD);
    for (int64_t k = round->first; k < end; k++)
        if (round->tasks[k].done && !round->tasks[k].told)
            MG_TRY(tell_task(&round->tasks[k], error));
    while (round->first < round->count && round->tasks[round->first].told)
        round->first++;
    return MARGIN_OK;
}

static margin_status tell_rest(tune_round *round, margin_error *error) {
    while (round->first < round->count)
        MG_TRY(tell_finished(round, error));
    return MARGIN_OK;
}

static margin_status tune_task(void *argument, int64_t number, int worker) {
    tune_round *round = argument;
    mg_tune_task *task = &round->tasks[number];
    margin_error error = {0};
    task->worker = worker;
    margin_status status = task->done ? MARGIN_OK : mg_tune_chain(task, &error);
    if (status >= 0) task->done = true;
    if (status >= 0 && worker == 0) status = tell_finished(round, &error);
    if (status < 0 && !atomic_flag_test_and_set(&round->failed)) round->error = error;
    return status;
}

/* What took its time before tells nothing of what is left. */
static void begin_phase(mg_tune *s) {
    s->done_before = s->done;
    s->phase_started = mg_clock();
}

static margin_status run_tasks(tune_round *round, margin_error *error) {
    mg_tune *s = round->search;
    const mg_shares shares = mg_context_shares(s->context, round->count);
    begin_phase(s);
    for (int64_t k = 0; k < round->count; k++)
        round->tasks[k].shares = shares;
    atomic_flag_clear(&round->failed);
    const margin_status status = mg_parallel(s->context, round->count, tune_task, round, NULL);
    if (status >= 0) return tell_rest(round, error);
    if (!atomic_flag_test_and_set(&round->failed)) return mg_fail_cancelled(error);
    if (error) *error = round->error;
    return round->error.status;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/* Settings of the same stages together. */
static bool comes_before(int64_t a, int64_t b, const void *argument) {
    const mg_tune *s = argument;
    const mg_cell *left = &s->cells[a], *right = &s->cells[b];
    if (left->owner != right->owner) return left->owner < right->owner;
    if (left->stages != right->stages) return left->stages < right->stages;
    return mg_cell_before(s, left, right);
}

static bool are_chained(const mg_tune *s, const mg_chain *chain, const mg_cell *cell) {
    const mg_cell *first = chain->cells[0];
    const bool ends = chain->count >= ENOUGH &&
                      mg_cells_near(s, first, chain->cells[chain->count - 1]) &&
                      !mg_cells_near(s, first, cell);
    if (first->owner != cell->owner || first->stages != cell->stages ||
        mg_spec_learner(first->spec)->learner != mg_spec_learner(cell->spec)->learner)
        return false;
    if (mg_tune_joins(s, first, first)) return mg_tune_joins(s, first, cell);
    return mg_tune_covers(s, first, cell) || (chain->count < MOST_OF_CHAIN && !ends);
}

/* What the journal knows whole is not run again. A chain that it knows in part is, so that each fit
 * begins where it would have begun. */
static bool is_known(const mg_chain *chain, int64_t split) {
    for (int64_t k = 0; k < chain->count; k++)
        if (chain->cells[k]->slots[split].state != MG_SLOT_KNOWN) return false;
    return true;
}

static void list_tasks(tune_round *round) {
    const int64_t splits = round->search->split_count;
    round->search->done = round->search->tasks = 0;
    for (int64_t k = 0; k < round->chain_count * splits; k++) {
        const mg_chain *chain = &round->chains[k / splits];
        const bool known = is_known(chain, k % splits);
        for (int64_t i = 0; i < chain->count; i++) {
            mg_cell *cell = chain->cells[i];
            if (!known) mg_slot_clear(round->search->heap, &cell->slots[k % splits]);
            if (known && --cell->left == 0) tell_cell(round->search, cell);
        }
        if (known) continue;
        mg_tune_task *task = &round->tasks[round->count++];
        task->search = round->search;
        task->chain = chain;
        task->split = k % splits;
        task->done = task->told = false;
        round->search->tasks += chain->count;
    }
}

static void link_chains(tune_round *round, const int64_t *order, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        mg_cell *cell = &round->search->cells[order[k]];
        mg_chain *last = &round->chains[round->chain_count - 1];
        round->cells[k] = cell;
        if (k > 0 && are_chained(round->search, last, cell))
            last->count++;
        else
            round->chains[round->chain_count++] = (mg_chain){&round->cells[k], 1};
    }
}

/* The active cells, all slots open but for those that the journal knows. */
static margin_status open_cells(mg_tune *s, int64_t *order, int64_t *count, margin_error *error) {
    *count = s->told = 0;
    for (int64_t k = 0; k < s->count; k++) {
        mg_cell *cell = &s->cells[k];
        s->told += !cell->active;
        if (!cell->active) continue;
        order[(*count)++] = k;
        cell->left = s->split_count;
        for (int64_t i = 0; i < s->split_count; i++)
            mg_slot_clear(s->heap, &cell->slots[i]);
    }
    return mg_journal_find(s, error);
}

/* The tasks of a chain that is solved: told before the next one begins, which may be stopped. */
static margin_status tell_chain(tune_round *round, int64_t first, int64_t end,
                                margin_error *error) {
    for (int64_t k = first; k < end; k++) {
        mg_tune_task *task = &round->tasks[k];
        task->done = true;
        round->search->done += task->chain->count;
        MG_TRY(tell_task(task, error));
    }
    return MARGIN_OK;
}

/* What is solved for all splits at once. */
static margin_status run_joint(tune_round *round, margin_error *error) {
    mg_tune *s = round->search;
    begin_phase(s);
    for (int64_t k = 0, end; k < round->count; k = end) {
        const mg_chain *chain = round->tasks[k].chain;
        bool done;
        for (end = k; end < round->count && round->tasks[end].chain == chain;)
            end++;
        show_progress(s, chain->cells[0], s->done);
        MG_TRY(mg_tune_joint(s, chain, &done, error));
        if (!done) MG_TRY(mg_tune_leave_one_out(s, chain, &done, error));
        if (done) MG_TRY(tell_chain(round, k, end, error));
    }
    return MARGIN_OK;
}

margin_status mg_tune_round(mg_tune *s, margin_error *error) {
    tune_round round = {.search = s};
    int64_t *order, count;
    MG_SCOPED_ARENA(arena, s->heap);
    MG_TRY(MG_PIECES(&arena, "the settings of a round", error, MG_PIECE(order, 2 * s->count),
                     MG_PIECE(round.cells, s->count), MG_PIECE(round.chains, s->count)));
    MG_TRY(open_cells(s, order, &count, error));
    mg_sort_few(order, count, order + s->count, comes_before, s);
    link_chains(&round, order, count);
    MG_ARENA_NEW(&arena, round.tasks, round.chain_count * s->split_count, "the fits of a round",
                 error);
    list_tasks(&round);
    MG_TRY(run_joint(&round, error));
    return run_tasks(&round, error);
}
