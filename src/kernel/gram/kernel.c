/* Kernel functions of one pair: the specification of the blocked code in kernel_fill.c. */
#include "kernel/gram/kernel.h"

#include "base/context.h"

#include <math.h>

/* a^n by squaring: exact while the powers are, and the same on every platform. */
double mg_power(double a, int n) {
    double result = 1.0;
    for (; n > 0; n >>= 1, a *= a)
        if (n & 1) result *= a;
    return result;
}

static const struct traits {
    mg_kernel_basis basis;
    bool definite, bounded;
} traits[] = {[MG_KERNEL_LINEAR] = {MG_OF_PRODUCTS, true, false},
              [MG_KERNEL_POLY] = {MG_OF_PRODUCTS, true, false},
              [MG_KERNEL_RBF] = {MG_OF_SQUARES, true, true},
              [MG_KERNEL_EXP] = {MG_OF_PRODUCTS, true, false},
              [MG_KERNEL_SIGMOID] = {MG_OF_PRODUCTS, false, true},
              [MG_KERNEL_LAPLACIAN] = {MG_OF_DISTANCES, true, true},
              [MG_KERNEL_PRECOMPUTED] = {MG_OF_NONE, false, false},
              [MG_KERNEL_FUNCTION] = {MG_OF_NONE, false, false}};

mg_kernel_basis mg_kernel_basis_of(mg_kernel_kind kind) {
    return traits[kind].basis;
}

bool mg_kernel_is_definite(const mg_kernel *kernel) {
    const bool sure = kernel->kind != MG_KERNEL_POLY || kernel->coef0 >= 0.0;
    return traits[kernel->kind].definite && sure;
}

bool mg_kernel_is_bounded(mg_kernel_kind kind) {
    return traits[kind].bounded;
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

/* ---- One pair of rows, entry by entry -------------------------------------------------------- */

/* Walks the stored entries of a row in ascending order of columns. */
typedef struct row_walk {
    const margin_matrix *x;
    int64_t row, at, last;
} row_walk;

static row_walk walk_begin(const margin_matrix *x, int64_t row) {
    row_walk walk = {x, row, 0, x->columns};
    if (mg_is_csr(x)) {
        walk.at = mg_row_start(x, row);
        walk.last = mg_row_start(x, row + 1);
    }
    return walk;
}

static int64_t walk_column(const row_walk *walk) { /* columns: behind the last one */
    if (walk->at >= walk->last) return walk->x->columns;
    return mg_is_csr(walk->x) ? mg_column_index(walk->x, walk->at) : walk->at;
}

static double walk_value(const row_walk *walk) {
    const margin_matrix *x = walk->x;
    const int64_t k = mg_is_csr(x) ? walk->at : walk->row * x->stride + walk->at;
    return mg_stored_value(x, k);
}

typedef struct pair_sums {
    double dot, square_a, square_b, distance, difference; /* |a - b|_1, |a - b|^2 */
} pair_sums;

static pair_sums sum_pair(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j) {
    row_walk a = walk_begin(x, i), b = walk_begin(z, j);
    pair_sums sums = {0};
    for (;;) {
        const int64_t column_a = walk_column(&a), column_b = walk_column(&b);
        if (column_a == x->columns && column_b == x->columns) return sums;
        const double value_a = column_a <= column_b ? walk_value(&a) : 0.0;
        const double value_b = column_b <= column_a ? walk_value(&b) : 0.0;
        sums.dot += value_a * value_b;
        sums.square_a += value_a * value_a;
        sums.square_b += value_b * value_b;
        sums.distance += fabs(value_a - value_b);
        sums.difference += (value_a - value_b) * (value_a - value_b);
        a.at += column_a <= column_b;
        b.at += column_b <= column_a;
    }
}

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
    const pair_sums sums = sum_pair(x, i, z, j);
    if (kernel->kind == MG_KERNEL_LAPLACIAN) return exp(-kernel->gamma * sums.distance);
    return mg_kernel_from_dot(kernel, sums.dot, sums.square_a, sums.square_b);
}

bool mg_same_rows(const margin_matrix *x, int64_t i, const margin_matrix *z, int64_t j) {
    return sum_pair(x, i, z, j).distance == 0.0;
}

double mg_row_distance(const margin_matrix *x, int64_t i, int64_t j, bool absolute) {
    const pair_sums sums = sum_pair(x, i, x, j);
    return absolute ? sums.distance : sums.difference;
}
