#ifndef MARGIN_MODEL_H
#define MARGIN_MODEL_H
#include "margin/data.h"
#include "margin/measure.h"
#include "margin/spec.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_model margin_model;
typedef struct margin_report_item {
    char name[24];
    double value;
} margin_report_item;
enum { MARGIN_REPORT_ITEMS = 16 };
typedef struct margin_report {
    size_t size;
    int32_t status;
    int32_t task;
    int64_t rows, columns;
    int64_t classes;
    double objective;
    double gap;
    double tolerance;
    int64_t iterations;
    double seconds;
    int32_t threads;
    int64_t subproblems;
    char iteration_name[24];
    char formula[160];
    char reason[400];
    double train_accuracy, train_rmse, train_r2;
    int64_t item_count;
    margin_report_item items[MARGIN_REPORT_ITEMS];
} margin_report;
MARGIN_API double margin_report_item_value(const margin_report *report, const char *name);
typedef struct margin_novikoff {
    double along, least_along;
    double square, greatest_square;
} margin_novikoff;
typedef struct margin_trace_step {
    int64_t subproblem, subproblems;
    int64_t step;
    int64_t row;
    int64_t errors;
    double loss;
    double intercept;
    const double *weights;
    int64_t weight_count;
    const double *alpha, *updates;
    int64_t alpha_count;
    const double *distance;
    const margin_novikoff *novikoff;
} margin_trace_step;
typedef struct margin_fit_options {
    size_t size;
    int (*trace)(const margin_trace_step *step, void *user);
    void *user;
    const margin_model *start;
    const double *class_weights;
    int64_t class_weight_count;
    const double *centres;
    int64_t centre_count;
    void (*part)(const margin_report *report, int64_t subproblem, void *user);
} margin_fit_options;
MARGIN_API MARGIN_CHECKED margin_status margin_fit(margin_context *context, const margin_spec *spec,
                                                   const margin_data *data, margin_model **model,
                                                   margin_report *report, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_fit_with(margin_context *context,
                                                        const margin_spec *spec,
                                                        const margin_data *data,
                                                        const margin_fit_options *options,
                                                        margin_model **model, margin_report *report,
                                                        margin_error *error);
MARGIN_API void margin_model_free(margin_model *model);
MARGIN_API MARGIN_CHECKED margin_status margin_update(margin_context *context,
                                                      const margin_model *model,
                                                      const margin_data *data,
                                                      margin_model **updated, margin_report *report,
                                                      margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_gram(margin_context *context,
                                                    const margin_spec *spec,
                                                    const margin_data *data, int64_t capacity,
                                                    double *values, int64_t *rows,
                                                    margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_predict(const margin_model *model,
                                                       const margin_matrix *x, int64_t *labels,
                                                       margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_predict_values(const margin_model *model,
                                                              const margin_matrix *x,
                                                              double *values, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_scores(const margin_model *model,
                                                      const margin_matrix *x, double *scores,
                                                      margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_probabilities(const margin_model *model,
                                                             const margin_matrix *x,
                                                             double *probabilities,
                                                             margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_class_scores(const margin_model *model,
                                                            const margin_matrix *x, double *scores,
                                                            margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_distances(const margin_model *model,
                                                         const margin_matrix *x, double *distances,
                                                         margin_error *error);
typedef enum margin_output {
    MARGIN_OUTPUT_LABELS,
    MARGIN_OUTPUT_VALUES,
    MARGIN_OUTPUT_SCORES,
    MARGIN_OUTPUT_PROBABILITIES,
    MARGIN_OUTPUT_CLASS_SCORES,
    MARGIN_OUTPUT_DISTANCES
} margin_output;
MARGIN_API MARGIN_CHECKED margin_status margin_predict_parallel(margin_context *context,
                                                                const margin_model *model,
                                                                const margin_matrix *x,
                                                                margin_output what, void *out,
                                                                margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_predict_data(margin_context *context,
                                                            const margin_model *model,
                                                            const margin_data *data,
                                                            margin_output what, void *out,
                                                            margin_error *error);
MARGIN_API int64_t margin_model_scratch_size(const margin_model *model);
MARGIN_API MARGIN_CHECKED margin_status margin_predict_scratch(const margin_model *model,
                                                               const margin_matrix *x,
                                                               margin_output what, void *out,
                                                               void *scratch, margin_error *error);
MARGIN_API const char *margin_model_spec(const margin_model *model);
MARGIN_API const margin_component *margin_model_learner(const margin_model *model);
MARGIN_API const margin_report *margin_model_report(const margin_model *model);
MARGIN_API margin_task margin_model_task(const margin_model *model);
MARGIN_API margin_unknown margin_model_unknown(const margin_model *model);
MARGIN_API int64_t margin_model_class_count(const margin_model *model);
MARGIN_API const char *margin_model_class_name(const margin_model *model, int64_t index);
MARGIN_API double margin_model_class_value(const margin_model *model, int64_t index);
MARGIN_API const margin_column *margin_model_columns(const margin_model *model, int64_t *count);
MARGIN_API const margin_column *margin_model_target(const margin_model *model);
MARGIN_API int64_t margin_model_target_count(const margin_model *model);
MARGIN_API int64_t margin_model_score_count(const margin_model *model);
MARGIN_API int margin_model_has_probabilities(const margin_model *model);
MARGIN_API void margin_model_score_classes(const margin_model *model, int64_t score, int64_t *first,
                                           int64_t *second);
MARGIN_API const double *margin_model_weights(const margin_model *model, int64_t score);
MARGIN_API double margin_model_intercept(const margin_model *model, int64_t score);
MARGIN_API const margin_column *margin_model_features(const margin_model *model, int64_t *count);
MARGIN_API int64_t margin_model_scale(const margin_model *model, int64_t feature, double *shift,
                                      double *scale);
MARGIN_API MARGIN_CHECKED margin_status margin_model_transform(margin_context *context,
                                                               const margin_model *model,
                                                               const margin_matrix *x,
                                                               double *features,
                                                               margin_error *error);
typedef struct margin_transformed {
    size_t size;
    margin_matrix x;
    void *inner;
} margin_transformed;
MARGIN_API MARGIN_CHECKED margin_status margin_transform(margin_context *context,
                                                         const margin_model *model,
                                                         const margin_data *data,
                                                         margin_transformed *result,
                                                         margin_error *error);
MARGIN_API void margin_transformed_free(margin_transformed *result);
MARGIN_API MARGIN_CHECKED margin_status margin_transform_inverse(const margin_model *model,
                                                                 const margin_matrix *x,
                                                                 double *rows_out,
                                                                 margin_error *error);
enum { MARGIN_TENSOR_NAME = 64 };
typedef struct margin_tensor {
    size_t size;
    char name[MARGIN_TENSOR_NAME];
    int32_t type;
    int32_t rank;
    int64_t shape[2];
    const void *values;
} margin_tensor;
MARGIN_API int64_t margin_model_tensor_count(const margin_model *model);
MARGIN_API int margin_model_tensor(const margin_model *model, int64_t index, margin_tensor *tensor);
MARGIN_API int margin_model_tensor_find(const margin_model *model, const char *name,
                                        margin_tensor *tensor);
MARGIN_API int64_t margin_model_dual(const margin_model *model, int64_t score, const int64_t **rows,
                                     const double **coefficients, const double **signs,
                                     const double **updates);
MARGIN_API const double *margin_model_centre(const margin_model *model, int64_t cluster);
MARGIN_API double margin_model_cluster_size(const margin_model *model, int64_t cluster);
typedef struct margin_telling {
    int64_t column;
    double evidence;
    int64_t category;
    double value;
    double log_ratio;
    double reserved[2];
} margin_telling;
MARGIN_API int64_t margin_model_telling(const margin_model *model, int64_t class_index,
                                        int64_t capacity, margin_telling *list);
MARGIN_API double margin_model_prior(const margin_model *model, int64_t class_index,
                                     double *weight);
typedef enum margin_distribution {
    MARGIN_DISTRIBUTION_CATEGORICAL = 0,
    MARGIN_DISTRIBUTION_GAUSSIAN = 1,
    MARGIN_DISTRIBUTION_BERNOULLI = 2,
    MARGIN_DISTRIBUTION_MULTINOMIAL = 3
} margin_distribution;
typedef struct margin_likelihood {
    size_t size;
    int32_t distribution;
    double total;
    double count;
    double p;
    double mean;
    double deviation;
    int64_t levels;
    const double *counts;
    const double *values;
} margin_likelihood;
MARGIN_API int margin_model_likelihood(const margin_model *model, int64_t class_index,
                                       int64_t column, margin_likelihood *likelihood,
                                       int64_t capacity, double *probabilities);
MARGIN_API MARGIN_CHECKED margin_status margin_evaluate(margin_context *context,
                                                        const margin_model *model,
                                                        const margin_data *data,
                                                        margin_metrics *metrics,
                                                        margin_error *error);
typedef struct margin_evaluate_options {
    size_t size;
    int32_t unknown_wrong;
    int64_t bootstrap;
    uint64_t seed;
    double level;
} margin_evaluate_options;
MARGIN_API MARGIN_CHECKED margin_status margin_evaluate_with(
    margin_context *context, const margin_model *model, const margin_data *data,
    const margin_evaluate_options *options, margin_metrics *metrics, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_margins(margin_context *context,
                                                       const margin_model *model,
                                                       const margin_data *data, double *functional,
                                                       double *geometric, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_verify(margin_context *context,
                                                      const margin_model *model,
                                                      const margin_data *data, margin_report *found,
                                                      margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_verify_parts(
    margin_context *context, const margin_model *model, const margin_data *data,
    margin_report *found, margin_report *parts, int64_t capacity, margin_error *error);
typedef struct margin_separation {
    size_t size;
    int32_t separable;
    int64_t rows, columns;
    double margin, intercept, margin_gap;
    const double *weights;
    int64_t positive_count, negative_count;
    const int64_t *positive_rows, *negative_rows;
    const double *positive_weights, *negative_weights;
    double residual;
    double seconds;
    int64_t iterations;
    void *inner;
} margin_separation;
MARGIN_API MARGIN_CHECKED margin_status margin_separable(margin_context *context,
                                                         const margin_data *data,
                                                         margin_separation *result,
                                                         margin_error *error);
typedef struct margin_separable_options {
    size_t size;
    const char *positive;
} margin_separable_options;
MARGIN_API MARGIN_CHECKED margin_status margin_separable_with(
    margin_context *context, const margin_data *data, const margin_separable_options *options,
    margin_separation *result, margin_error *error);
MARGIN_API void margin_separation_free(margin_separation *result);
MARGIN_API MARGIN_CHECKED margin_status margin_model_save(const margin_model *model,
                                                          const char *path, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_model_load(margin_context *context, const char *path,
                                                          margin_model **model,
                                                          margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_model_map(margin_context *context, const char *path,
                                                         margin_model **model, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_model_encode(const margin_model *model, void **bytes,
                                                            int64_t *length, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_model_decode(margin_context *context,
                                                            const void *bytes, int64_t length,
                                                            margin_model **model,
                                                            margin_error *error);
MARGIN_API void margin_bytes_free(const margin_model *model, void *bytes);
MARGIN_API MARGIN_CHECKED margin_status margin_model_encoded_size(const margin_model *model,
                                                                  int64_t *length,
                                                                  margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_model_encode_into(const margin_model *model,
                                                                 void *bytes, int64_t capacity,
                                                                 int64_t *length,
                                                                 margin_error *error);
#ifdef __cplusplus
}
#endif
#endif
