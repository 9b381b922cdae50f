/* Means and deviations of the columns of a design.
 *
 * Sums of (x - k) and (x - k)^2 with k the mean of an evenly spread sample, so that nothing cancels
 * (Chan, Golub, LeVeque, "Algorithms for computing the sample variance", 1983). Sparse rows add
 * their stored values and the weight of these; the zeros, whose weight is the rest, are added at
 * the end. */
#include "linear/design/design_block.h"
#include "linear/design/design_columns.h"

#include <string.h>

enum { SAMPLE_ROWS = 4096 };

typedef struct moment_walk {
    mg_visit_list list;
    const double *center; /* k; NULL: 0 */
    bool sparse;
} moment_walk;

/* Dense rows: the first and second sums, `columns` numbers each. Sparse ones: first, second, the
 * weight of the stored values, side by side for each column; behind them is room for what second
 * becomes. */
typedef struct moment_sums {
    double weight;
    _Alignas(64) double numbers[];
} moment_sums;

enum { HEAD = sizeof(moment_sums) / sizeof(double), SPARSE = 3 };

static int64_t numbers_summed(const mg_design *d) {
    return (mg_is_csr(&d->problem->x) ? SPARSE : 2) * d->columns;
}

static double *squares_of(const mg_design *d, moment_sums *sums) {
    return sums->numbers + (mg_is_csr(&d->problem->x) ? SPARSE : 1) * d->columns;
}

static void add_sparse_row(const moment_walk *walk, int64_t row, double weight, moment_sums *sums) {
    const margin_matrix *x = &walk->list.design->problem->x;
    const bool wide = x->index_type == MARGIN_I64, narrow = x->value_type == MARGIN_F32;
    const int64_t end = mg_row_start(x, row + 1);
    const double *center = walk->center;
    const void *columns = x->column_indices, *values = x->values;
    for (int64_t k = mg_row_start(x, row); k < end; k++) {
        const int64_t j = wide ? ((const int64_t *)columns)[k] : ((const int32_t *)columns)[k];
        const double v = narrow ? (double)((const float *)values)[k] : ((const double *)values)[k];
        const double from_center = center ? v - center[j] : v, part = weight * from_center;
        double *own = sums->numbers + j * SPARSE;
        own[0] += part;
        own[1] += part * from_center;
        own[2] += weight;
    }
}

static margin_status add_moments(void *state, const mg_block *block, void *argument) {
    const moment_walk *walk = argument;
    const mg_problem *problem = walk->list.design->problem;
    const int64_t chunk = mg_walk_rows(&walk->list);
    moment_sums *sums = state;
    double weights[MG_COLUMN_ROWS];
    for (int64_t at = 0; at < block->count; at += chunk) {
        const int64_t first = block->first + at, count = MG_MIN(chunk, block->count - at);
        for (int64_t k = 0; k < count; k++) {
            const int64_t i = mg_visit_sample(&walk->list, first + k);
            weights[k] = mg_sample_weight(problem, i);
            sums->weight += weights[k];
            if (walk->sparse) add_sparse_row(walk, mg_sample_row(problem, i), weights[k], sums);
        }
        if (!walk->sparse)
            mg_design_chunk_moments(&walk->list, first, count, walk->center, weights, sums->numbers,
                                    sums->numbers + walk->list.design->columns);
    }
    return MARGIN_OK;
}

/* The zeros of sparse columns, and the sums become mean and variance of the columns of x. Whether a
 * mean may be so large that sums about 0 cancel: where zeros have half of the weight it is not. */
static bool finish_moments(const moment_walk *walk, moment_sums *sums) {
    const mg_design *d = walk->list.design;
    double *second = squares_of(d, sums);
    bool cancels = !walk->sparse;
    for (int64_t j = 0; j < d->columns; j++) {
        const double *own = sums->numbers + j * (walk->sparse ? SPARSE : 1);
        const double k = walk->center ? walk->center[j] : 0.0;
        const double zeros = walk->sparse ? sums->weight - own[2] : 0.0;
        const double all = walk->sparse ? own[0] - zeros * k : own[0];
        const double squares = walk->sparse ? own[1] + zeros * k * k : second[j];
        const double mean = all / sums->weight, variance = squares / sums->weight - mean * mean;
        cancels |= walk->sparse && !(own[2] <= sums->weight / 2.0);
        second[j] = variance < 0.0 ? 0.0 : variance; /* NaN where squares overflow */
        sums->numbers[j] = k + mean;
    }
    return cancels;
}

/* In A's units; a spread that rounding alone could make is none. Differences from the mean, which
 * a first walk found, are exact: of a constant they leave a hundred-millionth of the mean's
 * rounding, and one row that differs in its last bit makes more. */
static void hand_over(const mg_design *d, moment_sums *sums, double *mean, double *deviation) {
    const double rounding = 1e-21, *variance = squares_of(d, sums);
    for (int64_t j = 0; j < d->columns; j++) {
        const double scale = d->scale ? d->scale[j] : 1.0, center = sums->numbers[j];
        const double spread = sqrt(variance[j]);
        mean[j] = scale * center + (d->shift ? d->shift[j] : 0.0);
        deviation[j] = spread <= rounding * fabs(center) ? 0.0 : fabs(scale) * spread;
    }
}

static margin_status moments_by_column(mg_design *d, moment_sums *sums, double *mean,
                                       double *deviation, margin_error *error) {
    sums->weight = 0.0;
    for (int64_t i = 0; i < d->samples; i++)
        sums->weight += mg_sample_weight(d->problem, i);
    MG_TRY(mg_design_column_moments(d, sums->weight, sums->numbers, squares_of(d, sums), error));
    hand_over(d, sums, mean, deviation);
    return MARGIN_OK;
}

margin_status mg_design_moments(mg_design *d, bool exact, double *mean, double *deviation,
                                margin_error *error) {
    const int64_t stride = MG_MAX(d->samples / SAMPLE_ROWS, 1);
    const int64_t count = MG_MIN((d->samples + stride - 1) / stride, SAMPLE_ROWS);
    moment_walk walk = {.list = {d, NULL}, .sparse = mg_is_csr(&d->problem->x)};
    bool cancels = true;
    int64_t *chosen;
    double *room;
    MG_SCOPED_ARENA(arena, d->heap);
    MG_TRY(MG_PIECES(&arena, "means of the columns", error, MG_PIECE(chosen, count),
                     MG_PIECE(room, HEAD + numbers_summed(d) + d->columns)));
    moment_sums *sums = (moment_sums *)room;
    if (exact && d->by_column) return moments_by_column(d, sums, mean, deviation, error);
    for (int64_t k = 0; k < count; k++)
        chosen[k] = k * stride;
    for (int turn = 0; turn < 2 && cancels; turn++) { /* about 0, of dense rows some; the means */
        const bool all = exact && (turn > 0 || walk.sparse);
        walk.list.chosen = all ? NULL : chosen;
        if (turn > 0) walk.center = memcpy(mean, sums->numbers, (size_t)d->columns * sizeof *mean);
        MG_TRY(mg_sweep_sums(d->context, all ? d->samples : count, d->block_rows,
                             HEAD + numbers_summed(d), 0, add_moments, &walk, sums, error));
        cancels = finish_moments(&walk, sums);
    }
    hand_over(d, sums, mean, deviation);
    return MARGIN_OK;
}

/* ---- Coordinates ----------------------------------------------------------------------------- */

margin_status mg_design_coordinates(mg_design *d, bool intercept, double *centre, double *factor,
                                    margin_error *error) {
    static const double most = 1e150;
    const bool sparse = mg_is_csr(&d->problem->x);
    char buffer[32];
    bool some_constant = false;
    MG_TRY(mg_design_moments(d, sparse, centre, factor, error));
    for (int64_t j = 0; j < d->columns; j++)
        some_constant |= factor[j] == 0.0;
    if (some_constant && !sparse) /* perhaps only among the rows that were looked at */
        MG_TRY(mg_design_moments(d, true, centre, factor, error));
    for (int64_t j = 0; j < d->columns; j++) {
        double spread = factor[j];
        MG_REQUIRE(spread < most && fabs(centre[j]) < most, error, MG_DATA(OVERFLOW),
                   "the squares of column %s overflow: bring the columns to one scale first "
                   "(standardize | ...), or divide it by a power of ten",
                   mg_column_name(d->problem->columns, j, buffer));
        if (!intercept) {
            spread = hypot(spread, centre[j]);
            centre[j] = 0.0;
        }
        factor[j] = spread > 0.0 && isfinite(1.0 / spread) ? 1.0 / spread : 0.0;
    }
    return MARGIN_OK;
}

double mg_design_from_coordinates(const mg_design *d, const double *centre, const double *factor,
                                  const double *u, double *w) {
    for (int64_t j = 0; j < d->columns; j++)
        w[j] = factor[j] * u[j];
    return u[d->columns] - mg_vector_ops_for(d->isa)->dot(centre, w, d->columns);
}

double mg_drop_constants(const double *centre, const double *factor, double *w, int64_t columns) {
    double sum = 0.0;
    for (int64_t j = 0; j < columns; j++) {
        sum += factor[j] > 0.0 ? 0.0 : centre[j] * w[j];
        w[j] *= factor[j] > 0.0;
    }
    return sum;
}
