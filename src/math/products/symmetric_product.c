/* Symmetric products: the walk over tiles. */
#include "math/products/symmetric_product.h"

#include <string.h>

enum {
    MOST_ROWS = 8,
    MOST_WIDTH = 48, /* of a tile */
    GROUP = 8
}; /* panels that stay in the second cache */

const mg_symmetric_ops *mg_symmetric_ops_for(mg_isa isa, bool single) {
    return &MG_ISA_TABLE(isa, mg_symmetric_kernels)->by_type[single];
}

void mg_symmetric_set(const mg_symmetric_ops *ops, void *packed, int64_t stride, int64_t line,
                      int64_t j, double value) {
    const int64_t at = (j / ops->width * stride + line) * ops->width + j % ops->width;
    if (ops->number_size == sizeof(float))
        ((float *)packed)[at] = (float)value;
    else
        ((double *)packed)[at] = value;
}

typedef struct product {
    const mg_symmetric_ops *ops;
    const char *packed;
    int64_t stride, lines, size;
    double sign;
    double *c;
    int64_t ldc;
} product;

static const char *panel_at(const product *p, int64_t panel) {
    return p->packed + panel * p->stride * p->ops->width * p->ops->number_size;
}

/* A tile that crosses the diagonal or the last row, by way of a buffer: columns 0..i of panel
 * `right` only. */
MG_INLINE void symmetric_add_part(const product *p, const char *left, int64_t row, int64_t right) {
    double part[MOST_ROWS * MOST_WIDTH];
    const int64_t column = right * p->ops->width;
    const int64_t last = MG_MIN(row + p->ops->rows, p->size);
    const int64_t wanted = MG_MIN(last - column, p->ops->width);
    const int vectors = (int)((wanted + p->ops->lanes - 1) / p->ops->lanes);
    memset(part, 0, sizeof part);
    p->ops->tile(p->lines, left, panel_at(p, right), vectors, p->sign, part, p->ops->width);
    for (int64_t i = row; i < last; i++)
        for (int64_t j = column; j < MG_MIN(i + 1, column + wanted); j++)
            p->c[i * p->ldc + j] += part[(i - row) * p->ops->width + j - column];
}

/* Rows of panel `left` times panel `right`, not behind it. */
MG_INLINE void add_panel(const product *p, int64_t left, int64_t right) {
    const mg_symmetric_ops *ops = p->ops;
    const int64_t first = left * ops->width, last = MG_MIN(first + ops->width, p->size);
    for (int64_t row = first; row < last; row += ops->rows) {
        const char *a = panel_at(p, left) + (row - first) * ops->number_size;
        if (left == right || row + ops->rows > p->size)
            symmetric_add_part(p, a, row, right);
        else
            ops->tile(p->lines, a, panel_at(p, right), ops->width / ops->lanes, p->sign,
                      p->c + row * p->ldc + right * ops->width, p->ldc);
    }
}

void mg_symmetric_add(const mg_symmetric_ops *ops, const void *packed, int64_t stride,
                      int64_t lines, int64_t size, int64_t first_panel, int64_t last_panel,
                      double sign, double *c, int64_t ldc) {
    const product p = {ops, packed, stride, lines, size, sign, c, ldc};
    const int64_t panels = MG_MIN(last_panel, mg_symmetric_panels(ops, size));
    for (int64_t group = 0; group < panels; group += GROUP)
        for (int64_t left = MG_MAX(first_panel, group); left < panels; left++)
            for (int64_t right = group; right < MG_MIN(group + GROUP, left + 1); right++)
                add_panel(&p, left, right);
}

typedef struct row_walk {
    const mg_symmetric_ops *ops;
    const double *x;
    int64_t columns, ld, sums;
} row_walk;

/* As lines of panels, behind the sum. */
static margin_status symmetric_add_rows(void *state, const mg_block *block, void *argument) {
    static const mg_affine plain = {NULL, NULL, NULL};
    const row_walk *walk = argument;
    const mg_symmetric_ops *ops = walk->ops;
    double *sum = state, *packed = sum + walk->sums;
    for (int64_t first = 0; first < block->count; first += ops->depth) {
        const int64_t lines = MG_MIN(ops->depth, block->count - first);
        for (int64_t k = 0; k < lines; k++)
            ops->pack_f64(walk->x + (block->first + first + k) * walk->ld, walk->columns, &plain,
                          1.0, ops->depth, packed + k * ops->width);
        mg_symmetric_add(ops, packed, ops->depth, lines, walk->columns, 0, INT64_MAX, 1.0, sum,
                         walk->columns);
    }
    return MARGIN_OK;
}

margin_status mg_symmetric_of_rows(margin_context *context, const double *x, int64_t rows,
                                   int64_t columns, int64_t ld, double *c, margin_error *error) {
    const mg_symmetric_ops *ops = mg_symmetric_ops_for(mg_isa_level(), false);
    row_walk walk = {ops, x, columns, ld, (columns * columns + 7) / 8 * 8};
    const int64_t room = mg_symmetric_packed(ops, columns, ops->depth);
    double *sums;
    MG_NEW(context->heap, sums, walk.sums + room, "the products of the columns", error);
    const margin_status status = mg_sweep_sums(context, rows, MG_BLOCK_ROWS, walk.sums, room,
                                               symmetric_add_rows, &walk, sums, error);
    if (status >= 0) memcpy(c, sums, (size_t)(columns * columns) * sizeof *c);
    mg_free(context->heap, sums);
    return status;
}
