/* Whether a precomputed matrix is one that a kernel may have, and the median distance of points. */
#include "base/sort.h"
#include "kernel/gram/kernel_ops.h"

#include <float.h>
#include <math.h>

/* ---- A matrix given directly ------------------------------------------------------------------*/

typedef struct check_work {
    const mg_kernel_points *points;
    double largest;
    int64_t *partner; /* of each point: one with which it is not symmetric, -1: none */
} check_work;

static double given(const mg_kernel_points *points, int64_t i, int64_t j) {
    return mg_stored_value(&points->x,
                           mg_point_row(points, i) * points->x.stride + mg_point_place(points, j));
}

/* Values of both sides were rounded when they were made: to f32, or to few digits in a file. */
static bool differs(const check_work *work, double a, double b) {
    return fabs(a - b) > 1e-6 * fmax(fmax(fabs(a), fabs(b)), 1e-6 * work->largest);
}

static margin_status check_block(const mg_block *block, void *argument) {
    const check_work *work = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        work->partner[i] = -1;
        for (int64_t j = 0; j < i && work->partner[i] < 0; j++)
            if (differs(work, given(work->points, i, j), given(work->points, j, i)))
                work->partner[i] = j;
    }
    return MARGIN_OK;
}

static margin_status check_symmetry(margin_context *context, const mg_kernel_points *points,
                                    margin_error *error) {
    check_work work = {points, 0.0, NULL};
    MG_NEW(context->heap, work.partner, points->count, "a check of the Gram matrix", error);
    for (int64_t i = 0; i < points->count; i++)
        work.largest = fmax(work.largest, fabs(given(points, i, i)));
    margin_status status = mg_sweep_each(context, points->count, 64, check_block, &work);
    if (status == MARGIN_ERROR_CANCELLED) status = mg_fail_cancelled(error);
    for (int64_t i = 0; status >= 0 && i < points->count; i++) {
        const int64_t j = work.partner[i];
        if (j < 0) continue;
        status = mg_fail(
            error, MARGIN_ERROR_DATA,
            "kernel=precomputed: the matrix is not symmetric: row %lld has %s in "
            "column %lld, row %lld has %s in column %lld",
            (long long)mg_point_place(points, i) + 1, mg_number(given(points, i, j)).text,
            (long long)mg_point_place(points, j) + 1, (long long)mg_point_place(points, j) + 1,
            mg_number(given(points, j, i)).text, (long long)mg_point_place(points, i) + 1);
    }
    mg_free(context->heap, work.partner);
    return status;
}

margin_status mg_kernel_check(margin_context *context, const mg_kernel *kernel,
                              const mg_kernel_points *points, margin_error *error) {
    if (kernel->kind != MG_KERNEL_PRECOMPUTED) return MARGIN_OK;
    MG_REQUIRE(!mg_is_csr(&points->x), error, MARGIN_ERROR_DATA,
               "kernel=precomputed: the matrix is sparse; give a dense one");
    for (int64_t i = 0; i < points->count; i++)
        MG_REQUIRE(mg_point_place(points, i) < points->x.columns, error, MARGIN_ERROR_DATA,
                   "kernel=precomputed: the matrix is not square: it has %lld columns, and row "
                   "%lld has no column of its own",
                   (long long)points->x.columns, (long long)mg_point_place(points, i) + 1);
    return check_symmetry(context, points, error);
}

/* ---- Median distance --------------------------------------------------------------------------*/

enum { MEDIAN_POINTS = 1000 };

typedef struct weighted_distance {
    double distance, weight;
} weighted_distance;

static int by_distance(const void *a, const void *b) {
    const double x = ((const weighted_distance *)a)->distance;
    const double y = ((const weighted_distance *)b)->distance;
    return (x > y) - (x < y);
}

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
    const bool l1 = kind == MG_KERNEL_LAPLACIAN;
    weighted_distance *distances = NULL, *scratch = NULL;
    int64_t found = 0;
    margin_status status = MARGIN_OK;
    MG_GO_NEW(context->heap, distances, some * some / 2 + 1, "distances between rows", error);
    MG_GO_NEW(context->heap, scratch, some * some / 2 + 1, "distances between rows", error);
    for (int64_t i = 0; i < some; i++) {
        if (mg_cancelled(context)) {
            status = mg_fail_cancelled(error);
            goto done;
        }
        for (int64_t j = 0; j < i; j++) {
            const double distance = mg_row_distance(&points->x, mg_point_row(points, i * step),
                                                    mg_point_row(points, j * step), l1);
            const double weight = weights ? weights[i * step] * weights[j * step] : 1.0;
            if (distance > 0.0) distances[found++] = (weighted_distance){distance, weight};
        }
    }
    mg_sort_items(distances, found, sizeof *distances, scratch, by_distance);
    const double median = middle(distances, found);
    *gamma = found == 0 ? 1.0 : l1 ? 1.0 / median : 0.5 / median;
    if (!(*gamma < (double)INFINITY) || !(*gamma > 0.0)) *gamma = 1.0;
done:
    mg_free(context->heap, scratch);
    mg_free(context->heap, distances);
    return status;
}
