/* margin/promise.h - what is settled after a fit, from fits to its folds, and kept in the model:
 * calibrated probabilities, decisions by cost or threshold, predictions with a coverage.
 * Formulas, guarantees and sources: docs/judging.md. */
#ifndef MARGIN_PROMISE_H
#define MARGIN_PROMISE_H

#include "margin/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A curve of two classes, one for each of more, or for pairs of classes (multiclass=ovo) one for
 * each pair. Probabilities rise with the score of a class, and that of each of its pairs. */
typedef enum margin_calibration {
    MARGIN_CALIBRATE_NONE = 0,
    MARGIN_CALIBRATE_SIGMOID = 1,    /* 1 / (1 + exp(-(a s + b))), a >= 0 */
    MARGIN_CALIBRATE_ISOTONIC = 2,   /* the best ascending curve, between its steps on a line */
    MARGIN_CALIBRATE_TEMPERATURE = 3 /* scores divided by one number: changes no prediction */
} margin_calibration;

typedef struct margin_promise_options {
    size_t size;
    int32_t calibrate; /* margin_calibration */
    /* Share of future rows whose truth the interval or set is to hold, in (0, 1), at most n / (n +
     * 1) of n rows; 0: none. Proven for any distribution is 1 - 2 (1 - coverage), found is the
     * coverage. Rows count alike: ARGUMENT with weights. One target. */
    double coverage;
    /* Two classes: the second where its probability is at least this, in (0, 1]; 0: none. */
    double threshold;
    /* Two classes: the threshold at which this metric of classes (margin/measure.h) is best on rows
     * that the fit did not see; NULL: none. */
    const char *threshold_metric;
    /* classes x classes numbers: what the answer (column) costs where the row is of a class (row):
     * the answer is the one of least expected cost; NULL: none. Excludes a threshold. */
    const double *costs;
    int64_t cost_count;   /* numbers in costs */
    int64_t folds;        /* 0: 10, or as many as there are groups, or as the rarest class has rows
                           * (with groups: groups);
                           * 2 .. 100 */
    uint64_t seed;        /* of the folds */
    margin_vector groups; /* rows that stay in one fold, as in margin_split_options; or none */
} margin_promise_options;

/* A copy of `model` with what the options ask for. `data` is what the model was trained on. Fits to
 * the folds of it are made where their answers are needed: all but given costs and thresholds, and
 * coverage of least-squares and ridge without stages (least-squares: scaling stages are fine),
 * where leaving out a row has a closed form (with groups, which leave together, folds are fitted).
 * ARGUMENT: options that exclude each other or the model (a temperature for pairs of classes, a
 * calibration of a regression), a coverage finer than the rows; DATA: too few rows of a class; the
 * failures of margin_fit. Does not depend on the number of threads. Cost: a fit for each fold. The
 * model grows by the fits of the folds, or by a row of weights for each training row. */
MARGIN_API MARGIN_CHECKED margin_status
margin_promise(margin_context *context, const margin_model *model, const margin_data *data,
               const margin_promise_options *options, margin_model **promised, margin_error *error);

/* What a model has of these: the calibration; the threshold, NaN if none; costs, NULL if none (the
 * model's, as long as it lives); the coverage, NaN if none. */
MARGIN_API int32_t margin_model_calibration(const margin_model *model);
MARGIN_API double margin_model_threshold(const margin_model *model);
MARGIN_API const double *margin_model_costs(const margin_model *model);
MARGIN_API double margin_model_coverage(const margin_model *model);
/* A copy whose threshold is another; in (0, 1]. ARGUMENT: other than two classes, no probabilities.
 */
MARGIN_API MARGIN_CHECKED margin_status margin_model_with_threshold(margin_context *context,
                                                                    const margin_model *model,
                                                                    double threshold,
                                                                    margin_model **changed,
                                                                    margin_error *error);

/* For each selected row of `data` (columns found as by margin_predict_data): the interval of a
 * regression with coverage (jackknife+, or CV+ from folds), rows numbers each; NaN for a row that
 * cannot be predicted. Cost: n numbers a row, of n training rows. */
MARGIN_API MARGIN_CHECKED margin_status margin_predict_intervals(margin_context *context,
                                                                 const margin_model *model,
                                                                 const margin_data *data,
                                                                 double *lower, double *upper,
                                                                 margin_error *error);
/* rows x classes bytes: 1 for a class that is in the row's set (cross-conformal). Sets may be
 * empty: no class looks like a training row of it. */
MARGIN_API MARGIN_CHECKED margin_status margin_predict_sets(margin_context *context,
                                                            const margin_model *model,
                                                            const margin_data *data, uint8_t *sets,
                                                            margin_error *error);

typedef struct margin_coverage_found {
    size_t size;
    int64_t rows;
    double asked, covered; /* share of the rows whose truth is in its interval or set */
    double width;          /* mean width of intervals, or mean number of classes in a set */
} margin_coverage_found;
/* How well the promise holds on labelled rows; a class that the model does not know is in no set.
 */
MARGIN_API MARGIN_CHECKED margin_status margin_coverage(margin_context *context,
                                                        const margin_model *model,
                                                        const margin_data *data,
                                                        margin_coverage_found *found,
                                                        margin_error *error);

#ifdef __cplusplus
}
#endif
#endif
