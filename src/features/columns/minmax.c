/* minmax: each column to a range, by default [0, 1]. */
#include "features/columns/column_scale.h"
#include "features/columns/stages.h"
#include "learn/column_choice.h"

#include <math.h>

static bool to_range(const mg_column_moments *moments, int64_t j, const mg_option_value *options,
                     double *offset, double *divisor) {
    const double low = mg_stage_option(&mg_stage_minmax, options, "low")->number;
    const double high = mg_stage_option(&mg_stage_minmax, options, "high")->number;
    *divisor = (moments->greatest[j] - moments->least[j]) / (high - low);
    *offset = moments->least[j] - low * *divisor;
    return isfinite(*divisor) && *divisor > 0 && isfinite(*offset);
}

static margin_status minmax_fit(margin_context *context, const margin_data *data,
                                const mg_option_value *options, mg_fitted_stage *fitted,
                                margin_error *error) {
    const double low = mg_stage_option(&mg_stage_minmax, options, "low")->number;
    const double high = mg_stage_option(&mg_stage_minmax, options, "high")->number;
    if (!(low < high))
        return mg_fail_spec(error, -1, "minmax: low (%s) must be below high (%s)",
                            mg_number(low).text, mg_number(high).text);
    return mg_scale_fit(context, data, options, MG_WANT_RANGE, to_range, fitted, error);
}

static const margin_option options[] = {
    MG_TEXT("columns", NULL,
            "columns to scale: names or numbers from 1, separated by commas; without it all "
            "numeric ones"),
    MG_NUMBER("low", "0", "what the least value becomes", .low = -1e6, .high = 1e6),
    MG_NUMBER("high", "1", "what the greatest value becomes; above low", .low = -1e6, .high = 1e6),
    MG_OPTION_TARGET,
};

const mg_stage mg_stage_minmax = {
    .info = {.name = "minmax",
             .kind = MARGIN_STAGE,
             .summary = "scales every column to the range from 0 to 1",
             .formula = "x' = low + (high - low) (x - min) / (max - min)",
             .source = "Han, Kamber, Pei, Data Mining, 3rd ed., 2011, section 3.5.2",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = minmax_fit,
    .attach = mg_scale_attach,
    .apply_row = mg_scale_apply_row,
    .apply = mg_scale_apply,
    .affine = mg_scale_affine,
    .target = mg_scale_target,
    .fits_made_rows = true};
