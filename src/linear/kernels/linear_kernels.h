/* The inner loops of linear models for each instruction set. */
#ifndef MG_LINEAR_KERNELS_H
#define MG_LINEAR_KERNELS_H

#include "linear/kernels/classes_rows.h"
#include "linear/kernels/design_rows.h"
#include "linear/kernels/dual_rows.h"
#include "linear/kernels/loss.h"

mg_loss_passer mg_loss_pass_ref, mg_loss_pass_avx2, mg_loss_pass_avx512;

typedef struct mg_linear_kernels {
    mg_design_rows design[2];      /* of f64 and f32 */
    mg_classes_rows classes[3];    /* f64, f32 in f64, f32 in f32 */
    mg_dual_lane_rows lanes[2][2]; /* f64 and f32, i32 and i64; the same bits in every set */
    mg_loss_passer *loss_pass;     /* the same bits in every set */
} mg_linear_kernels;
MG_ISA_TABLES(mg_linear_kernels, mg_linear_kernels);

#endif
