/* Pieces of a matrix in the widest types. */
#pragma once

#include "data/matrix/matrix.h"

/* Copies the stored values of a row and their columns (at most x->columns of them, ascending) and
 * returns their number. */
int64_t mg_sparse_row(const margin_matrix *x, int64_t row, int64_t *columns, double *values);
/* values[first..first + count) of the matrix's array, and their columns. */
void mg_stored_values(const margin_matrix *x, int64_t first, int64_t count, double *values);
void mg_stored_columns(const margin_matrix *x, int64_t first, int64_t count, int64_t *columns);
