/* A stage over a whole matrix, row by row. */
#include "learn/learner.h"

/* in -> out through apply_row (stage NULL: as they are), rows as dense f64 in between. */
typedef struct row_map {
    const mg_fitted_stage *stage;
    const margin_matrix *in;
    margin_matrix *out;
    double *scratch; /* per worker: a row of `in`, then one of `out` */
} row_map;

static margin_status map_block(const mg_block *block, void *argument) {
    const row_map *map = argument;
    double *from = map->scratch + block->worker * (map->in->columns + map->out->columns);
    double *to = map->stage ? from + map->in->columns : from;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        mg_row_expand(map->in, i, from);
        if (map->stage) map->stage->stage->apply_row(map->stage, from, to);
        mg_row_store(map->out, i, to);
    }
    return MARGIN_OK;
}

margin_status mg_stage_rows(margin_context *context, const mg_fitted_stage *stage,
                            const margin_matrix *in, const char *purpose, mg_matrix_buffer *out,
                            margin_error *error) {
    mg_heap *heap = context->heap;
    mg_matrix_buffer made = {0};
    int64_t columns = stage ? stage->columns_out : in->columns;
    row_map map = {.stage = stage, .in = in};
    margin_status status;
    MG_GO_NEW(heap, map.scratch, mg_threads(context) * (in->columns + columns),
              "scratch for a stage", error);
    MG_GO(mg_matrix_new_dense(heap, in->rows, columns, in->value_type, purpose, &made, error));
    map.out = &made.view;
    MG_GO(mg_sweep_each(context, in->rows, mg_block_rows(mg_row_bytes(&made.view)), map_block, &map,
                        error));
    *out = made;
    made = (mg_matrix_buffer){0};
done:
    mg_matrix_buffer_free(&made);
    mg_free(heap, map.scratch);
    return status;
}

margin_status mg_stage_apply(margin_context *context, const mg_fitted_stage *fitted,
                             const margin_matrix *in, mg_matrix_buffer *out, margin_error *error) {
    return fitted->stage->apply
               ? fitted->stage->apply(context, fitted, in, out, error)
               : mg_stage_rows(context, fitted, in, fitted->stage->info.name, out, error);
}

/* ---- Rows made when they are read ------------------------------------------------------------ */

/* To the numbers of the source's type, as if the row were stored. */
static void round_row(const mg_row_maker *maker, double *row) {
    for (int64_t j = 0; maker->source.value_type == MARGIN_F32 && j < maker->stage->columns_out;
         j++)
        row[j] = (double)(float)row[j];
}

static void make_row(const mg_row_maker *maker, int64_t row, double *out) {
    double widened[MG_MADE_FROM];
    const double *from = widened;
    if (maker->source.value_type == MARGIN_F32)
        mg_row_expand(&maker->source, row, widened);
    else
        from = (const double *)maker->source.values + row * maker->source.stride;
    maker->stage->stage->apply_row(maker->stage, from, out);
    for (int s = 0; s < maker->after_count; s++) {
        round_row(maker, out);
        maker->after[s].stage->apply_row(&maker->after[s], out, out);
    }
}

void mg_row_make(const mg_row_maker *maker, int64_t row, double *out) {
    make_row(maker, row, out);
    round_row(maker, out);
}

void mg_row_make_stored(const mg_row_maker *maker, int64_t row, double *scratch, void *out) {
    float *to = out;
    if (maker->source.value_type == MARGIN_F64) {
        make_row(maker, row, out);
        return;
    }
    make_row(maker, row, scratch);
    for (int64_t j = 0; j < maker->stage->columns_out; j++)
        to[j] = (float)scratch[j];
}

margin_matrix mg_row_maker_shape(const mg_row_maker *maker) {
    margin_matrix shape = maker->source;
    shape.values = NULL;
    shape.columns = shape.stride = maker->stage->columns_out;
    return shape;
}

void mg_sample_values(const mg_problem *p, int64_t i, double *out) {
    if (p->maker)
        mg_row_make(p->maker, mg_sample_row(p, i), out);
    else
        mg_row_expand(&p->x, mg_sample_row(p, i), out);
}

margin_status mg_sample_products(margin_context *context, const mg_problem *p, double *out,
                                 bool *made, margin_error *error) {
    const mg_row_maker *maker = p->maker;
    *made = false;
    if (!maker || !maker->stage->stage->products || maker->source.value_type != MARGIN_F64 ||
        maker->after_count > 0 || p->scale || p->shift)
        return MARGIN_OK;
    return maker->stage->stage->products(context, p, out, made, error);
}
