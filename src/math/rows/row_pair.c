/* Two rows of any layout, entry by entry. */
#include "math/rows/row_pair.h"

#include <math.h>
#include <string.h>

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

/* ---- One sparse row against many ------------------------------------------------------------- */

enum { SLOTS = MG_ROW_TABLE };

static int64_t slot_of(const mg_row_table *t, int64_t column) {
    int64_t at = (column ^ column >> 11) % SLOTS;
    while (t->column[at] >= 0 && t->column[at] != column)
        at = (at + 1) % SLOTS;
    return at;
}

bool mg_row_table_fill(mg_row_table *t, const margin_matrix *x, int64_t row) {
    const int64_t first = mg_row_start(x, row), last = mg_row_start(x, row + 1);
    if (last - first > SLOTS / 2) return false;
    memset(t->column, -1, sizeof t->column);
    t->square = 0.0;
    for (int64_t k = first; k < last; k++) {
        const int64_t at = slot_of(t, mg_column_index(x, k));
        t->column[at] = mg_column_index(x, k);
        t->value[at] = mg_stored_value(x, k);
        t->square += t->value[at] * t->value[at];
    }
    return isfinite(t->square);
}

mg_pair_sums mg_row_table_pair(const mg_row_table *t, const margin_matrix *z, int64_t row) {
    const int64_t last = mg_row_start(z, row + 1);
    mg_pair_sums sums = {.square_a = t->square};
    for (int64_t k = mg_row_start(z, row); k < last; k++) {
        const int64_t at = slot_of(t, mg_column_index(z, k));
        const double value = mg_stored_value(z, k);
        if (t->column[at] >= 0) sums.dot += t->value[at] * value;
        sums.square_b += value * value;
    }
    return sums;
}

bool mg_same_rows(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j) {
    return mg_row_pair(x, i, z, j).distance == 0.0;
}

bool mg_alike_rows(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j,
                   double made) {
    const mg_pair_sums sums = mg_row_pair(x, i, z, j);
    const double most = 1e-26 * fmin(sums.square_a, sums.square_b); /* 0: too small for squares */
    if (sums.distance == 0.0) return true;
    return made >= 0.0 &&
           (sums.difference <= made || (most > 0.0 && isfinite(most) && sums.difference <= most));
}
