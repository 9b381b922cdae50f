#ifndef MARGIN_MEASURE_H
#define MARGIN_MEASURE_H
#include "margin/data.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef enum margin_task {
    MARGIN_CLASSIFY = 1,
    MARGIN_REGRESS = 2,
    MARGIN_CLUSTER = 3,
    MARGIN_TRANSFORM = 4
} margin_task;
typedef struct margin_metric {
    const char *name;
    const char *help;
    int32_t task;
    int32_t greater;
    int32_t
        needs_probabilities;
} margin_metric;
MARGIN_API const margin_metric *margin_metric_at(int64_t number);
MARGIN_API const margin_metric *margin_metric_find(const char *name);
typedef struct margin_metrics {
    size_t size;
    int32_t task;
    int64_t rows, classes;
    double weight;
    double accuracy, error;
    double log_loss;
    double auc;
    double precision, recall, f1;
    double brier;
    double average_precision;
    double unknown;
    double rmse, mae, r2;
    double mse;
    double mean_margin, least_margin;
    double least_geometric_margin;
    double inertia;
    double silhouette;
    double *cluster_sizes;
    double *confusion;
    int64_t targets;
    double *target_rmse, *target_mae, *target_r2;
    void *inner;
} margin_metrics;
MARGIN_API void margin_metrics_free(margin_metrics *metrics);
MARGIN_API double margin_metrics_value(const margin_metrics *metrics, const char *name);
MARGIN_API int margin_metrics_interval(const margin_metrics *metrics, const char *name, double *low,
                                       double *high);
typedef struct margin_class_metrics {
    size_t size;
    double rows, predicted;
    double precision, recall,
        f1;
    double auc, average_precision;
} margin_class_metrics;
MARGIN_API int margin_metrics_class(const margin_metrics *metrics, int64_t class_index,
                                    margin_class_metrics *found);
typedef struct margin_predictions {
    size_t size;
    int32_t task;
    int64_t rows;
    int64_t classes;
    int64_t targets;
    margin_vector truth;
    margin_vector predicted;
    margin_vector weights;
    const double *probabilities;
    const double *scores;
} margin_predictions;
typedef struct margin_measure_options {
    size_t size;
    int64_t bootstrap;
    uint64_t seed;
    double level;
} margin_measure_options;
MARGIN_API MARGIN_CHECKED margin_status margin_measure(margin_context *context,
                                                       const margin_predictions *predictions,
                                                       const margin_measure_options *options,
                                                       margin_metrics *metrics,
                                                       margin_error *error);
#ifdef __cplusplus
}
#endif
#endif
