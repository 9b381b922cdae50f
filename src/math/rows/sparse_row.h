/* A row of a CSR matrix in the widest types. */
#pragma once

#include "data/table/matrix.h"

/* Copies the stored values of a row and their columns (at most x->columns of them, ascending) and
 * returns their number. */
int64_t mg_sparse_row(const margin_matrix *x, int64_t row, int64_t *columns, double *values);
