/* Rows side by side in f64, for products in register tiles: a line of a panel has one column of all
 * its rows. */
#pragma once

#include "data/matrix/matrix.h"

enum { MG_PACK_ROWS = 4 };
/* Columns [first, first + depth) of at most MG_PACK_ROWS rows, dense or sparse, as the first lanes
 * of a panel with lines of `width` numbers. */
void mg_pack_rows(const margin_matrix *x, const int64_t *rows, int count, int64_t first,
                  int64_t depth, int width, double *to);
/* Before that, of dense rows all over the matrix: the processor does not foresee where they begin.
 */
void mg_fetch_row(const margin_matrix *x, int64_t row, int64_t first, int64_t depth);
