/* Both number types with vectors `vec` and `fvec`: included by an instruction-set file with
 * TILE_ROWS, DEPTH, ISA_TEXT and KERNELS (the name of the table) defined. */
#define REAL                   double
#define NAME(x)                x##_f64
#define VEC                    vec
#define VEC_LANES              LANES
#define VEC_ZERO()             vec_zero()
#define VEC_LOAD(p)            vec_load(p)
#define VEC_STORE(p, a)        vec_store(p, a)
#define VEC_SET(x)             vec_set(x)
#define VEC_FMA(a, b, c)       vec_fma(a, b, c)
#define VEC_DIVIDE(a, b)       vec_divide(a, b)
#define VEC_ADD_TO(c, v, sign) vec_store(c, vec_fma(vec_set(sign), v, vec_load(c)))
#define PACK_STORE(p, a)       vec_store(p, a)
#include "math/products/symmetric_tile_tmpl.h"

#include "math/products/symmetric_solve_tmpl.h"
#undef REAL
#undef NAME
#undef VEC
#undef VEC_LANES
#undef VEC_ZERO
#undef VEC_LOAD
#undef VEC_SET
#undef VEC_FMA
#undef VEC_ADD_TO

MG_INLINE void add_widened(double *c, fvec v, double sign) {
    vec_store(c, vec_fma(vec_set(sign), fvec_low(v), vec_load(c)));
    vec_store(c + LANES, vec_fma(vec_set(sign), fvec_high(v), vec_load(c + LANES)));
}

MG_INLINE void store_narrow(float *p, vec a) {
    double wide[LANES];
    vec_store(wide, a);
    for (int i = 0; i < LANES; i++)
        p[i] = (float)wide[i];
}

#define REAL                   float
#define NAME(x)                x##_f32
#define VEC                    fvec
#define VEC_LANES              FLANES
#define VEC_ZERO()             fvec_zero()
#define VEC_LOAD(p)            fvec_load(p)
#define VEC_SET(x)             fvec_set(x)
#define VEC_FMA(a, b, c)       fvec_fma(a, b, c)
#define VEC_ADD_TO(c, v, sign) add_widened(c, v, sign)
#define PACK_STORE(p, a)       store_narrow(p, a)
#include "math/products/symmetric_tile_tmpl.h"

const mg_symmetric_kernels KERNELS = {
    .by_type = {{WIDTH_f64, TILE_ROWS, LANES, DEPTH, sizeof(double), pack_f64_f64, pack_f32_f64,
                 pack_columns_f64_f64, pack_columns_f32_f64, tile_f64, solve_lines,
                 "f64 " ISA_TEXT},
                {WIDTH_f32, TILE_ROWS, FLANES, DEPTH, sizeof(float), pack_f64_f32, pack_f32_f32,
                 pack_columns_f64_f32, pack_columns_f32_f32, tile_f32, NULL, "f32 " ISA_TEXT}},
};
