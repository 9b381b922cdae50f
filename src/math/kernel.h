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

#include "math/row_ops.h"

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

/* out[i * ld + j] = k(x[rows[i]], z[zrows[j]]) for a block; rows NULL: first, first+1, ...
 * `squares` of all rows of x and z (needed by rbf only, may be NULL otherwise). f64; blocked and
 * vectorised for dense data; sparse x sparse through a scatter of one row. Row i's bits do not
 * depend on the block it was computed in. Polls cancel. Uses the context's threads. */
typedef struct mg_kernel_block {
    const margin_matrix *x, *z;
    const int64_t *x_rows, *z_rows;
    int64_t x_first, x_count, z_first, z_count;
    const double *x_squares, *z_squares;
} mg_kernel_block;
margin_status mg_kernel_fill(margin_context *context, const mg_kernel *kernel,
                             const mg_kernel_block *block, double *out, int64_t ld,
                             margin_error *error);

/* squares[i] = |x_i|^2 of all rows, in parallel. */
margin_status mg_row_squares(margin_context *context, const margin_matrix *x, double *squares);

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
