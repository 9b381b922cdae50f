/* Regressions for the tests of least squares and ridge, and an oracle in extended precision. */
#ifndef LEAST_SQUARES_CASES_H
#define LEAST_SQUARES_CASES_H

#include "model_cases.h"

typedef struct {
    int64_t rows, columns;
    double *x, *y; /* rows x columns */
} regression;

/* Normal numbers times `size` plus `offset`; y = x.(1, -1/2, 1/3, ...) + 2 + noise. */
regression regression_make(int64_t rows, int64_t columns, double offset, double noise,
                           uint64_t seed);
void regression_free(regression *r);
margin_data regression_data(const regression *r);

/* The best w and b of sum weight (x.w + b - y)^2 + alpha |w|^2 by Householder reflections on
 * centred rows in long double; columns must be independent or alpha > 0. weights NULL: 1. */
void oracle_solve(const regression *r, const double *weights, double alpha, bool intercept,
                  long double *w, long double *b);
/* sum weight (x.w + b - y)^2 + alpha |w|^2 */
long double oracle_value(const regression *r, const double *weights, double alpha,
                         const long double *w, long double b);

/* A model's weights and intercept against the oracle, relative to the length of the columns. */
void assert_solution(const margin_model *model, const regression *r, const long double *w,
                     long double b, double tolerance);
/* Fits, checks status and that the proof holds, and returns the model. */
margin_model *fit_proven(margin_context *context, const char *spec, const margin_data *data,
                         margin_report *report);

#endif
