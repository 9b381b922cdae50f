/* The model as an object: life, and what it tells. */
#include "data/source/source.h"
#include "model/object/model_object.h"

#include "bayes/learner/naive_bayes.h"
#include "cluster/learner/kmeans_learner.h"

#include <math.h>

/* ---- Life ------------------------------------------------------------------------------------ */

margin_status mg_model_new(mg_heap *heap, margin_model **model, margin_error *error) {
    margin_model *made = mg_new_zero(heap, 1, sizeof *made);
    if (!made) return mg_no_memory(heap, 1, sizeof *made, "the model", error);
    made->heap = mg_heap_retain(heap);
    mg_report_init(&made->report);
    *model = made;
    return MARGIN_OK;
}

margin_status mg_model_set_classes(margin_model *model, int64_t classes, bool numeric,
                                   margin_error *error) {
    const char *purpose = "the names of the classes";
    MG_NEW_ZERO(model->heap, model->class_names, classes, purpose, error);
    model->classes = classes;
    if (numeric) MG_NEW(model->heap, model->class_values, classes, purpose, error);
    for (int64_t c = 0; numeric && c < classes; c++)
        model->class_values[c] = (double)NAN;
    return MARGIN_OK;
}

void mg_model_clear_classes(margin_model *model) {
    for (int64_t c = 0; model->class_names && c < model->classes; c++)
        mg_free(model->heap, model->class_names[c]);
    MG_FREE(model->heap, model->class_names, model->class_values);
    model->class_names = NULL;
    model->class_values = NULL;
    model->classes = 0;
}

margin_status mg_model_name_class(margin_model *model, int64_t c, const char *name, int64_t length,
                                  margin_error *error) {
    return mg_take_text(model->heap, name, length, "the names of the classes",
                        &model->class_names[c], error);
}

margin_status mg_model_set_stages(margin_model *model, int count, margin_error *error) {
    MG_NEW_ZERO(model->heap, model->stages, count, "the stages", error);
    model->stage_count = model->active = count;
    return MARGIN_OK;
}

void margin_model_free(margin_model *model) {
    if (!model) return;
    mg_heap *heap = model->heap;
    mg_additions_free(model->additions);
    mg_free(heap, model->inner);
    mg_hypothesis_free(model->hypothesis);
    for (int s = 0; s < model->stage_count; s++)
        mg_fitted_stage_clear(&model->stages[s]);
    mg_free(heap, model->stages);
    mg_columns_free(&model->target);
    mg_columns_free(&model->inputs);
    mg_model_clear_classes(model);
    mg_free(heap, model->spec);
    if (model->mapped) mg_source_close(model->mapped);
    MG_FREE(heap, model->mapped, model);
    mg_heap_release(heap);
}

margin_status mg_model_make_inner(margin_model *model, margin_error *error) {
    enum { FEW = 16 }; /* functions, each of which takes as long as a row */
    const mg_hypothesis *h = model->hypothesis;
    const mg_fitted_stage *last = model->active > 0 ? &model->stages[model->active - 1] : NULL;
    const bool linear = h->kind == &mg_hypothesis_linear && h->functions <= FEW;
    mg_free(model->heap, model->inner);
    model->inner = NULL;
    if (!last || !last->stage->inner || !linear) return MARGIN_OK;
    MG_NEW(model->heap, model->inner, h->functions * h->columns, "the model", error);
    for (int64_t f = 0; f < h->functions; f++)
        mg_stage_to_inner(last, h->view.linear.weights + f * h->columns,
                          model->inner + f * h->columns);
    return MARGIN_OK;
}

/* ---- What a model knows ---------------------------------------------------------------------- */

const mg_columns *mg_model_feature_columns(const margin_model *model) {
    for (int s = model->active - 1; s >= 0; s--)
        if (model->stages[s].columns.count > 0) return &model->stages[s].columns;
    return &model->inputs;
}

int64_t mg_model_row_width(const margin_model *model) {
    int64_t width = model->inputs.count;
    for (int s = 0; s < model->active; s++)
        width = MG_MAX(width, model->stages[s].columns_out);
    return width;
}

const char *margin_model_spec(const margin_model *model) {
    return model->spec;
}

const margin_component *margin_model_learner(const margin_model *model) {
    return &model->learner->info;
}

const margin_report *margin_model_report(const margin_model *model) {
    return &model->report;
}

margin_task margin_model_task(const margin_model *model) {
    return model->task;
}

int64_t margin_model_class_count(const margin_model *model) {
    return model->classes;
}

const char *margin_model_class_name(const margin_model *model, int64_t index) {
    if (!model->class_names || index < 0 || index >= model->classes) return NULL;
    return model->class_names[index];
}

double margin_model_class_value(const margin_model *model, int64_t index) {
    if (!model->class_values || index < 0 || index >= model->classes) return (double)NAN;
    return model->class_values[index];
}

const margin_column *margin_model_columns(const margin_model *model, int64_t *count) {
    if (count) *count = model->inputs.count;
    return model->inputs.items;
}

const margin_column *margin_model_target(const margin_model *model) {
    return model->target.count > 0 ? model->target.items : NULL;
}

int64_t margin_model_target_count(const margin_model *model) {
    return model->target.count;
}

int64_t margin_model_score_count(const margin_model *model) {
    return model->hypothesis->functions;
}

int margin_model_has_probabilities(const margin_model *model) {
    const mg_additions *a = model->additions;
    const bool calibrated = a && (a->sigmoid || a->inverse || a->knots);
    return model->task == MARGIN_CLASSIFY &&
           (calibrated || (model->learner->probabilities && model->decision != MG_DECIDE_VOTES));
}

void margin_model_score_classes(const margin_model *model, int64_t score, int64_t *first,
                                int64_t *second) {
    int64_t a = -1, b = -1;
    if (score >= 0 && score < model->hypothesis->functions) {
        switch (model->decision) {
        case MG_DECIDE_SIGN:
            a = 1;
            b = 0;
            break;
        case MG_DECIDE_ARGMAX:
            a = score;
            break;
        case MG_DECIDE_VOTES:
            mg_pair_of(model->classes, score, &a, &b);
            break;
        case MG_DECIDE_VALUE:
            break;
        }
    }
    if (first) *first = a;
    if (second) *second = b;
}

void mg_pair_of(int64_t classes, int64_t pair, int64_t *first, int64_t *second) {
    int64_t i = 0, partners = classes - 1;
    while (pair >= partners) {
        pair -= partners--;
        i++;
    }
    *first = i;
    *second = i + 1 + pair;
}

const double *margin_model_weights(const margin_model *model, int64_t score) {
    const mg_hypothesis *h = model->hypothesis;
    if (h->kind != &mg_hypothesis_linear || score < 0 || score >= h->functions) return NULL;
    return h->view.linear.weights + score * h->columns;
}

double margin_model_intercept(const margin_model *model, int64_t score) {
    const mg_hypothesis *h = model->hypothesis;
    if (score < 0 || score >= h->functions) return (double)NAN;
    if (h->kind == &mg_hypothesis_linear) return h->view.linear.intercept[score];
    if (h->kind == &mg_hypothesis_expansion) return h->view.expansion.intercept[score];
    return (double)NAN;
}

const margin_column *margin_model_features(const margin_model *model, int64_t *count) {
    const mg_columns *columns = mg_model_feature_columns(model);
    if (count) *count = columns->count;
    return columns->items;
}

/* What stage number s made: -2 where it may have had scaled columns to make it of. */
static int64_t made_of(const margin_model *model, int s) {
    while (--s >= 0)
        if (model->stages[s].stage->affine) return -2;
    return -1;
}

/* From the last stage back: what leaves it is (u - shift) / scale. */
int64_t margin_model_scale(const margin_model *model, int64_t feature, double *shift,
                           double *scale) {
    int64_t column = feature;
    double offset, divisor;
    *shift = 0;
    *scale = 1;
    if (feature < 0 || feature >= mg_model_feature_columns(model)->count) return -1;
    for (int s = model->active - 1; s >= 0; s--) {
        const mg_fitted_stage *fitted = &model->stages[s];
        bool indicates;
        column = mg_stage_origin(fitted, column, &indicates);
        if (indicates) return -1;
        if (column < 0) return made_of(model, s);
        if (!fitted->stage->affine) continue;
        fitted->stage->affine(fitted, column, &offset, &divisor);
        if (isinf(divisor)) divisor = 0;
        *shift = offset + divisor * *shift;
        *scale *= divisor;
    }
    return column;
}

int64_t margin_model_dual(const margin_model *model, int64_t score, const int64_t **rows,
                          const double **coefficients, const double **signs,
                          const double **updates) {
    const mg_hypothesis *h = model->hypothesis;
    if (!h->dual_starts || score < 0 || score >= h->functions) return 0;
    int64_t first = h->dual_starts[score];
    if (rows) *rows = h->dual_rows + first;
    if (coefficients) *coefficients = h->dual_coefficients + first;
    if (signs) *signs = h->dual_signs + first;
    if (updates) *updates = h->dual_updates + first;
    return h->dual_starts[score + 1] - first;
}

int64_t margin_model_telling(const margin_model *model, int64_t class_index, int64_t capacity,
                             margin_telling *list) {
    const mg_hypothesis *h = model->hypothesis;
    if (h->kind != &mg_hypothesis_bayes || class_index < 0 || class_index >= model->classes ||
        capacity < 1)
        return 0;
    return mg_bayes_telling(h, class_index, capacity, list);
}

double margin_model_prior(const margin_model *model, int64_t class_index, double *weight) {
    const mg_hypothesis *h = model->hypothesis;
    if (h->kind != &mg_hypothesis_bayes || class_index < 0 || class_index >= model->classes)
        return (double)NAN;
    return mg_bayes_prior(h, class_index, weight);
}

int margin_model_likelihood(const margin_model *model, int64_t class_index, int64_t column,
                            margin_likelihood *likelihood, int64_t capacity,
                            double *probabilities) {
    const mg_result_type type = MG_RESULT(margin_likelihood, values);
    const mg_hypothesis *h = model->hypothesis;
    if (h->kind != &mg_hypothesis_bayes || class_index < 0 || class_index >= model->classes ||
        column < 0 || column >= h->columns || mg_result_check(likelihood, type, NULL) < 0)
        return 0;
    margin_likelihood found = {0};
    mg_bayes_likelihood(h, class_index, column, &found, capacity, probabilities);
    mg_result_give(likelihood, type, &found);
    return 1;
}

/* The centres of a model, NULL if it has none or none of that number. */
static const mg_centres *centres_of(const margin_model *model, int64_t cluster) {
    const mg_hypothesis *h = model->hypothesis;
    const bool there = h->kind == &mg_hypothesis_centres && cluster >= 0 && cluster < h->functions;
    return there ? mg_centres_of(h) : NULL;
}

const double *margin_model_centre(const margin_model *model, int64_t cluster) {
    const mg_centres *centres = centres_of(model, cluster);
    return centres ? centres->centres + cluster * model->hypothesis->columns : NULL;
}

double margin_model_cluster_size(const margin_model *model, int64_t cluster) {
    const mg_centres *centres = centres_of(model, cluster);
    return centres ? centres->sizes[cluster] : (double)NAN;
}
