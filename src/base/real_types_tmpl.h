/* Includes the template REAL_TYPES_TMPL for f64 and for f32, with REAL and NAME(x) (adds the
 * suffix) defined. */
#define REAL    double
#define NAME(x) x##_f64
#include REAL_TYPES_TMPL
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_f32
#include REAL_TYPES_TMPL
#undef REAL
#undef NAME

#undef REAL_TYPES_TMPL
