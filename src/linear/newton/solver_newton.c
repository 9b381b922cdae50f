/* Newton's method: H d = -g with the Hessian of all rows in every step.
 *
 * More work for each step than solver_lbfgs.c and fewer steps; for comparison, for small data, and
 * where the loss bends so much that old curvature misleads. With too many columns for a Hessian H d
 * = -g is solved by conjugate gradients, each of whose steps is a pass over the data, as exactly as
 * the progress is worth (Dembo, Eisenstat, Steihaug, "Inexact Newton methods", SIAM J. Numer. Anal.
 * 19, 1982). */
#include "linear/newton/smooth.h"
#include "linear/objective/conjugate.h"

/* Columns up to which the Hessian is made. */
enum { DENSE_COLUMNS = 2048, MOST_INNER = 200 };

static void negative_gradient(const mg_smooth *s, double *out) {
    for (int64_t j = 0; j < s->size; j++)
        out[j] = -s->here.gradient[j];
}

static margin_status find_inexactly(mg_smooth *s) {
    const mg_objective *o = s->objective;
    const int64_t size = s->size, count = (MG_CONJUGATE_VECTORS + 1) * size + s->samples;
    const double *g = s->here.gradient;
    double total, square = 0.0;
    int64_t steps;
    if (!s->spare)
        MG_ARENA_NEW(&s->arena, s->spare, count, "the state of conjugate gradients", s->job->error);
    double *curvatures = s->spare + (MG_CONJUGATE_VECTORS + 1) * size;
    MG_TRY(mg_smooth_curvatures(s, curvatures, &total));
    mg_smooth_set_diagonal(s, total);
    for (int64_t j = 0; j < size; j++)
        square += g[j] * g[j] / s->diagonals[j];
    const mg_conjugate m = {.objective = o,
                            .stop = &s->job->stop,
                            .count = s->samples,
                            .weights = curvatures,
                            .centre = s->centre,
                            .factor = s->factor,
                            .diagonal = s->diagonals,
                            .share = fmin(0.01, square / fmax(1.0, fabs(s->here.value))),
                            .most = MOST_INNER,
                            .residual = s->spare,
                            .direction = s->direction,
                            .work = s->spare + size};
    negative_gradient(s, m.residual);
    return mg_conjugate_gradients(&m, &steps, s->job->error);
}

static margin_status find_by_factor(mg_smooth *s, mg_smooth_base base) {
    MG_TRY(mg_smooth_factor(s, base, s->samples, false));
    negative_gradient(s, s->direction);
    return mg_smooth_solve(s, s->direction);
}

margin_status mg_smooth_newton(mg_smooth *s) {
    if (s->functions > 1) return find_by_factor(s, MG_BASE_WHOLE);
    const bool dense = s->columns <= DENSE_COLUMNS && mg_smooth_can_factor(s, 1);
    return dense ? find_by_factor(s, MG_BASE_BLOCKS) : find_inexactly(s);
}

const mg_linear_solver mg_solver_newton = {
    .name = "newton",
    .step_name = "Newton steps",
    .can = mg_smooth_can,
    .cuts = true,
    .solve = mg_smooth_minimise,
};
