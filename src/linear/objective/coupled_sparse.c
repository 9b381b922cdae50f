/* Sparse rows and several functions: a copy of the rows by column, and the products with both. */
#include "linear/objective/coupled.h"

#include "base/pool.h"
#include "math/rows/sparse_row.h"

#include <string.h>

enum { TASK_COLUMNS = 256, POLL_ENTRIES = 1 << 20 };

/* ---- By column ------------------------------------------------------------------------------- */

/* Takes the entries of a row off those until the next poll. */
static margin_status poll(const mg_design *d, int64_t entries, int64_t *left, margin_error *error) {
    *left -= entries + 1;
    if (*left > 0) return MARGIN_OK;
    *left = POLL_ENTRIES;
    return mg_cancelled(d->context) ? mg_fail_cancelled(error) : MARGIN_OK;
}

static margin_status count_entries(const mg_design *d, int64_t *counts, int64_t *total,
                                   margin_error *error) {
    const margin_matrix *x = &d->problem->x;
    int64_t left = 0;
    *total = 0;
    memset(counts, 0, (size_t)(d->columns + 1) * sizeof *counts);
    for (int64_t i = 0; i < d->samples; i++) {
        const int64_t row = mg_design_row(d, i);
        const int64_t first = mg_row_start(x, row), last = mg_row_start(x, row + 1);
        MG_TRY(poll(d, last - first, &left, error));
        for (int64_t k = first; k < last; k++)
            counts[mg_column_index(x, k)]++;
        *total += last - first;
    }
    return MARGIN_OK;
}

static margin_status place_entries(const mg_design *d, mg_sparse_columns *c, margin_error *error) {
    const margin_matrix *x = &d->problem->x;
    int64_t before = 0, left = 0;
    for (int64_t j = 0; j <= d->columns; j++) {
        const int64_t own = j < d->columns ? c->starts[j] : 0;
        c->starts[j] = before;
        before += own;
    }
    for (int64_t i = 0; i < d->samples; i++) {
        const int64_t row = mg_design_row(d, i);
        const int64_t first = mg_row_start(x, row), last = mg_row_start(x, row + 1);
        MG_TRY(poll(d, last - first, &left, error));
        for (int64_t k = first; k < last; k++) {
            const int64_t at = c->starts[mg_column_index(x, k)]++;
            c->samples[at] = (int32_t)i;
            c->values[at] = mg_stored_value(x, k);
        }
    }
    for (int64_t j = d->columns; j > 0; j--)
        c->starts[j] = c->starts[j - 1];
    c->starts[0] = 0;
    return MARGIN_OK;
}

margin_status mg_sparse_columns_make(const mg_design *d, mg_sparse_columns *columns,
                                     margin_error *error) {
    const char *purpose = "a copy of the sparse rows by column";
    mg_sparse_columns made = {0};
    int64_t entries;
    margin_status status;
    MG_REQUIRE(d->samples <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "%lld sparse rows are more than the limit of 2147483647; train on a part of them",
               (long long)d->samples);
    MG_GO_NEW(d->heap, made.starts, d->columns + 1, purpose, error);
    MG_GO(count_entries(d, made.starts, &entries, error));
    MG_GO_NEW(d->heap, made.samples, entries, purpose, error);
    MG_GO_NEW(d->heap, made.values, entries, purpose, error);
    MG_GO(place_entries(d, &made, error));
    *columns = made;
    return MARGIN_OK;
done:
    mg_sparse_columns_free(d->heap, &made);
    return status;
}

void mg_sparse_columns_free(mg_heap *heap, mg_sparse_columns *columns) {
    mg_free(heap, columns->starts);
    mg_free(heap, columns->samples);
    mg_free(heap, columns->values);
    memset(columns, 0, sizeof *columns);
}

/* ---- Products -------------------------------------------------------------------------------- */

typedef struct column_walk {
    const mg_objective *o;
    const double *w, *slopes;
    double *gradient;
} column_walk;

static margin_status turn_columns(const mg_block *block, void *argument) {
    const column_walk *walk = argument;
    const mg_objective *o = walk->o;
    const double *scale = o->design->scale;
    for (int64_t k = 0; k < o->functions; k++)
        for (int64_t j = block->first; j < block->first + block->count; j++)
            o->coupled->weights[j * o->functions + k] =
                (scale ? scale[j] : 1.0) * walk->w[k * o->columns + j];
    return MARGIN_OK;
}

margin_status mg_coupled_turn_weights(const mg_objective *o, const double *w, margin_error *error) {
    column_walk walk = {.o = o, .w = w};
    const margin_status status =
        mg_sweep_each(o->design->context, o->columns, TASK_COLUMNS, turn_columns, &walk);
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

void mg_coupled_sparse_scores(const mg_objective *o, int64_t first, int64_t count, double *scores) {
    const mg_design *d = o->design;
    const margin_matrix *x = &d->problem->x;
    const int64_t functions = o->functions;
    memset(scores, 0, (size_t)(count * functions) * sizeof *scores);
    for (int64_t r = 0; r < count; r++) {
        const int64_t row = mg_design_row(d, first + r), last = mg_row_start(x, row + 1);
        double *z = scores + r * functions;
        for (int64_t e = mg_row_start(x, row); e < last; e++) {
            const double value = mg_stored_value(x, e);
            const double *w = o->coupled->weights + mg_column_index(x, e) * functions;
            for (int64_t k = 0; k < functions; k++)
                z[k] += value * w[k];
        }
    }
}

static margin_status coupled_sparse_add_columns(const mg_block *block, void *argument) {
    const column_walk *walk = argument;
    const mg_objective *o = walk->o;
    const mg_sparse_columns *c = &o->coupled->by_column;
    const int64_t functions = o->functions;
    double *sum = o->coupled->work + block->worker * o->coupled->scratch;
    for (int64_t j = block->first; j < block->first + block->count; j++) {
        memset(sum, 0, (size_t)functions * sizeof *sum);
        for (int64_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
            const double value = c->values[e];
            const double *slopes = walk->slopes + c->samples[e] * functions;
            for (int64_t k = 0; k < functions; k++)
                sum[k] += value * slopes[k];
        }
        for (int64_t k = 0; k < functions; k++)
            walk->gradient[k * o->columns + j] = sum[k];
    }
    return MARGIN_OK;
}

margin_status mg_coupled_sparse_gradient(const mg_objective *o, const double *slopes,
                                         double *gradient, margin_error *error) {
    column_walk walk = {.o = o, .slopes = slopes, .gradient = gradient};
    const int64_t task = o->columns > 16 * TASK_COLUMNS ? TASK_COLUMNS : 8;
    const margin_status status =
        mg_sweep_each(o->design->context, o->columns, task, coupled_sparse_add_columns, &walk);
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}
