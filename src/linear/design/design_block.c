/* Rows of a design a block at a time. */
#include "linear/design/design_block.h"

#include <string.h>

/* ---- Weights and gradients in X's units ------------------------------------------------------ */

mg_row_weights mg_design_row_weights(mg_design *d, const double *w, double b) {
    if (!d->scale && !d->shift) return (mg_row_weights){w, b};
    if (!d->centre) {
        b += mg_design_to_rows(d, w, d->work);
        return (mg_row_weights){d->work, b};
    }
    for (int64_t j = 0; j < d->columns; j++) {
        const double scale = d->scale ? d->scale[j] : 1.0;
        d->work[j] = scale * w[j];
        if (scale == 0) b += d->shift[j] * w[j];
    }
    return (mg_row_weights){d->work, b};
}

void mg_design_from_rows(const mg_design *d, double total, double *gradient) {
    if (d->scale)
        for (int64_t j = 0; j < d->columns; j++)
            gradient[j] *= d->scale[j];
    if (!d->shift) return;
    for (int64_t j = 0; j < d->columns; j++)
        if (!d->centre || (d->scale && d->scale[j] == 0)) gradient[j] += d->shift[j] * total;
}

/* ---- Rows that are made ---------------------------------------------------------------------- */

/* As many as a stage makes at once. Columns are put together many rows at a time, so that each is
 * read on for a while: at least MG_CHUNK_ROWS, and as many as divide a block of a pass. */
static int64_t rows_together(const mg_design *d) {
    const mg_row_maker *maker = d->problem->maker;
    return maker ? mg_stage_at_once(maker->stage) : mg_block_rows(mg_row_bytes(&d->problem->x));
}

margin_status mg_made_rows_new(mg_design *d, margin_error *error) {
    const bool by_columns = mg_is_by_columns(&d->problem->x);
    const int64_t workers = mg_threads(d->context);
    const int64_t room = MG_MAX(rows_together(d), d->walk_rows + MG_COLUMN_GAP);
    if (!d->problem->maker && !by_columns) return MARGIN_OK;
    const int64_t scratch = by_columns ? d->columns : mg_row_maker_scratch(d->problem->maker);
    const int64_t numbers = room * d->columns + scratch;
    double *rows;
    MG_TRY(MG_PIECES(&d->arena, "rows that are made", error, MG_PIECE(d->made, workers),
                     MG_PIECE(rows, workers * numbers)));
    for (int64_t w = 0; w < workers; w++, rows += numbers)
        d->made[w] = (mg_made_rows){.rows = rows, .scratch = rows + room * d->columns};
    return MARGIN_OK;
}

/* Numbers of the rows of positions [first, first + count). */
static void list_rows(const mg_visit_list *list, int64_t first, int64_t count,
                      int64_t rows[MG_CHUNK_ROWS]) {
    for (int64_t k = 0; k < count; k++)
        rows[k] = mg_sample_row(list->design->problem, mg_visit_sample(list, first + k));
}

static void put(const mg_design *d, mg_made_rows *made, const int64_t *numbers, int64_t first,
                int64_t count) {
    made->plain = false;
    made->first = first;
    made->count = count;
    if (d->problem->maker)
        mg_rows_make_stored(d->problem->maker, numbers, count, made->scratch, made->rows);
    else
        mg_rows_from_columns(&d->problem->x, numbers, first, count, made->rows);
}

/* Of all samples, up to where those that are put together with the first one end, and all `count`:
 * a chunk may reach over that end. */
static void put_together(const mg_design *d, mg_made_rows *made, int64_t first, int64_t count) {
    const int64_t rows = rows_together(d), end = MG_MAX((first / rows + 1) * rows, first + count);
    const int64_t *numbers = d->problem->index ? d->problem->index + first : NULL;
    count = MG_MIN(end, d->samples) - first;
    for (int64_t k = 0; d->problem->maker && k < count; k++)
        made->numbers[k] = numbers ? numbers[k] : first + k;
    put(d, made, d->problem->maker ? made->numbers : numbers, first, count);
}

static void make_rows(const mg_visit_list *list, int64_t first, int64_t count,
                      const void *rows[MG_CHUNK_ROWS]) {
    const mg_design *d = list->design;
    mg_made_rows *made = &d->made[mg_worker(d->context)];
    const int64_t bytes = d->columns * mg_type_size(d->problem->x.value_type);
    int64_t numbers[MG_CHUNK_ROWS] = {0}, skipped = 0;
    if (!list->chosen) {
        const bool there = !made->plain && made->first >= 0 && first >= made->first &&
                           first + count <= made->first + made->count;
        if (!there) put_together(d, made, first, count);
        skipped = first - made->first;
    } else {
        list_rows(list, first, count, numbers);
        const bool there = made->first < 0 && made->count == count &&
                           memcmp(made->numbers, numbers, (size_t)count * sizeof *numbers) == 0;
        if (!there) put(d, made, memcpy(made->numbers, numbers, sizeof numbers), -1, count);
    }
    for (int64_t k = 0; k < count; k++)
        rows[k] = (const char *)made->rows + (skipped + k) * bytes;
}

/* ---- Chunks of rows -------------------------------------------------------------------------- */

void mg_design_find_rows(const mg_visit_list *list, int64_t first, int64_t count,
                         const void *rows[MG_CHUNK_ROWS]) {
    const margin_matrix *x = &list->design->problem->x;
    const int64_t bytes = x->stride * mg_type_size(x->value_type);
    if (list->design->made) {
        make_rows(list, first, count, rows);
        return;
    }
    for (int64_t k = 0; k < count; k++)
        rows[k] = (const char *)x->values +
                  mg_sample_row(list->design->problem, mg_visit_sample(list, first + k)) * bytes;
}

void mg_design_copy_rows(const mg_design *d, const int64_t *chosen, int64_t count, void *out) {
    const mg_visit_list list = {d, chosen};
    const size_t bytes = (size_t)(d->columns * mg_type_size(d->problem->x.value_type));
    const void *rows[MG_CHUNK_ROWS];
    char *to = out;
    for (int64_t first = 0; first < count; first += d->chunk_rows) {
        const int64_t some = MG_MIN(count - first, d->chunk_rows);
        mg_design_find_rows(&list, first, some, rows);
        for (int64_t k = 0; k < some; k++, to += bytes)
            memcpy(to, rows[k], bytes);
    }
}

/* All samples from `first` on as plain columns, read once for the scores and the gradient. */
static mg_column_part plain_part(const mg_design *d, int64_t first, int64_t count) {
    mg_made_rows *made = &d->made[mg_worker(d->context)];
    const void **columns = (const void **)(void *)made->scratch;
    if (!made->plain || made->first != first || made->count != count)
        mg_columns_from_arrays(&d->problem->x, NULL, d->columns, NULL, first, count, made->rows,
                               columns);
    made->plain = true;
    made->first = first;
    made->count = count;
    return (mg_column_part){columns, d->columns, 0, count};
}

/* Are the positions those of all samples, by columns? */
static bool column_part(const mg_visit_list *list, int64_t first, int64_t count,
                        mg_column_part *part) {
    const mg_design *d = list->design;
    const margin_matrix *x = &d->problem->x;
    if (!d->column_ops || list->chosen) return false;
    *part = x->arrays ? plain_part(d, first, count)
                      : (mg_column_part){x->column_values, d->columns, first, count};
    return true;
}

void mg_design_chunk_scores(const mg_visit_list *list, const mg_row_weights *weights, int64_t first,
                            int64_t count, double *scores) {
    const mg_design *d = list->design;
    mg_column_part part;
    if (column_part(list, first, count, &part)) {
        d->column_ops->scores(&part, d->centre, weights->w, weights->b, 2, scores);
        return;
    }
    if (d->rows) {
        const void *rows[MG_CHUNK_ROWS];
        mg_design_find_rows(list, first, count, rows);
        d->rows->scores(rows, count, d->columns, d->centre, weights->w, weights->b, scores);
        return;
    }
    int64_t numbers[MG_CHUNK_ROWS];
    list_rows(list, first, count, numbers);
    d->ops->dots(&d->problem->x, numbers, count, weights->w, weights->b, scores);
}

void mg_design_chunk_gradient(const mg_visit_list *list, int64_t first, int64_t count,
                              const double *r, double *sum) {
    const mg_design *d = list->design;
    mg_column_part part;
    if (column_part(list, first, count, &part)) {
        d->column_ops->gradient(&part, d->centre, r, sum);
        return;
    }
    if (d->rows) {
        const void *rows[MG_CHUNK_ROWS];
        mg_design_find_rows(list, first, count, rows);
        d->rows->gradient(rows, count, d->columns, d->centre, r, sum);
        return;
    }
    int64_t numbers[MG_CHUNK_ROWS];
    list_rows(list, first, count, numbers);
    d->ops->adds(&d->problem->x, numbers, count, r, sum);
}

void mg_design_chunk_visit(const mg_visit_list *list, const mg_row_weights *weights, int64_t first,
                           int64_t count, double *r, double *sum) {
    const mg_design *d = list->design;
    double scores[MG_COLUMN_ROWS];
    int64_t numbers[MG_CHUNK_ROWS];
    if (d->ops->visit) {
        list_rows(list, first, count, numbers);
        d->ops->visit(&d->problem->x, numbers, count, weights->w, weights->b, r, sum);
        return;
    }
    mg_design_chunk_scores(list, weights, first, count, scores);
    for (int64_t k = 0; k < count; k++)
        r[k] *= scores[k];
    mg_design_chunk_gradient(list, first, count, r, sum);
}

void mg_design_chunk_moments(const mg_visit_list *list, int64_t first, int64_t count,
                             const double *centre, const double *weights, double *sum,
                             double *squares) {
    const mg_design *d = list->design;
    const void *rows[MG_CHUNK_ROWS];
    mg_column_part part;
    if (column_part(list, first, count, &part)) {
        d->column_ops->moments(&part, centre, weights, sum, squares);
        return;
    }
    mg_design_find_rows(list, first, count, rows);
    d->rows->moments(rows, count, d->columns, centre, weights, sum, squares);
}
