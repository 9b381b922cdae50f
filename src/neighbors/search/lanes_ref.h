/* Eight f32 side by side in plain C, for search_tmpl.h and tile_tmpl.h. */
#pragma once

#include "math/vectors/fvec_eight_ref.h"

#include <math.h>

typedef fvec lanes8;
#define lanes8_set      fvec_set
#define lanes8_load     fvec_load
#define lanes8_store    fvec_store
#define lanes8_subtract fvec_subtract
#define lanes8_add      fvec_add
#define lanes8_multiply fvec_multiply
#define lanes8_max      fvec_max

MG_INLINE lanes8 lanes8_absolute(lanes8 a) {
    FVEC_EACH(fabsf(a.lane[l]));
}

#define BIT_OF_EACH_LANE(condition)                                                                \
    unsigned bits = 0;                                                                             \
    for (int l = 0; l < FLANES; l++)                                                               \
        bits |= (unsigned)(condition) << l;                                                        \
    return bits

MG_INLINE unsigned lanes8_within_each(lanes8 a, lanes8 limits) {
    BIT_OF_EACH_LANE(a.lane[l] <= limits.lane[l]);
}
MG_INLINE unsigned lanes8_equal(lanes8 a, float value) {
    BIT_OF_EACH_LANE(a.lane[l] == value);
}
MG_INLINE unsigned lanes8_within(lanes8 a, float limit) {
    BIT_OF_EACH_LANE(a.lane[l] <= limit);
}

MG_INLINE lanes8 lanes8_insert(lanes8 list, float a) {
    int at = 7;
    if (!(a < list.lane[7])) return list;
    for (; at > 0 && list.lane[at - 1] > a; at--)
        list.lane[at] = list.lane[at - 1];
    list.lane[at] = a;
    return list;
}
MG_INLINE lanes8 lanes8_insert_four(lanes8 list, const float *numbers) {
    for (int n = 0; n < 4; n++)
        list = lanes8_insert(list, numbers[n]);
    return list;
}
MG_INLINE float lanes8_last(lanes8 a) {
    return a.lane[7];
}

#include "neighbors/search/lanes_sixteen.h"

/* For tiles. */
enum { TILE_ROWS = 4 };
MG_INLINE unsigned fvec_within(fvec a, fvec b, float limit) {
    return lanes8_within(a, limit) | lanes8_within(b, limit);
}
MG_INLINE uint32_t fvec_bits(fvec a, float limit) {
    return lanes8_within(a, limit);
}
