#include "features/columns/value_map.h"

#include <stdio.h>
#include <string.h>

typedef struct map_run {
    const margin_matrix *in;
    const mg_value_map *map;
    margin_matrix out; /* its arrays are written */
} map_run;

/* Maps a chunk to place `at` of the output's values. */
static void write_chunk(const map_run *run, mg_row_norm of_row, const mg_row_chunk *chunk,
                        bool sparse, int64_t at) {
    double space[MG_CHUNK];
    if (run->out.value_type == MARGIN_F64) {
        run->map->map(run->map->argument, of_row, chunk, sparse, (double *)run->out.values + at);
        return;
    }
    float *to = (float *)run->out.values + at;
    run->map->map(run->map->argument, of_row, chunk, sparse, space);
    for (int64_t k = 0; k < chunk->count; k++)
        to[k] = (float)space[k];
}

static mg_row_norm norm_of_row(const map_run *run, int64_t row) {
    return run->map->of_row ? run->map->of_row(run->map->argument, run->in, row)
                            : (mg_row_norm){1, 1};
}

/* Dense to dense, or stored values to stored values. */
static margin_status map_in_place(const mg_block *block, void *argument) {
    const map_run *run = argument;
    const bool sparse = mg_is_csr(run->in);
    const int64_t base = sparse ? mg_row_start(run->in, 0) : 0;
    mg_row_chunk chunk;
    for (int64_t row = block->first; row < block->first + block->count; row++) {
        const mg_row_norm of_row = norm_of_row(run, row);
        for (int64_t at = mg_chunk_begin(run->in, row); mg_chunk_next(run->in, row, &at, &chunk);) {
            const int64_t place = sparse ? chunk.first - base : row * run->out.stride + chunk.first;
            write_chunk(run, of_row, &chunk, sparse, place);
        }
    }
    return MARGIN_OK;
}

/* The image of a row of zeros, then the stored values over it. */
static void map_row_to_dense(const map_run *run, int64_t row) {
    const int64_t start = row * run->out.stride;
    const mg_row_norm of_row = norm_of_row(run, row);
    mg_row_chunk chunk = {.count = 0};
    memset(chunk.space, 0, sizeof chunk.space);
    for (int64_t first = 0; first < run->in->columns; first += MG_CHUNK) {
        chunk.first = first;
        chunk.count = MG_MIN(run->in->columns - first, (int64_t)MG_CHUNK);
        chunk.values = chunk.space;
        write_chunk(run, of_row, &chunk, false, start + first);
    }
    double image[MG_CHUNK];
    for (int64_t at = mg_chunk_begin(run->in, row); mg_chunk_next(run->in, row, &at, &chunk);) {
        run->map->map(run->map->argument, of_row, &chunk, true, image);
        for (int64_t k = 0; k < chunk.count; k++)
            mg_store_value(&run->out, start + chunk.columns[k], image[k]);
    }
}

static margin_status map_to_dense(const mg_block *block, void *argument) {
    const map_run *run = argument;
    for (int64_t row = block->first; row < block->first + block->count; row++)
        map_row_to_dense(run, row);
    return MARGIN_OK;
}

/* Row starts from 0 and column indices of the output. */
static margin_status copy_pattern(const mg_block *block, void *argument) {
    const map_run *run = argument;
    const int64_t base = mg_row_start(run->in, 0);
    int64_t *const starts = (int64_t *)run->out.row_starts;
    int32_t *const indices = (int32_t *)run->out.column_indices;
    for (int64_t row = block->first; row < block->first + block->count; row++) {
        const int64_t end = mg_row_start(run->in, row + 1);
        starts[row + 1] = end - base;
        for (int64_t k = mg_row_start(run->in, row); k < end; k++)
            indices[k - base] = (int32_t)mg_column_index(run->in, k);
    }
    return MARGIN_OK;
}

static margin_status new_matrix(margin_context *context, const margin_matrix *in,
                                const mg_value_map *map, mg_matrix_buffer *out,
                                margin_error *error) {
    char purpose[100];
    snprintf(purpose, sizeof purpose, "the data after %s", map->name);
    if (mg_is_csr(in) && map->keeps_zeros)
        return mg_matrix_new_csr(context->heap, in->rows, in->columns,
                                 mg_row_start(in, in->rows) - mg_row_start(in, 0), in->value_type,
                                 purpose, out, error);
    if (mg_is_csr(in))
        snprintf(purpose, sizeof purpose,
                 "the data after %s, which moves zeros and so makes sparse data dense", map->name);
    return mg_matrix_new_dense(context->heap, in->rows, in->columns, in->value_type, purpose, out,
                               error);
}

margin_status mg_map_values(margin_context *context, const margin_matrix *in,
                            const mg_value_map *map, mg_matrix_buffer *out, margin_error *error) {
    mg_matrix_buffer made = {0};
    MG_TRY(new_matrix(context, in, map, &made, error));
    map_run run = {in, map, made.view};
    const int64_t block_rows = mg_block_rows(mg_row_bytes(in));
    margin_status status = MARGIN_OK;
    if (mg_is_csr(&made.view)) {
        ((int64_t *)made.view.row_starts)[0] = 0;
        status = mg_sweep_each(context, in->rows, block_rows, copy_pattern, &run, NULL);
    }
    if (status >= 0) {
        const bool expands = mg_is_csr(in) && !map->keeps_zeros;
        status = mg_sweep_each(context, in->rows, block_rows, expands ? map_to_dense : map_in_place,
                               &run, NULL);
    }
    if (status < 0) {
        mg_matrix_buffer_free(&made);
        return status == MARGIN_ERROR_CANCELLED
                   ? mg_fail_cancelled(error)
                   : mg_fail(error, status, "%s: %s", map->name, margin_status_text(status));
    }
    *out = made;
    return MARGIN_OK;
}
