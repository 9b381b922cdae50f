/* A chain of settings on one split: the stages are fitted once, then a learner after the other,
 * each beginning where the last one ended if it can. */
#include "base/random.h"
#include "base/sort.h"
#include "select/search/tune.h"

#include <stdio.h>
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

margin_status mg_tune_rows(const mg_tune *s, mg_arena *arena, int64_t split, int32_t part,
                           mg_row_list *list, margin_error *error) {
    list->count = margin_splits_size(s->splits, split, part);
    MG_ARENA_NEW(arena, list->rows, list->count, "the rows of a fold", error);
    margin_splits_rows(s->splits, split, part, list->rows);
    return MARGIN_OK;
}

typedef struct row_order {
    const double *truth; /* by row; NULL: by chance alone */
    const uint64_t *key; /* by place */
    const int64_t *rows;
} row_order;

static bool earlier_row(int64_t a, int64_t b, const void *argument) {
    const row_order *order = argument;
    if (order->truth && order->truth[order->rows[a]] != order->truth[order->rows[b]])
        return order->truth[order->rows[a]] < order->truth[order->rows[b]];
    return order->key[a] != order->key[b] ? order->key[a] < order->key[b] : a < b;
}

/* Every `share`th row in an order by class and chance, so that each class keeps its share; one at
 * least of each. */
static margin_status thin(const mg_tune *s, mg_arena *arena, mg_row_list *list,
                          margin_error *error) {
    const int64_t count = list->count, share = s->share;
    int64_t *order, kept = 0;
    uint64_t *key;
    bool *keep;
    MG_TRY(MG_PIECES(arena, "the rows of a round", error, MG_PIECE(order, 2 * count),
                     MG_PIECE(key, count), MG_PIECE(keep, count)));
    const bool classes = s->whole->task == MARGIN_CLASSIFY;
    for (int64_t k = 0; k < count; k++) {
        order[k] = k;
        keep[k] = false;
        key[k] = mg_random_u64(s->context->options.seed, MG_RANDOM_SAMPLE, (uint64_t)list->rows[k]);
    }
    const row_order by = {classes ? s->truth : NULL, key, list->rows};
    mg_sort_few(order, count, order + count, earlier_row, &by);
    for (int64_t k = 0; k < count; k++) {
        const bool first = classes && (k == 0 || s->truth[list->rows[order[k]]] !=
                                                     s->truth[list->rows[order[k - 1]]]);
        if (k % share == 0 || first) keep[order[k]] = true;
    }
    for (int64_t k = 0; k < count; k++)
        if (keep[k]) list->rows[kept++] = list->rows[k];
    list->count = kept;
    return MARGIN_OK;
}

/* ---- One setting ----------------------------------------------------------------------------- */

typedef struct chain_run {
    mg_tune *search;
    int64_t split;
    mg_arena arena;
    mg_row_list train, test; /* rows NULL: not taken yet */
    margin_data data;        /* the training rows */
    mg_train_how how;
    margin_model *model; /* NULL: the stages are not fitted yet */
    mg_trainer trainer;
    double opening; /* the seconds that this took: part of the time of every setting */
} chain_run;

static void close_stages(chain_run *run) {
    if (!run->model) return;
    mg_trainer_close(&run->trainer);
    margin_model_free(run->model);
    run->model = NULL;
}

/* Where this fails for one setting the next one tries again: its reason may be another. */
static margin_status open_stages(chain_run *run, margin_context *context, const margin_spec *spec,
                                 margin_error *error) {
    const mg_tune *s = run->search;
    const double started = mg_clock();
    margin_model *model = NULL;
    if (run->model) return MARGIN_OK;
    if (!run->train.rows) {
        MG_TRY(mg_tune_rows(s, &run->arena, run->split, MARGIN_PART_TEST, &run->test, error));
        MG_TRY(mg_tune_rows(s, &run->arena, run->split, MARGIN_PART_TRAIN, &run->train, error));
        if (s->share > 1) MG_TRY(thin(s, &run->arena, &run->train, error));
    }
    run->data = *s->data;
    run->data.selection = run->train.rows;
    run->data.selected = run->train.count;
    MG_TRY(mg_model_new(s->heap, &model, error));
    const margin_status status =
        mg_trainer_open(context, spec, &run->data, &run->how, model, &run->trainer, error);
    if (status < 0)
        margin_model_free(model);
    else
        run->model = model;
    run->opening = mg_clock() - started;
    return status;
}

static margin_status fit_and_judge(chain_run *run, margin_context *context, mg_cell *cell,
                                   mg_slot *slot, margin_error *error) {
    const mg_tune *s = run->search;
    MG_TRY(open_stages(run, context, cell->spec, error));
    const double started = mg_clock();
    MG_TRY(mg_trainer_fit(&run->trainer, context, cell->spec, error));
    const double fitted = mg_clock();
    slot->gap = run->model->report.gap;
    slot->fit_seconds = (float)(run->opening + fitted - started);
    mg_context_extend(context);
    MG_TRY(mg_tune_judge(s, context, run->model, &run->test, NULL, &slot->value,
                         mg_cell_predictions(s, cell, run->split), error));
    slot->predict_seconds = (float)(mg_clock() - fitted);
    if (s->options.training) {
        mg_context_extend(context);
        MG_TRY(
            mg_tune_judge(s, context, run->model, &run->train, NULL, &slot->training, NULL, error));
    }
    return run->model->report.status;
}

/* A sentence of the slot's own: "fold 3: ...". */
static margin_status say(const mg_tune *s, int64_t split, const char *reason, mg_slot *slot,
                         margin_error *error) {
    char text[1100];
    const long long fold = (long long)(split % s->folds) + 1, repeat = split / s->folds;
    if (s->split_count > s->folds)
        snprintf(text, sizeof text, "fold %lld of repeat %lld: %s", fold, repeat + 1, reason);
    else
        snprintf(text, sizeof text, "fold %lld: %s", fold, reason);
    return mg_take_text(s->heap, text, -1, "a reason", &slot->reason, error);
}

void mg_slot_clear(mg_heap *heap, mg_slot *slot) {
    mg_free(heap, slot->reason);
    slot->value = slot->training = slot->gap = (double)NAN;
    slot->fit_seconds = slot->predict_seconds = 0;
    slot->status = MARGIN_OK;
    slot->state = MG_SLOT_OPEN;
    slot->reason = NULL;
}

/* A failure that concerns this fit alone is the slot's. */
static margin_status run_cell(chain_run *run, margin_context *part, mg_cell *cell,
                              margin_error *error) {
    mg_tune *s = run->search;
    mg_slot *slot = &cell->slots[run->split];
    margin_error own = {0};
    mg_slot_clear(s->heap, slot);
    margin_context call = mg_context_call(part);
    margin_status status = fit_and_judge(run, &call, cell, slot, &own);
    status = mg_call_status(&call, status,
                            s->options.cell_seconds > 0 && s->split_count > 1
                                ? "(each fold has an equal share of it) before there was a model "
                                  "and its predictions: allow more, or take fewer folds"
                                : "before there was a model and its predictions: allow more",
                            &own);
    if (status == MARGIN_ERROR_CANCELLED || status == MARGIN_ERROR_MEMORY) {
        if (error) *error = own;
        return status;
    }
    slot->status = status;
    if (status == MARGIN_OK) return MARGIN_OK;
    if (status < 0) slot->value = slot->training = (double)NAN;
    return say(s, run->split, status < 0 ? own.text : run->model->report.reason, slot, error);
}

/* ---- The chain ------------------------------------------------------------------------------- */

static void not_tried(mg_tune *s, mg_slot *slot) {
    static const char text[] = "not tried: the time limit of the whole search was reached";
    mg_slot_clear(s->heap, slot);
    slot->status = MARGIN_ERROR_LIMIT;
    slot->reason = mg_copy_text(s->heap, text, (int64_t)sizeof text - 1);
}

/* The clock gives each fit its part of the time of a setting. */
static margin_status time_cell(chain_run *run, const mg_tune_task *task, mg_cell *cell,
                               margin_error *error) {
    mg_tune *s = run->search;
    margin_context part;
    const double now = mg_clock(), share = s->options.cell_seconds / (double)s->split_count;
    const double deadline = mg_deadline(s->context);
    if (now >= deadline) {
        not_tried(s, &cell->slots[run->split]);
        return MARGIN_OK;
    }
    const bool limited = s->options.cell_seconds > 0 && now + share < deadline;
    mg_context_part(s->context, limited ? now + share : deadline, task->shares, &part);
    if (limited) part.options.time_limit = s->options.cell_seconds; /* for sentences */
    return run_cell(run, &part, cell, error);
}

/* Settings after number k that differ from it in their penalty only. */
static int64_t count_near(const mg_tune *s, const mg_chain *chain, int64_t k) {
    int64_t end = k + 1;
    while (end < chain->count && mg_cells_near(s, chain->cells[k], chain->cells[end]))
        end++;
    return end - k - 1;
}

margin_status mg_tune_chain(const mg_tune_task *task, margin_error *error) {
    mg_tune *s = task->search;
    margin_status status = MARGIN_OK;
    chain_run run = {
        .search = s, .split = task->split, .how = {.task = s->whole->task, .warm = true}};
    bool done;
    MG_TRY(mg_tune_answers(task, &done, error));
    if (done) return MARGIN_OK;
    mg_arena_init(&run.arena, s->heap);
    for (int64_t k = 0; k < task->chain->count && status >= 0; k++) {
        run.how.following = count_near(s, task->chain, k);
        status = time_cell(&run, task, task->chain->cells[k], error);
        if (status >= 0) mg_tune_done(task, task->chain->cells[k]);
    }
    close_stages(&run);
    mg_arena_free(&run.arena);
    return status;
}
