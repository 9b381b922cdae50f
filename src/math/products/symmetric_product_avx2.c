/* Symmetric products with AVX2. */
#include "math/products/symmetric_product.h"
#include "math/vectors/vec_avx2.h"

#define TILE_ROWS 4

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

MG_INLINE void add_widened(double *c, __m256 v, double sign) {
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(v));
    const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
    vec_store(c, vec_fma(vec_set(sign), low, vec_load(c)));
    vec_store(c + LANES, vec_fma(vec_set(sign), high, vec_load(c + LANES)));
}

#define REAL                   float
#define NAME(x)                x##_f32
#define VEC                    __m256
#define VEC_LANES              8
#define VEC_ZERO()             _mm256_setzero_ps()
#define VEC_LOAD(p)            _mm256_loadu_ps(p)
#define VEC_SET(x)             _mm256_set1_ps(x)
#define VEC_FMA(a, b, c)       _mm256_fmadd_ps(a, b, c)
#define VEC_ADD_TO(c, v, sign) add_widened(c, v, sign)
#include "math/products/symmetric_tile_tmpl.h"

const mg_symmetric_ops mg_symmetric_ops_avx2[2] = {
    {WIDTH_f64, TILE_ROWS, LANES, 128, sizeof(double), pack_f64_f64, pack_f32_f64, tile_f64,
     solve_lines, "f64 avx2"},
    {WIDTH_f32, TILE_ROWS, 8, 128, sizeof(float), pack_f64_f32, pack_f32_f32, tile_f32, NULL,
     "f32 avx2"},
};
