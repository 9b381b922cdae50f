/* Which of many points ("centres") may be nearest to a row: |a - b|^2 = |a|^2 + (|b|^2 - 2 a.b) by
 * register tiles in f32, with proven bounds.
 *
 * a = (row - origin) scale and b = (centre - origin) scale, rounded to f32; scale is a power of
 * two. A value of a tile is off by at most c u (2 |b|^2 + |a|^2), u = 2^-24, c = columns + 16: a
 * chain of `columns` sums, none larger than |b|^2 + 2 |a||b|, and the rounding of coordinates. The
 * sums start at |b|^2 - e_b, e_b = 2 c u |b|^2. So with e_a = c u |a|^2 and T = |a - b|^2 a value v
 * has T - 2 e_b - e_a <= v + |a|^2 <= T + e_a.
 *
 * A tile is `rows` rows side by side, column by column, so that all that concerns a row is a lane
 * of vectors. Centres lie in groups of `members`, at most 8: coordinate j of member t of group g is
 * strip[(g * columns + j) * members + t]. */
#pragma once

#include "base/machine/cpu.h"
#include "base/status.h"

#include <stdbool.h>

enum { MG_FILTER_GROUPS = 16, MG_FILTER_MEMBERS = 8, MG_FILTER_MOST_ROWS = 32 };

/* How coordinates become f32. */
typedef struct mg_filter_frame {
    const double *origin; /* columns */
    double scale;
    double unit; /* c u */
    int64_t columns;
} mg_filter_frame;

/* What a product tells of the rows of a tile. */
typedef struct mg_filter_found {
    float *least, *next; /* groups x rows: the least two values of a group (next: FLT_MAX) */
    float first[MG_FILTER_MOST_ROWS], second[MG_FILTER_MOST_ROWS]; /* the least two of all */
    float place[MG_FILTER_MOST_ROWS]; /* of the first: group x MG_FILTER_MEMBERS + member */
} mg_filter_found;

/* A step of k-means++: for each row of a tile its |a|^2, |a|^2 - e_a (-infinity: not known), the
 * squared distance that a candidate has to be below, and its weight. */
typedef struct mg_filter_draw {
    float square[MG_FILTER_MOST_ROWS], shift[MG_FILTER_MOST_ROWS];
    float near[MG_FILTER_MOST_ROWS], weight[MG_FILTER_MOST_ROWS];
    float may[MG_FILTER_MOST_ROWS]; /* out: bit t is set where member t may be nearer */
    float gain[MG_FILTER_MEMBERS];  /* out: about sum weight max(0, near - distance^2) */
} mg_filter_draw;

typedef struct mg_filter_ops {
    int64_t rows; /* of a tile: a power of two */
    /* What mg_filter_point makes of a row that f32 reaches. */
    void (*round)(const mg_filter_frame *frame, const double *x, float *out);
    /* tile[j * rows + r] = rows[r][j]; depth: a multiple of 4. */
    void (*load)(const float *const *rows, int64_t depth, float *tile);
    void (*nearest)(const float *tile, int64_t columns, const float *strip, const float *start,
                    int64_t groups, int64_t members, mg_filter_found *found);
    /* bound[r][g] = at most factor sqrt(max(0, least[g][r] + shift[r])); next instead of least
     * where g is home[r]. groups: a multiple of 4. */
    void (*bounds)(const mg_filter_found *found, int64_t groups, const float *home,
                   const float *shift, float factor, float *const *bound);
    /* bound[g] = (bound[g] - drift[g]) factor; returns how many are at most `reach`. count: a
     * multiple of 16. */
    int64_t (*drift)(float *bound, const float *drift, int64_t count, float factor, float reach);
    void (*draw)(const float *tile, int64_t columns, const float *strip, const float *start,
                 int64_t members, mg_filter_draw *draw);
} mg_filter_ops;

const mg_filter_ops *mg_filter_ops_for(mg_isa isa);

/* out = (x - origin) scale; returns |out|^2 rounded to f32, or infinity (and out all 0) if f32 does
 * not reach that far: such a row has to be looked at otherwise. */
float mg_filter_point(const mg_filter_frame *frame, const double *x, float *out);
/* e_a for a row with that square, and a little where it is all but 0: for what is too small for
 * f32. */
MG_INLINE float mg_filter_slack(const mg_filter_frame *frame, float square) {
    return (float)(frame->unit * (double)square * (1 + 0x1p-20) + 0x1p-40);
}

/* Member order[g * room + t] of centres becomes member t of group g, < 0: none (a value beyond all
 * others). strip: groups x columns x members; start, share (e_b): groups x members; scratch:
 * columns. False if a centre is too far for f32. */
bool mg_filter_pack(const mg_filter_frame *frame, const double *centres, const int32_t *order,
                    int64_t room, int64_t groups, int64_t members, float *strip, float *start,
                    float *share, float *scratch);
