/* One tile of kernel values.
 *
 * The rows of a tile are packed into panels (64 x 256 and 128 x 256 numbers, widened to f64 and
 * transposed, so that they stay in the second-level cache) and multiplied panel by panel; the dot
 * products are turned into kernel values while they are in cache. Rows of the right matrix that are
 * sparse and too thin for that are multiplied one by one with a few left rows spread out. A
 * function gets both blocks of rows as dense f64. */
#include "math/gram/kernel_tile.h"
#include "math/rows/row_panels.h"

#include <math.h>
#include <string.h>

enum { TILE_LEFT = 64, TILE_RIGHT = 128, DEPTH = 256 };

void mg_kernel_finish(mg_isa isa, const mg_kernel *kernel, double square_x, const double *squares_z,
                      double *values, int64_t count) {
    MG_ISA_TABLE(isa, mg_kernel_ops)->finish(kernel, square_x, squares_z, values, count);
}

/* ---- Packing --------------------------------------------------------------------------------- */

/* Rows [from, from + count) of the block's left or right side as panels of `width` lanes, one
 * behind the other; the last one is filled up with zeros. */
static void pack_panels(const mg_kernel_block *block, bool is_left, int64_t from, int64_t count,
                        int64_t first, int64_t depth, int width, double *panels) {
    const margin_matrix *x = is_left ? block->x : block->z;
    const int64_t padded = (count + width - 1) / width * width;
    int64_t rows[TILE_RIGHT];
    for (int64_t i = 0; i < count; i++)
        rows[i] = is_left ? mg_block_left(block, from + i) : mg_block_right(block, from + i);
    for (int64_t i = 0, some; i < count; i += some) {
        some = MG_MIN(MG_MIN(MG_PACK_ROWS, width - i % width), count - i);
        for (int64_t k = i + some; k < MG_MIN(i + 2 * some, count) && !mg_is_csr(x); k++)
            mg_fetch_row(x, rows[k], first, depth);
        mg_pack_rows(x, rows + i, (int)some, first, depth, width,
                     panels + i / width * width * depth + i % width);
    }
    for (int64_t i = count; i < padded; i++)
        for (int64_t j = 0; j < depth; j++)
            panels[i / width * width * depth + i % width + j * width] = 0.0;
}

/* ---- Scratch --------------------------------------------------------------------------------- */

/* A value costs half a cycle a stored number row by row, in panels a sixteenth a column. */
static bool sparse_pays(const mg_kernel *kernel, const margin_matrix *z) {
    const mg_kernel_basis basis = mg_kernel_basis_of(kernel->kind);
    if (!mg_is_csr(z) || basis == MG_OF_DISTANCES || basis == MG_OF_NONE) return false;
    const int64_t stored = mg_row_start(z, z->rows) - mg_row_start(z, 0);
    return (double)z->columns * (double)z->rows > 8.0 * (double)stored;
}

/* Numbers that hold the place of each column (multiply_sparse_tile). */
static int64_t line_room(const margin_matrix *x) {
    return (x->columns + 1) / 2;
}

int64_t mg_sparse_lines(const margin_matrix *x) {
    int64_t most = mg_is_csr(x) ? 0 : x->columns;
    for (int64_t i = 0; i < x->rows && mg_is_csr(x); i++)
        most = MG_MAX(most, mg_row_start(x, i + 1) - mg_row_start(x, i));
    return 1 + MG_MIN(MG_SPARSE_SIDE * most, x->columns);
}

/* Numbers behind the tile: panels, lines of left rows, or for a function both blocks of rows and
 * what it answers. */
static int64_t room_behind(const mg_kernel_scratch *s, const margin_matrix *x) {
    if (s->kernel.kind == MG_KERNEL_PRECOMPUTED) return 0;
    if (s->kernel.kind == MG_KERNEL_FUNCTION)
        return (s->left + s->right) * x->columns + s->left * s->right;
    if (s->sparse) return line_room(x) + MG_SPARSE_SIDE * mg_sparse_lines(x);
    return (s->left + s->right) * MG_MIN(DEPTH, x->columns);
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
                           .workers = mg_task_worker() < 0 ? mg_threads(context) : 1,
                           .left = TILE_LEFT / ops->rows * ops->rows,
                           .right = TILE_RIGHT / ops->columns * ops->columns};
    s.dense = s.left * s.right;
    s.size = (s.dense + room_behind(&s, x) + 7) / 8 * 8;
    MG_NEW_BYTES(s.heap, *scratch, head + 8 * s.size * s.workers, "scratch for kernel values",
                 error);
    s.memory = (double *)(void *)((char *)*scratch + head);
    for (int64_t worker = 0; s.sparse && worker < s.workers; worker++)
        memset(s.memory + worker * s.size + s.dense, 0, (size_t)line_room(x) * sizeof *s.memory);
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
            const int64_t past = at->upper ? at->j + j + ops->columns - at->i : at->rows;
            for (int64_t i = 0; i < MG_MIN(at->rows, past); i += ops->rows) {
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

/* Some left rows side by side: a line of their values for each column in which one has a value, and
 * where it is; the first line is 0. `line` is 0 before, and again after clear_lines. */
typedef struct left_lines {
    const mg_kernel_block *block;
    int64_t first, count; /* of the block's left rows */
    int32_t *line;        /* of each column */
    double *values;       /* MG_SPARSE_SIDE numbers a line */
} left_lines;

static int64_t row_entries(const margin_matrix *x, int64_t row, int64_t *first) {
    *first = mg_is_csr(x) ? mg_row_start(x, row) : row * x->stride;
    return mg_is_csr(x) ? mg_row_start(x, row + 1) - *first : x->columns;
}

static void fill_lines(const left_lines *l) {
    const margin_matrix *x = l->block->x;
    int32_t used = 0;
    memset(l->values, 0, MG_SPARSE_SIDE * sizeof *l->values);
    for (int64_t r = 0; r < l->count; r++) {
        int64_t first;
        const int64_t entries = row_entries(x, mg_block_left(l->block, l->first + r), &first);
        for (int64_t k = 0; k < entries; k++) {
            int32_t *line = &l->line[mg_is_csr(x) ? mg_column_index(x, first + k) : k];
            if (*line == 0) {
                *line = ++used;
                memset(l->values + (int64_t)used * MG_SPARSE_SIDE, 0,
                       MG_SPARSE_SIDE * sizeof *l->values);
            }
            l->values[(int64_t)*line * MG_SPARSE_SIDE + r] = mg_stored_value(x, first + k);
        }
    }
}

static void clear_lines(const left_lines *l) {
    const margin_matrix *x = l->block->x;
    for (int64_t r = 0; r < l->count; r++) {
        int64_t first;
        const int64_t entries = row_entries(x, mg_block_left(l->block, l->first + r), &first);
        for (int64_t k = 0; k < entries; k++)
            l->line[mg_is_csr(x) ? mg_column_index(x, first + k) : k] = 0;
    }
}

/* The same with left rows that are spread out, some at a time. */
static void multiply_sparse_tile(const mg_kernel_scratch *s, const mg_kernel_block *block,
                                 const mg_tile_place *at, double *memory) {
    left_lines l = {.block = block, .line = (int32_t *)(void *)(memory + s->dense)};
    l.values = memory + s->dense + line_room(block->x);
    for (int64_t i = 0; i < at->rows; i += MG_SPARSE_SIDE) {
        l.first = at->i + i;
        l.count = MG_MIN(MG_SPARSE_SIDE, at->rows - i);
        fill_lines(&l);
        for (int64_t j = 0; j < at->columns; j++) {
            double found[MG_SPARSE_SIDE];
            s->ops->sparse(block->z, mg_block_right(block, at->j + j), l.line, l.values, found);
            for (int64_t r = 0; r < l.count; r++)
                memory[(i + r) * s->right + j] = found[r];
        }
        clear_lines(&l);
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
