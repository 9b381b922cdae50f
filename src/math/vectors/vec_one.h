/* "Vectors" of one f64 in plain C, all but vec_fma, which vec_ref.h or vec_fused_ref.h adds. */
#pragma once

#include "math/vectors/arithmetic.h"

#include <math.h>

enum { LANES = 1 };
typedef double vec;
MG_ARITHMETIC(vec)

MG_INLINE vec vec_zero(void) {
    return 0.0;
}
MG_INLINE vec vec_set(double value) {
    return value;
}
MG_INLINE vec vec_load(const double *p) {
    return *p;
}
MG_INLINE vec vec_load_part(const double *p, int64_t n) {
    return n > 0 ? *p : 0.0;
}
MG_INLINE vec vec_widen(const float *p) {
    return (double)*p;
}
MG_INLINE vec vec_widen_part(const float *p, int64_t n) {
    return n > 0 ? (double)*p : 0.0;
}
MG_INLINE void vec_store(double *p, vec a) {
    *p = a;
}
MG_INLINE void vec_store_part(double *p, vec a, int64_t n) {
    if (n > 0) *p = a;
}
MG_INLINE vec vec_if_negative(vec sign, vec a, vec b) { /* a where the sign bit is set, else b */
    return signbit(sign) ? a : b;
}
MG_INLINE vec vec_absolute(vec a) {
    return fabs(a);
}
MG_INLINE vec vec_max(vec a, vec b) { /* b where one is a NaN */
    return a > b ? a : b;
}
MG_INLINE void vec_turn(vec a[LANES]) { /* a square: rows become columns */
    (void)a;
}
MG_INLINE double vec_sum(vec a) {
    return a;
}
