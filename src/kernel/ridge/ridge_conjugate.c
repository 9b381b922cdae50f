/* Kernel ridge by conjugate gradients, for all targets side by side, on
 *
 *   (S K S + alpha I) u = S residual,      a += S u,      S = sqrt(c)
 *
 * preconditioned by a randomly pivoted Cholesky factor S K S ~ F F' (Diaz, Epperly, Frangella,
 * Tropp and Webber, "Robust, randomized preconditioning for kernel ridge regression", 2023):
 *
 *   (F F' + alpha I)^-1 r = (r - F (F'F + alpha I)^-1 F'r) / alpha
 *
 * The square of a residual here is the distance P - D of its target, so an iteration says how good
 * it is. */
#include "kernel/ridge/kernel_ridge.h"

#include "kernel/landmarks/pivoted_cholesky.h"
#include "math/products/cholesky.h"
#include "math/products/symmetric_product.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_RANK = 16, MOST_RANK = 1024, MOST_ITERATIONS = 10000, ROWS = 512 };
static const int64_t FACTOR_BYTES = (int64_t)4 << 30; /* a quarter of it at most for F */

/* Part of the penalty's share below which F F' is as good as S K S. */
static const double enough_left = 0.5;

static const char purpose[] = "conjugate gradients";

typedef struct conjugate {
    mg_ridge_run *run;
    mg_isa isa;
    int64_t vectors;        /* targets, and one for the ones */
    double *scale;          /* count: S */
    double *factor, *small; /* F, count x most; the Cholesky factor of F'F + alpha I */
    int64_t most, rank;
    double *ones;                 /* count: A^-1 1, with an intercept */
    double *u, *r, *z, *p, *q;    /* vectors x count */
    double *shares;               /* vectors x most: F'r */
    double *rho, *square, *first; /* vectors: r.z, r.r, r.r at the start */
    bool *ended;                  /* vectors */
    bool has_ones;
    double enough; /* the relative gap to reach */
} conjugate;

/* ---- The preconditioner ---------------------------------------------------------------------- */

/* The Cholesky factor of F'F + alpha I. */
static margin_status factor_small(conjugate *cg) {
    mg_ridge_run *run = cg->run;
    const int64_t k = cg->rank;
    int64_t failed = 0;
    MG_ARENA_NEW(&run->arena, cg->small, k * k, purpose, run->error);
    MG_TRY(mg_symmetric_of_rows(run->context, cg->factor, run->count, k, cg->most, cg->small,
                                run->error));
    for (int64_t i = 0; i < k; i++)
        cg->small[i * (k + 1)] += run->alpha;
    MG_TRY(mg_cholesky_factor(run->context, k, cg->small, k, &failed, run->error));
    if (failed) cg->rank = 0; /* rounding: without it, then */
    return MARGIN_OK;
}

static margin_status make_preconditioner(conjugate *cg) {
    mg_ridge_run *run = cg->run;
    const int64_t m = run->count, root = (int64_t)(2.0 * sqrt((double)m));
    const int64_t room = MG_MIN(run->room, FACTOR_BYTES) / 4 / 8 / m;
    int64_t *pivots;
    double left = 0.0;
    cg->most = MG_MIN(MG_MIN(MG_MAX(root, LEAST_RANK), MOST_RANK), MG_MIN(m, MG_MAX(room, 1)));
    MG_TRY(MG_PIECES(&run->arena, purpose, run->error, MG_PIECE(cg->factor, m * cg->most),
                     MG_PIECE(pivots, cg->most)));
    const mg_pivoting task = {.context = run->context,
                              .kernel = &run->system.kernel,
                              .points = mg_kernel_points_of(run->problem),
                              .scale = cg->scale,
                              .squares = run->system.squares,
                              .most = cg->most,
                              .enough = enough_left * run->alpha,
                              .seed = run->fits[0].seed,
                              .error = run->error};
    MG_TRY(mg_pivoted_cholesky(&task, cg->factor, pivots, &cg->rank, &left));
    return cg->rank > 0 ? factor_small(cg) : MARGIN_OK;
}

static margin_status add_shares(void *state, const mg_block *block, void *argument) {
    const conjugate *cg = argument;
    const mg_vector_ops *ops = mg_vector_ops_for(cg->isa);
    for (int64_t i = block->first; i < block->first + block->count; i++)
        for (int64_t k = 0; k < cg->vectors; k++)
            ops->add((double *)state + k * cg->rank, cg->r[k * cg->run->count + i],
                     cg->factor + i * cg->most, cg->rank);
    return MARGIN_OK;
}

static margin_status apply_shares(const mg_block *block, void *argument) {
    const conjugate *cg = argument;
    const mg_vector_ops *ops = mg_vector_ops_for(cg->isa);
    const int64_t m = cg->run->count;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        for (int64_t k = 0; k < cg->vectors; k++)
            cg->z[k * m + i] -=
                ops->dot(cg->factor + i * cg->most, cg->shares + k * cg->rank, cg->rank);
    return MARGIN_OK;
}

/* alpha z = r - F (F'F + alpha I)^-1 F'r; the factor alpha changes no direction. */
static margin_status ridge_precondition(conjugate *cg) {
    const mg_ridge_run *run = cg->run;
    memcpy(cg->z, cg->r, (size_t)(cg->vectors * run->count) * sizeof *cg->z);
    if (cg->rank == 0) return MARGIN_OK;
    MG_TRY(mg_sweep_sums(run->context, run->count, ROWS, cg->vectors * cg->rank, 0, add_shares, cg,
                         cg->shares, run->error));
    for (int64_t k = 0; k < cg->vectors; k++)
        mg_cholesky_solve(cg->isa, cg->rank, cg->small, cg->rank, cg->shares + k * cg->rank);
    return mg_sweep_each(run->context, run->count, ROWS, apply_shares, cg, run->error);
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* q = (S K S + alpha I) p; z is free then. */
static margin_status ridge_multiply(conjugate *cg) {
    const mg_ridge_run *run = cg->run;
    const int64_t m = run->count;
    for (int64_t k = 0; k < cg->vectors; k++)
        for (int64_t i = 0; i < m; i++)
            cg->z[k * m + i] = cg->scale[i] * cg->p[k * m + i];
    MG_TRY(mg_kernel_system_multiply(&run->system, cg->vectors, cg->z, cg->q));
    for (int64_t k = 0; k < cg->vectors; k++)
        for (int64_t i = 0; i < m; i++)
            cg->q[k * m + i] = cg->scale[i] * cg->q[k * m + i] + run->alpha * cg->p[k * m + i];
    return MARGIN_OK;
}

/* Whether a vector is near enough: the square of its residual is the distance of its target. */
static bool is_near(const conjugate *cg, int64_t k) {
    const mg_ridge_run *run = cg->run;
    const double factor = run->options->penalty.factor;
    if (!(cg->square[k] > 1e-30 * cg->first[k])) return true;
    if (k >= run->targets) return cg->square[k] <= 1e-16 * cg->first[k];
    double product = 0.0; /* P at the optimum is alpha a.y */
    for (int64_t i = 0; i < run->count; i++)
        product += (run->a[k * run->count + i] + cg->scale[i] * cg->u[k * run->count + i]) *
                   run->y[k * run->count + i];
    return factor * cg->square[k] <= cg->enough * fmax(1.0, factor * run->alpha * fabs(product));
}

static margin_status step_vector(conjugate *cg, int64_t k) {
    const mg_vector_ops *ops = mg_vector_ops_for(cg->isa);
    const int64_t m = cg->run->count, at = k * m;
    const double curvature = ops->dot(cg->p + at, cg->q + at, m);
    if (!(curvature > 0.0) &&
        cg->run->system.curvature == MG_KERNEL_DEFINITE) { /* of an inner product: rounding */
        cg->ended[k] = true;
        return MARGIN_OK;
    }
    if (!(curvature > 0.0 || cg->rho[k] == 0.0)) return mg_ridge_fail_indefinite(cg->run);
    const double length = cg->rho[k] == 0.0 ? 0.0 : cg->rho[k] / curvature;
    ops->add(cg->u + at, length, cg->p + at, m);
    ops->add(cg->r + at, -length, cg->q + at, m);
    cg->square[k] = ops->square(cg->r + at, m);
    return MARGIN_OK;
}

static void turn_vector(conjugate *cg, int64_t k) {
    const mg_vector_ops *ops = mg_vector_ops_for(cg->isa);
    const int64_t m = cg->run->count, at = k * m;
    const double rho = ops->dot(cg->r + at, cg->z + at, m);
    const double turn = cg->rho[k] > 0.0 ? rho / cg->rho[k] : 0.0;
    for (int64_t i = 0; i < m; i++)
        cg->p[at + i] = cg->z[at + i] + turn * cg->p[at + i];
    cg->rho[k] = rho;
}

static void start_iterations(conjugate *cg) {
    const mg_vector_ops *ops = mg_vector_ops_for(cg->isa);
    const mg_ridge_run *run = cg->run;
    const int64_t m = run->count;
    for (int64_t k = 0; k < cg->vectors; k++) {
        for (int64_t i = 0; i < m; i++)
            cg->r[k * m + i] = cg->scale[i] * (k < run->targets ? run->residual[k * m + i] : 1.0);
        cg->rho[k] = 0.0;
        cg->first[k] = cg->square[k] = ops->square(cg->r + k * m, m);
        cg->ended[k] = cg->first[k] == 0.0;
    }
    memset(cg->u, 0, (size_t)(cg->vectors * m) * sizeof *cg->u);
    memset(cg->p, 0, (size_t)(cg->vectors * m) * sizeof *cg->p);
}

static bool all_ended(conjugate *cg) {
    bool ended = true;
    for (int64_t k = 0; k < cg->vectors; k++) {
        cg->ended[k] = cg->ended[k] || is_near(cg, k);
        ended = ended && cg->ended[k];
    }
    return ended;
}

static margin_status conjugate_iterate(conjugate *cg) {
    mg_ridge_run *run = cg->run;
    run->pace.asked = mg_clock();
    run->pace.behind = 1.0; /* the judgement */
    run->stop.pace = &run->pace;
    start_iterations(cg);
    while (!all_ended(cg) && run->ended <= 0) {
        MG_TRY(ridge_precondition(cg));
        for (int64_t k = 0; k < cg->vectors; k++)
            if (!cg->ended[k]) turn_vector(cg, k);
        MG_TRY(ridge_multiply(cg));
        for (int64_t k = 0; k < cg->vectors; k++)
            if (!cg->ended[k]) MG_TRY(step_vector(cg, k));
        run->iterations++;
        mg_progress(run->context, "conjugate gradients", (double)run->iterations, (double)NAN,
                    cg->square[0] / cg->first[0]);
        const margin_status stop = mg_stop_check(&run->stop, run->iterations);
        if (stop < 0) return mg_fail_cancelled(run->error);
        run->ended = stop;
    }
    return MARGIN_OK;
}

static margin_status correct(mg_ridge_run *run, void *argument, double *step) {
    conjugate *cg = argument;
    const int64_t m = run->count;
    cg->vectors = run->targets + (run->options->intercept && !cg->has_ones);
    MG_TRY(conjugate_iterate(cg));
    for (int64_t k = 0; k < cg->vectors; k++)
        for (int64_t i = 0; i < m; i++) {
            const double move = cg->scale[i] * cg->u[k * m + i];
            if (k < run->targets)
                step[k * m + i] = move;
            else
                cg->ones[i] = move;
        }
    cg->has_ones = true;
    mg_ridge_project(run, cg->ones, 0, step);
    return MARGIN_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static margin_status take_memory(conjugate *cg) {
    mg_ridge_run *run = cg->run;
    const int64_t m = run->count, most = run->targets + 1, all = most * m;
    MG_TRY(MG_PIECES(
        &run->arena, purpose, run->error, MG_PIECE(cg->u, all), MG_PIECE(cg->r, all),
        MG_PIECE(cg->z, all), MG_PIECE(cg->p, all), MG_PIECE(cg->q, all), MG_PIECE(cg->scale, m),
        MG_PIECE(cg->ones, m), MG_PIECE(cg->shares, most * MOST_RANK), MG_PIECE(cg->rho, most),
        MG_PIECE(cg->square, most), MG_PIECE(cg->first, most), MG_PIECE(cg->ended, most)));
    for (int64_t i = 0; i < m; i++)
        cg->scale[i] = sqrt(run->c[i]);
    return MARGIN_OK;
}

margin_status mg_ridge_conjugate(mg_ridge_run *run) {
    conjugate cg = {.run = run, .isa = mg_isa_level()};
    run->iteration_name = "steps";
    if (run->stop.max_iterations < 0) run->stop.max_iterations = MOST_ITERATIONS;
    MG_TRY(take_memory(&cg));
    MG_TRY(make_preconditioner(&cg));
    snprintf(run->method, sizeof run->method,
             "solved by conjugate gradients with %lld pivots, the Gram matrix %s",
             (long long)cg.rank,
             run->system.storage == MG_GRAM_NONE ? "made anew in every step" : "stored");
    cg.enough = run->options->tolerance * 1e-6;
    return mg_ridge_refine(run, cg.enough, correct, &cg);
}
