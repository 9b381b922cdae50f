/* Linear models back in original units: f(x) = sum w_j (scale_j x_j + shift_j) + b. */
#include "model/problem/pipeline.h"

#include <string.h>

/* scale and shift of a stage, in one block: shift = scale + columns. */
static margin_status stage_affine(mg_heap *heap, const mg_fitted_stage *stage, double **scale,
                                  margin_error *error) {
    MG_NEW(heap, *scale, 2 * stage->columns_in, "the scales of a stage", error);
    mg_stage_affine(stage, *scale, *scale + stage->columns_in);
    return MARGIN_OK;
}

static void fold_stage(const double *scale, const double *shift, int64_t columns, double *w,
                       double *b) {
    for (int64_t j = 0; j < columns; j++) {
        *b += w[j] * shift[j];
        w[j] = w[j] * scale[j] + 0.0; /* never -0: a constant column prints as 0 */
    }
}

/* ---- Target ---------------------------------------------------------------------------------- */

static bool is_scaled(const mg_target_scale *scale) {
    return scale->offset != 0 || scale->divisor != 1;
}

/* ---- Folding --------------------------------------------------------------------------------- */

/* Weights and intercepts of the learner into those of rows as they leave stage `active` - 1, for a
 * target in its own units. */
static margin_status fold_functions(const margin_model *model, int active, int64_t functions,
                                    int64_t columns, double *w, double *b, margin_error *error) {
    mg_target_scale target;
    MG_TRY(mg_model_target_scale(model, &target, error));
    for (int64_t k = 0; k < functions * columns && is_scaled(&target); k++)
        w[k] *= target.divisor;
    for (int64_t f = 0; f < functions && is_scaled(&target); f++)
        b[f] = target.divisor * b[f] + target.offset;
    for (int s = model->stage_count - 1; s >= active; s--) {
        double *scale = NULL;
        MG_TRY(stage_affine(model->heap, &model->stages[s], &scale, error));
        for (int64_t f = 0; f < functions; f++)
            fold_stage(scale, scale + columns, columns, w + f * columns, b + f);
        mg_free(model->heap, scale);
    }
    return MARGIN_OK;
}

margin_status mg_model_fold(margin_model *model, margin_error *error) {
    mg_hypothesis *h = model->hypothesis;
    if (h->kind != &mg_hypothesis_linear) {
        mg_target_scale target;
        MG_TRY(mg_model_target_scale(model, &target, error));
        MG_REQUIRE(!is_scaled(&target), error, MARGIN_ERROR_SPEC,
                   "target=yes does not go with this learner, whose values are not sums of "
                   "weights; leave it out");
        return MARGIN_OK;
    }
    MG_TRY(mg_linear_keep(h, error));
    while (model->active > 0 && model->stages[model->active - 1].stage->affine)
        model->active--;
    return fold_functions(model, model->active, h->functions, h->columns,
                          (double *)h->view.linear.weights, (double *)h->view.linear.intercept,
                          error);
}

static bool is_folded(const margin_model *model) {
    mg_target_scale target;
    return model->active < model->stage_count || mg_model_target_scale(model, &target, NULL) < 0 ||
           is_scaled(&target);
}

margin_status mg_model_fold_check(const margin_model *model, bool *holds, margin_error *error) {
    const mg_hypothesis *h = model->hypothesis;
    const int64_t numbers = h->functions * h->columns;
    double *w = NULL, *b;
    *holds = true;
    if (h->kind != &mg_hypothesis_linear || !h->view.linear.kept_weights) return MARGIN_OK;
    MG_NEW(model->heap, w, numbers + h->functions, "the weights of the learner", error);
    b = w + numbers;
    memcpy(w, h->view.linear.kept_weights, (size_t)numbers * sizeof *w);
    memcpy(b, h->view.linear.kept_intercept, (size_t)h->functions * sizeof *b);
    const margin_status status =
        fold_functions(model, model->active, h->functions, h->columns, w, b, error);
    for (int64_t k = 0; k < numbers; k++)
        *holds = *holds && w[k] == h->view.linear.weights[k];
    for (int64_t f = 0; f < h->functions; f++)
        *holds = *holds && b[f] == h->view.linear.intercept[f];
    mg_free(model->heap, w);
    return status;
}

margin_status mg_model_learned(mg_heap *heap, const margin_model *model, int64_t function,
                               mg_hypothesis **h, margin_error *error) {
    mg_hypothesis *whole = model->hypothesis, *copy = NULL;
    const bool linear = whole->kind == &mg_hypothesis_linear;
    MG_REQUIRE(whole->kind->slice && whole->kind->combine, error, MARGIN_ERROR_INTERNAL,
               "a %s hypothesis cannot be taken apart", whole->kind->name);
    MG_REQUIRE(!linear || whole->view.linear.kept_weights || !is_folded(model), error,
               MARGIN_ERROR_MODEL,
               "the model does not hold the weights as its learner found them (an older program "
               "wrote it), so there is nothing to be verified; train it again");
    MG_TRY(function < 0 ? whole->kind->combine(heap, &whole, 1, &copy, error)
                        : whole->kind->slice(heap, whole, function, &copy, error));
    if (linear && whole->view.linear.kept_weights) {
        const int64_t first = MG_MAX(function, 0), columns = copy->columns;
        memcpy((double *)copy->view.linear.weights,
               whole->view.linear.kept_weights + first * columns,
               (size_t)(copy->functions * columns) * sizeof(double));
        memcpy((double *)copy->view.linear.intercept, whole->view.linear.kept_intercept + first,
               (size_t)copy->functions * sizeof(double));
    }
    *h = copy;
    return MARGIN_OK;
}
