/* The loss along a line of scores. */
#include "linear/objective/line_look.h"

enum { CHUNK = 256 };

typedef struct line_walk {
    const mg_objective *objective;
    const double *from, *to;
    double t;
} line_walk;

static void start_line(void *state, void *argument) {
    (void)argument;
    *(mg_line_value *)state = (mg_line_value){0.0, 0.0, 0.0};
}

static void merge_lines(void *into, const void *from, void *argument) {
    mg_line_value *a = into;
    const mg_line_value *b = from;
    (void)argument;
    a->value += b->value;
    a->slope += b->slope;
    a->curvature += b->curvature;
}

static void line_add_chunk(const line_walk *walk, int64_t first, int64_t count,
                           mg_line_value *sums) {
    const mg_objective *objective = walk->objective;
    const mg_problem *problem = objective->design->problem;
    double change[CHUNK], at[CHUNK], slopes[CHUNK], curvatures[CHUNK];
    for (int64_t k = 0; k < count; k++) {
        const double from = walk->from[first + k];
        change[k] = walk->to[first + k] - from;
        at[k] = from + walk->t * change[k];
    }
    if (objective->loss->margin_based) {
        for (int64_t k = 0; k < count; k++) {
            at[k] *= problem->sign[first + k];
            change[k] *= problem->sign[first + k];
        }
    } else {
        for (int64_t k = 0; k < count; k++)
            at[k] -= problem->target[first + k];
    }
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
    static const mg_accumulator steps = {.state_size = sizeof(mg_line_value),
                                         .init = start_line,
                                         .add = line_add_block,
                                         .merge = merge_lines};
    line_walk walk = {objective, from, to, t};
    return mg_sweep(objective->design->context, objective->design->samples, MG_BLOCK_ROWS, &steps,
                    &walk, found, error);
}
