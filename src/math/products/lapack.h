/* The part of LAPACK that margin uses, and nothing else of it.
 *
 * Matrices are COLUMN-major with leading dimension (a row-major symmetric matrix is its own
 * transpose: pass 'U' for the lower triangle of a row-major one). Sizes are int64_t here and 32-bit
 * in LAPACK: a size, or a workspace, that does not fit fails with MARGIN_ERROR_LIMIT. A numerical
 * outcome that LAPACK reports as info > 0 is not a failure: it goes to *info and the caller decides
 * what it means. Arguments that LAPACK itself rejects are MARGIN_ERROR_INTERNAL. Workspace comes
 * from the heap of stop->context.
 *
 * A routine whose context is cancelled fails within milliseconds; one that comes to the deadline of
 * `stop` returns MARGIN_STOPPED_TIME. What it was writing to is then worth nothing. (Not where the
 * system's LAPACK is linked: blas.h.)
 *
 * Every routine is serial, keeps no state and may run in any number of threads at once. */
#pragma once

#include "base/context.h"

/* Which LAPACK was linked, and how. Static storage. */
const char *mg_lapack_description(void);

/* QR with column pivoting of a (m x n), in place: R above the diagonal, reflectors below, tau[min].
 * pivots[n], counted from 1, must come in as 0 for free columns. */
margin_status mg_lapack_dgeqp3(const mg_stop *stop, int64_t m, int64_t n, double *a, int64_t lda,
                               int *pivots, double *tau, margin_error *error);

/* c (m x n) = op(Q) c (side 'L') or c op(Q) (side 'R'), Q from k reflectors of mg_lapack_dgeqp3;
 * transpose 'N' or 'T'. */
margin_status mg_lapack_dormqr(const mg_stop *stop, char side, char transpose, int64_t m, int64_t n,
                               int64_t k, const double *a, int64_t lda, const double *tau,
                               double *c, int64_t ldc, margin_error *error);

/* QR of the upper triangle a (n x n) on top of b (m x n): a becomes the new triangle, b reflectors.
 * The last l rows of b (l <= m, n) are those of an upper trapezium. */
margin_status mg_lapack_dtpqrt(const mg_stop *stop, int64_t m, int64_t n, int64_t l, double *a,
                               int64_t lda, double *b, int64_t ldb, margin_error *error);

/* All eigenvalues of the symmetric matrix `a`, ascending in values[n]. vectors 'V': a becomes the
 * matrix of eigenvectors, one per column; 'N': a is destroyed. info > 0: no convergence. */
margin_status mg_lapack_dsyevd(const mg_stop *stop, char vectors, char uplo, int64_t n, double *a,
                               int64_t lda, double *values, int64_t *info, margin_error *error);

/* Cholesky with pivoting of the symmetric matrix `a`, in place: P'AP = U'U ('U') or LL' ('L') in
 * the first *rank columns; pivots[n], counted from 1, hold P. It ends where no pivot is above
 * `tolerance`; the greatest one is then left on the diagonal. */
margin_status mg_lapack_dpstrf(const mg_stop *stop, char uplo, int64_t n, double *a, int64_t lda,
                               int *pivots, double tolerance, int *rank, margin_error *error);
