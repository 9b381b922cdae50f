/* Scores of predictions against targets, in sample order. */
#include "model/fit_score.h"
#include "model/predict.h"

#include <math.h>

double mg_score_classes(const int64_t *labels, const int32_t *codes, const mg_samples *samples) {
    double right = 0, total = 0;
    int64_t matches = 0;
    for (int64_t i = 0; i < samples->count && !samples->weights; i++)
        matches += labels[i] == codes[i];
    if (!samples->weights) return (double)matches / (double)samples->count;
    for (int64_t i = 0; i < samples->count; i++) {
        double weight = mg_samples_weight(samples, i);
        total += weight;
        if (labels[i] == codes[i]) right += weight;
    }
    return right / total;
}

/* values: those of sample i at i * stride */
static mg_value_score score_target(const double *values, int64_t stride, const double *targets,
                                   const mg_samples *samples) {
    double total = 0, mean = 0, squares = 0, deviations = 0, spread = 0;
    for (int64_t i = 0; i < samples->count; i++) {
        double weight = mg_samples_weight(samples, i);
        total += weight;
        mean += weight * (targets[i] - targets[0]);
    }
    mean = targets[0] + mean / total;
    for (int64_t i = 0; i < samples->count; i++) {
        double weight = mg_samples_weight(samples, i), miss = values[i * stride] - targets[i];
        squares += weight * miss * miss;
        deviations += weight * fabs(miss);
        spread += weight * (targets[i] - mean) * (targets[i] - mean);
    }
    return (mg_value_score){.weight = total,
                            .rmse = sqrt(squares / total),
                            .mae = deviations / total,
                            .r2 = spread > 0 ? 1 - squares / spread : (double)NAN};
}

mg_value_score mg_score_values(const double *values, int64_t count, const double *targets,
                               const mg_samples *samples, mg_value_score *each) {
    mg_value_score all = {0};
    if (count == 1) return score_target(values, 1, targets, samples);
    for (int64_t t = 0; t < count; t++) {
        const mg_value_score one =
            score_target(values + t, count, targets + t * samples->count, samples);
        all.weight = one.weight;
        all.rmse += one.rmse * one.rmse;
        all.mae += one.mae;
        all.r2 += one.r2;
        if (each) each[t] = one;
    }
    all.rmse = sqrt(all.rmse / (double)count);
    all.mae /= (double)count;
    all.r2 /= (double)count;
    return all;
}

static margin_status score_classifier(margin_context *context, const margin_data *data,
                                      const mg_samples *samples, margin_model *model,
                                      margin_error *error) {
    mg_heap *heap = context->heap;
    int64_t *labels = NULL;
    int32_t *codes = NULL;
    margin_status status;
    MG_GO_NEW(heap, labels, samples->count, "the predicted classes", error);
    MG_GO_NEW(heap, codes, samples->count, "the classes of the rows", error);
    MG_GO(mg_target_codes(context, data, samples, model, codes, error));
    MG_GO(mg_predict_rows(context, model, &data->x, samples->rows, samples->count,
                          MARGIN_OUTPUT_LABELS, labels, error));
    model->report.train_accuracy = mg_score_classes(labels, codes, samples);
done:
    mg_free(heap, codes);
    mg_free(heap, labels);
    return status;
}

static margin_status score_regression(margin_context *context, const margin_data *data,
                                      const mg_samples *samples, margin_model *model,
                                      margin_error *error) {
    mg_heap *heap = context->heap;
    const int64_t count = model->target.count;
    double *values = NULL, *targets = NULL;
    margin_status status;
    MG_GO_NEW(heap, values, count * samples->count, "the predicted values", error);
    MG_GO_NEW(heap, targets, count * samples->count, "the targets", error);
    MG_GO(mg_target_values(data, samples, targets, error));
    MG_GO(mg_predict_rows(context, model, &data->x, samples->rows, samples->count,
                          MARGIN_OUTPUT_VALUES, values, error));
    mg_value_score score = mg_score_values(values, count, targets, samples, NULL);
    model->report.train_rmse = score.rmse;
    model->report.train_r2 = score.r2;
done:
    mg_free(heap, targets);
    mg_free(heap, values);
    return status;
}

margin_status mg_fit_score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, margin_model *model, margin_error *error) {
    if (model->task == MARGIN_CLASSIFY)
        return score_classifier(context, data, samples, model, error);
    if (model->task == MARGIN_REGRESS)
        return score_regression(context, data, samples, model, error);
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
}
