/* Prediction: what is asked of a model, on the calling thread or on all.
 *
 * Scratch is a buffer on the stack (a small one where that suffices, so that one row costs little),
 * or given by the caller where a row is too wide for it, or of each of the threads. */
#include "model/predict/predict_query.h"

#include "model/predict/row_stages.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Numbers of the two stack buffers. */
enum { SMALL_ROOM = 512, STACK_ROOM = 8192 };
enum { NEAR = 1 << 17 }; /* numbers of rows put together from columns, on the heap */

/* ---- Scratch on the stack -------------------------------------------------------------------- */

static __attribute__((noinline)) margin_status answer_small(const mg_query *q, int64_t first,
                                                            int64_t count) {
    double scratch[SMALL_ROOM];
    return mg_answer_range(q, first, count, scratch, SMALL_ROOM);
}

static __attribute__((noinline)) margin_status answer_on_stack(const mg_query *q, int64_t first,
                                                               int64_t count) {
    double scratch[STACK_ROOM];
    return mg_answer_range(q, first, count, scratch, STACK_ROOM);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

margin_status mg_columns_check(const margin_model *model, const margin_matrix *x,
                               margin_error *error) {
    MG_REQUIRE(x->columns == model->inputs.count, error, MG_CAUSE(MARGIN_ERROR_ARGUMENT, COLUMNS),
               "the data has %lld columns and the model was trained on %lld; give the same columns "
               "in the same order",
               (long long)x->columns, (long long)model->inputs.count);
    return MARGIN_OK;
}

static margin_status check_query(const margin_model *model, const margin_matrix *x,
                                 margin_output what, const void *out, margin_error *error) {
    MG_GIVEN(error, {model, "model"}, {x, "matrix x"});
    MG_TRY(mg_output_check(model, what, error));
    MG_TRY(mg_columns_check(model, x, error));
    MG_REQUIRE(out || x->rows == 0, error, MARGIN_ERROR_ARGUMENT,
               "there is nowhere to write the answers to: the output is NULL");
    return MARGIN_OK;
}

/* ---- On the calling thread ------------------------------------------------------------------- */

int64_t margin_model_scratch_size(const margin_model *model) {
    int64_t most = 0;
    for (int what = MARGIN_OUTPUT_LABELS; what <= MARGIN_OUTPUT_DISTANCES; what++) {
        mg_layout need = mg_layout_of(model, (margin_output)what, NULL, NULL);
        most = MG_MAX(most, mg_layout_least_room(&need));
    }
    return most > STACK_ROOM ? most * (int64_t)sizeof(double) : 0;
}

static margin_status answer_all(const mg_query *q, void *scratch, margin_error *error) {
    const int64_t rows = q->x->rows;
    mg_layout need = mg_layout_of(q->model, q->what, q->x, q->rows);
    int64_t least = mg_layout_least_room(&need);
    /* the small buffer holds some rows even then; a large batch pays for itself */
    if (least <= SMALL_ROOM / 16 || (rows == 1 && least <= SMALL_ROOM))
        return answer_small(q, 0, rows);
    if (least <= STACK_ROOM) return answer_on_stack(q, 0, rows);
    MG_REQUIRE(scratch && need.row == 0, error, MARGIN_ERROR_ARGUMENT,
               "a row of this model takes %lld bytes on its way to the answer, too many for "
               "the stack; use margin_predict_parallel, or (for rows, not for columns) "
               "margin_predict_scratch with margin_model_scratch_size bytes",
               (long long)least * 8);
    return mg_answer_range(q, 0, rows, scratch, least);
}

margin_status margin_predict_scratch(const margin_model *model, const margin_matrix *x,
                                     margin_output what, void *out, void *scratch,
                                     margin_error *error) {
    MG_TRY(check_query(model, x, what, out, error));
    MG_TRY(mg_matrix_check_any(NULL, x, "x", error));
    const mg_query q = {.model = model, .x = x, .what = what, .out = out};
    const margin_status status = answer_all(&q, scratch, error);
    if (status != MARGIN_ERROR_CANCELLED) return status;
    return mg_fail(error, status, "interrupted: the kernel function ended the prediction");
}

margin_status margin_predict(const margin_model *model, const margin_matrix *x, int64_t *labels,
                             margin_error *error) {
    return margin_predict_scratch(model, x, MARGIN_OUTPUT_LABELS, labels, NULL, error);
}

margin_status margin_predict_values(const margin_model *model, const margin_matrix *x,
                                    double *values, margin_error *error) {
    return margin_predict_scratch(model, x, MARGIN_OUTPUT_VALUES, values, NULL, error);
}

margin_status margin_scores(const margin_model *model, const margin_matrix *x, double *scores,
                            margin_error *error) {
    return margin_predict_scratch(model, x, MARGIN_OUTPUT_SCORES, scores, NULL, error);
}

margin_status margin_probabilities(const margin_model *model, const margin_matrix *x,
                                   double *probabilities, margin_error *error) {
    return margin_predict_scratch(model, x, MARGIN_OUTPUT_PROBABILITIES, probabilities, NULL,
                                  error);
}

margin_status margin_class_scores(const margin_model *model, const margin_matrix *x, double *scores,
                                  margin_error *error) {
    return margin_predict_scratch(model, x, MARGIN_OUTPUT_CLASS_SCORES, scores, NULL, error);
}

margin_status margin_distances(const margin_model *model, const margin_matrix *x, double *distances,
                               margin_error *error) {
    return margin_predict_scratch(model, x, MARGIN_OUTPUT_DISTANCES, distances, NULL, error);
}

/* ---- On all threads -------------------------------------------------------------------------- */

typedef struct parallel_query {
    mg_query q;
    double *scratch; /* per worker `room` numbers, and the others: stacks may be small */
    int64_t room, together, rough;
    mg_expansion_rough *scores; /* NULL: none */
    atomic_llong told, doubts;
} parallel_query;

/* Where half of the rows are in doubt, rough scores gain nothing. */
static bool pays(parallel_query *p) {
    enum { LEAST = 1024 };
    const long long told = atomic_load_explicit(&p->told, memory_order_relaxed);
    return told < LEAST || 2 * atomic_load_explicit(&p->doubts, memory_order_relaxed) < told;
}

static margin_status visit_block(const mg_block *block, void *argument) {
    parallel_query *p = argument;
    double *scratch = p->scratch + block->worker * (p->room + p->together + p->rough);
    const int64_t first = block->first, count = block->count;
    mg_query q = p->q;
    if (p->together > 0) q.together = scratch + p->room;
    if (p->scores && pays(p)) {
        q.rough = p->scores;
        q.rough_room = scratch + p->room + p->together;
    }
    MG_TRY(mg_answer_range(&q, first, count, scratch, p->room));
    const int64_t *labels = q.rough ? (const int64_t *)q.out + first : NULL;
    int64_t doubts = 0;
    for (int64_t i = 0; i < count && labels; i++)
        doubts += labels[i] == MG_IN_DOUBT;
    atomic_fetch_add_explicit(&p->told, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->doubts, doubts, memory_order_relaxed);
    return MARGIN_OK;
}

/* ---- In batches, for hypotheses that answer many rows faster than each by itself ------------- */

typedef struct batch_query {
    mg_query q;
    int64_t first; /* answers of this batch begin here */
    double *features, *scores, *way;
    double *found;    /* the scores of this batch: `scores`, or in the place for the answers */
    int64_t way_room; /* of each worker */
} batch_query;

static margin_status stage_block(const mg_block *block, void *argument) {
    const batch_query *b = argument;
    const int64_t columns = b->q.model->hypothesis->columns;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t at = b->first + i;
        mg_stage_row(b->q.model, b->q.model->active, b->q.x, b->q.rows ? b->q.rows[at] : at,
                     b->way + block->worker * b->way_room, b->features + i * columns);
    }
    return MARGIN_OK;
}

static margin_status answer_block(const mg_block *block, void *argument) {
    const batch_query *b = argument;
    const int64_t functions = b->q.model->hypothesis->functions;
    double *scores = b->found + block->first * functions;
    mg_leave_refused(&b->q, b->first + block->first, block->count,
                     b->way + block->worker * b->way_room, scores);
    mg_answer_rows(&b->q, b->first + block->first, block->count, scores,
                   b->way + block->worker * b->way_room);
    return MARGIN_OK;
}

/* Rows of a batch so that their features and scores take some tens of megabytes. */
static int64_t batch_rows(const margin_model *model, int64_t count) {
    enum { LEAST = 4096, NUMBERS = 1 << 23 };
    const int64_t width = model->hypothesis->columns + model->hypothesis->functions;
    return MG_MIN(count, MG_MAX(LEAST, NUMBERS / width));
}

static margin_status answer_batch(margin_context *context, batch_query *b, int64_t count,
                                  margin_error *error) {
    const margin_model *model = b->q.model;
    const mg_hypothesis *h = model->hypothesis;
    const int64_t columns = h->columns;
    margin_matrix x = margin_dense_f64(b->features, count, columns, columns);
    b->found = b->scores ? b->scores : (double *)b->q.out + b->first * h->functions;
    if (b->features) {
        MG_TRY(mg_sweep_each(context, count, mg_block_rows(columns * 8), stage_block, b, error));
    } else {
        x = *b->q.x;
        x.values = (const double *)x.values + b->first * x.stride;
        x.rows = count;
    }
    MG_TRY(h->kind->scores_batch(context, h, &x, b->found, error));
    return mg_sweep_each(context, count, MG_BLOCK_ROWS, answer_block, b, error);
}

static margin_status predict_batches(margin_context *context, const mg_query *q, int64_t count,
                                     margin_error *error) {
    const mg_layout need = mg_layout_of(q->model, q->what, q->x, q->rows);
    const mg_hypothesis *h = q->model->hypothesis;
    const int64_t rows = batch_rows(q->model, count), workers = mg_threads(context);
    batch_query b = {.q = *q, .way_room = MG_MAX(need.way, need.votes)};
    MG_SCOPED_ARENA(arena, context->heap);
    MG_ARENA_NEW(&arena, b.way, workers * b.way_room, "scratch for predictions", error);
    if (q->rows || !mg_query_takes_rows(q->model, q->x))
        MG_ARENA_NEW(&arena, b.features, rows * h->columns, "rows to predict", error);
    if (!mg_scores_are_answer(q->what))
        MG_ARENA_NEW(&arena, b.scores, rows * h->functions, "scores", error);
    for (; b.first < count; b.first += rows)
        MG_TRY(answer_batch(context, &b, MG_MIN(rows, count - b.first), error));
    return MARGIN_OK;
}

/* ---- All rows -------------------------------------------------------------------------------- */

/* Rough scores, where classes are asked for of so many dense rows that they pay, and functions are
 * few enough for their scratch. */
static mg_expansion_rough *start_rough(margin_context *context, const mg_query *q, int64_t count) {
    enum { LEAST = 256, MOST_FUNCTIONS = 1024 };
    const margin_model *model = q->model;
    const bool sparse = model->active == 0 && mg_is_csr(q->x);
    if (q->what != MARGIN_OUTPUT_LABELS || count < LEAST || sparse) return NULL;
    if (mg_decides_by_probability(model) || model->hypothesis->functions > MOST_FUNCTIONS)
        return NULL;
    return mg_expansion_rough_new(context, model->hypothesis, model->active == 0 ? q->x : NULL);
}

/* Scratch of each worker. */
static void plan_scratch(parallel_query *p, int64_t count) {
    mg_query longest = p->q;
    longest.rough = p->scores;
    const mg_layout need = mg_query_layout(&longest);
    const mg_fitted_stage *joint = mg_joint_stage(p->q.model);
    const int64_t row = need.row + need.features + need.scores;
    p->room =
        MG_MAX(mg_layout_least_room(&need), need.row > 0 ? MG_MIN(NEAR, count * row) : STACK_ROOM);
    p->rough = 0;
    if (p->scores) {
        p->room = need.way + need.votes + MG_ROUGH_ROWS * row;
        p->rough = mg_expansion_rough_room(p->scores);
    }
    if (joint) {
        p->together = mg_together_room(joint);
        p->room += MG_ROWS_AT_ONCE * (need.features + need.scores);
    }
}

/* Where the limit leaves no room, without rough scores; then on fewer threads. */
static margin_status new_scratch(margin_context *context, parallel_query *p, int64_t count,
                                 margin_error *error) {
    const int64_t left = mg_context_room(context, INT64_MAX); /* the kernel takes some, too */
    for (;;) {
        plan_scratch(p, count);
        const int64_t each = p->room + p->together + p->rough, all = mg_threads(context) * each;
        const bool fits = all <= left / (int64_t)sizeof *p->scratch;
        const bool last = !p->scores && (fits || mg_threads(context) == 1);
        if (fits || last) p->scratch = mg_new(context->heap, all, sizeof *p->scratch);
        if (p->scratch) return MARGIN_OK;
        if (last)
            return mg_no_memory(context->heap, all, sizeof *p->scratch, "scratch for predictions",
                                error);
        if (!p->scores) context->options.threads = mg_threads(context) / 2;
        mg_expansion_rough_free(p->scores);
        p->scores = NULL;
    }
}

/* With the scores of `p`, or as they are. */
static margin_status predict_blocks(margin_context *context, parallel_query *p, int64_t count,
                                    margin_error *error) {
    margin_context own;
    mg_context_copy(context, &own);
    MG_TRY(new_scratch(&own, p, count, error));
    margin_status status =
        mg_sweep_each(&own, count, mg_block_rows(mg_row_bytes(p->q.x)), visit_block, p, NULL);
    mg_expansion_rough_free(p->scores);
    mg_free(context->heap, p->scratch);
    if (status >= 0) return MARGIN_OK;
    if (!mg_cancelled(context)) margin_context_cancel(context); /* a kernel function did */
    return mg_fail_cancelled(error);
}

/* The rows that rough scores left in doubt, once more; all rows if there is no room to list them.
 */
static margin_status settle_doubts(margin_context *context, const mg_query *q, int64_t count,
                                   int64_t doubts, margin_error *error) {
    int64_t *rows = mg_new(context->heap, 2 * doubts, sizeof *rows), *labels = q->out, n = 0;
    parallel_query exact = {.q = *q};
    if (!rows) return predict_blocks(context, &exact, count, error);
    for (int64_t i = 0; i < count; i++)
        if (labels[i] == MG_IN_DOUBT) rows[n++] = q->rows ? q->rows[i] : i;
    exact.q.rows = rows;
    exact.q.out = rows + doubts;
    const margin_status status = predict_blocks(context, &exact, n, error);
    for (int64_t i = count; i-- > 0 && status >= 0;)
        if (labels[i] == MG_IN_DOUBT) labels[i] = rows[doubts + --n];
    mg_free(context->heap, rows);
    return status;
}

/* Nobody outside knows of doubts. */
static void forget_doubts(int64_t *labels, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (labels[i] == MG_IN_DOUBT) labels[i] = -1;
}

margin_status mg_predict_rows(margin_context *context, const margin_model *model,
                              const margin_matrix *x, const int64_t *rows, int64_t count,
                              margin_output what, bool finite, void *out, margin_error *error) {
    parallel_query p = {.q = {model, x, rows, what, out, context, NULL, finite, NULL, NULL}};
    if (model->hypothesis->kind->scores_batch) return predict_batches(context, &p.q, count, error);
    const mg_query q = p.q;
    p.scores = start_rough(context, &q, count);
    const bool rough = p.scores != NULL;
    margin_status status = predict_blocks(context, &p, count, error);
    if (status >= 0 && p.doubts > 0) status = settle_doubts(context, &q, count, p.doubts, error);
    if (status < 0 && rough) forget_doubts(out, count);
    return status;
}

margin_status margin_predict_parallel(margin_context *context, const margin_model *model,
                                      const margin_matrix *x, margin_output what, void *out,
                                      margin_error *error) {
    margin_status status;
    MG_REQUIRE(context, error, MARGIN_ERROR_ARGUMENT, "the context is NULL");
    MG_TRY(check_query(model, x, what, out, error));
    margin_context call = mg_context_call(context);
    MG_GO(mg_matrix_check_any(&call, x, "x", error));
    status = mg_predict_rows(&call, model, x, NULL, x->rows, what, false, out, error);
done:
    return mg_call_status(&call, status, "before all rows were answered", error);
}
