/* What stages that stand for a kernel share: the kernel from options and data. */
#pragma once

#include "learn/kernels/kernel_options.h"

#include <math.h>

/* Refuses categories, options that contradict each other, and kernels that are no inner product;
 * finds gamma. */
margin_status mg_map_kernel(margin_context *context, const margin_component *info,
                            const margin_data *data, const mg_option_value *options,
                            mg_kernel *kernel, margin_error *error);
margin_status mg_map_refuse_categories(const margin_component *info, const margin_data *data,
                                       margin_error *error);
/* The kernel that a stage sees from some rows; false: it is none that does (nystroem.c). */
bool mg_nystroem_kernel(const mg_fitted_stage *fitted, mg_kernel *kernel);
/* A feature below 1e-30 becomes 0: only a weight beyond the stated domain would give it a say. */
MG_INLINE void mg_map_flush(double *values, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        values[k] = fabs(values[k]) < 1e-30 ? 0.0 : values[k];
}
