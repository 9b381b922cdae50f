#ifndef MARGIN_PATH_H
#define MARGIN_PATH_H
#include "margin/model.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_path_point {
    const char *spec;
    double C, alpha, lambda;
    double objective;
    double gap;
    double freedom;
    double train_rmse;
    double leave_one_out_rmse;
    double gcv_rmse;
    const double *weights;
    double intercept;
} margin_path_point;
typedef struct margin_path_result {
    size_t size;
    int64_t rows, features, count;
    int64_t best;
    double seconds;
    int32_t threads;
    void *inner;
} margin_path_result;
MARGIN_API const margin_path_point *margin_path_point_at(const margin_path_result *result,
                                                         int64_t number);
MARGIN_API MARGIN_CHECKED margin_status margin_path(margin_context *context,
                                                    const margin_spec *spec,
                                                    const margin_data *data,
                                                    margin_path_result *result,
                                                    margin_error *error);
MARGIN_API void margin_path_free(margin_path_result *result);
#ifdef __cplusplus
}
#endif
#endif
