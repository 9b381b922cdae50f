/* Eight and sixteen f32 side by side in plain C, for search_tmpl.h and tile_tmpl.h. */
#pragma once

#include "base/status.h"

#include <math.h>

#ifdef __SANITIZE_ADDRESS__ /* with all of it inlined, the compiler takes minutes */
#undef MG_INLINE
#define MG_INLINE static inline
#endif

typedef struct lanes8 {
    float at[8];
} lanes8;
typedef struct lanes16 {
    float at[16];
} lanes16;

MG_INLINE lanes8 lanes8_set(float a) {
    return (lanes8){{a, a, a, a, a, a, a, a}};
}
MG_INLINE lanes8 lanes8_load(const float *p) {
    return (lanes8){{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}};
}
MG_INLINE void lanes8_store(float *p, lanes8 a) {
    for (int l = 0; l < 8; l++)
        p[l] = a.at[l];
}
MG_INLINE lanes8 lanes8_subtract(lanes8 a, lanes8 b) {
    for (int l = 0; l < 8; l++)
        a.at[l] -= b.at[l];
    return a;
}
MG_INLINE lanes8 lanes8_add(lanes8 a, lanes8 b) {
    for (int l = 0; l < 8; l++)
        a.at[l] += b.at[l];
    return a;
}
MG_INLINE lanes8 lanes8_multiply(lanes8 a, lanes8 b) {
    for (int l = 0; l < 8; l++)
        a.at[l] *= b.at[l];
    return a;
}
MG_INLINE lanes8 lanes8_max(lanes8 a, lanes8 b) {
    for (int l = 0; l < 8; l++)
        a.at[l] = a.at[l] > b.at[l] ? a.at[l] : b.at[l];
    return a;
}
MG_INLINE unsigned lanes8_within_each(lanes8 a, lanes8 limits) {
    unsigned bits = 0;
    for (int l = 0; l < 8; l++)
        bits |= (unsigned)(a.at[l] <= limits.at[l]) << l;
    return bits;
}
MG_INLINE unsigned lanes8_equal(lanes8 a, float value) {
    unsigned bits = 0;
    for (int l = 0; l < 8; l++)
        bits |= (unsigned)(a.at[l] == value) << l;
    return bits;
}
MG_INLINE unsigned lanes8_within(lanes8 a, float limit) {
    unsigned bits = 0;
    for (int l = 0; l < 8; l++)
        bits |= (unsigned)(a.at[l] <= limit) << l;
    return bits;
}

MG_INLINE lanes8 lanes8_insert(lanes8 list, float a) {
    int at = 7;
    if (!(a < list.at[7])) return list;
    for (; at > 0 && list.at[at - 1] > a; at--)
        list.at[at] = list.at[at - 1];
    list.at[at] = a;
    return list;
}
MG_INLINE lanes8 lanes8_insert_four(lanes8 list, const float *numbers) {
    for (int n = 0; n < 4; n++)
        list = lanes8_insert(list, numbers[n]);
    return list;
}
MG_INLINE float lanes8_last(lanes8 a) {
    return a.at[7];
}

MG_INLINE lanes16 lanes16_zero(void) {
    return (lanes16){{0}};
}
MG_INLINE lanes16 lanes16_gap(const float *p, float q) {
    lanes16 a;
    for (int l = 0; l < 16; l++)
        a.at[l] = fabsf(p[l] - q);
    return a;
}
MG_INLINE lanes16 lanes16_add(lanes16 a, lanes16 b) {
    for (int l = 0; l < 16; l++)
        a.at[l] += b.at[l];
    return a;
}
MG_INLINE lanes16 lanes16_square(lanes16 a) {
    for (int l = 0; l < 16; l++)
        a.at[l] *= a.at[l];
    return a;
}
MG_INLINE lanes16 lanes16_max(lanes16 a, lanes16 b) {
    for (int l = 0; l < 16; l++)
        a.at[l] = a.at[l] > b.at[l] ? a.at[l] : b.at[l];
    return a;
}
MG_INLINE unsigned lanes16_within(lanes16 a, float limit) {
    unsigned bits = 0;
    for (int l = 0; l < 16; l++)
        bits |= (unsigned)(a.at[l] <= limit) << l;
    return bits;
}
MG_INLINE void lanes16_store(float *p, lanes16 a) {
    for (int l = 0; l < 16; l++)
        p[l] = a.at[l];
}

/* For tiles. */
enum { FLANES = 4, TILE_ROWS = 4 };
typedef struct fvec {
    float at[4];
} fvec;
MG_INLINE fvec fvec_set(float a) {
    return (fvec){{a, a, a, a}};
}
MG_INLINE fvec fvec_load(const float *p) {
    return (fvec){{p[0], p[1], p[2], p[3]}};
}
MG_INLINE void fvec_store(float *p, fvec a) {
    for (int l = 0; l < 4; l++)
        p[l] = a.at[l];
}
MG_INLINE fvec fvec_fma(fvec a, fvec b, fvec c) { /* not fused: the bound of errors allows both */
    for (int l = 0; l < 4; l++)
        c.at[l] += a.at[l] * b.at[l];
    return c;
}
MG_INLINE unsigned fvec_within(fvec a, fvec b, float limit) {
    unsigned bits = 0;
    for (int l = 0; l < 4; l++)
        bits |= (unsigned)((a.at[l] <= limit) | (b.at[l] <= limit)) << l;
    return bits;
}
MG_INLINE uint32_t fvec_bits(fvec a, float limit) {
    uint32_t bits = 0;
    for (int l = 0; l < 4; l++)
        bits |= (uint32_t)(a.at[l] <= limit) << l;
    return bits;
}
