/* The problem as a solver sees it, where the user's would cost digits or time: the same samples in
 * other coordinates of the same objective.
 *
 *   offsets     columns far from 0 for their spread are taken from their mean: scores are then
 *               sums of small numbers. w is the same, b = b' - mean.w
 *   wide        with many more columns than rows the rows (from their mean, where there is an
 *               intercept) are written in an orthonormal basis of their span, a_i = Q'z_i, as many
 *               columns as rows at most: |w| = |u| for w = Q'u, so that the penalty |w|^2 is the
 *               same. Modified Gram-Schmidt, twice (Giraud, Langou, Rozloznik, "The loss of
 *               orthogonality in the Gram-Schmidt orthogonalization process", 2005)
 *
 * What the solver finds is certified on the user's problem. */
#ifndef MG_LINEAR_INSIDE_H
#define MG_LINEAR_INSIDE_H

#include "linear/design/design.h"

typedef struct mg_inside {
    mg_problem problem;
    mg_heap *heap;
    int64_t columns;      /* of the user's problem */
    double *mean, *shift; /* columns; mean 0 without intercept */
    double *basis, *rows; /* wide: Q, rank x columns; z, samples x rank; else NULL */
    int64_t rank;         /* columns of `problem` */
} mg_inside;

/* `turns`: the penalty is that of |w|^2, above 0, so that the basis may turn. *helps false: nothing
 * to gain, and nothing to free. */
margin_status mg_inside_make(mg_design *design, bool intercept, bool turns, mg_inside *inside,
                             bool *helps, margin_error *error);
/* From weights u and intercept *b of the problem inside to the user's; *b too. */
void mg_inside_weights(const mg_inside *inside, const double *u, double *w, double *b);
/* Why the gap is above the tolerance though it was proven inside. */
void mg_inside_explain(double gap, double tolerance, size_t room, char *why);
void mg_inside_free(mg_inside *inside);

#endif
