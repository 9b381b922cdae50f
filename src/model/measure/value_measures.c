/* Errors of predicted numbers, several targets side by side, summed over rows in a fixed order. */
#include "base/pool.h"
#include "model/measure/measure.h"

#include <math.h>

/* So many targets are scored at a time: their values in a row are a cache line. */
enum { LANES = 8 };

/* Powers of two by which weights and numbers are 1 at most, so that no product leaves the range. */
typedef struct value_units {
    double weight, value[LANES];
} value_units;

static double unit_for(double most) {
    enum { GREATEST = 1000 };
    int exponent = 0;
    if (most > 0 && isfinite(most)) frexp(most, &exponent);
    return ldexp(1.0, -MG_MAX(exponent, -GREATEST));
}

static value_units find_units(const double *values, int64_t stride, const double *targets,
                              int lanes, const double *weights, int64_t rows) {
    double weight = 0, size[LANES] = {0};
    value_units units;
    for (int64_t i = 0; i < rows; i++) {
        if (weights) weight = fmax(weight, weights[i]);
        for (int k = 0; k < lanes; k++)
            size[k] =
                fmax(size[k], fmax(fabs(targets[k * rows + i]), fabs(values[i * stride + k])));
    }
    units.weight = weights ? unit_for(weight) : 1.0;
    for (int k = 0; k < lanes; k++)
        units.value[k] = unit_for(size[k]);
    return units;
}

/* In those units. */
static double mean_target(const double *targets, double unit, const double *weights,
                          double unit_of_weights, int64_t rows, double *total) {
    double mean = 0;
    *total = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double weight = weights ? unit_of_weights * weights[i] : 1.0;
        *total += weight;
        mean += weight * (unit * targets[i] - unit * targets[0]);
    }
    return unit * targets[0] + mean / *total;
}

/* values: those of sample i from i * stride on; targets: one after the other. */
static void score_targets(const double *values, int64_t stride, const double *targets, int lanes,
                          const double *weights, int64_t rows, mg_value_score *scores) {
    double mean[LANES], squares[LANES] = {0}, deviations[LANES] = {0}, spread[LANES] = {0};
    const value_units units = find_units(values, stride, targets, lanes, weights, rows);
    double total = 0;
    for (int k = 0; k < lanes; k++)
        mean[k] =
            mean_target(targets + k * rows, units.value[k], weights, units.weight, rows, &total);
    for (int64_t i = 0; i < rows; i++) {
        const double weight = weights ? units.weight * weights[i] : 1.0;
        for (int k = 0; k < lanes; k++) {
            const double unit = units.value[k], y = unit * targets[k * rows + i];
            const double miss = unit * values[i * stride + k] - y;
            squares[k] += weight * miss * miss;
            deviations[k] += weight * fabs(miss);
            spread[k] += weight * (y - mean[k]) * (y - mean[k]);
        }
    }
    for (int k = 0; k < lanes; k++)
        scores[k] =
            (mg_value_score){.weight = total / units.weight,
                             .mse = squares[k] / total / units.value[k] / units.value[k],
                             .rmse = sqrt(squares[k] / total) / units.value[k],
                             .mae = deviations[k] / total / units.value[k],
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
