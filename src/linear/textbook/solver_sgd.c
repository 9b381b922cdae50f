/* Stochastic gradient descent (Robbins and Monro 1951): a step for each row, or for each batch of
 * rows, in a new random order in every pass.
 *
 * - With n rows, c_i their weights in P and M the sum of those, row i stands for the gradient
 *   n c_i / M slope_i a_i of the mean loss, with a slope for each function; a batch for the mean of
 *   its rows' gradients.
 * - Without a rate it is 1 / (curvature of the loss x greatest |(a_i, 1)|^2 + mu), less for
 *   batches; rates fall as 1 / (1/rate + mu t), without a penalty as 1/sqrt(t) (Bottou 2010). Where
 *   the loss has no curvature bound (exponential), no step is longer than the curvature at the
 *   scores of its rows allows. A batch is cut as a whole: rows cut one by one would end somewhere
 *   else.
 * - Objective, errors and the proof are those of the weights at the end of a pass; the best of them
 *   are kept. Dual variables of losses with corners as in solver_gd.c.
 * - Sparse rows cost what they store: the weights are a multiple of a vector, as the penalty only
 *   shrinks them (Shalev-Shwartz et al., "Pegasos", 2011, section 2.2.1), plus a multiple of the
 *   shift of the columns. */
#include "linear/textbook/descent.h"

#include "base/random.h"
#include "linear/objective/coupled.h"

#include <string.h>

enum { POLL = 1 << 22 }; /* multiplications of rows */

/* ---- Rows ------------------------------------------------------------------------------------ */

static margin_status sgd_read_row(mg_descent_rows *m, int64_t sample) {
    mg_step_row_read(&m->row, sample);
    m->done += m->price;
    if (m->done < POLL) return MARGIN_OK;
    m->done = 0;
    return mg_cancelled(m->d->job->context) ? mg_fail_cancelled(m->d->job->error) : MARGIN_OK;
}

static double sgd_score(const mg_descent_rows *m, int64_t k) {
    const mg_descent_point *p = &m->d->here;
    const double of_u = mg_step_row_dot(&m->row, p->w + k * m->d->columns) + m->shift_u[k];
    const double along_shift = m->row.shift_square + m->row.along_shift; /* shift . a */
    return m->factor * of_u + m->along[k] * along_shift + p->b[k];
}

/* w_k += by x row at hand */
static void sgd_add_row(mg_descent_rows *m, int64_t k, double by) {
    const double each = m->factor == 1.0 ? by : by / m->factor;
    mg_step_row_add(&m->row, each, m->d->here.w + k * m->d->columns);
    if (!m->row.sparse) return;
    m->shift_u[k] += each * m->row.along_shift;
    m->along[k] += by;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* u = w, and the dual variables as they are. */
static void sgd_settle(mg_descent_rows *m) {
    mg_descent *d = m->d;
    const double *shift = d->design->shift;
    for (int64_t k = 0; m->row.sparse && k < d->functions; k++) {
        double *w = d->here.w + k * d->columns;
        m->shift_u[k] = 0.0;
        for (int64_t j = 0; j < d->columns; j++) {
            w[j] = m->factor * w[j] + (shift ? m->along[k] * shift[j] : 0.0);
            if (shift) m->shift_u[k] += shift[j] * w[j];
        }
        m->along[k] = 0.0;
    }
    for (int64_t i = 0; d->alpha && i < d->samples; i++)
        d->alpha[i] *= m->alpha_factor;
    m->factor = m->alpha_factor = 1.0;
}

/* w *= 1 - theta, the step of the penalty. */
static void sgd_shrink(mg_descent_rows *m, double theta) {
    static const double least = 1e-6;
    mg_descent *d = m->d;
    const double by = 1.0 - theta;
    if (theta == 0.0) return;
    m->alpha_factor *= fmax(by, 0.0);
    if (m->row.sparse) {
        m->factor *= by;
        for (int64_t k = 0; k < d->functions; k++)
            m->along[k] *= by;
    } else {
        for (int64_t j = 0; j < d->functions * d->columns; j++)
            d->here.w[j] *= by;
    }
    if (fabs(m->factor) < least || m->alpha_factor < least) sgd_settle(m);
}

/* ---- Slopes ---------------------------------------------------------------------------------- */

/* Of one function: weight x slope in f, and the second derivative, where it matters. */
static void slope_of_one(const mg_descent_rows *m, int64_t i, double weight, double *slope,
                         double *curvature) {
    const mg_problem *problem = m->d->design->problem;
    const mg_loss *loss = m->d->objective->loss;
    const double f = sgd_score(m, 0);
    const double sign = loss->margin_based ? (double)problem->sign[i] : 1.0;
    const double t = loss->margin_based ? sign * f : f - problem->target[i];
    *slope = weight * sign * loss->slope(t);
    if (m->d->adapts) *curvature = loss->curvature(t);
}

/* Of the softmax: weight x (share of the function, less 1 for the own). */
static void slopes_of_several(const mg_descent_rows *m, int64_t own, double weight, double *z) {
    const int64_t functions = m->d->functions;
    double most = -(double)INFINITY, sum = 0.0;
    for (int64_t k = 0; k < functions; k++) {
        z[k] = sgd_score(m, k);
        if (!(z[k] <= most)) most = z[k];
    }
    for (int64_t k = 0; k < functions; k++) {
        z[k] = exp(z[k] - most);
        sum += z[k];
    }
    mg_coupled_slopes(z, functions, own, weight / sum, z);
}

/* n c_i / M x slopes, divided by the rows of the batch; by more where they bend. */
static margin_status sgd_find_slopes(mg_descent_rows *m, const int64_t *samples, int64_t count,
                                     double rate) {
    const mg_descent *d = m->d;
    const double rows = (double)count;
    double curvature = 0.0, product = 0.0; /* rate x curvature of the batch */
    for (int64_t r = 0; r < count; r++) {
        const int64_t i = samples[r];
        const double weight = (double)d->samples * d->objective->c[i] / d->mass;
        double *slopes = m->slopes + r * d->functions;
        MG_TRY(sgd_read_row(m, i));
        if (d->functions > 1) {
            slopes_of_several(m, d->design->problem->code[i], weight / rows, slopes);
            continue;
        }
        slope_of_one(m, i, weight, slopes, &curvature);
        if (count > 1) *slopes /= rows; /* the next row waits for it */
        if (d->adapts) product += rate * weight * curvature * m->lengths[i] / rows;
    }
    for (int64_t r = 0; product > 1.0 && r < count; r++)
        m->slopes[r] /= product;
    return MARGIN_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static margin_status sgd_one_batch(mg_descent_rows *m, const int64_t *samples, int64_t count) {
    mg_descent *d = m->d;
    const double rate = mg_descent_rate(d, m->step++), theta = rate * d->mu;
    const int8_t *sign = d->design->problem->sign;
    MG_TRY(sgd_find_slopes(m, samples, count, rate));
    sgd_shrink(m, theta);
    for (int64_t r = 0; r < count; r++) {
        const double *slopes = m->slopes + r * d->functions;
        if (count > 1) MG_TRY(sgd_read_row(m, samples[r]));
        for (int64_t k = 0; k < d->functions; k++) {
            if (slopes[k] == 0.0) continue;
            sgd_add_row(m, k, -rate * slopes[k]);
            if (d->objective->intercept) d->here.b[k] -= rate * slopes[k];
        }
        /* w changes by -rate slope a, and rho w is the sum of the rows times sign and alpha */
        if (d->alpha && m->alpha_factor > 0.0)
            d->alpha[samples[r]] -= theta * d->mass * *slopes * sign[samples[r]] / m->alpha_factor;
    }
    mg_shrink(d, d->here.w, rate * d->objective->penalty.kappa / d->mass);
    return MARGIN_OK;
}

/* Asks for a row that comes soon, and where one after it starts: in a random order the processor
 * does not. */
static void fetch_rows(const mg_descent_rows *m, int64_t sample, int64_t after) {
    const mg_problem *problem = m->d->design->problem;
    const margin_matrix *x = &problem->x;
    const int64_t start = mg_sample_row(problem, after) * mg_type_size(x->start_type);
    __builtin_prefetch(m->d->objective->c + sample);
    if (problem->target) __builtin_prefetch(problem->target + sample);
    if (m->row.prefetch) m->row.prefetch(x, mg_sample_row(problem, sample));
    if (x->row_starts) __builtin_prefetch((const char *)x->row_starts + start);
}

margin_status mg_descent_rows_pass(mg_descent_rows *m) {
    mg_descent *d = m->d;
    enum { AHEAD = 8 }; /* rows */
    const int64_t *order = m->order;
    margin_status status = MARGIN_OK;
    mg_random_shuffle(d->job->seed, MG_RANDOM_SHUFFLE, (uint64_t)d->units, m->order, d->samples);
    for (int64_t at = 0; status >= 0 && at < d->samples; at += m->batch) {
        if (at + 2 * AHEAD < d->samples) fetch_rows(m, order[at + AHEAD], order[at + 2 * AHEAD]);
        status = sgd_one_batch(m, order + at, MG_MIN(m->batch, d->samples - at));
    }
    sgd_settle(m); /* of a pass that the clock cut, too: its dual variables go into the proof */
    return status >= 0 ? mg_descent_evaluate(d, &d->here) : status;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static margin_status rows_memory(mg_descent_rows *m) {
    mg_descent *d = m->d;
    const margin_matrix *x = &d->design->problem->x;
    const bool sparse = !d->design->made && mg_is_csr(x) && d->objective->penalty.kappa == 0.0;
    const int64_t length = sparse ? (int64_t)mg_row_length(x) : d->columns;
    const char *purpose = "the rows of a solver";
    margin_error *error = d->job->error;
    MG_TRY(MG_PIECES(d->arena, purpose, error, MG_PIECE(m->order, d->samples),
                     MG_PIECE(m->slopes, m->batch * d->functions),
                     MG_PIECE(m->along, 2 * d->functions)));
    if (d->adapts) MG_ARENA_NEW(d->arena, m->lengths, d->samples, purpose, error);
    MG_TRY(mg_step_row_new(d->design, d->design->shift, sparse, d->arena, &m->row, error));
    m->price = (d->functions + 1) * (length + 1);
    m->shift_u = m->along + d->functions;
    memset(m->along, 0, (size_t)(2 * d->functions) * sizeof *m->along);
    for (int64_t i = 0; i < d->samples; i++)
        m->order[i] = i;
    return MARGIN_OK;
}

margin_status mg_descent_rows_begin(mg_descent *d, int64_t batch, mg_descent_rows *m) {
    const mg_objective *o = d->objective;
    double most = 0.0; /* the greatest n c_i / M |(a_i, 1)|^2 */
    *m = (mg_descent_rows){
        .d = d, .batch = MG_MIN(batch, d->samples), .factor = 1.0, .alpha_factor = 1.0};
    MG_TRY(rows_memory(m));
    sgd_settle(m); /* for shift_u */
    for (int64_t i = 0; i < d->samples; i++) {
        MG_TRY(sgd_read_row(m, i));
        const double length = mg_step_row_square(&m->row, o->intercept);
        if (d->adapts) m->lengths[i] = length;
        most = fmax(most, (double)d->samples * o->c[i] / d->mass * length);
    }
    d->rows_curvature = mg_loss_most_curvature(o->loss) * most / (double)m->batch;
    d->noisy |= m->batch < d->samples;
    return MARGIN_OK;
}
