/* Sparse rows by columns: the copy and the sums over it. */
#include "linear/design/design_columns.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PARTS = 8, /* of the rows, while they are copied */
    POLL = 4096,    /* rows */
    RANGES = 64     /* of columns, of about as many stored values each */
};

static const char purpose[] = "a copy of the rows by columns";

/* ---- The copy -------------------------------------------------------------------------------- */

typedef struct copy_job {
    const mg_design *d;
    mg_design_columns *to;
    int64_t parts;
    int64_t *places; /* parts x columns: numbers of values, then places of the next ones */
} copy_job;

static int64_t first_of_part(const copy_job *job, int64_t part) {
    return job->d->samples / job->parts * part + MG_MIN(part, job->d->samples % job->parts);
}

static margin_status count_part(void *argument, int64_t part, int worker) {
    const copy_job *job = argument;
    const mg_problem *problem = job->d->problem;
    int64_t *counts = job->places + part * job->d->columns;
    (void)worker;
    memset(counts, 0, (size_t)job->d->columns * sizeof *counts);
    for (int64_t i = first_of_part(job, part); i < first_of_part(job, part + 1); i++) {
        if (i % POLL == 0 && mg_cancelled(job->d->context)) return MARGIN_ERROR_CANCELLED;
        const int64_t row = mg_sample_row(problem, i), end = mg_row_start(&problem->x, row + 1);
        for (int64_t k = mg_row_start(&problem->x, row); k < end; k++)
            counts[mg_column_index(&problem->x, k)]++;
    }
    return MARGIN_OK;
}

/* Counts become places: of each column the values of one part follow those of the part before. */
static void set_places(const copy_job *job) {
    const int64_t columns = job->d->columns;
    int64_t at = 0;
    for (int64_t j = 0; j < columns; j++) {
        job->to->starts[j] = at;
        for (int64_t part = 0; part < job->parts; part++) {
            int64_t *place = &job->places[part * columns + j];
            const int64_t count = *place;
            *place = at;
            at += count;
        }
    }
    job->to->starts[columns] = at;
}

static margin_status copy_part(void *argument, int64_t part, int worker) {
    const copy_job *job = argument;
    const mg_problem *problem = job->d->problem;
    int64_t *places = job->places + part * job->d->columns;
    (void)worker;
    for (int64_t i = first_of_part(job, part); i < first_of_part(job, part + 1); i++) {
        if (i % POLL == 0 && mg_cancelled(job->d->context)) return MARGIN_ERROR_CANCELLED;
        const int64_t row = mg_sample_row(problem, i), end = mg_row_start(&problem->x, row + 1);
        for (int64_t k = mg_row_start(&problem->x, row); k < end; k++) {
            const int64_t place = places[mg_column_index(&problem->x, k)]++;
            job->to->samples[place] = (int32_t)i;
            job->to->values[place] = mg_stored_value(&problem->x, k);
        }
    }
    return MARGIN_OK;
}

static int64_t count_stored(const mg_design *d) {
    const mg_problem *problem = d->problem;
    int64_t stored = 0;
    for (int64_t i = 0; i < d->samples; i++) {
        const int64_t row = mg_sample_row(problem, i);
        stored += mg_row_start(&problem->x, row + 1) - mg_row_start(&problem->x, row);
    }
    return stored;
}

static int64_t parts_for(const mg_design *d, int64_t stored) {
    return MG_MAX(MG_MIN(stored / MG_MAX(d->columns, 1), MOST_PARTS), 1);
}

/* By the limit and not by what is left of it: that may depend on what other threads do. */
static bool may_copy(const mg_design *d, int64_t stored) {
    enum { SHARE = 4 }; /* of the limit */
    const int64_t limit = mg_heap_limit(d->heap), place = 8 + 8 * parts_for(d, stored);
    if (stored > INT32_MAX || d->samples > INT32_MAX) return false;
    return limit == 0 || 12 * stored + d->columns * place <= limit / SHARE;
}

margin_status mg_design_columns_make(const mg_design *d, mg_design_columns *columns,
                                     margin_error *error) {
    const int64_t stored = count_stored(d);
    copy_job job = {.d = d, .to = columns, .parts = parts_for(d, stored)};
    margin_status status;
    memset(columns, 0, sizeof *columns);
    MG_REQUIRE(d->samples <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "%lld sparse rows are more than the limit of 2147483647; train on a part of them",
               (long long)d->samples);
    MG_GO_NEW(d->heap, columns->starts, d->columns + 1, purpose, error);
    MG_GO_NEW(d->heap, columns->samples, stored, purpose, error);
    MG_GO_NEW(d->heap, columns->values, stored, purpose, error);
    MG_GO_NEW(d->heap, job.places, job.parts * d->columns, purpose, error);
    status = mg_parallel(d->context, job.parts, count_part, &job, error);
    if (status >= 0) set_places(&job);
    if (status >= 0) status = mg_parallel(d->context, job.parts, copy_part, &job, error);
done:
    mg_free(d->heap, job.places);
    if (status < 0) mg_design_columns_free(d->heap, columns);
    return status;
}

void mg_design_columns_free(mg_heap *heap, mg_design_columns *columns) {
    MG_FREE(heap, columns->starts, columns->samples, columns->values);
    memset(columns, 0, sizeof *columns);
}

margin_status mg_design_store_columns(mg_design *d, margin_error *error) {
    if (d->by_column || !mg_is_csr(&d->problem->x) || !may_copy(d, count_stored(d)))
        return MARGIN_OK;
    mg_design_columns *made;
    MG_NEW(d->heap, made, 1, purpose, error);
    const margin_status status = mg_design_columns_make(d, made, error);
    if (status < 0) mg_free(d->heap, made);
    if (status >= 0) d->by_column = made;
    return status;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

typedef struct column_walk {
    const mg_design *d;
    const double *r;
    double total;
    double *first, *second; /* columns: results */
} column_walk;

/* The first column of a range: ranges have as many stored values and columns together. */
static int64_t first_of_range(const mg_design *d, int64_t range) {
    const int64_t *starts = d->by_column->starts, all = starts[d->columns] + d->columns;
    const int64_t wanted = all / RANGES * range + all % RANGES * range / RANGES;
    int64_t j;
    MG_BISECT(j, 0, d->columns, starts[j] + j < wanted);
    return j;
}

static double column_sum(const mg_design_columns *x, int64_t j, const double *r) {
    const int64_t end = x->starts[j + 1];
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t k = x->starts[j];
    for (; k + 4 <= end; k += 4)
        for (int s = 0; s < 4; s++)
            sum[s] += x->values[k + s] * r[x->samples[k + s]];
    for (int s = 0; k < end; k++, s++)
        sum[s] += x->values[k] * r[x->samples[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static margin_status sum_range(void *argument, int64_t range, int worker) {
    const column_walk *walk = argument;
    const int64_t end = first_of_range(walk->d, range + 1);
    (void)worker;
    for (int64_t j = first_of_range(walk->d, range); j < end; j++)
        walk->first[j] = column_sum(walk->d->by_column, j, walk->r);
    return MARGIN_OK;
}

margin_status mg_design_column_sums(const mg_design *d, const double *r, double *gradient,
                                    margin_error *error) {
    column_walk walk = {.d = d, .r = r, .first = gradient};
    return mg_parallel(d->context, RANGES, sum_range, &walk, error);
}

/* About the mean itself, so that nothing cancels; the zeros have the rest of the weight. */
static void find_moments(const column_walk *walk, int64_t j) {
    const mg_design_columns *x = walk->d->by_column;
    const mg_problem *problem = walk->d->problem;
    const int64_t begin = x->starts[j], end = x->starts[j + 1];
    double sum = 0.0, stored = 0.0, squares = 0.0;
    for (int64_t k = begin; k < end; k++) {
        const double weight = mg_sample_weight(problem, x->samples[k]);
        sum += weight * x->values[k];
        stored += weight;
    }
    const double mean = sum / walk->total;
    for (int64_t k = begin; k < end; k++) {
        const double off = x->values[k] - mean;
        squares += mg_sample_weight(problem, x->samples[k]) * off * off;
    }
    if (end - begin < problem->count) squares += fmax(walk->total - stored, 0.0) * mean * mean;
    walk->first[j] = mean;
    walk->second[j] = squares / walk->total;
}

static margin_status find_range_moments(void *argument, int64_t range, int worker) {
    const column_walk *walk = argument;
    const int64_t end = first_of_range(walk->d, range + 1);
    (void)worker;
    for (int64_t j = first_of_range(walk->d, range); j < end; j++)
        find_moments(walk, j);
    return MARGIN_OK;
}

margin_status mg_design_column_moments(const mg_design *d, double total, double *mean,
                                       double *variance, margin_error *error) {
    column_walk walk = {.d = d, .total = total, .first = mean, .second = variance};
    return mg_parallel(d->context, RANGES, find_range_moments, &walk, error);
}
