/* margin_margins: functional and geometric margins of every sample. */
#include "model/judge/judge.h"

#include <math.h>

/* What geometric margins are divided by: the norm of f_first, or of f_first - f_second. */
typedef struct norms {
    double *products; /* functions x functions: inner products; NULL: `single` serves */
    double *single;   /* functions */
    int64_t functions;
} norms;

static void free_norms(mg_heap *heap, norms *n) {
    MG_FREE(heap, n->products, n->single);
}

static margin_status margins_measure(const mg_judged *judged, norms *n, margin_error *error) {
    const mg_hypothesis *h = judged->model->hypothesis;
    mg_heap *heap = judged->context->heap;
    n->functions = h->functions;
    if (judged->model->decision == MG_DECIDE_ARGMAX) {
        MG_NEW(heap, n->products, h->functions * h->functions, "the norms of the model", error);
        return mg_hypothesis_products(judged->context, h, n->products, error);
    }
    MG_NEW(heap, n->single, h->functions, "the norms of the model", error);
    for (int64_t f = 0; f < h->functions; f++)
        MG_TRY(mg_hypothesis_norm(judged->context, h, f, &n->single[f], error));
    return MARGIN_OK;
}

static double margins_norm_of(const norms *n, int64_t first, int64_t second) {
    if (n->single) return n->single[first];
    const double *p = n->products;
    double square = p[first * n->functions + first] + p[second * n->functions + second] -
                    p[first * n->functions + second] - p[second * n->functions + first];
    return sqrt(MG_MAX(square, 0.0));
}

/* Rows of weight 0 are judged too: every row that was asked about gets its numbers. */
static void fill_margins(const mg_judged *judged, const norms *n, double *functional,
                         double *geometric) {
    const margin_model *model = judged->model;
    int64_t functions = model->hypothesis->functions;
    for (int64_t i = 0; i < judged->samples.count; i++) {
        int64_t first, second;
        double margin = mg_sample_margin(model, judged->scores + i * functions, judged->codes[i],
                                         &first, &second);
        if (functional) functional[i] = margin;
        if (!geometric) continue;
        double norm = margins_norm_of(n, first, second);
        geometric[i] = norm > 0 ? margin / norm : (double)NAN;
    }
}

static margin_status measure_margins(margin_context *context, const margin_model *model,
                                     const margin_data *data, double *functional, double *geometric,
                                     margin_error *error) {
    mg_judged judged = {0};
    norms n = {0};
    margin_status status = MARGIN_OK;
    MG_REQUIRE(data, error, MARGIN_ERROR_ARGUMENT, "the data set is NULL");
    margin_data unweighted = *data;
    unweighted.weights.values = NULL;
    MG_TRY(mg_judge_open(context, model, &unweighted, false, &judged, error));
    if (model->task != MARGIN_CLASSIFY) {
        status =
            mg_fail(error, MARGIN_ERROR_ARGUMENT, "margins belong to classes, and this model %s",
                    model->task == MARGIN_CLUSTER ? "has clusters" : "predicts values");
        goto done;
    }
    if (geometric) MG_GO(margins_measure(&judged, &n, error));
    fill_margins(&judged, &n, functional, geometric);
done:
    free_norms(context->heap, &n);
    mg_judge_close(&judged);
    return status;
}

margin_status margin_margins(margin_context *context, const margin_model *model,
                             const margin_data *data, double *functional, double *geometric,
                             margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, measure_margins(&call, model, data, functional, geometric, error),
                          "before all rows were judged", error);
}
