#include "math/rows/sparse_row.h"

void mg_stored_columns(const margin_matrix *x, int64_t first, int64_t count, int64_t *columns) {
    if (x->index_type == MARGIN_I64) {
        const int64_t *from = (const int64_t *)x->column_indices + first;
        for (int64_t k = 0; k < count; k++)
            columns[k] = from[k];
    } else {
        const int32_t *from = (const int32_t *)x->column_indices + first;
        for (int64_t k = 0; k < count; k++)
            columns[k] = from[k];
    }
}

void mg_stored_values(const margin_matrix *x, int64_t first, int64_t count, double *values) {
    if (x->value_type == MARGIN_F32) {
        const float *from = (const float *)x->values + first;
        for (int64_t k = 0; k < count; k++)
            values[k] = (double)from[k];
    } else {
        const double *from = (const double *)x->values + first;
        for (int64_t k = 0; k < count; k++)
            values[k] = from[k];
    }
}

int64_t mg_sparse_row(const margin_matrix *x, int64_t row, int64_t *columns, double *values) {
    const int64_t first = mg_row_start(x, row), count = mg_row_start(x, row + 1) - first;
    mg_stored_columns(x, first, count, columns);
    mg_stored_values(x, first, count, values);
    return count;
}
