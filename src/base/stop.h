/* Steps that the clock may cut short. */
#ifndef MG_STOP_H
#define MG_STOP_H

#include "base/context.h"

/* A solver whose steps may be cut short, as what it has does not change before they are over: from
 * now on its context ends at the deadline. */
void mg_stop_arm(const mg_stop *stop);
/* No longer: what follows is done to its end. */
void mg_stop_disarm(const mg_stop *stop);
/* Whether the clock, and nobody else, cut a step that ended with that status; disarms then. */
bool mg_stop_cut(const mg_stop *stop, margin_status status);

#endif
