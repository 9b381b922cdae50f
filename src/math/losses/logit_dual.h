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
/* log(1 + e^-z) */
void mg_logit_losses(mg_isa isa, const double *z, double *value);
/* c / (1 + e^-s), and its derivative in s. */
void mg_logit_shares(mg_isa isa, double c, const double *s, double *share, double *slope);

/* Where a quadratic less entropies is least on a span of a few directions:
 *
 *   t'Qt / 2 + g't + sum_i alpha_i log(alpha_i / c_i) + (c_i - alpha_i) log(1 - alpha_i / c_i),
 *   alpha = alpha_0 + sum_k t_k moves_k
 *
 * An entropy whose aim lies near a bound, where directions of before would be in its way, is a
 * quadratic about that aim instead, which is exact in the end; its alpha may be beyond the bound.
 */
enum { MG_LOGIT_SPAN = 20 };

typedef struct mg_logit_span {
    int64_t samples;
    int count;           /* of directions */
    const double *c;     /* samples; where it is 0 so is alpha */
    const double *bends; /* samples: of the quadratic along alpha_i alone */
    const double *moves; /* samples x MG_LOGIT_SPAN */
    double *alpha;       /* samples */
    double *aims,
        *logits; /* samples: where alpha_i alone would go, log(aim / (c - aim)); an aim
                    turns INFINITY where the entropy is itself, the logit is then alpha's */
    double slopes[MG_LOGIT_SPAN], products[MG_LOGIT_SPAN * MG_LOGIT_SPAN]; /* g, Q */
    double shares[MG_LOGIT_SPAN];                                          /* t */
} mg_logit_span;

/* Moves alpha and finds the shares, by Newton's method, until a step promises less than `enough`.
 * Dependent directions are left out. */
void mg_logit_span_minimise(mg_logit_span *span, double enough);
