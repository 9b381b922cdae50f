/* Taking a step, and the search along a line. */
#include "math/losses/line_search.h"

#include <math.h>

bool mg_step_leads_down(const mg_step *step, double rounding) {
    static const double armijo = 1e-4, flatter = 0.9;
    const double change = step->after - step->before;
    if (change <= armijo * step->length * step->slope) return true;
    return change <= rounding * fabs(step->before) &&
           fabs(step->slope_there) <= flatter * fabs(step->slope);
}

bool mg_step_is_short(const mg_step *step) {
    static const double still_steep = 0.5;
    return step->slope_there < still_steep * step->slope;
}

/* ---- Along a line ---------------------------------------------------------------------------- */

/* It falls in `low` and rises (or is beyond double precision) in `high`. */
typedef struct bracket {
    double low, high;
} bracket;

static bool rises(const mg_line_value *at) {
    return !(isfinite(at->value) && at->slope < 0.0);
}

static bool is_near(const mg_line *line, double t, const mg_line_value *at) {
    static const double lower = 1e-3; /* share of what the slope promised */
    return fabs(at->slope) <= line->flat * fabs(line->slope) &&
           at->value <= line->value + lower * t * line->slope;
}

/* Where Newton's method goes from t, if that is inside; but from a point where P rises it may come
 * down in tiny steps (exponential loss), so that the bracket is halved instead. Piece by piece the
 * first length may be too long by far. */
static double next_point(const mg_line *line, const bracket *b, double t, const mg_line_value *at) {
    const double next = t - at->slope / at->curvature;
    if (isinf(b->high)) return fmin(fmax(1.5 * t, fmin(next, 10.0 * t)), line->longest);
    if ((line->pieces || !rises(at)) && next > b->low && next < b->high) return next;
    return line->pieces && b->low == 0.0 ? 0.01 * b->high : 0.5 * (b->low + b->high);
}

margin_status mg_line_search(const mg_line *line, double *t) {
    enum { MOST_LOOKS = 60 };
    bracket b = {0.0, (double)INFINITY};
    mg_line_value at;
    *t = 1.0;
    for (int looks = 0; looks < MOST_LOOKS; looks++) {
        MG_TRY(line->look(line->state, *t, &at));
        if (is_near(line, *t, &at)) return MARGIN_OK;
        *(rises(&at) ? &b.high : &b.low) = *t;
        if (b.low >= line->longest || (isfinite(b.high) && b.high - b.low <= 1e-12 * b.high)) break;
        *t = next_point(line, &b, *t, &at);
    }
    if (rises(&at) && b.low > 0.0) *t = b.low;
    return MARGIN_OK;
}
