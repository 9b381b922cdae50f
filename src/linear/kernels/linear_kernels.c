/* The choice of kernels for a view of rows. */
#include "linear/kernels/linear_kernels.h"

const mg_design_rows *mg_design_rows_for(const margin_matrix *x, mg_isa isa) {
    if (mg_is_csr(x)) return NULL;
    return &MG_ISA_TABLE(isa, mg_linear_kernels)->design[x->value_type == MARGIN_F32];
}

const mg_classes_rows *mg_classes_rows_for(const margin_matrix *x, mg_isa isa, bool single) {
    const int at = x->value_type == MARGIN_F64 ? 0 : single ? 2 : 1;
    return &MG_ISA_TABLE(isa, mg_linear_kernels)->classes[at];
}

const mg_dual_lane_rows *mg_dual_lane_rows_for(const margin_matrix *x, mg_isa isa) {
    const bool f32 = x->value_type == MARGIN_F32, i64 = x->index_type == MARGIN_I64;
    return &MG_ISA_TABLE(isa, mg_linear_kernels)->lanes[f32][i64];
}
