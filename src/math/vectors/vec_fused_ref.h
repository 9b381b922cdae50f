/* "Vectors" of one f64 in plain C with the roundings of the vector units, fused multiply-add
 * included: for templates whose results have the same bits on every instruction set. */
#pragma once

#include "math/vectors/vec_one.h"

#include <string.h>

MG_INLINE vec vec_fma(vec a, vec b, vec c) { /* a b + c */
    return fma(a, b, c);
}
MG_INLINE vec vec_min(vec a, vec b) {
    return a < b ? a : b;
}
MG_INLINE vec vec_round(vec a) { /* to the nearest whole number */
    return nearbyint(a);
}
MG_INLINE double vec_power_of_two(int64_t k) {
    const int64_t bits = (k + 1023) * ((int64_t)1 << 52);
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}
MG_INLINE vec vec_scale(vec a, vec k) { /* a 2^k for whole |k| < 2000, in two steps */
    if (!(fabs(k) < 2000.0)) return a + k;
    const int64_t whole = (int64_t)k, half = whole / 2;
    return a * vec_power_of_two(half) * vec_power_of_two(whole - half);
}
