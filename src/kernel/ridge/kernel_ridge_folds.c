/* The folds and penalties of a search: one Gram matrix for all of them, of which each fold copies
 * the part of its rows, and then goes from one penalty to the next as a chain of fits does. The
 * matrix has the scores of the rows that a fold leaves out, too. */
#include "kernel/ridge/kernel_ridge.h"

#include <math.h>
#include <string.h>

typedef struct folds_run {
    mg_fit *fits;
    int64_t count, folds, each; /* fits, and those of a fold */
    int64_t points, samples;    /* of the matrix; the most of a fold */
    int64_t *position, *rows;   /* of a row of x among the points; of the points */
    mg_problem problem;         /* of all points */
    mg_kernel_system whole;
    mg_shares shares;
} folds_run;

static const char folds_purpose[] = "the folds of a search";

enum { MOST_FOLDS = 64 };
#define MOST_BYTES ((int64_t)4 << 30) /* of what all folds take together */

/* ---- The matrix ------------------------------------------------------------------------------ */

/* With so many workers, each in a fold. */
static double folds_bytes(const folds_run *run, const mg_kernel_plan *fold, int64_t workers) {
    const double n = (double)run->points, rows = (double)run->fits[0].problem->x.rows;
    const double together =
        mg_ridge_wants_form(run->each) ? (double)run->each * (double)run->samples : 0.0;
    return 8.0 * (n * n + n * (double)workers + 2.0 * rows) +
           (double)workers * ((double)fold->says.bytes + 64.0 * together);
}

static margin_status folds_announce(const folds_run *run, const mg_kernel *kernel) {
    const mg_fit *fit = &run->fits[0];
    mg_kernel_sizes sizes = mg_kernel_sizes_of(fit, kernel, 1);
    sizes.count = run->samples;
    sizes.threads = 1;
    mg_kernel_plan fold = mg_kernel_plan_make(
        fit->context, &sizes, mg_ridge_wants_form(run->each) ? MG_WAY_FORM : MG_WAY_FACTOR);
    /* As many workers as folds: the choice depends on no threads. */
    MG_REQUIRE(folds_bytes(run, &fold, run->folds) <=
                   (double)mg_context_room(fit->context, MOST_BYTES),
               fit->error, MARGIN_ERROR_LIMIT, "the folds need too much memory");
    const int64_t workers = MG_MIN(run->folds, (int64_t)mg_threads(fit->context));
    fold.says.rows = run->points;
    fold.says.threads = 0;
    fold.says.matrix = fold.says.whole = 8 * run->points * run->points;
    fold.says.bytes = (int64_t)folds_bytes(run, &fold, workers);
    return mg_announce(fit->context, &fold.says, fit->error);
}

static margin_status make_whole(folds_run *run, mg_arena *arena) {
    const mg_fit *fit = &run->fits[0];
    const mg_kernel_choice choice = mg_kernel_options_of(&fit->learner->info, fit->options);
    const int64_t rows = fit->problem->x.rows;
    MG_TRY(MG_PIECES(arena, folds_purpose, fit->error, MG_PIECE(run->position, rows),
                     MG_PIECE(run->rows, rows)));
    run->points = mg_folds_rows(run->fits, run->count, run->position, run->rows);
    run->problem = (mg_problem){.kind = MG_REGRESSION,
                                .x = fit->problem->x,
                                .index = run->rows,
                                .original = run->rows,
                                .count = run->points};
    MG_TRY(folds_announce(run, &choice.kernel));
    return mg_kernel_system_make(fit->context, &run->problem, &choice.kernel, MG_GRAM_SQUARE,
                                 &run->whole, fit->error);
}

/* ---- A fold ---------------------------------------------------------------------------------- */

/* Of the rows that fits from `first` on are asked for, all the same: one for each target of ridge.
 */
static margin_status make_scores(const folds_run *run, const mg_ridge_run *ridge, mg_fit *first) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t m = ridge->count, points = run->points;
    mg_heap *heap = ridge->context->heap;
    double *a;
    MG_NEW_ZERO(heap, a, ridge->targets * points, folds_purpose, NULL);
    for (int64_t t = 0; t < ridge->targets; t++)
        for (int64_t i = 0; i < m; i++)
            a[t * points + run->position[mg_sample_row(ridge->problem, i)]] += ridge->a[t * m + i];
    for (int64_t i = 0; i < first->asked_count; i++) {
        const double *row = run->whole.gram + run->position[first->asked[i]] * points;
        for (int64_t t = 0; t < ridge->targets; t++)
            first[t].scores[i] = ridge->b[t] + ops->dot(row, a + t * points, points);
    }
    mg_free(heap, a);
    return MARGIN_OK;
}

/* The fits from `first` on, with copies of them that `ridge` is of. */
static margin_status solve_fits(const folds_run *run, mg_ridge_run *ridge, bool together,
                                mg_fit *first) {
    margin_status status = (together ? mg_ridge_solve_penalties : mg_ridge_solve)(ridge);
    for (int64_t t = 0; t < ridge->targets && status >= 0; t++) {
        mg_ridge_say(ridge, t);
        first[t].report = ridge->fits[t].report;
    }
    if (status >= 0) status = make_scores(run, ridge, first);
    if (status >= 0) status = mg_ridge_leave(ridge);
    mg_ridge_end(ridge);
    return status;
}

/* All penalties by one form; those that it does not prove, or few, one after the other. */
static margin_status solve_fold(const folds_run *run, mg_fit *first, mg_fit *copies) {
    const mg_ridge_options options = mg_ridge_options_of(first);
    mg_kept *kept = copies->kept;
    const bool together = mg_ridge_wants_form(run->each);
    margin_status status = MARGIN_OK;
    kept->following = run->each;
    if (together) {
        mg_ridge_run ridge = mg_ridge_run_of(copies, run->each, copies->context, &options);
        MG_TRY(solve_fits(run, &ridge, true, first));
    }
    for (int64_t k = 0; k < run->each && status >= 0; k++) {
        if (together && first[k].report.status == MARGIN_OK) continue;
        const mg_ridge_options own = mg_ridge_options_of(&first[k]);
        mg_ridge_run ridge = mg_ridge_run_of(&copies[k], 1, copies->context, &own);
        MG_TRY(solve_fits(run, &ridge, false, &first[k]));
        if (first[k].report.status != MARGIN_OK) return MARGIN_ERROR_LIMIT;
    }
    return status;
}

static margin_status fold_task(void *argument, int64_t f, int worker) {
    const folds_run *run = argument;
    mg_fit *first = &run->fits[f * run->each], *copies;
    margin_context context;
    mg_kept kept = {0};
    mg_kernel_system part;
    (void)worker;
    mg_context_part(first->context, (double)INFINITY, run->shares, &context);
    MG_NEW(context.heap, copies, run->each, folds_purpose, NULL);
    for (int64_t k = 0; k < run->each; k++) {
        copies[k] = first[k];
        copies[k].context = &context;
        copies[k].error = NULL;
        copies[k].kept = &kept;
    }
    margin_status status =
        mg_kernel_system_part(&run->whole, run->position, &context, first->problem, &part, NULL);
    if (status >= 0) status = mg_ridge_keep(&kept, &part);
    if (status < 0)
        mg_kernel_system_free(&part);
    else
        status = solve_fold(run, first, copies);
    if (kept.data) kept.release(context.heap, kept.data);
    mg_free(context.heap, copies);
    return status;
}

/* ---- All folds ------------------------------------------------------------------------------- */

static margin_status run_folds(folds_run *run, mg_arena *arena) {
    margin_context *context = run->fits[0].context;
    MG_TRY(make_whole(run, arena));
    run->shares = mg_context_shares(context, run->folds);
    for (int64_t k = 0; k < run->count; k++)
        MG_NEW(context->heap, run->fits[k].scores, run->fits[k].asked_count, folds_purpose,
               run->fits[0].error);
    return mg_parallel(context, run->folds, fold_task, run, NULL);
}

/* Folds that have one kernel, a proof, and a factor each. */
static bool are_joined(const folds_run *run) {
    const mg_fit *fit = &run->fits[0];
    const mg_ridge_options options = mg_ridge_options_of(fit);
    return run->folds <= MOST_FOLDS && options.choice.rule == MG_GAMMA_GIVEN &&
           mg_kernel_is_definite(&options.choice.kernel) &&
           mg_ridge_is_direct(&options, run->samples);
}

margin_status mg_kernel_ridge_folds(mg_fit *fits, int64_t count) {
    folds_run run = {.fits = fits, .count = count};
    margin_error *error = fits[0].error;
    mg_arena arena;
    while (run.each < count && fits[run.each].problem == fits[0].problem)
        run.each++;
    run.folds = count / run.each;
    for (int64_t k = 0; k < count; k += run.each)
        run.samples = MG_MAX(run.samples, fits[k].problem->count);
    MG_REQUIRE(are_joined(&run), error, MARGIN_ERROR_LIMIT,
               "there are many folds, or they have kernels of their own, or no factor");
    mg_arena_init(&arena, fits[0].context->heap);
    const margin_status status = run_folds(&run, &arena);
    mg_kernel_system_free(&run.whole);
    mg_arena_free(&arena);
    if (status == MARGIN_ERROR_MEMORY)
        return mg_no_memory(fits[0].context->heap, run.points * run.points, 8, folds_purpose,
                            error);
    return mg_kernel_fail(status, error);
}
