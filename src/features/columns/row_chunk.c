#include "features/columns/row_chunk.h"

int64_t mg_chunk_begin(const margin_matrix *x, int64_t row) {
    return mg_is_csr(x) ? mg_row_start(x, row) : 0;
}

/* values[0..count) from position `at` of the matrix's array; f64 without a copy. */
static void take_values(const margin_matrix *x, int64_t at, mg_row_chunk *chunk) {
    if (x->value_type == MARGIN_F64) {
        chunk->values = (const double *)x->values + at;
        return;
    }
    const float *from = (const float *)x->values + at;
    for (int64_t k = 0; k < chunk->count; k++)
        chunk->space[k] = (double)from[k];
    chunk->values = chunk->space;
}

static void take_columns(const margin_matrix *x, int64_t at, mg_row_chunk *chunk) {
    if (x->index_type == MARGIN_I32) {
        const int32_t *from = (const int32_t *)x->column_indices + at;
        for (int64_t k = 0; k < chunk->count; k++)
            chunk->columns[k] = from[k];
    } else {
        const int64_t *from = (const int64_t *)x->column_indices + at;
        for (int64_t k = 0; k < chunk->count; k++)
            chunk->columns[k] = from[k];
    }
}

bool mg_chunk_next(const margin_matrix *x, int64_t row, int64_t *at, mg_row_chunk *chunk) {
    const bool sparse = mg_is_csr(x);
    const int64_t end = sparse ? mg_row_start(x, row + 1) : x->columns;
    if (*at >= end) return false;
    chunk->count = MG_MIN(end - *at, (int64_t)MG_CHUNK);
    chunk->first = *at;
    take_values(x, sparse ? *at : row * x->stride + *at, chunk);
    if (sparse) take_columns(x, *at, chunk);
    *at += chunk->count;
    return true;
}
