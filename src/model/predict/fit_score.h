/* How well predictions meet the targets of the training rows. */
#pragma once

#include "model/problem/samples.h"

/* Fills in the training accuracy, or rmse and r2, in the report of a finished model: what its own
 * predictions for the training rows, as the caller gave them, are worth. */
margin_status mg_fit_score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, const margin_model *model,
                           margin_report *report, margin_error *error);
