/* What stages that stand for a kernel share: the kernel from options and data, names of columns. */
#pragma once

#include "learn/kernel_options.h"

/* Refuses categories, options that contradict each other, and kernels that are no inner product;
 * finds gamma. */
margin_status mg_map_kernel(margin_context *context, const margin_component *info,
                            const margin_data *data, const mg_option_value *options,
                            mg_kernel *kernel, margin_error *error);
/* "word1", "word2", ... as the output columns. */
margin_status mg_map_names(const char *word, int64_t count, mg_fitted_stage *fitted,
                           margin_error *error);
