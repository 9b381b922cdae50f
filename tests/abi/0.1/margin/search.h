#ifndef MARGIN_SEARCH_H
#define MARGIN_SEARCH_H
#include "margin/model.h"
#include "margin/split.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_search_cell {
    const char *spec;
    int64_t owner;
    int64_t number;
    int32_t status;
    int32_t dropped;
    const char *reason;
    int64_t rows;
    double mean;
    double deviation;
    const double *values;
    const double *training;
    double gap;
    double fit_seconds, predict_seconds;
    const double *predictions;
} margin_search_cell;
typedef struct margin_search_result {
    int64_t count;
    int64_t splits, rows;
    int32_t task;
    int32_t greater;
    const char *metric;
    int64_t best;
    int64_t best_one_se;
    int64_t stopped, failed, resumed;
    int64_t classes;
    const char *const *class_names;
    double seconds;
    int32_t threads;
    const double *baseline;
    double test_share;
    const char *set_end;
} margin_search_result;
typedef enum margin_search_method {
    MARGIN_SEARCH_GRID = 0,
    MARGIN_SEARCH_RANDOM = 1,
    MARGIN_SEARCH_HALVING = 2
} margin_search_method;
typedef struct margin_search_options {
    size_t size;
    int32_t method;
    int32_t training;
    int64_t count;
    int64_t most_cells;
    const char *metric;
    double cell_seconds;
    const char *journal;
    int32_t baseline;
    int32_t predictions;
    void (*finished)(const margin_search_cell *cell, int64_t done, int64_t count, void *user);
    void *user;
} margin_search_options;
MARGIN_API MARGIN_CHECKED margin_status
margin_search(margin_context *context, const margin_spec *spec, const margin_data *data,
              const margin_splits *splits, const margin_search_options *options,
              margin_search_result **result, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_search_specs(
    margin_context *context, const margin_spec *const *specs, int64_t count,
    const margin_data *data, const margin_splits *splits, const margin_search_options *options,
    margin_search_result **result, margin_error *error);
MARGIN_API void margin_search_result_free(margin_search_result *result);
MARGIN_API MARGIN_CHECKED margin_status margin_usual_specs(margin_context *context,
                                                           const margin_data *data,
                                                           int64_t capacity, margin_spec **specs,
                                                           int64_t *count, margin_error *error);
MARGIN_API const margin_search_cell *margin_search_cell_at(const margin_search_result *result,
                                                           int64_t cell);
typedef struct margin_search_difference {
    size_t size;
    double mean, low, high;
} margin_search_difference;
MARGIN_API int margin_search_interval(const margin_search_result *result, const double *values,
                                      const double *against, double level,
                                      margin_search_difference *found);
typedef struct margin_nested_fold {
    const char *spec;
    const char *reason;
    int32_t status;
    double value;
    double inside;
} margin_nested_fold;
typedef struct margin_nested_result {
    int64_t splits, rows;
    int32_t task, greater;
    const char *metric;
    const double *values, *baseline;
    double mean, deviation;
    double low, high;
    double gain, gain_low, gain_high;
    int64_t failed, stopped;
    double seconds;
    int32_t threads;
} margin_nested_result;
MARGIN_API const margin_nested_fold *margin_nested_fold_at(const margin_nested_result *result,
                                                           int64_t number);
MARGIN_API MARGIN_CHECKED margin_status
margin_search_nested(margin_context *context, const margin_spec *const *specs, int64_t count,
                     const margin_data *data, const margin_splits *outer,
                     const margin_split_options *inner, const margin_search_options *options,
                     int32_t one_se, margin_nested_result **result, margin_error *error);
MARGIN_API void margin_nested_result_free(margin_nested_result *result);
#ifdef __cplusplus
}
#endif
#endif
