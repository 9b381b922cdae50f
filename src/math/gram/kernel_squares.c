/* What kernels need to know of the rows beforehand: squared norms. */
#include "math/gram/kernel_ops.h"

#include <string.h>

enum { SQUARE_LANES = 16, SQUARE_DEPTH = 64 }; /* at least a right panel's columns; 8 KB of stack */

typedef struct square_work {
    const margin_matrix *x;
    const bool *wanted; /* of each row; NULL: all */
    const mg_kernel_ops *ops;
    double *squares;
} square_work;

/* `count` rows through right panels, as a block of kernel values would. */
static void square_rows(const square_work *work, const int64_t *rows, int64_t count) {
    const margin_matrix *x = work->x;
    const int width = work->ops->columns;
    double panel[SQUARE_LANES * SQUARE_DEPTH], sum[SQUARE_LANES] = {0.0};
    memset(panel, 0, sizeof panel);
    for (int64_t from = 0; from < x->columns; from += SQUARE_DEPTH) {
        const int64_t depth = MG_MIN(SQUARE_DEPTH, x->columns - from);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < depth; j++)
                panel[j * width + i] = mg_stored_value(x, rows[i] * x->stride + from + j);
        work->ops->square(depth, panel, sum);
    }
    for (int64_t i = 0; i < count; i++)
        work->squares[rows[i]] = sum[i];
}

static margin_status square_block(const mg_block *block, void *argument) {
    const square_work *work = argument;
    const int64_t end = block->first + block->count;
    int64_t rows[SQUARE_LANES], count = 0;
    for (int64_t i = block->first; i < end; i++) {
        if (work->wanted && !work->wanted[i]) continue;
        if (mg_is_csr(work->x)) {
            work->squares[i] = work->ops->sparse_square(work->x, i);
            continue;
        }
        rows[count++] = i;
        if (count < work->ops->columns) continue;
        square_rows(work, rows, count);
        count = 0;
    }
    if (count > 0) square_rows(work, rows, count);
    return MARGIN_OK;
}

margin_status mg_row_squares(margin_context *context, const margin_matrix *x, const bool *wanted,
                             double *squares) {
    square_work work = {x, wanted, MG_ISA_TABLE(mg_isa_level(), mg_kernel_ops), squares};
    return mg_sweep_each(context, x->rows, mg_block_rows(mg_row_bytes(x)), square_block, &work,
                         NULL);
}
