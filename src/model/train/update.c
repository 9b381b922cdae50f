/* margin_update: more rows for a model that can take them.
 *
 * The new model is a copy of the old one, through its own file format. Classes and categories that
 * are new join its lists, and the learner is told where the old ones went. */
#include "data/table/names.h"
#include "model/predict/align.h"
#include "model/predict/predict.h"
#include "model/problem/data_rows.h"
#include "model/problem/multiclass.h"
#include "model/train/train.h"

#include <math.h>
#include <string.h>

typedef struct update {
    margin_context *context;
    const margin_model *old;
    margin_model *made;
    margin_data data;    /* the caller's, in columns and codes of the new model */
    mg_aligned aligned;  /* owns what was rewritten of it */
    int32_t *class_of;   /* old class to new */
    int32_t **code_of;   /* input column, old code to new; NULL: unchanged. Stages keep their old
                            lists, so behind them no code changes */
    int32_t **from_data; /* input column, the data's code to new, -1: unknown; NULL: unchanged */
    margin_error *error;
} update;

/* ---- Lists that are joined ------------------------------------------------------------------- */

static bool ascends(const char *const *names, int64_t count) {
    for (int64_t k = 1; k < count; k++)
        if (strcmp(names[k - 1], names[k]) >= 0) return false;
    return true;
}

/* An ascending list stays one: the union is what sorting all names gives. Else the new names come
 * behind the old ones. `out` has room for both lists. */
static margin_status unite(const update *u, const margin_column *a, const margin_column *b,
                           const char **out, int64_t *count) {
    const bool sorted = ascends(a->categories, a->category_count);
    MG_SCOPED(mg_name_index, added);
    MG_SCOPED(mg_name_index, known);
    int64_t at = 0, i = 0;
    MG_TRY(
        mg_name_index_make(u->context->heap, a->categories, a->category_count, &known, u->error));
    MG_TRY(
        mg_name_index_make(u->context->heap, b->categories, b->category_count, &added, u->error));
    for (int64_t k = 0; k < added.count; k++) {
        const char *name = added.sorted[k].name;
        bool several;
        if (mg_name_find(&known, name, (int64_t)strlen(name), &several) >= 0) continue;
        while (i < a->category_count && (!sorted || strcmp(a->categories[i], name) < 0))
            out[at++] = a->categories[i++];
        out[at++] = name;
    }
    while (i < a->category_count)
        out[at++] = a->categories[i++];
    *count = at;
    return MARGIN_OK;
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* Category lists of the new model, and where codes go. Stages know only the old lists. */
static margin_status join_columns(update *u) {
    const mg_columns *old = &u->old->inputs;
    mg_heap *heap = u->context->heap;
    margin_column *items;
    const char **names;
    mg_columns joined = {0};
    int64_t room = 0, used = 0;
    if (!u->data.columns) return MARGIN_OK;
    for (int64_t j = 0; j < old->count; j++)
        room += old->items[j].category_count + u->data.columns[j].category_count;
    MG_NEW_ZERO(heap, u->code_of, 2 * old->count, "the categories", u->error);
    u->from_data = u->code_of + old->count;
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, items, old->count, "the columns of a model", u->error);
    MG_ARENA_NEW(&arena, names, room, "the categories of the columns", u->error);
    for (int64_t j = 0; j < old->count; j++) {
        const margin_column *a = &old->items[j], *b = &u->data.columns[j];
        items[j] = *a;
        if (a->kind != MARGIN_CATEGORICAL) continue;
        if (u->old->stage_count == 0) {
            items[j].categories = names + used;
            MG_TRY(unite(u, a, b, names + used, &items[j].category_count));
            used += items[j].category_count;
            MG_TRY(mg_map_categories(heap, a, &items[j], &u->code_of[j], u->error));
        }
        MG_TRY(mg_map_categories(heap, b, &items[j], &u->from_data[j], u->error));
    }
    MG_TRY(mg_columns_copy(heap, items, old->count, &joined, u->error));
    mg_columns_free(&u->made->inputs);
    u->made->inputs = joined;
    return MARGIN_OK;
}

/* The data with the codes of the new model. A category that stages do not know is theirs to treat,
 * and a missing value if it would reach the learner. */
static margin_status recode(update *u) {
    const mg_recoding recoding = {u->from_data, u->data.columns, u->old->inputs.items,
                                  mg_learner_sees_categories(u->old), NULL};
    if (!u->from_data) return MARGIN_OK;
    MG_TRY(mg_align_recode(u->context, &u->aligned, &recoding, u->error));
    u->data.x = u->aligned.data.x;
    return MARGIN_OK;
}

/* ---- Classes --------------------------------------------------------------------------------- */

/* -1: a is the earlier class; 0: they are the same. */
static int compare_classes(const margin_model *a, int64_t i, const margin_model *b, int64_t j) {
    if (i >= a->classes) return 1;
    if (j >= b->classes) return -1;
    if (!a->class_values) return strcmp(a->class_names[i], b->class_names[j]);
    return (a->class_values[i] > b->class_values[j]) - (a->class_values[i] < b->class_values[j]);
}

/* Classes of the model and of `found`, ascending. */
static margin_status unite_classes(update *u, const margin_model *found) {
    const margin_model *old = u->old;
    margin_model *made = u->made;
    int64_t total = 0;
    for (int64_t i = 0, j = 0; i < old->classes || j < found->classes; total++) {
        const int order = compare_classes(old, i, found, j);
        i += order <= 0;
        j += order >= 0;
    }
    MG_REQUIRE(total <= MG_MAX_CLASSES, u->error, MG_DATA(TARGET),
               "with this data there are %lld classes, more than the limit of %d", (long long)total,
               (int)MG_MAX_CLASSES);
    mg_model_clear_classes(made);
    MG_TRY(mg_model_set_classes(made, total, old->class_values != NULL, u->error));
    for (int64_t i = 0, j = 0, c = 0; c < total; c++) {
        const int order = compare_classes(old, i, found, j);
        const margin_model *from = order <= 0 ? old : found;
        const int64_t at = order <= 0 ? i : j;
        MG_TRY(mg_model_name_class(made, c, from->class_names[at], -1, u->error));
        if (made->class_values) made->class_values[c] = from->class_values[at];
        if (order <= 0) u->class_of[i] = (int32_t)c;
        i += order <= 0;
        j += order >= 0;
    }
    return MARGIN_OK;
}

/* The categories of the target: a reader is told by them what to look for. */
static margin_status join_target(update *u) {
    const margin_column *a = u->old->target.items, *b = u->data.target;
    const char **names;
    mg_columns joined = {0};
    MG_SCOPED_ARENA(arena, u->context->heap);
    if (a->kind != MARGIN_CATEGORICAL || !b || b->kind != MARGIN_CATEGORICAL) return MARGIN_OK;
    MG_ARENA_NEW(&arena, names, a->category_count + b->category_count, "the classes", u->error);
    margin_column column = *a;
    column.categories = names;
    MG_TRY(unite(u, a, b, names, &column.category_count));
    MG_TRY(mg_columns_copy(u->made->heap, &column, 1, &joined, u->error));
    mg_columns_free(&u->made->target);
    u->made->target = joined;
    return MARGIN_OK;
}

static margin_status join_classes(update *u, const mg_samples *samples) {
    MG_OWNED(margin_model, found);
    MG_NEW(u->context->heap, u->class_of, u->old->classes, "the classes", u->error);
    for (int64_t k = 0; k < u->old->classes; k++)
        u->class_of[k] = (int32_t)k;
    MG_TRY(mg_model_new(u->context->heap, &found, u->error));
    MG_TRY(mg_target_classes(u->context, &u->data, samples, found, u->error));
    /* numbers for names, or names for numbers: they must be classes that are known */
    if ((found->class_values != NULL) == (u->old->class_values != NULL))
        MG_TRY(unite_classes(u, found));
    return MARGIN_OK;
}

/* ---- The update ------------------------------------------------------------------------------ */

/* The report of all rows; what only a look at them could tell is not known. */
static void update_describe(update *u, const mg_fit *fit, int64_t rows) {
    const margin_report *old = &u->old->report;
    margin_report *report = &u->made->report;
    *report = fit->report;
    report->task = old->task;
    report->rows = old->rows + rows;
    report->columns = old->columns;
    report->classes = u->made->classes;
    report->threads = 0;
    report->seconds = 0;
    if (u->made->stage_count > 0)
        mg_report_set(report, MG_STAGE_ROWS,
                      mg_model_is_updated(u->old) ? margin_report_item_value(old, MG_STAGE_ROWS)
                                                  : (double)old->rows);
    const double missing = margin_report_item_value(old, "missing_values");
    if (!isnan(missing))
        mg_report_set(report, "missing_values",
                      missing + margin_report_item_value(report, "missing_values"));
}

static margin_status learn(update *u, const margin_spec *spec, const mg_samples *samples) {
    MG_SCOPED(mg_staged, staged);
    MG_SCOPED(mg_split, split);
    const bool staged_columns = u->old->stage_count > 0; /* the learner's are others */
    const mg_update_map map = {u->class_of,
                               staged_columns ? NULL : (const int32_t *const *)u->code_of};
    MG_TRY(mg_pipeline_apply(u->context, u->made, &u->data, samples, &staged, u->error));
    MG_TRY(mg_split_make(u->context, MG_REDUCE_NONE, &u->data, samples, &staged, u->made, &split,
                         u->error));
    mg_fit fit = {.context = u->context,
                  .learner = u->old->learner,
                  .problem = &split.whole,
                  .options = mg_spec_learner(spec)->options,
                  .seed = u->context->options.seed,
                  .error = u->error};
    mg_report_init(&fit.report);
    MG_TRY(mg_learner_more_of(u->old->learner)->update(&fit, u->old->hypothesis, &map));
    mg_hypothesis_free(u->made->hypothesis);
    u->made->hypothesis = fit.hypothesis;
    update_describe(u, &fit, samples->count);
    MG_TRY(mg_model_check(u->made, mg_spec_learner(spec), u->error));
    return mg_model_make_inner(u->made, u->error);
}

static void free_update(update *u) {
    mg_heap *heap = u->context->heap;
    for (int64_t j = 0; u->code_of && j < 2 * u->old->inputs.count; j++)
        mg_free(heap, u->code_of[j]);
    MG_FREE(heap, (void *)u->code_of, u->class_of);
    mg_aligned_free(&u->aligned);
    margin_model_free(u->made);
}

margin_status margin_update(margin_context *context, const margin_model *model,
                            const margin_data *data, margin_model **updated, margin_report *report,
                            margin_error *error) {
    const double started = mg_clock();
    margin_spec *spec = NULL;
    mg_samples samples = {0};
    mg_taken taken = {0};
    margin_status status;
    MG_GIVEN(error, {context, "context"}, {model, "model"}, {data, "data set"},
             {updated, "place for the model"});
    if (report) MG_TRY(mg_result_check(report, MG_REPORT, error));
    MG_REQUIRE(mg_learner_more_of(model->learner)->update, error, MARGIN_ERROR_ARGUMENT,
               "%s cannot take more rows later; train it on all of them",
               model->learner->info.name);
    MG_REQUIRE(!model->additions, error, MARGIN_ERROR_ARGUMENT,
               "the model has calibrated probabilities, a threshold, costs or a coverage, which "
               "come from its training rows alone; train it on all of them");
    margin_context call = mg_context_call(context);
    update u = {.context = &call, .old = model, .error = error};
    MG_GO(mg_data_take(&call, data, false, &taken, error));
    MG_GO(mg_align_columns(&call, model, &taken.data, &u.aligned, error));
    u.data = u.aligned.data;
    MG_GO(margin_spec_parse(context, model->spec, &spec, error));
    MG_GO(mg_samples_make(context->heap, data, &samples, error));
    MG_GO(mg_model_copy(&call, model, &u.made, error));
    MG_GO(join_columns(&u));
    MG_GO(recode(&u));
    MG_GO(join_classes(&u, &samples));
    MG_GO(join_target(&u));
    MG_GO(learn(&u, spec, &samples));
    mg_report_give(&u.made->report, context, started, report);
    *updated = u.made;
    u.made = NULL;
    status = MARGIN_OK;
done:
    free_update(&u);
    mg_taken_free(&taken);
    mg_samples_free(&samples);
    margin_spec_free(spec);
    return mg_call_status(&call, status, "before the model was up to date: allow more", error);
}
