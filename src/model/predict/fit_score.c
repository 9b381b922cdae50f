/* Scores of predictions against targets, in sample order. */
#include "model/predict/fit_score.h"
#include "model/predict/predict.h"

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

static double mean_target(const double *targets, const mg_samples *samples, double *total) {
    double mean = 0;
    *total = 0;
    for (int64_t i = 0; i < samples->count; i++) {
        double weight = mg_samples_weight(samples, i);
        *total += weight;
        mean += weight * (targets[i] - targets[0]);
    }
    return targets[0] + mean / *total;
}

/* So many targets are scored at a time: their values in a row are a cache line. */
enum { LANES = 8 };

/* values: those of sample i from i * stride on; targets: one after the other. */
static void score_targets(const double *values, int64_t stride, const double *targets, int lanes,
                          const mg_samples *samples, mg_value_score *scores) {
    double mean[LANES], squares[LANES] = {0}, deviations[LANES] = {0}, spread[LANES] = {0};
    double total = 0;
    for (int k = 0; k < lanes; k++)
        mean[k] = mean_target(targets + k * samples->count, samples, &total);
    for (int64_t i = 0; i < samples->count; i++) {
        const double weight = mg_samples_weight(samples, i);
        for (int k = 0; k < lanes; k++) {
            const double y = targets[k * samples->count + i], miss = values[i * stride + k] - y;
            squares[k] += weight * miss * miss;
            deviations[k] += weight * fabs(miss);
            spread[k] += weight * (y - mean[k]) * (y - mean[k]);
        }
    }
    for (int k = 0; k < lanes; k++)
        scores[k] =
            (mg_value_score){.weight = total,
                             .rmse = sqrt(squares[k] / total),
                             .mae = deviations[k] / total,
                             .r2 = spread[k] > 0 ? 1 - squares[k] / spread[k] : (double)NAN};
}

typedef struct value_scores {
    const double *values, *targets;
    int64_t count;
    const mg_samples *samples;
    mg_value_score *each;
} value_scores;

static margin_status score_lanes(void *argument, int64_t task, int worker) {
    const value_scores *s = argument;
    const int64_t first = task * LANES;
    (void)worker;
    score_targets(s->values + first, s->count, s->targets + first * s->samples->count,
                  (int)MG_MIN(s->count - first, (int64_t)LANES), s->samples, s->each + first);
    return MARGIN_OK;
}

margin_status mg_score_values(margin_context *context, const double *values, int64_t count,
                              const double *targets, const mg_samples *samples,
                              mg_value_score *each, margin_error *error) {
    value_scores scores = {values, targets, count, samples, each};
    const int64_t tasks = (count + LANES - 1) / LANES;
    const margin_status status = mg_parallel(context, tasks, score_lanes, &scores);
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

mg_value_score mg_score_all(const mg_value_score *each, int64_t count) {
    mg_value_score all = {.weight = each[0].weight};
    if (count == 1) return each[0];
    for (int64_t t = 0; t < count; t++) {
        all.rmse += each[t].rmse * each[t].rmse;
        all.mae += each[t].mae;
        all.r2 += each[t].r2;
    }
    all.rmse = sqrt(all.rmse / (double)count);
    all.mae /= (double)count;
    all.r2 /= (double)count;
    return all;
}

static margin_status score_classifier(margin_context *context, const margin_data *data,
                                      const mg_samples *samples, const margin_model *model,
                                      margin_report *report, margin_error *error) {
    mg_heap *heap = context->heap;
    int64_t *labels = NULL;
    int32_t *codes = NULL;
    margin_status status;
    MG_GO_NEW(heap, labels, samples->count, "the predicted classes", error);
    MG_GO_NEW(heap, codes, samples->count, "the classes of the rows", error);
    MG_GO(mg_target_codes(context, data, samples, model, codes, error));
    MG_GO(mg_predict_rows(context, model, &data->x, samples->rows, samples->count,
                          MARGIN_OUTPUT_LABELS, labels, error));
    report->train_accuracy = mg_score_classes(labels, codes, samples);
done:
    mg_free(heap, codes);
    mg_free(heap, labels);
    return status;
}

static margin_status score_regression(margin_context *context, const margin_data *data,
                                      const mg_samples *samples, const margin_model *model,
                                      margin_report *report, margin_error *error) {
    mg_heap *heap = context->heap;
    const int64_t count = model->target.count;
    double *values = NULL, *targets = NULL;
    mg_value_score *each = NULL;
    margin_status status;
    MG_GO_NEW(heap, values, count * samples->count, "the predicted values", error);
    MG_GO_NEW(heap, targets, count * samples->count, "the targets", error);
    MG_GO_NEW(heap, each, count, "the scores of the targets", error);
    MG_GO(mg_target_values(context, data, samples, targets, error));
    MG_GO(mg_predict_rows(context, model, &data->x, samples->rows, samples->count,
                          MARGIN_OUTPUT_VALUES, values, error));
    MG_GO(mg_score_values(context, values, count, targets, samples, each, error));
    const mg_value_score score = mg_score_all(each, count);
    report->train_rmse = score.rmse;
    report->train_r2 = score.r2;
done:
    mg_free(heap, each);
    mg_free(heap, targets);
    mg_free(heap, values);
    return status;
}

margin_status mg_fit_score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, const margin_model *model,
                           margin_report *report, margin_error *error) {
    if (model->task == MARGIN_CLASSIFY)
        return score_classifier(context, data, samples, model, report, error);
    if (model->task == MARGIN_REGRESS)
        return score_regression(context, data, samples, model, report, error);
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
}
