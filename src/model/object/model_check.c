/* What follows from the learner of a spec, the stages and the tensors of a model: how it decides,
 * how its problem was cut, what its report may say. A fit is made by these rules and a loaded model
 * is held to them. */
#include "model/object/model_object.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define REFUSE(condition, ...) MG_REQUIRE(condition, error, MARGIN_ERROR_MODEL, __VA_ARGS__)

/* ---- Rules ----------------------------------------------------------------------------------- */

/* A sum of kernels without a target is one function, whose sign tells inliers from outliers. */
static bool is_one_class(const mg_spec_component *learner, margin_task task) {
    return task == MARGIN_CLUSTER && learner->learner->makes[0] == &mg_hypothesis_expansion;
}

margin_status mg_reduction_choose(const mg_spec_component *learner, const margin_model *model,
                                  mg_reduction *reduction, mg_decision *decision,
                                  margin_error *error) {
    const margin_component *info = learner->info;
    const mg_option_value *option = mg_spec_option(learner, "multiclass");
    const char *word = option ? option->text : NULL;
    const bool argmax = word && strcmp(word, "argmax") == 0;
    *reduction = MG_REDUCE_NONE;
    *decision = MG_DECIDE_ARGMAX;
    if (model->task == MARGIN_REGRESS) {
        *reduction = model->target.count > 1 ? MG_REDUCE_TARGETS : MG_REDUCE_NONE;
        *decision = MG_DECIDE_VALUE;
    } else if (model->task == MARGIN_TRANSFORM) {
        *decision = MG_DECIDE_VALUE;
    } else if (model->task == MARGIN_CLUSTER || argmax) {
        MG_REQUIRE(!argmax || (info->abilities & MARGIN_CAN_ARGMAX), error, MARGIN_ERROR_SPEC,
                   "%s cannot train all classes together (multiclass=argmax); take ovr or ovo",
                   info->name);
        if (is_one_class(learner, model->task)) *decision = MG_DECIDE_SIGN;
    } else if (word || !(info->abilities & MARGIN_CAN_MULTICLASS)) {
        const bool pairs = word && strcmp(word, "ovo") == 0;
        *reduction = model->classes == 2 ? MG_REDUCE_TWO : pairs ? MG_REDUCE_PAIRS : MG_REDUCE_REST;
        if (model->classes == 2) *decision = MG_DECIDE_SIGN;
        if (*reduction == MG_REDUCE_PAIRS) *decision = MG_DECIDE_VOTES;
    }
    return MARGIN_OK;
}

int64_t mg_reduction_parts(mg_reduction reduction, const margin_model *model) {
    const int64_t classes = model->classes;
    if (reduction == MG_REDUCE_TARGETS) return model->target.count;
    if (reduction == MG_REDUCE_REST) return classes;
    return reduction == MG_REDUCE_PAIRS ? classes * (classes - 1) / 2 : 1;
}

mg_problem_kind mg_whole_kind(margin_task task) {
    if (task == MARGIN_CLASSIFY) return MG_ARGMAX;
    return task == MARGIN_REGRESS ? MG_REGRESSION : MG_CLUSTERING;
}

margin_status mg_model_target_scale(const margin_model *model, mg_target_scale *scale,
                                    margin_error *error) {
    const char *first = NULL;
    *scale = (mg_target_scale){0, 1};
    for (int s = 0; s < model->stage_count; s++) {
        const mg_stage *stage = model->stages[s].stage;
        double offset, divisor;
        if (!stage->target || !stage->target(&model->stages[s], &offset, &divisor)) continue;
        MG_REQUIRE(model->target.count <= 1, error, MARGIN_ERROR_SPEC,
                   "%s(target=yes) scales one target, not %lld; leave target=yes out: with an "
                   "intercept %s predicts the same without it",
                   stage->info.name, (long long)model->target.count, model->learner->info.name);
        MG_REQUIRE(!first, error, MARGIN_ERROR_SPEC,
                   "both %s and %s scale the target; say target=yes in one of them", first,
                   stage->info.name);
        MG_REQUIRE(model->task == MARGIN_REGRESS, error, MARGIN_ERROR_SPEC,
                   "%s(target=yes) is for regressions; %s has no numbers as a target",
                   stage->info.name, model->learner->info.name);
        first = stage->info.name;
        *scale = (mg_target_scale){offset, divisor};
    }
    return MARGIN_OK;
}

void mg_scaled_formula(const mg_target_scale *scale, const char *formula, char *text, size_t size) {
    if (scale->offset == 0 && scale->divisor == 1)
        snprintf(text, size, "%s", formula);
    else
        snprintf(text, size, "%.60s, with (y %s %s)/%s for y", formula,
                 scale->offset < 0 ? "+" : "-", mg_about(fabs(scale->offset)).text,
                 mg_about(scale->divisor).text);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static margin_status check_stage(const margin_model *model, int s, int64_t columns,
                                 margin_error *error) {
    const mg_fitted_stage *stage = &model->stages[s];
    const bool fits = stage->columns_in == columns && stage->columns_out > 0 &&
                      (stage->columns.count == 0 || stage->columns.count == stage->columns_out) &&
                      (stage->columns.count > 0 || stage->columns_out == columns) &&
                      (s < model->active || stage->columns_out == columns);
    REFUSE(fits, "stage %d of the model (%s) does not fit the %lld columns it gets", s + 1,
           stage->stage->info.name, (long long)columns);
    return MARGIN_OK;
}

/* The affine stages at the tail are folded into what is linear, and no others. */
static int count_active(const margin_model *model) {
    int active = model->stage_count;
    while (model->hypothesis->kind == &mg_hypothesis_linear && active > 0 &&
           model->stages[active - 1].stage->affine)
        active--;
    return active;
}

static margin_status check_stages(const margin_model *model, margin_error *error) {
    const mg_hypothesis *h = model->hypothesis;
    int64_t columns = model->inputs.count;
    REFUSE(columns > 0, "the model has no input columns");
    REFUSE(model->active == count_active(model),
           "the model applies %d of its %d stages, and with a hypothesis that is %s there are %d "
           "to apply",
           model->active, model->stage_count, h->kind->name, count_active(model));
    for (int s = 0; s < model->stage_count; s++) {
        MG_TRY(check_stage(model, s, columns, error));
        columns = model->stages[s].columns_out;
    }
    REFUSE(h->columns == columns, "the model scores rows of %lld columns and its stages make %lld",
           (long long)h->columns, (long long)columns);
    return MARGIN_OK;
}

bool mg_can_task(const mg_spec_component *learner, margin_task task) {
    const unsigned abilities = learner->info->abilities;
    const mg_option_value *option = mg_spec_option(learner, "task");
    const bool classifies = (abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS)) != 0;
    const bool regresses = (abilities & MARGIN_CAN_REGRESSION) != 0;
    if (option && strcmp(option->text, "classify") == 0) return task == MARGIN_CLASSIFY;
    if (option && strcmp(option->text, "regress") == 0) return task == MARGIN_REGRESS;
    if (task == MARGIN_TRANSFORM || mg_is_transform(learner->learner))
        return task == MARGIN_TRANSFORM && mg_is_transform(learner->learner);
    if (task == MARGIN_CLUSTER) return !classifies && !regresses;
    return task == MARGIN_CLASSIFY ? classifies : regresses;
}

margin_status mg_model_predicts(const margin_model *model, margin_error *error) {
    MG_REQUIRE(model->task != MARGIN_TRANSFORM, error, MARGIN_ERROR_ARGUMENT,
               "'%s' is stages alone: it transforms rows and predicts nothing", model->spec);
    return MARGIN_OK;
}

static bool functions_fit(const margin_model *model) {
    const int64_t functions = model->hypothesis->functions, classes = model->classes;
    switch (model->decision) {
    case MG_DECIDE_SIGN:
        return functions == 1 && classes == 2;
    case MG_DECIDE_ARGMAX:
        return functions == classes;
    case MG_DECIDE_VOTES:
        return classes < INT32_MAX && functions == classes * (classes - 1) / 2;
    case MG_DECIDE_VALUE:
        return classes == 0 &&
               functions == (model->task == MARGIN_TRANSFORM ? model->hypothesis->columns
                                                             : model->target.count);
    }
    return false;
}

/* Task, kind, classes, functions and the way to decide. `reduction`: how the problem was cut. */
static margin_status check_task(const margin_model *model, const mg_spec_component *learner,
                                mg_reduction *reduction, margin_error *error) {
    const int64_t targets = model->target.count;
    const unsigned abilities = learner->info->abilities;
    const mg_hypothesis_kind *kind = model->hypothesis->kind;
    mg_decision decision;
    REFUSE(mg_can_task(learner, model->task), "%s is not a learner for the task of the model",
           learner->info->name);
    REFUSE(kind == learner->learner->makes[0] || kind == learner->learner->makes[1],
           "%s makes no hypothesis of the kind %s", learner->info->name, kind->name);
    REFUSE(model->task != MARGIN_CLASSIFY || model->classes >= 2, "the model has %lld classes",
           (long long)model->classes);
    const bool several = model->task == MARGIN_REGRESS && (abilities & MARGIN_CAN_TARGETS);
    REFUSE(model->task >= MARGIN_CLUSTER ? targets == 0 : targets == 1 || (targets > 1 && several),
           "the model describes %lld target columns", (long long)targets);
    MG_TRY(mg_reduction_choose(learner, model, reduction, &decision, error));
    REFUSE(model->decision == decision && functions_fit(model),
           "%lld score functions do not fit %lld classes and the way the model decides",
           (long long)model->hypothesis->functions, (long long)model->classes);
    return MARGIN_OK;
}

static margin_status check_classes(const margin_model *model, margin_error *error) {
    const bool classifies = model->task == MARGIN_CLASSIFY;
    const bool named = classifies || model->decision == MG_DECIDE_SIGN;
    const double *values = model->class_values;
    REFUSE(named == (model->class_names != NULL) && (classifies || !values),
           "the classes of the model have no names, or there are names and no classes");
    for (int64_t c = 0; named && c < model->classes; c++) {
        REFUSE(model->class_names[c], "a class of the model has no name");
        REFUSE(!values || (isfinite(values[c]) && (c == 0 || values[c - 1] < values[c])),
               "the numeric labels of the model do not ascend");
        double value;
        const char *name = model->class_names[c];
        REFUSE(!values ||
                   (margin_number_parse_f64(name, strlen(name), &value) && value == values[c]),
               "a class of the model has another name than its label");
    }
    return MARGIN_OK;
}

/* Categories reach a learner only if it has a use for them. */
static margin_status check_categories(const margin_model *model, margin_error *error) {
    const mg_columns *columns = mg_model_feature_columns(model);
    if (model->learner->info.abilities & MARGIN_CAN_CATEGORIES) return MARGIN_OK;
    for (int64_t j = 0; j < columns->count; j++)
        REFUSE(columns->items[j].kind == MARGIN_NUMERIC,
               "column %s of the model holds categories, which %s does not take",
               columns->items[j].name, model->learner->info.name);
    return MARGIN_OK;
}

static margin_status check_hypothesis(const margin_model *model, const mg_spec_component *learner,
                                      margin_error *error) {
    const mg_hypothesis *h = model->hypothesis;
    mg_target_scale scale;
    MG_TRY(mg_model_target_scale(model, &scale, error));
    REFUSE(h->kind == &mg_hypothesis_linear || (scale.offset == 0 && scale.divisor == 1),
           "a stage of the model scales the target, and a %s hypothesis cannot be scaled",
           h->kind->name);
    MG_TRY(check_categories(model, error));
    const mg_problem problem = {.kind = mg_whole_kind(model->task),
                                .x = {.columns = h->columns},
                                .columns = mg_model_feature_columns(model)->items,
                                .classes = (int)model->classes};
    return learner->learner->fits
               ? learner->learner->fits(learner->info, &problem, learner->options, h, error)
               : MARGIN_OK;
}

static margin_status check_report(const margin_model *model, mg_reduction reduction,
                                  margin_error *error) {
    const margin_report *report = &model->report;
    REFUSE(report->task == (int32_t)model->task && report->classes == model->classes &&
               report->columns == model->inputs.count &&
               report->subproblems == mg_reduction_parts(reduction, model),
           "the report of the model tells of %lld columns, %lld classes and %lld sub-problems, the "
           "rest of it of %lld, %lld and %lld",
           (long long)report->columns, (long long)report->classes, (long long)report->subproblems,
           (long long)model->inputs.count, (long long)model->classes,
           (long long)mg_reduction_parts(reduction, model));
    const double rows = margin_report_item_value(report, MG_STAGE_ROWS);
    REFUSE(isnan(rows) || (model->stage_count > 0 && mg_learner_more_of(model->learner)->update &&
                           rows >= 1 && rows < (double)report->rows && rows == floor(rows)),
           "the report of the model says that its stages have seen %s of %lld rows, which cannot "
           "be",
           mg_number(rows).text, (long long)report->rows);
    return MARGIN_OK;
}

static margin_status check_all(const margin_model *model, const mg_spec_component *learner,
                               margin_error *error) {
    mg_reduction reduction;
    REFUSE(model->spec && model->learner && model->learner == learner->learner && model->hypothesis,
           "the model does not say what it was trained as");
    MG_TRY(mg_learner_check(learner->learner, learner->options, error));
    MG_TRY(check_stages(model, error));
    MG_TRY(check_task(model, learner, &reduction, error));
    MG_TRY(check_classes(model, error));
    MG_TRY(check_hypothesis(model, learner, error));
    return check_report(model, reduction, error);
}

margin_status mg_model_check(const margin_model *model, const mg_spec_component *learner,
                             margin_error *error) {
    margin_error found = {.text = ""};
    margin_status status = check_all(model, learner, &found);
    if (status == MARGIN_ERROR_SPEC || status == MARGIN_ERROR_DATA)
        return mg_fail(error, MARGIN_ERROR_MODEL, "%s", found.text);
    if (status < 0 && error) *error = found;
    return status;
}
