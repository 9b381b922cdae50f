/* The three kinds of classes_rows_tmpl.h with vectors `vec` and `fvec`. */
#define WORK               double
#define VEC                vec
#define VEC_LANES          LANES
#define VEC_ZERO()         vec_zero()
#define VEC_LOAD(p)        vec_load(p)
#define VEC_SET(x)         vec_set(x)
#define VEC_SUBTRACT(a, b) vec_subtract(a, b)
#define VEC_FMA(a, b, c)   vec_fma(a, b, c)
#define VEC_SUM(a)         vec_sum(a)
#define VEC_ADD_TO(c, a)   vec_store(c, vec_add(vec_load(c), a))
#define VALUE_TYPES_TMPL   "math/losses/classes_rows_tmpl.h"
#include "math/vectors/value_types_tmpl.h"
#undef WORK
#undef VEC
#undef VEC_LANES
#undef VEC_ZERO
#undef VEC_LOAD
#undef VEC_SET
#undef VEC_SUBTRACT
#undef VEC_FMA
#undef VEC_SUM
#undef VEC_ADD_TO

MG_INLINE void add_widened(double *c, fvec a) {
    vec_store(c, vec_add(vec_load(c), fvec_low(a)));
    vec_store(c + LANES, vec_add(vec_load(c + LANES), fvec_high(a)));
}

#define REAL               float
#define WORK               float
#define NAME(x)            x##_single
#define VEC                fvec
#define VEC_LANES          FLANES
#define VEC_ZERO()         fvec_zero()
#define VEC_LOAD(p)        fvec_load(p)
#define VEC_SET(x)         fvec_set(x)
#define VEC_SUBTRACT(a, b) fvec_subtract(a, b)
#define VEC_FMA(a, b, c)   fvec_fma(a, b, c)
#define VEC_SUM(a)         fvec_sum_widened(a)
#define VEC_ADD_TO(c, a)   add_widened(c, a)
#define LOAD(p)            fvec_load(p)
#define LOAD_PART(p, n)    fvec_load_part(p, n)
#include "math/losses/classes_rows_tmpl.h"
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART
