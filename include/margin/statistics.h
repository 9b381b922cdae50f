/* margin/statistics.h - how certain the coefficients of a linear model are.
 *
 * For least squares, and for logistic regression without penalty (C=inf): standard errors, t or z
 * values, p-values and confidence intervals of every coefficient in original units, and what is
 * usually said of the whole fit. They are computed from the model and the data that it was trained
 * on, which must be given again: a model file keeps no covariances (they are as large as the square
 * of the columns), and so nothing has to be trusted. Data that the model was not trained on are
 * noticed and refused: the weights must be the best ones for them, to a tenth of a standard error.
 *
 * Sample weights are frequencies: weight k counts as k rows. For weights that say how precise a row
 * is, scale them to a mean of 1 before training; then the numbers are those of R's lm(weights=).
 *
 * The usual assumptions: rows independent, noise of equal size and (for exact p-values in small
 * data) normal; stages before the model fixed beforehand. Stages that are affine column by column
 * change nothing. */
#ifndef MARGIN_STATISTICS_H
#define MARGIN_STATISTICS_H

#include "margin/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers that the data do not determine (a column that depends on others) are NaN. */
typedef struct margin_coefficient {
    const char *name; /* of the feature; "(intercept)" */
    double estimate;  /* the model's */
    double error;     /* standard error */
    double statistic; /* estimate / error: Student's t (least squares) or normal z (logistic) */
    double p_value;   /* of a value as far from 0 or farther, if the true coefficient is 0 */
    double low, high; /* confidence interval */
    double inflation; /* variance inflation factor: how much the other columns add to the
                         variance, 1: nothing. NaN for the intercept and for models without one */
} margin_coefficient;

/* A feature that is a sum of others in this data:
 *   x[feature] = constant + sum_k factors[k] x[terms[k]] */
typedef struct margin_dependence {
    int64_t feature, term_count;
    const int64_t *terms; /* feature numbers, ascending; none: the feature is constant */
    const double *factors;
    double constant;
} margin_dependence;

typedef struct margin_statistics_result {
    size_t size;               /* sizeof(margin_statistics_result), set by the caller */
    int32_t task;              /* margin_task */
    int64_t rows;              /* that took part */
    double weight;             /* observations: the sum of the weights */
    int64_t coefficient_count; /* features, then the intercept if there is one */
    int32_t has_intercept;
    double confidence;        /* of the intervals */
    const double *covariance; /* coefficient_count^2 numbers, or NULL if not asked for */
    int64_t rank;             /* independent columns, the intercept not counted */
    double condition;         /* of the centred columns of length 1 that are used, estimated */
    int64_t dependence_count;
    double distance; /* greatest distance of a coefficient from the optimum, in standard errors */

    double freedom;        /* degrees of freedom left over: weight - rank - intercept */
    double log_likelihood; /* of the data, at its maximum (least squares: over sigma, too) */
    double aic, bic;       /* -2 log_likelihood + 2 k or log(weight) k; k counts sigma, as in R */

    /* Least squares; NaN for logistic regression. Without intercept r2 and f compare with the
     * function 0, not with the mean. */
    double residual_error; /* sqrt(sum of squared residuals / freedom): estimates the noise */
    double r2, adjusted_r2;
    double f, f_freedom, f_p_value; /* all weights 0 (f_freedom = rank and freedom) */

    /* Logistic regression; NaN for least squares. */
    double null_log_likelihood;  /* intercept alone, or all probabilities 1/2 */
    double pseudo_r2;            /* McFadden's: 1 - log_likelihood / null_log_likelihood */
    double ratio, ratio_p_value; /* likelihood ratio, chi-squared with `rank` degrees of freedom */

    void *inner; /* owns the arrays */
} margin_statistics_result;

/* Coefficient or dependence `number`, from 0; NULL beyond the last. Valid until
 * margin_statistics_free. */
MARGIN_API const margin_coefficient *
margin_statistics_coefficient(const margin_statistics_result *result, int64_t number);
MARGIN_API const margin_dependence *
margin_statistics_dependence(const margin_statistics_result *result, int64_t number);

/* Zero means the default everywhere. */
typedef struct margin_statistics_options {
    size_t size;        /* sizeof(margin_statistics_options) */
    double confidence;  /* of the intervals, above 0 and below 1; default 0.95 */
    int32_t covariance; /* 1: the covariance matrix too */
    int64_t target;     /* of a model with several: which one, from 0; the data have them all */
} margin_statistics_options;

/* Fills `result`; options may be NULL. ARGUMENT: no linear model of a kind that has statistics, or
 * shapes that do not fit. DATA: a penalty, as many coefficients as rows, other data than the model
 * was trained on, more than two classes, classes that a hyperplane separates; the text says which,
 * and what to do. MEMORY, LIMIT, CANCELLED. Cost: about a QR factorisation of the data (for large
 * well-conditioned data the normal equations do); memory 16 columns^2 bytes and a few numbers a
 * row. Does not depend on the number of threads. */
MARGIN_API MARGIN_CHECKED margin_status margin_statistics(margin_context *context,
                                                          const margin_model *model,
                                                          const margin_data *data,
                                                          const margin_statistics_options *options,
                                                          margin_statistics_result *result,
                                                          margin_error *error);
MARGIN_API void margin_statistics_free(margin_statistics_result *result);

#ifdef __cplusplus
}
#endif
#endif
