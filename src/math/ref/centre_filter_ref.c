/* The filter of centres in plain C. */
#include "math/centre_filter.h"

#include <float.h>
#include <math.h>

enum { WIDE = 8, TILE_ROWS = 3, TILE_STRIPS = 1 };
typedef struct wide {
    float lane[WIDE];
} wide;

#define EACH_LANE(expression)                                                                      \
    wide out;                                                                                      \
    for (int l = 0; l < WIDE; l++)                                                                 \
        out.lane[l] = (expression);                                                                \
    return out

MG_INLINE wide wide_set(float a) {
    EACH_LANE(a);
}
MG_INLINE wide wide_load(const float *p) {
    EACH_LANE(p[l]);
}
MG_INLINE void wide_store(float *p, wide a) {
    for (int l = 0; l < WIDE; l++)
        p[l] = a.lane[l];
}
MG_INLINE wide wide_add(wide a, wide b) {
    EACH_LANE(a.lane[l] + b.lane[l]);
}
MG_INLINE wide wide_subtract(wide a, wide b) {
    EACH_LANE(a.lane[l] - b.lane[l]);
}
MG_INLINE wide wide_multiply(wide a, wide b) {
    EACH_LANE(a.lane[l] * b.lane[l]);
}
MG_INLINE wide wide_fma(wide a, wide b, wide c) { /* two roundings: the slack has room for it */
    EACH_LANE(a.lane[l] * b.lane[l] + c.lane[l]);
}
MG_INLINE wide wide_min(wide a, wide b) {
    EACH_LANE(a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l]);
}
MG_INLINE wide wide_max(wide a, wide b) {
    EACH_LANE(a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]);
}
MG_INLINE wide wide_root(wide a) {
    EACH_LANE(sqrtf(a.lane[l]));
}

#define NAME mg_filter_ops_ref
#include "math/centre_filter_tmpl.h"
