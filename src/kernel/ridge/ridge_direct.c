/* Kernel ridge by a Cholesky factor of K + alpha / c, corrected until its residuals are rounding.
 *
 * The factor lies below the diagonal of the matrix whose upper triangle stays K. Errors at rows
 * left out come from the diagonal of the inverse,
 *
 *   y_i - f_without_i(x_i) = a_i / (A^-1)_ii,      A = K + alpha / c
 *
 * (with an intercept A^-1 less its part along 1), (A^-1)_ii = sum_k (L^-1)_ki^2: columns of L^-1
 * by forward substitution, as many at a time as a panel is wide. */
#include "kernel/ridge/kernel_ridge.h"

#include "math/products/cholesky.h"
#include "math/products/symmetric_product.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct factor {
    mg_ridge_run *run;
    mg_isa isa;
    double *inverse; /* count: diagonal of A^-1 */
    double *ones;    /* count: A^-1 1, with an intercept */
    double *panels;  /* per worker: count x width */
    int64_t panel;
} factor;

/* ---- The factor ------------------------------------------------------------------------------ */

/* K and what the penalty adds, with `ridge` of it more, below the diagonal. */
static void copy_lower(mg_ridge_run *run, double ridge) {
    const int64_t m = run->count;
    double *gram = run->system.gram;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < i; j++)
            gram[i * m + j] = gram[j * m + i];
        gram[i * m + i] = (run->system.diagonal[i] + run->shift[i]) * (1.0 + ridge);
    }
}

/* Where rounding has made the matrix indefinite a little more on its diagonal mends that, and
 * corrections the rest. */
static margin_status make_factor(mg_ridge_run *run) {
    static const double ridges[] = {0.0, 1e-14, 1e-12, 1e-10};
    const int64_t m = run->count;
    int64_t failed = 1;
    for (int k = 0; k < MG_LENGTH(ridges) && failed; k++) {
        if (k > 0 || run->worn)
            copy_lower(run, ridges[k]);
        else
            for (int64_t i = 0; i < m; i++)
                run->system.gram[i * (m + 1)] = run->system.diagonal[i] + run->shift[i];
        MG_TRY(mg_cholesky_factor(run->context, m, run->system.gram, m, &failed, run->error));
    }
    return failed ? mg_ridge_fail_indefinite(run) : MARGIN_OK;
}

static double norm_of(const mg_ridge_run *run) {
    const int64_t m = run->count;
    double most = 0.0;
    for (int64_t i = 0; i < m; i++) { /* the factor is not there yet: both triangles are */
        double sum = run->shift[i];
        for (int64_t j = 0; j < m; j++)
            sum += fabs(run->system.gram[i * m + j]);
        most = fmax(most, sum);
    }
    return most;
}

/* ---- Corrections ----------------------------------------------------------------------------- */

static void factor_solve(const void *state, double *x) {
    const factor *f = state;
    mg_cholesky_solve(f->isa, f->run->count, f->run->system.gram, f->run->count, x);
}

static margin_status correct(mg_ridge_run *run, void *argument, double *step) {
    const factor *f = argument;
    return mg_ridge_correct_by(run, factor_solve, f, f->ones, step);
}

/* ---- Rows left out --------------------------------------------------------------------------- */

/* A panel of columns of L^-1; above the first of them they are 0. */
static margin_status invert_panel(void *argument, int64_t task, int worker) {
    const factor *f = argument;
    const mg_symmetric_ops *ops = mg_symmetric_ops_for(f->isa, false);
    const int64_t m = f->run->count, width = ops->width, first = task * width;
    const int64_t rows = m - first, columns = MG_MIN(width, rows);
    double *panel = f->panels + worker * f->panel;
    memset(panel, 0, (size_t)(rows * width) * sizeof *panel);
    for (int64_t k = 0; k < columns; k++)
        panel[k * width + k] = 1.0;
    ops->solve(rows, f->run->system.gram + first * (m + 1), m, panel);
    for (int64_t k = 0; k < columns; k++)
        f->inverse[first + k] = 0.0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++)
            f->inverse[first + k] += panel[i * width + k] * panel[i * width + k];
    return MARGIN_OK;
}

static margin_status find_inverse(factor *f) {
    mg_ridge_run *run = f->run;
    const int64_t m = run->count, width = mg_symmetric_ops_for(f->isa, false)->width;
    f->panel = m * width;
    MG_ARENA_NEW(&run->arena, f->inverse, m, "errors at rows left out", run->error);
    MG_NEW(run->context->heap, f->panels, margin_context_threads(run->context) * f->panel,
           "errors at rows left out", run->error);
    const margin_status status =
        mg_parallel(run->context, (m + width - 1) / width, invert_panel, f, NULL);
    mg_free(run->context->heap, f->panels);
    return status < 0 ? mg_fail_cancelled(run->error) : MARGIN_OK;
}

static void leave_out(const factor *f) {
    mg_ridge_run *run = f->run;
    const int64_t m = run->count;
    double sum = 0.0;
    for (int64_t i = 0; run->options->intercept && i < m; i++)
        sum += f->ones[i];
    for (int64_t t = 0; t < run->targets; t++) {
        run->missed[t] = 0.0;
        for (int64_t i = 0; i < m; i++) {
            double inverse = f->inverse[i];
            if (run->options->intercept) inverse -= f->ones[i] * f->ones[i] / sum;
            const double miss = run->a[t * m + i] / inverse;
            run->missed[t] += inverse > 0.0 ? run->c[i] * miss * miss : (double)INFINITY;
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static margin_status solve_ones(factor *f) {
    mg_ridge_run *run = f->run;
    MG_ARENA_NEW(&run->arena, f->ones, run->count, "the intercept", run->error);
    for (int64_t i = 0; i < run->count; i++)
        f->ones[i] = 1.0;
    factor_solve(f, f->ones);
    return MARGIN_OK;
}

margin_status mg_ridge_direct(mg_ridge_run *run) {
    const int64_t m = run->count;
    factor f = {.run = run, .isa = mg_isa_level()};
    double *work;
    run->iteration_name = "solves";
    snprintf(run->method, sizeof run->method, "solved by Cholesky factor of the Gram matrix");
    MG_ARENA_NEW(&run->arena, work, 2 * m, "the condition", run->error);
    const bool searched = run->fits[0].kept != NULL; /* where nobody reads more than the gap */
    const double norm = searched ? 0.0 : norm_of(run);
    MG_TRY(make_factor(run));
    run->worn = true;
    if (!searched)
        run->condition =
            1.0 / mg_cholesky_condition(run->context, m, run->system.gram, m, norm, work);
    if (run->options->intercept) MG_TRY(solve_ones(&f));
    MG_TRY(mg_ridge_refine(run, 1e-24, correct, &f));
    const margin_status stop = mg_stop_check(&run->stop, 0);
    if (stop != MARGIN_OK) return stop < 0 ? mg_fail_cancelled(run->error) : (run->ended = stop);
    if (searched) return MARGIN_OK;
    MG_TRY(find_inverse(&f));
    leave_out(&f);
    return MARGIN_OK;
}
