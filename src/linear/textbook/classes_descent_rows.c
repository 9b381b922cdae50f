/* Stochastic gradient descent for several classes; as solver_sgd.c for one function. */
#include "linear/textbook/classes_descent.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

enum { POLL = 1 << 22 }; /* multiplications */

/* ---- Rows ------------------------------------------------------------------------------------ */

static margin_status poll(mg_classes_stroll *m) {
    const mg_classes_descent *d = m->d;
    m->until_poll -=
        (d->classes + 1) * (m->row.sparse ? m->row.stored + 1 : d->columns) + d->classes;
    if (m->until_poll > 0) return MARGIN_OK;
    m->until_poll = POLL;
    return mg_cancelled(d->o->design->context) ? mg_fail_cancelled(d->job->error) : MARGIN_OK;
}

static double score(const mg_classes_stroll *m, int64_t k, double along_shift) {
    const mg_classes_descent *d = m->d;
    const double *w = d->w + k * d->columns;
    if (!m->row.sparse) return d->vectors->dot(m->row.values, w, d->columns) + d->b[k];
    double of_u = m->shift_u[k];
    for (int64_t e = 0; e < m->row.stored; e++)
        of_u += m->row.values[e] * w[m->row.at[e]];
    return m->factor * of_u + m->along[k] * along_shift + d->b[k];
}

/* shift . a for the row at hand */
static double along_shift_of(const mg_classes_stroll *m) {
    const double *shift = m->d->o->design->shift;
    double sum = m->row.shift_square;
    for (int64_t e = 0; m->row.sparse && shift && e < m->row.stored; e++)
        sum += m->row.values[e] * shift[m->row.at[e]];
    return sum;
}

/* w_k += by x row at hand */
static void add_row(mg_classes_stroll *m, int64_t k, double by) {
    mg_classes_descent *d = m->d;
    const double *shift = d->o->design->shift;
    double *w = d->w + k * d->columns;
    if (!m->row.sparse) {
        d->vectors->add(w, by, m->row.values, d->columns);
        return;
    }
    for (int64_t e = 0; e < m->row.stored; e++) {
        const double part = by / m->factor * m->row.values[e];
        w[m->row.at[e]] += part;
        if (shift) m->shift_u[k] += part * shift[m->row.at[e]];
    }
    m->along[k] += by;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* u = w */
static void settle(mg_classes_stroll *m) {
    mg_classes_descent *d = m->d;
    const double *shift = d->o->design->shift;
    for (int64_t k = 0; m->row.sparse && k < d->classes; k++) {
        double *w = d->w + k * d->columns;
        m->shift_u[k] = 0.0;
        for (int64_t j = 0; j < d->columns; j++) {
            w[j] = m->factor * w[j] + (shift ? m->along[k] * shift[j] : 0.0);
            if (shift) m->shift_u[k] += shift[j] * w[j];
        }
        m->along[k] = 0.0;
    }
    m->factor = 1.0;
}

/* w *= 1 - theta, the step of the penalty */
static void shrink(mg_classes_stroll *m, double theta) {
    static const double least = 1e-6;
    mg_classes_descent *d = m->d;
    const double by = 1.0 - theta;
    if (theta == 0.0) return;
    if (!m->row.sparse) {
        for (int64_t j = 0; j < d->classes * d->columns; j++)
            d->w[j] *= by;
        return;
    }
    m->factor *= by;
    for (int64_t k = 0; k < d->classes; k++)
        m->along[k] *= by;
    if (fabs(m->factor) < least) settle(m);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* weight x (shares - e_own) of the row at hand */
static void find_slopes(const mg_classes_stroll *m, int64_t own, double weight, double *z) {
    const int64_t classes = m->d->classes;
    const double along_shift = along_shift_of(m);
    double most = -(double)INFINITY, sum = 0.0, others = 0.0;
    for (int64_t k = 0; k < classes; k++) {
        z[k] = score(m, k, along_shift);
        if (!(z[k] <= most)) most = z[k];
    }
    for (int64_t k = 0; k < classes; k++) {
        z[k] = exp(z[k] - most);
        sum += z[k];
    }
    for (int64_t k = 0; k < classes; k++) {
        z[k] *= weight / sum;
        if (k != own) others += z[k];
    }
    z[own] = -others;
}

static margin_status one_batch(mg_classes_stroll *m, const int64_t *samples, int64_t count) {
    mg_classes_descent *d = m->d;
    const int32_t *code = d->o->design->problem->code;
    const double rate = mg_schedule_rate(&d->schedule, m->step++);
    /* n c_i / M, divided by the rows of the batch */
    const double share = (double)d->samples / d->mass / (double)count;
    for (int64_t r = 0; r < count; r++) {
        const int64_t i = samples[r];
        mg_step_row_read(&m->row, i);
        MG_TRY(poll(m));
        find_slopes(m, code[i], share * d->o->c[i], m->slopes + r * d->classes);
    }
    shrink(m, rate * d->mu);
    for (int64_t r = 0; r < count; r++) {
        const double *slopes = m->slopes + r * d->classes;
        if (count > 1) mg_step_row_read(&m->row, samples[r]);
        MG_TRY(poll(m));
        for (int64_t k = 0; k < d->classes; k++) {
            if (slopes[k] == 0.0) continue;
            add_row(m, k, -rate * slopes[k]);
            if (d->o->intercept) d->b[k] -= rate * slopes[k];
        }
    }
    return MARGIN_OK;
}

margin_status mg_classes_stroll_pass(mg_classes_stroll *m) {
    mg_classes_descent *d = m->d;
    mg_random_shuffle(d->job->seed, MG_RANDOM_SHUFFLE, (uint64_t)d->units, m->order, d->samples);
    for (int64_t first = 0; first < d->samples; first += m->batch)
        MG_TRY(one_batch(m, m->order + first, MG_MIN(m->batch, d->samples - first)));
    settle(m);
    return mg_classes_descent_evaluate(d);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static margin_status take_memory(mg_classes_stroll *m, bool sparse) {
    mg_classes_descent *d = m->d;
    mg_arena *arena = &d->arena;
    m->order = mg_arena_new(arena, d->samples, sizeof *m->order);
    m->slopes = mg_arena_new(arena, m->batch * d->classes, sizeof *m->slopes);
    m->along = mg_arena_new(arena, 2 * d->classes, sizeof *m->along);
    if (!mg_step_row_new(d->o->design, sparse, arena, &m->row) || !m->order || !m->slopes ||
        !m->along)
        return mg_no_memory(d->o->design->heap, d->samples + 2 * d->columns + m->batch * d->classes,
                            sizeof(double), "the rows of a solver", d->job->error);
    m->shift_u = m->along + d->classes;
    memset(m->along, 0, (size_t)(2 * d->classes) * sizeof *m->along);
    for (int64_t i = 0; i < d->samples; i++)
        m->order[i] = i;
    return MARGIN_OK;
}

margin_status mg_classes_stroll_begin(mg_classes_descent *d, int64_t batch, mg_classes_stroll *m) {
    const mg_design *design = d->o->design;
    double most = 0.0;
    *m = (mg_classes_stroll){
        .d = d, .batch = MG_MAX(1, MG_MIN(batch, d->samples)), .factor = 1.0, .until_poll = POLL};
    MG_TRY(take_memory(m, !design->made && mg_is_csr(&design->problem->x)));
    settle(m); /* for shift_u */
    for (int64_t i = 0; i < d->samples; i++) {
        mg_step_row_read(&m->row, i);
        MG_TRY(poll(m));
        most = fmax(most, (double)d->samples * d->o->c[i] / d->mass *
                              mg_step_row_square(&m->row, d->o->intercept));
    }
    d->rows_curvature = d->o->loss->curvature_bound * most / (double)m->batch;
    d->noisy = m->batch < d->samples;
    return MARGIN_OK;
}
