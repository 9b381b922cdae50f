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
    bool flat; /* w = 0: all scores are b */
} loss_walk;

void mg_design_margins(const mg_design *d, const mg_loss *loss, int64_t first, int64_t count,
                       const double *scores, double *t) {
    const mg_problem *problem = d->problem;
    if (loss->margin_based) {
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

static margin_status loss_add_block(void *state, const mg_block *block, void *argument) {
    const loss_walk *walk = argument;
    const mg_design *d = walk->list.design;
    const int8_t *sign = walk->loss->margin_based ? d->problem->sign : NULL;
    const mg_loss_point *point = walk->point;
    const double *c = walk->c ? walk->c : d->problem->weight;
    mg_loss_passer *const pass = mg_loss_pass_for(d->isa);
    const int64_t step = mg_walk_rows(&walk->list);
    double scores[MG_COLUMN_ROWS], t[MG_COLUMN_ROWS], slopes[MG_COLUMN_ROWS];
    mg_pass_sums *sums = state;
    for (int64_t first = block->first, end = first + block->count; first < end; first += step) {
        const int64_t count = MG_MIN(end - first, step);
        const size_t bytes = (size_t)count * sizeof(double);
        if (point->known)
            memcpy(scores, point->known + first, bytes);
        else if (walk->flat)
            for (int64_t k = 0; k < count; k++)
                scores[k] = walk->weights.b;
        else
            mg_design_chunk_scores(&walk->list, &walk->weights, first, count, scores);
        if (point->scores) memcpy(point->scores + first, scores, bytes);
        mg_design_margins(d, walk->loss, first, count, scores, t);
        for (int64_t k = 0; k < count; k += d->chunk_rows) /* the same sums whatever the step is */
            sums->value += pass(walk->loss->kind, t + k, c ? c + first + k : NULL,
                                MG_MIN(d->chunk_rows, count - k), slopes + k,
                                point->curvatures ? point->curvatures + first + k : NULL);
        if (sign) sums->errors += (double)count_errors(t, count);
        for (int64_t k = 0; sign && k < count; k++)
            slopes[k] *= sign[first + k];
        if (point->slopes) memcpy(point->slopes + first, slopes, bytes);
        for (int64_t k = 0; k < count; k++)
            sums->total += slopes[k];
        if (point->gradient)
            mg_design_chunk_gradient(&walk->list, first, count, slopes, sums->gradient);
    }
    return MARGIN_OK;
}

/* In pairs: many slopes are equal, and their sums one after the other round to one side. */
static double sum_in_pairs(const double *r, int64_t count) {
    enum { FEW = 32 };
    double sum = 0.0;
    if (count > FEW)
        return sum_in_pairs(r, count / 2) + sum_in_pairs(r + count / 2, count - count / 2);
    for (int64_t k = 0; k < count; k++)
        sum += r[k];
    return sum;
}

/* Gradients afterwards, from the slopes of all samples. */
static margin_status pass_by_columns(mg_design *d, const mg_loss *loss, const double *w, double b,
                                     const double *c, mg_loss_point *point, margin_error *error) {
    mg_loss_point rows = *point;
    MG_SCOPED_ARENA(arena, d->heap);
    rows.gradient = rows.intercept_gradient = NULL;
    if (!rows.slopes)
        MG_ARENA_NEW(&arena, rows.slopes, d->samples, "the slopes of the losses", error);
    MG_TRY(mg_design_loss(d, loss, w, b, c, &rows, error));
    const double total = sum_in_pairs(rows.slopes, d->samples);
    if (point->gradient) {
        MG_TRY(mg_design_column_sums(d, rows.slopes, point->gradient, error));
        mg_design_from_rows(d, total, point->gradient);
    }
    point->value = rows.value;
    if (point->intercept_gradient) *point->intercept_gradient = total;
    point->errors = rows.errors;
    return MARGIN_OK;
}

margin_status mg_design_loss(mg_design *d, const mg_loss *loss, const double *w, double b,
                             const double *c, mg_loss_point *point, margin_error *error) {
    if (d->by_column && (point->gradient || point->intercept_gradient))
        return pass_by_columns(d, loss, w, b, c, point, error);
    int64_t zeros = 0;
    while (w && zeros < d->columns && w[zeros] == 0.0)
        zeros++;
    const loss_walk walk = {.list = {d, NULL},
                            .flat = zeros == d->columns,
                            .weights = mg_design_row_weights(d, w, b),
                            .loss = loss,
                            .c = c,
                            .point = point};
    const mg_pass_sums *sums = d->sums;
    MG_TRY(mg_sweep_sums(d->context, d->samples, d->block_rows,
                         MG_PASS_SUMS + (point->gradient ? d->columns : 0), 0, loss_add_block,
                         (void *)&walk, d->sums, error));
    point->value = sums->value;
    if (point->intercept_gradient) *point->intercept_gradient = sums->total;
    point->errors = (int64_t)sums->errors;
    if (point->gradient) {
        memcpy(point->gradient, sums->gradient, (size_t)d->columns * sizeof *point->gradient);
        mg_design_from_rows(d, sums->total, point->gradient);
    }
    return MARGIN_OK;
}
