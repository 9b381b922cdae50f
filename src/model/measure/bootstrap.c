/* Percentile intervals (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter
 * 13): the rows are drawn anew with replacement, which is to weigh each by how often it came, and
 * the metrics taken of that. Scores are sorted once: weights change no order. */
#include "base/cancelled_at.h"
#include "base/pool.h"
#include "base/random.h"
#include "base/sort.h"
#include "model/measure/outcome.h"

#include <math.h>
#include <string.h>

typedef struct {
    margin_context *context;
    const mg_outcome *outcome;
    const int64_t *orders;
    uint64_t seed;
    double *weights; /* rows for each worker */
    double *scratch; /* 3 * classes for each worker */
    double *found;   /* resamples x MG_MEASURED */
} resampling;

/* False: the call is to end. */
static bool resample(const resampling *r, int64_t number, double *weights) {
    const mg_outcome *o = r->outcome;
    memset(weights, 0, (size_t)o->rows * sizeof *weights);
    for (int64_t i = 0; i < o->rows; i++) {
        if (mg_cancelled_at(r->context, i)) return false;
        weights[mg_random_below(r->seed, MG_RANDOM_SAMPLE, (uint64_t)number << 40 | (uint64_t)i,
                                (uint64_t)o->rows)]++;
    }
    for (int64_t i = 0; i < o->rows && o->weights; i++)
        weights[i] *= o->weights[i];
    return true;
}

static margin_status measure_resample(void *argument, int64_t number, int worker) {
    const resampling *r = argument;
    mg_outcome o = *r->outcome;
    double *weights = r->weights + worker * o.rows, *value = r->found + number * MG_MEASURED;
    if (!resample(r, number, weights)) return MARGIN_ERROR_CANCELLED;
    o.weights = weights;
    for (int m = 0; m < MG_MEASURED; m++)
        value[m] = (double)NAN;
    if (o.task == MARGIN_REGRESS) {
        mg_measure_values(&o, value);
        return MARGIN_OK;
    }
    mg_measure_classes(&o, r->scratch + 3 * worker * o.classes, value);
    if (r->orders) mg_measure_ranks(r->context, &o, r->orders, value);
    return MARGIN_OK;
}

/* The k-th least and greatest of the resamples that have the metric, where (1 - level) / 2 of them
 * lie beyond each. `column`: twice as many numbers as resamples. */
static bool percentiles(const resampling *r, int64_t resamples, double level, int metric,
                        double *column, mg_measured *measured) {
    int64_t count = 0;
    for (int64_t b = 0; b < resamples; b++) {
        const double value = r->found[b * MG_MEASURED + metric];
        if (!isnan(value)) column[count++] = value;
    }
    measured->low[metric] = measured->high[metric] = (double)NAN;
    if (!count) return true;
    if (!mg_sort_items(r->context, column, count, sizeof *column, column + resamples, mg_ascending))
        return false;
    const int64_t beyond = (int64_t)floor((1 - level) / 2 * (double)(count + 1));
    const int64_t low = MG_MAX(beyond - 1, (int64_t)0);
    measured->low[metric] = column[low];
    measured->high[metric] = column[count - 1 - low];
    return true;
}

margin_status mg_bootstrap(margin_context *context, const mg_outcome *o, const int64_t *orders,
                           const margin_measure_options *options, mg_measured *measured,
                           margin_error *error) {
    mg_heap *heap = context->heap;
    const int64_t threads = margin_context_threads(context), b = options->bootstrap;
    resampling r = {.context = context, .outcome = o, .orders = orders, .seed = options->seed};
    double *column;
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, r.weights, threads * o->rows, "the weights of resampled rows", error);
    MG_ARENA_NEW(&arena, r.scratch, threads * 3 * o->classes, "the sums of the classes", error);
    MG_TRY(MG_PIECES(&arena, "the metrics of resampled rows", error,
                     MG_PIECE(r.found, b * MG_MEASURED), MG_PIECE(column, 2 * b)));
    MG_TRY(mg_measured_room(measured, MG_MEASURED, &measured->low, error));
    MG_TRY(mg_measured_room(measured, MG_MEASURED, &measured->high, error));
    MG_TRY(mg_parallel(context, b, measure_resample, &r, error));
    for (int m = 0; m < MG_MEASURED; m++)
        if (!percentiles(&r, b, options->level, m, column, measured))
            return mg_fail_cancelled(error);
    return MARGIN_OK;
}
