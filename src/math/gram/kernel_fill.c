/* Blocks of kernel values: cut into tiles of about 64 x 128 values, one task each. */
#include "math/gram/kernel_tile.h"
#include "math/rows/row_ops.h"

#include <string.h>

typedef struct fill_work {
    const mg_kernel_scratch *scratch;
    const mg_kernel_block *block;
    const mg_kernel_out *out;
    int64_t across; /* tiles side by side */
} fill_work;

/* out[i, j + 0..count) = values[0], values[step], ... */
static void put_values(const mg_kernel_out *out, int64_t i, int64_t j, const double *values,
                       int64_t step, int64_t count) {
    if (out->type == MARGIN_F32) {
        float *to = (out->rows ? (float *)out->rows[i] : (float *)out->values + i * out->ld) + j;
        for (int64_t k = 0; k < count; k++)
            to[k] = (float)(out->factor * values[k * step]);
    } else {
        double *to = (out->rows ? (double *)out->rows[i] : (double *)out->values + i * out->ld) + j;
        for (int64_t k = 0; k < count; k++)
            to[k] = values[k * step];
    }
}

static void put_tile(const fill_work *work, const mg_tile_place *at, const double *memory) {
    for (int64_t i = 0; i < at->rows; i++) {
        const int64_t from = work->out->square ? MG_MAX(at->i + i - at->j, 0) : 0;
        put_values(work->out, at->i + i, at->j + from, memory + i * work->scratch->right + from, 1,
                   at->columns - from);
    }
}

/* What lies above the diagonal once more below it: each value is written by one task only. */
static void mirror_tile(const fill_work *work, const mg_tile_place *at, const double *memory) {
    const int64_t right = work->scratch->right;
    for (int64_t j = 0; j < at->columns; j++)
        put_values(work->out, at->j + j, at->i, memory + j, right,
                   MG_MIN(at->rows, at->j + j - at->i));
}

static margin_status fill_task(void *argument, int64_t task, int worker) {
    const fill_work *work = argument;
    const mg_kernel_scratch *s = work->scratch;
    const mg_kernel_block *block = work->block;
    mg_tile_place at = {task / work->across * s->left, 0, task % work->across * s->right, 0,
                        work->out->square};
    at.rows = MG_MIN(s->left, block->x_count - at.i);
    at.columns = MG_MIN(s->right, block->z_count - at.j);
    if (work->out->square && at.j + at.columns <= at.i) return MARGIN_OK; /* mirrored */
    double *memory = mg_kernel_room(s, worker);
    MG_TRY(mg_kernel_tile(s, block, &at, memory));
    put_tile(work, &at, memory);
    if (work->out->square) mirror_tile(work, &at, memory);
    return MARGIN_OK;
}

margin_status mg_kernel_fill_out(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                 const mg_kernel_out *out) {
    if (block->x_count <= 0 || block->z_count <= 0) return MARGIN_OK;
    const int64_t down = (block->x_count + scratch->left - 1) / scratch->left;
    fill_work work = {scratch, block, out, (block->z_count + scratch->right - 1) / scratch->right};
    return mg_parallel(scratch->context, down * work.across, fill_task, &work, NULL);
}

margin_status mg_kernel_fill_with(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                  double *values, int64_t ld) {
    const mg_kernel_out out = {.type = MARGIN_F64, .values = values, .ld = ld};
    return mg_kernel_fill_out(scratch, block, &out);
}

margin_status mg_kernel_fill(margin_context *context, const mg_kernel *kernel,
                             const mg_kernel_block *block, double *out, int64_t ld,
                             margin_error *error) {
    mg_kernel_scratch *scratch;
    MG_TRY(mg_kernel_scratch_new(context, kernel, block->x, block->z, &scratch, error));
    margin_status status = mg_kernel_fill_with(scratch, block, out, ld);
    mg_kernel_scratch_free(scratch);
    return mg_kernel_fail(status, error);
}

/* ---- Products -------------------------------------------------------------------------------- */

typedef struct multiply_work {
    const mg_kernel_scratch *scratch;
    const mg_kernel_block *block;
    const double *v;
    int64_t width;
    double *out;
} multiply_work;

enum { CHAINS = 8 }; /* rows whose sums run side by side */

static void add_products(const double *values, int64_t ld, int64_t rows, int64_t columns,
                         const double *v, int64_t width, double *out) {
    double sum[CHAINS];
    for (int64_t c = 0; c < width; c++) {
        for (int64_t r = 0; r < rows; r++)
            sum[r] = out[r * width + c];
        for (int64_t j = 0; j < columns && rows == CHAINS; j++)
            for (int r = 0; r < CHAINS; r++)
                sum[r] += values[r * ld + j] * v[j * width + c];
        for (int64_t j = 0; j < columns && rows < CHAINS; j++)
            for (int64_t r = 0; r < rows; r++)
                sum[r] += values[r * ld + j] * v[j * width + c];
        for (int64_t r = 0; r < rows; r++)
            out[r * width + c] = sum[r];
    }
}

/* A strip of tiles from left to right. */
static margin_status multiply_task(void *argument, int64_t task, int worker) {
    const multiply_work *work = argument;
    const mg_kernel_scratch *s = work->scratch;
    const mg_kernel_block *block = work->block;
    const int64_t width = work->width, first = task * s->left;
    double *memory = mg_kernel_room(s, worker);
    mg_tile_place at = {first, MG_MIN(s->left, block->x_count - first), 0, 0, false};
    memset(work->out + first * width, 0, (size_t)(at.rows * width) * sizeof *work->out);
    for (; at.j < block->z_count; at.j += s->right) {
        at.columns = MG_MIN(s->right, block->z_count - at.j);
        if (mg_cancelled(s->context)) return MARGIN_ERROR_CANCELLED;
        MG_TRY(mg_kernel_tile(s, block, &at, memory));
        for (int64_t i = 0; i < at.rows; i += CHAINS)
            add_products(memory + i * s->right, s->right, MG_MIN(CHAINS, at.rows - i), at.columns,
                         work->v + at.j * width, width, work->out + (first + i) * width);
    }
    return MARGIN_OK;
}

margin_status mg_kernel_multiply(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                 const double *v, int64_t width, double *out) {
    multiply_work work = {scratch, block, v, width, out};
    const int64_t strips = (block->x_count + scratch->left - 1) / scratch->left;
    return mg_parallel(scratch->context, strips, multiply_task, &work, NULL);
}

/* ---- Products of a square -------------------------------------------------------------------- */

enum { SQUARE_SIDE = 480, SQUARES_ACROSS = 32 };

/* Blocks on and above the diagonal, of `side` rows and columns: each has sums of its rows, and of
 * its columns for the block below that it mirrors. They are the same for any number of threads. */
typedef struct square_work {
    const mg_kernel_scratch *scratch;
    const mg_kernel_block *block;
    const double *v;
    int64_t side, across;
    double *sums;
} square_work;

/* What lies below the diagonal is left to its mirror image; what lies on it counts once. */
static void add_square(const square_work *work, const mg_tile_place *at, double *memory,
                       double *rows, double *columns) {
    const mg_kernel_scratch *s = work->scratch;
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t ld = s->right;
    for (int64_t r = 0; r < at->rows; r++)
        for (int64_t c = 0; c < MG_MIN(at->i + r - at->j, at->columns); c++)
            memory[r * ld + c] = 0.0;
    for (int64_t r = 0; r < at->rows; r += CHAINS)
        add_products(memory + r * ld, ld, MG_MIN(CHAINS, at->rows - r), at->columns,
                     work->v + at->j, 1, rows + r);
    for (int64_t r = 0; r < at->rows; r++) {
        const int64_t own = at->i + r - at->j;
        if (own >= 0 && own < at->columns) memory[r * ld + own] = 0.0;
        ops->add(columns, work->v[at->i + r], memory + r * ld, at->columns);
    }
}

static margin_status multiply_square_task(void *argument, int64_t task, int worker) {
    const square_work *work = argument;
    const mg_kernel_scratch *s = work->scratch;
    const int64_t side = work->side, n = work->block->x_count;
    double *memory = mg_kernel_room(s, worker), *rows = work->sums + 2 * task * side;
    double *columns = rows + side;
    int64_t i = 0;
    memset(rows, 0, (size_t)(2 * side) * sizeof *rows);
    for (; task >= work->across - i; i++)
        task -= work->across - i;
    const int64_t top = i * side, left = (i + task) * side;
    for (mg_tile_place at = {.i = top, .upper = true}; at.i < MG_MIN(top + side, n);
         at.i += s->left) {
        at.rows = MG_MIN(s->left, MG_MIN(top + side, n) - at.i);
        if (mg_cancelled(s->context)) return MARGIN_ERROR_CANCELLED;
        for (at.j = left; at.j < MG_MIN(left + side, n); at.j += s->right) {
            at.columns = MG_MIN(s->right, MG_MIN(left + side, n) - at.j);
            if (at.j + at.columns <= at.i) continue;
            MG_TRY(mg_kernel_tile(s, work->block, &at, memory));
            add_square(work, &at, memory, rows + at.i - top, columns + at.j - left);
        }
    }
    return MARGIN_OK;
}

static int64_t square_side(int64_t count) {
    const int64_t most = SQUARE_SIDE * SQUARES_ACROSS;
    return (count / most + (count % most != 0)) * SQUARE_SIDE; /* any count: no sum overflows */
}

static int64_t square_tasks(int64_t across) {
    return across * (across + 1) / 2;
}

int64_t mg_kernel_square_bytes(int64_t count) {
    const int64_t side = square_side(MG_MAX(count, 1));
    const int64_t across = count / side + (count % side != 0);
    const double bytes = 2.0 * sizeof(double) * (double)side * (double)square_tasks(across);
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

margin_status mg_kernel_multiply_square(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                        const double *v, double *out, margin_error *error) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t n = block->x_count;
    square_work work = {scratch, block, v, square_side(n), 0, NULL};
    if (n <= 0) return MARGIN_OK;
    if (mg_kernel_basis_of(scratch->kernel.kind) == MG_OF_NONE)
        return mg_kernel_fail(mg_kernel_multiply(scratch, block, v, 1, out), error);
    work.across = (n + work.side - 1) / work.side;
    const int64_t tasks = square_tasks(work.across), side = work.side;
    MG_NEW(scratch->heap, work.sums, 2 * side * tasks, "sums of kernel values", error);
    const margin_status status =
        mg_parallel(scratch->context, tasks, multiply_square_task, &work, NULL);
    memset(out, 0, (size_t)n * sizeof *out);
    const double *sums = work.sums;
    for (int64_t i = 0; i < n && status >= 0; i += side)
        for (int64_t j = i; j < n; j += side, sums += 2 * side) {
            ops->add(out + i, 1.0, sums, MG_MIN(side, n - i));
            ops->add(out + j, 1.0, sums + side, MG_MIN(side, n - j));
        }
    mg_free(scratch->heap, work.sums);
    return mg_kernel_fail(status, error);
}
