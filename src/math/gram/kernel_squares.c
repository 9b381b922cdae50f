/* What kernels need to know of the rows beforehand: squared norms. */
#include "math/gram/kernel_ops.h"

#include <string.h>

enum { SQUARE_LANES = 16, SQUARE_DEPTH = 64 }; /* at least a right panel's columns; 8 KB of stack */

typedef struct square_work {
    const margin_matrix *x;
    const mg_kernel_ops *ops;
    double *squares;
} square_work;

/* `count` neighbouring rows through right panels, as a block of kernel values would. */
static void square_rows(const square_work *work, int64_t first, int64_t count) {
    const margin_matrix *x = work->x;
    const int width = work->ops->columns;
    double panel[SQUARE_LANES * SQUARE_DEPTH], sum[SQUARE_LANES] = {0.0};
    memset(panel, 0, sizeof panel);
    for (int64_t from = 0; from < x->columns; from += SQUARE_DEPTH) {
        const int64_t depth = MG_MIN(SQUARE_DEPTH, x->columns - from);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < depth; j++)
                panel[j * width + i] = mg_stored_value(x, (first + i) * x->stride + from + j);
        work->ops->square(depth, panel, sum);
    }
    memcpy(work->squares + first, sum, (size_t)count * sizeof *sum);
}

static margin_status square_block(const mg_block *block, void *argument) {
    const square_work *work = argument;
    const int64_t first = block->first, width = work->ops->columns;
    if (mg_is_csr(work->x)) {
        for (int64_t i = first; i < first + block->count; i++)
            work->squares[i] = work->ops->sparse_square(work->x, i);
        return MARGIN_OK;
    }
    for (int64_t i = 0; i < block->count; i += width)
        square_rows(work, first + i, MG_MIN(width, block->count - i));
    return MARGIN_OK;
}

margin_status mg_row_squares(margin_context *context, const margin_matrix *x, double *squares) {
    square_work work = {x, MG_ISA_TABLE(mg_isa_level(), mg_kernel_ops), squares};
    return mg_sweep_each(context, x->rows, mg_block_rows(mg_row_bytes(x)), square_block, &work,
                         NULL);
}
