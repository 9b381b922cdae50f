/* The tables of each instruction set, seen only by the dispatcher. */
#ifndef MG_ROW_OPS_TABLES_H
#define MG_ROW_OPS_TABLES_H

#include "math/rows/row_ops.h"

typedef enum mg_row_layout {
    MG_ROWS_DENSE_F64,
    MG_ROWS_DENSE_F32,
    MG_ROWS_CSR_F64_I32,
    MG_ROWS_CSR_F64_I64,
    MG_ROWS_CSR_F32_I32,
    MG_ROWS_CSR_F32_I64,
    MG_ROW_LAYOUTS
} mg_row_layout;

extern const mg_row_ops mg_row_ops_ref[MG_ROW_LAYOUTS];
extern const mg_vector_ops mg_vector_ops_ref;

/* Dense layouts only: index MG_ROWS_DENSE_F64 or MG_ROWS_DENSE_F32. */
#if defined(__x86_64__)
extern const mg_row_ops mg_row_ops_avx2[2], mg_row_ops_avx512[2];
extern const mg_vector_ops mg_vector_ops_avx2, mg_vector_ops_avx512;
#endif

#endif
