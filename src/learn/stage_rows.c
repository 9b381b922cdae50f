/* A stage over a whole matrix, row by row. */
#include "learn/learner.h"

int64_t mg_stage_at_once(const mg_fitted_stage *fitted) {
    return fitted && fitted->stage->apply_rows ? MG_ROWS_AT_ONCE : 1;
}

void mg_stage_apply_rows(const mg_fitted_stage *fitted, const double *in, int64_t count,
                         double *scratch, double *out) {
    if (count > 1 && fitted->stage->apply_rows) {
        fitted->stage->apply_rows(fitted, in, count, scratch, out);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        fitted->stage->apply_row(fitted, in + i * fitted->columns_in,
                                 out + i * fitted->columns_out);
}

/* in -> out through the stage (NULL: as they are), rows as dense f64 in between. */
typedef struct row_map {
    margin_context *context;
    const mg_fitted_stage *stage;
    const margin_matrix *in;
    margin_matrix *out;
    double *scratch; /* per worker: rows of `in`, then twice as many of `out` */
    int64_t size, at_once;
} row_map;

static margin_status map_block(const mg_block *block, void *argument) {
    const row_map *map = argument;
    double *from = map->scratch + block->worker * map->size;
    double *to = map->stage ? from + map->at_once * map->in->columns : from;
    const int64_t last = block->first + block->count;
    for (int64_t first = block->first, count; first < last; first += count) {
        if (mg_cancelled(map->context)) return MARGIN_ERROR_CANCELLED; /* a row may take long */
        count = MG_MIN(map->at_once, last - first);
        for (int64_t i = 0; i < count; i++)
            mg_row_expand(map->in, first + i, from + i * map->in->columns);
        if (map->stage)
            mg_stage_apply_rows(map->stage, from, count, to + map->at_once * map->out->columns, to);
        for (int64_t i = 0; i < count; i++)
            mg_row_store(map->out, first + i, to + i * map->out->columns);
    }
    return MARGIN_OK;
}

margin_status mg_stage_rows(margin_context *context, const mg_fitted_stage *stage,
                            const margin_matrix *in, const char *purpose, mg_matrix_buffer *out,
                            margin_error *error) {
    mg_heap *heap = context->heap;
    MG_SCOPED(mg_matrix_buffer, made);
    int64_t columns = stage ? stage->columns_out : in->columns;
    row_map map = {
        .context = context, .stage = stage, .in = in, .at_once = mg_stage_at_once(stage)};
    map.size = map.at_once * (in->columns + (map.at_once > 1 ? 2 : 1) * columns);
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, map.scratch, mg_threads(context) * map.size, "scratch for a stage", error);
    MG_TRY(mg_matrix_new_dense(heap, in->rows, columns, in->value_type, purpose, &made, error));
    map.out = &made.view;
    MG_TRY(mg_sweep_each(context, in->rows, mg_block_rows(mg_row_bytes(&made.view)), map_block,
                         &map, error));
    *out = made;
    made = (mg_matrix_buffer){0};
    return MARGIN_OK;
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

/* At most so many rows of the source that fit on the stack. */
enum { MADE_ON_STACK = 2 * MG_MADE_FROM };

static void make_some(const mg_row_maker *maker, const int64_t *rows, int64_t count,
                      double *scratch, double *out) {
    const margin_matrix *source = &maker->source;
    double widened[MADE_ON_STACK];
    const double *from = widened;
    int64_t i = 0;
    if (source->value_type == MARGIN_F64 && count == 1)
        from = (const double *)source->values + rows[0] * source->stride;
    else
        do /* once at least */
            mg_row_expand(source, rows[i], widened + i * source->columns);
        while (++i < count);
    mg_stage_apply_rows(maker->stage, from, count, scratch, out);
    for (int64_t k = 0; k < count; k++, out += maker->stage->columns_out) {
        for (int s = 0; s < maker->after_count; s++) {
            round_row(maker, out);
            maker->after[s].stage->apply_row(&maker->after[s], out, out);
        }
        round_row(maker, out);
    }
}

static int64_t made_at_once(const mg_row_maker *maker) {
    return MG_MIN(mg_stage_at_once(maker->stage), MADE_ON_STACK / MG_MAX(maker->source.columns, 1));
}

void mg_row_make(const mg_row_maker *maker, int64_t row, double *out) {
    make_some(maker, &row, 1, NULL, out);
}

void mg_rows_make(const mg_row_maker *maker, const int64_t *rows, int64_t count, double *scratch,
                  double *out) {
    const int64_t most = made_at_once(maker), columns = maker->stage->columns_out;
    for (int64_t first = 0; first < count; first += most)
        make_some(maker, rows + first, MG_MIN(most, count - first), scratch, out + first * columns);
}

/* For rows of f32 half of it is where they are made. */
int64_t mg_row_maker_scratch(const mg_row_maker *maker) {
    return 2 * mg_stage_at_once(maker->stage) * maker->stage->columns_out;
}

void mg_rows_make_stored(const mg_row_maker *maker, const int64_t *rows, int64_t count,
                         double *scratch, void *out) {
    const int64_t most = made_at_once(maker), columns = maker->stage->columns_out;
    float *to = out;
    if (maker->source.value_type == MARGIN_F64) {
        mg_rows_make(maker, rows, count, scratch, out);
        return;
    }
    for (int64_t first = 0; first < count; first += most) {
        const int64_t some = MG_MIN(most, count - first);
        make_some(maker, rows + first, some, scratch + most * columns, scratch);
        for (int64_t k = 0; k < some * columns; k++)
            *to++ = (float)scratch[k];
    }
}

void mg_rows_make_inner(const mg_row_maker *maker, const int64_t *rows, int64_t count,
                        double *out) {
    const mg_fitted_stage *stage = maker->stage;
    const int64_t columns = stage->columns_in, most = mg_inner_at_once(stage);
    double near[MADE_ON_STACK];
    for (int64_t first = 0; first < count; first += most, out += most * stage->columns_out) {
        const int64_t some = MG_MIN(most, count - first);
        for (int64_t i = 0; i < some; i++)
            mg_row_expand(&maker->source, rows[first + i], near + i * columns);
        stage->stage->inner(stage, near, some, out);
    }
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

double mg_row_blur(const mg_problem *p, int64_t row) {
    const double share = mg_row_share(p, row);
    double sum = p->made ? 0.0 : -1.0;
    for (int64_t j = 0; p->blur && j < p->x.columns; j++)
        sum += share * p->blur[j] * (share * p->blur[j]);
    return sum;
}

margin_status mg_problem_check_finite(margin_context *context, const mg_problem *p, bool allow_nan,
                                      margin_error *error) {
    const margin_data data = {
        .x = p->x, .columns = p->columns, .selection = p->index, .selected = p->count};
    return mg_matrix_check_finite(context, &data, allow_nan, error);
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
