/* The perceptron as a learner: set up, walk, hand over. */
#include "perceptron/learner/perceptron.h"

#include "base/random.h"
#include "perceptron/learner/perceptron_run.h"

#include <math.h>
#include <string.h>

/* ---- States ---------------------------------------------------------------------------------- */

/* weights, then alpha, then intercepts; the parts a form does not have are left out. */
static void place_state(const mg_perceptron_run *run, double *numbers, mg_perceptron_state *state) {
    const int64_t weights = run->options.expansion ? 0 : run->functions * run->columns;
    const int64_t alpha = run->options.dual ? run->count : 0;
    state->numbers = numbers;
    state->weights = run->options.expansion ? NULL : numbers;
    state->alpha = run->options.dual ? numbers + weights : NULL;
    state->intercept = numbers + weights + alpha;
}

static int64_t state_length(const mg_perceptron_run *run) {
    return (run->options.expansion ? 0 : run->functions * run->columns) +
           (run->options.dual ? run->count : 0) + run->functions;
}

margin_status mg_perceptron_state_new(mg_perceptron_run *run, mg_perceptron_state *state) {
    double *numbers;
    MG_ARENA_NEW(&run->arena, numbers, run->length, "the perceptron's weights", run->fit->error);
    memset(numbers, 0, (size_t)run->length * sizeof *numbers);
    place_state(run, numbers, state);
    return MARGIN_OK;
}

void mg_perceptron_state_copy(const mg_perceptron_run *run, mg_perceptron_state *to,
                              const mg_perceptron_state *from) {
    memcpy(to->numbers, from->numbers, (size_t)run->length * sizeof *to->numbers);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

/* Weights and intercepts of each function, function by function. */
static void start_anywhere(mg_perceptron_run *run) {
    uint64_t drawn = 0;
    for (int64_t f = 0; f < run->functions; f++) {
        for (int64_t j = 0; j < run->columns; j++)
            run->now.weights[f * run->columns + j] =
                mg_random_normal(run->fit->seed, MG_RANDOM_START, drawn++);
        run->now.intercept[f] =
            run->options.constant * mg_random_normal(run->fit->seed, MG_RANDOM_START, drawn++);
    }
}

/* Where an earlier fit ended. */
static void start_there(mg_perceptron_run *run, const mg_hypothesis *start) {
    memcpy(run->now.weights, start->view.linear.weights,
           (size_t)(run->functions * run->columns) * sizeof(double));
    for (int64_t f = 0; f < run->functions && run->options.constant > 0; f++)
        run->now.intercept[f] = start->view.linear.intercept[f];
}

static margin_status start_state(mg_perceptron_run *run) {
    const mg_perceptron_options *o = &run->options;
    const int64_t weights = run->functions * run->columns;
    MG_TRY(mg_perceptron_state_new(run, &run->now));
    MG_REQUIRE(
        o->start_count == 0 || o->start_count == weights, run->fit->error, MARGIN_ERROR_SPEC,
        "perceptron: start_weights has %lld numbers; the learner sees %lld column%s%s, so %lld "
        "are needed",
        (long long)o->start_count, (long long)run->columns, run->columns == 1 ? "" : "s",
        run->functions > 1 ? " and has one function per class" : "", (long long)weights);
    if (o->start_count > 0)
        memcpy(run->now.weights, o->start_weights, (size_t)weights * sizeof(double));
    for (int64_t f = 0; f < run->functions; f++)
        run->now.intercept[f] = o->start_intercept;
    if (o->random_start) start_anywhere(run);
    if (run->goes_on) start_there(run, run->fit->start);
    if (o->variant == MG_AVERAGED) return mg_perceptron_state_new(run, &run->sum);
    return MARGIN_OK;
}

/* Scores of the dual form, and room for scores of a few rows per thread. */
static margin_status new_scores(mg_perceptron_run *run) {
    enum { SCRATCH = 1024 };
    const char *purpose = "scores of the rows";
    const int64_t kept = run->options.dual ? run->count : run->functions;
    const int64_t threads = margin_context_threads(run->context);
    run->scratch_size = MG_MAX((int64_t)SCRATCH, run->functions);
    MG_ARENA_NEW(&run->arena, run->scores, kept, purpose, run->fit->error);
    MG_ARENA_NEW(&run->arena, run->scratch, threads * run->scratch_size, purpose, run->fit->error);
    return MARGIN_OK;
}

static margin_status new_batch(mg_perceptron_run *run) {
    if (run->options.batch == 0) return MARGIN_OK;
    MG_ARENA_NEW(&run->arena, run->wrong, run->count, "the rows of a batch", run->fit->error);
    return MARGIN_OK;
}

/* The trace of a dual form shows how often each sample was corrected. */
static margin_status new_updates(mg_perceptron_run *run) {
    if (!run->options.dual || !run->fit->trace) return MARGIN_OK;
    MG_ARENA_NEW(&run->arena, run->updates, run->count, "the trace of the updates",
                 run->fit->error);
    memset(run->updates, 0, (size_t)run->count * sizeof *run->updates);
    return MARGIN_OK;
}

static void set_up(mg_perceptron_run *run, mg_fit *fit) {
    enum { CHUNK_BYTES = 4 << 20 }; /* read between two looks at the clock: below a millisecond */
    const mg_problem *p = fit->problem;
    const mg_isa isa = mg_isa_level();
    memset(run, 0, sizeof *run);
    run->fit = fit;
    run->context = fit->context;
    run->problem = p;
    run->options = mg_perceptron_options_of(fit->options);
    mg_arena_init(&run->arena, fit->context->heap);
    run->rows = mg_row_ops_for(&p->x, isa);
    run->vectors = mg_vector_ops_for(isa);
    run->form = p->kind == MG_ARGMAX ? &mg_perceptron_argmax
                : run->options.dual  ? &mg_perceptron_dual
                                     : &mg_perceptron_two_class;
    run->count = p->count;
    run->columns = p->x.columns;
    run->functions = p->kind == MG_ARGMAX ? p->classes : 1;
    run->length = state_length(run);
    run->goes_on = fit->start && !run->options.dual && fit->start->functions == run->functions &&
                   mg_perceptron_starts_at_zero(&run->options);
    for (int64_t i = 0; i < p->count; i++)
        run->total_weight += mg_sample_weight(p, i);
    run->block_rows = mg_block_rows(mg_row_bytes(&p->x));
    run->chunk = MG_MAX(CHUNK_BYTES / MG_MAX(mg_row_bytes(&p->x), 1), 64);
    run->stop = mg_stop_make(fit->context, run->options.passes);
    run->verdict = MG_UNDECIDED;
    run->separation_margin = (double)NAN;
}

/* Plain passes over rows of weight 1 show NaN, of which a row is misclassified and makes weights
 * NaN, and infinity, which does so or makes the length of a row infinite. */
static bool shows_infinite(const mg_perceptron_run *run) {
    const mg_perceptron_options *o = &run->options;
    return run->form == &mg_perceptron_two_class && o->variant == MG_PLAIN && o->batch == 0 &&
           (o->order == MG_SEQUENTIAL || o->order == MG_SHUFFLED) && !run->problem->weight &&
           !run->fit->trace;
}

static margin_status begin(mg_perceptron_run *run) {
    run->unchecked = run->problem->unchecked;
    if (!shows_infinite(run)) MG_TRY(mg_perceptron_check_data(run));
    if (run->options.dual) MG_TRY(mg_perceptron_announce(run));
    MG_TRY(start_state(run));
    MG_TRY(mg_perceptron_order_begin(run));
    MG_TRY(new_scores(run));
    MG_TRY(new_batch(run));
    MG_TRY(new_updates(run));
    if (run->options.dual) MG_TRY(mg_perceptron_dual_begin(run));
    if (run->options.variant == MG_POCKET) MG_TRY(mg_perceptron_pocket_begin(run));
    return mg_perceptron_proof_begin(run);
}

static margin_status finish(mg_perceptron_run *run) {
    if (!run->has_ended) run->ended = mg_perceptron_passes(run);
    return run->ended < 0 ? run->ended : mg_perceptron_result(run, run->ended);
}

/* Classes side by side share the walk over the rows (perceptron_lanes.c). */
static margin_status perceptron_fit_many(mg_fit *fits, int64_t count) {
    mg_perceptron_run runs[MG_ROW_LANES];
    margin_status status = mg_context_without_end(fits->context, fits->error); /* it ends in time */
    int64_t begun = 0, ended = 0;
    while (status >= 0 && begun < count) {
        set_up(&runs[begun], &fits[begun]);
        status = begin(&runs[begun++]);
    }
    if (status >= 0 && count > 1) status = mg_perceptron_lanes(runs, count);
    for (; status >= 0 && ended < count; ended++) {
        double left = 0, now = mg_clock(), *until = &runs[ended].stop.deadline;
        for (int64_t k = ended; k < count; k++)
            left += !runs[k].has_ended;
        *until = now + (*until - now) / fmax(1, left); /* each that walks alone has its part */
        status = finish(&runs[ended]);
    }
    for (int64_t k = 0; k < begun; k++) {
        mg_gram_free(runs[k].gram);
        mg_arena_free(&runs[k].arena);
        if (status >= 0) continue;
        mg_hypothesis_free(fits[k].hypothesis);
        fits[k].hypothesis = NULL;
    }
    return count > 1 && status > 0 ? MARGIN_OK : status;
}

static margin_status perceptron_fit(mg_fit *fit) {
    const mg_perceptron_options o = mg_perceptron_options_of(fit->options);
    MG_REQUIRE(fit->problem->kind == MG_TWO_CLASS || !o.dual, fit->error, MARGIN_ERROR_SPEC,
               "perceptron: several classes trained together have the primal "
               "form only; use multiclass=ovr or ovo");
    return perceptron_fit_many(fit, 1);
}

static margin_status perceptron_share(mg_shared *shared) {
    const mg_perceptron_options o = mg_perceptron_options_of(shared->options);
    const mg_problem *whole = shared->whole;
    const int64_t groups = (shared->fits + MG_ROW_LANES - 1) / MG_ROW_LANES;
    const bool plain = !o.dual && o.variant == MG_PLAIN && o.order == MG_SEQUENTIAL &&
                       o.batch == 0 && !mg_perceptron_asks_for_margin(&o);
    const int64_t limit = mg_heap_limit(shared->context->heap);
    if (mg_is_csr(&whole->x) && !whole->weight && plain &&
        (limit == 0 || 512 * whole->x.columns < limit))
        shared->together = (shared->fits + groups - 1) / groups;
    return MARGIN_OK;
}

static margin_status kernel_share(mg_shared *shared) {
    const mg_perceptron_options options = mg_perceptron_options_of(shared->options);
    return mg_kernel_share(shared, &options.choice, "perceptron");
}

static margin_status fits(const margin_component *info, const mg_problem *problem,
                          const mg_option_value *values, const mg_hypothesis *h,
                          margin_error *error) {
    const mg_perceptron_options o = mg_perceptron_options_of(values);
    const bool expansion = h->kind == &mg_hypothesis_expansion;
    MG_REQUIRE(expansion == o.expansion && o.dual == (h->dual_starts != NULL), error,
               MARGIN_ERROR_MODEL, "the model has not the form that its perceptron asks for");
    return expansion ? mg_kernel_fits(info, problem, values, h, error) : MARGIN_OK;
}

#define PERCEPTRON_INFO                                                                            \
    {                                                                                              \
        .name = "perceptron", .kind = MARGIN_LEARNER,                                              \
        .summary = "A hyperplane found by correcting one misclassified row after the other",       \
        .formula = "while a row has y (w.x + b) <= 0:  w += rate y x,  b += rate y",               \
        .source = "Rosenblatt 1958; Novikoff 1962; Gallant 1990 (pocket); Freund and Schapire "    \
                  "1999 (averaged); Aizerman, Braverman and Rozonoer 1964 (kernel)",               \
        .page = "docs/perceptron.md",                                                              \
        .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS |               \
                     MARGIN_CAN_TRACE | MARGIN_CAN_ARGMAX,                                         \
        .options = mg_perceptron_option_table, .option_count = MG_PERCEPTRON_OPTION_COUNT          \
    }

static const mg_learner_more more = {.finds_infinite = true, .walks = true};

/* The model is a sum of kernels. */
static const mg_learner perceptron_kernel = {
    .info = PERCEPTRON_INFO,
    .makes = {&mg_hypothesis_expansion},
    .fits = fits,
    .check = mg_perceptron_check,
    .share = kernel_share,
    .fit = perceptron_fit,
    .verify = mg_perceptron_verify,
    .told = " mistakes ",
};

static const mg_learner *perceptron_variant(const mg_option_value *options) {
    const bool kernel = mg_perceptron_options_of(options).expansion;
    return kernel ? &perceptron_kernel : &mg_learner_perceptron;
}

const mg_learner mg_learner_perceptron = {
    .info = PERCEPTRON_INFO,
    .more = &more,
    .variant = perceptron_variant,
    .makes = {&mg_hypothesis_linear},
    .fits = fits,
    .check = mg_perceptron_check,
    .share = perceptron_share,
    .fit = perceptron_fit,
    .fit_many = perceptron_fit_many,
    .differ = MG_DIFFER_SIGNS,
    .verify = mg_perceptron_verify,
    .told = " mistakes ",
};
