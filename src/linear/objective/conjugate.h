/* Newton's equations of one function by conjugate gradients: H d = r with
 *
 *   H = sum_k weights_k (e_i, 1)(e_i, 1)' + diag(ridge_j factor_j^2, added),   i = chosen[k],
 *   e_ij = (a_ij - centre_j) factor_j
 *
 * in vectors of columns + 1 numbers. Each step is a pass over those rows. */
#pragma once

#include "linear/objective/objective.h"

typedef struct mg_conjugate {
    const mg_objective *objective; /* without an intercept the last number is 0 */
    const mg_stop *stop;           /* where it is reached d is what it is: the caller looks again */
    const int64_t *chosen;         /* samples; NULL: all */
    int64_t count;
    const double *weights;         /* count */
    const double *centre, *factor; /* columns */
    const double *ridge;           /* columns; NULL: the objective's rho */
    double added;
    const double *diagonal; /* about that of H: the preconditioner */
    double share;           /* of r' diagonal^-1 r that may be left */
    /* NULL, or: whether to end after so many steps, which took `fallen` off d'Hd - 2 r'd */
    bool (*enough)(const void *state, const double *residual, int64_t steps, double fallen);
    const void *state;
    int64_t most;      /* steps */
    double *residual;  /* r; is changed */
    double *direction; /* d */
    double *work;      /* MG_CONJUGATE_VECTORS (columns + 1) */
} mg_conjugate;

enum { MG_CONJUGATE_VECTORS = 4 };

/* *steps: so many were made. CANCELLED, MEMORY. */
margin_status mg_conjugate_gradients(const mg_conjugate *m, int64_t *steps, margin_error *error);
