/* Newton's method for functions of kernels. With W the curvatures of the loss and S = sqrt(W) the
 * step solves (I + W K / rho) delta = -d, that is
 *
 *   delta = -(d - S B^-1 S K d / rho),       B = I + S K S / rho
 *
 * (Rasmussen and Williams, "Gaussian processes for machine learning", 2006, section 3.4). B has no
 * eigenvalue below 1: by its Cholesky factor, or by conjugate gradients to the share of the
 * residual that the gap deserves. Steps are halved until the objective falls. */
#include "kernel/logistic/kernel_logistic.h"

#include "math/products/cholesky.h"

#include <math.h>
#include <string.h>

/* Of the residual of a step's equations: what is left of d after the correction is much less. */
static const double EXACTNESS = 1e-5;

enum { MOST_STEPS = 100, MOST_HALVINGS = 40, MOST_PRODUCTS = 2000 };

typedef struct newton_run {
    mg_kernel_walk *walk;
    const mg_kernel_objective *o;
    mg_kernel_point *point;
    const mg_vector_ops *ops;
    double start;              /* P at f = 0 */
    double *scale;             /* S / sqrt(rho) */
    double *delta, *kdelta;    /* the step, and K times it */
    double *x, *r, *p, *q, *f; /* conjugate gradients; scores to try */
} newton_run;

/* ---- B^-1 ------------------------------------------------------------------------------------ */

static margin_status factor(newton_run *run) {
    const mg_kernel_system *system = run->o->system;
    const int64_t m = run->o->count;
    const double *s = run->scale;
    int64_t failed = 0;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < i; j++)
            system->gram[i * m + j] = s[i] * s[j] * system->gram[j * m + i];
        system->gram[i * (m + 1)] = 1.0 + s[i] * s[i] * system->diagonal[i];
    }
    MG_TRY(mg_cholesky_factor(system->context, m, system->gram, m, &failed, run->walk->fit->error));
    MG_REQUIRE(!failed, run->walk->fit->error, MARGIN_ERROR_DATA,
               "the Gram matrix of the kernel %s is not positive definite enough for Newton's "
               "method; %stake a smaller C",
               mg_kernel_describe(&system->kernel).text, mg_kernel_scale_words(&system->kernel));
    mg_cholesky_solve(mg_isa_level(), m, system->gram, m, run->x);
    return MARGIN_OK;
}

/* q = B p */
static margin_status newton_multiply(newton_run *run) {
    const int64_t m = run->o->count;
    for (int64_t i = 0; i < m; i++)
        run->f[i] = run->scale[i] * run->p[i];
    MG_TRY(mg_kernel_system_multiply(run->o->system, 1, run->f, run->q));
    for (int64_t i = 0; i < m; i++)
        run->q[i] = run->scale[i] * run->q[i] + run->p[i];
    return MARGIN_OK;
}

/* x = B^-1 x, nearly; the diagonal of B is the preconditioner. */
static margin_status conjugate(newton_run *run, double share) {
    const int64_t m = run->o->count;
    const double *s = run->scale, *diagonal = run->o->system->diagonal;
    double rho = 0.0, first = run->ops->square(run->x, m);
    memcpy(run->r, run->x, (size_t)m * sizeof *run->r);
    memset(run->x, 0, (size_t)m * sizeof *run->x);
    memset(run->p, 0, (size_t)m * sizeof *run->p);
    for (int step = 0; step < MOST_PRODUCTS; step++) {
        if (run->ops->square(run->r, m) <= share * share * first) break;
        double product = 0.0;
        for (int64_t i = 0; i < m; i++)
            product += run->r[i] * run->r[i] / (1.0 + s[i] * s[i] * diagonal[i]);
        const double turn = rho > 0.0 ? product / rho : 0.0;
        rho = product;
        for (int64_t i = 0; i < m; i++)
            run->p[i] = run->r[i] / (1.0 + s[i] * s[i] * diagonal[i]) + turn * run->p[i];
        MG_TRY(newton_multiply(run));
        const double curvature = run->ops->dot(run->p, run->q, m);
        if (!(curvature > 0.0)) break;
        run->ops->add(run->x, rho / curvature, run->p, m);
        run->ops->add(run->r, -rho / curvature, run->q, m);
        if (mg_stop_check(&run->walk->stop, 0) != MARGIN_OK) break;
    }
    return MARGIN_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static margin_status find_step(newton_run *run) {
    const mg_kernel_point *point = run->point;
    const int64_t m = run->o->count;
    const double root = sqrt(run->o->penalty.rho);
    for (int64_t i = 0; i < m; i++) {
        run->scale[i] = sqrt(fmax(point->curvature[i], 0.0)) / root;
        run->x[i] = run->scale[i] * point->kd[i];
    }
    const double share = fmin(1.0, sqrt(point->gap / fmax(1.0, point->value))) * EXACTNESS;
    MG_TRY(run->o->system->storage == MG_GRAM_SQUARE ? factor(run) : conjugate(run, share));
    for (int64_t i = 0; i < m; i++)
        run->delta[i] = -(point->d[i] - run->scale[i] * run->x[i]);
    return mg_kernel_system_multiply(run->o->system, 1, run->delta, run->kdelta);
}

/* a += t delta with the first t of 1, 1/2, ... for which P falls. False: none does. */
static bool take_step(newton_run *run) {
    const mg_kernel_objective *o = run->o;
    mg_kernel_point *point = run->point;
    const int64_t m = o->count;
    const double rho = o->penalty.rho, slope = rho * run->ops->dot(point->kd, run->delta, m);
    const double norm = run->ops->dot(point->a, point->f, m);
    const double cross = run->ops->dot(run->delta, point->f, m);
    const double square = run->ops->dot(run->delta, run->kdelta, m);
    double t = 1.0;
    for (int k = 0; k < MOST_HALVINGS; k++, t /= 2.0) {
        for (int64_t i = 0; i < m; i++)
            run->f[i] = point->f[i] + t * run->kdelta[i];
        const double value = mg_kernel_loss(o, run->f, NULL, NULL) +
                             rho / 2.0 * (norm + 2.0 * t * cross + t * t * square);
        if (!(value <= point->value + 1e-4 * t * slope)) continue;
        run->ops->add(point->a, t, run->delta, m);
        memcpy(point->f, run->f, (size_t)m * sizeof *run->f);
        return true;
    }
    return false;
}

/* Beside what the function gains over f = 0, from which it comes: where C is so small that the loss
 * weighs next to nothing, f = 0 has a tiny gap as well. As for linear functions (proof/goal.h). */
static bool is_small_part(const newton_run *run) {
    const mg_kernel_point *point = run->point;
    const double gain = sqrt(run->walk->tolerance) * (run->start - point->value);
    return point->gap <= fmax(gain, 1e-13 * point->value);
}

static margin_status kernel_newton_iterate(newton_run *run) {
    mg_kernel_walk *walk = run->walk;
    mg_kernel_point *point = run->point;
    for (;; walk->steps++) {
        MG_TRY(mg_kernel_point_judge(run->o, point));
        mg_progress(run->o->system->context, "Newton steps", (double)walk->steps, (double)NAN,
                    mg_kernel_point_gap(point));
        if (walk->steps == 0) run->start = point->value;
        const bool proven = mg_kernel_point_gap(point) <= walk->tolerance;
        if (proven && is_small_part(run)) return MARGIN_OK;
        walk->ended = mg_stop_check(&walk->stop, walk->steps);
        if (walk->ended < 0) return mg_fail_cancelled(walk->fit->error);
        if (walk->ended > 0) return MARGIN_OK;
        /* rounding, not distance, is what keeps the proof from the tolerance */
        const bool blurred =
            !proven && point->gap <= 1e-3 * walk->tolerance * fmax(1.0, point->value);
        if (!blurred) MG_TRY(find_step(run));
        if (!blurred && take_step(run)) continue;
        walk->ended = proven ? MARGIN_OK : MARGIN_STOPPED_STALLED;
        return MARGIN_OK;
    }
}

static margin_status kernel_newton_solve(newton_run *run) {
    mg_kernel_point *point = run->point;
    MG_TRY(kernel_newton_iterate(run));
    /* Scores have taken the steps' rounding on: once more from the coefficients. */
    MG_TRY(mg_kernel_system_multiply(run->o->system, 1, point->a, run->f));
    memcpy(point->f, run->f, (size_t)run->o->count * sizeof *run->f);
    return mg_kernel_point_judge(run->o, point);
}

margin_status mg_kernel_newton(mg_kernel_walk *walk) {
    const mg_kernel_objective *o = walk->objective;
    const int64_t m = o->count;
    const bool direct = o->system->storage == MG_GRAM_SQUARE;
    const char *way = direct ? "by a Cholesky factor" : "by conjugate gradients";
    const mg_kernel_name kernel = mg_kernel_describe(&o->system->kernel);
    mg_pace pace = {.asked = mg_clock(), .behind = 1.0}; /* the longest is already two products */
    newton_run run = {
        .walk = walk, .o = o, .point = walk->point, .ops = mg_vector_ops_for(mg_isa_level())};
    MG_TRY(MG_PIECES(walk->arena, "a Newton step", walk->fit->error, MG_PIECE(run.scale, m),
                     MG_PIECE(run.delta, m), MG_PIECE(run.kdelta, m), MG_PIECE(run.x, m),
                     MG_PIECE(run.r, m), MG_PIECE(run.p, m), MG_PIECE(run.q, m),
                     MG_PIECE(run.f, m)));
    walk->step_name = "Newton steps";
    if (walk->stop.max_iterations < 0) walk->stop.max_iterations = MOST_STEPS;
    walk->stop.pace = &pace;
    const margin_status status = kernel_newton_solve(&run);
    walk->stop.pace = NULL;
    MG_TRY(mg_kernel_point_in_time(o, walk->point, status, &walk->ended));
    mg_report_reason(&walk->fit->report,
                     walk->ended == MARGIN_OK
                         ? "Newton's method %s; kernel %s"
                         : "rounding ends Newton's method %s (kernel %s): take a smaller C",
                     way, kernel.text);
    return MARGIN_OK;
}
