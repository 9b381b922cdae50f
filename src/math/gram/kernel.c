/* Kernel functions of one pair: the specification of the blocked code in kernel_fill.c. */
#include "math/gram/kernel.h"

#include "base/context.h"
#include "math/rows/row_pair.h"

#include <math.h>

/* a^n by squaring: exact while the powers are, and the same on every platform. */
double mg_power(double a, int n) {
    double result = 1.0;
    for (; n > 0; n >>= 1, a *= a)
        if (n & 1) result *= a;
    return result;
}

typedef struct traits {
    mg_kernel_basis basis;
    bool definite, bounded, waves;
} traits;

static traits traits_of(mg_kernel_kind kind) {
    switch (kind) {
    case MG_KERNEL_LINEAR:
    case MG_KERNEL_POLY:
    case MG_KERNEL_EXP:
        return (traits){MG_OF_PRODUCTS, .definite = true};
    case MG_KERNEL_SIGMOID:
        return (traits){MG_OF_PRODUCTS, .bounded = true};
    case MG_KERNEL_RBF:
        return (traits){MG_OF_SQUARES, .definite = true, .bounded = true, .waves = true};
    case MG_KERNEL_LAPLACIAN:
        return (traits){MG_OF_DISTANCES, .definite = true, .bounded = true, .waves = true};
    case MG_KERNEL_PRECOMPUTED:
    case MG_KERNEL_FUNCTION:
        break;
    }
    return (traits){.basis = MG_OF_NONE};
}

mg_kernel_basis mg_kernel_basis_of(mg_kernel_kind kind) {
    return traits_of(kind).basis;
}

bool mg_kernel_is_definite(const mg_kernel *kernel) {
    const bool sure = kernel->kind != MG_KERNEL_POLY || kernel->coef0 >= 0.0;
    return traits_of(kernel->kind).definite && sure;
}

bool mg_kernel_is_bounded(mg_kernel_kind kind) {
    return traits_of(kind).bounded;
}

bool mg_kernel_has_waves(mg_kernel_kind kind) {
    return traits_of(kind).waves;
}

double mg_kernel_from_dot(const mg_kernel *kernel, double dot, double square_x, double square_z) {
    switch (kernel->kind) {
    case MG_KERNEL_LINEAR:
    case MG_KERNEL_PRECOMPUTED:
        return dot;
    case MG_KERNEL_POLY:
        return mg_power(kernel->gamma * dot + kernel->coef0, kernel->degree);
    case MG_KERNEL_RBF: {
        double square = square_x + square_z - 2.0 * dot;
        return exp(-kernel->gamma * (square > 0.0 ? square : 0.0));
    }
    case MG_KERNEL_EXP:
        return exp(dot);
    case MG_KERNEL_SIGMOID:
        return tanh(kernel->gamma * dot + kernel->coef0);
    case MG_KERNEL_LAPLACIAN:
    case MG_KERNEL_FUNCTION:
        break; /* need the rows themselves */
    }
    return (double)NAN;
}

/* ---- One pair of rows ------------------------------------------------------------------------ */

static double ask_pair(margin_context *context, const mg_kernel *kernel, const margin_matrix *x,
                       int64_t i, const margin_matrix *z, int64_t j) {
    double a[MG_OWN_COLUMNS], b[MG_OWN_COLUMNS], value = (double)NAN;
    mg_row_expand(x, i, a);
    mg_row_expand(z, j, b);
    if (kernel->function(a, 1, b, 1, x->columns, &value, kernel->user) == 0) return value;
    if (context) margin_context_cancel(context);
    return (double)NAN;
}

double mg_kernel_rows(margin_context *context, const mg_kernel *kernel, const margin_matrix *x,
                      int64_t i, const margin_matrix *z, int64_t j) {
    if (kernel->kind == MG_KERNEL_FUNCTION) return ask_pair(context, kernel, x, i, z, j);
    const mg_pair_sums sums = mg_row_pair(x, i, z, j);
    if (kernel->kind == MG_KERNEL_LAPLACIAN) return exp(-kernel->gamma * sums.distance);
    return mg_kernel_from_dot(kernel, sums.dot, sums.square_a, sums.square_b);
}

double mg_kernel_pair(margin_context *context, const mg_kernel *kernel,
                      const mg_kernel_points *points, int64_t i, int64_t j) {
    const margin_matrix *x = &points->x;
    const int64_t row = mg_point_row(points, i), right = mg_point_right(kernel, points, j);
    if (kernel->kind == MG_KERNEL_PRECOMPUTED) return mg_dense_value(x, row, right);
    return mg_kernel_rows(context, kernel, x, row, x, right);
}
