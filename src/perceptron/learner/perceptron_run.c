/* The perceptron: find (w, b) with y_i (w.x_i + b) > 0 for all i.
 *
 *   while a sample is misclassified, y_i (w.x_i + b) <= 0:   w += rate y_i x_i,   b += rate y_i
 *
 * (Rosenblatt, "The perceptron: a probabilistic model for information storage and organization in
 * the brain", Psychological Review 65, 1958.) If the classes can be separated it makes at most
 * (R/gamma)^2 updates, R = max |(x_i, 1)|, gamma the largest margin over unit (w, b) (Novikoff, "On
 * convergence proofs for perceptrons", 1962).
 *
 * This file is the walk: which sample comes next, how often, and when it ends. It sees the scores
 * through mg_perceptron_form.
 *
 * A sample of weight c is visited as c copies one behind the other: corrected while it is
 * misclassified and copies are left; the last, broken copy of a weight like 2.5 takes half a step.
 * So weight k is exactly k adjacent copies, and weight 0 is no sample. */
#include "perceptron/learner/perceptron_run.h"

#include "base/random.h"

#include <math.h>

/* A pass is progress that makes a twentieth fewer corrections than the last that was: less is
 * chance on overlapping classes. So many passes without are the end, and half of all passes, as
 * progress becomes rare on the way to a narrow margin. */
static const double fewer = 0.95;
enum { PATIENCE = 5, PATIENT_SHARE = 2 };

static int64_t sample_at(const mg_perceptron_run *run, int64_t position) {
    return run->order ? run->order[position] : position;
}

/* Orders that look for a misclassified sample among all after every update. */
static bool looks_again(const mg_perceptron_run *run) {
    return run->options.order == MG_FIRST || run->options.order == MG_ANY;
}

/* Where one update, or the look at all rows that comes with it, may take long. */
static bool is_slow(const mg_perceptron_run *run) {
    return run->form == &mg_perceptron_dual || run->fit->trace || looks_again(run);
}

/* ---- One sample ------------------------------------------------------------------------------ */

static margin_status trace_step(mg_perceptron_run *run, int64_t sample) {
    const mg_trace *trace = run->fit->trace;
    if (!trace) return MARGIN_OK;
    mg_perceptron_judgement judged;
    MG_TRY(mg_perceptron_judge(run, &run->now, false, &judged));
    const bool several = run->functions > 1;
    const double norm = several ? 0.0 : mg_perceptron_norm(run, &run->now);
    const double distance = norm > 0.0 ? (double)judged.criterion / norm : (double)NAN;
    const margin_trace_step step = {
        .step = run->mistakes,
        .row = sample < 0 ? -1 : mg_sample_original(run->problem, sample),
        .errors = judged.errors,
        .loss = (double)judged.criterion,
        .intercept = several ? (double)NAN : run->now.intercept[0],
        .weights = run->now.weights,
        .weight_count = run->now.weights ? run->functions * (run->columns + several) : 0,
        .alpha = run->now.alpha,
        .updates = run->updates,
        .distance = several ? NULL : &distance,
        .alpha_count = run->now.alpha ? run->count : 0,
        .novikoff = mg_perceptron_proof(run),
    };
    mg_trace_note(trace, step);
    return MARGIN_OK;
}

static margin_status perceptron_correct(mg_perceptron_run *run, int64_t sample, double step) {
    if (mg_cancelled(run->context)) return mg_fail_cancelled(run->fit->error);
    if (run->options.variant == MG_POCKET) MG_TRY(mg_perceptron_pocket_offer(run));
    MG_TRY(run->form->update(run, sample, step));
    if (run->updates) run->updates[sample] += step;
    run->mistakes++;
    run->pass_mistakes++;
    run->clock += step;
    run->streak = 0.0;
    return trace_step(run, sample);
}

margin_status mg_perceptron_poll(mg_perceptron_run *run) {
    mg_progress(run->context, "training", (double)run->passes, (double)run->options.passes,
                (double)run->pass_mistakes);
    const margin_status status = mg_stop_check(&run->stop, run->passes);
    return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(run->fit->error) : status;
}

/* A misclassified sample, with as many copies as its weight says. The first order goes back to the
 * top after every update, where the next copy is the first one again. > 0: out of time. */
static margin_status perceptron_visit(mg_perceptron_run *run, int64_t sample) {
    enum { POLLED = 1 << 12 };
    double left = mg_sample_weight(run->problem, sample);
    for (int64_t copies = 1;; copies++) {
        const double step = MG_MIN(left, 1.0);
        MG_TRY(perceptron_correct(run, sample, step));
        if (looks_again(run)) return MARGIN_OK;
        left -= step;
        if (!(left > 0.0) || !run->form->wrong(run, sample)) break;
        if (copies % POLLED > 0 && !is_slow(run)) continue;
        const margin_status status = mg_perceptron_poll(run);
        if (status != MARGIN_OK) return status;
    }
    run->clock += left;
    run->streak += left;
    return MARGIN_OK;
}

/* Samples at [first, last) were right. Where they are looked at again and again only updates make
 * the clock go. */
static void pass_by(mg_perceptron_run *run, int64_t first, int64_t last) {
    double weight = (double)(last - first);
    if (run->options.variant == MG_PLAIN) return; /* neither pocket nor clock */
    if (run->problem->weight) {
        weight = 0.0;
        for (int64_t p = first; p < last; p++)
            weight += run->problem->weight[sample_at(run, p)];
    }
    run->streak += weight;
    if (!looks_again(run)) run->clock += weight;
}

/* ---- One pass -------------------------------------------------------------------------------- */

/* Position of the next misclassified sample from `first` on, count if there is none; > 0: out of
 * time. */
static margin_status perceptron_search(mg_perceptron_run *run, int64_t first, int64_t *found) {
    while (first < run->count) {
        const int64_t last = MG_MIN(first + run->chunk, run->count);
        *found = run->form->next(run, first, last);
        pass_by(run, first, *found);
        if (*found < last) return MARGIN_OK;
        const margin_status status = mg_perceptron_poll(run);
        if (status != MARGIN_OK) return status;
        first = last;
    }
    *found = run->count;
    return MARGIN_OK;
}

/* One of the misclassified samples, each with a chance in proportion to its weight: as many copies
 * have it. Two walks: to add up, and to get there. */
static margin_status search_any(mg_perceptron_run *run, int64_t *found) {
    double total = 0.0, sum = 0.0;
    for (int64_t at = 0;; at++) {
        const margin_status status = perceptron_search(run, at, &at);
        if (status != MARGIN_OK) return status;
        if (at == run->count) break;
        total += mg_sample_weight(run->problem, at);
    }
    const double drawn =
        mg_random_unit(run->fit->seed, MG_RANDOM_SAMPLE, (uint64_t)run->mistakes) * total;
    *found = run->count;
    for (int64_t at = 0; total > 0.0; at++) {
        at = run->form->next(run, at, run->count);
        if (at == run->count) return MARGIN_OK; /* rounding: the last one */
        *found = at;
        sum += mg_sample_weight(run->problem, at);
        if (sum > drawn) return MARGIN_OK;
    }
    return MARGIN_OK;
}

/* Nothing but corrections happens at a visit: nobody watches, counts copies or keeps states. */
static bool may_walk(const mg_perceptron_run *run) {
    return run->rows->walk && run->columns >= 1 && run->columns <= run->rows->walk_columns &&
           run->form == &mg_perceptron_two_class && run->options.variant == MG_PLAIN &&
           !looks_again(run) && !run->fit->trace && !run->problem->weight &&
           run->options.batch == 0;
}

static margin_status walk_pass(mg_perceptron_run *run, bool *clean) {
    run->pass_mistakes = 0;
    for (int64_t first = 0; first < run->count; first += run->chunk) {
        const int64_t last = MG_MIN(first + run->chunk, run->count);
        const int64_t corrections =
            run->rows->walk(&run->scan, first, last, run->options.rate, run->now.weights,
                            run->options.constant == 0.0 ? NULL : run->now.intercept);
        run->mistakes += corrections;
        run->pass_mistakes += corrections;
        const margin_status status = mg_perceptron_poll(run);
        if (status != MARGIN_OK) return status;
    }
    *clean = run->pass_mistakes == 0;
    return MARGIN_OK;
}

/* A step of gradient descent: all that are misclassified at positions [first, last) move the state,
 * by weights found before any of them does. */
static margin_status batch_step(mg_perceptron_run *run, int64_t first, int64_t last) {
    int64_t wrong = 0;
    for (int64_t at = first, end; at < last; at = end) {
        end = MG_MIN(at + run->chunk, last);
        for (int64_t p = at; (p = run->form->next(run, p, end)) < end; p++)
            run->wrong[wrong++] = sample_at(run, p);
        const margin_status status = mg_perceptron_poll(run);
        if (status != MARGIN_OK) return status;
    }
    for (int64_t k = 0; k < wrong; k++) {
        const double weight = mg_sample_weight(run->problem, run->wrong[k]);
        if (mg_cancelled(run->context)) return mg_fail_cancelled(run->fit->error);
        MG_TRY(run->form->update(run, run->wrong[k], weight));
        if (run->updates) run->updates[run->wrong[k]] += weight;
    }
    if (wrong == 0) return MARGIN_OK;
    run->mistakes++;
    run->pass_mistakes++;
    return trace_step(run, -1);
}

static margin_status batch_pass(mg_perceptron_run *run, bool *clean) {
    const int64_t batch = MG_MIN(run->options.batch, run->count);
    run->pass_mistakes = 0;
    for (int64_t first = 0; first < run->count; first += batch) {
        const margin_status status = batch_step(run, first, MG_MIN(first + batch, run->count));
        if (status != MARGIN_OK) return status;
    }
    *clean = run->pass_mistakes == 0;
    return MARGIN_OK;
}

/* All samples once, or as many updates as there are samples where each is looked for anew. */
static margin_status one_pass(mg_perceptron_run *run, bool *clean) {
    if (may_walk(run)) return walk_pass(run, clean);
    if (run->options.batch > 0) return batch_pass(run, clean);
    int64_t position = 0;
    run->pass_mistakes = 0;
    run->pocket.regardless = 0;
    for (int64_t updates = 0; updates < run->count; updates++) {
        const margin_status status = run->options.order == MG_ANY
                                         ? search_any(run, &position)
                                         : perceptron_search(run, position, &position);
        if (status != MARGIN_OK) return status;
        if (position == run->count) {
            *clean = updates == 0 || looks_again(run);
            return MARGIN_OK;
        }
        const margin_status visited = perceptron_visit(run, sample_at(run, position));
        if (visited != MARGIN_OK) return visited;
        if (is_slow(run)) {
            const margin_status stop = mg_perceptron_poll(run);
            if (stop != MARGIN_OK) return stop;
        }
        position = looks_again(run) ? 0 : position + 1;
    }
    *clean = false;
    return MARGIN_OK;
}

/* ---- All passes ------------------------------------------------------------------------------ */

/* Passes that read about five billion numbers: some seconds. */
static int64_t patient_limit(const mg_perceptron_run *run) {
    const double most = 5e9, shuffle_cost = 64.0; /* of one row, in numbers read */
    double cost = mg_perceptron_numbers(run);
    if (run->options.order == MG_SHUFFLED) cost += shuffle_cost * (double)run->count;
    if (looks_again(run)) cost *= (double)run->count; /* a pass is so many searches */
    return (int64_t)MG_MIN(most / MG_MAX(cost, 1.0), MG_PERCEPTRON_MOST_PASSES);
}

/* Where a pass is as many corrections as there are rows, or steps of gradient descent, their number
 * says nothing. Updates of kernels end on almost all data. */
static bool shows_progress(const mg_perceptron_run *run) {
    return !looks_again(run) && run->options.batch == 0 && !run->options.expansion;
}

/* Notes the pass that is done. True: the last passes got no nearer to an end, and it was not by a
 * few short ones: a visit takes as long as some numbers more. */
static bool lost_patience(mg_perceptron_run *run) {
    const double visits = 4.0 * (double)run->count;
    if (run->passes == 1 || (double)run->pass_mistakes < fewer * (double)run->least_mistakes) {
        run->least_mistakes = run->pass_mistakes;
        run->least_pass = run->passes;
    }
    return shows_progress(run) &&
           (double)run->passes * (mg_perceptron_numbers(run) + visits) >= MG_FEW_NUMBERS &&
           run->passes - run->least_pass >= MG_MAX(PATIENCE, run->passes / PATIENT_SHARE);
}

/* Progress or not: at the 16th pass, the 64th, the 256th, ... */
static bool is_due(int64_t passes) {
    int64_t due = MG_PASSES_BEFORE_PROOF;
    while (due < passes)
        due *= 4;
    return due == passes;
}

/* Plain weights ask what they can hope for. On data that is proven not to be separable they never
 * settle: it is the end. On data that is, they are certain to: they get more time. Where neither is
 * known, passes without progress are the end. Whoever gave a number of passes gets just that. */
static margin_status end_if_hopeless(mg_perceptron_run *run) {
    if (run->options.passes_given || run->options.variant != MG_PLAIN) return MARGIN_OK;
    const bool lost = lost_patience(run);
    if (!mg_perceptron_separable(run)) {
        if (!lost && !is_due(run->passes)) return MARGIN_OK;
        run->stuck = true;
        MG_TRY(mg_perceptron_separability(run));
        run->stuck = lost && run->verdict == MG_UNDECIDED;
    }
    if (run->stuck || run->verdict == MG_NOT_SEPARABLE) return MARGIN_STOPPED_STALLED;
    if (run->verdict == MG_UNDECIDED) return MARGIN_OK;
    run->options.passes = MG_MAX(run->options.passes, patient_limit(run));
    run->stop.max_iterations = run->options.passes;
    return MARGIN_OK;
}

/* After a pass with mistakes: OK to go on. */
static margin_status between_passes(mg_perceptron_run *run) {
    const margin_status status = mg_perceptron_poll(run);
    return status != MARGIN_OK ? status : end_if_hopeless(run);
}

margin_status mg_perceptron_after_pass(mg_perceptron_run *run, bool *clean) {
    const bool pocket = run->options.variant == MG_POCKET;
    run->passes++;
    if (run->unchecked && run->passes == 1) MG_TRY(mg_perceptron_check_weights(run, &run->now));
    if (*clean && run->form->confirm) MG_TRY(run->form->confirm(run, clean));
    if (*clean) return MARGIN_OK;
    if (pocket) MG_TRY(mg_perceptron_pocket_settle(run));
    *clean = pocket && run->pocket.best_errors == 0.0;
    return *clean ? MARGIN_OK : between_passes(run);
}

margin_status mg_perceptron_passes(mg_perceptron_run *run) {
    MG_TRY(trace_step(run, -1));
    for (;;) {
        bool clean = false;
        MG_TRY(mg_perceptron_order_next(run));
        margin_status status = one_pass(run, &clean);
        if (status == MARGIN_OK) status = mg_perceptron_after_pass(run, &clean);
        if (status != MARGIN_OK || clean) return status;
    }
}
