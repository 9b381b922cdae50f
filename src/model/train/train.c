/* Training and verifying the parts of a split, and joining what comes out. */
#include "learn/kernels/kernel_options.h"
#include "model/predict/predict.h"
#include "model/problem/multiclass.h"

#include <math.h>
#include <string.h>

/* One slot per part; tasks write to their own only. There may be many: an error, which is large,
 * gets memory when it happens. */
typedef struct part_result {
    mg_hypothesis *hypothesis;
    margin_report report;
    mg_verified verified;
    margin_error *error; /* of a failed part; NULL: there was no memory for it */
    margin_status status;
    double seconds; /* of the first part of a group: what it was given */
} part_result;

typedef struct part_run {
    margin_context *context; /* of the call */
    const mg_split *split;
    const mg_learner *learner;
    mg_option_value *options; /* owned: make_stricter changes them */
    mg_shared shared;
    const margin_model *model;
    const mg_trace *trace;
    mg_starts *starts; /* NULL: none */
    bool verify;
    double deadline;
    int64_t group; /* parts that are trained together: each group is a task */
    int64_t tasks; /* groups of this round */
    int64_t *list; /* their numbers; NULL: all */
    int at_once;   /* groups at the same time */
    mg_shares shares;
    part_result *results;
    _Atomic int64_t done;
} part_run;

/* ---- Parts that are trained together: mostly one --------------------------------------------- */

/* As the learner found it. Functions that were trained together are one part. */
static margin_status verify_part(part_run *run, int64_t number, mg_fit *fit) {
    const margin_model *model = run->model;
    mg_hypothesis *h = NULL;
    bool whole = run->split->reduction == MG_REDUCE_NONE;
    if (whole && model->hypothesis->kind != &mg_hypothesis_linear)
        return run->learner->verify(fit, model->hypothesis);
    MG_TRY(mg_model_learned(fit->context->heap, model, whole ? -1 : number, &h, fit->error));
    margin_status status = run->learner->verify(fit, h);
    mg_hypothesis_free(h);
    return status;
}

/* No learner calls a model converged whose gap is above what was asked for. */
static void hold_to_tolerance(margin_report *report) {
    char reason[sizeof report->reason];
    if (report->status != MARGIN_OK || !(report->gap > report->tolerance)) return;
    memcpy(reason, report->reason, sizeof reason);
    report->status = MARGIN_STOPPED_STALLED;
    mg_report_reason(report, "rounding limits the gap, which is %s and not %s; %s",
                     mg_number(report->gap).text, mg_number(report->tolerance).text, reason);
}

typedef struct part_group {
    mg_part *parts;
    mg_trace *traces;
    mg_fit *fits;
} part_group;

static margin_status group_make(const part_run *run, margin_context *context, int64_t first,
                                int64_t count, part_group *group, margin_error *error) {
    static const char purpose[] = "the problems of several classes or targets";
    mg_heap *heap = run->split->heap;
    const bool started = run->starts && run->starts->count > 0,
               all = count == run->split->parts &&
                     (count == 1 || mg_learner_more_of(run->learner)->keeps_rows),
               keeps = all && run->starts && run->starts->follows;
    MG_NEW(heap, group->fits, count, purpose, error);
    MG_NEW(heap, group->traces, count, purpose, error);
    MG_NEW_ZERO(heap, group->parts, count, purpose, error);
    for (int64_t k = 0; k < count; k++) {
        mg_trace *trace = &group->traces[k];
        MG_TRY(mg_part_make(run->split, first + k, &group->parts[k], error));
        *trace = run->trace ? *run->trace : (mg_trace){0};
        trace->subproblem = first + k;
        trace->subproblems = run->split->parts;
        group->fits[k] = (mg_fit){.context = context,
                                  .learner = run->learner,
                                  .problem = &group->parts[k].problem,
                                  .options = run->options,
                                  .shared = run->verify ? NULL : &run->shared,
                                  .claimed = run->verify ? &run->model->report : NULL,
                                  .trace = run->trace ? trace : NULL,
                                  .parts = run->split->parts,
                                  .judged = run->split->labels != NULL,
                                  .start = started ? run->starts->parts[first + k] : NULL,
                                  .kept = keeps ? &run->starts->kept : NULL,
                                  .seed = context->options.seed,
                                  .error = error};
        mg_report_init(&group->fits[k].report);
    }
    return MARGIN_OK;
}

static void group_free(mg_heap *heap, int64_t count, part_group *group) {
    for (int64_t k = 0; group->parts && k < count; k++)
        mg_part_free(&group->parts[k]);
    MG_FREE(heap, group->parts, group->traces, group->fits);
}

/* A failure is that of the first part. */
MG_INLINE margin_status run_group(part_run *run, margin_context *context, int64_t number) {
    const int64_t first = number * run->group;
    const int64_t count = MG_MIN(run->group, run->split->parts - first);
    part_result *result = &run->results[first];
    part_group group = {0};
    margin_error error = {0};
    margin_status status;
    MG_GO(group_make(run, context, first, count, &group, &error));
    if (run->verify)
        status = verify_part(run, first, group.fits);
    else
        status =
            count > 1 ? run->learner->fit_many(group.fits, count) : run->learner->fit(group.fits);
    if (run->verify && status >= 0 && mg_cancelled(context)) status = mg_fail_cancelled(&error);
    for (int64_t k = 0; k < count; k++) {
        result[k].hypothesis = group.fits[k].hypothesis;
        result[k].report = group.fits[k].report;
        result[k].verified = group.fits[k].verified;
        if (!run->verify) hold_to_tolerance(&result[k].report);
    }
done:
    group_free(run->split->heap, count, &group);
    result->status = status;
    if (status < 0) result->error = mg_new(run->split->heap, 1, sizeof error);
    if (result->error) *result->error = error;
    return status;
}

static int64_t group_count(const part_run *run) {
    return (run->split->parts + run->group - 1) / run->group;
}

/* What each of so many groups may take of the time that is left. */
static double share_of_time(const part_run *run, int64_t groups) {
    return (run->deadline - mg_clock()) * MG_MIN((double)run->at_once / (double)groups, 1.0);
}

/* The time that is left is divided among the groups that are left, so that the clock stops each of
 * them rather than leaving the last without a start. */
static double group_deadline(part_run *run, int64_t task, int64_t number) {
    if (run->verify || isinf(run->deadline)) return run->deadline;
    const double seconds = share_of_time(run, run->tasks - task);
    run->results[number * run->group].seconds = seconds;
    return MG_MIN(mg_clock() + seconds, run->deadline);
}

/* As a task: without the callbacks, which belong to the calling thread, and inline inside. */
static margin_status part_task(void *argument, int64_t task, int worker) {
    part_run *run = argument;
    const int64_t number = run->list ? run->list[task] : task;
    margin_context context;
    mg_context_part(run->context, group_deadline(run, task, number), run->shares, &context);
    margin_status status = run_group(run, &context, number);
    int64_t done = ++run->done;
    if (worker == 0) /* the calling thread */
        mg_progress(run->context, "training", (double)done, (double)run->tasks, (double)NAN);
    return status;
}

static margin_status first_failure(const part_run *run, margin_status status, margin_error *error) {
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
    for (int64_t number = 0; number < run->split->parts; number++) {
        const part_result *result = &run->results[number];
        if (result->status >= 0) continue;
        if (!result->error) break;
        if (error) *error = *result->error;
        return result->status;
    }
    return mg_fail(error, status, "the training ended early: %s", margin_status_text(status));
}

/* Side by side, or in order: one alone, which has all threads and ends in time by itself, and those
 * of a trace. */
MG_INLINE margin_status run_parts(part_run *run, margin_error *error) {
    const int64_t groups = group_count(run);
    const bool in_order = groups == 1 || run->trace;
    margin_status status = MARGIN_OK;
    for (int64_t number = 0; in_order && number < groups && status >= 0; number++) {
        margin_context context;
        mg_context_copy(run->context, &context);
        context.deadline = group_deadline(run, number, number);
        if (groups > 1 && mg_cancelled(run->context))
            status = MARGIN_ERROR_CANCELLED;
        else
            status = run_group(run, &context, number);
    }
    run->shares = mg_context_shares(run->context, run->tasks);
    run->done = 0;
    if (!in_order) status = mg_parallel(run->context, run->tasks, part_task, run, NULL);
    return status >= 0 ? MARGIN_OK : first_failure(run, status, error);
}

/* ---- Time that others left ------------------------------------------------------------------- */

static bool was_stopped(const part_run *run, int64_t number) {
    const int64_t first = number * run->group;
    bool stopped = false;
    for (int64_t k = first; k < MG_MIN(first + run->group, run->split->parts); k++)
        stopped |= run->results[k].report.status == MARGIN_STOPPED_TIME;
    return stopped;
}

/* Groups that their share stopped, and for which there is more now. */
static int64_t list_stopped(part_run *run) {
    const int64_t groups = group_count(run);
    int64_t stopped = 0;
    for (int64_t number = 0; number < groups; number++)
        stopped += was_stopped(run, number);
    const double share = share_of_time(run, MG_MAX(stopped, 1));
    run->tasks = 0;
    for (int64_t number = 0; number < groups && share > 0; number++)
        if (was_stopped(run, number) && share > run->results[number * run->group].seconds)
            run->list[run->tasks++] = number;
    return run->tasks;
}

/* The nearer one stays: a part that was not trained again has no hypothesis in `again`. */
static void keep_nearer(part_result *result, part_result *again) {
    const part_result before = *result;
    result->seconds = fmax(before.seconds, again->seconds);
    if (!again->hypothesis ||
        (again->report.status == MARGIN_STOPPED_TIME && again->report.gap > before.report.gap))
        return;
    again->seconds = result->seconds;
    *result = *again;
    *again = before;
}

static void forget_results(const part_run *run, part_result *results) {
    for (int64_t number = 0; results && number < run->split->parts; number++) {
        mg_hypothesis_free(results[number].hypothesis);
        mg_free(run->split->heap, results[number].error);
        memset(&results[number], 0, sizeof results[number]);
    }
}

static margin_status new_results(const part_run *run, part_result **results, margin_error *error) {
    MG_NEW_ZERO(run->split->heap, *results, run->split->parts, "the reports of the sub-problems",
                error);
    return MARGIN_OK;
}

/* Where the time is over before there is a better one, what there is stays. */
static margin_status train_listed(part_run *run, margin_error *error) {
    part_result *const results = run->results, *again;
    margin_error found = {0};
    MG_TRY(new_results(run, &again, error));
    run->results = again;
    margin_status status = run_parts(run, &found);
    run->results = results;
    if (mg_timed_out(run->context, status)) status = MARGIN_OK;
    if (status < 0 && error) *error = found;
    for (int64_t k = 0; status >= 0 && k < run->split->parts; k++)
        keep_nearer(&results[k], &again[k]);
    forget_results(run, again);
    mg_free(run->split->heap, again);
    return status;
}

/* Groups that need more than their share begin anew with what the others left, for as long as that
 * is more: from the start, so that they end where they would without a limit. A trace shows each
 * once. */
static margin_status train_parts(part_run *run, margin_error *error) {
    margin_status status = MARGIN_OK;
    run->tasks = group_count(run);
    MG_TRY(run_parts(run, error));
    if (run->tasks == 1 || run->trace || isinf(run->deadline)) return MARGIN_OK;
    MG_NEW(run->split->heap, run->list, run->tasks, "the parts that go on", error);
    while (status >= 0 && list_stopped(run) > 0)
        status = train_listed(run, error);
    mg_free(run->split->heap, run->list);
    run->list = NULL;
    return status;
}

/* ---- What they share ------------------------------------------------------------------------- */

margin_status mg_share(const mg_learner *learner, mg_shared *shared) {
    shared->learner = learner;
    shared->together = 1;
    if (learner->share) MG_TRY(learner->share(shared));
    const bool can = learner->fit_many && (shared->differ & ~learner->differ) == 0;
    shared->together = can ? MG_MIN(shared->together, shared->fits) : 1;
    return MARGIN_OK;
}

void mg_shared_free(mg_shared *shared) {
    if (shared->data) shared->release(shared->context->heap, shared->data);
    shared->data = NULL;
}

/* ---- All parts ------------------------------------------------------------------------------- */

/* Targets share their columns, and what there is to say of those. */
static void join_reasons(const part_run *run, margin_report *report) {
    const char *first = run->results[0].report.reason;
    bool same = true;
    for (int64_t number = 1; number < run->split->parts; number++)
        same = same && strcmp(run->results[number].report.reason, first) == 0;
    if (same && first[0])
        mg_report_reason(report, "all %lld targets: %s", (long long)run->split->parts, first);
    else
        mg_report_reason(report, "all %lld targets are solved", (long long)run->split->parts);
}

static void join_reports(const part_run *run, margin_report *report) {
    int64_t stopped = 0, parts = run->split->parts;
    char label[MG_PART_LABEL + 32];
    *report = run->results[0].report;
    if (parts == 1) return;
    for (int64_t number = 0; number < parts; number++) {
        const margin_report *part = &run->results[number].report;
        mg_part_label(run->split, run->model, number, label);
        if (part->status == MARGIN_STOPPED_TIME && group_count(run) > 1)
            strcat(label, ", in its share of the time");
        stopped += part->status > 0;
        if (number > 0)
            mg_report_join(report, part, label);
        else if (part->status > 0)
            mg_report_reason(report, "%s: %s", label, part->reason);
    }
    if (isinf(report->objective)) return; /* of a sum: said already */
    if (stopped == 0 && run->split->reduction == MG_REDUCE_TARGETS)
        join_reasons(run, report);
    else if (stopped == 0)
        mg_report_reason(report, "all %lld sub-problems converged", (long long)parts);
    else if (stopped > 1) {
        char reason[sizeof report->reason];
        memcpy(reason, report->reason, sizeof reason);
        mg_report_reason(report, "%lld of %lld sub-problems stopped early; %s", (long long)stopped,
                         (long long)parts, reason);
    }
}

static margin_status join_hypotheses(part_run *run, mg_hypothesis **hypothesis,
                                     margin_error *error) {
    int64_t parts = run->split->parts;
    mg_heap *heap = run->split->heap;
    mg_hypothesis **list = NULL;
    if (parts == 1) {
        *hypothesis = run->results[0].hypothesis;
        run->results[0].hypothesis = NULL;
        return mg_hypothesis_attach(*hypothesis, error);
    }
    const mg_hypothesis_kind *kind = run->results[0].hypothesis->kind;
    MG_REQUIRE(kind->combine, error, MARGIN_ERROR_INTERNAL,
               "%s models of several classes cannot be joined; please report it", kind->name);
    MG_NEW(heap, list, parts, "the models of the classes", error);
    for (int64_t number = 0; number < parts; number++)
        list[number] = run->results[number].hypothesis;
    margin_status status = kind->combine(heap, list, parts, hypothesis, error);
    mg_free(heap, list);
    for (int64_t number = 0; number < parts; number++) {
        mg_hypothesis_free(run->results[number].hypothesis);
        run->results[number].hypothesis = NULL;
    }
    return status;
}

typedef struct label_run {
    const margin_model *model;
    int64_t *labels;
    double *work; /* two numbers a class, of each worker */
} label_run;

static void label_sample(const mg_rough *rough, void *argument) {
    const label_run *run = argument;
    run->labels[rough->sample] =
        mg_decide_rough(run->model, rough->scores, rough->errors,
                        run->work + 2 * run->model->classes * rough->worker);
}

/* The classes of the samples, where what the parts shared tells them. Where the time is over they
 * are predicted, or not, as they may be. */
static margin_status label_samples(const part_run *run, const mg_hypothesis *h,
                                   margin_error *error) {
    const mg_split *split = run->split;
    const int64_t room = 2 * run->model->classes * mg_threads(run->context);
    label_run labels = {.model = run->model};
    margin_status status;
    if (!split->labels || !run->shared.rough) return MARGIN_OK;
    MG_GO_NEW(split->heap, labels.labels, split->whole.count, "the predicted classes", error);
    MG_GO_NEW(split->heap, labels.work, room, "the predicted classes", error);
    MG_GO(run->shared.rough(&run->shared, h, label_sample, &labels, error));
    *split->labels = labels.labels;
    labels.labels = NULL;
done:
    MG_FREE(split->heap, labels.labels, labels.work);
    return status == MARGIN_ERROR_CANCELLED ? MARGIN_OK : status;
}

static void give_parts(const part_run *run, margin_report *parts) {
    for (int64_t number = 0; parts && number < run->split->parts; number++)
        parts[number] = run->results[number].report;
}

static void free_results(part_run *run) {
    forget_results(run, run->results);
    mg_free(run->split->heap, run->results);
    mg_shared_free(&run->shared);
    mg_free(run->split->heap, run->options);
}

static margin_status start_run(part_run *run, const mg_spec_component *learner,
                               margin_error *error) {
    static const unsigned differ[] = {[MG_REDUCE_NONE] = 0,
                                      [MG_REDUCE_TWO] = 0,
                                      [MG_REDUCE_REST] = MG_DIFFER_SIGNS,
                                      [MG_REDUCE_PAIRS] = MG_DIFFER_SIGNS | MG_DIFFER_ROWS,
                                      [MG_REDUCE_TARGETS] = MG_DIFFER_TARGETS};
    run->learner = learner->learner;
    run->deadline = mg_deadline(run->context);
    MG_TRY(mg_options_copy(run->split->heap, learner->options, learner->info->option_count,
                           &run->options, error));
    run->shared = (mg_shared){.context = run->context,
                              .whole = &run->split->whole,
                              .options = run->options,
                              .fits = run->split->parts,
                              .differ = differ[run->split->reduction],
                              .error = error};
    if (!run->verify) MG_TRY(mg_share(run->learner, &run->shared));
    run->group = MG_MAX(run->shared.together, 1);
    run->at_once = (int)MG_MIN(group_count(run), (int64_t)mg_threads(run->context));
    run->tasks = group_count(run);
    return new_results(run, &run->results, error);
}

/* Each part is as near as it should be, the whole is not: parts with an objective below 1 have as
 * large a distance as one of 1 may have, and there are several. */
static bool is_loose(const margin_report *joined) {
    return joined->status == MARGIN_OK && joined->gap > joined->tolerance;
}

/* With tol / parts for each the sum is at most tol max(1, sum P). */
static bool make_stricter(part_run *run, const margin_component *info) {
    for (int k = 0; k < info->option_count; k++)
        if (info->options[k].role == MARGIN_ROLE_TOLERANCE) {
            run->options[k].number /= (double)run->split->parts;
            return true;
        }
    return false;
}

margin_status mg_split_train(margin_context *context, const mg_split *split,
                             const mg_spec_component *learner, const margin_model *model,
                             const mg_trace *trace, mg_starts *starts, mg_hypothesis **hypothesis,
                             margin_report *report, margin_report *each, margin_error *error) {
    part_run run = {
        .context = context, .split = split, .model = model, .trace = trace, .starts = starts};
    double tolerance = 0.0;
    bool again = false; /* with parts that were asked for more */
    margin_status status;
    MG_GO(start_run(&run, learner, error));
    do {
        forget_results(&run, run.results);
        MG_GO(train_parts(&run, error));
        join_reports(&run, report);
        if (again) report->tolerance = tolerance;
        tolerance = report->tolerance;
        again = !again && is_loose(report) && make_stricter(&run, learner->info);
    } while (again);
    hold_to_tolerance(report);
    give_parts(&run, each);
    MG_GO(join_hypotheses(&run, hypothesis, error));
    status = label_samples(&run, *hypothesis, error);
done:
    status =
        mg_kernel_explain(context, learner->info, learner->options, &split->whole, status, error);
    free_results(&run);
    return status;
}

margin_status mg_split_verify(margin_context *context, const mg_split *split,
                              const mg_spec_component *learner, const margin_model *model,
                              margin_report *report, mg_verified *verified, margin_report *parts,
                              margin_error *error) {
    part_run run = {.context = context, .split = split, .model = model, .verify = true};
    margin_status status;
    MG_GO(start_run(&run, learner, error));
    MG_GO(run_parts(&run, error));
    join_reports(&run, report);
    *verified = run.results[0].verified;
    for (int64_t number = 1; number < split->parts; number++)
        mg_verified_join(verified, &run.results[number].verified);
    give_parts(&run, parts);
    status = mg_kernel_verify(context, learner->info, run.options, &split->whole, model->hypothesis,
                              verified, error);
done:
    free_results(&run);
    return status;
}
