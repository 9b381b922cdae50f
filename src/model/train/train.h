/* One fit from within the library. */
#ifndef MG_TRAIN_H
#define MG_TRAIN_H

#include "model/problem/multiclass.h"

typedef struct mg_train_how {
    margin_task task;      /* 0: what learner and data tell */
    const mg_trace *trace; /* NULL: none */
    bool unscored;         /* the report does not tell how well the training rows are met */
} mg_train_how;

/* What margin_fit does, in a context whose deadline is set, into a new model (mg_model_new). How it
 * ended is in the model's report. */
margin_status mg_train(margin_context *context, const margin_spec *spec, const margin_data *data,
                       const mg_train_how *how, margin_model *model, margin_error *error);

/* What a learner makes of this target. */
margin_task mg_task_of(const mg_spec_component *learner, const margin_data *data,
                       const mg_samples *samples);

#endif
