#include "learn/exact/owned_rows.h"

#include "base/scoped.h"
#include "learn/exact/exact_columns.h"
#include "math/rows/sparse_columns.h"

#include <math.h>
#include <string.h>

enum { BYTES = 32 /* at most, of a stored value, a row or a column */, SHARE = 4 };
static const char purpose[] = "rows that own a column";

/* The rows in the order of the data. */
typedef struct rows_store {
    int64_t *start;
    int32_t *at;
    double *value;
    bool *gone;           /* rows */
    int64_t *count, *sum; /* columns: rows that store it and have not gone, and of their numbers */
} rows_store;

void mg_owned_rows_sum(const mg_problem *problem, const double *weights, mg_owned_rows *owned) {
    memset(owned->weight, 0, (size_t)owned->rows * sizeof *owned->weight);
    memset(owned->target, 0, (size_t)owned->rows * sizeof *owned->target);
    for (int64_t i = problem->count - 1; i >= 0; i--) {
        if (!(weights[i] > 0.0)) continue;
        const int64_t g = owned->group[i];
        owned->weight[g] += weights[i];
        owned->target[g] += weights[i] / owned->weight[g] * (problem->target[i] - owned->target[g]);
        owned->first[g] = i;
    }
}

margin_status mg_owned_rows_equal(margin_context *context, const mg_problem *problem,
                                  const double *weights, mg_arena *arena, mg_owned_rows *owned,
                                  margin_error *error) {
    *owned = (mg_owned_rows){0};
    MG_ARENA_NEW(arena, owned->group, problem->count, purpose, error);
    MG_TRY(mg_exact_rows(context, problem, weights, owned->group, &owned->rows, error));
    const int64_t m = owned->rows;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(owned->first, m), MG_PIECE(owned->weight, m),
                     MG_PIECE(owned->target, m)));
    mg_owned_rows_sum(problem, weights, owned);
    return MARGIN_OK;
}

static margin_status read_rows(margin_context *context, const mg_problem *problem,
                               const double *norm, const mg_owned_rows *owned, rows_store *rows,
                               margin_error *error) {
    const margin_matrix *x = &problem->x;
    int64_t at = 0;
    for (int64_t g = 0; g < owned->rows; g++) {
        const int64_t row = mg_sample_row(problem, owned->first[g]), end = mg_row_start(x, row + 1);
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        rows->start[g] = at;
        for (int64_t e = mg_row_start(x, row); e < end; e++) {
            const int64_t j = mg_column_index(x, e);
            const double value =
                norm[j] > 0.0 ? (problem->scale ? problem->scale[j] : 1.0) * mg_stored_value(x, e)
                              : 0.0;
            if (value == 0.0) continue;
            rows->at[at] = (int32_t)j;
            rows->value[at++] = value;
            rows->count[j]++;
            rows->sum[j] += g;
        }
    }
    rows->start[owned->rows] = at;
    return MARGIN_OK;
}

/* The greatest value of those that only this row has. */
static int64_t own_column(const rows_store *rows, int64_t g) {
    double most = 0.0;
    int64_t own = -1;
    for (int64_t e = rows->start[g]; e < rows->start[g + 1]; e++)
        if (rows->count[rows->at[e]] == 1 && fabs(rows->value[e]) > most) {
            most = fabs(rows->value[e]);
            own = rows->at[e];
        }
    return own;
}

/* queue: columns, in the order in which one row alone is left that stores them. */
static void take_owners(mg_owned_rows *owned, rows_store *rows, int64_t columns, int64_t *queue) {
    int64_t waiting = 0;
    for (int64_t j = 0; j < columns; j++)
        if (rows->count[j] == 1) queue[waiting++] = j;
    owned->owners = 0;
    for (int64_t k = 0; k < waiting; k++) {
        if (rows->count[queue[k]] != 1) continue; /* its row has gone */
        const int64_t g = rows->sum[queue[k]];
        owned->own[owned->owners] = own_column(rows, g);
        owned->order[owned->owners++] = g;
        rows->gone[g] = true;
        for (int64_t e = rows->start[g]; e < rows->start[g + 1]; e++) {
            const int64_t j = rows->at[e];
            rows->sum[j] -= g;
            if (--rows->count[j] == 1) queue[waiting++] = j;
        }
    }
}

/* The others, and all rows in order. */
static void put_in_order(mg_owned_rows *owned, const rows_store *rows) {
    int64_t last = owned->owners, at = 0;
    for (int64_t g = 0; g < owned->rows; g++)
        if (!rows->gone[g]) owned->order[last++] = g;
    for (int64_t k = 0; k < owned->rows; k++) {
        const int64_t g = owned->order[k];
        owned->start[k] = at;
        for (int64_t e = rows->start[g]; e < rows->start[g + 1]; e++, at++) {
            owned->at[at] = rows->at[e];
            owned->value[at] = rows->value[e];
        }
    }
    owned->start[owned->rows] = at;
}

static void number_columns(mg_owned_rows *owned, const rows_store *rows, int64_t columns) {
    owned->columns = 0;
    for (int64_t j = 0; j < columns; j++)
        owned->place[j] = rows->count[j] > 0 ? (int32_t)owned->columns++ : -1;
}

margin_status mg_owned_rows_find(margin_context *context, const mg_problem *problem, bool intercept,
                                 const double *norm, mg_arena *arena, mg_owned_rows *owned,
                                 margin_error *error) {
    const int64_t n = problem->x.columns, m = owned->rows;
    int64_t *queue;
    rows_store rows;
    if (!mg_is_csr(&problem->x) || problem->maker || n >= INT32_MAX) return MARGIN_OK;
    if (problem->shift && !intercept) return MARGIN_OK;
    const int64_t stored = mg_sparse_count(&problem->x, problem->index, problem->count);
    MG_SCOPED_ARENA(scratch, context->heap);
    const int64_t limit = mg_heap_limit(context->heap);
    if (limit > 0 && BYTES * (stored + m + n) > limit / SHARE) return MARGIN_OK;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(owned->order, m), MG_PIECE(owned->own, m),
                     MG_PIECE(owned->start, m + 1), MG_PIECE(owned->at, stored),
                     MG_PIECE(owned->value, stored), MG_PIECE(owned->place, n)));
    MG_TRY(MG_PIECES(&scratch, purpose, error, MG_PIECE(rows.start, m + 1),
                     MG_PIECE(rows.at, stored), MG_PIECE(rows.value, stored),
                     MG_PIECE(rows.count, n), MG_PIECE(rows.sum, n), MG_PIECE(queue, n),
                     MG_PIECE(rows.gone, m)));
    memset(rows.gone, 0, (size_t)m * sizeof *rows.gone);
    memset(rows.count, 0, (size_t)n * sizeof *rows.count);
    memset(rows.sum, 0, (size_t)n * sizeof *rows.sum);
    MG_TRY(read_rows(context, problem, norm, owned, &rows, error));
    take_owners(owned, &rows, n, queue);
    number_columns(owned, &rows, n);
    if (owned->columns == 0 || m - owned->owners <= owned->columns) owned->owners = 0;
    if (owned->owners > 0) put_in_order(owned, &rows);
    return MARGIN_OK;
}

margin_status mg_owned_rows_others(const mg_owned_rows *owned, mg_arena *arena, mg_problem *others,
                                   margin_error *error) {
    const int64_t from = owned->owners, m = owned->rows - from, first = owned->start[from];
    int64_t *starts;
    int32_t *at;
    double *weight, *target;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(starts, m + 1),
                     MG_PIECE(at, owned->start[owned->rows] - first), MG_PIECE(weight, m),
                     MG_PIECE(target, m)));
    for (int64_t k = 0; k < m; k++) {
        starts[k] = owned->start[from + k] - first;
        weight[k] = owned->weight[owned->order[from + k]];
        target[k] = owned->target[owned->order[from + k]];
    }
    starts[m] = owned->start[owned->rows] - first;
    for (int64_t e = 0; e < starts[m]; e++)
        at[e] = owned->place[owned->at[first + e]];
    *others = (mg_problem){.kind = MG_REGRESSION,
                           .x = margin_csr_f64(owned->value + first, at, starts, m, owned->columns),
                           .count = m,
                           .classes = 1,
                           .target = target,
                           .weight = weight};
    return MARGIN_OK;
}
