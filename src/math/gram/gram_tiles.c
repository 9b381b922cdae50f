/* Points packed for tiles in f32, and blocks of values by them. */
#include "math/gram/gram_tiles.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Whole chunks of a panel that stays in the first cache; rows and columns of a tile. */
enum { DEPTH = 2 * MG_TILE_CHUNK, MOST_ROWS = 12, MOST_WIDTH = 32 };

struct mg_gram_tiles {
    mg_heap *heap;
    const mg_gram_tile_ops *ops;
    const mg_kernel_points *points;
    mg_tile_finish finish;
    int64_t count, depth; /* depth: lines of a panel */
    double scale;
    bool bytes; /* rows of bytes, in units of 1 / over; else f32 */
    float over;
    int32_t *lefts;             /* of points that are bytes: what they add on the left */
    double *centre, *roundings; /* of columns, while points are packed: x' = scale (x - centre) */
    double *off;                /* of points, rbf: see below */
    float *panels, *squares;
    int64_t marks;   /* of bytes: words of them */
    uint32_t *lines; /* the marks of each panel */
};

void mg_gram_tiles_free(mg_gram_tiles *tiles) {
    if (!tiles) return;
    mg_heap *heap = tiles->heap;
    MG_FREE(heap, tiles->centre, tiles->roundings, tiles->off, tiles->panels, tiles->squares,
            tiles->lefts, tiles->lines, tiles);
}

void mg_gram_tiles_end(mg_gram_tiles *tiles) {
    mg_free(tiles->heap, tiles->panels);
    tiles->panels = NULL;
}

static double point_value(const mg_kernel_points *points, int64_t i, int64_t k) {
    return mg_stored_value(&points->x, mg_point_row(points, i) * points->x.stride + k);
}

/* The mean of the points, where values depend on differences. Returns the greatest |x_k|. */
static double find_centre(mg_gram_tiles *t, bool differences) {
    double most = 0.0, *centre = t->centre, *row = t->roundings; /* which are not known yet */
    memset(centre, 0, (size_t)t->depth * sizeof *centre);
    for (int64_t i = 0; i < t->count; i++) {
        mg_row_expand(&t->points->x, mg_point_row(t->points, i), row);
        for (int64_t k = 0; k < t->depth; k++) {
            centre[k] += differences ? row[k] : 0.0;
            most = fabs(row[k]) > most ? fabs(row[k]) : most;
        }
    }
    for (int64_t k = 0; k < t->depth; k++)
        centre[k] /= (double)t->count;
    return most;
}

/* |x'|^2 is 2 gamma |x - mean|^2 of rbf, |x'|_1 gamma |x - mean|_1 of laplacian, for powers of 2 in
 * place of e; of dot products the values are at most 1. */
static void find_units(mg_gram_tiles *t, const mg_kernel *kernel, double factor) {
    const bool rbf = kernel->kind == MG_KERNEL_RBF, l1 = kernel->kind == MG_KERNEL_LAPLACIAN;
    const double most = t->bytes ? 255.0 / (double)t->over : find_centre(t, rbf || l1);
    const double gamma = MG_LOG2_E * kernel->gamma;
    t->scale = rbf ? sqrt(2.0 * gamma) : l1 ? gamma : most > 0.0 ? 1.0 / most : 1.0;
    const double unit = 1.0 / (t->scale * t->scale), root = pow(factor, 1.0 / kernel->degree);
    t->finish = (mg_tile_finish){kernel->kind, 1.0f, 0.0f, kernel->degree};
    if (kernel->kind == MG_KERNEL_LINEAR) t->finish.slope = (float)(unit * factor);
    if (kernel->kind == MG_KERNEL_SIGMOID || kernel->kind == MG_KERNEL_POLY) {
        const double part = kernel->kind == MG_KERNEL_POLY ? root : 2.0 * MG_LOG2_E;
        t->finish.slope = (float)(kernel->gamma * unit * part);
        t->finish.offset = (float)(kernel->coef0 * part);
    }
    if (kernel->kind != MG_KERNEL_EXP) return;
    t->finish.slope = (float)(MG_LOG2_E * unit);
    t->finish.offset = (float)log2(factor);
}

double mg_tile_roundings(int64_t depth, int64_t column) {
    const int64_t chunk = column / MG_TILE_CHUNK, end = (chunk + 1) * MG_TILE_CHUNK;
    const int64_t after = (depth - 1) / MG_TILE_CHUNK - chunk;
    return (double)(1 + MG_MIN(end, depth) - column + after + (chunk > 0));
}

/* Squares are what points add on the right. */
static margin_status pack_bytes(const mg_block *block, void *argument) {
    mg_gram_tiles *t = argument;
    const int64_t width = t->ops->columns, first = block->first * width;
    const bool distances = t->finish.kind == MG_KERNEL_RBF;
    const double unit = t->scale / (double)t->over;
    for (int64_t j = 0; j < width; j++) {
        const int64_t i = MG_MIN(first + j, t->count - 1);
        mg_byte_point p;
        (void)mg_byte_pack(&t->points->x, mg_point_row(t->points, i), t->over, false, width,
                           t->panels + first * t->depth + j, &p);
        const int32_t square = distances ? p.square : 0, right = 256 * p.sum - square;
        memcpy(&t->squares[first + j], &right, sizeof right);
        t->lefts[i] = -square;
        if (t->off) t->off[i] = 10.0 * unit * unit * p.square;
    }
    mg_byte_mark(t->panels + first * t->depth, t->depth, width, 0,
                 t->lines + block->first * t->marks);
    return MARGIN_OK;
}

static margin_status pack_block(const mg_block *block, void *argument) {
    mg_gram_tiles *t = argument;
    const int64_t width = t->ops->columns, first = block->first * width;
    float *panel = t->panels + first * t->depth;
    for (int64_t j = 0; j < width; j++) {
        const bool inside = first + j < t->count;
        double off = 0.0;
        for (int64_t k = 0; k < t->depth; k++) {
            const double value =
                inside ? t->scale * (point_value(t->points, first + j, k) - t->centre[k]) : 0.0;
            panel[k * width + j] = (float)value;
            off += t->roundings[k] * value * value;
        }
        if (inside && t->off) t->off[first + j] = off;
    }
    t->ops->square(t->depth, panel, t->squares + first);
    return MARGIN_OK;
}

/* A distance in f32 is worth something while the squares it comes from are not much larger. */
static bool is_fine(const mg_gram_tiles *t) {
    const float most = mg_kernel_basis_of(t->finish.kind) == MG_OF_PRODUCTS ? 1e30f : 1e4f;
    for (int64_t i = 0; !t->bytes && i < t->count; i++)
        if (!(-t->squares[i] <= most)) return false;
    return isfinite(t->finish.slope) && isfinite(t->finish.offset);
}

static margin_status pack_points(margin_context *context, mg_gram_tiles *t, const mg_kernel *kernel,
                                 double factor, margin_error *error) {
    static const char purpose[] = "the rows in single precision";
    const int64_t panels = (t->count + t->ops->columns - 1) / t->ops->columns;
    MG_NEW(t->heap, t->centre, t->depth + 1, purpose, error);
    MG_NEW(t->heap, t->roundings, t->depth + 1, purpose, error);
    if (kernel->kind == MG_KERNEL_RBF) MG_NEW(t->heap, t->off, t->count, purpose, error);
    MG_NEW(t->heap, t->panels, panels * t->ops->columns * t->depth, purpose, error);
    MG_NEW(t->heap, t->squares, panels * t->ops->columns, purpose, error);
    if (t->bytes) MG_NEW(t->heap, t->lefts, t->count, purpose, error);
    if (t->bytes) MG_NEW(t->heap, t->lines, panels * t->marks, purpose, error);
    find_units(t, kernel, factor);
    for (int64_t k = 0; k < t->depth; k++)
        t->roundings[k] = mg_tile_roundings(t->depth, k);
    const margin_status status =
        mg_sweep_each(context, panels, 1, t->bytes ? pack_bytes : pack_block, t, error);
    MG_FREE(t->heap, t->centre, t->roundings);
    t->centre = t->roundings = NULL;
    return status;
}

margin_status mg_gram_tiles_new(margin_context *context, const mg_kernel *kernel,
                                const mg_kernel_points *points, double factor, float over,
                                mg_gram_tiles **tiles, margin_error *error) {
    mg_gram_tiles *t;
    *tiles = NULL;
    if (mg_is_csr(&points->x) || mg_kernel_basis_of(kernel->kind) == MG_OF_NONE) return MARGIN_OK;
    MG_NEW(context->heap, t, 1, "the rows in single precision", error);
    *t = (mg_gram_tiles){.heap = context->heap,
                         .ops = MG_ISA_TABLE(mg_isa_level(), mg_gram_tile_ops),
                         .points = points,
                         .count = points->count,
                         .depth = points->x.columns};
    t->over = kernel->kind != MG_KERNEL_LAPLACIAN ? over : 0.0f;
    t->bytes = t->over > 0.0f;
    if (t->bytes) t->depth = MG_BYTE_LINES(t->depth);
    if (t->bytes) t->marks = MG_BYTE_MARKS(t->depth);
    const margin_status status = pack_points(context, t, kernel, factor, error);
    if (status < 0 || !is_fine(t))
        mg_gram_tiles_free(t);
    else
        *tiles = t;
    return status;
}

/* The exponent of 2 is -|x'|^2 / 2 - |z'|^2 / 2 + x'.z'. Products of a column are off by as many
 * units as they went through roundings, of |x'_k z'_k| <= (x'_k^2 + z'_k^2) / 2 and of the squares
 * made alike; rounded points are 2 units of |x'|^2 + |z'|^2, the sums of the three 1.5. It is not
 * above 0, so that the power keeps at most ln 2 of the difference, and is itself off by two units
 * in the last place (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). The exponent of
 * bytes is rounded three times, and bytes are within 6 units of what they stand for. */
bool mg_gram_tiles_error(const mg_gram_tiles *t, double *each, double *off) {
    const double unit = 0.5 * (double)FLT_EPSILON;
    if (t->finish.kind != MG_KERNEL_RBF) return false;
    *each = 4.0 * unit;
    for (int64_t i = 0; i < t->count; i++)
        off[i] = 0.701 * unit * (t->off[i] - (t->bytes ? 0.0 : 8.0 * (double)t->squares[i]));
    return true;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Lines of a left panel: their squares are behind it, and the marks. */
static int64_t left_lines(const mg_gram_tiles *t) {
    return t->depth + 1 + (t->marks + t->ops->rows - 1) / t->ops->rows;
}

int64_t mg_gram_left_size(const mg_gram_tiles *t, int64_t rows) {
    return (rows + t->ops->rows - 1) / t->ops->rows * t->ops->rows * left_lines(t);
}

/* A panel of `width` of the points, of which there are `count`. Neighbours lie in the same lines,
 * so that it goes through a column of all of them at a time. */
static void gather_panel(const mg_gram_tiles *t, const int64_t *points, int64_t count,
                         int64_t width, float *to) {
    const int64_t columns = t->ops->columns;
    const float *from[MOST_WIDTH];
    for (int64_t r = 0; r < width; r++) {
        const int64_t point = points[MG_MIN(r, count - 1)];
        from[r] = t->panels + point / columns * columns * t->depth + point % columns;
    }
    for (int64_t k = 0; k < t->depth; k++)
        for (int64_t r = 0; r < width; r++)
            to[k * width + r] = from[r][k * columns];
}

void mg_gram_left(const mg_gram_tiles *t, const int64_t *points, int64_t rows, float *left) {
    const int64_t high = t->ops->rows;
    for (int64_t first = 0; first < rows; first += high) {
        float *to = left + first * left_lines(t), *square = to + t->depth * high;
        gather_panel(t, points + first, rows - first, high, to);
        if (t->bytes) mg_byte_mark(to, t->depth, high, 0, (uint32_t *)(void *)(square + high));
        for (int64_t k = 0; t->bytes && k < t->depth * high; k++)
            to[k] = mg_byte_signs(to[k]);
        for (int64_t r = 0; r < high; r++) {
            const int64_t point = points[MG_MIN(first + r, rows - 1)];
            square[r] = t->squares[point];
            if (t->bytes) memcpy(&square[r], &t->lefts[point], sizeof *square);
        }
    }
}

int64_t mg_gram_right_size(const mg_gram_tiles *t, int64_t columns) {
    const int64_t width = t->ops->columns, head = (int64_t)sizeof *t / 4 + 16;
    return head + (columns + width - 1) / width * (width * (t->depth + 1) + t->marks);
}

typedef struct right_work {
    const mg_gram_tiles *from;
    mg_gram_tiles *to;
    const int64_t *points;
    int64_t columns;
} right_work;

static margin_status right_panel(void *argument, int64_t task, int worker) {
    const right_work *work = argument;
    const mg_gram_tiles *t = work->from;
    const int64_t width = t->ops->columns, first = task * width;
    (void)worker;
    gather_panel(t, work->points + first, work->columns - first, width,
                 work->to->panels + first * t->depth);
    for (int64_t j = first; j < first + width; j++)
        work->to->squares[j] = t->squares[work->points[MG_MIN(j, work->columns - 1)]];
    if (t->bytes)
        mg_byte_mark(work->to->panels + first * t->depth, t->depth, width, 0,
                     work->to->lines + task * t->marks);
    return MARGIN_OK;
}

margin_status mg_gram_right(margin_context *context, const mg_gram_tiles *t, const int64_t *points,
                            int64_t columns, float *memory, mg_gram_tiles **some) {
    const int64_t width = t->ops->columns, panels = (columns + width - 1) / width;
    mg_gram_tiles *to = *some = (mg_gram_tiles *)(void *)memory;
    *to = *t;
    to->squares = memory + (int64_t)sizeof *t / 4 + 16;
    to->panels = to->squares + panels * width;
    to->lines = (uint32_t *)(void *)(to->panels + panels * width * t->depth);
    right_work work = {t, to, points, columns};
    return mg_parallel(context, panels, right_panel, &work, NULL);
}

static void fill_panel(const mg_gram_tiles *t, const float *left, int64_t rows, int64_t first,
                       int64_t columns, int64_t offset, float *const *out, float *sums) {
    const int64_t high = t->ops->rows, width = t->ops->columns, lines = left_lines(t);
    const double unit = t->bytes ? t->scale / (double)t->over : 0.0;
    const float byte_scale = (float)(0.5 * unit * unit);
    float *places[MOST_ROWS];
    mg_gram_tile tile = {.finish = t->finish,
                         .b_square = t->squares + first,
                         .out = places,
                         .columns = (int)MG_MIN(columns, width)};
    for (int64_t k = 0; k == 0 || k < t->depth; k += DEPTH) {
        tile.depth = MG_MIN(DEPTH, t->depth - k);
        tile.first = k == 0;
        tile.last = k + tile.depth == t->depth;
        tile.b = t->panels + first * t->depth + k * width;
        if (t->bytes) tile.b_marks = t->lines + first / width * t->marks + k / 32;
        for (int64_t r = 0; r < rows; r += high) {
            const float *panel = left + r * lines;
            tile.rows = (int)MG_MIN(high, rows - r);
            tile.a = panel + k * high;
            tile.a_square = panel + t->depth * high;
            tile.sums = sums + r * width;
            tile.a_marks = (const uint32_t *)(const void *)(tile.a_square + high) + k / 32;
            for (int i = 0; i < tile.rows; i++)
                places[i] = out[r + i] + offset;
            if (t->bytes)
                mg_gram_byte_tile(t->ops, byte_scale, &tile);
            else
                t->ops->tile(&tile);
        }
    }
}

void mg_gram_tiles_fill(const mg_gram_tiles *t, const float *left, int64_t rows, int64_t first,
                        int64_t columns, float *const *out) {
    enum { GROUP = 8 * MOST_ROWS }; /* left rows whose sums are kept between parts of the depth */
    float sums[GROUP * MOST_WIDTH];
    for (int64_t j = 0; j < columns; j += t->ops->columns)
        for (int64_t r = 0; r < rows; r += GROUP)
            fill_panel(t, left + r * left_lines(t), MG_MIN(GROUP, rows - r), first + j, columns - j,
                       j, out + r, sums);
}
