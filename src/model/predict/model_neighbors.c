/* Indexes of neighbours: making, asking. */
#include "model/predict/model_neighbors.h"
#include "model/predict/predict.h"
#include "model/spec/spec_parser.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Making ---------------------------------------------------------------------------------- */

static margin_status check_points(margin_context *context, const margin_matrix *x,
                                  margin_error *error) {
    const margin_data data = {.x = *x};
    MG_TRY(mg_matrix_check(context, x, "x", error));
    MG_REQUIRE(!mg_is_csr(x), error, MARGIN_ERROR_ARGUMENT,
               "the rows of an index must be dense, and x is sparse (CSR): write the zeros out; "
               "queries may be sparse");
    MG_REQUIRE(x->rows > 0 && x->columns > 0, error, MARGIN_ERROR_ARGUMENT,
               "an index needs rows and columns; x is %lld x %lld", (long long)x->rows,
               (long long)x->columns);
    return mg_matrix_check_finite(context, &data, false, error);
}

static margin_status read_options(const margin_neighbors_options *given,
                                  margin_neighbors_options *options, margin_error *error) {
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_neighbors_options, k),
                           "margin_neighbors_options", options, sizeof *options, error));
    if (options->p == 0) options->p = 2;
    if (options->k == 0) options->k = 5;
    MG_REQUIRE(options->p >= 1, error, MARGIN_ERROR_ARGUMENT,
               "p is %s; a Minkowski distance needs p of at least 1, or infinity",
               mg_number(options->p).text);
    MG_REQUIRE(options->k >= 1, error, MARGIN_ERROR_ARGUMENT, "k is %lld; it must be at least 1",
               (long long)options->k);
    MG_REQUIRE(options->method >= MARGIN_NEIGHBORS_AUTO &&
                   options->method <= MARGIN_NEIGHBORS_BRUTE,
               error, MARGIN_ERROR_ARGUMENT, "%d is no method of finding neighbours",
               (int)options->method);
    return MARGIN_OK;
}

/* The parts of a model that an index does not need, so that it can be saved as one. */
static margin_status fill_model(const margin_neighbors_options *options, bool tree,
                                margin_model *model, margin_error *error) {
    margin_column target = {.name = "y"};
    mg_text spec;
    margin_spec *parsed = NULL;
    margin_status status;
    const int64_t count = model->hypothesis->columns;
    mg_text_init(&spec, model->heap);
    mg_text_puts(&spec, "knn(k=1, p=");
    mg_text_number(&spec, options->p);
    mg_text_puts(&spec, tree ? ", method=tree, task=regress)" : ", method=brute, task=regress)");
    if (spec.failed) MG_GO(mg_no_memory(model->heap, 64, 1, "the index", error));
    model->spec = spec.data;
    spec.data = NULL;
    model->learner = mg_learner_find("knn");
    model->task = MARGIN_REGRESS;
    model->decision = MG_DECIDE_VALUE;
    model->report.task = MARGIN_REGRESS;
    model->report.rows = mg_neighbors_view(model->hypothesis)->rows;
    model->report.columns = count;
    MG_GO(mg_columns_numbered(model->heap, "x", count, &model->inputs, error));
    MG_GO(mg_columns_copy(model->heap, &target, 1, &model->target, error));
    MG_GO(mg_spec_parse(model->heap, model->spec, &parsed, error));
    status = mg_model_check(model, mg_spec_learner(parsed), error);
done:
    margin_spec_free(parsed);
    mg_text_free(&spec);
    return status;
}

static margin_status build(margin_context *context, const margin_matrix *x,
                           const margin_neighbors_options *options, margin_neighbors **index,
                           margin_error *error) {
    margin_neighbors_options chosen;
    margin_neighbors *made = NULL;
    mg_neighbors_choice choice;
    margin_status status;
    MG_TRY(read_options(options, &chosen, error));
    MG_TRY(check_points(context, x, error));
    MG_NEW_ZERO(context->heap, made, 1, "the index", error);
    made->heap = mg_heap_retain(context->heap);
    MG_GO(mg_model_new(context->heap, &made->model, error));
    const mg_neighbors_plan plan = {.x = x,
                                    .rows = x->rows,
                                    .p = chosen.p,
                                    .k = MG_MIN(chosen.k, x->rows),
                                    .method = (mg_neighbors_method)chosen.method};
    MG_GO(mg_neighbors_make(context, &plan, &made->model->hypothesis, &choice, error));
    made->view = mg_neighbors_view(made->model->hypothesis);
    mg_neighbors_explain(&choice, made->view, made->reason, sizeof made->reason);
    MG_GO(fill_model(&chosen, choice.tree, made->model, error));
    *index = made;
    return MARGIN_OK;
done:
    margin_neighbors_free(made);
    return status;
}

margin_status margin_neighbors_build(margin_context *context, const margin_matrix *x,
                                     const margin_neighbors_options *options,
                                     margin_neighbors **index, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {x, "matrix"}, {index, "place for the index"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, build(&call, x, options, index, error),
                          "before the index was built", error);
}

margin_status mg_neighbors_over(margin_model *model, bool borrowed, const char *name,
                                margin_neighbors **index, margin_error *error) {
    margin_neighbors *made = NULL;
    MG_REQUIRE(model->hypothesis->kind == &mg_hypothesis_neighbors, error, MARGIN_ERROR_MODEL,
               "%s is a model, but holds no neighbours: %s", name, model->spec);
    MG_NEW_ZERO(model->heap, made, 1, "the index", error);
    made->heap = mg_heap_retain(model->heap);
    made->model = model;
    made->borrowed = borrowed;
    made->view = mg_neighbors_view(model->hypothesis);
    snprintf(made->reason, sizeof made->reason, "%s, as it was %s",
             made->view->tree ? "kd-tree" : "brute force", borrowed ? "fitted" : "saved");
    *index = made;
    return MARGIN_OK;
}

margin_status margin_neighbors_of(const margin_model *model, margin_neighbors **index,
                                  margin_error *error) {
    MG_GIVEN(error, {model, "model"}, {index, "place for the index"});
    return mg_neighbors_over((margin_model *)(uintptr_t)model, true, "this", index, error);
}

void margin_neighbors_free(margin_neighbors *index) {
    if (!index) return;
    mg_heap *heap = index->heap;
    if (!index->borrowed) margin_model_free(index->model);
    mg_free(heap, index);
    mg_heap_release(heap);
}

void margin_neighbors_describe(const margin_neighbors *index, margin_neighbors_info *info) {
    const mg_result_type type = MG_RESULT(margin_neighbors_info, reason);
    int64_t columns;
    margin_model_columns(index->model, &columns);
    const margin_neighbors_info found = {.rows = index->view->rows,
                                         .columns = columns,
                                         .p = index->view->metric.p,
                                         .method = index->view->tree ? MARGIN_NEIGHBORS_TREE
                                                                     : MARGIN_NEIGHBORS_BRUTE,
                                         .reason = index->reason};
    if (mg_result_check(info, type, NULL) >= 0) mg_result_give(info, type, &found);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Its rows have passed stages, and so have queries to pass them. */
static bool is_staged(const margin_neighbors *index) {
    return index->model->stage_count > 0;
}

static margin_status check_query(const margin_neighbors *index, const double *q, int64_t number,
                                 margin_error *error) {
    for (int64_t j = 0; j < index->view->columns; j++)
        if (!(fabs(q[j]) <= MG_NEIGHBORS_LARGEST))
            return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = number + 1},
                              "query %lld has the value %s in column %lld%s; distances need "
                              "numbers of size at most 1e300",
                              (long long)number + 1, mg_number(q[j]).text, (long long)j + 1,
                              is_staged(index) ? " behind the stages" : "");
    return MARGIN_OK;
}

/* Queries as dense f64. */
typedef struct query_rows {
    const margin_neighbors *index;
    const margin_matrix *x;
    double *made; /* NULL: x is that already */
    const double *values;
    int64_t stride;
    _Atomic int64_t bad; /* the first one that is no point; INT64_MAX: none */
} query_rows;

static margin_status read_block(const mg_block *block, void *argument) {
    query_rows *r = argument;
    const int64_t columns = r->index->view->columns;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        if (r->made && !is_staged(r->index)) mg_row_expand(r->x, i, r->made + i * columns);
        if (mg_neighbors_usable(r->values + i * r->stride, columns)) continue;
        mg_note_row(&r->bad, i);
        return MARGIN_OK;
    }
    return MARGIN_OK;
}

/* Room for the queries, where they are not in order as they lie; those of a model through its
 * stages. */
static margin_status make_queries(margin_context *context, const margin_matrix *x, query_rows *r,
                                  margin_error *error) {
    const int64_t columns = r->index->view->columns;
    if (!is_staged(r->index) && !mg_is_csr(x) && x->value_type == MARGIN_F64) return MARGIN_OK;
    MG_REQUIRE(x->rows <= INT64_MAX / 8 / columns, error, MARGIN_ERROR_LIMIT,
               "%lld x %lld queries do not fit into memory as dense numbers", (long long)x->rows,
               (long long)columns);
    MG_NEW(context->heap, r->made, x->rows * columns, "the queries as dense numbers", error);
    r->values = r->made;
    r->stride = columns;
    if (!is_staged(r->index)) return MARGIN_OK;
    return mg_model_features(context, r->index->model, x, NULL, x->rows, r->made, error);
}

static margin_status look_through(margin_context *context, query_rows *r, margin_error *error) {
    const int64_t width = mg_block_rows(r->index->view->columns * 8);
    if (mg_sweep_each(context, r->x->rows, width, read_block, r, NULL) < 0)
        return mg_fail_cancelled(error);
    if (r->bad == INT64_MAX) return MARGIN_OK;
    return check_query(r->index, r->values + r->bad * r->stride, r->bad, error);
}

static margin_status read_queries(margin_context *context, const margin_neighbors *index,
                                  const margin_matrix *x, query_rows *r, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {index, "index"}, {x, "matrix of queries"});
    MG_TRY(mg_matrix_check(context, x, "queries", error));
    if (is_staged(index)) {
        const margin_data data = {.x = *x, .columns = index->model->inputs.items};
        MG_TRY(mg_columns_check(index->model, x, error));
        MG_TRY(mg_matrix_check_finite(context, &data, true, error)); /* a stage may hide it */
    }
    MG_REQUIRE(is_staged(index) || x->columns == index->view->columns, error,
               MG_CAUSE(MARGIN_ERROR_ARGUMENT, COLUMNS),
               "the queries have %lld columns and the index %lld", (long long)x->columns,
               (long long)index->view->columns);
    *r = (query_rows){.index = index, .x = x, .values = x->values, .stride = x->stride};
    atomic_init(&r->bad, INT64_MAX);
    margin_status status = make_queries(context, x, r, error);
    if (status >= 0) status = look_through(context, r, error);
    if (status < 0) {
        mg_free(context->heap, r->made);
        r->made = NULL;
    }
    return status;
}

static margin_status check_k(const margin_neighbors *index, int64_t k, margin_error *error) {
    MG_REQUIRE(
        k >= 1 && k <= index->view->rows, error, MARGIN_ERROR_ARGUMENT,
        "%lld neighbours were asked for; give a number from 1 to %lld, the rows of the index",
        (long long)k, (long long)index->view->rows);
    return MARGIN_OK;
}

/* Where neighbours go; NULL: nowhere. */
typedef struct outputs {
    int64_t *rows;
    double *distances;
} outputs;

static void put_found(const outputs *o, int64_t at, const mg_neighbor *list, int64_t count) {
    for (int64_t n = 0; n < count; n++) {
        if (o->rows) o->rows[at + n] = list[n].row;
        if (o->distances) o->distances[at + n] = list[n].distance;
    }
}

static void take_nearest(void *argument, int64_t query, const double *q, mg_neighbor *list,
                         int64_t count, int64_t room) {
    (void)q;
    put_found(argument, query * room, list, count);
}

static margin_status nearest(margin_context *context, const margin_neighbors *index,
                             const margin_matrix *queries, int64_t k, int64_t *rows,
                             double *distances, margin_error *error) {
    query_rows r;
    outputs o = {rows, distances};
    MG_TRY(read_queries(context, index, queries, &r, error));
    margin_status status = check_k(index, k, error);
    const mg_neighbors_batch batch = {
        .index = index->view,
        .queries = r.values,
        .count = queries->rows,
        .stride = r.stride,
        .k = k,
        .radius = (double)INFINITY,
        .take = take_nearest,
        .argument = &o,
        .written = {rows ? (const void *)rows : distances, rows ? distances : NULL},
        .written_bytes = status >= 0 ? k * 8 : 0};
    if (status >= 0) status = mg_neighbors_run(context, &batch, error);
    mg_free(context->heap, r.made);
    return status;
}

margin_status margin_neighbors_nearest(margin_context *context, const margin_neighbors *index,
                                       const margin_matrix *queries, int64_t k, int64_t *rows,
                                       double *distances, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {index, "index"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, nearest(&call, index, queries, k, rows, distances, error),
                          "before all rows were answered", error);
}

margin_status margin_neighbors_one(const margin_neighbors *index, const double *query, int64_t k,
                                   int64_t *rows, double *distances, margin_error *error) {
    mg_neighbor list[MG_NEIGHBORS_LIST];
    MG_GIVEN(error, {index, "index"}, {query, "query"});
    MG_REQUIRE(!is_staged(index), error, MARGIN_ERROR_ARGUMENT,
               "the rows of this index have passed the stages of %s: ask with "
               "margin_neighbors_nearest, which takes queries through them, too",
               index->model->spec);
    MG_TRY(check_k(index, k, error));
    MG_TRY(check_query(index, query, 0, error));
    mg_search search = mg_search_nearest(query, 0, list);
    for (int64_t done = 0; done < k; done += search.count) { /* a list at a time */
        search.k = MG_MIN(k - done, MG_NEIGHBORS_LIST);
        mg_neighbors_find(index->view, &search);
        put_found(&(outputs){rows, distances}, done, list, search.count);
        search.after = list[search.count - 1];
    }
    return MARGIN_OK;
}

/* ---- Within a radius ------------------------------------------------------------------------- */

typedef struct lists_owner {
    mg_arena arena;
    int64_t *starts, *rows;
    double *distances;
} lists_owner;

typedef struct within {
    margin_context *context;
    const query_rows *r;
    lists_owner *owner;
    mg_neighbor *lists;
    double radius;
    bool count_only;
} within;

enum { WITHIN_BLOCK = 64 };

static margin_status within_block(const mg_block *block, void *argument) {
    const within *w = argument;
    lists_owner *owner = w->owner;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        mg_neighbor *list = w->count_only ? NULL : w->lists + owner->starts[i];
        mg_search search = mg_search_nearest(w->r->values + i * w->r->stride, 0, list);
        search.radius = w->radius;
        search.context = w->context;
        mg_neighbors_find(w->r->index->view, &search);
        if (mg_cancelled(w->context)) return MARGIN_ERROR_CANCELLED; /* the scan may be cut */
        if (w->count_only) {
            owner->starts[i + 1] = search.count;
            continue;
        }
        mg_neighbors_sort(list, search.count);
        put_found(&(outputs){owner->rows, owner->distances}, owner->starts[i], list, search.count);
    }
    return MARGIN_OK;
}

static margin_status fill_lists(margin_context *context, const query_rows *r, double radius,
                                lists_owner **made, margin_error *error) {
    const char *purpose = "lists of neighbours";
    const int64_t queries = r->x->rows;
    lists_owner *owner;
    MG_NEW_OWNER(context->heap, owner, purpose, error);
    *made = owner;
    within w = {context, r, owner, NULL, radius, true};
    MG_ARENA_NEW(&owner->arena, owner->starts, queries + 1, purpose, error);
    owner->starts[0] = 0;
    MG_TRY(mg_sweep_each(context, queries, WITHIN_BLOCK, within_block, &w, error));
    for (int64_t i = 0; i < queries; i++)
        owner->starts[i + 1] += owner->starts[i];
    const int64_t total = owner->starts[queries];
    MG_ARENA_NEW(&owner->arena, owner->rows, total, purpose, error);
    MG_ARENA_NEW(&owner->arena, owner->distances, total, purpose, error);
    MG_NEW(context->heap, w.lists, total, purpose, error);
    w.count_only = false;
    const margin_status status =
        mg_sweep_each(context, queries, WITHIN_BLOCK, within_block, &w, error);
    mg_free(context->heap, w.lists);
    return status;
}

static margin_status within_radius(margin_context *context, const margin_neighbors *index,
                                   const margin_matrix *queries, double radius,
                                   margin_neighbors_lists *lists, margin_error *error) {
    query_rows r;
    const mg_result_type type = MG_RESULT(margin_neighbors_lists, inner);
    MG_TRY(mg_result_check(lists, type, error));
    MG_REQUIRE(radius >= 0, error, MARGIN_ERROR_ARGUMENT, "the radius is %s; it must be 0 or more",
               mg_number(radius).text);
    lists_owner *owner = NULL;
    MG_TRY(read_queries(context, index, queries, &r, error));
    const margin_status status = fill_lists(context, &r, radius, &owner, error);
    mg_free(context->heap, r.made);
    if (status < 0) {
        if (owner) mg_arena_end(owner->arena);
        return status;
    }
    const margin_neighbors_lists found = {.queries = queries->rows,
                                          .starts = owner->starts,
                                          .rows = owner->rows,
                                          .distances = owner->distances,
                                          .inner = owner};
    mg_result_give(lists, type, &found);
    return MARGIN_OK;
}

margin_status margin_neighbors_within(margin_context *context, const margin_neighbors *index,
                                      const margin_matrix *queries, double radius,
                                      margin_neighbors_lists *lists, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {index, "index"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, within_radius(&call, index, queries, radius, lists, error),
                          "before all rows were answered", error);
}

void margin_neighbors_lists_free(margin_neighbors_lists *lists) {
    if (!lists || !lists->inner) return;
    mg_arena_end(((lists_owner *)lists->inner)->arena);
    lists->queries = 0;
    lists->starts = lists->rows = NULL;
    lists->distances = NULL;
    lists->inner = NULL;
}
