/* Blocks of kernel values.
 *
 * The block is cut into tiles of about 64 x 128 values, one task each. A task packs the rows it
 * needs into panels (64 x 256 and 128 x 256 numbers, widened to f64 and transposed, so that they
 * stay in the second-level cache), multiplies panel by panel, and turns the dot products into
 * kernel values while they are in cache. Rows of the right matrix that are sparse and too thin for
 * that are multiplied one by one with the left row spread out. */
#include "kernel/gram/kernel_ops.h"

#include <math.h>
#include <string.h>

enum { TILE_LEFT = 64, TILE_RIGHT = 128, DEPTH = 256 };

const mg_kernel_ops *mg_kernel_ops_for(mg_isa isa) {
#if defined(__x86_64__)
    if (isa == MG_ISA_AVX512) return &mg_kernel_ops_avx512;
    if (isa == MG_ISA_AVX2) return &mg_kernel_ops_avx2;
#else
    (void)isa;
#endif
    return &mg_kernel_ops_ref;
}

void mg_kernel_finish(mg_isa isa, const mg_kernel *kernel, double square_x, const double *squares_z,
                      double *values, int64_t count) {
    mg_kernel_ops_for(isa)->finish(kernel, square_x, squares_z, values, count);
}

/* ---- Packing --------------------------------------------------------------------------------- */

/* First stored entry of a CSR row in column `column` or behind it. */
static int64_t find_column(const margin_matrix *x, int64_t row, int64_t column) {
    int64_t low = mg_row_start(x, row), high = mg_row_start(x, row + 1);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (mg_column_index(x, middle) < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void pack_sparse(const margin_matrix *x, int64_t row, int64_t first, int64_t depth,
                        int width, double *to) {
    for (int64_t j = 0; j < depth; j++)
        to[j * width] = 0.0;
    const int64_t last = mg_row_start(x, row + 1);
    for (int64_t k = find_column(x, row, first); k < last; k++) {
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

typedef struct row_list {
    const margin_matrix *x;
    const int64_t *rows; /* NULL: first, first + 1, ... */
    int64_t first;
} row_list;

static int64_t listed_row(const row_list *list, int64_t i) {
    return list->rows ? list->rows[i] : list->first + i;
}

/* Rows [from, from + count) of the list as panels of `width` lanes, one behind the other; the last
 * one is filled up with zeros. */
static void pack_panels(const row_list *list, int64_t from, int64_t count, int64_t first,
                        int64_t depth, int width, double *panels) {
    const int64_t padded = (count + width - 1) / width * width;
    for (int64_t i = 0; i < padded; i++) {
        double *to = panels + i / width * width * depth + i % width;
        if (i < count) {
            pack_row(list->x, listed_row(list, from + i), first, depth, width, to);
        } else {
            for (int64_t j = 0; j < depth; j++)
                to[j * width] = 0.0;
        }
    }
}

/* ---- Scratch --------------------------------------------------------------------------------- */

struct mg_kernel_scratch {
    margin_context *context;
    mg_heap *heap;
    const mg_kernel_ops *ops;
    mg_kernel kernel;
    bool sparse;         /* multiply row by row */
    int64_t left, right; /* rows of a tile: whole panels */
    int64_t size;        /* numbers per worker */
    int64_t dense;  /* of these, where the spread-out row or the panels begin: behind the tile */
    double *memory; /* threads * size */
};

/* Row by row costs about one nanosecond a stored number, in panels about a sixteenth a column. */
static bool sparse_pays(const mg_kernel *kernel, const margin_matrix *z) {
    if (!mg_is_csr(z) || kernel->kind == MG_KERNEL_LAPLACIAN) return false;
    const int64_t stored = mg_row_start(z, z->rows) - mg_row_start(z, 0);
    return (double)z->columns * (double)z->rows > 16.0 * (double)stored;
}

margin_status mg_kernel_scratch_new(margin_context *context, const mg_kernel *kernel,
                                    const margin_matrix *x, const margin_matrix *z,
                                    mg_kernel_scratch **scratch, margin_error *error) {
    mg_heap *heap = context->heap;
    mg_kernel_scratch *s;
    MG_NEW(heap, s, 1, "scratch for kernel values", error);
    const mg_kernel_ops *ops = mg_kernel_ops_for(mg_isa_level());
    memset(s, 0, sizeof *s);
    s->context = context;
    s->heap = heap;
    s->ops = ops;
    s->kernel = *kernel;
    s->sparse = sparse_pays(kernel, z);
    s->left = TILE_LEFT / ops->rows * ops->rows;
    s->right = TILE_RIGHT / ops->columns * ops->columns;
    s->dense = s->left * s->right;
    const int64_t depth = MG_MIN(DEPTH, x->columns);
    s->size = s->dense + (s->sparse ? z->columns : (s->left + s->right) * depth);
    s->size = (s->size + 7) / 8 * 8;
    const int64_t count = s->size * margin_context_threads(context);
    s->memory = mg_new(heap, count, sizeof *s->memory);
    if (!s->memory) {
        margin_status status =
            mg_no_memory(heap, count, sizeof *s->memory, "scratch for kernel values", error);
        mg_free(heap, s);
        return status;
    }
    *scratch = s;
    return MARGIN_OK;
}

void mg_kernel_scratch_free(mg_kernel_scratch *scratch) {
    if (!scratch) return;
    mg_free(scratch->heap, scratch->memory);
    mg_free(scratch->heap, scratch);
}

/* ---- One tile -------------------------------------------------------------------------------- */

typedef struct fill_work {
    mg_kernel_scratch *scratch;
    const mg_kernel_block *block;
    row_list left, right;
    double *out;
    int64_t ld, across; /* tiles side by side */
    bool square;        /* only tiles on or above the diagonal, mirrored */
} fill_work;

typedef struct tile_place {
    int64_t i, rows, j, columns; /* of the block */
} tile_place;

/* The tile's dot products (or distances) through panels. */
static void multiply_tile(const fill_work *work, const tile_place *at, double *memory) {
    const mg_kernel_scratch *s = work->scratch;
    const mg_kernel_ops *ops = s->ops;
    const bool distance = s->kernel.kind == MG_KERNEL_LAPLACIAN, one = at->rows == 1;
    const int64_t columns = work->block->x->columns;
    double *tile = memory, *left = memory + s->dense;
    memset(tile, 0, (size_t)(s->left * s->right) * sizeof *tile);
    for (int64_t first = 0; first < columns; first += DEPTH) {
        const int64_t depth = MG_MIN(DEPTH, columns - first);
        double *right = left + s->left * depth;
        pack_panels(&work->left, at->i, at->rows, first, depth, ops->rows, left);
        pack_panels(&work->right, at->j, at->columns, first, depth, ops->columns, right);
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
static void multiply_sparse_tile(const fill_work *work, const tile_place *at, double *memory) {
    const mg_kernel_scratch *s = work->scratch;
    const row_list *right = &work->right;
    double *dense = memory + s->dense;
    for (int64_t i = 0; i < at->rows; i++) {
        mg_row_expand(work->left.x, listed_row(&work->left, at->i + i), dense);
        s->ops->sparse(right->x, right->rows ? right->rows + at->j : NULL, right->first + at->j,
                       at->columns, dense, memory + i * s->right);
    }
}

static void finish_tile(const fill_work *work, const tile_place *at, double *memory) {
    const mg_kernel_scratch *s = work->scratch;
    const mg_kernel_block *block = work->block;
    const bool squares = s->kernel.kind == MG_KERNEL_RBF;
    double right[TILE_RIGHT];
    for (int64_t j = 0; squares && j < at->columns; j++)
        right[j] = block->z_squares[listed_row(&work->right, at->j + j)];
    for (int64_t i = 0; i < at->rows; i++) {
        const double square = squares ? block->x_squares[listed_row(&work->left, at->i + i)] : 0.0;
        double *values = memory + i * s->right;
        s->ops->finish(&s->kernel, square, right, values, at->columns);
        const int64_t from = work->square ? MG_MAX(at->i + i - at->j, 0) : 0;
        if (from < at->columns)
            memcpy(work->out + (at->i + i) * work->ld + at->j + from, values + from,
                   (size_t)(at->columns - from) * sizeof *values);
    }
}

/* What lies above the diagonal once more below it: each value is written by one task only. */
static void mirror_tile(const fill_work *work, const tile_place *at, const double *memory) {
    for (int64_t j = 0; j < at->columns; j++) {
        const int64_t above = MG_MIN(at->rows, at->j + j - at->i);
        for (int64_t i = 0; i < above; i++)
            work->out[(at->j + j) * work->ld + at->i + i] = memory[i * work->scratch->right + j];
    }
}

static margin_status fill_task(void *argument, int64_t task, int worker) {
    const fill_work *work = argument;
    const mg_kernel_scratch *s = work->scratch;
    const mg_kernel_block *block = work->block;
    tile_place at = {task / work->across * s->left, 0, task % work->across * s->right, 0};
    at.rows = MG_MIN(s->left, block->x_count - at.i);
    at.columns = MG_MIN(s->right, block->z_count - at.j);
    if (work->square && at.j + at.columns <= at.i) return MARGIN_OK; /* mirrored */
    double *memory = s->memory + worker * s->size;
    if (s->sparse)
        multiply_sparse_tile(work, &at, memory);
    else
        multiply_tile(work, &at, memory);
    finish_tile(work, &at, memory);
    if (work->square) mirror_tile(work, &at, memory);
    return MARGIN_OK;
}

static margin_status fill(mg_kernel_scratch *scratch, const mg_kernel_block *block, bool square,
                          double *out, int64_t ld) {
    if (block->x_count <= 0 || block->z_count <= 0) return MARGIN_OK;
    fill_work work = {.scratch = scratch,
                      .block = block,
                      .left = {block->x, block->x_rows, block->x_first},
                      .right = {block->z, block->z_rows, block->z_first},
                      .out = out,
                      .ld = ld,
                      .square = square};
    work.across = (block->z_count + scratch->right - 1) / scratch->right;
    const int64_t down = (block->x_count + scratch->left - 1) / scratch->left;
    return mg_parallel(scratch->context, down * work.across, fill_task, &work);
}

margin_status mg_kernel_fill_with(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                  double *out, int64_t ld) {
    return fill(scratch, block, false, out, ld);
}

margin_status mg_kernel_fill_square(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                    double *out, int64_t ld) {
    return fill(scratch, block, true, out, ld);
}

margin_status mg_kernel_fill(margin_context *context, const mg_kernel *kernel,
                             const mg_kernel_block *block, double *out, int64_t ld,
                             margin_error *error) {
    mg_kernel_scratch *scratch;
    MG_TRY(mg_kernel_scratch_new(context, kernel, block->x, block->z, &scratch, error));
    margin_status status = mg_kernel_fill_with(scratch, block, out, ld);
    mg_kernel_scratch_free(scratch);
    return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(error) : status;
}
