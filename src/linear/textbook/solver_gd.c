/* Gradient descent (Cauchy 1847), the textbook way: w -= rate x gradient of the mean loss and the
 * penalty, all rows in every step.
 *
 * - The rate is constant for smooth losses. Without one it is 1/L, L the largest eigenvalue of the
 *   curvature bound, from power iteration: the objective then falls in every step (Nesterov,
 *   "Introductory lectures on convex optimization", 2004, section 2.1.5). Where the loss has no
 *   bound (exponential) the rate is found anew in every step: it grows by half, and is halved until
 *   the objective falls by half of what the slope promises (Armijo 1966).
 * - |w|_1: proximal step (Daubechies, Defrise, De Mol 2004; Beck and Teboulle 2009, ISTA).
 * - Losses with corners: subgradients, rates that fall as 1/t (Shor 1985); a step may lead up, so
 *   the best point is kept. Dual variables: the step w <- (1 - theta) w + theta w(c u), theta =
 *   rate x mu, is one of alpha as well, so their sum of rows remains rho w (Shalev-Shwartz, Singer,
 *   Srebro, Cotter, "Pegasos", 2011), and prove the gap. */
#include "linear/textbook/descent.h"

/* to = here - rate x gradient, proximal. */
static void gd_step(const mg_descent *d, double rate, mg_descent_point *to) {
    const mg_descent_point *from = &d->here;
    const double share = rate / d->mass;
    for (int64_t j = 0; j < d->numbers; j++)
        to->w[j] = from->w[j] - share * from->gradient[j]; /* and the intercepts */
    mg_shrink(d, to->w, share * d->objective->penalty.kappa);
}

/* ---- Rates found on the way ------------------------------------------------------------------ */

/* The parabola of curvature 1/rate at `here` lies above the objective at `there`: no loss without a
 * bound comes with |w|_1. */
static bool gd_fits(const mg_descent *d) {
    static const double rounding = 1e-13;
    const mg_descent_point *from = &d->here, *to = &d->there;
    double slope = 0.0, square = 0.0;
    for (int64_t j = 0; j < d->numbers; j++) {
        const double move = to->w[j] - from->w[j];
        slope += move * from->gradient[j];
        square += move * move;
    }
    const double most = from->value + slope + d->mass * square / (2.0 * d->rate);
    return to->value <= most + rounding * fabs(from->value);
}

static margin_status gd_adapting_step(mg_descent *d) {
    enum { MOST_HALVINGS = 100 };
    static const double growth = 1.5;
    d->rate *= growth;
    for (int k = 0; k < MOST_HALVINGS; k++, d->rate /= 2.0) {
        gd_step(d, d->rate, &d->there);
        MG_TRY(mg_descent_evaluate(d, &d->there));
        if (gd_fits(d)) break;
    }
    const mg_descent_point here = d->here;
    d->here = d->there;
    d->there = here;
    return MARGIN_OK;
}

margin_status mg_descent_step(mg_descent *d) {
    const double rate = mg_descent_rate(d, d->units), theta = fmin(1.0, rate * d->mu);
    const int8_t *sign = d->design->problem->sign;
    if (d->adapts) return gd_adapting_step(d);
    for (int64_t i = 0; d->alpha && i < d->samples; i++) /* slopes are those in f */
        d->alpha[i] += theta * (-sign[i] * d->slopes[i] - d->alpha[i]);
    gd_step(d, rate, &d->here);
    return mg_descent_evaluate(d, &d->here);
}
