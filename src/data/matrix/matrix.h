/* Checks and row access on borrowed views. */
#pragma once

#include "base/sweep.h"
#include "margin/data.h"

#include <stdatomic.h>

MG_INLINE bool mg_is_csr(const margin_matrix *x) {
    return x->row_starts != NULL;
}

MG_INLINE bool mg_is_by_columns(const margin_matrix *x) {
    return x->column_values || x->arrays;
}

/* By columns that hold the very numbers of the rows. */
MG_INLINE bool mg_is_plain_columns(const margin_matrix *x) {
    return x->column_values != NULL;
}

int64_t mg_type_size(margin_type type); /* bytes of one number; 0: none, or bits */

/* Shape, types, pointers, stride; data by columns are refused; for CSR one sweep over indices
 * (ascending, in range) and row starts. `name` is the argument in messages. ARGUMENT on failure.
 * Everything behind this check trusts the view. context NULL: on the calling thread alone. */
margin_status mg_matrix_check(margin_context *context, const margin_matrix *x, const char *name,
                              margin_error *error);
/* The same for those who take data by columns. */
margin_status mg_matrix_check_any(margin_context *context, const margin_matrix *x, const char *name,
                                  margin_error *error);

/* All views of a data set: the matrix, the lengths, types and alignment of y and weights, the range
 * of the selection, the lists of categories. Names may be NULL. ARGUMENT on failure. */
enum { MG_MAX_TARGETS = 10000 };
margin_status mg_views_check_targets(margin_context *context, const margin_data *data,
                                     margin_error *error);
/* The same for those who take data by columns. */
margin_status mg_views_check_columns(margin_context *context, const margin_data *data,
                                     margin_error *error);
MG_INLINE int64_t mg_data_targets(const margin_data *data) {
    return data->targets > 1 ? data->targets : 1;
}

/* The NaN or infinity with the lowest row number among the selected rows (selection NULL: all).
 * Returns DATA with row, column name and the way out ("impute | ..." or MARGIN_MISSING_DROP), or
 * OK. `allow_nan`: only infinities are refused. */
margin_status mg_matrix_check_finite(margin_context *context, const margin_data *data,
                                     bool allow_nan, margin_error *error);

/* Is one of the values of rows [row, row + count) infinite? NaNs are not. */
bool mg_rows_have_infinity(const margin_matrix *x, int64_t row, int64_t count);

/* Keeps the lowest row that tasks find; *first is INT64_MAX until then. */
MG_INLINE void mg_note_row(_Atomic int64_t *first, int64_t row) {
    int64_t least = *first;
    while (row < least && !atomic_compare_exchange_weak(first, &least, row)) {
    }
}

/* Number k of the values as stored: of a dense row, row * stride + column. */
MG_INLINE double mg_stored_value(const margin_matrix *x, int64_t k) {
    if (x->value_type == MARGIN_F32) return (double)((const float *)x->values)[k];
    return ((const double *)x->values)[k];
}

/* ---- Columns of types of their own: matrix_arrays.c ----
 * As the rows have it, also where it is rounded to their type. */
double mg_array_value(const margin_matrix *x, int64_t row, int64_t column);
/* Numbers rows[0..count) of a column, or (NULL) from `first` on; NaN where they are missing. */
void mg_column_read_f64(const margin_array *a, const int64_t *rows, int64_t first, int64_t count,
                        double *out);
void mg_column_read_f32(const margin_array *a, const int64_t *rows, int64_t first, int64_t count,
                        float *out);
void mg_rows_from_arrays(const margin_matrix *x, const int64_t *rows, int64_t first, int64_t count,
                         void *out); /* see mg_rows_from_columns */
/* The same as plain columns of the value type, `columns` of them: chosen[0..columns) or (NULL) the
 * first ones. `room`: columns * (count + MG_COLUMN_GAP) numbers; out[j]: where the j-th begins. */
enum {
    MG_COLUMN_GAP = 8
}; /* numbers between columns, so that they do not share places in a cache */
void mg_columns_from_arrays(const margin_matrix *x, const int64_t *chosen, int64_t columns,
                            const int64_t *rows, int64_t first, int64_t count, void *room,
                            const void **out);
margin_status mg_arrays_check(const margin_matrix *x, const char *name, margin_error *error);
#define MG_NOT_ZERO                                                                                \
    "%s: a reserved field is not 0; zero what is not used, or use a later libmargin that knows it"

/* Of dense data, by rows or by columns. */
MG_INLINE double mg_dense_value(const margin_matrix *x, int64_t row, int64_t column) {
    if (!mg_is_by_columns(x)) return mg_stored_value(x, row * x->stride + column);
    if (x->arrays) return mg_array_value(x, row, column);
    if (x->value_type == MARGIN_F32) return (double)((const float *)x->column_values[column])[row];
    return ((const double *)x->column_values[column])[row];
}

/* The reverse, of a matrix whose arrays are written. */
MG_INLINE void mg_store_value(const margin_matrix *x, int64_t k, double value) {
    if (x->value_type == MARGIN_F32)
        ((float *)x->values)[k] = (float)value;
    else
        ((double *)x->values)[k] = value;
}

/* Element k of a vector / of row starts / of column indices as the widest type. */
double mg_vector_f64(const margin_vector *v, int64_t k);
MG_INLINE int64_t mg_row_start(const margin_matrix *x, int64_t row) {
    return x->start_type == MARGIN_I32 ? ((const int32_t *)x->row_starts)[row]
                                       : ((const int64_t *)x->row_starts)[row];
}
MG_INLINE int64_t mg_column_index(const margin_matrix *x, int64_t k) {
    return x->index_type == MARGIN_I32 ? ((const int32_t *)x->column_indices)[k]
                                       : ((const int64_t *)x->column_indices)[k];
}
/* The first stored value of a CSR row in this column or behind it; where the next row starts if
 * there is none. */
int64_t mg_row_find(const margin_matrix *x, int64_t row, int64_t column);

/* The numbers of a row that are there, of CSR those that are stored: values[first..last). */
typedef struct mg_row_span {
    int64_t first, last;
    bool sparse;
} mg_row_span;
MG_INLINE mg_row_span mg_span_of(const margin_matrix *x, int64_t row) {
    if (mg_is_csr(x)) return (mg_row_span){mg_row_start(x, row), mg_row_start(x, row + 1), true};
    return (mg_row_span){row * x->stride, row * x->stride + x->columns, false};
}
/* The column of one of them. */
MG_INLINE int64_t mg_span_column(const margin_matrix *x, mg_row_span s, int64_t k) {
    return s.sparse ? mg_column_index(x, k) : k - s.first;
}

/* Values of a row in the mean. */
double mg_row_length(const margin_matrix *x);

/* Row i as dense f64 (columns values; CSR zeros filled in). */
void mg_row_expand(const margin_matrix *x, int64_t row, double *out);
/* The reverse, into a row of a dense matrix whose arrays are written. */
void mg_row_store(const margin_matrix *x, int64_t row, const double *values);

/* Is each row the one after the row before it? */
bool mg_rows_follow(const int64_t *rows, int64_t count);

/* Rows of data by columns next to each other, in their own type: rows[0..count), or (NULL) from
 * `first` on. */
void mg_rows_from_columns(const margin_matrix *x, const int64_t *rows, int64_t first, int64_t count,
                          void *out);

/* The same of any dense data. */
void mg_rows_together(const margin_matrix *x, const int64_t *rows, int64_t first, int64_t count,
                      void *out);

/* Values [first, first + count) of a row of columns as f64. */
void mg_row_from_columns(const margin_matrix *x, int64_t row, int64_t first, int64_t count,
                         double *out);

/* Bytes per row (dense: of its columns, not its stride; CSR: average), for mg_block_rows. */
int64_t mg_row_bytes(const margin_matrix *x);

/* Column name for messages and reports: the description's, or "x3" (1-based) written into buffer.
 */
const char *mg_column_name(const margin_column *columns, int64_t column, char buffer[32]);

/* An owned matrix: result of a stage, gathered support rows. It borrows the heap: whoever keeps it
 * keeps a reference to the heap. */
typedef struct mg_matrix_buffer {
    mg_heap *heap;
    margin_matrix view; /* pointers owned by this buffer */
} mg_matrix_buffer;
void mg_matrix_buffer_free(mg_matrix_buffer *buffer);
margin_status mg_matrix_new_dense(mg_heap *heap, int64_t rows, int64_t columns, margin_type type,
                                  const char *purpose, mg_matrix_buffer *out, margin_error *error);
/* CSR with i64 starts (not filled) and i32 indices, room for `stored` values. LIMIT beyond 2^31 - 1
 * columns. */
margin_status mg_matrix_new_csr(mg_heap *heap, int64_t rows, int64_t columns, int64_t stored,
                                margin_type type, const char *purpose, mg_matrix_buffer *out,
                                margin_error *error);
/* A CSR copy of dense data of which at most a share `most` is not 0; else, or where it would take
 * more than an eighth of the room that is left, nothing is made and out->heap stays NULL. One look
 * at 64 rows, and only where these are so two passes. MEMORY, CANCELLED. */
margin_status mg_matrix_sparse_copy(margin_context *context, const margin_matrix *x, double most,
                                    mg_matrix_buffer *out, margin_error *error);
/* Copy of chosen rows: same layout, value type and index type; stride = columns, i64 starts from 0.
 * Of data by columns: dense rows. */
margin_status mg_matrix_gather(mg_heap *heap, const margin_matrix *x, const int64_t *rows,
                               int64_t count, const char *purpose, mg_matrix_buffer *out,
                               margin_error *error);
