/* Conjugate gradients for all penalties of the samples: those of M + alpha, M = S K S, S = sqrt(c),
 * from one right-hand side go through the same spaces, so that one product with M a step serves all
 * of them (Jegerlehner, "Krylov space solvers for shifted linear systems", 1996). For kernels of
 * many columns, whose eigenvalues are few in number or near each other; where they are not a band
 * form is cheaper. */
#include "kernel/ridge/kernel_ridge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct shifts_work {
    mg_ridge_run *run;
    const mg_vector_ops *ops;
    double *scale;               /* count: S */
    double *v;                   /* count: the right-hand side */
    double *r, *p, *q, *product; /* count: of the least penalty */
    double *directions;          /* targets x count */
    double *zeta, *zeta_before;  /* targets: residuals are zeta r */
    double *x, *ones;            /* targets x count: A^-1 y; A^-1 1, with an intercept */
    int64_t most;                /* steps that pay */
    bool gave_up;
} shifts_work;

/* q = (M + alpha) p; product: scratch. */
static margin_status multiply(const shifts_work *work, double alpha) {
    const mg_ridge_run *run = work->run;
    for (int64_t i = 0; i < run->count; i++)
        work->product[i] = work->scale[i] * work->p[i];
    MG_TRY(mg_kernel_system_multiply(&run->system, 1, work->product, work->q));
    for (int64_t i = 0; i < run->count; i++)
        work->q[i] = work->scale[i] * work->q[i] + alpha * work->p[i];
    return MARGIN_OK;
}

/* What the equations miss, as a share of the least objective there may be: alpha v'x or more. */
static double missed(const shifts_work *work, int64_t t, double rr, const double *x) {
    const mg_ridge_run *run = work->run;
    const double least = run->penalty[t].alpha * work->ops->dot(work->v, x, run->count);
    return work->zeta[t] * work->zeta[t] * rr / fmax(least, 1.0 / run->penalty[t].factor);
}

/* A step of length `a` of the least penalty as one of penalty t: `before` and `b` are the length of
 * the step before and the share of its direction. */
static void advance(shifts_work *work, int64_t t, double sigma, double a, double b, double before,
                    double *x) {
    const int64_t m = work->run->count;
    const double z = work->zeta[t], old = work->zeta_before[t];
    const double next = z * old * before / (a * b * (old - z) + old * before * (1.0 + sigma * a));
    work->ops->add(x, a * next / z, work->directions + t * m, m);
    work->zeta_before[t] = z;
    work->zeta[t] = next;
}

/* Its next direction. */
static void turn(shifts_work *work, int64_t t, double b) {
    const int64_t m = work->run->count;
    const double ratio = work->zeta[t] / work->zeta_before[t], keep = b * ratio * ratio;
    double *p = work->directions + t * m;
    for (int64_t i = 0; i < m; i++)
        p[i] = work->zeta[t] * work->r[i] + keep * p[i];
}

static int64_t least_penalty(const mg_ridge_run *run) {
    int64_t least = 0;
    for (int64_t t = 1; t < run->targets; t++)
        if (run->penalty[t].alpha < run->penalty[least].alpha) least = t;
    return least;
}

/* Steps that do not promise to end in time are given up: `share` after the first and after `step`.
 */
static bool is_late(const shifts_work *work, int64_t step, double first, double share,
                    double enough) {
    enum { LOOK = 16 };
    const double expected = (double)(step - 1) * log(enough / first) / log(share / first);
    if (step >= work->most) return true;
    return step % LOOK == 0 && !(expected > 0.0 && expected < (double)work->most);
}

/* x = (M + alpha)^-1 v of each penalty, from v in `work`. */
static margin_status solve_all(shifts_work *work, double enough, double *x) {
    mg_ridge_run *run = work->run;
    const int64_t m = run->count, base = least_penalty(run);
    const double alpha = run->penalty[base].alpha;
    double rr = work->ops->dot(work->v, work->v, m), before = 1.0, b = 0.0, first = 1.0;
    memset(x, 0, (size_t)(run->targets * m) * sizeof *x);
    memcpy(work->r, work->v, (size_t)m * sizeof *x);
    memcpy(work->p, work->v, (size_t)m * sizeof *x);
    for (int64_t t = 0; t < run->targets; t++) {
        memcpy(work->directions + t * m, work->v, (size_t)m * sizeof *x);
        work->zeta[t] = work->zeta_before[t] = 1.0;
    }
    for (int64_t step = 1;; step++) {
        MG_TRY(multiply(work, alpha));
        const double a = rr / work->ops->dot(work->p, work->q, m);
        double worst = 0.0;
        work->ops->add(work->r, -a, work->q, m);
        const double next = work->ops->dot(work->r, work->r, m), b_next = next / rr;
        for (int64_t t = 0; t < run->targets; t++) {
            if (missed(work, t, rr, x + t * m) <= enough) continue; /* it has arrived */
            advance(work, t, run->penalty[t].alpha - alpha, a, b, before, x + t * m);
            turn(work, t, b_next);
            const double share = missed(work, t, next, x + t * m);
            worst = share <= worst ? worst : share; /* NaN stays */
        }
        run->iterations++;
        if (step == 1) first = worst;
        if (worst <= enough) return MARGIN_OK;
        work->gave_up =
            is_late(work, step, first, worst, enough) || mg_stop_check(&run->stop, 0) != MARGIN_OK;
        if (work->gave_up) return MARGIN_OK;
        for (int64_t i = 0; i < m; i++)
            work->p[i] = work->r[i] + b_next * work->p[i];
        rr = next;
        before = a;
        b = b_next;
    }
}

/* (K + alpha / c)^-1 of one vector for all penalties. */
static margin_status solve_for(shifts_work *work, const double *of, double *x) {
    static const double enough = 1e-16; /* of the objective */
    const mg_ridge_run *run = work->run;
    const int64_t m = run->count;
    for (int64_t i = 0; i < m; i++)
        work->v[i] = work->scale[i] * (of ? of[i] : 1.0);
    MG_TRY(solve_all(work, enough, x));
    for (int64_t k = 0; k < run->targets * m; k++)
        x[k] *= work->scale[k % m];
    return MARGIN_OK;
}

/* The first residuals are y for every penalty, and what solves them is there; then nothing is. */
static margin_status correct(mg_ridge_run *run, void *argument, double *step) {
    shifts_work *work = argument;
    const size_t bytes = (size_t)(run->targets * run->count) * sizeof *step;
    if (!work->x) {
        memset(step, 0, bytes);
        return MARGIN_OK;
    }
    memcpy(step, work->x, bytes);
    mg_ridge_project(run, work->ones, run->count, step);
    work->x = NULL;
    return MARGIN_OK;
}

margin_status mg_ridge_by_shifts(mg_ridge_run *run, bool *proven) {
    enum { PAYS = 12 }; /* a form takes as long as m / 4 steps: a third of that is risked */
    const int64_t m = run->count, all = run->targets * m;
    shifts_work work = {.run = run, .ops = mg_vector_ops_for(mg_isa_level()), .most = m / PAYS};
    *proven = false;
    MG_SCOPED_ARENA(arena, run->context->heap);
    MG_TRY(MG_PIECES(&arena, "the penalties of a search", run->error, MG_PIECE(work.scale, m),
                     MG_PIECE(work.v, m), MG_PIECE(work.r, m), MG_PIECE(work.p, m),
                     MG_PIECE(work.q, m), MG_PIECE(work.product, m),
                     MG_PIECE(work.zeta, run->targets), MG_PIECE(work.zeta_before, run->targets),
                     MG_PIECE(work.directions, all), MG_PIECE(work.x, all),
                     MG_PIECE(work.ones, all)));
    for (int64_t i = 0; i < m; i++)
        work.scale[i] = sqrt(run->c[i]);
    MG_TRY(solve_for(&work, run->y, work.x));
    if (!work.gave_up && run->options->intercept) MG_TRY(solve_for(&work, NULL, work.ones));
    if (work.gave_up) return MARGIN_OK;
    snprintf(run->method, sizeof run->method,
             "solved by conjugate gradients, of which a step serves all penalties");
    MG_TRY(mg_ridge_refine(run, 1e-16, correct, &work));
    *proven = mg_ridge_all_proven(run);
    return MARGIN_OK;
}
