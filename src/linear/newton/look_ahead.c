/* Newton's direction for several functions, and how margins change along it. */
#include "linear/newton/look_ahead.h"

#include "linear/proof/newton_matrix.h"

#include <math.h>

margin_status mg_look_ahead(const mg_objective *o, const double *at_w, const double *at_b,
                            double *w, double *b, double *least, double *most,
                            margin_error *error) {
    mg_heap *heap = o->design->heap;
    const int32_t *code = o->design->problem->code;
    mg_newton_matrix newton = {.heap = heap};
    double *shares = NULL, *v = NULL;
    margin_status status;
    *least = (double)INFINITY;
    *most = -(double)INFINITY;
    MG_GO_NEW(heap, shares, o->samples * o->functions, "Newton's direction", error);
    MG_GO_NEW(heap, v, o->functions * (o->columns + 1), "Newton's direction", error);
    double *sums = v + o->functions * o->columns;
    mg_loss_point point = {.gradient = v, .intercept_gradient = sums, .shares = shares};
    MG_GO(mg_objective_pass(o, at_w, at_b, &point, error));
    const mg_newton_weights curvature = {.shares = shares, .c = o->c, .rho = o->penalty.rho};
    MG_GO(mg_newton_matrix_make(o, &curvature, &newton, error));
    mg_newton_matrix_solve(o, &newton, v, sums, w, b);
    MG_GO(mg_objective_scores(o, w, b, shares, error));
    for (int64_t i = 0; i < o->samples; i++)
        for (int64_t k = 0; k < o->functions; k++) {
            const double *u = shares + i * o->functions;
            if (k == code[i] || !(o->totals[k] > 0.0)) continue;
            *least = fmin(*least, u[k] - u[code[i]]);
            *most = fmax(*most, u[k] - u[code[i]]);
        }
done:
    mg_newton_matrix_free(&newton);
    mg_free(heap, v);
    mg_free(heap, shares);
    return status;
}
