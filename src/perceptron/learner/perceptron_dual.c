/* Dual form: a coefficient alpha_i >= 0 per sample, f(x) = sum_i alpha_i y_i k(x_i, x) + b, and the
 * scores of all samples kept up to date: an update adds one row of the Gram matrix to them, a visit
 * costs nothing. With another kernel in place of x.z this is the kernel perceptron (Aizerman,
 * Braverman and Rozonoer, "Theoretical foundations of the potential function method in pattern
 * recognition learning", Automation and Remote Control 25, 1964).
 *
 * Rounding adds up in scores that are kept: before the end is believed they are made afresh. */
#include "perceptron/learner/perceptron_run.h"

#include "learn/kernels/kernel_plan.h"
#include "perceptron/learner/perceptron.h"

#include <math.h>
#include <string.h>

/* Beside the matrix. How many rows take part in the model is not known: said is what it takes if
 * all do, where that is more than the training, whose matrix is gone by then. Rows of the matrix
 * are fewer where what is beside them needs the room; at least two. */
static void set_bytes(const mg_perceptron_run *run, const mg_kernel_sizes *sizes,
                      mg_announcement *a) {
    /* of a row: states and scores, beside the matrix, the lists of a model */
    enum { STATE = 24, MORE_STATES = 16, BESIDE = 56, LISTS = 48 };
    enum { ENDS = 1 << 15, OF_A_THREAD = 1 << 13, MISSED = 1 << 15 };
    const double m = (double)run->count, threads = sizes->threads;
    const double state = STATE + (run->options.variant == MG_PLAIN ? 0.0 : MORE_STATES);
    const double both = state * m + ENDS + OF_A_THREAD * threads;
    const double beside = both + ENDS + BESIDE * m + mg_kernel_beside_bytes(sizes);
    double model = both + LISTS * m;
    if (run->options.expansion) model += mg_kernel_model_bytes(sizes);
    a->room = 2 * mg_context_room(run->context, INT64_MAX);
    const double left = 16.0 / 17.0 * (double)a->room - MISSED * (threads - 1.0);
    const double most =
        fmin((double)mg_context_room(run->context, MG_PERCEPTRON_GRAM), left - beside);
    const int64_t row = mg_gram_bytes(run->count, MARGIN_F64, 1);
    const int64_t rows = (int64_t)fmin(fmax(most / (double)row, 2.0), m);
    a->matrix = mg_gram_bytes(run->count, MARGIN_F64, rows);
    a->most = model > (double)a->matrix + beside;
    a->bytes = (int64_t)fmin(fmax((double)a->matrix + beside, model), 9e18);
    a->fits = (double)a->bytes <= left;
}

/* The time is that of all kernel values, once. */
margin_status mg_perceptron_announce(mg_perceptron_run *run) {
    enum { OF_A_VALUE = 8 };            /* work of exp */
    static const double a_second = 2e9; /* of a thread */
    const int64_t m = run->count;
    MG_TRY(mg_kernel_of_fit(run->fit, &run->options.choice, "perceptron", &run->kernel));
    mg_kernel_sizes sizes = mg_kernel_sizes_of(run->fit, &run->kernel, 1);
    mg_announcement a = {.learner = "perceptron",
                         .rows = m,
                         .whole = mg_gram_bytes(m, MARGIN_F64, m),
                         .linear = run->options.expansion && mg_kernel_is_definite(&run->kernel)
                                       ? "perceptron"
                                       : NULL,
                         .waves = mg_kernel_has_waves(run->kernel.kind)};
    memcpy(a.words, sizes.words.text, sizeof a.words);
    set_bytes(run, &sizes, &a);
    while (!a.fits && sizes.threads > 1) {
        sizes.threads--;
        set_bytes(run, &sizes, &a);
    }
    a.threads = sizes.threads;
    a.work = (double)m * (double)m * (mg_row_length(&run->problem->x) + OF_A_VALUE);
    a.seconds = a.work / a_second / sizes.threads;
    run->gram_bytes = a.matrix;
    return mg_announce(run->context, &a, run->fit->error);
}

margin_status mg_perceptron_gram_begin(mg_perceptron_run *run) {
    const mg_gram_request request = {.kernel = run->kernel,
                                     .points = mg_kernel_points_of(run->problem),
                                     .type = MARGIN_F64,
                                     .bytes = run->gram_bytes};
    return mg_gram_create(run->context, &request, &run->gram, run->fit->error);
}

margin_status mg_perceptron_dual_begin(mg_perceptron_run *run) {
    MG_TRY(mg_perceptron_gram_begin(run));
    return mg_perceptron_dual_refresh(run, &run->now);
}

/* ---- Scores made afresh -----------------------------------------------------------------------*/

const double *mg_perceptron_gram_row(mg_perceptron_run *run, int64_t sample,
                                     margin_status *status) {
    const double *row = mg_gram_row(run->gram, run->context, sample, status);
    if (*status == MARGIN_ERROR_CANCELLED) mg_fail_cancelled(run->fit->error);
    return row;
}

static margin_status refresh_expansion(mg_perceptron_run *run, const double *alpha) {
    memset(run->scores, 0, (size_t)run->count * sizeof *run->scores);
    for (int64_t i = 0; i < run->count; i++) {
        if (alpha[i] == 0.0) continue;
        margin_status status = MARGIN_OK;
        const double *row = mg_perceptron_gram_row(run, i, &status);
        if (!row) return status;
        run->vectors->add(run->scores, alpha[i] * run->problem->sign[i], row, run->count);
        if (mg_cancelled(run->context)) return mg_fail_cancelled(run->fit->error);
    }
    return MARGIN_OK;
}

typedef struct refresh_work {
    mg_perceptron_run *run;
    const double *weights;
} refresh_work;

static margin_status refresh_block(const mg_block *block, void *argument) {
    const refresh_work *work = argument;
    static const double zero = 0.0;
    mg_perceptron_sample_scores(work->run, block->first, block->count, work->weights, &zero, 1,
                                work->run->scores + block->first);
    return MARGIN_OK;
}

margin_status mg_perceptron_dual_refresh(mg_perceptron_run *run, const mg_perceptron_state *state) {
    if (run->options.expansion) return refresh_expansion(run, state->alpha);
    refresh_work work = {run, state->weights};
    return mg_sweep_each(run->context, run->count, run->block_rows, refresh_block, &work,
                         run->fit->error);
}

/* ---- The form -------------------------------------------------------------------------------- */

static bool dual_wrong(mg_perceptron_run *run, int64_t sample) {
    return !(run->problem->sign[sample] * (run->scores[sample] + run->now.intercept[0]) > 0.0);
}

static int64_t dual_next(mg_perceptron_run *run, int64_t first, int64_t last) {
    for (int64_t p = first; p < last; p++)
        if (dual_wrong(run, run->order ? run->order[p] : p)) return p;
    return last;
}

static void move_sample(mg_perceptron_run *run, int64_t sample, double amount) {
    const double move = amount * run->problem->sign[sample];
    const int64_t row = mg_sample_row(run->problem, sample);
    run->now.alpha[sample] += amount;
    run->now.intercept[0] += move * run->options.constant;
    if (run->now.weights) run->rows->add(&run->problem->x, row, move, run->now.weights);
    if (run->options.variant != MG_AVERAGED) return;
    run->sum.alpha[sample] += amount * run->clock;
    run->sum.intercept[0] += move * run->clock * run->options.constant;
    if (run->sum.weights)
        run->rows->add(&run->problem->x, row, move * run->clock, run->sum.weights);
}

static margin_status dual_update(mg_perceptron_run *run, int64_t sample, double step) {
    margin_status status = MARGIN_OK;
    const double *row = mg_perceptron_gram_row(run, sample, &status);
    if (!row) return status;
    const double amount = run->options.rate * step;
    run->vectors->add(run->scores, amount * run->problem->sign[sample], row, run->count);
    move_sample(run, sample, amount);
    return MARGIN_OK;
}

static margin_status dual_confirm(mg_perceptron_run *run, bool *clean) {
    MG_TRY(mg_perceptron_dual_refresh(run, &run->now));
    for (int64_t i = 0; i < run->count && *clean; i++)
        *clean = !dual_wrong(run, i);
    return MARGIN_OK;
}

const mg_perceptron_form mg_perceptron_dual = {dual_next, dual_wrong, dual_update, dual_confirm};
