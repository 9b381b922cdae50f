/* Errors of predicted numbers, several targets side by side, summed over rows in a fixed order. */
#include "base/pool.h"
#include "model/measure/outcome.h"

#include <math.h>

static double mean_target(const double *targets, const double *weights, int64_t rows,
                          double *total) {
    double mean = 0;
    *total = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double weight = weights ? weights[i] : 1.0;
        *total += weight;
        mean += weight * (targets[i] - targets[0]);
    }
    return targets[0] + mean / *total;
}

/* So many targets are scored at a time: their values in a row are a cache line. */
enum { LANES = 8 };

/* values: those of sample i from i * stride on; targets: one after the other. */
static void score_targets(const double *values, int64_t stride, const double *targets, int lanes,
                          const double *weights, int64_t rows, mg_value_score *scores) {
    double mean[LANES], squares[LANES] = {0}, deviations[LANES] = {0}, spread[LANES] = {0};
    double total = 0;
    for (int k = 0; k < lanes; k++)
        mean[k] = mean_target(targets + k * rows, weights, rows, &total);
    for (int64_t i = 0; i < rows; i++) {
        const double weight = weights ? weights[i] : 1.0;
        for (int k = 0; k < lanes; k++) {
            const double y = targets[k * rows + i], miss = values[i * stride + k] - y;
            squares[k] += weight * miss * miss;
            deviations[k] += weight * fabs(miss);
            spread[k] += weight * (y - mean[k]) * (y - mean[k]);
        }
    }
    for (int k = 0; k < lanes; k++)
        scores[k] =
            (mg_value_score){.weight = total,
                             .mse = squares[k] / total,
                             .rmse = sqrt(squares[k] / total),
                             .mae = deviations[k] / total,
                             .r2 = spread[k] > 0 ? 1 - squares[k] / spread[k] : (double)NAN};
}

typedef struct value_scores {
    const double *values, *targets;
    int64_t count;
    const double *weights;
    int64_t rows;
    mg_value_score *each;
} value_scores;

static margin_status score_lanes(void *argument, int64_t task, int worker) {
    const value_scores *s = argument;
    const int64_t first = task * LANES;
    (void)worker;
    score_targets(s->values + first, s->count, s->targets + first * s->rows,
                  (int)MG_MIN(s->count - first, (int64_t)LANES), s->weights, s->rows,
                  s->each + first);
    return MARGIN_OK;
}

margin_status mg_score_values(margin_context *context, const double *values, int64_t count,
                              const double *targets, const double *weights, int64_t rows,
                              mg_value_score *each, margin_error *error) {
    value_scores scores = {values, targets, count, weights, rows, each};
    const int64_t tasks = (count + LANES - 1) / LANES;
    return mg_parallel(context, tasks, score_lanes, &scores, error);
}

mg_value_score mg_score_all(const mg_value_score *each, int64_t count) {
    mg_value_score all = {.weight = each[0].weight};
    if (count == 1) return each[0];
    for (int64_t t = 0; t < count; t++) {
        all.mse += each[t].mse;
        all.mae += each[t].mae;
        all.r2 += each[t].r2;
    }
    all.mse /= (double)count;
    all.rmse = sqrt(all.mse);
    all.mae /= (double)count;
    all.r2 /= (double)count;
    return all;
}

void mg_measure_values(const mg_outcome *o, double value[MG_MEASURED]) {
    mg_value_score all = {.weight = 0};
    for (int64_t first = 0; first < o->targets; first += LANES) {
        mg_value_score each[LANES];
        const int lanes = (int)MG_MIN(o->targets - first, (int64_t)LANES);
        score_targets(o->value + first, o->targets, o->target + first * o->rows, lanes, o->weights,
                      o->rows, each);
        for (int k = 0; k < lanes; k++) {
            all.mse += each[k].mse;
            all.mae += each[k].mae;
            all.r2 += each[k].r2;
        }
    }
    value[MG_MSE] = all.mse / (double)o->targets;
    value[MG_RMSE] = sqrt(value[MG_MSE]);
    value[MG_MAE] = all.mae / (double)o->targets;
    value[MG_R2] = all.r2 / (double)o->targets;
}
