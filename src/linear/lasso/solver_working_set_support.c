/* Where more columns have weights than a matrix has room for: a step for all of them at once.
 *
 * Sets of columns in turns find out which weights are 0, but where the columns depend on each other
 * they approach the others' values slowly. For these, with the signs that they have, the objective
 * is smooth: Newton's direction comes from conjugate gradients, each of whose steps is a pass over
 * the data (as the subspace steps of Byrd, Chin, Nocedal, Oztoprak, "A family of second-order
 * methods for convex l1-regularized optimization", Mathematical Programming 159, 2016). */
#include "linear/lasso/solver_working_set.h"
#include "linear/objective/conjugate.h"

enum { MOST_STEPS = 100 };
/* It is enough if the residual is this share of the start, or less the nearer the optimum is. */
static const double enough = 0.1;

/* Vectors of columns + 1 numbers in scaled coordinates (see mg_working_model), the last one of the
 * intercept; 0 where a weight is, as the factors of those columns are 0 here. */
typedef struct support_step {
    mg_working *s;
    double *direction, *residual, *diagonal, *work;
    double *factor, *move; /* columns */
} support_step;

/* Of scaled columns the diagonal of H is about the sum of the curvatures. */
static void support_begin(support_step *step) {
    mg_working *s = step->s;
    const mg_penalty *penalty = &s->objective->penalty;
    const double total = mg_sum(s->curvatures, s->samples);
    for (int64_t j = 0; j < s->columns; j++) {
        const double w = s->here.w[j], factor = w != 0.0 ? s->factor[j] : 0.0;
        const double slope = s->here.gradient[j] - s->centre[j] * s->here.excess +
                             penalty->rho * w + copysign(penalty->kappa, w);
        step->factor[j] = factor;
        step->residual[j] = factor > 0.0 ? -factor * slope : 0.0;
        step->diagonal[j] = fmax(total + penalty->rho * factor * factor, 1e-300);
    }
    step->residual[s->columns] = -s->here.excess;
    step->diagonal[s->columns] = fmax(total, 1e-300);
}

static margin_status support_direction(const support_step *step) {
    mg_working *s = step->s;
    int64_t steps;
    const mg_conjugate m = {.objective = s->objective,
                            .stop = &s->job->stop,
                            .count = s->samples,
                            .weights = s->curvatures,
                            .centre = s->centre,
                            .factor = step->factor,
                            .diagonal = step->diagonal,
                            .share = fmin(enough * enough, s->violation),
                            .most = MOST_STEPS,
                            .residual = step->residual,
                            .direction = step->direction,
                            .work = step->work};
    return mg_conjugate_gradients(&m, &steps, s->job->error);
}

static void support_end(const support_step *step) {
    mg_working *s = step->s;
    const mg_penalty *penalty = &s->objective->penalty;
    double offset =
        mg_design_from_coordinates(s->design, s->centre, step->factor, step->direction, step->move);
    if (!s->objective->intercept) offset = 0.0;
    s->slope = s->here.excess * offset;
    s->there.b = s->here.b + offset;
    for (int64_t j = 0; j < s->columns; j++) {
        const double from = s->here.w[j], change = step->move[j];
        s->there.w[j] = from + change;
        s->slope +=
            (s->here.gradient[j] + penalty->rho * from + copysign(penalty->kappa, from)) * change;
    }
}

margin_status mg_working_solve_support(mg_working *s) {
    const int64_t size = s->columns + 1;
    support_step step = {.s = s};
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_TRY(MG_PIECES(&arena, "a step of all weights", s->job->error, MG_PIECE(step.direction, size),
                     MG_PIECE(step.residual, size), MG_PIECE(step.diagonal, size),
                     MG_PIECE(step.factor, size), MG_PIECE(step.move, size),
                     MG_PIECE(step.work, MG_CONJUGATE_VECTORS * size)));
    support_begin(&step);
    MG_TRY(support_direction(&step));
    support_end(&step);
    return MARGIN_OK;
}
