/* Linear models back in original units: f(x) = sum w_j (scale_j x_j + shift_j) + b. */
#include "model/pipeline.h"

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

margin_status mg_model_fold(margin_model *model, margin_error *error) {
    mg_hypothesis *h = model->hypothesis;
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
