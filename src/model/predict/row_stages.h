/* Rows through the stages of a model, one by one, and whether a stage refuses them. */
#pragma once

#include "model/object/model_object.h"

/* Of a row on its way to the last stage. */
int64_t mg_width_before(const margin_model *model);

/* One row through the first `stages` stages; `way` holds two rows (one, if there is one stage). */
void mg_stage_row(const margin_model *model, int stages, const margin_matrix *x, int64_t row,
                  double *way, double *features);

/* May a component take what an earlier stage tells by NaN, that it refuses a row, for a value that
 * is missing? */
bool mg_may_take_refusals(const margin_model *model);

/* Does a stage refuse the row, or a value that is missing come to one that does not take it, as in
 * a fit? `way` holds two rows and `out` one, of mg_model_row_width. */
bool mg_row_is_refused(const margin_model *model, const margin_matrix *x, int64_t row, double *way,
                       double *out);
