/* How wide a hard margin is, and how wide one can be. */
#ifndef MG_STRIP_H
#define MG_STRIP_H

#include "linear/objective/objective.h"

/* A hinge without a penalty: its optimum is a widest margin if the classes are separable. */
MG_INLINE bool mg_has_strip(const mg_objective *objective) {
    return objective->loss->kind == MG_LOSS_HINGE && objective->penalty.rho == 0 &&
           objective->penalty.kappa == 0;
}

/* Where the solution has every row on its side: sets the items `width`, the distance of the planes
 * y f = min y f, and `width_bound`, which no such distance exceeds (NAN: the dual variables tell
 * nothing). Two passes. */
margin_status mg_describe_strip(const mg_objective *objective, const mg_linear_solution *solution,
                                margin_report *report, margin_error *error);

#endif
