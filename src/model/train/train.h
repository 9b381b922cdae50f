/* One fit from within the library, or several with the same stages. */
#pragma once

#include "model/problem/multiclass.h"

typedef struct mg_train_how {
    margin_task task;          /* 0: what learner and data tell */
    const mg_trace *trace;     /* NULL: none */
    bool warm;                 /* a trainer's next fit may begin at its last one */
    int64_t following;         /* such fits that differ in the penalty only */
    const margin_model *start; /* the first one may begin here; NULL: as always */
    bool parts;                /* keep the reports of the parts */
    bool judged;               /* the training rows will be predicted */
    const double *centres;     /* in place of the option of that name; NULL: as the spec says */
    int64_t centre_count;
} mg_train_how;

/* What a learner makes of this target. */
margin_status mg_task_of(const mg_spec_component *learner, const margin_data *data,
                         const mg_samples *samples, margin_task *task, margin_error *error);

/* Stages fitted once, and learners to what they make, one after the other. */
typedef struct mg_trainer {
    const margin_data *data;
    const mg_train_how *how;
    margin_model *model; /* borrowed: the stages and the last fit */
    mg_samples samples;
    mg_staged staged;
    mg_reduction reduction; /* of the last fit */
    mg_starts starts;       /* of it; count 0: none */
    margin_report *parts;   /* of the last fit, if they are wanted; owned */
    int64_t *labels;        /* of its samples, if they are known (mg_split); owned */
} mg_trainer;

/* Up to the learner, into a new model. */
margin_status mg_trainer_open(margin_context *context, const margin_spec *spec,
                              const margin_data *data, const mg_train_how *how, margin_model *model,
                              mg_trainer *trainer, margin_error *error);
/* The learner of `spec`, whose stages are those of the trainer's, and so is its mg_learner. On
 * failure the model has no hypothesis; another fit may follow. */
margin_status mg_trainer_fit(mg_trainer *trainer, margin_context *context, const margin_spec *spec,
                             margin_error *error);
void mg_trainer_close(mg_trainer *trainer); /* not the model */

/* margin_fit_with where the task is known (0: what learner and data tell): a part of the rows may
 * look like classes where all of them are numbers. */
margin_status mg_fit_task(margin_context *context, margin_task task, const margin_spec *spec,
                          const margin_data *data, const margin_fit_options *options,
                          margin_model **model, margin_report *report, margin_error *error);
