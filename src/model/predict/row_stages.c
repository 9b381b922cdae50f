/* Rows through the stages of a model, one by one. */
#include "model/predict/row_stages.h"

#include "model/predict/predict.h"

#include <math.h>

int64_t mg_width_before(const margin_model *model) {
    int64_t width = model->inputs.count;
    for (int s = 0; s < model->active - 1; s++)
        width = MG_MAX(width, model->stages[s].columns_out);
    return width;
}

void mg_stage_row(const margin_model *model, int stages, const margin_matrix *x, int64_t row,
                  double *way, double *features) {
    const int64_t width =
        stages < model->active ? mg_width_before(model) : mg_model_row_width(model);
    double *in = stages > 0 ? way : features;
    mg_row_expand(x, row, in);
    for (int s = 0; s < stages; s++) {
        const mg_fitted_stage *stage = &model->stages[s];
        double *out = s == stages - 1 ? features : way + (in == way ? width : 0);
        stage->stage->apply_row(stage, in, out);
        in = out;
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* A value that is missing may come to it: it takes it, or hands it on in its column. */
static bool passes_missing(const mg_stage *stage) {
    return stage->takes_missing || stage->affine;
}

static bool learner_takes_missing(const margin_model *model) {
    return (model->learner->info.abilities & MARGIN_CAN_MISSING) != 0;
}

bool mg_may_take_refusals(const margin_model *model) {
    bool refuses = false, takes = false;
    for (int s = 0; s < model->active; s++) {
        takes = takes || (s > 0 && model->stages[s].stage->takes_missing);
        refuses = refuses || !model->stages[s].stage->affine;
    }
    return refuses && (takes || learner_takes_missing(model));
}

static bool has_nan(const double *values, int64_t count) {
    bool has = false;
    for (int64_t j = 0; j < count; j++)
        has |= isnan(values[j]);
    return has;
}

bool mg_row_is_refused(const margin_model *model, const margin_matrix *x, int64_t row, double *way,
                       double *out) {
    bool had = false, passes = true;
    for (int s = 0; s <= model->active; s++) {
        mg_stage_row(model, s, x, row, way, out);
        const bool has =
            has_nan(out, s == 0 ? model->inputs.count : model->stages[s - 1].columns_out);
        passes = passes && (s == model->active ? learner_takes_missing(model)
                                               : passes_missing(model->stages[s].stage));
        if (has && (!passes || (s > 0 && !had))) return true;
        had = has;
    }
    return false;
}

/* ---- Features -------------------------------------------------------------------------------- */

margin_status mg_model_features(margin_context *context, const margin_model *model,
                                const margin_matrix *x, const int64_t *rows, int64_t count,
                                double *features, margin_error *error) {
    enum { LOOK = 64 };
    double *way;
    margin_status status = MARGIN_OK;
    MG_NEW(context->heap, way, 2 * mg_model_row_width(model), "a row on its way", error);
    for (int64_t i = 0; status >= 0 && i < count; i++) {
        if (i % LOOK == 0 && mg_cancelled(context)) status = mg_fail_cancelled(error);
        mg_stage_row(model, model->active, x, rows ? rows[i] : i, way,
                     features + i * model->hypothesis->columns);
    }
    mg_free(context->heap, way);
    return status;
}

margin_status margin_model_transform(margin_context *context, const margin_model *model,
                                     const margin_matrix *x, double *features,
                                     margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"}, {x, "matrix x"});
    MG_TRY(mg_columns_check(model, x, error));
    MG_REQUIRE(features || x->rows == 0, error, MARGIN_ERROR_ARGUMENT,
               "there is nowhere to write the features to: the output is NULL");
    MG_TRY(mg_matrix_check(NULL, x, "x", error));
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, mg_model_features(&call, model, x, NULL, x->rows, features, error),
                          "before all rows were through the stages", error);
}
