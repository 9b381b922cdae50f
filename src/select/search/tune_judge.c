/* What a fit is worth on rows: its answers, measured. */
#include "model/measure/outcome.h"
#include "model/predict/predict.h"
#include "select/search/tune.h"

#include <string.h>

/* ---- Answers --------------------------------------------------------------------------------- */

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
    const mg_row_list *list;
    const double *given; /* scores; NULL: the model is asked */
    mg_arena arena;
    int64_t *map; /* of the model's classes; NULL: the same */
    double *truth, *predicted, *weights, *probabilities, *loss, *scores;
} judgement;

static const char purpose[] = "the predictions of a fold";

static margin_status map_classes(judgement *j, margin_error *error) {
    const margin_model *model = j->model, *whole = j->search->whole;
    if (model->classes == whole->classes) return MARGIN_OK;
    MG_ARENA_NEW(&j->arena, j->map, model->classes, purpose, error);
    for (int64_t c = 0; c < model->classes; c++)
        j->map[c] = whole_class(whole, model, c, c > 0 ? j->map[c - 1] + 1 : 0);
    return MARGIN_OK;
}

/* Where others gave the scores there need not be a hypothesis. */
static int64_t functions_of(const margin_model *model) {
    return model->hypothesis ? model->hypothesis->functions : 1;
}

/* From scores that are there already. */
static margin_status decide_given(const judgement *j, margin_output what, void *out,
                                  margin_error *error) {
    const margin_model *model = j->model;
    const int64_t functions = functions_of(model), count = j->list->count;
    double *work;
    if (what != MARGIN_OUTPUT_LABELS) {
        memcpy(out, j->given, (size_t)(count * functions) * sizeof(double));
        return MARGIN_OK;
    }
    MG_NEW(j->search->heap, work, mg_decide_room(model), "the votes", error);
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)out)[i] = mg_decide(model, j->given + i * functions, work);
    mg_free(j->search->heap, work);
    return MARGIN_OK;
}

static margin_status ask(const judgement *j, margin_output what, void *out, margin_error *error) {
    if (j->given) return decide_given(j, what, out, error);
    return mg_predict_rows(j->context, j->model, &j->search->data->x, j->list->rows, j->list->count,
                           what, false, out, error);
}

static margin_status predict_classes(judgement *j, margin_error *error) {
    int64_t *labels;
    MG_ARENA_NEW(&j->arena, labels, j->list->count, purpose, error);
    MG_ARENA_NEW(&j->arena, j->predicted, j->list->count, purpose, error);
    MG_TRY(ask(j, MARGIN_OUTPUT_LABELS, labels, error));
    for (int64_t i = 0; i < j->list->count; i++)
        j->predicted[i] = (double)(j->map && labels[i] >= 0 ? j->map[labels[i]] : labels[i]);
    return MARGIN_OK;
}

/* A number for each class of the model, spread over all classes; `absent` for the others. */
static void spread(const judgement *j, const double *narrow, double absent, double *wide) {
    const int64_t known = j->model->classes, all = j->search->whole->classes;
    for (int64_t c = 0; j->map && c < all; c++)
        wide[c] = absent;
    for (int64_t c = 0; c < known; c++)
        wide[j->map ? j->map[c] : c] = narrow[c];
}

/* The scores of the model's functions, a row after the other. */
static margin_status ask_scores(judgement *j, double **scores, margin_error *error) {
    MG_ARENA_NEW(&j->arena, *scores, j->list->count * functions_of(j->model), purpose, error);
    return ask(j, MARGIN_OUTPUT_SCORES, *scores, error);
}

/* A class that training had not has the probability 0. work: two numbers a class of the model. */
static void judge_row(judgement *j, int64_t i, const double *scores, double *work) {
    const margin_model *model = j->model;
    const int64_t known = model->classes, all = j->search->whole->classes;
    double *p = work, *ranks = work + known;
    if (model->hypothesis)
        mg_probabilities(model, scores, p);
    else
        model->learner->probabilities(scores, functions_of(model), known, p);
    mg_class_ranks(model, scores, p, ranks);
    spread(j, p, 0, j->probabilities + i * all);
    if (j->scores) spread(j, ranks, -(double)INFINITY, j->scores + i * all);
    j->loss[i] = (double)INFINITY;
    for (int64_t c = 0; c < known; c++)
        if ((double)(j->map ? j->map[c] : c) == j->truth[i])
            j->loss[i] = mg_log_loss(model, p, ranks, c);
}

/* What probabilities give each row; of more than two classes they rank them. */
static margin_status judge_rows(judgement *j, margin_error *error) {
    const int64_t count = j->list->count, all = j->search->whole->classes;
    double *scores, *work;
    MG_TRY(ask_scores(j, &scores, error));
    MG_TRY(MG_PIECES(&j->arena, purpose, error, MG_PIECE(work, 2 * j->model->classes),
                     MG_PIECE(j->probabilities, count * all), MG_PIECE(j->loss, count)));
    if (all > 2) MG_ARENA_NEW(&j->arena, j->scores, count * all, purpose, error);
    for (int64_t i = 0; i < count; i++)
        judge_row(j, i, scores + i * functions_of(j->model), work);
    return MARGIN_OK;
}

/* What ranks rows. Two classes: one number a row. */
static margin_status rank_rows(judgement *j, margin_error *error) {
    const margin_model *model = j->model;
    const int64_t functions = functions_of(model), count = j->list->count;
    const int64_t all = j->search->whole->classes;
    double *scores;
    if (all > 2 && margin_model_has_probabilities(model)) return judge_rows(j, error);
    MG_REQUIRE(model->decision != MG_DECIDE_VOTES, error, MARGIN_ERROR_SPEC,
               "pairs of classes give no scores to rank rows by; use multiclass=ovr");
    MG_TRY(ask_scores(j, &scores, error));
    if (all > 2) {
        MG_ARENA_NEW(&j->arena, j->scores, count * all, purpose, error);
        for (int64_t i = 0; i < count; i++)
            spread(j, scores + i * functions, -(double)INFINITY, j->scores + i * all);
        return MARGIN_OK;
    }
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
    return judge_rows(j, error);
}

static margin_status gather_truth(judgement *j, margin_error *error) {
    const mg_tune *s = j->search;
    const int64_t targets = mg_data_targets(s->data), count = j->list->count;
    const margin_vector *weights = &s->data->weights;
    MG_ARENA_NEW(&j->arena, j->truth, count * targets, purpose, error);
    if (weights->values) MG_ARENA_NEW(&j->arena, j->weights, count, purpose, error);
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = j->list->rows[i];
        memcpy(j->truth + i * targets, s->truth + row * targets, (size_t)targets * sizeof(double));
        if (j->weights) j->weights[i] = mg_vector_f64(weights, row);
    }
    return MARGIN_OK;
}

static margin_status answer(judgement *j, margin_error *error) {
    const mg_tune *s = j->search;
    MG_TRY(gather_truth(j, error));
    if (s->whole->task == MARGIN_CLASSIFY) return answer_classes(j, error);
    MG_ARENA_NEW(&j->arena, j->predicted, j->list->count * mg_data_targets(s->data), purpose,
                 error);
    return ask(j, MARGIN_OUTPUT_VALUES, j->predicted, error);
}

/* Of single rows, which are many where each is left out in turn. */
static bool measure_one(const mg_tune *s, double truth, double predicted, double *value) {
    const char *name = s->metric->name;
    const double miss = fabs(truth - predicted);
    const bool wrong = miss != 0;
    if (isnan(predicted)) return false;
    if (strcmp(name, "accuracy") == 0)
        *value = !wrong;
    else if (strcmp(name, "error") == 0)
        *value = wrong;
    else if (strcmp(name, "mse") == 0)
        *value = miss * miss;
    else if (strcmp(name, "mae") == 0 || strcmp(name, "rmse") == 0)
        *value = miss;
    else
        return false;
    return true;
}

/* From its scores, without arrays. */
static bool judge_one(const judgement *j, double *value, double *predictions) {
    enum { ROOM = 64 };
    const mg_tune *s = j->search;
    double work[ROOM];
    if (j->list->count != 1 || !j->given || mg_data_targets(s->data) > 1 ||
        j->model->classes != s->whole->classes || mg_decide_room(j->model) > ROOM)
        return false;
    const int64_t row = j->list->rows[0];
    const double predicted = s->whole->task == MARGIN_CLASSIFY
                                 ? (double)mg_decide(j->model, j->given, work)
                                 : j->given[0];
    if (!measure_one(s, s->truth[row], predicted, value)) return false;
    if (predictions) predictions[row] = predicted;
    return true;
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
                                .probabilities = j->probabilities,
                                .scores = j->scores};
    if (j->predicted) given.predicted = margin_values_f64(j->predicted, count * targets);
    if (j->weights) given.weights = margin_values_f64(j->weights, count);
    MG_TRY(mg_measure_losses(j->context, &given, j->loss, NULL, &found, error));
    *value = margin_metrics_value(&found, s->metric->name);
    margin_metrics_free(&found);
    return MARGIN_OK;
}

margin_status mg_tune_judge(const mg_tune *s, margin_context *context, const margin_model *model,
                            const mg_row_list *list, const double *scores, double *value,
                            double *predictions, margin_error *error) {
    judgement j = {.search = s, .context = context, .model = model, .list = list, .given = scores};
    const int64_t targets = mg_data_targets(s->data);
    margin_status status;
    if (judge_one(&j, value, predictions)) return MARGIN_OK;
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

margin_status mg_tune_judge_given(const mg_tune *s, margin_context *context,
                                  const mg_row_list *list, double *values, double *probabilities,
                                  double *value, margin_error *error) {
    judgement j = {.search = s,
                   .context = context,
                   .list = list,
                   .predicted = values,
                   .probabilities = probabilities};
    margin_status status;
    mg_arena_init(&j.arena, s->heap);
    MG_GO(gather_truth(&j, error));
    status = measure(&j, value, error);
done:
    mg_arena_free(&j.arena);
    return status;
}
