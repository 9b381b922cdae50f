/* Where Newton's method goes from a point: to an optimum, or without end, as where a penalty is
 * missing the loss may fall for ever in some direction. */
#ifndef MG_LOOK_AHEAD_H
#define MG_LOOK_AHEAD_H

#include "linear/objective/objective.h"

/* Of a loss of margins (where mg_newton_matrix_can): minus Newton's direction at (at_w, at_b), and
 * the least and the greatest change of a margin (of several functions own score less another) along
 * it. w: room for functions x (columns + 1) numbers, of which the first functions x columns are the
 * weights; b: functions. Passes. */
margin_status mg_look_ahead(const mg_objective *o, const double *at_w, const double *at_b,
                            double *w, double *b, double *least, double *most, margin_error *error);

/* Below it nothing moves any more: an optimum. */
#define MG_STILL 0.05
/* Some margins grow and none falls, however far one goes. */
MG_INLINE bool mg_falls_for_ever(double least, double most) {
    return most >= MG_STILL && least > -1e-4 * most;
}

#endif
