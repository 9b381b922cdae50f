/* The part of LAPACK that margin uses, and nothing else of it.
 *
 * Matrices are COLUMN-major with leading dimension (a row-major symmetric matrix is its own
 * transpose: pass 'U' for the lower triangle of a row-major one). Sizes are int64_t here and 32-bit
 * in LAPACK: a size, or a workspace, that does not fit fails with MARGIN_ERROR_LIMIT. A numerical
 * outcome that LAPACK reports as info > 0 is not a failure: it goes to *info and the caller decides
 * what it means. Arguments that LAPACK itself rejects are MARGIN_ERROR_INTERNAL. Workspace comes
 * from `heap`.
 *
 * Every routine is serial, keeps no state and may run in any number of threads at once. */
#ifndef MG_LAPACK_H
#define MG_LAPACK_H

#include "base/memory.h"

/* Which LAPACK was linked, and how. Static storage. */
const char *mg_lapack_description(void);

/* Cholesky of the symmetric n x n matrix `a`, in place; uplo 'L' or 'U' names the triangle that is
 * read and written. info > 0: the leading minor of that order is not positive definite. */
margin_status mg_lapack_dpotrf(char uplo, int64_t n, double *a, int64_t lda, int64_t *info,
                               margin_error *error);

/* Solves a * x = b with the factor of mg_lapack_dpotrf; b: n x columns, replaced by x. */
margin_status mg_lapack_dpotrs(char uplo, int64_t n, int64_t columns, const double *a, int64_t lda,
                               double *b, int64_t ldb, margin_error *error);

/* Cholesky with complete pivoting of a positive semidefinite matrix: P' a P = L L'. pivots[n] gets
 * P counted from 1; *rank the numerical rank for `tolerance` (< 0: n * eps * largest diagonal).
 * info 1: rank deficient (the leading rank columns are valid). */
margin_status mg_lapack_dpstrf(mg_heap *heap, char uplo, int64_t n, double *a, int64_t lda,
                               int *pivots, double tolerance, int64_t *rank, int64_t *info,
                               margin_error *error);

/* QR with column pivoting of a (m x n), in place: R above the diagonal, reflectors below, tau[min].
 * pivots[n], counted from 1, must come in as 0 for free columns. */
margin_status mg_lapack_dgeqp3(mg_heap *heap, int64_t m, int64_t n, double *a, int64_t lda,
                               int *pivots, double *tau, margin_error *error);

/* c (m x n) = op(Q) c (side 'L') or c op(Q) (side 'R'), Q from k reflectors of mg_lapack_dgeqp3;
 * transpose 'N' or 'T'. */
margin_status mg_lapack_dormqr(mg_heap *heap, char side, char transpose, int64_t m, int64_t n,
                               int64_t k, const double *a, int64_t lda, const double *tau,
                               double *c, int64_t ldc, margin_error *error);

/* Solves op(a) x = b for a triangular n x n matrix; b: n x columns, replaced by x. info > 0: that
 * diagonal element is exactly zero and b is unchanged. */
margin_status mg_lapack_dtrtrs(char uplo, char transpose, char diagonal, int64_t n, int64_t columns,
                               const double *a, int64_t lda, double *b, int64_t ldb, int64_t *info,
                               margin_error *error);

/* All eigenvalues of the symmetric matrix `a`, ascending in values[n]. vectors 'V': a becomes the
 * matrix of eigenvectors, one per column; 'N': a is destroyed. info > 0: no convergence. */
margin_status mg_lapack_dsyevd(mg_heap *heap, char vectors, char uplo, int64_t n, double *a,
                               int64_t lda, double *values, int64_t *info, margin_error *error);

/* Singular values of a (m x n), descending in values[min(m, n)], by divide and conquer. job 'N':
 * values only (u and vt may be NULL); 'S': the leading min(m, n) columns of u and rows of vt; 'A':
 * all of them. `a` is destroyed. info > 0: no convergence. */
margin_status mg_lapack_dgesdd(mg_heap *heap, char job, int64_t m, int64_t n, double *a,
                               int64_t lda, double *values, double *u, int64_t ldu, double *vt,
                               int64_t ldvt, int64_t *info, margin_error *error);

#endif
