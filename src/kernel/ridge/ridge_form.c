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
    double *factor; /* of B + alpha */
    double *ones;   /* count: A^-1 1, with an intercept */
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

/* x = A^-1 x */
static void form_solve(const void *state, double *x) {
    const form_work *work = state;
    const mg_ridge_form *form = &work->run->form;
    for (int64_t i = 0; i < form->band.n; i++)
        x[i] *= form->scale[i];
    mg_band_solve(&form->band, work->factor, x);
    for (int64_t i = 0; i < form->band.n; i++)
        x[i] *= form->scale[i];
}

static margin_status correct(mg_ridge_run *run, void *argument, double *step) {
    const form_work *work = argument;
    return mg_ridge_correct_by(run, form_solve, work, work->ones, step);
}

/* ---- One penalty ----------------------------------------------------------------------------- */

margin_status mg_ridge_by_form(mg_ridge_run *run, bool *proven) {
    const int64_t m = run->count;
    form_work work = {.run = run};
    *proven = false;
    snprintf(run->method, sizeof run->method,
             "solved by a band form of the Gram matrix, which serves all penalties");
    MG_TRY(MG_PIECES(&run->arena, "a band form", run->error,
                     MG_PIECE(work.factor, m * (MG_BAND + 1)), MG_PIECE(work.ones, m)));
    if (!mg_band_factor(&run->form.band, run->alpha, work.factor)) return MARGIN_OK;
    for (int64_t i = 0; i < m; i++)
        work.ones[i] = 1.0;
    if (run->options->intercept) form_solve(&work, work.ones);
    MG_TRY(mg_ridge_refine(run, 1e-24, correct, &work));
    *proven = true;
    for (int64_t t = 0; t < run->targets; t++)
        *proven = *proven && mg_ridge_proven_gap(run, t) <= run->options->tolerance;
    return MARGIN_OK;
}
