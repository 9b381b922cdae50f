/* The losses one number at a time, their duals, and the table of them. */
#include "math/losses/linear_kernels.h"
#include "math/rows/vector_math.h"

#include <math.h>

#define INF ((double)INFINITY)

double mg_log1pexp_minus(double z) {
    return z < 0 ? log1p(exp(z)) - z : log1p(exp(-z));
}

double mg_sigmoid(double f) {
    if (f >= 0) return 1 / (1 + exp(-f));
    const double e = exp(f);
    return e / (1 + e);
}

/* ---- squared: sup_t of -u t - t^2 is at t = -u/2 ----------------------------------------------*/

static double squared_value(double t) {
    return t * t;
}
static double squared_slope(double t) {
    return t + t;
}
static double squared_curvature(double t) {
    (void)t;
    return 2;
}
static double squared_dual(double u) {
    return -u * u / 4;
}

/* ---- hinge ----------------------------------------------------------------------------------- */

static double hinge_value(double z) {
    return fmax(1 - z, 0);
}
static double hinge_slope(double z) {
    return z < 1 ? -1 : 0;
}
static double hinge_curvature(double z) {
    (void)z;
    return 0;
}
static double hinge_dual(double u) {
    return u >= 0 && u <= 1 ? u : -INF;
}

/* ---- squared hinge: sup_z of -u z - max(1 - z, 0)^2 is at z = 1 - u/2 -------------------------*/

static double squared_hinge_value(double z) {
    const double excess = fmax(1 - z, 0);
    return excess * excess;
}
static double squared_hinge_slope(double z) {
    return -2 * fmax(1 - z, 0);
}
static double squared_hinge_curvature(double z) {
    return z < 1 ? 2 : 0;
}
static double squared_hinge_dual(double u) {
    return u >= 0 ? u - u * u / 4 : -INF;
}

/* ---- logistic: the conjugate is the entropy of a coin that shows heads with probability u ---- */

static double logistic_slope(double z) {
    return -mg_sigmoid(-z);
}
static double logistic_curvature(double z) {
    const double e = exp(-fabs(z)), q = 1 / (1 + e);
    return e * q * q;
}
static double logistic_dual(double u) {
    if (!(u >= 0 && u <= 1)) return -INF;
    const double heads = u > 0 ? -u * log(u) : 0;
    return heads + (u < 1 ? -(1 - u) * log1p(-u) : 0);
}

/* ---- exponential: sup_z of -u z - e^-z is at z = -ln u ----------------------------------------*/

static double exponential_value(double z) {
    return exp(-z);
}
static double exponential_slope(double z) {
    return -exp(-z);
}
static double exponential_dual(double u) {
    if (u == 0) return 0;
    return u > 0 ? u - u * log(u) : -INF;
}

/* ---- Table ----------------------------------------------------------------------------------- */

static const mg_loss losses[] = {
    [MG_LOSS_SQUARED] = {.kind = MG_LOSS_SQUARED,
                         .name = "squared",
                         .formula = "(f-y)^2",
                         .smooth = true,
                         .curved = true,
                         .self_bounding = true,
                         .value = squared_value,
                         .slope = squared_slope,
                         .curvature = squared_curvature,
                         .curvature_bound = 2,
                         .dual = squared_dual,
                         .dual_low = -INF,
                         .dual_high = INF},
    [MG_LOSS_HINGE] = {.kind = MG_LOSS_HINGE,
                       .name = "hinge",
                       .formula = "max(1-y f, 0)",
                       .margin_based = true,
                       .value = hinge_value,
                       .slope = hinge_slope,
                       .curvature = hinge_curvature,
                       .curvature_bound = INF,
                       .dual = hinge_dual,
                       .dual_high = 1},
    [MG_LOSS_SQUARED_HINGE] = {.kind = MG_LOSS_SQUARED_HINGE,
                               .name = "squared hinge",
                               .formula = "max(1-y f, 0)^2",
                               .margin_based = true,
                               .smooth = true,
                               .curved = true,
                               .self_bounding = true,
                               .value = squared_hinge_value,
                               .slope = squared_hinge_slope,
                               .curvature = squared_hinge_curvature,
                               .curvature_bound = 2,
                               .dual = squared_hinge_dual,
                               .dual_high = INF},
    [MG_LOSS_LOGISTIC] = {.kind = MG_LOSS_LOGISTIC,
                          .name = "logistic",
                          .formula = "log(1+exp(-y f))",
                          .margin_based = true,
                          .smooth = true,
                          .curved = true,
                          .endless = true,
                          .self_bounding = true,
                          .value = mg_log1pexp_minus,
                          .slope = logistic_slope,
                          .curvature = logistic_curvature,
                          .curvature_bound = 0.25,
                          .dual = logistic_dual,
                          .dual_high = 1},
    [MG_LOSS_EXPONENTIAL] = {.kind = MG_LOSS_EXPONENTIAL,
                             .name = "exponential",
                             .formula = "exp(-y f)",
                             .margin_based = true,
                             .smooth = true,
                             .curved = true,
                             .endless = true,
                             .self_bounding = true,
                             .value = exponential_value,
                             .slope = exponential_slope,
                             .curvature = exponential_value,
                             .curvature_bound = INF,
                             .dual = exponential_dual,
                             .dual_high = INF},
    /* diag(p) - pp' is at most 1/2: Boehning, "Multinomial logistic regression algorithm", Ann.
     * Inst. Statist. Math. 44, 1992 */
    [MG_LOSS_SOFTMAX] = {.kind = MG_LOSS_SOFTMAX,
                         .name = "softmax",
                         .formula = "(log sum_k exp(f_k) - f_y)",
                         .coupled = true,
                         .smooth = true,
                         .curved = true,
                         .endless = true,
                         .self_bounding = true,
                         .curvature_bound = 0.5},
    [MG_LOSS_CRAMMER_SINGER] = {.kind = MG_LOSS_CRAMMER_SINGER,
                                .name = "Crammer-Singer hinge",
                                .formula = "max_k(1[k!=y] + f_k - f_y)",
                                .coupled = true,
                                .curvature_bound = INF},
};

const mg_loss *mg_loss_get(mg_loss_kind kind) {
    return &losses[kind];
}

mg_loss_passer *mg_loss_pass_for(mg_isa isa) {
    return MG_ISA_TABLE(isa, mg_linear_kernels)->loss_pass;
}

/* ---- Probabilities --------------------------------------------------------------------------- */

void mg_odds_probabilities(double scale, const double *scores, int64_t functions, int64_t classes,
                           double *out) {
    if (functions == 1) {
        out[0] = mg_sigmoid(-scale * scores[0]);
        out[1] = mg_sigmoid(scale * scores[0]);
        return;
    }
    /* as logarithms, so that the largest is 1 even where all of them are next to 0 */
    for (int64_t c = 0; c < classes; c++)
        out[c] = -mg_log1pexp_minus(scale * scores[c]);
    mg_softmax(out, classes);
}

void mg_logistic_probabilities(const double *scores, int64_t functions, int64_t classes,
                               double *out) {
    mg_odds_probabilities(1.0, scores, functions, classes, out);
}
