/* Losses as small pure functions.
 *
 * A loss is a function of the score f of a sample and its target: for classification of the margin
 * z = y f with y = +1 or -1, for regression of the residual f - y. Everything a solver or a proof
 * needs of it is here, and nothing else knows the formulas.
 *
 *   squared         (f - y)^2
 *   hinge           max(1 - z, 0)
 *   squared hinge   max(1 - z, 0)^2
 *   logistic        log(1 + e^-z)
 *   exponential     e^-z
 *   perceptron      max(-z, 0)
 */
#ifndef MG_LOSS_H
#define MG_LOSS_H

#include "base/status.h"

#include <stdbool.h>

typedef enum mg_loss_kind {
    MG_LOSS_SQUARED,
    MG_LOSS_HINGE,
    MG_LOSS_SQUARED_HINGE,
    MG_LOSS_LOGISTIC,
    MG_LOSS_EXPONENTIAL,
    MG_LOSS_PERCEPTRON
} mg_loss_kind;

typedef struct mg_loss {
    mg_loss_kind kind;
    const char *name;    /* "logistic" */
    const char *formula; /* "log(1+exp(-y f))" */
    bool margin_based;   /* of z = y f; else of f - y */
    bool smooth;         /* has a derivative everywhere */
    bool curved;         /* has a second derivative that Newton's method can use */
    /* value, first (sub)derivative and (generalised) second derivative in t, where t = z or f - y;
     * no overflow for any t */
    double (*value)(double t);
    double (*slope)(double t);
    double (*curvature)(double t);
    double curvature_bound; /* largest second derivative; INFINITY: none */
    /* -conjugate(-u) where u = -slope >= 0 for margin losses: what a sample with dual variable u
     * adds to the dual objective (squared: u = -slope of any sign, target enters as u y elsewhere).
     * -INFINITY outside the domain. */
    double (*dual)(double u);
    double dual_high; /* u lies in [0, dual_high]; INFINITY: no upper bound */
} mg_loss;

const mg_loss *mg_loss_get(mg_loss_kind kind);

/* The same for arrays: out may equal t. Vectorised; the bits of element i do not depend on the
 * count. */
void mg_loss_values(const mg_loss *loss, const double *t, int64_t count, double *out);
/* value summed with weights c (NULL: 1) in index order by a fixed tree; slopes[i] = c_i slope(t_i);
 * curvatures likewise; either NULL. */
double mg_loss_pass(const mg_loss *loss, const double *t, const double *c, int64_t count,
                    double *slopes, double *curvatures);

/* log(1 + e^-z) and 1/(1 + e^-f) by ranges, and the general logistic function L/(1 + e^-(k (x -
 * x0))). */
double mg_log1pexp_minus(double z);
double mg_sigmoid(double f);
double mg_logistic_function(double x, double L, double k, double x0);

#endif
