/* The kernels of each instruction set, seen only by the dispatchers. */
#pragma once

#include "math/rows/column_ops.h"
#include "math/rows/row_ops.h"

/* mg_row_start, for inner loops. */
MG_INLINE int64_t mg_csr_start(const margin_matrix *x, int64_t row) {
    if (x->start_type == MARGIN_I64) return ((const int64_t *)x->row_starts)[row];
    return ((const int32_t *)x->row_starts)[row];
}

typedef enum mg_row_layout {
    MG_ROWS_DENSE_F64,
    MG_ROWS_DENSE_F32,
    MG_ROWS_CSR_F64_I32,
    MG_ROWS_CSR_F64_I64,
    MG_ROWS_CSR_F32_I32,
    MG_ROWS_CSR_F32_I64,
    MG_ROW_LAYOUTS
} mg_row_layout;

typedef void mg_array_function(const double *x, int64_t count, double *out);

typedef struct mg_row_kernels {
    mg_row_ops rows[MG_ROW_LAYOUTS]; /* no functions for sparse rows but in plain C */
    mg_row_lanes lanes[2][2];        /* f64 and f32, i32 and i64; the same bits in every set */
    mg_row_fours_add *fours[2][2];   /* the same; NULL: those of AVX2 */
    mg_column_ops columns[2];        /* f64, f32 */
    mg_vector_ops vectors;
    mg_triangle_ops triangle;
    mg_array_function *exp, *log1p; /* the same bits in every set */
} mg_row_kernels;
MG_ISA_TABLES(mg_row_kernels, mg_row_kernels);
