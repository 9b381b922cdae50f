/* Training: data checked, stages fitted, problems solved, linear weights put back into original
 * units, and the report filled in with what the finished model does on its training rows. */
#include "model/predict/fit_score.h"
#include "model/problem/data_rows.h"
#include "model/train/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What is to be trained ------------------------------------------------------------------- */

static bool epsilon_decides(const mg_spec_component *learner) {
    const mg_option_value *task = mg_spec_option(learner, "task"),
                          *epsilon = mg_spec_option(learner, "epsilon");
    return epsilon && epsilon->given && !(task && strcmp(task->text, "regress") == 0);
}

/* For learners of classes and numbers the option `task` decides, where there is one; errors that
 * cost nothing are of values. */
static margin_task chosen_task(const mg_spec_component *learner, const margin_data *data,
                               const mg_samples *samples) {
    const mg_option_value *task = mg_spec_option(learner, "task");
    if (task && strcmp(task->text, "classify") == 0) return MARGIN_CLASSIFY;
    if (epsilon_decides(learner)) return MARGIN_REGRESS;
    if (task && strcmp(task->text, "regress") == 0) return MARGIN_REGRESS;
    if (data->targets > 1) return MARGIN_REGRESS;
    bool numbers = data->y.type == MARGIN_F64 || data->y.type == MARGIN_F32;
    bool categories = data->target && data->target->kind == MARGIN_CATEGORICAL;
    if (!numbers || categories || data->classes.values ||
        (task && mg_target_looks_like_classes(data, samples)))
        return MARGIN_CLASSIFY;
    return MARGIN_REGRESS;
}

margin_status mg_task_of(const mg_spec_component *learner, const margin_data *data,
                         const mg_samples *samples, margin_task *task, margin_error *error) {
    const unsigned abilities = learner->info->abilities;
    bool classifies = (abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS)) != 0;
    bool regresses = (abilities & MARGIN_CAN_REGRESSION) != 0;
    *task = MARGIN_CLASSIFY;
    if (mg_is_transform(learner->learner))
        *task = MARGIN_TRANSFORM;
    else if (!classifies)
        *task = regresses ? MARGIN_REGRESS : MARGIN_CLUSTER;
    else if (regresses)
        *task = chosen_task(learner, data, samples);
    const bool categories = data->target && data->target->kind == MARGIN_CATEGORICAL;
    MG_REQUIRE(*task != MARGIN_REGRESS || !categories || !epsilon_decides(learner), error,
               MG_DATA(TARGET),
               "%s: epsilon belongs to regression, and the target %s has categories: leave epsilon "
               "out, or name a target of numbers",
               learner->info->name, data->target->name);
    return MARGIN_OK;
}

static margin_status check_call(const margin_context *context, const margin_spec *spec,
                                margin_model **model, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {spec, "spec"}, {model, "place for the model"});
    MG_REQUIRE(spec->variants == 1, error, MARGIN_ERROR_SPEC,
               "'%s' stands for %lld specs; choose one (margin cv compares them by "
               "cross-validation, margin path penalties of ridge, margin plot elbow numbers of "
               "clusters)",
               spec->text, (long long)spec->variants);
    return MARGIN_OK;
}

/* ---- Training -------------------------------------------------------------------------------- */

/* What the model does on its training rows. The learner may know it of the rows as it saw them:
 * stages hand on single precision where the data were, where a prediction has double. The clock may
 * end that: there is a model by then. */
static margin_status score(margin_context *context, const margin_data *data,
                           const mg_trainer *trainer, margin_model *model, margin_error *error) {
    margin_report *report = &model->report;
    const bool as_seen = !model->inner && (model->active == 0 || data->x.value_type == MARGIN_F64);
    const bool known =
        model->task == MARGIN_REGRESS
            ? model->stage_count == 0 && model->target.count == 1 && !isnan(report->train_rmse) &&
                  !isnan(report->train_r2)
            : as_seen && (model->decision == MG_DECIDE_SIGN || model->learner->scored > 0) &&
                  !isnan(report->train_accuracy);
    mg_context_extend(context);
    if (known && !mg_cancelled(context)) return MARGIN_OK;
    report->train_rmse = report->train_r2 = report->train_accuracy = (double)NAN; /* of a part */
    const margin_status status =
        mg_fit_score(context, data, &trainer->samples, model->inner ? NULL : trainer->labels, model,
                     report, NULL, error);
    if (!mg_timed_out(context, status)) return status;
    if (report->status == MARGIN_OK)
        mg_report_reason(report,
                         "the time limit of %s seconds was reached before the model had answered "
                         "for its training rows: how well it does on them is not known",
                         mg_number(context->options.time_limit).text);
    if (report->status >= 0) report->status = MARGIN_STOPPED_TIME;
    if (!isnan(margin_report_item_value(report, MG_SCORED_ROWS)))
        mg_report_set(report, MG_SCORED_ROWS, (double)NAN);
    return MARGIN_OK;
}

/* The parts of a fit that is over; `whole` is the report that the caller gets. */
static void tell_parts(const margin_fit_options *options, const margin_report *parts,
                       const margin_model *model, const margin_context *context, double started) {
    const margin_report *whole = &model->report;
    for (int64_t k = 0; options->part && k < whole->subproblems; k++) {
        margin_report part = *whole, told = {.size = sizeof told};
        part.status = parts[k].status;
        part.objective = parts[k].objective;
        part.gap = parts[k].gap;
        part.tolerance = parts[k].tolerance;
        part.iterations = parts[k].iterations;
        part.item_count = parts[k].item_count;
        memcpy(part.items, parts[k].items, sizeof part.items);
        memcpy(part.reason, parts[k].reason, sizeof part.reason);
        mg_report_give(&part, context, started, &told);
        options->part(&told, k, options->user);
    }
}

margin_status mg_fit_task(margin_context *context, margin_task task, const margin_spec *spec,
                          const margin_data *data, const margin_fit_options *options,
                          margin_model **model, margin_report *report, margin_error *error) {
    double started = mg_clock();
    margin_model *made = NULL;
    margin_fit_options chosen;
    mg_trainer trainer = {0};
    mg_trace trace = {0};
    margin_spec *weighed = NULL;
    margin_data seen;
    mg_matrix_buffer rows = {0};
    margin_status status;
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_fit_options, part), "margin_fit_options",
                           &chosen, sizeof chosen, error));
    MG_TRY(check_call(context, spec, model, error));
    if (report) MG_TRY(mg_result_check(report, MG_REPORT, error));
    if (chosen.trace)
        trace = (mg_trace){.context = context, .step = chosen.trace, .user = chosen.user};
    margin_context call = mg_context_call(context);

    MG_GO(mg_data_check_columns(&call, data, error));
    MG_GO(mg_pipeline_rows(&call, spec, data, &seen, &rows, error));
    MG_GO(mg_data_codes(&call, mg_pipeline_takes_categories(spec), &seen, &rows, error));
    MG_GO(mg_model_new(context->heap, &made, error));
    const mg_train_how how = {.task = task,
                              .centres = chosen.centres,
                              .centre_count = chosen.centre_count,
                              .trace = trace.step ? &trace : NULL,
                              .start = chosen.start,
                              .parts = chosen.part != NULL,
                              .judged = true};
    MG_GO(mg_trainer_open(&call, spec, &seen, &how, made, &trainer, error));
    if (chosen.class_weights)
        MG_GO(mg_class_weight_spec(spec, made, chosen.class_weights, chosen.class_weight_count,
                                   &weighed, error));
    MG_GO(mg_trainer_fit(&trainer, &call, weighed ? weighed : spec, error));
    mg_staged_free(&trainer.staged);
    MG_GO(score(&call, &seen, &trainer, made, error));
    status = made->report.status;
    tell_parts(&chosen, trainer.parts, made, context, started);
    mg_report_give(&made->report, context, started, report);
    *model = made;
    made = NULL;
done:
    mg_trainer_close(&trainer);
    mg_matrix_buffer_free(&rows);
    margin_spec_free(weighed);
    margin_model_free(made);
    return mg_call_status(&call, status,
                          "before there was a model: allow more, or take fewer rows or columns",
                          error);
}

margin_status margin_fit_with(margin_context *context, const margin_spec *spec,
                              const margin_data *data, const margin_fit_options *options,
                              margin_model **model, margin_report *report, margin_error *error) {
    return mg_fit_task(context, 0, spec, data, options, model, report, error);
}

margin_status margin_fit(margin_context *context, const margin_spec *spec, const margin_data *data,
                         margin_model **model, margin_report *report, margin_error *error) {
    return mg_fit_task(context, 0, spec, data, NULL, model, report, error);
}
