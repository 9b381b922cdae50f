/* Sparse rows by columns: counts of each part of the rows, then places, then values. */
#include "math/rows/sparse_columns.h"

#include <string.h>

enum {
    MOST_PARTS = 8, /* of the rows, while they are copied */
    POLL = 4096     /* rows */
};

typedef struct copy_job {
    const margin_context *context;
    const margin_matrix *x;
    const int64_t *index;
    const bool *wanted;
    mg_sparse_columns *to;
    int64_t count, parts;
    int64_t *places; /* parts x columns: numbers of values, then places of the next ones */
} copy_job;

int64_t mg_sparse_count(const margin_matrix *x, const int64_t *index, int64_t count) {
    int64_t stored = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = index ? index[i] : i;
        stored += mg_row_start(x, row + 1) - mg_row_start(x, row);
    }
    return stored;
}

int64_t mg_sparse_parts(const margin_matrix *x, int64_t stored) {
    return MG_MAX(MG_MIN(stored / MG_MAX(x->columns, 1), MOST_PARTS), 1);
}

static int64_t first_of_part(const copy_job *job, int64_t part) {
    return job->count / job->parts * part + MG_MIN(part, job->count % job->parts);
}

/* Counts the values of a part, or copies them to their places. */
MG_INLINE margin_status walk_part(const copy_job *job, int64_t part, bool copies) {
    const margin_matrix *x = job->x;
    int64_t *places = job->places + part * x->columns;
    for (int64_t i = first_of_part(job, part); i < first_of_part(job, part + 1); i++) {
        if (i % POLL == 0 && mg_cancelled(job->context)) return MARGIN_ERROR_CANCELLED;
        const int64_t row = job->index ? job->index[i] : i, end = mg_row_start(x, row + 1);
        for (int64_t k = mg_row_start(x, row); k < end; k++) {
            const int64_t j = mg_column_index(x, k);
            if (job->wanted && !job->wanted[j]) continue;
            const int64_t place = places[j]++;
            if (!copies) continue;
            job->to->samples[place] = (int32_t)i;
            job->to->values[place] = mg_stored_value(x, k);
        }
    }
    return MARGIN_OK;
}

static margin_status count_part(void *argument, int64_t part, int worker) {
    const copy_job *job = argument;
    (void)worker;
    memset(job->places + part * job->x->columns, 0, (size_t)job->x->columns * sizeof *job->places);
    return walk_part(job, part, false);
}

static margin_status copy_part(void *argument, int64_t part, int worker) {
    (void)worker;
    return walk_part(argument, part, true);
}

/* Counts become places: of each column the values of one part follow those of the part before. */
static void set_places(const copy_job *job) {
    const int64_t columns = job->x->columns;
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

margin_status mg_sparse_columns_make(margin_context *context, const margin_matrix *x,
                                     const int64_t *index, int64_t count, const bool *wanted,
                                     mg_sparse_columns *columns, margin_error *error) {
    static const char purpose[] = "a copy of the rows by columns";
    mg_heap *heap = context->heap;
    copy_job job = {context, x, index, wanted, columns, count, 0, NULL};
    margin_status status;
    memset(columns, 0, sizeof *columns);
    MG_REQUIRE(count <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "%lld sparse rows are more than the limit of 2147483647; train on a part of them",
               (long long)count);
    job.parts = mg_sparse_parts(x, mg_sparse_count(x, index, count));
    MG_GO_NEW(heap, columns->starts, x->columns + 1, purpose, error);
    MG_GO_NEW(heap, job.places, job.parts * x->columns, purpose, error);
    MG_GO(mg_parallel(context, job.parts, count_part, &job, error));
    set_places(&job);
    MG_GO_NEW(heap, columns->samples, columns->starts[x->columns], purpose, error);
    MG_GO_NEW(heap, columns->values, columns->starts[x->columns], purpose, error);
    status = mg_parallel(context, job.parts, copy_part, &job, error);
done:
    mg_free(heap, job.places);
    if (status < 0) mg_sparse_columns_free(heap, columns);
    return status;
}

void mg_sparse_columns_free(mg_heap *heap, mg_sparse_columns *columns) {
    MG_FREE(heap, columns->starts, columns->samples, columns->values);
    memset(columns, 0, sizeof *columns);
}
