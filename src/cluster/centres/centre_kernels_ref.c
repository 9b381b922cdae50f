/* Distances to centres in plain C. */
#include "cluster/centres/centre_kernels.h"
#include "math/vectors/vec_ref.h"

#include <math.h>

enum { FLANES = 8, VECTORS = 1 };
typedef struct fvec {
    float lane[FLANES];
} fvec;

#define EACH_LANE(expression)                                                                      \
    fvec out;                                                                                      \
    for (int l = 0; l < FLANES; l++)                                                               \
        out.lane[l] = (expression);                                                                \
    return out

MG_INLINE fvec fvec_set(float a) {
    EACH_LANE(a);
}
MG_INLINE fvec fvec_load(const float *p) {
    EACH_LANE(p[l]);
}
MG_INLINE void fvec_store(float *p, fvec a) {
    for (int l = 0; l < FLANES; l++)
        p[l] = a.lane[l];
}
MG_INLINE fvec fvec_add(fvec a, fvec b) {
    EACH_LANE(a.lane[l] + b.lane[l]);
}
MG_INLINE fvec fvec_subtract(fvec a, fvec b) {
    EACH_LANE(a.lane[l] - b.lane[l]);
}
MG_INLINE fvec fvec_multiply(fvec a, fvec b) {
    EACH_LANE(a.lane[l] * b.lane[l]);
}
MG_INLINE fvec fvec_fma(fvec a, fvec b, fvec c) { /* two roundings: the slack has room for it */
    EACH_LANE(a.lane[l] * b.lane[l] + c.lane[l]);
}
MG_INLINE fvec fvec_min(fvec a, fvec b) {
    EACH_LANE(a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l]);
}
MG_INLINE fvec fvec_max(fvec a, fvec b) {
    EACH_LANE(a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]);
}
MG_INLINE fvec fvec_root(fvec a) {
    EACH_LANE(sqrtf(a.lane[l]));
}

/* a < b ? x : y */
MG_INLINE fvec fvec_where(fvec a, fvec b, fvec x, fvec y) {
    EACH_LANE(a.lane[l] < b.lane[l] ? x.lane[l] : y.lane[l]);
}
MG_INLINE int fvec_count(fvec a, fvec most) {
    int count = 0;
    for (int l = 0; l < FLANES; l++)
        count += a.lane[l] <= most.lane[l];
    return count;
}
MG_INLINE float fvec_sum(fvec a) {
    float sum = 0;
    for (int l = 0; l < FLANES; l++)
        sum += a.lane[l];
    return sum;
}
/* Numbers [0, 4) of rows 0 and 4. */
MG_INLINE fvec fvec_quarters(const float *const *rows, int64_t at) {
    EACH_LANE(rows[l & 4][at + (l & 3)]);
}
MG_INLINE void fvec_put_quarters(fvec a, float *const *rows, int64_t at) {
    for (int l = 0; l < FLANES; l++)
        rows[l & 4][at + (l & 3)] = a.lane[l];
}
/* Transposes each quarter of four vectors. */
MG_INLINE void fvec_turn(fvec a[4]) {
    for (int l = 0; l < FLANES; l++)
        for (int q = 0; q < (l & 3); q++) {
            const int other = (l & 4) + q;
            const float kept = a[q].lane[l];
            a[q].lane[l] = a[l & 3].lane[other];
            a[l & 3].lane[other] = kept;
        }
}

#define KERNELS mg_centre_kernels_ref
#include "cluster/centres/centre_kernels_tmpl.h"
