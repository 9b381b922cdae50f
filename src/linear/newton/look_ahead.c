/* Newton's direction, and how margins change along it. */
#include "linear/newton/look_ahead.h"

#include "linear/proof/newton_matrix.h"

#include <math.h>

/* scores: what a step of minus one does to them; of several functions to their differences. */
static void find_changes(const mg_objective *o, const double *scores, double *least, double *most) {
    const mg_problem *problem = o->design->problem;
    *least = (double)INFINITY;
    *most = -(double)INFINITY;
    for (int64_t i = 0; i < o->samples; i++)
        for (int64_t k = 0; k < o->functions; k++) {
            const double *u = scores + i * o->functions;
            double change = 0.0;
            if (o->functions == 1)
                change = -problem->sign[i] * u[0];
            else if (k == problem->code[i] || !(o->totals[k] > 0.0))
                continue;
            else
                change = u[k] - u[problem->code[i]];
            *least = fmin(*least, change);
            *most = fmax(*most, change);
        }
}

margin_status mg_look_ahead(const mg_objective *o, const double *at_w, const double *at_b,
                            double *w, double *b, double *least, double *most,
                            margin_error *error) {
    mg_heap *heap = o->design->heap;
    const bool one = o->functions == 1;
    mg_newton_matrix newton = {.heap = heap};
    double *shares = NULL, *v = NULL;
    margin_status status;
    MG_GO_NEW(heap, shares, o->samples * o->functions, "Newton's direction", error);
    MG_GO_NEW(heap, v, o->functions * (o->columns + 1), "Newton's direction", error);
    double *sums = v + o->functions * o->columns;
    mg_loss_point point = {.gradient = v, .intercept_gradient = sums};
    *(one ? &point.curvatures : &point.shares) = shares;
    MG_GO(mg_objective_pass(o, at_w, at_b, &point, error));
    const mg_newton_weights curvature = {.shares = one ? NULL : shares,
                                         .curvatures = one ? shares : NULL,
                                         .c = o->c,
                                         .rho = o->penalty.rho};
    MG_GO(mg_newton_matrix_make(o, &curvature, &newton, error));
    mg_newton_matrix_solve(o, &newton, v, sums, w, b);
    MG_GO(mg_objective_scores(o, w, b, shares, error));
    find_changes(o, shares, least, most);
done:
    mg_newton_matrix_free(&newton);
    mg_free(heap, v);
    mg_free(heap, shares);
    return status;
}
