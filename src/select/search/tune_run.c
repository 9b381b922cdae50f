/* Tasks, rounds and progress of a search, and its entry. A task is one fit; those of a setting are
 * neighbours, so that settings are finished one after the other. */
#include "base/caller_options.h"
#include "base/pool.h"
#include "base/sort.h"
#include "select/search/tune.h"

#include <stdio.h>
#include <string.h>

/* Of the settings that are left every third goes on, with three times as many rows; the first round
 * leaves so many rows at least, as fewer would tell little. */
enum { KEEP_ONE_OF = 3, LEAST_ROWS = 50 };

/* What is finished is told so often. */
#define TELL_SECONDS 0.05

/* ---- Telling --------------------------------------------------------------------------------- */

/* Journal and caller learn of the settings that are finished. On the calling thread. */
static margin_status tell_finished(mg_tune *s, margin_error *error) {
    margin_search_cell shown;
    int64_t done = 0;
    s->tell_next = mg_clock() + TELL_SECONDS;
    for (int64_t k = 0; k < s->count; k++)
        done += s->cells[k].told;
    for (int64_t k = 0; k < s->count; k++) {
        mg_cell *cell = &s->cells[k];
        if (cell->told || !cell->active || cell->left > 0) continue;
        cell->told = true;
        done++;
        if (!cell->known) MG_TRY(mg_journal_add(s, cell, error));
        if (!s->options.finished) continue;
        mg_cell_describe(s, cell, &shown);
        s->options.finished(&shown, done, s->count, s->options.user);
    }
    return MARGIN_OK;
}

/* "8 of 25 settings, 12 s left: svm(C=10)" */
static void show_progress(mg_tune *s, const mg_cell *cell, int64_t done) {
    char text[300];
    if (!s->context->options.progress || done >= s->tasks) return;
    const double passed = mg_clock() - s->round_started;
    const double left = passed / (double)done * (double)(s->tasks - done);
    snprintf(text, sizeof text, "%lld of %lld settings, %.0f s left: %.200s",
             (long long)(done / s->split_count), (long long)(s->tasks / s->split_count), left,
             cell->spec->text);
    mg_progress(s->context, text, (double)done, (double)s->tasks, (double)NAN);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

typedef struct tune_round {
    mg_tune *search;
    mg_cell **cells;
    int64_t count;
    int sharers;
    atomic_flag failed; /* the first failure writes the error */
    margin_error error;
} tune_round;

static void not_tried(mg_tune *s, mg_slot *slot) {
    static const char text[] = "not tried: the time limit of the whole search was reached";
    mg_free(s->heap, slot->reason);
    *slot = (mg_slot){.value = (double)NAN, .training = (double)NAN, .gap = (double)NAN};
    slot->status = MARGIN_ERROR_LIMIT;
    slot->reason = mg_copy_text(s->heap, text, (int64_t)sizeof text - 1);
}

/* The clock gives each fit its part of the time of a setting. */
static margin_status run_fit(tune_round *round, mg_cell *cell, int64_t split, margin_error *error) {
    mg_tune *s = round->search;
    margin_context part;
    const double now = mg_clock(), share = s->options.cell_seconds / (double)s->split_count;
    double deadline = mg_deadline(s->context);
    if (now >= deadline) {
        not_tried(s, &cell->slots[split]);
        return MARGIN_OK;
    }
    const bool limited = s->options.cell_seconds > 0 && now + share < deadline;
    mg_context_part(s->context, limited ? now + share : deadline, &part);
    part.sharers *= round->sharers;
    if (limited) part.options.time_limit = share;
    return mg_tune_fold(s, &part, cell, split, error);
}

static margin_status tune_task(void *argument, int64_t task, int worker) {
    tune_round *round = argument;
    mg_tune *s = round->search;
    mg_cell *cell = round->cells[task / s->split_count];
    margin_error error = {0};
    margin_status status = run_fit(round, cell, task % s->split_count, &error);
    if (status >= 0) {
        cell->left--;
        const int64_t done = ++s->done;
        if (worker != 0) return MARGIN_OK; /* the rest is for the calling thread */
        if (mg_clock() >= s->tell_next) status = tell_finished(s, &error);
        show_progress(s, cell, done);
    }
    if (status < 0 && !atomic_flag_test_and_set(&round->failed)) round->error = error;
    return status;
}

static margin_status run_tasks(tune_round *round, margin_error *error) {
    mg_tune *s = round->search;
    s->done = 0;
    s->round_started = mg_clock();
    s->tasks = round->count * s->split_count;
    round->sharers = (int)MG_MIN(s->tasks, (int64_t)mg_pool_threads(s->context->pool));
    atomic_flag_clear(&round->failed);
    const margin_status status = mg_parallel(s->context, s->tasks, tune_task, round);
    if (status >= 0) return tell_finished(s, error);
    if (!atomic_flag_test_and_set(&round->failed)) return mg_fail_cancelled(error);
    if (error) *error = round->error;
    return round->error.status;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static int64_t learned_rows(const mg_tune *s) {
    int64_t most = 0;
    for (int64_t k = 0; k < s->split_count; k++)
        most = MG_MAX(most, margin_splits_size(s->splits, k, MARGIN_PART_TRAIN));
    return (most + s->share - 1) / s->share;
}

/* Fits all cells that are active and that the journal does not know. */
static margin_status run_round(mg_tune *s, margin_error *error) {
    tune_round round = {.search = s};
    const int64_t rows = learned_rows(s);
    margin_status status;
    MG_NEW(s->heap, round.cells, s->count, "the settings of a round", error);
    for (int64_t k = 0; k < s->count; k++) {
        mg_cell *cell = &s->cells[k];
        if (!cell->active) continue;
        cell->told = false;
        MG_GO(mg_journal_find(s, cell, error));
        cell->left = cell->known ? 0 : s->split_count;
        cell->rows = rows;
        if (!cell->known) round.cells[round.count++] = cell;
    }
    status = run_tasks(&round, error);
done:
    mg_free(s->heap, round.cells);
    return status;
}

static bool ranks_before(int64_t a, int64_t b, const void *argument) {
    const double *loss = argument;
    return loss[a] < loss[b];
}

/* The cells that do not go on into the next round. */
static margin_status drop_cells(mg_tune *s, int round, margin_error *error) {
    int64_t *order = NULL, left = 0, active = 0;
    double *loss = NULL, deviation;
    margin_status status = MARGIN_OK;
    MG_GO_NEW(s->heap, order, 2 * s->count, "the ranks of the settings", error);
    MG_GO_NEW(s->heap, loss, s->count, "the ranks of the settings", error);
    for (int64_t k = 0; k < s->count; k++) {
        const mg_cell *cell = &s->cells[k];
        active += cell->active;
        if (!cell->active || !mg_cell_counts(s, cell)) continue;
        loss[k] = mg_cell_mean(cell, s->split_count, &deviation) * (s->metric->greater ? -1 : 1);
        order[left++] = k;
    }
    mg_sort(order, left, order + s->count, ranks_before, loss);
    const int64_t kept = MG_MIN(left, (active + KEEP_ONE_OF - 1) / KEEP_ONE_OF);
    for (int64_t k = 0; k < s->count; k++) {
        if (s->cells[k].active) s->cells[k].dropped = round;
        s->cells[k].active = false;
    }
    for (int64_t k = 0; k < kept; k++) {
        s->cells[order[k]].active = true;
        s->cells[order[k]].dropped = 0;
    }
done:
    mg_free(s->heap, loss);
    mg_free(s->heap, order);
    return status;
}

/* 3^(rounds - 1), as far as settings and rows reach. */
static int64_t first_share(const mg_tune *s) {
    int64_t share = 1, rows = margin_splits_size(s->splits, 0, MARGIN_PART_TRAIN);
    if (s->options.method != MARGIN_SEARCH_HALVING) return 1;
    while (s->count > share && rows / (share * KEEP_ONE_OF) >= LEAST_ROWS)
        share *= KEEP_ONE_OF;
    return share;
}

margin_status mg_tune_run(mg_tune *s, margin_error *error) {
    for (int64_t k = 0; k < s->count; k++)
        s->cells[k].active = true;
    s->share = first_share(s);
    for (int round = 1;; round++) {
        MG_TRY(run_round(s, error));
        if (s->share == 1) return MARGIN_OK;
        MG_TRY(drop_cells(s, round, error));
        s->share /= KEEP_ONE_OF;
    }
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status take_options(const margin_search_options *options, mg_tune *s,
                                  margin_error *error) {
    margin_search_options *o = &s->options;
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_search_options, user),
                           "margin_search_options", o, sizeof *o, error));
    MG_REQUIRE(o->method >= MARGIN_SEARCH_GRID && o->method <= MARGIN_SEARCH_HALVING, error,
               MARGIN_ERROR_ARGUMENT, "there is no method %d of search", (int)o->method);
    MG_REQUIRE(o->method != MARGIN_SEARCH_RANDOM || o->count > 0, error, MARGIN_ERROR_ARGUMENT,
               "a random search needs a count of settings, and it is %lld", (long long)o->count);
    MG_REQUIRE(o->most_cells >= 0, error, MARGIN_ERROR_ARGUMENT, "most_cells is %lld",
               (long long)o->most_cells);
    MG_REQUIRE(o->cell_seconds >= 0, error, MARGIN_ERROR_ARGUMENT, "cell_seconds is %s",
               mg_number(o->cell_seconds).text);
    return MARGIN_OK;
}

static margin_status check_call(const margin_context *context, const margin_spec *const *specs,
                                int64_t count, const margin_data *data, const margin_splits *splits,
                                margin_search_result **result, margin_error *error) {
    bool all = specs && count > 0;
    for (int64_t k = 0; all && k < count; k++)
        all = specs[k] != NULL;
    MG_REQUIRE(context && all && data && splits && result, error, MARGIN_ERROR_ARGUMENT,
               "the %s NULL",
               !context  ? "context is"
               : !all    ? "spec, or one of the specs, is"
               : !data   ? "data set is"
               : !splits ? "splits are"
                         : "place for the result is");
    return MARGIN_OK;
}

margin_status margin_search_specs(margin_context *context, const margin_spec *const *specs,
                                  int64_t count, const margin_data *data,
                                  const margin_splits *splits, const margin_search_options *options,
                                  margin_search_result **result, margin_error *error) {
    mg_tune s = {.specs = specs,
                 .spec_count = count,
                 .data = data,
                 .splits = splits,
                 .started = mg_clock(),
                 .share = 1};
    margin_context call;
    margin_status status;
    MG_TRY(check_call(context, specs, count, data, splits, result, error));
    MG_TRY(take_options(options, &s, error));
    mg_context_call(context, &call);
    call.end = (double)INFINITY; /* each fit has an end of its own */
    s.context = &call;
    s.heap = context->heap;
    s.split_count = margin_splits_count(splits);
    s.folds = margin_splits_folds(splits);
    MG_GO(mg_data_check_targets(&call, data, error));
    MG_GO(mg_tune_problem(&s, error));
    MG_GO(mg_tune_cells(&s, error));
    MG_GO(mg_journal_open(&s, error));
    MG_GO(mg_tune_run(&s, error));
    status = mg_tune_result_make(&s, result, error);
done:
    mg_journal_close(&s);
    mg_tune_cells_free(&s);
    mg_tune_problem_free(&s);
    return status;
}

margin_status margin_search(margin_context *context, const margin_spec *spec,
                            const margin_data *data, const margin_splits *splits,
                            const margin_search_options *options, margin_search_result **result,
                            margin_error *error) {
    return margin_search_specs(context, &spec, spec ? 1 : 0, data, splits, options, result, error);
}
