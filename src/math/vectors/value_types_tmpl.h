/* Includes the template VALUE_TYPES_TMPL for rows of f64 and of f32: after a vector type `vec`,
 * with REAL, NAME(x) (adds the suffix), LOAD(p) and LOAD_PART(p, n) (a vector, or its first n lanes
 * and zeros, from REAL memory, widened) defined. */
#define REAL            double
#define NAME(x)         x##_f64
#define LOAD(p)         vec_load(p)
#define LOAD_PART(p, n) vec_load_part(p, n)
#include VALUE_TYPES_TMPL
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART

#define REAL            float
#define NAME(x)         x##_f32
#define LOAD(p)         vec_widen(p)
#define LOAD_PART(p, n) vec_widen_part(p, n)
#include VALUE_TYPES_TMPL
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART

#undef VALUE_TYPES_TMPL
