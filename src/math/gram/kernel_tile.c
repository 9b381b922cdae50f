/* One tile of kernel values.
 *
 * The rows of a tile are packed into panels (64 x 256 and 128 x 256 numbers, widened to f64 and
 * transposed, so that they stay in the second-level cache) and multiplied panel by panel; the dot
 * products are turned into kernel values while they are in cache. Rows of the right matrix that are
 * sparse and too thin for that are multiplied one by one with the left row spread out. A function
 * gets both blocks of rows as dense f64. */
#include "math/gram/kernel_tile.h"

#include <math.h>
#include <string.h>

enum { TILE_LEFT = 64, TILE_RIGHT = 128, DEPTH = 256 };

void mg_kernel_finish(mg_isa isa, const mg_kernel *kernel, double square_x, const double *squares_z,
                      double *values, int64_t count) {
    MG_ISA_TABLE(isa, mg_kernel_ops)->finish(kernel, square_x, squares_z, values, count);
}

/* ---- Packing --------------------------------------------------------------------------------- */

static void pack_sparse(const margin_matrix *x, int64_t row, int64_t first, int64_t depth,
                        int width, double *to) {
    for (int64_t j = 0; j < depth; j++)
        to[j * width] = 0.0;
    const int64_t last = mg_row_start(x, row + 1);
    for (int64_t k = mg_row_find(x, row, first); k < last; k++) {
        const int64_t j = mg_column_index(x, k) - first;
        if (j >= depth) break;
        to[j * width] = mg_stored_value(x, k);
    }
}

/* Columns [first, first + depth) of one row as lane 0 of a panel of `width` lanes. */
static void pack_row(const margin_matrix *x, int64_t row, int64_t first, int64_t depth, int width,
                     double *to) {
    if (mg_is_csr(x)) {
        pack_sparse(x, row, first, depth, width, to);
    } else if (x->value_type == MARGIN_F32) {
        const float *from = (const float *)x->values + row * x->stride + first;
        for (int64_t j = 0; j < depth; j++)
            to[j * width] = (double)from[j];
    } else {
        const double *from = (const double *)x->values + row * x->stride + first;
        for (int64_t j = 0; j < depth; j++)
            to[j * width] = from[j];
    }
}

/* Rows [from, from + count) of the block's left or right side as panels of `width` lanes, one
 * behind the other; the last one is filled up with zeros. */
static void pack_panels(const mg_kernel_block *block, bool is_left, int64_t from, int64_t count,
                        int64_t first, int64_t depth, int width, double *panels) {
    const margin_matrix *x = is_left ? block->x : block->z;
    const int64_t padded = (count + width - 1) / width * width;
    for (int64_t i = 0; i < padded; i++) {
        double *to = panels + i / width * width * depth + i % width;
        if (i < count) {
            const int64_t row =
                is_left ? mg_block_left(block, from + i) : mg_block_right(block, from + i);
            pack_row(x, row, first, depth, width, to);
        } else {
            for (int64_t j = 0; j < depth; j++)
                to[j * width] = 0.0;
        }
    }
}

/* ---- Scratch --------------------------------------------------------------------------------- */

/* Row by row costs about one nanosecond a stored number, in panels about a sixteenth a column. */
static bool sparse_pays(const mg_kernel *kernel, const margin_matrix *z) {
    const mg_kernel_basis basis = mg_kernel_basis_of(kernel->kind);
    if (!mg_is_csr(z) || basis == MG_OF_DISTANCES || basis == MG_OF_NONE) return false;
    const int64_t stored = mg_row_start(z, z->rows) - mg_row_start(z, 0);
    return (double)z->columns * (double)z->rows > 16.0 * (double)stored;
}

/* Numbers behind the tile: panels, one row, or for a function both blocks of rows and what it
 * answers. */
static int64_t room_behind(const mg_kernel_scratch *s, const margin_matrix *x) {
    if (s->kernel.kind == MG_KERNEL_PRECOMPUTED) return 0;
    if (s->kernel.kind == MG_KERNEL_FUNCTION)
        return (s->left + s->right) * x->columns + s->left * s->right;
    return s->sparse ? x->columns : (s->left + s->right) * MG_MIN(DEPTH, x->columns);
}

margin_status mg_kernel_scratch_new(margin_context *context, const mg_kernel *kernel,
                                    const margin_matrix *x, const margin_matrix *z,
                                    mg_kernel_scratch **scratch, margin_error *error) {
    const mg_kernel_ops *ops = MG_ISA_TABLE(mg_isa_level(), mg_kernel_ops);
    const int64_t head = ((int64_t)sizeof **scratch + 63) / 64 * 64;
    mg_kernel_scratch s = {.context = context,
                           .heap = context->heap,
                           .ops = ops,
                           .kernel = *kernel,
                           .sparse = sparse_pays(kernel, z),
                           .left = TILE_LEFT / ops->rows * ops->rows,
                           .right = TILE_RIGHT / ops->columns * ops->columns};
    s.dense = s.left * s.right;
    s.size = (s.dense + room_behind(&s, x) + 7) / 8 * 8;
    MG_NEW_BYTES(s.heap, *scratch, head + 8 * s.size * mg_threads(context),
                 "scratch for kernel values", error);
    s.memory = (double *)(void *)((char *)*scratch + head);
    **scratch = s;
    return MARGIN_OK;
}

void mg_kernel_scratch_free(mg_kernel_scratch *scratch) {
    if (scratch) mg_free(scratch->heap, scratch);
}

/* ---- One tile -------------------------------------------------------------------------------- */

/* The tile's dot products (or distances) through panels. */
static void multiply_tile(const mg_kernel_scratch *s, const mg_kernel_block *block,
                          const mg_tile_place *at, double *memory) {
    const mg_kernel_ops *ops = s->ops;
    const bool distance = mg_kernel_basis_of(s->kernel.kind) == MG_OF_DISTANCES;
    const bool one = at->rows == 1;
    const int64_t columns = block->x->columns;
    double *tile = memory, *left = memory + s->dense;
    memset(tile, 0, (size_t)(s->left * s->right) * sizeof *tile);
    for (int64_t first = 0; first < columns; first += DEPTH) {
        const int64_t depth = MG_MIN(DEPTH, columns - first);
        double *right = left + s->left * depth;
        pack_panels(block, true, at->i, at->rows, first, depth, ops->rows, left);
        pack_panels(block, false, at->j, at->columns, first, depth, ops->columns, right);
        for (int64_t j = 0; j < at->columns; j += ops->columns) {
            for (int64_t i = 0; i < at->rows; i += ops->rows) {
                const double *a = left + i * depth, *b = right + j * depth;
                double *c = tile + i * s->right + j;
                if (distance)
                    ops->distance(depth, a, b, one, c, s->right);
                else
                    ops->product(depth, a, b, one, c, s->right);
            }
        }
    }
}

/* The same with the left row spread out over all columns. */
static void multiply_sparse_tile(const mg_kernel_scratch *s, const mg_kernel_block *block,
                                 const mg_tile_place *at, double *memory) {
    double *dense = memory + s->dense;
    for (int64_t i = 0; i < at->rows; i++) {
        mg_row_expand(block->x, mg_block_left(block, at->i + i), dense);
        s->ops->sparse(block->z, block->z_rows ? block->z_rows + at->j : NULL,
                       block->z_first + at->j, at->columns, dense, memory + i * s->right);
    }
}

static void finish_tile(const mg_kernel_scratch *s, const mg_kernel_block *block,
                        const mg_tile_place *at, double *memory) {
    const bool squares = mg_kernel_basis_of(s->kernel.kind) == MG_OF_SQUARES;
    double right[TILE_RIGHT];
    for (int64_t j = 0; squares && j < at->columns; j++)
        right[j] = block->z_squares[mg_block_right(block, at->j + j)];
    for (int64_t i = 0; i < at->rows; i++) {
        const double square = squares ? block->x_squares[mg_block_left(block, at->i + i)] : 0.0;
        s->ops->finish(&s->kernel, square, right, memory + i * s->right, at->columns);
    }
}

static void read_tile(const mg_kernel_scratch *s, const mg_kernel_block *block,
                      const mg_tile_place *at, double *memory) {
    for (int64_t i = 0; i < at->rows; i++) {
        const int64_t row = mg_block_left(block, at->i + i) * block->x->stride;
        for (int64_t j = 0; j < at->columns; j++)
            memory[i * s->right + j] =
                mg_stored_value(block->x, row + mg_block_right(block, at->j + j));
    }
}

static margin_status ask_function(const mg_kernel_scratch *s, const mg_kernel_block *block,
                                  const mg_tile_place *at, double *memory) {
    const int64_t columns = block->x->columns;
    double *x = memory + s->dense, *z = x + at->rows * columns, *values = z + at->columns * columns;
    for (int64_t i = 0; i < at->rows; i++)
        mg_row_expand(block->x, mg_block_left(block, at->i + i), x + i * columns);
    for (int64_t j = 0; j < at->columns; j++)
        mg_row_expand(block->z, mg_block_right(block, at->j + j), z + j * columns);
    if (s->kernel.function(x, at->rows, z, at->columns, columns, values, s->kernel.user) != 0) {
        margin_context_cancel(s->context);
        return MARGIN_ERROR_CANCELLED;
    }
    for (int64_t i = 0; i < at->rows; i++) {
        for (int64_t j = 0; j < at->columns; j++) {
            const double value = values[i * at->columns + j];
            if (!isfinite(value)) return MARGIN_ERROR_DATA;
            memory[i * s->right + j] = value;
        }
    }
    return MARGIN_OK;
}

margin_status mg_kernel_tile(const mg_kernel_scratch *s, const mg_kernel_block *block,
                             const mg_tile_place *at, double *memory) {
    if (s->kernel.kind == MG_KERNEL_FUNCTION) return ask_function(s, block, at, memory);
    if (s->kernel.kind == MG_KERNEL_PRECOMPUTED) {
        read_tile(s, block, at, memory);
        return MARGIN_OK;
    }
    if (s->sparse)
        multiply_sparse_tile(s, block, at, memory);
    else
        multiply_tile(s, block, at, memory);
    finish_tile(s, block, at, memory);
    return MARGIN_OK;
}

margin_status mg_kernel_fail(margin_status status, margin_error *error) {
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
    if (status == MARGIN_ERROR_DATA)
        return mg_fail(error, status,
                       "the kernel function gave a value that is not a finite number");
    return status;
}
