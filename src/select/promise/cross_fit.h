/* What is settled after a fit, and the fits to all folds but one that tell it. */
#pragma once

#include "margin/promise.h"
#include "model/problem/samples.h"

/* The training rows with the scores of fits that did not see them. */
typedef struct mg_crossed {
    mg_heap *heap;
    mg_samples samples;
    int64_t functions;
    double *scores; /* samples x functions */
    int32_t *fold;  /* of each sample */
    int64_t folds;
    margin_model **models; /* of each fold */
    int32_t *codes;        /* classification */
    double *targets;       /* regression */
} mg_crossed;

/* Reads the targets; with folds > 0 also fits them. */
margin_status mg_cross_fit(margin_context *context, const margin_model *model,
                           const margin_data *data, const margin_promise_options *options,
                           bool fits, mg_crossed *crossed, margin_error *error);
void mg_crossed_free(mg_crossed *crossed);

/* Each adds tensors to model->additions. */
margin_status mg_calibrate(margin_context *context, margin_model *model, const mg_crossed *crossed,
                           int32_t kind, margin_error *error);
margin_status mg_choose_threshold(margin_context *context, margin_model *model,
                                  const mg_crossed *crossed, const char *metric,
                                  margin_error *error);
margin_status mg_cover_folds(margin_context *context, margin_model *model,
                             const mg_crossed *crossed, margin_error *error);
/* Closed form; *done false where there is none. */
margin_status mg_cover_left_out(margin_context *context, margin_model *model,
                                const margin_data *data, const mg_crossed *crossed, bool *done,
                                margin_error *error);

/* A tensor of the model's additions, or MEMORY. */
margin_status mg_add_numbers(margin_model *model, const char *name, int64_t rows, int64_t columns,
                             double **numbers, margin_error *error);
