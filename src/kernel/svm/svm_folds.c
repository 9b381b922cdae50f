/* The folds and penalties of a search: one Gram matrix in f32 for all of them, each fold from one
 * penalty to the next, and then the proofs together, so that each value in f64 is made once. With
 * the proofs come the scores of the rows that a fold leaves out. */
#include "kernel/svm/kernel_svm.h"
#include "kernel/svm/svm_machine.h"

#include <math.h>
#include <string.h>

typedef struct folds_run {
    mg_fit *fits;
    int64_t count, folds, each; /* fits, and those of a fold */
    mg_svm_shared shared;
    mg_shares shares;
    bool proves;
    int64_t points, samples; /* of the matrix; the most of a fold */
    double *beta;            /* of each fit, `samples` numbers: where it ended */
    double *weights;         /* points x count: the coefficients, */
    double *products;        /* and their sums for each point */
    float *spares;           /* of each worker, for smaller problems: fresh pages are dear */
} folds_run;

static const char folds_purpose[] = "the folds of a search";

enum { MOST_FOLDS = 64 };
#define MOST_BYTES ((int64_t)4 << 30) /* of what all folds take together */

/* Room for smaller problems, one of half of the points at most. */
static int64_t spare_numbers(const folds_run *run) {
    return run->points * run->points / 2;
}

/* Beside the matrix, of so many workers. */
static double own_bytes(const folds_run *run, int64_t workers) {
    const double numbers = (double)run->count * 3.0 * (double)run->points;
    return 8.0 * numbers + 4.0 * (double)workers * (double)spare_numbers(run);
}

/* What a fold leaves out lies side by side, and so do its own rows, in two pieces. */
static margin_status make_matrix(folds_run *run, mg_arena *arena) {
    const mg_fit *fit = &run->fits[0];
    mg_svm_shared *s = &run->shared;
    const int64_t rows = fit->problem->x.rows;
    MG_TRY(MG_PIECES(arena, folds_purpose, fit->error, MG_PIECE(s->position, rows),
                     MG_PIECE(s->rows, rows)));
    run->points = mg_folds_rows(run->fits, run->count, s->position, s->rows);
    mg_kernel_sizes sizes = mg_kernel_sizes_of(fit, &s->kernel, run->folds);
    sizes.count = run->points;
    mg_kernel_plan plan = mg_kernel_plan_make(fit->context, &sizes, MG_WAY_SHARED);
    /* As many workers as folds: the choice depends on no threads. */
    MG_REQUIRE(plan.chosen && (double)plan.says.matrix + own_bytes(run, run->folds) <=
                                  (double)mg_context_room(fit->context, MOST_BYTES),
               fit->error, MARGIN_ERROR_LIMIT, "the folds need too much memory");
    plan.says.bytes += (int64_t)own_bytes(run, mg_threads(fit->context));
    const mg_gram_request request = {.kernel = s->kernel,
                                     .points = {fit->problem->x, s->rows, NULL, run->points},
                                     .type = MARGIN_F32,
                                     .bytes = plan.says.matrix,
                                     .over = sizes.over};
    MG_TRY(mg_announce(fit->context, &plan.says, fit->error));
    MG_TRY(mg_gram_create(fit->context, &request, &s->gram, fit->error));
    return mg_gram_fill(s->gram, fit->context, fit->error);
}

/* ---- A fold ---------------------------------------------------------------------------------- */

typedef struct fold_run {
    margin_context context;
    mg_fit fit; /* without an error of its own */
    mg_svm_machine *machine;
} fold_run;

static mg_svm_options take_fit(const folds_run *run, int64_t k, fold_run *fold) {
    fold->fit = run->fits[k];
    fold->fit.context = &fold->context;
    fold->fit.error = NULL;
    return mg_svm_options_of(&fold->fit.learner->info, fold->fit.options, fold->fit.problem);
}

static margin_status open_fold(const folds_run *run, int64_t f, int worker, fold_run *fold) {
    fold->machine = NULL;
    mg_context_part(run->fits[0].context, (double)INFINITY, run->shares, &fold->context);
    const mg_svm_options options = take_fit(run, f * run->each, fold);
    MG_TRY(mg_svm_machine_for(&fold->fit, &options, &run->shared, &fold->machine));
    fold->machine->bytes = fold->machine->smo.room = spare_numbers(run);
    fold->machine->smo.spare = run->spares + worker * fold->machine->smo.room;
    return MARGIN_OK;
}

static margin_status solve_fit(const folds_run *run, mg_svm_machine *m, int64_t k) {
    static const double of_asked = 0.9; /* f32 says less of the gap than f64 */
    mg_smo *s = &m->smo;
    if (k % run->each > 0) mg_svm_again(m);
    s->relative = of_asked * m->options.tolerance;
    s->kkt = of_asked * m->options.kkt;
    const margin_status status = mg_smo_solve(s, NULL);
    if (status < 0) return status;
    memcpy(run->beta + k * run->samples, s->beta, (size_t)s->count * sizeof *s->beta);
    for (int64_t v = 0; v < s->count; v++)
        run->weights[s->place[v] * run->count + k] += mg_svm_beta(m, v);
    return MARGIN_OK;
}

/* ---- The proofs ------------------------------------------------------------------------------ */

/* The sums for `count` rows, of `width` columns of weights of all points. */
static margin_status folds_multiply(const folds_run *run, margin_context *context,
                                    const int64_t *rows, int64_t count, const double *weights,
                                    int64_t width, double *out) {
    const mg_svm_shared *s = &run->shared;
    const margin_matrix *x = &run->fits[0].problem->x;
    mg_kernel_scratch *scratch;
    const mg_kernel_block block = {.x = x,
                                   .z = x,
                                   .x_rows = rows,
                                   .x_count = count,
                                   .z_rows = s->rows,
                                   .z_count = run->points,
                                   .x_squares = s->gram->squares,
                                   .z_squares = s->gram->squares};
    MG_TRY(mg_kernel_scratch_new(context, &s->kernel, x, x, &scratch, NULL));
    const margin_status status = mg_kernel_multiply(scratch, &block, weights, width, out);
    mg_kernel_scratch_free(scratch);
    return status;
}

/* Where fit k ended, with the gradient in f64. */
static void load_fit(const folds_run *run, mg_svm_machine *m, int64_t k) {
    mg_smo *s = &m->smo;
    memcpy(s->beta, run->beta + k * run->samples, (size_t)s->count * sizeof *s->beta);
    mg_svm_boxes(m);
    for (int64_t v = 0; v < s->count; v++) {
        m->proven_beta[v] = mg_svm_beta(m, v);
        m->reach[v] = fabs(m->proven_beta[v]);
        m->proven_f[v] = run->products[s->place[v] * run->count + k] - s->target[v];
        m->is_proven[v] = true;
    }
    memcpy(s->f, m->proven_f, (size_t)s->count * sizeof *s->f);
    mg_smo_measure(s);
}

/* What f32 did not get to: by itself, from the gradient in f64. */
static margin_status refine_fit(const folds_run *run, mg_svm_machine *m, double *scores) {
    static const double of_asked = 0.95;
    const mg_fit *fit = m->fit;
    margin_status ended;
    double *weights;
    const mg_smo before = m->smo;
    m->smo.relative = of_asked * m->options.tolerance;
    m->smo.kkt = of_asked * m->options.kkt;
    MG_TRY(mg_svm_solve(m, &ended));
    mg_gram_free(m->own); /* of the last steps, in f64 */
    m->own = m->smo.gram = m->smo.lender = NULL;
    m->smo.spare = before.spare;
    m->smo.room = before.room;
    if (ended != MARGIN_OK) return MARGIN_ERROR_LIMIT;
    MG_ARENA_NEW(&m->arena, weights, run->points, folds_purpose, NULL);
    memset(weights, 0, (size_t)run->points * sizeof *weights);
    for (int64_t v = 0; v < m->smo.count; v++)
        weights[m->smo.place[v]] += mg_svm_beta(m, v);
    return folds_multiply(run, fit->context, fit->asked, fit->asked_count, weights, 1, scores);
}

static margin_status prove_fit(const folds_run *run, mg_svm_machine *m, int64_t k) {
    mg_fit *fit = &run->fits[k];
    for (int64_t i = 0; i < fit->asked_count; i++)
        fit->scores[i] = run->products[run->shared.position[fit->asked[i]] * run->count + k];
    load_fit(run, m, k);
    if (!mg_svm_is_proven(m)) MG_TRY(refine_fit(run, m, fit->scores));
    mg_svm_say_gap(m, &fit->report);
    for (int64_t i = 0; i < fit->asked_count; i++)
        fit->scores[i] += mg_smo_intercept(&m->smo);
    return MARGIN_OK;
}

/* ---- All folds ------------------------------------------------------------------------------- */

static margin_status fold_task(void *argument, int64_t f, int worker) {
    const folds_run *run = argument;
    fold_run fold;
    margin_status status = open_fold(run, f, worker, &fold);
    for (int64_t k = f * run->each; k < (f + 1) * run->each && status >= 0; k++) {
        fold.machine->options = take_fit(run, k, &fold);
        status = (run->proves ? prove_fit : solve_fit)(run, fold.machine, k);
    }
    mg_svm_machine_free(fold.context.heap, fold.machine);
    return status;
}

static margin_status run_folds(folds_run *run, mg_arena *arena) {
    margin_context *context = run->fits[0].context;
    MG_TRY(make_matrix(run, arena));
    for (int64_t k = 0; k < run->count; k += run->each)
        run->samples = MG_MAX(run->samples, run->fits[k].problem->count);
    const int64_t numbers = run->count * run->points;
    MG_TRY(MG_PIECES(arena, folds_purpose, run->fits[0].error,
                     MG_PIECE(run->beta, run->count * run->samples),
                     MG_PIECE(run->weights, numbers), MG_PIECE(run->products, numbers),
                     MG_PIECE(run->spares, mg_threads(context) * spare_numbers(run))));
    memset(run->weights, 0, (size_t)numbers * sizeof *run->weights);
    run->shares = mg_context_shares(context, run->folds);
    for (int64_t k = 0; k < run->count; k++)
        MG_NEW(context->heap, run->fits[k].scores, run->fits[k].asked_count, folds_purpose,
               run->fits[0].error);
    MG_TRY(mg_parallel(context, run->folds, fold_task, run, NULL));
    MG_TRY(folds_multiply(run, context, run->shared.rows, run->points, run->weights, run->count,
                          run->products));
    run->proves = true;
    return mg_parallel(context, run->folds, fold_task, run, NULL);
}

margin_status mg_svm_folds(mg_fit *fits, int64_t count) {
    margin_error *error = fits[0].error;
    const mg_svm_options options =
        mg_svm_options_of(&fits[0].learner->info, fits[0].options, fits[0].problem);
    folds_run run = {.fits = fits, .count = count};
    mg_arena arena;
    while (run.each < count && fits[run.each].problem == fits[0].problem)
        run.each++;
    run.folds = count / run.each;
    MG_REQUIRE(run.folds <= MOST_FOLDS && options.kernel.rule == MG_GAMMA_GIVEN &&
                   options.max_iterations < 0 && mg_kernel_is_definite(&options.kernel.kernel),
               error, MARGIN_ERROR_LIMIT,
               "there are many folds, or they have kernels of their own, or no proof");
    MG_TRY(mg_kernel_resolve(fits[0].context, &options.kernel, fits[0].learner->info.name,
                             fits[0].shared->whole, &run.shared.kernel, error));
    mg_arena_init(&arena, fits[0].context->heap);
    const margin_status status = run_folds(&run, &arena);
    mg_gram_free(run.shared.gram);
    mg_arena_free(&arena);
    if (status == MARGIN_ERROR_MEMORY)
        return mg_no_memory(fits[0].context->heap, count * run.points, 8, folds_purpose, error);
    return mg_kernel_fail(status, error);
}
