/* The pass of a loss over a design: scores, losses and gradient of a chunk of rows while it is in
 * cache. */
#include "linear/design/design_block.h"
#include "linear/design/design_columns.h"

#include <string.h>

typedef struct loss_walk {
    mg_visit_list list;
    mg_row_weights weights;
    const mg_loss *loss;
    const double *c;
    const mg_loss_point *point;
} loss_walk;

/* t of the samples [first, first + count), from their scores. */
static void chunk_margins(const loss_walk *walk, int64_t first, int64_t count, const double *scores,
                          double *t) {
    const mg_problem *problem = walk->list.design->problem;
    if (walk->loss->margin_based) {
        for (int64_t k = 0; k < count; k++)
            t[k] = problem->sign[first + k] * scores[k];
    } else {
        for (int64_t k = 0; k < count; k++)
            t[k] = scores[k] - problem->target[first + k];
    }
}

static int64_t count_errors(const double *t, int64_t count) {
    int64_t errors = 0;
    for (int64_t k = 0; k < count; k++)
        errors += !(t[k] > 0.0);
    return errors;
}

static void add_chunk(const loss_walk *walk, int64_t first, int64_t count, mg_pass_sums *sums) {
    const mg_design *d = walk->list.design;
    const mg_problem *problem = d->problem;
    const mg_loss_point *point = walk->point;
    const double *c = walk->c ? walk->c : problem->weight;
    double scores[MG_CHUNK_ROWS], t[MG_CHUNK_ROWS], slopes[MG_CHUNK_ROWS];
    if (point->known)
        memcpy(scores, point->known + first, (size_t)count * sizeof *scores);
    else
        mg_design_chunk_scores(&walk->list, &walk->weights, first, count, scores);
    if (point->scores) memcpy(point->scores + first, scores, (size_t)count * sizeof *scores);
    chunk_margins(walk, first, count, scores, t);
    sums->value += mg_loss_pass(walk->loss, d->isa, t, c ? c + first : NULL, count, slopes,
                                point->curvatures ? point->curvatures + first : NULL);
    if (walk->loss->margin_based) {
        sums->errors += count_errors(t, count);
        for (int64_t k = 0; k < count; k++)
            slopes[k] *= problem->sign[first + k];
    }
    if (point->slopes) memcpy(point->slopes + first, slopes, (size_t)count * sizeof *slopes);
    for (int64_t k = 0; k < count; k++)
        sums->total += slopes[k];
    if (point->gradient)
        mg_design_chunk_gradient(&walk->list, first, count, slopes, sums->gradient);
}

static void start_pass(void *state, void *argument) {
    const loss_walk *walk = argument;
    mg_pass_sums_clear(state, walk->point->gradient ? walk->list.design->columns : 0);
}

static margin_status loss_add_block(void *state, const mg_block *block, void *argument) {
    const loss_walk *walk = argument;
    const int64_t chunk = walk->list.design->chunk_rows;
    for (int64_t at = 0; at < block->count; at += chunk)
        add_chunk(walk, block->first + at, MG_MIN(block->count - at, chunk), state);
    return MARGIN_OK;
}

static void merge_passes(void *into, const void *from, void *argument) {
    (void)argument;
    mg_pass_sums_merge(into, from);
}

static margin_status pass_by_rows(mg_design *d, const mg_loss *loss, const double *w, double b,
                                  const double *c, mg_loss_point *point, margin_error *error) {
    const loss_walk walk = {.list = {d, NULL},
                            .weights = mg_design_row_weights(d, w, b),
                            .loss = loss,
                            .c = c,
                            .point = point};
    const mg_accumulator accumulator = {.state_size =
                                            mg_pass_sums_size(point->gradient ? d->columns : 0),
                                        .init = start_pass,
                                        .add = loss_add_block,
                                        .merge = merge_passes};
    mg_pass_sums *sums = mg_new(d->heap, accumulator.state_size, 1);
    if (!sums)
        return mg_no_memory(d->heap, accumulator.state_size, 1, "the gradient of a linear model",
                            error);
    margin_status status =
        mg_sweep(d->context, d->samples, d->block_rows, &accumulator, (void *)&walk, sums, error);
    if (status >= 0) {
        point->value = sums->value;
        if (point->intercept_gradient) *point->intercept_gradient = sums->total;
        point->errors = sums->errors;
        if (point->gradient) {
            memcpy(point->gradient, sums->gradient, (size_t)d->columns * sizeof *point->gradient);
            mg_design_from_rows(d, sums->total, point->gradient);
        }
    }
    mg_free(d->heap, sums);
    return status;
}

/* The gradient afterwards, from the slopes of all samples. */
static margin_status pass_by_columns(mg_design *d, const mg_loss *loss, const double *w, double b,
                                     const double *c, mg_loss_point *point, margin_error *error) {
    mg_loss_point rows = *point;
    double *slopes = NULL, total;
    margin_status status;
    rows.gradient = NULL;
    rows.intercept_gradient = &total;
    if (!rows.slopes) {
        MG_NEW(d->heap, slopes, d->samples, "the slopes of the losses", error);
        rows.slopes = slopes;
    }
    MG_GO(pass_by_rows(d, loss, w, b, c, &rows, error));
    MG_GO(mg_design_column_sums(d, rows.slopes, point->gradient, error));
    mg_design_from_rows(d, total, point->gradient);
    point->value = rows.value;
    if (point->intercept_gradient) *point->intercept_gradient = total;
    point->errors = rows.errors;
done:
    mg_free(d->heap, slopes);
    return status;
}

margin_status mg_design_loss(mg_design *d, const mg_loss *loss, const double *w, double b,
                             const double *c, mg_loss_point *point, margin_error *error) {
    return d->by_column && point->gradient ? pass_by_columns(d, loss, w, b, c, point, error)
                                           : pass_by_rows(d, loss, w, b, c, point, error);
}
