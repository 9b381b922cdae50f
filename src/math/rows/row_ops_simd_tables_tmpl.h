/* Both value types and the tables of one instruction set: included by its file after the vector
 * type, with ISA_TEXT, the constants LANES, TILE_ROWS, TILE_FUNCTIONS, WALK_VECTORS and the list
 * WALK_CASES of 1 to WALK_VECTORS defined. */

/* What to fetch early, measured best: of 2..12 rows in arbitrary order, of 1..4 KB in sequence. */
enum { ROWS_AHEAD = 6, BYTES_AHEAD = 2048, WALK_BYTES_AHEAD = 4096 };

#define REAL            double
#define NAME(x)         x##_f64
#define LOAD(p)         vec_load(p)
#define LOAD_PART(p, n) vec_load_part(p, n)
#include "math/rows/row_ops_simd_tmpl.h"
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART

#define REAL            float
#define NAME(x)         x##_f32
#define LOAD(p)         vec_widen(p)
#define LOAD_PART(p, n) vec_widen_part(p, n)
#include "math/rows/row_ops_simd_tmpl.h"
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART

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
            walk_##suffix, WALK_VECTORS *LANES, NULL, NULL, text ISA_TEXT                          \
    }
#define ROW_OPS_TABLES                                                                             \
    { ROW_OPS_TABLE(f64, "dense f64 "), ROW_OPS_TABLE(f32, "dense f32 ") }
#define VECTOR_OPS_TABLE                                                                           \
    { vector_dot, vector_add, vector_square }
