/* Prediction: rows through the active stages, scores of the hypothesis, answers.
 *
 * Nothing is allocated. Rows go in batches whose size is what the scratch has room for; a row's
 * answer does not depend on its batch. Scratch is a buffer on the stack (a small one where that
 * suffices, so that one row costs little), or given by the caller where a row is too wide for it.
 */
#include "model/predict/predict.h"

#include "learn/hypothesis/expansion_rough.h"
#include "model/predict/row_stages.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Numbers of the two stack buffers, and the most rows of a batch. */
enum { SMALL_ROOM = 512, STACK_ROOM = 8192, BATCH = 256 };
enum { NEAR = 1 << 17 }; /* numbers of rows put together from columns, on the heap */

/* ---- Batches --------------------------------------------------------------------------------- */

typedef struct query {
    const margin_model *model;
    const margin_matrix *x;
    const int64_t *rows; /* NULL: in order */
    margin_output what;
    void *out;
    const margin_context *context; /* NULL: not to be interrupted */
    double *together; /* room for some rows on their way through the last stage; NULL: one by one */
    bool finite;      /* there are no infinite values */
    const mg_expansion_rough *rough; /* labels are told by its scores, or MG_IN_DOUBT; NULL: none */
    double *rough_room;
} query;

/* Scratch in numbers: `fixed` once (rows on their way through the stages, votes), then for each row
 * of a batch its features, unless they are the answer its scores, and what `row` says. */
typedef struct layout {
    int64_t way, votes, features, scores;
    int64_t row; /* of data that are gathered */
} layout;

static bool scores_are_answer(margin_output what) {
    return what == MARGIN_OUTPUT_SCORES || what == MARGIN_OUTPUT_VALUES;
}

/* Does the hypothesis take rows [first, first + count) of columns as they are? */
static bool takes_columns(const margin_model *model, const margin_matrix *x, const int64_t *rows) {
    return mg_is_plain_columns(x) && !rows && model->active == 0 &&
           model->hypothesis->kind->takes_columns;
}

/* The last stage, where a linear hypothesis meets entries of its rows in place of all columns, most
 * of which are 0; NULL: none. */
static const mg_fitted_stage *entering_stage(const margin_model *model) {
    enum { LEAST = 256 }; /* columns: few are as fast by vectors */
    const mg_fitted_stage *last = model->active > 0 ? &model->stages[model->active - 1] : NULL;
    const bool wide =
        last && last->columns_out >= LEAST && last->columns_out > 4 * last->columns_in;
    return wide && last->stage->entries && model->hypothesis->kind == &mg_hypothesis_linear ? last
                                                                                            : NULL;
}

/* Are rows put together in one piece first? Columns are, and rows here and there where several meet
 * all support rows side by side. */
static bool is_gathered(const margin_model *model, const margin_matrix *x, const int64_t *rows) {
    if (mg_is_by_columns(x)) return !takes_columns(model, x, rows);
    return rows && !mg_is_csr(x) && model->hypothesis->kind == &mg_hypothesis_expansion;
}

static layout layout_of(const margin_model *model, margin_output what, const margin_matrix *x,
                        const int64_t *rows) {
    layout need = {.row = 0};
    if (x && is_gathered(model, x, rows)) need.row = x->columns;
    const mg_fitted_stage *entering = entering_stage(model);
    if (entering) {
        need.way = MG_MIN(model->active, 3) * mg_width_before(model);
        need.features = 2 * entering->columns_in + 2; /* values, columns, where rows start */
    } else if (model->active > 0) {
        need.way = MG_MIN(model->active, 2) * mg_model_row_width(model);
    }
    if (mg_may_take_refusals(model)) need.way += mg_model_row_width(model);
    if (!entering && (model->active > 0 || model->hypothesis->kind->dense))
        need.features = model->hypothesis->columns;
    if (what == MARGIN_OUTPUT_LABELS || what == MARGIN_OUTPUT_CLASS_SCORES)
        need.votes = mg_decide_room(model);
    if (!scores_are_answer(what)) need.scores = model->hypothesis->functions;
    return need;
}

/* With the errors of rough scores, and room to decide by them. */
static layout query_layout(const query *q) {
    layout need = layout_of(q->model, q->what, q->x, q->rows);
    if (!q->rough) return need;
    need.scores *= 2;
    need.votes = MG_MAX(need.votes, 2 * q->model->classes);
    return need;
}

/* Numbers of scratch that a batch of one row takes. */
static int64_t least_room(const layout *need) {
    return need->way + need->votes + need->features + need->scores + need->row;
}

/* Does the hypothesis take the rows of x as they are? */
static bool takes_rows(const margin_model *model, const margin_matrix *x) {
    if (mg_is_by_columns(x)) return takes_columns(model, x, NULL);
    if (model->active > 0) return false;
    return !model->hypothesis->kind->dense || (!mg_is_csr(x) && x->value_type == MARGIN_F64);
}

/* The last stage, where it takes several rows at once; NULL: one by one. */
static const mg_fitted_stage *joint_stage(const margin_model *model) {
    const mg_fitted_stage *last = model->active > 0 ? &model->stages[model->active - 1] : NULL;
    return last && mg_stage_at_once(last) > 1 ? last : NULL;
}

static int64_t together_room(const mg_fitted_stage *stage) {
    return MG_ROWS_AT_ONCE * (stage->columns_in + stage->columns_out);
}

static void stage_rows(const query *q, int64_t row, int64_t count, double *way, double *features) {
    const margin_model *model = q->model;
    const mg_fitted_stage *last = q->together ? joint_stage(model) : NULL;
    const int64_t width = model->hypothesis->columns;
    for (int64_t i = 0; i < count && !last; i++)
        mg_stage_row(model, model->active, q->x, row + i, way, features + i * width);
    for (int64_t first = 0; last && first < count; first += MG_ROWS_AT_ONCE) {
        const int64_t some = MG_MIN(MG_ROWS_AT_ONCE, count - first);
        double *in = q->together, *scratch = in + MG_ROWS_AT_ONCE * last->columns_in;
        for (int64_t i = 0; i < some; i++)
            mg_stage_row(model, model->active - 1, q->x, row + first + i, way,
                         in + i * last->columns_in);
        mg_stage_apply_rows(last, in, some, scratch, features + first * width);
    }
}

/* Rows as the entries that the last stage makes of them, in the room for their features. */
static margin_matrix enter_rows(const query *q, const mg_fitted_stage *last, int64_t row,
                                int64_t count, double *way, double *features) {
    const margin_model *model = q->model;
    const int64_t most = last->columns_in;
    int64_t *columns = (int64_t *)(void *)(features + count * most);
    int64_t *starts = columns + count * most, at = 0;
    double *in = way + MG_MIN(model->active - 1, 2) * mg_width_before(model);
    for (int64_t i = 0; i < count; i++) {
        mg_stage_row(model, model->active - 1, q->x, row + i, way, in);
        const int64_t entries = last->stage->entries(last, in, columns + at, features + at);
        starts[i] = at;
        at += MG_MAX(entries, 1);
        if (entries > 0) continue;
        columns[at - 1] = 0; /* none: a zero; refused: no score is a number */
        features[at - 1] = entries < 0 ? (double)NAN : 0.0;
    }
    starts[count] = at;
    return (margin_matrix){.values = features,
                           .column_indices = columns,
                           .row_starts = starts,
                           .rows = count,
                           .columns = last->columns_out,
                           .value_type = MARGIN_F64,
                           .start_type = MARGIN_I64,
                           .index_type = MARGIN_I64};
}

/* Rows that a fit would refuse have no score, though some learners would answer: those with
 * infinite values, which show in sums of products, and those of mg_row_is_refused. */
static void leave_refused(const query *q, int64_t at, int64_t count, double *way, double *scores) {
    const mg_hypothesis *h = q->model->hypothesis;
    const bool swallows = !q->finite && mg_may_take_refusals(q->model);
    const int64_t room = layout_of(q->model, q->what, NULL, NULL).way;
    double *out = way + room - mg_model_row_width(q->model);
    for (int64_t i = 0; i < count && swallows; i++) {
        const int64_t row = q->rows ? q->rows[at + i] : at + i;
        if (!mg_row_is_refused(q->model, q->x, row, way, out)) continue;
        for (int64_t f = 0; f < h->functions; f++)
            scores[i * h->functions + f] = (double)NAN;
    }
    const bool shows = h->kind == &mg_hypothesis_linear && q->model->active == 0;
    if (q->finite || (!shows && !q->rows && !mg_rows_have_infinity(q->x, at, count))) return;
    for (int64_t i = 0; i < count; i++) {
        double *own = scores + i * h->functions;
        if (shows && isfinite(own[0])) continue;
        if (!mg_rows_have_infinity(q->x, q->rows ? q->rows[at + i] : at + i, 1)) continue;
        for (int64_t f = 0; f < h->functions; f++)
            own[f] = (double)NAN;
    }
}

/* Of rows as the hypothesis takes them; errors follow rough scores. */
static margin_status ask_scores(const query *q, const margin_matrix *x, int64_t row, int64_t count,
                                double *scores) {
    const mg_hypothesis *h = q->model->hypothesis;
    if (!q->rough) return h->kind->scores(h, x, row, count, scores);
    mg_expansion_rough_scores(q->rough, x, row, count, q->rough_room, scores,
                              scores + count * h->functions);
    return MARGIN_OK;
}

/* Scores of `count` rows that follow each other in x, through the stages. */
static margin_status score_rows(const query *q, int64_t row, int64_t count, const layout *need,
                                double *scratch, double *scores) {
    const margin_model *model = q->model;
    if (takes_rows(model, q->x)) return ask_scores(q, q->x, row, count, scores);
    double *features = scratch + need->way + need->votes;
    const mg_fitted_stage *entering = entering_stage(model);
    if (entering) {
        const margin_matrix entries = enter_rows(q, entering, row, count, scratch, features);
        return ask_scores(q, &entries, 0, count, scores);
    }
    stage_rows(q, row, count, scratch, features);
    margin_matrix staged = margin_dense_f64(features, count, need->features, need->features);
    return ask_scores(q, &staged, 0, count, scores);
}

/* One row of an answer that is no label. */
static void answer_row(const query *q, const double *scores, double *votes, double *out) {
    if (q->what == MARGIN_OUTPUT_CLASS_SCORES) {
        mg_class_scores(q->model, scores, votes, out);
    } else if (q->what == MARGIN_OUTPUT_DISTANCES) {
        for (int64_t c = 0; c < q->model->classes; c++)
            out[c] = sqrt(-scores[c]) + 0.0; /* -0 is 0 */
    } else {
        mg_probabilities(q->model, scores, out);
    }
}

/* Answers `at`.. of the query from the scores of `count` rows. */
static void answer_rows(const query *q, int64_t at, int64_t count, const double *scores,
                        double *votes) {
    const margin_model *model = q->model;
    int64_t functions = model->hypothesis->functions;
    if (q->what == MARGIN_OUTPUT_LABELS) {
        int64_t *labels = (int64_t *)q->out + at;
        for (int64_t i = 0; i < count && q->rough; i++)
            labels[i] = mg_decide_rough(model, scores + i * functions,
                                        scores + (count + i) * functions, votes);
        for (int64_t i = 0; i < count && !q->rough; i++)
            labels[i] = mg_decide(model, scores + i * functions, votes);
    } else if (!scores_are_answer(q->what)) {
        double *out = (double *)q->out + at * model->classes;
        for (int64_t i = 0; i < count; i++)
            answer_row(q, scores + i * functions, votes, out + i * model->classes);
    }
}

/* Length of the run of rows that follow each other in x, from the `at`-th of the query. */
static int64_t run_length(const query *q, int64_t at, int64_t most) {
    int64_t length = 1;
    if (!q->rows) return most;
    while (length < most && q->rows[at + length] == q->rows[at] + length)
        length++;
    return length;
}

/* Rows of a batch that is over within some hundredths of a second: of an expansion each meets all
 * support rows, some side by side. */
static int64_t most_rows(const query *q) {
    static const double kernel_work = 16.0;
    const mg_hypothesis *h = q->model->hypothesis;
    if (h->kind != &mg_hypothesis_expansion) return BATCH;
    const int64_t side_by_side = q->rough ? 32 : 24, most = q->rough ? MG_ROUGH_ROWS : BATCH;
    const double most_work = q->rough ? 5e8 : 1e8;
    const double work = (double)h->view.expansion.support.rows * ((double)h->columns + kernel_work);
    const double rows = fmin(most_work / fmax(work, 1.0), (double)most);
    return MG_MAX((int64_t)rows / side_by_side, 1) * side_by_side;
}

/* Rows at.. of a query, as rows 0.. of one to the matrix `x` over `room`. */
static query gathered(const query *q, int64_t at, int64_t count, void *room, margin_matrix *x) {
    query made = *q;
    const int64_t columns = q->x->columns, size = mg_type_size(q->x->value_type);
    if (mg_is_by_columns(q->x))
        mg_rows_from_columns(q->x, q->rows ? q->rows + at : NULL, at, count, room);
    else
        for (int64_t i = 0; i < count; i++)
            memcpy((char *)room + i * columns * size,
                   (const char *)q->x->values + q->rows[at + i] * q->x->stride * size,
                   (size_t)(columns * size));
    *x = q->x->value_type == MARGIN_F32 ? margin_dense_f32(room, count, columns, columns)
                                        : margin_dense_f64(room, count, columns, columns);
    made.x = x;
    made.rows = NULL;
    return made;
}

/* Answers [first, first + count) with `room` numbers of scratch, at least least_room. A batch may
 * take long (kernels, thousands of classes), so each looks whether it is still wanted. */
static margin_status answer_range(const query *q, int64_t first, int64_t count, double *scratch,
                                  int64_t room) {
    const layout need = query_layout(q);
    const int64_t per_row = need.features + need.scores + need.row;
    int64_t batch = per_row > 0 ? (room - need.way - need.votes) / per_row : BATCH;
    batch = MG_MIN(batch, most_rows(q));
    for (int64_t at = first, length; at < first + count; at += length) {
        if (q->context && mg_cancelled(q->context)) return MARGIN_ERROR_CANCELLED;
        double *rest = scratch + need.way + need.votes + batch * need.features, *scores = rest;
        if (scores_are_answer(q->what))
            scores = (double *)q->out + at * q->model->hypothesis->functions;
        if (need.row > 0) {
            margin_matrix x;
            length = MG_MIN(batch, first + count - at);
            const query part = gathered(q, at, length, rest + batch * need.scores, &x);
            MG_TRY(score_rows(&part, 0, length, &need, scratch, scores));
            leave_refused(&part, 0, length, scratch, scores);
        } else {
            length = run_length(q, at, MG_MIN(batch, first + count - at));
            MG_TRY(score_rows(q, q->rows ? q->rows[at] : at, length, &need, scratch, scores));
            leave_refused(q, at, length, scratch, scores);
        }
        answer_rows(q, at, length, scores, scratch + need.way);
    }
    return MARGIN_OK;
}

static __attribute__((noinline)) margin_status answer_small(const query *q, int64_t first,
                                                            int64_t count) {
    double scratch[SMALL_ROOM];
    return answer_range(q, first, count, scratch, SMALL_ROOM);
}

static __attribute__((noinline)) margin_status answer_on_stack(const query *q, int64_t first,
                                                               int64_t count) {
    double scratch[STACK_ROOM];
    return answer_range(q, first, count, scratch, STACK_ROOM);
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
        layout need = layout_of(model, (margin_output)what, NULL, NULL);
        most = MG_MAX(most, least_room(&need));
    }
    return most > STACK_ROOM ? most * (int64_t)sizeof(double) : 0;
}

static margin_status answer_all(const query *q, void *scratch, margin_error *error) {
    const int64_t rows = q->x->rows;
    layout need = layout_of(q->model, q->what, q->x, q->rows);
    int64_t least = least_room(&need);
    /* the small buffer holds some rows even then; a large batch pays for itself */
    if (least <= SMALL_ROOM / 16 || (rows == 1 && least <= SMALL_ROOM))
        return answer_small(q, 0, rows);
    if (least <= STACK_ROOM) return answer_on_stack(q, 0, rows);
    MG_REQUIRE(scratch && need.row == 0, error, MARGIN_ERROR_ARGUMENT,
               "a row of this model takes %lld bytes on its way to the answer, too many for "
               "the stack; use margin_predict_parallel, or (for rows, not for columns) "
               "margin_predict_scratch with margin_model_scratch_size bytes",
               (long long)least * 8);
    return answer_range(q, 0, rows, scratch, least);
}

margin_status margin_predict_scratch(const margin_model *model, const margin_matrix *x,
                                     margin_output what, void *out, void *scratch,
                                     margin_error *error) {
    MG_TRY(check_query(model, x, what, out, error));
    MG_TRY(mg_matrix_check_any(NULL, x, "x", error));
    const query q = {.model = model, .x = x, .what = what, .out = out};
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
    query q;
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
    query q = p->q;
    if (p->together > 0) q.together = scratch + p->room;
    if (p->scores && pays(p)) {
        q.rough = p->scores;
        q.rough_room = scratch + p->room + p->together;
    }
    MG_TRY(answer_range(&q, first, count, scratch, p->room));
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
    query q;
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
    leave_refused(&b->q, b->first + block->first, block->count,
                  b->way + block->worker * b->way_room, scores);
    answer_rows(&b->q, b->first + block->first, block->count, scores,
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

static margin_status predict_batches(margin_context *context, const query *q, int64_t count,
                                     margin_error *error) {
    const layout need = layout_of(q->model, q->what, q->x, q->rows);
    const mg_hypothesis *h = q->model->hypothesis;
    const int64_t rows = batch_rows(q->model, count), workers = mg_threads(context);
    batch_query b = {.q = *q, .way_room = MG_MAX(need.way, need.votes)};
    margin_status status = MARGIN_OK;
    MG_GO_NEW(context->heap, b.way, workers * b.way_room, "scratch for predictions", error);
    if (q->rows || !takes_rows(q->model, q->x))
        MG_GO_NEW(context->heap, b.features, rows * h->columns, "rows to predict", error);
    if (!scores_are_answer(q->what))
        MG_GO_NEW(context->heap, b.scores, rows * h->functions, "scores", error);
    for (; b.first < count; b.first += rows)
        MG_GO(answer_batch(context, &b, MG_MIN(rows, count - b.first), error));
done:
    MG_FREE(context->heap, b.scores, b.features, b.way);
    return status;
}

/* ---- All rows -------------------------------------------------------------------------------- */

/* Rough scores, where classes are asked for of so many dense rows that they pay. */
static mg_expansion_rough *start_rough(margin_context *context, const query *q, int64_t count) {
    enum { LEAST = 256 };
    const margin_model *model = q->model;
    const bool sparse = model->active == 0 && mg_is_csr(q->x);
    if (q->what != MARGIN_OUTPUT_LABELS || count < LEAST || sparse) return NULL;
    if (mg_decides_by_probability(model)) return NULL;
    return mg_expansion_rough_new(context->heap, model->hypothesis);
}

/* Scratch of each worker. */
static void plan_scratch(parallel_query *p, int64_t count) {
    query longest = p->q;
    longest.rough = p->scores;
    const layout need = query_layout(&longest);
    const mg_fitted_stage *joint = joint_stage(p->q.model);
    const int64_t row = need.row + need.features + need.scores;
    p->room = MG_MAX(least_room(&need), need.row > 0 ? MG_MIN(NEAR, count * row) : STACK_ROOM);
    p->rough = 0;
    if (p->scores) {
        p->room = need.way + need.votes + MG_ROUGH_ROWS * row;
        p->rough = mg_expansion_rough_room(p->scores);
    }
    if (joint) {
        p->together = together_room(joint);
        p->room += MG_ROWS_AT_ONCE * (need.features + need.scores);
    }
}

static margin_status new_scratch(margin_context *context, parallel_query *p, int64_t count,
                                 margin_error *error) {
    plan_scratch(p, count);
    MG_NEW(context->heap, p->scratch, mg_threads(context) * (p->room + p->together + p->rough),
           "scratch for predictions", error);
    return MARGIN_OK;
}

/* With the scores of `p`, or as they are. */
static margin_status predict_blocks(margin_context *context, parallel_query *p, int64_t count,
                                    margin_error *error) {
    margin_status status = new_scratch(context, p, count, error);
    if (status < 0 && p->scores) { /* without them there may be room */
        mg_expansion_rough_free(p->scores);
        p->scores = NULL;
        status = new_scratch(context, p, count, error);
    }
    if (status < 0) return status;
    status =
        mg_sweep_each(context, count, mg_block_rows(mg_row_bytes(p->q.x)), visit_block, p, NULL);
    mg_expansion_rough_free(p->scores);
    mg_free(context->heap, p->scratch);
    if (status >= 0) return MARGIN_OK;
    if (!mg_cancelled(context)) margin_context_cancel(context); /* a kernel function did */
    return mg_fail_cancelled(error);
}

/* The rows that rough scores left in doubt, once more. */
static margin_status settle_doubts(margin_context *context, const query *q, int64_t count,
                                   int64_t doubts, margin_error *error) {
    int64_t *rows, *labels = q->out, n = 0;
    MG_NEW(context->heap, rows, 2 * doubts, "the rows in doubt", error);
    for (int64_t i = 0; i < count; i++)
        if (labels[i] == MG_IN_DOUBT) rows[n++] = q->rows ? q->rows[i] : i;
    parallel_query exact = {.q = *q};
    exact.q.rows = rows;
    exact.q.out = rows + doubts;
    const margin_status status = predict_blocks(context, &exact, n, error);
    for (int64_t i = count; i-- > 0 && status >= 0;)
        if (labels[i] == MG_IN_DOUBT) labels[i] = rows[doubts + --n];
    mg_free(context->heap, rows);
    return status;
}

static margin_status predict_all(margin_context *context, const query *q, int64_t count,
                                 margin_error *error) {
    parallel_query p = {.q = *q};
    if (q->model->hypothesis->kind->scores_batch) return predict_batches(context, q, count, error);
    p.scores = start_rough(context, q, count);
    MG_TRY(predict_blocks(context, &p, count, error));
    return p.doubts > 0 ? settle_doubts(context, q, count, p.doubts, error) : MARGIN_OK;
}

margin_status mg_predict_rows(margin_context *context, const margin_model *model,
                              const margin_matrix *x, const int64_t *rows, int64_t count,
                              margin_output what, void *out, margin_error *error) {
    const query q = {model, x, rows, what, out, context, NULL, false, NULL, NULL};
    return predict_all(context, &q, count, error);
}

margin_status mg_predict_finite(margin_context *context, const margin_model *model,
                                const margin_matrix *x, const int64_t *rows, int64_t count,
                                margin_output what, void *out, margin_error *error) {
    const query q = {model, x, rows, what, out, context, NULL, true, NULL, NULL};
    return predict_all(context, &q, count, error);
}

margin_status margin_predict_parallel(margin_context *context, const margin_model *model,
                                      const margin_matrix *x, margin_output what, void *out,
                                      margin_error *error) {
    margin_context call;
    margin_status status;
    MG_REQUIRE(context, error, MARGIN_ERROR_ARGUMENT, "the context is NULL");
    MG_TRY(check_query(model, x, what, out, error));
    mg_context_call(context, &call);
    MG_GO(mg_matrix_check_any(&call, x, "x", error));
    status = mg_predict_rows(&call, model, x, NULL, x->rows, what, out, error);
done:
    return mg_call_status(&call, status, "before all rows were answered", error);
}
