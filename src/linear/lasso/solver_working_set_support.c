/* Where more columns have weights than a matrix has room for: a step for all of them at once.
 *
 * Sets of columns in turns find out which weights are 0, but where the columns depend on each other
 * they approach the others' values slowly. For these, with the signs that they have, the objective
 * is smooth: Newton's direction comes from conjugate gradients, each of whose steps is a pass over
 * the data (as the subspace steps of Byrd, Chin, Nocedal, Oztoprak, "A family of second-order
 * methods for convex l1-regularized optimization", Mathematical Programming 159, 2016). */
#include "linear/lasso/solver_working_set.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 100 };
/* It is enough if the residual is this share of the start, or less the nearer the optimum is. */
static const double enough = 0.1;

/* Vectors of columns + 1 numbers in scaled coordinates (see mg_working_model), the last one of the
 * intercept; 0 where a weight is. */
typedef struct support_step {
    mg_working *s;
    double *direction, *residual, *conjugate, *image, *solved, *diagonal;
    double *weights; /* columns: in A's units */
    double total;    /* of the curvatures */
} support_step;

static bool takes_part(const mg_working *s, int64_t j) {
    return s->here.w[j] != 0.0 && s->factor[j] > 0.0;
}

/* weights from scaled coordinates; returns the intercept that goes with them. */
static double to_weights(const support_step *step, const double *u) {
    const mg_working *s = step->s;
    double offset = u[s->columns];
    for (int64_t j = 0; j < s->columns; j++) {
        step->weights[j] = s->factor[j] * u[j];
        offset -= s->centre[j] * step->weights[j];
    }
    return s->objective->intercept ? offset : 0.0;
}

/* image = H conjugate: a pass over the data. */
static margin_status apply(support_step *step) {
    mg_working *s = step->s;
    const double rho = s->objective->penalty.rho, offset = to_weights(step, step->conjugate);
    double total;
    MG_TRY(mg_design_product(s->design, NULL, s->samples, s->curvatures, step->weights, offset,
                             step->image, &total, s->job->error));
    s->solution->passes++;
    for (int64_t j = 0; j < s->columns; j++) {
        const double product = step->image[j] - s->centre[j] * total + rho * step->weights[j];
        step->image[j] = takes_part(s, j) ? s->factor[j] * product : 0.0;
    }
    step->image[s->columns] = s->objective->intercept ? total : 0.0;
    return MARGIN_OK;
}

/* Of scaled columns the diagonal of H is about the sum of the curvatures. */
static void begin(support_step *step) {
    mg_working *s = step->s;
    const mg_penalty *penalty = &s->objective->penalty;
    step->total = 0.0;
    for (int64_t i = 0; i < s->samples; i++)
        step->total += s->curvatures[i];
    for (int64_t j = 0; j < s->columns; j++) {
        const double w = s->here.w[j], factor = s->factor[j];
        const double slope = s->here.gradient[j] - s->centre[j] * s->here.excess +
                             penalty->rho * w + copysign(penalty->kappa, w);
        step->residual[j] = takes_part(s, j) ? -factor * slope : 0.0;
        step->diagonal[j] = fmax(step->total + penalty->rho * factor * factor, 1e-300);
    }
    step->residual[s->columns] = -s->here.excess;
    step->diagonal[s->columns] = fmax(step->total, 1e-300);
    memset(step->direction, 0, (size_t)(s->columns + 1) * sizeof *step->direction);
}

static double precondition(const support_step *step) {
    const int64_t size = step->s->columns + 1;
    for (int64_t j = 0; j < size; j++)
        step->solved[j] = step->residual[j] / step->diagonal[j];
    return step->s->vectors->dot(step->residual, step->solved, size);
}

static margin_status conjugate_gradients(support_step *step) {
    mg_working *s = step->s;
    const mg_vector_ops *v = s->vectors;
    const int64_t size = s->columns + 1;
    double rest = precondition(step);
    const double start = rest, share = fmin(enough, sqrt(s->violation));
    memcpy(step->conjugate, step->solved, (size_t)size * sizeof *step->conjugate);
    for (int k = 0; k < MOST_STEPS && rest > share * share * start; k++) {
        if (mg_stop_check(&s->job->stop, 0) != MARGIN_OK) break; /* the caller looks again */
        MG_TRY(apply(step));
        const double bend = v->dot(step->conjugate, step->image, size);
        if (!(bend > 1e-14 * rest)) break;
        v->add(step->direction, rest / bend, step->conjugate, size);
        v->add(step->residual, -rest / bend, step->image, size);
        const double before = rest;
        rest = precondition(step);
        for (int64_t j = 0; j < size; j++)
            step->conjugate[j] = step->solved[j] + rest / before * step->conjugate[j];
    }
    return MARGIN_OK;
}

static void end(support_step *step) {
    mg_working *s = step->s;
    const mg_penalty *penalty = &s->objective->penalty;
    const double offset = to_weights(step, step->direction);
    s->slope = s->here.excess * offset;
    s->there.b = s->here.b + offset;
    for (int64_t j = 0; j < s->columns; j++) {
        const double from = s->here.w[j], change = takes_part(s, j) ? step->weights[j] : 0.0;
        s->there.w[j] = from + change;
        s->slope +=
            (s->here.gradient[j] + penalty->rho * from + copysign(penalty->kappa, from)) * change;
    }
}

margin_status mg_working_solve_support(mg_working *s) {
    const int64_t size = s->columns + 1;
    support_step step = {.s = s};
    double *memory;
    MG_NEW(s->design->heap, memory, 7 * size, "a step of all weights", s->job->error);
    step.direction = memory;
    step.residual = step.direction + size;
    step.conjugate = step.residual + size;
    step.image = step.conjugate + size;
    step.solved = step.image + size;
    step.diagonal = step.solved + size;
    step.weights = step.diagonal + size;
    begin(&step);
    const margin_status status = conjugate_gradients(&step);
    if (status >= 0) end(&step);
    mg_free(s->design->heap, memory);
    return status;
}
