/* Scores in single precision, with a bound on their errors: of many rows, where only the class is
 * asked for and few rows are in doubt.
 *
 * K = 2^-t, t = |x' - s'|^2 / 2 of points that are centred and scaled. Let u be the unit roundoff
 * of f32. The product of a column, |x'_k s'_k| <= (x'_k^2 + s'_k^2) / 2, is off by u for each
 * rounding it goes through in a dot product; rounded points are 2 u (|x'|^2 + |s'|^2), and the
 * squares, their sum and the difference the same. What the scores in f64 lose themselves is
 * rounding of |x|^2, |s|^2 and 2 x.s. So t ln 2 is off by some d, a part for each of the two
 * points, K by at most K (e^d - 1), beside two units in the last place of the power. A score is a
 * sum of a_s K with rounded a_s, each term through MG_SUM_ROWS roundings in f32. With parts d_x and
 * d_s, those of rounding in d_x, and any typical d, it is off by sum_s |a_s| K (d_x + d_s) <=
 * max(d_x / d, 1) sum_s |a_s| (d + d_s) K, which is made like the score (Higham, Accuracy and
 * Stability of Numerical Algorithms, 3.1). Of bytes t is rounded three times, and they are within
 * 6 u of what they stand for. */
#include "learn/hypothesis/expansion_rough.h"

#include "base/sweep.h"
#include "math/gram/gram_tiles.h"
#include "math/rows/byte_rows.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    ROWS = MG_ROUGH_ROWS,
    SUPPORT = 120, /* rows of a block of values: whole panels of any height */
    MOST_HIGH = 12,
    MOST_WIDE = 32
};

struct mg_expansion_rough {
    const mg_hypothesis *h;
    const mg_gram_tile_ops *ops;
    bool bytes; /* rows of bytes, in units of 1 / over; else f32 */
    float over;
    int64_t depth, lines;  /* columns, and lines of a panel of them */
    double scale, *centre; /* x' = scale (x - centre) */
    float *panels;         /* left panels of all support rows, each over all columns */
    float *squares;        /* -|s'|^2 / 2; of bytes -|s|^2, whole numbers */
    double length;         /* at least the greatest |s| */
    double *roundings;     /* of each column, in units: what t ln 2 is off by for its square */
    double *off, most_off; /* of each support row: what t ln 2 is off by for it; the greatest */
    double typical;
    float *weights; /* the coefficients */
    float *sizes;   /* of the coefficients, times typical + off */
    double *least;  /* of each function: what underflow may do */
    mg_arena arena;
};

/* ---- Support rows ---------------------------------------------------------------------------- */

static double dense_at(const margin_matrix *x, int64_t row, int64_t column) {
    return mg_stored_value(x, row * x->stride + column);
}

/* Of a point: |x'|^2 of the rounded numbers, |x|^2, and what t ln 2 is off by. */
typedef struct rough_point {
    double length, square, off;
} rough_point;

/* Of a byte, in x'. */
static double unit_of(const mg_expansion_rough *r) {
    return r->scale / (double)r->over;
}

static rough_point put_bytes(const mg_expansion_rough *r, const margin_matrix *x, int64_t row,
                             int width, bool left, float *to, float *adds) {
    static const double off = 0.71 * 10.0 * 0.5 * (double)FLT_EPSILON, rounding = 1.0 + 1e-6;
    mg_byte_point p;
    const bool bytes = mg_byte_pack(x, row, r->over, left, width, to, &p);
    const int32_t own = left ? -p.square : 256 * p.sum - p.square;
    memcpy(adds, &own, sizeof own);
    const double length = unit_of(r) * unit_of(r) * (bytes ? p.square : (double)NAN);
    return (rough_point){length, rounding * length / (r->scale * r->scale), off * length};
}

/* One point as a lane of a panel, on the left one of support rows; what it adds to sums. */
static rough_point put_point(const mg_expansion_rough *r, const margin_matrix *x, int64_t row,
                             int width, bool left, float *to, float *adds) {
    rough_point p = {0.0, 0.0, 0.0};
    if (r->bytes) return put_bytes(r, x, row, width, left, to, adds);
    for (int64_t j = 0; j < r->depth; j++) {
        const double value = dense_at(x, row, j);
        const float rounded = (float)(r->scale * (value - r->centre[j]));
        const double square = (double)rounded * (double)rounded;
        to[j * width] = rounded;
        p.length += square;
        p.square += value * value;
        p.off += r->roundings[j] * square;
    }
    *adds = (float)(-0.5 * p.length);
    return p;
}

/* A panel of support rows, filled up with zeros. */
static margin_status pack_panel(const mg_block *block, void *argument) {
    const mg_expansion_rough *r = argument;
    const margin_matrix *support = &r->h->view.expansion.support;
    const int64_t high = r->ops->rows, first = block->first * high;
    float *panel = r->panels + first * r->lines;
    if (first + high > support->rows) memset(panel, 0, (size_t)(high * r->lines) * sizeof *panel);
    for (int64_t i = first; i < first + high; i++) {
        rough_point p = {0.0, 0.0, 0.0};
        r->squares[i] = 0.0f;
        if (i < support->rows)
            p = put_point(r, support, i, (int)high, true, panel + i - first, &r->squares[i]);
        r->off[i] = p.off;
    }
    return MARGIN_OK;
}

/* -|s'|^2 / 2 */
static double half_square(const mg_expansion_rough *r, int64_t i) {
    int32_t bytes;
    if (!r->bytes) return (double)r->squares[i];
    memcpy(&bytes, &r->squares[i], sizeof bytes);
    return 0.5 * unit_of(r) * unit_of(r) * bytes;
}

/* Upper bounds: the squares were rounded, and |s| <= |s'| / scale + |centre|. */
static void find_most(mg_expansion_rough *r) {
    static const double rounding = 1.0 + 1e-6;
    const int64_t support = r->h->view.expansion.support.rows;
    double least = 0.0, square = 0.0;
    r->typical = (double)FLT_EPSILON;
    for (int64_t i = 0; i < support; i++) {
        least = fmin(least, half_square(r, i)); /* NaN shows in the sums */
        r->most_off = fmax(r->most_off, r->off[i]);
        r->typical += r->off[i] / (double)support;
    }
    for (int64_t j = 0; j < r->depth; j++)
        square += r->centre[j] * r->centre[j];
    r->length = rounding * (rounding * sqrt(-2.0 * least) / r->scale + sqrt(square));
}

/* The centre is the mean of some support rows: any point near them would do. */
static void find_units(mg_expansion_rough *r) {
    enum { SOME = 256 };
    static const double unit = 0.5 * (double)FLT_EPSILON;
    const margin_matrix *support = &r->h->view.expansion.support;
    const int64_t count = MG_MIN(support->rows, SOME), step = support->rows / count;
    r->scale = sqrt(2.0 * MG_LOG2_E * r->h->view.expansion.kernel.gamma);
    for (int64_t j = 0; j < r->depth; j++) {
        r->roundings[j] = 0.71 * (0.5 * mg_tile_roundings(r->depth, j) + 4.0) * unit;
        r->centre[j] = 0.0;
    }
    for (int64_t i = 0; i < count && !r->bytes; i++)
        for (int64_t j = 0; j < r->depth; j++)
            r->centre[j] += dense_at(support, i * step, j) / (double)count;
}

static void find_sizes(mg_expansion_rough *r) {
    static const double underflow = 2.0 * (double)FLT_MIN;
    const mg_hypothesis *h = r->h;
    const int64_t *starts = h->view.expansion.starts;
    for (int64_t f = 0; f < h->functions; f++)
        for (int64_t k = starts[f]; k < starts[f + 1]; k++) {
            const double a = h->view.expansion.coefficients[k];
            const double off = r->off[h->view.expansion.entries[k]];
            r->weights[k] = (float)a;
            r->sizes[k] = (float)(fabs(a) * (r->typical + off));
            r->least[f] += underflow * (fabs(a) + 2.0);
        }
}

static bool is_for_rough(const mg_hypothesis *h) {
    const margin_matrix *support = &h->view.expansion.support;
    return h->kind == &mg_hypothesis_expansion && !mg_is_csr(support) && support->rows > 0 &&
           h->view.expansion.kernel.kind == MG_KERNEL_RBF && h->view.expansion.kernel.gamma > 0.0;
}

static margin_status rough_arrays(mg_expansion_rough *r, int64_t rows, int64_t entries) {
    return MG_PIECES(&r->arena, "the support rows in single precision", NULL,
                     MG_PIECE(r->centre, r->depth), MG_PIECE(r->roundings, r->depth),
                     MG_PIECE(r->panels, rows * r->lines), MG_PIECE(r->squares, rows),
                     MG_PIECE(r->off, rows), MG_PIECE(r->weights, entries),
                     MG_PIECE(r->sizes, entries), MG_PIECE(r->least, r->h->functions));
}

/* Support rows that are bytes, and so is the first of `like`. */
static void choose_bytes(margin_context *context, mg_expansion_rough *r,
                         const margin_matrix *like) {
    const margin_matrix *support = &r->h->view.expansion.support;
    mg_byte_point point;
    r->over = like && like->rows > 0 ? mg_byte_over(context, support, NULL, support->rows) : 0.0f;
    r->bytes = r->over > 0.0f && mg_byte_is(like, 0, r->over, &point);
    r->lines = r->bytes ? MG_BYTE_LINES(r->depth) : r->depth;
}

mg_expansion_rough *mg_expansion_rough_new(margin_context *context, const mg_hypothesis *h,
                                           const margin_matrix *like) {
    mg_heap *heap = context->heap;
    if (!is_for_rough(h)) return NULL;
    const int64_t support = h->view.expansion.support.rows;
    const int64_t rows = (support + SUPPORT - 1) / SUPPORT * SUPPORT;
    mg_expansion_rough *r = mg_new_zero(heap, 1, sizeof *r);
    if (!r) return NULL;
    r->h = h;
    r->ops = MG_ISA_TABLE(h->isa, mg_gram_tile_ops);
    r->depth = h->columns;
    choose_bytes(context, r, like);
    mg_arena_init(&r->arena, heap);
    margin_status status = rough_arrays(r, rows, h->view.expansion.starts[h->functions]);
    if (status >= 0) {
        memset(r->least, 0, (size_t)h->functions * sizeof *r->least);
        find_units(r);
        status = mg_sweep_each(context, rows / r->ops->rows, 1, pack_panel, r, NULL);
    }
    if (status < 0) {
        mg_expansion_rough_free(r);
        return NULL;
    }
    find_most(r);
    find_sizes(r);
    return r;
}

void mg_expansion_rough_free(mg_expansion_rough *r) {
    if (!r) return;
    mg_heap *heap = r->arena.heap;
    mg_arena_free(&r->arena);
    mg_free(heap, r);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Scratch of a call. */
typedef struct rough_rows {
    int64_t count, padded;
    double *sums, *sizes;  /* of each function: scores, and sums of `sizes` */
    double *off, *length;  /* what t ln 2 is off by for x, and |x| */
    int64_t *next, *end;   /* of each function: its coefficients of a block of support rows */
    float *values;         /* of such a block and a panel of rows, those of a support row a line */
    float *tile, *squares; /* sums of a tile; -|x'|^2 / 2 */
    float *right;          /* panels of the rows, each over all columns */
} rough_rows;

int64_t mg_expansion_rough_room(const mg_expansion_rough *r) {
    const int64_t functions = r->h->functions;
    const int64_t floats = (SUPPORT + MOST_HIGH) * MOST_WIDE + (1 + r->lines) * ROWS;
    return 2 * (functions + 1) * ROWS + 2 * functions + floats / 2;
}

static rough_rows lay_out(const mg_expansion_rough *r, int64_t count, double *room) {
    const int64_t functions = r->h->functions, width = r->ops->columns;
    rough_rows q = {.count = count, .padded = (count + width - 1) / width * width};
    q.sums = room;
    q.sizes = q.sums + functions * ROWS;
    q.off = q.sizes + functions * ROWS;
    q.length = q.off + ROWS;
    q.next = (int64_t *)(q.length + ROWS);
    q.end = q.next + functions;
    q.values = (float *)(q.end + functions);
    q.tile = q.values + SUPPORT * MOST_WIDE;
    q.squares = q.tile + MOST_HIGH * MOST_WIDE;
    q.right = q.squares + ROWS;
    return q;
}

static void pack_rows(const mg_expansion_rough *r, const margin_matrix *x, int64_t first,
                      rough_rows *q) {
    const int width = r->ops->columns;
    memset(q->right + q->count / width * width * r->lines, 0,
           (size_t)((q->padded - q->count / width * width) * r->lines) * sizeof *q->right);
    for (int64_t i = 0; i < q->padded; i++)
        q->squares[i] = 0.0f;
    for (int64_t i = 0; i < q->count; i++) {
        float *to = q->right + i / width * width * r->lines + i % width;
        const rough_point p = put_point(r, x, first + i, width, false, to, &q->squares[i]);
        q->off[i] = p.off;
        q->length[i] = sqrt(p.square);
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Of support rows [first, first + SUPPORT), those of the last panel filled up, and the panel of
 * rows that begins at `row`. */
static void fill_values(const mg_expansion_rough *r, const rough_rows *q, int64_t first,
                        int64_t row) {
    const int high = r->ops->rows, width = r->ops->columns;
    const int64_t left = r->h->view.expansion.support.rows - first;
    float *places[MOST_HIGH];
    mg_gram_tile tile = {.finish = {MG_KERNEL_RBF, 1.0f, 0.0f, 1},
                         .depth = r->lines,
                         .b = q->right + row * r->lines,
                         .b_square = q->squares + row,
                         .first = true,
                         .last = true,
                         .sums = q->tile,
                         .out = places,
                         .rows = high,
                         .columns = width};
    for (int64_t s = 0; s < MG_MIN(SUPPORT, left); s += high) {
        for (int k = 0; k < high; k++)
            places[k] = q->values + (s + k) * width;
        tile.a_square = r->squares + first + s;
        tile.a = r->panels + (first + s) * r->lines;
        if (r->bytes)
            mg_gram_byte_tile(r->ops, (float)(0.5 * unit_of(r) * unit_of(r)), &tile);
        else
            r->ops->tile(&tile);
    }
}

static void add_values(const mg_expansion_rough *r, const rough_rows *q, int64_t first,
                       int64_t row) {
    for (int64_t f = 0; f < r->h->functions; f++) {
        const int64_t from = q->next[f];
        const float *weights[] = {r->weights + from, r->sizes + from};
        double *sums[] = {q->sums + f * ROWS + row, q->sizes + f * ROWS + row};
        r->ops->sum_two(sums, q->values, r->h->view.expansion.entries + from, first, weights,
                        q->end[f] - from);
    }
}

static void add_block(const mg_expansion_rough *r, const rough_rows *q, int64_t first) {
    const int64_t *starts = r->h->view.expansion.starts;
    const int32_t *entries = r->h->view.expansion.entries;
    for (int64_t f = 0; f < r->h->functions; f++) {
        q->next[f] = first > 0 ? q->end[f] : starts[f];
        q->end[f] = q->next[f];
        while (q->end[f] < starts[f + 1] && entries[q->end[f]] < first + SUPPORT)
            q->end[f]++;
    }
    for (int64_t row = 0; row < q->padded; row += r->ops->columns) {
        fill_values(r, q, first, row);
        add_values(r, q, first, row);
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void give_scores(const mg_expansion_rough *r, const rough_rows *q, double *scores,
                        double *errors) {
    const mg_hypothesis *h = r->h;
    const int64_t *starts = h->view.expansion.starts;
    const double units = fegetround() == FE_TONEAREST ? 1.0 : 2.0;
    const double rounding = units * (0.51 * (double)(MG_SUM_ROWS + 1) + 6.0) * (double)FLT_EPSILON;
    const double lost = 2.0 * h->view.expansion.kernel.gamma * (double)(r->depth + 8) * DBL_EPSILON;
    for (int64_t i = 0; i < q->count; i++) {
        const double raw = q->length[i] + r->length, own = units * q->off[i] + lost * raw * raw;
        const double grows = exp(own + units * r->most_off); /* e^d - 1 <= d e^d */
        const double share = fmax((own + rounding) / r->typical, units);
        for (int64_t f = 0; f < h->functions; f++) {
            const double score = q->sums[f * ROWS + i];
            const double off = 1.0001 * (q->sizes[f * ROWS + i] + r->least[f]);
            const double terms = 2.0 * (double)(starts[f + 1] - starts[f] + 2) * DBL_EPSILON;
            const double sizes = grows * off / r->typical + fabs(h->view.expansion.intercept[f]);
            scores[i * h->functions + f] = score;
            /* infinite `grows` without terms: NaN, which is a doubt */
            errors[i * h->functions + f] =
                isfinite(score) ? grows * share * off + terms * sizes : (double)NAN;
        }
    }
}

void mg_expansion_rough_scores(const mg_expansion_rough *r, const margin_matrix *x, int64_t first,
                               int64_t count, double *room, double *scores, double *errors) {
    const mg_hypothesis *h = r->h;
    rough_rows q = lay_out(r, count, room);
    pack_rows(r, x, first, &q);
    for (int64_t f = 0; f < h->functions; f++)
        for (int64_t i = 0; i < q.padded; i++) {
            q.sums[f * ROWS + i] = h->view.expansion.intercept[f];
            q.sizes[f * ROWS + i] = 0.0;
        }
    for (int64_t s = 0; s < h->view.expansion.support.rows; s += SUPPORT)
        add_block(r, &q, s);
    give_scores(r, &q, scores, errors);
}
