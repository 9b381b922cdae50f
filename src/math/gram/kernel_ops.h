/* The inner loops of kernel blocks, one table per instruction set.
 *
 * A dot product is the sum over the columns in ascending order, one multiply-add each (fused where
 * the instruction set has it). Adding a product with zero changes nothing, so dense and sparse rows
 * give the same bits, a block of any shape too, and k(x, z) = k(z, x). */
#pragma once

#include "math/gram/kernel.h"

enum { MG_SPARSE_SIDE = 8 };

typedef struct mg_kernel_ops {
    /* Panels hold `rows` (left) or `columns` (right) matrix rows side by side: column j of the data
     * is one line of that many numbers. */
    int rows, columns;
    /* c[r * ldc + s] += sum_j a[j * rows + r] * b[j * columns + s] over `depth` lines, for all s
     * and for all r (`one`: for r = 0 only). The sum is continued in order of j. */
    void (*product)(int64_t depth, const double *a, const double *b, bool one, double *c,
                    int64_t ldc);
    /* The same with |a - b| in place of a * b. */
    void (*distance)(int64_t depth, const double *a, const double *b, bool one, double *c,
                     int64_t ldc);
    /* sum[s] += b[j * columns + s]^2 over the lines of a right panel. */
    void (*square)(int64_t depth, const double *b, double *sum);
    /* out[r] = x_r . z_row of MG_SPARSE_SIDE rows x with a CSR row: column j of the x is line[j] of
     * `lines`, so many numbers each; columns in which all are 0 share the first. */
    void (*sparse)(const margin_matrix *z, int64_t row, const int32_t *line, const double *lines,
                   double *out);
    double (*sparse_square)(const margin_matrix *z, int64_t row); /* |z_row|^2 */
    /* Dot products (laplacian: L1 distances) of one row with rows z_j to kernel values, in place.
     */
    void (*finish)(const mg_kernel *kernel, double square_x, const double *squares_z,
                   double *values, int64_t count);
} mg_kernel_ops;

MG_ISA_TABLES(mg_kernel_ops, mg_kernel_ops);
