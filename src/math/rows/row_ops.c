/* Choice of the row products for a view and an instruction set. */
#include "math/rows/row_ops_tables.h"

static mg_row_layout layout_of(const margin_matrix *x) {
    bool f32 = x->value_type == MARGIN_F32, i64 = x->index_type == MARGIN_I64;
    if (!mg_is_csr(x)) return f32 ? MG_ROWS_DENSE_F32 : MG_ROWS_DENSE_F64;
    if (f32) return i64 ? MG_ROWS_CSR_F32_I64 : MG_ROWS_CSR_F32_I32;
    return i64 ? MG_ROWS_CSR_F64_I64 : MG_ROWS_CSR_F64_I32;
}

const mg_row_ops *mg_row_ops_for(const margin_matrix *x, mg_isa isa) {
    mg_row_layout layout = layout_of(x);
#if defined(__x86_64__)
    if (layout <= MG_ROWS_DENSE_F32 && isa == MG_ISA_AVX512) return &mg_row_ops_avx512[layout];
    if (layout <= MG_ROWS_DENSE_F32 && isa == MG_ISA_AVX2) return &mg_row_ops_avx2[layout];
#else
    (void)isa;
#endif
    return &mg_row_ops_ref[layout];
}

const mg_vector_ops *mg_vector_ops_for(mg_isa isa) {
#if defined(__x86_64__)
    if (isa == MG_ISA_AVX512) return &mg_vector_ops_avx512;
    if (isa == MG_ISA_AVX2) return &mg_vector_ops_avx2;
#else
    (void)isa;
#endif
    return &mg_vector_ops_ref;
}
