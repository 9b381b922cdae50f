/* Dense rows against vectors, a few rows at a time: the inner loops of the passes over a design.
 *
 * Rows are given by address. With a centre, x_j - centre_j stands for x_j: columns far from 0 lose
 * nothing. The bits of a score do not depend on the rows beside it. */
#ifndef MG_DESIGN_ROWS_H
#define MG_DESIGN_ROWS_H

#include "base/cpu.h"
#include "data/table/matrix.h"

/* Most rows whose numbers lie on the stack: see chunk_rows of a design. */
enum { MG_CHUNK_ROWS = 64 };

typedef struct mg_design_rows {
    /* scores[k] = b + sum_j (x_kj - centre_j) w_j */
    void (*scores)(const void *const *rows, int64_t count, int64_t columns, const double *centre,
                   const double *w, double b, double *scores);
    /* sum_j += sum_k r_k (x_kj - centre_j) */
    void (*gradient)(const void *const *rows, int64_t count, int64_t columns, const double *centre,
                     const double *r, double *sum);
    /* first_j += sum_k weights_k (x_kj - centre_j), second_j likewise of the squares */
    void (*moments)(const void *const *rows, int64_t count, int64_t columns, const double *centre,
                    const double *weights, double *first, double *second);
} mg_design_rows;

/* For a dense view; NULL for a sparse one. */
const mg_design_rows *mg_design_rows_for(const margin_matrix *x, mg_isa isa);

#endif
