/* Dense rows that are mostly zeros, as sparse ones: indicators of categories, counts, bits. */
#include "base/context.h"
#include "base/scoped.h"
#include "base/sweep.h"
#include "data/matrix/matrix.h"

#include <string.h>

enum { SHARE = 8 }; /* of the room that a fit may plan with: it makes it faster, no more */

typedef struct sparse_copy {
    const margin_matrix *x;
    int64_t block_rows;
    char *room;               /* by columns, of each worker: the rows of a block */
    int64_t *starts;          /* rows + 1; while rows are counted, [i + 1] is the number of row i */
    const margin_matrix *out; /* NULL: rows are counted */
} sparse_copy;

MG_INLINE double value_of(const void *row, margin_type type, int64_t j) {
    return type == MARGIN_F32 ? (double)((const float *)row)[j] : ((const double *)row)[j];
}

MG_INLINE int64_t count_row(const void *row, margin_type type, int64_t columns) {
    int64_t count = 0;
    for (int64_t j = 0; j < columns; j++)
        count += value_of(row, type, j) != 0.0;
    return count;
}

/* Most of eight numbers side by side are all 0. */
MG_INLINE void store_row(const void *row, margin_type type, int64_t columns,
                         const margin_matrix *out, int64_t at) {
    enum { STEP = 8 };
    int32_t *index = (int32_t *)(void *)out->column_indices;
    for (int64_t j = 0; j < columns; j += STEP) {
        const int64_t end = MG_MIN(j + STEP, columns);
        bool any = end < j + STEP;
        for (int64_t k = j; k < j + STEP && end == j + STEP; k++)
            any |= value_of(row, type, k) != 0.0;
        for (int64_t k = j; any && k < end; k++) {
            const double value = value_of(row, type, k);
            if (value == 0.0) continue;
            index[at] = (int32_t)k;
            mg_store_value(out, at++, value);
        }
    }
}

MG_INLINE void copy_row(const sparse_copy *copy, const void *row, margin_type type, int64_t i) {
    if (copy->out)
        store_row(row, type, copy->x->columns, copy->out, copy->starts[i]);
    else
        copy->starts[i + 1] = count_row(row, type, copy->x->columns);
}

/* The rows of a block, side by side or as they lie. */
static const char *rows_of(const sparse_copy *copy, const mg_block *block, int64_t *stride) {
    const margin_matrix *x = copy->x;
    const int64_t size = mg_type_size(x->value_type), row = x->columns * size;
    char *room = copy->room + block->worker * copy->block_rows * row;
    *stride = mg_is_by_columns(x) ? row : x->stride * size;
    if (!mg_is_by_columns(x)) return (const char *)x->values + block->first * *stride;
    mg_rows_from_columns(x, NULL, block->first, block->count, room);
    return room;
}

static margin_status copy_block(const mg_block *block, void *argument) {
    const sparse_copy *copy = argument;
    const margin_matrix *x = copy->x;
    int64_t stride;
    const char *row = rows_of(copy, block, &stride);
    for (int64_t i = block->first; i < block->first + block->count; i++, row += stride)
        if (x->value_type == MARGIN_F32)
            copy_row(copy, row, MARGIN_F32, i);
        else
            copy_row(copy, row, MARGIN_F64, i);
    return MARGIN_OK;
}

/* Of some rows, in even steps. */
static bool seems_sparse(const margin_matrix *x, double most) {
    enum { ROWS = 64 };
    const int64_t rows = MG_MIN(x->rows, ROWS);
    int64_t count = 0;
    for (int64_t k = 0; k < rows; k++)
        for (int64_t j = 0; j < x->columns; j++)
            count += mg_dense_value(x, k * x->rows / rows, j) != 0.0;
    return (double)count <= most * (double)rows * (double)x->columns;
}

static margin_status copy_rows(margin_context *context, sparse_copy *copy, double most,
                               mg_matrix_buffer *out, margin_error *error) {
    const margin_matrix *x = copy->x;
    static const char purpose[] = "a sparse copy of rows that are mostly zeros";
    MG_TRY(mg_sweep_each(context, x->rows, copy->block_rows, copy_block, copy, error));
    copy->starts[0] = 0;
    for (int64_t i = 0; i < x->rows; i++)
        copy->starts[i + 1] += copy->starts[i];
    const int64_t stored = copy->starts[x->rows];
    if ((double)stored > most * (double)x->rows * (double)x->columns) return MARGIN_OK;
    const int64_t bytes = stored * (mg_type_size(x->value_type) + 4) + 8 * x->rows;
    if (bytes > mg_context_room(context, INT64_MAX) / SHARE) return MARGIN_OK;
    MG_TRY(mg_matrix_new_csr(context->heap, x->rows, x->columns, stored, x->value_type, purpose,
                             out, error));
    memcpy((void *)out->view.row_starts, copy->starts,
           (size_t)(x->rows + 1) * sizeof *copy->starts);
    copy->out = &out->view;
    return mg_sweep_each(context, x->rows, copy->block_rows, copy_block, copy, error);
}

margin_status mg_matrix_sparse_copy(margin_context *context, const margin_matrix *x, double most,
                                    mg_matrix_buffer *out, margin_error *error) {
    const int64_t size = mg_type_size(x->value_type);
    sparse_copy copy = {.x = x, .block_rows = mg_block_rows(x->columns * size)};
    const int64_t room = mg_is_by_columns(x) ? copy.block_rows * x->columns * size : 0;
    if (mg_is_csr(x) || x->columns > INT32_MAX || !seems_sparse(x, most)) return MARGIN_OK;
    if (8 * x->rows > mg_context_room(context, INT64_MAX) / SHARE) return MARGIN_OK;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "a sparse copy of rows that are mostly zeros", error,
                     MG_PIECE(copy.starts, x->rows + 1),
                     MG_PIECE(copy.room, MG_MAX(mg_threads(context) * room, 1))));
    return copy_rows(context, &copy, most, out, error);
}
