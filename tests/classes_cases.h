/* Softmax and multi-class hinge by other means: plain loops, Newton's method with elimination. */
#ifndef CLASSES_CASES_H
#define CLASSES_CASES_H

#include "model_cases.h"

/* Dense rows, class numbers 0..classes-1 as labels, weights NULL: 1. */
typedef struct {
    const double *x, *labels, *weights;
    int64_t rows, columns, classes;
    int hinge, intercept;
    double factor, rho; /* factor sum loss + rho/2 |W|^2 */
} classes_oracle;

/* Objective of weights (classes x columns) and intercepts. */
double oracle_value(const classes_oracle *o, const double *w, const double *b);
/* Of a model's functions. */
double oracle_of_model(const classes_oracle *o, const margin_model *model);
/* The least softmax objective, by Newton's method; (columns + 1) classes <= 64. w and b may be
 * NULL. */
double oracle_least(const classes_oracle *o, double *w, double *b);

#endif
