/* Training: data checked, stages fitted, problems solved, linear weights put back into original
 * units, and the report filled in with what the finished model does on its training rows. */
#include "base/caller_options.h"
#include "model/predict/fit_score.h"
#include "model/problem/multiclass.h"
#include "model/train/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What is to be trained ------------------------------------------------------------------- */

/* For learners of classes and numbers the option `task` decides, where there is one. */
static margin_task chosen_task(const mg_spec_component *learner, const margin_data *data,
                               const mg_samples *samples) {
    const mg_option_value *task = mg_spec_option(learner, "task");
    if (task && strcmp(task->text, "classify") == 0) return MARGIN_CLASSIFY;
    if (task && strcmp(task->text, "regress") == 0) return MARGIN_REGRESS;
    if (data->targets > 1) return MARGIN_REGRESS;
    bool numbers = data->y.type == MARGIN_F64 || data->y.type == MARGIN_F32;
    bool categories = data->target && data->target->kind == MARGIN_CATEGORICAL;
    if (!numbers || categories || (task && mg_target_looks_like_classes(data, samples)))
        return MARGIN_CLASSIFY;
    return MARGIN_REGRESS;
}

margin_task mg_task_of(const mg_spec_component *learner, const margin_data *data,
                       const mg_samples *samples) {
    const unsigned abilities = learner->info->abilities;
    bool classifies = (abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS)) != 0;
    bool regresses = (abilities & MARGIN_CAN_REGRESSION) != 0;
    if (!classifies) return regresses ? MARGIN_REGRESS : MARGIN_CLUSTER;
    return regresses ? chosen_task(learner, data, samples) : MARGIN_CLASSIFY;
}

static margin_status check_call(const margin_context *context, const margin_spec *spec,
                                margin_model **model, margin_error *error) {
    MG_REQUIRE(context && spec && model, error, MARGIN_ERROR_ARGUMENT, "the %s is NULL",
               !context ? "context"
               : !spec  ? "spec"
                        : "place for the model");
    MG_REQUIRE(spec->variants == 1, error, MARGIN_ERROR_SPEC,
               "'%s' stands for %lld specs; choose one (margin path compares penalties of "
               "ridge, margin plot elbow numbers of clusters)",
               spec->text, (long long)spec->variants);
    return MARGIN_OK;
}

/* Names the learners that can. */
static margin_status refuse_targets(const margin_component *info, int64_t targets,
                                    margin_error *error) {
    char list[200] = "";
    size_t length = 0;
    MG_REQUIRE(!(info->abilities & MARGIN_CAN_CLUSTER), error, MARGIN_ERROR_ARGUMENT,
               "%s takes no target and the data has %lld; leave them out", info->name,
               (long long)targets);
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *other = margin_component_at(k);
        if (!(other->abilities & MARGIN_CAN_TARGETS) || length >= sizeof list) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   length ? " or " : "", other->name);
    }
    return mg_fail(error, MARGIN_ERROR_ARGUMENT,
                   "%s takes one target and the data has %lld; fit them one by one, or take %s",
                   info->name, (long long)targets, list);
}

static margin_status check_learner(const mg_spec_component *learner, const margin_data *data,
                                   const mg_samples *samples, const mg_trace *trace,
                                   margin_error *error) {
    const margin_component *info = learner->info;
    if (data->targets > 1 && !(info->abilities & MARGIN_CAN_TARGETS))
        return refuse_targets(info, data->targets, error);
    MG_REQUIRE(!samples->weights || (info->abilities & MARGIN_CAN_WEIGHTS), error,
               MARGIN_ERROR_ARGUMENT, "%s takes no sample weights", info->name);
    MG_REQUIRE(!trace || (info->abilities & MARGIN_CAN_TRACE), error, MARGIN_ERROR_ARGUMENT,
               "%s cannot trace its steps", info->name);
    return learner->learner->check ? learner->learner->check(learner->options, error) : MARGIN_OK;
}

static margin_status check_task(const mg_spec_component *learner, margin_task task,
                                const margin_data *data, margin_error *error) {
    MG_REQUIRE(task != MARGIN_CLASSIFY || data->targets <= 1, error, MARGIN_ERROR_ARGUMENT,
               "%s tells the classes of one target and the data has %lld; fit them one by one, or "
               "leave out task=classify",
               learner->info->name, (long long)data->targets);
    return MARGIN_OK;
}

/* ---- Training -------------------------------------------------------------------------------- */

static margin_status name_spec(const margin_spec *spec, margin_model *model, margin_error *error) {
    int64_t length = (int64_t)strlen(spec->text);
    model->spec = mg_copy_text(model->heap, spec->text, length);
    if (!model->spec) return mg_no_memory(model->heap, length + 1, 1, "the spec", error);
    model->learner = mg_spec_learner(spec)->learner;
    return MARGIN_OK;
}

static margin_status learn_target(margin_context *context, margin_task task,
                                  const margin_data *data, const mg_samples *samples,
                                  margin_model *model, margin_error *error) {
    model->task = task;
    if (model->task == MARGIN_CLASSIFY)
        return mg_target_learn(context, data, samples, model, error);
    return model->task == MARGIN_REGRESS ? mg_target_describe(data, model, error) : MARGIN_OK;
}

/* A hypothesis that a learner made and attach refuses: the numbers ran away. */
static margin_status refuse_overflow(margin_status status, margin_error *error) {
    if (status != MARGIN_ERROR_MODEL) return status;
    return mg_fail(error, MARGIN_ERROR_DATA,
                   "the weights left the range of numbers; bring the columns to one scale first: "
                   "standardize | ...");
}

/* Objective and gap are those of the scaled target. */
static void describe_target(const mg_target_scale *scale, margin_report *report) {
    char text[sizeof report->formula];
    if (scale->offset == 0 && scale->divisor == 1) return;
    const double less = fabs(scale->offset);
    snprintf(text, sizeof text, "%.60s, with (y %s %s)/%s for y", report->formula,
             scale->offset < 0 ? "+" : "-", mg_about(less).text, mg_about(scale->divisor).text);
    mg_report_formula(report, text);
}

static margin_status solve(margin_context *context, const mg_spec_component *learner,
                           const margin_data *data, const mg_samples *samples,
                           const mg_staged *staged, const mg_trace *trace, margin_model *model,
                           margin_error *error) {
    mg_split split = {0};
    mg_reduction reduction;
    MG_TRY(mg_reduction_choose(learner, model, &reduction, &model->decision, error));
    MG_TRY(mg_split_make(context, reduction, data, samples, staged, model, &split, error));
    margin_status status = mg_split_weigh(learner, model, &split, error);
    if (status >= 0)
        status = mg_split_train(context, &split, learner, model, trace, &model->hypothesis,
                                &model->report, error);
    mg_split_free(&split);
    if (status < 0) return refuse_overflow(status, error);
    describe_target(&staged->target, &model->report);
    if (model->task == MARGIN_CLUSTER) model->classes = model->hypothesis->functions;
    MG_TRY(mg_model_fold(model, error));
    return refuse_overflow(mg_hypothesis_attach(model->hypothesis, error), error);
}

/* The parts of the report that the learner does not know. */
static void describe_fit(const margin_data *data, const mg_samples *samples, margin_model *model) {
    margin_report *report = &model->report;
    report->task = model->task;
    report->rows = samples->count;
    report->columns = data->x.columns;
    report->classes = model->classes;
    report->threads = 0;
    report->seconds = 0;
}

/* What the model does on its training rows. The clock may end that: there is a model by then. */
static margin_status score(margin_context *context, const margin_data *data,
                           const mg_samples *samples, margin_model *model, margin_error *error) {
    margin_report *report = &model->report;
    mg_context_extend(context);
    const margin_status status = mg_fit_score(context, data, samples, model, report, error);
    if (!mg_timed_out(context, status)) return status;
    if (report->status == MARGIN_OK)
        mg_report_reason(report,
                         "the time limit of %s seconds was reached before the model had answered "
                         "for its training rows: how well it does on them is not known",
                         mg_number(context->options.time_limit).text);
    if (report->status >= 0) report->status = MARGIN_STOPPED_TIME;
    return MARGIN_OK;
}

margin_status mg_train(margin_context *context, const margin_spec *spec, const margin_data *data,
                       const mg_train_how *how, margin_model *model, margin_error *error) {
    const mg_spec_component *learner = mg_spec_learner(spec);
    mg_samples samples = {0};
    mg_staged staged = {0};
    margin_status status;
    MG_GO(name_spec(spec, model, error));
    MG_GO(mg_samples_make(context->heap, data, &samples, error));
    MG_GO(check_learner(learner, data, &samples, how->trace, error));
    const margin_task task = how->task ? how->task : mg_task_of(learner, data, &samples);
    MG_GO(check_task(learner, task, data, error));
    MG_GO(learn_target(context, task, data, &samples, model, error));
    MG_GO(mg_pipeline_fit(context, spec, data, &samples, model, &staged, error));
    if (!(learner->info->abilities & MARGIN_CAN_SPARSE))
        MG_GO(mg_staged_densify(context, &staged, learner->info->name, error));
    MG_GO(solve(context, learner, data, &samples, &staged, how->trace, model, error));
    mg_staged_free(&staged);
    describe_fit(data, &samples, model);
    MG_GO(mg_model_check(model, learner, error));
    if (!how->unscored) status = score(context, data, &samples, model, error);
done:
    mg_staged_free(&staged);
    mg_samples_free(&samples);
    return status;
}

margin_status margin_fit_with(margin_context *context, const margin_spec *spec,
                              const margin_data *data, const margin_fit_options *options,
                              margin_model **model, margin_report *report, margin_error *error) {
    double started = mg_clock();
    margin_model *made = NULL;
    margin_fit_options chosen;
    margin_context call;
    mg_trace trace = {0};
    margin_status status;
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_fit_options, user), "margin_fit_options",
                           &chosen, sizeof chosen, error));
    MG_TRY(check_call(context, spec, model, error));
    if (chosen.trace) trace = (mg_trace){.step = chosen.trace, .user = chosen.user};
    mg_context_call(context, &call);

    MG_GO(mg_data_check_targets(&call, data, error));
    MG_GO(mg_model_new(context->heap, &made, error));
    const mg_train_how how = {.trace = trace.step ? &trace : NULL};
    MG_GO(mg_train(&call, spec, data, &how, made, error));
    status = made->report.status;
    if (report) {
        *report = made->report;
        report->threads = mg_pool_threads(context->pool);
        report->seconds = mg_clock() - started;
    }
    *model = made;
    made = NULL;
done:
    margin_model_free(made);
    return mg_call_status(&call, status,
                          "before there was a model: allow more, or take fewer rows or columns",
                          error);
}

margin_status margin_fit(margin_context *context, const margin_spec *spec, const margin_data *data,
                         margin_model **model, margin_report *report, margin_error *error) {
    return margin_fit_with(context, spec, data, NULL, model, report, error);
}
