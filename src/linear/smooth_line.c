/* The best length of a step, found without a pass over the data: scores are linear along a line, so
 * those of its two ends give those of every point between and beyond. */
#include "linear/smooth.h"

#include <math.h>

/* It is near enough where the slope is this share of what it was at the start, and the value lower
 * by this share of what the slope promised. */
static const double flat = 0.1, lower = 1e-3;
/* No step is longer than this, and none takes more looks. */
static const double longest = 1024;
enum { MOST_LOOKS = 60, CHUNK = 256 };

typedef struct line_value {
    double value, slope, curvature; /* of P along the line */
} line_value;

typedef struct line_walk {
    const mg_smooth *s;
    double t;
} line_walk;

static void start_line(void *state, void *argument) {
    (void)argument;
    *(line_value *)state = (line_value){0.0, 0.0, 0.0};
}

static void merge_lines(void *into, const void *from, void *argument) {
    line_value *a = into;
    const line_value *b = from;
    (void)argument;
    a->value += b->value;
    a->slope += b->slope;
    a->curvature += b->curvature;
}

static void add_chunk(const line_walk *walk, int64_t first, int64_t count, line_value *sums) {
    const mg_smooth *s = walk->s;
    const mg_problem *problem = s->design->problem;
    double change[CHUNK], at[CHUNK], slopes[CHUNK], curvatures[CHUNK];
    for (int64_t k = 0; k < count; k++) {
        const double from = s->here.scores[first + k];
        change[k] = s->there.scores[first + k] - from;
        at[k] = from + walk->t * change[k];
    }
    if (s->objective->loss->margin_based) {
        for (int64_t k = 0; k < count; k++) {
            at[k] *= problem->sign[first + k];
            change[k] *= problem->sign[first + k];
        }
    } else {
        for (int64_t k = 0; k < count; k++)
            at[k] -= problem->target[first + k];
    }
    sums->value += mg_loss_pass(s->objective->loss, s->design->isa, at, s->objective->c + first,
                                count, slopes, curvatures);
    for (int64_t k = 0; k < count; k++) {
        sums->slope += slopes[k] * change[k];
        sums->curvature += curvatures[k] * (change[k] * change[k]);
    }
}

static margin_status add_block(void *state, const mg_block *block, void *argument) {
    for (int64_t k = 0; k < block->count; k += CHUNK)
        add_chunk(argument, block->first + k, MG_MIN(block->count - k, CHUNK), state);
    return MARGIN_OK;
}

static margin_status look(const mg_smooth *s, double t, line_value *found) {
    static const mg_accumulator steps = {.state_size = sizeof(line_value),
                                         .init = start_line,
                                         .add = add_block,
                                         .merge = merge_lines};
    const double rho = s->objective->penalty.rho;
    line_walk walk = {s, t};
    MG_TRY(mg_sweep(s->design->context, s->samples, MG_BLOCK_ROWS, &steps, &walk, found,
                    s->job->error));
    const double along = s->vectors->dot(s->here.w, s->move, s->columns);
    const double square = s->vectors->square(s->move, s->columns);
    found->value +=
        mg_objective_penalty(s->objective, s->here.w) + 0.5 * rho * t * (2.0 * along + t * square);
    found->slope += rho * (along + t * square);
    found->curvature += rho * square;
    return MARGIN_OK;
}

/* P falls in `low` and rises (or is beyond double precision) in `high`. */
typedef struct bracket {
    double low, high;
} bracket;

static bool rises(const line_value *at) {
    return !(isfinite(at->value) && at->slope < 0.0);
}

static bool is_near(const mg_smooth *s, double t, const line_value *at) {
    return fabs(at->slope) <= flat * fabs(s->slope) &&
           at->value <= s->here.value + lower * t * s->slope;
}

/* Where Newton's method goes from t, if that is inside; but from a point where P rises it may come
 * down in tiny steps (exponential loss), so that the bracket is halved instead. */
static double next_point(const bracket *b, double t, const line_value *at) {
    const double next = t - at->slope / at->curvature;
    if (isinf(b->high)) return fmax(1.5 * t, fmin(next, 10.0 * t));
    if (!rises(at) && next > b->low && next < b->high) return next;
    return 0.5 * (b->low + b->high);
}

margin_status mg_smooth_line(mg_smooth *s, double *t) {
    bracket b = {0.0, (double)INFINITY};
    line_value at;
    *t = 1.0;
    for (int looks = 0; looks < MOST_LOOKS; looks++) {
        MG_TRY(look(s, *t, &at));
        if (is_near(s, *t, &at)) break;
        *(rises(&at) ? &b.high : &b.low) = *t;
        if (b.low >= longest || (isfinite(b.high) && b.high - b.low <= 1e-12 * b.high)) break;
        *t = next_point(&b, *t, &at);
    }
    if (!is_near(s, *t, &at) && rises(&at) && b.low > 0.0) *t = b.low;
    return MARGIN_OK;
}
