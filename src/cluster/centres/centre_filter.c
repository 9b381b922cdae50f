/* Rows and centres in f32 for the filter, and the choice of the kernels. */
#include "cluster/centres/centre_filter.h"

#include "cluster/centres/centre_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Squares up to here leave room for sums and slacks. */
static const double farthest = 0x1p60;

float mg_filter_point(const mg_filter_frame *frame, const double *x, float *out) {
    double parts[4] = {0, 0, 0, 0};
    const int64_t n = frame->columns;
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int64_t p = 0; p < 4; p++) {
            const double y = (x[j + p] - frame->origin[j + p]) * frame->scale;
            parts[p] += y * y;
            out[j + p] = (float)y;
        }
    for (; j < n; j++) {
        const double y = (x[j] - frame->origin[j]) * frame->scale;
        parts[0] += y * y;
        out[j] = (float)y;
    }
    const double square = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    if (square < farthest) return (float)square;
    memset(out, 0, (size_t)n * sizeof *out);
    return INFINITY;
}

bool mg_filter_pack(const mg_filter_frame *frame, const double *centres, const int32_t *order,
                    int64_t room, int64_t groups, int64_t members, float *strip, float *start,
                    float *share, float *scratch) {
    const int64_t n = frame->columns;
    memset(strip, 0, (size_t)(groups * members * n) * sizeof *strip);
    for (int64_t at = 0; at < groups * members; at++) {
        const int64_t g = at / members, t = at % members;
        const int32_t from = order[g * room + t];
        start[at] = FLT_MAX;
        share[at] = 0;
        if (from < 0) continue;
        const float square = mg_filter_point(frame, centres + from * n, scratch);
        if (!((double)square < farthest)) return false;
        share[at] = (float)(2 * frame->unit * (double)square * (1 + 0x1p-20));
        start[at] = square - share[at];
        for (int64_t j = 0; j < n; j++)
            strip[(g * n + j) * members + t] = -2 * scratch[j];
    }
    return true;
}

const mg_filter_ops *mg_filter_ops_for(mg_isa isa) {
    return &MG_ISA_TABLE(isa, mg_centre_kernels)->filter;
}
