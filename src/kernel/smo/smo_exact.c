/* The last steps, where values in single precision do not get there: two variables at a time, of
 * all of them, with rows of K in f64. */
#include "kernel/smo/smo_room.h"

#include <math.h>
#include <string.h>

typedef struct exact_run {
    mg_smo *s;
    mg_gram *gram;
    const int64_t *place; /* of each variable in the gram */
    double factor;        /* K of the solver is that of the gram times it */
    const double *diagonal;
    double *row; /* of the variable that moves up */
} exact_run;

/* Below it curvature is rounding, relative to k(x, x) + k(z, z). */
static const double exact_flat = 1e-14;

static double exact_curvature(const exact_run *run, int64_t i, int64_t j, double value) {
    const double sum = fabs(run->diagonal[run->place[i]]) + fabs(run->diagonal[run->place[j]]);
    const double curvature =
        run->diagonal[run->place[i]] + run->diagonal[run->place[j]] - 2.0 * value;
    return run->factor * fmax(curvature, exact_flat * sum + 1e-300);
}

static int64_t exact_up(const mg_smo *s) {
    double least = (double)INFINITY;
    int64_t up = -1;
    for (int64_t i = 0; i < s->count; i++) {
        const double right = mg_smo_right(s, i);
        if (!(right < least)) continue;
        least = right;
        up = i;
    }
    return up;
}

/* The partner of i with which the objective falls most; -1: there is none. */
static int64_t exact_partner(const exact_run *run, int64_t i) {
    const mg_smo *s = run->s;
    const double right = mg_smo_right(s, i);
    double most = 0.0;
    int64_t best = -1;
    for (int64_t j = 0; j < s->count; j++) {
        const double gain = mg_smo_left(s, j) - right;
        if (!(gain > 0.0)) continue;
        const double fall = gain * gain / exact_curvature(run, i, j, run->row[run->place[j]]);
        if (!(fall > most)) continue;
        most = fall;
        best = j;
    }
    return best;
}

static double exact_step(exact_run *run, int64_t i, int64_t j) {
    mg_smo *s = run->s;
    const double right = mg_smo_right(s, i), left = mg_smo_left(s, j);
    return mg_smo_move(s->beta, i, j, s->high[i], s->low[j], s->epsilon,
                       (left - right) / exact_curvature(run, i, j, run->row[run->place[j]]));
}

/* The pair of this step and what it does to the gradient. */
static margin_status exact_move(exact_run *run, bool *moved, margin_error *error) {
    mg_smo *s = run->s;
    margin_status status = MARGIN_OK;
    const int64_t i = exact_up(s);
    const double *row = i < 0 ? NULL : mg_gram_row(run->gram, s->context, run->place[i], &status);
    MG_TRY(mg_kernel_fail(status, error));
    *moved = false;
    if (!row) return MARGIN_OK;
    memcpy(run->row, row, (size_t)s->count * sizeof *row);
    const int64_t j = exact_partner(run, i);
    if (j < 0) return MARGIN_OK;
    row = mg_gram_row(run->gram, s->context, run->place[j], &status);
    if (!row) return mg_kernel_fail(status, error);
    const double step = run->factor * exact_step(run, i, j);
    for (int64_t v = 0; v < s->count; v++)
        s->f[v] += step * (run->row[run->place[v]] - row[run->place[v]]);
    *moved = true;
    s->steps++;
    return MARGIN_OK;
}

margin_status mg_smo_finish(mg_smo *s, mg_gram *gram, const int64_t *place, double factor,
                            margin_error *error) {
    enum { MOST = 4096, A_ROW = 16 }; /* steps from one measure to the next */
    const int64_t between = MG_MIN(MOST, A_ROW * s->count);
    exact_run run = {s, gram, place, factor, gram->diagonal, NULL};
    mg_smo_pace pace = {(double)INFINITY, s->rounds};
    margin_status status = MARGIN_OK;
    bool moved = true;
    MG_NEW(s->context->heap, run.row, s->count, "a row of the Gram matrix", error);
    s->stalled = false;
    mg_smo_measure(s);
    while (status == MARGIN_OK && moved && !mg_smo_is_done(s) && !mg_smo_has_stalled(s, &pace)) {
        for (int64_t k = 0; k < between && moved && status == MARGIN_OK; k++) {
            status = mg_stop_check(s->stop, s->steps);
            if (status == MARGIN_ERROR_CANCELLED) status = mg_fail_cancelled(error);
            if (status == MARGIN_OK) status = exact_move(&run, &moved, error);
        }
        s->rounds++;
        mg_smo_measure(s);
    }
    s->stalled = !mg_smo_is_done(s);
    mg_free(s->context->heap, run.row);
    return status;
}
