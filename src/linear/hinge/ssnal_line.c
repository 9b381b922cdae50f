/* The best length of a step of the semismooth Newton solver, found without a pass: scores are
 * linear along a line, and F is piecewise quadratic there. */
#include "linear/hinge/ssnal.h"

typedef struct line_walk {
    const mg_ssnal *s;
    double t;
} line_walk;

static margin_status line_add_block(void *state, const mg_block *block, void *argument) {
    const line_walk *walk = argument;
    const mg_ssnal *s = walk->s;
    const int8_t *sign = s->design->problem->sign;
    const double *from = s->here.scores, *to = s->there.scores, t = walk->t;
    mg_line_value *sums = state;
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
static margin_status ssnal_look(const void *state, double t, mg_line_value *found) {
    const mg_ssnal *s = state;
    line_walk walk = {s, t};
    MG_TRY(mg_sweep_sums(s->design->context, s->samples, MG_BLOCK_ROWS, 3, 0, line_add_block, &walk,
                         found, s->job->error));
    found->slope += s->along + t * s->square;
    found->curvature += s->square;
    return MARGIN_OK;
}

margin_status mg_ssnal_line(const mg_ssnal *s, double *t) {
    const mg_line line = {.look = ssnal_look,
                          .state = s,
                          .value = (double)INFINITY,
                          .slope = s->slope,
                          .flat = 0.1,
                          .longest = 1048576.0,
                          .pieces = true};
    return mg_line_search(&line, t);
}
