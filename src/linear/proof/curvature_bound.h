/* How far an objective without penalty can be above its optimum: see curvature_bound.c. */
#pragma once

#include "linear/objective/objective.h"

/* *above: P(w, b) - inf P is at most this; INFINITY: no bound is known. For kappa = 0, and rho = 0
 * or the squared loss. Costs a pass, a Gram of size (blocks (columns + 1))^2 and its factor, and a
 * triangular solve for each sample whose curvature alone says too little. */
margin_status mg_bound_by_curvature(const mg_objective *objective, const mg_linear_solution *at,
                                    double *above, margin_error *error);
