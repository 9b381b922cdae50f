#ifndef MARGIN_PROMISE_H
#define MARGIN_PROMISE_H
#include "margin/model.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef enum margin_calibration {
    MARGIN_CALIBRATE_NONE = 0,
    MARGIN_CALIBRATE_SIGMOID = 1,
    MARGIN_CALIBRATE_ISOTONIC = 2,
    MARGIN_CALIBRATE_TEMPERATURE = 3
} margin_calibration;
typedef struct margin_promise_options {
    size_t size;
    int32_t calibrate;
    double coverage;
    double threshold;
    const char *threshold_metric;
    const double *costs;
    int64_t cost_count;
    int64_t folds;
    uint64_t seed;
    margin_vector groups;
} margin_promise_options;
MARGIN_API MARGIN_CHECKED margin_status
margin_promise(margin_context *context, const margin_model *model, const margin_data *data,
               const margin_promise_options *options, margin_model **promised, margin_error *error);
MARGIN_API int32_t margin_model_calibration(const margin_model *model);
MARGIN_API double margin_model_threshold(const margin_model *model);
MARGIN_API const double *margin_model_costs(const margin_model *model);
MARGIN_API double margin_model_coverage(const margin_model *model);
MARGIN_API MARGIN_CHECKED margin_status margin_model_with_threshold(margin_context *context,
                                                                    const margin_model *model,
                                                                    double threshold,
                                                                    margin_model **changed,
                                                                    margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_predict_intervals(margin_context *context,
                                                                 const margin_model *model,
                                                                 const margin_data *data,
                                                                 double *lower, double *upper,
                                                                 margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_predict_sets(margin_context *context,
                                                            const margin_model *model,
                                                            const margin_data *data, uint8_t *sets,
                                                            margin_error *error);
typedef struct margin_coverage_found {
    size_t size;
    int64_t rows;
    double asked, covered;
    double width;
} margin_coverage_found;
MARGIN_API MARGIN_CHECKED margin_status margin_coverage(margin_context *context,
                                                        const margin_model *model,
                                                        const margin_data *data,
                                                        margin_coverage_found *found,
                                                        margin_error *error);
#ifdef __cplusplus
}
#endif
#endif
