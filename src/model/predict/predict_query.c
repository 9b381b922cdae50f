/* Rows of a question in batches: through the active stages, scores of the hypothesis, answers.
 *
 * Nothing is allocated. Rows go in batches whose size is what the scratch has room for; a row's
 * answer does not depend on its batch. */
#include "model/predict/predict_query.h"

#include "model/predict/row_stages.h"

#include <math.h>
#include <string.h>

enum { BATCH = 256 }; /* the most rows */

/* ---- Scratch --------------------------------------------------------------------------------- */

bool mg_scores_are_answer(margin_output what) {
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

mg_layout mg_layout_of(const margin_model *model, margin_output what, const margin_matrix *x,
                       const int64_t *rows) {
    mg_layout need = {.row = 0};
    if (x && is_gathered(model, x, rows)) need.row = x->columns;
    const mg_fitted_stage *entering = entering_stage(model);
    if (entering) {
        need.way = MG_MIN(model->active, 3) * mg_width_before(model);
        need.features = 2 * entering->columns_in + 2; /* values, columns, where rows start */
    } else if (model->active > 0) {
        need.way = MG_MIN(model->active, 2) * mg_model_row_width(model);
        if (model->inner)
            need.way +=
                mg_inner_at_once(&model->stages[model->active - 1]) * mg_width_before(model);
    }
    if (mg_may_take_refusals(model)) need.way += mg_model_row_width(model);
    if (!entering && (model->active > 0 || model->hypothesis->kind->dense))
        need.features = model->hypothesis->columns;
    if (what == MARGIN_OUTPUT_LABELS || what == MARGIN_OUTPUT_CLASS_SCORES)
        need.votes = mg_decide_room(model);
    if (!mg_scores_are_answer(what)) need.scores = model->hypothesis->functions;
    return need;
}

mg_layout mg_query_layout(const mg_query *q) {
    mg_layout need = mg_layout_of(q->model, q->what, q->x, q->rows);
    if (!q->rough) return need;
    need.scores *= 2;
    need.votes = MG_MAX(need.votes, 2 * q->model->classes);
    return need;
}

int64_t mg_layout_least_room(const mg_layout *need) {
    return need->way + need->votes + need->features + need->scores + need->row;
}

bool mg_query_takes_rows(const margin_model *model, const margin_matrix *x) {
    if (mg_is_by_columns(x)) return takes_columns(model, x, NULL);
    if (model->active > 0) return false;
    return !model->hypothesis->kind->dense || (!mg_is_csr(x) && x->value_type == MARGIN_F64);
}

const mg_fitted_stage *mg_joint_stage(const margin_model *model) {
    const mg_fitted_stage *last = model->active > 0 ? &model->stages[model->active - 1] : NULL;
    return last && !model->inner && mg_stage_at_once(last) > 1 ? last : NULL;
}

int64_t mg_together_room(const mg_fitted_stage *stage) {
    return MG_ROWS_AT_ONCE * (stage->columns_in + stage->columns_out);
}

/* ---- Features -------------------------------------------------------------------------------- */

/* As they come to the last stage, and what it makes its features of. */
static void inner_rows(const mg_query *q, int64_t row, int64_t count, double *way, double *values) {
    const margin_model *model = q->model;
    const mg_fitted_stage *last = &model->stages[model->active - 1];
    const int64_t most = mg_inner_at_once(last);
    double *in = way + MG_MIN(model->active, 2) * mg_model_row_width(model);
    for (int64_t first = 0; first < count; first += most) {
        const int64_t some = MG_MIN(most, count - first);
        for (int64_t i = 0; i < some; i++)
            mg_stage_row(model, model->active - 1, q->x, row + first + i, way,
                         in + i * last->columns_in);
        last->stage->inner(last, in, some, values + first * last->columns_out);
    }
}

static void stage_rows(const mg_query *q, int64_t row, int64_t count, double *way,
                       double *features) {
    const margin_model *model = q->model;
    const mg_fitted_stage *last = q->together ? mg_joint_stage(model) : NULL;
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
static margin_matrix enter_rows(const mg_query *q, const mg_fitted_stage *last, int64_t row,
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

void mg_leave_refused(const mg_query *q, int64_t at, int64_t count, double *way, double *scores) {
    const mg_hypothesis *h = q->model->hypothesis;
    const bool swallows = !q->finite && mg_may_take_refusals(q->model);
    const int64_t room = mg_layout_of(q->model, q->what, NULL, NULL).way;
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
static margin_status ask_scores(const mg_query *q, const margin_matrix *x, int64_t row,
                                int64_t count, double *scores) {
    const mg_hypothesis *h = q->model->hypothesis;
    if (!q->rough) return h->kind->scores(h, x, row, count, scores);
    mg_expansion_rough_scores(q->rough, x, row, count, q->rough_room, scores,
                              scores + count * h->functions);
    return MARGIN_OK;
}

/* Scores of `count` rows that follow each other in x, through the stages. */
static margin_status score_rows(const mg_query *q, int64_t row, int64_t count,
                                const mg_layout *need, double *scratch, double *scores) {
    const margin_model *model = q->model;
    if (mg_query_takes_rows(model, q->x)) return ask_scores(q, q->x, row, count, scores);
    double *features = scratch + need->way + need->votes;
    const mg_fitted_stage *entering = entering_stage(model);
    if (entering) {
        const margin_matrix entries = enter_rows(q, entering, row, count, scratch, features);
        return ask_scores(q, &entries, 0, count, scores);
    }
    if (model->inner) {
        const mg_hypothesis *h = model->hypothesis;
        inner_rows(q, row, count, scratch, features);
        mg_inner_scores(features, count, h->columns, model->inner, h->view.linear.intercept,
                        h->functions, scores);
        return MARGIN_OK;
    }
    stage_rows(q, row, count, scratch, features);
    margin_matrix staged = margin_dense_f64(features, count, need->features, need->features);
    return ask_scores(q, &staged, 0, count, scores);
}

/* One row of an answer that is no label. */
static void answer_row(const mg_query *q, const double *scores, double *votes, double *out) {
    if (q->what == MARGIN_OUTPUT_CLASS_SCORES) {
        mg_class_scores(q->model, scores, votes, out);
    } else if (q->what == MARGIN_OUTPUT_DISTANCES) {
        for (int64_t c = 0; c < q->model->classes; c++)
            out[c] = sqrt(-scores[c]) + 0.0; /* -0 is 0 */
    } else {
        mg_probabilities(q->model, scores, out);
    }
}

void mg_answer_rows(const mg_query *q, int64_t at, int64_t count, const double *scores,
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
    } else if (!mg_scores_are_answer(q->what)) {
        double *out = (double *)q->out + at * model->classes;
        for (int64_t i = 0; i < count; i++)
            answer_row(q, scores + i * functions, votes, out + i * model->classes);
    }
}

/* Length of the run of rows that follow each other in x, from the `at`-th of the query. */
static int64_t run_length(const mg_query *q, int64_t at, int64_t most) {
    int64_t length = 1;
    if (!q->rows) return most;
    while (length < most && q->rows[at + length] == q->rows[at] + length)
        length++;
    return length;
}

/* Rows of a batch that is over within some hundredths of a second: of an expansion each meets all
 * support rows, some side by side. */
static int64_t most_rows(const mg_query *q) {
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
static mg_query gathered(const mg_query *q, int64_t at, int64_t count, void *room,
                         margin_matrix *x) {
    mg_query made = *q;
    const int64_t columns = q->x->columns;
    mg_rows_together(q->x, q->rows ? q->rows + at : NULL, at, count, room);
    *x = q->x->value_type == MARGIN_F32 ? margin_dense_f32(room, count, columns, columns)
                                        : margin_dense_f64(room, count, columns, columns);
    made.x = x;
    made.rows = NULL;
    return made;
}

margin_status mg_answer_range(const mg_query *q, int64_t first, int64_t count, double *scratch,
                              int64_t room) {
    const mg_layout need = mg_query_layout(q);
    const int64_t per_row = need.features + need.scores + need.row;
    int64_t batch = per_row > 0 ? (room - need.way - need.votes) / per_row : BATCH;
    batch = MG_MIN(batch, most_rows(q));
    for (int64_t at = first, length; at < first + count; at += length) {
        if (q->context && mg_cancelled(q->context)) return MARGIN_ERROR_CANCELLED;
        double *rest = scratch + need.way + need.votes + batch * need.features, *scores = rest;
        if (mg_scores_are_answer(q->what))
            scores = (double *)q->out + at * q->model->hypothesis->functions;
        if (need.row > 0) {
            margin_matrix x;
            length = MG_MIN(batch, first + count - at);
            const mg_query part = gathered(q, at, length, rest + batch * need.scores, &x);
            MG_TRY(score_rows(&part, 0, length, &need, scratch, scores));
            mg_leave_refused(&part, 0, length, scratch, scores);
        } else {
            length = run_length(q, at, MG_MIN(batch, first + count - at));
            MG_TRY(score_rows(q, q->rows ? q->rows[at] : at, length, &need, scratch, scores));
            mg_leave_refused(q, at, length, scratch, scores);
        }
        mg_answer_rows(q, at, length, scores, scratch + need.way);
    }
    return MARGIN_OK;
}
