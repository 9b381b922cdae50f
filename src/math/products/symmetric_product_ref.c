/* Symmetric products in plain C: "vectors" of four numbers. */
#include "math/products/symmetric_product.h"

#define TILE_ROWS 4
enum { FOUR = 4 };

#define REAL    double
#define NAME(x) x##_f64
#include "math/vectors/four_numbers_ref_tmpl.h"

#include "math/products/symmetric_tile_tmpl.h"

#include "math/products/symmetric_solve_tmpl.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_f32
#include "math/vectors/four_numbers_ref_tmpl.h"

#include "math/products/symmetric_tile_tmpl.h"

const mg_symmetric_kernels mg_symmetric_kernels_ref = {
    .by_type = {{WIDTH_f64, TILE_ROWS, FOUR, 128, sizeof(double), pack_f64_f64, pack_f32_f64,
                 tile_f64, solve_lines, "f64 ref"},
                {WIDTH_f32, TILE_ROWS, FOUR, 128, sizeof(float), pack_f64_f32, pack_f32_f32,
                 tile_f32, NULL, "f32 ref"}},
};
