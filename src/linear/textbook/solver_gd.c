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
 * rate x mu, is one of alpha as well, so their sum of rows remains rho w (Shalev-Shwartz, Singer,
 *   Srebro, Cotter, "Pegasos", 2011), and prove the gap. */
#include "linear/textbook/descent.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 10000 };

/* to = from - rate x gradient, proximal. */
static void step_from(const mg_descent *d, const mg_descent_point *from, double rate,
                      mg_descent_point *to) {
    const double share = rate / d->mass, by = share * d->objective->penalty.kappa;
    for (int64_t j = 0; j < d->columns; j++) {
        const double w = from->w[j] - share * from->gradient[j];
        to->w[j] = by > 0.0 ? mg_shrink(w, by) : w;
    }
    to->b = from->b - share * from->gradient_b;
}

static void step_dual(const mg_descent *d, double rate) {
    const int8_t *sign = d->design->problem->sign;
    const double theta = fmin(1.0, rate * d->mu);
    for (int64_t i = 0; i < d->samples; i++) /* slopes are those in f */
        d->alpha[i] += theta * (-sign[i] * d->slopes[i] - d->alpha[i]);
}

/* ---- Rates found on the way ------------------------------------------------------------------ */

static double smooth_value(const mg_descent *d, const mg_descent_point *p) {
    const double kappa = d->objective->penalty.kappa;
    double sum = 0.0;
    if (kappa == 0.0) return p->value;
    for (int64_t j = 0; j < d->columns; j++)
        sum += fabs(p->w[j]);
    return p->value - kappa * sum;
}

/* The parabola of curvature 1/rate at `from` lies above the objective at `to`. */
static bool fits(const mg_descent *d, const mg_descent_point *from, const mg_descent_point *to,
                 double rate) {
    static const double rounding = 1e-13;
    double slope = (to->b - from->b) * from->gradient_b;
    double square = (to->b - from->b) * (to->b - from->b);
    for (int64_t j = 0; j < d->columns; j++) {
        const double move = to->w[j] - from->w[j];
        slope += move * from->gradient[j];
        square += move * move;
    }
    const double most = smooth_value(d, from) + slope + d->mass * square / (2.0 * rate);
    return smooth_value(d, to) <= most + rounding * fabs(from->value);
}

static margin_status adapting_step(mg_descent *d, mg_descent_point *there) {
    enum { MOST_HALVINGS = 100 };
    static const double growth = 1.5;
    d->schedule.rate *= growth;
    for (int k = 0; k < MOST_HALVINGS; k++, d->schedule.rate /= 2.0) {
        step_from(d, &d->here, d->schedule.rate, there);
        MG_TRY(mg_descent_evaluate(d, there));
        if (fits(d, &d->here, there, d->schedule.rate)) break;
    }
    const mg_descent_point here = d->here;
    d->here = *there;
    *there = here;
    return MARGIN_OK;
}

/* ---- The method ------------------------------------------------------------------------------ */

static margin_status plain_step(mg_descent *d) {
    const double rate = mg_descent_rate(d, d->units);
    if (d->alpha) step_dual(d, rate);
    step_from(d, &d->here, rate, &d->here);
    return mg_descent_evaluate(d, &d->here);
}

static margin_status new_point(mg_descent *d, mg_descent_point *point) {
    double *memory = mg_arena_new(&d->arena, 2 * d->columns, sizeof *memory);
    if (!memory)
        return mg_no_memory(d->design->heap, 2 * d->columns, sizeof *memory,
                            "the state of a solver", d->job->error);
    *point = (mg_descent_point){.w = memory, .gradient = memory + d->columns};
    return MARGIN_OK;
}

static margin_status gd_iterate(mg_descent *d) {
    mg_descent_point there = {0};
    MG_TRY(mg_descent_choose_rate(d, 0.0, !d->objective->loss->smooth));
    if (d->adapts) MG_TRY(new_point(d, &there));
    for (;;) {
        bool done;
        MG_TRY(mg_descent_check(d, &done));
        if (done) return mg_descent_end(d, MARGIN_OK);
        const margin_status stop = mg_descent_stop(d);
        if (stop < 0) return mg_fail_cancelled(d->job->error);
        if (stop > 0) return mg_descent_end(d, stop);
        MG_TRY(d->adapts ? adapting_step(d, &there) : plain_step(d));
        d->units++;
        mg_descent_note(d);
    }
}

static bool gd_can(const mg_objective *objective, char *why) {
    (void)objective;
    (void)why;
    return true;
}

static margin_status gd_solve(mg_linear_job *job, mg_linear_solution *solution) {
    mg_descent d;
    MG_TRY(mg_descent_begin(job, solution, "steps", MOST_STEPS, &d));
    const margin_status status = gd_iterate(&d);
    mg_descent_free(&d);
    return status;
}

const mg_linear_solver mg_solver_gd = {
    .name = "gd",
    .summary = "gradient descent over all rows, the textbook way",
    .step_name = "steps",
    .can = gd_can,
    .solve = gd_solve,
};
