/* Rows to indicators. A row goes entry by entry into a sink, which counts, or writes CSR, or writes
 * a dense row; so there is one walk for each input layout and none for each pair of layouts. */
#include "features/made/onehot.h"

#include "base/sort.h"
#include "features/columns/row_chunk.h"

#include <math.h>
#include <string.h>

typedef struct row_sink {
    int64_t count;    /* entries so far */
    int32_t *indices; /* CSR: from entry 0 of the row; NULL: dense, or `columns` */
    int64_t *columns; /* the same with 64 bits */
    void *values;     /* NULL: only count. CSR: parallel to indices. Dense: the row, all zero */
    margin_type type;
} row_sink;

static void put(row_sink *sink, int64_t column, double value) {
    const int64_t at = sink->indices || sink->columns ? sink->count : column;
    if (sink->indices) sink->indices[at] = (int32_t)column;
    if (sink->columns) sink->columns[at] = column;
    if (sink->values && sink->type == MARGIN_F64) ((double *)sink->values)[at] = value;
    if (sink->values && sink->type == MARGIN_F32) ((float *)sink->values)[at] = (float)value;
    sink->count++;
}

/* Number of a category, -1 if the value is none: missing, or not seen in training. */
static int64_t find_category(const mg_onehot_column *column, double value) {
    if (column->kind == MG_ONEHOT_CODES) {
        const bool code = value >= 0 && value < (double)column->count && value == floor(value);
        return code ? (int64_t)value : -1;
    }
    const int64_t at = mg_lower_bound(column->values, column->count, value);
    return at < column->count && column->values[at] == value ? at : -1;
}

/* False: an unknown category that is to be refused. */
static bool put_value(const mg_onehot_view *view, int64_t j, double value, row_sink *sink) {
    const mg_onehot_column *column = &view->columns[j];
    if (column->kind == MG_ONEHOT_PASS) {
        if (value != 0) put(sink, column->first, value);
        return true;
    }
    const int64_t category = find_category(column, value);
    if (category >= view->drop) put(sink, column->first + category - view->drop, 1);
    return category >= 0 || !view->refuse_unknown;
}

/* Columns in ascending order: what is stored, and coded columns where zero is not. Returns the
 * column that was refused, -1: none. */
static int64_t put_row(const mg_onehot_view *view, const margin_matrix *x, int64_t row,
                       row_sink *sink) {
    const bool sparse = mg_is_csr(x);
    int64_t coded = 0; /* the next coded column that may lack a stored value */
    mg_row_chunk chunk;
    for (int64_t at = mg_chunk_begin(x, row); mg_chunk_next(x, row, &at, &chunk);)
        for (int64_t k = 0; k < chunk.count; k++) {
            const int64_t j = sparse ? chunk.columns[k] : chunk.first + k;
            for (; sparse && coded < view->coded_count && view->coded[coded] <= j; coded++)
                if (view->coded[coded] < j && !put_value(view, view->coded[coded], 0, sink))
                    return view->coded[coded];
            if (!put_value(view, j, chunk.values[k], sink)) return j;
        }
    for (; sparse && coded < view->coded_count; coded++)
        if (!put_value(view, view->coded[coded], 0, sink)) return view->coded[coded];
    return -1;
}

void mg_onehot_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const margin_matrix x = margin_dense_f64(in, 1, fitted->columns_in, fitted->columns_in);
    row_sink sink = {.values = out, .type = MARGIN_F64};
    memset(out, 0, (size_t)fitted->columns_out * sizeof *out);
    if (put_row(fitted->view, &x, 0, &sink) < 0) return;
    for (int64_t j = 0; j < fitted->columns_out; j++)
        out[j] = (double)NAN;
}

int64_t mg_onehot_entries(const mg_fitted_stage *fitted, const double *in, int64_t *columns,
                          double *values) {
    const margin_matrix x = margin_dense_f64(in, 1, fitted->columns_in, fitted->columns_in);
    row_sink sink = {.columns = columns, .values = values, .type = MARGIN_F64};
    return put_row(fitted->view, &x, 0, &sink) < 0 ? sink.count : -1;
}

/* ---- Whole matrices -------------------------------------------------------------------------- */

typedef struct onehot_run {
    const mg_onehot_view *view;
    const margin_matrix *in;
    int64_t *starts;   /* of the rows of a CSR result; counts at first */
    margin_matrix out; /* its arrays are written */
} onehot_run;

static margin_status count_rows(const mg_block *block, void *argument) {
    const onehot_run *run = argument;
    for (int64_t row = block->first; row < block->first + block->count; row++) {
        row_sink sink = {0};
        if (put_row(run->view, run->in, row, &sink) >= 0) return MARGIN_ERROR_DATA;
        run->starts[row + 1] = sink.count;
    }
    return MARGIN_OK;
}

static margin_status fill_rows(const mg_block *block, void *argument) {
    const onehot_run *run = argument;
    const margin_matrix *out = &run->out;
    const int64_t size = mg_type_size(out->value_type);
    for (int64_t row = block->first; row < block->first + block->count; row++) {
        const int64_t at = mg_is_csr(out) ? run->starts[row] : row * out->stride;
        row_sink sink = {.values = (char *)out->values + at * size, .type = out->value_type};
        if (mg_is_csr(out))
            sink.indices = (int32_t *)out->column_indices + at;
        else
            memset(sink.values, 0, (size_t)(out->columns * size));
        put_row(run->view, run->in, row, &sink);
    }
    return MARGIN_OK;
}

/* Finds the first row with an unknown category: only called when there is one. */
static margin_status onehot_fail_unknown(const onehot_run *run, margin_error *error) {
    int64_t column = -1, row = 0;
    for (; row < run->in->rows; row++) {
        row_sink sink = {0};
        column = put_row(run->view, run->in, row, &sink);
        if (column >= 0) break;
    }
    return mg_fail_at(error, MG_DATA(UNKNOWN_CATEGORY), (mg_place){.row = row + 1},
                      "onehot: row %lld, column %lld: a missing value or a category that was not "
                      "in the training data; onehot(unknown=ignore) would take it as none of them",
                      (long long)row + 1, (long long)column + 1);
}

/* CSR where that takes less memory. */
static margin_status new_matrix(margin_context *context, const onehot_run *run, int64_t columns,
                                mg_matrix_buffer *out, margin_error *error) {
    const char *purpose = "the data after onehot";
    const margin_matrix *in = run->in;
    const int64_t size = mg_type_size(in->value_type), stored = run->starts[in->rows];
    const double dense_bytes = (double)in->rows * (double)columns * (double)size;
    const double csr_bytes = (double)stored * (double)(size + 4) + 8 * (double)(in->rows + 1);
    if (csr_bytes < dense_bytes && columns <= INT32_MAX)
        return mg_matrix_new_csr(context->heap, in->rows, columns, stored, in->value_type, purpose,
                                 out, error);
    return mg_matrix_new_dense(context->heap, in->rows, columns, in->value_type, purpose, out,
                               error);
}

margin_status mg_onehot_apply(margin_context *context, const mg_fitted_stage *fitted,
                              const margin_matrix *in, mg_matrix_buffer *out, margin_error *error) {
    onehot_run run = {.view = fitted->view, .in = in};
    MG_SCOPED(mg_matrix_buffer, made);
    MG_SCOPED_ARENA(arena, context->heap);
    const int64_t block_rows = mg_block_rows(mg_row_bytes(in));
    MG_ARENA_NEW(&arena, run.starts, in->rows + 1, "the data after onehot", error);
    run.starts[0] = 0;
    const margin_status status =
        mg_sweep_each(context, in->rows, block_rows, count_rows, &run, NULL);
    if (status == MARGIN_ERROR_DATA) return onehot_fail_unknown(&run, error);
    if (status < 0) return mg_fail_cancelled(error);
    for (int64_t row = 0; row < in->rows; row++)
        run.starts[row + 1] += run.starts[row];
    MG_TRY(new_matrix(context, &run, fitted->columns_out, &made, error));
    if (mg_is_csr(&made.view))
        memcpy((int64_t *)made.view.row_starts, run.starts,
               (size_t)(in->rows + 1) * sizeof *run.starts);
    run.out = made.view;
    MG_TRY(mg_sweep_each(context, in->rows, block_rows, fill_rows, &run, error));
    *out = made;
    made = (mg_matrix_buffer){0};
    return MARGIN_OK;
}
