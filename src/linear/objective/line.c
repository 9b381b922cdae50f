/* The loss along a line of scores. */
#include "linear/objective/objective.h"

enum { CHUNK = 256 };

typedef struct line_walk {
    const mg_objective *objective;
    const double *from, *to;
    double t;
} line_walk;

static void line_add_chunk(const line_walk *walk, int64_t first, int64_t count,
                           mg_line_value *sums) {
    const mg_objective *objective = walk->objective;
    const mg_problem *problem = objective->design->problem;
    double change[CHUNK], at[CHUNK] = {0.0}, slopes[CHUNK], curvatures[CHUNK];
    for (int64_t k = 0; k < count; k++) {
        const double from = walk->from[first + k];
        change[k] = walk->to[first + k] - from;
        at[k] = from + walk->t * change[k];
    }
    mg_design_margins(objective->design, objective->loss, first, count, at, at);
    for (int64_t k = 0; objective->loss->margin_based && k < count; k++)
        change[k] *= problem->sign[first + k];
    sums->value += mg_loss_pass_for(objective->design->isa)(
        objective->loss->kind, at, objective->c + first, count, slopes, curvatures);
    for (int64_t k = 0; k < count; k++) {
        sums->slope += slopes[k] * change[k];
        sums->curvature += curvatures[k] * (change[k] * change[k]);
    }
}

static margin_status line_add_block(void *state, const mg_block *block, void *argument) {
    for (int64_t k = 0; k < block->count; k += CHUNK)
        line_add_chunk(argument, block->first + k, MG_MIN(block->count - k, CHUNK), state);
    return MARGIN_OK;
}

margin_status mg_line_look(const mg_objective *objective, const double *from, const double *to,
                           double t, mg_line_value *found, margin_error *error) {
    line_walk walk = {objective, from, to, t};
    return mg_sweep_sums(objective->design->context, objective->samples, MG_BLOCK_ROWS, 3, 0,
                         line_add_block, &walk, found, error);
}
