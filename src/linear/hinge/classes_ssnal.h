/* Semismooth Newton for the hinge of several classes: see classes_ssnal.c. */
#ifndef MG_CLASSES_SSNAL_H
#define MG_CLASSES_SSNAL_H

#include "linear/newton/classes_smooth.h"

/* Whether its matrix and shares have room. */
bool mg_classes_ssnal_can(const mg_objective *o);
/* Minimises from W = 0 on; solution->shares are given and filled. Certified, with status and why;
 * solution->iterations grows by its steps. CANCELLED, MEMORY, DATA. */
margin_status mg_classes_ssnal(const mg_linear_job *job, mg_linear_solution *solution);

#endif
