/* Predictions for a labelled data set, ready to be judged. */
#pragma once

#include "model/predict/align.h"
#include "model/predict/fit_score.h"
#include "model/predict/predict.h"

/* A data set as a finished model sees it. */
typedef struct mg_judged {
    margin_context *context;
    const margin_model *model;
    mg_aligned aligned; /* the data in the model's columns and codes */
    mg_samples samples;
    int32_t *codes;  /* classification: class of sample i */
    double *targets; /* regression: value of sample i; targets one after the other */
    double *scores;  /* samples x functions */
} mg_judged;

/* Checks data against model, reads the targets (none for clusters) and scores the samples.
 * `unknown`: labels that the model does not know get the code -1. ARGUMENT, DATA (a label the model
 * does not know, a row that it cannot score). */
margin_status mg_judge_open(margin_context *context, const margin_model *model,
                            const margin_data *data, bool unknown, mg_judged *judged,
                            margin_error *error);
void mg_judge_close(mg_judged *judged);

/* Functional margin of a sample from its scores: two classes: y f(x); one score per class: that of
 * the true class minus the best other; pairs: the least score towards the true class over the pairs
 * it is in. *first and *second are the functions that decide: the margin is f_first - f_second (or
 * +-f_first if *second is -1). */
double mg_sample_margin(const margin_model *model, const double *scores, int32_t code,
                        int64_t *first, int64_t *second);

/* Number of pair (i, j), i < j, in the order (0,1), (0,2), ..., (1,2), ... */
MG_INLINE int64_t mg_pair_number(int64_t classes, int64_t i, int64_t j) {
    return i * (2 * classes - i - 1) / 2 + (j - i - 1);
}
