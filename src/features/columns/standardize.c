/* standardize: each column to mean 0 and deviation 1. The deviation is that of the population
 * (divided by m, not m - 1), as in scikit-learn. */
#include "features/columns/column_scale.h"
#include "features/columns/stages.h"
#include "learn/column_choice.h"

#include <float.h>
#include <math.h>

/* Squares below this have lost digits on their way to zero. */
#define LEAST_VARIANCE (DBL_MIN / DBL_EPSILON)

static bool to_unit_deviation(const mg_column_moments *moments, int64_t j,
                              const mg_option_value *options, double *offset, double *divisor) {
    const bool center = mg_stage_option(&mg_stage_standardize, options, "center")->integer != 0;
    const bool scale = mg_stage_option(&mg_stage_standardize, options, "scale")->integer != 0;
    *offset = center ? moments->mean[j] : 0;
    const double variance = moments->squares[j] / moments->weight[j];
    *divisor = scale ? sqrt(variance) : 1;
    return isfinite(*offset) && (!scale || (isfinite(*divisor) && variance >= LEAST_VARIANCE));
}

static margin_status standardize_fit(margin_context *context, const margin_data *data,
                                     const mg_option_value *options, mg_fitted_stage *fitted,
                                     margin_error *error) {
    return mg_scale_fit(context, data, options, MG_WANT_SPREAD, to_unit_deviation, fitted, error);
}

static const margin_option options[] = {
    MG_TEXT("columns", NULL,
            "columns to scale: names or numbers from 1, separated by commas; without it all "
            "numeric ones"),
    MG_SWITCH("center", "yes", "subtract the mean; no keeps sparse data sparse"),
    MG_SWITCH("scale", "yes", "divide by the standard deviation"),
    MG_OPTION_TARGET,
};

const mg_stage mg_stage_standardize = {
    .info = {.name = "standardize",
             .kind = MARGIN_STAGE,
             .summary = "shifts and scales every column to mean 0 and standard deviation 1",
             .formula = "x' = (x - mean) / deviation, deviation = sqrt(1/m sum (x - mean)^2)",
             .source = "Chan, Golub, LeVeque, Algorithms for computing the sample variance, The "
                       "American Statistician 37, 1983",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = standardize_fit,
    .attach = mg_scale_attach,
    .apply_row = mg_scale_apply_row,
    .apply = mg_scale_apply,
    .affine = mg_scale_affine,
    .target = mg_scale_target,
    .fits_made_rows = true};
