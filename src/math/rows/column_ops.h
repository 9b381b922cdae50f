/* Products of the rows of data by columns with f64 vectors, some hundred rows at a time: the bits
 * of the same rows in one piece, without these.
 *
 * Vectors lie along columns where each row has sums of its own (scores): every place in the vectors
 * of a row is then an array of sums, added up in the order of the row kernels. Where each column
 * has a sum (gradients), squares of numbers are turned in registers. */
#pragma once

#include "base/machine/cpu.h"
#include "data/matrix/matrix.h"

enum { MG_COLUMN_ROWS = 256 }; /* most rows of a part */

/* Rows [first, first + count) of data by columns. */
typedef struct mg_column_part {
    const void *const *columns;
    int64_t width; /* how many columns */
    int64_t first, count;
} mg_column_part;

typedef struct mg_column_ops {
    /* scores[k] = b + sum_j (x_kj - centre_j) w_j (centre NULL: 0), with `parts` vectors of sums to
     * a row: 4 as mg_row_ops has them, 2 as mg_design_rows */
    void (*scores)(const mg_column_part *x, const double *centre, const double *w, double b,
                   int parts, double *scores);
    /* sum_j += sum_k r_k (x_kj - centre_j); rows with r_k = 0 are left out */
    void (*gradient)(const mg_column_part *x, const double *centre, const double *r, double *sum);
    /* first_j += sum_k weights_k (x_kj - centre_j), second_j likewise of the squares */
    void (*moments)(const mg_column_part *x, const double *centre, const double *weights,
                    double *first, double *second);
} mg_column_ops;

/* For data by columns, those of types of their own read by mg_columns_from_arrays; NULL for rows.
 */
const mg_column_ops *mg_column_ops_for(const margin_matrix *x, mg_isa isa);
