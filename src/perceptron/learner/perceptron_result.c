/* The end of a training: which state is the model, how good it is, why it ended, what to do. */
#include "perceptron/learner/perceptron_run.h"

#include "learn/hypothesis/dual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Norm ------------------------------------------------------------------------------------ */

double mg_perceptron_norm(const mg_perceptron_run *run, const mg_perceptron_state *state) {
    if (!run->options.expansion)
        return sqrt(run->vectors->square(state->weights, run->functions * run->columns));
    double square = 0.0;
    for (int64_t i = 0; i < run->count; i++)
        square += state->alpha[i] * run->problem->sign[i] * run->scores[i];
    return sqrt(MG_MAX(square, 0.0));
}

/* ---- Hypothesis ------------------------------------------------------------------------------ */

static margin_status make_argmax(mg_perceptron_run *run, const mg_perceptron_state *state,
                                 mg_hypothesis **out) {
    margin_error *error = run->fit->error;
    MG_OWNED(mg_hypothesis, h);
    double *weights = NULL, *intercept = NULL;
    MG_TRY(mg_hypothesis_new(run->context->heap, &mg_hypothesis_linear, run->columns,
                             run->functions, &h, error));
    MG_TRY(
        mg_bag_add(&h->bag, "weights", MARGIN_F64, run->functions, run->columns, &weights, error));
    MG_TRY(mg_bag_add(&h->bag, "intercept", MARGIN_F64, run->functions, 0, &intercept, error));
    memcpy(weights, state->weights, (size_t)(run->functions * run->columns) * sizeof *weights);
    memcpy(intercept, state->intercept, (size_t)run->functions * sizeof *intercept);
    MG_TRY(mg_hypothesis_attach(h, error));
    *out = h;
    h = NULL;
    return MARGIN_OK;
}

/* The samples that took part: their rows in x and in the user's data, and the numbers of the dual
 * form. */
typedef struct dual_part {
    int64_t count;
    int64_t *rows, *originals;
    double *signed_alpha, *alpha, *signs, *updates;
} dual_part;

static margin_status collect_dual(mg_perceptron_run *run, const mg_perceptron_state *state,
                                  dual_part *part) {
    const mg_problem *p = run->problem;
    int64_t count = 0;
    for (int64_t i = 0; i < run->count; i++)
        count += state->alpha[i] > 0.0;
    int64_t *whole;
    double *real;
    MG_ARENA_NEW(&run->arena, whole, 2 * count, "the dual form", run->fit->error);
    MG_ARENA_NEW(&run->arena, real, 4 * count, "the dual form", run->fit->error);
    *part = (dual_part){count,           whole, whole + count, real, real + count, real + 2 * count,
                        real + 3 * count};
    const mg_kernel_points points = mg_kernel_points_of(p);
    for (int64_t i = 0, k = 0; i < run->count; i++) {
        const double alpha = state->alpha[i];
        if (!(alpha > 0.0)) continue;
        part->rows[k] = mg_point_right(&run->kernel, &points, i);
        part->originals[k] = mg_sample_original(p, i);
        part->alpha[k] = alpha;
        part->signs[k] = p->sign[i];
        part->signed_alpha[k] = alpha * p->sign[i];
        part->updates[k++] = alpha / run->options.rate;
    }
    return MARGIN_OK;
}

static margin_status make_dual(mg_perceptron_run *run, const mg_perceptron_state *state,
                               mg_hypothesis **out) {
    mg_heap *heap = run->context->heap;
    margin_error *error = run->fit->error;
    dual_part part = {0};
    mg_hypothesis *h;
    MG_TRY(collect_dual(run, state, &part));
    if (run->options.expansion)
        MG_TRY(mg_expansion_make(heap, &run->kernel, &run->problem->x, part.rows, part.signed_alpha,
                                 part.count, state->intercept[0], &h, error));
    else
        MG_TRY(mg_linear_make(heap, state->weights, run->columns, state->intercept[0], &h, error));
    const margin_status status = mg_hypothesis_set_dual(h, part.count, part.originals, part.alpha,
                                                        part.signs, part.updates, error);
    if (status < 0) {
        mg_hypothesis_free(h);
        return status;
    }
    *out = h;
    return MARGIN_OK;
}

static margin_status make_hypothesis(mg_perceptron_run *run, const mg_perceptron_state *state,
                                     mg_hypothesis **out) {
    if (run->problem->kind == MG_ARGMAX) return make_argmax(run, state, out);
    if (run->options.dual) return make_dual(run, state, out);
    return mg_linear_make(run->context->heap, state->weights, run->columns, state->intercept[0],
                          out, run->fit->error);
}

/* ---- Reason ---------------------------------------------------------------------------------- */

static const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/* All samples of one class before all of the other: a pass then learns little. */
static bool sorted_by_class(const mg_perceptron_run *run) {
    const mg_problem *p = run->problem;
    int64_t changes = 0;
    for (int64_t i = 1; i < run->count; i++)
        changes +=
            p->kind == MG_TWO_CLASS ? p->sign[i] != p->sign[i - 1] : p->code[i] != p->code[i - 1];
    return changes > 0 && changes < (p->kind == MG_TWO_CLASS ? 2 : p->classes);
}

static const char *ordering_hint(const mg_perceptron_run *run) {
    if (run->options.order != MG_SEQUENTIAL || !sorted_by_class(run)) return "";
    return "; the rows are sorted by class, order=shuffled learns faster";
}

/* A number of four digits that is not less. */
static double up_to_four_digits(double count) {
    const double unit = pow(10.0, floor(log10(count)) - 3.0);
    return unit > 1.0 ? ceil(count / unit) * unit : count;
}

/* What is known about the data, and what to do. */
static void describe_data(const mg_perceptron_run *run, double radius, margin_status status,
                          char *text, size_t capacity) {
    const bool plain = run->options.variant == MG_PLAIN;
    const char *more = status == MARGIN_STOPPED_TIME ? "allow more time"
                       : run->stuck                  ? "give passes for more"
                                                     : "raise passes";
    if (run->verdict == MG_NOT_SEPARABLE) {
        snprintf(text, capacity, "the data is not separable (proof: margin separable)%s",
                 plain ? "; use variant=pocket or variant=averaged" : "");
    } else if (mg_perceptron_separable(run) &&
               !isfinite(pow(radius / run->separation_margin, 2.0))) {
        snprintf(text, capacity, "the data is separable (how widely: margin separable): %s", more);
    } else if (mg_perceptron_separable(run) && run->options.batch == 0) {
        const double ratio = radius / run->separation_margin;
        snprintf(text, capacity,
                 "the data is separable with margin %s, at most %s updates from zero: %s "
                 "or scale the columns",
                 mg_about(run->separation_margin).text,
                 mg_about(up_to_four_digits(floor(ratio * ratio * (1.0 + 1e-9)))).text, more);
    } else if (run->options.expansion) {
        snprintf(text, capacity, "%s, try another kernel%s", more,
                 plain ? ", or use variant=pocket" : "");
    } else {
        snprintf(text, capacity,
                 "whether the data is separable was not decided (margin separable "
                 "does)%s%s%s",
                 plain ? "; " : "", plain ? more : "",
                 plain ? ", or use variant=pocket or variant=averaged" : "");
    }
}

static void describe_ending(const mg_perceptron_run *run, margin_status status, char *text,
                            size_t capacity) {
    const long long passes = (long long)run->passes;
    const char *some = run->passes == 1 ? "pass" : "passes";
    if (status == MARGIN_STOPPED_ITERATIONS)
        snprintf(text, capacity, "the limit of %lld %s is reached", passes, some);
    else if (status == MARGIN_STOPPED_TIME)
        snprintf(text, capacity, "the time limit is reached after %lld %s", passes, some);
    else if (run->stuck)
        snprintf(text, capacity, "no progress in the last %lld of %lld passes",
                 (long long)(run->passes - run->least_pass), passes);
    else if (run->verdict == MG_NOT_SEPARABLE)
        snprintf(text, capacity, "stopped after %lld %s", passes, some);
    else
        snprintf(text, capacity, "scores within rounding of 0 after %lld %s", passes, some);
}

static void explain(mg_perceptron_run *run, const mg_perceptron_judgement *judged, double radius) {
    margin_report *report = &run->fit->report;
    if (judged->errors == 0) {
        mg_report_reason(report, "no row is misclassified after %lld update%s in %lld pass%s",
                         (long long)run->mistakes, plural(run->mistakes), (long long)run->passes,
                         run->passes == 1 ? "" : "es");
        return;
    }
    static const char *const models[] = {"", "the best weights seen: ", "the average: "};
    char end[64], data[200];
    describe_ending(run, report->status, end, sizeof end);
    describe_data(run, radius, report->status, data, sizeof data);
    mg_report_reason(report, "%s; %s%lld of %lld rows misclassified; %s%s", end,
                     models[run->options.variant], (long long)judged->errors, (long long)run->count,
                     data, ordering_hint(run));
}

/* ---- Report ---------------------------------------------------------------------------------- */

const char *mg_perceptron_formula(const mg_problem *problem, const mg_perceptron_options *options) {
    if (problem->kind == MG_ARGMAX)
        return "sum over misclassified of (best other score - score of the class)";
    if (options->expansion) return "-sum over misclassified of y (sum_j alpha_j y_j k(x_j, x) + b)";
    return "-sum over misclassified of y (w.x + b)";
}

/* The share of rows that the model answers rightly is known where no score is within rounding of 0,
 * however else a prediction adds it up. */
static void note_accuracy(mg_perceptron_run *run, const mg_perceptron_state *state,
                          const mg_perceptron_judgement *judged, double size) {
    static const double rounding = 1e-9; /* far more than it is */
    if (run->problem->kind != MG_TWO_CLASS || run->options.expansion || run->problem->weight)
        return;
    if (judged->nearest > rounding * (size + fabs(state->intercept[0])))
        run->fit->report.train_accuracy =
            (double)(run->count - judged->errors) / (double)run->count;
}

static margin_status fill_report(mg_perceptron_run *run, const mg_perceptron_state *state,
                                 const mg_perceptron_judgement *judged, margin_status ended) {
    margin_report *report = &run->fit->report;
    /* R = max |(x_i, constant)| */
    const double radius = sqrt(judged->square + run->options.constant);
    if (ended != MARGIN_STOPPED_TIME) MG_TRY(mg_perceptron_separability(run));
    report->status = judged->errors == 0  ? MARGIN_OK
                     : ended == MARGIN_OK ? MARGIN_STOPPED_STALLED
                                          : ended;
    report->objective = (double)judged->criterion;
    report->gap = mg_perceptron_gap(report->objective, judged->errors == run->count);
    report->tolerance = 0.0;
    report->iterations = run->passes;
    snprintf(report->iteration_name, sizeof report->iteration_name, "passes");
    mg_report_formula(report, mg_perceptron_formula(run->problem, &run->options));
    mg_report_set(report, "mistakes", (double)run->mistakes);
    const double margin = run->separation_margin;
    mg_report_set(report, "margin", margin);
    mg_report_set(report, "radius", radius);
    mg_report_set(report, "bound",
                  run->goes_on
                      ? (double)NAN
                      : mg_perceptron_bound_of(&run->options, run->problem, radius, margin));
    mg_report_set(report, "errors", (double)judged->errors);
    mg_report_set(report, "least_margin", judged->least);
    const double norm = mg_perceptron_norm(run, state);
    mg_report_set(report, "norm", norm);
    note_accuracy(run, state, judged, norm * radius);
    if (run->functions == 1)
        mg_report_set(report, "least_geometric_margin",
                      norm > 0.0 ? judged->least / norm : (double)NAN);
    explain(run, judged, radius);
    return MARGIN_OK;
}

/* The state that is the model. */
static margin_status choose_state(mg_perceptron_run *run, margin_status *ended,
                                  mg_perceptron_state *state) {
    switch (run->options.variant) {
    case MG_PLAIN:
        *state = run->now;
        return MARGIN_OK;
    case MG_POCKET:
        MG_TRY(mg_perceptron_pocket_end(run));
        *state = run->pocket.best;
        return MARGIN_OK;
    case MG_AVERAGED:
        MG_TRY(mg_perceptron_state_new(run, state));
        if (*ended != MARGIN_OK) {
            mg_perceptron_average(run, state);
            return MARGIN_OK;
        }
        *ended = mg_perceptron_average_settle(run, state);
        return *ended < 0 ? *ended : MARGIN_OK;
    }
    return MARGIN_ERROR_INTERNAL;
}

margin_status mg_perceptron_check_data(mg_perceptron_run *run) {
    if (run->unchecked)
        MG_TRY(mg_problem_check_finite(run->context, run->problem, false, run->fit->error));
    run->unchecked = false;
    return MARGIN_OK;
}

margin_status mg_perceptron_check_weights(mg_perceptron_run *run,
                                          const mg_perceptron_state *state) {
    int64_t k = 0;
    while (k < run->length && isfinite(state->numbers[k]))
        k++;
    if (k == run->length) return MARGIN_OK;
    MG_TRY(mg_perceptron_check_data(run));
    return mg_fail(run->fit->error, MG_DATA(OVERFLOW),
                   "the weights grew beyond double precision; scale the columns first (minmax | "
                   "perceptron(...))");
}

margin_status mg_perceptron_result(mg_perceptron_run *run, margin_status ended) {
    mg_perceptron_state state;
    mg_perceptron_judgement judged;
    MG_TRY(choose_state(run, &ended, &state));
    MG_TRY(mg_perceptron_check_weights(run, &state));
    if (run->options.expansion) MG_TRY(mg_perceptron_dual_refresh(run, &state));
    MG_TRY(mg_perceptron_judge(run, &state, true, &judged));
    if (!isfinite(judged.square)) MG_TRY(mg_perceptron_check_data(run));
    run->unchecked = false;
    MG_TRY(fill_report(run, &state, &judged, ended));
    mg_gram_free(run->gram); /* the model takes its room */
    run->gram = NULL;
    MG_TRY(make_hypothesis(run, &state, &run->fit->hypothesis));
    return run->fit->report.status;
}
