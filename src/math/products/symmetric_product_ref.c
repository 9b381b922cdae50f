/* Symmetric products in plain C: "vectors" of four numbers. */
#include "math/products/symmetric_product.h"
#include "math/vectors/vec_ref.h"

#include <string.h>

#define TILE_ROWS 4
enum { FOUR = 4 };
#define vec_turn(square) ((void)(square)) /* of one number */

#define REAL    double
#define NAME(x) x##_f64
#include "math/vectors/four_numbers_ref_tmpl.h"

#define PACK_STORE(p, a) (*(p) = (REAL)(a))
#include "math/products/symmetric_tile_tmpl.h"

#include "math/products/symmetric_solve_tmpl.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_f32
#include "math/vectors/four_numbers_ref_tmpl.h"

#define PACK_STORE(p, a) (*(p) = (REAL)(a))
#include "math/products/symmetric_tile_tmpl.h"

const mg_symmetric_kernels mg_symmetric_kernels_ref = {
    .by_type = {{WIDTH_f64, TILE_ROWS, FOUR, 128, sizeof(double), pack_f64_f64, pack_f32_f64,
                 pack_columns_f64_f64, pack_columns_f32_f64, tile_f64, solve_lines, "f64 ref"},
                {WIDTH_f32, TILE_ROWS, FOUR, 128, sizeof(float), pack_f64_f32, pack_f32_f32,
                 pack_columns_f64_f32, pack_columns_f32_f32, tile_f32, NULL, "f32 ref"}},
};
