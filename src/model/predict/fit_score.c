/* What a finished model is worth on the rows it was trained on. */
#include "model/predict/fit_score.h"

#include "base/scoped.h"
#include "model/measure/outcome.h"
#include "model/predict/predict.h"

#include <math.h>

/* labels[i]: what is known, or predicted. */
static margin_status find_labels(margin_context *context, const margin_matrix *x,
                                 const mg_samples *samples, const int64_t *known,
                                 const margin_model *model, int64_t *labels, margin_error *error) {
    int64_t *rows, *predicted, count = 0;
    if (!known)
        return mg_predict_rows(context, model, x, samples->rows, samples->count,
                               MARGIN_OUTPUT_LABELS, true, labels, error);
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "rows to predict", error, MG_PIECE(rows, samples->count),
                     MG_PIECE(predicted, samples->count)));
    for (int64_t i = 0; i < samples->count; i++)
        if (known[i] == MG_IN_DOUBT) rows[count++] = mg_samples_row(samples, i);
    MG_TRY(mg_predict_rows(context, model, x, rows, count, MARGIN_OUTPUT_LABELS, true, predicted,
                           error));
    for (int64_t i = 0, k = 0; i < samples->count; i++)
        labels[i] = known[i] == MG_IN_DOUBT ? predicted[k++] : known[i];
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK; /* where no row was left */
}

/* `count` of the samples, fewer than all. */
static margin_status choose_scored(const mg_samples *all, int64_t finest, int64_t count,
                                   mg_samples *scored, margin_error *error) {
    *scored = (mg_samples){.heap = all->heap, .count = count};
    MG_NEW(all->heap, scored->owned_rows, count, "the rows to answer for", error);
    if (all->weights) MG_NEW(all->heap, scored->weights, count, "their weights", error);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = mg_scored_row(all->count, finest, count, k);
        scored->owned_rows[k] = mg_samples_row(all, i);
        if (all->weights) scored->weights[k] = all->weights[i];
    }
    scored->rows = scored->owned_rows;
    return MARGIN_OK;
}

static margin_status score_classifier(margin_context *context, const margin_data *data,
                                      const mg_samples *samples, const int64_t *known,
                                      const margin_model *model, margin_report *report,
                                      margin_error *error) {
    mg_heap *heap = context->heap;
    int64_t *labels;
    int32_t *codes;
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, labels, samples->count, "the predicted classes", error);
    MG_ARENA_NEW(&arena, codes, samples->count, "the classes of the rows", error);
    MG_TRY(mg_target_codes(context, data, samples, model, false, codes, error));
    MG_TRY(find_labels(context, &data->x, samples, known, model, labels, error));
    report->train_accuracy = mg_score_classes(labels, codes, samples->weights, samples->count);
    return MARGIN_OK;
}

/* By how much rounding may move the rmse and the r2 of one target. Another layout or instruction
 * set adds a prediction up otherwise; its terms are as large as it, the target or the intercept,
 * but where weights of columns that depend on each other cancel. */
static void rounding_of_target(const double *values, int64_t step, const double *targets,
                               const mg_samples *samples, double intercept, double rmse,
                               double *moved, double *moved_r2) {
    double total = 0, sizes = 0, mean = 0, squares = 0;
    for (int64_t i = 0; i < samples->count; i++) {
        const double weight = mg_samples_weight(samples, i), off = targets[i] - mean;
        const double size = fabs(values[i * step]) + fabs(targets[i]) + fabs(intercept);
        total += weight;
        sizes += weight * size * size;
        mean += off * (weight / total);
        squares += weight * off * (targets[i] - mean);
    }
    const double most = MG_ROUNDING * sqrt(sizes / total);
    *moved = isfinite(most) ? most : 0;
    *moved_r2 = squares > 0 ? *moved * (2 * rmse + *moved) / (squares / total) : 0;
}

static void find_rounding(const margin_model *model, const double *values, const double *targets,
                          const mg_samples *samples, const mg_value_score *each,
                          mg_verified *verified) {
    const int64_t count = model->target.count;
    double squares = 0, r2 = 0;
    for (int64_t t = 0; t < count; t++) {
        double moved, moved_r2;
        rounding_of_target(values + t, count, targets + t * samples->count, samples,
                           fmax(fabs(margin_model_intercept(model, t)), 0), each[t].rmse, &moved,
                           &moved_r2);
        squares += moved * moved;
        r2 += moved_r2;
    }
    verified->rmse = sqrt(squares / (double)count);
    verified->r2 = r2 / (double)count;
}

static margin_status score_regression(margin_context *context, const margin_data *data,
                                      const mg_samples *samples, const margin_model *model,
                                      margin_report *report, mg_verified *verified,
                                      margin_error *error) {
    mg_heap *heap = context->heap;
    const int64_t count = model->target.count;
    double *values, *targets;
    mg_value_score *each;
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, values, count * samples->count, "the predicted values", error);
    MG_ARENA_NEW(&arena, targets, count * samples->count, "the targets", error);
    MG_ARENA_NEW(&arena, each, count, "the scores of the targets", error);
    MG_TRY(mg_target_values(context, data, samples, targets, error));
    MG_TRY(mg_predict_rows(context, model, &data->x, samples->rows, samples->count,
                           MARGIN_OUTPUT_VALUES, true, values, error));
    MG_TRY(mg_score_values(context, values, count, targets, samples->weights, samples->count, each,
                           error));
    const mg_value_score score = mg_score_all(each, count);
    report->train_rmse = score.rmse;
    report->train_r2 = score.r2;
    if (verified) find_rounding(model, values, targets, samples, each, verified);
    return MARGIN_OK;
}

margin_status mg_fit_score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, const int64_t *known,
                           const margin_model *model, margin_report *report, mg_verified *verified,
                           margin_error *error) {
    const double told = margin_report_item_value(&model->report, MG_SCORED_ROWS);
    const int64_t least = model->learner->scored_least;
    MG_SCOPED(mg_samples, scored);
    if (!isnan(told) && !known && least > 0 && samples->count > least) {
        const int64_t finest = mg_scored_finest(samples->count, model->learner->scored, least);
        int64_t count = finest;
        while ((double)(count / 2) >= told && count > least)
            count /= 2;
        MG_TRY(choose_scored(samples, finest, count, &scored, error));
        mg_report_set(report, MG_SCORED_ROWS, (double)scored.count);
        samples = &scored;
    }
    if (model->task == MARGIN_CLASSIFY)
        return score_classifier(context, data, samples, known, model, report, error);
    if (model->task == MARGIN_REGRESS)
        return score_regression(context, data, samples, model, report, verified, error);
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
}
