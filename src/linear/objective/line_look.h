/* An objective along a line, without a pass over the data: scores are linear along it, so those of
 * two of its points give those of all. */
#ifndef MG_LINE_LOOK_H
#define MG_LINE_LOOK_H

#include "linear/objective/objective.h"

typedef struct mg_line_value {
    double value, slope, curvature; /* of sum c loss, in t */
} mg_line_value;

/* The loss where the scores are from + t (to - from); samples numbers each. */
margin_status mg_line_look(const mg_objective *objective, const double *from, const double *to,
                           double t, mg_line_value *found, margin_error *error);

#endif
