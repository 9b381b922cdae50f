/* Steps along directions: whether one is to be taken, and how long it is best. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

typedef struct mg_step {
    double before, after;      /* what is minimised, at both ends */
    double length;             /* in directions */
    double slope, slope_there; /* along the direction, at both ends */
} mg_step;

/* It leads down by a share of what the slope promises (Armijo 1966), or, where the value no longer
 * tells, by `rounding` x |before| at most and to a flatter place (Hager and Zhang, "A new conjugate
 * gradient method with guaranteed descent", SIAM J. Optim. 16, 2005). NaN does not lead down. */
bool mg_step_leads_down(const mg_step *step, double rounding);
/* The slope at its end is still so great a share of that at its start that more is to be had. */
bool mg_step_is_short(const mg_step *step);

typedef struct mg_line_value {
    double value, slope, curvature; /* of sum c loss, in t: three sums */
} mg_line_value;

/* Something convex along a line, looked at without a pass over the data. */
typedef struct mg_line {
    margin_status (*look)(const void *state, double t, mg_line_value *found);
    const void *state;
    double value, slope; /* at t = 0; value INFINITY: looks do not find values, only slopes */
    double flat;         /* near enough: the slope is this share of what it was at t = 0 */
    double longest;      /* t */
    bool pieces;         /* it is quadratic piece by piece */
} mg_line;

/* The t >= 0 where it is least, or nearly, by Newton's method on the slope, kept in a bracket. */
margin_status mg_line_search(const mg_line *line, double *t);
