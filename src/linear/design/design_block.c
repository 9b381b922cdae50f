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

margin_status mg_made_rows_new(mg_design *d, margin_error *error) {
    const int64_t workers = mg_threads(d->context);
    const int64_t row = d->columns * (int64_t)sizeof(double);
    const int64_t bytes = workers * ((int64_t)sizeof(mg_made_rows) + (d->chunk_rows + 1) * row);
    if (!d->problem->maker) return MARGIN_OK;
    MG_NEW_BYTES(d->heap, d->made, bytes, "rows that are made", error);
    memset(d->made, 0, (size_t)bytes);
    char *rows = (char *)(d->made + workers);
    for (int64_t w = 0; w < workers; w++, rows += (d->chunk_rows + 1) * row) {
        d->made[w].rows = rows;
        d->made[w].scratch = (double *)(void *)(rows + d->chunk_rows * row);
    }
    return MARGIN_OK;
}

static void make_rows(const mg_visit_list *list, int64_t first, int64_t count,
                      const void *rows[MG_CHUNK_ROWS]) {
    const mg_design *d = list->design;
    mg_made_rows *made = &d->made[mg_worker(d->context)];
    const int64_t bytes = d->columns * mg_type_size(d->problem->x.value_type);
    const bool there = made->chosen == list->chosen && made->first == first && made->count == count;
    for (int64_t k = 0; k < count; k++) {
        char *row = (char *)made->rows + k * bytes;
        rows[k] = row;
        if (!there)
            mg_row_make_stored(d->problem->maker,
                               mg_design_row(d, mg_visit_sample(list, first + k)), made->scratch,
                               row);
    }
    made->chosen = list->chosen;
    made->first = first;
    made->count = count;
}

/* ---- Chunks of rows -------------------------------------------------------------------------- */

/* Numbers of the rows of positions [first, first + count). */
static void list_rows(const mg_visit_list *list, int64_t first, int64_t count,
                      int64_t rows[MG_CHUNK_ROWS]) {
    for (int64_t k = 0; k < count; k++)
        rows[k] = mg_design_row(list->design, mg_visit_sample(list, first + k));
}

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
                  mg_design_row(list->design, mg_visit_sample(list, first + k)) * bytes;
}

void mg_design_chunk_scores(const mg_visit_list *list, const mg_row_weights *weights, int64_t first,
                            int64_t count, double *scores) {
    const mg_design *d = list->design;
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

void mg_design_chunk_moments(const mg_visit_list *list, int64_t first, int64_t count,
                             const double *centre, const double *weights, double *sum,
                             double *squares) {
    const mg_design *d = list->design;
    const void *rows[MG_CHUNK_ROWS];
    mg_design_find_rows(list, first, count, rows);
    d->rows->moments(rows, count, d->columns, centre, weights, sum, squares);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

margin_status mg_pass_sum(const mg_design *d, int64_t count, int64_t columns,
                          margin_status (*add)(void *sums, const mg_block *block, void *argument),
                          const void *argument, mg_pass_sums **sums, margin_error *error) {
    const int64_t numbers = (int64_t)(sizeof **sums / sizeof(double)) + columns;
    *sums = mg_new(d->heap, numbers, sizeof(double));
    if (!*sums)
        return mg_no_memory(d->heap, numbers, sizeof(double), "the gradient of a linear model",
                            error);
    const margin_status status = mg_sweep_sums(d->context, count, d->block_rows, numbers, 0, add,
                                               (void *)argument, *sums, error);
    if (status >= 0) return status;
    mg_free(d->heap, *sums);
    *sums = NULL;
    return status;
}
