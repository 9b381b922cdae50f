/* What minmax and standardize share: out = (in - offset) / divisor, column by column. A division,
 * so that the greatest value of minmax becomes 1 and not a neighbour. A divisor of infinity stands
 * for a constant column: it becomes 0. Tensors `offset` and `divisor`. */
#pragma once

#include "features/columns/column_moments.h"

/* Gives the offset and the divisor of a column with the given statistics. False: its spread cannot
 * be expressed in double precision. */
typedef bool (*mg_scale_rule)(const mg_column_moments *moments, int64_t column,
                              const mg_option_value *options, double *offset, double *divisor);

/* The fit of such a stage: chooses columns by the option `columns`, sweeps, applies the rule;
 * columns not chosen, and categorical ones, stay as they are. Constant columns are logged. With the
 * option target=yes the same for the target (tensor `target`: offset and divisor; a constant one
 * has the divisor 1). */
margin_status mg_scale_fit(margin_context *context, const margin_data *data,
                           const mg_option_value *options, mg_moments_wanted wanted,
                           mg_scale_rule rule, mg_fitted_stage *fitted, margin_error *error);

/* Entries of mg_stage. */
margin_status mg_scale_attach(mg_fitted_stage *fitted, margin_error *error);
void mg_scale_apply_row(const mg_fitted_stage *fitted, const double *in, double *out);
margin_status mg_scale_apply(margin_context *context, const mg_fitted_stage *fitted,
                             const margin_matrix *in, mg_matrix_buffer *out, margin_error *error);
void mg_scale_affine(const mg_fitted_stage *fitted, int64_t column, double *offset,
                     double *divisor);
bool mg_scale_target(const mg_fitted_stage *fitted, double *offset, double *divisor);

#define MG_OPTION_TARGET                                                                           \
    MG_SWITCH("target", "no",                                                                      \
              "scale the target of a regression as well; the model is in its own units again")
