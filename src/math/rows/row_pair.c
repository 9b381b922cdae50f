/* Two rows of any layout, entry by entry. */
#include "math/rows/row_pair.h"

#include <math.h>

/* Walks the stored entries of a row in ascending order of columns. */
typedef struct row_walk {
    const margin_matrix *x;
    int64_t row, at, last;
} row_walk;

static row_walk walk_begin(const margin_matrix *x, int64_t row) {
    row_walk walk = {x, row, 0, x->columns};
    if (mg_is_csr(x)) {
        walk.at = mg_row_start(x, row);
        walk.last = mg_row_start(x, row + 1);
    }
    return walk;
}

static int64_t walk_column(const row_walk *walk) { /* columns: behind the last one */
    if (walk->at >= walk->last) return walk->x->columns;
    return mg_is_csr(walk->x) ? mg_column_index(walk->x, walk->at) : walk->at;
}

static double walk_value(const row_walk *walk) {
    const margin_matrix *x = walk->x;
    const int64_t k = mg_is_csr(x) ? walk->at : walk->row * x->stride + walk->at;
    return mg_stored_value(x, k);
}

mg_pair_sums mg_row_pair(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j) {
    row_walk a = walk_begin(x, i), b = walk_begin(z, j);
    mg_pair_sums sums = {0};
    for (;;) {
        const int64_t column_a = walk_column(&a), column_b = walk_column(&b);
        if (column_a == x->columns && column_b == x->columns) return sums;
        const double value_a = column_a <= column_b ? walk_value(&a) : 0.0;
        const double value_b = column_b <= column_a ? walk_value(&b) : 0.0;
        sums.dot += value_a * value_b;
        sums.square_a += value_a * value_a;
        sums.square_b += value_b * value_b;
        sums.distance += fabs(value_a - value_b);
        sums.difference += (value_a - value_b) * (value_a - value_b);
        a.at += column_a <= column_b;
        b.at += column_b <= column_a;
    }
}

bool mg_same_rows(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j) {
    return mg_row_pair(x, i, z, j).distance == 0.0;
}

bool mg_alike_rows(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j,
                   bool made) {
    const mg_pair_sums sums = mg_row_pair(x, i, z, j);
    const double most = 1e-18 * fmin(sums.square_a, sums.square_b); /* 0: too small for squares */
    if (sums.distance == 0.0) return true;
    return made && most > 0.0 && isfinite(most) && sums.difference <= most;
}
