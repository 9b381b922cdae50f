/* One setting on one split: fitted to the training rows, judged on the test rows. */
#include "base/random.h"
#include "base/sort.h"
#include "model/predict/predict.h"
#include "select/search/tune.h"

#include <stdio.h>
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct row_list {
    int64_t *rows;
    int64_t count;
} row_list;

static margin_status take_part(const mg_tune *s, mg_arena *arena, int64_t split, int32_t part,
                               row_list *list, margin_error *error) {
    list->count = margin_splits_size(s->splits, split, part);
    list->rows = mg_arena_new(arena, list->count, sizeof *list->rows);
    if (!list->rows)
        return mg_no_memory(s->heap, list->count, sizeof *list->rows, "the rows of a fold", error);
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
static margin_status thin(const mg_tune *s, mg_arena *arena, row_list *list, margin_error *error) {
    const int64_t count = list->count, share = s->share;
    int64_t *order = mg_arena_new(arena, 2 * count, sizeof *order), kept = 0;
    uint64_t *key = mg_arena_new(arena, count, sizeof *key);
    bool *keep = mg_arena_new(arena, count, sizeof *keep);
    if (!order || !key || !keep)
        return mg_no_memory(s->heap, count, 25, "the rows of a round", error);
    const bool classes = s->whole->task == MARGIN_CLASSIFY;
    for (int64_t k = 0; k < count; k++) {
        order[k] = k;
        keep[k] = false;
        key[k] = mg_random_u64(s->context->options.seed, MG_RANDOM_SAMPLE, (uint64_t)list->rows[k]);
    }
    const row_order by = {classes ? s->truth : NULL, key, list->rows};
    mg_sort(order, count, order + count, earlier_row, &by);
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

/* ---- Judgement ------------------------------------------------------------------------------- */

/* A model's class among all classes: those of a training part may be fewer. */
static int64_t whole_class(const margin_model *whole, const margin_model *model, int64_t c,
                           int64_t guess) {
    const char *name = model->class_names[c];
    if (guess < whole->classes && strcmp(whole->class_names[guess], name) == 0) return guess;
    for (int64_t k = 0; k < whole->classes; k++)
        if (strcmp(whole->class_names[k], name) == 0) return k;
    return -1;
}

typedef struct judgement {
    const mg_tune *search;
    margin_context *context;
    const margin_model *model;
    const row_list *list;
    mg_arena arena;
    int64_t *map; /* of the model's classes; NULL: the same */
    double *truth, *predicted, *weights, *probabilities, *scores;
} judgement;

static double *numbers(judgement *j, int64_t count) {
    return mg_arena_new(&j->arena, count, sizeof(double));
}

static margin_status no_room(const judgement *j, margin_error *error) {
    return mg_no_memory(j->search->heap, j->list->count, sizeof(double),
                        "the predictions of a fold", error);
}

static margin_status map_classes(judgement *j, margin_error *error) {
    const margin_model *model = j->model, *whole = j->search->whole;
    if (model->classes == whole->classes) return MARGIN_OK;
    j->map = mg_arena_new(&j->arena, model->classes, sizeof *j->map);
    if (!j->map) return no_room(j, error);
    for (int64_t c = 0; c < model->classes; c++)
        j->map[c] = whole_class(whole, model, c, c > 0 ? j->map[c - 1] + 1 : 0);
    return MARGIN_OK;
}

static margin_status ask(const judgement *j, margin_output what, void *out, margin_error *error) {
    return mg_predict_rows(j->context, j->model, &j->search->data->x, j->list->rows, j->list->count,
                           what, out, error);
}

static margin_status predict_classes(judgement *j, margin_error *error) {
    int64_t *labels = mg_arena_new(&j->arena, j->list->count, sizeof *labels);
    j->predicted = numbers(j, j->list->count);
    if (!labels || !j->predicted) return no_room(j, error);
    MG_TRY(ask(j, MARGIN_OUTPUT_LABELS, labels, error));
    for (int64_t i = 0; i < j->list->count; i++)
        j->predicted[i] = (double)(j->map && labels[i] >= 0 ? j->map[labels[i]] : labels[i]);
    return MARGIN_OK;
}

/* rows x classes numbers of the model, spread over all classes; `absent` for the others. */
static margin_status spread(judgement *j, margin_output what, double absent, double **out,
                            margin_error *error) {
    const int64_t known = j->model->classes, all = j->search->whole->classes;
    const int64_t count = j->list->count;
    double *narrow = numbers(j, count * known), *wide = narrow;
    if (j->map) wide = numbers(j, count * all);
    if (!narrow || !wide) return no_room(j, error);
    MG_TRY(ask(j, what, narrow, error));
    for (int64_t i = 0; j->map && i < count; i++) {
        for (int64_t c = 0; c < all; c++)
            wide[i * all + c] = absent;
        for (int64_t c = 0; c < known; c++)
            wide[i * all + j->map[c]] = narrow[i * known + c];
    }
    *out = wide;
    return MARGIN_OK;
}

/* What ranks rows. Two classes: one number a row. */
static margin_status rank_rows(judgement *j, margin_error *error) {
    const margin_model *model = j->model;
    const int64_t functions = model->hypothesis->functions, count = j->list->count;
    if (j->search->whole->classes > 2 && margin_model_has_probabilities(model))
        return spread(j, MARGIN_OUTPUT_PROBABILITIES, 0, &j->probabilities, error);
    MG_REQUIRE(model->decision != MG_DECIDE_VOTES, error, MARGIN_ERROR_SPEC,
               "pairs of classes give no scores to rank rows by; use multiclass=ovr");
    if (j->search->whole->classes > 2)
        return spread(j, MARGIN_OUTPUT_SCORES, -(double)INFINITY, &j->scores, error);
    double *scores = numbers(j, count * functions);
    if (!scores) return no_room(j, error);
    MG_TRY(ask(j, MARGIN_OUTPUT_SCORES, scores, error));
    for (int64_t i = 0; i < count && functions == 2; i++)
        scores[i] = scores[2 * i + 1] - scores[2 * i];
    j->scores = scores;
    return MARGIN_OK;
}

static margin_status answer_classes(judgement *j, margin_error *error) {
    const margin_metric *metric = j->search->metric;
    MG_TRY(map_classes(j, error));
    MG_TRY(predict_classes(j, error));
    const bool ranks =
        strcmp(metric->name, "auc") == 0 || strcmp(metric->name, "average_precision") == 0;
    if (ranks) return rank_rows(j, error);
    if (!metric->needs_probabilities) return MARGIN_OK;
    MG_REQUIRE(margin_model_has_probabilities(j->model), error, MARGIN_ERROR_SPEC,
               "%s needs probabilities and %s has none", metric->name,
               j->model->learner->info.name);
    return spread(j, MARGIN_OUTPUT_PROBABILITIES, 0, &j->probabilities, error);
}

static margin_status answer(judgement *j, margin_error *error) {
    const mg_tune *s = j->search;
    const int64_t targets = mg_data_targets(s->data), count = j->list->count;
    const margin_vector *weights = &s->data->weights;
    j->truth = numbers(j, count * targets);
    if (weights->values) j->weights = numbers(j, count);
    if (!j->truth || (weights->values && !j->weights)) return no_room(j, error);
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = j->list->rows[i];
        memcpy(j->truth + i * targets, s->truth + row * targets, (size_t)targets * sizeof(double));
        if (j->weights) j->weights[i] = mg_vector_f64(weights, row);
    }
    if (s->whole->task == MARGIN_CLASSIFY) return answer_classes(j, error);
    j->predicted = numbers(j, count * targets);
    if (!j->predicted) return no_room(j, error);
    return ask(j, MARGIN_OUTPUT_VALUES, j->predicted, error);
}

static margin_status measure(const judgement *j, double *value, margin_error *error) {
    const mg_tune *s = j->search;
    const int64_t targets = mg_data_targets(s->data), count = j->list->count;
    margin_metrics found = {.size = sizeof found};
    margin_predictions given = {.size = sizeof given,
                                .task = (int32_t)s->whole->task,
                                .rows = count,
                                .classes = s->whole->classes,
                                .targets = targets,
                                .truth = margin_values_f64(j->truth, count * targets),
                                .predicted = margin_values_f64(j->predicted, count * targets),
                                .probabilities = j->probabilities,
                                .scores = j->scores};
    if (j->weights) given.weights = margin_values_f64(j->weights, count);
    MG_TRY(margin_measure(j->context, &given, NULL, &found, error));
    *value = margin_metrics_value(&found, s->metric->name);
    margin_metrics_free(&found);
    return MARGIN_OK;
}

/* The metric on these rows; predictions into the table of those of a repeat, if there is one. */
static margin_status judge(const mg_tune *s, margin_context *context, const margin_model *model,
                           const row_list *list, double *value, double *predictions,
                           margin_error *error) {
    judgement j = {.search = s, .context = context, .model = model, .list = list};
    const int64_t targets = mg_data_targets(s->data);
    margin_status status;
    mg_arena_init(&j.arena, s->heap);
    MG_GO(answer(&j, error));
    MG_GO(measure(&j, value, error));
    for (int64_t i = 0; predictions && i < list->count; i++)
        memcpy(predictions + list->rows[i] * targets, j.predicted + i * targets,
               (size_t)targets * sizeof *predictions);
done:
    mg_arena_free(&j.arena);
    return status;
}

/* ---- One fit --------------------------------------------------------------------------------- */

static margin_status fit_and_judge(const mg_tune *s, margin_context *context, mg_cell *cell,
                                   int64_t split, mg_arena *arena, mg_slot *slot, char *stopped,
                                   size_t room, margin_error *error) {
    const mg_train_how how = {.task = s->whole->task, .unscored = true};
    margin_model *model = NULL;
    margin_data data = *s->data;
    row_list train, test;
    margin_status status;
    MG_TRY(take_part(s, arena, split, MARGIN_PART_TRAIN, &train, error));
    MG_TRY(take_part(s, arena, split, MARGIN_PART_TEST, &test, error));
    if (s->share > 1) MG_TRY(thin(s, arena, &train, error));
    data.selection = train.rows;
    data.selected = train.count;
    const double started = mg_clock();
    MG_TRY(mg_model_new(s->heap, &model, error));
    MG_GO(mg_train(context, cell->spec, &data, &how, model, error));
    const double fitted = mg_clock();
    slot->gap = model->report.gap;
    slot->fit_seconds = (float)(fitted - started);
    if (model->report.status > 0) snprintf(stopped, room, "%s", model->report.reason);
    mg_context_extend(context);
    double *predictions = cell->predictions;
    if (predictions) predictions += split / s->folds * s->data->x.rows * mg_data_targets(s->data);
    MG_GO(judge(s, context, model, &test, &slot->value, predictions, error));
    slot->predict_seconds = (float)(mg_clock() - fitted);
    if (s->options.training) {
        mg_context_extend(context);
        MG_GO(judge(s, context, model, &train, &slot->training, NULL, error));
    }
    status = model->report.status;
done:
    margin_model_free(model);
    return status;
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
    const int64_t length = (int64_t)strlen(text);
    slot->reason = mg_copy_text(s->heap, text, length);
    return slot->reason ? MARGIN_OK : mg_no_memory(s->heap, length + 1, 1, "a reason", error);
}

static void forget(mg_heap *heap, mg_slot *slot) {
    mg_free(heap, slot->reason);
    *slot = (mg_slot){.value = (double)NAN, .training = (double)NAN, .gap = (double)NAN};
}

margin_status mg_tune_fold(mg_tune *s, margin_context *part, mg_cell *cell, int64_t split,
                           margin_error *error) {
    mg_slot *slot = &cell->slots[split];
    margin_context call;
    margin_error own = {0};
    mg_arena arena;
    char stopped[sizeof((margin_report *)0)->reason] = "";
    forget(s->heap, slot);
    mg_context_call(part, &call);
    mg_arena_init(&arena, s->heap);
    margin_status status =
        fit_and_judge(s, &call, cell, split, &arena, slot, stopped, sizeof stopped, &own);
    mg_arena_free(&arena);
    status = mg_call_status(&call, status, "before there was a model and its predictions", &own);
    if (status == MARGIN_ERROR_CANCELLED || status == MARGIN_ERROR_MEMORY) {
        if (error) *error = own;
        return status;
    }
    slot->status = status;
    if (status == MARGIN_OK) return MARGIN_OK;
    if (status < 0) slot->value = slot->training = (double)NAN;
    return say(s, split, status < 0 ? own.text : stopped, slot, error);
}
