/* Distances to centres in plain C. */
#include "cluster/centres/centre_kernels.h"
#include "math/vectors/vec_ref.h"

#include <math.h>

enum { WIDE = 8, VECTORS = 1 };
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

/* a < b ? x : y */
MG_INLINE wide wide_where(wide a, wide b, wide x, wide y) {
    EACH_LANE(a.lane[l] < b.lane[l] ? x.lane[l] : y.lane[l]);
}
MG_INLINE int wide_count(wide a, wide most) {
    int count = 0;
    for (int l = 0; l < WIDE; l++)
        count += a.lane[l] <= most.lane[l];
    return count;
}
MG_INLINE float wide_sum(wide a) {
    float sum = 0;
    for (int l = 0; l < WIDE; l++)
        sum += a.lane[l];
    return sum;
}
/* Numbers [0, 4) of rows 0 and 4. */
MG_INLINE wide wide_quarters(const float *const *rows, int64_t at) {
    EACH_LANE(rows[l & 4][at + (l & 3)]);
}
MG_INLINE void wide_put_quarters(wide a, float *const *rows, int64_t at) {
    for (int l = 0; l < WIDE; l++)
        rows[l & 4][at + (l & 3)] = a.lane[l];
}
/* Transposes each quarter of four vectors. */
MG_INLINE void wide_turn(wide a[4]) {
    for (int l = 0; l < WIDE; l++)
        for (int q = 0; q < (l & 3); q++) {
            const int other = (l & 4) + q;
            const float kept = a[q].lane[l];
            a[q].lane[l] = a[l & 3].lane[other];
            a[l & 3].lane[other] = kept;
        }
}

#define KERNELS mg_centre_kernels_ref
#include "cluster/centres/centre_kernels_tmpl.h"
