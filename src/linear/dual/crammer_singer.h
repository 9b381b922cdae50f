/* The hinge of Crammer and Singer: support vectors of all classes at once. */
#pragma once

#include "linear/objective/solver.h"

/* Minimises an objective with the hinge and rho > 0 until its gap is proven; solution->shares
 * (samples x classes) must be there and is left with the feasible shares of the proof. One thread;
 * classes x columns multiplications and additions a sample and walk. */
margin_status mg_crammer_singer(const mg_linear_job *job, mg_linear_solution *solution);
