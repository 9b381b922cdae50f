/* Symmetric rank-k products: C += sum_k e_k e_k', the work of every Gram, Hessian and Cholesky
 * factor.
 *
 * The vectors e_k, "lines", are packed a block at a time into panels of `width` neighbouring
 * elements: element j of line k lies at packed[(j / width) * stride + k] [j % width], with `stride`
 * lines to a panel. Both sides of the product read the same panels: a tile is `rows` numbers of one
 * panel, broadcast, times a line of another, and its sums stay in registers (after Goto and van de
 * Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008). Only the lower
 * triangle is computed; C is f64, and f32 lines are summed in f32 within a block. */
#pragma once

#include "base/machine/cpu.h"
#include "base/sweep.h"

#include <stdbool.h>

/* Element j means (value - centre[j]) * scale[j] + shift[j], rounded after each step: where the
 * values lie far from 0 the difference is exact, as value * scale + shift would not be. */
typedef struct mg_affine {
    const double *centre, *scale, *shift; /* centre NULL: the values as they are */
} mg_affine;

/* Numbers that lie by columns and become lines, one for each of rows[0..lines), or of the rows from
 * `first` on (rows NULL). */
typedef struct mg_column_lines {
    const void *const *columns;
    const int64_t *chosen; /* numbers of the columns that are elements; NULL: the first ones */
    int64_t count;         /* of elements */
    const int64_t *rows;
    int64_t first, lines;
} mg_column_lines;

typedef struct mg_symmetric_ops {
    int width, rows, lanes; /* rows divide the width, and one of rows and lanes the other */
    int depth;              /* lines of a block, so that two panels lie in the first cache */
    int number_size;        /* of a packed number */
    /* Elements 0..count-1 of one line: their values (see mg_affine) times factor. `line` is where
     * the line lies in the first panel. The rest of the last panel is set to 0. */
    void (*pack_f64)(const double *values, int64_t count, const mg_affine *affine, double factor,
                     int64_t stride, void *line);
    void (*pack_f32)(const float *values, int64_t count, const mg_affine *affine, double factor,
                     int64_t stride, void *line);
    /* The same, from the first line on, of lines that are put together from columns. */
    void (*pack_columns_f64)(const mg_column_lines *from, const mg_affine *affine,
                             const double *factors, int64_t stride, void *line);
    void (*pack_columns_f32)(const mg_column_lines *from, const mg_affine *affine,
                             const double *factors, int64_t stride, void *line);
    /* c[r * ldc + s] += sign * sum over lines of a[r] * b[s], r < rows, s < vectors * lanes; a and
     * b: in the first line of their panels. */
    void (*tile)(int64_t lines, const void *a, const void *b, int vectors, double sign, double *c,
                 int64_t ldc);
    /* f64 only: lines of one panel become L^-1 times them, L: lower triangle, row-major. */
    void (*solve)(int64_t lines, const double *l, int64_t ld, double *panel);
    const char *name;
} mg_symmetric_ops;

/* Never NULL. `single`: f32 panels. */
const mg_symmetric_ops *mg_symmetric_ops_for(mg_isa isa, bool single);

MG_INLINE int64_t mg_symmetric_panels(const mg_symmetric_ops *ops, int64_t size) {
    return (size + ops->width - 1) / ops->width;
}
/* Numbers of a packed block of `stride` lines of `size` elements. */
MG_INLINE int64_t mg_symmetric_packed(const mg_symmetric_ops *ops, int64_t size, int64_t stride) {
    return mg_symmetric_panels(ops, size) * ops->width * stride;
}
/* Element j of a packed line. */
void mg_symmetric_set(const mg_symmetric_ops *ops, void *packed, int64_t stride, int64_t line,
                      int64_t j, double value);

/* Adds sign times the product of the first `lines` lines of a block to rows [first_panel * width,
 * last_panel * width) of the lower triangle of c (size x size); nothing above the diagonal is
 * touched. Rows of different panels may be added to at the same time. */
void mg_symmetric_add(const mg_symmetric_ops *ops, const void *packed, int64_t stride,
                      int64_t lines, int64_t size, int64_t first_panel, int64_t last_panel,
                      double sign, double *c, int64_t ldc);

/* The lower triangle of sum_i x_i x_i' of `rows` vectors of `columns` numbers, ld apart, into c
 * (columns x columns). MEMORY, LIMIT, CANCELLED. */
margin_status mg_symmetric_of_rows(margin_context *context, const double *x, int64_t rows,
                                   int64_t columns, int64_t ld, double *c, margin_error *error);

typedef struct mg_symmetric_kernels {
    mg_symmetric_ops by_type[2]; /* f64, f32 */
} mg_symmetric_kernels;
MG_ISA_TABLES(mg_symmetric_kernels, mg_symmetric_kernels);
