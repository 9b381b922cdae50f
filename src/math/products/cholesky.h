/* Cholesky factor of a symmetric positive definite matrix, and solves with it.
 *
 * Blocked, on the tiles of symmetric_product.h, in parallel; the bits depend on the instruction set
 * and not on the number of threads. (LAPACK's reference dpotrf does the same some twenty times more
 * slowly from 500 columns up.) Solves are serial, allocate nothing and may run in any number of
 * threads. */
#pragma once

#include "base/context.h"
#include "base/machine/cpu.h"

/* A = L L' for the row-major n x n matrix `a` with leading dimension lda >= n: reads its lower
 * triangle (diagonal included) and replaces it by L; what is above the diagonal is neither read nor
 * written. *failed: 0, or the order (from 1) of the first leading minor that is not positive
 * (NaN included); `a` is then undefined, and the call still returns MARGIN_OK. CANCELLED, MEMORY.
 * n^3/3 multiply-adds. */
margin_status mg_cholesky_factor(margin_context *context, int64_t n, double *a, int64_t lda,
                                 int64_t *failed, margin_error *error);

/* The same of a matrix that may lack rank: rows whose pivot is at most `nothing`, at most so many,
 * come last, *rank others before: row k of the factor is row order[k] of A, and the last rows are
 * those of R' in [L; R'] L'. */
margin_status mg_cholesky_factor_rank(margin_context *context, int64_t n, double *a, int64_t lda,
                                      double nothing, int64_t most, int64_t *order, int64_t *rank,
                                      int64_t *failed, margin_error *error);

/* x = A^-1 x with that factor: n^2 multiply-adds. */
void mg_cholesky_solve(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x);
/* x = L^-1 x and x = L'^-1 x */
void mg_cholesky_solve_lower(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x);
void mg_cholesky_solve_upper(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x);
/* Of `count` vectors one behind the other the first, the same bits: a large factor is read once. */
void mg_cholesky_solve_lower_many(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x,
                                  int64_t count);

/* An estimate of 1 / (|A| |A^-1|) in the 1-norm, `norm` = |A|_1 taken before factoring: rarely more
 * than three times too large (Higham, "FORTRAN codes for estimating the one-norm of a real or
 * complex matrix", ACM TOMS 14, 1988). work: 2 n numbers. About five solves; fewer, and 0, once
 * the context is cancelled. */
double mg_cholesky_condition(const margin_context *context, int64_t n, const double *l, int64_t ld,
                             double norm, double *work);

/* What is added to the diagonal at first, relative to it: as much as rounding may have taken away
 * from sums in f32, or in f64. */
#define mg_ridge_single 2e-6
#define mg_ridge_double 1e-14

/* The symmetric n x n matrix `a` (its upper triangle, and its diagonal from `diagonal`) becomes its
 * factor, with the ridge added to the diagonal, ten thousand times more each time until it is
 * definite. The upper triangle stays. DATA if no ridge helps (numbers that are not finite). */
margin_status mg_ridge_factor(margin_context *context, int64_t n, double *a, const double *diagonal,
                              double ridge, margin_error *error);
