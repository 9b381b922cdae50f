/* Kernel functions k(x, z) and blocks of Gram matrices. Layers: cache | kernel rows | solver, each
 * ignorant of the next.
 *
 *   linear       x.z
 *   poly         (gamma x.z + coef0)^degree           default gamma 1, coef0 1
 *   rbf          exp(-gamma |x - z|^2)                gamma = 1/(2 sigma^2)
 *   exp          e^(x.z)
 *   sigmoid      tanh(gamma x.z + coef0)
 *   laplacian    exp(-gamma |x - z|_1)
 */
#ifndef MG_KERNEL_H
#define MG_KERNEL_H

#include "math/rows/row_ops.h"

typedef enum mg_kernel_kind {
    MG_KERNEL_LINEAR,
    MG_KERNEL_POLY,
    MG_KERNEL_RBF,
    MG_KERNEL_EXP,
    MG_KERNEL_SIGMOID,
    MG_KERNEL_LAPLACIAN
} mg_kernel_kind;
#define MG_KERNEL_CHOICES "linear|poly|rbf|exp|sigmoid|laplacian" /* in the order of the enum */

typedef struct mg_kernel {
    mg_kernel_kind kind;
    double gamma, coef0;
    int degree;
} mg_kernel;

/* k from the dot product and the two squared norms (all kinds but laplacian). The squared distance
 * is clipped at 0. */
double mg_kernel_from_dot(const mg_kernel *kernel, double dot, double square_x, double square_z);
/* a^n, n >= 0, by repeated squaring. */
double mg_power(double a, int n);
/* One pair of rows, any layouts with equal columns. */
double mg_kernel_rows(const mg_kernel *kernel, const margin_matrix *x, int64_t i,
                      const margin_matrix *z, int64_t j);

/* values[j]: dot products (laplacian: L1 distances) of one row x with rows z_j, turned in place
 * into k(x, z_j). squares_z[j] = |z_j|^2 (rbf only). Element j's bits do not depend on its place.
 */
void mg_kernel_finish(mg_isa isa, const mg_kernel *kernel, double square_x, const double *squares_z,
                      double *values, int64_t count);

/* out[i * ld + j] = k(x[x_rows[i]], z[z_rows[j]]) for a block; rows NULL: first, first + 1, ...
 * `squares` of all rows of x and z from mg_row_squares (needed by rbf only, may be NULL otherwise).
 * f64; blocked and vectorised, sparse x sparse through a scatter of one row where that is less
 * work. An element's bits depend on its two rows alone: not on the block, the layouts or which of
 * the two rows comes first. Polls cancel. Uses the context's threads. Memory: up to 0.5 MB a
 * thread, and for sparse rows one dense row each. */
typedef struct mg_kernel_block {
    const margin_matrix *x, *z;
    const int64_t *x_rows, *z_rows;
    int64_t x_first, x_count, z_first, z_count;
    const double *x_squares, *z_squares;
} mg_kernel_block;
margin_status mg_kernel_fill(margin_context *context, const mg_kernel *kernel,
                             const mg_kernel_block *block, double *out, int64_t ld,
                             margin_error *error);

/* The same in parts, for callers that fill often: scratch for blocks of these two matrices, to be
 * used by one call at a time. */
typedef struct mg_kernel_scratch mg_kernel_scratch;
margin_status mg_kernel_scratch_new(margin_context *context, const mg_kernel *kernel,
                                    const margin_matrix *x, const margin_matrix *z,
                                    mg_kernel_scratch **scratch, margin_error *error);
void mg_kernel_scratch_free(mg_kernel_scratch *scratch);
margin_status mg_kernel_fill_with(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                  double *out, int64_t ld);
/* The square matrix of a block with x = z, both over the same rows: half the work. */
margin_status mg_kernel_fill_square(mg_kernel_scratch *scratch, const mg_kernel_block *block,
                                    double *out, int64_t ld);

/* squares[i] = |x_i|^2 of all rows, in parallel, with the sums of mg_kernel_fill: |x - x|^2 is
 * exactly 0. */
margin_status mg_row_squares(margin_context *context, const margin_matrix *x, double *squares);

/* 1 / (columns * variance of all values): a gamma for rbf that does not depend on the unit of the
 * data (scikit-learn's "scale"). Over the samples of `rows` (NULL: the first count rows), weight k
 * counts as k copies (NULL: all one). 1 if the variance is 0 or there are no columns. */
margin_status mg_kernel_scale(margin_context *context, const margin_matrix *x, const int64_t *rows,
                              const double *weights, int64_t count, double *gamma,
                              margin_error *error);

/* Rows of the Gram matrix K[i, :] over the selected rows of one matrix, kept in a
 * least-recently-used cache of at most `bytes` (the whole Gram where it fits: then it is computed
 * once, in blocks, at the first use). */
typedef struct mg_gram mg_gram;
margin_status mg_gram_create(margin_context *context, const mg_kernel *kernel,
                             const margin_matrix *x, const int64_t *rows, int64_t count,
                             int64_t bytes, mg_gram **gram, margin_error *error);
/* count numbers; valid until the next call on this gram. NULL only after a failure (cancel),
 * written to *status. */
const double *mg_gram_row(mg_gram *gram, int64_t i, margin_status *status);
const double *mg_gram_diagonal(const mg_gram *gram);
bool mg_gram_is_whole(const mg_gram *gram);
void mg_gram_free(mg_gram *gram);

#endif
