/* Linear models back in original units: f(x) = sum w_j (scale_j x_j + shift_j) + b. */
#include "model/problem/pipeline.h"

#include <string.h>

/* scale and shift of a stage, in one block: shift = scale + columns. */
static margin_status stage_affine(mg_heap *heap, const mg_fitted_stage *stage, double **scale,
                                  margin_error *error) {
    MG_NEW(heap, *scale, 2 * stage->columns_in, "the scales of a stage", error);
    stage->stage->affine(stage, *scale, *scale + stage->columns_in);
    return MARGIN_OK;
}

static void fold_stage(const double *scale, const double *shift, int64_t columns, double *w,
                       double *b) {
    for (int64_t j = 0; j < columns; j++) {
        *b += w[j] * shift[j];
        w[j] = w[j] * scale[j] + 0.0; /* never -0: a constant column prints as 0 */
    }
}

static void unfold_stage(const double *scale, const double *shift, int64_t columns, double *w,
                         double *b) {
    for (int64_t j = 0; j < columns; j++) {
        w[j] = scale[j] != 0 ? w[j] / scale[j] : 0;
        *b -= w[j] * shift[j];
    }
}

/* ---- Target ---------------------------------------------------------------------------------- */

margin_status mg_model_target_scale(const margin_model *model, mg_target_scale *scale,
                                    margin_error *error) {
    const char *first = NULL;
    *scale = (mg_target_scale){0, 1};
    for (int s = 0; s < model->stage_count; s++) {
        const mg_stage *stage = model->stages[s].stage;
        double offset, divisor;
        if (!stage->target || !stage->target(&model->stages[s], &offset, &divisor)) continue;
        MG_REQUIRE(model->target.count <= 1, error, MARGIN_ERROR_SPEC,
                   "%s(target=yes) scales one target, not %lld; leave target=yes out: with an "
                   "intercept %s predicts the same without it",
                   stage->info.name, (long long)model->target.count, model->learner->info.name);
        MG_REQUIRE(!first, error, MARGIN_ERROR_SPEC,
                   "both %s and %s scale the target; say target=yes in one of them", first,
                   stage->info.name);
        MG_REQUIRE(model->task == MARGIN_REGRESS, error, MARGIN_ERROR_SPEC,
                   "%s(target=yes) is for regressions; %s has no numbers as a target",
                   stage->info.name, model->learner->info.name);
        first = stage->info.name;
        *scale = (mg_target_scale){offset, divisor};
    }
    return MARGIN_OK;
}

static bool is_scaled(const mg_target_scale *scale) {
    return scale->offset != 0 || scale->divisor != 1;
}

bool mg_model_is_folded(const margin_model *model) {
    mg_target_scale scale;
    if (model->active < model->stage_count) return true;
    return mg_model_target_scale(model, &scale, NULL) < 0 || is_scaled(&scale);
}

/* f becomes factor f + offset. */
static margin_status map_functions(mg_hypothesis *h, double factor, double offset,
                                   margin_error *error) {
    const bool linear = h->kind == &mg_hypothesis_linear;
    MG_REQUIRE(linear || h->kind == &mg_hypothesis_expansion, error, MARGIN_ERROR_SPEC,
               "target=yes does not go with this learner, whose values are not sums of weights; "
               "leave it out");
    double *values = (double *)(linear ? h->view.linear.weights : h->view.expansion.coefficients);
    double *b = (double *)(linear ? h->view.linear.intercept : h->view.expansion.intercept);
    const int64_t count =
        linear ? h->functions * h->columns : h->view.expansion.starts[h->functions];
    for (int64_t k = 0; k < count; k++)
        values[k] *= factor;
    for (int64_t f = 0; f < h->functions; f++)
        b[f] = factor * b[f] + offset;
    return MARGIN_OK;
}

static margin_status unscale_target(margin_model *model, margin_error *error) {
    mg_target_scale scale;
    MG_TRY(mg_model_target_scale(model, &scale, error));
    if (!is_scaled(&scale)) return MARGIN_OK;
    return map_functions(model->hypothesis, scale.divisor, scale.offset, error);
}

static margin_status scale_target(const margin_model *model, mg_hypothesis *h,
                                  margin_error *error) {
    mg_target_scale scale;
    MG_TRY(mg_model_target_scale(model, &scale, error));
    if (!is_scaled(&scale)) return MARGIN_OK;
    return map_functions(h, 1 / scale.divisor, -scale.offset / scale.divisor, error);
}

/* ---- Columns --------------------------------------------------------------------------------- */

margin_status mg_model_fold(margin_model *model, margin_error *error) {
    mg_hypothesis *h = model->hypothesis;
    MG_TRY(unscale_target(model, error));
    if (h->kind != &mg_hypothesis_linear) return MARGIN_OK;
    double *w = (double *)h->view.linear.weights, *b = (double *)h->view.linear.intercept;
    while (model->active > 0 && model->stages[model->active - 1].stage->affine) {
        double *scale = NULL;
        MG_TRY(stage_affine(model->heap, &model->stages[model->active - 1], &scale, error));
        for (int64_t f = 0; f < h->functions; f++)
            fold_stage(scale, scale + h->columns, h->columns, w + f * h->columns, b + f);
        mg_free(model->heap, scale);
        model->active--;
    }
    return MARGIN_OK;
}

static margin_status copy_functions(mg_heap *heap, const margin_model *model, int64_t function,
                                    mg_hypothesis **copy, margin_error *error) {
    mg_hypothesis *h = model->hypothesis;
    MG_REQUIRE(h->kind->slice && h->kind->combine, error, MARGIN_ERROR_INTERNAL,
               "a %s hypothesis cannot be taken apart", h->kind->name);
    return function < 0 ? h->kind->combine(heap, &h, 1, copy, error)
                        : h->kind->slice(heap, h, function, copy, error);
}

margin_status mg_model_unfold(mg_heap *heap, const margin_model *model, int64_t function,
                              mg_hypothesis **h, margin_error *error) {
    mg_hypothesis *copy = NULL;
    double *scale = NULL;
    margin_status status;
    MG_GO(copy_functions(heap, model, function, &copy, error));
    MG_GO(scale_target(model, copy, error));
    for (int s = model->active; s < model->stage_count; s++) {
        double *w = (double *)copy->view.linear.weights;
        double *b = (double *)copy->view.linear.intercept;
        MG_GO(stage_affine(heap, &model->stages[s], &scale, error));
        for (int64_t f = 0; f < copy->functions; f++)
            unfold_stage(scale, scale + copy->columns, copy->columns, w + f * copy->columns, b + f);
        mg_free(heap, scale);
        scale = NULL;
    }
    *h = copy;
    copy = NULL;
done:
    mg_free(heap, scale);
    mg_hypothesis_free(copy);
    return status;
}
