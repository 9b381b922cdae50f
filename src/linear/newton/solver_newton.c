/* Newton's method: H d = -g with the Hessian of all rows in every step.
 *
 * More work for each step than solver_lbfgs.c and fewer steps; for comparison, for small data, and
 * where the loss bends so much that old curvature misleads. With too many columns for a Hessian H d
 * = -g is solved by conjugate gradients, each of whose steps is a pass over the data, as exactly as
 * the progress is worth (Dembo, Eisenstat, Steihaug, "Inexact Newton methods", SIAM J. Numer. Anal.
 * 19, 1982). */
#include "linear/newton/smooth.h"

#include <math.h>
#include <string.h>

/* Columns up to which the Hessian is made. */
enum { DENSE_COLUMNS = 2048, MOST_INNER = 200 };

typedef struct newton {
    mg_smooth s;
    bool dense;
    double *memory;                                /* of the conjugate gradients */
    double *residual, *conjugate, *image, *solved; /* size */
    double *weights;    /* columns: the conjugate direction in A's units */
    double *curvatures; /* samples */
    double *diagonal;   /* size */
} newton;

static void negative_gradient(const mg_smooth *s, double *out) {
    for (int64_t j = 0; j < s->size; j++)
        out[j] = -s->here.gradient[j];
}

/* ---- Conjugate gradients ----------------------------------------------------------------------
 */

/* image = H conjugate: one pass over the data. */
static margin_status apply_hessian(newton *m) {
    mg_smooth *s = &m->s;
    const double rho = s->objective->penalty.rho;
    double total, offset;
    for (int64_t j = 0; j < s->columns; j++)
        m->weights[j] = s->factor[j] * m->conjugate[j];
    offset = m->conjugate[s->columns] - s->vectors->dot(s->centre, m->weights, s->columns);
    if (!s->objective->intercept) offset = 0.0;
    MG_TRY(mg_design_product(s->design, NULL, s->samples, m->curvatures, m->weights, offset,
                             m->image, &total, s->job->error));
    s->solution->passes++;
    for (int64_t j = 0; j < s->columns; j++)
        m->image[j] = s->factor[j] * (m->image[j] - s->centre[j] * total + rho * m->weights[j]);
    m->image[s->columns] = s->objective->intercept ? total : 0.0;
    return MARGIN_OK;
}

static double precondition(newton *m) {
    for (int64_t j = 0; j < m->s.size; j++)
        m->solved[j] = m->residual[j] / m->diagonal[j];
    return m->s.vectors->dot(m->residual, m->solved, m->s.size);
}

static margin_status solve_inexactly(newton *m) {
    mg_smooth *s = &m->s;
    const mg_vector_ops *v = s->vectors;
    double *d = s->direction;
    memset(d, 0, (size_t)s->size * sizeof *d);
    negative_gradient(s, m->residual);
    double rest = precondition(m), start = rest;
    memcpy(m->conjugate, m->solved, (size_t)s->size * sizeof *m->conjugate);
    const double share = fmin(0.1, sqrt(fabs(start) / fmax(1.0, fabs(s->here.value))));
    for (int k = 0; k < MOST_INNER && rest > 0.0; k++) {
        if (mg_stop_check(&s->job->stop, 0) != MARGIN_OK) break; /* the caller looks again */
        MG_TRY(apply_hessian(m));
        const double bend = v->dot(m->conjugate, m->image, s->size);
        if (!(bend > 0.0)) break;
        v->add(d, rest / bend, m->conjugate, s->size);
        v->add(m->residual, -rest / bend, m->image, s->size);
        const double before = rest;
        rest = precondition(m);
        if (rest <= share * share * start) break;
        for (int64_t j = 0; j < s->size; j++)
            m->conjugate[j] = m->solved[j] + rest / before * m->conjugate[j];
    }
    return MARGIN_OK;
}

static margin_status prepare_inexact(newton *m) {
    mg_smooth *s = &m->s;
    double total = 0.0;
    MG_TRY(mg_smooth_curvatures(s, m->curvatures, &total));
    for (int64_t j = 0; j < s->size; j++) {
        const double factor = j < s->columns ? s->factor[j] : 0.0;
        m->diagonal[j] = total + s->objective->penalty.rho * factor * factor;
        if (!(m->diagonal[j] > 0.0)) m->diagonal[j] = 1.0;
    }
    return MARGIN_OK;
}

/* ---- The method ------------------------------------------------------------------------------ */

static margin_status set_direction(newton *m) {
    mg_smooth *s = &m->s;
    if (!m->dense) {
        MG_TRY(prepare_inexact(m));
        return solve_inexactly(m);
    }
    MG_TRY(mg_smooth_factor(s, s->samples, false));
    negative_gradient(s, s->direction);
    mg_smooth_solve(s, s->direction);
    return MARGIN_OK;
}

static margin_status iterate(newton *m) {
    mg_smooth *s = &m->s;
    for (;;) {
        bool done, moved = false;
        MG_TRY(mg_smooth_check(s, &done));
        if (done) return mg_smooth_end(s, MARGIN_OK);
        const margin_status stop = mg_stop_check(&s->job->stop, s->solution->iterations);
        if (stop < 0) return mg_fail_cancelled(s->job->error);
        if (stop > 0) return mg_smooth_end(s, stop);
        MG_TRY(set_direction(m));
        if (!mg_smooth_is_idle(s)) MG_TRY(mg_smooth_step(s, &moved));
        if (!moved) return mg_smooth_end(s, MARGIN_STOPPED_STALLED);
    }
}

static margin_status new_vectors(newton *m) {
    const int64_t size = m->s.size, count = 6 * size + m->s.samples;
    if (m->dense) return MARGIN_OK;
    m->memory = mg_arena_new(&m->s.arena, count, sizeof *m->memory);
    if (!m->memory)
        return mg_no_memory(m->s.design->heap, count, sizeof *m->memory,
                            "the state of conjugate gradients", m->s.job->error);
    m->residual = m->memory;
    m->conjugate = m->residual + size;
    m->image = m->conjugate + size;
    m->solved = m->image + size;
    m->weights = m->solved + size;
    m->diagonal = m->weights + size;
    m->curvatures = m->diagonal + size;
    return MARGIN_OK;
}

static margin_status solve(mg_linear_job *job, mg_linear_solution *solution) {
    newton m = {0};
    margin_status status;
    MG_TRY(mg_smooth_begin(job, solution, &m.s));
    m.dense = m.s.columns <= DENSE_COLUMNS && mg_smooth_can_factor(&m.s);
    MG_GO(new_vectors(&m));
    status = iterate(&m);
done:
    mg_smooth_free(&m.s);
    return status;
}

const mg_linear_solver mg_solver_newton = {
    .name = "newton",
    .summary = "Newton's method with the Hessian of all rows, or products with it",
    .step_name = "Newton steps",
    .can = mg_smooth_can,
    .solve = solve,
};
