/* What the data say about how certain the weights of a linear model are: the part of
 * margin_statistics that a learner knows. */
#pragma once

#include "learn/learner.h"

/* A column that is a sum of others: a_column = constant + sum factors[k] a_terms[k]. */
typedef struct mg_dependence {
    int64_t column, term_count;
    const int64_t *terms; /* ascending */
    const double *factors;
    double constant; /* 0 without intercept */
} mg_dependence;

/* With n columns and, if there is an intercept, a last coefficient for it. */
struct mg_inference {
    /* asked for by the caller, whose arena holds all arrays */
    bool want_covariance;
    mg_arena *arena;
    /* results */
    bool intercept;
    int64_t columns, coefficients; /* n, n + intercept */
    double weight;                 /* sum of the weights of the samples */
    int64_t rank;                  /* independent columns, the intercept not counted */
    double condition;              /* of the centred columns of length 1, constants left out */
    double *variance;   /* coefficients: of unit noise (least squares: to be multiplied by
                           sigma^2); NaN: the data do not determine this coefficient */
    double *inflation;  /* columns: variance inflation factor; NaN where there is none */
    double *covariance; /* coefficients x coefficients, or NULL */
    mg_dependence *dependences;
    int64_t dependence_count;
    double distance; /* greatest |distance to the optimum| / standard error of a coefficient */
    /* least squares */
    double residual, explained, total; /* sums of squares, weighted */
    /* a likelihood */
    double log_likelihood, null_log_likelihood;
};
