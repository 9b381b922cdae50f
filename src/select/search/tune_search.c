/* Rounds of a search, and its entry. */
#include "base/sort.h"
#include "model/problem/data_rows.h"
#include "select/search/tune.h"

/* Of the settings that are left every third goes on, with three times as many rows; the first round
 * leaves so many rows at least, as fewer would tell little. */
enum { KEEP_ONE_OF = 3, LEAST_ROWS = 50 };

/* ---- Rounds ---------------------------------------------------------------------------------- */

static int64_t learned_rows(const mg_tune *s) {
    int64_t most = 0;
    for (int64_t k = 0; k < s->split_count; k++)
        most = MG_MAX(most, margin_splits_size(s->splits, k, MARGIN_PART_TRAIN));
    return (most + s->share - 1) / s->share;
}

/* The cells that do not go on into the next round. */
static margin_status drop_cells(mg_tune *s, int round, margin_error *error) {
    int64_t *order, left = 0, active = 0;
    double *loss, deviation;
    MG_SCOPED_ARENA(arena, s->heap);
    MG_TRY(MG_PIECES(&arena, "the ranks of the settings", error, MG_PIECE(order, 2 * s->count),
                     MG_PIECE(loss, s->count)));
    for (int64_t k = 0; k < s->count; k++) {
        const mg_cell *cell = &s->cells[k];
        active += cell->active;
        if (!cell->active || !mg_cell_counts(s, cell)) continue;
        loss[k] = mg_cell_mean(cell, s->split_count, &deviation) * (s->metric->greater ? -1 : 1);
        order[left++] = k;
    }
    mg_sort_few(order, left, order + s->count, mg_lower_at, loss);
    const int64_t kept = MG_MIN(left, (active + KEEP_ONE_OF - 1) / KEEP_ONE_OF);
    for (int64_t k = 0; k < s->count; k++) {
        if (s->cells[k].active) s->cells[k].dropped = round;
        s->cells[k].active = false;
    }
    for (int64_t k = 0; k < kept; k++) {
        s->cells[order[k]].active = true;
        s->cells[order[k]].dropped = 0;
    }
    return MARGIN_OK;
}

/* 3^(rounds - 1), as far as settings and rows reach. */
static int64_t first_share(const mg_tune *s) {
    int64_t share = 1, rows = margin_splits_size(s->splits, 0, MARGIN_PART_TRAIN);
    if (s->options.method != MARGIN_SEARCH_HALVING) return 1;
    while (s->count > share && rows / (share * KEEP_ONE_OF) >= LEAST_ROWS)
        share *= KEEP_ONE_OF;
    return share;
}

static margin_status run_rounds(mg_tune *s, margin_error *error) {
    for (int64_t k = 0; k < s->count; k++)
        s->cells[k].active = true;
    s->share = first_share(s);
    for (int round = 1;; round++) {
        const int64_t rows = learned_rows(s);
        for (int64_t k = 0; k < s->count; k++)
            if (s->cells[k].active) s->cells[k].rows = rows;
        MG_TRY(mg_tune_round(s, error));
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

margin_status mg_tune_check_specs(const margin_spec *const *specs, int64_t count,
                                  margin_error *error) {
    bool all = specs && count > 0;
    for (int64_t k = 0; all && k < count; k++)
        all = specs[k] != NULL;
    MG_REQUIRE(all, error, MARGIN_ERROR_ARGUMENT, "the spec, or one of the specs, is NULL");
    return MARGIN_OK;
}

static margin_status check_call(const margin_context *context, const margin_spec *const *specs,
                                int64_t count, const margin_data *data, const margin_splits *splits,
                                margin_search_result **result, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {data, "data set"}, {splits, "split"},
             {result, "place for the result"});
    return mg_tune_check_specs(specs, count, error);
}

margin_status mg_tune_search(margin_context *context, margin_task task,
                             const margin_spec *const *specs, int64_t count,
                             const margin_data *data, const margin_splits *splits,
                             const margin_search_options *options, margin_search_result **result,
                             margin_error *error) {
    mg_tune s = {.task = task,
                 .specs = specs,
                 .spec_count = count,
                 .data = data,
                 .splits = splits,
                 .started = mg_clock(),
                 .share = 1};
    mg_taken taken = {0};
    margin_status status;
    MG_TRY(check_call(context, specs, count, data, splits, result, error));
    MG_TRY(take_options(options, &s, error));
    margin_context call = mg_context_call(context);
    call.end = (double)INFINITY; /* each fit has an end of its own */
    s.context = &call;
    s.heap = context->heap;
    s.split_count = margin_splits_count(splits);
    s.folds = margin_splits_folds(splits);
    MG_GO(mg_data_take(&call, data, true, &taken, error));
    s.data = &taken.data;
    MG_GO(mg_tune_problem(&s, error));
    MG_GO(mg_tune_baseline(&s, error));
    MG_GO(mg_tune_cells(&s, error));
    MG_GO(mg_journal_open(&s, error));
    MG_GO(run_rounds(&s, error));
    status = mg_tune_result_make(&s, result, error);
done:
    mg_journal_close(&s);
    mg_tune_cells_free(&s);
    mg_tune_problem_free(&s);
    mg_taken_free(&taken);
    mg_free(s.heap, s.baseline);
    return status;
}

margin_status margin_search(margin_context *context, const margin_spec *spec,
                            const margin_data *data, const margin_splits *splits,
                            const margin_search_options *options, margin_search_result **result,
                            margin_error *error) {
    return margin_search_specs(context, &spec, spec ? 1 : 0, data, splits, options, result, error);
}

margin_status margin_search_specs(margin_context *context, const margin_spec *const *specs,
                                  int64_t count, const margin_data *data,
                                  const margin_splits *splits, const margin_search_options *options,
                                  margin_search_result **result, margin_error *error) {
    return mg_tune_search(context, 0, specs, count, data, splits, options, result, error);
}
