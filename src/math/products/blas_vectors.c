/* Products of matrices and vectors for LAPACK: bound by memory, so what counts is that a matrix is
 * read once and along its columns. */
#include "math/products/blas.h"

enum { CHUNK = 1024 }; /* rows whose vector stays in the first cache */

/* Where a vector of n numbers with that increment begins. */
static int64_t begin_of(int64_t n, int64_t increment) {
    return increment < 0 ? (1 - n) * increment : 0;
}

static const double *gather(const double *x, int64_t increment, int64_t first, int64_t count,
                            double *room) {
    if (increment == 1) return x + first;
    for (int64_t i = 0; i < count; i++)
        room[i] = x[(first + i) * increment];
    return room;
}

static void vector_scale(double *y, int64_t increment, int64_t count, double beta) {
    for (int64_t i = 0; beta != 1.0 && i < count; i++)
        y[i * increment] = beta == 0.0 ? 0.0 : beta * y[i * increment];
}

/* Rows [first, first + count): y += alpha a x */
static void blas_vectors_add_columns(const mg_blas_call *call, int64_t count, int64_t columns,
                                     double alpha, const double *a, int64_t lda, const double *x,
                                     int64_t incx, double *y, int64_t incy) {
    double room[CHUNK], *sum = incy == 1 ? y : room;
    gather(y, incy, 0, count, room);
    for (int64_t j = 0; j < columns; j++)
        call->vectors->add(sum, alpha * x[j * incx], a + j * lda, count);
    for (int64_t i = 0; sum == room && i < count; i++)
        y[i * incy] = room[i];
}

/* y += alpha a'x over those rows */
static void blas_vectors_add_products(const mg_blas_call *call, int64_t count, int64_t columns,
                                      double alpha, const double *a, int64_t lda, const double *x,
                                      double *y, int64_t incy) {
    enum { TOGETHER = 64 };
    double sums[TOGETHER];
    const double zero = 0.0;
    const margin_matrix rows = margin_dense_f64(a, columns, count, lda);
    for (int64_t j = 0; j < columns; j += TOGETHER) {
        const int64_t some = MG_MIN(TOGETHER, columns - j);
        call->rows->scores(&rows, j, some, x, &zero, 1, sums);
        for (int64_t k = 0; k < some; k++)
            y[(j + k) * incy] += alpha * sums[k];
    }
}

void mg_blas_dgemv(const char *transpose, const int *m, const int *n, const double *alpha,
                   const double *a, const int *lda, const double *x, const int *incx,
                   const double *beta, double *y, const int *incy, size_t length) {
    const bool plain = (*transpose | 32) == 'n';
    const int64_t rows = *m, columns = *n, size_x = plain ? columns : rows;
    const int64_t size_y = plain ? rows : columns, ix = *incx, iy = *incy;
    double room[CHUNK];
    (void)length;
    x += begin_of(size_x, ix);
    y += begin_of(size_y, iy);
    vector_scale(y, iy, size_y, *beta);
    if (*alpha == 0.0) return;
    for (int64_t first = 0; first < rows; first += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, rows - first);
        const mg_blas_call *call = mg_blas_now((double)(count * columns));
        if (plain)
            blas_vectors_add_columns(call, count, columns, *alpha, a + first, *lda, x, ix,
                                     y + first * iy, iy);
        else
            blas_vectors_add_products(call, count, columns, *alpha, a + first, *lda,
                                      gather(x, ix, first, count, room), y, iy);
    }
}

void mg_blas_dger(const int *m, const int *n, const double *alpha, const double *x, const int *incx,
                  const double *y, const int *incy, double *a, const int *lda) {
    const int64_t rows = *m, columns = *n, ix = *incx, iy = *incy, ld = *lda;
    double room[CHUNK];
    x += begin_of(rows, ix);
    y += begin_of(columns, iy);
    for (int64_t first = 0; first < rows; first += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, rows - first);
        const mg_blas_call *call = mg_blas_now((double)(count * columns));
        const double *part = gather(x, ix, first, count, room);
        for (int64_t j = 0; j < columns; j++)
            call->vectors->add(a + first + j * ld, *alpha * y[j * iy], part, count);
    }
}

/* Column j with what lies beside the diagonal: `count` numbers from row `first`. */
static void add_symmetric(const mg_blas_call *call, const double *column, int64_t j, int64_t first,
                          int64_t count, double alpha, const double *x, int64_t ix, double *y,
                          int64_t iy) {
    double sum = column[j] * x[j * ix];
    if (ix == 1 && iy == 1) {
        sum += call->vectors->dot(column + first, x + first, count);
        call->vectors->add(y + first, alpha * x[j], column + first, count);
    } else {
        for (int64_t i = first; i < first + count; i++) {
            sum += column[i] * x[i * ix];
            y[i * iy] += alpha * x[j * ix] * column[i];
        }
    }
    y[j * iy] += alpha * sum;
}

void mg_blas_dsymv(const char *uplo, const int *n, const double *alpha, const double *a,
                   const int *lda, const double *x, const int *incx, const double *beta, double *y,
                   const int *incy, size_t length) {
    const int64_t order = *n, ix = *incx, iy = *incy;
    const bool lower = (*uplo | 32) == 'l';
    (void)length;
    x += begin_of(order, ix);
    y += begin_of(order, iy);
    vector_scale(y, iy, order, *beta);
    if (*alpha == 0.0) return;
    for (int64_t j = 0; j < order; j++) {
        const int64_t first = lower ? j + 1 : 0, count = lower ? order - j - 1 : j;
        add_symmetric(mg_blas_now((double)count), a + j * *lda, j, first, count, *alpha, x, ix, y,
                      iy);
    }
}
