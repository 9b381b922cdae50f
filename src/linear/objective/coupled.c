/* What the passes with several functions need: how many rows at once, and memory. */
#include "linear/objective/coupled.h"

#include "linear/design/design_block.h"

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
    if (d->problem->maker) return d->chunk_rows;
    return MG_MAX(8, MG_MIN(fitting / 8 * 8, MG_CHUNK_ROWS));
}

static margin_status take_sparse(const mg_objective *o, mg_coupled *made, margin_error *error) {
    MG_ARENA_NEW(&made->arena, made->slopes, o->samples * o->functions, purpose, error);
    MG_ARENA_NEW(&made->arena, made->weights, o->columns * o->functions, purpose, error);
    return mg_sparse_columns_make(o->design->context, &o->design->problem->x,
                                  o->design->problem->index, o->samples, NULL, &made->by_column,
                                  error);
}

static margin_status take_dense(const mg_objective *o, mg_coupled *made, margin_error *error) {
    const int64_t padded =
        (o->columns + MG_CLASSES_PADDING - 1) / MG_CLASSES_PADDING * MG_CLASSES_PADDING;
    MG_ARENA_NEW(&made->arena, made->packed, padded * o->functions, purpose, error);
    if (!o->design->centre) return MARGIN_OK;
    MG_ARENA_NEW(&made->arena, made->centre, padded, purpose, error);
    MG_ARENA_NEW(&made->arena, made->lost, padded, purpose, error);
    return MARGIN_OK;
}

static margin_status coupled_take(const mg_objective *o, mg_coupled *made, margin_error *error) {
    const int64_t threads = mg_threads(o->design->context);
    made->block_rows = block_rows_for(o->design, o->functions);
    made->chunk_rows = chunk_rows_for(o->design);
    /* scores, slopes and a few numbers for each function */
    made->scratch = (2 * made->chunk_rows + 2) * o->functions;
    MG_ARENA_NEW(&made->arena, made->offsets, o->functions, purpose, error);
    MG_ARENA_NEW(&made->arena, made->work, threads * made->scratch, purpose, error);
    return mg_is_csr(&o->design->problem->x) ? take_sparse(o, made, error)
                                             : take_dense(o, made, error);
}

margin_status mg_coupled_create(const mg_objective *o, mg_coupled **made, margin_error *error) {
    mg_coupled *coupled;
    MG_NEW_ZERO(o->design->heap, coupled, 1, purpose, error);
    mg_arena_init(&coupled->arena, o->design->heap);
    const margin_status status = coupled_take(o, coupled, error);
    if (status < 0) mg_coupled_free(coupled);
    if (status >= 0) *made = coupled;
    return status;
}

void mg_coupled_free(mg_coupled *coupled) {
    if (!coupled) return;
    mg_heap *heap = coupled->arena.heap;
    mg_sparse_columns_free(heap, &coupled->by_column);
    mg_arena_free(&coupled->arena);
    mg_free(heap, coupled);
}
