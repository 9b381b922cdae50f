/* Which of many points ("centres") may be nearest to a row: |a - b|^2 = |a|^2 + (|b|^2 - 2 a.b) by
 * register tiles in f32, with proven bounds.
 *
 * a = (row - origin) scale and b = (centre - origin) scale, rounded to f32; scale is a power of
 * two. A value of a tile is off by at most c u (2 |b|^2 + |a|^2), u = 2^-24, c = columns + 16: a
 * chain of `columns` sums, none larger than |b|^2 + 2 |a||b|, and the rounding of coordinates. The
 * sums start at |b|^2 - e_b, e_b = 2 c u |b|^2. So with e_a = c u |a|^2 and T = |a - b|^2 a value v
 * has T - 2 e_b - e_a <= v + |a|^2 <= T + e_a.
 *
 * Centres lie in groups, 16 groups side by side make a set. Strip t of a set holds member t of each
 * of its groups, column by column, so that the least of all groups are minima of vectors. */
#ifndef MG_CENTRE_FILTER_H
#define MG_CENTRE_FILTER_H

#include "base/cpu.h"
#include "base/status.h"

#include <stdbool.h>

enum { MG_FILTER_GROUPS = 16, MG_FILTER_MOST_ROWS = 12 };

typedef struct mg_filter_ops {
    int64_t rows; /* of a tile */
    /* rows: ops->rows x columns. For each set of `strips` strips: values[(row, set, strip)][16] and
     * the least and next to least of each group, [row][set][16]. */
    void (*cross)(const float *rows, int64_t columns, const float *strip, const float *start,
                  int64_t sets, int64_t strips, float *values, float *least, float *next);
    /* bound[g] = factor sqrt(max(0, least[g] + shift)); count: a multiple of 16. */
    void (*bound)(const float *least, int64_t count, float shift, float factor, float *bound);
    /* bound[g] = (bound[g] - drift[g]) factor; returns the least of them. */
    float (*drift)(float *bound, const float *drift, int64_t count, float factor);
} mg_filter_ops;

const mg_filter_ops *mg_filter_ops_for(mg_isa isa);
extern const mg_filter_ops mg_filter_ops_ref;
#if defined(__x86_64__)
extern const mg_filter_ops mg_filter_ops_avx2, mg_filter_ops_avx512;
#endif

/* How coordinates become f32. */
typedef struct mg_filter_frame {
    const double *origin; /* columns */
    double scale;
    double unit; /* c u */
    int64_t columns;
} mg_filter_frame;

/* out = (x - origin) scale; returns |out|^2 rounded to f32, or infinity (and out all 0) if f32 does
 * not reach that far: such a row has to be looked at otherwise. */
float mg_filter_point(const mg_filter_frame *frame, const double *x, float *out);
/* e_a for a row with that square, and a little where it is all but 0: for what is too small for
 * f32. */
MG_INLINE float mg_filter_slack(const mg_filter_frame *frame, float square) {
    return (float)(frame->unit * (double)square * (1 + 0x1p-20) + 0x1p-40);
}

/* Member order[(group) * room + t] of centres becomes member t of the group, < 0: none (a value
 * beyond all others). strip: sets x strips x columns x 16; start, share (e_b): sets x strips x 16;
 * scratch: columns. False if a centre is too far for f32. */
bool mg_filter_pack(const mg_filter_frame *frame, const double *centres, const int32_t *order,
                    int64_t room, int64_t sets, int64_t strips, float *strip, float *start,
                    float *share, float *scratch);

#endif
