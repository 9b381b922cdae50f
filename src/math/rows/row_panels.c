/* Matrix rows as lanes of panels. */
#include "math/rows/row_panels.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/* Some rows of a panel at once, so that each of its lines is written in one go. */
enum { SIDE = MG_PACK_ROWS };

#define PACK_ROWS(type)                                                                            \
    for (int64_t j = packed; j < depth; j++)                                                       \
        for (int k = 0; k < count; k++)                                                            \
    to[j * width + k] = (double)((const type *)x->values)[rows[k] * x->stride + first + j]

#if defined(__SSE2__)
/* Columns [0, depth) but the last few of four rows; returns how many. */
static int64_t pack_four(const float *const *from, int64_t depth, int width, double *to) {
    int64_t j = 0;
    for (; j + SIDE <= depth; j += SIDE) {
        __m128 row[SIDE];
        for (int k = 0; k < SIDE; k++)
            row[k] = _mm_loadu_ps(from[k] + j);
        _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
        for (int k = 0; k < SIDE; k++, to += width) {
            _mm_storeu_pd(to, _mm_cvtps_pd(row[k]));
            _mm_storeu_pd(to + 2, _mm_cvtps_pd(_mm_movehl_ps(row[k], row[k])));
        }
    }
    return j;
}
#endif

/* `count` is a constant where this is called. */
MG_INLINE void pack_dense(const margin_matrix *x, const int64_t *rows, int count, int64_t first,
                          int64_t depth, int width, double *to) {
    int64_t packed = 0;
    if (x->value_type == MARGIN_F64) {
        PACK_ROWS(double);
        return;
    }
#if defined(__SSE2__)
    const float *from[SIDE];
    for (int k = 0; k < count; k++)
        from[k] = (const float *)x->values + rows[k] * x->stride + first;
    if (count == SIDE) packed = pack_four(from, depth, width, to);
#endif
    PACK_ROWS(float);
}

void mg_pack_rows(const margin_matrix *x, const int64_t *rows, int count, int64_t first,
                  int64_t depth, int width, double *to) {
    if (count == SIDE && !mg_is_csr(x)) {
        pack_dense(x, rows, SIDE, first, depth, width, to);
        return;
    }
    for (int k = 0; k < count; k++)
        if (mg_is_csr(x))
            pack_sparse(x, rows[k], first, depth, width, to + k);
        else
            pack_dense(x, rows + k, 1, first, depth, width, to + k);
}

void mg_fetch_row(const margin_matrix *x, int64_t row, int64_t first, int64_t depth) {
    const int64_t size = mg_type_size(x->value_type);
    const char *run = (const char *)x->values + (row * x->stride + first) * size;
    for (int64_t at = 0; at < depth * size; at += 64)
        __builtin_prefetch(run + at);
}
