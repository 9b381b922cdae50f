/* Distances to centres in plain C. */
#include "cluster/centres/centre_kernels.h"
#include "math/vectors/fvec_eight_ref.h"
#include "math/vectors/vec_ref.h"

#include <math.h>

enum { VECTORS = 1 };

MG_INLINE fvec fvec_root(fvec a) {
    FVEC_EACH(sqrtf(a.lane[l]));
}

/* a < b ? x : y */
MG_INLINE fvec fvec_where(fvec a, fvec b, fvec x, fvec y) {
    FVEC_EACH(a.lane[l] < b.lane[l] ? x.lane[l] : y.lane[l]);
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
    FVEC_EACH(rows[l & 4][at + (l & 3)]);
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
