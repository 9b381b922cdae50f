#include "model/problem/data_rows.h"

#include "learn/column_choice.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

static margin_status copy_block(const mg_block *block, void *argument) {
    const margin_matrix *const *from_to = argument;
    const margin_matrix *x = from_to[0], *to = from_to[1];
    const int64_t row = x->columns * mg_type_size(x->value_type);
    mg_rows_together(x, NULL, block->first, block->count, (char *)to->values + block->first * row);
    return MARGIN_OK;
}

/* A dense copy takes the place of data->x. */
static margin_status copy_rows(margin_context *context, const char *purpose, margin_data *data,
                               mg_matrix_buffer *copy, margin_error *error) {
    const margin_matrix x = data->x, *from_to[] = {&x, &copy->view};
    MG_TRY(
        mg_matrix_new_dense(context->heap, x.rows, x.columns, x.value_type, purpose, copy, error));
    data->x = copy->view;
    return mg_sweep_each(context, x.rows, mg_block_rows(mg_row_bytes(&x)), copy_block, from_to,
                         error);
}

margin_status mg_data_in_rows(margin_context *context, margin_data *data, mg_matrix_buffer *copy,
                              margin_error *error) {
    if (!mg_is_by_columns(&data->x)) return MARGIN_OK;
    return copy_rows(context,
                     "a copy in rows of data by columns, which this spec needs all at once", data,
                     copy, error);
}

/* ---- Codes ----------------------------------------------------------------------------------- */

typedef struct code_scan {
    const margin_data *data;
    const int64_t *columns; /* those of categories */
    int64_t count;
    bool strict;
    _Atomic int64_t wrong; /* the least row with a code that is none; INT64_MAX: none */
    atomic_bool minus;     /* a code of -1 */
} code_scan;

static bool is_code(double code, const margin_column *column) {
    return !isfinite(code) || /* infinite ones are refused as other values are */
           (code >= 0 && code < (double)column->category_count && code == floor(code));
}

/* Column of the first code of the row that is none, -1: there is none; -1 itself is missing where
 * it can be rewritten. */
static int64_t wrong_column(const code_scan *s, int64_t row, bool *minus) {
    const margin_matrix *x = &s->data->x;
    for (int64_t k = 0; k < s->count && !mg_is_csr(x); k++) {
        const int64_t j = s->columns[k];
        const double code = mg_dense_value(x, row, j);
        if (code == -1)
            *minus = true;
        else if (s->strict && !is_code(code, &s->data->columns[j]))
            return j;
    }
    if (!mg_is_csr(x) || !s->strict) return -1;
    for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++) {
        const int64_t j = mg_column_index(x, k);
        if (mg_is_categorical(s->data->columns, j) &&
            !is_code(mg_stored_value(x, k), &s->data->columns[j]))
            return j;
    }
    return -1;
}

static margin_status scan_codes(const mg_block *block, void *argument) {
    code_scan *s = argument;
    const margin_data *data = s->data;
    bool minus = false;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = data->selection ? data->selection[i] : i;
        if (data->weights.values && !(mg_vector_f64(&data->weights, row) > 0)) continue;
        if (wrong_column(s, row, &minus) < 0) continue;
        mg_note_row(&s->wrong, row);
        break;
    }
    if (minus) atomic_store(&s->minus, true);
    return MARGIN_OK;
}

static margin_status fail_code(const code_scan *s, int64_t row, margin_error *error) {
    const margin_matrix *x = &s->data->x;
    bool minus;
    const int64_t j = wrong_column(s, row, &minus);
    int64_t k = mg_is_csr(x) ? mg_row_start(x, row) : 0;
    while (mg_is_csr(x) && mg_column_index(x, k) != j)
        k++;
    const double code = mg_is_csr(x) ? mg_stored_value(x, k) : mg_dense_value(x, row, j);
    const margin_column *column = &s->data->columns[j];
    return mg_fail_at(
        error, MG_DATA(UNKNOWN_CATEGORY), (mg_place){.row = row + 1, .feature = j + 1},
        "row %lld has the code %s in column %s, which has %lld categories, numbered "
        "from 0; write NaN where it is missing",
        (long long)row + 1, mg_number(code).text, column->name, (long long)column->category_count);
}

static margin_status blank_block(const mg_block *block, void *argument) {
    const code_scan *s = argument;
    const margin_matrix *x = &s->data->x;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        for (int64_t k = 0; k < s->count; k++) {
            const int64_t at = i * x->stride + s->columns[k];
            if (mg_stored_value(x, at) == -1) mg_store_value(x, at, (double)NAN);
        }
    return MARGIN_OK;
}

margin_status mg_data_codes(margin_context *context, bool strict, margin_data *data,
                            mg_matrix_buffer *copy, margin_error *error) {
    const int64_t rows = data->selection ? data->selected : data->x.rows,
                  grain = mg_block_rows(mg_row_bytes(&data->x));
    code_scan s = {.data = data, .strict = strict, .wrong = INT64_MAX};
    int64_t *columns;
    MG_SCOPED_ARENA(arena, context->heap);
    for (int64_t j = 0; data->columns && j < data->x.columns; j++)
        s.count += mg_is_categorical(data->columns, j);
    if (s.count == 0 || (mg_is_csr(&data->x) && !strict)) return MARGIN_OK;
    MG_ARENA_NEW(&arena, columns, s.count, "the columns of categories", error);
    s.count = 0;
    for (int64_t j = 0; j < data->x.columns; j++)
        if (mg_is_categorical(data->columns, j)) columns[s.count++] = j;
    s.columns = columns;
    MG_TRY(mg_sweep_each(context, rows, grain, scan_codes, &s, error));
    if (s.wrong < INT64_MAX) MG_TRY(fail_code(&s, s.wrong, error));
    if (s.minus && (!copy->heap || data->x.values != copy->view.values))
        MG_TRY(copy_rows(context, "a copy of data whose missing categories are coded as -1", data,
                         copy, error));
    return s.minus ? mg_sweep_each(context, data->x.rows, grain, blank_block, &s, error)
                   : MARGIN_OK;
}

margin_status mg_data_take(margin_context *context, const margin_data *data, bool several,
                           mg_taken *taken, margin_error *error) {
    *taken = (mg_taken){0};
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_REQUIRE(several || data->targets <= 1, error, MARGIN_ERROR_ARGUMENT,
               "the data has %lld targets, and this works with one: choose it",
               (long long)data->targets);
    taken->data = *data;
    MG_TRY(mg_data_in_rows(context, &taken->data, &taken->copy, error));
    return mg_data_codes(context, true, &taken->data, &taken->copy, error);
}

void mg_taken_free(mg_taken *taken) {
    mg_matrix_buffer_free(&taken->copy);
}
