/* Inner loops of kernel blocks: included by one file per instruction set after its vector type,
 * with PANEL_ROWS, PANEL_VECTORS (vectors in a line of a right panel) and SCALAR_FMA(a, b, c)
 * defined. */
#include "math/gram/kernel_ops.h"

#include <math.h>

enum { PANEL_COLUMNS = PANEL_VECTORS * LANES };

/* ---- Panels ---------------------------------------------------------------------------------- */

/* `rows` and `absolute` are constants where this is called; the sums stay in registers. */
MG_INLINE void multiply_panels(int64_t depth, const double *a, const double *b, int rows,
                               bool absolute, double *c, int64_t ldc) {
    vec sum[PANEL_ROWS][PANEL_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < PANEL_VECTORS; v++)
            sum[r][v] = vec_load(c + r * ldc + v * LANES);
    for (int64_t j = 0; j < depth; j++) {
        vec right[PANEL_VECTORS];
        for (int v = 0; v < PANEL_VECTORS; v++)
            right[v] = vec_load(b + j * PANEL_COLUMNS + v * LANES);
        for (int r = 0; r < rows; r++) {
            const vec left = vec_set(a[j * PANEL_ROWS + r]);
            for (int v = 0; v < PANEL_VECTORS; v++)
                sum[r][v] = absolute
                                ? vec_add(sum[r][v], vec_absolute(vec_subtract(left, right[v])))
                                : vec_fma(left, right[v], sum[r][v]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < PANEL_VECTORS; v++)
            vec_store(c + r * ldc + v * LANES, sum[r][v]);
}

static void panel_product(int64_t depth, const double *a, const double *b, bool one, double *c,
                          int64_t ldc) {
    if (one)
        multiply_panels(depth, a, b, 1, false, c, ldc);
    else
        multiply_panels(depth, a, b, PANEL_ROWS, false, c, ldc);
}

static void panel_distance(int64_t depth, const double *a, const double *b, bool one, double *c,
                           int64_t ldc) {
    if (one)
        multiply_panels(depth, a, b, 1, true, c, ldc);
    else
        multiply_panels(depth, a, b, PANEL_ROWS, true, c, ldc);
}

static void panel_square(int64_t depth, const double *b, double *sum) {
    for (int v = 0; v < PANEL_VECTORS; v++) {
        vec total = vec_load(sum + v * LANES);
        for (int64_t j = 0; j < depth; j++) {
            const vec value = vec_load(b + j * PANEL_COLUMNS + v * LANES);
            total = vec_fma(value, value, total);
        }
        vec_store(sum + v * LANES, total);
    }
}

/* ---- Sparse rows ----------------------------------------------------------------------------- */

/* The branches on types are the same for the whole matrix. */
MG_INLINE int64_t stored_column(const margin_matrix *z, int64_t k) {
    if (z->index_type == MARGIN_I64) return ((const int64_t *)z->column_indices)[k];
    return ((const int32_t *)z->column_indices)[k];
}

enum { SIDE_VECTORS = MG_SPARSE_SIDE / LANES };

static void sparse_products(const margin_matrix *z, int64_t row, const int32_t *line,
                            const double *lines, double *out) {
    const int64_t last = mg_row_start(z, row + 1);
    vec sum[SIDE_VECTORS];
    for (int v = 0; v < SIDE_VECTORS; v++)
        sum[v] = vec_zero();
    for (int64_t k = mg_row_start(z, row); k < last; k++) {
        const double *left = lines + (int64_t)line[stored_column(z, k)] * MG_SPARSE_SIDE;
        const vec value = vec_set(mg_stored_value(z, k));
        for (int v = 0; v < SIDE_VECTORS; v++)
            sum[v] = vec_fma(value, vec_load(left + v * LANES), sum[v]);
    }
    for (int v = 0; v < SIDE_VECTORS; v++)
        vec_store(out + v * LANES, sum[v]);
}

static double sparse_square(const margin_matrix *z, int64_t row) {
    double sum = 0.0;
    for (int64_t k = mg_row_start(z, row); k < mg_row_start(z, row + 1); k++) {
        const double value = mg_stored_value(z, k);
        sum = SCALAR_FMA(value, value, sum);
    }
    return sum;
}

/* ---- From dot products to kernel values -------------------------------------------------------*/

typedef struct finish_terms {
    vec gamma, coef0, square_x;
} finish_terms;

MG_INLINE vec vec_power(vec a, int n) {
    vec result = vec_set(1.0);
    for (; n > 0; n >>= 1) {
        if (n & 1) result = vec_multiply(result, a);
        a = vec_multiply(a, a);
    }
    return result;
}

MG_INLINE vec finish_vector(const mg_kernel *kernel, const finish_terms *terms, vec dot,
                            vec square_z) {
    switch (kernel->kind) {
    case MG_KERNEL_POLY:
        return vec_power(vec_add(vec_multiply(terms->gamma, dot), terms->coef0), kernel->degree);
    case MG_KERNEL_RBF: {
        const vec sum = vec_add(terms->square_x, square_z);
        const vec square = vec_subtract(sum, vec_multiply(vec_set(2.0), dot));
        const vec clipped = vec_max(vec_zero(), square); /* a NaN stays */
        return vec_exp(vec_multiply(vec_subtract(vec_zero(), terms->gamma), clipped));
    }
    case MG_KERNEL_EXP:
        return vec_exp(dot);
    case MG_KERNEL_LAPLACIAN:
        return vec_exp(vec_multiply(vec_subtract(vec_zero(), terms->gamma), dot));
    case MG_KERNEL_LINEAR:
    case MG_KERNEL_SIGMOID:
    case MG_KERNEL_PRECOMPUTED:
    case MG_KERNEL_FUNCTION:
        break;
    }
    return dot;
}

static void finish_sigmoid(const mg_kernel *kernel, double *values, int64_t count) {
    for (int64_t j = 0; j < count; j++)
        values[j] = tanh(kernel->gamma * values[j] + kernel->coef0);
}

static void kernel_finish(const mg_kernel *kernel, double square_x, const double *squares_z,
                          double *values, int64_t count) {
    const mg_kernel_basis basis = mg_kernel_basis_of(kernel->kind);
    if (kernel->kind == MG_KERNEL_LINEAR || basis == MG_OF_NONE) return;
    if (kernel->kind == MG_KERNEL_SIGMOID) {
        finish_sigmoid(kernel, values, count);
        return;
    }
    const finish_terms terms = {vec_set(kernel->gamma), vec_set(kernel->coef0), vec_set(square_x)};
    const bool squares = basis == MG_OF_SQUARES;
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        const vec square_z = squares ? vec_load(squares_z + j) : vec_zero();
        vec_store(values + j, finish_vector(kernel, &terms, vec_load(values + j), square_z));
    }
    if (j < count) {
        const int64_t left = count - j;
        const vec square_z = squares ? vec_load_part(squares_z + j, left) : vec_zero();
        const vec dot = vec_load_part(values + j, left);
        vec_store_part(values + j, finish_vector(kernel, &terms, dot, square_z), left);
    }
}

#define KERNEL_OPS_TABLE                                                                           \
    {                                                                                              \
        PANEL_ROWS, PANEL_COLUMNS, panel_product, panel_distance, panel_square, sparse_products,   \
            sparse_square, kernel_finish                                                           \
    }
