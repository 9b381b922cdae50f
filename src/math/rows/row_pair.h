/* Sums over one pair of rows, any layouts with equal columns, by plain loops: for few pairs, and as
 * the specification of what is blocked. */
#pragma once

#include "data/matrix/matrix.h"

typedef struct mg_pair_sums {
    double dot, square_a, square_b, distance, difference; /* |a - b|_1, |a - b|^2 */
} mg_pair_sums;
mg_pair_sums mg_row_pair(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j);
/* A sparse row by its columns, to be met by many: 32 KB. */
enum { MG_ROW_TABLE = 2048 };
typedef struct mg_row_table {
    int64_t column[MG_ROW_TABLE]; /* -1: none */
    double value[MG_ROW_TABLE], square;
} mg_row_table;
/* false: it has too many values, or some that are not finite. */
bool mg_row_table_fill(mg_row_table *table, const margin_matrix *x, int64_t row);
/* dot and squares of mg_row_pair with a sparse row, to the bit; no distances. */
mg_pair_sums mg_row_table_pair(const mg_row_table *table, const margin_matrix *z, int64_t row);
/* Whether all their values are equal. */
bool mg_same_rows(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j);
/* Rows that were made may differ by 1e-13 of them, as what stages make of a row differs from one
 * instruction set to another, or by a squared distance of `made`; others (made < 0) are equal. */
bool mg_alike_rows(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j,
                   double made);
