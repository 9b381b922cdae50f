/* A piece of a matrix row as f64, whatever the layout and the types: what the stages loop over. */
#pragma once

#include "data/table/matrix.h"

enum { MG_CHUNK = 256 };

typedef struct mg_row_chunk {
    int64_t count;
    const double *values;
    int64_t first;             /* dense: column of values[0] */
    int64_t columns[MG_CHUNK]; /* CSR: column of each value */
    double space[MG_CHUNK];
} mg_row_chunk;

/* Walks a row:  for (int64_t at = mg_chunk_begin(x, row); mg_chunk_next(x, row, &at, &chunk);) */
int64_t mg_chunk_begin(const margin_matrix *x, int64_t row);
bool mg_chunk_next(const margin_matrix *x, int64_t row, int64_t *at, mg_row_chunk *chunk);
