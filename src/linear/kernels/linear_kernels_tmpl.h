/* The kernels of one instruction set but for the losses: included by its file after the vector type
 * and classes_rows_tmpl.h for _f64, _f32 and _single, with LOSS_PASS (the name of the loss pass)
 * and KERNELS (the name of the table) defined. */
#include "linear/kernels/linear_kernels.h"

enum { TOGETHER = 4, MOST_ROWS = MG_CHUNK_ROWS };
#define VALUE_TYPES_TMPL "linear/kernels/design_rows_tmpl.h"
#include "math/vectors/value_types_tmpl.h"

enum { SUMS = 4, PARTS = MG_DUAL_LANES / LANES };

#define ROWS_CSR "linear/kernels/dual_cd_lanes_tmpl.h"
#include "math/rows/row_layouts_tmpl.h"

const mg_linear_kernels KERNELS = {
    .design = {{design_scores_f64, design_gradient_f64, design_moments_f64},
               {design_scores_f32, design_gradient_f32, design_moments_f32}},
    .classes = {{classes_scores_f64, classes_gradient_f64, false},
                {classes_scores_f32, classes_gradient_f32, false},
                {classes_scores_single, classes_gradient_single, true}},
    .lanes = {{{lanes_dot_csr_f64_i32, lanes_add_csr_f64_i32},
               {lanes_dot_csr_f64_i64, lanes_add_csr_f64_i64}},
              {{lanes_dot_csr_f32_i32, lanes_add_csr_f32_i32},
               {lanes_dot_csr_f32_i64, lanes_add_csr_f32_i64}}},
    .loss_pass = LOSS_PASS,
};
