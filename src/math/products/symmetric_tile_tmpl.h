/* Tiles and packing for one number type: included by an instruction-set file with REAL, NAME(x),
 * VEC, VEC_LANES, TILE_ROWS, VEC_ZERO(), VEC_LOAD(p), VEC_SET(x), VEC_FMA(a, b, c),
 * VEC_ADD_TO(c, v, sign), which adds to f64 numbers, and PACK_STORE(p, a), which stores a vector
 * `vec` of f64 numbers, defined. A line of a panel is three vectors. */

enum { NAME(WIDTH) = 3 * VEC_LANES };

/* `vectors` is a constant where this is called, so that the sums stay in registers. */
MG_INLINE void NAME(tile_of)(int64_t lines, const REAL *a, const REAL *b, int vectors, double sign,
                             double *c, int64_t ldc) {
    VEC sum[TILE_ROWS][3];
    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < vectors; v++)
            sum[r][v] = VEC_ZERO();
    for (int64_t k = 0; k < lines; k++, a += NAME(WIDTH), b += NAME(WIDTH)) {
        VEC right[3];
        for (int v = 0; v < vectors; v++)
            right[v] = VEC_LOAD(b + v * VEC_LANES);
        for (int r = 0; r < TILE_ROWS; r++) {
            const VEC left = VEC_SET(a[r]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = VEC_FMA(left, right[v], sum[r][v]);
        }
    }
    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < vectors; v++)
            VEC_ADD_TO(c + r * ldc + v * VEC_LANES, sum[r][v], sign);
}

static void NAME(tile)(int64_t lines, const void *a, const void *b, int vectors, double sign,
                       double *c, int64_t ldc) {
    if (vectors == 3)
        NAME(tile_of)(lines, a, b, 3, sign, c, ldc);
    else if (vectors == 2)
        NAME(tile_of)(lines, a, b, 2, sign, c, ldc);
    else
        NAME(tile_of)(lines, a, b, 1, sign, c, ldc);
}

#define SOURCE       double
#define PACK(x)      NAME(x##_f64)
#define PACK_LOAD(p) vec_load(p)
#include "math/products/symmetric_pack_tmpl.h"
#undef SOURCE
#undef PACK
#undef PACK_LOAD

#define SOURCE       float
#define PACK(x)      NAME(x##_f32)
#define PACK_LOAD(p) vec_widen(p)
#include "math/products/symmetric_pack_tmpl.h"
#undef SOURCE
#undef PACK
#undef PACK_LOAD
#undef PACK_STORE
