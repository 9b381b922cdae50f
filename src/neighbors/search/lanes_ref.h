/* Eight f32 side by side in plain C, for search_tmpl.h and tile_tmpl.h. */
#pragma once

#include "base/status.h"

#include <math.h>

typedef struct lanes8 {
    float at[8];
} lanes8;

#define EACH_LANE(expression)                                                                      \
    lanes8 out;                                                                                    \
    for (int l = 0; l < 8; l++)                                                                    \
        out.at[l] = (expression);                                                                  \
    return out

MG_INLINE lanes8 lanes8_set(float a) {
    EACH_LANE(a);
}
MG_INLINE lanes8 lanes8_load(const float *p) {
    EACH_LANE(p[l]);
}
MG_INLINE void lanes8_store(float *p, lanes8 a) {
    for (int l = 0; l < 8; l++)
        p[l] = a.at[l];
}
MG_INLINE lanes8 lanes8_subtract(lanes8 a, lanes8 b) {
    EACH_LANE(a.at[l] - b.at[l]);
}
MG_INLINE lanes8 lanes8_add(lanes8 a, lanes8 b) {
    EACH_LANE(a.at[l] + b.at[l]);
}
MG_INLINE lanes8 lanes8_multiply(lanes8 a, lanes8 b) {
    EACH_LANE(a.at[l] * b.at[l]);
}
MG_INLINE lanes8 lanes8_max(lanes8 a, lanes8 b) {
    EACH_LANE(a.at[l] > b.at[l] ? a.at[l] : b.at[l]);
}
MG_INLINE lanes8 lanes8_absolute(lanes8 a) {
    EACH_LANE(fabsf(a.at[l]));
}

#define BIT_OF_EACH_LANE(condition)                                                                \
    unsigned bits = 0;                                                                             \
    for (int l = 0; l < 8; l++)                                                                    \
        bits |= (unsigned)(condition) << l;                                                        \
    return bits

MG_INLINE unsigned lanes8_within_each(lanes8 a, lanes8 limits) {
    BIT_OF_EACH_LANE(a.at[l] <= limits.at[l]);
}
MG_INLINE unsigned lanes8_equal(lanes8 a, float value) {
    BIT_OF_EACH_LANE(a.at[l] == value);
}
MG_INLINE unsigned lanes8_within(lanes8 a, float limit) {
    BIT_OF_EACH_LANE(a.at[l] <= limit);
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

#include "neighbors/search/lanes_sixteen.h"

/* For tiles. */
enum { FLANES = 8, TILE_ROWS = 4 };
typedef lanes8 fvec;
MG_INLINE fvec fvec_set(float a) {
    return lanes8_set(a);
}
MG_INLINE fvec fvec_load(const float *p) {
    return lanes8_load(p);
}
MG_INLINE void fvec_store(float *p, fvec a) {
    lanes8_store(p, a);
}
MG_INLINE fvec fvec_fma(fvec a, fvec b, fvec c) { /* not fused: the bound of errors allows both */
    EACH_LANE(a.at[l] * b.at[l] + c.at[l]);
}
MG_INLINE unsigned fvec_within(fvec a, fvec b, float limit) {
    return lanes8_within(a, limit) | lanes8_within(b, limit);
}
MG_INLINE uint32_t fvec_bits(fvec a, float limit) {
    return lanes8_within(a, limit);
}
