/* L-BFGS whose start matrix is the Cholesky factor of a sampled Hessian.
 *
 *   given    smooth P; a start
 *   keep     pairs of steps and changes of gradient (the last 12), and H0, near the Hessian
 *   step     d = -B g with B from H0 and the pairs by the two-loop recursion (lbfgs_pairs.h);
 *            full step first
 *
 * H0 is the Hessian of a few rows (Byrd, Chin, Neveitt, Nocedal, "On the use of stochastic Hessian
 * information in optimization methods for machine learning", SIAM J. Optim. 21, 2011, use such rows
 * for products; here they are factored once, and the pairs mend what the sample got wrong). Where
 * the curvature has changed it is made anew; where progress is slow its sample grows eightfold, in
 * the end to all rows in double precision: then this is Newton's method. A pass over the data costs
 * the same whatever H0 is, so a good H0 is what counts; but with many columns a factor costs many
 * passes. So the price is rent or buy: until as many passes were made as the factor costs, the
 * diagonal of H will do. Between factors H0 is scaled to the curvature along the last step. */
#include "linear/newton/lbfgs_pairs.h"
#include "linear/newton/smooth.h"

#include <math.h>
#include <string.h>

enum {
    PAIRS = 12,
    FIRST_ROWS = 4000,      /* of the first sample, or */
    ROWS_PER_COLUMN = 20,   /* as many for each column */
    GROWTH = 8,             /* of the sample */
    STEPS_BEFORE_GROWTH = 3 /* after a new factor */
};
/* Progress is slow if a step promises more than this share of what the one before promised. */
static const double slow = 0.25;
/* The curvature has changed if the last step, or the scale of H0, is beyond this factor. */
static const double changed = 2.0;
/* What a factor may cost, in passes, whether so many were made or not: where progress is slow, and
 * for a larger sample where only the curvature has changed. */
static const double small_price = 2.0, tiny_price = 1.0;

typedef struct lbfgs {
    mg_smooth s;
    mg_lbfgs_pairs pairs;
    double *base;        /* size: diagonal H0 where there is no factor */
    double *solved;      /* size */
    double scale;        /* of H0^-1 */
    int level;           /* of the factor; -1: none */
    int64_t since;       /* steps since the factor */
    int64_t rented;      /* passes since it */
    double last, before; /* what the last two steps promised: -slope */
} lbfgs;

/* ---- H0 -------------------------------------------------------------------------------------- */

static margin_status set_diagonal(lbfgs *m) {
    const mg_smooth *s = &m->s;
    double total;
    MG_TRY(mg_smooth_curvatures(&m->s, NULL, &total));
    for (int64_t j = 0; j < s->columns; j++)
        m->base[j] = total + s->objective->penalty.rho * s->factor[j] * s->factor[j];
    m->base[s->columns] = total;
    for (int64_t j = 0; j < s->size; j++)
        if (!(m->base[j] > 0.0)) m->base[j] = 1.0;
    return MARGIN_OK;
}

/* Level by level the factor comes nearer to the Hessian: samples in single precision, eight times
 * as many rows each, then all rows in double precision (at once if the first sample would be all).
 */
typedef struct level {
    int64_t rows;
    bool single, last;
} level;

static level level_at(const lbfgs *m, int number) {
    const int64_t all = m->s.samples;
    int64_t rows = MG_MAX(FIRST_ROWS, ROWS_PER_COLUMN * m->s.size);
    int k = 0;
    for (; k < number && rows < all; k++)
        rows = rows > all / GROWTH ? all : rows * GROWTH;
    const bool exact = rows >= all && (k == 0 || k < number);
    return (level){MG_MIN(rows, all), !exact, exact};
}

static margin_status build(lbfgs *m, int number) {
    const level l = level_at(m, number);
    MG_TRY(mg_smooth_factor(&m->s, l.rows, l.single));
    m->level = number;
    mg_lbfgs_pairs_clear(&m->pairs);
    m->scale = 1.0;
    m->since = m->rented = 0;
    m->last = m->before = (double)INFINITY;
    return MARGIN_OK;
}

/* The curvature is no longer that of the factor: steps do not fit as they are. */
static bool has_changed(const lbfgs *m) {
    if (m->since == 0) return false;
    return m->s.cut || m->s.step > changed || m->scale > changed || m->scale < 1.0 / changed;
}

static double price_at(const lbfgs *m, int number) {
    const level l = level_at(m, number);
    return mg_smooth_price(&m->s, l.rows, l.single);
}

/* A new factor where the last one serves no longer and the price is right: of the next level if
 * progress is slow or it costs little, else of the same level if the curvature is another one. */
static margin_status improve(lbfgs *m) {
    const bool none = m->level < 0;
    const bool is_slow = (m->since > STEPS_BEFORE_GROWTH && m->last > slow * m->before) ||
                         (m->since > 0 && m->since <= 2 && m->s.cut);
    const double rented = (double)m->rented;
    if (!mg_smooth_can_factor(&m->s) || !(none || is_slow || has_changed(m))) return MARGIN_OK;
    const int next = !none && level_at(m, m->level).last ? m->level : m->level + 1;
    const double most = none || is_slow ? fmax(small_price, rented) : tiny_price;
    if (price_at(m, next) <= most) return build(m, next);
    if (!none && price_at(m, m->level) <= rented) return build(m, m->level);
    return MARGIN_OK;
}

/* Where steps lead nowhere: whatever is left to try. False: nothing. */
static margin_status escalate(lbfgs *m, bool *tried) {
    const bool idle = mg_smooth_is_idle(&m->s), exact = m->level >= 0 && level_at(m, m->level).last;
    *tried = true;
    if (mg_smooth_can_factor(&m->s) && (!exact || (!idle && m->since > 1))) {
        int number = MG_MAX(m->level, 0);
        while (!level_at(m, number).last)
            number++;
        if (!exact) m->s.idle_steps = 0;
        return build(m, number);
    }
    *tried = m->pairs.count > 0 && !idle;
    mg_lbfgs_pairs_clear(&m->pairs);
    m->scale = 1.0;
    return MARGIN_OK;
}

/* ---- Direction ------------------------------------------------------------------------------- */

/* x = scale H0^-1 x */
static void solve_base(const lbfgs *m, double *x) {
    const mg_smooth *s = &m->s;
    if (s->factored_rows > 0)
        mg_smooth_solve(s, x);
    else
        for (int64_t j = 0; j < s->size; j++)
            x[j] /= m->base[j];
    for (int64_t j = 0; j < s->size; j++)
        x[j] *= m->scale;
}

/* So that H0 has the curvature that was seen along the last step. */
static void set_scale(lbfgs *m) {
    const mg_smooth *s = &m->s;
    double product;
    const double *change = mg_lbfgs_pairs_change(&m->pairs, &product);
    m->scale = 1.0;
    memcpy(m->solved, change, (size_t)s->size * sizeof *change);
    solve_base(m, m->solved);
    m->scale = product / s->vectors->dot(change, m->solved, s->size);
}

static void set_direction(lbfgs *m) {
    const mg_smooth *s = &m->s;
    for (int64_t j = 0; j < s->size; j++)
        s->direction[j] = -s->here.gradient[j];
    mg_lbfgs_pairs_before(&m->pairs, s->direction);
    solve_base(m, s->direction);
    mg_lbfgs_pairs_after(&m->pairs, s->direction);
}

static void keep_pair(lbfgs *m) {
    const mg_smooth *s = &m->s;
    double *step, *change;
    mg_lbfgs_pairs_next(&m->pairs, &step, &change);
    for (int64_t j = 0; j < s->size; j++) {
        step[j] = s->step * s->direction[j];
        change[j] = s->here.gradient[j] - s->there.gradient[j];
    }
    if (mg_lbfgs_pairs_keep(&m->pairs)) set_scale(m);
}

/* ---- The method ------------------------------------------------------------------------------ */

static margin_status begin(lbfgs *m, mg_linear_job *job, mg_linear_solution *solution) {
    memset(m, 0, sizeof *m);
    MG_TRY(mg_smooth_begin(job, solution, &m->s));
    const int64_t size = m->s.size;
    double *memory = mg_arena_new(&m->s.arena, (2 * PAIRS + 2) * size, sizeof *memory);
    if (!memory) {
        mg_smooth_free(&m->s);
        return mg_no_memory(job->context->heap, (2 * PAIRS + 2) * size, sizeof(double),
                            "the steps of L-BFGS", job->error);
    }
    m->pairs = mg_lbfgs_pairs_make(m->s.design->context, m->s.design->isa, size, PAIRS, memory);
    m->base = memory + 2 * PAIRS * size;
    m->solved = m->base + size;
    m->scale = 1.0;
    m->level = -1;
    m->last = m->before = (double)INFINITY;
    return MARGIN_OK;
}

static margin_status one_step(lbfgs *m, bool *moved) {
    mg_smooth *s = &m->s;
    const int64_t passes = s->solution->passes;
    set_direction(m);
    MG_TRY(mg_smooth_step(s, moved));
    m->rented += s->solution->passes - passes;
    m->since++;
    m->before = m->last;
    m->last = -s->slope;
    if (!*moved) return MARGIN_OK;
    keep_pair(m);
    return MARGIN_OK;
}

static margin_status iterate(lbfgs *m) {
    mg_smooth *s = &m->s;
    MG_TRY(set_diagonal(m));
    for (;;) {
        bool done, moved = true;
        MG_TRY(mg_smooth_check(s, &done));
        if (done) return mg_smooth_end(s, MARGIN_OK);
        const margin_status stop = mg_stop_check(&s->job->stop, s->solution->iterations);
        if (stop < 0) return mg_fail_cancelled(s->job->error);
        if (stop > 0) return mg_smooth_end(s, stop);
        MG_TRY(improve(m));
        if (!mg_smooth_is_idle(s)) MG_TRY(one_step(m, &moved));
        if (!moved || mg_smooth_is_idle(s)) {
            bool tried;
            MG_TRY(escalate(m, &tried));
            if (!tried) return mg_smooth_end(s, MARGIN_STOPPED_STALLED);
        }
    }
}

static margin_status solve(mg_linear_job *job, mg_linear_solution *solution) {
    lbfgs m;
    MG_TRY(begin(&m, job, solution));
    const margin_status status = iterate(&m);
    mg_smooth_free(&m.s);
    return status;
}

const mg_linear_solver mg_solver_lbfgs = {
    .name = "lbfgs",
    .summary = "L-BFGS that starts from the factored Hessian of a sample of the rows",
    .step_name = "L-BFGS steps",
    .can = mg_smooth_can,
    .solve = solve,
};
