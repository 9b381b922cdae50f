/* How well predictions meet the targets of the training rows. */
#pragma once

#include "model/problem/samples.h"

/* Fills in the training accuracy, or rmse and r2, in the report of a finished model: what its own
 * predictions for the training rows, as the caller gave them, are worth: for as many of them as the
 * model's report has in MG_SCORED_ROWS, spread evenly, and for all where it has no such item.
 * known: the class predicted for each sample, or MG_IN_DOUBT; NULL: for none. verified: gets what
 * rounding of predictions may have made of rmse and r2; NULL: in a fit. */
margin_status mg_fit_score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, const int64_t *known,
                           const margin_model *model, margin_report *report, mg_verified *verified,
                           margin_error *error);
