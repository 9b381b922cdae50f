/* Losses as small pure functions.
 *
 * A loss is a function of one number t: for classification the margin z = y f of the score f and
 * the class y = +1 or -1, for regression the residual f - y. Everything a solver or a proof needs
 * of it is here, and nothing else knows the formulas.
 *
 *   squared         (f - y)^2
 *   hinge           max(1 - z, 0)
 *   squared hinge   max(1 - z, 0)^2
 *   logistic        log(1 + e^-z)
 *   exponential     e^-z
 *
 * The loss of a sample may also couple the scores of several functions, one for each class
 * (objective.h): of such a loss only the words are here. */
#pragma once

#include "base/machine/cpu.h"
#include "base/status.h"

#include <stdbool.h>

typedef enum mg_loss_kind {
    MG_LOSS_SQUARED,
    MG_LOSS_HINGE,
    MG_LOSS_SQUARED_HINGE,
    MG_LOSS_LOGISTIC,
    MG_LOSS_EXPONENTIAL,
    MG_LOSS_SOFTMAX,
    MG_LOSS_CRAMMER_SINGER
} mg_loss_kind;

typedef struct mg_loss {
    mg_loss_kind kind;
    const char *name;    /* "logistic" */
    const char *formula; /* "log(1+exp(-y f))" */
    bool coupled;        /* of several functions: value and what follows it are not there */
    bool margin_based;   /* of z = y f; else of f - y */
    bool smooth;         /* has a derivative everywhere */
    bool curved;         /* has a second derivative that Newton's method can use */
    bool endless;        /* falls for ever in a direction that no row speaks against */
    /* |l'''| <= l'' everywhere (or l'' is constant), so that the curvature at a point bounds how
     * far away the optimum is: linear/proof/curvature_bound.c and, from the data once more,
     * linear/verify/verify_curvature.c. A wrong true is a false proof that both believe. */
    bool self_bounding;
    /* value, first (sub)derivative and (generalised) second derivative in t; no overflow unless the
     * value itself overflows (exponential) */
    double (*value)(double t);
    double (*slope)(double t);
    double (*curvature)(double t);
    double curvature_bound; /* largest second derivative; INFINITY: none */
    /* What a sample with the dual variable u = -slope adds to the dual objective: -conjugate(-u),
     * so that value(t) >= dual(u) - u t for all t and u, with equality at u = -slope(t). -INFINITY
     * outside of the domain [dual_low, dual_high] (0 and up for the losses of a margin; the whole
     * line for those of a residual: others need a way of their own to sum to 0, box_balance in
     * linear/proof/certificate.c). */
    double (*dual)(double u);
    double dual_low, dual_high;
} mg_loss;

const mg_loss *mg_loss_get(mg_loss_kind kind);

/* sum c_i value(t_i) (c NULL: 1), slopes[i] = c_i slope(t_i), curvatures[i] = c_i curvature(t_i);
 * either may be NULL, or equal t. Vectorised: one algorithm, and the same bits, for every
 * instruction set; term i goes to sum i mod 8. Within 2 units in the last place of the functions
 * above. */
typedef double mg_loss_passer(mg_loss_kind kind, const double *t, const double *c, int64_t count,
                              double *slopes, double *curvatures);
mg_loss_passer *mg_loss_pass_for(mg_isa isa);

/* log(1 + e^-z) and 1/(1 + e^-f) by ranges. */
double mg_log1pexp_minus(double z);
double mg_sigmoid(double f);

/* `scale` times a score is the log-odds of a class against the rest. One score (of the second of
 * two classes): its logistic function and what is missing to 1; a score for each class: their
 * logistic functions, divided by their sum. The class of the greatest score (two classes: the
 * second where its score is >= 0) is the most probable, whatever the scores are. NaN gives NaN. */
void mg_odds_probabilities(double scale, const double *scores, int64_t functions, int64_t classes,
                           double *out);
/* The same where scores are log-odds themselves. */
void mg_logistic_probabilities(const double *scores, int64_t functions, int64_t classes,
                               double *out);
