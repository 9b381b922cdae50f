/* Eight f32 side by side in plain C, for kernel templates whose results count lanes. */
#pragma once

#include "base/status.h"

enum { FLANES = 8 };
typedef struct fvec {
    float lane[FLANES];
} fvec;

#define FVEC_EACH(expression)                                                                      \
    fvec out;                                                                                      \
    for (int l = 0; l < FLANES; l++)                                                               \
        out.lane[l] = (expression);                                                                \
    return out

MG_INLINE fvec fvec_set(float a) {
    FVEC_EACH(a);
}
MG_INLINE fvec fvec_load(const float *p) {
    FVEC_EACH(p[l]);
}
MG_INLINE void fvec_store(float *p, fvec a) {
    for (int l = 0; l < FLANES; l++)
        p[l] = a.lane[l];
}
MG_INLINE fvec fvec_add(fvec a, fvec b) {
    FVEC_EACH(a.lane[l] + b.lane[l]);
}
MG_INLINE fvec fvec_subtract(fvec a, fvec b) {
    FVEC_EACH(a.lane[l] - b.lane[l]);
}
MG_INLINE fvec fvec_multiply(fvec a, fvec b) {
    FVEC_EACH(a.lane[l] * b.lane[l]);
}
MG_INLINE fvec fvec_fma(fvec a, fvec b, fvec c) { /* two roundings */
    FVEC_EACH(a.lane[l] * b.lane[l] + c.lane[l]);
}
MG_INLINE fvec fvec_min(fvec a, fvec b) {
    FVEC_EACH(a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l]);
}
MG_INLINE fvec fvec_max(fvec a, fvec b) {
    FVEC_EACH(a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]);
}
