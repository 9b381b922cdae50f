/* How well predictions meet targets, summed over samples in a fixed order. */
#ifndef MG_FIT_SCORE_H
#define MG_FIT_SCORE_H

#include "model/samples.h"

/* Fills in the training accuracy, or rmse and r2, of a finished model: what its own predictions for
 * the training rows, as the caller gave them, are worth. */
margin_status mg_fit_score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, margin_model *model, margin_error *error);

/* Weighted sums of squares for regression; NaN where there is nothing to compare with. */
typedef struct mg_value_score {
    double weight, rmse, mae, r2;
} mg_value_score;
mg_value_score mg_score_values(const double *values, const double *targets,
                               const mg_samples *samples);

/* Weighted share of equal classes. */
double mg_score_classes(const int64_t *labels, const int32_t *codes, const mg_samples *samples);

#endif
