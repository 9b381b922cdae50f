/* What kernels need to know of the rows beforehand: squared norms, and the scale of the values. */
#include "kernel/gram/kernel_ops.h"

#include <string.h>

/* ---- Squared norms --------------------------------------------------------------------------- */

enum { SQUARE_LANES = 16, SQUARE_DEPTH = 64 }; /* at least a right panel's columns; 8 KB of stack */

typedef struct square_work {
    const margin_matrix *x;
    const mg_kernel_ops *ops;
    double *squares;
} square_work;

static double dense_value(const margin_matrix *x, int64_t row, int64_t column) {
    const int64_t k = row * x->stride + column;
    return mg_stored_value(x, k);
}

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
                panel[j * width + i] = dense_value(x, first + i, from + j);
        work->ops->square(depth, panel, sum);
    }
    memcpy(work->squares + first, sum, (size_t)count * sizeof *sum);
}

static margin_status square_block(const mg_block *block, void *argument) {
    const square_work *work = argument;
    const int64_t first = block->first, width = work->ops->columns;
    if (mg_is_csr(work->x)) {
        work->ops->sparse(work->x, NULL, first, block->count, NULL, work->squares + first);
        return MARGIN_OK;
    }
    for (int64_t i = 0; i < block->count; i += width)
        square_rows(work, first + i, MG_MIN(width, block->count - i));
    return MARGIN_OK;
}

margin_status mg_row_squares(margin_context *context, const margin_matrix *x, double *squares) {
    square_work work = {x, mg_kernel_ops_for(mg_isa_level()), squares};
    return mg_sweep_each(context, x->rows, mg_block_rows(mg_row_bytes(x)), square_block, &work);
}

/* ---- Scale ----------------------------------------------------------------------------------- */

/* Sums over all values about `shift`: of the deviations, and of their squares. */
typedef struct scale_sums {
    double weight, deviation, square;
} scale_sums;

typedef struct scale_work {
    const margin_matrix *x;
    const int64_t *rows;
    const double *weights;
    double shift;
} scale_work;

static void scale_init(void *state, void *argument) {
    (void)argument;
    memset(state, 0, sizeof(scale_sums));
}

static void add_value(scale_sums *sums, double value, double weight, const scale_work *work) {
    const double deviation = value - work->shift;
    sums->deviation += weight * deviation;
    sums->square += weight * deviation * deviation;
}

static void add_row(scale_sums *sums, int64_t row, double weight, const scale_work *work) {
    const margin_matrix *x = work->x;
    sums->weight += weight;
    if (!mg_is_csr(x)) {
        for (int64_t j = 0; j < x->columns; j++)
            add_value(sums, dense_value(x, row, j), weight, work);
        return;
    }
    const int64_t first = mg_row_start(x, row), last = mg_row_start(x, row + 1);
    for (int64_t k = first; k < last; k++) {
        const double value = mg_stored_value(x, k);
        add_value(sums, value, weight, work);
    }
    add_value(sums, 0.0, weight * (double)(x->columns - (last - first)), work);
}

static margin_status scale_add(void *state, const mg_block *block, void *argument) {
    const scale_work *work = argument;
    scale_sums *sums = state;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        add_row(sums, work->rows ? work->rows[i] : i, work->weights ? work->weights[i] : 1.0, work);
    return MARGIN_OK;
}

static void scale_merge(void *into, const void *from, void *argument) {
    (void)argument;
    scale_sums *a = into;
    const scale_sums *b = from;
    a->weight += b->weight;
    a->deviation += b->deviation;
    a->square += b->square;
}

margin_status mg_kernel_scale(margin_context *context, const margin_matrix *x, const int64_t *rows,
                              const double *weights, int64_t count, double *gamma,
                              margin_error *error) {
    static const mg_accumulator accumulator = {sizeof(scale_sums), scale_init, scale_add,
                                               scale_merge, NULL};
    scale_work work = {x, rows, weights, 0.0};
    scale_sums sums = {0.0, 0.0, 0.0};
    const int64_t block = mg_block_rows(mg_row_bytes(x));
    const double columns = (double)x->columns;
    /* The first pass finds the mean, the second one the variance about it. */
    for (int pass = 0; pass < 2; pass++) {
        MG_TRY(mg_sweep(context, count, block, &accumulator, &work, &sums, error));
        if (pass == 0 && sums.weight * columns > 0.0)
            work.shift = sums.deviation / (sums.weight * columns);
    }
    *gamma = sums.square > 0.0 ? sums.weight / sums.square : 1.0; /* 1 / (n * square / (w n)) */
    return MARGIN_OK;
}
