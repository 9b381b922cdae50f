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

static margin_status take_dense(mg_objective *o, mg_coupled *made, margin_error *error) {
    const int64_t padded = mg_classes_padded(o->columns);
    MG_ARENA_NEW(&o->arena, made->packed, padded * o->functions, purpose, error);
    if (!o->design->centre) return MARGIN_OK;
    return MG_PIECES(&o->arena, purpose, error, MG_PIECE(made->centre, padded),
                     MG_PIECE(made->lost, padded));
}

margin_status mg_coupled_create(mg_objective *o, margin_error *error) {
    const int64_t chunk_rows = chunk_rows_for(o->design);
    const mg_coupled made = {.block_rows = block_rows_for(o->design, o->functions),
                             .chunk_rows = chunk_rows,
                             /* scores, slopes and a few numbers for each function */
                             .scratch = (2 * chunk_rows + 2) * o->functions};
    mg_coupled *c;
    MG_ARENA_NEW(&o->arena, c, 1, purpose, error);
    *c = made;
    o->coupled = c;
    MG_TRY(MG_PIECES(&o->arena, purpose, error, MG_PIECE(o->totals, o->functions),
                     MG_PIECE(c->offsets, o->functions),
                     MG_PIECE(c->work, mg_threads(o->design->context) * c->scratch)));
    return mg_is_csr(&o->design->problem->x) ? mg_coupled_take_sparse(o, c, error)
                                             : take_dense(o, c, error);
}
