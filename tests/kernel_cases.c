#include "kernel_cases.h"

#include <math.h>
#include <stdlib.h>

void kernel_targets(regression *r, uint64_t seed) {
    for (int64_t i = 0; i < r->rows; i++) {
        const double *x = r->x + i * r->columns, last = x[r->columns - 1];
        r->y[i] = sin(x[0]) + last * last + 0.1 * support_normal(&seed);
    }
}

long double kernel_of(const mg_kernel *kernel, const double *x, const double *z, int64_t columns) {
    long double dot = 0, square = 0, absolute = 0, power = 1;
    for (int64_t j = 0; j < columns; j++) {
        const long double difference = (long double)x[j] - z[j];
        dot += (long double)x[j] * z[j];
        square += difference * difference;
        absolute += fabsl(difference);
    }
    switch (kernel->kind) {
    case MG_KERNEL_LINEAR:
        return dot;
    case MG_KERNEL_POLY:
        for (int d = 0; d < kernel->degree; d++)
            power *= (long double)kernel->gamma * dot + kernel->coef0;
        return power;
    case MG_KERNEL_RBF:
        return expl(-(long double)kernel->gamma * square);
    case MG_KERNEL_EXP:
        return expl(dot);
    case MG_KERNEL_SIGMOID:
        return tanhl((long double)kernel->gamma * dot + kernel->coef0);
    case MG_KERNEL_LAPLACIAN:
        return expl(-(long double)kernel->gamma * absolute);
    default:
        fail_msg("no such kernel");
    }
    return 0;
}

double kernel_scale_of(const regression *r, const double *weights) {
    long double total = 0, mean = 0, square = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < r->rows; i++)
            for (int64_t j = 0; j < r->columns; j++) {
                const long double w = weights ? weights[i] : 1, v = r->x[i * r->columns + j];
                if (pass == 0) {
                    total += w;
                    mean += w * v;
                } else {
                    square += w * (v - mean / total) * (v - mean / total);
                }
            }
    return (double)(total / square / r->columns);
}

void eliminate_dense(long double *A, long double *x, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabsl(A[i * n + k]) > fabsl(A[pivot * n + k])) pivot = i;
        for (int64_t j = 0; j < n; j++) {
            const long double swap = A[k * n + j];
            A[k * n + j] = A[pivot * n + j];
            A[pivot * n + j] = swap;
        }
        const long double swap = x[k];
        x[k] = x[pivot];
        x[pivot] = swap;
        for (int64_t i = k + 1; i < n; i++) {
            const long double factor = A[i * n + k] / A[k * n + k];
            for (int64_t j = k; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++)
            x[i] -= A[i * n + j] * x[j];
        x[i] /= A[i * n + i];
    }
}

void kernel_ridge_oracle(const regression *r, const mg_kernel *kernel, const double *weights,
                         double alpha, bool intercept, long double *a, long double *b) {
    const int64_t m = r->rows, n = m + intercept;
    long double *A = calloc((size_t)(n * n), sizeof *A), *x = calloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++)
            A[i * n + j] =
                kernel_of(kernel, r->x + i * r->columns, r->x + j * r->columns, r->columns);
        A[i * n + i] += alpha / (long double)(weights ? weights[i] : 1);
        if (intercept) A[i * n + m] = A[m * n + i] = 1;
        x[i] = r->y[i];
    }
    eliminate_dense(A, x, n);
    for (int64_t i = 0; i < m; i++)
        a[i] = x[i];
    *b = intercept ? x[m] : 0;
    free(A);
    free(x);
}

long double kernel_score(const regression *r, const mg_kernel *kernel, const long double *a,
                         long double b, const double *x) {
    long double sum = b;
    for (int64_t j = 0; j < r->rows; j++)
        sum += a[j] * kernel_of(kernel, r->x + j * r->columns, x, r->columns);
    return sum;
}
