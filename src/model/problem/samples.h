/* Which rows of a data set take part, with what weight and what target. */
#pragma once

#include "model/object/model_object.h"

/* The most classes that labels are taken for. */
enum { MG_MAX_CLASSES = 10000 };

/* Checks everything about `data` that does not depend on a model: the views, of data by columns,
 * too, and that columns have names. ARGUMENT on failure. */
margin_status mg_data_check_columns(margin_context *context, const margin_data *data,
                                    margin_error *error);
/* ARGUMENT unless the data has as many targets as the model. */
margin_status mg_target_count_check(const margin_model *model, const margin_data *data,
                                    margin_error *error);

/* The selected rows of weight > 0, in the order of the selection. */
typedef struct mg_samples {
    mg_heap *heap;
    int64_t count;
    const int64_t *rows; /* row of sample i; NULL: i */
    double *weights;     /* of sample i; NULL: all one */
    int64_t *owned_rows; /* what `rows` points to, unless that is borrowed from data->selection */
} mg_samples;

/* DATA if there are no rows, a weight is negative or not finite, or all are 0. */
margin_status mg_samples_make(mg_heap *heap, const margin_data *data, mg_samples *samples,
                              margin_error *error);
void mg_samples_free(mg_samples *samples);

MG_INLINE int64_t mg_samples_row(const mg_samples *samples, int64_t i) {
    return samples->rows ? samples->rows[i] : i;
}
MG_INLINE double mg_samples_weight(const mg_samples *samples, int64_t i) {
    return samples->weights ? samples->weights[i] : 1.0;
}

/* ---- Targets (target.c) ---------------------------------------------------------------------- */

/* Finds the classes among the samples, names them in the model and describes its target. DATA: no
 * target, a missing label, labels that are no classes, only one class. */
margin_status mg_target_learn(margin_context *context, const margin_data *data,
                              const mg_samples *samples, margin_model *model, margin_error *error);

/* Up to 20 different whole numbers: what a learner of both classes and numbers takes for classes.
 */
bool mg_target_looks_like_classes(const margin_data *data, const mg_samples *samples);

/* The same for any number of classes, without a description of the target. */
margin_status mg_target_classes(margin_context *context, const margin_data *data,
                                const mg_samples *samples, margin_model *model,
                                margin_error *error);

/* codes[i] = class of sample i in the model. A label that the model does not know has the code -1
 * where it may be `unknown`; else DATA names it. */
margin_status mg_target_codes(margin_context *context, const margin_data *data,
                              const mg_samples *samples, const margin_model *model, bool unknown,
                              int32_t *codes, margin_error *error);

/* The class of this name, -1 if there is none; where the model has numbers, names that read as the
 * same number are the same. */
int64_t mg_class_of_name(const margin_model *model, const char *name);

/* The first dozen classes, for messages. */
mg_name_list mg_list_classes(const margin_model *model);

/* values[t * count + i] = target t of sample i for regression. DATA: no target, categories, not
 * finite. */
margin_status mg_target_values(margin_context *context, const margin_data *data,
                               const mg_samples *samples, double *values, margin_error *error);

/* Describes the targets in the model ("y", or "y1", "y2", ..., if the data does not name them). */
margin_status mg_target_describe(const margin_data *data, margin_model *model, margin_error *error);
