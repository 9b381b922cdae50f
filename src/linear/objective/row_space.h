/* Dense columns that are more than samples: the optimum by way of a column for each sample
 * (row_space.c). Once for one function, and for several. */
#pragma once

#include "linear/objective/solver.h"

/* Dense rows, at most 2800, and at least 1.25 columns for each: three for the hinge, whose steps
 * read few rows. */
bool mg_has_row_space(const mg_objective *objective);
/* The same, and there is room, and nothing is lost. */
/* centre, factor: coordinates of mean 0 and deviation 1 (mg_design_coordinates). */
bool mg_can_solve_in_rows(const mg_objective *objective, const double *centre,
                          const double *factor);
/* By the job's solver: the optimum, but for rounding, into w and b, its dual variables into those
 * of the solution, where it has some, whose steps become more. STOPPED_TIME: all is as it was. The
 * context has no end set then (mg_stop_arm). */
margin_status mg_solve_in_rows(const mg_linear_job *job, mg_linear_solution *solution, double *w,
                               double *b);
