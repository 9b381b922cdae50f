/* Kernel values of dense points in f32, distances and exponentials fused into register tiles.
 *
 * The points are packed once, column by column in panels, centred (rbf, laplacian) and scaled so
 * that nothing overflows; a sum over the columns is one of chunks in ascending order, each a chain
 * of multiply-adds, so the bits of a value depend on its two points alone, and k(x, x) is exactly
 * what it should be. */
#pragma once

#include "math/gram/gram.h"
#include "math/rows/byte_rows.h"

#define MG_LOG2_E 1.4426950408889634

/* What becomes of a sum: 2^min(sum + square + square, 0) of rbf, 2^-sum of laplacian, else of
 * z = slope * sum + offset: z^degree, 2^z of exp, 1 - 2 / (2^z + 1) of sigmoid. */
typedef struct mg_tile_finish {
    mg_kernel_kind kind;
    float slope, offset;
    int degree;
} mg_tile_finish;

enum { MG_TILE_CHUNK = 64 /* columns */, MG_SUM_ROWS = 16 };

/* rows x columns values: a has `rows` numbers a line, b `columns`. Adds to `sums` (rows x columns)
 * unless `first`, whole chunks unless `last`, and finishes them then. */
typedef struct mg_gram_tile {
    mg_tile_finish finish;
    int64_t depth;
    const float *a, *b, *a_square, *b_square;
    bool first, last;
    const uint32_t *a_marks, *b_marks; /* of bytes: see mg_byte_tile */
    float *sums;
    float **out;       /* row r, from the tile's first column on */
    int rows, columns; /* that are wanted */
} mg_gram_tile;

typedef struct mg_gram_tile_ops {
    int rows, columns;
    void (*tile)(const mg_gram_tile *t);
    void (*square)(int64_t depth, const float *b, float *squares); /* -|x|^2/2 of a panel */
    /* sums[j] += sum_k weights[k] rows[k][j], in the order of k. */
    void (*sum)(double *sums, int64_t columns, const float *const *rows, const double *weights,
                int64_t count);
    /* The same of values[(rows[k] - first) * columns + j] for j < columns, with two lists of
     * weights, MG_SUM_ROWS rows at a time in f32. */
    void (*sum_two)(double *const *sums, const float *values, const int32_t *rows, int64_t first,
                    const float *const *weights, int64_t count);
} mg_gram_tile_ops;
MG_ISA_TABLES(mg_gram_tile_ops, mg_gram_tile_ops);

/* A tile of bytes, finished like one of f32. In line: the call would have to wait for what was just
 * written of the tile. */
MG_INLINE void mg_gram_byte_tile(const mg_gram_tile_ops *ops, float scale,
                                 const mg_gram_tile *tile) {
    static const float zeros[32];
#if defined(__x86_64__)
    mg_byte_products_vnni(&(mg_byte_tile){tile->depth, tile->a, tile->a_square, tile->a_marks,
                                          tile->b, tile->b_square, tile->b_marks, tile->first,
                                          tile->last, scale, tile->sums});
#endif
    if (!tile->last) return;
    mg_gram_tile rest = *tile; /* no columns more: values of the sums */
    rest.depth = 0;
    rest.first = false;
    rest.a_square = rest.b_square = zeros;
    ops->tile(&rest);
}

typedef struct mg_gram_tiles mg_gram_tiles;
/* NULL where these points are not for f32: sparse, a kernel that is no function of a sum, values
 * too large for what rounding leaves of a distance. over: see mg_gram_request. */
margin_status mg_gram_tiles_new(margin_context *context, const mg_kernel *kernel,
                                const mg_kernel_points *points, double factor, float over,
                                mg_gram_tiles **tiles, margin_error *error);
void mg_gram_tiles_free(mg_gram_tiles *tiles);
/* No more values will be asked for; what is known of errors stays. */
void mg_gram_tiles_end(mg_gram_tiles *tiles);
/* The most roundings that a column's product goes through in a sum of so many columns. */
double mg_tile_roundings(int64_t depth, int64_t column);
/* How far the value of points i and j may be from the true one: off[i] + off[j] + each. false: not
 * known of this kernel. */
bool mg_gram_tiles_error(const mg_gram_tiles *tiles, double *each, double *off);

/* Points laid out for the left side; for those of bytes lines of zeros are not multiplied, so that
 * points that are alike had better lie side by side. */
int64_t mg_gram_left_size(const mg_gram_tiles *tiles, int64_t rows); /* numbers */
void mg_gram_left(const mg_gram_tiles *tiles, const int64_t *points, int64_t rows, float *left);
/* The same points, or some of them, for the right side: in `memory` of mg_gram_right_size numbers
 * and beside those they are taken from. */
int64_t mg_gram_right_size(const mg_gram_tiles *tiles, int64_t columns);
margin_status mg_gram_right(margin_context *context, const mg_gram_tiles *tiles,
                            const int64_t *points, int64_t columns, float *memory,
                            mg_gram_tiles **some);
/* out[r] + column of the values of `rows` left points with points [first, first + columns), first a
 * multiple of 32. `left` begins with any row that is a multiple of 12. */
void mg_gram_tiles_fill(const mg_gram_tiles *tiles, const float *left, int64_t rows, int64_t first,
                        int64_t columns, float *const *out);
