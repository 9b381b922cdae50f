/* Matrix views: constructors, row access, owned copies. The checks are in matrix_check.c. */
#include "data/matrix/matrix.h"

#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Constructors --------------------------------------------------------------------------- */

static margin_matrix dense_view(const void *values, margin_type type, int64_t rows, int64_t columns,
                                int64_t stride) {
    margin_matrix x = {0};
    x.values = values;
    x.rows = rows;
    x.columns = columns;
    x.stride = stride;
    x.value_type = type;
    return x;
}

margin_matrix margin_dense_f64(const double *values, int64_t rows, int64_t columns,
                               int64_t stride) {
    return dense_view(values, MARGIN_F64, rows, columns, stride);
}

margin_matrix margin_dense_f32(const float *values, int64_t rows, int64_t columns, int64_t stride) {
    return dense_view(values, MARGIN_F32, rows, columns, stride);
}

static margin_matrix columns_view(const void *const *columns, margin_type type, int64_t rows,
                                  int64_t count) {
    margin_matrix x = dense_view(NULL, type, rows, count, count);
    x.column_values = columns;
    return x;
}

margin_matrix margin_columns_f64(const double *const *columns, int64_t rows, int64_t count) {
    return columns_view((const void *const *)columns, MARGIN_F64, rows, count);
}

margin_matrix margin_columns_f32(const float *const *columns, int64_t rows, int64_t count) {
    return columns_view((const void *const *)columns, MARGIN_F32, rows, count);
}

margin_matrix margin_columns_typed(const margin_array *arrays, int64_t rows, int64_t count) {
    margin_matrix x = dense_view(NULL, MARGIN_F64, rows, count, count);
    x.arrays = arrays;
    return x;
}

static margin_matrix csr_view(const void *values, margin_type type, const int32_t *column_indices,
                              const int64_t *row_starts, int64_t rows, int64_t columns) {
    margin_matrix x = dense_view(values, type, rows, columns, 0);
    x.row_starts = row_starts;
    x.column_indices = column_indices;
    x.start_type = MARGIN_I64;
    x.index_type = MARGIN_I32;
    return x;
}

margin_matrix margin_csr_f64(const double *values, const int32_t *column_indices,
                             const int64_t *row_starts, int64_t rows, int64_t columns) {
    return csr_view(values, MARGIN_F64, column_indices, row_starts, rows, columns);
}

margin_matrix margin_csr_f32(const float *values, const int32_t *column_indices,
                             const int64_t *row_starts, int64_t rows, int64_t columns) {
    return csr_view(values, MARGIN_F32, column_indices, row_starts, rows, columns);
}

static margin_vector vector_view(const void *values, int64_t count, margin_type type) {
    return (margin_vector){.values = values, .count = count, .type = (int32_t)type};
}

margin_vector margin_labels_u8(const uint8_t *values, int64_t count) {
    return vector_view(values, count, MARGIN_U8);
}

margin_vector margin_labels_i32(const int32_t *values, int64_t count) {
    return vector_view(values, count, MARGIN_I32);
}

margin_vector margin_labels_i64(const int64_t *values, int64_t count) {
    return vector_view(values, count, MARGIN_I64);
}

margin_vector margin_values_f64(const double *values, int64_t count) {
    return vector_view(values, count, MARGIN_F64);
}

margin_vector margin_values_f32(const float *values, int64_t count) {
    return vector_view(values, count, MARGIN_F32);
}

/* ---- Columns -------------------------------------------------------------------------------- */

enum { EIGHT = 8 };
typedef double pack_f64 __attribute__((vector_size(16)));
typedef float pack_f32 __attribute__((vector_size(16)));

#define REAL_TYPES_TMPL "data/matrix/matrix_columns_tmpl.h"
#include "base/real_types_tmpl.h"

void mg_row_from_columns(const margin_matrix *x, int64_t row, int64_t first, int64_t count,
                         double *out) {
    for (int64_t j = 0; x->arrays && j < count; j++)
        out[j] = mg_array_value(x, row, first + j);
    if (x->arrays) return;
    if (x->value_type == MARGIN_F32)
        row_from_columns_f32(x, row, first, count, out);
    else
        row_from_columns_f64(x, row, first, count, out);
}

/* ---- Element and row access ----------------------------------------------------------------- */

double mg_vector_f64(const margin_vector *v, int64_t k) {
    const margin_array a = {.values = v->values, .type = v->type};
    double value = (double)NAN;
    switch (v->type) {
    case MARGIN_F64:
        return ((const double *)v->values)[k];
    case MARGIN_I32:
        return (double)((const int32_t *)v->values)[k];
    default:
        mg_column_read_f64(&a, NULL, k, 1, &value);
        return value;
    }
}

int64_t mg_row_find(const margin_matrix *x, int64_t row, int64_t column) {
    int64_t at;
    MG_BISECT(at, mg_row_start(x, row), mg_row_start(x, row + 1), mg_column_index(x, at) < column);
    return at;
}

void mg_row_expand(const margin_matrix *x, int64_t row, double *out) {
    if (mg_is_csr(x)) {
        int64_t first = mg_row_start(x, row), last = mg_row_start(x, row + 1);
        if (x->columns > 0) memset(out, 0, (size_t)x->columns * sizeof *out);
        for (int64_t k = first; k < last; k++)
            out[mg_column_index(x, k)] = mg_stored_value(x, k);
    } else if (mg_is_by_columns(x)) {
        mg_row_from_columns(x, row, 0, x->columns, out);
    } else {
        for (int64_t j = 0; j < x->columns; j++)
            out[j] = mg_stored_value(x, row * x->stride + j);
    }
}

bool mg_rows_follow(const int64_t *rows, int64_t count) {
    for (int64_t k = 1; k < count; k++)
        if (rows[k] != rows[0] + k) return false;
    return true;
}

void mg_rows_from_columns(const margin_matrix *x, const int64_t *rows, int64_t first, int64_t count,
                          void *out) {
    if (rows && count > 0 && mg_rows_follow(rows, count)) {
        first = rows[0];
        rows = NULL;
    }
    if (x->arrays)
        mg_rows_from_arrays(x, rows, first, count, out);
    else if (x->value_type == MARGIN_F32)
        rows_from_columns_f32(x, rows, first, count, out);
    else
        rows_from_columns_f64(x, rows, first, count, out);
}

void mg_rows_together(const margin_matrix *x, const int64_t *rows, int64_t first, int64_t count,
                      void *out) {
    const int64_t size = mg_type_size(x->value_type), bytes = x->columns * size;
    if (mg_is_by_columns(x)) {
        mg_rows_from_columns(x, rows, first, count, out);
        return;
    }
    for (int64_t i = 0; i < count && bytes > 0; i++)
        memcpy((char *)out + i * bytes,
               (const char *)x->values + (rows ? rows[i] : first + i) * x->stride * size,
               (size_t)bytes);
}

void mg_row_store(const margin_matrix *x, int64_t row, const double *values) {
    for (int64_t j = 0; j < x->columns; j++)
        mg_store_value(x, row * x->stride + j, values[j]);
}

double mg_row_length(const margin_matrix *x) {
    if (!mg_is_csr(x) || x->rows == 0) return (double)x->columns;
    return (double)(mg_row_start(x, x->rows) - mg_row_start(x, 0)) / (double)x->rows;
}

int64_t mg_row_bytes(const margin_matrix *x) {
    int64_t size = mg_type_size(x->value_type);
    if (!mg_is_csr(x)) return x->columns * size;
    int64_t stored = mg_row_start(x, x->rows) - mg_row_start(x, 0);
    int64_t average = x->rows > 0 ? stored / x->rows + 1 : 1;
    return average * (size + mg_type_size(x->index_type)) + mg_type_size(x->start_type);
}

const char *mg_column_name(const margin_column *columns, int64_t column, char buffer[32]) {
    if (columns && columns[column].name) return columns[column].name;
    snprintf(buffer, 32, "x%lld", (long long)column + 1);
    return buffer;
}

/* ---- Owned matrices ------------------------------------------------------------------------- */

void mg_matrix_buffer_free(mg_matrix_buffer *buffer) {
    if (!buffer || !buffer->heap) return;
    MG_FREE(buffer->heap, (void *)buffer->view.values, (void *)buffer->view.row_starts,
            (void *)buffer->view.column_indices);
    memset(buffer, 0, sizeof *buffer);
}

/* a * b, or a number that no allocation can satisfy. */
static int64_t product(int64_t a, int64_t b) {
    return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

margin_status mg_matrix_new_dense(mg_heap *heap, int64_t rows, int64_t columns, margin_type type,
                                  const char *purpose, mg_matrix_buffer *out, margin_error *error) {
    int64_t count = product(rows, columns);
    size_t size = (size_t)mg_type_size(type);
    void *values = mg_new(heap, count, size);
    if (!values) return mg_no_memory(heap, count, size, purpose, error);
    out->heap = heap;
    out->view = dense_view(values, type, rows, columns, columns);
    return MARGIN_OK;
}

static margin_status new_csr(mg_heap *heap, int64_t rows, int64_t columns, int64_t stored,
                             margin_type type, margin_type index_type, const char *purpose,
                             mg_matrix_buffer *out, margin_error *error) {
    size_t value_size = (size_t)mg_type_size(type), index_size = (size_t)mg_type_size(index_type);
    int64_t *starts = mg_new(heap, rows + 1, sizeof *starts);
    void *indices = starts ? mg_new(heap, stored, index_size) : NULL;
    void *values = indices ? mg_new(heap, stored, value_size) : NULL;
    if (!values) {
        margin_status status =
            !starts ? mg_no_memory(heap, rows + 1, sizeof *starts, purpose, error)
                    : mg_no_memory(heap, stored, indices ? value_size : index_size, purpose, error);
        MG_FREE(heap, indices, starts);
        return status;
    }
    out->heap = heap;
    out->view = csr_view(values, type, indices, starts, rows, columns);
    out->view.index_type = index_type;
    return MARGIN_OK;
}

margin_status mg_matrix_new_csr(mg_heap *heap, int64_t rows, int64_t columns, int64_t stored,
                                margin_type type, const char *purpose, mg_matrix_buffer *out,
                                margin_error *error) {
    MG_REQUIRE(columns <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "%s: %lld columns are more than the limit of %lld for sparse data", purpose,
               (long long)columns, (long long)INT32_MAX);
    return new_csr(heap, rows, columns, stored, type, MARGIN_I32, purpose, out, error);
}

static margin_status gather_dense(mg_heap *heap, const margin_matrix *x, const int64_t *rows,
                                  int64_t count, const char *purpose, mg_matrix_buffer *out,
                                  margin_error *error) {
    MG_TRY(mg_matrix_new_dense(heap, count, x->columns, x->value_type, purpose, out, error));
    mg_rows_together(x, rows, 0, count, (void *)out->view.values);
    return MARGIN_OK;
}

static margin_status gather_csr(mg_heap *heap, const margin_matrix *x, const int64_t *rows,
                                int64_t count, const char *purpose, mg_matrix_buffer *out,
                                margin_error *error) {
    int64_t stored = 0;
    for (int64_t i = 0; i < count; i++)
        stored += mg_row_start(x, rows[i] + 1) - mg_row_start(x, rows[i]);
    MG_TRY(new_csr(heap, count, x->columns, stored, x->value_type, x->index_type, purpose, out,
                   error));
    size_t value_size = (size_t)mg_type_size(x->value_type);
    size_t index_size = (size_t)mg_type_size(x->index_type);
    int64_t *starts = (int64_t *)out->view.row_starts;
    char *values = (char *)out->view.values, *indices = (char *)out->view.column_indices;
    starts[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        size_t from = (size_t)mg_row_start(x, rows[i]), to = (size_t)starts[i];
        size_t length = (size_t)mg_row_start(x, rows[i] + 1) - from;
        starts[i + 1] = (int64_t)(to + length);
        if (length == 0) continue;
        memcpy(values + to * value_size, (const char *)x->values + from * value_size,
               length * value_size);
        memcpy(indices + to * index_size, (const char *)x->column_indices + from * index_size,
               length * index_size);
    }
    return MARGIN_OK;
}

margin_status mg_matrix_gather(mg_heap *heap, const margin_matrix *x, const int64_t *rows,
                               int64_t count, const char *purpose, mg_matrix_buffer *out,
                               margin_error *error) {
    if (mg_is_csr(x)) return gather_csr(heap, x, rows, count, purpose, out, error);
    return gather_dense(heap, x, rows, count, purpose, out, error);
}
