/* "Vectors" of one f32 in plain C, for kernel templates. */
#pragma once

#include "math/vectors/arithmetic.h"

#include <math.h>

enum { FLANES = 1 };
typedef float fvec;
MG_ARITHMETIC(fvec)
typedef struct fvec_least {
    float value;
    int place;
} fvec_least;

MG_INLINE fvec fvec_set(float value) {
    return value;
}
MG_INLINE fvec fvec_load(const float *p) {
    return *p;
}
MG_INLINE void fvec_store(float *p, fvec a) {
    *p = a;
}
MG_INLINE fvec fvec_fma(fvec a, fvec b, fvec c) {
    return a * b + c;
}
MG_INLINE fvec fvec_max(fvec a, fvec b) {
    return a > b ? a : b;
}
MG_INLINE fvec fvec_min(fvec a, fvec b) {
    return a < b ? a : b;
}
MG_INLINE fvec fvec_absolute(fvec a) {
    return fabsf(a);
}
MG_INLINE fvec fvec_round(fvec a) {
    return rintf(a);
}
MG_INLINE fvec fvec_scale(fvec a, fvec k) {
    return ldexpf(a, (int)k);
}
MG_INLINE float fvec_greatest(fvec a) {
    return a;
}
MG_INLINE fvec_least fvec_least_start(void) {
    return (fvec_least){(float)INFINITY, INT32_MAX};
}
MG_INLINE void fvec_least_take(fvec_least *least, fvec value, int first) {
    if (value < least->value) *least = (fvec_least){value, first};
}
MG_INLINE int fvec_least_place(const fvec_least *least, float *value) {
    *value = least->value;
    return least->place;
}
