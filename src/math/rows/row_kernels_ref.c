/* Row products and elementary functions in plain C: the specification, and the code for sparse rows
 * everywhere. */
#include "math/rows/row_kernels.h"
#include "math/vectors/vec_fused_ref.h"

#include "math/rows/vector_math_tmpl.h"

/* Rows to fetch early: measured best on text and one-hot data, and for a list with gaps. */
enum { MG_CSR_AHEAD = 6, MG_CSR_LIST_AHEAD = 12 };

#define ROWS_DENSE "math/rows/row_ops_dense_ref_tmpl.h"
#define ROWS_CSR   "math/rows/row_ops_csr_ref_tmpl.h"
#include "math/rows/row_layouts_tmpl.h"

enum { TRIANGLE_ROWS = 1 };
#include "math/rows/row_lanes_tables_tmpl.h"
#include "math/rows/row_triangle_tmpl.h"

/* A vector of one number is its own square; no fused products, as in the rows of all tables. */
enum { COLUMN_RUN = 128, COLUMN_GROUP = 2 };
#define vec_store_part(p, a, n) vec_store(p, a)
#define vec_turn(square)        ((void)(square))
#define vec_widen(p)            ((double)*(p))
#define vec_load_part(p, n)     (*(p))
#define vec_widen_part(p, n)    ((double)*(p))
#define COLUMN_FMA(a, b, c)     ((a) * (b) + (c))
#define VALUE_TYPES_TMPL        "math/rows/column_ops_tmpl.h"
#include "math/vectors/value_types_tmpl.h"

#define TABLE(suffix, dots, adds, visit, text)                                                     \
    {                                                                                              \
        dot_##suffix, add_##suffix, square_##suffix, scores_##suffix, next_error_##suffix, NULL,   \
            0, dots, adds, visit, text                                                             \
    }
#define DENSE_TABLE(suffix, text)  TABLE(suffix, NULL, NULL, NULL, text)
#define SPARSE_TABLE(suffix, text) TABLE(suffix, dots_##suffix, adds_##suffix, visit_##suffix, text)

static double vector_dot(const double *a, const double *b, int64_t n) {
    return product_dense_f64(a, b, n);
}

static void vector_add(double *y, double c, const double *x, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        y[j] += c * x[j];
}

static double vector_square(const double *a, int64_t n) {
    return product_dense_f64(a, a, n);
}

const mg_row_kernels mg_row_kernels_ref = {
    .rows =
        {
            [MG_ROWS_DENSE_F64] = DENSE_TABLE(dense_f64, "dense f64 ref"),
            [MG_ROWS_DENSE_F32] = DENSE_TABLE(dense_f32, "dense f32 ref"),
            [MG_ROWS_CSR_F64_I32] = SPARSE_TABLE(csr_f64_i32, "csr f64 i32 ref"),
            [MG_ROWS_CSR_F64_I64] = SPARSE_TABLE(csr_f64_i64, "csr f64 i64 ref"),
            [MG_ROWS_CSR_F32_I32] = SPARSE_TABLE(csr_f32_i32, "csr f32 i32 ref"),
            [MG_ROWS_CSR_F32_I64] = SPARSE_TABLE(csr_f32_i64, "csr f32 i64 ref"),
        },
    .lanes = ROW_LANES_TABLE,
    .fours = ROW_FOURS_TABLE,

    .columns = {{column_scores_f64, column_gradient_f64, column_moments_f64},
                {column_scores_f32, column_gradient_f32, column_moments_f32}},
    .vectors = {vector_dot, vector_add, vector_square},
    .triangle = {triangle_of_many, triangle_of_one},
    .exp = exp_array,
    .log1p = log1p_array,
};
