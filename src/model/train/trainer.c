/* From a data set to a model: stages fitted once, then a learner, or one after the other. */
#include "model/problem/target_labels.h"
#include "model/train/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Names the learners that can. */
static margin_status refuse_targets(const margin_component *info, int64_t targets,
                                    margin_error *error) {
    mg_name_list list = {0};
    MG_REQUIRE(!(info->abilities & MARGIN_CAN_CLUSTER), error, MARGIN_ERROR_ARGUMENT,
               "%s takes no target and the data has %lld; leave them out", info->name,
               (long long)targets);
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *other = margin_component_at(k);
        if (other->abilities & MARGIN_CAN_TARGETS) mg_name_list_add(&list, other->name, "");
    }
    return mg_fail(
        error, MARGIN_ERROR_ARGUMENT,
        "%s takes one target and the data has %lld; fit them one by one, or take one of %s",
        info->name, (long long)targets, list.text);
}

/* With a kernel only the descent on the coefficients of the rows has steps to show. */
static margin_status check_trace(const mg_spec_component *learner, margin_error *error) {
    const margin_component *info = learner->info;
    const bool kernel = !learner->learner->takes_affine && mg_option_index(info, "kernel") >= 0 &&
                        mg_option_index(info, "solver") >= 0;
    MG_REQUIRE(!kernel || mg_option_is(info, learner->options, "solver", "gd"), error,
               MARGIN_ERROR_ARGUMENT,
               "%s cannot trace its steps; with a kernel only solver=gd has some to show",
               info->name);
    MG_REQUIRE(info->abilities & MARGIN_CAN_TRACE, error, MARGIN_ERROR_ARGUMENT,
               "%s cannot trace its steps", info->name);
    return MARGIN_OK;
}

static margin_status check_learner(const mg_spec_component *learner, const margin_data *data,
                                   const mg_samples *samples, const mg_trace *trace,
                                   margin_error *error) {
    const margin_component *info = learner->info;
    if (data->targets > 1 && !(info->abilities & MARGIN_CAN_TARGETS))
        return refuse_targets(info, data->targets, error);
    MG_REQUIRE(!samples->weights || (info->abilities & MARGIN_CAN_WEIGHTS), error,
               MARGIN_ERROR_ARGUMENT, "%s takes no sample weights", info->name);
    if (trace) MG_TRY(check_trace(learner, error));
    return mg_learner_check(learner->learner, learner->options, error);
}

static margin_status check_task(const mg_spec_component *learner, margin_task task,
                                const margin_data *data, margin_error *error) {
    MG_REQUIRE(task != MARGIN_CLASSIFY || data->targets <= 1, error, MARGIN_ERROR_ARGUMENT,
               "%s tells the classes of one target and the data has %lld; fit them one by one, or "
               "leave out task=classify",
               learner->info->name, (long long)data->targets);
    if (task == MARGIN_CLASSIFY || task == MARGIN_REGRESS)
        MG_TRY(mg_target_require(data, learner->info->name, error));
    MG_REQUIRE(task == MARGIN_CLASSIFY || !data->classes.values, error, MARGIN_ERROR_ARGUMENT,
               "classes are declared, and %s tells none", learner->info->name);
    return MARGIN_OK;
}

/* ---- Names and target ------------------------------------------------------------------------ */

static margin_status name_spec(const margin_spec *spec, margin_model *model, margin_error *error) {
    mg_free(model->heap, model->spec);
    model->learner = mg_spec_learner(spec)->learner;
    return mg_take_text(model->heap, spec->text, -1, "the spec", &model->spec, error);
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
    return mg_fail(error, MG_DATA(OVERFLOW),
                   "the weights left the range of numbers; bring the columns to one scale first: "
                   "standardize | ...");
}

/* Objective and gap are those of the scaled target. */
static void describe_target(const mg_target_scale *scale, margin_report *report) {
    char text[sizeof report->formula];
    mg_scaled_formula(scale, report->formula, text, sizeof text);
    mg_report_formula(report, text);
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

/* ---- Starts ---------------------------------------------------------------------------------- */

static void forget_starts(mg_trainer *trainer) {
    for (int64_t k = 0; k < trainer->starts.count; k++)
        mg_hypothesis_free(trainer->starts.parts[k]);
    if (trainer->starts.parts) mg_free(trainer->model->heap, trainer->starts.parts);
    trainer->starts.parts = NULL;
    trainer->starts.count = 0;
}

static bool same_classes(const margin_model *a, const margin_model *b) {
    for (int64_t c = 0; c < a->classes && a->classes == b->classes; c++)
        if (strcmp(a->class_names[c], b->class_names[c]) != 0) return false;
    return a->classes == b->classes;
}

/* A start of the caller's. */
static margin_status check_start(const mg_trainer *trainer, mg_reduction reduction,
                                 margin_error *error) {
    const margin_model *model = trainer->model, *start = trainer->how->start;
    const int64_t columns = trainer->staged.x.columns;
    MG_REQUIRE(start->hypothesis->kind == &mg_hypothesis_linear, error, MARGIN_ERROR_ARGUMENT,
               "the model to start from, '%s', is not linear", start->spec);
    MG_REQUIRE(start->hypothesis->columns == columns, error, MARGIN_ERROR_ARGUMENT,
               "the model to start from has %lld features, and this fit %lld",
               (long long)start->hypothesis->columns, (long long)columns);
    MG_REQUIRE(start->task == model->task && start->target.count == model->target.count &&
                   same_classes(start, model),
               error, MARGIN_ERROR_ARGUMENT,
               "the model to start from has other classes or targets than this data");
    const bool pairs = start->decision == MG_DECIDE_VOTES;
    MG_REQUIRE(pairs == (model->decision == MG_DECIDE_VOTES) &&
                   (reduction == MG_REDUCE_NONE ||
                    start->hypothesis->functions == mg_reduction_parts(reduction, model)),
               error, MARGIN_ERROR_ARGUMENT,
               "the model to start from, '%s', tells several classes apart in another way than "
               "this fit",
               start->spec);
    return MARGIN_OK;
}

/* The parts of the last fit, if it was linear and told the classes apart in the same way. */
static margin_status keep_starts(mg_trainer *trainer, mg_reduction reduction, margin_error *error) {
    const margin_model *model = trainer->model;
    const bool walks = mg_learner_more_of(model->learner)->walks;
    mg_heap *heap = model->heap;
    forget_starts(trainer);
    if (trainer->how->start) MG_TRY(check_start(trainer, reduction, error));
    if (trainer->how->start)
        model = trainer->how->start;
    else if (!trainer->how->warm || walks || !model->hypothesis ||
             trainer->reduction != reduction || model->hypothesis->kind != &mg_hypothesis_linear)
        return MARGIN_OK;
    const int64_t count = mg_reduction_parts(reduction, model);
    MG_NEW_ZERO(heap, trainer->starts.parts, count, "a start", error);
    trainer->starts.count = count;
    for (int64_t k = 0; k < count; k++)
        MG_TRY(mg_model_learned(heap, model, reduction == MG_REDUCE_NONE ? -1 : k,
                                &trainer->starts.parts[k], error));
    return MARGIN_OK;
}

/* Indicators of categories, say: a pass over the rows costs what is stored. */
static margin_status take_sparse(mg_trainer *t, margin_context *context, margin_error *error) {
    enum { FEWEST = 1 << 18 }; /* numbers, for which it is worth a look */
    static const double most = 0.1;
    mg_matrix_buffer made = {0};
    mg_staged *staged = &t->staged;
    if (staged->maker.stage || staged->x.rows < FEWEST / MG_MAX(staged->x.columns, 1))
        return MARGIN_OK;
    MG_TRY(mg_matrix_sparse_copy(context, &staged->x, most, &made, error));
    if (!made.heap) return MARGIN_OK;
    mg_matrix_buffer_free(&staged->buffer);
    staged->buffer = made;
    staged->x = made.view;
    return MARGIN_OK;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static bool is_better_dense(const mg_trainer *t, const mg_learner *learner) {
    const margin_matrix *x = &t->staged.x;
    return learner->prefers_dense && mg_is_csr(x) && 3.0 * mg_row_length(x) >= (double)x->columns;
}

margin_status mg_trainer_open(margin_context *context, const margin_spec *spec,
                              const margin_data *data, const mg_train_how *how, margin_model *model,
                              mg_trainer *trainer, margin_error *error) {
    const mg_spec_component *learner = mg_spec_learner(spec);
    mg_trainer *t = trainer;
    margin_status status;
    *t = (mg_trainer){.data = data, .how = how, .model = model};
    MG_GO(name_spec(spec, model, error));
    MG_GO(mg_samples_make(context->heap, data, &t->samples, error));
    MG_GO(check_learner(learner, data, &t->samples, how->trace, error));
    margin_task task = how->task;
    if (!task) MG_GO(mg_task_of(learner, data, &t->samples, &task, error));
    MG_GO(check_task(learner, task, data, error));
    MG_GO(learn_target(context, task, data, &t->samples, model, error));
    MG_GO(mg_pipeline_fit(context, spec, data, &t->samples, model, &t->staged, error));
    if (!(learner->info->abilities & MARGIN_CAN_SPARSE) || is_better_dense(t, learner->learner))
        MG_GO(mg_staged_densify(context, &t->staged, learner->info->name, error));
    if (learner->learner->prefers_sparse) MG_GO(take_sparse(t, context, error));
    return MARGIN_OK;
done:
    mg_trainer_close(t);
    return status;
}

/* As it was before a learner saw it. */
static void forget_fit(margin_model *model) {
    mg_hypothesis_free(model->hypothesis);
    model->hypothesis = NULL;
    mg_free(model->heap, model->inner);
    model->inner = NULL;
    model->active = model->stage_count;
    memset(&model->report, 0, sizeof model->report);
}

/* Clusters have numbers, the two sides of one class have names. */
static margin_status count_clusters(margin_model *model, margin_error *error) {
    static const char *const sides[] = {"outlier", "inlier"};
    if (model->decision != MG_DECIDE_SIGN) {
        model->classes = model->hypothesis->functions;
        return MARGIN_OK;
    }
    if (model->class_names) return MARGIN_OK;
    MG_TRY(mg_model_set_classes(model, 2, false, error));
    for (int c = 0; c < 2; c++)
        MG_TRY(mg_model_name_class(model, c, sides[c], -1, error));
    return MARGIN_OK;
}

/* The learner of a spec, with the centres that the caller gave in place of the spec's. `options`
 * are owned, or NULL. */
static margin_status choose_learner(const mg_trainer *t, const margin_spec *spec,
                                    mg_spec_component *learner, mg_option_value **options,
                                    margin_error *error) {
    *learner = *mg_spec_learner(spec);
    if (!t->how->centres) return MARGIN_OK;
    const int at = mg_option_index(learner->info, "centres");
    MG_REQUIRE(at >= 0, error, MARGIN_ERROR_ARGUMENT, "%s has no centres to begin with",
               learner->info->name);
    MG_REQUIRE(!learner->options[at].given, error, MARGIN_ERROR_SPEC,
               "%s: the spec has centres and so have the options of the fit; leave one of them out",
               learner->info->name);
    const int64_t k = mg_option_named(learner->info, learner->options, "k")->integer;
    const int64_t count = t->how->centre_count, columns = t->staged.x.columns;
    MG_REQUIRE(count == k * columns, error, MARGIN_ERROR_SPEC,
               "%s: centres has %lld numbers, and %lld clusters of %lld columns need %lld",
               learner->info->name, (long long)count, (long long)k, (long long)columns,
               (long long)(k * columns));
    MG_TRY(mg_options_copy(t->model->heap, learner->options, learner->info->option_count, options,
                           error));
    (*options)[at] =
        (mg_option_value){.given = true, .numbers = t->how->centres, .count = t->how->centre_count};
    learner->options = *options;
    return MARGIN_OK;
}

/* Where training may say what the model answers for its samples: where the learner saw them as a
 * prediction does. Stages hand on single precision where the data were, a prediction has double. */
static int64_t **place_for_labels(mg_trainer *t) {
    const bool as_seen = t->model->stage_count == 0 || t->data->x.value_type == MARGIN_F64;
    mg_free(t->samples.heap, t->labels);
    t->labels = NULL;
    return t->how->judged && as_seen && t->model->task == MARGIN_CLASSIFY ? &t->labels : NULL;
}

margin_status mg_trainer_fit(mg_trainer *t, margin_context *context, const margin_spec *spec,
                             margin_error *error) {
    mg_spec_component changed;
    const mg_spec_component *learner = &changed;
    mg_option_value *options = NULL;
    margin_model *model = t->model;
    mg_split split = {0};
    mg_reduction reduction;
    margin_status status;
    MG_GO(name_spec(spec, model, error));
    MG_GO(choose_learner(t, spec, &changed, &options, error));
    MG_GO(check_learner(learner, t->data, &t->samples, t->how->trace, error));
    MG_GO(mg_reduction_choose(learner, model, &reduction, &model->decision, error));
    MG_GO(keep_starts(t, reduction, error));
    t->reduction = reduction;
    forget_fit(model);
    MG_GO(
        mg_split_make(context, reduction, t->data, &t->samples, &t->staged, model, &split, error));
    MG_GO(mg_split_weigh(learner, model, &split, error));
    split.labels = place_for_labels(t);
    mg_free(model->heap, t->parts);
    t->parts = NULL;
    if (t->how->parts) MG_GO_NEW(model->heap, t->parts, split.parts, "the reports", error);
    t->starts.follows = t->how->warm;
    t->starts.kept.following = t->how->following;
    status = mg_split_train(context, &split, learner, model, t->how->trace,
                            t->how->warm || t->how->start ? &t->starts : NULL, &model->hypothesis,
                            &model->report, t->parts, error);
    MG_GO(refuse_overflow(status, error));
    describe_target(&t->staged.target, &model->report);
    if (model->task == MARGIN_CLUSTER) MG_GO(count_clusters(model, error));
    MG_GO(mg_model_fold(model, error));
    MG_GO(refuse_overflow(mg_hypothesis_attach(model->hypothesis, error), error));
    describe_fit(t->data, &t->samples, model);
    MG_GO(mg_model_check(model, learner, error));
    MG_GO(mg_model_make_inner(model, error));
done:
    mg_split_free(&split);
    mg_free(model->heap, options);
    if (status < 0) forget_fit(model);
    return status;
}

void mg_trainer_close(mg_trainer *t) {
    forget_starts(t);
    if (t->parts) mg_free(t->model->heap, t->parts);
    if (t->labels) mg_free(t->samples.heap, t->labels);
    if (t->starts.kept.data) t->starts.kept.release(t->model->heap, t->starts.kept.data);
    mg_staged_free(&t->staged);
    mg_samples_free(&t->samples);
}
