/* margin/importance.h - which columns a model's answers depend on. */
#ifndef MARGIN_IMPORTANCE_H
#define MARGIN_IMPORTANCE_H

#include "margin/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct margin_importance margin_importance;

typedef struct margin_importance_options {
    size_t size;
    const char *metric; /* NULL: accuracy, of numbers rmse, of clusters inertia */
    int64_t repeats;    /* 0: 5; at most 1000 */
    uint64_t seed;
} margin_importance_options;

/* By how much a metric gets worse where the values of one column are shuffled among the rows (all
 * else stays): any model, on rows that it should not have been trained on (Breiman, Machine
 * Learning 45, 2001). Columns that tell the same share it: each alone looks unimportant. `data` as
 * for margin_evaluate; `options` may be NULL. ARGUMENT: no such metric, one that the model has not;
 * the failures of margin_evaluate. Cost: columns * repeats evaluations and a dense copy of x. The
 * same for any number of threads. */
MARGIN_API MARGIN_CHECKED margin_status margin_importance_measure(
    margin_context *context, const margin_model *model, const margin_data *data,
    const margin_importance_options *options, margin_importance **importance, margin_error *error);
MARGIN_API void margin_importance_free(margin_importance *importance);

MARGIN_API const char *margin_importance_metric(const margin_importance *importance);
MARGIN_API double margin_importance_base(const margin_importance *importance); /* unshuffled */
MARGIN_API int64_t margin_importance_count(const margin_importance *importance);

typedef struct margin_importance_column {
    size_t size;
    double mean, deviation; /* by how much the metric is worse, and its standard deviation over the
                               repeats */
    /* Linear models whose columns are the inputs, behind no stage but standardize and minmax: the
     * weight times the sample standard deviation of the column in these rows, each by its weight;
     * of several functions the root of the mean square. NaN for others. */
    double weight_per_deviation;
} margin_importance_column;
/* Of an input column (margin_model_columns). Returns 1; 0, with nothing written, for one there is
 * none of. */
MARGIN_API int margin_importance_of(const margin_importance *importance, int64_t column,
                                    margin_importance_column *found);

#ifdef __cplusplus
}
#endif
#endif
