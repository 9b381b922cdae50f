/* Stochastic gradient descent (Robbins and Monro 1951): a step for each row, or for each batch of
 * rows, in a new random order in every pass.
 *
 * - With n rows, c_i their weights in P and M the sum of those, row i stands for the gradient
 *   n c_i / M slope_i a_i of the mean loss; a batch for the mean of its rows' gradients.
 * - Without a rate it is 1 / (curvature of the loss x greatest |(a_i, 1)|^2 + mu), less for
 * batches; rates fall as 1 / (1/rate + mu t), without a penalty as 1/sqrt(t) (Bottou 2010). Where
 * the loss has no curvature bound (exponential), no step is longer than the curvature at the scores
 * of its rows allows. A batch is cut as a whole: rows cut one by one would end somewhere else.
 * - Objective, errors and the proof are those of the weights at the end of a pass; the best of them
 *   are kept. Dual variables of losses with corners as in solver_gd.c.
 * - Sparse rows cost what they store: the weights are a multiple of a vector, as the penalty only
 *   shrinks them (Shalev-Shwartz et al., "Pegasos", 2011, section 2.2.1), plus a multiple of the
 *   shift of the columns. */
#include "linear/design/step_row.h"
#include "linear/textbook/descent.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

enum { MOST_PASSES = 1000, CANCEL_ROWS = 512 };

typedef struct sgd {
    mg_descent d;
    int64_t batch, step;
    int64_t *order;      /* samples */
    double *shares;      /* batch: what the rows of a batch move the weights by, but for the rate */
    double *lengths;     /* samples: |(a_i, 1)|^2; NULL: not needed */
    double alpha_factor; /* the dual variables are alpha times this */
    mg_step_row row;     /* dense if there is |w|_1, which changes all weights */
    /* sparse rows: w = factor u + along shift; u is here.w during a pass */
    double factor, along, shift_u; /* shift.u */
} sgd;

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Of the row at hand. */
static double score(const sgd *m) {
    const mg_descent *d = &m->d;
    const double *shift = d->design->shift;
    if (!m->row.sparse) return d->vectors->dot(m->row.values, d->here.w, d->columns) + d->here.b;
    double of_u = m->shift_u, of_shift = m->row.shift_square;
    for (int64_t k = 0; k < m->row.stored; k++) {
        of_u += m->row.values[k] * d->here.w[m->row.at[k]];
        if (shift) of_shift += m->row.values[k] * shift[m->row.at[k]];
    }
    return m->factor * of_u + m->along * of_shift + d->here.b;
}

/* w += by x row at hand */
static void add_row(sgd *m, double by) {
    mg_descent *d = &m->d;
    const double *shift = d->design->shift;
    if (!m->row.sparse) {
        d->vectors->add(d->here.w, by, m->row.values, d->columns);
        return;
    }
    for (int64_t k = 0; k < m->row.stored; k++) {
        const double part = by / m->factor * m->row.values[k];
        d->here.w[m->row.at[k]] += part;
        if (shift) m->shift_u += part * shift[m->row.at[k]];
    }
    m->along += by;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* u = w, and the dual variables as they are. */
static void settle(sgd *m) {
    mg_descent *d = &m->d;
    const double *shift = d->design->shift;
    if (m->row.sparse) {
        m->shift_u = 0.0;
        for (int64_t j = 0; j < d->columns; j++) {
            d->here.w[j] = m->factor * d->here.w[j] + (shift ? m->along * shift[j] : 0.0);
            if (shift) m->shift_u += shift[j] * d->here.w[j];
        }
        m->factor = 1.0;
        m->along = 0.0;
    }
    for (int64_t i = 0; d->alpha && i < d->samples; i++)
        d->alpha[i] *= m->alpha_factor;
    m->alpha_factor = 1.0;
}

/* w *= 1 - theta, the step of the penalty. */
static void shrink(sgd *m, double theta) {
    static const double least = 1e-6;
    mg_descent *d = &m->d;
    double by = 1.0 - theta;
    m->alpha_factor *= fmax(by, 0.0);
    if (m->row.sparse) {
        m->factor *= by;
        m->along *= by;
    } else if (theta != 0.0) {
        for (int64_t j = 0; j < d->columns; j++)
            d->here.w[j] *= by;
    }
    if (fabs(m->factor) < least || m->alpha_factor < least) {
        settle(m);
    }
}

static void shrink_absolute(sgd *m, double by) {
    for (int64_t j = 0; by > 0.0 && j < m->d.columns; j++)
        m->d.here.w[j] = mg_shrink(m->d.here.w[j], by);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* n c_i / M x slope in f, divided by the rows of the batch. To *bend is added what the row
 * contributes to rate x curvature of the batch, where that matters. */
static double share_of(const sgd *m, int64_t i, double rate, int64_t batch, double *bend) {
    const mg_descent *d = &m->d;
    const mg_problem *problem = d->design->problem;
    const mg_loss *loss = d->objective->loss;
    const double f = score(m), sign = loss->margin_based ? (double)problem->sign[i] : 1.0;
    const double t = loss->margin_based ? sign * f : f - problem->target[i];
    const double weight = (double)d->samples * d->objective->c[i] / d->mass;
    if (m->lengths) *bend += rate * weight * loss->curvature(t) * m->lengths[i] / (double)batch;
    return weight * sign * loss->slope(t) / (double)batch;
}

static void one_batch(sgd *m, const int64_t *samples, int64_t count) {
    mg_descent *d = &m->d;
    const double rate = mg_descent_rate(d, m->step++), theta = rate * d->mu;
    const int8_t *sign = d->design->problem->sign;
    double bend = 0.0;
    for (int64_t k = 0; k < count; k++) {
        mg_step_row_read(&m->row, samples[k]);
        m->shares[k] = share_of(m, samples[k], rate, count, &bend);
    }
    for (int64_t k = 0; bend > 1.0 && k < count; k++)
        m->shares[k] /= bend;
    shrink(m, theta);
    for (int64_t k = 0; k < count; k++) {
        if (m->shares[k] == 0.0) continue;
        if (count > 1) mg_step_row_read(&m->row, samples[k]);
        add_row(m, -rate * m->shares[k]);
        if (d->objective->intercept) d->here.b -= rate * m->shares[k];
        /* w changes by -rate share a, and rho w is the sum of the rows times sign and alpha */
        if (d->alpha && m->alpha_factor > 0.0)
            d->alpha[samples[k]] -=
                theta * d->mass * m->shares[k] * sign[samples[k]] / m->alpha_factor;
    }
    shrink_absolute(m, rate * d->objective->penalty.kappa / d->mass);
}

static margin_status one_pass(sgd *m) {
    mg_descent *d = &m->d;
    int64_t until_poll = CANCEL_ROWS;
    mg_random_shuffle(d->job->seed, MG_RANDOM_SHUFFLE, (uint64_t)d->units, m->order, d->samples);
    for (int64_t first = 0; first < d->samples; first += m->batch) {
        const int64_t count = MG_MIN(m->batch, d->samples - first);
        one_batch(m, m->order + first, count);
        until_poll -= count;
        if (until_poll > 0) continue;
        if (mg_cancelled(d->job->context)) return mg_fail_cancelled(d->job->error);
        until_poll = CANCEL_ROWS;
    }
    settle(m);
    return mg_descent_evaluate(d, &d->here);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static margin_status new_memory(sgd *m, bool sparse) {
    mg_descent *d = &m->d;
    mg_arena *arena = &d->arena;
    m->order = mg_arena_new(arena, d->samples, sizeof *m->order);
    m->shares = mg_arena_new(arena, m->batch, sizeof *m->shares);
    m->lengths = mg_arena_new(arena, d->samples, sizeof *m->lengths);
    if (!mg_step_row_new(d->design, sparse, arena, &m->row) || !m->order || !m->shares ||
        !m->lengths)
        return mg_no_memory(d->design->heap, 2 * d->samples + 2 * d->columns + m->batch,
                            sizeof(double), "the rows of a solver", d->job->error);
    for (int64_t i = 0; i < d->samples; i++)
        m->order[i] = i;
    return MARGIN_OK;
}

/* The greatest n c_i / M |(a_i, 1)|^2. */
static margin_status measure_rows(sgd *m, double *most) {
    const mg_descent *d = &m->d;
    *most = 0.0;
    for (int64_t i = 0; i < d->samples; i++) {
        if (i % CANCEL_ROWS == 0 && mg_cancelled(d->job->context))
            return mg_fail_cancelled(d->job->error);
        mg_step_row_read(&m->row, i);
        m->lengths[i] = mg_step_row_square(&m->row, d->objective->intercept);
        *most = fmax(*most, (double)d->samples * d->objective->c[i] / d->mass * m->lengths[i]);
    }
    return MARGIN_OK;
}

static margin_status sgd_begin(sgd *m, int64_t batch) {
    mg_descent *d = &m->d;
    const mg_design *design = d->design;
    double most;
    m->batch = MG_MAX(1, MG_MIN(batch, d->samples));
    const bool sparse =
        !design->made && mg_is_csr(&design->problem->x) && d->objective->penalty.kappa == 0.0;
    m->factor = m->alpha_factor = 1.0;
    MG_TRY(new_memory(m, sparse));
    if (sparse && design->shift) m->shift_u = d->vectors->dot(design->shift, d->here.w, d->columns);
    MG_TRY(measure_rows(m, &most));
    MG_TRY(mg_descent_choose_rate(d, mg_descent_bend(d->objective->loss) * most / (double)m->batch,
                                  m->batch < d->samples || !d->objective->loss->smooth));
    if (!d->adapts) m->lengths = NULL;
    return MARGIN_OK;
}

static margin_status sgd_iterate(sgd *m, int64_t batch) {
    mg_descent *d = &m->d;
    MG_TRY(sgd_begin(m, batch));
    for (;;) {
        bool done;
        MG_TRY(mg_descent_check(d, &done));
        if (done) return mg_descent_end(d, MARGIN_OK);
        const margin_status stop = mg_descent_stop(d);
        if (stop < 0) return mg_fail_cancelled(d->job->error);
        if (stop > 0) return mg_descent_end(d, stop);
        MG_TRY(one_pass(m));
        d->units++;
        mg_descent_note(d);
    }
}

static margin_status sgd_solve(mg_linear_job *job, mg_linear_solution *solution, int64_t batch) {
    sgd m = {.step = 0};
    MG_TRY(mg_descent_begin(job, solution, "passes", MOST_PASSES, &m.d));
    const margin_status status = sgd_iterate(&m, batch);
    mg_descent_free(&m.d);
    return status;
}

static margin_status solve_rows(mg_linear_job *job, mg_linear_solution *solution) {
    return sgd_solve(job, solution, 1);
}

static margin_status solve_batches(mg_linear_job *job, mg_linear_solution *solution) {
    return sgd_solve(job, solution, job->descent.batch);
}

static bool sgd_can(const mg_objective *objective, char *why) {
    (void)objective;
    (void)why;
    return true;
}

const mg_linear_solver mg_solver_sgd = {
    .name = "sgd",
    .summary = "stochastic gradient descent, row by row",
    .step_name = "passes",
    .can = sgd_can,
    .solve = solve_rows,
};

const mg_linear_solver mg_solver_minibatch = {
    .name = "minibatch",
    .summary = "stochastic gradient descent over batches of rows",
    .step_name = "passes",
    .can = sgd_can,
    .solve = solve_batches,
};
