/* The routines of BLAS in which LAPACK spends its time, in the tiles of symmetric_product.h, and
 * the way out of a long factorisation.
 *
 * cmake/lapack.cmake puts these in the place of the reference ones, so all arguments are Fortran's:
 * by address, matrices column-major, lengths of character arguments at the end. They work for one
 * thread, and their bits depend on the sizes and the instruction set.
 *
 * LAPACK knows no interruption, but it keeps nothing: no memory of its own, no state. So a
 * factorisation that must end is left from inside of one of these routines, straight to where it
 * was called (longjmp); what it was working on is then worth nothing. */
#pragma once

#include "math/products/symmetric_product.h"
#include "math/rows/row_ops.h"

#include <setjmp.h>

typedef struct mg_blas_call {
    const mg_stop *stop;
    const mg_symmetric_ops *tiles;
    const mg_vector_ops *vectors;
    const mg_row_ops *rows;
    jmp_buf way_out;
    margin_status ended;
    double work;                             /* multiply-adds since the last look at the clock */
    int64_t depth, tall, wide, block, chunk; /* of packed parts of the operands, of triangles */
    double *left, *right, *square, *part;    /* room for them */
} mg_blas_call;

/* body(argument), which calls LAPACK or the routines below and has nothing to release, on matrices
 * of about `order` rows or columns (room for the products is taken for that; larger ones are cut).
 * MEMORY, CANCELLED; STOPPED_TIME: it was left half done at the deadline, or not begun. */
margin_status mg_blas_run(const mg_stop *stop, int64_t order, void (*body)(void *), void *argument,
                          margin_error *error);

/* Numbers of that room. */
int64_t mg_blas_room(int64_t order);

/* c = alpha op(a) op(b) + beta c */
void mg_blas_dgemm(const char *transpose_a, const char *transpose_b, const int *m, const int *n,
                   const int *k, const double *alpha, const double *a, const int *lda,
                   const double *b, const int *ldb, const double *beta, double *c, const int *ldc,
                   size_t length_a, size_t length_b);
/* a triangle of c = alpha op(a) op(a)' + beta c */
void mg_blas_dsyrk(const char *uplo, const char *transpose, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *beta,
                   double *c, const int *ldc, size_t length_uplo, size_t length_transpose);
/* a triangle of c = alpha (op(a) op(b)' + op(b) op(a)') + beta c */
void mg_blas_dsyr2k(const char *uplo, const char *transpose, const int *n, const int *k,
                    const double *alpha, const double *a, const int *lda, const double *b,
                    const int *ldb, const double *beta, double *c, const int *ldc,
                    size_t length_uplo, size_t length_transpose);
/* b = alpha op(a) b or alpha b op(a), a: a triangle */
void mg_blas_dtrmm(const char *side, const char *uplo, const char *transpose, const char *diagonal,
                   const int *m, const int *n, const double *alpha, const double *a, const int *lda,
                   double *b, const int *ldb, size_t length_side, size_t length_uplo,
                   size_t length_transpose, size_t length_diagonal);
/* b = a^-1 b, a: upper triangle, order x order, b: order x count; not one of BLAS' */
void mg_blas_solve_upper(int64_t order, int64_t count, const double *a, int64_t lda, double *b,
                         int64_t ldb);
/* y = alpha op(a) x + beta y */
void mg_blas_dgemv(const char *transpose, const int *m, const int *n, const double *alpha,
                   const double *a, const int *lda, const double *x, const int *incx,
                   const double *beta, double *y, const int *incy, size_t length);
/* y = alpha a x + beta y, a: symmetric, one triangle read */
void mg_blas_dsymv(const char *uplo, const int *n, const double *alpha, const double *a,
                   const int *lda, const double *x, const int *incx, const double *beta, double *y,
                   const int *incy, size_t length);
/* a += alpha x y' */
void mg_blas_dger(const int *m, const int *n, const double *alpha, const double *x, const int *incx,
                  const double *y, const int *incy, double *a, const int *lda);
/* The constants of f64. LAPACK asks for them at the head of every step of its divide and conquer
 * that is not made of the products above: so those can be left too. */
double mg_blas_dlamch(const char *name, size_t length);

/* Between the two files: the call of this thread, left if it must end. work: multiply-adds that
 * follow. */
mg_blas_call *mg_blas_now(double work);
