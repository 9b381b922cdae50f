/* Kernel ridge under many penalties:
 *
 *   S K S = V diag(l) V',  S = sqrt(c)           one set of eigenvectors
 *   A^-1 = S V diag(1/(l + alpha)) V' S          for A = K + alpha / c
 *
 * From the diagonal of A^-1 come the errors at rows left out (ridge_direct.c) and the effective
 * degrees of freedom, the trace of K A^-1 = 1 - (alpha / c) A^-1. */
#include "kernel/ridge/kernel_ridge.h"

#include "math/products/lapack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 4096, CHUNK = 128 };

typedef struct path_run {
    mg_ridge_run ridge; /* of one penalty after the other */
    const mg_vector_ops *ops;
    double *vectors; /* count x count: eigenvectors by rows */
    double *values;  /* count: eigenvalues, ascending, none below 0 */
    double *scale;   /* count: S */
    double *from;    /* count: S x, of a product A^-1 x */
    double *product; /* count: V diag(1/(l + alpha)) V' S x; behind it the diagonal of A^-1 */
    double *inverse; /* count: that */
    double *ones;    /* count: A^-1 1, with an intercept */
} path_run;

/* ---- Products with the inverse --------------------------------------------------------------- */

static margin_status add_vectors(void *sums, const mg_block *block, void *argument) {
    const path_run *run = argument;
    const int64_t m = run->ridge.count;
    double *product = sums, *inverse = product + m;
    for (int64_t l = block->first; l < block->first + block->count; l++) {
        const double *vector = run->vectors + l * m;
        const double weight = 1.0 / (run->values[l] + run->ridge.alpha);
        run->ops->add(product, weight * run->ops->dot(vector, run->from, m), vector, m);
        for (int64_t i = 0; i < m; i++)
            inverse[i] += weight * vector[i] * vector[i];
    }
    return MARGIN_OK;
}

static margin_status path_multiply(path_run *run, const double *from, double *to) {
    const int64_t m = run->ridge.count;
    for (int64_t i = 0; i < m; i++)
        run->from[i] = run->scale[i] * from[i];
    MG_TRY(mg_sweep_sums(run->ridge.context, m, CHUNK, 2 * m, 0, add_vectors, run, run->product,
                         run->ridge.error));
    for (int64_t i = 0; i < m; i++) {
        to[i] = run->scale[i] * run->product[i];
        run->inverse[i] *= run->ridge.c[i];
    }
    return MARGIN_OK;
}

static margin_status correct(mg_ridge_run *ridge, void *argument, double *step) {
    path_run *run = argument;
    MG_TRY(path_multiply(run, ridge->residual, step));
    mg_ridge_project(ridge, run->ones, 0, step);
    ridge->iterations++;
    return MARGIN_OK;
}

/* ---- One penalty ----------------------------------------------------------------------------- */

static margin_status solve_ones(path_run *run) {
    for (int64_t i = 0; i < run->ridge.count; i++)
        run->ridge.residual[i] = 1.0;
    return path_multiply(run, run->ridge.residual, run->ones);
}

/* The diagonal of A^-1 less its part along 1. */
static void centre_inverse(path_run *run) {
    double sum = 0.0;
    for (int64_t i = 0; i < run->ridge.count; i++)
        sum += run->ones[i];
    for (int64_t i = 0; i < run->ridge.count; i++)
        run->inverse[i] -= run->ones[i] * run->ones[i] / sum;
}

static void describe(path_run *run, margin_report *report) {
    const mg_ridge_run *ridge = &run->ridge;
    double freedom = 0.0, missed = 0.0, loss = 0.0;
    for (int64_t i = 0; i < ridge->count; i++) {
        const double left = ridge->shift[i] * run->inverse[i]; /* 1 - leverage */
        const double r = ridge->y[i] - ridge->fitted[i] - ridge->b[0];
        const double miss = left > 1e-10 ? ridge->a[i] / run->inverse[i] : (double)INFINITY;
        freedom += 1.0 - left;
        loss += ridge->c[i] * r * r;
        missed += ridge->c[i] * miss * miss;
    }
    const double rmse = sqrt(loss / ridge->total);
    report->train_rmse = rmse;
    mg_report_set(report, "freedom", freedom);
    mg_report_set(report, "leave_one_out_rmse", sqrt(missed / ridge->total));
    mg_report_set(report, "gcv_rmse",
                  freedom < ridge->total ? rmse / (1.0 - freedom / ridge->total)
                                         : (double)INFINITY);
}

static margin_status solve_penalty(path_run *run, mg_fit *fit) {
    const mg_ridge_options options = mg_ridge_options_of(fit);
    mg_ridge_run *ridge = &run->ridge;
    const size_t bytes = (size_t)ridge->count * sizeof(double);
    ridge->fits = fit;
    ridge->options = &options;
    ridge->penalty[0] = options.penalty;
    ridge->alpha = options.penalty.alpha;
    ridge->iterations = 0;
    memset(ridge->a, 0, bytes);
    memset(ridge->fitted, 0, bytes);
    for (int64_t i = 0; i < ridge->count; i++)
        ridge->shift[i] = ridge->alpha / ridge->c[i];
    if (options.intercept) MG_TRY(solve_ones(run));
    MG_TRY(mg_ridge_refine(ridge, 1e-20, correct, run));
    if (options.intercept) centre_inverse(run);
    MG_TRY(mg_ridge_hand_over(ridge));
    describe(run, &fit->report);
    return MARGIN_OK;
}

/* ---- Eigenvectors ---------------------------------------------------------------------------- */

static margin_status decompose(path_run *run) {
    mg_ridge_run *ridge = &run->ridge;
    const int64_t m = ridge->count;
    int64_t info = 0;
    mg_ridge_scaled(ridge, run->scale, run->vectors);
    const margin_status status = mg_lapack_dsyevd(&ridge->stop, 'V', 'U', m, run->vectors, m,
                                                  run->values, &info, ridge->error);
    MG_TRY(status);
    MG_REQUIRE(status == MARGIN_OK, ridge->error, MARGIN_ERROR_LIMIT,
               "the time limit came before the eigenvectors of the Gram matrix were there, and "
               "with them a first answer; give it more time, or fewer rows");
    MG_REQUIRE(info == 0, ridge->error, MARGIN_ERROR_INTERNAL,
               "the eigenvectors of the Gram matrix did not converge; fit the penalties one by "
               "one");
    for (int64_t l = 0; l < m; l++)
        run->values[l] = fmax(run->values[l], 0.0);
    return MARGIN_OK;
}

static margin_status kernel_path_prepare(path_run *run) {
    mg_ridge_run *ridge = &run->ridge;
    const int64_t m = ridge->count;
    mg_kernel kernel;
    MG_REQUIRE(m <= MOST_ROWS, ridge->error, MARGIN_ERROR_LIMIT,
               "%lld rows are too many for a path, which works by the eigenvectors of at most %d; "
               "fit the penalties one by one",
               (long long)m, (int)MOST_ROWS);
    MG_TRY(mg_kernel_of_fit(ridge->fits, &ridge->options->choice, "kernel-ridge", &kernel));
    const mg_kernel_sizes sizes = mg_kernel_sizes_of(ridge->fits, &kernel, 1);
    const mg_kernel_plan plan = mg_kernel_plan_make(ridge->context, &sizes, MG_WAY_PATH);
    MG_TRY(mg_announce(ridge->context, &plan.says, ridge->error));
    MG_TRY(mg_ridge_begin(ridge));
    MG_TRY(mg_kernel_system_make(ridge->context, ridge->problem, &kernel, MG_GRAM_SQUARE,
                                 &ridge->system, ridge->error));
    MG_REQUIRE(ridge->system.curvature == MG_KERNEL_DEFINITE, ridge->error, MARGIN_ERROR_SPEC,
               "kernel-ridge: the kernel %s, and a path needs one that is an inner product (rbf, "
               "laplacian, linear, exp, or poly with coef0 >= 0); fit the penalties one by one",
               mg_kernel_doubt(ridge->system.curvature));
    MG_TRY(MG_PIECES(&ridge->arena, "eigenvectors of the Gram matrix", ridge->error,
                     MG_PIECE(run->vectors, m * m), MG_PIECE(run->values, m),
                     MG_PIECE(run->scale, m), MG_PIECE(run->from, m), MG_PIECE(run->product, 2 * m),
                     MG_PIECE(run->ones, m)));
    for (int64_t i = 0; i < m; i++)
        run->scale[i] = sqrt(ridge->c[i]);
    run->inverse = run->product + m;
    snprintf(ridge->method, sizeof ridge->method, "solved by eigenvectors of the Gram matrix");
    return decompose(run);
}

margin_status mg_kernel_ridge_path(mg_fit *fits, int64_t count) {
    const mg_ridge_options first = mg_ridge_options_of(&fits[0]);
    path_run run = {.ridge = mg_ridge_run_of(fits, 1, fits[0].context, &first),
                    .ops = mg_vector_ops_for(mg_isa_level())};
    run.ridge.stop.max_iterations = -1;
    margin_status status = kernel_path_prepare(&run);
    for (int64_t k = 0; k < count && status >= 0; k++)
        status = solve_penalty(&run, &fits[k]);
    mg_ridge_end(&run.ridge);
    if (status < 0) mg_fits_undo(fits, count);
    return status < 0 ? status : MARGIN_OK;
}
