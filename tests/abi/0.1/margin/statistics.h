#ifndef MARGIN_STATISTICS_H
#define MARGIN_STATISTICS_H
#include "margin/model.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_coefficient {
    const char *name;
    double estimate;
    double error;
    double statistic;
    double p_value;
    double low, high;
    double inflation;
} margin_coefficient;
typedef struct margin_dependence {
    int64_t feature, term_count;
    const int64_t *terms;
    const double *factors;
    double constant;
} margin_dependence;
typedef struct margin_statistics_result {
    size_t size;
    int32_t task;
    int64_t rows;
    double weight;
    int64_t coefficient_count;
    int32_t has_intercept;
    double confidence;
    const double *covariance;
    int64_t rank;
    double condition;
    int64_t dependence_count;
    double distance;
    double freedom;
    double log_likelihood;
    double aic, bic;
    double residual_error;
    double r2, adjusted_r2;
    double f, f_freedom, f_p_value;
    double null_log_likelihood;
    double pseudo_r2;
    double ratio, ratio_p_value;
    void *inner;
} margin_statistics_result;
MARGIN_API const margin_coefficient *
margin_statistics_coefficient(const margin_statistics_result *result, int64_t number);
MARGIN_API const margin_dependence *
margin_statistics_dependence(const margin_statistics_result *result, int64_t number);
typedef struct margin_statistics_options {
    size_t size;
    double confidence;
    int32_t covariance;
    int64_t target;
} margin_statistics_options;
MARGIN_API MARGIN_CHECKED margin_status margin_statistics(margin_context *context,
                                                          const margin_model *model,
                                                          const margin_data *data,
                                                          const margin_statistics_options *options,
                                                          margin_statistics_result *result,
                                                          margin_error *error);
MARGIN_API void margin_statistics_free(margin_statistics_result *result);
#ifdef __cplusplus
}
#endif
#endif
