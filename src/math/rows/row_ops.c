/* Choice of the row products for a view and an instruction set. */
#include "math/rows/row_kernels.h"

static mg_row_layout layout_of(const margin_matrix *x) {
    bool f32 = x->value_type == MARGIN_F32, i64 = x->index_type == MARGIN_I64;
    if (!mg_is_csr(x)) return f32 ? MG_ROWS_DENSE_F32 : MG_ROWS_DENSE_F64;
    if (f32) return i64 ? MG_ROWS_CSR_F32_I64 : MG_ROWS_CSR_F32_I32;
    return i64 ? MG_ROWS_CSR_F64_I64 : MG_ROWS_CSR_F64_I32;
}

const mg_row_ops *mg_row_ops_for(const margin_matrix *x, mg_isa isa) {
    const mg_row_layout layout = layout_of(x);
    if (layout > MG_ROWS_DENSE_F32) isa = MG_ISA_REF;
    return &MG_ISA_TABLE(isa, mg_row_kernels)->rows[layout];
}

const mg_row_lanes *mg_row_lanes_for(const margin_matrix *x, mg_isa isa) {
    const bool f32 = x->value_type == MARGIN_F32, i64 = x->index_type == MARGIN_I64;
    return &MG_ISA_TABLE(isa, mg_row_kernels)->lanes[f32][i64];
}

/* Four lanes are a vector of AVX2. */
mg_row_fours_add *mg_row_fours_for(const margin_matrix *x, mg_isa isa) {
    const bool f32 = x->value_type == MARGIN_F32, i64 = x->index_type == MARGIN_I64;
    if (isa > MG_ISA_AVX2) isa = MG_ISA_AVX2;
    return MG_ISA_TABLE(isa, mg_row_kernels)->fours[f32][i64];
}

const mg_column_ops *mg_column_ops_for(const margin_matrix *x, mg_isa isa) {
    if (!mg_is_by_columns(x)) return NULL;
    return &MG_ISA_TABLE(isa, mg_row_kernels)->columns[x->value_type == MARGIN_F32];
}

const mg_triangle_ops *mg_triangle_ops_for(mg_isa isa) {
    return &MG_ISA_TABLE(isa, mg_row_kernels)->triangle;
}

const mg_vector_ops *mg_vector_ops_for(mg_isa isa) {
    return &MG_ISA_TABLE(isa, mg_row_kernels)->vectors;
}
