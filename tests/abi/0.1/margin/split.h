#ifndef MARGIN_SPLIT_H
#define MARGIN_SPLIT_H
#include "margin/data.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_split_options {
    size_t size;
    int64_t folds;
    double test;
    double validation;
    int64_t repeats;
    uint64_t seed;
    int32_t stratify;
    int32_t in_order;
    margin_vector groups;
    margin_vector time;
} margin_split_options;
#define MARGIN_LEAVE_ONE_OUT (-1)
typedef enum margin_part {
    MARGIN_PART_TRAIN = 0,
    MARGIN_PART_TEST = 1,
    MARGIN_PART_VALIDATION = 2
} margin_part;
typedef struct margin_splits margin_splits;
MARGIN_API MARGIN_CHECKED margin_status margin_split(margin_context *context,
                                                     const margin_data *data,
                                                     const margin_split_options *options,
                                                     margin_splits **splits, margin_error *error);
MARGIN_API void margin_splits_free(margin_splits *splits);
MARGIN_API int64_t margin_splits_count(const margin_splits *splits);
MARGIN_API int64_t margin_splits_folds(const margin_splits *splits);
MARGIN_API int64_t margin_splits_size(const margin_splits *splits, int64_t split, int32_t part);
MARGIN_API int64_t margin_splits_rows(const margin_splits *splits, int64_t split, int32_t part,
                                      int64_t *rows);
#ifdef __cplusplus
}
#endif
#endif
