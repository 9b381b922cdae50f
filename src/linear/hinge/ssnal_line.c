/* The best length of a step of the semismooth Newton solver, found without a pass: scores are
 * linear along a line, and F is piecewise quadratic there, so that Newton's method on its slope,
 * kept in a bracket, ends after a few looks. */
#include "linear/hinge/ssnal.h"

#include <math.h>

/* Near enough: the slope is this share of what it was at the start. */
static const double flat = 0.1;
static const double longest = 1048576.0, shorter = 1e-2;
enum { MOST_LOOKS = 60 };

typedef struct line_sums {
    double slope, curvature;
} line_sums;

typedef struct line_walk {
    const mg_ssnal *s;
    double t;
} line_walk;

static void start_line(void *state, void *argument) {
    (void)argument;
    *(line_sums *)state = (line_sums){0.0, 0.0};
}

static void merge_lines(void *into, const void *from, void *argument) {
    (void)argument;
    ((line_sums *)into)->slope += ((const line_sums *)from)->slope;
    ((line_sums *)into)->curvature += ((const line_sums *)from)->curvature;
}

static margin_status add_block(void *state, const mg_block *block, void *argument) {
    const line_walk *walk = argument;
    const mg_ssnal *s = walk->s;
    const int8_t *sign = s->design->problem->sign;
    const double *from = s->here.scores, *to = s->there.scores, t = walk->t;
    line_sums *sums = state;
    double slope = 0.0, curvature = 0.0;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const double change = to[i] - from[i], y = sign[i];
        const double v = s->multipliers[i] + s->sharpness * (1.0 - y * (from[i] + t * change));
        const double above = v > 0.0 ? v : 0.0, n = above < 1.0 ? above : 1.0;
        slope -= s->c[i] * n * y * change;
        curvature += v > 0.0 && v < 1.0 ? s->c[i] * (change * change) : 0.0;
    }
    sums->slope += slope;
    sums->curvature += curvature * s->sharpness;
    return MARGIN_OK;
}

/* Slope and curvature of F at `here` + t direction, along it. */
static margin_status look(const mg_ssnal *s, double t, line_sums *found) {
    static const mg_accumulator steps = {.state_size = sizeof(line_sums),
                                         .init = start_line,
                                         .add = add_block,
                                         .merge = merge_lines};
    line_walk walk = {s, t};
    MG_TRY(mg_sweep(s->design->context, s->samples, MG_BLOCK_ROWS, &steps, &walk, found,
                    s->job->error));
    found->slope += s->along + t * s->square;
    found->curvature += s->square;
    return MARGIN_OK;
}

static double next_point(double low, double high, double t, const line_sums *at) {
    const double next = t - at->slope / at->curvature;
    if (isinf(high)) return fmax(1.5 * t, fmin(next, 16.0 * t));
    if (next > low && next < high) return next;
    return low > 0.0 ? 0.5 * (low + high) : shorter * high; /* perhaps by far too long */
}

margin_status mg_ssnal_line(mg_ssnal *s, double *t) {
    double low = 0.0, high = (double)INFINITY;
    line_sums at;
    *t = 1.0;
    for (int looks = 0; looks < MOST_LOOKS; looks++) {
        MG_TRY(look(s, *t, &at));
        if (fabs(at.slope) <= flat * fabs(s->slope)) return MARGIN_OK;
        *(at.slope < 0.0 ? &low : &high) = *t;
        if (low >= longest || high - low <= 1e-12 * high) break;
        *t = next_point(low, high, *t, &at);
    }
    if (low > 0.0) *t = low;
    return MARGIN_OK;
}
