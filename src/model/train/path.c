/* margin_path: a set of penalties over one pipeline and one problem. */
#include "margin/path.h"

#include "model/problem/data_rows.h"
#include "model/train/train.h"

#include <math.h>
#include <string.h>

/* What the caller's result points to. */
typedef struct path_store {
    mg_arena arena;
    const margin_path_point *points;
    int64_t count;
} path_store;

void margin_path_free(margin_path_result *result) {
    if (!result || !result->inner) return;
    mg_arena_end(((path_store *)result->inner)->arena);
    mg_result_give(result, MG_RESULT(margin_path_result, inner), &(margin_path_result){0});
}

const margin_path_point *margin_path_point_at(const margin_path_result *result, int64_t number) {
    const path_store *store = result ? result->inner : NULL;
    return store && number >= 0 && number < store->count ? &store->points[number] : NULL;
}

/* ---- The penalties --------------------------------------------------------------------------- */

enum { MOST_POINTS = 10000 };

static margin_status check_spec(const margin_spec *spec, margin_error *error) {
    const mg_spec_component *learner = mg_spec_learner(spec);
    MG_REQUIRE(
        learner->learner->differ & MG_DIFFER_OPTIONS, error, MARGIN_ERROR_SPEC,
        "%s has no path of penalties; ridge and kernel-ridge have (margin cv compares settings "
        "of every learner)",
        learner->info->name);
    for (int k = 0; k < spec->set_count; k++) {
        const mg_spec_set *set = &spec->sets[k];
        const margin_option *option = &spec->components[set->component].info->options[set->option];
        const bool penalty = set->component == spec->component_count - 1 && option->group &&
                             strcmp(option->group, "penalty") == 0;
        MG_REQUIRE(penalty, error, MARGIN_ERROR_SPEC,
                   "a path runs over the penalty of %s alone; choose one value of %s",
                   learner->info->name, option->name);
    }
    MG_REQUIRE(spec->variants <= MOST_POINTS, error, MARGIN_ERROR_LIMIT,
               "%lld penalties are more than the limit of %d", (long long)spec->variants,
               (int)MOST_POINTS);
    return MARGIN_OK;
}

typedef struct variant_list {
    mg_heap *heap;
    int64_t count;
    margin_spec **specs;
    const mg_option_value **options; /* of the learner */
} variant_list;

static void free_variants(variant_list *list) {
    for (int64_t k = 0; list->specs && k < list->count; k++)
        margin_spec_free(list->specs[k]);
    MG_FREE(list->heap, list->specs, list->options);
}

static margin_status make_variants(const margin_spec *spec, variant_list *list,
                                   margin_error *error) {
    const int64_t count = spec->variants;
    MG_NEW_ZERO(list->heap, list->specs, count, "the penalties", error);
    list->count = count;
    MG_NEW(list->heap, list->options, count, "the penalties", error);
    for (int64_t k = 0; k < count; k++) {
        MG_TRY(mg_spec_variant(spec, k, &list->specs[k], error));
        list->options[k] = mg_spec_learner(list->specs[k])->options;
    }
    return MARGIN_OK;
}

static margin_status make_points(const variant_list *list, int64_t features, path_store *store,
                                 margin_path_point **points, margin_error *error) {
    mg_arena *arena = &store->arena;
    margin_path_point *made = mg_arena_new(arena, list->count, sizeof *made);
    double *weights = NULL;
    if (features <= INT64_MAX / 16 / list->count)
        weights = mg_arena_new(arena, list->count * features, sizeof *weights);
    if (!made || !weights)
        return mg_no_memory(arena->heap, features, (size_t)list->count * sizeof *weights,
                            "the weights of the path", error);
    for (int64_t k = 0; k < list->count; k++) {
        const char *text = list->specs[k]->text;
        const size_t length = strlen(text) + 1;
        char *copy;
        MG_ARENA_NEW(arena, copy, length, "the specs", error);
        made[k] = (margin_path_point){.spec = memcpy(copy, text, length),
                                      .weights = features ? weights + k * features : NULL};
    }
    *points = made;
    return MARGIN_OK;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* A fit as a point; the weights into the units of the columns before affine stages that the learner
 * took in. */
static void take_fit(const mg_fit *fit, margin_path_point *point) {
    const mg_problem *problem = fit->problem;
    const margin_report *report = &fit->report;
    const mg_hypothesis *h = fit->hypothesis;
    const double *w = h->view.linear.weights;
    double *weights = (double *)point->weights, sum = 0.0;
    const bool linear = h->kind == &mg_hypothesis_linear;
    for (int64_t j = 0; linear && j < problem->x.columns; j++) {
        if (problem->shift) sum += problem->shift[j] * w[j];
        weights[j] = (problem->scale ? problem->scale[j] * w[j] : w[j]) + 0.0; /* never -0 */
    }
    const double *b = linear ? h->view.linear.intercept : h->view.expansion.intercept;
    point->intercept = b[0] + sum + 0.0;
    point->C = margin_report_item_value(report, "C");
    point->alpha = margin_report_item_value(report, "alpha");
    point->lambda = margin_report_item_value(report, "lambda");
    point->objective = report->objective;
    point->gap = report->gap;
    point->freedom = margin_report_item_value(report, "freedom");
    point->train_rmse = report->train_rmse;
    point->leave_one_out_rmse = margin_report_item_value(report, "leave_one_out_rmse");
    point->gcv_rmse = margin_report_item_value(report, "gcv_rmse");
}

static margin_status fit_all(margin_context *context, const variant_list *list,
                             const mg_learner *learner, const mg_problem *problem, mg_fit *fits,
                             margin_error *error) {
    mg_shared shared = {.context = context,
                        .whole = problem,
                        .options = list->options[0],
                        .fits = list->count,
                        .differ = MG_DIFFER_OPTIONS,
                        .error = error};
    margin_status status = MARGIN_OK;
    MG_TRY(mg_share(learner, &shared));
    for (int64_t k = 0; k < list->count; k++) {
        fits[k] = (mg_fit){.context = context,
                           .learner = learner,
                           .problem = problem,
                           .options = list->options[k],
                           .shared = &shared,
                           .seed = context->options.seed,
                           .error = error};
        mg_report_init(&fits[k].report);
    }
    for (int64_t first = 0; first < list->count && status >= 0; first += shared.together)
        status = learner->fit_many(fits + first, MG_MIN(shared.together, list->count - first));
    mg_shared_free(&shared);
    return status;
}

static margin_status paths_solve(margin_context *context, const variant_list *list,
                                 const mg_trainer *trainer, margin_path_point *points,
                                 margin_error *error) {
    const mg_learner *learner = trainer->model->learner;
    mg_split split = {0};
    mg_part part = {0};
    mg_fit *fits = mg_new_zero(list->heap, list->count, sizeof *fits);
    margin_status status;
    if (!fits) return mg_no_memory(list->heap, list->count, sizeof *fits, "the path", error);
    MG_GO(mg_split_make(context, MG_REDUCE_NONE, trainer->data, &trainer->samples, &trainer->staged,
                        trainer->model, &split, error));
    MG_GO(mg_part_make(&split, 0, &part, error));
    MG_GO(fit_all(context, list, learner, &part.problem, fits, error));
    for (int64_t k = 0; k < list->count; k++)
        take_fit(&fits[k], &points[k]);
done:
    for (int64_t k = 0; k < list->count; k++)
        mg_hypothesis_free(fits[k].hypothesis);
    mg_free(list->heap, fits);
    mg_part_free(&part);
    mg_split_free(&split);
    return status;
}

/* Back into the units of the target, where a stage scaled it; objectives and gaps stay those of the
 * scaled one, as in a fit. */
static void unscale_target(const mg_target_scale *scale, int64_t features,
                           margin_path_point *point) {
    double *weights = (double *)point->weights;
    if (scale->offset == 0 && scale->divisor == 1) return;
    for (int64_t j = 0; j < features; j++)
        weights[j] *= scale->divisor;
    point->intercept = scale->divisor * point->intercept + scale->offset;
    point->train_rmse *= scale->divisor;
    point->leave_one_out_rmse *= scale->divisor;
    point->gcv_rmse *= scale->divisor;
}

static int64_t find_best(const margin_path_point *points, int64_t count) {
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (points[k].leave_one_out_rmse < points[best].leave_one_out_rmse) best = k;
    return best;
}

/* Everything of a fit up to the learner, once. */
static margin_status path_run(margin_context *context, const variant_list *list,
                              const margin_data *data, path_store *store,
                              margin_path_result *result, margin_error *error) {
    static const mg_train_how how = {.task = MARGIN_REGRESS};
    margin_path_point *points = NULL;
    margin_model *model = NULL;
    mg_trainer trainer = {0};
    margin_status status;
    MG_GO(mg_model_new(context->heap, &model, error));
    MG_GO(mg_trainer_open(context, list->specs[0], data, &how, model, &trainer, error));
    const bool linear = model->learner->makes[0] == &mg_hypothesis_linear;
    const int64_t weights = linear ? trainer.staged.x.columns : 0;
    MG_GO(make_points(list, weights, store, &points, error));
    MG_GO(paths_solve(context, list, &trainer, points, error));
    for (int64_t k = 0; k < list->count; k++)
        unscale_target(&trainer.staged.target, weights, &points[k]);
    result->rows = trainer.samples.count;
    result->features = trainer.staged.x.columns;
    result->count = list->count;
    store->points = points;
    store->count = list->count;
    result->best = find_best(points, list->count);
    result->inner = store;
done:
    mg_trainer_close(&trainer);
    margin_model_free(model);
    return status;
}

margin_status margin_path(margin_context *context, const margin_spec *spec, const margin_data *data,
                          margin_path_result *result, margin_error *error) {
    const double started = mg_clock();
    const mg_result_type type = MG_RESULT(margin_path_result, inner);
    margin_path_result made = {0};
    path_store *store;
    mg_taken taken = {0};
    margin_status status;
    MG_GIVEN(error, {context, "context"}, {spec, "spec"});
    MG_TRY(mg_result_check(result, type, error));
    MG_REQUIRE(!data || data->targets <= 1, error, MARGIN_ERROR_ARGUMENT,
               "a path judges penalties by one target, and the data has %lld: run it for each, as "
               "each may want a penalty of its own",
               (long long)data->targets);
    MG_TRY(check_spec(spec, error));
    MG_NEW_OWNER(context->heap, store, "the path", error);
    margin_context call = mg_context_call(context);
    variant_list list = {.heap = context->heap};
    MG_GO(mg_data_take(&call, data, false, &taken, error));
    MG_GO(make_variants(spec, &list, error));
    MG_GO(path_run(&call, &list, &taken.data, store, &made, error));
    made.seconds = mg_clock() - started;
    made.threads = mg_threads(context);
    mg_result_give(result, type, &made);
    store = NULL;
done:
    if (store) mg_arena_end(store->arena);
    free_variants(&list);
    mg_taken_free(&taken);
    return mg_call_status(&call, status, "before the path was whole: allow more", error);
}
