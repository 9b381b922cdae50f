/* Metrics of predictions, however they came about. */
#pragma once

#include "base/caller_options.h"
#include "base/context.h"
#include "margin/measure.h"

/* The metrics by number, in the order of the public list (metric_list.c). */
typedef enum mg_metric {
    MG_ACCURACY,
    MG_ERROR,
    MG_LOG_LOSS,
    MG_BRIER,
    MG_AUC,
    MG_AVERAGE_PRECISION,
    MG_PRECISION,
    MG_RECALL,
    MG_F1,
    MG_BALANCED_ACCURACY,
    MG_PRECISION_MACRO,
    MG_RECALL_MACRO,
    MG_F1_MACRO,
    MG_PRECISION_MICRO,
    MG_RECALL_MICRO,
    MG_F1_MICRO,
    MG_PRECISION_WEIGHTED,
    MG_RECALL_WEIGHTED,
    MG_F1_WEIGHTED,
    MG_MSE,
    MG_RMSE,
    MG_MAE,
    MG_R2,
    MG_MEASURED, /* so many are computed here */
    MG_INERTIA = MG_MEASURED,
    MG_SILHOUETTE,
    MG_METRICS
} mg_metric;

int mg_metric_number(const margin_metric *metric);

/* Rows as they are measured: all arrays are the caller's. */
typedef struct mg_outcome {
    margin_task task;
    int64_t rows, classes, targets;
    const double *weights; /* NULL: 1 each */
    /* Classes. */
    const int32_t *truth;     /* -1: none of the model's */
    const int64_t *predicted; /* -1: none */
    const double *loss;       /* -log P(true class), of rows of a known class; NULL: none */
    const double *brier;      /* what the row adds; NULL: none */
    const double *scores;     /* ranks: rows (two classes) or rows x classes; NULL: none */
    /* Numbers: targets one after the other; predictions of a row together. */
    const double *target, *value;
} mg_outcome;

MG_INLINE double mg_outcome_weight(const mg_outcome *o, int64_t i) {
    return o->weights ? o->weights[i] : 1.0;
}

/* What margin_metrics.inner points to: owns every array of it. */
typedef struct mg_measured {
    mg_arena arena;
    double value[MG_METRICS];
    double *low, *high; /* MG_MEASURED each; NULL: no intervals */
    margin_class_metrics *classes;
} mg_measured;

margin_status mg_measured_new(mg_heap *heap, mg_measured **measured, margin_error *error);
void mg_measured_free(mg_measured *measured);
/* `count` doubles of it. */
margin_status mg_measured_room(mg_measured *measured, int64_t count, double **room,
                               margin_error *error);

/* All NaN and NULL. */
void mg_metrics_clear(margin_metrics *metrics);
#define MG_METRICS_RESULT MG_RESULT(margin_metrics, inner)

/* Measures: fills in the metrics that can be computed, and inner. */
margin_status mg_measure_outcome(margin_context *context, const mg_outcome *outcome,
                                 const margin_measure_options *options, margin_metrics *metrics,
                                 margin_error *error);
margin_status mg_measure_options_take(const margin_measure_options *given,
                                      margin_measure_options *options, margin_error *error);

/* margin_measure with the loss of each row, -log P(true class), where its probability may have been
 * rounded to 0. NULL: from the probabilities. */
margin_status mg_measure_losses(margin_context *context, const margin_predictions *given,
                                const double *loss, const margin_measure_options *options,
                                margin_metrics *metrics, margin_error *error);

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Sums by class: `right`, `rows`, `given` with classes entries each. `scratch`: 3 * classes. */
void mg_measure_classes(const mg_outcome *o, double *scratch, double value[MG_MEASURED]);
/* The figures of each class, and the confusion matrix. */
void mg_class_table(const mg_outcome *o, double *confusion, margin_class_metrics *table);

/* Columns of scores: 1 with two classes, else one per class. */
MG_INLINE int64_t mg_rank_columns(const mg_outcome *o) {
    return o->classes == 2 ? 1 : o->classes;
}
/* Area and average precision of each class. orders: a column of rows each, by descending score, to
 * be written; NULL: not wanted. */
margin_status mg_rank_table(margin_context *context, const mg_outcome *o,
                            margin_class_metrics *table, int64_t *orders, margin_error *error);
void mg_rank_means(const mg_outcome *o, const margin_class_metrics *table,
                   double value[MG_MEASURED]);
/* The same means, from the orders. Whether the call is to end is to be asked afterwards. */
void mg_measure_ranks(const margin_context *context, const mg_outcome *o, const int64_t *orders,
                      double value[MG_MEASURED]);

/* Of one target of a regression; NaN where there is nothing to compare with. */
typedef struct mg_value_score {
    double weight, mse, rmse, mae, r2;
} mg_value_score;
/* Of each of `count` targets. Values of a row together, targets one after the other. */
margin_status mg_score_values(margin_context *context, const double *values, int64_t count,
                              const double *targets, const double *weights, int64_t rows,
                              mg_value_score *each, margin_error *error);
/* Of all of them: see margin_metrics. */
mg_value_score mg_score_all(const mg_value_score *each, int64_t count);
void mg_measure_values(const mg_outcome *o, double value[MG_MEASURED]);

/* Sum of the squared distances of the probabilities from those of the true class; of two classes
 * half of it, (1 - P(true))^2. */
double mg_brier(const double *p, int64_t classes, int32_t truth);
/* Weighted share of equal classes. */
double mg_score_classes(const int64_t *labels, const int32_t *codes, const double *weights,
                        int64_t rows);

/* Percentile intervals of all metrics over resampled rows. */
margin_status mg_bootstrap(margin_context *context, const mg_outcome *o, const int64_t *orders,
                           const margin_measure_options *options, mg_measured *measured,
                           margin_error *error);
