/* Both value types and the table of one instruction set: included by its file after the vector
 * type, with KERNELS (the name of the table), ISA_TEXT, the constants LANES, TILE_ROWS,
 * TILE_FUNCTIONS, WALK_VECTORS and the list WALK_CASES of 1 to WALK_VECTORS defined. */

#include "math/rows/vector_math_tmpl.h"

/* What to fetch early, measured best: of 2..12 rows in arbitrary order, of 1..4 KB in sequence. */
enum { ROWS_AHEAD = 6, BYTES_AHEAD = 2048, FAR_AHEAD = 4096 };

#define VALUE_TYPES_TMPL "math/rows/row_ops_simd_tmpl.h"
#include "math/vectors/value_types_tmpl.h"

#include "math/rows/row_lanes_tables_tmpl.h"
#include "math/rows/row_triangle_tmpl.h"

enum { COLUMN_RUN = 128, COLUMN_GROUP = 8 };
#define COLUMN_FMA(a, b, c) vec_fma(a, b, c)
#define VALUE_TYPES_TMPL    "math/rows/column_ops_tmpl.h"
#include "math/vectors/value_types_tmpl.h"

static double vector_dot(const double *a, const double *b, int64_t n) {
    return product_f64(a, b, n);
}

static void vector_add(double *y, double c, const double *x, int64_t n) {
    add_scaled_f64(x, c, y, n);
}

static double vector_square(const double *a, int64_t n) {
    return product_f64(a, a, n);
}

#define ROW_OPS_TABLE(suffix, text)                                                                \
    {                                                                                              \
        dot_##suffix, add_##suffix, square_##suffix, scores_##suffix, next_error_##suffix,         \
            walk_##suffix, WALK_VECTORS *LANES, NULL, NULL, NULL, text ISA_TEXT                    \
    }

const mg_row_kernels KERNELS = {
    .rows = {ROW_OPS_TABLE(f64, "dense f64 "), ROW_OPS_TABLE(f32, "dense f32 ")},
    .lanes = ROW_LANES_TABLE,
    .fours = ROW_FOURS_TABLE,

    .columns = {{column_scores_f64, column_gradient_f64, column_moments_f64},
                {column_scores_f32, column_gradient_f32, column_moments_f32}},
    .vectors = {vector_dot, vector_add, vector_square},
    .triangle = {triangle_of_many, triangle_of_one},
    .exp = exp_array,
    .log1p = log1p_array,
};
