/* Equations by elimination, for verifications, which share nothing with the training. */
#ifndef MG_ELIMINATION_H
#define MG_ELIMINATION_H

#include "base/context.h"

/* x = m^-1 x without pivots; m: n x n, symmetric and definite, about 1 on its diagonal, destroyed.
 * n^3/3 multiply-adds. CANCELLED. */
margin_status mg_eliminate(margin_context *context, double *m, int64_t n, double *x,
                           margin_error *error);

#endif
