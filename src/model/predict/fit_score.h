/* How well predictions meet targets, summed over samples in a fixed order. */
#ifndef MG_FIT_SCORE_H
#define MG_FIT_SCORE_H

#include "model/problem/samples.h"

/* Fills in the training accuracy, or rmse and r2, in the report of a finished model: what its own
 * predictions for the training rows, as the caller gave them, are worth. */
margin_status mg_fit_score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, const margin_model *model,
                           margin_report *report, margin_error *error);

/* Weighted sums of squares for regression; NaN where there is nothing to compare with. */
typedef struct mg_value_score {
    double weight, rmse, mae, r2;
} mg_value_score;
/* Of each of `count` targets. Values of a row together, targets one after the other. */
margin_status mg_score_values(margin_context *context, const double *values, int64_t count,
                              const double *targets, const mg_samples *samples,
                              mg_value_score *each, margin_error *error);
/* Of all of them: see margin_metrics. */
mg_value_score mg_score_all(const mg_value_score *each, int64_t count);

/* Weighted share of equal classes. */
double mg_score_classes(const int64_t *labels, const int32_t *codes, const mg_samples *samples);

#endif
