/* The choice of kernels for a view of rows. */
#include "math/losses/linear_kernels.h"

const mg_design_rows *mg_design_rows_for(const margin_matrix *x, mg_isa isa) {
    if (mg_is_csr(x)) return NULL;
    return &MG_ISA_TABLE(isa, mg_linear_kernels)->design[x->value_type == MARGIN_F32];
}

const mg_classes_rows *mg_classes_rows_for(const margin_matrix *x, mg_isa isa, bool single) {
    const int at = x->value_type == MARGIN_F64 ? 0 : single ? 2 : 1;
    return &MG_ISA_TABLE(isa, mg_linear_kernels)->classes[at];
}

/* ---- Rows one at a time, for dual coordinate descent ----------------------------------------- */

enum { FETCHED_BYTES = 1024 }; /* at most: further on the processor follows by itself */

/* Inline: gcc drops a call that only fetches. */
MG_INLINE void fetch(const void *first, int64_t bytes) {
    mg_fetch(first, 0, MG_MIN(bytes, FETCHED_BYTES));
}

#define ROWS_DENSE "math/losses/dual_cd_rows_tmpl.h"
#define ROWS_CSR   "math/losses/dual_cd_rows_tmpl.h"
#include "math/rows/row_layouts_tmpl.h"

#define ROW_LOOPS(suffix)                                                                          \
    { add_scaled_##suffix, square_##suffix, prefetch_##suffix }

const mg_dual_rows *mg_dual_rows_for(const margin_matrix *x) {
    static const mg_dual_rows dense[2] = {ROW_LOOPS(dense_f64), ROW_LOOPS(dense_f32)};
    static const mg_dual_rows sparse[2][2] = {{ROW_LOOPS(csr_f64_i32), ROW_LOOPS(csr_f64_i64)},
                                              {ROW_LOOPS(csr_f32_i32), ROW_LOOPS(csr_f32_i64)}};
    const bool f32 = x->value_type == MARGIN_F32;
    return mg_is_csr(x) ? &sparse[f32][x->index_type == MARGIN_I64] : &dense[f32];
}
