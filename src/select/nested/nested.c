/* Nested cross-validation: settings are chosen on the training rows of each outer split, as if its
 * test rows did not exist, and the choice is judged on those. */
#include "model/problem/data_rows.h"
#include "model/spec/spec_parser.h"
#include "select/search/tune.h"

#include <string.h>

typedef struct nested_run {
    mg_tune outer; /* its problem, splits and baseline; one cell at a time */
    margin_context *context;
    const margin_split_options *inner;
    margin_search_options options; /* of the inner searches */
    bool one_se;
    mg_taken taken; /* the data, in rows */
    mg_slot *slots; /* of each outer split */
    double *inside; /* mean of the choice in the inner search */
    char **specs;   /* owned */
} nested_run;

/* ---- One outer split ------------------------------------------------------------------------- */

/* The chosen spec; NULL: there is no best. */
static margin_status choose(nested_run *run, const margin_data *train, int64_t split,
                            margin_error *error) {
    const mg_tune *s = &run->outer;
    margin_splits *splits = NULL;
    margin_search_result *found = NULL;
    margin_status status = margin_split(run->context, train, run->inner, &splits, error);
    if (status >= 0)
        status = mg_tune_search(run->context, s->whole->task, s->specs, s->spec_count, train,
                                splits, &run->options, &found, error);
    const int64_t best = status < 0 ? -1 : run->one_se ? found->best_one_se : found->best;
    if (best >= 0) {
        const margin_search_cell *cell = margin_search_cell_at(found, best);
        run->inside[split] = cell->mean;
        status = mg_take_text(s->heap, cell->spec, -1, "a spec", &run->specs[split], error);
    }
    margin_search_result_free(found);
    margin_splits_free(splits);
    return status;
}

/* Into the slot of the split, as a search of this one setting would. */
static margin_status judge(nested_run *run, int64_t split, margin_error *error) {
    mg_cell cell = {.slots = run->slots, .active = true};
    mg_cell *cells = &cell;
    const mg_chain chain = {&cells, 1};
    const mg_tune_task task = {.search = &run->outer,
                               .chain = &chain,
                               .split = split,
                               .worker = -1,
                               .shares = run->outer.context->shares};
    MG_TRY(mg_spec_parse(run->outer.heap, run->specs[split], &cell.spec, error));
    const margin_status status = mg_tune_chain(&task, error);
    margin_spec_free(cell.spec);
    return status;
}

static margin_status no_choice(nested_run *run, int64_t split, margin_error *error) {
    static const char text[] =
        "every setting failed, stopped early or had an infinite loss in the inner search";
    mg_slot *slot = &run->slots[split];
    slot->status = MARGIN_ERROR_LIMIT;
    return mg_take_text(run->outer.heap, text, -1, "a reason", &slot->reason, error);
}

static margin_status nested_split(nested_run *run, int64_t split, margin_error *error) {
    const mg_tune *s = &run->outer;
    margin_data train = *s->data;
    mg_row_list list;
    MG_SCOPED_ARENA(arena, s->heap);
    MG_TRY(mg_tune_rows(s, &arena, split, MARGIN_PART_TRAIN, &list, error));
    train.selection = list.rows;
    train.selected = list.count;
    MG_TRY(choose(run, &train, split, error));
    const margin_status status =
        run->specs[split] ? judge(run, split, error) : no_choice(run, split, error);
    mg_progress(run->context, "outer folds", (double)split + 1, (double)s->split_count,
                (double)NAN);
    return status;
}

/* ---- Result ---------------------------------------------------------------------------------- */

typedef struct owned_nested {
    margin_nested_result result; /* first: the caller's pointer is that to the whole */
    margin_nested_fold *folds;
    mg_arena arena;
} owned_nested;

void margin_nested_result_free(margin_nested_result *result) {
    if (result) mg_arena_end(((owned_nested *)result)->arena);
}

const margin_nested_fold *margin_nested_fold_at(const margin_nested_result *result,
                                                int64_t number) {
    if (!result || number < 0 || number >= result->splits) return NULL;
    return &((const owned_nested *)result)->folds[number];
}

static bool keep_folds(const nested_run *run, owned_nested *own) {
    margin_nested_result *r = &own->result;
    const int64_t n = run->outer.split_count;
    margin_nested_fold *folds = mg_arena_new(&own->arena, n, sizeof *folds);
    double *numbers = mg_arena_new(&own->arena, 2 * n, sizeof *numbers);
    if (!folds || !numbers) return false;
    for (int64_t k = 0; k < n; k++) {
        const mg_slot *slot = &run->slots[k];
        folds[k] = (margin_nested_fold){.spec = mg_keep_text(&own->arena, run->specs[k]),
                                        .reason = mg_keep_text(&own->arena, slot->reason),
                                        .status = slot->status,
                                        .value = slot->value,
                                        .inside = run->inside[k]};
        if (!folds[k].spec || !folds[k].reason) return false;
        numbers[k] = slot->value;
        numbers[n + k] = run->outer.baseline ? run->outer.baseline[k] : (double)NAN;
        r->failed += slot->status < 0;
        r->stopped += slot->status > 0;
    }
    own->folds = folds;
    r->values = numbers;
    r->baseline = run->outer.baseline ? numbers + n : NULL;
    return true;
}

static void measure(const nested_run *run, margin_nested_result *r) {
    const mg_tune *s = &run->outer;
    const mg_cell all = {.slots = run->slots};
    const margin_search_result table = {.splits = s->split_count,
                                        .test_share = mg_tune_test_share(s)};
    r->mean = mg_cell_mean(&all, s->split_count, &r->deviation);
    r->low = r->high = r->gain = r->gain_low = r->gain_high = (double)NAN;
    margin_search_difference d = {.size = sizeof d};
    if (margin_search_interval(&table, r->values, NULL, 0.95, &d)) {
        r->low = d.low;
        r->high = d.high;
    }
    if (r->baseline && margin_search_interval(&table, r->values, r->baseline, 0.95, &d)) {
        r->gain = d.mean;
        r->gain_low = d.low;
        r->gain_high = d.high;
    }
}

static margin_status make_result(const nested_run *run, margin_nested_result **result,
                                 margin_error *error) {
    const mg_tune *s = &run->outer;
    owned_nested *own;
    MG_NEW_OWNER(s->heap, own, "the result", error);
    own->result = (margin_nested_result){.splits = s->split_count,
                                         .rows = s->samples.count,
                                         .task = (int32_t)s->whole->task,
                                         .greater = s->metric->greater,
                                         .metric = s->metric->name,
                                         .threads = mg_threads(s->context)};
    if (!keep_folds(run, own)) {
        margin_nested_result_free(&own->result);
        return mg_no_memory(s->heap, s->split_count, sizeof(margin_nested_fold), "the result",
                            error);
    }
    measure(run, &own->result);
    own->result.seconds = mg_clock() - s->started;
    *result = &own->result;
    return MARGIN_OK;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status run_all(nested_run *run, margin_nested_result **result, margin_error *error) {
    mg_tune *s = &run->outer;
    MG_TRY(mg_data_take(run->context, s->data, true, &run->taken, error));
    s->data = &run->taken.data;
    MG_TRY(mg_tune_problem(s, error));
    run->options.metric = s->metric->name; /* the inner test parts may be of other sizes */
    MG_TRY(mg_tune_baseline(s, error));
    MG_NEW_ZERO(s->heap, run->slots, s->split_count, "the folds", error);
    MG_NEW_ZERO(s->heap, run->specs, s->split_count, "the folds", error);
    MG_NEW(s->heap, run->inside, s->split_count, "the folds", error);
    for (int64_t k = 0; k < s->split_count; k++) {
        mg_slot_clear(s->heap, &run->slots[k]);
        run->inside[k] = (double)NAN;
    }
    for (int64_t k = 0; k < s->split_count; k++) {
        if (mg_cancelled(run->context)) return mg_fail_cancelled(error);
        MG_TRY(nested_split(run, k, error));
    }
    return make_result(run, result, error);
}

margin_status margin_search_nested(margin_context *context, const margin_spec *const *specs,
                                   int64_t count, const margin_data *data,
                                   const margin_splits *outer, const margin_split_options *inner,
                                   const margin_search_options *options, int32_t one_se,
                                   margin_nested_result **result, margin_error *error) {
    nested_run run = {.inner = inner, .one_se = one_se != 0};
    MG_GIVEN(error, {context, "context"}, {data, "data set"}, {outer, "outer split"},
             {inner, "description of the inner splits"}, {result, "place for the result"});
    MG_TRY(mg_tune_check_specs(specs, count, error));
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_search_options, user),
                           "margin_search_options", &run.options, sizeof run.options, error));
    MG_REQUIRE(!run.options.journal, error, MARGIN_ERROR_ARGUMENT,
               "a nested search is many searches and has no journal");
    margin_context call = mg_context_call(context);
    call.end = (double)INFINITY; /* each fit has an end of its own */
    run.context = &call;
    run.outer = (mg_tune){.context = &call,
                          .heap = context->heap,
                          .options = run.options,
                          .specs = specs,
                          .spec_count = count,
                          .data = data,
                          .splits = outer,
                          .split_count = margin_splits_count(outer),
                          .folds = margin_splits_folds(outer),
                          .started = mg_clock(),
                          .share = 1};
    run.options.baseline = run.options.predictions = run.options.training = 0;
    run.options.finished = NULL;
    run.options.size = sizeof run.options;
    run.outer.options.training = run.outer.options.predictions = 0;
    const margin_status status = run_all(&run, result, error);
    for (int64_t k = 0; k < run.outer.split_count; k++) {
        if (run.slots) mg_free(run.outer.heap, run.slots[k].reason);
        if (run.specs) mg_free(run.outer.heap, run.specs[k]);
    }
    MG_FREE(run.outer.heap, run.slots, run.specs, run.inside);
    mg_tune_problem_free(&run.outer);
    mg_taken_free(&run.taken);
    mg_free(run.outer.heap, run.outer.baseline);
    return status;
}
