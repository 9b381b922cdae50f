/* A copy of sparse rows by columns. */
#pragma once

#include "base/context.h"
#include "data/matrix/matrix.h"

typedef struct mg_sparse_columns {
    int64_t *starts;  /* columns + 1 */
    int32_t *samples; /* of the stored values, ascending in each column */
    double *values;
} mg_sparse_columns;

/* Of the samples i = 0..count-1 in rows index[i] of x (NULL: row i); `wanted`: which columns get
 * values (NULL: all). In parallel; 12 bytes a stored value, two passes. LIMIT (2^31 samples),
 * MEMORY, CANCELLED. */
margin_status mg_sparse_columns_make(margin_context *context, const margin_matrix *x,
                                     const int64_t *index, int64_t count, const bool *wanted,
                                     mg_sparse_columns *columns, margin_error *error);
void mg_sparse_columns_free(mg_heap *heap, mg_sparse_columns *columns); /* zeros are fine */
/* Stored values of those samples, and how many parts a copy of so many is made in. */
int64_t mg_sparse_count(const margin_matrix *x, const int64_t *index, int64_t count);
int64_t mg_sparse_parts(const margin_matrix *x, int64_t stored);
