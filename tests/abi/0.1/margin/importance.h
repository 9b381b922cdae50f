#ifndef MARGIN_IMPORTANCE_H
#define MARGIN_IMPORTANCE_H
#include "margin/model.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_importance margin_importance;
typedef struct margin_importance_options {
    size_t size;
    const char *metric;
    int64_t repeats;
    uint64_t seed;
} margin_importance_options;
MARGIN_API MARGIN_CHECKED margin_status margin_importance_measure(
    margin_context *context, const margin_model *model, const margin_data *data,
    const margin_importance_options *options, margin_importance **importance, margin_error *error);
MARGIN_API void margin_importance_free(margin_importance *importance);
MARGIN_API const char *margin_importance_metric(const margin_importance *importance);
MARGIN_API double margin_importance_base(const margin_importance *importance);
MARGIN_API int64_t margin_importance_count(const margin_importance *importance);
typedef struct margin_importance_column {
    size_t size;
    double mean, deviation;
    double weight_per_deviation;
} margin_importance_column;
MARGIN_API int margin_importance_of(const margin_importance *importance, int64_t column,
                                    margin_importance_column *found);
#ifdef __cplusplus
}
#endif
#endif
