/* margin/measure.h - what predictions are worth: metrics with weights, their intervals, and their
 * names, so that any of them can rank models. Formulas and sources: docs/judging.md. */
#ifndef MARGIN_MEASURE_H
#define MARGIN_MEASURE_H

#include "margin/data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum margin_task {
    MARGIN_CLASSIFY = 1,
    MARGIN_REGRESS = 2,
    MARGIN_CLUSTER = 3,
    MARGIN_TRANSFORM = 4 /* stages alone */
} margin_task;

/* ---- Metrics by name ------------------------------------------------------------------------- */

/* A metric that this library knows. Static storage. */
typedef struct margin_metric {
    const char *name; /* "log_loss", as in JSON */
    const char *help; /* one line */
    int32_t task;     /* MARGIN_CLASSIFY, MARGIN_REGRESS or MARGIN_CLUSTER */
    int32_t greater;  /* 1: greater is better; 0: less is */
    int32_t
        needs_probabilities; /* 1: log_loss, brier; auc, average_precision take scores as well */
} margin_metric;

/* All metrics in a fixed order (NULL beyond the last); the one of a name, or NULL. Pointers, so
 * that later versions may add fields. */
MARGIN_API const margin_metric *margin_metric_at(int64_t number);
MARGIN_API const margin_metric *margin_metric_find(const char *name);

/* ---- Results --------------------------------------------------------------------------------- */

/* Metrics of one set of predictions; the others of the list above by margin_metrics_value. NaN:
 * does not apply, or nothing to compute it from. Set `size` to sizeof(margin_metrics) before a
 * call; margin_metrics_free releases what the arrays take. */
typedef struct margin_metrics {
    size_t size;  /* 0 counts as the size in version 0.1 */
    int32_t task; /* margin_task */
    int64_t rows, classes;
    double weight; /* sum of sample weights (rows if none) */
    /* Classes. A row of a class that the model does not know is an error. */
    double accuracy, error;
    double log_loss;              /* mean of -log P(true class); infinite where that is 0 */
    double auc;                   /* of the second of two classes; more: mean of one against the
                                     rest, over the classes that occur and are not all */
    double precision, recall, f1; /* two classes: of the second; more: mean over the classes that
                                     occur or were predicted; 0 / 0 counts as 0. Rows of
                                     unknown classes are one class more in all such means */
    double brier;                 /* two classes: mean of (1 - P(true class))^2; more: mean of the
                                     squared distance of the probabilities from 0 and 1 */
    double average_precision;     /* sum of precision times gain in recall; classes as for auc */
    double unknown;               /* weight of the rows of classes that the model does not know;
                                     log_loss and brier leave them out */
    /* Numbers. */
    double rmse, mae, r2; /* several targets: the root of the mean of their mean squares, and the
                             means of the other two */
    double mse;
    /* margin_evaluate only. */
    double mean_margin, least_margin; /* two classes: functional margin y f(x) */
    double least_geometric_margin;    /* linear, two classes: divided by the norm of w (in original
                                         units) */
    double inertia;                   /* clusters: sum of squared distances to the nearest centre */
    double silhouette;                /* clusters, up to 2000 rows: see docs/kmeans.md */
    double *cluster_sizes;            /* clusters: weight of the rows of each; of one class:
                                         outliers and inliers, without the two above */
    double *confusion;                /* classes x classes, [true][predicted], weighted counts */
    int64_t targets;                  /* several targets: their number, else 0 */
    double *target_rmse, *target_mae, *target_r2; /* of each; NULL with one target */
    void *inner;                                  /* owns the arrays */
} margin_metrics;

MARGIN_API void margin_metrics_free(margin_metrics *metrics);

/* The metric of that name, NaN if there is none or it does not apply. */
MARGIN_API double margin_metrics_value(const margin_metrics *metrics, const char *name);
/* Its bootstrap interval. Returns 1; 0, with nothing written, if none was asked for or the metric
 * has none. */
MARGIN_API int margin_metrics_interval(const margin_metrics *metrics, const char *name, double *low,
                                       double *high);

/* Of one class against the rest. */
typedef struct margin_class_metrics {
    size_t size;
    double rows, predicted; /* weight of the rows that are, and that were predicted to be */
    double precision, recall,
        f1; /* NaN where nothing was predicted, or there is no row, or neither */
    double auc, average_precision; /* NaN without scores, or where all rows or none are of it */
} margin_class_metrics;
/* Returns 1; 0, with nothing written, for a class there is none of and what is no classification.
 */
MARGIN_API int margin_metrics_class(const margin_metrics *metrics, int64_t class_index,
                                    margin_class_metrics *found);

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Truth and predictions, side by side. Zero what is not used. */
typedef struct margin_predictions {
    size_t size;
    int32_t task; /* MARGIN_CLASSIFY or MARGIN_REGRESS */
    int64_t rows;
    int64_t classes;         /* classification: 2 or more */
    int64_t targets;         /* regression: 0 or 1: one */
    margin_vector truth;     /* classes 0..classes-1 (-1: one that is none of them), any number
                                type; or rows * targets values, those of a row together */
    margin_vector predicted; /* the same of the predictions (-1: no answer); for classes it may be
                                left out: the most probable one, ties to the lower */
    margin_vector weights;   /* rows numbers >= 0; none: 1 each. 0: as absent */
    const double *probabilities; /* rows x classes, each row sums to 1; NULL: none */
    const double *scores;        /* what ranks rows: two classes: rows numbers, greater for the
                                    second; more: rows x classes; NULL: the probabilities */
} margin_predictions;

typedef struct margin_measure_options {
    size_t size;
    /* Resamples of the rows, with replacement, for the intervals (Efron's percentiles); 0: none,
     * else 20 .. 1e6. They derive from `seed` alone. */
    int64_t bootstrap;
    uint64_t seed;
    double level; /* of the intervals, in (0, 1); 0: 0.95 */
} margin_measure_options;

/* Measures predictions. `options` may be NULL. ARGUMENT: shapes, options. DATA: no rows, a class
 * out of range, NaN, weights negative or all 0, probabilities that are none, each with its row.
 * MEMORY, LIMIT, CANCELLED. Cost: a few passes and, with scores, a sort for each class; bootstrap:
 * a pass for each resample. Does not depend on the number of threads. */
MARGIN_API MARGIN_CHECKED margin_status margin_measure(margin_context *context,
                                                       const margin_predictions *predictions,
                                                       const margin_measure_options *options,
                                                       margin_metrics *metrics,
                                                       margin_error *error);

#ifdef __cplusplus
}
#endif
#endif
