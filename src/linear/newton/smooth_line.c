/* The best length of a step, found without a pass over the data: scores are linear along a line, so
 * those of its two ends give those of every point between and beyond. */
#include "linear/newton/smooth.h"
#include "linear/objective/line_look.h"

#include <math.h>

/* It is near enough where the slope is this share of what it was at the start, and the value lower
 * by this share of what the slope promised. */
static const double flat = 0.1, lower = 1e-3;
/* No step is longer than this, and none takes more looks. */
static const double longest = 1024;
enum { MOST_LOOKS = 60 };

static margin_status look(const mg_smooth *s, double t, mg_line_value *found) {
    const double rho = s->objective->penalty.rho;
    MG_TRY(mg_line_look(s->objective, s->here.scores, s->there.scores, t, found, s->job->error));
    const double along = s->pairs.vectors->dot(s->here.w, s->move, s->columns);
    const double square = s->pairs.vectors->square(s->move, s->columns);
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

static bool rises(const mg_line_value *at) {
    return !(isfinite(at->value) && at->slope < 0.0);
}

static bool is_near(const mg_smooth *s, double t, const mg_line_value *at) {
    return fabs(at->slope) <= flat * fabs(s->slope) &&
           at->value <= s->here.value + lower * t * s->slope;
}

/* Where Newton's method goes from t, if that is inside; but from a point where P rises it may come
 * down in tiny steps (exponential loss), so that the bracket is halved instead. */
static double next_point(const bracket *b, double t, const mg_line_value *at) {
    const double next = t - at->slope / at->curvature;
    if (isinf(b->high)) return fmax(1.5 * t, fmin(next, 10.0 * t));
    if (!rises(at) && next > b->low && next < b->high) return next;
    return 0.5 * (b->low + b->high);
}

margin_status mg_smooth_line(mg_smooth *s, double *t) {
    bracket b = {0.0, (double)INFINITY};
    mg_line_value at;
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
