/* Steps in the dual variables of the logistic loss: of one row, of one row in eight problems, of
 * all rows along a few directions. */
#pragma once

#include "base/machine/cpu.h"
#include "base/status.h"

/* The root of d(s) = curvature (c / (1 + e^-s) - alpha) + z + s, which rises, from s and what is
 * known there: d and the slope of c / (1 + e^-s). *found: the alpha that belongs to the root. */
double mg_logit_root(double c, double curvature, double alpha, double z, double s, double d,
                     double slope, double *found);

/* The same side by side, until |d| is at most `enough`; alpha becomes what was found. */
enum { MG_LOGIT_LANES = 8 };
void mg_logit_roots(mg_isa isa, double c, double curvature, const double *z, const double *enough,
                    double *alpha, double *s, double *d, double *slope);
/* c / (1 + e^-s), and its derivative in s. */
void mg_logit_shares(mg_isa isa, double c, const double *s, double *share, double *slope);

/* Where a quadratic less entropies is least on a span of a few directions:
 *
 *   t'Qt / 2 + g't + sum_i alpha_i log(alpha_i / c_i) + (c_i - alpha_i) log(1 - alpha_i / c_i),
 *   alpha = alpha_0 + sum_k t_k moves_k */

enum { MG_LOGIT_SPAN = 10 };

typedef struct mg_logit_span {
    int64_t samples;
    int count;             /* of directions */
    const double *c;       /* samples; where it is 0 so is alpha */
    double *alpha, *logit; /* samples: 0 < alpha < c, log(alpha / (c - alpha)) */
    const double *moves;   /* samples x MG_LOGIT_SPAN */
    double slopes[MG_LOGIT_SPAN], products[MG_LOGIT_SPAN * MG_LOGIT_SPAN]; /* g, Q */
    double shares[MG_LOGIT_SPAN];                                          /* t */
} mg_logit_span;

/* Moves alpha and logit and finds the shares, by Newton's method, until a step promises less than
 * `enough`. Dependent directions are left out. */
void mg_logit_span_minimise(mg_logit_span *span, double enough);
