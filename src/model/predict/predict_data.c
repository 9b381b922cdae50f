/* What a model can be asked for; prediction for data sets that say what their columns are, and what
 * a model does with categories that it does not know. */
#include "cluster/learner/kmeans_learner.h"
#include "model/predict/align.h"
#include "model/predict/predict.h"
#include "model/problem/samples.h"

margin_status mg_output_check(const margin_model *model, margin_output what, margin_error *error) {
    if (what != MARGIN_OUTPUT_SCORES) MG_TRY(mg_model_predicts(model, error));
    switch (what) {
    case MARGIN_OUTPUT_LABELS:
        MG_REQUIRE(model->task != MARGIN_REGRESS, error, MARGIN_ERROR_ARGUMENT,
                   "this model predicts a value, not a class; use margin_predict_values");
        return MARGIN_OK;
    case MARGIN_OUTPUT_VALUES:
        MG_REQUIRE(model->task == MARGIN_REGRESS, error, MARGIN_ERROR_ARGUMENT,
                   "this model predicts classes, not a value; use margin_predict");
        return MARGIN_OK;
    case MARGIN_OUTPUT_SCORES:
        return MARGIN_OK;
    case MARGIN_OUTPUT_PROBABILITIES:
        MG_REQUIRE(margin_model_has_probabilities(model), error, MARGIN_ERROR_ARGUMENT,
                   "a %s model%s has no probabilities; calibrate it, or ask for scores",
                   model->learner->info.name,
                   model->decision == MG_DECIDE_VOTES ? " of pairs of classes" : "");
        return MARGIN_OK;
    case MARGIN_OUTPUT_CLASS_SCORES:
        MG_REQUIRE(model->task != MARGIN_REGRESS, error, MARGIN_ERROR_ARGUMENT,
                   "this model predicts a value and has no classes; use margin_predict_values");
        return MARGIN_OK;
    case MARGIN_OUTPUT_DISTANCES:
        MG_REQUIRE(model->hypothesis->kind == &mg_hypothesis_centres, error, MARGIN_ERROR_ARGUMENT,
                   "a %s model has no centres of clusters to be at a distance from",
                   model->learner->info.name);
        return MARGIN_OK;
    }
    return mg_fail(error, MARGIN_ERROR_ARGUMENT, "%d is not a kind of output", (int)what);
}

static margin_status predict_data(margin_context *context, const margin_model *model,
                                  const margin_data *data, margin_output what, void *out,
                                  margin_error *error) {
    MG_SCOPED(mg_aligned, aligned);
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_REQUIRE(data->targets <= 1, error, MARGIN_ERROR_ARGUMENT,
               "the data has %lld targets, and this works with one: choose it",
               (long long)data->targets);
    MG_TRY(mg_output_check(model, what, error));
    const int64_t count = data->selection ? data->selected : data->x.rows;
    MG_REQUIRE(out || count == 0, error, MARGIN_ERROR_ARGUMENT,
               "there is nowhere to write the answers to: the output is NULL");
    MG_TRY(mg_align(context, model, data, &aligned, error));
    return mg_predict_rows(context, model, &aligned.data.x, data->selection, count, what, false,
                           out, error);
}

margin_status margin_predict_data(margin_context *context, const margin_model *model,
                                  const margin_data *data, margin_output what, void *out,
                                  margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, predict_data(&call, model, data, what, out, error),
                          "before all rows were answered", error);
}

margin_unknown margin_model_unknown(const margin_model *model) {
    for (int s = 0; s < model->stage_count; s++) {
        const mg_fitted_stage *fitted = &model->stages[s];
        if (fitted->stage->refuses_unknown && fitted->stage->refuses_unknown(fitted))
            return MARGIN_UNKNOWN_ERROR;
    }
    /* what the learner sees of them: categories that a stage encoded are the stage's business */
    const bool sees = mg_learner_sees_categories(model) || !mg_has_categories(&model->inputs);
    const mg_learner_more *more = mg_learner_more_of(model->learner);
    const bool refuses = sees && more->refuses_unknown && more->refuses_unknown(model->hypothesis);
    return refuses ? MARGIN_UNKNOWN_ERROR : MARGIN_UNKNOWN_KEEP;
}
