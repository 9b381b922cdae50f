/* Means and deviations of the columns of a design.
 *
 * Sums of (x - k) and (x - k)^2 with k the mean of an evenly spread sample, so that nothing cancels
 * (Chan, Golub, LeVeque, "Algorithms for computing the sample variance", 1983). Sparse rows add
 * their stored values and the weight of these; the zeros, whose weight is the rest, are added at
 * the end. */
#include "linear/design_block.h"
#include "linear/sparse_row.h"

#include <math.h>
#include <string.h>

enum { SAMPLE_ROWS = 4096 };

typedef struct moment_walk {
    const mg_design *design;
    int64_t stride;       /* every stride-th sample */
    const double *center; /* k; NULL: 0 */
    bool sparse;
} moment_walk;

/* Arrays of `columns` numbers one behind the other: first, second, stored (the weight of the stored
 * values; dense: scratch for a row), then the columns of a sparse row. */
typedef struct moment_sums {
    double weight;
    int64_t columns;
    _Alignas(64) double numbers[];
} moment_sums;

static int64_t sums_size(int64_t columns) {
    return (int64_t)sizeof(moment_sums) + 5 * columns * (int64_t)sizeof(double);
}

static void start_moments(void *state, void *argument) {
    const moment_walk *walk = argument;
    moment_sums *sums = state;
    sums->weight = 0.0;
    sums->columns = walk->design->columns;
    memset(sums->numbers, 0, (size_t)(3 * sums->columns) * sizeof *sums->numbers);
}

static void merge_moments(void *into, const void *from, void *argument) {
    const moment_walk *walk = argument;
    moment_sums *a = into;
    const moment_sums *b = from;
    const int64_t count = (walk->sparse ? 3 : 2) * a->columns;
    a->weight += b->weight;
    for (int64_t j = 0; j < count; j++)
        a->numbers[j] += b->numbers[j];
}

static void add_dense_row(const moment_walk *walk, int64_t row, double weight, moment_sums *sums) {
    const int64_t n = sums->columns;
    double *first = sums->numbers, *second = first + n, *value = second + n;
    mg_row_expand(&walk->design->problem->x, row, value);
    for (int64_t j = 0; j < n; j++) {
        const double from_center = walk->center ? value[j] - walk->center[j] : value[j];
        first[j] += weight * from_center;
        second[j] += weight * from_center * from_center;
    }
}

static void add_sparse_row(const moment_walk *walk, int64_t row, double weight, moment_sums *sums) {
    const int64_t n = sums->columns;
    double *first = sums->numbers, *second = first + n, *stored = second + n, *value = stored + n;
    int64_t *column = (int64_t *)(value + n);
    const int64_t length = mg_sparse_row(&walk->design->problem->x, row, column, value);
    for (int64_t k = 0; k < length; k++) {
        const int64_t j = column[k];
        const double from_center = walk->center ? value[k] - walk->center[j] : value[k];
        first[j] += weight * from_center;
        second[j] += weight * from_center * from_center;
        stored[j] += weight;
    }
}

static margin_status add_moments(void *state, const mg_block *block, void *argument) {
    const moment_walk *walk = argument;
    const mg_problem *problem = walk->design->problem;
    moment_sums *sums = state;
    for (int64_t k = block->first; k < block->first + block->count; k++) {
        const int64_t i = k * walk->stride, row = mg_sample_row(problem, i);
        const double weight = mg_sample_weight(problem, i);
        sums->weight += weight;
        if (walk->sparse)
            add_sparse_row(walk, row, weight, sums);
        else
            add_dense_row(walk, row, weight, sums);
    }
    return MARGIN_OK;
}

/* The zeros of sparse columns, and the sums become mean and variance of the columns of x. */
static void finish_moments(const moment_walk *walk, moment_sums *sums) {
    const int64_t n = sums->columns;
    double *first = sums->numbers, *second = first + n, *stored = second + n;
    for (int64_t j = 0; j < n; j++) {
        const double k = walk->center ? walk->center[j] : 0.0;
        if (walk->sparse) {
            const double zeros = sums->weight - stored[j];
            first[j] -= zeros * k;
            second[j] += zeros * k * k;
        }
        const double mean = first[j] / sums->weight;
        second[j] = fmax(second[j] / sums->weight - mean * mean, 0.0);
        first[j] = k + mean;
    }
}

static margin_status sum_moments(mg_design *d, moment_walk *walk, int64_t samples,
                                 moment_sums *sums, margin_error *error) {
    const mg_accumulator accumulator = {.state_size = sums_size(d->columns),
                                        .init = start_moments,
                                        .add = add_moments,
                                        .merge = merge_moments};
    MG_TRY(mg_sweep(d->context, samples, d->block_rows, &accumulator, walk, sums, error));
    finish_moments(walk, sums);
    return MARGIN_OK;
}

/* In A's units; a spread that rounding alone could make is none. */
static void hand_over(const mg_design *d, const moment_sums *sums, double *mean,
                      double *deviation) {
    const double rounding = 1e-14;
    for (int64_t j = 0; j < d->columns; j++) {
        const double scale = d->scale ? d->scale[j] : 1.0, center = sums->numbers[j];
        const double spread = sqrt(sums->numbers[d->columns + j]);
        mean[j] = scale * center + (d->shift ? d->shift[j] : 0.0);
        deviation[j] = spread > rounding * fabs(center) ? fabs(scale) * spread : 0.0;
    }
}

margin_status mg_design_moments(mg_design *d, bool exact, double *mean, double *deviation,
                                margin_error *error) {
    const int64_t stride = MG_MAX(d->samples / SAMPLE_ROWS, 1);
    const int64_t sampled = MG_MIN((d->samples + stride - 1) / stride, SAMPLE_ROWS);
    moment_walk walk = {.design = d, .stride = stride, .sparse = mg_is_csr(&d->problem->x)};
    moment_sums *sums = mg_new(d->heap, sums_size(d->columns), 1);
    margin_status status;
    if (!sums)
        return mg_no_memory(d->heap, sums_size(d->columns), 1, "means of the columns", error);
    MG_GO(sum_moments(d, &walk, sampled, sums, error));
    memcpy(mean, sums->numbers, (size_t)d->columns * sizeof *mean);
    walk.center = mean;
    if (exact) walk.stride = 1;
    MG_GO(sum_moments(d, &walk, exact ? d->samples : sampled, sums, error));
    hand_over(d, sums, mean, deviation);
done:
    mg_free(d->heap, sums);
    return status;
}
