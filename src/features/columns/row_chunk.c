#include "features/columns/row_chunk.h"

#include "math/rows/sparse_row.h"

int64_t mg_chunk_begin(const margin_matrix *x, int64_t row) {
    return mg_is_csr(x) ? mg_row_start(x, row) : 0;
}

bool mg_chunk_next(const margin_matrix *x, int64_t row, int64_t *at, mg_row_chunk *chunk) {
    const bool sparse = mg_is_csr(x);
    const int64_t end = sparse ? mg_row_start(x, row + 1) : x->columns;
    if (*at >= end) return false;
    chunk->count = MG_MIN(end - *at, (int64_t)MG_CHUNK);
    chunk->first = *at;
    if (mg_is_by_columns(x)) {
        mg_row_from_columns(x, row, *at, chunk->count, chunk->space);
        chunk->values = chunk->space;
        *at += chunk->count;
        return true;
    }
    const int64_t place = sparse ? *at : row * x->stride + *at;
    chunk->values = x->value_type == MARGIN_F64 ? (const double *)x->values + place : chunk->space;
    if (x->value_type != MARGIN_F64) mg_stored_values(x, place, chunk->count, chunk->space);
    if (sparse) mg_stored_columns(x, *at, chunk->count, chunk->columns);
    *at += chunk->count;
    return true;
}
