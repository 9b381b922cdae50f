/* Kernel ridge by a band form, which serves all penalties of the samples:
 *
 *   S K S = Q B Q',  S = sqrt(c)                          2/3 m^3 multiply-adds, once
 *   (K + alpha / c)^-1 = S Q (B + alpha)^-1 Q' S          2 m^2 for each vector
 *
 * The form lies below the diagonal of the matrix whose upper triangle stays K, as a factor does.
 * Where B + alpha has no factor rounding has eaten the penalty, and one of K + alpha / c may still
 * know it. */
#include "kernel/ridge/kernel_ridge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct form_work {
    mg_ridge_run *run;
    double *factors;     /* of each task: of B + alpha */
    double *ones;        /* targets x count: A^-1 1, with an intercept */
    double *x;           /* targets x count: what is solved */
    int64_t each, tasks; /* targets of a task */
} form_work;

/* ---- The form -------------------------------------------------------------------------------- */

void mg_ridge_scaled(const mg_ridge_run *run, const double *scale, double *out) {
    const int64_t m = run->count;
    const double *gram = run->system.gram;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < i; j++)
            out[i * m + j] = scale[i] * scale[j] * gram[j * m + i];
        out[i * (m + 1)] = scale[i] * scale[i] * run->system.diagonal[i];
    }
}

margin_status mg_ridge_reduce(mg_ridge_run *run) {
    const int64_t m = run->count;
    MG_NEW(run->context->heap, run->form.scale, m * (MG_BAND + 1), "a band form", run->error);
    run->form.band = (mg_band_form){m, m, run->system.gram, run->form.scale + m};
    for (int64_t i = 0; i < m; i++)
        run->form.scale[i] = sqrt(run->c[i]);
    mg_ridge_scaled(run, run->form.scale, run->system.gram);
    run->worn = true;
    mg_heap_announce(run->context->heap, 8 * mg_band_room(m)); /* beside fits begun since */
    return mg_band_reduce(&run->stop, &run->form.band, run->error);
}

void mg_ridge_form_free(mg_heap *heap, mg_ridge_form *form) {
    mg_free(heap, form->scale);
    *form = (mg_ridge_form){0};
}

/* ---- Products with the inverse --------------------------------------------------------------- */

static void scale_by(const mg_ridge_form *form, int64_t vectors, double *x) {
    const int64_t m = form->band.n;
    for (int64_t t = 0; t < vectors; t++)
        for (int64_t i = 0; i < m; i++)
            x[t * m + i] *= form->scale[i];
}

static margin_status solve_task(void *argument, int64_t task, int worker) {
    form_work *work = argument;
    const mg_ridge_run *run = work->run;
    const mg_ridge_form *form = &run->form;
    const int64_t m = run->count, first = task * work->each;
    const int64_t targets = MG_MIN(work->each, run->targets - first);
    double *x = work->x + first * m, *factor = work->factors + task * m * (MG_BAND + 1);
    (void)worker;
    scale_by(form, targets, x);
    mg_band_turn(&form->band, true, targets, x);
    for (int64_t t = 0; t < targets; t++) {
        if (mg_band_factor(&form->band, run->penalty[first + t].alpha, factor))
            mg_band_solve(&form->band, factor, x + t * m);
        else
            memset(x + t * m, 0, (size_t)m * sizeof *x); /* which proves nothing */
    }
    mg_band_turn(&form->band, false, targets, x);
    scale_by(form, targets, x);
    return MARGIN_OK;
}

/* x = A^-1 x of all targets. */
static margin_status form_solve(form_work *work, double *x) {
    const mg_ridge_run *run = work->run;
    work->x = x;
    return mg_parallel(run->context, work->tasks, solve_task, work, run->error);
}

static margin_status correct(mg_ridge_run *run, void *argument, double *step) {
    form_work *work = argument;
    memcpy(step, run->residual, (size_t)(run->targets * run->count) * sizeof *step);
    MG_TRY(form_solve(work, step));
    mg_ridge_project(run, work->ones, run->count, step);
    run->iterations++;
    return MARGIN_OK;
}

/* ---- All penalties --------------------------------------------------------------------------- */

margin_status mg_ridge_by_form(mg_ridge_run *run, bool *proven) {
    const int64_t m = run->count, all = run->targets * m, threads = mg_threads(run->context);
    form_work work = {.run = run, .each = (run->targets + threads - 1) / threads};
    work.tasks = (run->targets + work.each - 1) / work.each;
    snprintf(run->method, sizeof run->method,
             "solved by a band form of the Gram matrix, which serves all penalties");
    MG_TRY(MG_PIECES(&run->arena, "a band form", run->error,
                     MG_PIECE(work.factors, work.tasks * m * (MG_BAND + 1)),
                     MG_PIECE(work.ones, all)));
    for (int64_t i = 0; i < all; i++)
        work.ones[i] = 1.0;
    if (run->options->intercept) MG_TRY(form_solve(&work, work.ones));
    MG_TRY(mg_ridge_refine(run, 1e-24, correct, &work));
    *proven = mg_ridge_all_proven(run);
    return MARGIN_OK;
}
