/* What the passes with several functions need: how many rows at once, and memory. */
#include "linear/objective/coupled.h"

#include "base/pool.h"
#include "linear/design/design_block.h"
#include "linear/kernels/classes_rows.h"

static const char purpose[] = "the functions of the classes";

/* As the blocks of a design, for sums that are as long as all functions together. */
static int64_t block_rows_for(const mg_design *d, int64_t functions) {
    enum { LEAST_BLOCKS = 16, TIMES_SUMS = 8 };
    const int64_t row_bytes = MG_MAX(mg_row_bytes(&d->problem->x), 1);
    const bool sparse = mg_is_csr(&d->problem->x);
    const int64_t sum_bytes = (sparse ? 1 : d->columns) * functions * (int64_t)sizeof(double);
    int64_t rows = mg_block_rows(row_bytes + functions * (int64_t)sizeof(double));
    while (rows < TIMES_SUMS * sum_bytes / row_bytes && 2 * rows <= d->samples / LEAST_BLOCKS)
        rows *= 2;
    return rows;
}

/* Rows that are read twice while they lie in the second cache. */
static int64_t chunk_rows_for(const mg_design *d) {
    const int64_t bytes = 512 * 1024, fitting = bytes / MG_MAX(mg_row_bytes(&d->problem->x), 1);
    if (d->made) return d->chunk_rows;
    return MG_MAX(8, MG_MIN(fitting / 8 * 8, MG_CHUNK_ROWS));
}

static margin_status take_sparse(const mg_objective *o, mg_coupled *made, margin_error *error) {
    mg_heap *heap = o->design->heap;
    MG_NEW(heap, made->slopes, o->samples * o->functions, purpose, error);
    MG_NEW(heap, made->weights, o->columns * o->functions, purpose, error);
    return mg_sparse_columns_make(o->design, &made->by_column, error);
}

static margin_status take_dense(const mg_objective *o, mg_coupled *made, margin_error *error) {
    mg_heap *heap = o->design->heap;
    const int64_t padded =
        (o->columns + MG_CLASSES_PADDING - 1) / MG_CLASSES_PADDING * MG_CLASSES_PADDING;
    double *packed, *centre, *lost;
    MG_NEW(heap, packed, padded * o->functions, purpose, error);
    made->packed = packed;
    if (!o->design->centre) return MARGIN_OK;
    MG_NEW(heap, centre, padded, purpose, error);
    made->centre = centre;
    MG_NEW(heap, lost, padded, purpose, error);
    made->lost = lost;
    return MARGIN_OK;
}

margin_status mg_coupled_create(const mg_objective *o, mg_coupled **made, margin_error *error) {
    const mg_design *d = o->design;
    const int64_t threads = mg_pool_threads(d->context->pool);
    mg_coupled *coupled = mg_new_zero(d->heap, 1, sizeof *coupled);
    margin_status status;
    if (!coupled) return mg_no_memory(d->heap, 1, sizeof *coupled, purpose, error);
    coupled->block_rows = block_rows_for(d, o->functions);
    coupled->chunk_rows = chunk_rows_for(d);
    /* scores, slopes and a few numbers for each function */
    coupled->scratch = (2 * coupled->chunk_rows + 2) * o->functions;
    MG_GO_NEW(d->heap, coupled->offsets, o->functions, purpose, error);
    MG_GO_NEW(d->heap, coupled->work, threads * coupled->scratch, purpose, error);
    MG_GO(mg_is_csr(&d->problem->x) ? take_sparse(o, coupled, error)
                                    : take_dense(o, coupled, error));
    *made = coupled;
    return MARGIN_OK;
done:
    mg_coupled_free(d->heap, coupled);
    return status;
}

void mg_coupled_free(mg_heap *heap, mg_coupled *coupled) {
    if (!coupled) return;
    mg_sparse_columns_free(heap, &coupled->by_column);
    mg_free(heap, coupled->lost);
    mg_free(heap, coupled->centre);
    mg_free(heap, coupled->packed);
    mg_free(heap, coupled->weights);
    mg_free(heap, coupled->slopes);
    mg_free(heap, coupled->work);
    mg_free(heap, coupled->offsets);
    mg_free(heap, coupled);
}
