/* Ridge without each fold in turn, under many penalties: products of columns are sums over rows, so
 * those of the rows outside of a fold are the sum over all folds less its own. With rows d = x - c
 * for one centre c, weights g and training rows T of total weight W and sums s = sum_T g d,
 *
 *   A'CA = D (sum_T g d d' - s s'/W) D       D: the scale of each column in this fold
 *
 * which loses no digits, as the means of the folds lie close together. Declines, for the caller to
 * fit one by one, what it cannot do to about 1e-8: no intercept, columns that are constant in one
 * fold only, columns so dependent that their products do not tell. */
#include "linear/squares/ridge_path.h"

#include "base/pool.h"
#include "linear/design/design.h"
#include "math/products/lapack.h"

#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 1024 };

/* Of eigenvalues, and of a column's squares in a fold and in all. */
#define MOST_CONDITION 1e9
#define LEAST_SPREAD   1e-10

typedef struct folds_run {
    mg_fit *fits; /* fold by fold, each with all penalties */
    const mg_linear_options *options;
    int64_t folds, count; /* penalties */
    int64_t columns, size;
    const mg_problem *whole;
    double *grams; /* folds + 1: the last one is the sum */
    double *centre, *target;
    double level; /* that targets are taken from */
    mg_heap *heap;
} folds_run;

static margin_status decline(margin_error *error, const char *why) {
    return mg_fail(error, MARGIN_ERROR_LIMIT, "the folds are not solved together: %s", why);
}

/* ---- Products -------------------------------------------------------------------------------- */

/* Rows of the whole that fold f does not learn from. */
static margin_status list_tested(const folds_run *run, int64_t f, bool *marks, int64_t *rows,
                                 double *weights, double *targets, int64_t *count) {
    const mg_problem *whole = run->whole, *train = run->fits[f * run->count].problem;
    *count = 0;
    for (int64_t i = 0; i < train->count; i++)
        marks[mg_sample_row(train, i)] = true;
    for (int64_t i = 0; i < whole->count; i++) {
        const int64_t row = mg_sample_row(whole, i);
        if (!marks[row]) {
            rows[*count] = row;
            weights[*count] = mg_sample_weight(whole, i);
            targets[(*count)++] = whole->target[i] - run->level;
        }
        marks[row] = false;
    }
    return train->count + *count == whole->count ? MARGIN_OK : MARGIN_ERROR_LIMIT;
}

static margin_status add_fold(folds_run *run, int64_t f, const int64_t *rows, const double *weights,
                              const double *targets, int64_t count) {
    mg_fit *fit = &run->fits[f * run->count];
    double *gram = run->grams + f * run->size * run->size,
           *sum = run->grams + run->folds * run->size * run->size;
    const mg_problem problem = {.kind = MG_REGRESSION,
                                .x = run->whole->x,
                                .columns = run->whole->columns,
                                .index = rows,
                                .count = count,
                                .target = targets,
                                .weight = weights};
    const mg_gram_request request = {.weights = weights, .centre = run->centre, .extra = targets};
    mg_design design;
    MG_TRY(mg_design_create(fit->context, &problem, &design, fit->error));
    const margin_status status = mg_design_gram(&design, &request, gram, fit->error);
    mg_design_free(&design);
    for (int64_t k = 0; k < run->size * run->size && status >= 0; k++)
        sum[k] += gram[k];
    return status;
}

static margin_status add_folds(folds_run *run) {
    const int64_t samples = run->whole->count, rows = run->whole->x.rows;
    margin_error *error = run->fits[0].error;
    bool *marks = mg_new_zero(run->heap, rows, sizeof *marks);
    int64_t *tested = NULL, count, all = 0;
    double *numbers = NULL;
    margin_status status;
    if (!marks) return mg_no_memory(run->heap, rows, sizeof *marks, "the rows of the folds", error);
    MG_GO_NEW(run->heap, tested, samples, "the rows of the folds", error);
    MG_GO_NEW(run->heap, numbers, 2 * samples, "the targets of the folds", error);
    for (int64_t f = 0; f < run->folds; f++) {
        status = list_tested(run, f, marks, tested, numbers, numbers + samples, &count);
        if (status < 0) MG_GO(decline(error, "a training part holds other rows"));
        all += count;
        MG_GO(add_fold(run, f, tested, numbers, numbers + samples, count));
    }
    if (all != samples) MG_GO(decline(error, "they do not have each row once"));
    status = MARGIN_OK;
done:
    mg_free(run->heap, numbers);
    mg_free(run->heap, tested);
    mg_free(run->heap, marks);
    return status;
}

/* Means of some rows: any point near the data would do. */
static void find_centre(folds_run *run) {
    enum { SOME = 1000 };
    const mg_problem *whole = run->whole;
    const int64_t count = MG_MIN(whole->count, SOME);
    memset(run->centre, 0, (size_t)run->columns * sizeof(double));
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = k * (whole->count / count);
        mg_sample_values(whole, i, run->target);
        for (int64_t j = 0; j < run->columns; j++)
            run->centre[j] += (run->target[j] - run->centre[j]) / (double)(k + 1);
        run->level += (whole->target[i] - run->level) / (double)(k + 1);
    }
}

/* ---- Solutions ------------------------------------------------------------------------------- */

typedef struct fold_room {
    double *matrix, *values, *slope, *turned, *w; /* columns each but the first */
} fold_room;

/* The centred products of the training rows in the learner's units; how many columns are constant,
 * or -1: that is not certain. */
static int64_t centre_products(const folds_run *run, int64_t f, const fold_room *room) {
    const int64_t n = run->columns, size = run->size;
    const double *own = run->grams + f * size * size, *all = run->grams + run->folds * size * size;
    const double *scale = run->fits[f * run->count].problem->scale;
    const int64_t last = (size - 1) * size;
    const double total = all[last + size - 1] - own[last + size - 1];
    const double target = all[last + n] - own[last + n];
    int64_t constant = 0;
    for (int64_t j = 0; j < n; j++) {
        const double sj = all[last + j] - own[last + j], dj = scale ? scale[j] : 1.0;
        for (int64_t k = 0; k < n; k++) {
            const double sk = all[last + k] - own[last + k], dk = scale ? scale[k] : 1.0;
            room->matrix[j * n + k] =
                dj * dk * (all[j * size + k] - own[j * size + k] - sj * sk / total);
        }
        room->slope[j] = dj * (all[j * size + n] - own[j * size + n] - sj * target / total);
        const double spread = room->matrix[j * n + j], most = dj * dj * all[j * size + j];
        if (most == 0.0)
            constant++;
        else if (!(spread > LEAST_SPREAD * most))
            return -1;
    }
    return constant;
}

static margin_status make_fit(const folds_run *run, int64_t f, int64_t k, const fold_room *room) {
    const int64_t n = run->columns, size = run->size, last = (size - 1) * size;
    const double *own = run->grams + f * size * size, *all = run->grams + run->folds * size * size;
    mg_fit *fit = &run->fits[f * run->count + k];
    const mg_problem *problem = fit->problem;
    const double total = all[last + size - 1] - own[last + size - 1];
    double b = run->level + (all[last + n] - own[last + n]) / total;
    memset(room->w, 0, (size_t)n * sizeof(double));
    for (int64_t l = 0; l < n; l++) {
        const double value = room->values[l] + run->options[f * run->count + k].penalty.alpha;
        const double step = value > 0.0 ? room->turned[l] / value : 0.0;
        for (int64_t j = 0; j < n; j++)
            room->w[j] += step * room->matrix[l * n + j];
    }
    for (int64_t j = 0; j < n; j++) {
        const double mean = run->centre[j] + (all[last + j] - own[last + j]) / total;
        b -= room->w[j] * ((problem->scale ? problem->scale[j] : 1.0) * mean +
                           (problem->shift ? problem->shift[j] : 0.0));
    }
    fit->report.status = MARGIN_OK;
    fit->report.gap = (double)NAN;
    fit->report.tolerance = run->options[f * run->count + k].tolerance;
    return mg_linear_make(run->heap, room->w, n, b, &fit->hypothesis, NULL);
}

static margin_status solve_in(const folds_run *run, int64_t f, const fold_room *room) {
    const int64_t n = run->columns, constant = centre_products(run, f, room);
    const mg_stop stop = mg_stop_make(run->fits[0].context, -1);
    int64_t info = 0;
    if (constant < 0 || constant == n) return MARGIN_ERROR_LIMIT;
    MG_TRY(mg_lapack_dsyevd(&stop, 'V', 'U', n, room->matrix, n, room->values, &info, NULL));
    if (info != 0) return MARGIN_ERROR_LIMIT;
    for (int64_t l = 0; l < n; l++) {
        room->values[l] = fmax(room->values[l], 0.0);
        room->turned[l] = 0.0;
        for (int64_t j = 0; j < n; j++)
            room->turned[l] += room->matrix[l * n + j] * room->slope[j];
    }
    for (int64_t k = 0; k < run->count; k++) {
        const double alpha = run->options[f * run->count + k].penalty.alpha;
        if (!(room->values[n - 1] + alpha <= MOST_CONDITION * (room->values[constant] + alpha)))
            return MARGIN_ERROR_LIMIT;
        MG_TRY(make_fit(run, f, k, room));
    }
    return MARGIN_OK;
}

static margin_status solve_fold(void *argument, int64_t f, int worker) {
    const folds_run *run = argument;
    const int64_t n = run->columns;
    (void)worker;
    double *numbers = mg_new(run->heap, n * (n + 4), sizeof *numbers);
    if (!numbers) return MARGIN_ERROR_MEMORY;
    double *vectors = numbers + n * n;
    const fold_room room = {numbers, vectors, vectors + n, vectors + 2 * n, vectors + 3 * n};
    const margin_status status = solve_in(run, f, &room);
    mg_free(run->heap, numbers);
    return status;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status run_folds(folds_run *run) {
    margin_error *error = run->fits[0].error;
    const int64_t numbers = (run->folds + 1) * run->size * run->size;
    MG_NEW(run->heap, run->grams, numbers + 2 * run->columns, "the products of the folds", error);
    memset(run->grams, 0, (size_t)numbers * sizeof(double));
    run->centre = run->grams + numbers;
    run->target = run->centre + run->columns;
    find_centre(run);
    MG_TRY(add_folds(run));
    const margin_status status = mg_parallel(run->fits[0].context, run->folds, solve_fold, run);
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
    if (status == MARGIN_ERROR_MEMORY)
        return mg_no_memory(run->heap, run->columns, sizeof(double), "a fold", error);
    return status < 0 ? decline(error, "their columns depend on each other too closely") : status;
}

margin_status mg_ridge_folds(mg_fit *fits, int64_t count, const mg_linear_options *options) {
    folds_run run = {.fits = fits,
                     .options = options,
                     .whole = fits[0].shared->whole,
                     .columns = fits[0].shared->whole->x.columns,
                     .heap = fits[0].context->heap};
    while (run.count < count && fits[run.count].problem == fits[0].problem)
        run.count++;
    run.folds = count / run.count;
    run.size = run.columns + 2;
    bool can = run.columns <= MOST_COLUMNS && run.folds * run.count == count;
    for (int64_t k = 0; k < count; k++)
        can = can && options[k].intercept && fits[k].problem->x.values == run.whole->x.values;
    if (!can) return decline(fits[0].error, "no intercept, or too many columns");
    const margin_status status = run_folds(&run);
    mg_free(run.heap, run.grams);
    if (status < 0) mg_fits_undo(fits, count);
    return status;
}
