/* Rows to products. Each product is one of lower degree times a column, so it costs one
 * multiplication; those of one parent lie side by side. */
#include "features/made/poly.h"

#include "features/columns/row_chunk.h"

#include <string.h>

/* ---- Dense rows ------------------------------------------------------------------------------ */

void mg_poly_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const mg_poly_view *view = fitted->view;
    const double *linear = out + view->bias;
    if (view->bias) out[0] = 1.0;
    memcpy(out + view->bias, in, (size_t)view->columns * sizeof *out);
    for (int64_t r = 0; r < view->run_count; r++) {
        const mg_poly_run *run = &view->runs[r];
        const double parent = out[run->parent];
        const int64_t *factor = view->factor + run->first;
        double *products = out + run->start;
        if (view->factors == view->columns) /* neighbours: no look-up */
            for (int64_t k = 0; k < run->count; k++)
                products[k] = parent * linear[run->first + k];
        else
            for (int64_t k = 0; k < run->count; k++)
                products[k] = parent * linear[factor[k]];
    }
    for (int64_t k = 0; view->weights && k < fitted->columns_out; k++)
        out[k] *= view->weights[k];
}

/* ---- Sparse rows -----------------------------------------------------------------------------
 * Only products of entries that are not 0 are made; their columns ascend as they come. */

typedef struct sparse_map {
    const mg_poly_view *view;
    const margin_matrix *in;
    int64_t *factor_of; /* input columns: number of the factor, -1: none */
    int64_t *starts;    /* of the rows of the result; counts at first */
    margin_matrix out;
    double *scratch; /* per worker */
} sparse_map;

/* A row as it grows: entries of the result in ascending columns. */
typedef struct sparse_row {
    int64_t count;
    double *value;    /* output columns */
    int64_t *column;  /* output columns */
    int64_t *last;    /* output columns: place of the last factor among the row's, -1: none */
    int64_t factors;  /* the row's factors: numbers and values */
    int64_t *factor;  /* input columns */
    double *multiply; /* input columns */
} sparse_row;

static int64_t scratch_size(const mg_poly_view *view, int64_t columns_out) {
    return 3 * columns_out + 2 * view->columns;
}

static sparse_row row_of_worker(const sparse_map *map, int worker) {
    const int64_t wide = map->out.columns;
    sparse_row row = {.value = map->scratch + worker * scratch_size(map->view, wide)};
    row.column = (int64_t *)(void *)(row.value + wide);
    row.last = row.column + wide;
    row.factor = row.last + wide;
    row.multiply = (double *)(void *)(row.factor + map->view->columns);
    return row;
}

static void add_entry(sparse_row *row, int64_t column, double value, int64_t last) {
    row->column[row->count] = column;
    row->value[row->count] = value;
    row->last[row->count++] = last;
}

static void add_inputs(const sparse_map *map, int64_t number, sparse_row *row) {
    mg_row_chunk chunk;
    for (int64_t at = mg_chunk_begin(map->in, number); mg_chunk_next(map->in, number, &at, &chunk);)
        for (int64_t k = 0; k < chunk.count; k++) {
            const int64_t column = chunk.columns[k], factor = map->factor_of[column];
            if (chunk.values[k] == 0) continue;
            add_entry(row, map->view->bias + column, chunk.values[k],
                      factor >= 0 ? row->factors : -1);
            if (factor < 0) continue;
            row->factor[row->factors] = factor;
            row->multiply[row->factors++] = chunk.values[k];
        }
}

/* The products whose parent is entry `parent`. */
static void poly_apply_add_products(const mg_poly_view *view, int64_t parent, sparse_row *row) {
    const int64_t last = row->last[parent];
    const mg_poly_run *run;
    if (row->column[parent] >= view->bias + view->columns)
        run = &view->runs[view->factors + row->column[parent] - view->bias - view->columns];
    else
        run = &view->runs[row->factor[last]];
    int64_t k = last;
    while (k < row->factors && row->factor[k] < run->first)
        k++;
    for (; k < row->factors; k++)
        add_entry(row, run->start + row->factor[k] - run->first,
                  row->value[parent] * row->multiply[k], k);
}

static void expand_row(const sparse_map *map, int64_t number, sparse_row *row) {
    row->count = row->factors = 0;
    if (map->view->bias) add_entry(row, 0, 1.0, -1);
    add_inputs(map, number, row);
    for (int64_t from = 0, degree = 1; degree < map->view->degree; degree++) {
        const int64_t end = row->count;
        for (; from < end; from++)
            if (row->last[from] >= 0) poly_apply_add_products(map->view, from, row);
    }
}

static margin_status count_rows(const mg_block *block, void *argument) {
    const sparse_map *map = argument;
    sparse_row row = row_of_worker(map, block->worker);
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        expand_row(map, i, &row);
        map->starts[i + 1] = row.count;
    }
    return MARGIN_OK;
}

static margin_status fill_rows(const mg_block *block, void *argument) {
    const sparse_map *map = argument;
    sparse_row row = row_of_worker(map, block->worker);
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t start = map->starts[i];
        expand_row(map, i, &row);
        for (int64_t k = 0; k < row.count; k++) {
            ((int32_t *)map->out.column_indices)[start + k] = (int32_t)row.column[k];
            const double weight = map->view->weights ? map->view->weights[row.column[k]] : 1.0;
            mg_store_value(&map->out, start + k, weight * row.value[k]);
        }
    }
    return MARGIN_OK;
}

static margin_status apply_sparse(sparse_map *map, margin_context *context, mg_matrix_buffer *out,
                                  margin_error *error) {
    const margin_matrix *in = map->in;
    const int64_t block_rows = mg_block_rows(mg_row_bytes(in)), columns = map->out.columns;
    MG_TRY(mg_sweep_each(context, in->rows, block_rows, count_rows, map, error));
    for (int64_t i = 0; i < in->rows; i++)
        map->starts[i + 1] += map->starts[i];
    MG_TRY(mg_matrix_new_csr(context->heap, in->rows, columns, map->starts[in->rows],
                             in->value_type, "the data after poly", out, error));
    memcpy((int64_t *)out->view.row_starts, map->starts,
           (size_t)(in->rows + 1) * sizeof *map->starts);
    map->out = out->view;
    return mg_sweep_each(context, in->rows, block_rows, fill_rows, map, error);
}

margin_status mg_poly_apply(margin_context *context, const mg_fitted_stage *fitted,
                            const margin_matrix *in, mg_matrix_buffer *out, margin_error *error) {
    const mg_poly_view *view = fitted->view;
    const char *purpose = "the data after poly";
    if (!mg_is_csr(in)) return mg_stage_rows(context, fitted, in, purpose, out, error);
    mg_heap *heap = context->heap;
    sparse_map map = {.view = view, .in = in, .out = {.columns = fitted->columns_out}};
    MG_SCOPED(mg_matrix_buffer, made);
    MG_SCOPED_ARENA(arena, heap);
    MG_TRY(MG_PIECES(
        &arena, purpose, error, MG_PIECE(map.factor_of, view->columns),
        MG_PIECE(map.starts, in->rows + 1),
        MG_PIECE(map.scratch, mg_threads(context) * scratch_size(view, fitted->columns_out))));
    for (int64_t j = 0; j < view->columns; j++)
        map.factor_of[j] = -1;
    for (int64_t f = 0; f < view->factors; f++)
        map.factor_of[view->factor[f]] = f;
    map.starts[0] = 0;
    MG_TRY(apply_sparse(&map, context, &made, error));
    *out = made;
    made = (mg_matrix_buffer){0};
    return MARGIN_OK;
}
