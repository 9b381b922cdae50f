/* The kernels of one instruction set but for the losses: included by its file after the vector type
 * and classes_rows_tmpl.h for _f64, _f32 and _single, with LOSS_PASS (the name of the loss pass)
 * and KERNELS (the name of the table) defined. */
#include "math/losses/linear_kernels.h"

enum { TOGETHER = 4, MOST_ROWS = MG_CHUNK_ROWS };
#define VALUE_TYPES_TMPL "math/losses/design_rows_tmpl.h"
#include "math/vectors/value_types_tmpl.h"

const mg_linear_kernels KERNELS = {
    .design = {{design_scores_f64, design_gradient_f64, design_moments_f64},
               {design_scores_f32, design_gradient_f32, design_moments_f32}},
    .classes = {{classes_scores_f64, classes_gradient_f64, false},
                {classes_scores_f32, classes_gradient_f32, false},
                {classes_scores_single, classes_gradient_single, true}},
    .loss_pass = LOSS_PASS,
};
