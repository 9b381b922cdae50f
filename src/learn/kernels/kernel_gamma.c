/* A gamma from the data: the scale of the values, or the median distance of rows. */
#include "base/sort.h"
#include "learn/kernels/kernel_options.h"
#include "math/rows/row_pair.h"

#include <math.h>
#include <string.h>

/* ---- Scale ----------------------------------------------------------------------------------- */

/* Sums over all values about `shift`: of the deviations, and of their squares. */
typedef struct scale_sums {
    double weight, deviation, square;
} scale_sums;

typedef struct scale_work {
    const margin_matrix *x;
    const int64_t *rows;
    const double *weights;
    double shift;
} scale_work;

static void add_value(scale_sums *sums, double value, double weight, const scale_work *work) {
    const double deviation = value - work->shift;
    sums->deviation += weight * deviation;
    sums->square += weight * deviation * deviation;
}

static void add_row(scale_sums *sums, int64_t row, double weight, const scale_work *work) {
    const margin_matrix *x = work->x;
    sums->weight += weight;
    const mg_row_span span = mg_span_of(x, row);
    for (int64_t k = span.first; k < span.last; k++)
        add_value(sums, mg_stored_value(x, k), weight, work);
    if (span.sparse)
        add_value(sums, 0.0, weight * (double)(x->columns - (span.last - span.first)), work);
}

static margin_status scale_add(void *state, const mg_block *block, void *argument) {
    const scale_work *work = argument;
    scale_sums *sums = state;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        add_row(sums, work->rows ? work->rows[i] : i, work->weights ? work->weights[i] : 1.0, work);
    return MARGIN_OK;
}

margin_status mg_kernel_scale(margin_context *context, const margin_matrix *x, const int64_t *rows,
                              const double *weights, int64_t count, double *gamma,
                              margin_error *error) {
    scale_work work = {x, rows, weights, 0.0};
    scale_sums sums = {0.0, 0.0, 0.0};
    const int64_t block = mg_block_rows(mg_row_bytes(x));
    const double columns = (double)x->columns;
    /* The first pass finds the mean, the second one the variance about it. */
    for (int pass = 0; pass < 2; pass++) {
        MG_TRY(mg_sweep_sums(context, count, block, 3, 0, scale_add, &work, &sums, error));
        if (pass == 0 && sums.weight * columns > 0.0)
            work.shift = sums.deviation / (sums.weight * columns);
    }
    *gamma = sums.square > 0.0 ? sums.weight / sums.square : 1.0; /* 1 / (n * square / (w n)) */
    return MARGIN_OK;
}

/* ---- Median distance --------------------------------------------------------------------------*/

enum { MEDIAN_POINTS = 1000 };

typedef struct weighted_distance {
    double distance, weight;
} weighted_distance;

/* The one in the middle, weight k counting as k of them. */
static double middle(const weighted_distance *sorted, int64_t count) {
    double total = 0.0, below = 0.0;
    for (int64_t k = 0; k < count; k++)
        total += sorted[k].weight;
    for (int64_t k = 0; k < count; k++) {
        below += sorted[k].weight;
        if (below > 0.5 * total) return sorted[k].distance;
    }
    return 1.0;
}

margin_status mg_kernel_median(margin_context *context, mg_kernel_kind kind,
                               const mg_kernel_points *points, const double *weights, double *gamma,
                               margin_error *error) {
    const int64_t step = (points->count + MEDIAN_POINTS - 1) / MEDIAN_POINTS;
    const int64_t some = points->count > 0 ? (points->count + step - 1) / step : 0;
    const bool l1 = mg_kernel_basis_of(kind) == MG_OF_DISTANCES;
    weighted_distance *distances, *scratch;
    int64_t found = 0;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "distances between rows", error,
                     MG_PIECE(distances, some * some / 2 + 1),
                     MG_PIECE(scratch, some * some / 2 + 1)));
    for (int64_t i = 0; i < some; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        for (int64_t j = 0; j < i; j++) {
            const mg_pair_sums sums = mg_row_pair(&points->x, mg_point_row(points, i * step),
                                                  &points->x, mg_point_row(points, j * step));
            const double distance = l1 ? sums.distance : sums.difference;
            const double weight = weights ? weights[i * step] * weights[j * step] : 1.0;
            if (distance > 0.0) distances[found++] = (weighted_distance){distance, weight};
        }
    }
    if (!mg_sort_items(context, distances, found, sizeof *distances, scratch, mg_ascending))
        return mg_fail_cancelled(error);
    const double median = middle(distances, found);
    *gamma = found == 0 ? 1.0 : l1 ? 1.0 / median : 0.5 / median;
    if (!(*gamma < (double)INFINITY) || !(*gamma > 0.0)) *gamma = 1.0;
    return MARGIN_OK;
}
