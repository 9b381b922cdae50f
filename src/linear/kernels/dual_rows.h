/* One row at a time against weights, for dual coordinate descent. */
#ifndef MG_DUAL_ROWS_H
#define MG_DUAL_ROWS_H

#include "base/cpu.h"
#include "data/table/matrix.h"

/* Inner loops over one row, for the types of x. */
typedef struct mg_dual_rows {
    /* weights_j += c factor_j x_ij */
    void (*add_scaled)(const margin_matrix *x, int64_t row, double c, const double *factor,
                       double *weights);
    /* sum_j factor_j x_ij^2; factor NULL: 1 */
    double (*square)(const margin_matrix *x, int64_t row, const double *factor);
    /* Begins to fetch a row. */
    void (*prefetch)(const margin_matrix *x, int64_t row);
} mg_dual_rows;
const mg_dual_rows *mg_dual_rows_for(const margin_matrix *x);

/* Up to so many problems that differ in their signs only go over the rows together: their weights
 * lie side by side, so that a stored value reads one line of memory for all of them. */
enum { MG_DUAL_LANES = 8 };

typedef struct mg_dual_lane_rows {
    /* out[l] = sum_j x_ij weights[j * 8 + l] */
    void (*dot)(const margin_matrix *x, int64_t row, const double *weights, double *out);
    /* weights[j * 8 + l] += c[l] factor_j x_ij; factor NULL: 1 */
    void (*add)(const margin_matrix *x, int64_t row, const double *c, const double *factor,
                double *weights);
} mg_dual_lane_rows;
/* For a sparse view; the same bits for every instruction set. */
const mg_dual_lane_rows *mg_dual_lane_rows_for(const margin_matrix *x, mg_isa isa);

#endif
