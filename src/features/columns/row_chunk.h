/* A piece of a matrix row as f64, whatever the layout and the types: what the stages loop over. */
#pragma once

#include "data/matrix/matrix.h"

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

/* Of the rows that a data set selects: their number, the one at a place; and a row's weight. */
MG_INLINE int64_t mg_selected_rows(const margin_data *data) {
    return data->selection ? data->selected : data->x.rows;
}
MG_INLINE int64_t mg_selected_row(const margin_data *data, int64_t place) {
    return data->selection ? data->selection[place] : place;
}
MG_INLINE double mg_row_weight(const margin_data *data, int64_t row) {
    return data->weights.values ? mg_vector_f64(&data->weights, row) : 1.0;
}
